/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "profiler/sample/spin_waits.h"

static const char *of(const char *function, const char *module)
{
	return spin_waits_library(&(dck_frame){.name = function, .module = module}, NULL);
}

static void functions_that_wait_by_running(void **state)
{
	(void)state;
	assert_string_equal(of("blas_thread_server", "libscipy_openblas64_-32a4b2a6.so"),
			    "OpenBLAS");
	assert_string_equal(of("do_spin", "libgomp.so.1.0.0"), "OpenMP (libgomp)");
	assert_string_equal(of("gomp_team_barrier_wait_end", "libgomp.so.1"), "OpenMP (libgomp)");
	assert_string_equal(of("libgomp-a34b.so.1+0x1b0a0", "libgomp-a34b.so.1"),
			    "OpenMP (libgomp)");
	assert_string_equal(
	    of("kmp_flag_64<false, true>::wait(kmp_info*, int, void*)", "libomp.so.5"),
	    "OpenMP (libomp)");
	assert_string_equal(of("libiomp5.so+0x9bc0", "libiomp5.so"), "OpenMP (libiomp5)");
	assert_string_equal(of("onnxruntime::concurrency::ThreadPoolTempl<onnxruntime::Env>::"
			       "WorkerLoop(int)",
			       "libonnxruntime.so.1"),
			    "ONNX Runtime");
}

static void what_works(void **state)
{
	(void)state;
	assert_null(of("dgemm_kernel_HASWELL", "libopenblas.so.0"));
	assert_null(of("libopenblas.so.0+0x100", "libopenblas.so.0"));
	assert_null(of("GOMP_parallel", "libgomp.so.1"));
	assert_null(of("do_spin", "program"));
	assert_null(of("blas_thread_server", NULL));
	assert_null(of("onnxruntime::Conv<float>::Compute", "libonnxruntime.so.1"));
}

static void giving_the_processor_away_is_the_callers(void **state)
{
	const dck_frame yield = {.name = "__sched_yield", .module = "libc.so.6"},
			blas = {.name = "dgemm_thread_nn", .module = "libopenblas.so.0"},
			own = {.name = "main", .module = "program"};

	(void)state;
	assert_string_equal(spin_waits_library(&yield, &blas), "OpenBLAS");
	assert_null(spin_waits_library(&yield, &own));
	assert_null(spin_waits_library(&yield, NULL));
}

int test_spin_waits(void);
int test_spin_waits(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(functions_that_wait_by_running),
	    cmocka_unit_test(what_works),
	    cmocka_unit_test(giving_the_processor_away_is_the_callers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
