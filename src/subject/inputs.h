/* inputs.h - what a model is fed: shapes made definite, values from files or at random.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SUBJECT_INPUTS_H
#define SUBJECT_INPUTS_H

#include "deepclock/bench.h"
#include "model/summary.h"

typedef struct bench_inputs bench_inputs;

/* `in` describes the model's inputs, m what its file says of them (NULL: nothing). What fixes a
 * dimension: sizes.h. E_ARG names the input and what to give.
 * *ret is owned: bench_inputs_free(). `in` and m are borrowed as long. */
dck_status bench_inputs_new(const dck_tensor_info *in, size_t n, const model_summary *m,
			    const dck_model_config *c, bench_inputs **ret, dck_err *err);
void bench_inputs_free(bench_inputs *b); /* NULL is allowed */

size_t bench_inputs_pool(const bench_inputs *b); /* different sets, at least 1 */
const dck_tensor *bench_inputs_get(const bench_inputs *b, size_t set, size_t index);

/* Items that one run processes, and how that is known (borrowed from b). */
uint64_t bench_inputs_items(const bench_inputs *b, const char **ret_how);

/* When a run failed: which random integer may select something that needs another value, and what
 * to try; in b. NULL: none. */
const char *bench_inputs_hint(const bench_inputs *b);

/* "1x3x224x224 float32, normal(0,1), seed 1"; borrowed from b. */
const char *bench_inputs_text(const bench_inputs *b, size_t index);

#endif
