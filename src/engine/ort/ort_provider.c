/* ort_provider.c - adds an execution provider to a session's options.
 *
 * A provider is part of ONNX Runtime's library, or a separate library that is registered with the
 * environment and lists its devices (plugins[] has the known ones). The environment is shared by
 * all sessions of the process, so a library is registered once and stays. A provider stores the
 * address of ONNX Runtime's functions at its first registration and starts threads, so neither
 * library may be unloaded after that, and the environment is not released.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "engine/ort/ort_provider.h"

#include "base/err.h"
#include "base/sink.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
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
	size_t n;
	const char *const *names;
	char all[200] = "";

	DCK_TRY(ort_provider_list(l, a, &names, &n, err));
	for (size_t i = 0; i < n; i++) {
		if (strcmp(names[i], name) == 0)
			return DCK_OK;
		text_add(all, sizeof all, "%s%s", i ? ", " : "", names[i]);
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

static dck_status append_cuda(const ort_lib *l, ort_options *o, unsigned device,
			      const dck_open_params *given, mem_arena *a, dck_err *err)
{
	const size_t nmax = 1 + (given ? given->noptions : 0);
	const char **keys = mem_arena_array(a, nmax, sizeof *keys);
	const char **values = mem_arena_array(a, nmax, sizeof *values);
	size_t n = 0;
	ort_cuda *cuda;

	DCK_NEED(keys && values, err, "for the provider 'cuda'");
	keys[n] = "device_id";
	values[n++] = mem_arena_fmt(a, "%u", device);
	for (size_t i = 0; i + 1 < nmax; i++) {
		const dck_kv *option = &given->options[i];
		if (strncmp(option->key, ORT_CUDA_OPTIONS, strlen(ORT_CUDA_OPTIONS)) != 0)
			continue;
		keys[n] = option->key + strlen(ORT_CUDA_OPTIONS);
		values[n++] = option->value;
	}
	DCK_NEED(!mem_arena_failed(a), err, "for the provider 'cuda'");
	preload_cuda(l, a);
	DCK_TRY(ort_check(l, l->api.CreateCUDAProviderOptions(&cuda), err,
			  "cannot use device 'cuda:%u'", device));
	dck_status status = ort_check(l, l->api.UpdateCUDAProviderOptions(cuda, keys, values, n),
				      err, "cannot use device 'cuda:%u'", device);
	DCK_NEXT(status, ort_check(l, l->api.SessionOptionsAppendExecutionProvider_CUDA_V2(o, cuda),
				   err, "cannot use device 'cuda:%u'", device));
	l->api.ReleaseCUDAProviderOptions(cuda);
	return status;
}

/* Some of the names that this function of ONNX Runtime accepts are in capitals. */
static dck_status append_by_name(const ort_lib *l, ort_options *o, const char *name, mem_arena *a,
				 dck_err *err)
{
	static const char *const spelled[][2] = {{"openvino", "OpenVINO"},
						 {"coreml", "CoreML"},
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

/* --- providers in separate libraries */

typedef struct plugin {
	const char *name;	    /* of the provider and the device */
	const char *ep;		    /* ONNX Runtime's name of it */
	const char *package, *file; /* Python package, and the library in it */
	const char *pip;	    /* the package's name for pip */
	const char *absent;	    /* what may be missing when it lists no device */
	bool one_call;
} plugin;

static const plugin plugins[] = {
    {"webgpu", "WebGpuExecutionProvider", "onnxruntime_ep_webgpu",
     "libonnxruntime_providers_webgpu.so", "onnxruntime-ep-webgpu",
     "a GPU with its Vulkan driver and libvulkan.so.1 (Debian: libvulkan1), of which 'vulkaninfo' "
     "shows what works; with ORT_WEBGPU_EP_ALLOW_SOFTWARE_ADAPTER=1 also a driver in software",
     /* Its sessions share one encoder of commands, and only Run() has a lock: a copy in another
	thread ends the encoder of a run ("CommandEncoder is already finished"). */
     true},
};
#define PLUGINS (sizeof plugins / sizeof *plugins)

#define PLUGIN_VARIABLE "DEEPCLOCK_ORT_PROVIDER"

static const plugin *plugin_find(const char *name)
{
	for (size_t i = 0; i < PLUGINS; i++)
		if (strcmp(plugins[i].name, name) == 0)
			return &plugins[i];
	return NULL;
}

static os_fair_lock one_call;

void ort_provider_begin(const ort_provider *p)
{
	if (p->one_call)
		os_fair_lock_take(&one_call);
}

void ort_provider_end(const ort_provider *p)
{
	if (p->one_call)
		os_fair_lock_give(&one_call);
}

/* Finds device number `n` in the lists of the registered libraries; NULL: it does not exist. */
static dck_status ep_device_find(const ort_lib *l, const plugin *p, unsigned n,
				 const ort_ep_device **ret, size_t *ret_n, dck_err *err)
{
	const ort_ep_device *const *all;
	size_t nall, found = 0;

	*ret = NULL;
	DCK_TRY(ort_check(l, l->api.GetEpDevices(l->env, &all, &nall), err,
			  "cannot list the devices of provider '%s'", p->name));
	for (size_t i = 0; i < nall; i++)
		if (strcmp(l->api.EpDevice_EpName(all[i]), p->ep) == 0 && found++ == n)
			*ret = all[i];
	*ret_n = found;
	return DCK_OK;
}

static dck_status plugin_library(const ort_lib *l, const plugin *p, const char *asked, mem_arena *a,
				 const char **ret, dck_err *err)
{
	const char *variable = secure_getenv(PLUGIN_VARIABLE);
	const char *given = asked ? asked : variable && *variable ? variable : NULL;
	library_places places;

	DCK_TRY(library_find_package(&ort_library, p->package, p->file, os_library_path(l->library),
				     given, a, &places, err));
	if (places.n == 0)
		DCK_FAIL(
		    err, E_ABSENT,
		    "device '%s' needs the separate provider library %s, which was not "
		    "found next to ONNX Runtime (%s) nor in Python's packages: pip install %s, "
		    "or name the file with --engine-option provider_library=FILE or " PLUGIN_VARIABLE,
		    p->name, p->file, os_library_path(l->library), p->pip);
	/* As for ONNX Runtime's library: its code runs with this user's rights. */
	const char *why = asked ? NULL : os_file_open_to_others(places.place[0].path);
	if (why)
		DCK_FAIL(err, E_UNSUP,
			 "'%s' is not loaded: %s; fix its owner and mode, or name it with "
			 "--engine-option provider_library=FILE to load it all the same",
			 places.place[0].path, why);
	*ret = places.place[0].path;
	return DCK_OK;
}

const char *const *ort_provider_plugins(const ort_lib *l, mem_arena *a)
{
	static const char *const none[] = {NULL};
	const char **names = mem_arena_array(a, PLUGINS + 1, sizeof *names), *library;
	size_t n = 0;

	if (!names || !l->api.RegisterExecutionProviderLibrary)
		return none;
	for (size_t i = 0; i < PLUGINS; i++)
		if (plugin_library(l, &plugins[i], NULL, a, &library, NULL) == DCK_OK)
			names[n++] = plugins[i].name;
	names[n] = NULL;
	return names;
}

/* Takes references to the environment and to ONNX Runtime's library that are never released. */
static dck_status environment_keep(const ort_lib *l, dck_err *err)
{
	static os_library *library;
	static ort_env *environment;

	DCK_TRY(os_library_open(os_library_path(l->library), &library, err));
	return ort_check(l,
			 l->api.CreateEnvWithCustomLogger(ort_log_drop, NULL, ORT_LOG_WARNING,
							  "deepclock", &environment),
			 err, "cannot keep ONNX Runtime's environment");
}

static dck_status plugin_load(const ort_lib *l, const plugin *p, const char *library, dck_err *err)
{
	dck_err why = {0};
	dck_status status = DCK_E_ABSENT;

	if (os_library_is_cut(library))
		err_set(&why, status, __FILE__, __LINE__,
			"cannot load the provider '%s': the end of the file is missing", library);
	else
		status =
		    ort_check(l, l->api.RegisterExecutionProviderLibrary(l->env, p->name, library),
			      &why, "cannot load the provider '%s'", library);
	if (status == DCK_OK)
		return DCK_OK;
	return err_set(err, status, why.file, why.line,
		       "%.360s; pip install --force-reinstall %s brings a whole one", why.msg,
		       p->pip);
}

static dck_status plugin_register(const ort_lib *l, const plugin *p, const char *asked,
				  mem_arena *a, ort_provider *ret, dck_err *err)
{
	const ort_api *api = &l->api;
	size_t n;

	if (!api->RegisterExecutionProviderLibrary)
		DCK_FAIL(
		    err, E_VERSION,
		    "ONNX Runtime %s supports no providers in separate libraries, as '%s' is: pip install -U onnxruntime",
		    l->version, p->name);
	DCK_TRY(ep_device_find(l, p, ret->device, &ret->plugin, &n, err));
	if (n == 0) {
		DCK_TRY(plugin_library(l, p, asked, a, &ret->library, err));
		DCK_TRY(plugin_load(l, p, ret->library, err));
		DCK_TRY(environment_keep(l, err));
		DCK_TRY(ep_device_find(l, p, ret->device, &ret->plugin, &n, err));
	}
	if (n == 0)
		DCK_FAIL(err, E_ABSENT, "provider '%s' (%s) finds no device here; it needs %s",
			 p->name, ret->library, p->absent);
	if (!ret->plugin)
		DCK_FAIL(err, E_ARG, "there is no device '%s:%u': provider '%s' finds %zu", p->name,
			 ret->device, p->name, n);
	return DCK_OK;
}

/* Registers the library of CUDA's provider, although sessions get the provider without that: only
 * then does ONNX Runtime copy tensors between CUDA's memory and the host's outside of a session. If
 * it cannot be registered, tensors stay in the host's memory, as older releases need. */
static void cuda_copies_enable(const ort_lib *l, mem_arena *a)
{
	static const plugin cuda = {
	    .name = "cuda", .ep = "CUDAExecutionProvider", .pip = "onnxruntime-gpu"};
	const char *path = os_library_path(l->library), *file = strrchr(path, '/');
	const ort_ep_device *any;
	size_t n;

	if (!l->api.RegisterExecutionProviderLibrary || !file ||
	    ep_device_find(l, &cuda, 0, &any, &n, NULL) != DCK_OK || n > 0)
		return;
	path = mem_arena_fmt(a, "%.*s/libonnxruntime_providers_cuda.so", (int)(file - path), path);
	preload_cuda(l, a);
	if (path && plugin_load(l, &cuda, path, NULL) == DCK_OK)
		environment_keep(l, NULL);
}

static const char *hardware_text(const ort_lib *l, const ort_ep_device *d, mem_arena *a)
{
	static const char *const kinds[] = {
	    [ORT_DEVICE_CPU] = "CPU: a driver in software",
	    [ORT_DEVICE_GPU] = "GPU",
	    [ORT_DEVICE_NPU] = "NPU",
	};
	const ort_hardware *h = l->api.EpDevice_Device(d);
	const int kind = h ? l->api.HardwareDevice_Type(h) : -1;
	const char *vendor = h ? l->api.HardwareDevice_Vendor(h) : NULL;

	return mem_arena_fmt(a, "%s%s%s", vendor ? vendor : "", vendor && *vendor ? " " : "",
			     kind >= 0 && kind <= ORT_DEVICE_NPU ? kinds[kind] : "device");
}

dck_status ort_provider_load(const ort_lib *l, const char *name, unsigned device, const char *asked,
			     mem_arena *a, ort_provider *ret, dck_err *err)
{
	const plugin *p = plugin_find(name);
	ort_provider found = {.name = name, .device = device, .one_call = p && p->one_call};

	if (!p && asked)
		DCK_FAIL(err, E_ARG,
			 "option 'provider_library' names the library of a separate provider, and "
			 "'%s' is built in",
			 name);
	if (!p && strcmp(name, "cpu") != 0)
		DCK_TRY(is_in_build(l, name, a, err));
	if (strcmp(name, "cuda") == 0)
		cuda_copies_enable(l, a);
	if (p) {
		DCK_TRY(plugin_register(l, p, asked, a, &found, err));
		const ort_pairs *pairs = l->api.EpDevice_EpMetadata(found.plugin);
		const char *version = pairs ? l->api.GetKeyValue(pairs, "version") : NULL;
		const char *library = pairs ? l->api.GetKeyValue(pairs, "library_path") : NULL;
		found.version = version ? mem_arena_dup(a, version) : NULL;
		found.library = library ? mem_arena_dup(a, library) : found.library;
		found.hardware = hardware_text(l, found.plugin, a);
		DCK_NEED(!mem_arena_failed(a), err, "for the provider '%s'", name);
	}
	*ret = found;
	return DCK_OK;
}

dck_status ort_provider_refused(const ort_provider *p, dck_status status, dck_err *err)
{
	static const char mark[] = "Error creating execution provider: ", check[] = " was false. ";
	const plugin *own = plugin_find(p->name);
	char why[sizeof err->msg];
	const char *text = status != DCK_OK && err && own ? strstr(err->msg, mark) : NULL;

	if (!text)
		return status;
	text += sizeof mark - 1;
	/* "CONDITION was false. MESSAGE" */
	if (strstr(text, check))
		text = strstr(text, check) + sizeof check - 1;
	snprintf(why, sizeof why, "%s", text);
	if (strstr(why, "adapter"))
		DCK_FAIL(err, E_ABSENT, "device '%s' is not usable: %.160s; it needs %s", p->name,
			 why, own->absent);
	DCK_FAIL(err, E_ARG, "device '%s' is refused with these options (--engine-option): %s",
		 p->name, why);
}

dck_status ort_provider_append(const ort_lib *l, ort_options *o, const ort_provider *p,
			       const dck_open_params *given, mem_arena *a, dck_err *err)
{
	if (strcmp(p->name, "cpu") == 0)
		return DCK_OK;
	if (p->plugin)
		return ort_check(l,
				 l->api.SessionOptionsAppendExecutionProvider_V2(
				     o, l->env, &p->plugin, 1, NULL, NULL, 0),
				 err, "cannot use device '%s:%u'", p->name, p->device);
	if (strcmp(p->name, "cuda") == 0)
		return append_cuda(l, o, p->device, given, a, err);
	return append_by_name(l, o, p->name, a, err);
}
