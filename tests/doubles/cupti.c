/* cupti.c - a double of libcupti.so: it behaves as CUPTI's documentation states, over the double of
 * the driver (cuda.c, observer.h).
 *
 * A record is stored when its command has ended, and delivered only when its buffer is full or
 * flushed. Times are CLOCK_MONOTONIC by CUDA_DOUBLE_REAL_TIME, which the records' clock differs
 * from by CUPTI_DOUBLE_OFFSET_NS and CUPTI_DOUBLE_SKEW_PPM; with a timestamp callback they are
 * converted by two readings of it, as the documentation describes. There is one subscriber.
 *
 * Settings: CUPTI_DOUBLE_FAIL ("cuptiSubscribe=39"), CUPTI_DOUBLE_DROP (the first records are lost,
 * as without a buffer). -DDOUBLE_OLD: CUPTI before 11.7, without the callback.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "device/cupti_api.h"
#include "double.h"
#include "observer.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

#define X(member, symbol, parameters) EXPORT cupti_result symbol parameters;
CUPTI_API(X)
#undef X

enum { PENDING_MAX = 65536 };

static const char *const driver_calls[] = {"",
					   "cuInit",
					   "cuLaunchKernel",
					   "cuMemcpyHtoDAsync_v2",
					   "cuMemcpyDtoHAsync_v2",
					   "cuMemcpyDtoDAsync_v2",
					   "cuEventSynchronize",
					   "cuMemAlloc_v2",
					   "cuMemFree_v2",
					   "cuDeviceGetCount",
					   "cuModuleLoadDataEx",
					   "cuDevicePrimaryCtxRetain"};
static const char *const runtime_calls[] = {"", "cudaLaunchKernel", "cudaGetDevice"};
enum {
	DRIVER_CALLS = sizeof driver_calls / sizeof *driver_calls,
	RUNTIME_CALLS = sizeof runtime_calls / sizeof *runtime_calls
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cupti_callback subscriber;
static void *subscriber_self;
static bool wanted[3][DRIVER_CALLS], enabled[64];
static cupti_requested requested;
static cupti_completed completed;
static cupti_timestamp clock_of_caller;
static cuda_observed pending[PENDING_MAX];
static size_t npending, ndropped, nlost;
static uint64_t base_theirs, base_ours, now_theirs, now_ours;

static uint64_t host_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t records_ns(uint64_t host)
{
	const double skew = (double)setting("CUPTI_DOUBLE_SKEW_PPM", 0) / 1e6;

	return host + (uint64_t)((double)host * skew) + setting("CUPTI_DOUBLE_OFFSET_NS", 0);
}

/* The narrowest of some readings of both clocks: the machine may be busy. */
static void clocks_read(uint64_t *ret_theirs, uint64_t *ret_ours)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 20; i++) {
		const uint64_t before = host_ns(), ours = clock_of_caller(), after = host_ns();

		if (after - before >= best)
			continue;
		best = after - before;
		*ret_theirs = records_ns(before + best / 2);
		*ret_ours = ours;
	}
}

/* Of a time on the device's clock, which a caller's clock replaces by linear interpolation. */
static uint64_t time_of(uint64_t host)
{
	const uint64_t ns = records_ns(host);

	if (!clock_of_caller)
		return ns;
	const double rate = (double)(now_ours - base_ours) / (double)(now_theirs - base_theirs);
	return now_ours - (uint64_t)((double)(now_theirs - ns) * rate);
}

static void executed(const cuda_observed *o)
{
	static const unsigned kinds[] = {CUPTI_API_KERNEL, CUPTI_API_COPY, CUPTI_API_SET};

	pthread_mutex_lock(&lock);
	if (!enabled[kinds[o->kind]]) {
	} else if (nlost < setting("CUPTI_DOUBLE_DROP", 0) || npending == PENDING_MAX) {
		nlost++;
		ndropped++;
	} else {
		pending[npending++] = *o;
	}
	pthread_mutex_unlock(&lock);
}

