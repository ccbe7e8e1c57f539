/* The limits of a device, on the null device: exact rates and times on a simulated clock, what is
 * refused, interruptions, and the record.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "device/device_null.h"
#include "record/build.h"
#include "scratch.h"
#include "study/roofline/device_limits.h"
#include "study/roofline/device_record.h"

#include <math.h>
#include <string.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define MIB (UINT64_C(1) << 20)

/* 100 work items take 1 ns, the 16 items of 4 units 0.16 ns a step; 10 GB/s of copies. */
static const device_null_times times = {.enqueue_ns = 5,
					.lag_ns = 100,
					.wake_ns = 40,
					.copy_byte_ns = 0.1,
					.kernel_ns = 1000,
					.work_ns = 0.01};

static device_limits *limits_new(void)
{
	device_limits *r = mem_zalloc(1, sizeof *r);

	assert_non_null(r);
	return r;
}

static device *null_device(const device_null_times *t, uint64_t memory, dck_clock *clock)
{
	device *d = NULL;

	assert_int_equal(device_open("null", &d, NULL), DCK_OK);
	device_null_set(d, t);
	device_null_set_memory(d, memory);
	device_null_clock(d, clock);
	return d;
}

static const device_limit *find(const device_limits *r, const char *tag)
{
	for (size_t i = 0; i < DEVICE_LIMITS; i++)
		if (strcmp(device_limit_rows[i].tag, tag) == 0)
			return &r->item[i];
	fail_msg("no limit %s", tag);
	return NULL;
}

/* Marks and the clock are rounded to 1 ns. */
static void value_is(const device_limits *r, const char *tag, unsigned n, double amount, double ns)
{
	const device_limit *i = find(r, tag);

	assert_string_equal(i->why, "");
	assert_int_equal(i->n, n);
	for (unsigned k = 0; k < i->n; k++) {
		const double took = amount > 0 ? 1e9 * amount / i->value[k] : i->value[k];
		if (!(fabs(took - ns) <= 1.01))
			fail_msg("%s: %.17g ns and not %.17g", tag, took, ns);
	}
	if (amount > 0)
		assert_true(i->round_amount == amount);
}

static void exact_rates(void **state)
{
	device_limits *r = limits_new();
	dck_clock clock;
	device *d = null_device(&times, 64 * MIB, &clock);

	(void)state;
	assert_int_equal(device_limits_measure(d, &clock, true, NULL, r, NULL), DCK_OK);
	assert_int_equal(r->wait, DEVICE_WAIT_SPIN);
	value_is(r, "device/kernel/enqueue", 80, 0, 5);
	value_is(r, "device/kernel/complete", 80, 0, 5 + 100 + 1000);
	value_is(r, "device/mark/record", 6, 0, 5);
	value_is(r, "device/mark/tick", 6, 0, 5);
	/* The first number of steps, a power of two, with 5 ms or more. The kernel is enqueued 5 ns
	 * after the mark. */
	const double steps = 1 << 25, kernel = 5 + 1000;
	value_is(r, "device/peak/fp32", 6, 128 * 16 * steps, kernel + 0.16 * steps);
	value_is(r, "device/peak/fp64", 6, 64 * 16 * steps, kernel + 0.16 * steps);
	/* Arrays of an eighth of the memory, 16 items of 16 bytes. */
	const double bytes = 8 * MIB, items = bytes / 16;
	assert_true(r->array_bytes == bytes && !r->cached);
	value_is(r, "device/memory/read", 6, bytes, kernel + 0.01 * items);
	value_is(r, "device/memory/copy", 6, 2 * bytes, kernel + 0.01 * items);
	value_is(r, "device/memory/triad", 6, 3 * bytes, kernel + 0.01 * items);
	assert_true(r->transfer_bytes == bytes);
	for (size_t i = 0; i < DEVICE_LIMITS; i++)
		if (device_limit_rows[i].kind == DEVICE_LIMIT_TRANSFER)
			value_is(r, device_limit_rows[i].tag, 6, bytes, 5 + 100 + 0.1 * bytes);
	assert_int_equal(find(r, "device/peak/fp16")->n, 0);
	assert_string_equal(find(r, "device/peak/fp16")->why, "the device does not offer FP16");
	/* Another reason where no language of the device has a kernel. */
	assert_string_equal(find(r, "device/peak/bf16")->why,
			    "deepclock has no kernel for it in null");
	assert_string_equal(find(r, "device/peak/int8")->why, "the device does not offer INT8");
	assert_int_equal(find(r, "device/peak/int8_matrix")->n, 0);
	assert_false(r->interrupted);
	memset(r, 0, sizeof *r);
	d->info.int8 = true;
	assert_int_equal(device_limits_measure(d, &clock, true, NULL, r, NULL), DCK_OK);
	value_is(r, "device/peak/int8", 6, 512 * 16 * steps, kernel + 0.16 * steps);
	device_close(d);
	mem_free(r);
}

