/* profile_position.h - names of operators that have none in the graph: the type and the position
 * among the nodes of its graph that make no constant, as ONNX Runtime writes it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PROFILE_POSITION_H
#define PROFILE_POSITION_H

#include "model/cost/cost_model.h"

typedef struct profile_positions {
	mem_arena *arena;
	name_index made;  /* what the operators make, each name with its scope */
	size_t *position; /* of such a name */
} profile_positions;

/* Finds the positions of all operators, once; in the arena. */
dck_status profile_positions_find(profile_positions *t, const cost_result *m, mem_arena *a,
				  dck_err *err);
/* Returns "Conv_12", or "" for an operator of another graph; in the arena. NULL: no memory. */
const char *profile_position_name(profile_positions *t, const cost_op *c);

#endif
