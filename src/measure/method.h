/* method.h - how it was measured: the part of a record that says which numbers may be compared.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MEASURE_METHOD_H
#define MEASURE_METHOD_H

#include "measure/ending.h"
#include "record/asked.h"

/* A builder with what every record of a measurement has. NULL: no memory. */
record_builder *bench_facts_record(const bench_plan *plan);
void bench_facts_method(record_builder *b, const bench_phases *p, const bench_ending *ending,
			const stat_estimate *estimates);

#endif
