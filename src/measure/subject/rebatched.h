/* rebatched.h - rebatching: a model exported for one item is opened for many, and its outputs are
 * verified.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SUBJECT_REBATCHED_H
#define SUBJECT_REBATCHED_H

#include "deepclock/bench.h"
#include "base/mem.h"
#include "model/rebatch/rebatch.h"

/* Facts for the record. */
typedef struct rebatch_info {
	bool done; /* false: the model takes the batch as it is */
	int64_t was, items;
	size_t rewritten; /* nodes whose sizes were rewritten */
	char shared[96];  /* "'mask', 'k'": inputs treated as batch-invariant that may hold items;
			     "": none */
	char looked[160]; /* "its outputs are identical to the original's on 8 items" */
} rebatch_info;

/* The model that the engine opens instead of the file. */
typedef struct rebatched_model {
	bool done;
	batch_model model;     /* @owned, rebatched_done() */
	const char *directory; /* directory of the weights; NULL: the weights are in the model */
} rebatched_model;

/* Rebatches the model if --batch requests another number of items than the file fixes. `directory`:
 * the engine searches a directory for weights. E_ARG: the model cannot be rebatched; the message
 * has the reason. */
dck_status rebatched_make(const char *path, const dck_model_config *c, bool directory, mem_arena *a,
			  rebatched_model *ret, dck_err *err);
/* Returns the facts that are known before a run. items: 0 for several sizes. */
rebatch_info rebatched_facts(const rebatched_model *f, int64_t items);
void rebatched_done(rebatched_model *f); /* {0} is allowed */

/* Returns whether the file fixes its batch size, in *ret_was; false also if it cannot be read. */
bool rebatched_fixed(const char *path, int64_t *ret_was);
/* Returns s without the check of rebatching, which was done before; `copy` is the storage. Models
 * only. */
const dck_subject *rebatched_trusted(const dck_subject *s, dck_subject *copy);

#endif
