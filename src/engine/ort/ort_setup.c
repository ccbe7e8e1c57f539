/* ort_setup.c - options of the engine 'ort': a table of keys, their values, and how a session gets
 * them.
 *
 * ONNX Runtime accepts any key for a session's configuration and ignores those it does not know. So
 * every key that may be given is a row here, and a mistyped one is refused (engine/check.c). Keys
 * with a '.' are ONNX Runtime's own and pass through unchanged; their list is
 * onnxruntime_session_options_config_keys.h.
 *
 * ort_setup_read() resolves every default before a session exists, so that the record states what
 * was used. Threads come from the affinity mask and the control group's quota, divided between
 * threads within an operator and operators that run in parallel. ort_setup_apply() then makes the
 * calls: threads, optimisation level, switches, keys that pass through, denormals, and at last the
 * free dimensions. Texts in ort_setup are borrowed from the open parameters.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "engine/ort/ort_setup.h"

#include "base/err.h"
#include "engine/engine.h"
#include "engine/ort/ort_provider.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS_MAX 4096

#define SPIN_INTRA "session.intra_op.allow_spinning"
#define SPIN_INTER "session.inter_op.allow_spinning"

/* Rows without a '.' are deepclock's own; those with one are keys of ONNX Runtime's session
 * configuration, passed on unchanged. */
