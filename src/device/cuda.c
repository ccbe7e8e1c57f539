/* cuda.c - the drivers "cuda" and "hip": NVIDIA's driver API (libcuda.so.1), and AMD's runtime
 * (libamdhip64.so), which has the same functions under other names.
 *
 * There is one implementation over a table of function pointers (CUDA_API in cuda_api.h); a
 * platform is the library, its names, and what differs: numbers of attributes, the text of an
 * error, and kernels, which HIP does not compile at run time without another library.
 *
 * - A device uses its primary context, which the runtime API and ONNX Runtime share. It is
 *   retained at the first use that needs it, so that opening a device for its properties costs none
 *   of its memory. A context belongs to a thread: every call makes it current.
 * - Queues are streams that do not wait for the default stream. A blocked wait is that of an event
 *   with blocking synchronisation, whatever the context's own way is; a spinning one polls the
 *   stream.
 * - Marks are events with timing. Their resolution is about 0.5 us (CUDA's documentation of
 *   cuEventElapsedTime(); 1 us of HIP's), and the difference is a float of milliseconds.
 * - After a fault of a kernel the context is unusable: the driver returns the error from whichever
 *   call comes next, and some later calls return others. The first is kept in `lost` and returned
 *   from then on, under `lock`, since queues may belong to different threads.
 *
 * Source: NVIDIA CUDA Driver API, AMD HIP Runtime API Reference.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/mem.h"
#include "device/cuda_api.h"
#include "device/device.h"
#include "os/file/text.h"
#include "os/process/lazy_library.h"

#include <ctype.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

typedef void (*any_function)(void);

typedef struct api {
#define X(member, cuda, hip, parameters) api_result(*member) parameters;
	CUDA_API(X)
#undef X
	any_function error_text;
} api;

typedef struct gpu_platform {
	const device_driver *driver;
	os_lazy_library
	    *library; /* alternative names of one library; the first that loads is used */
	size_t nlibraries;
	const api *call;
	const char *(*error_text)(api_result result);
	const char *interface, *vendor;
	api_attribute units, max_threads, clock_khz, cache_bytes;
	double tick_ns;
} gpu_platform;

typedef struct cuda_device {
	device base;
	const gpu_platform *p;
	api_device handle;
	bool wrapped;	      /* its context is the program's, which may be any */
	pthread_mutex_t lock; /* protects the members below */
	api_context context;  /* NULL: not yet retained */
	dck_err lost;	      /* the first fault; code DCK_OK: none */
} cuda_device;

typedef struct cuda_queue {
	device_queue base;
	bool wrapped; /* the stream is the program's; NULL: the default one */
	api_stream stream;
	api_event blocker; /* of blocked waits */
} cuda_queue;

typedef struct cuda_mark {
	device_mark base;
	api_event event;
} cuda_mark;

typedef struct cuda_memory {
	device_memory base;
	api_address address;
} cuda_memory;

typedef struct cuda_kernel {
	device_kernel base;
	api_module module;
	api_function function;
} cuda_kernel;

/* --- errors */

/* Returns whether the context is unusable after it. */
static bool is_sticky(api_result result)
{
	switch (result) {
	case API_ECC_UNCORRECTABLE:
	case API_NVLINK_UNCORRECTABLE:
	case API_ILLEGAL_ADDRESS:
	case API_LAUNCH_TIMEOUT:
	case API_ASSERT:
	case API_HARDWARE_STACK:
	case API_ILLEGAL_INSTRUCTION:
	case API_MISALIGNED_ADDRESS:
	case API_INVALID_ADDRESS_SPACE:
	case API_INVALID_PC:
	case API_LAUNCH_FAILED:
		return true;
	default:
		return false;
	}
}

static dck_status status_of(api_result result)
{
	switch (result) {
	case API_OUT_OF_MEMORY:
		return DCK_E_NOMEM;
	case API_INVALID_IMAGE:
	case API_NO_BINARY:
	case API_INVALID_PTX:
	case API_NO_COMPILER:
	case API_UNSUPPORTED_PTX:
		return DCK_E_FORMAT;
	default:
		return DCK_E_DEVICE;
	}
}

