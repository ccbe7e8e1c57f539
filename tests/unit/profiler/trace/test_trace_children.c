/* test_trace_children.c - what is done when a traced program has ended: children that still run, no
 * memory, a full disk.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/trace/trace_children.h"
#include "fault_alloc.h"
#include "os/os.h"
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

/* A signal ends the wait for a child; the child counts once. */
static void a_signal_ends_the_wait(void **state)
{
	const struct itimerval often = {.it_interval = {.tv_usec = 5000},
					.it_value = {.tv_usec = 5000}},
			       off = {.it_value = {0}};
	const struct sigaction interrupts = {.sa_handler = nothing};
	char record_path[sizeof scratch_path + 16];
	record_builder *b = record_new();
	dck_trace_config c = {.path = "t.pftrace"};
	dck_record *r;
	dck_err err = {0};
	dck_status status;

	(void)state;
	snprintf(record_path, sizeof record_path, "%s/record.json", scratch_path);
	scratch_text("record.json", "");
	scratch_text("record.4711.json", "");
	scratch_text("t.pftrace", "");
	scratch_text("t.4711.pftrace", "");
	const int fd = open("t.4711.pftrace", O_RDWR);
	assert_true(os_file_lock(fd));
	assert_int_equal(record_finish(b, &r, NULL), DCK_OK);
	assert_int_equal(sigaction(SIGALRM, &interrupts, NULL), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
	status = trace_children_join(&c, "a test", record_path, &r, &err);
	assert_int_equal(setitimer(ITIMER_REAL, &off, NULL), 0);
	if (status != DCK_OK)
		fail_msg("%s", err.msg);
	assert_int_equal(r->nnotes, 1);
	if (strncmp(r->notes[0].text, "1 child process", 15) != 0)
		fail_msg("%s", r->notes[0].text);
	dck_record_free(r);
	close(fd);
}

/* Stands for a program that recorded itself: it leaves its record. */
static char sh[] = "sh", from_text[] = "-c",
	    script[] = "cat kept.json > \"$DEEPCLOCK_TRACE_RECORD\"";
static char *const leaves_a_record[] = {sh, from_text, script, NULL};

static void record_leave(void)
{
	record_builder *b = record_new();
	dck_buffer json = {0};
	dck_record *r;
	dck_sink sink;

	record_fact_text(b, "trace", "file", "t.pftrace");
	assert_int_equal(record_finish(b, &r, NULL), DCK_OK);
	dck_sink_buffer(&sink, &json);
	record_json_write(r, &sink);
	assert_int_equal(dck_sink_finish(&sink, NULL), DCK_OK);
	scratch_text("kept.json", json.data);
	dck_buffer_done(&json);
	dck_record_free(r);
}

static void every_allocation_may_fail(void **state)
{
	const dck_trace_config c = {.path = "t.pftrace", .no_waits = true};
	dck_status status = DCK_E_NOMEM;
	size_t at = 1;

	(void)state;
	record_leave();
	scratch_text("t.pftrace", "");
	for (bool failed = true; failed; at++) {
		dck_trace_program p = {.argv = leaves_a_record};
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

int main(void)
{
	const struct CMUnitTest tests[] = {
	    SCRATCH_TEST(a_signal_ends_the_wait),
	    SCRATCH_TEST(every_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
