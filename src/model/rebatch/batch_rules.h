/* batch_rules.h - batching rules: the batch axis of each value of a model, and the interface of the
 * operators' rules.
 *
 * A rule is called for a node with at least one batched input. It sets the batch axes of the
 * outputs, or refuses. Its answer is compared with the sizes that the inference finds.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef REBATCH_BATCH_RULES_H
#define REBATCH_BATCH_RULES_H

#include "model/cost/op.h"

#define BATCH_EDITS_MAX 8 /* of one node */

typedef enum batch_state {
	BATCH_INVARIANT, /* the same for all items and any number of them */
	BATCH_SIZES,	 /* known integers that depend on the number of items alone */
	BATCHED
} batch_state;

/* State of a value. If BATCHED, the axis has pre * N * post elements: pre groups of N items of post
 * elements. */
typedef struct items {
	batch_state kind;
	int axis;
	sym_int pre, post;
	int choice; /* the last choice point that led to it; -1: none */
} items;

typedef enum edit_kind {
	EDIT_SIZES,  /* the input becomes these integers */
	EDIT_EXPAND, /* an Expand to these sizes is inserted before the input */
	EDIT_TILE,   /* a Tile with these repeats is inserted before the input */
	EDIT_OFFSET, /* these offsets are added to indices into one item, for all items */
} edit_kind;

typedef struct edit {
	edit_kind kind;
	size_t slot, n;
	int64_t dtype; /* of the integers */
	int64_t each;  /* OFFSET: elements of an item */
	int rank;      /* OFFSET: rank of the indices */
	const int64_t *v;
} edit;

/* The edits of a node. */
typedef struct edits {
	const onnx_node *node;
	size_t n;
	edit edit[BATCH_EDITS_MAX];
} edits;

typedef struct batch_propagation batch_propagation;
struct batch_propagation {
	mem_arena *arena; /* of this attempt */
	sym_table *nums;
	sym_int count; /* the number of items, a symbol */
	int64_t n, was;
	int64_t opset; /* of ONNX's own operators */
	/* Of the current node: */
	items all;  /* state of the outputs that have none in `out` */
	items *out; /* states of single outputs; NULL: none */
	const struct batch_rule *row;
	bool answered; /* `all` or `out` was set */
	edits now;
	/* Reason of a refusal; the text is in the arena. */
	const char *why;
	int conflict; /* the choice to change; -1: none */
	struct batch_rule_state *state;
};

typedef struct batch_rule {
	void (*rule)(batch_propagation *f, op *o);
	const char *names; /* the operators of the rule, separated by spaces */
	int64_t at;	   /* a parameter of the rule: a default, the index of an input */
	uint32_t sizes;	   /* bits of inputs that may be BATCH_SIZES */
	const char *why;   /* the reason if the rule refuses */
	const char *slots; /* batch_rule_slots(): how each input holds the items */
} batch_rule;
/* Returns the rule of an operator; NULL: it has none. */
const batch_rule *batch_rule_row_of(const op *o);

/* --- inputs --- */

extern const items batch_rule_same; /* the same for all items */

/* Returns the state of input i; never NULL. */
const items *batch_rule_in(const op *o, size_t i);
bool batch_rule_has(const op *o, size_t i); /* input i exists and is batched */
/* Returns input i if it is a tensor of known rank; NULL after a refusal. */
const val *batch_rule_shaped(batch_propagation *f, const op *o, size_t i);
/* Reads the axis in attribute `axis`, for outputs with `more` dimensions more than v. False after a
 * refusal. */
bool batch_rule_axis_of(batch_propagation *f, op *o, const val *v, int64_t otherwise, int more,
			int *ret);
/* Checks that no input but i is batched. False after a refusal. */
bool batch_rule_only(batch_propagation *f, op *o, size_t i);
bool batch_rule_equal(const items *a, const items *b); /* in axis and groups */
/* Returns whether n does not depend on the number of items. */
bool batch_rule_apart(const batch_propagation *f, sym_int n);
/* Returns the original size of an axis, with the number of items that the model was exported for.
 */
sym_int batch_rule_was(batch_propagation *f, const val *v, const items *s, int axis);

/* Returns the elements of the axis with `count` items. */
sym_int batch_rule_groups(batch_propagation *f, const items *s, sym_int count);

/* --- answers --- */

/* Sets the state of a value, for the nodes that read it. */
void batch_state_set(batch_propagation *f, val *v, const items *s);