/* Turns a result into a status; `what` failed. */
static dck_status check(cuda_device *d, api_result result, const char *what, dck_err *err)
{
	dck_err why = {0};

	if (result == API_SUCCESS)
		return DCK_OK;
	err_set(&why, status_of(result), __FILE__, __LINE__, "%s: cannot %s: %s (error %u)",
		d->base.info.name, what, d->p->error_text(result), result);
	why.native_code = result;
	pthread_mutex_lock(&d->lock);
	if (d->lost.code != DCK_OK)
		why = d->lost;
	else if (is_sticky(result))
		d->lost = why;
	pthread_mutex_unlock(&d->lock);
	return err_pass(why.code, &why, err);
}

/* Makes the device's context current, which every call needs. */
static dck_status enter(cuda_device *d, dck_err *err)
{
	const api *call = d->p->call;
	api_result result = API_SUCCESS;
	dck_err lost;

	pthread_mutex_lock(&d->lock);
	lost = d->lost;
	if (lost.code == DCK_OK && !d->context)
		result = call->context_retain(&d->context, d->handle);
	pthread_mutex_unlock(&d->lock);
	DCK_TRY(err_pass(lost.code, &lost, err));
	DCK_TRY(check(d, result, "use the device", err));
	return check(d, call->context_set(d->context), "use the device", err);
}

/* What a call on a wrapped queue changes of the program's thread, and restores. */
typedef struct context_before {
	api_context context;
	api_capture_mode mode;
} context_before;

/* The same for what wrapped queues use. Polling an event would void a capture of another stream,
 * unless the thread's capture mode is relaxed. */
static dck_status context_visit(cuda_device *d, context_before *ret, dck_err *err)
{
	dck_status status = DCK_OK;

	*ret = (context_before){d->context, API_CAPTURE_RELAXED};
	if (!d->wrapped)
		return enter(d, err);
	DCK_TRY(check(d, d->p->call->context_get(&ret->context), "use the context", err));
	if (ret->context != d->context)
		status = enter(d, err);
	if (status == DCK_OK && d->p->call->capture_mode(&ret->mode) != API_SUCCESS)
		ret->mode = API_CAPTURE_RELAXED;
	return status;
}

static void context_leave(const cuda_device *d, context_before *before)
{
	if (d->wrapped && before->mode != API_CAPTURE_RELAXED)
		d->p->call->capture_mode(&before->mode);
	if (d->wrapped && before->context != d->context)
		d->p->call->context_set(before->context);
}

static cuda_device *of(device *d)
{
	return (cuda_device *)d;
}

/* --- devices */

static dck_status platform_load(const gpu_platform *p, dck_err *err)
{
	dck_status status = DCK_E_ABSENT;
	dck_err first = {.code = DCK_OK}, why = {.code = DCK_OK};
	char missing[64];
	api_result result;

	/* A library that is there and cannot be used is the reason, not that others are missing. */
	for (size_t i = 0; i < p->nlibraries && status != DCK_OK; i++) {
		status = os_lazy_load(&p->library[i], &why);
		snprintf(missing, sizeof missing, ": %s: ", p->library[i].file);
		if (status != DCK_OK && first.code == DCK_OK && !strstr(why.msg, missing))
			first = why;
	}
	if (status != DCK_OK)
		return err_pass(status, first.code != DCK_OK ? &first : &why, err);
	result = p->call->init(0);
	if (result == API_NO_DEVICE)
		DCK_FAIL(err, E_ABSENT, "%s finds no device", p->interface);
	if (result != API_SUCCESS)
		DCK_FAIL(err, E_ABSENT, "%s cannot be used: %s (error %u)", p->interface,
			 p->error_text(result), result);
	return DCK_OK;
}

static dck_status platform_count(const gpu_platform *p, unsigned *ret, dck_err *err)
{
	int n = 0;
	api_result result;

	DCK_TRY(platform_load(p, err));
	result = p->call->count(&n);
	if (result != API_SUCCESS && result != API_NO_DEVICE)
		DCK_FAIL(err, E_ABSENT, "%s cannot be used: %s (error %u)", p->interface,
			 p->error_text(result), result);
	if (n <= 0)
		DCK_FAIL(err, E_ABSENT, "%s finds no device", p->interface);
	*ret = (unsigned)n;
	return DCK_OK;
}

static int cuda_attribute(const cuda_device *d, api_attribute which)
{
	int value = 0;

	return d->p->call->attribute(&value, which, d->handle) == API_SUCCESS && value > 0 ? value
											   : 0;
}

