/* sampler_signals.c - interposes on signal functions. If a program blocks, handles or waits for all
 * signals, the clocks' signal is removed from the set. The program's own handler for that signal is
 * stored, and is called for signals that no clock sent. Where a program has a small alternate
 * stack, the handler does not use it, and the program's handlers on it block the clocks' signal: in
 * one that is nested in them the kernel's frame might not fit, which ends the program.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sampler.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/signalfd.h>

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

/* The size of the kernel's frame, where the kernel does not have it. */
enum { FRAME_USUAL = 4096 };

static _Atomic int number;

int sampler_signal(void)
{
	return atomic_load_explicit(&number, memory_order_relaxed);
}

void sampler_signal_take(int n)
{
	atomic_store(&number, n);
}

void sampler_signal_unblock(void)
{
	const int ours = sampler_signal();
	sigset_t set;

	if (!ours)
		return;
	sigemptyset(&set);
	sigaddset(&set, ours);
	SAMPLER_NEXT(pthread_sigmask)(SIG_UNBLOCK, &set, NULL);
}

/* The same set without ours, in *own where there is something to leave out. */
static const sigset_t *without(const sigset_t *set, sigset_t *own)
{
	const int ours = sampler_signal();

	if (!set || !ours || sigismember(set, ours) != 1)
		return set;
	*own = *set;
	sigdelset(own, ours);
	return own;
}

/* An interposed function, which calls the next one with these arguments. */
#define WITHOUT(name, parameters, ...)                  \
	SAMPLER_API int name parameters                 \
	{                                               \
		sigset_t own;                           \
                                                        \
		return SAMPLER_NEXT(name)(__VA_ARGS__); \
	}
WITHOUT(pthread_sigmask, (int how, const sigset_t *restrict set, sigset_t *restrict old), how,
	how == SIG_UNBLOCK ? set : without(set, &own), old)
WITHOUT(sigprocmask, (int how, const sigset_t *restrict set, sigset_t *restrict old), how,
	how == SIG_UNBLOCK ? set : without(set, &own), old)
WITHOUT(sigwait, (const sigset_t *restrict set, int *restrict ret), without(set, &own), ret)
WITHOUT(sigwaitinfo, (const sigset_t *restrict set, siginfo_t *restrict ret), without(set, &own),
	ret)
WITHOUT(sigtimedwait,
	(const sigset_t *restrict set, siginfo_t *restrict ret,
	 const struct timespec *restrict time),
	without(set, &own), ret, time)
WITHOUT(signalfd, (int fd, const sigset_t *set, int flags), fd, without(set, &own), flags)

/* The program's action; the handler reads only `function` and `with_info`. */
static struct sigaction theirs;
static _Atomic(void *) function; /* NULL: none */
static _Atomic bool with_info;

void sampler_signal_theirs(int sig, siginfo_t *info, void *context)
{
	void *f = atomic_load(&function);
	void (*of_three)(int, siginfo_t *, void *);
	void (*of_one)(int);

	if (!f)
		return;
	/* memcpy: ISO C has no conversion from object to function pointers */
	memcpy(&of_three, &f, sizeof f);
	memcpy(&of_one, &f, sizeof f);
	if (atomic_load(&with_info))
		of_three(sig, info, context);
	else
		of_one(sig);
}

static _Atomic bool small_stack;

static bool sampler_is_on_stack(const struct sigaction *a)
{
	return a->sa_flags & SA_ONSTACK && a->sa_handler != SIG_DFL && a->sa_handler != SIG_IGN;
}

/* A handler of the program, which blocks our signal if it runs on a small stack. */
static int theirs_set(int sig, const struct sigaction *action, struct sigaction *old)
{
	struct sigaction own;

	if (!action || !sampler_signal() || !atomic_load(&small_stack) ||
	    !sampler_is_on_stack(action))
		return SAMPLER_NEXT(sigaction)(sig, action, old);
	own = *action;
	sigaddset(&own.sa_mask, sampler_signal());
	return SAMPLER_NEXT(sigaction)(sig, &own, old);
}

SAMPLER_API int sigaction(int sig, const struct sigaction *restrict action,
			  struct sigaction *restrict old)
{
	void *f = NULL;

