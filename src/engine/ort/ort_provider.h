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

/* An execution provider, ready to be added to sessions. */
typedef struct ort_provider {
	const char *name; /* "cpu", "cuda", "webgpu" */
	unsigned device;  /* which of its devices */
	/* The separate library of the provider (ONNX Runtime calls it a plug-in); NULL: the
	 * provider is in ONNX Runtime's library. */
	const ort_ep_device *plugin;
	const char *library, *version, *hardware;
	/* Calls of several threads at a time break it, in whichever sessions: ort_provider_begin()
	 * and ort_provider_end() enclose each. */
	bool one_call;
} ort_provider;

/* Finds provider `name` and loads its library, if it has one: `asked`, a file or its directory, or
 * NULL: searches for it. Texts live in `a`. E_ABSENT: there is no library, or no device;
 * E_VERSION: ONNX Runtime is too old; E_UNSUP: not in this build. */
dck_status ort_provider_load(const ort_lib *l, const char *name, unsigned device, const char *asked,
			     mem_arena *a, ort_provider *ret, dck_err *err);

/* Replaces the message of a session that could not be created, if the provider is why. Returns the
 * status. */
dck_status ort_provider_refused(const ort_provider *p, dck_status status, dck_err *err);

/* Encloses a call of ONNX Runtime that uses the provider's device; not nested. */
void ort_provider_begin(const ort_provider *p);
void ort_provider_end(const ort_provider *p);

/* Returns the names of the known providers whose separate library is found; NULL-terminated. */
const char *const *ort_provider_plugins(const ort_lib *l, mem_arena *a);

/* Adds a provider to the session's options; "cpu" is always available and adds nothing. `given`:
 * may have options of the provider, ORT_CUDA_OPTIONS and its name; NULL: none. E_ENGINE: its
 * libraries or its device are missing. */
dck_status ort_provider_append(const ort_lib *l, ort_options *o, const ort_provider *p,
			       const dck_open_params *given, mem_arena *a, dck_err *err);

/* The prefix of options of the provider 'cuda', as ONNX Runtime composes it. */
#define ORT_CUDA_OPTIONS "ep.cudaexecutionprovider."

#endif