/* A type without a peak has no roof on a device, and the higher of two peaks counts. */
static void roofs_of_types(void **state)
{
	record_builder *b = record_new();
	dck_record *r = NULL;
	dck_roofline limits;
	dck_roof roof;

	(void)state;
	record_metric_real(b, "device/peak/fp32", 1e12, NULL);
	record_metric_real(b, "device/peak/fp16", 2e12, NULL);
	record_metric_real(b, "device/peak/fp16_matrix", 16e12, NULL);
	record_metric_real(b, "device/peak/int8_matrix", 32e12, NULL);
	record_metric_absent(b, "device/peak/bf16", "the device does not offer BF16");
	record_metric_real(b, "device/memory/read", 1e11, NULL);
	assert_int_equal(record_finish(b, &r, NULL), DCK_OK);
	dck_roofline_read(r, false, &limits);
	dck_record_free(r);
	assert_true(limits.device && limits.peak[1] == 1e12 && limits.peak[2] == 16e12);
	assert_true(limits.peak[4] == 32e12 && isnan(limits.peak[3]) && isnan(limits.peak[0]));
	dck_roof_get(&limits, "int8", 32e12, 8, &roof);
	assert_true(roof.least_ns == 1e9);
	static const char *const without[] = {"bfloat16", "float64", "int64", NULL};
	for (size_t i = 0; i < 4; i++) {
		dck_roof_get(&limits, without[i], 1e6, 8, &roof);
		assert_true(isnan(roof.peak) && isnan(roof.least_ns) && isnan(roof.attainable));
		assert_null(roof.bound);
		/* What computes nothing needs no peak. */
		dck_roof_get(&limits, without[i], 0, 1e11, &roof);
		assert_string_equal(roof.bound, "memory");
		assert_true(roof.least_ns == 1e9 && isnan(roof.attainable));
	}
	/* On the processor engines convert. */
	limits.device = false;
	dck_roof_get(&limits, "bfloat16", 1e12, 8, &roof);
	assert_true(roof.least_ns == 1e9);
}

/* An empty kernel of 2 ms is waited for by a blocked thread, which wakes 40 ns later. A full
 * measurement has five passes of five rounds, of 20 ms. */
static void a_slow_device(void **state)
{
	device_null_times slow = times;
	device_limits *r = limits_new();
	dck_clock clock;

	slow.kernel_ns = 2e6;
	slow.mark_tick_ns = 8;
	device *d = null_device(&slow, 64 * MIB, &clock);
	(void)state;
	assert_int_equal(device_limits_measure(d, &clock, false, NULL, r, NULL), DCK_OK);
	assert_int_equal(r->wait, DEVICE_WAIT_BLOCK);
	value_is(r, "device/kernel/complete", 200, 0, 5 + 100 + 2e6 + 40);
	value_is(r, "device/mark/tick", 25, 0, 8);
	assert_true(find(r, "device/peak/fp32")->round_amount == 128.0 * 16 * (1 << 27));
	device_close(d);
	mem_free(r);
}

