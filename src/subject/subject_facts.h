/* subject_facts.h - what was found and built: the subject, its engine.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SUBJECT_SUBJECT_FACTS_H
#define SUBJECT_SUBJECT_FACTS_H

#include "os/os.h"
#include "record/build.h"
#include "subject/target.h"

void subject_facts_of(record_builder *b, const dck_subject *s, const subject_target *t);
/* A batch that was freed: facts and the note. subject_facts_of() does it for its target. */
void subject_facts_freed(record_builder *b, const subject_freed *f);
void subject_facts_engine(record_builder *b, const subject_target *t);

#endif