/* CUDA's compute capabilities (CUDA C++ Programming Guide, arithmetic instructions): FP16 from 5.3,
 * dp4a from 6.1, BF16 and the products of matrices that kernels use from 8.0. Every device of HIP
 * computes in FP16; of the others nothing is known. */
static void types_read(const cuda_device *d, device_info *ret)
{
	const int capability = 10 * cuda_attribute(d, CUDA_CAPABILITY_MAJOR) +
			       cuda_attribute(d, CUDA_CAPABILITY_MINOR);
	const bool cuda = d->p->units == CUDA_UNITS;

	ret->fp64 = true;
	ret->fp16 = !cuda || capability >= 53;
	ret->int8 = ret->dot8 = cuda && capability >= 61;
	ret->bf16 = ret->matrix = cuda && capability >= 80;
}

static void info_read(cuda_device *d)
{
	const api *call = d->p->call;
	device_info *i = &d->base.info;
	int version = 0, khz = cuda_attribute(d, d->p->clock_khz);
	size_t bytes = 0;

	if (call->name(i->name, sizeof i->name, d->handle) != API_SUCCESS)
		i->name[0] = '\0';
	i->name[sizeof i->name - 1] = '\0';
	if (!i->name[0])
		snprintf(i->name, sizeof i->name, "%s:%u", d->base.driver->name, d->base.index);
	text_copy(i->vendor, sizeof i->vendor, d->p->vendor);
	/* CUDA: 1000 * major + 10 * minor; HIP counts otherwise, so the number is as it is. */
	if (call->version(&version) == API_SUCCESS && d->p->units == CUDA_UNITS)
		snprintf(i->driver, sizeof i->driver, "%s %d.%d", d->p->interface, version / 1000,
			 version % 1000 / 10);
	else if (version > 0)
		snprintf(i->driver, sizeof i->driver, "%s %d", d->p->interface, version);
	if (call->pci(i->pci, sizeof i->pci, d->handle) != API_SUCCESS)
		i->pci[0] = '\0';
	i->pci[sizeof i->pci - 1] = '\0';
	for (char *c = i->pci; *c; c++) /* as the kernel's names in /sys */
		*c = (char)tolower((unsigned char)*c);
	i->units = (unsigned)cuda_attribute(d, d->p->units);
	i->group_max = (unsigned)cuda_attribute(d, d->p->max_threads);
	i->cache_bytes = (uint64_t)cuda_attribute(d, d->p->cache_bytes);
	i->clock_hz = khz > 0 ? khz * 1e3 : NAN;
	i->mark_tick_ns = d->p->tick_ns;
	types_read(d, i);
	if (call->memory_total(&bytes, d->handle) == API_SUCCESS)
		i->memory_bytes = i->allocation_bytes = bytes;
}

static dck_status platform_open(const gpu_platform *p, unsigned index, device **ret, dck_err *err)
{
	api_result result;
	unsigned n = 0;

	DCK_TRY(platform_count(p, &n, err));
	if (index >= n)
		DCK_FAIL(err, E_ABSENT, "%s has %u device%s, counted from 0: there is no %s:%u",
			 p->interface, n, n == 1 ? "" : "s", p->driver->name, index);
	cuda_device *d = mem_zalloc(1, sizeof *d);
	DCK_NEED(d, err, "for a device");
	d->base.driver = p->driver;
	d->base.index = index;
	d->p = p;
	result = p->call->device_get(&d->handle, (int)index);
	if (result != API_SUCCESS) {
		mem_free(d);
		DCK_FAIL(err, E_DEVICE, "%s cannot use device %u: %s (error %u)", p->interface,
			 index, p->error_text(result), result);
	}
	pthread_mutex_init(&d->lock, NULL);
	info_read(d);
	*ret = &d->base;
	return DCK_OK;
}

static void cuda_close(device *base)
{
	cuda_device *d = of(base);

	if (!d)
		return;
	if (d->context && !d->wrapped)
		d->p->call->context_release(d->handle);
	pthread_mutex_destroy(&d->lock);
	mem_free(d);
}

/* --- queues */

