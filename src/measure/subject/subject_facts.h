/* subject_facts.h - what was found and built: the subject, its engine.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SUBJECT_SUBJECT_FACTS_H
#define SUBJECT_SUBJECT_FACTS_H

#include "os/os.h"
#include "record/build.h"
#include "measure/subject/target.h"

void subject_facts_of(record_builder *b, const dck_subject *s, const subject_target *t);
/* A model that was rebatched: facts and the note. subject_facts_of() does it for its target. */
void subject_facts_rebatched(record_builder *b, const rebatch_info *f);
/* A note on usual values that were taken for what the model of that name leaves open; usual "" or
 * NULL: none were. subject_facts_of() does it for its target. */
void subject_facts_usual(record_builder *b, const char *name, const char *usual);
/* The same of another record's subject. */
void subject_facts_usual_copy(record_builder *b, const dck_record *from);
void subject_facts_engine(record_builder *b, const subject_target *t);

#endif
