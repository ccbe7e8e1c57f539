/* sampler.h - the library that 'deepclock sample' preloads to sample a program from inside: a clock
 * of each thread's CPU time (sampler_clock.h), and a signal handler that writes the thread's stack
 * into shared memory, which deepclock reads.
 *
 * Invariants: errno is preserved; the handler does not allocate, lock or wait; the signal is one
 * that programs do not use, and a program's handler for it keeps working; system calls are
 * restarted; after a failure the program continues without sampling.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SAMPLER_SAMPLER_H
#define SAMPLER_SAMPLER_H

#include "profiler/sample/sample_slots.h"

#include <signal.h>
#include <stdbool.h>

#define SAMPLER_API __attribute__((visibility("default")))

/* The interposed functions, and the next definition of each. All are looked up at the start,
 * because a lookup takes a lock. */
#define SAMPLER_FUNCTIONS(X) \
	X(pthread_create)    \
	X(thrd_create)       \
	X(pthread_sigmask)   \
	X(dlclose)           \
	X(sigprocmask)       \
	X(sigwait)           \
	X(sigwaitinfo)       \
	X(sigtimedwait)      \
	X(signalfd)          \
	X(sigaction)         \
	X(signal)            \
	X(sigaltstack)       \
	X(sysv_signal)       \
	X(sigset)            \
	X(sigignore)         \
	X(sighold)           \
	X(sigblock)          \
	X(sigsetmask)
enum sampler_number {
#define X(f) SAMPLER_##f,
	SAMPLER_FUNCTIONS(X)
#undef X
	    SAMPLER_COUNT
};
typedef void sampler_function(void);
extern sampler_function *sampler_functions[SAMPLER_COUNT];
sampler_function *sampler_find(enum sampler_number n);
void sampler_find_all(void);
#define SAMPLER_NEXT(f)                                                                     \
	((__typeof__(&(f)))(sampler_functions[SAMPLER_##f] ? sampler_functions[SAMPLER_##f] \
							   : sampler_find(SAMPLER_##f)))

/* Returns the signal of the clocks, never one of glibc's; 0: not sampling. */
int sampler_signal(void);
void sampler_signal_take(int number); /* reserves the signal */
enum { SAMPLER_STACK = 12288 };	      /* what the handler needs besides the kernel's frame */
/* SA_ONSTACK, or 0 where the program has an alternate stack that is too small for the handler. */
int sampler_stack_flag(void);
/* Passes a signal that no clock sent to the program's handler. */
void sampler_signal_theirs(int sig, siginfo_t *info, void *context);
/* Unblocks the signal in the calling thread, which may have inherited a mask of all signals. */
void sampler_signal_unblock(void);
/* Start and stop sampling the calling thread. */
void sampler_thread_begins(void);
void sampler_thread_ends(void);

#endif
