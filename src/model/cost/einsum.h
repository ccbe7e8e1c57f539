/* einsum.h - the equation of Einsum, for the inference of shapes and for re-batching.
 *
 *	einsum e;
 *	if (einsum_read(o, &e, labels, ranks))
 *		... e.size[labels[operand][dimension]], e.out[dimension] ...
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COST_EINSUM_H
#define COST_EINSUM_H

#include "model/cost/op.h"

/* A label is a letter (0 to 51: A to Z, a to z) or one dimension of "..." (from 52 on). */
#define EINSUM_LETTERS 52
#define EINSUM_LABELS  (EINSUM_LETTERS + COST_RANK_MAX)

typedef struct einsum {
	sym_int size[EINSUM_LABELS]; /* the size of each label */
	bool sized[EINSUM_LABELS];
	int seen[EINSUM_LABELS]; /* how often each label occurs in the operands */
	int ellipsis;		 /* number of dimensions of the longest "..." */
	int out[COST_RANK_MAX], nout;
	bool explicit;
} einsum;

/* Reads the equation. `labels` and `ranks` have a row for each operand: the label of each of its
 * dimensions, and their number; they may be NULL. False, after op_unknown(): the equation is not
 * valid, does not fit the operands, or the shape of one is not known. */
bool einsum_read(op *o, einsum *e, int (*labels)[COST_RANK_MAX], int *ranks);

#endif
