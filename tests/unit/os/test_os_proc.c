/* Tests of os/proc.c: start, wait, exit status, cancellation, missing programs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"
#include "deepclock/unstable.h"
#include "os/process/other_process.h"

#include "base/mem.h"
#include "fault_alloc.h"
#include "scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static os_spawn_config quiet(char *const *argv)
{
	return (os_spawn_config){
	    .argv = argv, .in_fd = -1, .out_fd = -1, .err_fd = -1, .keep_fd = -1};
}

static os_child_usage run(os_spawn_config c)
{
	pid_t pid;
	os_child_usage u = {0};
	dck_err e;
	if (os_spawn(&c, &pid, &e) != DCK_OK || os_wait(pid, 0, NULL, NULL, &u, &e) != DCK_OK)
		fail_msg("%s", e.msg);
	return u;
}

static os_child_usage shell(const char *script)
{
	char *argv[] = {(char *)"sh", (char *)"-c", (char *)script, NULL};
	return run(quiet(argv));
}

/* Reads the standard output of a shell script. */
static void shell_output(const char *script, os_spawn_config c, char *buf, size_t size)
{
	char *argv[] = {(char *)"/bin/sh", (char *)"-c", (char *)script, NULL};
	int ends[2];
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	c.argv = argv;
	c.out_fd = ends[1];
	run(c);
	close(ends[1]);
	ssize_t n = read(ends[0], buf, size - 1);
	buf[n > 0 ? n : 0] = '\0';
	close(ends[0]);
}

static void exit_status_and_signal(void **state)
{
	(void)state;
	os_child_usage u = shell("exit 0");
	assert_int_equal(u.exit_code, 0);
	assert_int_equal(u.signal, 0);
	assert_int_equal(shell("exit 7").exit_code, 7);
	u = shell("kill -9 $$");
	assert_int_equal(u.exit_code, -1);
	assert_int_equal(u.signal, SIGKILL);
}

static void usage_is_the_childs(void **state)
{
	(void)state;
	os_child_usage busy = shell("i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done");
	os_child_usage idle = shell(":");
	assert_true(busy.user_ns + busy.system_ns > idle.user_ns + idle.system_ns);
	assert_true(busy.user_ns > 0);
}

/* The kernel gives a small child our own peak: then the peak is unknown, never ours. */
static void peak_memory_is_never_ours(void **state)
{
	(void)state;
	assert_int_equal(shell(":").peak_rss_bytes % 1024, 0);
	size_t n = 64 << 20;
	void *p = os_pages_alloc(n);
	assert_non_null(p);
	assert_int_equal(shell(":").peak_rss_bytes, 0);
	os_pages_free(p, n);
	assert_int_equal(shell(":").peak_rss_bytes, 0); /* the peak never decreases */
}

static void streams(void **state)
{
	(void)state;
	char *none[] = {NULL};
	char buf[256];
	shell_output("echo out; echo err >&2; cat", quiet(none), buf, sizeof buf);
	assert_string_equal(buf, "out\n");
	os_spawn_config c = quiet(none);
	c.err_fd = 2;
	c.in_fd = 0;
	shell_output("exec 2>&1; echo both >&2; [ -e /proc/self/fd/0 ] && echo in", c, buf,
		     sizeof buf);
	assert_string_equal(buf, "both\nin\n");
}

/* Swaps standard output and standard error, with files in place of ours. */
static void crossed_streams(void **state)
{
	(void)state;
	int saved[2] = {dup(1), dup(2)}, file[2];
	FILE *f[2] = {tmpfile(), tmpfile()};
	char text[2][32] = {"", ""};
	char *argv[] = {(char *)"sh", (char *)"-c", (char *)"echo one; echo two >&2", NULL};
	fflush(stdout);
	for (int i = 0; i < 2; i++) {
		file[i] = fileno(f[i]);
		dup2(file[i], i + 1);
	}
	os_spawn_config c = quiet(argv);
	pid_t pid;
	os_child_usage u;
	c.out_fd = 2;
	c.err_fd = 1;
	dck_status st = os_spawn(&c, &pid, NULL);
	if (st == DCK_OK)
		st = os_wait(pid, 0, NULL, NULL, &u, NULL);
	for (int i = 0; i < 2; i++) {
		dup2(saved[i], i + 1);
		close(saved[i]);
		assert_true(pread(file[i], text[i], sizeof text[i] - 1, 0) >= 0);
		fclose(f[i]);
	}
	assert_int_equal(st, DCK_OK);
	assert_string_equal(text[0], "two\n");
	assert_string_equal(text[1], "one\n");
}

