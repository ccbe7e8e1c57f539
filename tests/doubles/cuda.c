/* cuda.c - a double of libcuda.so.1, and with -DDOUBLE_HIP of libamdhip64.so: it behaves as the
 * driver's documentation states, and computes in the host's memory. No GPU is needed or touched.
 *
 * Time is virtual. The host's clock advances by CALL_NS with each call and by what a wait takes; a
 * stream has the times at which its commands end, and a command takes effect then and not before.
 * So an enqueued copy has not happened when the call returns, and results are exact. Event stamps
 * are those of the device's clock, whose rate differs by CUDA_DOUBLE_SKEW_PPM, in steps of 0.5 us.
 *
 * With CUDA_DOUBLE_REAL_TIME time is CLOCK_MONOTONIC, and waits sleep. CUPTI's double sees what
 * this one does (observed.h).
 *
 * Settings: CUDA_DOUBLE_DEVICES, CUDA_DOUBLE_MEMORY (bytes of each), CUDA_DOUBLE_VERSION,
 * CUDA_DOUBLE_SKEW_PPM, CUDA_DOUBLE_CAPTURING (1: all streams are captured), CUDA_DOUBLE_FAIL
 * ("cuInit=803"), CUDA_VISIBLE_DEVICES as the driver has it (numbers). -DDOUBLE_OLD: a release that
 * lacks a symbol.
 *
 * Kernels are PTX of these entries, those of the devices' suite (tests/unit/device/device_case.h):
 * fill(u64 buffer, u32 value) writes value + index, work(u64 buffer, u32 n) takes n ns, as
 * _Z4workIfEvPT_i does, a name of C++; and fault() reads an illegal address.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "device/cuda_api.h"
#include "cuda_errors.h"
#include "double.h"
#include "observed.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#ifdef DOUBLE_HIP
#define NAME(cuda, hip) hip
#define UNITS		HIP_UNITS
#define MAX_THREADS	HIP_MAX_THREADS
#define CLOCK_KHZ	HIP_CLOCK_KHZ
#define CACHE_BYTES	HIP_CACHE_BYTES
#else
#define NAME(cuda, hip) cuda
#define UNITS		CUDA_UNITS
#define MAX_THREADS	CUDA_MAX_THREADS
#define CLOCK_KHZ	CUDA_CLOCK_KHZ
#define CACHE_BYTES	CUDA_CACHE_BYTES
#endif
#define EXPORT __attribute__((visibility("default")))

#define X(member, cuda, hip, parameters) EXPORT api_result NAME(cuda, hip) parameters;
CUDA_API(X)
#undef X
EXPORT api_result cuGetErrorString(api_result result, const char **ret);
EXPORT const char *hipGetErrorString(api_result result);

enum {
	CALL_NS = 1000,
	COMMAND_NS = 2000,  /* of each command on the device */
	HOST_BYTES_NS = 10, /* bytes per ns between host and device */
	DEVICE_BYTES_NS = 100,
	TICK_NS = 500,
	DEVICES_MAX = 8,
	COMMANDS_MAX = 4096,
	HOSTS_MAX = 256,
	OBJECTS_MAX = 16384
};

typedef enum kind { COPY, STAGED, FILL, WORK, WALK, EMPTY, FAULT, STAMP } kind;

typedef struct command {
	kind kind;
	api_stream stream;
	double end_ns;
	char *to;
	const char *from; /* STAGED: freed */
	size_t bytes;
	unsigned value;
	double begin_ns;
	uint32_t correlation; /* of the call */
	const char *name;     /* of a kernel */
	unsigned char copy_kind;
	api_event event;
	unsigned long long version; /* of the event */
} command;

