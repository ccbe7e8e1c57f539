/* subject_facts.h - writes the facts of the opened subject and its engine to a record.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SUBJECT_SUBJECT_FACTS_H
#define SUBJECT_SUBJECT_FACTS_H

#include "os/os.h"
#include "record/build.h"
#include "measure/subject/target.h"

void subject_facts_of(record_builder *b, const dck_subject *s, const subject_target *t);
/* Adds the facts and the note of a rebatched model. subject_facts_of() calls it for its target. */
void subject_facts_rebatched(record_builder *b, const rebatch_info *f);
/* Adds a note on the usual values used for dimensions that the model `name` leaves open; usual ""
 * or NULL: none. subject_facts_of() calls it for its target. */
void subject_facts_usual(record_builder *b, const char *name, const char *usual);
/* Copies that note from another record. */
void subject_facts_usual_copy(record_builder *b, const dck_record *from);
void subject_facts_engine(record_builder *b, const subject_target *t);
/* Copies the facts of a record that hold for all trials of a search: the machine, the model, the
 * engine. *ret is owned. */
dck_status subject_facts_of_all(const dck_record *from, dck_record **ret, dck_err *err);

#endif
