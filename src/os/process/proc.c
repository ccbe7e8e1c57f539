/* proc.c - child processes: found as by execvp(3), started by vfork(2) and execve(2), reaped by
 * wait4(2).
 *
 * The engine 'command' times the path from start to the end of the wait, so one-time work is done
 * in the os_spawner: search of PATH, environment, redirections. Its descriptors are above 2 and
 * close-on-exec, so that no dup2() overwrites one that is still needed.
 *
 * Between vfork() and execve() the child runs in this process's memory while the calling thread is
 * suspended: become() makes only system calls, and all signals are blocked, so that no signal
 * handler runs there. Through the shared memory it also reports why execve() failed. The child is
 * killed when the thread that started it ends (PR_SET_PDEATHSIG).
 *
 * Waiting: a long run is polled (pidfd.h), and cancelled() is called every 50 ms; a short one
 * (expect_ns) is only reaped, since polling costs 3 % of it. Cancelling sends SIGTERM and, 2 s
 * later, SIGKILL. A child is registered in cleanup.c from its start until it is reaped.
 *
 * os_spawner_run() may be called repeatedly; a spawner belongs to one thread. argv, `set` and the
 * directory are borrowed.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"

#include "base/err.h"
#include "base/mem.h"
#include "os/process/cleanup.h"
#include "os/process/pidfd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* --- finding */

/* Returns 0, or why the file cannot be run; *ret_there: the name exists. */
static int program_errno(const char *path, bool *ret_there)
{
	struct stat st;
	*ret_there = stat(path, &st) == 0;
	if (!*ret_there)
		return errno;
	if (S_ISDIR(st.st_mode))
		return EISDIR;
	return access(path, X_OK) ? errno : 0;
}

dck_status os_find_program(const char *name, char **ret, dck_err *err)
{
	char path[PATH_MAX];
	int why = ENOENT;
	bool there;
	if (!*name)
		DCK_FAIL(err, E_ARG, "the name of the program to run is empty");
	if (strchr(name, '/')) {
		why = program_errno(name, &there);
		snprintf(path, sizeof path, "%s", name);
	} else {
		const char *dirs = secure_getenv("PATH");
		/* The path that execvp() uses without PATH (confstr _CS_PATH). */
		for (const char *p = dirs ? dirs : "/bin:/usr/bin"; p;) {
			size_t n = strcspn(p, ":");
			int len = snprintf(path, sizeof path, "%.*s%s%s", (int)n, p, n ? "/" : "./",
					   name);
			int e = ENOENT;
			if (len > 0 && (size_t)len < sizeof path)
				e = program_errno(path, &there);
			/* As execvp: a file that may not be run does not end the search. A
			 * directory that may not be searched hides nothing that is meant for us. */
			if (e == 0 || (e == EACCES && there))
				why = e;
			if (e == 0)
				break;
			p = p[n] ? p + n + 1 : NULL;
		}
	}
	if (why == ENOENT || why == ENOTDIR)
		DCK_FAIL(err, E_ABSENT, "there is no program '%.200s'%s%s", name,
			 strchr(name, '/') ? "" : " in the directories that PATH lists",
			 strchr(name, ' ') ? ": each of its words is a separate argument" : "");
	if (why)
		DCK_FAIL_ERRNO(err, E_IO, why, "cannot run '%.200s'", name);
	char *found = mem_dup(path);
	DCK_NEED(found, err, "to run '%.200s'", name);
	*ret = found;
	return DCK_OK;
}

/* --- starting */

/* The soft limit of descriptors that children get; 0: that of this process. */
static _Atomic(rlim_t) descriptors_soft;

void os_descriptors_raise(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) != 0 || l.rlim_cur >= l.rlim_max)
		return;
	const rlim_t soft = l.rlim_cur;
	l.rlim_cur = l.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &l) == 0)
		atomic_store(&descriptors_soft, soft);
}

/* Gives a child the limit that os_descriptors_raise() found. */
static void descriptors_restore(void)
{
	const rlim_t soft = atomic_load(&descriptors_soft);
	struct rlimit l;

	if (soft == 0 || getrlimit(RLIMIT_NOFILE, &l) != 0 || l.rlim_cur <= soft)
		return;
	l.rlim_cur = soft;
	setrlimit(RLIMIT_NOFILE, &l);
}

struct os_spawner {
	char *program; /* @owned */
	char *const *argv;
	const char **environment; /* @owned; NULL: ours, as it is when the child starts */
	const char *directory;	  /* borrowed; NULL: ours */
	const char *input;	  /* borrowed; NULL: none */
	int standard[3];	  /* become 0, 1 and 2; the same number: inherited */
	int keep_fd;		  /* -1: none */
	int opened[4];		  /* to be closed; -1: none */
	size_t nopened;
	bool group; /* the child leads a new process group */
};

