/* A recording and signals: crashes, Ctrl-C, handlers of the program.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "profiler/trace/result/zone_record.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "deepclock/trace.h"
#include "deepclock/zone.h"
#include "scratch.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define SKIP_UNDER_SANITIZERS() skip() /* The sanitizers install handlers for crashes. */
#else
#define SKIP_UNDER_SANITIZERS() ((void)0)
#endif

static void zones(int n)
{
	for (int i = 0; i < n; i++) {
		DCK_ZONE("done");
	}
}

/* --- the recorded program: this one, run with an argument */

static volatile int *volatile nowhere;
static sigjmp_buf back;
static struct sigaction former;

static int overflow(int depth)
{
	volatile char frame[4096];

	frame[0] = (char)depth;
	return nowhere ? frame[0] : overflow(depth + 1) + frame[0];
}

static void *crash(void *unused)
{
	(void)unused;
	zones(10);
	*nowhere = 1;
	return NULL;
}

static void leave(int number)
{
	(void)number;
	_exit(7);
}

static volatile sig_atomic_t counted;

static void count(int number)
{
	(void)number;
	counted++;
}

static void jump(int number)
{
	siglongjmp(back, number);
}

/* Like Python's faulthandler: restores the previous handler and raises the signal again. */
static void give_back(int number)
{
	sigaction(number, &former, NULL);
	raise(number);
}

static void install(int number, void (*handler)(int), int flags)
{
	struct sigaction a = {.sa_handler = handler, .sa_flags = flags};

	sigaction(number, &a, &former);
}

static bool is_default(int number)
{
	struct sigaction a;

	return !sigaction(number, NULL, &a) && a.sa_handler == SIG_DFL;
}

static void wait_until_watched(int number)
{
	for (int i = 0; i < 3000 && is_default(number); i++)
		usleep(20000);
}

/* Starts recording with the handlers already installed. */
static void start(void)
{
	if (dck_trace_start(&(dck_trace_config){.path = "out.pftrace"}, NULL) != DCK_OK)
		_exit(99);
	DCK_PUSH("open at the end");
	zones(1000);
}

/* A service that dumps its last events twice on a signal. */
static int service(void)
{
	const dck_trace_config c = {.path = "out.pftrace", .last = 1 << 20, .dump_on = "SIGUSR2"};
	dck_record *r = NULL;

	install(SIGUSR2, count, 0);
	if (dck_trace_start(&c, NULL) != DCK_OK)
		return 99;
	zones(10);
	raise(SIGUSR2);
	for (int i = 0; i < 3000 && access("out.dump-1.pftrace", F_OK) != 0; i++)
		usleep(20000);
	zones(5);
	raise(SIGUSR2);
	for (int i = 0; i < 3000 && access("out.dump-2.pftrace", F_OK) != 0; i++)
		usleep(20000);
	zones(5);
	if (dck_trace_stop(&r, NULL) != DCK_OK)
		return 96;
	return dck_record_fact(r, "trace", "dumps")->value.as.i == 2 && counted == 2 ? 4 : 1;
}

static int told(const char *what)
{
	const struct rlimit no_core = {0, 0};
	pthread_t thread;

	setrlimit(RLIMIT_CORE, &no_core);
	if (!strcmp(what, "service"))
		_exit(service());
	if (!strcmp(what, "handler before")) {
		install(SIGSEGV, leave, 0);
		start();
		*nowhere = 1;
	}
	if (!strcmp(what, "one shot")) {
		install(SIGABRT, jump, (int)SA_RESETHAND);
		start();
		if (!sigsetjmp(back, 1))
			raise(SIGABRT);
		zones(10);
		raise(SIGABRT);
	}
	if (!strcmp(what, "recovers")) {
		install(SIGSEGV, jump, SA_NODEFER);
		start();
		for (volatile int i = 0; i < 1000; i++)
			if (!sigsetjmp(back, 1))
				*nowhere = 1;
		zones(10);
		dck_trace_stop(NULL, NULL);
		/* The recorder's handler is removed. */
		install(SIGSEGV, SIG_DFL, 0);
		return former.sa_handler == jump && is_default(SIGBUS) ? 5 : 1;
	}
	/* At its start a program has the same handlers as without the recorder. */
	if (!is_default(SIGINT) || !is_default(SIGTERM))
		return 98;
	DCK_PUSH("open at the end");
	zones(1000);
	if (!strcmp(what, "overflow"))
		return overflow(0);
	if (!strcmp(what, "abort"))
		abort();
	if (!strcmp(what, "thread")) {
		pthread_create(&thread, NULL, crash, NULL);
		pthread_join(thread, NULL);
	}
	if (!strcmp(what, "gives back")) {
		install(SIGSEGV, give_back, 0);
		*nowhere = 1;
	}
	if (!strcmp(what, "ignored")) {
		signal(SIGINT, SIG_IGN);
		wait_until_watched(SIGTERM);
		raise(SIGINT);
		return 6;
	}
	if (!strncmp(what, "end ", 4)) {
		wait_until_watched(atoi(what + 4));
		zones(10);
		raise(atoi(what + 4));
	}
	if (!strcmp(what, "trap"))
		__builtin_trap();
	raise(atoi(what));
	return 97;
}

