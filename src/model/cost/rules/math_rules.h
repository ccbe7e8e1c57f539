/* math_rules.h - shared functions of the rules of arithmetic and of reductions.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COST_RULES_MATH_RULES_H
#define COST_RULES_MATH_RULES_H

#include "model/cost/op.h"

/* The note of a cost that counts one operation for each output element. */
#define HOW_EACH "FLOPs: 1 per output element"

/* Returns whether that type represents v exactly, or v is open; false also for types without
 * numbers. */
bool math_holds(int64_t dtype, sym_int v);
/* Returns v; absent if it would overflow that type. */
sym_int math_fit(op *o, int64_t dtype, sym_int v);
/* Returns contents as integers, also if they are real numbers with integer values; NULL: they are
 * not known, or not integers. */
const sym_int *math_whole(const op *o, size_t input, size_t *ret_n);
/* Sets output 0 to x without those axes, or with size 1 there, by the attribute keepdims. */
void math_reduce(op *o, const val *x, const bool *gone, int64_t dtype);

#endif