static void called(const char *function, uint32_t correlation, bool begins, const void *parameters,
		   const unsigned *result)
{
	const bool runtime = strncmp(function, "cuda", 4) == 0;
	const char *const *names = runtime ? runtime_calls : driver_calls;
	const size_t n = runtime ? RUNTIME_CALLS : DRIVER_CALLS;
	const unsigned domain = runtime ? CUPTI_API_RUNTIME : CUPTI_API_DRIVER;
	uint64_t own = 0;
	const cupti_call_data data = {.site = begins ? CUPTI_CALL_BEGINS : CUPTI_CALL_ENDS,
				      .function_name = function,
				      .parameters = parameters,
				      .return_value = (void *)(uintptr_t)result,
				      .own = &own,
				      .correlation = correlation};

	for (size_t i = 1; i < n && subscriber; i++)
		if (wanted[domain][i] && strcmp(names[i], function) == 0)
			subscriber(subscriber_self, domain, (cupti_call)i, &data);
}

/* --- the functions */

cupti_result cuptiGetVersion(uint32_t *version)
{
#ifdef DOUBLE_OLD
	*version = 16;
#else
	*version = 130001;
#endif
	return CUPTI_API_SUCCESS;
}

cupti_result cuptiGetResultString(cupti_result result, const char **text)
{
	*text = result ? "CUPTI_ERROR" : "CUPTI_SUCCESS";
	return CUPTI_API_SUCCESS;
}

cupti_result cuptiSubscribe(cupti_subscriber *ret, cupti_callback callback, void *self)
{
	static const cuda_observer observer = {called, executed};
	const unsigned fails = failure("CUPTI_DOUBLE_FAIL", "cuptiSubscribe");

	if (fails || subscriber)
		return fails ? fails : (unsigned)CUPTI_API_MULTIPLE_SUBSCRIBERS;
	subscriber = callback;
	subscriber_self = self;
	*ret = (cupti_subscriber)(void *)&subscriber;
	void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	void *found = driver ? dlsym(driver, "cuda_double_observe") : NULL;
	__typeof__(cuda_double_observe) *observe;

	if (!found)
		return 15; /* not initialised */
	memcpy(&observe, &found, sizeof observe);
	observe(&observer);
	return CUPTI_API_SUCCESS;
}

cupti_result cuptiUnsubscribe(cupti_subscriber of)
{
	if ((void *)of != (void *)&subscriber || !subscriber)
		return 1;
	subscriber = NULL;
	memset(wanted, 0, sizeof wanted);
	return CUPTI_API_SUCCESS;
}

cupti_result cuptiGetCallbackName(cupti_domain domain, uint32_t call, const char **ret)
{
	if (call == 0 || call >= (domain == CUPTI_API_RUNTIME ? RUNTIME_CALLS : DRIVER_CALLS))
		return 1;
	*ret = domain == CUPTI_API_RUNTIME ? runtime_calls[call] : driver_calls[call];
	return CUPTI_API_SUCCESS;
}

cupti_result cuptiEnableCallback(uint32_t enable, cupti_subscriber of, cupti_domain domain,
				 cupti_call call)
{
	if ((void *)of != (void *)&subscriber || domain > 2 || call >= DRIVER_CALLS)
		return 1;
	wanted[domain][call] = enable != 0;
	return CUPTI_API_SUCCESS;
}

#ifndef DOUBLE_OLD
cupti_result cuptiActivityRegisterTimestampCallback(cupti_timestamp callback)
{
	clock_of_caller = callback;
	clocks_read(&base_theirs, &base_ours);
	return CUPTI_API_SUCCESS;
}
#endif

cupti_result cuptiGetTimestamp(uint64_t *ret)
{
	*ret = records_ns(host_ns());
	return CUPTI_API_SUCCESS;
}

