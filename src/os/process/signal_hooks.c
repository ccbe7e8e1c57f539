/* signal_hooks.c - hooks on the signals that end this process, and on one request signal. After the
 * hook the normal action follows: the program's own handler runs, or the process ends by the same
 * signal, with its core and its exit status.
 *
 * A handler that the program installs later replaces ours, and sigaction() returns ours as the
 * previous one.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef enum ending { LIVES, CRASH, TERMINATION } ending;

/* By which the program fails, and by which others end it. */
static const struct row {
	const char *name;
	int number;
	ending ending;
} rows[] = {
    {"SIGSEGV", SIGSEGV, CRASH},       {"SIGBUS", SIGBUS, CRASH},
    {"SIGFPE", SIGFPE, CRASH},	       {"SIGILL", SIGILL, CRASH},
    {"SIGABRT", SIGABRT, CRASH},       {"SIGSYS", SIGSYS, CRASH},
    {"SIGTRAP", SIGTRAP, CRASH},       {"SIGHUP", SIGHUP, TERMINATION},
    {"SIGINT", SIGINT, TERMINATION},   {"SIGQUIT", SIGQUIT, TERMINATION},
    {"SIGPIPE", SIGPIPE, TERMINATION}, {"SIGTERM", SIGTERM, TERMINATION},
    {"SIGXCPU", SIGXCPU, TERMINATION}, {"SIGALRM", SIGALRM, LIVES},
    {"SIGCHLD", SIGCHLD, LIVES},       {"SIGCONT", SIGCONT, LIVES},
    {"SIGIO", SIGIO, LIVES},	       {"SIGKILL", SIGKILL, LIVES},
    {"SIGPROF", SIGPROF, LIVES},       {"SIGPWR", SIGPWR, LIVES},
    {"SIGSTOP", SIGSTOP, LIVES},       {"SIGTSTP", SIGTSTP, LIVES},
    {"SIGTTIN", SIGTTIN, LIVES},       {"SIGTTOU", SIGTTOU, LIVES},
    {"SIGURG", SIGURG, LIVES},	       {"SIGUSR1", SIGUSR1, LIVES},
    {"SIGUSR2", SIGUSR2, LIVES},       {"SIGVTALRM", SIGVTALRM, LIVES},
    {"SIGWINCH", SIGWINCH, LIVES},     {"SIGXFSZ", SIGXFSZ, LIVES},
};

enum { NROWS = sizeof rows / sizeof rows[0], STACK_BYTES = 65536, NUMBERS = 65 };

/* A handler can reach only static variables. */
static struct watched {
	bool is;
	struct sigaction old; /* the previous action */
} watched[NUMBERS];
static os_signal_hooks hooks;
static int asked_signal; /* the signal of hooks.asked; 0: none */

/* --- names */

static const struct row *hooks_row_of(int number)
{
	for (size_t i = 0; i < NROWS; i++)
		if (rows[i].number == number)
			return &rows[i];
	return NULL;
}

const char *os_signal_name(int number)
{
	return hooks_row_of(number) ? hooks_row_of(number)->name : NULL;
}

int os_signal_read(const char *text)
{
	static const char realtime[] = "RTMIN+";
	char *end;
	long n;

	if (isdigit((unsigned char)*text)) {
		n = strtol(text, &end, 10);
		return *end || n < 1 || n > SIGRTMAX || (!hooks_row_of((int)n) && n < SIGRTMIN)
			   ? 0
			   : (int)n;
	}
	if (!strncmp(text, "SIG", 3))
		text += 3;
	for (size_t i = 0; i < NROWS; i++)
		if (!strcmp(text, rows[i].name + 3))
			return rows[i].number;
	if (strncmp(text, realtime, sizeof realtime - 1) != 0 ||
	    !isdigit((unsigned char)text[sizeof realtime - 1]))
		return 0;
	n = strtol(text + sizeof realtime - 1, &end, 10);
	return *end || n > SIGRTMAX - SIGRTMIN ? 0 : SIGRTMIN + (int)n;
}

bool os_signal_may_ask(int number)
{
	const struct row *r = hooks_row_of(number);

	return number > 0 && number < NUMBERS && number != SIGKILL && number != SIGSTOP &&
	       (!r || r->ending != CRASH);
}

/* --- when one comes */

static bool has_handler(const struct sigaction *a)
{
	return (a->sa_flags & SA_SIGINFO) || (a->sa_handler != SIG_DFL && a->sa_handler != SIG_IGN);
}

