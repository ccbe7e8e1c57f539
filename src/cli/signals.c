/* signals.c - interruption as a flag, closed pipes as write errors.
 *
 * Handlers and not SIG_IGN, since a program that is started later gets the default action back
 * for signals that have a handler, and would inherit one that is ignored.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

/* timeout(1) and terminals may deliver one interruption twice, to the process and to its group. */
#define SAME_SIGNAL_NS 300000000LL
/* Time limits: for an engine to return, and then for the remaining work, such as a user's
 * --cleanup. */
enum { NOTICE_S = 5, FINISH_S = 30 };
/* The process that started a worker waits less than that. */
enum { WORKER_NOTICE_S = 1 };

/* A signal handler can reach only static variables. */
static volatile sig_atomic_t seen, noticed;
/* The first signal only requests an end, with a deadline. */
static volatile sig_atomic_t asks, hurries;
/* A program was profiled, and has been killed. */
static volatile sig_atomic_t looks, killed;
/* It came from the terminal, which gives it to the programs that we started too. */
static volatile sig_atomic_t shared;
static struct timespec first_at;
/* The first run of a model has begun and not returned, at this second of the monotonic clock. */
static volatile sig_atomic_t in_first_run;
static volatile long long first_run_s;
/* The process that started this worker; 0: not a worker. */
static pid_t parent;

static void on_write(int sig)
{
	(void)sig;
}

/* One more signal must not end us in the middle of it. */
static void signals_end_by(int sig)
{
	static const char twice[] = "deepclock: interrupted twice: what was measured is lost\n";
	static volatile sig_atomic_t ending;

	if (ending)
		return;
	ending = 1;
	/* The second one: what the first asked for was not reached. */
	if (seen && !parent && write(STDERR_FILENO, twice, sizeof twice - 1) < 0)
		ending = 2; /* the reader is gone: nothing to do */
	dck_abandon();
	signal(sig, SIG_DFL);
	raise(sig);
}

/* Sent to a worker when its parent has exited. Not SIGHUP, which nohup sets to ignored and whose
 * disposition a measured program inherits; not SIGKILL, because processes started by the measured
 * programs would survive. */
#define ORPHANED SIGRTMAX

/* The process that waits for this worker was killed, and with us the programs that we measure. */
static void end_orphaned(void)
{
	dck_abandon();
	if (getpgrp() == getpid())
		kill(0, SIGKILL);
	_exit(CLI_FAILED);
}

/* Returns false if there is no program, or it was killed before. */
static bool program_kill(void)
{
	if (!looks || killed)
		return false;
	killed = 1;
	dck_programs_kill();
	return true;
}

static void on_orphaned(int sig)
{
	(void)sig;
	if (getppid() != parent)
		end_orphaned();
}

static void on_interrupt(int sig, siginfo_t *info, void *context)
{
	struct timespec now;

	(void)context;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!asks) {
		signals_end_by(sig);
		return;
	}
	if (!seen) {
		first_at = now;
		shared = info->si_code == SI_KERNEL;
		seen = 1;
		if (hurries || looks)
			alarm(parent ? WORKER_NOTICE_S : NOTICE_S);
		return;
	}
	if ((now.tv_sec - first_at.tv_sec) * 1000000000LL + now.tv_nsec - first_at.tv_nsec <
	    SAME_SIGNAL_NS)
		return;
	first_at = now;
	if (!program_kill())
		signals_end_by(sig);
}

/* Writes "deepclock: interrupted, but the first run did not return for 95 s". */
static void write_first(void)
{
	static const char before[] =
	    "deepclock: interrupted, but the first run did not return for ",
			  after[] =
			      " s, so nothing was measured: its inputs may decide whether it ends, "
			      "as in a Loop (--input gives others), or its sizes are too large for "
			      "this machine (--batch, --dim, --shape)\n";
	char digits[24], text[sizeof before + sizeof digits + sizeof after];
	size_t first = sizeof digits, n = sizeof before - 1;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	for (long long s = now.tv_sec - first_run_s; s > 0 || first == sizeof digits; s /= 10)
		digits[--first] = (char)('0' + s % 10);
	memcpy(text, before, n);
	memcpy(text + n, digits + first, sizeof digits - first);
	n += sizeof digits - first;
	memcpy(text + n, after, sizeof after - 1);
	n += sizeof after - 1;
	if (write(STDERR_FILENO, text, n) < 0)
		_exit(CLI_INTERRUPTED);
}

