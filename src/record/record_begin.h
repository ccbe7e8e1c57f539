/* record_begin.h - the beginning of every record: its id, its title, and what was asked for.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORD_ASKED_H
#define RECORD_ASKED_H

#include "deepclock/opt.h"
#include "record/build.h"

/* 128 random bits in hex. */
enum { RECORD_ID_SIZE = 33 };
void record_id_make(char ret[RECORD_ID_SIZE]);
/* A builder with what every record has: an id of its own, and a title. NULL: no memory. */
record_builder *record_begin(const char *title);
/* The same; the title is the words of a program, as they were given. */
record_builder *record_begin_program(char *const *argv);
void record_program_title(char *ret, size_t size, char *const *argv);
/* One fact for each option row: what was asked, defaults included. */
void record_fact_options(record_builder *b, const char *section, const dck_opt *table,
			 const void *cfg);

#endif
