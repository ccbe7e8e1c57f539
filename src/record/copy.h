/* copy.h - copies parts of one record into another.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORD_COPY_H
#define RECORD_COPY_H

#include "record/build.h"

void record_copy_fact(record_builder *b, const dck_fact *from);
/* Copies all facts of another record. */
void record_copy_facts(record_builder *b, const dck_record *from);
/* Sets the causes of the notes that were copied from r. */
void record_copy_under(record_builder *b, const dck_record *r);
/* Copies a table, with its summary columns and rows. */
void record_copy_table(record_builder *b, const dck_table *from);
/* Copies all tables and trees of another record. */
void record_copy_tables(record_builder *b, const dck_record *from);
/* Copies a measurement into a record that begins with it: all but its tables and operators. */
void record_copy(record_builder *b, const dck_record *r);

#endif
