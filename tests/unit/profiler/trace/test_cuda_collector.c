/* test_cuda_collector.c - the collector of CUDA's activity (src/profiler/preload/cuda) without
 * CUPTI: names, clocks, and the arrows of calls.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/trace.h"
#include "deepclock/zone.h"
#include "profiler/preload/cuda/cuda_calls.h"
#include "profiler/preload/cuda/cuda_clock.h"
#include "profiler/preload/cuda/cuda_memory.h"
#include "profiler/preload/cuda/cuda_names.h"
#include "scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static const char *name_of(const char *mangled)
{
	static char name[CUDA_NAME_BYTES];

	cuda_kernel_name(mangled, name);
	return name;
}

static void names_of_kernels_are_short(void **state)
{
	(void)state;
	assert_string_equal(name_of("saxpy"), "saxpy");
	assert_string_equal(name_of("_Z3addPKfS0_Pf"), "add");
	assert_string_equal(name_of("_Z5scaleIfEvPT_i"), "scale<float>");
	/* Parentheses inside a name are not parameters. */
	assert_string_equal(name_of("_ZN12_GLOBAL__N_14workIPFviEEEvv"),
			    "(anonymous namespace)::work<void (*)(int)>");
	assert_string_equal(name_of("_Z"), "_Z");
	assert_string_equal(name_of(""), "");
}

static void long_names_stay_different(void **state)
{
	char one[600], other[600], name[CUDA_NAME_BYTES];

	(void)state;
	memset(one, 'x', sizeof one);
	one[sizeof one - 1] = '\0';
	memcpy(other, one, sizeof one);
	other[sizeof other - 2] = 'y';
	cuda_kernel_name(one, name);
	assert_in_range(strlen(name), 240, CUDA_NAME_BYTES - 1);
	assert_string_not_equal(name, name_of(other));
	assert_int_equal(strncmp(name, one, 200), 0);
	one[CUDA_NAME_BYTES - 1] = '\0';
	assert_string_equal(name_of(one), one);
}

static void the_clock_follows_offset_and_drift(void **state)
{
	const uint64_t ms = 1000000, theirs = 5000 * ms, ours = 700 * ms;
	cuda_clock c = {0};

	(void)state;
	assert_int_equal(cuda_clock_convert(&c, 42), 42); /* one clock */
	cuda_clock_pair(&c, theirs, ours);
	assert_int_equal(cuda_clock_convert(&c, theirs + 3), ours + 3);
	assert_int_equal(cuda_clock_convert(&c, theirs - 3), ours - 3);
	cuda_clock_pair(&c, theirs + 50 * ms + 9000, ours + 50 * ms); /* too near for a rate */
	assert_int_equal(cuda_clock_convert(&c, theirs + 50 * ms), ours + 50 * ms);
	/* 100 ppm fast */
	cuda_clock_pair(&c, theirs + 1000100000, ours + 1000 * ms);
	assert_int_equal(cuda_clock_convert(&c, theirs), ours);
	assert_int_equal(cuda_clock_convert(&c, theirs + 500050000), ours + 500 * ms);
	assert_int_equal(cuda_clock_convert(&c, theirs + 2000200000), ours + 2000 * ms);
	/* Then 200 ppm: the rate is that of the last second. */
	cuda_clock_pair(&c, theirs + 1000100000 + 1000200000, ours + 2000 * ms);
	assert_int_equal(cuda_clock_convert(&c, theirs + 1000100000 + 500100000), ours + 1500 * ms);
	/* A near pair replaces the newer one. */
	cuda_clock_pair(&c, theirs + 1000100000 + 1010202000, ours + 2010 * ms);
	assert_int_equal(cuda_clock_convert(&c, theirs + 1000100000 + 1010202000),
			 ours + 2010 * ms);
}

/* --- memory */

static void memory(memory_call call, uint64_t address, uint64_t bytes, int status)
{
	const cupti_alloc a = {.address = &address, .bytes = bytes};
	const cupti_free f = {.address = address};

	cuda_memory_called(
	    call,
	    &(cupti_call_data){.parameters = call == MEMORY_ALLOC ? (const void *)&a : &f,
			       .return_value = &status},
	    false);
}

static void the_peak_of_memory_is_known(void **state)
{
	enum { N = 20000 };

	(void)state;
	assert_int_equal(cuda_memory_call_of("cudaMalloc_v3020"), MEMORY_ALLOC);
	assert_int_equal(cuda_memory_call_of("cudaMallocAsync_ptsz_v11020"), MEMORY_ALLOC);
	assert_int_equal(cuda_memory_call_of("cudaFree_v3020"), MEMORY_FREE);
	assert_int_equal(cuda_memory_call_of("cuMemFree_v2"), MEMORY_FREE);
	assert_int_equal(cuda_memory_call_of("cudaFreeHost_v3020"), MEMORY_NONE);
	assert_int_equal(cuda_memory_call_of("cudaMallocHost_v3020"), MEMORY_NONE);
	memory(MEMORY_ALLOC, 0x1000, 100, 0);
	memory(MEMORY_ALLOC, 0x2000, 50, 2); /* it failed */
	memory(MEMORY_ALLOC, 0x3000, 10, 0);
	memory(MEMORY_FREE, 0x1000, 0, 0);
	memory(MEMORY_FREE, 0x1000, 0, 0);
	memory(MEMORY_FREE, 0, 0, 0); /* cudaFree(NULL) is allowed */
	memory(MEMORY_ALLOC, 0x1000, 105, 0);
	assert_int_equal(cuda_memory_peak(), 115);
	memory(MEMORY_FREE, 0x1000, 0, 0);
	memory(MEMORY_FREE, 0x3000, 0, 0);
	/* Many come and go, in another order: the table loses none. */
	for (uint64_t round = 0; round < 3; round++) {
		for (uint64_t i = 1; i <= N; i++)
			memory(MEMORY_ALLOC, i << 9, 3, 0);
		assert_int_equal(cuda_memory_peak(), 3 * N);
		for (uint64_t i = 1; i <= N; i++)
			memory(MEMORY_FREE, (i * 7 % N + 1) << 9, 0, 0);
	}
	memory(MEMORY_ALLOC, 0x1000, 3 * N, 0);
	assert_int_equal(cuda_memory_peak(), 3 * N);
}

