/* test_command.c - programs as an engine: how a run ends, its resources, where output goes, and the
 * messages of refusals.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "engine/engine.h"
#include "fault_alloc.h"
#include "scratch.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#define OPTIONS_MAX 4

/* A command that is opened and ready to run. */
typedef struct command {
	const dck_engine *e;
	dck_engine_model *model;
	dck_engine_context *context;
} command;

static const dck_engine *engine(void)
{
	engine_handle h;
	dck_err err;

	assert_int_equal(engine_find("command", &h, &err), DCK_OK);
	return h.ops;
}

/* options: "key", "value", ..., NULL */
static dck_open_params params(const char *const *argv, const char *const *options, dck_kv *kv)
{
	dck_open_params p = {
	    .struct_size = sizeof p, .argv = (char *const *)(uintptr_t)argv, .options = kv};

	for (; options && options[2 * p.noptions]; p.noptions++)
		kv[p.noptions] = (dck_kv){options[2 * p.noptions], options[2 * p.noptions + 1]};
	return p;
}

static command opened(const dck_open_params *p)
{
	command c = {.e = engine()};
	dck_err err;

	if (c.e->open(p, &c.model, &err) != DCK_OK ||
	    c.e->context_new(c.model, &c.context, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	return c;
}

static void closed(command c)
{
	c.e->context_free(c.context);
	c.e->close(c.model);
}

#define ARGV(...)    ((const char *const[]){__VA_ARGS__, NULL})
#define OPTIONS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Opens, runs once and closes; writes the message to *err. */
static dck_status run(const char *const *argv, const char *const *options, dck_err *err)
{
	dck_kv kv[OPTIONS_MAX];
	const dck_open_params p = params(argv, options, kv);
	const command c = opened(&p);
	const dck_status status = c.e->run(c.context, err);

	closed(c);
	return status;
}

static void refused(const char *const *argv, const char *const *options, dck_status code,
		    const char *sentence)
{
	dck_kv kv[OPTIONS_MAX];
	const dck_open_params p = params(argv, options, kv);
	dck_engine_model *m = NULL;
	dck_err err = {0};

	assert_int_equal(engine()->open(&p, &m, &err), code);
	assert_string_equal(err.msg, sentence);
	assert_null(m);
	assert_int_equal(engine()->open(&p, &m, NULL), code);
}

static void file_is(const char *path, const char *expected)
{
	char text[4096];
	FILE *f = fopen(path, "r");
	size_t n;

	assert_non_null(f);
	n = fread(text, 1, sizeof text - 1, f);
	text[n] = '\0';
	fclose(f);
	assert_string_equal(text, expected);
}

/* --- how a run ends */

static void success(void **state)
{
	(void)state;
	assert_int_equal(run(ARGV("true"), NULL, NULL), DCK_OK);
	assert_int_equal(run(ARGV("/bin/sh", "-c", "exit 0"), NULL, NULL), DCK_OK);
}

static void exit_status(void **state)
{
	dck_err err = {0};

	(void)state;
	assert_int_equal(run(ARGV("sh", "-c", "exit 7"), NULL, &err), DCK_E_ENGINE);
	assert_string_equal(
	    err.msg, "'sh' ended with exit status 7 (--any-exit accepts it; --output inherit "
		     "shows what it writes)");
	assert_int_equal(err.native_code, 7);
	assert_int_equal(run(ARGV("sh", "-c", "exit 7"), NULL, NULL), DCK_E_ENGINE);
	assert_int_equal(run(ARGV("sh", "-c", "exit 7"), OPTIONS("any_exit", "1"), &err), DCK_OK);
	assert_int_equal(run(ARGV("false"), OPTIONS("any_exit", "0"), &err), DCK_E_ENGINE);
	assert_string_equal(
	    err.msg, "'false' ended with exit status 1 (--any-exit accepts it; --output inherit "
		     "shows what it writes)");
}

static void killed_by_a_signal(void **state)
{
	dck_err err = {0};

	(void)state;
	assert_int_equal(run(ARGV("sh", "-c", "kill -KILL $$"), NULL, &err), DCK_E_ENGINE);
	assert_string_equal(err.msg, "'sh' was killed by signal 9 (Killed); --output inherit "
				     "shows what it writes");
	assert_int_equal(err.native_code, 128 + SIGKILL);
	assert_int_equal(run(ARGV("sh", "-c", "kill -KILL $$"), OPTIONS("any_exit", "1"), &err),
			 DCK_OK);
}

static void many_runs_of_one(void **state)
{
	dck_kv kv[OPTIONS_MAX];
	const dck_open_params p = params(
	    ARGV("sh", "-c", "n=$(cat count); echo $((n + 1)) >count; [ $n -lt 3 ]"), NULL, kv);
	const command c = opened(&p);
	FILE *f = fopen("count", "w");
	dck_err err;

	(void)state;
	assert_non_null(f);
	fputs("0\n", f);
	fclose(f);
	for (int i = 0; i < 3; i++)
		assert_int_equal(c.e->run(c.context, &err), DCK_OK);
	assert_int_equal(c.e->run(c.context, &err), DCK_E_ENGINE);
	file_is("count", "4\n");
	unlink("count");
	closed(c);
}

/* --- cancellation */

static bool yes(void *self)
{
	++*(int *)self;
	return true;
}

/* Ctrl-C on a terminal reaches the program too, whose death may be seen first. */
static bool yes_later(void *self)
{
	return ++*(int *)self > 1;
}

static void ended_by_what_cancels(void **state)
{
	static const char *const lines[] = {"kill -INT $$", "exit 130"};

	(void)state;
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
		dck_kv kv[OPTIONS_MAX];
		dck_open_params p = params(ARGV("sh", "-c", lines[i]), NULL, kv);
		int asked = 0;
		dck_err err;

		p.cancelled = yes_later;
		p.cancelled_self = &asked;
		const command c = opened(&p);
		assert_int_equal(c.e->run(c.context, &err), DCK_E_CANCEL);
		assert_int_equal(asked, 2);
		closed(c);
	}
}

static void cancelled_while_it_runs(void **state)
{
	dck_kv kv[OPTIONS_MAX];
	dck_open_params p = params(ARGV("sleep", "100"), NULL, kv);
	dck_err err = {0};
	int asked = 0;
	command c;

	(void)state;
	p.cancelled = yes;
	p.cancelled_self = &asked;
	c = opened(&p);
	assert_int_equal(c.e->run(c.context, &err), DCK_E_CANCEL);
	assert_string_equal(err.msg, "cancelled, and the command was stopped");
	assert_true(asked > 0);
	closed(c);
}

/* --- resources of the last run */

static void usage_of_the_child(void **state)
{
	dck_kv kv[OPTIONS_MAX];
	const dck_open_params p = params(
	    ARGV("sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done"), NULL, kv);
	const command c = opened(&p);
	dck_usage busy = {.struct_size = sizeof busy}, none;
	dck_err err;

	(void)state;
	none = busy;
	/* Before the first run all values are zero. */
	assert_int_equal(c.e->usage(c.context, &none, &err), DCK_OK);
	assert_int_equal(none.user_ns + none.system_ns + none.peak_rss_bytes, 0);
	assert_int_equal(c.e->run(c.context, &err), DCK_OK);
	assert_int_equal(c.e->usage(c.context, &busy, &err), DCK_OK);
	assert_true(busy.user_ns > 1000000);
	assert_int_equal(busy.struct_size, sizeof busy);
	closed(c);
}

/* --- where output goes */

static void output_to_a_file_is_appended(void **state)
{
	const char *const *options = OPTIONS("output", "out.txt");
	struct stat st;

	(void)state;
	unlink("out.txt");
	for (int i = 0; i < 2; i++)
		assert_int_equal(run(ARGV("sh", "-c", "echo out; echo err >&2"), options, NULL),
				 DCK_OK);
	file_is("out.txt", "out\nerr\nout\nerr\n");
	assert_int_equal(stat("out.txt", &st), 0);
	assert_int_equal(st.st_mode & 0111, 0);
	unlink("out.txt");
	refused(ARGV("true"), OPTIONS("output", "/nowhere/out.txt"), DCK_E_IO,
		"cannot write to '/nowhere/out.txt': No such file or directory");
}

/* Redirects standard output and error to files while the command runs and compares them. */
static void heard(const char *const *options, const char *out, const char *err_text)
{
	const int saved[] = {dup(1), dup(2)};
	const int to[] = {open("1.txt", O_CREAT | O_TRUNC | O_WRONLY, 0600),
			  open("2.txt", O_CREAT | O_TRUNC | O_WRONLY, 0600)};
	dck_status status;
	dck_err err;

	assert_true(saved[0] >= 0 && saved[1] >= 0 && to[0] >= 0 && to[1] >= 0);
	fflush(stdout);
	fflush(stderr);
	for (int i = 0; i < 2; i++)
		dup2(to[i], i + 1);
	status = run(ARGV("sh", "-c", "echo out; echo err >&2"), options, &err);
	for (int i = 0; i < 2; i++) {
		dup2(saved[i], i + 1);
		close(saved[i]);
		close(to[i]);
	}
	assert_int_equal(status, DCK_OK);
	file_is("1.txt", out);
	file_is("2.txt", err_text);
	unlink("1.txt");
	unlink("2.txt");
}

/* Our standard output holds only the result. */
static void output_never_reaches_our_stdout(void **state)
{
	(void)state;
	heard(NULL, "", "");
	heard(OPTIONS("output", "discard"), "", "");
	heard(OPTIONS("output", "inherit"), "", "out\nerr\n");
}

static void input_is_empty(void **state)
{
	(void)state;
	assert_int_equal(run(ARGV("sh", "-c", "! read x"), NULL, NULL), DCK_OK);
}

/* --- the other options */

static void shell_joins_the_words(void **state)
{
	dck_err err;

	(void)state;
	assert_int_equal(
	    run(ARGV("echo", "a  b", ">", "joined.txt;", "exit", "0"), OPTIONS("shell", "1"), &err),
	    DCK_OK);
	file_is("joined.txt", "a b\n");
	unlink("joined.txt");
	assert_int_equal(run(ARGV("exit", "3"), OPTIONS("shell", "1"), &err), DCK_E_ENGINE);
	assert_string_equal(
	    err.msg, "'exit' ended with exit status 3 (--any-exit accepts it; --output inherit "
		     "shows what it writes)");
	/* Without a shell no character is special. */
	assert_int_equal(run(ARGV("test", "a;", "=", "a;"), OPTIONS("shell", "0"), &err), DCK_OK);
}

static void directory_to_run_in(void **state)
{
	(void)state;
	assert_int_equal(mkdir("inside", 0700), 0);
	assert_int_equal(run(ARGV("sh", "-c", ": >made"), OPTIONS("directory", "inside"), NULL),
			 DCK_OK);
	assert_int_equal(unlink("inside/made"), 0);
	assert_int_equal(rmdir("inside"), 0);
	refused(ARGV("true"), OPTIONS("directory", "gone"), DCK_E_ABSENT,
		"cannot run in the directory 'gone': No such file or directory");
	refused(ARGV("true"), OPTIONS("directory", "/dev/null"), DCK_E_IO,
		"cannot run in the directory '/dev/null': Not a directory");
}

/* --- refusals */

static void commands_that_cannot_be(void **state)
{
	(void)state;
	refused(ARGV("no-such-program-here"), NULL, DCK_E_ABSENT,
		"there is no program 'no-such-program-here' in the directories that PATH lists");
	refused(ARGV("./no-such-program"), NULL, DCK_E_ABSENT,
		"there is no program './no-such-program'");
	refused(ARGV("/"), NULL, DCK_E_IO, "cannot run '/': Is a directory");
	refused(ARGV("/etc/passwd"), NULL, DCK_E_IO, "cannot run '/etc/passwd': Permission denied");
	refused((const char *const[]){NULL}, NULL, DCK_E_ARG,
		"there is no command to run: give it after -- or as cmd:PROG");
	refused(NULL, NULL, DCK_E_ARG,
		"there is no command to run: give it after -- or as cmd:PROG");
	refused(ARGV(""), NULL, DCK_E_ARG,
		"there is no command to run: give it after -- or as cmd:PROG");
}

static void options_that_cannot_be(void **state)
{
	(void)state;
	refused(ARGV("true"), OPTIONS("any-exit", "1"), DCK_E_ARG,
		"the engine 'command' has no option 'any-exit'; did you mean 'any_exit'?");
	refused(ARGV("true"), OPTIONS("shell", "yes"), DCK_E_ARG,
		"option 'shell' is 'yes': the engine 'command' takes 0|1");
	refused(ARGV("true"), OPTIONS("shell", "1", "shell", "0"), DCK_E_ARG,
		"option 'shell' is given twice, as '1' and as '0'");
}

/* The program may be deleted after the command was opened. */
static void a_program_that_goes_away(void **state)
{
	dck_kv kv[OPTIONS_MAX];
	const dck_open_params p = params(ARGV("./gone.sh"), NULL, kv);
	FILE *f = fopen("gone.sh", "w");
	dck_err err = {0};
	command c;

	(void)state;
	assert_non_null(f);
	fputs("#!/bin/sh\nexit 0\n", f);
	fclose(f);
	assert_int_equal(chmod("gone.sh", 0700), 0);
	c = opened(&p);
	assert_int_equal(c.e->run(c.context, &err), DCK_OK);
	unlink("gone.sh");
	assert_int_not_equal(c.e->run(c.context, &err), DCK_OK);
	assert_non_null(strstr(err.msg, "gone.sh"));
	closed(c);
}

static void every_allocation_may_fail(void **state)
{
	dck_kv kv[OPTIONS_MAX];
	const dck_open_params p =
	    params(ARGV("true", "a"), OPTIONS("shell", "1", "output", "fault.txt"), kv);
	dck_status status = DCK_E_NOMEM;
	size_t failures = 0;

	(void)state;
	for (size_t at = 1; status != DCK_OK; at++) {
		dck_engine_context *c = NULL;
		dck_engine_model *m = NULL;
		fault_alloc f;
		dck_err err;

		fault_alloc_begin(&f, at);
		status = engine()->open(&p, &m, &err);
		if (status == DCK_OK)
			status = engine()->context_new(m, &c, &err);
		if (status != DCK_OK) {
			assert_int_equal(status, DCK_E_NOMEM);
			failures++;
		}
		engine()->context_free(c);
		engine()->close(m);
		dck_set_allocator(NULL);
		assert_int_equal(f.out, 0);
	}
	assert_true(failures >= 3); /* allocations: the model, the joined words, the context */
	unlink("fault.txt");
}

int test_command(void);
int test_command(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(success),
	    cmocka_unit_test(exit_status),
	    cmocka_unit_test(killed_by_a_signal),
	    cmocka_unit_test(ended_by_what_cancels),
	    cmocka_unit_test(many_runs_of_one),
	    cmocka_unit_test(cancelled_while_it_runs),
	    cmocka_unit_test(usage_of_the_child),
	    cmocka_unit_test(output_to_a_file_is_appended),
	    cmocka_unit_test(output_never_reaches_our_stdout),
	    cmocka_unit_test(input_is_empty),
	    cmocka_unit_test(shell_joins_the_words),
	    cmocka_unit_test(directory_to_run_in),
	    cmocka_unit_test(commands_that_cannot_be),
	    cmocka_unit_test(options_that_cannot_be),
	    cmocka_unit_test(a_program_that_goes_away),
	    cmocka_unit_test(every_allocation_may_fail),
	};
	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
