/* test_memory_watch.c - live bytes of a process after exec().
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/memory/rss_sampler.h"
#include "profiler/preload/heap/heap_region.h"
#include "os/os.h"
#include "scratch.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static void heap_write(const char *name, uint64_t began_ns, int64_t live)
{
	union {
		heap_header header;
		char bytes[HEAP_AT_MODULES];
	} file = {.header = {.magic = HEAP_MAGIC, .pid = getpid(), .began_ns = began_ns}};
	FILE *f = fopen(name, "w");

	atomic_store(&file.header.ready, 1);
	atomic_store(&file.header.total[HEAP_BLOCKS].live, live);
	assert_non_null(f);
	assert_int_equal(fwrite(&file, sizeof file, 1, f), 1);
	assert_int_equal(fclose(f), 0);
}

/* After exec() a process has two heap files; the memory in the older one is freed. */
static void the_newer_heap_counts(void **state)
{
	(void)state;
	for (int old_first = 0; old_first < 2; old_first++) {
		rss_samples looks;
		rss_sampler *w;

		heap_write(old_first ? "a.heap" : "b.heap", 1, 1000);
		heap_write(old_first ? "b.heap" : "a.heap", 2, 10);
		assert_int_equal(
		    rss_sampler_start(getpid(), 1000, os_now_ns(), scratch_path, &w, NULL), DCK_OK);
		os_sleep_ns(50000000, NULL, NULL);
		rss_sampler_stop(w, &looks);
		assert_true(looks.looks > 0);
		assert_int_equal(looks.peak[WATCH_HEAP], 10);
		rss_samples_done(&looks);
	}
}

int test_memory_watch(void);
int test_memory_watch(void)
{
	const struct CMUnitTest tests[] = {
	    SCRATCH_TEST(the_newer_heap_counts),
	};

	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