const dck_engine_option ort_engine_options[] = {
    {"threads", "N", "threads within an operator; default: the cores this process may use"},
    {"interop_threads", "N", "operators run side by side; more than 1 turns 'parallel' on"},
    {"parallel", "0|1", "run independent operators side by side"},
    {"opt", "none|basic|extended|all", "how far the graph is optimised; default: all"},
    {"spin", "0|1", "idle workers keep a core busy to start sooner; default: 1"},
    {"denormals", "keep|flush", "flush: numbers below 1e-38 count as zero, which is faster"},
    {"deterministic", "0|1", "1: only kernels that give the same bits each time"},
    {"mem_pattern", "0|1", "plan memory after the first run; default: 1"},
    {"arena", "0|1", "keep freed memory for later; default: 1"},
    {"prepacking", "0|1", "reorder weights once at opening; default: 1"},
    {"provider", "NAME",
     "execution provider: cpu, cuda, webgpu, xnnpack ...; default: by --device"},
    {"provider_library", "FILE", "the separate library of a provider, as webgpu has"},
    {"transfers", "include|exclude",
     "include: each run copies inputs to the device and outputs back"},
    {"session.disable_prepacking", "0|1", "do not reorder weights"},
    {"session.set_denormal_as_zero", "0|1", "see 'denormals', which also covers our own thread"},
    {SPIN_INTRA, "0|1", "spinning within an operator"},
    {SPIN_INTER, "0|1", "spinning between operators"},
    {"session.intra_op.spin_duration_us", "N", "microseconds to spin before sleeping"},
    {"session.inter_op.spin_duration_us", "N", "the same between operators"},
    {"session.intra_op.spin_backoff_max", "N", "longest pause while spinning"},
    {"session.inter_op.spin_backoff_max", "N", "the same between operators"},
    {"session.force_spinning_stop", "0|1", "stop spinning when the last run ends"},
    {"session.intra_op_thread_affinities", "LIST", "processors of each worker: 1;2;3-4"},
    {"session.dynamic_block_base", "N", "finer division of work among the threads"},
    {"session.use_env_allocators", "0|1", "allocators shared by sessions"},
    {"session.use_device_allocator_for_initializers", "0|1", "weights outside the arena"},
    {"session.load_model_format", "ONNX|ORT", "format of the model, if its name does not have it"},
    {"session.use_ort_model_bytes_directly", "0|1", "do not copy a model given as bytes"},
    {"session.use_ort_model_bytes_for_initializers", "0|1", "nor its weights"},
    {"session.model_external_initializers_file_folder_path", "DIR", "directory of the weights"},
    {"session.disable_quant_qdq", "0|1", "leave quantise and dequantise pairs alone"},
    {"session.disable_double_qdq_remover", "0|1", "keep doubled pairs"},
    {"session.enable_quant_qdq_cleanup", "0|1", "remove pairs that are left over"},
    {"session.disable_qdq_constant_folding", "0|1", "do not fold constants of pairs"},
    {"session.qdqisint8allowed", "0|1", "signed 8-bit operators on x86"},
    {"session.x64quantprecision", "0|1", "precise 8-bit sums without VNNI"},
    {"session.qdq_matmulnbits_accuracy_level", "N", "accuracy of few-bit matrix products"},
    {"session.qdq_matmulnbits_block_size", "N", "their block size"},
    {"session.enable_dq_matmulnbits_fusion", "0|1", "fuse dequantise and matrix product"},
    {"session.disable_aot_function_inlining", "0|1", "keep model functions until late"},
    {"session.allow_released_opsets_only", "0|1", "refuse operator sets not yet released"},
    {"session.strict_shape_type_inference", "0|1", "shapes that contradict are errors"},
    {"session.graph_optimizations_loop_level", "0|1|2", "repeat optimisations"},
    {"session.debug_layout_transformation", "0|1", "dump the graph around layout changes"},
    {"session.disable_cpu_ep_fallback", "0|1", "fail when a node cannot run on the provider"},
    {"session.node_partition_config_file", "FILE", "streams of each node"},
    {"session.record_ep_graph_assignment_info", "0|1", "remember which provider has a node"},
    {"session.collect_node_memory_stats_to_file", "FILE", "memory of each node, as CSV"},
    {"session.save_model_format", "ONNX|ORT", "of the optimised model"},
    {"session.save_external_prepacked_constant_initializers", "0|1", "save reordered weights"},
    {"session.optimized_model_external_initializers_file_name", "FILE", "weights apart"},
    {"session.optimized_model_external_initializers_min_size_in_bytes", "N", "from this size"},
    {"session.disable_model_compile", "0|1", "fail when a provider has to compile the model"},
    {"optimization.enable_gelu_approximation", "0|1", "Gelu by tanh"},
    {"optimization.enable_cast_chain_elimination", "0|1", "remove casts there and back"},
    {"optimization.disable_specified_optimizers", "LIST", "names with ';' between them"},
    {"optimization.minimal_build_optimizations", "TEXT", "for models in ORT's own format"},
    {"mlas.enable_gemm_fastmath_arm64_bfloat16", "0|1", "matrix products in bfloat16"},
    {"mlas.disable_kleidiai", "0|1", "without Arm's kernels"},
    {"mlas.use_lut_gemm", "0|1", "few-bit matrix products by tables"},
    {"ep.context_enable", "0|1", "write the provider's compiled model"},
    {"ep.context_file_path", "FILE", "where to"},
    {"ep.context_embed_mode", "0|1", "inside the model or in separate files"},
    {"ep.share_ep_contexts", "0|1", "share it among sessions"},
    {"ep.webgpuexecutionprovider.deviceId", "N", "device by the provider's own count"},
    {"ep.webgpuexecutionprovider.preferredLayout", "NCHW|NHWC", "layout of convolutions"},
    {"ep.webgpuexecutionprovider.enableGraphCapture", "0|1",
     "record the commands of a run once and replay them"},
    {"ep.webgpuexecutionprovider.enableRobustness", "0|1", "check bounds in shaders"},
    {"ep.webgpuexecutionprovider.validationMode", "disabled|wgpuOnly|basic|full",
     "how much the provider checks"},
    {"ep.webgpuexecutionprovider.powerPreference", "high-performance|low-power", "which adapter"},
    {"ep.webgpuexecutionprovider.maxNumPendingDispatches", "N", "dispatches before a submission"},
    {"ep.webgpuexecutionprovider.storageBufferCacheMode", "MODE", "cache of storage buffers"},
    {"ep.webgpuexecutionprovider.uniformBufferCacheMode", "MODE", "of uniform buffers"},
    {"ep.webgpuexecutionprovider.queryResolveBufferCacheMode", "MODE", "of query buffers"},
    {"ep.webgpuexecutionprovider.defaultBufferCacheMode", "MODE", "of other buffers"},
    {"ep.webgpuexecutionprovider.sessionBufferPoolGenerations", "N",
     "how long a session retains buffers"},
    {"ep.webgpuexecutionprovider.forceCpuNodeNames", "LIST", "nodes to leave to the processor"},
    {ORT_CUDA_OPTIONS "use_tf32", "0|1", "float32 products in TF32, of 10 bits; default: 1"},
    {ORT_CUDA_OPTIONS "gpu_mem_limit", "N", "bytes of device memory for the session's arena"},
    {ORT_CUDA_OPTIONS "arena_extend_strategy", "kNextPowerOfTwo|kSameAsRequested",
     "how this arena grows"},
    {ORT_CUDA_OPTIONS "cudnn_conv_algo_search", "EXHAUSTIVE|HEURISTIC|DEFAULT",
     "how the first run chooses algorithms of convolutions"},
    {ORT_CUDA_OPTIONS "cudnn_conv_use_max_workspace", "0|1", "as much memory as these request"},
    {ORT_CUDA_OPTIONS "prefer_nhwc", "0|1", "convolutions with channels last"},
    {ORT_CUDA_OPTIONS "fuse_conv_bias", "0|1", "convolution and bias in one kernel"},
    {ORT_CUDA_OPTIONS "enable_cuda_graph", "0|1", "replay the launches of a run as one graph"},
    {ORT_CUDA_OPTIONS "sdpa_kernel", "N", "bits of the kernels allowed for attention"},
    {ORT_CUDA_OPTIONS "do_copy_in_default_stream", "0|1", "copies in the stream of the kernels"},
    {"ep.webgpuexecutionprovider.preserveDevice", "0|1", "keep the device when no session uses it"},
    {NULL, NULL, NULL},
};

