/* follow.h - where each value of a model holds its items, and what a rule sees of it.
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
	HELD_SAME,  /* the same for all items, however many there are */
	HELD_SIZES, /* integers that depend on the number of items alone, and are known */
	HELD_ITEMS
} held;

/* Of ITEMS: the axis has pre * N * post elements: pre groups of N items of post elements. */
typedef struct items {
	held kind;
	int axis;
	num pre, post;
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

typedef struct follow follow;
struct follow {
	mem_arena *arena; /* of this attempt */
	num_table *nums;
	num count; /* the number of items, open */
	int64_t n, was;
	int64_t opset; /* of ONNX's own operators */
	/* Of the node that is asked about: */
	items all;  /* of its outputs that no rule set */
	items *out; /* NULL: of no output in particular */
	const struct follow_row *row;
	bool answered; /* `all` or `out` was set */
	edits now;
	/* Why it ended; the text is in the arena. */
	const char *why;
	int blame; /* the choice to make otherwise; -1: none */
	struct follow_state *state;
};

typedef struct follow_row {
	void (*rule)(follow *f, op *o);
	const char *names; /* of the operators that have the rule, with a space between */
	int64_t at;	   /* a number for the rule: a default, which input */
	uint32_t sizes;	   /* bits of inputs that may be HELD_SIZES */
	const char *why;   /* what the rule says where it refuses */
} follow_row;
/* NULL: the operator is in no table. */
const follow_row *follow_row_of(const op *o);

/* --- what there is --- */

extern const items follow_same; /* the same for all items */

/* Of input i; never NULL. */
const items *follow_in(const op *o, size_t i);
bool follow_has(const op *o, size_t i); /* input i is there and holds items */
/* Input i where it is a tensor of known rank; NULL after a refusal. */
const val *follow_shaped(follow *f, const op *o, size_t i);
/* The axis in attribute `axis`, for outputs of `more` further dimensions than v. False after a
 * refusal. */
bool follow_axis_of(follow *f, op *o, const val *v, int64_t otherwise, int more, int *ret);
/* The only input that holds items is i. False after a refusal. */
bool follow_only(follow *f, op *o, size_t i);
bool follow_equal(const items *a, const items *b); /* in axis and groups */
/* n has nothing to do with the number of items. */
bool follow_apart(const follow *f, num n);
/* The size of an axis as it was, with the number of items that the model was exported for. */
num follow_was(follow *f, const val *v, const items *s, int axis);

/* How many elements the axis has with `count` items. */
num follow_groups(follow *f, const items *s, num count);

/* --- answers --- */

/* What a value holds, for the nodes that read it. */
void follow_mark(follow *f, val *v, const items *s);

void follow_all(follow *f, items s);
void follow_set(follow *f, op *o, size_t i, items s);
/* because: where the items of an input are led to it; NULL: no other way of holding them helps. */
void follow_refuse(follow *f, const items *because, const char *why, ...) DCK_PRINTF(3, 4);
/* Input t holds items, and so do earlier inputs, as s says (or none yet): s becomes what holds for
 * all of them. False after a refusal: they differ. */
bool follow_join(follow *f, items *s, const items *t);
/* "its axis 1 holds the items apart" and the like, of a rule that mixes along that axis. */
void follow_mixes(follow *f, const items *s, const char *what);
/* The outputs hold the items as s does, unless the rule mixes along the items' axis. */
void follow_unless(follow *f, const items *s, bool mixes, const char *what);
/* Input i, which is the same for all items and has 1, or as much as one item, at `axis`, gets what
 * s says there. `broadcast`: 1 may stay. False after a refusal. */
bool follow_spread(follow *f, op *o, size_t i, int axis, const items *s, bool broadcast);
/* Input i, indices into the `each` elements of one item whose first axis is 1, gets those of all
 * items along that axis. False after a refusal. */
bool follow_offset(follow *f, op *o, size_t i, num each);
/* Input i, a list of sizes, becomes these. */
bool follow_sizes(follow *f, op *o, size_t i, const num *sizes, size_t n);
/* Which of n ways (at least 1) is taken here; another one on a later attempt, when this one leads
 * nowhere. */
int follow_choose(follow *f, const items *from, uint64_t what, int n, int *ret_choice);

/* --- rules that more than one file names --- */
void follow_each(follow *f, op *o);	 /* element by element, broadcasting */
void follow_keep(follow *f, op *o);	 /* as input 0; all others are the same for all items */
void follow_first(follow *f, op *o);	 /* the items lie along axis 0 of input `at` alone */
void follow_first_all(follow *f, op *o); /* along axis 0 of every input that holds them */
void follow_never(follow *f, op *o);
void follow_axis(follow *f, op *o);
void follow_softmax(follow *f, op *o);
void follow_cumsum(follow *f, op *o);
void follow_reduce(follow *f, op *o);
void follow_arg(follow *f, op *o);
void follow_norm(follow *f, op *o);
void follow_matmul(follow *f, op *o);
void follow_gemm(follow *f, op *o);
void follow_einsum(follow *f, op *o);
void follow_quantize(follow *f, op *o);
void follow_dropout(follow *f, op *o);
void follow_batchnorm(follow *f, op *o);
void follow_maxpool(follow *f, op *o);
void follow_rnn(follow *f, op *o);
void follow_skipnorm(follow *f, op *o);
void follow_if(follow *f, op *o);
void follow_transpose(follow *f, op *o);
void follow_reshape(follow *f, op *o);
void follow_flatten(follow *f, op *o);
void follow_squeeze(follow *f, op *o);
void follow_unsqueeze(follow *f, op *o);
void follow_concat(follow *f, op *o);
void follow_slice(follow *f, op *o);
void follow_gather(follow *f, op *o);
void follow_elements(follow *f, op *o);
void follow_gather_nd(follow *f, op *o);
void follow_scatter_nd(follow *f, op *o);
void follow_expand(follow *f, op *o);
void follow_tile(follow *f, op *o);
void follow_pad(follow *f, op *o);
void follow_resize(follow *f, op *o);
void follow_onehot(follow *f, op *o);
void follow_trilu(follow *f, op *o);
void follow_shape(follow *f, op *o);

#endif