static void only_the_kept_descriptor_stays_open(void **state)
{
	(void)state;
	char *none[] = {NULL};
	char buf[256], script[128];
	int kept = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int other = open("/dev/null", O_RDONLY | O_CLOEXEC);
	os_spawn_config c = quiet(none);
	c.keep_fd = kept;
	snprintf(script, sizeof script,
		 "[ -e /proc/$$/fd/%d ] && echo kept; [ -e /proc/$$/fd/%d ] "
		 "|| echo closed",
		 kept, other);
	shell_output(script, c, buf, sizeof buf);
	assert_string_equal(buf, "kept\nclosed\n");
	close(kept);
	close(other);
}

static void signals_are_as_new(void **state)
{
	(void)state;
	char *none[] = {NULL};
	char buf[256];
	sigset_t set, old;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, &old);
	signal(SIGPIPE, SIG_IGN);
	shell_output("grep -E 'SigBlk|SigIgn' /proc/self/status | tr -d '\\t '", quiet(none), buf,
		     sizeof buf);
	sigprocmask(SIG_SETMASK, &old, NULL);
	signal(SIGPIPE, SIG_DFL);
	assert_non_null(strstr(buf, "SigBlk:0000000000000000"));
	const char *ignored = strstr(buf, "SigIgn:");
	assert_non_null(ignored);
	assert_int_equal(strtoull(ignored + 7, NULL, 16) & (1u << (SIGPIPE - 1)), 0);
}

static void working_directory(void **state)
{
	(void)state;
	char *none[] = {NULL};
	char buf[256];
	os_spawn_config c = quiet(none);
	c.directory = "/";
	shell_output("pwd", c, buf, sizeof buf);
	assert_string_equal(buf, "/\n");
	char *argv[] = {(char *)"true", NULL};
	pid_t pid;
	dck_err e;
	c.argv = argv;
	c.directory = "/no/such/folder";
	assert_int_equal(os_spawn(&c, &pid, &e), DCK_E_ABSENT);
	assert_non_null(strstr(e.msg, "cannot run in the directory '/no/such/folder'"));
	c.directory = "/dev/null";
	assert_int_equal(os_spawn(&c, &pid, &e), DCK_E_IO);
}

/* A path with a slash is relative to our directory, also if the child runs in another. */
static void relative_program_in_another_directory(void **state)
{
	(void)state;
	FILE *f = fopen("./dck_test_program", "w");
	assert_non_null(f);
	fprintf(f, "#!/bin/sh\nexit 9\n");
	fclose(f);
	chmod("./dck_test_program", 0755);
	char *argv[] = {(char *)"./dck_test_program", NULL};
	os_spawn_config c = quiet(argv);
	assert_int_equal(run(c).exit_code, 9);
	c.directory = "/";
	assert_int_equal(run(c).exit_code, 9);
	remove("./dck_test_program");
}