static bool option_on(const dck_open_params *p, const char *key, bool otherwise)
{
	const char *text = engine_option(p, key);
	return text ? strcmp(text, "1") == 0 : otherwise;
}

static bool option_is(const dck_open_params *p, const char *key, const char *value)
{
	const char *text = engine_option(p, key);
	return text && strcmp(text, value) == 0;
}

/* Reads "cpu", "gpu", "cuda" or "cuda:1". */
static dck_status device_read(const dck_open_params *p, ort_setup *s, dck_err *err)
{
	static const char *const names[] = {"cpu", "gpu", "cuda", "webgpu"};
	static const size_t without_number = 2; /* of these */
	const char *text = p->device ? p->device : "cpu";
	const size_t n = strcspn(text, ":");
	char number[5] = "0", after;
	size_t i = 0;

	while (i < sizeof names / sizeof *names &&
	       !(strlen(names[i]) == n && strncmp(names[i], text, n) == 0))
		i++;
	s->provider = i < sizeof names / sizeof *names ? names[i] : NULL;
	if (!s->provider || (text[n] && (i < without_number ||
					 /* %u would take a sign */
					 sscanf(text + n, ":%4[0-9]%c", number, &after) != 1)))
		DCK_FAIL(err, E_ARG,
			 "the engine 'ort' has no device '%s': cpu, gpu, cuda, cuda:N, webgpu or "
			 "webgpu:N",
			 text);
	s->device = (unsigned)strtoul(number, NULL, 10);
	s->provider_library = engine_option(p, "provider_library");
	s->transfers = option_is(p, "transfers", "include");
	const char *provider = engine_option(p, "provider");
	if (!provider)
		return DCK_OK;
	if (!*provider)
		DCK_FAIL(err, E_ARG, "option 'provider' is empty: cpu, cuda ...");
	if (strcmp(s->provider, "cpu") != 0 && strcmp(provider, s->provider) != 0)
		DCK_FAIL(err, E_ARG, "device '%s' and provider '%s' contradict each other", text,
			 provider);
	s->provider = provider;
	return DCK_OK;
}