static void cuda_queue_close(device_queue *base)
{
	cuda_queue *q = (cuda_queue *)base;
	context_before before;

	if (!q)
		return;
	cuda_device *d = of(base->d);
	if (context_visit(d, &before, NULL) ==
	    DCK_OK) { /* else the context is lost, and all of it with it */
		if (q->blocker)
			d->p->call->event_destroy(q->blocker);
		if (q->stream && !q->wrapped)
			d->p->call->stream_destroy(q->stream);
		context_leave(d, &before);
	}
	mem_free(q);
}

/* wrapped: with that stream; else with a new one. The context is current. */
static dck_status queue_new(cuda_device *d, bool wrapped, api_stream stream, device_queue **ret,
			    dck_err *err)
{
	const api *call = d->p->call;
	dck_status status = DCK_OK;
	cuda_queue *q = mem_zalloc(1, sizeof *q);

	DCK_NEED(q, err, "for a queue");
	*q = (cuda_queue){.base = {&d->base}, .wrapped = wrapped, .stream = stream};
	if (!wrapped)
		status = check(d, call->stream_create(&q->stream, API_STREAM_NON_BLOCKING),
			       "create a stream", err);
	DCK_NEXT(status,
		 check(d, call->event_create(&q->blocker, API_EVENT_BLOCKING | API_EVENT_NO_TIMING),
		       "create an event", err));
	if (status == DCK_OK)
		*ret = &q->base;
	else
		cuda_queue_close(&q->base);
	return status;
}

static dck_status cuda_queue_open(device *base, device_queue **ret, dck_err *err)
{
	DCK_TRY(enter(of(base), err));
	return queue_new(of(base), false, NULL, ret, err);
}

static dck_status platform_wrap(const gpu_platform *p, void *native, device **ret_device,
				device_queue **ret, dck_err *err)
{
	api_context context = NULL;
	api_device handle = 0;
	device *base = NULL;

	DCK_TRY(platform_load(p, err));
	if (p->call->context_get(&context) != API_SUCCESS || !context ||
	    p->call->context_device(&handle) != API_SUCCESS)
		DCK_FAIL(err, E_ARG,
			 "no context of %s is current in this thread: wrap a stream in a thread "
			 "that uses it, after its first call",
			 p->interface);
	DCK_TRY(platform_open(p, (unsigned)handle, &base, err));
	cuda_device *d = of(base);
	d->wrapped = true;
	d->context = context;
	const dck_status status = queue_new(d, true, native, ret, err);
	if (status == DCK_OK)
		*ret_device = base;
	else
		cuda_close(base);
	return status;
}

static dck_status cuda_wait(device_queue *base, device_wait_kind how, dck_err *err)
{
	cuda_queue *q = (cuda_queue *)base;
	cuda_device *d = of(base->d);
	const api *call = d->p->call;
	context_before before;
	api_result result;

	DCK_TRY(context_visit(d, &before, err));
	if (how == DEVICE_WAIT_BLOCK) {
		result = call->event_record(q->blocker, q->stream);
		if (result == API_SUCCESS)
			result = call->event_synchronize(q->blocker);
	} else {
		while ((result = call->stream_query(q->stream)) == API_NOT_READY)
			;
	}
	context_leave(d, &before);
	return check(d, result, "wait", err);
}

/* --- marks */

static void cuda_mark_close(device_mark *base)
{
	cuda_mark *m = (cuda_mark *)base;
	context_before before;

	if (m && context_visit(of(base->d), &before, NULL) == DCK_OK) {
		of(base->d)->p->call->event_destroy(m->event);
		context_leave(of(base->d), &before);
	}
	mem_free(m);
}

static dck_status cuda_mark_open(device *base, device_mark **ret, dck_err *err)
{
	cuda_device *d = of(base);
	context_before before;
	cuda_mark *m = mem_zalloc(1, sizeof *m);

	DCK_NEED(m, err, "for a mark");
	m->base.d = base;
	dck_status status = context_visit(d, &before, err);
	if (status == DCK_OK) {
		status = check(d, d->p->call->event_create(&m->event, 0), "create an event", err);
		context_leave(d, &before);
	}
	if (status == DCK_OK)
		*ret = &m->base;
	else
		mem_free(m);
	return status;
}