static void programs_that_cannot_run(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		dck_status code;
		const char *part;
	} rows[] = {
	    {"no-such-program-at-all", DCK_E_ABSENT, "no program 'no-such-program-at-all' in"},
	    {"./no-such-program", DCK_E_ABSENT, "there is no program './no-such-program'"},
	    {"/dev/null/x", DCK_E_ABSENT, "there is no program"},
	    {"/etc/passwd", DCK_E_IO, "cannot run '/etc/passwd': Permission denied"},
	    {"/etc", DCK_E_IO, "cannot run '/etc': Is a directory"},
	    {"", DCK_E_ARG, "is empty"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof *rows; i++) {
		char *argv[] = {(char *)rows[i].name, NULL};
		os_spawn_config c = quiet(argv);
		pid_t pid = 77;
		dck_err e = {0};
		assert_int_equal(os_spawn(&c, &pid, &e), rows[i].code);
		assert_non_null(strstr(e.msg, rows[i].part));
		assert_int_equal(pid, 77);
	}
	char *none[] = {NULL};
	os_spawn_config c = quiet(none);
	pid_t pid;
	assert_int_equal(os_spawn(&c, &pid, NULL), DCK_E_ARG);
}

static void a_script_without_interpreter_is_refused(void **state)
{
	(void)state;
	FILE *f = fopen("dck_test_script", "w");
	assert_non_null(f);
	fprintf(f, "exit 0\n");
	fclose(f);
	chmod("dck_test_script", 0755);
	char *argv[] = {(char *)"./dck_test_script", NULL};
	os_spawn_config c = quiet(argv);
	pid_t pid;
	dck_err e = {0};
	assert_int_equal(os_spawn(&c, &pid, &e), DCK_E_FORMAT);
	assert_non_null(strstr(e.msg, "neither a program nor a script that begins with #!"));
	remove("dck_test_script");
}

static void program_lookup(void **state)
{
	(void)state;
	char *found, *path = mem_dup(getenv("PATH") ? getenv("PATH") : "/bin");
	assert_int_equal(os_find_program("sh", &found, NULL), DCK_OK);
	assert_int_equal(found[0], '/');
	assert_non_null(strstr(found, "/sh"));
	mem_free(found);
	setenv("PATH", "/no/such/folder:/etc", 1);
	assert_int_equal(os_find_program("sh", &found, NULL), DCK_E_ABSENT);
	assert_int_equal(os_find_program("passwd", &found, NULL),
			 DCK_E_IO); /* in /etc, not a program */
	setenv("PATH", "", 1);	    /* the current directory */
	assert_int_equal(os_find_program("sh", &found, NULL), DCK_E_ABSENT);
	setenv("PATH", path, 1);
	mem_free(path);
}

/* --- cancellation */

static int asked;

static bool cancel_at_third(void *self)
{
	(void)self;
	return ++asked >= 3;
}

static bool never(void *self)
{
	++*(int *)self;
	return false;
}

static void cancelling_stops_the_command(void **state)
{
	(void)state;
	char *argv[] = {(char *)"sleep", (char *)"100", NULL};
	os_spawn_config c = quiet(argv);
	pid_t pid;
	os_child_usage u = {.exit_code = 55};
	dck_err e;
	asked = 0;
	assert_int_equal(os_spawn(&c, &pid, &e), DCK_OK);
	assert_int_equal(os_wait(pid, 0, cancel_at_third, NULL, &u, &e), DCK_E_CANCEL);
	assert_int_equal(asked, 3);
	assert_int_equal(u.exit_code, -1); /* the end is reported */
	assert_int_equal(u.signal, SIGTERM);
	assert_int_equal(kill(pid, 0), -1); /* exited and reaped */
	assert_int_equal(errno, ESRCH);
}

/* A shell ends by SIGTERM, and what it waits for does not get it. */
static void cancelling_ends_what_a_shell_started(void **state)
{
	(void)state;
	char *argv[] = {(char *)"sh", (char *)"-c",
			(char *)"sleep 100 & echo $! > number; wait; :", NULL};
	char text[32] = "";
	const os_spawn_config c = quiet(argv);
	pid_t pid;
	os_child_usage u;
	dck_err e;
	FILE *f = NULL;

	assert_int_equal(os_spawn(&c, &pid, &e), DCK_OK);
	for (int i = 0; i < 1000 && !strchr(text, '\n'); i++) {
		os_sleep_ns(5000000, NULL, NULL);
		if ((f = fopen("number", "r"))) {
			if (!fgets(text, sizeof text, f))
				text[0] = '\0';
			fclose(f);
		}
	}
	const int other = atoi(text);
	assert_true(other > 0 && os_process_runs(other));
	asked = 2;
	assert_int_equal(os_wait(pid, 0, cancel_at_third, NULL, &u, &e), DCK_E_CANCEL);
	assert_int_equal(u.signal, SIGTERM);
	for (int i = 0; i < 1000 && os_process_runs(other); i++)
		os_sleep_ns(5000000, NULL, NULL);
	assert_false(os_process_runs(other));
}