static void threads_warn(const dck_open_params *p, const ort_setup *s)
{
	uint64_t wanted = s->threads * s->interop_threads;
	unsigned allowed = os_cpus_allowed();
	char text[256];

	if (wanted <= allowed || !p->log)
		return;
	snprintf(text, sizeof text,
		 "%llu threads within an operator x %llu operators side by side are more than the "
		 "%u processors this process may use: they wait for each other while spinning, "
		 "and times get longer and scatter; use fewer threads or more processors",
		 (unsigned long long)s->threads, (unsigned long long)s->interop_threads, allowed);
	p->log(p->log_self, DCK_LOG_WARN, text);
}

/* Sets explicit numbers always. By default ONNX Runtime uses all physical cores of the machine,
 * even those that this process may not use, and pins its workers. */
static dck_status threads_read(const dck_open_params *p, ort_setup *s, dck_err *err)
{
	s->threads = 0;
	s->interop_threads = 0;
	DCK_TRY(engine_option_count(p, "threads", 1, THREADS_MAX, &s->threads, err));
	DCK_TRY(
	    engine_option_count(p, "interop_threads", 1, THREADS_MAX, &s->interop_threads, err));
	s->parallel = option_on(p, "parallel", s->interop_threads > 1);
	if (!s->parallel && s->interop_threads > 1)
		DCK_FAIL(err, E_ARG,
			 "option 'interop_threads' is %llu, and 'parallel' is 0, which runs one "
			 "operator at a time: leave one of them out",
			 (unsigned long long)s->interop_threads);
	engine_threads_divide(s->parallel, &s->threads, &s->interop_threads);
	threads_warn(p, s);
	return DCK_OK;
}

/* ONNX Runtime's own keys may state the same. */
static dck_status spin_read(const dck_open_params *p, ort_setup *s, dck_err *err)
{
	const char *spin = engine_option(p, "spin"), *text;

	s->spin = spin ? spin : "1";
	s->spin_interop = s->spin;
	if ((text = engine_option(p, SPIN_INTRA)))
		s->spin = text;
	if ((text = engine_option(p, SPIN_INTER)))
		s->spin_interop = text;
	if (spin && (strcmp(s->spin, spin) != 0 || strcmp(s->spin_interop, spin) != 0))
		DCK_FAIL(err, E_ARG,
			 "options 'spin=%s' and '%s' contradict each other: leave one of them out",
			 spin, strcmp(s->spin, spin) != 0 ? SPIN_INTRA : SPIN_INTER);
	return DCK_OK;
}

/* Refuses a key of ONNX Runtime that states the opposite of our own. */
static dck_status twins_check(const dck_open_params *p, dck_err *err)
{
	static const struct {
		const char *own, *value, *key; /* key=1 states own=value */
	} twins[] = {
	    {"prepacking", "0", "session.disable_prepacking"},
	    {"denormals", "flush", "session.set_denormal_as_zero"},
	};

	for (size_t i = 0; i < sizeof twins / sizeof *twins; i++) {
		const char *own = engine_option(p, twins[i].own),
			   *key = engine_option(p, twins[i].key);

		if (own && key && (strcmp(own, twins[i].value) == 0) != (strcmp(key, "1") == 0))
			DCK_FAIL(err, E_ARG,
				 "options '%s=%s' and '%s=%s' contradict each other: leave one of "
				 "them out",
				 twins[i].own, own, twins[i].key, key);
	}
	return DCK_OK;
}

dck_status ort_setup_read(const dck_open_params *p, ort_setup *ret, dck_err *err)
{
	ort_setup s = {.opt = "all"};
	const char *text;

	DCK_TRY(device_read(p, &s, err));
	DCK_TRY(threads_read(p, &s, err));
	DCK_TRY(spin_read(p, &s, err));
	DCK_TRY(twins_check(p, err));
	if ((text = engine_option(p, "opt")))
		s.opt = text;
	s.flush_denormals = option_is(p, "denormals", "flush") ||
			    option_on(p, "session.set_denormal_as_zero", false);
	*ret = s;
	return DCK_OK;
}

