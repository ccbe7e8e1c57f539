/* refused.h - what an engine refuses of a model, as far as the file shows it without a run.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef INSPECT_REFUSED_H
#define INSPECT_REFUSED_H

#include "model/cost/cost_model.h"
#include "model/onnx/onnx.h"

#define REFUSED_MISSING "is not there"

/* Returns why the data of t cannot be in the file at `path`, which the model calls `name`:
 * REFUSED_MISSING, "is too short", ...; NULL: it can. */
const char *refused_weights(const onnx_tensor *t, const char *name, const char *path);
/* Returns why ONNX Runtime refuses the model, its files of weights aside, in a; NULL: nothing is
 * seen. r: its shapes. */
const char *refused_model(const onnx_model *m, const cost_result *r, mem_arena *a);

#endif