/* On whatever thread, whatever the others do. */
static void on_deadline(int sig)
{
	static const char late[] =
	    "deepclock: interrupted, but the engine did not return: the results of this process "
	    "are lost; bench --processes N measures in N processes, and reports those that ended\n";

	(void)sig;
	if (looks) {
		program_kill();
		return;
	}
	dck_abandon();
	if (!parent && in_first_run)
		write_first();
	else if (!parent && write(STDERR_FILENO, late, sizeof late - 1) < 0)
		_exit(CLI_INTERRUPTED);
	_exit(CLI_INTERRUPTED);
}

static void handler_set(int sig, struct sigaction action)
{
	struct sigaction old;

	sigemptyset(&action.sa_mask);
	/* No SA_RESTART: a wait for a child must be interrupted. Signals that were ignored at the
	 * start (nohup, a shell's background job) remain ignored. */
	if (sigaction(sig, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
		sigaction(sig, &action, NULL);
}

void cli_signals_install(void)
{
	asks = 1;
}

void cli_signals_watchdog(void)
{
	hurries = 1;
}

void cli_signals_phase(const char *phase)
{
	const bool first = phase && strcmp(phase, "first run") == 0;
	struct timespec now;

	if (first && !in_first_run) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		first_run_s = now.tv_sec;
	}
	in_first_run = first;
}

void cli_signals_program(bool started)
{
	asks = 1;
	looks = started;
}

bool cli_signal_killed(void)
{
	return killed != 0;
}

void cli_signals_finished(void)
{
	hurries = 0;
	alarm(0);
}

void cli_signals_die_with_parent(pid_t starter)
{
	sigset_t set;

	parent = starter;
	signal(ORPHANED, on_orphaned);
	prctl(PR_SET_PDEATHSIG, ORPHANED);
	if (getppid() != parent)
		end_orphaned();
	/* The terminal may stop background processes that write to it. */
	sigemptyset(&set);
	sigaddset(&set, SIGTTOU);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

bool cli_signal_seen(void)
{
	return seen != 0;
}

bool cli_signal_ours(void)
{
	return seen && !shared;
}

bool cli_cancelled(void *self)
{
	(void)self;
	if (seen && !noticed) {
		noticed = 1;
		if (hurries)
			alarm(FINISH_S);
	}
	return cli_signal_seen();
}

void cli_signals_begin(void)
{
	const struct sigaction interrupt = {.sa_sigaction = on_interrupt, .sa_flags = SA_SIGINFO},
			       write_fails = {.sa_handler = on_write};
	sigset_t deadlines;

	handler_set(SIGINT, interrupt);
	handler_set(SIGTERM, interrupt);
	handler_set(SIGHUP, interrupt);
	handler_set(SIGPIPE, write_fails);
	handler_set(SIGXFSZ, write_fails);
	signal(SIGALRM, on_deadline);
	/* Blocked, as a parent may leave it, the deadlines would never come. */
	sigemptyset(&deadlines);
	sigaddset(&deadlines, SIGALRM);
	sigaddset(&deadlines, ORPHANED);
	sigprocmask(SIG_UNBLOCK, &deadlines, NULL);
	/* Ignored, as a parent may leave it, the ends of the programs that we start would be lost.
	 */
	signal(SIGCHLD, SIG_DFL);
	/* A closed 0, 1 or 2 would be the number of the next file that is opened, and the report
	 * would go into it. Opened for reading, 1 and 2 fail every write, as they should. */
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) < 0)
			return;
}