/* Makes a system call fail, as old kernels and the sandboxes of containers do. */
static bool call_refused(unsigned number, unsigned error)
{
	struct sock_filter filter[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof filter / sizeof *filter, filter};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

enum { WAITED = 0, NOT_REFUSED = 77 };

static int waits_without_pidfd(void)
{
	char *argv[] = {(char *)"sleep", (char *)"100", NULL};
	char *brief[] = {(char *)"sh", (char *)"-c", (char *)"sleep 0.2; exit 3", NULL};
	os_spawn_config c = quiet(argv);
	os_child_usage u = {.exit_code = 55};
	int count = 0;
	pid_t pid;

	if (!call_refused(SYS_pidfd_open, EPERM))
		return NOT_REFUSED;
	asked = 0;
	if (os_spawn(&c, &pid, NULL) != DCK_OK ||
	    os_wait(pid, 0, cancel_at_third, NULL, &u, NULL) != DCK_E_CANCEL || asked != 3 ||
	    u.signal != SIGTERM)
		return 1;
	c = quiet(brief);
	if (os_spawn(&c, &pid, NULL) != DCK_OK ||
	    os_wait(pid, 0, never, &count, &u, NULL) != DCK_OK || u.exit_code != 3 || count < 2)
		return 2;
	return WAITED;
}

/* A limit of memory or time is kept too, where the end of a child cannot be polled. */
static void a_wait_is_asked_without_pidfd(void **state)
{
	int status = 0;

	(void)state;
	const pid_t child = fork();
	if (child == 0)
		_exit(waits_without_pidfd());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == NOT_REFUSED)
		skip();
	assert_int_equal(WEXITSTATUS(status), WAITED);
}

static void a_command_that_ignores_sigterm_is_killed(void **state)
{
	(void)state;
	char *argv[] = {(char *)"sh", (char *)"-c",
			(char *)"trap '' TERM; while :; do sleep 0.2; done", NULL};
	os_spawn_config c = quiet(argv);
	pid_t pid;
	os_child_usage u;
	dck_err e;
	asked = -5; /* gives the script time to set the trap */
	assert_int_equal(os_spawn(&c, &pid, &e), DCK_OK);
	assert_int_equal(os_wait(pid, 0, cancel_at_third, NULL, &u, &e), DCK_E_CANCEL);
	assert_int_equal(kill(pid, 0), -1);
}

static void waiting_may_be_asked_in_vain(void **state)
{
	(void)state;
	char *argv[] = {(char *)"sh", (char *)"-c", (char *)"sleep 0.2; exit 3", NULL};
	os_spawn_config c = quiet(argv);
	pid_t pid;
	os_child_usage u;
	dck_err e;
	int count = 0;
	assert_int_equal(os_spawn(&c, &pid, &e), DCK_OK);
	assert_int_equal(os_wait(pid, 0, never, &count, &u, &e), DCK_OK);
	assert_int_equal(u.exit_code, 3);
	assert_true(count >= 2);
	assert_int_equal(os_wait(pid, 0, NULL, NULL, &u, &e), DCK_E_IO); /* the child was reaped */
}

