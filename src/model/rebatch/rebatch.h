/* rebatch.h - rewrites a model that was exported for a fixed number of items, usually one, so that
 * it takes another number.
 *
 *	DCK_TRY(rebatch(path, m, 8, NULL, arena, &b, err));
 *	... b.bytes is the model for 8 items ...
 *	batch_done(&b);
 *
 * The number of items becomes an open size, and each value is followed through the model. A value
 * either holds the items apart along one axis, or is the same for all items. Each operator has a
 * rule (follow_*.c) that says how this passes from its inputs to its outputs, and that refuses
 * where items would mix. What the file states for the old number (the sizes that Reshape is given,
 * the types of inputs and outputs) is rewritten.
 *
 * An operator without a rule is refused, never guessed. Nothing is run here: verify/rebatch_check.h
 * compares the results with those of the original model.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BATCH_BATCH_H
#define BATCH_BATCH_H

#include "model/cost/cost_model.h"
#include "base/wire.h"

/* Where a tensor of the rewritten model holds the items: along `axis`, which has `each` elements
 * for every item, those of one item side by side. */
typedef struct batch_place {
	const char *name;
	bool items;  /* false: it is the same for all items */
	bool shared; /* so, though its first axis is as long as that of the items was */
	int axis;
	int64_t each;
} batch_place;

typedef struct batch_model {
	wire_out bytes;	  /* @owned: batch_done(). The model; weights are named as parts of the file
			     that it was read from, or, with `inside`, in it */
	int64_t was;	  /* items of the model as it is */
	size_t rewritten; /* nodes whose sizes were rewritten */
	batch_place *inputs, *outputs; /* of the main graph, initializers left out */
	size_t ninputs, noutputs;
} batch_model;

/* True where all inputs that have a first axis fix it, and *ret_was is the first one's. */
bool batch_fixed(const onnx_model *m, int64_t *ret_was);

/* m: read from the file at `path`, whose bytes are read once more. n: how many items; at least 1.
 * file: the name by which the rewritten model asks for the weights; NULL: they are copied into it.
 * The result's texts are in the arena. E_UNSUP: a node holds the number of items fixed, or mixes
 * items: the sentence names it. E_LIMIT, E_IO, E_NOMEM. */
dck_status rebatch(const char *path, const onnx_model *m, int64_t n, const char *file, mem_arena *a,
		   batch_model *ret, dck_err *err);
void batch_done(batch_model *b); /* {0} is allowed */

#endif
