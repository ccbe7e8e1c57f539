/* test_device_zone_threads.c - each of several threads has its queue, while the recording's thread
 * reads, and a recording ends in another thread: on a double of CUDA.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/device_zone.h"
#include "deepclock/trace.h"
#include "scratch.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { THREADS = 2, ZONES = 2000 };

static struct cuda {
	unsigned (*init)(unsigned), (*retain)(void **, int), (*set)(void *),
	    (*stream)(void **, unsigned);
} cuda;

static int double_begin(void **state)
{
	static const char *const names[] = {"cuInit", "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent",
					    "cuStreamCreate"};
	void *functions[4];
	char path[600];

	(void)state;
	snprintf(path, sizeof path, "%s/libcuda.so.1", getenv("DOUBLES") ? getenv("DOUBLES") : "");
	void *library = dlopen(path, RTLD_NOW);
	for (size_t i = 0; i < 4; i++)
		if (!library || !(functions[i] = dlsym(library, names[i])))
			return -1;
	memcpy(&cuda, functions, sizeof cuda);
	return scratch_begin(state) || cuda.init(0);
}

typedef struct worker {
	pthread_t thread;
	dck_device_queue_counts counts;
	uint64_t zones;
	_Atomic bool *stop; /* NULL: ZONES zones */
	bool failed;
} worker;

static void *work(void *arg)
{
	worker *w = arg;
	void *context = NULL, *stream = NULL;
	dck_device_queue *q = NULL;
	dck_err err;

	if (cuda.retain(&context, 0) || cuda.set(context) || cuda.stream(&stream, 1) ||
	    dck_device_queue_open("cuda", stream, &q, &err) != DCK_OK) {
		w->failed = true;
		return NULL;
	}
	for (w->zones = 0; w->stop ? !atomic_load(w->stop) : w->zones < ZONES; w->zones++) {
		DCK_DEVICE_ZONE(q, "step");
		DCK_DEVICE_PUSH(q, "part");
		DCK_DEVICE_POP(q);
	}
	w->failed = dck_device_queue_flush(q, &err) != DCK_OK;
	w->counts = dck_device_queue_count(q);
	dck_device_queue_close(q);
	return NULL;
}

static void workers_begin(worker *w, _Atomic bool *stop)
{
	for (int i = 0; i < THREADS; i++) {
		w[i].stop = stop;
		assert_int_equal(pthread_create(&w[i].thread, NULL, work, &w[i]), 0);
	}
}

static int64_t calls(const dck_record *r, const char *name)
{
	const dck_table *t = dck_record_table(r, "device_zones");

	for (size_t i = 0; t && i < t->nrows; i++)
		if (!strcmp(t->cells[i * t->ncolumns].value.as.text, name))
			return t->cells[i * t->ncolumns + 1].value.as.i;
	return 0;
}

static dck_record *end(void)
{
	dck_record *r = NULL;
	dck_err err = {0};

	if (dck_trace_stop(&r, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	return r;
}

static void each_has_its_queue(void **state)
{
	const dck_trace_config config = {.path = "a.pftrace", .lossless = true, .no_waits = true};
	worker w[THREADS] = {{.failed = false}};

	(void)state;
	assert_int_equal(dck_trace_start(&config, NULL), DCK_OK);
	workers_begin(w, NULL);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(w[i].thread, NULL);
		assert_false(w[i].failed);
		assert_int_equal(w[i].counts.ranges + w[i].counts.dropped, 2 * ZONES);
		assert_true(w[i].counts.ranges >= ZONES);
	}
	dck_record *r = end();
	assert_int_equal(calls(r, "step") + calls(r, "part"),
			 w[0].counts.ranges + w[1].counts.ranges);
	dck_record_free(r);
}

/* Recordings begin and end while the threads have zones open. */
static void recordings_end_meanwhile(void **state)
{
	const dck_trace_config config = {.path = NULL, .no_waits = true};
	worker w[THREADS] = {{.failed = false}};
	_Atomic bool stop = false;
	int64_t steps = 0;

	(void)state;
	workers_begin(w, &stop);
	for (int i = 0; i < 100 || (steps == 0 && i < 10000); i++) {
		assert_int_equal(dck_trace_start(&config, NULL), DCK_OK);
		usleep(1000);
		dck_record *r = end();
		steps += calls(r, "step");
		dck_record_free(r);
	}
	atomic_store(&stop, true);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(w[i].thread, NULL);
		assert_false(w[i].failed);
	}
	assert_true(steps > 0);
}

int test_device_zone_threads(void);
int test_device_zone_threads(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_has_its_queue),
	    cmocka_unit_test(recordings_end_meanwhile),
	};

	return cmocka_run_group_tests(tests, double_begin, scratch_end);
}