/* Stores a descriptor, opened above the standard three so that no dup2 of the child writes over one
 * that a later dup2 still needs. */
static int proc_keep(os_spawner *s, int fd)
{
	const int high = os_fd_above_standard(fd);

	if (high >= 0)
		s->opened[s->nopened++] = high;
	return high;
}

static dck_status redirect(os_spawner *s, const os_spawn_config *c, dck_err *err)
{
	const int from[3] = {c->in_fd, c->out_fd, c->err_fd};
	int null_fd = -1;
	for (int to = 0; to < 3; to++) {
		int fd = from[to];
		s->standard[to] = to;
		if (fd == to)
			continue;
		if (fd < 0) {
			if (null_fd < 0)
				null_fd = proc_keep(s, open("/dev/null", O_RDWR | O_CLOEXEC));
			fd = null_fd;
		} else if (fd < 3) {
			/* Another of the standard three, which the child may already have
			 * replaced when its turn comes. */
			fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
			if (fd >= 0)
				s->opened[s->nopened++] = fd;
		}
		if (fd < 0)
			DCK_FAIL_ERRNO(err, E_IO, errno, "cannot redirect the command '%.200s'",
				       c->argv[0]);
		s->standard[to] = fd;
	}
	return DCK_OK;
}

/* A path relative to our directory must still be found from the child's. */
static dck_status make_absolute(char **program, dck_err *err)
{
	char cwd[PATH_MAX], path[2 * PATH_MAX];
	if ((*program)[0] == '/')
		return DCK_OK;
	if (!getcwd(cwd, sizeof cwd))
		DCK_FAIL_ERRNO(err, E_IO, errno, "cannot find the current directory");
	snprintf(path, sizeof path, "%s/%s", cwd, *program);
	char *absolute = mem_dup(path);
	DCK_NEED(absolute, err, "to run '%.200s'", *program);
	mem_free(*program);
	*program = absolute;
	return DCK_OK;
}

static dck_status enter_directory(os_spawner *s, const char *directory, dck_err *err)
{
	struct stat st;
	/* Checked here, since the start cannot distinguish chdir() from exec(). */
	if (stat(directory, &st))
		return err_set_errno(err, errno == ENOENT ? DCK_E_ABSENT : DCK_E_IO, __FILE__,
				     __LINE__, errno, "cannot run in the directory '%.200s'",
				     directory);
	if (!S_ISDIR(st.st_mode))
		DCK_FAIL_ERRNO(err, E_IO, ENOTDIR, "cannot run in the directory '%.200s'",
			       directory);
	s->directory = directory;
	return make_absolute(&s->program, err);
}

static bool proc_same_name(const char *a, const char *b)
{
	size_t n = strcspn(a, "=");

	return strncmp(a, b, n + 1) == 0;
}

/* Makes the environment: the variables of `set`, then our variables of other names. */
static dck_status environment_make(os_spawner *s, const char *const *set, dck_err *err)
{
	size_t nset = 0, n, nours = 0;

	while (set[nset])
		nset++;
	while (environ[nours])
		nours++;
	s->environment = mem_zalloc(nset + nours + 1, sizeof *s->environment);
	DCK_NEED(s->environment, err, "for the environment of a command");
	for (n = 0; n < nset; n++)
		s->environment[n] = set[n];
	for (size_t i = 0; i < nours; i++) {
		size_t k = 0;

		while (k < nset && !proc_same_name(set[k], environ[i]))
			k++;
		if (k == nset)
			s->environment[n++] = environ[i];
	}
	return DCK_OK;
}

/* Whether we are the foreground process group of a terminal. A child in another group would be
 * stopped as soon as it reads from the terminal. */
static bool in_foreground(void)
{
	const int fd = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);
	const bool is = fd >= 0 && tcgetpgrp(fd) == getpgrp();

	if (fd >= 0)
		close(fd);
	return is;
}

/* Each child opens the file, so that each reads it from its beginning. Opening a pipe could wait,
 * while this process is suspended. */
static dck_status input_check(const char *path, dck_err *err)
{
	struct stat st;
	const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd < 0)
		return err_set_errno(err, errno == ENOENT ? DCK_E_ABSENT : DCK_E_IO, __FILE__,
				     __LINE__, errno, "cannot open '%.200s' as standard input",
				     path);
	const bool known = fstat(fd, &st) == 0;

	close(fd);
	if (!known || !(S_ISREG(st.st_mode) || S_ISCHR(st.st_mode)))
		DCK_FAIL(err, E_IO, "'%.200s' is %s: standard input is a file or a device", path,
			 known && S_ISDIR(st.st_mode) ? "a directory" : "a pipe or a socket");
	return DCK_OK;
}

