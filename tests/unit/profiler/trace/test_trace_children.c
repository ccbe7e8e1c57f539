/* test_trace_children.c - the steps after a traced program has exited: children still running, no
 * memory, a full disk.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/trace/trace_children.h"
#include "fault_alloc.h"
#include "os/os.h"
#include "profiler/trace/result/zone_result.h"
#include "record/build.h"
#include "scratch.h"
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>
#include <cmocka.h>

static void nothing(int number)
{
	(void)number;
}

/* A signal interrupts the wait for a child; the child counts once. */
static void a_signal_ends_the_wait(void **state)
{
	const struct itimerval often = {.it_interval = {.tv_usec = 5000},
					.it_value = {.tv_usec = 5000}},
			       off = {.it_value = {0}};
	const struct sigaction interrupts = {.sa_handler = nothing};
	char result_path[sizeof scratch_path + 16];
	record_builder *b = record_new();
	dck_trace_config c = {.path = "t.pftrace"};
	dck_record *r;
	dck_err err = {0};
	dck_status status;

	(void)state;
	snprintf(result_path, sizeof result_path, "%s/run.result", scratch_path);
	scratch_text("run.result", "");
	scratch_text("run.4711.result", "");
	scratch_text("t.pftrace", "");
	scratch_text("t.4711.pftrace", "");
	const int fd = open("t.4711.pftrace", O_RDWR);
	assert_true(os_file_lock(fd));
	assert_int_equal(record_finish(b, &r, NULL), DCK_OK);
	assert_int_equal(sigaction(SIGALRM, &interrupts, NULL), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
	status = trace_children_join(&c, "a test", result_path, &r, &err);
	assert_int_equal(setitimer(ITIMER_REAL, &off, NULL), 0);
	if (status != DCK_OK)
		fail_msg("%s", err.msg);
	assert_int_equal(r->nnotes, 1);
	if (strncmp(r->notes[0].text, "1 child process", 15) != 0)
		fail_msg("%s", r->notes[0].text);
	dck_record_free(r);
	close(fd);
}

/* Replaces a program that recorded itself: it leaves its result. */
static char sh[] = "sh", from_text[] = "-c",
	    script[] = "cat kept.result > \"$DEEPCLOCK_TRACE_RESULT\"";
static char *const leaves_a_result[] = {sh, from_text, script, NULL};

static void result_leave(void)
{
	const zone_aggregate sums = {0};
	const zone_result r = {.method.clock = "TSC",
			       .program = "sh",
			       .said.format = "perfetto",
			       .path = "t.pftrace",
			       .sums = &sums};
	wire_out bytes = {0};

	zone_result_write(&r, &bytes);
	assert_false(bytes.failed);
	const int fd = open("kept.result", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_int_equal(write(fd, bytes.data, bytes.n), bytes.n);
	close(fd);
	wire_out_done(&bytes);
}

static void every_allocation_may_fail(void **state)
{
	const dck_trace_config c = {.path = "t.pftrace", .no_waits = true};
	dck_status status = DCK_E_NOMEM;
	size_t at = 1;

	(void)state;
	result_leave();
	scratch_text("t.pftrace", "");
	for (bool failed = true; failed; at++) {
		dck_program p = {.argv = leaves_a_result};
		dck_record *r = NULL;
		fault_alloc f;
		dck_err err = {0};

		fault_alloc_begin(&f, at);
		status = dck_trace_program_run(&c, &p, &r, &err);
		failed = f.calls >= at;
		if (status == DCK_OK)
			dck_record_free(r);
		dck_set_allocator(NULL);
		if (f.out)
			fail_msg("allocation %zu: %zu are not released", at, f.out);
		assert_true(at < 3000);
	}
	assert_int_equal(status, DCK_OK);
	assert_true(at > 12);
}

int test_trace_children(void);
int test_trace_children(void)
{
	const struct CMUnitTest tests[] = {
	    SCRATCH_TEST(a_signal_ends_the_wait),
	    SCRATCH_TEST(every_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
