/* test_trace_merge.c - the clocks that a file says, and files put together by them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "deepclock/zone.h"
#include "os/os.h"
#include "scratch.h"
#include "trace/perfetto_read.h"
#include "trace/zone_collect.h"

/* --- what a file says of its clocks */

static trace_read_facts facts_of(const char *path)
{
	trace_read_facts facts;
	wire_source source;
	zone_collect *c;
	dck_sink sink;
	dck_err err;

	assert_int_equal(zone_collect_new(&c, NULL), DCK_OK);
	zone_collect_sink(c, &sink);
	assert_int_equal(wire_source_open(path, &wire_perfetto, &source, NULL), DCK_OK);
	if (perfetto_read(&source, &zone_collect_format, &sink, &facts, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	wire_source_close(&source);
	zone_collect_free(c);
	return facts;
}

static void record(const dck_trace_config *config, long ms)
{
	const struct timespec pause = {.tv_nsec = ms * 1000000};

	assert_int_equal(dck_trace_start(config, NULL), DCK_OK);
	DCK_PUSH("around");
	nanosleep(&pause, NULL);
	DCK_POP();
	assert_int_equal(dck_trace_stop(NULL, NULL), DCK_OK);
}

static void a_file_says_how_exact_its_clocks_are(void **state)
{
	const dck_trace_config all = {.path = "all.pftrace"},
			       last = {.path = "last.pftrace", .last = 1 << 20};
	char boot[40];

	(void)state;
	os_boot_id(boot);
	for (int i = 0; i < 2; i++) {
		const uint64_t before = os_boottime_ns();
		record(i ? &last : &all, 50);
		const uint64_t after = os_boottime_ns();
		const trace_read_facts f = facts_of(i ? last.path : all.path);

		assert_true(f.dated);
		assert_string_equal(f.about.boot, boot);
		assert_in_range(f.about.boottime_ns, before, after);
		assert_true(f.about.width_ns > 0);
		/* Where it ended: by the events' clock and by the others. */
		assert_true(f.own_ns >= 50000000 && f.own_width_ns > 0);
		assert_in_range(f.own_boottime_ns, f.about.boottime_ns + 49000000, after);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    SCRATCH_TEST(a_file_says_how_exact_its_clocks_are),
	};

	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