static dck_status proc_prepare(os_spawner *s, const os_spawn_config *c, dck_err *err)
{
	DCK_TRY(os_find_program(c->argv[0], &s->program, err));
	if (c->set)
		DCK_TRY(environment_make(s, c->set, err));
	if (c->directory)
		DCK_TRY(enter_directory(s, c->directory, err));
	if (c->input)
		DCK_TRY(input_check(c->input, err));
	s->input = c->input;
	s->keep_fd = c->keep_fd;
	s->group = c->group && !in_foreground();
	return redirect(s, c, err);
}

dck_status os_spawner_new(const os_spawn_config *c, os_spawner **ret, dck_err *err)
{
	if (!c->argv || !c->argv[0])
		DCK_FAIL(err, E_ARG, "there is no command to run");
	os_spawner *s = mem_zalloc(1, sizeof *s);
	DCK_NEED(s, err, "to start '%.200s'", c->argv[0]);
	s->argv = c->argv;
	dck_status st = proc_prepare(s, c, err);
	if (st == DCK_OK)
		*ret = s;
	else
		os_spawner_free(s);
	return st;
}

/* Opens the file as descriptor 0. */
static bool input_take(const char *path)
{
	const int fd = open(path, O_RDONLY | O_NOCTTY);

	if (fd <= 0)
		return fd == 0;
	const bool taken = dup2(fd, 0) == 0;

	close(fd);
	return taken;
}

/* Runs in the child, in our memory and on our stack until execve(): it may only make system calls.
 * All signals are blocked, as our handlers would run in it. */
static int become(const os_spawner *s, char *const *environment, pid_t parent)
{
	struct sigaction action;
	sigset_t none;

	/* It must not outlive the process that waits for it, even if no process is left to end it.
	 * Its children do not inherit this. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() != parent)
		return ECANCELED;
	if (s->group && setpgid(0, 0) != 0)
		return errno;
	/* Before the directory changes: the path is relative to ours. */
	if (s->input && !input_take(s->input))
		return errno;
	if (s->directory && chdir(s->directory) != 0)
		return errno;
	for (int to = s->input ? 1 : 0; to < 3; to++)
		if (s->standard[to] != to && dup2(s->standard[to], to) < 0)
			return errno;
	if (s->keep_fd >= 0 && fcntl(s->keep_fd, F_SETFD, 0) != 0)
		return errno;
	/* exec() does this too, and later. */
	for (int sig = 1; sig < NSIG; sig++)
		if (sig == SIGPIPE ||
		    (sigaction(sig, NULL, &action) == 0 && action.sa_handler != SIG_IGN &&
		     action.sa_handler != SIG_DFL))
			signal(sig, SIG_DFL);
	descriptors_restore();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execve(s->program, s->argv, environment);
	return errno;
}

/* Starts a child as posix_spawn() does, which cannot set PR_SET_PDEATHSIG. The calling thread must
 * live as long as the child, since to the kernel a parent is a thread. *ret_errno: why it failed,
 * or 0. */
static pid_t proc_start(const os_spawner *s, int *ret_errno)
{
	sigset_t all, before;
	pid_t pid;
	char *const *environment = s->environment ? (char **)s->environment : environ;
	const pid_t parent = getpid();
	volatile int failed = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	pid = vfork();
	if (pid == 0) {
		failed = become(s, environment, parent);
		_exit(127);
	}
	*ret_errno = pid < 0 ? errno : failed;
	if (pid > 0 && failed)
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return pid;
}

dck_status os_spawner_run(os_spawner *s, pid_t *ret, dck_err *err)
{
	int e;
	const pid_t pid = proc_start(s, &e);
	if (e == ENOEXEC)
		DCK_FAIL_ERRNO(err, E_FORMAT, e,
			       "cannot run '%.200s', which is neither a program nor a script "
			       "that begins with #!",
			       s->program);
	if (e && s->input)
		DCK_TRY(input_check(s->input, err));
	if (e)
		DCK_FAIL_ERRNO(err, E_IO, e, "cannot run '%.200s'", s->program);
	cleanup_add_process(pid, s->group);
	*ret = pid;
	return DCK_OK;
}

void os_spawner_free(os_spawner *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->nopened; i++)
		close(s->opened[i]);
	mem_free(s->environment);
	mem_free(s->program);
	mem_free(s);
}

dck_status os_spawn(const os_spawn_config *c, pid_t *ret, dck_err *err)
{
	os_spawner *s;
	DCK_TRY(os_spawner_new(c, &s, err));
	dck_status st = os_spawner_run(s, ret, err);
	os_spawner_free(s);
	return st;
}

/* --- waiting */

enum { ASK_EVERY_MS = 50 };
static const uint64_t grace_ns = 2000000000u, short_ns = 100000000u;

static uint64_t proc_timeval_ns(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_usec * 1000u;
}

