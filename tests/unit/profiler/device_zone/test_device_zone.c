/* test_device_zone.c - zones on queues of the program, by the public interface: on PoCL, whose
 * queues are asynchronous and whose clock is the host's, and on a double of CUDA.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/device_zone.h"
#include "deepclock/lap.h"
#include "deepclock/trace.h"
#include "device/opencl.h"
#include "scratch.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static void ok(dck_status status, const dck_err *err)
{
	if (status != DCK_OK)
		fail_msg("%s", err->msg);
}

static void begin(const char *path)
{
	dck_err err = {0};

	ok(dck_trace_start(&(dck_trace_config){.path = path, .no_waits = true}, &err), &err);
}

static dck_record *end(void)
{
	dck_record *r = NULL;
	dck_err err = {0};

	ok(dck_trace_stop(&r, &err), &err);
	return r;
}

/* The calls of a row; -1: there is no such row. */
static int64_t calls(const dck_record *r, const char *table, const char *name)
{
	const dck_table *t = dck_record_table(r, table);

	for (size_t i = 0; t && i < t->nrows; i++)
		if (!strcmp(t->cells[i * t->ncolumns].value.as.text, name))
			return t->cells[i * t->ncolumns + 1].value.as.i;
	return -1;
}

static int64_t fact(const dck_record *r, const char *key)
{
	const dck_fact *f = dck_record_fact(r, "trace", key);

	assert_non_null(f);
	return f->value.as.i;
}

/* --- PoCL */

static const char source[] = "kernel void k(global float *x, uint n) {\n"
			     "float v = x[get_global_id(0)];\n"
			     "for (uint i = 0; i < n; i++) v = fma(v, 0.999f, 0.001f);\n"
			     "x[get_global_id(0)] = v; }\n";

enum { ITEMS = 64, STEPS = 20 };

/* What a program has: its context and its own queue. */
typedef struct program {
	device *d;
	device_kernel *k;
	device_memory *m;
	opencl_device *own;
} program;

static program program_begin(void)
{
	program p = {.d = NULL};
	dck_err err = {0};

	if (access("/etc/OpenCL/vendors/pocl.icd", R_OK) != 0) {
		print_message("skipped: no PoCL here: apt-get install pocl-opencl-icd\n");
		skip();
	}
	setenv("OCL_ICD_VENDORS", "/etc/OpenCL/vendors/pocl.icd", 1);
	ok(device_open("opencl", &p.d, &err), &err);
	ok(device_kernel_open(p.d, source, "k", &p.k, &err), &err);
	ok(device_memory_open(p.d, ITEMS * sizeof(float), &p.m, &err), &err);
	p.own = (opencl_device *)p.d;
	return p;
}

static void program_end(const program *p)
{
	device_memory_close(p->m);
	device_kernel_close(p->k);
	device_close(p->d);
}

static cl_command_queue queue_new(const program *p, cl_command_queue_properties how)
{
	cl_int code = 0;
	cl_command_queue q = opencl.CreateCommandQueue(p->own->context, p->own->id, how, &code);

	assert_non_null(q);
	return q;
}

static void kernel(const program *p, cl_command_queue to)
{
	/* By a queue object of this library's, for its kernel. */
	dck_err err = {0};
	device_queue *q = NULL;

	ok(opencl_queue_take(p->d, to, &q, &err), &err);
	ok(device_kernel_run(q, p->k, (device_arg[]){{.memory = p->m}, {.word = 20000}}, 2, 1,
			     ITEMS, &err),
	   &err);
	device_queue_close(q);
}

/* Reads the begins and ends of ranges of that name from a file of rows. */
static size_t rows_read(const char *path, bool of_device, const char *name, uint64_t *ret_begin,
			uint64_t *ret_end)
{
	FILE *f = fopen(path, "r");
	char line[1000], want[100];
	size_t n = 0;

	assert_non_null(f);
	snprintf(want, sizeof want, "range,\"%s\",", name);
	while (fgets(line, sizeof line, f)) {
		const char *at = strstr(line, want);
		if (!at || (strstr(line, "\"opencl:0 queue ") != NULL) != of_device || n == STEPS)
			continue;
		assert_int_equal(
		    sscanf(at + strlen(want), "%" SCNu64 ",%" SCNu64, &ret_begin[n], &ret_end[n]),
		    2);
		ret_end[n] += ret_begin[n];
		n++;
	}
	fclose(f);
	return n;
}

/* A queue that is filled faster than the device works: each range of the device begins after it was
 * enqueued, in order, and mostly after the zone that enqueued it has ended. */