static void a_child_gets_the_former_limit_of_descriptors(void **state)
{
	struct rlimit before, low, raised;
	char text[32];

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	low = before;
	low.rlim_cur = 200;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	os_descriptors_raise();
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &raised), 0);
	assert_int_equal(raised.rlim_cur, before.rlim_max);
	os_descriptors_raise(); /* raised already: the first limit stays recorded */
	shell_output("ulimit -n", quiet(NULL), text, sizeof text);
	assert_string_equal(text, "200\n");
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

/* Otherwise each would occupy a slot in the table of running children. */
static void a_child_that_another_reaped_is_forgotten(void **state)
{
	(void)state;
	char *argv[] = {(char *)"true", NULL}, *waits[] = {(char *)"cat", NULL};
	os_spawn_config c = quiet(argv);
	os_child_usage u;
	dck_err e;
	pid_t pid;
	int ends[2], count = 0;

	for (int i = 0; i < 100; i++) {
		assert_int_equal(os_spawn(&c, &pid, &e), DCK_OK);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		assert_int_equal(os_wait(pid, 1, never, &count, &u, &e), DCK_E_IO);
	}
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	c = quiet(waits);
	c.in_fd = ends[0];
	assert_int_equal(os_spawn(&c, &pid, &e), DCK_OK);
	dck_programs_kill();
	close(ends[1]); /* cat exits if it was not killed */
	assert_int_equal(os_wait(pid, 0, NULL, NULL, &u, &e), DCK_OK);
	assert_true(u.killed);
	close(ends[0]);
}

static void on_alarm(int number)
{
	(void)number;
}

/* A signal interrupts poll(): the callback is called at once, and the wait continues. */
static void a_signal_does_not_end_the_wait(void **state)
{
	(void)state;
	struct sigaction a = {.sa_handler = on_alarm};
	sigaction(SIGALRM, &a, NULL);
	char *argv[] = {(char *)"sh", (char *)"-c", (char *)"sleep 0.3; exit 4", NULL};
	os_spawn_config c = quiet(argv);
	pid_t pid;
	os_child_usage u;
	int count = 0;
	for (int asks = 0; asks < 2; asks++) {
		assert_int_equal(os_spawn(&c, &pid, NULL), DCK_OK);
		ualarm(100000, 0);
		assert_int_equal(os_wait(pid, 0, asks ? never : NULL, &count, &u, NULL), DCK_OK);
		assert_int_equal(u.exit_code, 4);
	}
}