/* --- calls */

enum { LAUNCH = 1, INSIDE = 2, WAIT = 3 };

static unsigned nenabled;

static cupti_result call_name(cupti_domain domain, uint32_t call, const char **ret)
{
	static const char *const names[] = {"",
					    "cudaLaunchKernel_v7000",
					    "cuLaunchKernel",
					    "cudaDeviceSynchronize_v3020",
					    "cudaGetDevice_v3020",
					    "cudaGraphAddMemcpyNode_v10000"};

	(void)domain;
	if (call == 0 || call >= sizeof names / sizeof names[0])
		return 1;
	*ret = names[call];
	return CUPTI_API_SUCCESS;
}

static cupti_result enable_callback(uint32_t enable, cupti_subscriber of, cupti_domain domain,
				    cupti_call call)
{
	(void)of, (void)domain;
	assert_int_equal(enable, 1);
	assert_in_range(call, LAUNCH, WAIT);
	nenabled++;
	return CUPTI_API_SUCCESS;
}

static void call(unsigned site, cupti_domain domain, cupti_call which, uint32_t correlation)
{
	static const char *const names[] = {"", "__cudaLaunchKernel", "cuLaunchKernel",
					    "cudaDeviceSynchronize"};

	cuda_calls_callback(NULL, domain, which,
			    &(cupti_call_data){.site = site,
					       .function_name = names[which],
					       .correlation = correlation});
}

static void launch(uint32_t correlation)
{
	call(CUPTI_CALL_BEGINS, CUPTI_API_RUNTIME, LAUNCH, correlation);
	call(CUPTI_CALL_BEGINS, CUPTI_API_DRIVER, INSIDE, correlation + 1);
	call(CUPTI_CALL_ENDS, CUPTI_API_DRIVER, INSIDE, correlation + 1);
	call(CUPTI_CALL_ENDS, CUPTI_API_RUNTIME, LAUNCH, correlation);
}

static int64_t calls_of(const dck_record *r, const char *name)
{
	const dck_table *t = dck_record_table(r, "zones");

	for (size_t i = 0; i < t->nrows; i++)
		if (!strcmp(t->cells[i * t->ncolumns].value.as.text, name))
			return t->cells[i * t->ncolumns + 1].value.as.i;
	return 0;
}

static void calls_are_ranges_with_an_arrow(void **state)
{
	const cupti_functions f = {.call_name = call_name, .enable_callback = enable_callback};
	dck_record *r;
	uint64_t flow = 0, inside = 0, second = 0;
	dck_err err = {0};

	(void)state;
	assert_true(cuda_calls_init());
	cuda_calls_enable(&f, NULL);
	assert_int_equal(nenabled, 2 * WAIT);
	assert_int_equal(cuda_calls_find(10, &flow), CALL_UNKNOWN);
	launch(10); /* nothing records */
	assert_int_equal(cuda_calls_find(10, &flow), CALL_UNRECORDED);
	if (dck_trace_start(&(dck_trace_config){.path = "calls.pftrace", .no_waits = true}, &err) !=
	    DCK_OK)
		fail_msg("%s", err.msg);
	launch(20);
	launch(30);
	call(CUPTI_CALL_BEGINS, CUPTI_API_RUNTIME, WAIT, 40);
	call(CUPTI_CALL_ENDS, CUPTI_API_RUNTIME, WAIT, 40);
	assert_int_equal(dck_trace_stop(&r, &err), DCK_OK);
	assert_int_equal(cuda_calls_find(20, &flow), CALL_RECORDED);
	assert_int_equal(cuda_calls_find(21, &inside), CALL_RECORDED);
	assert_int_equal(flow, inside);
	assert_int_equal(cuda_calls_find(30, &second), CALL_RECORDED);
	assert_int_not_equal(flow, second);
	assert_int_equal(cuda_calls_find(40, &second), CALL_UNKNOWN); /* it enqueues nothing */
	assert_int_equal(calls_of(r, "cudaLaunchKernel"), 2);
	assert_int_equal(calls_of(r, "cuLaunchKernel"), 0);
	assert_int_equal(calls_of(r, "cudaDeviceSynchronize"), 1);
	dck_record_free(r);
	assert_int_equal(cuda_calls_count(&flow), 4);
	assert_int_equal(flow, 2);
	launch((1u << 20) + 20); /* a call much later takes the place of an old one */
	assert_int_equal(cuda_calls_find(20, &flow), CALL_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(names_of_kernels_are_short),
	    cmocka_unit_test(long_names_stay_different),
	    cmocka_unit_test(the_clock_follows_offset_and_drift),
	    cmocka_unit_test(the_peak_of_memory_is_known),
	    cmocka_unit_test(calls_are_ranges_with_an_arrow),
	};

	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
