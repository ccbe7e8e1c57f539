/* rebatch.h - rebatching: rewrites a model that was exported for a fixed batch size, usually 1, for
 * another batch size.
 *
 *	DCK_TRY(rebatch(path, m, 8, NULL, arena, &b, err));
 *	... b.bytes is the model for 8 items ...
 *	batch_done(&b);
 *
 * The batch size becomes a symbol, and a batch axis is propagated through the model. A value either
 * has the items along one axis, or is the same for all items. Each operator has a batching rule
 * (batch_rules*.c) that gives the batch axes of its outputs from the batch axes of its inputs, and
 * that refuses if items would mix. Sizes of the old batch size in the file (the sizes of Reshape,
 * the types of inputs and outputs) are rewritten.
 *
 * An operator without a rule is refused, never guessed. Nothing is run here: verify/rebatch_check.h
 * compares the results with the original model's.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef REBATCH_REBATCH_H
#define REBATCH_REBATCH_H

#include "model/cost/cost_model.h"
#include "base/wire.h"

/* The batch axis of a tensor of the rewritten model: `axis` has `each` elements for every item, the
 * elements of one item adjacent. */
typedef struct batch_place {
	const char *name;
	bool items;  /* false: it is the same for all items */
	bool shared; /* the same, though its first axis has the old batch size */
	int axis;
	int64_t each;
} batch_place;

typedef struct batch_model {
	wire_out bytes;	  /* @owned: batch_done(). The model; its weights are external data in the
			     original file, or copied into it */
	int64_t was;	  /* batch size of the original model */
	size_t rewritten; /* nodes whose sizes were rewritten */
	batch_place *inputs, *outputs; /* of the main graph, initializers left out */
	size_t ninputs, noutputs;
} batch_model;

/* Returns whether all inputs that have a first axis fix it; *ret_was is the first input's. */
bool batch_fixed(const onnx_model *m, int64_t *ret_was);

/* Rewrites m, which was read from the file at `path`, whose bytes are read once more. n: batch
 * size, at least 1. file: the name of the weights' file in the rewritten model; NULL: the weights
 * are copied into it. The result's texts are in the arena. E_UNSUP: a node fixes the batch size, or
 * mixes items: the message names it. E_LIMIT, E_IO, E_NOMEM. */
dck_status rebatch(const char *path, const onnx_model *m, int64_t n, const char *file, mem_arena *a,
		   batch_model *ret, dck_err *err);
void batch_done(batch_model *b); /* {0} is allowed */

#endif