/* Calls the program's handler as the system would have. */
static void program_handles(struct watched *w, int number, siginfo_t *info, void *context)
{
	struct sigaction old = w->old;
	sigset_t mask, before;

	if (old.sa_flags & (int)SA_RESETHAND) {
		w->old.sa_flags = 0;
		w->old.sa_handler = SIG_DFL;
	}
	mask = old.sa_mask;
	if (!(old.sa_flags & SA_NODEFER))
		sigaddset(&mask, number);
	pthread_sigmask(SIG_BLOCK, &mask, &before);
	if (old.sa_flags & SA_NODEFER) {
		sigemptyset(&mask);
		sigaddset(&mask, number);
		pthread_sigmask(SIG_UNBLOCK, &mask, NULL);
	}
	if (old.sa_flags & SA_SIGINFO)
		old.sa_sigaction(number, info, context);
	else
		old.sa_handler(number);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Queues the same signal, with its siginfo, which is delivered when the handler returns and then
 * ends the process: a failed instruction would fail again, but not after SIGTRAP or SIGSYS. */
static void hooks_end_by(int number, siginfo_t *info)
{
	const struct sigaction plain = {.sa_handler = SIG_DFL};

	sigaction(number, &plain, NULL);
	if (syscall(SYS_rt_tgsigqueueinfo, os_process_id(), os_thread_id(), number, info) != 0)
		raise(number);
}

static void hooks_on_signal(int number, siginfo_t *info, void *context)
{
	struct watched *w = &watched[number];
	const int error = errno;
	const bool theirs = has_handler(&w->old);

	if (number == asked_signal)
		hooks.asked(number);
	else if (theirs)
		hooks.handled(number);
	else
		hooks.ends(number);
	if (theirs)
		program_handles(w, number, info, context);
	else if (number != asked_signal && w->old.sa_handler == SIG_DFL)
		hooks_end_by(number, info);
	errno = error;
}

/* --- watching */

static bool hooks_is_ours(const struct sigaction *a)
{
	return (a->sa_flags & SA_SIGINFO) && a->sa_sigaction == hooks_on_signal;
}

static bool hooks_watch(int number)
{
	const struct sigaction ours = {.sa_sigaction = hooks_on_signal,
				       .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
	struct watched *w = &watched[number];
	struct sigaction old;

	if (sigaction(number, NULL, &old) != 0)
		return false;
	if (!hooks_is_ours(&old))
		w->old = old;
	if (sigaction(number, &ours, &old) != 0)
		return false;
	if (!hooks_is_ours(&old)) /* which another thread may just have changed */
		w->old = old;
	w->is = true;
	return true;
}

/* A handler cannot run on an overflowed stack. */
static void stack_give(void)
{
	static char stack[STACK_BYTES];
	static _Atomic bool taken;
	stack_t now;

	if (sigaltstack(NULL, &now) != 0 || !(now.ss_flags & SS_DISABLE) ||
	    atomic_exchange(&taken, true))
		return;
	now = (stack_t){.ss_sp = stack, .ss_size = sizeof stack};
	sigaltstack(&now, NULL);
}

void os_signals_watch(const os_signal_hooks *h, int asking)
{
	struct sigaction now;

	hooks = *h;
	asked_signal = asking;
	stack_give();
	for (size_t i = 0; i < NROWS; i++)
		if (rows[i].ending == CRASH && sigaction(rows[i].number, NULL, &now) == 0 &&
		    ((now.sa_flags & SA_SIGINFO) || now.sa_handler != SIG_IGN))
			hooks_watch(rows[i].number);
	if (asked_signal)
		hooks_watch(asked_signal);
}

void os_signals_watch_terminations(void)
{
	struct sigaction now;

	for (size_t i = 0; i < NROWS; i++)
		if (rows[i].ending == TERMINATION && rows[i].number != asked_signal &&
		    sigaction(rows[i].number, NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) &&
		    now.sa_handler == SIG_DFL)
			hooks_watch(rows[i].number);
}

void os_signals_forget(void)
{
	struct sigaction now;

	for (int i = 1; i < NUMBERS; i++) {
		struct watched *w = &watched[i];

		if (w->is && sigaction(i, NULL, &now) == 0 && hooks_is_ours(&now))
			sigaction(i, &w->old, NULL);
		w->is = false;
	}
	asked_signal = 0;
}
