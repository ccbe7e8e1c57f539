/* profile_map.h - which nodes of the model an operator of the engine's own graph stands for.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PROFILE_PROFILE_MAP_H
#define PROFILE_PROFILE_MAP_H

#include "model/cost/cost_model.h"

#define PROFILE_NONE SIZE_MAX

/* For each operator of `model` the index of the operator of `ran` that computes it; PROFILE_NONE:
 * nothing does (it was computed when the model was loaded, or had no effect). Operators of a body
 * go to those of the same body of `ran`, and to their control operator where it has none. Each has
 * one owner, so that costs add up. In the arena; NULL: no memory.
 *
 * An operator of `ran` is anchored at the nodes that its outputs' names, or its own name, say; what
 * lies between anchors goes to the anchor after it when only that one needs it, else to the one
 * before it. */
size_t *profile_map(const cost_result *model, const cost_result *ran, mem_arena *a);

#endif
