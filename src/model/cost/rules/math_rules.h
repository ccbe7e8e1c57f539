/* math_rules.h - what the rules of arithmetic and of reductions share.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COST_RULES_MATH_RULES_H
#define COST_RULES_MATH_RULES_H

#include "model/cost/op.h"

/* A tensor of that type holds v exactly, or v is open; false also for types without numbers. */
bool math_holds(int64_t dtype, sym_int v);
/* v where a tensor of that type can hold it; absent where it would overflow. */
sym_int math_fit(op *o, int64_t dtype, sym_int v);
/* Contents as whole numbers, also where they are real numbers that are whole; NULL: they are not
 * known, or not whole. */
const sym_int *math_whole(const op *o, size_t input, size_t *ret_n);
/* Output 0 is x without those axes, or with 1 there, as the attribute keepdims says. */
void math_reduce(op *o, const val *x, const bool *gone, int64_t dtype);

#endif