struct api_context_s {
	int retained;
};
struct api_stream_s {
	double busy_ns;
	uint32_t number;
	int device;
};
struct api_event_s {
	unsigned flags;
	unsigned long long recorded, done; /* how often */
	double stamp_ns;
};
struct api_module_s {
	bool fill, work, fault;
	int parameters;
};
struct api_function_s {
	kind kind;
	const char *name;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static double host_ns = 1e9;
static command pending[COMMANDS_MAX];
static size_t npending;
static struct api_context_s contexts[DEVICES_MAX];
static __thread struct api_context_s *current;
static struct api_stream_s default_stream;
static size_t used_bytes;
static struct {
	char *at;
	size_t bytes;
} pinned[HOSTS_MAX], buffers[HOSTS_MAX];
static api_result sticky;
static void *objects[OBJECTS_MAX]; /* streams, events, modules: they end with the last context */
static struct api_function_s functions[] = {{FILL, "fill"},   {WORK, "work"},
					    {WALK, "work"},   {EMPTY, "work"},
					    {FAULT, "fault"}, {WORK, "_Z4workIfEvPT_i"}};

static void *object_new(size_t bytes)
{
	for (size_t i = 0; i < OBJECTS_MAX; i++)
		if (!objects[i])
			return objects[i] = calloc(1, bytes);
	return NULL;
}

static void object_free(void *object)
{
	for (size_t i = 0; i < OBJECTS_MAX; i++)
		if (objects[i] && objects[i] == object) {
			free(object);
			objects[i] = NULL;
		}
}

#ifndef DOUBLE_OLD
static void objects_end(void)
{
	for (size_t i = 0; i < npending; i++)
		if (pending[i].kind == STAGED)
			free((void *)(uintptr_t)pending[i].from);
	npending = 0;
	for (size_t i = 0; i < OBJECTS_MAX; i++) {
		free(objects[i]);
		objects[i] = NULL;
	}
	for (size_t i = 0; i < HOSTS_MAX; i++) {
		free(buffers[i].at);
		buffers[i].at = NULL;
		free(pinned[i].at);
		pinned[i].at = NULL;
	}
	used_bytes = 0;
	sticky = API_SUCCESS; /* a fault ends with its context */
}
#endif

/* --- the clock */

static void command_run(command *c)
{
	if (sticky) /* nothing runs after a fault */
		return;
	switch (c->kind) {
	case COPY:
	case STAGED:
		memmove(c->to, c->from, c->bytes);
		break;
	case FILL:
		for (size_t i = 0; i < c->bytes / 4; i++) {
			const unsigned word = c->value + (unsigned)i;

			memcpy(c->to + 4 * i, &word, 4);
		}
		break;
	case WORK:
	case WALK:
	case EMPTY:
		break;
	case FAULT:
		sticky = API_ILLEGAL_ADDRESS;
		break;
	case STAMP:
		c->event->done = c->version;
		c->event->stamp_ns =
		    floor(c->end_ns *
			  (1 + (double)(long long)setting("CUDA_DOUBLE_SKEW_PPM", 0) / 1e6) /
			  TICK_NS) *
		    TICK_NS;
		break;
	}
}

static void command_observe(const command *c)
{
	if (!observer || c->kind == STAMP || c->kind == FAULT || sticky)
		return;
	const bool copies = c->kind == COPY || c->kind == STAGED;
	observed(c->name  ? CUDA_OBSERVED_KERNEL
		 : copies ? CUDA_OBSERVED_COPY
			  : CUDA_OBSERVED_SET,
		 c->begin_ns, c->end_ns, c->bytes, c->stream->device, c->stream->number,
		 c->correlation, c->copy_kind, c->name);
}

/* Runs the commands that have ended by now, in their order. */
static void advance(double ns)
{
	size_t left = 0;

	host_ns = is_real() ? real_ns() : host_ns + ns;
	for (;;) {
		size_t next = npending;

		for (size_t i = 0; i < npending; i++)
			if (pending[i].end_ns <= host_ns &&
			    (next == npending || pending[i].end_ns < pending[next].end_ns))
				next = i;
		if (next == npending)
			break;
		command_observe(&pending[next]);
		command_run(&pending[next]);
		if (pending[next].kind == STAGED)
			free((void *)(uintptr_t)pending[next].from);
		left = npending - next - 1;
		memmove(&pending[next], &pending[next + 1], left * sizeof *pending);
		npending--;
	}
}

static void wait_until(double ns)
{
	const double left = ns - (is_real() ? real_ns() : host_ns);

	if (is_real() && left > 0)
		real_sleep(left);
	advance(left > 0 ? left : 0);
}

static api_result enqueue(command c, double takes_ns)
{
	if (npending == COMMANDS_MAX) /* a full queue makes the call wait */
		wait_until(pending[0].end_ns);
	c.begin_ns = fmax(c.stream->busy_ns, host_ns);
	c.correlation = calling.correlation;
	c.stream->busy_ns = c.begin_ns + takes_ns;
	c.end_ns = c.stream->busy_ns;
	pending[npending++] = c;
	return API_SUCCESS;
}

/* Begins every call: time passes, and the setting may have it fail. */
static api_result call_begin(const char *function, bool needs_context)
{
	const unsigned fails = failure("CUDA_DOUBLE_FAIL", function);

	advance(CALL_NS);
	if (fails)
		return fails;
	if (needs_context && (!current || current->retained == 0))
		return 201; /* no context is current */
	return needs_context ? sticky : API_SUCCESS;
}

#define TEXT(x)	 #x
#define TEXT2(x) TEXT(x)
#define BEGIN(cuda, hip, needs_context)                                 \
	static const char function_name[] = TEXT2(NAME(cuda, hip));     \
	cuda_double_call(function_name, true);                          \
	pthread_mutex_lock(&lock);                                      \
	api_result result = call_begin(function_name, (needs_context)); \
	if (result == API_SUCCESS) {
#define END                                     \
	}                                       \
	pthread_mutex_unlock(&lock);            \
	calling.result = result;                \
	cuda_double_call(function_name, false); \
	return result

/* For tests: advances the host's clock by its own work, and returns it. */
EXPORT double NAME(cuda_double, hip_double)(double advance_ns);
double NAME(cuda_double, hip_double)(double advance_ns)
{
	pthread_mutex_lock(&lock);
	advance(advance_ns);
	const double now = host_ns;
	pthread_mutex_unlock(&lock);
	return now;
}

/* --- devices */

static int physical(int index)
{
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");

	if (!visible)
		return index < (int)setting("CUDA_DOUBLE_DEVICES", 2) ? index : -1;
	for (; *visible; index--) {
		const int n = (int)strtol(visible, (char **)&visible, 10);

		if (index == 0)
			return n;
		visible += *visible == ',';
	}
	return -1;
}

static api_result initialise(unsigned flags)
{
	BEGIN(cuInit, hipInit, false)
	if (flags != 0)
		result = 1;
	else if (physical(0) < 0)
		result = API_NO_DEVICE;
	END;
}

api_result NAME(cuInit, hipInit)(unsigned flags)
{
	const api_result result = initialise(flags);

#ifndef DOUBLE_HIP
	if (result == API_SUCCESS)
		injection_load();
#endif
	return result;
}

api_result NAME(cuDriverGetVersion, hipDriverGetVersion)(int *version)
{
	BEGIN(cuDriverGetVersion, hipDriverGetVersion, false)
	*version = (int)setting("CUDA_DOUBLE_VERSION", 13000);
	END;
}

api_result NAME(cuDeviceGetCount, hipGetDeviceCount)(int *count)
{
	BEGIN(cuDeviceGetCount, hipGetDeviceCount, false)
	for (*count = 0; *count < DEVICES_MAX && physical(*count) >= 0;)
		++*count;
	END;
}

api_result NAME(cuDeviceGet, hipDeviceGet)(api_device *device, int ordinal)
{
	BEGIN(cuDeviceGet, hipDeviceGet, false)
	*device = ordinal;
	result = ordinal < 0 || physical(ordinal) < 0 ? 101 : API_SUCCESS;
	END;
}

api_result NAME(cuDeviceGetName, hipDeviceGetName)(char *name, int len, api_device device)
{
	BEGIN(cuDeviceGetName, hipDeviceGetName, false)
	snprintf(name, (size_t)len, "Double GPU %d", physical(device));
	END;
}

api_result NAME(cuDeviceGetAttribute, hipDeviceGetAttribute)(int *value, api_attribute which,
							     api_device device)
{
	BEGIN(cuDeviceGetAttribute, hipDeviceGetAttribute, false)
	(void)device;
	switch (which) {
	case UNITS:
		*value = 132;
		break;
	case MAX_THREADS:
		*value = 1024;
		break;
	case CLOCK_KHZ:
		*value = 1980000;
		break;
	case CACHE_BYTES:
		*value = 50 << 20;
		break;
	case CUDA_CAPABILITY_MAJOR:
		*value = 9;
		break;
	case CUDA_CAPABILITY_MINOR:
		*value = 0;
		break;
	default:
		result = 1;
	}
	END;
}

api_result NAME(cuDeviceTotalMem_v2, hipDeviceTotalMem)(size_t *bytes, api_device device)
{
	BEGIN(cuDeviceTotalMem_v2, hipDeviceTotalMem, false)
	(void)device;
	*bytes = setting("CUDA_DOUBLE_MEMORY", 64u << 20);
	END;
}

api_result NAME(cuDeviceGetPCIBusId, hipDeviceGetPCIBusId)(char *text, int len, api_device device)
{
	BEGIN(cuDeviceGetPCIBusId, hipDeviceGetPCIBusId, false)
	snprintf(text, (size_t)len, "0000:C%d:00.0", physical(device));
	END;
}

/* --- contexts */

api_result NAME(cuDevicePrimaryCtxRetain, hipDevicePrimaryCtxRetain)(api_context *context,
								     api_device device)
{
	BEGIN(cuDevicePrimaryCtxRetain, hipDevicePrimaryCtxRetain, false)
	contexts[device].retained++;
	*context = &contexts[device];
	END;
}

#ifndef DOUBLE_OLD
api_result NAME(cuDevicePrimaryCtxRelease_v2, hipDevicePrimaryCtxRelease)(api_device device)
{
	BEGIN(cuDevicePrimaryCtxRelease_v2, hipDevicePrimaryCtxRelease, false)
	if (contexts[device].retained <= 0)
		result = 201;
	else
		contexts[device].retained--;
	bool any = false;
	for (int i = 0; i < DEVICES_MAX; i++)
		any = any || contexts[i].retained > 0;
	if (!any)
		objects_end();
	END;
}
#endif

api_result NAME(cuCtxSetCurrent, hipCtxSetCurrent)(api_context context)
{
	BEGIN(cuCtxSetCurrent, hipCtxSetCurrent, false)
	current = context;
	END;
}

api_result NAME(cuCtxGetCurrent, hipCtxGetCurrent)(api_context *context)
{
	BEGIN(cuCtxGetCurrent, hipCtxGetCurrent, false)
	*context = current;
	END;
}

api_result NAME(cuCtxGetDevice, hipCtxGetDevice)(api_device *device)
{
	BEGIN(cuCtxGetDevice, hipCtxGetDevice, true)
	*device = (api_device)(current - contexts);
	END;
}

/* --- streams and events */

/* NULL is the default stream. */
static api_stream stream_of(api_stream stream)
{
	return stream ? stream : &default_stream;
}

/* The mode of this thread; with CUDA_DOUBLE_CAPTURING another stream is captured in the mode
 * "global", which forbids cuEventQuery() unless this thread is relaxed. */
static __thread api_capture_mode thread_mode;

api_result NAME(cuThreadExchangeStreamCaptureMode,
		hipThreadExchangeStreamCaptureMode)(api_capture_mode *mode)
{
	BEGIN(cuThreadExchangeStreamCaptureMode, hipThreadExchangeStreamCaptureMode, false)
	const api_capture_mode was = thread_mode;

	thread_mode = *mode;
	*mode = was;
	END;
}

api_result NAME(cuStreamIsCapturing, hipStreamIsCapturing)(api_stream stream, api_capture *status)
{
	BEGIN(cuStreamIsCapturing, hipStreamIsCapturing, true)
	(void)stream;
	*status = (api_capture)setting("CUDA_DOUBLE_CAPTURING", API_CAPTURE_NONE);
	END;
}

api_result NAME(cuStreamCreate, hipStreamCreateWithFlags)(api_stream *stream, unsigned flags)
{
	BEGIN(cuStreamCreate, hipStreamCreateWithFlags, true)
	static uint32_t number = 6; /* CUDA's own come first */
	*stream = flags == API_STREAM_NON_BLOCKING ? object_new(sizeof **stream) : NULL;
	if (*stream) {
		(*stream)->number = ++number;
		(*stream)->device = (int)(current - contexts);
	}
	result = *stream ? API_SUCCESS : 1;
	END;
}

api_result NAME(cuStreamDestroy_v2, hipStreamDestroy)(api_stream stream)
{
	BEGIN(cuStreamDestroy_v2, hipStreamDestroy, true)
	wait_until(stream->busy_ns);
	object_free(stream);
	END;
}

api_result NAME(cuStreamQuery, hipStreamQuery)(api_stream stream)
{
	BEGIN(cuStreamQuery, hipStreamQuery, true)
	result = stream_of(stream)->busy_ns > host_ns ? (api_result)API_NOT_READY : sticky;
	END;
}

/* Not called by deepclock: programs do. */
EXPORT api_result NAME(cuStreamSynchronize, hipStreamSynchronize)(api_stream stream);
api_result NAME(cuStreamSynchronize, hipStreamSynchronize)(api_stream stream)
{
	BEGIN(cuStreamSynchronize, hipStreamSynchronize, true)
	wait_until(stream_of(stream)->busy_ns);
	result = sticky;
	END;
}

api_result NAME(cuEventCreate, hipEventCreateWithFlags)(api_event *event, unsigned flags)
{
	BEGIN(cuEventCreate, hipEventCreateWithFlags, true)
	*event =
	    flags <= (API_EVENT_BLOCKING | API_EVENT_NO_TIMING) ? object_new(sizeof **event) : NULL;
	if (*event)
		(*event)->flags = flags;
	else
		result = 1;
	END;
}

api_result NAME(cuEventDestroy_v2, hipEventDestroy)(api_event event)
{
	BEGIN(cuEventDestroy_v2, hipEventDestroy, true)
	for (size_t i = 0; i < npending; i++)
		if (pending[i].kind == STAMP && pending[i].event == event)
			pending[i].kind = WORK;
	object_free(event);
	END;
}

api_result NAME(cuEventRecord, hipEventRecord)(api_event event, api_stream stream)
{
	BEGIN(cuEventRecord, hipEventRecord, true)
	result = enqueue((command){.kind = STAMP,
				   .stream = stream_of(stream),
				   .event = event,
				   .version = ++event->recorded},
			 0);
	END;
}

api_result NAME(cuEventQuery, hipEventQuery)(api_event event)
{
	BEGIN(cuEventQuery, hipEventQuery, true)
	if (setting("CUDA_DOUBLE_CAPTURING", 0) && thread_mode != API_CAPTURE_RELAXED)
		result = 900; /* unsafe: and the capture is void */
	else if (event->done < event->recorded)
		result = API_NOT_READY;
	END;
}

api_result NAME(cuEventSynchronize, hipEventSynchronize)(api_event event)
{
	BEGIN(cuEventSynchronize, hipEventSynchronize, true)
	for (size_t i = 0; i < npending && event->done < event->recorded;)
		if (pending[i].kind == STAMP && pending[i].event == event) {
			wait_until(pending[i].end_ns);
			i = 0;
		} else {
			i++;
		}
	result = sticky;
	END;
}

api_result NAME(cuEventElapsedTime, hipEventElapsedTime)(float *ms, api_event start, api_event end)
{
	BEGIN(cuEventElapsedTime, hipEventElapsedTime, true)
	if (start->recorded == 0 || end->recorded == 0 ||
	    (start->flags | end->flags) & API_EVENT_NO_TIMING)
		result = API_INVALID_HANDLE;
	else if (start->done < start->recorded || end->done < end->recorded)
		result = API_NOT_READY;
	else
		*ms = (float)((end->stamp_ns - start->stamp_ns) / 1e6);
	END;
}

/* --- memory */

api_result NAME(cuMemAlloc_v2, hipMalloc)(api_address *address, size_t bytes)
{
	BEGIN(cuMemAlloc_v2, hipMalloc, true)
	parameters_are((uintptr_t)address, bytes);
	size_t at = 0;

	while (at < HOSTS_MAX && buffers[at].at)
		at++;
	if (bytes == 0) {
		result = 1;
	} else if (at == HOSTS_MAX ||
		   bytes > setting("CUDA_DOUBLE_MEMORY", 64u << 20) - used_bytes) {
		result = API_OUT_OF_MEMORY;
	} else {
		buffers[at].at = malloc(bytes);
		buffers[at].bytes = bytes;
		used_bytes += bytes;
		*address = (uintptr_t)buffers[at].at;
	}
	END;
}

api_result NAME(cuMemFree_v2, hipFree)(api_address address)
{
	BEGIN(cuMemFree_v2, hipFree, true)
	parameters_are(address, 0);
	result = 1;
	wait_until(npending > 0 ? pending[npending - 1].end_ns : 0); /* it synchronises */
	for (size_t i = 0; i < HOSTS_MAX; i++)
		if (buffers[i].at && (uintptr_t)buffers[i].at == address) {
			free(buffers[i].at);
			buffers[i].at = NULL;
			used_bytes -= buffers[i].bytes;
			result = API_SUCCESS;
		}
	END;
}

api_result NAME(cuMemGetInfo_v2, hipMemGetInfo)(size_t *left, size_t *total)
{
	BEGIN(cuMemGetInfo_v2, hipMemGetInfo, true)
	*total = setting("CUDA_DOUBLE_MEMORY", 64u << 20);
	*left = *total - used_bytes;
	END;
}

api_result NAME(cuMemHostAlloc, hipHostMalloc)(void **memory, size_t bytes, unsigned flags)
{
	BEGIN(cuMemHostAlloc, hipHostMalloc, true)
	(void)flags;
	size_t at = 0;

	while (at < HOSTS_MAX && pinned[at].at)
		at++;
	if (at == HOSTS_MAX) {
		result = API_OUT_OF_MEMORY;
	} else {
		*memory = pinned[at].at = malloc(bytes);
		pinned[at].bytes = bytes;
	}
	END;
}

api_result NAME(cuMemFreeHost, hipHostFree)(void *memory)
{
	BEGIN(cuMemFreeHost, hipHostFree, true)
	result = 1;
	for (size_t i = 0; i < HOSTS_MAX; i++)
		if (pinned[i].at && pinned[i].at == (char *)memory) {
			free(pinned[i].at);
			pinned[i].at = NULL;
			result = API_SUCCESS;
		}
	END;
}

static bool is_pinned(const char *at, size_t bytes)
{
	for (size_t i = 0; i < HOSTS_MAX; i++)
		if (pinned[i].at && at >= pinned[i].at &&
		    at + bytes <= pinned[i].at + pinned[i].bytes)
			return true;
	return false;
}

static bool in_buffer(api_address address, size_t bytes)
{
	for (size_t i = 0; i < HOSTS_MAX; i++)
		if (buffers[i].at && address >= (uintptr_t)buffers[i].at &&
		    address + bytes <= (uintptr_t)buffers[i].at + buffers[i].bytes)
			return true;
	return false;
}

/* Pageable memory is staged: it may be changed as soon as the call has returned. */
api_result NAME(cuMemcpyHtoDAsync_v2, hipMemcpyHtoDAsync)(api_address to, api_source from,
							  size_t bytes, api_stream stream)
{
	BEGIN(cuMemcpyHtoDAsync_v2, hipMemcpyHtoDAsync, true)
	const double takes_ns = COMMAND_NS + (double)bytes / HOST_BYTES_NS;
	command c = {.kind = COPY,
		     .stream = stream,
		     .to = (char *)(uintptr_t)to,
		     .from = from,
		     .bytes = bytes,
		     .copy_kind = 1};

	if (!in_buffer(to, bytes)) {
		result = 1;
	} else {
		if (!is_pinned(from, bytes)) {
			char *stage = malloc(bytes);

			memcpy(stage, from, bytes);
			c.kind = STAGED;
			c.from = stage;
			advance((double)bytes / HOST_BYTES_NS);
		}
		result = enqueue(c, takes_ns);
	}
	END;
}

api_result NAME(cuMemcpyDtoHAsync_v2, hipMemcpyDtoHAsync)(void *to, api_address from, size_t bytes,
							  api_stream stream)
{
	BEGIN(cuMemcpyDtoHAsync_v2, hipMemcpyDtoHAsync, true)
	if (!in_buffer(from, bytes)) {
		result = 1;
	} else {
		result = enqueue((command){.kind = COPY,
					   .stream = stream,
					   .to = to,
					   .from = (const char *)(uintptr_t)from,
					   .bytes = bytes,
					   .copy_kind = 2},
				 COMMAND_NS + (double)bytes / HOST_BYTES_NS);
		if (!is_pinned(to,
			       bytes)) /* to pageable memory, the call has copied when it returns */
			wait_until(stream->busy_ns);
	}
	END;
}

api_result NAME(cuMemcpyDtoDAsync_v2, hipMemcpyDtoDAsync)(api_address to, api_address from,
							  size_t bytes, api_stream stream)
{
	BEGIN(cuMemcpyDtoDAsync_v2, hipMemcpyDtoDAsync, true)
	if (!in_buffer(to, bytes) || !in_buffer(from, bytes))
		result = 1;
	else
		result = enqueue((command){.kind = COPY,
					   .stream = stream,
					   .to = (char *)(uintptr_t)to,
					   .from = (const char *)(uintptr_t)from,
					   .bytes = bytes,
					   .copy_kind = 8},
				 COMMAND_NS + (double)bytes / DEVICE_BYTES_NS);
	END;
}

/* --- kernels */

static bool has_entry(const char *text, const char *name)
{
	char entry[64];

	snprintf(entry, sizeof entry, ".entry %s(", name);
	return strstr(text, entry) != NULL;
}

static int parameters_of(const char *text)
{
	int n = 0;

	while ((text = strstr(text, ".param ."))) {
		text++;
		n++;
	}
	return n;
}

api_result NAME(cuModuleLoadDataEx, hipModuleLoadDataEx)(api_module *module, const void *image,
							 unsigned n, api_jit_option *options,
							 void **values)
{
	BEGIN(cuModuleLoadDataEx, hipModuleLoadDataEx, true)
	const char *text = image, *version = strstr(text, ".version ");
	char *log = NULL;
	size_t bytes = 0;

	for (unsigned i = 0; i < n; i++) {
		if (options[i] == API_JIT_ERROR_LOG)
			log = values[i];
		if (options[i] == API_JIT_ERROR_LOG_BYTES)
			bytes = (size_t)(uintptr_t)values[i];
	}
	if (!version) {
		result = API_INVALID_PTX;
		if (log)
			snprintf(
			    log, bytes,
			    "\nptxas application ptx input, line 1; fatal   : Missing .version "
			    "directive at start of file\nptxas fatal   : Ptx assembly aborted\n");
	} else if (strstr(text, "bra not_declared")) {
		result = API_INVALID_PTX;
		if (log)
			snprintf(log, bytes,
				 "ptxas application ptx input, line 5; error   : Unknown symbol "
				 "'not_declared'\n");
	} else if (/* PTX 8.0 came with CUDA 12.0 */
		   strtod(version + 9, NULL) * 1000 + 4000 >
		   (double)setting("CUDA_DOUBLE_VERSION", 13000)) {
		result = API_UNSUPPORTED_PTX;
	} else {
		*module = object_new(sizeof **module);
		**module = (struct api_module_s){has_entry(text, "fill"), has_entry(text, "work"),
						 has_entry(text, "fault"), parameters_of(text)};
	}
	END;
}

api_result NAME(cuModuleUnload, hipModuleUnload)(api_module module)
{
	BEGIN(cuModuleUnload, hipModuleUnload, true)
	object_free(module);
	END;
}

api_result NAME(cuModuleGetFunction, hipModuleGetFunction)(api_function *function,
							   api_module module, const char *name)
{
	BEGIN(cuModuleGetFunction, hipModuleGetFunction, true)
	if (module->fill && strcmp(name, "fill") == 0)
		*function = &functions[0];
	else if (module->work && strcmp(name, "work") == 0)
		*function = &functions[module->parameters == 0	 ? 3
				       : module->parameters == 4 ? 2
								 : 1];
	else if (module->work && strcmp(name, functions[5].name) == 0)
		*function = &functions[5];
	else if (module->fault && strcmp(name, "fault") == 0)
		*function = &functions[4];
	else
		result = API_NOT_FOUND;
	END;
}

api_result NAME(cuLaunchKernel, hipModuleLaunchKernel)(api_function function, unsigned grid_x,
						       unsigned grid_y, unsigned grid_z,
						       unsigned block_x, unsigned block_y,
						       unsigned block_z, unsigned shared,
						       api_stream stream, void **args, void **extra)
{
	BEGIN(cuLaunchKernel, hipModuleLaunchKernel, true)
	command c = {.kind = function->kind, .stream = stream, .name = function->name};
	double takes_ns = COMMAND_NS;

	(void)shared;
	if (grid_x == 0 || grid_y != 1 || grid_z != 1 || block_x == 0 || block_x > 1024 ||
	    block_y != 1 || block_z != 1 || extra) {
		result = 1;
	} else {
		if (c.kind != FAULT && c.kind != EMPTY) {
			c.to = (char *)(uintptr_t) * (api_address *)args[0];
			c.value = *(unsigned *)args[c.kind == WALK ? 3 : 1];
			c.bytes = (c.kind == WALK ? 16 * (size_t)c.value : 4) * grid_x * block_x;
			if (!in_buffer((uintptr_t)c.to, c.bytes))
				c.kind = FAULT;
		}
		if (c.kind == WORK)
			takes_ns += c.value;
		else
			takes_ns += (double)c.bytes / DEVICE_BYTES_NS;
		result = enqueue(c, takes_ns);
	}
	END;
}

/* --- errors */

#ifdef DOUBLE_HIP
const char *hipGetErrorString(api_result result)
{
	return error_text(result);
}
#else
api_result cuGetErrorString(api_result result, const char **ret)
{
	*ret = error_text(result);
	return *ret ? API_SUCCESS : 1;
}
#endif
