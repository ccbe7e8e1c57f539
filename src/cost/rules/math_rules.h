/* math_rules.h - rules that the table of arithmetic, logic, reductions and linear algebra names.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COST_RULES_MATH_RULES_H
#define COST_RULES_MATH_RULES_H

#include "cost/op.h"

/* math_fold.c: one element after another, with contents where they are known. */
void shape_math_unary(op *o);
void shape_math_unary_bool(op *o);
void shape_math_binary(op *o);
void shape_math_compare(op *o);
void shape_math_variadic(op *o);
/* For each output element one operation less than there are inputs. */
void cost_math_variadic(op *o);
void cost_math_mean(op *o);
/* v where a tensor of that type can hold it; absent where it would overflow. */
num math_fit(op *o, int64_t dtype, num v);
/* Contents as whole numbers, also where they are real numbers that are whole; NULL: they are not
 * known, or not whole. */
const num *math_whole(const op *o, size_t input, size_t *ret_n);

/* math_reduce.c */
void shape_reduce(op *o);
void shape_arg(op *o);
void shape_cumulate(op *o);

/* math_linear.c */
void shape_gemm(op *o);
void cost_gemm(op *o);
void shape_det(op *o);
void cost_det(op *o);

/* math_einsum.c */
void shape_einsum(op *o);
void cost_einsum(op *o);

/* math_signal.c */
void shape_dft(op *o);
void cost_dft(op *o);
void shape_stft(op *o);
void cost_stft(op *o);
void shape_window(op *o);
void shape_mel(op *o);
void cost_mel(op *o);

#endif
