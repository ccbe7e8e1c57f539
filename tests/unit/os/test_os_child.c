/* Tests of os/child.c and os/dl.c.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static const uint64_t second = 1000000000;

static void put(int fd, const char *text)
{
	if (write(fd, text, strlen(text)) < 0)
		_exit(99);
}

static void answers(void *self, dck_sink *out)
{
	put(out->fd, self);
	/* Output of a library to stdout is not part of the result. */
	printf("noise\n");
	fflush(stdout);
}

static void crashes(void *self, dck_sink *out)
{
	put(out->fd, "so far");
	signal(SIGSEGV, SIG_DFL);
	raise(*(int *)self);
}

static void exits(void *self, dck_sink *out)
{
	put(out->fd, "x");
	_exit(*(int *)self);
}

static void hangs(void *self, dck_sink *out)
{
	(void)self;
	put(out->fd, "waiting");
	for (;;)
		pause();
}

static void floods(void *self, dck_sink *out)
{
	char block[1000];
	(void)self;
	memset(block, 'x', sizeof(block));
	for (;;)
		if (write(out->fd, block, sizeof(block)) < 0)
			_exit(98);
}

/* A grandchild that keeps the pipe open must not block the parent. */
static void leaves_a_daemon(void *self, dck_sink *out)
{
	(void)self;
	const pid_t pid = fork();
	if (pid == 0) {
		sleep(60);
		_exit(0);
	}
	dprintf(out->fd, "%ld", (long)pid);
}

static void closes_early(void *self, dck_sink *out)
{
	(void)self;
	put(out->fd, "early");
	close(out->fd);
	usleep(100000);
	_exit(6);
}

static void checks_its_state(void *self, dck_sink *out)
{
	(void)self;
	sigset_t set;
	struct rlimit core;
	sigprocmask(SIG_SETMASK, NULL, &set);
	getrlimit(RLIMIT_CORE, &core);
	dprintf(out->fd, "%d %d %d %d", sigismember(&set, SIGINT),
		signal(SIGTERM, SIG_DFL) == SIG_DFL, core.rlim_cur == 0, (int)read(0, &core, 1));
}

static void what_it_writes_is_appended(void **state)
{
	(void)state;
	dck_buffer b = {0};
	assert_int_equal(os_in_child(answers, (void *)"one", 10 * second, 100, &b, NULL), DCK_OK);
	assert_int_equal(os_in_child(answers, (void *)" two", 10 * second, 4, &b, NULL), DCK_OK);
	assert_string_equal(b.data, "one two");
	dck_buffer_done(&b);
	char large[200000];
	memset(large, 'y', sizeof large - 1);
	large[sizeof large - 1] = '\0';
	assert_int_equal(os_in_child(answers, large, 10 * second, 1 << 20, &b, NULL), DCK_OK);
	assert_int_equal(b.n, sizeof large - 1);
	dck_buffer_done(&b);
}