static dck_status cuda_mark_record(device_queue *base, device_mark *mark, dck_err *err)
{
	const cuda_queue *q = (cuda_queue *)base;
	cuda_device *d = of(base->d);
	api_capture capturing = API_CAPTURE_NONE;
	api_result result = API_SUCCESS;
	context_before before;

	DCK_TRY(context_visit(d, &before, err));
	/* It fails where another stream's capture forbids the use of the default one. */
	if (q->wrapped && d->p->call->stream_capturing(q->stream, &capturing) != API_SUCCESS)
		capturing = API_CAPTURE_NONE + 1;
	if (capturing == API_CAPTURE_NONE)
		result = d->p->call->event_record(((cuda_mark *)mark)->event, q->stream);
	context_leave(d, &before);
	if (capturing != API_CAPTURE_NONE)
		DCK_FAIL(err, E_UNSUP, "%s: the stream is being captured", d->base.info.name);
	return check(d, result, "record an event", err);
}

static dck_status cuda_mark_is_done(const device_mark *base, bool *ret, dck_err *err)
{
	cuda_device *d = of(base->d);
	context_before before;

	DCK_TRY(context_visit(d, &before, err));
	const api_result result = d->p->call->event_query(((const cuda_mark *)base)->event);
	context_leave(d, &before);
	if (result != API_NOT_READY)
		DCK_TRY(check(d, result, "query an event", err));
	*ret = result == API_SUCCESS;
	return DCK_OK;
}

static dck_status cuda_mark_elapsed(const device_mark *from, const device_mark *to, double *ret_ns,
				    dck_err *err)
{
	cuda_device *d = of(from->d);
	context_before before;
	api_result result;
	float ms = 0;

	DCK_TRY(context_visit(d, &before, err));
	result = d->p->call->event_elapsed(&ms, ((const cuda_mark *)from)->event,
					   ((const cuda_mark *)to)->event);
	context_leave(d, &before);
	if (result == API_NOT_READY)
		DCK_FAIL(err, E_ARG, "%s: a mark was not waited for", d->base.info.name);
	if (result == API_INVALID_HANDLE)
		DCK_FAIL(err, E_ARG, "%s: a mark was not recorded", d->base.info.name);
	DCK_TRY(check(d, result, "read the time between two marks", err));
	*ret_ns = (double)ms * 1e6;
	return DCK_OK;
}

/* --- memory */

static void cuda_memory_close(device_memory *base)
{
	cuda_memory *m = (cuda_memory *)base;

	if (m && enter(of(base->d), NULL) == DCK_OK)
		of(base->d)->p->call->memory_free(m->address);
	mem_free(m);
}

static dck_status cuda_memory_open(device *base, uint64_t bytes, device_memory **ret, dck_err *err)
{
	cuda_device *d = of(base);
	char what[64];

	DCK_TRY(enter(d, err));
	cuda_memory *m = mem_zalloc(1, sizeof *m);
	DCK_NEED(m, err, "for a buffer");
	m->base = (device_memory){.d = base, .bytes = bytes};
	snprintf(what, sizeof what, "allocate %llu bytes", (unsigned long long)bytes);
	dck_status status = check(d, d->p->call->memory_alloc(&m->address, bytes), what, err);
	if (status == DCK_OK)
		*ret = &m->base;
	else
		mem_free(m);
	return status;
}

static dck_status cuda_host_alloc(device *base, uint64_t bytes, void **ret, dck_err *err)
{
	cuda_device *d = of(base);
	void *memory = NULL;
	char what[64];

	DCK_TRY(enter(d, err));
	snprintf(what, sizeof what, "allocate %llu bytes of page-locked memory",
		 (unsigned long long)bytes);
	DCK_TRY(check(d, d->p->call->host_alloc(&memory, bytes, 0), what, err));
	*ret = memory;
	return DCK_OK;
}

static void cuda_host_free(device *base, void *bytes)
{
	if (bytes && enter(of(base), NULL) == DCK_OK)
		of(base)->p->call->host_free(bytes);
}

static dck_status cuda_copy_host(device_queue *base, device_direction way, device_memory *memory,
				 uint64_t at, void *host, uint64_t bytes, dck_err *err)
{
	cuda_device *d = of(base->d);
	const api_stream stream = ((cuda_queue *)base)->stream;
	const api_address there = ((cuda_memory *)memory)->address + at;

	DCK_TRY(enter(d, err));
	if (way == DEVICE_FROM_HOST)
		return check(d, d->p->call->copy_to_device(there, host, bytes, stream),
			     "copy to the device", err);
	return check(d, d->p->call->copy_to_host(host, there, bytes, stream),
		     "copy from the device", err);
}

