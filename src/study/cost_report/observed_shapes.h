/* observed_shapes.h - the real shape of every value of a model, from one run: what no inference can
 * know, since it depends on what is computed.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TALLY_VALUES_H
#define TALLY_VALUES_H

#include "deepclock/bench.h"
#include "model/onnx/onnx.h"

typedef struct values_shape {
	const char *name;
	int64_t dtype; /* onnx_dtype; 0: text, or a type that the host has no name for */
	int rank;
	int64_t dims[DCK_RANK_MAX];
	bool input; /* of the graph; they come first */
	/* Of integers and bools: the one number that it holds, by which branches are chosen and
	 * loops counted. */
	bool has_number;
	int64_t number;
	bool known; /* false: no tensor (a sequence, an optional, a map), or of more dimensions */
} values_shape;

/* n integers or bools of that type; NULL: they are of another type, or there is no memory. */
const int64_t *values_whole(dck_dtype t, const void *data, size_t n, mem_arena *a);

/* Opens the model of s with all of them as outputs and its graph as it is (opt none), makes inputs
 * as a measurement does, and runs once. Inputs, values of nodes and outputs are in *ret, which
 * lives in `a`; all of them are in memory at a time while it runs. watch may be NULL: its log hears
 * the engine. E_UNSUP: the engine cannot, or the model is larger than 2 GiB without external
 * data. */
dck_status observed_shapes_run(const dck_subject *s, const dck_observer *watch, mem_arena *a,
			       values_shape **ret, size_t *ret_n, dck_err *err);

#endif
