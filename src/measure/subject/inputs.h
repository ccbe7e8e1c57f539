/* inputs.h - input tensors of a model: resolved shapes, values from files or random.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SUBJECT_INPUTS_H
#define SUBJECT_INPUTS_H

#include "deepclock/bench.h"
#include "model/onnx/summary.h"

typedef struct subject_inputs subject_inputs;

/* Returns half of the memory, in bytes: the limit of input data, because the model needs the rest.
 */
uint64_t subject_memory_half(void);

/* Makes the inputs. `in` describes them, m is what the model file declares (NULL: nothing);
 * shape_resolve.h resolves the dimensions. E_ARG: the message names the input and a valid value.
 * The caller owns *ret: subject_inputs_free(). `in` and m are borrowed until then. */
dck_status subject_inputs_new(const dck_tensor_info *in, size_t n, const model_summary *m,
			      const dck_model_config *c, subject_inputs **ret, dck_err *err);
void subject_inputs_free(subject_inputs *b); /* NULL is allowed */

size_t subject_inputs_pool(const subject_inputs *b); /* number of sets, at least 1 */
const dck_tensor *subject_inputs_get(const subject_inputs *b, size_t set, size_t index);

/* Returns the items that one run processes, and how that is known (borrowed from b). */
uint64_t subject_inputs_items(const subject_inputs *b, const char **ret_how);

/* Returns a hint after a failed run: a random integer input that the failed node takes, or if f is
 * NULL one that may be an index, by the engine's message, or a selector, and what to try;
 * borrowed from b. NULL: none. */
const char *subject_inputs_hint(const subject_inputs *b, const model_failed *f,
				const char *message);
/* Returns whether the user gave values of an input. */
bool subject_inputs_given(const subject_inputs *b);
/* Returns whether the user gave the values of that input: a file or one number, not a range. */
bool subject_inputs_fixed(const subject_inputs *b, size_t index);

/* Returns the operator whose amount of work the random values of an input decide, or NULL. */
const char *subject_inputs_decides(const subject_inputs *b, size_t index);

/* Returns "1x3x224x224 float32, normal(0,1), seed 1"; borrowed from b. */
const char *subject_inputs_text(const subject_inputs *b, size_t index);

#endif
