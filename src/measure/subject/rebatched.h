/* rebatched.h - a model that was exported for one item, opened for many, and whether what comes out
 * is the same.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SUBJECT_REBATCHED_H
#define SUBJECT_REBATCHED_H

#include "deepclock/bench.h"
#include "base/mem.h"
#include "model/rebatch/rebatch.h"

/* For the record. */
typedef struct rebatch_info {
	bool done; /* false: the model takes the batch as it is */
	int64_t was, items;
	size_t rewritten; /* nodes whose sizes were */
	char shared[96]; /* "'mask', 'k'": inputs that count as no items though they might; "": none
			  */
	char looked[160]; /* "its outputs are identical to the original's on 8 items" */
} rebatch_info;

/* What an engine is given instead of the file. */
typedef struct rebatched_model {
	bool done;
	batch_model model;  /* @owned, rebatched_done() */
	const char *folder; /* of the weights; NULL: they are in the model */
} rebatched_model;

/* Whether --batch asks for another number of items than the file fixes; if so, the model for it.
 * directory: the engine looks for weights in a directory. E_ARG: the model holds it fixed, and
 * why. */
dck_status rebatched_make(const char *path, const dck_model_config *c, bool folder, mem_arena *a,
			  rebatched_model *ret, dck_err *err);
/* What is known before anything runs. items: 0 for several sizes. */
rebatch_info rebatched_facts(const rebatched_model *f, int64_t items);
void rebatched_done(rebatched_model *f); /* {0} is allowed */

/* A file that fixes its batch, and at how many; false also where it cannot be read. */
bool rebatched_fixed(const char *path, int64_t *ret_was);
/* s with what was checked before taken for granted; `copy` is its place. Models alone. */
const dck_subject *rebatched_trusted(const dck_subject *s, dck_subject *copy);

#endif