static unsigned open_descriptors(void)
{
	unsigned n = 0;
	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void a_spawner_starts_again_and_again_and_leaks_nothing(void **state)
{
	(void)state;
	unsigned before = open_descriptors();
	char *argv[] = {(char *)"sh", (char *)"-c", (char *)"exit 5", NULL};
	os_spawn_config c = quiet(argv);
	os_spawner *s;
	int count = 0;
	assert_int_equal(os_spawner_new(&c, &s, NULL), DCK_OK);
	for (int i = 0; i < 20; i++) {
		pid_t pid;
		os_child_usage u;
		assert_int_equal(os_spawner_run(s, &pid, NULL), DCK_OK);
		assert_int_equal(os_wait(pid, 0, i % 2 ? never : NULL, &count, &u, NULL), DCK_OK);
		assert_int_equal(u.exit_code, 5);
	}
	os_spawner_free(s);
	os_spawner_free(NULL);
	assert_int_equal(open_descriptors(), before);
}

static void every_allocation_fails_once(void **state)
{
	(void)state;
	dck_status st = DCK_E_NOMEM;
	size_t n = 1;
	unsigned before = open_descriptors();
	for (; st != DCK_OK; n++) {
		char *argv[] = {(char *)"true", NULL};
		os_spawn_config c = quiet(argv);
		os_spawner *s = NULL;
		fault_alloc f;
		dck_err e;
		c.directory = "/";
		fault_alloc_begin(&f, n);
		st = os_spawner_new(&c, &s, &e);
		os_spawner_free(s);
		dck_set_allocator(NULL);
		assert_int_equal(st, f.calls < n ? DCK_OK : DCK_E_NOMEM);
		assert_int_equal(f.out, 0);
		assert_int_equal(open_descriptors(), before);
	}
	assert_true(n > 2);
}

/* --- an abrupt end of this process leaves no files */

typedef struct begun {
	char directory[OS_TEMP_SIZE], file[OS_TEMP_SIZE + 8];
	pid_t group, alone;
	dck_replace *replace;
} begun;

/* In a child, because the library does not work afterwards. */
static void begin_and_abandon(void *self, dck_sink *out)
{
	char sh[] = "sh", c[] = "-c", script[] = "sleep 60 & sleep 60", sleep[] = "sleep",
	     minute[] = "60";
	char *const leader[] = {sh, c, script, NULL}, *const sleeper[] = {sleep, minute, NULL};
	os_spawn_config group = quiet(leader), alone = quiet(sleeper);
	begun b = {.group = 0};
	int in;

	(void)self;
	group.group = true;
	if (os_temp_dir(b.directory, NULL) != DCK_OK ||
	    os_spawn(&group, &b.group, NULL) != DCK_OK ||
	    os_spawn(&alone, &b.alone, NULL) != DCK_OK)
		_exit(1);
	snprintf(b.file, sizeof b.file, "%s/file", b.directory);
	if (dck_replace_open(b.file, &b.replace, &in, NULL) != DCK_OK)
		_exit(2);
	dck_abandon();
	if (write(out->fd, &b, sizeof b) != (ssize_t)sizeof b)
		_exit(3);
	_exit(0);
}

/* Without a parent that waits, the process id stays for a moment. */
static bool ends(pid_t pid)
{
	for (int i = 0; i < 500; i++) {
		if (kill(pid, 0) != 0 || !os_process_runs(pid))
			return true;
		os_sleep_ns(10000000, NULL, NULL);
	}
	return false;
}

static void an_end_in_the_middle_leaves_nothing(void **state)
{
	dck_buffer out = {0};
	begun b;

	(void)state;
	assert_int_equal(os_in_child(begin_and_abandon, NULL, 60000000000u, sizeof b, &out, NULL),
			 DCK_OK);
	assert_int_equal(out.n, sizeof b);
	memcpy(&b, out.data, sizeof b);
	dck_buffer_done(&out);
	assert_false(os_file_exists(b.directory));
	assert_true(ends(b.alone));
	/* The group is empty, or has only a zombie. */
	assert_true(ends(b.group));
}

int test_os_proc(void);
int test_os_proc(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(exit_status_and_signal),
	    cmocka_unit_test(usage_is_the_childs),
	    cmocka_unit_test(peak_memory_is_never_ours),
	    cmocka_unit_test(streams),
	    cmocka_unit_test(crossed_streams),
	    cmocka_unit_test(only_the_kept_descriptor_stays_open),
	    cmocka_unit_test(signals_are_as_new),
	    cmocka_unit_test(working_directory),
	    cmocka_unit_test(relative_program_in_another_directory),
	    cmocka_unit_test(programs_that_cannot_run),
	    cmocka_unit_test(a_script_without_interpreter_is_refused),
	    cmocka_unit_test(program_lookup),
	    cmocka_unit_test(cancelling_stops_the_command),
	    cmocka_unit_test(cancelling_ends_what_a_shell_started),
	    cmocka_unit_test(a_wait_is_asked_without_pidfd),
	    cmocka_unit_test(a_command_that_ignores_sigterm_is_killed),
	    cmocka_unit_test(waiting_may_be_asked_in_vain),
	    cmocka_unit_test(a_child_gets_the_former_limit_of_descriptors),
	    cmocka_unit_test(a_child_that_another_reaped_is_forgotten),
	    cmocka_unit_test(a_signal_does_not_end_the_wait),
	    cmocka_unit_test(a_spawner_starts_again_and_again_and_leaks_nothing),
	    cmocka_unit_test(every_allocation_fails_once),
	    cmocka_unit_test(an_end_in_the_middle_leaves_nothing),
	};
	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
