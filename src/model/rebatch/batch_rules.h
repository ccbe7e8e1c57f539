/* batch_rules.h - where each value of a model holds its items, and what a rule sees of it.
 *
 * A rule is asked of a node of which at least one input holds items. It says where the outputs hold
 * them, or refuses. What it says is compared with the sizes that the inference finds.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BATCH_FOLLOW_H
#define BATCH_FOLLOW_H

#include "model/cost/op.h"

#define FOLLOW_EDITS_MAX 8 /* of one node */

typedef enum held {
	BATCH_INVARIANT, /* the same for all items, however many there are */
	BATCH_SIZES,	 /* integers that depend on the number of items alone, and are known */
	BATCHED
} held;

/* Of ITEMS: the axis has pre * N * post elements: pre groups of N items of post elements. */
typedef struct items {
	held kind;
	int axis;
	sym_int pre, post;
	int choice; /* the last one that led to this; -1: none */
} items;

typedef enum edit_kind {
	EDIT_SIZES,  /* the input becomes these integers */
	EDIT_EXPAND, /* the input goes through an Expand to these sizes */
	EDIT_TILE,   /* and here through a Tile with these numbers */
	EDIT_OFFSET, /* indices into one item become those into each: these are added */
} edit_kind;

typedef struct edit {
	edit_kind kind;
	size_t slot, n;
	int64_t dtype; /* of the integers */
	int64_t each;  /* OFFSET: elements of an item */
	int rank;      /* OFFSET: of the indices */
	const int64_t *v;
} edit;

/* What is done to a node. */
typedef struct edits {
	const onnx_node *node;
	size_t n;
	edit edit[FOLLOW_EDITS_MAX];
} edits;

typedef struct batch_propagation batch_propagation;
struct batch_propagation {
	mem_arena *arena; /* of this attempt */
	sym_table *nums;
	sym_int count; /* the number of items, open */
	int64_t n, was;
	int64_t opset; /* of ONNX's own operators */
	/* Of the node that is asked about: */
	items all;  /* of its outputs that no rule set */
	items *out; /* NULL: of no output in particular */
	const struct batch_rule *row;
	bool answered; /* `all` or `out` was set */
	edits now;
	/* Why it ended; the text is in the arena. */
	const char *why;
	int blame; /* the choice to make otherwise; -1: none */
	struct batch_rule_state *state;
};

typedef struct batch_rule {
	void (*rule)(batch_propagation *f, op *o);
	const char *names; /* of the operators that have the rule, with a space between */
	int64_t at;	   /* a number for the rule: a default, which input */
	uint32_t sizes;	   /* bits of inputs that may be BATCH_SIZES */
	const char *why;   /* what the rule says where it refuses */
} batch_rule;
/* NULL: the operator is in no table. */
const batch_rule *batch_rule_row_of(const op *o);

/* --- what there is --- */

extern const items batch_rule_same; /* the same for all items */

/* Of input i; never NULL. */
const items *batch_rule_in(const op *o, size_t i);
bool batch_rule_has(const op *o, size_t i); /* input i is there and holds items */
/* Input i where it is a tensor of known rank; NULL after a refusal. */
const val *batch_rule_shaped(batch_propagation *f, const op *o, size_t i);
/* The axis in attribute `axis`, for outputs of `more` further dimensions than v. False after a
 * refusal. */
bool batch_rule_axis_of(batch_propagation *f, op *o, const val *v, int64_t otherwise, int more,
			int *ret);
/* The only input that holds items is i. False after a refusal. */
bool batch_rule_only(batch_propagation *f, op *o, size_t i);
bool batch_rule_equal(const items *a, const items *b); /* in axis and groups */
/* n has nothing to do with the number of items. */
bool batch_rule_apart(const batch_propagation *f, sym_int n);
/* The size of an axis as it was, with the number of items that the model was exported for. */
sym_int batch_rule_was(batch_propagation *f, const val *v, const items *s, int axis);

/* How many elements the axis has with `count` items. */
sym_int batch_rule_groups(batch_propagation *f, const items *s, sym_int count);

/* --- answers --- */

/* What a value holds, for the nodes that read it. */
void batch_rule_mark(batch_propagation *f, val *v, const items *s);

void batch_rule_all(batch_propagation *f, items s);
void batch_rule_set(batch_propagation *f, op *o, size_t i, items s);
/* because: where the items of an input are led to it; NULL: no other way of holding them helps. */
void batch_rule_refuse(batch_propagation *f, const items *because, const char *why, ...)
    DCK_PRINTF(3, 4);
/* Input t holds items, and so do earlier inputs, as s says (or none yet): s becomes what holds for
 * all of them. False after a refusal: they differ. */
bool batch_rule_join(batch_propagation *f, items *s, const items *t);
/* "its axis 1 holds the items apart" and the like, of a rule that mixes along that axis. */
void batch_rule_mixes(batch_propagation *f, const items *s, const char *what);
/* The outputs hold the items as s does, unless the rule mixes along the items' axis. */
void batch_rule_unless(batch_propagation *f, const items *s, bool mixes, const char *what);
/* Input i, which is the same for all items and has 1, or as much as one item, at `axis`, gets what
 * s says there. `broadcast`: 1 may stay. False after a refusal. */
bool batch_rule_spread(batch_propagation *f, op *o, size_t i, int axis, const items *s,
		       bool broadcast);
/* Input i, indices into the `each` elements of one item whose first axis is 1, gets those of all
 * items along that axis. False after a refusal. */
bool batch_rule_offset(batch_propagation *f, op *o, size_t i, sym_int each);
/* Input i, a list of sizes, becomes these. */
bool batch_rule_sizes(batch_propagation *f, op *o, size_t i, const sym_int *sizes, size_t n);
/* Which of n ways (at least 1) is taken here; another one on a later attempt, when this one leads
 * nowhere. */
int batch_rule_choose(batch_propagation *f, const items *from, uint64_t what, int n,
		      int *ret_choice);

/* --- rules that more than one file names --- */
void batch_rule_each(batch_propagation *f, op *o); /* element by element, broadcasting */
void batch_rule_keep(batch_propagation *f,
		     op *o); /* as input 0; all others are the same for all items */
void batch_rule_first(batch_propagation *f,
		      op *o); /* the items lie along axis 0 of input `at` alone */
void batch_rule_first_all(batch_propagation *f,
			  op *o); /* along axis 0 of every input that holds them */
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
void batch_rule_if(batch_propagation *f, op *o);
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