static void how_it_died(void **state)
{
	(void)state;
	static const struct {
		int number;
		const char *want;
	} rows[] = {
	    {SIGSEGV, "the child process was killed by signal 11 (invalid memory access)"},
	    {SIGKILL, "the child process was killed by signal 9 (killed)"},
	    {SIGUSR2, "the child process was killed by signal 12 (signal)"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof *rows; i++) {
		dck_buffer b = {0};
		dck_err e;
		int number = rows[i].number;
		assert_int_equal(os_in_child(crashes, &number, 10 * second, 100, &b, &e),
				 DCK_E_ENGINE);
		assert_string_equal(e.msg, rows[i].want);
		assert_int_equal(e.native_code, number);
		assert_string_equal(b.data, "so far");
		dck_buffer_done(&b);
	}
	dck_buffer b = {0};
	dck_err e;
	int status = 7;
	assert_int_equal(os_in_child(exits, &status, 10 * second, 100, &b, &e), DCK_E_ENGINE);
	assert_string_equal(e.msg, "the child process ended with exit status 7");
	assert_int_equal(os_in_child(exits, &status, 10 * second, 100, &b, NULL), DCK_E_ENGINE);
	assert_int_equal(os_in_child(closes_early, NULL, 10 * second, 100, &b, &e), DCK_E_ENGINE);
	assert_string_equal(e.msg, "the child process ended with exit status 6");
	assert_string_equal(b.data, "xxearly");
	dck_buffer_done(&b);
}

static void limits_hold(void **state)
{
	(void)state;
	dck_buffer b = {0};
	dck_err e;
	assert_int_equal(os_in_child(hangs, NULL, second / 10, 100, &b, &e), DCK_E_ENGINE);
	assert_string_equal(e.msg, "the child process did not end within 100 ms");
	if (b.n > 0) /* on a busy machine it may not have started */
		assert_string_equal(b.data, "waiting");
	dck_buffer_done(&b);
	assert_int_equal(os_in_child(floods, NULL, 10 * second, 10000, &b, &e), DCK_E_LIMIT);
	assert_string_equal(e.msg, "the child process wrote more than 9.77 KiB");
	assert_true(b.n <= 10000);
	dck_buffer_done(&b);
}

static void a_grandchild_does_not_keep_us(void **state)
{
	(void)state;
	dck_buffer b = {0};
	assert_int_equal(os_in_child(leaves_a_daemon, NULL, 600 * second, 100, &b, NULL), DCK_OK);
	assert_non_null(b.data);
	const pid_t daemon = (pid_t)strtol(b.data, NULL, 10);
	assert_true(daemon > 1);
	assert_int_equal(kill(daemon, SIGKILL), 0); /* it still exists */
	dck_buffer_done(&b);
}

static void on_signal(int number)
{
	(void)number;
}

static void the_child_starts_clean(void **state)
{
	(void)state;
	dck_buffer b = {0};
	sigset_t set, old;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, &old);
	signal(SIGTERM, on_signal);
	assert_int_equal(os_in_child(checks_its_state, NULL, 10 * second, 100, &b, NULL), DCK_OK);
	assert_string_equal(b.data, "0 1 1 0");
	sigprocmask(SIG_SETMASK, &old, NULL);
	signal(SIGTERM, SIG_DFL);
	dck_buffer_done(&b);
}

static void a_program_that_ignores_the_ends_of_children(void **state)
{
	(void)state;
	dck_buffer b = {0};
	dck_err e;
	signal(SIGCHLD, SIG_IGN);
	assert_int_equal(os_in_child(answers, (void *)"x", 10 * second, 100, &b, &e), DCK_E_IO);
	signal(SIGCHLD, SIG_DFL);
	assert_non_null(strstr(e.msg, "this program ignores SIGCHLD"));
	dck_buffer_done(&b);
}

/* --- libraries */

static void libraries(void **state)
{
	(void)state;
	os_library *l = NULL;
	dck_err e;
	assert_int_equal(os_library_open("libm.so.6", &l, &e), DCK_OK);
	assert_int_equal(os_library_path(l)[0], '/');
	assert_non_null(strstr(os_library_path(l), "libm"));
	assert_int_equal(access(os_library_path(l), R_OK), 0);
	double (*root)(double);
	assert_true(os_library_function(l, "sqrt", &root));
	assert_true(root(9) == 3);
	assert_false(os_library_function(l, "no_such_symbol_at_all", &root));
	assert_null(root);
	os_library_close(l);
	os_library_close(NULL);
}

static void libraries_that_cannot_be(void **state)
{
	(void)state;
	os_library *l = (os_library *)&l;
	dck_err e;
	assert_int_equal(os_library_open("/no/such/library.so", &l, &e), DCK_E_ABSENT);
	assert_non_null(strstr(e.msg, "cannot load '/no/such/library.so': "));
	assert_int_equal(os_library_open("libnosuchlibraryatall.so", &l, &e), DCK_E_ABSENT);
	assert_int_equal(os_library_open("/etc/passwd", &l, &e), DCK_E_ABSENT);
	assert_int_equal(os_library_open("/etc", &l, &e), DCK_E_ABSENT);
	assert_int_equal(os_library_open("", &l, &e), DCK_E_ARG);
	assert_ptr_equal(l, &l);
}

int test_os_child(void);
int test_os_child(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_it_writes_is_appended),
	    cmocka_unit_test(how_it_died),
	    cmocka_unit_test(limits_hold),
	    cmocka_unit_test(a_grandchild_does_not_keep_us),
	    cmocka_unit_test(the_child_starts_clean),
	    cmocka_unit_test(a_program_that_ignores_the_ends_of_children),
	    cmocka_unit_test(libraries),
	    cmocka_unit_test(libraries_that_cannot_be),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