static void without_memory(void **state)
{
	device_limits *r = limits_new();
	dck_clock clock;
	device *d = null_device(&times, 4 * MIB, &clock);

	(void)state;
	/* No array of a MiB, but transfers of an eighth of the memory. */
	assert_int_equal(device_limits_measure(d, &clock, true, NULL, r, NULL), DCK_OK);
	assert_string_equal(find(r, "device/memory/read")->why,
			    "device memory has no place for arrays larger than caches");
	assert_int_equal(find(r, "device/memory/triad")->n, 0);
	assert_true(r->array_bytes == 0 && r->transfer_bytes == MIB / 2);
	assert_int_equal(find(r, "device/transfer/to_device_pinned")->n, 6);
	assert_int_equal(find(r, "device/peak/fp32")->n, 6);
	device_close(d);
	mem_free(r);
}

static void arrays_that_fit_the_cache(void **state)
{
	device_limits *r = limits_new();
	dck_clock clock;
	device *d = null_device(&times, 64 * MIB, &clock);

	(void)state;
	d->info.cache_bytes = 4 * MIB + 1;
	assert_int_equal(device_limits_measure(d, &clock, true, NULL, r, NULL), DCK_OK);
	assert_true(r->cached);
	device_close(d);
	mem_free(r);
}

static void a_broken_device(void **state)
{
	device_limits *r = limits_new();
	dck_clock clock;
	device *d = null_device(&times, 64 * MIB, &clock);
	dck_err err;

	(void)state;
	device_null_break(d, "an illegal address");
	assert_int_equal(device_limits_measure(d, &clock, true, NULL, r, &err), DCK_E_DEVICE);
	assert_string_equal(err.msg, "null: an illegal address");
	device_close(d);
	mem_free(r);
}

/* Cancels the measurement at the n-th poll. */
static bool cancelled(void *self)
{
	unsigned *left = self;

	return (*left)-- == 0;
}

static void interruptions(void **state)
{
	unsigned left = 0;
	const dck_observer watch = {.self = &left, .cancelled = cancelled};
	device_limits *r = limits_new();
	dck_clock clock;
	device *d = null_device(&times, 64 * MIB, &clock);

	(void)state;
	assert_int_equal(device_limits_measure(d, &clock, true, &watch, r, NULL), DCK_E_CANCEL);
	memset(r, 0, sizeof *r);
	left = 5;
	assert_int_equal(device_limits_measure(d, &clock, true, &watch, r, NULL), DCK_OK);
	assert_true(r->interrupted);
	assert_int_equal(find(r, "device/peak/fp64")->n, 3);
	assert_int_equal(find(r, "device/peak/fp32")->n, 0);
	device_close(d);
	mem_free(r);
}

static const char *fact(const dck_record *r, const char *section, const char *key)
{
	const dck_fact *f = dck_record_fact(r, section, key);

	return f && f->value.kind == DCK_VALUE_TEXT ? f->value.as.text : "none";
}

static void the_record(void **state)
{
	dck_machine_config c;
	dck_record *r = NULL;
	dck_clock clock;
	device *d = null_device(&times, 64 * MIB, &clock);

	(void)state;
	dck_machine_init(&c);
	c.quick = true;
	c.device = "null";
	assert_int_equal(device_record_measure(&c, d, &clock, NULL, &r, NULL), DCK_OK);
	assert_string_equal(fact(r, "result", "answer"),
			    "12.8 TFLOP/s FP32 on null:0, which is the processor, memory read at "
			    "1.34 TB/s");
	assert_string_equal(fact(r, "subject", "kind"), "device");
	assert_string_equal(fact(r, "device", "device"), "null:0");
	assert_string_equal(fact(r, "method", "wait"), "spin");
	const dck_metric *m = dck_record_metric(r, "device/peak/fp32");
	assert_true(m->lo == m->value.as.r && m->hi >= m->lo && m->level == 0.95);
	assert_string_equal(m->how, "fastest of 6 rounds of 6.87e+10 FLOPs");
	m = dck_record_metric(r, "device/peak/fp16");
	assert_int_equal(m->value.kind, DCK_VALUE_ABSENT);
	assert_string_equal(m->value.as.text, "the device does not offer FP16");
	assert_true(dck_record_value(r, "device/kernel/enqueue") == 5);
	assert_int_equal(dck_record_series(r, "device/kernel/enqueue")->n, 80);
	/* Its roofs: the peaks that it has, and one level of memory. */
	dck_roofline limits;
	dck_roof roof;
	dck_roofline_read(r, false, &limits);
	assert_true(limits.peak[1] == dck_record_value(r, "device/peak/fp32"));
	assert_true(isnan(limits.peak[2]) && isnan(limits.peak[3]) && isnan(limits.bandwidth[0]));
	assert_true(limits.bandwidth[3] >= dck_record_value(r, "device/memory/read") &&
		    limits.bandwidth[3] >= dck_record_value(r, "device/memory/copy") &&
		    limits.bandwidth[3] >= dck_record_value(r, "device/memory/triad"));
	dck_roof_get(&limits, "float32", limits.peak[1], 8, &roof);
	assert_string_equal(roof.bound, "compute");
	assert_true(roof.least_ns == 1e9);
	dck_roof_get(&limits, "float32", 8, limits.bandwidth[3], &roof);
	assert_string_equal(roof.bound, "memory");
	dck_record_free(r);
	device_close(d);
}

