/* test_trace_children.c - children that still run when their program has ended.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/trace/trace_children.h"
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

int main(void)
{
	const struct CMUnitTest tests[] = {
	    SCRATCH_TEST(a_signal_ends_the_wait),
	};

	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
