/* subject_facts.h - what was found and built: the machine, the subject, its engine.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SUBJECT_SUBJECT_FACTS_H
#define SUBJECT_SUBJECT_FACTS_H

#include "os/os.h"
#include "record/build.h"
#include "subject/target.h"

void bench_facts_host(record_builder *b, const os_host *host);
void bench_facts_subject(record_builder *b, const dck_subject *s, const bench_target *t);
/* A batch that was freed: facts and the note. bench_facts_subject() does it for its target. */
void bench_facts_freed(record_builder *b, const bench_freed *f);
void bench_facts_engine(record_builder *b, const bench_target *t);

#endif