static void ranges_follow_their_zones(void **state)
{
	const program p = program_begin();
	const cl_command_queue own = queue_new(&p, OPENCL_QUEUE_PROFILING_ENABLE);
	uint64_t host[STEPS], host_end[STEPS], dev[STEPS], dev_end[STEPS], whole, whole_end;
	dck_device_queue *q = NULL;
	dck_err err = {0};
	size_t later = 0;

	(void)state;
	kernel(&p, own); /* compiles it */
	ok(dck_device_queue_open("opencl", own, &q, &err), &err);
	begin("a.csv");
	DCK_PUSH("whole");
	for (int i = 0; i < STEPS; i++) {
		DCK_DEVICE_ZONE(q, "step");
		kernel(&p, own);
		kernel(&p, own);
	}
	ok(dck_device_queue_flush(q, &err), &err);
	DCK_POP();
	const dck_device_queue_counts counts = dck_device_queue_count(q);
	dck_record *r = end();
	assert_int_equal(counts.ranges, STEPS);
	assert_int_equal(counts.dropped, 0);
	assert_true(counts.clock_error_ns > 0 && counts.clock_error_ns < 1e9);
	assert_int_equal(calls(r, "zones", "step"), STEPS);
	assert_int_equal(calls(r, "device_zones", "step"), STEPS);
	assert_int_equal(fact(r, "dropped_events"), 0);
	assert_int_equal(fact(r, "unmatched_ends"), 0);
	assert_int_equal(fact(r, "unfinished_ranges"), 0);
	assert_int_equal(rows_read("a.csv", false, "step", host, host_end), STEPS);
	assert_int_equal(rows_read("a.csv", true, "step", dev, dev_end), STEPS);
	assert_int_equal(rows_read("a.csv", false, "whole", &whole, &whole_end), 1);
	for (int i = 0; i < STEPS; i++) {
		assert_true(dev[i] >= host[i]);
		assert_true(dev_end[i] > dev[i] && dev_end[i] <= whole_end);
		assert_true(i == 0 || dev[i] >= dev_end[i - 1]);
		later += dev[i] > host_end[i];
	}
	/* The device lags: the last of the steps have begun after they were enqueued. */
	assert_true(later > STEPS / 2);
	dck_record_free(r);
	dck_device_queue_close(q);
	opencl.ReleaseCommandQueue(own);
	program_end(&p);
}

/* What was enqueued before the end of a recording is in it, though the program never waited, nor
 * submitted the last mark. */
static void the_end_of_a_recording_reads_the_rest(void **state)
{
	const program p = program_begin();
	const cl_command_queue own = queue_new(&p, OPENCL_QUEUE_PROFILING_ENABLE);
	dck_device_queue *q = NULL;
	dck_err err = {0};

	(void)state;
	kernel(&p, own);
	ok(dck_device_queue_open("opencl", own, &q, &err), &err);
	{
		DCK_DEVICE_ZONE(q, "unseen");
		kernel(&p, own);
	}
	for (int i = 0; i < 3; i++) {
		begin(NULL);
		{
			DCK_DEVICE_ZONE(q, "step");
			kernel(&p, own);
			opencl.Finish(own);
		}
		/* Open when the recording ends: it belongs to it, and not to the next one. */
		if (i == 1)
			DCK_DEVICE_PUSH(q, "open");
		dck_record *r = end();
		assert_int_equal(calls(r, "device_zones", "step"), 1);
		assert_int_equal(calls(r, "device_zones", "open"), i == 1 ? 1 : -1);
		assert_int_equal(calls(r, "device_zones", "unseen"), -1);
		assert_int_equal(fact(r, "dropped_events"), 0);
		assert_int_equal(fact(r, "unmatched_ends"), 0);
		dck_record_free(r);
	}
	dck_device_queue_close(q);
	opencl.ReleaseCommandQueue(own);
	program_end(&p);
}

static void a_queue_may_be_null(void **state)
{
	(void)state;
	assert_int_equal(dck_device_queue_flush(NULL, NULL), DCK_OK);
	assert_int_equal(dck_device_queue_count(NULL).ranges, 0);
}

