/* ov_setup.c - options of the engine 'openvino': read from dck_open_params, and set as properties
 * of a device.
 *
 * Keys are OpenVINO's property names in small letters. Two defaults differ from OpenVINO's. The
 * number of threads is always given, as for other engines. And execution_mode_hint is `accuracy`:
 * left alone, OpenVINO computes float32 models in bfloat16 on processors that have it, whose
 * results and times are of another precision than the model's and those of other engines.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "engine/openvino/ov_setup.h"

#include "base/err.h"
#include "engine/engine.h"

#include <ctype.h>
#include <string.h>

#define THREADS_MAX 4096

const dck_engine_option ov_engine_options[] = {
    {"threads", "N", "threads of all streams; default: the cores this process may use"},
    {"shapes", "static|open",
     "open: compile for any size of open dimensions; default: static, for the sizes of the inputs"},
    {"execution_mode_hint", "accuracy|performance",
     "performance: may compute in fewer bits than the model, as OpenVINO itself does by default; "
     "default here: accuracy"},
    {"inference_precision_hint", "f32|f16|bf16|dynamic", "type to compute in"},
    {"performance_hint", "latency|throughput|cumulative_throughput",
     "what streams and threads are chosen for; default: latency"},
    {"performance_hint_num_requests", "N", "requests at the same time that the hint counts on"},
    {"num_streams", "N|AUTO|NUMA", "requests that run at the same time"},
    {"enable_hyper_threading", "yes|no", "use hardware threads of one core"},
    {"enable_cpu_pinning", "yes|no", "pin threads to processors"},
    {"scheduling_core_type", "any_core|pcore_only|ecore_only", "kind of cores to use"},
    {"cpu_denormals_optimization", "yes|no", "flush numbers below 1e-38 to zero"},
    {"cpu_sparse_weights_decompression_rate", "RATE", "zeros among weights that are packed"},
    {"dynamic_quantization_group_size", "N", "weights of a group that is quantized in a run"},
    {"kv_cache_precision", "TYPE", "type of the cache of attention: u8, f16, f32"},
    {"cache_dir", "DIR", "directory for compiled models, which later sessions load"},
    {"cache_mode", "optimize_speed|optimize_size", "what is stored there"},
    {"compilation_num_threads", "N", "threads that compile"},
    {"model_priority", "low|medium|high", "priority on a device that several models share"},
    {"allow_auto_batching", "yes|no", "let a device join requests to a batch"},
    {"auto_batch_timeout", "MS", "how long it waits for them"},
    {NULL, NULL, NULL},
};

/* Keys that are no properties of OpenVINO by that name. */
static bool option_is_own(const char *key)
{
	return strcmp(key, "threads") == 0 || strcmp(key, "shapes") == 0;
}

/* Values that are written in small letters. */
static bool value_is_small(const char *key)
{
	return strcmp(key, "inference_precision_hint") == 0 || strcmp(key, "cache_dir") == 0 ||
	       strcmp(key, "kv_cache_precision") == 0;
}

static char *ov_upper(mem_arena *a, const char *text)
{
	char *copy = mem_arena_dup(a, text);

	for (char *c = copy; c && *c; c++)
		*c = (char)toupper((unsigned char)*c);
	return copy;
}

bool engine_openvino_property(mem_arena *a, const char *key, const char *value,
			      const char **ret_name, const char **ret_value)
{
	if (option_is_own(key))
		return false;
	*ret_name = ov_upper(a, key);
	*ret_value = value_is_small(key) ? value : ov_upper(a, value);
	return true;
}

/* --- the device */

/* Kinds of devices. The last four run a model on others, which may be listed after a colon. */
static const char *const device_kinds[] = {"CPU", "GPU", "NPU", "AUTO", "HETERO", "MULTI", "BATCH"};

static dck_status ov_device_read(const dck_open_params *p, mem_arena *a, const char **ret,
				 dck_err *err)
{
	const char *text = p->device && *p->device ? p->device : "cpu";
	char *name = ov_upper(a, text);

	DCK_NEED(name, err, "for the name of a device");
	const size_t n = strcspn(name, ".:");
	for (size_t i = 0; i < sizeof device_kinds / sizeof *device_kinds; i++)
		if (strlen(device_kinds[i]) == n && strncmp(device_kinds[i], name, n) == 0) {
			*ret = name;
			return DCK_OK;
		}
	DCK_FAIL(err, E_ARG,
		 "the engine 'openvino' has no device '%s': cpu, gpu, npu, auto, or a name of "
		 "OpenVINO such as GPU.1, AUTO:GPU,CPU or HETERO:GPU,CPU",
		 text);
}

