/* copy.h - parts of one record taken over into another.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORD_COPY_H
#define RECORD_COPY_H

#include "record/build.h"

void record_copy_fact(record_builder *b, const dck_fact *from);
/* All facts of another record. */
void record_copy_facts(record_builder *b, const dck_record *from);
void record_copy_metric(record_builder *b, const dck_metric *from);
/* Which of the notes that were taken over from r have the cause of another one. */
void record_copy_under(record_builder *b, const dck_record *r);
/* With what a summary shows of it. */
void record_copy_table(record_builder *b, const dck_table *from);
/* All tables and trees of another record. */
void record_copy_tables(record_builder *b, const dck_record *from);
/* A measurement that another record begins with: all but its tables and operators. */
void record_copy(record_builder *b, const dck_record *r);

#endif