cupti_result cuptiActivityRegisterCallbacks(cupti_requested request, cupti_completed complete)
{
	const unsigned fails = failure("CUPTI_DOUBLE_FAIL", "cuptiActivityRegisterCallbacks");

	if (!fails) {
		requested = request;
		completed = complete;
	}
	return fails;
}

cupti_result cuptiActivityEnable(cupti_kind which)
{
	const unsigned fails = failure("CUPTI_DOUBLE_FAIL", "cuptiActivityEnable");

	if (!fails && which < 64)
		enabled[which] = true;
	return fails;
}

cupti_result cuptiActivityDisable(cupti_kind which)
{
	if (which < 64)
		enabled[which] = false;
	return CUPTI_API_SUCCESS;
}

static size_t record_bytes(unsigned kind)
{
	return kind == CUPTI_API_KERNEL ? sizeof(cupti_kernel)
	       : kind == CUPTI_API_COPY ? sizeof(cupti_copy)
					: sizeof(cupti_set);
}

static size_t record_put(uint8_t *to, const cuda_observed *o)
{
	const uint64_t start = time_of(o->begin_ns), end = time_of(o->end_ns);

	if (o->kind == CUDA_OBSERVED_KERNEL)
		*(cupti_kernel *)(void *)to = (cupti_kernel){.kind = CUPTI_API_KERNEL,
							     .start = start,
							     .end = end,
							     .device = o->device,
							     .context = 1,
							     .stream = o->stream,
							     .correlation = o->correlation,
							     .name = o->name};
	else if (o->kind == CUDA_OBSERVED_COPY)
		*(cupti_copy *)(void *)to = (cupti_copy){.kind = CUPTI_API_COPY,
							 .copy_kind = o->copy_kind,
							 .bytes = o->bytes,
							 .start = start,
							 .end = end,
							 .device = o->device,
							 .context = 1,
							 .stream = o->stream,
							 .correlation = o->correlation};
	else
		*(cupti_set *)(void *)to = (cupti_set){.kind = CUPTI_API_SET,
						       .bytes = o->bytes,
						       .start = start,
						       .end = end,
						       .device = o->device,
						       .context = 1,
						       .stream = o->stream,
						       .correlation = o->correlation};
	return record_bytes(*(unsigned *)(void *)to);
}

/* The last first: CUPTI promises no order. */
cupti_result cuptiActivityFlushAll(uint32_t flag)
{
	uint8_t *buffer = NULL;
	size_t size = 0, max = 0, used = 0;

	(void)flag;
	if (!requested)
		return 7;
	pthread_mutex_lock(&lock);
	if (clock_of_caller)
		clocks_read(&now_theirs, &now_ours);
	while (npending) {
		if (!buffer)
			requested(&buffer, &size, &max);
		if (!buffer)
			break;
		used += record_put(buffer + used, &pending[--npending]);
		if (npending && used + sizeof(cupti_kernel) <= size)
			continue;
		completed(NULL, 0, buffer, size, used);
		buffer = NULL;
		used = 0;
	}
	const bool tells = ndropped && !buffer;
	if (tells) { /* a buffer that holds no record */
		requested(&buffer, &size, &max);
		completed(NULL, 0, buffer, size, 0);
	}
	pthread_mutex_unlock(&lock);
	return CUPTI_API_SUCCESS;
}

cupti_result cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, cupti_record **record)
{
	uint8_t *next = *record ? (uint8_t *)*record + record_bytes((*record)->kind) : buffer;

	if (next >= buffer + valid)
		return CUPTI_API_LIMIT;
	*record = (cupti_record *)(void *)next;
	return CUPTI_API_SUCCESS;
}

cupti_result cuptiActivityGetNumDroppedRecords(cupti_context context, uint32_t stream, size_t *ret)
{
	const unsigned fails = failure("CUPTI_DOUBLE_FAIL", "cuptiActivityGetNumDroppedRecords");

	(void)context, (void)stream;
	if (fails)
		return fails;
	*ret = ndropped;
	ndropped = 0; /* it resets the number */
	return CUPTI_API_SUCCESS;
}