static dck_status cuda_copy(device_queue *base, device_memory *to, uint64_t to_at,
			    device_memory *from, uint64_t from_at, uint64_t bytes, dck_err *err)
{
	cuda_device *d = of(base->d);

	DCK_TRY(enter(d, err));
	return check(d,
		     d->p->call->copy_inside(((cuda_memory *)to)->address + to_at,
					     ((cuda_memory *)from)->address + from_at, bytes,
					     ((cuda_queue *)base)->stream),
		     "copy inside the device", err);
}

static dck_status cuda_memory_free(device *base, uint64_t *ret_free, uint64_t *ret_total,
				   dck_err *err)
{
	cuda_device *d = of(base);
	size_t left = 0, total = 0;

	DCK_TRY(enter(d, err));
	DCK_TRY(
	    check(d, d->p->call->memory_info(&left, &total), "read how much memory is free", err));
	*ret_free = left;
	*ret_total = total;
	return DCK_OK;
}

/* --- kernels */

static void cuda_kernel_close(device_kernel *base)
{
	cuda_kernel *k = (cuda_kernel *)base;

	if (k && k->module && enter(of(base->d), NULL) == DCK_OK)
		of(base->d)->p->call->module_unload(k->module);
	mem_free(k);
}

static dck_status kernel_load(cuda_kernel *k, const char *source, const char *name, dck_err *err)
{
	cuda_device *d = of(k->base.d);
	char log[512] = "", *line = log;
	api_result result;
	api_jit_option options[] = {API_JIT_ERROR_LOG, API_JIT_ERROR_LOG_BYTES};
	/* The size is passed by value, in the place of a pointer. */
	void *values[] = {log, (void *)(uintptr_t)(sizeof log - 1)};
	dck_status status =
	    check(d, d->p->call->module_load(&k->module, source, 2, options, values),
		  "compile a kernel", err);

	log[sizeof log - 1] = '\0';
	line += strspn(line, "\r\n");
	line[strcspn(line, "\r\n")] = '\0';
	if (status == DCK_E_FORMAT && *line)
		DCK_FAIL(err, E_FORMAT, "the kernel does not compile: %s", line);
	DCK_TRY(status);
	result = d->p->call->module_function(&k->function, k->module, name);
	if (result == API_NOT_FOUND)
		DCK_FAIL(err, E_ARG, "the source has no kernel '%s'", name);
	return check(d, result, "find a kernel", err);
}

static dck_status cuda_kernel_open(device *base, const char *source, const char *name,
				   device_kernel **ret, dck_err *err)
{
	DCK_TRY(enter(of(base), err));
	cuda_kernel *k = mem_zalloc(1, sizeof *k);
	DCK_NEED(k, err, "for a kernel");
	k->base.d = base;
	dck_status status = kernel_load(k, source, name, err);
	if (status == DCK_OK)
		*ret = &k->base;
	else
		cuda_kernel_close(&k->base);
	return status;
}

static dck_status cuda_kernel_run(device_queue *base, device_kernel *kernel, const device_arg *args,
				  size_t nargs, uint32_t groups, uint32_t group_size, dck_err *err)
{
	cuda_device *d = of(base->d);
	api_address address[DEVICE_KERNEL_ARGS];
	uint32_t word[DEVICE_KERNEL_ARGS];
	void *at[DEVICE_KERNEL_ARGS];

	if (nargs > DEVICE_KERNEL_ARGS)
		DCK_FAIL(err, E_ARG, "a kernel has at most %d arguments", DEVICE_KERNEL_ARGS);
	DCK_TRY(enter(d, err));
	for (size_t i = 0; i < nargs; i++) {
		word[i] = args[i].word;
		address[i] = args[i].memory ? ((cuda_memory *)args[i].memory)->address : 0;
		at[i] = args[i].memory ? (void *)&address[i] : (void *)&word[i];
	}
	return check(d,
		     d->p->call->launch(((cuda_kernel *)kernel)->function, groups, 1, 1, group_size,
					1, 1, 0, ((cuda_queue *)base)->stream, at, NULL),
		     "start a kernel", err);
}

/* --- the two platforms */

#define X(member, cuda, hip, parameters) #cuda,
static const char *const cuda_names[] = {CUDA_API(X) "cuGetErrorString"};
#undef X
#define X(member, cuda, hip, parameters) #hip,
static const char *const hip_names[] = {CUDA_API(X) "hipGetErrorString"};
#undef X

