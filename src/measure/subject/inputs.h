/* inputs.h - what a model is fed: shapes made definite, values from files or at random.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SUBJECT_INPUTS_H
#define SUBJECT_INPUTS_H

#include "deepclock/bench.h"
#include "model/onnx/summary.h"

typedef struct subject_inputs subject_inputs;

/* Half of the memory, for what is read or made for a model: it needs the rest. */
uint64_t subject_memory_half(void);

/* `in` describes the model's inputs, m what its file says of them (NULL: nothing). What fixes a
 * dimension: shape_resolve.h. E_ARG names the input and what to give.
 * *ret is owned: subject_inputs_free(). `in` and m are borrowed as long. */
dck_status subject_inputs_new(const dck_tensor_info *in, size_t n, const model_summary *m,
			      const dck_model_config *c, subject_inputs **ret, dck_err *err);
void subject_inputs_free(subject_inputs *b); /* NULL is allowed */

size_t subject_inputs_pool(const subject_inputs *b); /* different sets, at least 1 */
const dck_tensor *subject_inputs_get(const subject_inputs *b, size_t set, size_t index);

/* Items that one run processes, and how that is known (borrowed from b). */
uint64_t subject_inputs_items(const subject_inputs *b, const char **ret_how);

/* When a run failed: which random integer may select something that needs another value, and what
 * to try; in b. NULL: none. */
const char *subject_inputs_hint(const subject_inputs *b);

/* "1x3x224x224 float32, normal(0,1), seed 1"; borrowed from b. */
const char *subject_inputs_text(const subject_inputs *b, size_t index);

#endif
