/* asked.h - the beginning of every record: its id, its title, and what was asked for.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORD_ASKED_H
#define RECORD_ASKED_H

#include "deepclock/opt.h"
#include "record/build.h"

/* A builder with what every record has: an id of its own, and a title. NULL: no memory. */
record_builder *record_begin(const char *title);
/* One fact for each option row: what was asked, defaults included. */
void record_fact_options(record_builder *b, const char *section, const dck_opt *table,
			 const void *cfg);

#endif