void batch_rule_all(batch_propagation *f, items s);
void batch_rule_set(batch_propagation *f, op *o, size_t i, items s);
/* Refuses, and returns false. because: the state of the input that led to it; NULL: no other choice
 * helps. */
bool batch_rule_refuse(batch_propagation *f, const items *because, const char *why, ...)
    DCK_PRINTF(3, 4);
/* Merges the state t of a batched input into s, the common state of earlier inputs (or none yet).
 * False after a refusal: they differ. */
bool batch_rule_join(batch_propagation *f, items *s, const items *t);
/* Refuses with "<what> axis 1, which holds the items", for a rule that mixes along that axis. */
void batch_rule_mixes(batch_propagation *f, const items *s, const char *what);
/* Sets the state of all outputs to s, or refuses if the rule mixes along the batch axis. */
void batch_rule_unless(batch_propagation *f, const items *s, bool mixes, const char *what);
/* Expands input i, which is the same for all items and has the size 1, or of one item, at `axis`,
 * to all items of s. `broadcast`: 1 may stay. False after a refusal. */
bool batch_rule_spread(batch_propagation *f, op *o, size_t i, int axis, const items *s,
		       bool broadcast);
/* Extends input i, indices into the `each` elements of one item whose first axis is 1, to the
 * indices of all items along that axis. False after a refusal. */
bool batch_rule_offset(batch_propagation *f, op *o, size_t i, sym_int each);
/* Replaces input i, a list of sizes. */
bool batch_rule_sizes(batch_propagation *f, op *o, size_t i, const sym_int *sizes, size_t n);
/* Returns which of n ways (at least 1) to take, at a choice point; a later attempt takes another
 * way if this one leads to a refusal. */
int batch_rule_choose(batch_propagation *f, const items *from, uint64_t what, int n,
		      int *ret_choice);

/* --- rules that several files use --- */
void batch_rule_each(batch_propagation *f, op *o); /* element by element, broadcasting */
void batch_rule_keep(batch_propagation *f,
		     op *o); /* as input 0; all other inputs are the same for all items */
void batch_rule_first(batch_propagation *f,
		      op *o); /* the batch axis is axis 0 of input `at` alone */
void batch_rule_first_all(batch_propagation *f,
			  op *o); /* the batch axis is axis 0 of each batched input */
void batch_rule_never(batch_propagation *f, op *o);
void batch_rule_axis(batch_propagation *f, op *o);
void batch_rule_softmax(batch_propagation *f, op *o);
void batch_rule_cumsum(batch_propagation *f, op *o);
void batch_rule_reduce(batch_propagation *f, op *o);
void batch_rule_arg(batch_propagation *f, op *o);
void batch_rule_norm(batch_propagation *f, op *o);
void batch_rule_matmul(batch_propagation *f, op *o);
void batch_rule_gemm(batch_propagation *f, op *o);
void batch_rule_einsum(batch_propagation *f, op *o);
void batch_rule_quantize(batch_propagation *f, op *o);
void batch_rule_dropout(batch_propagation *f, op *o);
void batch_rule_batchnorm(batch_propagation *f, op *o);
void batch_rule_maxpool(batch_propagation *f, op *o);
void batch_rule_rnn(batch_propagation *f, op *o);
void batch_rule_skipnorm(batch_propagation *f, op *o);
void batch_rule_slots(batch_propagation *f, op *o);
void batch_rule_transpose(batch_propagation *f, op *o);
void batch_rule_reshape(batch_propagation *f, op *o);
void batch_rule_flatten(batch_propagation *f, op *o);
void batch_rule_squeeze(batch_propagation *f, op *o);
void batch_rule_unsqueeze(batch_propagation *f, op *o);
void batch_rule_concat(batch_propagation *f, op *o);
void batch_rule_slice(batch_propagation *f, op *o);
void batch_rule_gather(batch_propagation *f, op *o);
void batch_rule_elements(batch_propagation *f, op *o);
void batch_rule_gather_nd(batch_propagation *f, op *o);
void batch_rule_scatter_nd(batch_propagation *f, op *o);
void batch_rule_expand(batch_propagation *f, op *o);
void batch_rule_tile(batch_propagation *f, op *o);
void batch_rule_pad(batch_propagation *f, op *o);
void batch_rule_resize(batch_propagation *f, op *o);
void batch_rule_onehot(batch_propagation *f, op *o);
void batch_rule_trilu(batch_propagation *f, op *o);
void batch_rule_shape(batch_propagation *f, op *o);

#endif