static void queues_without_times_are_refused(void **state)
{
	const program p = program_begin();
	const cl_command_queue untimed = queue_new(&p, 0),
			       disorderly =
				   queue_new(&p, OPENCL_QUEUE_PROFILING_ENABLE |
						     OPENCL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	dck_device_queue *q = NULL;
	dck_err err = {0};

	(void)state;
	assert_int_equal(dck_device_queue_open("opencl", untimed, &q, &err), DCK_E_ARG);
	assert_non_null(strstr(err.msg, "CL_QUEUE_PROFILING_ENABLE"));
	assert_int_equal(dck_device_queue_open("opencl", disorderly, &q, &err), DCK_E_UNSUP);
	assert_non_null(strstr(err.msg, "runs out of order"));
	assert_int_equal(dck_device_queue_open("opencl", NULL, &q, &err), DCK_E_ARG);
	assert_int_equal(dck_device_queue_open("webgpu", untimed, &q, &err), DCK_E_ARG);
	assert_non_null(strstr(err.msg, "cuda, hip, opencl"));
	assert_null(q);
	dck_device_queue_close(NULL);
	opencl.ReleaseCommandQueue(untimed);
	opencl.ReleaseCommandQueue(disorderly);
	program_end(&p);
}

/* A lap has the device's time and its wall time, which contains the wait for the device. */
static void a_lap_has_the_devices_time(void **state)
{
	const program p = program_begin();
	const cl_command_queue own = queue_new(&p, OPENCL_QUEUE_PROFILING_ENABLE);
	dck_device_queue *q = NULL;
	dck_record *r = NULL;
	dck_err err = {0};

	(void)state;
	kernel(&p, own);
	ok(dck_device_queue_open("opencl", own, &q, &err), &err);
	dck_laps_reset();
	for (int i = 0; i < 3; i++) {
		dck_lap *lap = dck_lap_begin("epoch");
		dck_lap_device(lap, q);
		kernel(&p, own);
		dck_lap_end(lap);
	}
	dck_lap *none = dck_lap_begin("other");
	dck_lap_device(none, NULL);
	dck_lap_end(none);
	dck_lap_device(NULL, q);
	ok(dck_laps_record(&r, &err), &err);
	const dck_series *wall = dck_record_series(r, "laps/epoch/wall");
	const dck_series *on_device = dck_record_series(r, "laps/epoch/device");
	assert_non_null(wall);
	assert_non_null(on_device);
	assert_int_equal(on_device->n, 3);
	for (size_t i = 0; i < 3; i++)
		assert_true(on_device->values[i] > 0 && on_device->values[i] <= wall->values[i]);
	assert_null(dck_record_series(r, "laps/other/device"));
	dck_record_free(r);
	dck_laps_reset();
	dck_device_queue_close(q);
	opencl.ReleaseCommandQueue(own);
	program_end(&p);
}

/* Without a queue the thread's range remains. */
static void a_queue_may_be_missing(void **state)
{
	(void)state;
	begin(NULL);
	{
		DCK_DEVICE_ZONE(NULL, "step");
		DCK_DEVICE_PUSH(NULL, "inner");
		DCK_DEVICE_POP(NULL);
	}
	dck_record *r = end();
	assert_int_equal(calls(r, "zones", "step"), 1);
	assert_int_equal(calls(r, "zones", "inner"), 1);
	assert_null(dck_record_table(r, "device_zones"));
	dck_record_free(r);
}

/* --- the double of CUDA */

static struct cuda {
	unsigned (*init)(unsigned), (*retain)(void **, int), (*set)(void *), (*get)(void **),
	    (*stream)(void **, unsigned), (*allocate)(unsigned long long *, size_t),
	    (*copy)(unsigned long long, unsigned long long, size_t, void *);
} cuda;

static void cuda_load(void)
{
	static const char *const names[] = {"cuInit",
					    "cuDevicePrimaryCtxRetain",
					    "cuCtxSetCurrent",
					    "cuCtxGetCurrent",
					    "cuStreamCreate",
					    "cuMemAlloc_v2",
					    "cuMemcpyDtoDAsync_v2"};
	void *functions[7];
	char path[600];

	snprintf(path, sizeof path, "%s/libcuda.so.1", getenv("DOUBLES") ? getenv("DOUBLES") : "");
	void *library = dlopen(path, RTLD_NOW);
	if (!library)
		fail_msg("%s", dlerror());
	for (size_t i = 0; i < 7; i++)
		assert_non_null(functions[i] = dlsym(library, names[i]));
	memcpy(&cuda, functions, sizeof cuda);
	assert_int_equal(cuda.init(0), 0);
}

/* A thread's current context is as it was after each call. */
static void contexts_stay_the_programs(void **state)
{
	void *first = NULL, *second = NULL, *now = NULL, *stream = NULL;
	dck_device_queue *q = NULL;
	dck_err err = {0};

	(void)state;
	cuda_load();
	assert_int_equal(cuda.set(NULL), 0);
	assert_int_equal(dck_device_queue_open("cuda", NULL, &q, &err), DCK_E_ARG);
	assert_non_null(strstr(err.msg, "no context of CUDA is current"));
	assert_int_equal(cuda.retain(&first, 0), 0);
	assert_int_equal(cuda.retain(&second, 1), 0);
	assert_int_equal(cuda.set(second), 0);
	assert_int_equal(cuda.stream(&stream, 1), 0);
	ok(dck_device_queue_open("cuda", stream, &q, &err), &err);
	assert_int_equal(cuda.set(first), 0);
	begin(NULL);
	{
		DCK_DEVICE_ZONE(q, "step");
		assert_int_equal(cuda.get(&now), 0);
		assert_ptr_equal(now, first);
	}
	ok(dck_device_queue_flush(q, &err), &err);
	dck_record *r = end();
	assert_int_equal(calls(r, "device_zones", "step"), 1);
	dck_record_free(r);
	dck_device_queue_close(q);
	assert_int_equal(cuda.get(&now), 0);
	assert_ptr_equal(now, first);
}

/* A copy of 10,000,000 bytes takes 102 us of the double's device, longer than enqueueing the next.
 */
static void spans_are_exact(void **state)
{
	const size_t bytes = 10000000;
	void *context = NULL, *stream = NULL;
	unsigned long long from = 0, to = 0;
	dck_device_queue *q = NULL;
	dck_err err = {0};

	(void)state;
	cuda_load();
	assert_int_equal(cuda.retain(&context, 0), 0);
	assert_int_equal(cuda.set(context), 0);
	assert_int_equal(cuda.stream(&stream, 1), 0);
	assert_int_equal(cuda.allocate(&from, bytes), 0);
	assert_int_equal(cuda.allocate(&to, bytes), 0);
	ok(dck_device_queue_open("cuda", stream, &q, &err), &err);
	assert_int_equal(cuda.copy(to, from, bytes, stream), 0);
	dck_device_span *outer = dck_device_span_begin(q);
	assert_int_equal(cuda.copy(to, from, bytes, stream), 0);
	dck_device_span *inner = dck_device_span_begin(q);
	assert_int_equal(cuda.copy(to, from, bytes, stream), 0);
	const double inner_ns = dck_device_span_end(inner);
	assert_true(inner_ns >= 101500 && inner_ns <= 102500);
	/* The wait for the inner one ended before the outer one does. */
	assert_true(dck_device_span_end(outer) >= 2 * inner_ns - 500);
	assert_null(dck_device_span_begin(NULL));
	assert_true(isnan(dck_device_span_end(NULL)));
	setenv("CUDA_DOUBLE_FAIL", "cuEventRecord=999", 1);
	assert_null(dck_device_span_begin(q));
	unsetenv("CUDA_DOUBLE_FAIL");
	dck_device_queue_close(q);
}

/* In a child of fork() the driver is unusable: PoCL, for one, has no thread there, and waits. */
static void a_forked_child_leaves_the_driver_alone(void **state)
{
	const program p = program_begin();
	cl_command_queue native = queue_new(&p, OPENCL_QUEUE_PROFILING_ENABLE);
	dck_device_queue *q = NULL;
	dck_err err = {0};
	int status = 0;

	(void)state;
	ok(dck_device_queue_open("opencl", native, &q, &err), &err);
	dck_lap *lap = dck_lap_begin("forked");
	dck_lap_device(lap, q);
	const pid_t child = fork();
	if (child == 0) {
		alarm(20);
		const bool refused = dck_device_queue_flush(q, &err) == DCK_E_DEVICE;
		dck_lap_end(lap);
		_exit(refused ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	dck_lap_end(lap);
	dck_laps_reset();
	dck_device_queue_close(q);
	opencl.ReleaseCommandQueue(native);
	program_end(&p);
}

int test_device_zone(void);
int test_device_zone(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(ranges_follow_their_zones),
	    cmocka_unit_test(the_end_of_a_recording_reads_the_rest),
	    cmocka_unit_test(queues_without_times_are_refused),
	    cmocka_unit_test(a_queue_may_be_null),
	    cmocka_unit_test(a_lap_has_the_devices_time),
	    cmocka_unit_test(a_forked_child_leaves_the_driver_alone),
	    cmocka_unit_test(a_queue_may_be_missing),
	    cmocka_unit_test(contexts_stay_the_programs),
	    cmocka_unit_test(spans_are_exact),
	};

	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
