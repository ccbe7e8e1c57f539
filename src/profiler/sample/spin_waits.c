/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/sample/spin_waits.h"

#include <string.h>

/* Functions that busy-wait in their own code; their callees do work. '*': any suffix. "": a
 * function without a name, of a library that only schedules. */
typedef struct spin_row {
	const char *module, *library; /* module: part of the file's name */
	const char *functions[20];
} spin_row;

/* LLVM's libomp and Intel's libiomp5, kmp_wait_release.h, kmp_barrier.cpp. */
#define KMP_WAITS                                                                               \
	"__kmp_wait*", "__kmp_flag*", "kmp_flag*", "*kmp_flag_native*", "__kmp_hyper_barrier*", \
	    "__kmp_linear_barrier*", "__kmp_tree_barrier*", "__kmp_dist_barrier*",              \
	    "__kmp_hierarchical_barrier*", "__kmp_fork_barrier*", "__kmp_join_barrier*",        \
	    "__kmp_barrier*", "__kmp_yield*", "__kmp_x86_pause", "__kmp_execute_tasks*"

static const spin_row spin_rows[] = {
    /* OpenBLAS, driver/others/blas_server.c: the workers' loop, and the thread that waits for them;
     * driver/level3/level3_thread.c: workers that wait for each other's parts. */
    {"openblas",
     "OpenBLAS",
     {"blas_thread_server", "exec_blas", "exec_blas_async_wait", "inner_thread",
      "inner_advanced_thread"}},
    /* GCC's libgomp, config/linux/wait.h and its callers; packages have it stripped. */
    {"libgomp",
     "OpenMP (libgomp)",
     {"", "do_spin", "do_wait", "cpu_relax", "gomp_barrier_wait*", "gomp_team_barrier_wait*",
      "gomp_simple_barrier_wait", "gomp_thread_start", "gomp_mutex_lock_slow", "gomp_sem_wait_slow",
      "gomp_ptrlock_get_slow"}},
    {"libomp", "OpenMP (libomp)", {KMP_WAITS}},
    {"libiomp", "OpenMP (libiomp5)", {"", KMP_WAITS}},
    /* ONNX Runtime, core/platform/EigenNonBlockingThreadPool.h. */
    {"onnxruntime",
     "ONNX Runtime",
     {"onnxruntime::concurrency::ThreadPoolTempl<*WorkerLoop*", "*::concurrency::SpinPause*",
      "onnxruntime::concurrency::ThreadPoolTempl<*::RunInParallelInternal*"}},
};

/* Functions that yield the processor while their caller polls for work. */
static const char *const yielding[] = {"sched_yield", "__sched_yield", "__GI_sched_yield"};

/* Glob match: '*' matches any text. */
static bool name_matches(const char *pattern, const char *name)
{
	for (; *pattern && *pattern != '*'; pattern++, name++)
		if (*pattern != *name)
			return false;
	if (!*pattern)
		return !*name;
	if (!pattern[1])
		return true;
	for (; *name; name++)
		if (name_matches(pattern + 1, name))
			return true;
	return false;
}

static bool is_nameless(const dck_frame *f)
{
	const char *plus = strstr(f->name, "+0x");

	return f->name[0] == '[' ||
	       (plus && !strncmp(f->name, f->module, (size_t)(plus - f->name)));
}

static const spin_row *waits_row_of(const dck_frame *f)
{
	for (size_t i = 0; f->module && i < sizeof spin_rows / sizeof spin_rows[0]; i++)
		if (strstr(f->module, spin_rows[i].module))
			return &spin_rows[i];
	return NULL;
}

static bool is_yielding(const dck_frame *f)
{
	for (size_t i = 0; i < sizeof yielding / sizeof yielding[0]; i++)
		if (!strcmp(f->name, yielding[i]))
			return true;
	return false;
}

const char *spin_waits_library(const dck_frame *f, const dck_frame *caller)
{
	const spin_row *row = waits_row_of(f);

	if (is_yielding(f)) {
		row = caller ? waits_row_of(caller) : NULL;
		return row ? row->library : NULL;
	}
	for (const char *const *name = row ? row->functions : NULL;
	     row && name < row->functions + sizeof row->functions / sizeof row->functions[0] &&
	     *name;
	     name++)
		if (**name ? name_matches(*name, f->name) : is_nameless(f))
			return row->library;
	return NULL;
}
