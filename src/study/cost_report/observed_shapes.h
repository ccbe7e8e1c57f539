/* observed_shapes.h - shapes of all values of a model, observed in one run: shape inference cannot
 * find data-dependent ones.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COST_REPORT_OBSERVED_SHAPES_H
#define COST_REPORT_OBSERVED_SHAPES_H

#include "deepclock/bench.h"
#include "model/onnx/onnx.h"

typedef struct values_shape {
	const char *name;
	int64_t dtype; /* onnx_dtype; 0: text, or a type without a dck_dtype */
	int rank;
	int64_t dims[DCK_RANK_MAX];
	bool input; /* inputs of the graph, which come first */
	/* Of integers and bools with one element: its value, which selects branches and counts
	 * loops. */
	bool has_number;
	int64_t number;
	/* Of inputs that are few integers which the user gave, not random ones; NULL: none. */
	const int64_t *ints;
	size_t n;
	bool known; /* false: not a tensor (a sequence, an optional, a map), or too many dimensions
		     */
} values_shape;

/* Converts n integers or bools to int64_t; NULL: another type, or no memory. */
const int64_t *values_whole(dck_dtype t, const void *data, size_t n, mem_arena *a);

/* Opens the model of s with all values as outputs and an unoptimised graph (opt none), makes inputs
 * as a measurement does, and runs once. Inputs, values of nodes and outputs are in *ret, which
 * lives in `a`; all are in memory at once during the run. watch receives the engine's log, and may
 * be NULL. *ret_usual: the options of usual sizes that the run took for open ones, in `a`; NULL or
 * "": none; ret_usual may be NULL. E_UNSUP: the engine cannot, or the model is larger than 2 GiB
 * without external data. */
dck_status observed_shapes_run(const dck_subject *s, const dck_observer *watch, mem_arena *a,
			       values_shape **ret, size_t *ret_n, const char **ret_usual,
			       dck_err *err);

#endif
