/* slice_cut.h - where a Slice cuts, for the inference of shapes and for re-batching.
 *
 * Bounds are normalised as NumPy does, on symbolic sizes: a negative position counts from the end,
 * and positions are clamped. The length is ceil(span / step).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COST_SLICE_CUT_H
#define COST_SLICE_CUT_H

#include "model/cost/op.h"

/* Exporters write the largest integer of a type for "to the end", and the smallest for "to the
 * beginning". */
#define SLICE_FAR INT32_MAX

/* The bounds along one axis, as the node states them; bounds that depend on values are unknown. */
typedef struct slice_cut {
	int axis; /* from 0 on */
	sym_int begin, end, step;
} slice_cut;

typedef enum slice_state {
	SLICE_READ,
	SLICE_OPEN,    /* which axes it cuts depends on values */
	SLICE_INVALID, /* after op_unknown() */
} slice_state;

/* Reads the bounds of a node whose input has `rank` dimensions; ret: an array of COST_RANK_MAX.
 * Sets *ret and *ret_n only if SLICE_READ. */
slice_state slice_read(op *o, int rank, slice_cut *ret, size_t *ret_n);
/* Returns the elements that a cut takes of `size`, and the normalised begin; unknown with the
 * reason: it depends on values, or the step is 0. Then *ret_begin may not be set. */
sym_int slice_length(op *o, sym_int size, const slice_cut *c, sym_int *ret_begin);

#endif
