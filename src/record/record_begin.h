/* record_begin.h - start of every record: its id, its title, and the options.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORD_RECORD_BEGIN_H
#define RECORD_RECORD_BEGIN_H

#include "deepclock/opt.h"
#include "record/build.h"

/* 128 random bits in hex. */
enum { RECORD_ID_SIZE = 33 };
void record_id_make(char ret[RECORD_ID_SIZE]);
/* Returns a builder with the facts of every record: a new id, and a title. NULL: no memory. */
record_builder *record_begin(const char *title);
/* Returns one whose title is a program's command line, as it was given. */
record_builder *record_begin_program(char *const *argv);
void record_program_title(char *ret, size_t size, char *const *argv);
/* Adds one fact for each option row: its value, defaults included. */
void record_fact_options(record_builder *b, const char *section, const dck_opt *table,
			 const void *cfg);

#endif
