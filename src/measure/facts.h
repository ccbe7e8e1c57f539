/* facts.h - what was asked, found and built, and the method: the part of a record that says which
 * numbers may be compared.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MEASURE_FACTS_H
#define MEASURE_FACTS_H

#include "measure/ending.h"
#include "os/os.h"
#include "record/build.h"

/* A builder with what every record has: an id of its own, and a title. NULL: no memory. */
record_builder *bench_facts_new(const char *title);
record_builder *bench_facts_record(const bench_plan *plan);

void bench_facts_host(record_builder *b, const os_host *host);
void bench_facts_subject(record_builder *b, const dck_subject *s, const bench_target *t);
/* A batch that was freed: facts and the note. bench_facts_subject() does it for its target. */
void bench_facts_freed(record_builder *b, const bench_freed *f);
void bench_facts_engine(record_builder *b, const bench_target *t);
/* All facts of another record. */
void bench_facts_copy(record_builder *b, const dck_record *from);
/* A metric of another record. */
void bench_facts_metric(record_builder *b, const dck_metric *from);
/* A table of another record. */
void bench_facts_table(record_builder *b, const dck_table *from);
/* One fact for each option row: what was asked, defaults included. */
void bench_facts_options(record_builder *b, const char *section, const dck_opt *table,
			 const void *cfg);
void bench_facts_method(record_builder *b, const bench_phases *p, const bench_ending *ending,
			const stat_estimate *estimates);

/* Which of the notes that were taken over from r have the cause of another one. */
void bench_facts_folded(record_builder *b, const dck_record *r);

#endif