/* Returns the child's peak, or 0 if it is not known. exec() inherits the peak of the address space
 * it leaves, which vfork() shares with us (Linux, exec_mmap): a peak that is not above ours is not
 * the
 * child's. */
static uint64_t own_peak_rss(const struct rusage *r)
{
	struct rusage ours;
	if (getrusage(RUSAGE_SELF, &ours) || r->ru_maxrss <= ours.ru_maxrss)
		return 0;
	return (uint64_t)r->ru_maxrss * 1024;
}

static void fill_usage(pid_t pid, int status, const struct rusage *r, os_child_usage *ret)
{
	cleanup_remove_process(pid, WIFSIGNALED(status));
	ret->user_ns = proc_timeval_ns(r->ru_utime);
	ret->system_ns = proc_timeval_ns(r->ru_stime);
	ret->peak_rss_bytes = own_peak_rss(r);
	ret->voluntary_switches = (uint64_t)r->ru_nvcsw;
	ret->involuntary_switches = (uint64_t)r->ru_nivcsw;
	ret->minor_faults = (uint64_t)r->ru_minflt;
	ret->major_faults = (uint64_t)r->ru_majflt;
	ret->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	ret->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	ret->killed = ret->signal == SIGKILL;
}

/* The child does not exist: its number may soon be another process's. */
static dck_status wait_failed(pid_t pid, int e, dck_err *err)
{
	cleanup_remove_process(pid, false);
	DCK_FAIL_ERRNO(err, E_IO, e, "cannot wait for process %ld%s", (long)pid,
		       pidfd_reaped_text(e));
}

static dck_status reap(pid_t pid, os_child_usage *ret, dck_err *err)
{
	struct rusage r;
	int status;
	while (wait4(pid, &status, 0, &r) < 0)
		if (errno != EINTR)
			return wait_failed(pid, errno, err);
	fill_usage(pid, status, &r, ret);
	return DCK_OK;
}

/* Stops the child: SIGTERM, then SIGKILL after a while. A shell that ends so leaves the program
 * that it has started, which is killed then. */
static dck_status stop(pid_t pid, int pidfd, os_child_usage *ret, dck_err *err)
{
	cleanup_family family;

	cleanup_family_open(pid, &family);
	kill(pid, SIGTERM);
	if (!pidfd_wait(pidfd, pid, os_now_ns() + grace_ns))
		cleanup_kill_process(pid);
	const dck_status reaped = reap(pid, ret, err);
	cleanup_family_close(&family, reaped == DCK_OK && ret->signal != 0);
	DCK_TRY(reaped);
	DCK_FAIL(err, E_CANCEL, "cancelled, and the command was stopped");
}

dck_status os_wait(pid_t pid, uint64_t expect_ns, bool (*cancelled)(void *self), void *self,
		   os_child_usage *ret, dck_err *err)
{
	pidfd_end end = {.fd = -1, .other = -1};
	dck_status st = DCK_OK;

	if (!cancelled)
		return reap(pid, ret, err);
	if (expect_ns == 0 || expect_ns >= short_ns)
		pidfd_end_open(pid, &end);
	for (;;) {
		struct rusage r;
		int status;

		if (cancelled(self)) {
			st = stop(pid, end.fd, ret, err);
			break;
		}
		if (end.fd >= 0) {
			/* Wakes at the child's end or at a signal, as wait4 does. */
			struct pollfd p = {.fd = end.fd, .events = POLLIN};
			if (poll(&p, 1, ASK_EVERY_MS) <= 0)
				continue;
			st = reap(pid, ret, err);
			break;
		}
		/* A short run: only a signal leads to another call of cancelled(). */
		if (wait4(pid, &status, 0, &r) >= 0) {
			fill_usage(pid, status, &r, ret);
			break;
		}
		if (errno != EINTR) {
			st = wait_failed(pid, errno, err);
			break;
		}
	}
	pidfd_end_close(&end);
	/* dck_programs_kill() ended it before cancelled() was called. */
	if (st == DCK_OK && ret->killed && cancelled(self))
		st = ERR_SET(err, E_CANCEL, "cancelled, and the command was killed");
	return st;
}

long os_process_id(void)
{
	return (long)getpid();
}

const char *os_program_name(void)
{
	return program_invocation_name;
}

void os_program_arguments(char *buf, size_t size, char **ret, size_t max)
{
	const int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	const ssize_t got = fd >= 0 ? read(fd, buf, size - 1) : 0;
	size_t n = 0;

	if (fd >= 0)
		close(fd);
	if (got > 0) {
		buf[got] = '\0';
		for (char *at = buf; at < buf + got && n + 1 < max; at += strlen(at) + 1)
			ret[n++] = at;
	} else if (max > 1) {
		snprintf(buf, size, "%s", os_program_name());
		ret[n++] = buf;
	}
	ret[n] = NULL;
}
