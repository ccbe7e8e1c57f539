/* ort_provider.h - execution providers: the devices ONNX Runtime can compute on.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ENGINE_ORT_PROVIDER_H
#define ENGINE_ORT_PROVIDER_H

#include "engine/ort/ort_lib.h"

/* Lists the providers compiled in, which may not work here, in lower case: "CPUExecutionProvider"
 * is "cpu". Texts live in `a`. */
dck_status ort_provider_list(const ort_lib *l, mem_arena *a, const char *const **ret, size_t *ret_n,
			     dck_err *err);

/* Adds provider `name` to the session's options; "cpu" is always available and adds nothing.
 * E_UNSUP: not in this build; E_ENGINE: its libraries or its device are missing. */
dck_status ort_provider_append(const ort_lib *l, ort_options *o, const char *name, unsigned device,
			       mem_arena *a, dck_err *err);

#endif