/* Fails if a single device is not here: OpenVINO's own message is about a missing file. */
static dck_status device_check(const ov_lib *l, const char *device, mem_arena *a, dck_err *err)
{
	ov_devices d = {NULL, 0};
	const size_t n = strcspn(device, ".:");
	bool found = strcmp(device, "AUTO") == 0 || strchr(device, ':');

	if (found)
		return DCK_OK;
	DCK_TRY(ov_check(l, l->api.core_get_available_devices(l->core, &d), err,
			 "cannot list OpenVINO's devices"));
	for (size_t i = 0; i < d.n; i++)
		found |= strcmp(d.name[i], device) == 0 ||
			 (device[n] == '\0' && strncmp(d.name[i], device, n) == 0 &&
			  d.name[i][n] == '.');
	l->api.available_devices_free(&d);
	if (!found)
		DCK_FAIL(err, E_ABSENT, "OpenVINO %s finds no device '%s' here: it has %s",
			 l->version, device, ov_devices_text(l, a));
	return DCK_OK;
}

/* --- options */

/* Returns whether the device computes nothing on the processor, whose properties it has not. */
static bool device_is_other(const char *device)
{
	return strncmp(device, "GPU", 3) == 0 || strncmp(device, "NPU", 3) == 0;
}

dck_status ov_setup_read(const dck_open_params *p, mem_arena *a, ov_setup *ret, dck_err *err)
{
	ov_setup s = {.threads = engine_threads_default()};
	const char *shapes = engine_option(p, "shapes");

	DCK_TRY(ov_device_read(p, a, &s.device, err));
	DCK_TRY(engine_option_count(p, "threads", 1, THREADS_MAX, &s.threads, err));
	if (device_is_other(s.device) && engine_option(p, "threads"))
		DCK_FAIL(err, E_ARG,
			 "option 'threads' is of the processor, and OpenVINO's device %s has no "
			 "such option: leave it out",
			 s.device);
	s.open_shapes = shapes && strcmp(shapes, "open") == 0;
	*ret = s;
	return DCK_OK;
}

static dck_status property_set(const ov_lib *l, const char *device, const char *key,
			       const char *value, dck_err *err)
{
	return ov_check(l, l->api.core_set_property(l->core, device, key, value), err,
			"OpenVINO %s refuses %s=%s for %s", l->version, key, value, device);
}

static dck_status cpu_set(const ov_lib *l, const ov_setup *s, const dck_open_params *p,
			  mem_arena *a, dck_err *err)
{
	const char *threads = mem_arena_fmt(a, "%llu", (unsigned long long)s->threads);

	DCK_NEED(threads, err, "for an option");
	DCK_TRY(property_set(l, "CPU", "INFERENCE_NUM_THREADS", threads, err));
	if (engine_option(p, "execution_mode_hint") || engine_option(p, "inference_precision_hint"))
		return DCK_OK;
	return property_set(l, "CPU", "EXECUTION_MODE_HINT", "ACCURACY", err);
}

dck_status ov_setup_apply(const ov_lib *l, const ov_setup *s, const dck_open_params *p,
			  mem_arena *a, dck_err *err)
{
	/* Properties are those of "AUTO", also where it is to choose among named devices. */
	const char *owner = mem_arena_dup_n(a, s->device, strcspn(s->device, ":"));

	DCK_NEED(owner, err, "for an option");
	DCK_TRY(device_check(l, s->device, a, err));
	/* The processor's, also where a device such as AUTO may choose it. */
	if (!device_is_other(s->device))
		DCK_TRY(cpu_set(l, s, p, a, err));
	if (p->observe & DCK_OBSERVE_OPERATORS)
		DCK_TRY(property_set(l, owner, "PERF_COUNT", "YES", err));
	for (size_t i = 0; i < p->noptions; i++) {
		const dck_kv *o = &p->options[i];
		const char *key, *value;

		if (!engine_openvino_property(a, o->key, o->value, &key, &value))
			continue;
		DCK_NEED(key && value, err, "for an option");
		DCK_TRY(property_set(l, owner, key, value, err));
	}
	return DCK_OK;
}