static int spawned(const char *what)
{
	int status = -1;
	pid_t child = fork();

	assert_true(child >= 0);
	if (!child) {
		execl("/proc/self/exe", "test_trace_signals", what, (char *)NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static int traced(const char *what)
{
	setenv("DEEPCLOCK_TRACE", "out.pftrace", 1);
	setenv("DEEPCLOCK_TRACE_RESULT", "run.result", 1);
	unlink("run.result");
	int status = spawned(what);
	unsetenv("DEEPCLOCK_TRACE");
	unsetenv("DEEPCLOCK_TRACE_RESULT");
	return status;
}

/* --- the file that remains */

static int64_t calls(const dck_record *r, const char *name)
{
	const dck_table *t = dck_record_table(r, "zones");

	assert_non_null(t);
	for (size_t i = 0; i < t->nrows; i++)
		if (!strcmp(t->cells[i * t->ncolumns].value.as.text, name))
			return t->cells[i * t->ncolumns + 1].value.as.i;
	return 0;
}

static int64_t calls_in(const char *path)
{
	dck_record *r = NULL;
	dck_err err;

	if (dck_trace_read(path, &r, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	const int64_t n = calls(r, "done");
	dck_record_free(r);
	return n;
}

static dck_record *file_read(void)
{
	dck_record *r = NULL;
	dck_err err;

	if (dck_trace_read("out.pftrace", &r, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	for (size_t i = 0; i < r->nnotes; i++)
		assert_string_not_equal(r->notes[i].code, "trace-truncated");
	return r;
}

static void assert_recorded(int64_t zones, const char *signal)
{
	dck_record *file = file_read(), *r = NULL;
	dck_err err;

	assert_int_equal(calls(file, "done"), zones);
	assert_int_equal(calls(file, "open at the end"), 1);
	assert_string_equal(dck_record_fact(file, "trace", "signal")->value.as.text, signal);
	dck_record_free(file);
	if (zone_record_load("run.result", &r, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	assert_int_equal(calls(r, "done"), zones);
	assert_int_equal(dck_record_fact(r, "trace", "unfinished_ranges")->value.as.i, 1);
	assert_string_equal(dck_record_fact(r, "trace", "signal")->value.as.text, signal);
	dck_record_free(r);
}

static void a_crash_loses_nothing(void **state)
{
	static const struct {
		const char *what;
		int signal;
		const char *name;
		int64_t zones;
	} crashes[] = {
	    {"abort", SIGABRT, "SIGABRT", 1000},    {"thread", SIGSEGV, "SIGSEGV", 1010},
	    {"overflow", SIGSEGV, "SIGSEGV", 1000}, {"trap", SIGILL, "SIGILL", 1000},
	    {"5", SIGTRAP, "SIGTRAP", 1000},	    {"7", SIGBUS, "SIGBUS", 1000},
	    {"8", SIGFPE, "SIGFPE", 1000},	    {"31", SIGSYS, "SIGSYS", 1000},
	};

	(void)state;
	SKIP_UNDER_SANITIZERS();
	for (size_t i = 0; i < sizeof crashes / sizeof crashes[0]; i++) {
#if !defined(__x86_64__)
		if (!strcmp(crashes[i].what, "trap"))
			continue; /* raises another signal on this architecture */
#endif
		const int status = traced(crashes[i].what);
		if (!WIFSIGNALED(status) || WTERMSIG(status) != crashes[i].signal)
			fail_msg("%s: status %x", crashes[i].what, (unsigned)status);
		assert_recorded(crashes[i].zones, crashes[i].name);
	}
}

static void a_handler_of_the_program_runs(void **state)
{
	(void)state;
	SKIP_UNDER_SANITIZERS();
	assert_int_equal(spawned("handler before"), 7 << 8);
	dck_record *r = file_read();
	assert_int_equal(calls(r, "done"), 1000);
	dck_record_free(r);
}

static void a_handler_that_came_later_may_give_back(void **state)
{
	(void)state;
	SKIP_UNDER_SANITIZERS();
	assert_int_equal(traced("gives back") & 0x7f, SIGSEGV);
	assert_recorded(1000, "SIGSEGV");
}

static void a_program_that_recovers_goes_on(void **state)
{
	(void)state;
	SKIP_UNDER_SANITIZERS();
	assert_int_equal(spawned("recovers"), 5 << 8);
	dck_record *r = file_read();
	assert_int_equal(calls(r, "done"), 1010);
	dck_record_free(r);
	assert_int_equal(spawned("one shot") & 0x7f, SIGABRT);
	r = file_read();
	assert_int_equal(calls(r, "done"), 1010);
	dck_record_free(r);
}

/* The drain thread blocks in a pipe without a reader. */
static void a_crash_waits_not_for_ever(void **state)
{
	(void)state;
	SKIP_UNDER_SANITIZERS();
	assert_int_equal(mkfifo("out.pftrace", 0600), 0);
	const int pipe = open("out.pftrace", O_RDWR | O_NONBLOCK);
	char full[4096] = {0};
	assert_true(pipe >= 0);
	while (write(pipe, full, sizeof full) > 0)
		;
	assert_int_equal(traced("11") & 0x7f, SIGSEGV);
	close(pipe);
}

static void signals_that_end_it_lose_nothing(void **state)
{
	(void)state;
	SKIP_UNDER_SANITIZERS();
	assert_int_equal(traced("end 2"), SIGINT);
	assert_recorded(1010, "SIGINT");
	assert_int_equal(traced("end 15"), SIGTERM);
	assert_recorded(1010, "SIGTERM");
	assert_int_equal(traced("ignored"), 6 << 8);
}

static void a_service_is_asked_for_the_newest(void **state)
{
	(void)state;
	assert_int_equal(spawned("service"), 4 << 8);
	assert_int_equal(calls_in("out.dump-1.pftrace"), 10);
	assert_int_equal(calls_in("out.dump-2.pftrace"), 15);
	assert_int_equal(calls_in("out.pftrace"), 20);
}

static void not_each_signal_can_ask(void **state)
{
	static const char *const no[] = {"SIGKILL", "9", "STOP", "SIGSEGV", "SIGUSR9",
					 "",	    "0", "99",	 "12x"};
	dck_trace_config c = {.path = "out.pftrace", .last = 1 << 20};
	dck_err err;

	(void)state;
	for (size_t i = 0; i < sizeof no / sizeof no[0]; i++) {
		c.dump_on = no[i];
		assert_int_equal(dck_trace_start(&c, &err), DCK_E_ARG);
	}
	c.dump_on = "USR2";
	c.last = 0;
	assert_int_equal(dck_trace_start(&c, &err), DCK_E_ARG);
	c.last = 1 << 20;
	c.dump_on = "SIGRTMIN+1";
	assert_int_equal(dck_trace_start(&c, &err), DCK_OK);
	assert_int_equal(dck_trace_stop(NULL, &err), DCK_OK);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    SCRATCH_TEST(a_crash_loses_nothing),
	    SCRATCH_TEST(a_handler_of_the_program_runs),
	    SCRATCH_TEST(a_handler_that_came_later_may_give_back),
	    SCRATCH_TEST(a_program_that_recovers_goes_on),
	    SCRATCH_TEST(a_crash_waits_not_for_ever),
	    SCRATCH_TEST(signals_that_end_it_lose_nothing),
	    SCRATCH_TEST(a_service_is_asked_for_the_newest),
	    SCRATCH_TEST(not_each_signal_can_ask),
	};

	if (argc > 1)
		return told(argv[1]);
	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