static void refused(void **state)
{
	dck_machine_config c;
	dck_record *r = NULL;
	dck_err err;

	(void)state;
	dck_machine_init(&c);
	c.device = "null";
	assert_int_equal(dck_machine(&c, NULL, &r, &err), DCK_E_ARG);
	assert_string_equal(err.msg, "the device null is simulated, for tests: it has no limits");
	c.threads = 1;
	assert_int_equal(dck_machine(&c, NULL, &r, &err), DCK_E_ARG);
	assert_non_null(strstr(err.msg, "are for the processor's limits"));
	c.threads = 0;
	c.device = "npu";
	assert_int_equal(dck_machine(&c, NULL, &r, &err), DCK_E_ARG);
	assert_null(r);
}

/* No device here computes in FP16, or in dot products, so their kernels are compiled for a GPU by
 * clang: to fused multiply-adds, or what its back end fuses, and to the 16 dot products of a step.
 */
static void kernels_that_run_nowhere_compile(void **state)
{
	const device_program *p = device_program_find("OpenCL C", DEVICE_WORK_FP16);
	const device_program *dot = device_program_find("OpenCL C", DEVICE_WORK_INT8);

	(void)state;
	assert_true(p && p->amount == 128 && dot && dot->amount == 128);
	if (system("clang --version >/dev/null 2>&1") != 0) {
		print_message("skipped: no clang, which compiles OpenCL C for GPUs\n");
		skip();
	}
	scratch_text("fp16.cl", p->source);
	assert_int_equal(
	    system("clang -x cl -cl-std=CL1.2 -Xclang -finclude-default-header -Werror "
		   "-target amdgcn-amd-amdhsa -nogpulib -O2 -S -emit-llvm fp16.cl -o fp16.ll"),
	    0);
	assert_int_equal(system("grep -Eq 'llvm.fma?(uladd)?.v[0-9]+f16' fp16.ll"), 0);
	scratch_text("int8.cl", dot->source);
	assert_int_equal(
	    system("clang -x cl -cl-std=CL1.2 -Xclang -finclude-default-header -Werror "
		   "-D__opencl_c_integer_dot_product_input_4x8bit_packed=1 "
		   "-Ddot_4x8packed_ss_int=dot4 '-Dkernel=int dot4(uint, uint); kernel' "
		   "-target amdgcn-amd-amdhsa -nogpulib -O2 -S -emit-llvm int8.cl -o int8.ll"),
	    0);
	assert_int_equal(system("test $(grep -c 'call.*@dot4' int8.ll) = 16"), 0);
}

int test_device_limits(void);
int test_device_limits(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(exact_rates),
	    cmocka_unit_test(roofs_of_types),
	    cmocka_unit_test(a_slow_device),
	    cmocka_unit_test(without_memory),
	    cmocka_unit_test(arrays_that_fit_the_cache),
	    cmocka_unit_test(a_broken_device),
	    cmocka_unit_test(interruptions),
	    cmocka_unit_test(the_record),
	    cmocka_unit_test(refused),
	    SCRATCH_TEST(kernels_that_run_nowhere_compile),
	};

	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