static api cuda_api, hip_api;
static os_lazy_library cuda_library[] = {
    OS_LAZY("libcuda.so.1", "measuring on an NVIDIA GPU", cuda_names, cuda_api),
};
/* The soname has the major release; the link without it is in packages for developers. */
static os_lazy_library hip_library[] = {
    OS_LAZY("libamdhip64.so.7", "measuring on an AMD GPU", hip_names, hip_api),
    OS_LAZY("libamdhip64.so.6", "measuring on an AMD GPU", hip_names, hip_api),
    OS_LAZY("libamdhip64.so.5", "measuring on an AMD GPU", hip_names, hip_api),
    OS_LAZY("libamdhip64.so", "measuring on an AMD GPU", hip_names, hip_api),
};

static const char *cuda_error_text(api_result result)
{
	const char *text = NULL;

	((api_result(*)(api_result, const char **))cuda_api.error_text)(result, &text);
	return text ? text : "unknown error";
}

static const char *hip_error_text(api_result result)
{
	const char *text = ((const char *(*)(api_result))hip_api.error_text)(result);

	return text ? text : "unknown error";
}

extern const device_driver device_cuda, device_hip;

static const gpu_platform platform_cuda = {
    .driver = &device_cuda,
    .library = cuda_library,
    .nlibraries = sizeof cuda_library / sizeof *cuda_library,
    .call = &cuda_api,
    .error_text = cuda_error_text,
    .interface = "CUDA",
    .vendor = "NVIDIA",
    .units = CUDA_UNITS,
    .max_threads = CUDA_MAX_THREADS,
    .clock_khz = CUDA_CLOCK_KHZ,
    .cache_bytes = CUDA_CACHE_BYTES,
    .tick_ns = 500,
};

static const gpu_platform platform_hip = {
    .driver = &device_hip,
    .library = hip_library,
    .nlibraries = sizeof hip_library / sizeof *hip_library,
    .call = &hip_api,
    .error_text = hip_error_text,
    .interface = "HIP",
    .vendor = "AMD",
    .units = HIP_UNITS,
    .max_threads = HIP_MAX_THREADS,
    .clock_khz = HIP_CLOCK_KHZ,
    .cache_bytes = HIP_CACHE_BYTES,
    .tick_ns = 1000,
};

static dck_status cuda_count(unsigned *ret, dck_err *err)
{
	return platform_count(&platform_cuda, ret, err);
}

static dck_status hip_count(unsigned *ret, dck_err *err)
{
	return platform_count(&platform_hip, ret, err);
}

static dck_status cuda_open(unsigned index, device **ret, dck_err *err)
{
	return platform_open(&platform_cuda, index, ret, err);
}

static dck_status hip_open(unsigned index, device **ret, dck_err *err)
{
	return platform_open(&platform_hip, index, ret, err);
}

static dck_status cuda_queue_wrap(void *native, device **ret_device, device_queue **ret,
				  dck_err *err)
{
	return platform_wrap(&platform_cuda, native, ret_device, ret, err);
}

static dck_status hip_queue_wrap(void *native, device **ret_device, device_queue **ret,
				 dck_err *err)
{
	return platform_wrap(&platform_hip, native, ret_device, ret, err);
}

#define SAME_MEMBERS                                                       \
	.close = cuda_close, DEVICE_WORK_MEMBERS(cuda), .copy = cuda_copy, \
	.memory_free = cuda_memory_free

const device_driver device_cuda = {
    .name = "cuda",
    .remedy = "install NVIDIA's driver, and try it with: nvidia-smi",
    .kernel_language = "PTX",
    .count = cuda_count,
    .open = cuda_open,
    .queue_wrap = cuda_queue_wrap,
    SAME_MEMBERS,
    .kernel_open = cuda_kernel_open,
    .kernel_close = cuda_kernel_close,
    .kernel_run = cuda_kernel_run,
};

/* Without kernels: HIP loads compiled ones alone. */
const device_driver device_hip = {
    .name = "hip",
    .remedy = "install ROCm, and try it with: rocminfo",
    .kernel_language = "",
    .count = hip_count,
    .open = hip_open,
    .queue_wrap = hip_queue_wrap,
    SAME_MEMBERS,
};