	if (sig == 0 || sig != sampler_signal())
		return theirs_set(sig, action, old);
	const struct sigaction before = theirs;
	if (action) {
		theirs = *action;
		atomic_store(&function, NULL);
		atomic_store(&with_info, (action->sa_flags & SA_SIGINFO) != 0);
		if (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN)
			memcpy(&f, &action->sa_handler, sizeof f);
		atomic_store(&function, f);
	}
	if (old)
		*old = before;
	return 0;
}

/* glibc's own calls its sigaction() past ours. */
SAMPLER_API void (*signal(int sig, void (*handler)(int)))(int)
{
	const struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
	struct sigaction old;

	if (sig == 0 || sig != sampler_signal())
		return SAMPLER_NEXT(signal)(sig, handler);
	sigaction(sig, &action, &old);
	return old.sa_handler;
}

/* --- older functions, with which glibc calls its own past ours, too */

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* programs may call them */

static bool is_ours(int sig)
{
	return sig != 0 && sig == sampler_signal();
}

SAMPLER_API void (*sysv_signal(int sig, void (*handler)(int)))(int)
{
	return is_ours(sig) ? signal(sig, handler) : SAMPLER_NEXT(sysv_signal)(sig, handler);
}

/* signal() of programs that are built for X/Open alone */
SAMPLER_API void (*__sysv_signal(int sig, void (*handler)(int)))(int)
{
	return sysv_signal(sig, handler);
}

SAMPLER_API void (*ssignal(int sig, void (*handler)(int)))(int)
{
	return signal(sig, handler);
}

SAMPLER_API void (*sigset(int sig, void (*handler)(int)))(int)
{
	struct sigaction old;

	if (!is_ours(sig))
		return SAMPLER_NEXT(sigset)(sig, handler);
	if (handler != SIG_HOLD)
		return signal(sig, handler);
	sigaction(sig, NULL, &old);
	return old.sa_handler;
}

SAMPLER_API int sigignore(int sig)
{
	return is_ours(sig) ? (signal(sig, SIG_IGN), 0) : SAMPLER_NEXT(sigignore)(sig);
}

SAMPLER_API int sighold(int sig)
{
	return is_ours(sig) ? 0 : SAMPLER_NEXT(sighold)(sig);
}

/* The mask without ours: a bit for each of the signals from 1 to 32. */
static int mask_without(int mask)
{
	const int ours = sampler_signal();

	return ours > 0 && ours <= 32 ? (int)((unsigned)mask & ~(1u << (ours - 1))) : mask;
}

SAMPLER_API int sigblock(int mask)
{
	return SAMPLER_NEXT(sigblock)(mask_without(mask));
}

SAMPLER_API int sigsetmask(int mask)
{
	return SAMPLER_NEXT(sigsetmask)(mask_without(mask));
}

/* The handler then runs on the stack that it interrupts. It needs an alternate one where that is
 * small, as Go's, whose alternate stacks are large. */
int sampler_stack_flag(void)
{
	return atomic_load(&small_stack) ? 0 : SA_ONSTACK;
}

static void stack_look(const stack_t *stack)
{
	const size_t frame = getauxval(AT_MINSIGSTKSZ);
	struct sigaction ours;

	if (stack->ss_flags & SS_DISABLE ||
	    stack->ss_size >= (frame ? frame : FRAME_USUAL) + SAMPLER_STACK ||
	    atomic_exchange(&small_stack, true) || !sampler_signal())
		return;
	SAMPLER_NEXT(sigaction)(sampler_signal(), NULL, &ours);
	ours.sa_flags &= ~SA_ONSTACK;
	SAMPLER_NEXT(sigaction)(sampler_signal(), &ours, NULL);
	for (int sig = 1; sig < NSIG; sig++)
		if (sig != sampler_signal() && SAMPLER_NEXT(sigaction)(sig, NULL, &ours) == 0 &&
		    sampler_is_on_stack(&ours))
			theirs_set(sig, &ours, NULL);
}

SAMPLER_API int sigaltstack(const stack_t *restrict stack, stack_t *restrict old)
{
	if (stack)
		stack_look(stack);
	return SAMPLER_NEXT(sigaltstack)(stack, old);
}
