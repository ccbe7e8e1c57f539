/* profile_map.h - maps operators of the engine's optimised graph to nodes of the model.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PROFILE_PROFILE_MAP_H
#define PROFILE_PROFILE_MAP_H

#include "model/cost/cost_model.h"

#define PROFILE_NONE SIZE_MAX

/* Returns, for each operator of `model`, the index of the operator of `ran` that computes it;
 * PROFILE_NONE: none (constant-folded at load, equal to another one that ran, or without effect).
 * Operators of a body map to operators of the same body of `ran`, or to their control operator if
 * it has none. Each has one owner, so costs are additive. In the arena; NULL: no memory.
 *
 * An operator of `ran` is anchored at the nodes that the names of its outputs, or its own name,
 * match; a node between anchors maps to the following anchor if only that one uses it, else to the
 * preceding anchor. */
size_t *profile_map(const cost_result *model, const cost_result *ran, mem_arena *a);

/* Returns whether operators of the type only move data, and compute nothing. */
bool profile_map_moves(const char *type);

/* The same for an engine that does not give the graph that it ran, but the times of operators of
 * the model: types[i] is the type that it reports for operator i ("": none), NULL for one without a
 * time, which was fused into another. An operator that belongs to no other is its own owner. */
size_t *profile_map_timed(const cost_result *model, const char *const *types, mem_arena *a);

#endif
