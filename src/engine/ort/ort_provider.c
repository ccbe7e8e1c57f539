/* ort_provider.c - adds an execution provider to a session's options.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "engine/ort/ort_provider.h"

#include "base/err.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define SUFFIX "ExecutionProvider"

/* "CUDAExecutionProvider" -> "cuda" */
static char *provider_short_name(mem_arena *a, const char *full)
{
	size_t n = strlen(full), k = strlen(SUFFIX);
	char *name;

	if (n > k && strcmp(full + n - k, SUFFIX) == 0)
		n -= k;
	name = mem_arena_dup_n(a, full, n);
	for (char *c = name; c && *c; c++)
		*c = (char)tolower((unsigned char)*c);
	return name;
}

dck_status ort_provider_list(const ort_lib *l, mem_arena *a, const char *const **ret, size_t *ret_n,
			     dck_err *err)
{
	char **full;
	int n;

	DCK_TRY(ort_check(l, l->api.GetAvailableProviders(&full, &n), err,
			  "cannot list the providers"));
	const char **names = mem_arena_array(a, (size_t)n, sizeof *names);
	for (int i = 0; names && i < n; i++)
		names[i] = provider_short_name(a, full[i]);
	DCK_TRY(ort_check(l, l->api.ReleaseAvailableProviders(full, n), err,
			  "cannot release the list of providers"));
	DCK_NEED(!mem_arena_failed(a), err, "for the list of providers");
	*ret = names;
	*ret_n = (size_t)n;
	return DCK_OK;
}

static dck_status is_in_build(const ort_lib *l, const char *name, mem_arena *a, dck_err *err)
{
	const char *const *names;
	char all[200] = "";
	size_t n, used = 0;

	DCK_TRY(ort_provider_list(l, a, &names, &n, err));
	for (size_t i = 0; i < n; i++) {
		if (strcmp(names[i], name) == 0)
			return DCK_OK;
		if (used < sizeof all)
			used += (size_t)snprintf(all + used, sizeof all - used, "%s%s",
						 i ? ", " : "", names[i]);
	}
	DCK_FAIL(err, E_UNSUP,
		 "provider '%s' is not in this build of ONNX Runtime (%s), which has %s%s", name,
		 os_library_path(l->library), all,
		 strcmp(name, "cuda") == 0 ? "; pip install onnxruntime-gpu brings one that has it"
					   : "");
}

/* CUDA's libraries are Python packages next to onnxruntime's, which the loader does not search:
 * once loaded here by their full names, in the order of their dependencies, they are found by their
 * short names. They stay loaded, because the driver's threads may run in them. A missing library
 * may be installed in the system; if not, the provider's error names it. */
static void preload_cuda(const ort_lib *l, mem_arena *a)
{
	static const char *const libraries[] = {
	    "cuda_runtime/lib/libcudart", "cublas/lib/libcublasLt", "cublas/lib/libcublas",
	    "cuda_nvrtc/lib/libnvrtc",	  "curand/lib/libcurand",   "cufft/lib/libcufft",
	    "cudnn/lib/libcudnn"};
	static const char capi[] = "/onnxruntime/capi/";
	const char *path = os_library_path(l->library);
	const char *packages_end = strstr(path, capi);

	if (!packages_end)
		return;
	const char *packages = mem_arena_dup_n(a, path, (size_t)(packages_end - path));
	for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
		const char *file = strrchr(libraries[i], '/');
		/* Since CUDA 13 all are in one directory, nvidia/cu13. */
		const char *patterns[] = {mem_arena_fmt(a, "nvidia/%s.so.*", libraries[i]),
					  mem_arena_fmt(a, "nvidia/cu[0-9]*/lib%s.so.*", file)};
		for (size_t k = 0; k < 2; k++) {
			const char *found = os_path_first(a, packages, patterns[k]);
			if (!found || os_file_open_to_others(found))
				continue;
			os_library_preload(found);
			break;
		}
	}
}

static dck_status append_cuda(const ort_lib *l, ort_options *o, unsigned device, mem_arena *a,
			      dck_err *err)
{
	char id[16];
	const char *keys[] = {"device_id"}, *values[] = {id};
	ort_cuda *cuda;

	preload_cuda(l, a);
	snprintf(id, sizeof id, "%u", device);
	DCK_TRY(ort_check(l, l->api.CreateCUDAProviderOptions(&cuda), err,
			  "cannot use device 'cuda:%u'", device));
	dck_status status = ort_check(l, l->api.UpdateCUDAProviderOptions(cuda, keys, values, 1),
				      err, "cannot use device 'cuda:%u'", device);
	if (status == DCK_OK)
		status = ort_check(l, l->api.SessionOptionsAppendExecutionProvider_CUDA_V2(o, cuda),
				   err, "cannot use device 'cuda:%u'", device);
	l->api.ReleaseCUDAProviderOptions(cuda);
	return status;
}

/* Some of the names that this function of ONNX Runtime accepts are in capitals. */
static dck_status append_by_name(const ort_lib *l, ort_options *o, const char *name, mem_arena *a,
				 dck_err *err)
{
	static const char *const spelled[][2] = {{"openvino", "OpenVINO"},
						 {"coreml", "CoreML"},
						 {"webgpu", "WebGPU"},
						 {"webnn", "WebNN"},
						 {"vitisai", "VitisAI"}};
	char *capitals = mem_arena_dup(a, name);
	const char *to_append = capitals;

	DCK_NEED(capitals, err, "for the provider '%s'", name);
	for (char *c = capitals; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	for (size_t i = 0; i < sizeof spelled / sizeof *spelled; i++)
		if (strcmp(spelled[i][0], name) == 0)
			to_append = spelled[i][1];
	ort_status *refusal =
	    l->api.SessionOptionsAppendExecutionProvider(o, to_append, NULL, NULL, 0);
	if (refusal && strstr(l->api.GetErrorMessage(refusal), "Unknown provider name")) {
		l->api.ReleaseStatus(refusal);
		DCK_FAIL(err, E_UNSUP,
			 "provider '%s' is in this build of ONNX Runtime, and needs its own "
			 "setup, which the engine 'ort' has for cpu and cuda only",
			 name);
	}
	return ort_check(l, refusal, err, "cannot use provider '%s'", name);
}

dck_status ort_provider_append(const ort_lib *l, ort_options *o, const char *name, unsigned device,
			       mem_arena *a, dck_err *err)
{
	if (strcmp(name, "cpu") == 0)
		return DCK_OK;
	DCK_TRY(is_in_build(l, name, a, err));
	if (strcmp(name, "cuda") == 0)
		return append_cuda(l, o, device, a, err);
	return append_by_name(l, o, name, a, err);
}
