/* method.h - how it was measured: the part of a record that says which numbers may be compared.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MEASURE_METHOD_H
#define MEASURE_METHOD_H

#include "measure/ending.h"
#include "record/asked.h"

/* A builder with what every record of a measurement has. NULL: no memory. */
record_builder *method_record(const measure_plan *plan);
void method_facts(record_builder *b, const measure_phases *p, const measure_ending *ending,
		  const stat_estimate *estimates);

#endif
