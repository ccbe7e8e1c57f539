/* child.c - a function in a forked child, for libraries that may crash or hang.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"

#include "base/err.h"
#include "base/sink.h"
#include "os/process/pidfd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* strsignal() is not safe among threads; the usual signals that end a child. */
static const char *signal_text(int number)
{
	static const struct {
		int number;
		const char *text;
	} table[] = {
	    {SIGSEGV, "invalid memory access"},
	    {SIGABRT, "abort"},
	    {SIGBUS, "bus error"},
	    {SIGILL, "illegal instruction"},
	    {SIGFPE, "arithmetic error"},
	    {SIGKILL, "killed"},
	    {SIGTERM, "terminated"},
	    {SIGINT, "interrupted"},
	    {SIGPIPE, "broken pipe"},
	    {SIGSYS, "forbidden system call"},
	    {SIGTRAP, "trap"},
	    {SIGXCPU, "CPU time limit"},
	};
	for (size_t i = 0; i < sizeof(table) / sizeof *table; i++)
		if (table[i].number == number)
			return table[i].text;
	return "signal";
}

/* Runs in the child: discards its output and core dumps. Signals get their default action, because
 * the inherited handlers would run our code. */
static _Noreturn void be_child(void (*f)(void *self, dck_sink *to), void *self, int fd,
			       pid_t parent)
{
	static const int signals[] = {SIGINT,  SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGALRM,
				      SIGSEGV, SIGABRT, SIGBUS, SIGILL,	 SIGFPE};
	struct rlimit no_core = {0, 0};
	dck_sink to_parent;
	sigset_t none;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent) /* the parent had exited before prctl() */
		_exit(1);
	setrlimit(RLIMIT_CORE, &no_core);
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		signal(signals[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	int null_fd = open("/dev/null", O_RDWR);
	for (int to = 0; null_fd >= 0 && to < 3; to++)
		if (to != fd)
			dup2(null_fd, to);
	dck_sink_fd(&to_parent, fd);
	f(self, &to_parent);
	/* A broken pipe cannot be reported: the parent is gone. */
	const dck_status sent = dck_sink_finish(&to_parent, NULL);
	(void)sent;
	/* Not exit(): atexit() handlers belong to the parent. */
	_exit(0);
}

enum feed { FEED_MORE, FEED_END, FEED_FULL };

/* Reads the current content of the pipe. */
static enum feed pipe_read(int fd, size_t limit, size_t *taken, dck_sink *to)
{
	char buf[4096];
	for (;;) {
		ssize_t n = read(fd, buf, sizeof buf);
		if (n == 0)
			return FEED_END;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? FEED_MORE : FEED_END;
		if ((size_t)n > limit - *taken)
			return FEED_FULL;
		*taken += (size_t)n;
		sink_put(to, buf, (size_t)n);
	}
}

/* Reads until the child closes the pipe or ends; a grandchild may keep the pipe for longer. */
static enum feed child_follow(int fd, int pidfd, uint64_t deadline, size_t limit, dck_sink *to)
{
	size_t taken = 0;
	for (;;) {
		struct pollfd p[2] = {{.fd = fd, .events = POLLIN},
				      {.fd = pidfd, .events = POLLIN}};
		int ms = pidfd_ms_left(deadline);
		if (ms == 0)
			return FEED_MORE;
		if (poll(p, 2, ms) <= 0)
			continue;
		/* Checked before reading, so that output before the end is read below. */
		bool ended = p[1].revents != 0;
		enum feed f = pipe_read(fd, limit, &taken, to);
		if (f != FEED_MORE || ended)
			return ended && f == FEED_MORE ? FEED_END : f;
	}
}

static dck_status how_it_ended(pid_t pid, enum feed f, bool in_time, uint64_t timeout_ns,
			       size_t limit, dck_err *err)
{
	int status;
	char text[32];
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			DCK_FAIL_ERRNO(err, E_IO, errno, "cannot wait for a child process%s",
				       pidfd_reaped_text(errno));
	if (f == FEED_FULL)
		DCK_FAIL(err, E_LIMIT, "the child process wrote more than %s",
			 dck_text_bytes((double)limit, text, sizeof text));
	if (!in_time)
		DCK_FAIL(err, E_ENGINE, "the child process did not end within %s",
			 dck_text_time((double)timeout_ns, text, sizeof text));
	if (WIFSIGNALED(status)) {
		ERR_SET(err, E_ENGINE, "the child process was killed by signal %d (%s)",
			WTERMSIG(status), signal_text(WTERMSIG(status)));
		return err_native(DCK_E_ENGINE, WTERMSIG(status), err);
	}
	if (!WEXITSTATUS(status))
		return DCK_OK;
	ERR_SET(err, E_ENGINE, "the child process ended with exit status %d", WEXITSTATUS(status));
	return err_native(DCK_E_ENGINE, WEXITSTATUS(status), err);
}

dck_status os_in_child(void (*f)(void *self, dck_sink *to), void *self, uint64_t timeout_ns,
		       size_t limit, dck_buffer *out, dck_err *err)
{
	int ends[2];
	dck_sink to;
	dck_err sink_err;
	if (pipe2(ends, O_CLOEXEC))
		DCK_FAIL_ERRNO(err, E_IO, errno, "cannot make a pipe to a child process");
	const pid_t parent = getpid();
	pid_t pid = fork();
	if (pid < 0) {
		int e = errno;
		close(ends[0]);
		close(ends[1]);
		DCK_FAIL_ERRNO(err, E_IO, e, "cannot start a child process");
	}
	if (pid == 0) {
		close(ends[0]);
		be_child(f, self, ends[1], parent);
	}
	close(ends[1]);
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	uint64_t now = os_now_ns();
	uint64_t deadline = timeout_ns > UINT64_MAX - now ? UINT64_MAX : now + timeout_ns;
	int pidfd = pidfd_open_child(pid);
	dck_sink_buffer(&to, out);
	enum feed fed = child_follow(ends[0], pidfd, deadline, limit, &to);
	close(ends[0]);
	bool in_time = fed == FEED_END && pidfd_wait(pidfd, pid, deadline);
	if (!in_time)
		kill(pid, SIGKILL);
	if (pidfd >= 0)
		close(pidfd);
	dck_status st = how_it_ended(pid, fed, in_time, timeout_ns, limit, err);
	dck_status sunk = dck_sink_finish(&to, &sink_err);
	return st == DCK_OK ? err_pass(sunk, &sink_err, err) : st;
}