/* --- into a session's options */

static dck_status config_set(const ort_lib *l, ort_options *o, const char *key, const char *value,
			     dck_err *err)
{
	return ort_check(l, l->api.AddSessionConfigEntry(o, key, value), err,
			 "ONNX Runtime refuses %s=%s", key, value);
}

static int setup_level_of(const char *name)
{
	static const struct {
		const char *name;
		int level;
	} levels[] = {{"none", ORT_OPT_NONE},
		      {"basic", ORT_OPT_BASIC},
		      {"extended", ORT_OPT_EXTENDED},
		      {"all", ORT_OPT_ALL}};

	for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
		if (strcmp(levels[i].name, name) == 0)
			return levels[i].level;
	return ORT_OPT_ALL; /* values are checked before */
}

static dck_status threads_apply(const ort_lib *l, const ort_setup *s, ort_options *o, dck_err *err)
{
	const ort_api *api = &l->api;

	DCK_TRY(ort_check(l, api->SetIntraOpNumThreads(o, (int)s->threads), err,
			  "cannot set the threads within an operator"));
	DCK_TRY(ort_check(l, api->SetInterOpNumThreads(o, (int)s->interop_threads), err,
			  "cannot set the operators side by side"));
	DCK_TRY(ort_check(
	    l, api->SetSessionExecutionMode(o, s->parallel ? ORT_PARALLEL : ORT_SEQUENTIAL), err,
	    "cannot set the order of execution"));
	DCK_TRY(config_set(l, o, SPIN_INTRA, s->spin, err));
	return config_set(l, o, SPIN_INTER, s->spin_interop, err);
}

static dck_status dims_apply(const ort_lib *l, const dck_open_params *p, ort_options *o,
			     dck_err *err)
{
	for (size_t i = 0; i < p->ndims; i++) {
		const dck_kv *d = &p->dims[i];
		char *end;
		long long size = strtoll(d->value, &end, 10);

		if (end == d->value || *end || size < 0)
			DCK_FAIL(err, E_ARG, "dimension '%s' is '%s': give a whole number", d->key,
				 d->value);
		DCK_TRY(ort_check(l, l->api.AddFreeDimensionOverrideByName(o, d->key, size), err,
				  "cannot set dimension '%s'", d->key));
	}
	return DCK_OK;
}

dck_status ort_setup_apply(const ort_lib *l, const ort_setup *s, const dck_open_params *p,
			   ort_options *o, dck_err *err)
{
	const ort_api *api = &l->api;

	DCK_TRY(threads_apply(l, s, o, err));
	DCK_TRY(ort_check(l, api->SetSessionGraphOptimizationLevel(o, setup_level_of(s->opt)), err,
			  "cannot set the optimisation level"));
	if (!option_on(p, "mem_pattern", true))
		DCK_TRY(ort_check(l, api->DisableMemPattern(o), err, "cannot unset mem_pattern"));
	if (!option_on(p, "arena", true))
		DCK_TRY(ort_check(l, api->DisableCpuMemArena(o), err, "cannot unset arena"));
	if (option_on(p, "deterministic", false))
		DCK_TRY(ort_check(l, api->SetDeterministicCompute(o, true), err,
				  "cannot set deterministic"));
	if (!option_on(p, "prepacking", true))
		DCK_TRY(config_set(l, o, "session.disable_prepacking", "1", err));
	for (size_t i = 0; i < p->noptions; i++)
		if (strchr(p->options[i].key, '.'))
			DCK_TRY(config_set(l, o, p->options[i].key, p->options[i].value, err));
	DCK_TRY(
	    config_set(l, o, "session.set_denormal_as_zero", s->flush_denormals ? "1" : "0", err));
	return dims_apply(l, p, o, err);
}
