/* Tests of base/sink.c.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/sink.h"

#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void buffer_holds_all_and_ends_in_nul(void **state)
{
	(void)state;
	dck_buffer b = {0};
	dck_sink s;
	char chunk[777];
	memset(chunk, 'c', sizeof chunk);
	dck_sink_buffer(&s, &b);
	for (int i = 0; i < 100; i++)
		sink_put(&s, chunk, sizeof chunk);
	sink_text(&s, "end");
	assert_int_equal(dck_sink_finish(&s, NULL), DCK_OK);
	assert_int_equal(b.n, 77703);
	assert_string_equal(b.data + 77699, "cend");
	dck_buffer_done(&b);
	assert_null(b.data);
	dck_buffer_done(&b);
	dck_buffer_done(NULL);
}

static void formats_short_and_long(void **state)
{
	(void)state;
	dck_buffer b = {0};
	dck_sink s;
	dck_sink_buffer(&s, &b);
	sink_fmt(&s, "%d|", 42);
	sink_fmt(&s, "%20000d|", 7);
	sink_repeat(&s, '-', 10000);
	sink_repeat(&s, '-', 0);
	assert_int_equal(dck_sink_finish(&s, NULL), DCK_OK);
	assert_int_equal(b.n, 3 + 20001 + 10000);
	assert_memory_equal(b.data, "42|    ", 7);
	assert_memory_equal(b.data + 20001, " 7|--", 5);
	dck_buffer_done(&b);
}

static void an_empty_sink_succeeds(void **state)
{
	(void)state;
	dck_buffer b = {0};
	dck_sink s;
	dck_sink_buffer(&s, &b);
	assert_int_equal(dck_sink_finish(&s, NULL), DCK_OK);
	assert_null(b.data);
}

static void full_disk_is_an_error(void **state)
{
	(void)state;
	dck_sink s;
	dck_err e = {0};
	int fd = open("/dev/full", O_WRONLY);
	if (fd < 0)
		skip();
	dck_sink_fd(&s, fd);
	sink_repeat(&s, 'x', 100000);
	sink_text(&s, "more");
	assert_int_equal(dck_sink_finish(&s, &e), DCK_E_IO);
	assert_string_equal(e.msg, "cannot write the output: No space left on device");
	assert_int_equal(e.native_code, ENOSPC);
	assert_int_equal(dck_sink_finish(&s, NULL), DCK_E_IO); /* the failure is sticky */
	close(fd);
}

static void closed_pipe_is_an_error(void **state)
{
	(void)state;
	int ends[2];
	dck_sink s;
	dck_err e = {0};
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	dck_sink_fd(&s, ends[1]);
	sink_text(&s, "x");
	assert_int_equal(dck_sink_finish(&s, &e), DCK_E_IO);
	assert_int_equal(e.native_code, EPIPE);
	close(ends[1]);
	signal(SIGPIPE, SIG_DFL);
}

/* A pipe takes 64 KiB at once, so that writes are short; in non-blocking mode they also fail with
 * EAGAIN. */
static void short_and_refused_writes_go_on(void **state)
{
	(void)state;
	for (int nonblocking = 0; nonblocking < 2; nonblocking++) {
		int ends[2], status;
		dck_sink s;
		assert_int_equal(pipe(ends), 0);
		pid_t pid = fork();
		if (pid == 0) {
			char buf[5000];
			size_t total = 0;
			ssize_t n;
			close(ends[1]);
			usleep(20000);
			while ((n = read(ends[0], buf, sizeof buf)) > 0)
				total += (size_t)n;
			_exit(total == 1000003 ? 0 : 1);
		}
		close(ends[0]);
		if (nonblocking)
			fcntl(ends[1], F_SETFL, O_NONBLOCK);
		dck_sink_fd(&s, ends[1]);
		static char large[1000000];
		sink_put(&s, "abc", 3);
		sink_put(&s, large, sizeof large);
		assert_int_equal(dck_sink_finish(&s, NULL), DCK_OK);
		close(ends[1]);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
}

typedef struct failing {
	int calls, fail_at;
	bool say;
} failing;

static dck_status fail_at(void *self, const void *bytes, size_t n, dck_err *err)
{
	failing *f = self;
	(void)bytes;
	(void)n;
	if (++f->calls != f->fail_at)
		return DCK_OK;
	if (f->say)
		DCK_FAIL(err, E_LIMIT, "no more");
	return DCK_E_LIMIT;
}

static void nth_write_fails_and_stays_failed(void **state)
{
	(void)state;
	for (int n = 1; n <= 3; n++) {
		failing f = {.fail_at = n, .say = n != 2};
		dck_sink s;
		dck_err e = {0};
		dck_sink_custom(&s, fail_at, &f);
		for (int i = 0; i < 10; i++)
			sink_repeat(&s, 'x', sizeof s.buf);
		assert_int_equal(dck_sink_finish(&s, &e), DCK_E_LIMIT);
		assert_int_equal(f.calls, n); /* not called again */
		assert_string_equal(e.msg, f.say ? "no more"
						 : "cannot write the output: a limit was exceeded");
	}
}

int test_sink(void);
int test_sink(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(buffer_holds_all_and_ends_in_nul),
	    cmocka_unit_test(formats_short_and_long),
	    cmocka_unit_test(an_empty_sink_succeeds),
	    cmocka_unit_test(full_disk_is_an_error),
	    cmocka_unit_test(closed_pipe_is_an_error),
	    cmocka_unit_test(short_and_refused_writes_go_on),
	    cmocka_unit_test(nth_write_fails_and_stays_failed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
