/* sampler.h - the library that 'deepclock sample' puts in front of a program where samples are
 * taken inside: a clock for each thread, which counts the thread's CPU time (sampler_clock.h), and
 * a signal handler that writes the thread's stack into memory that deepclock reads.
 *
 * Always: errno stays; nothing allocates, locks or waits in the handler; the signal is one that
 * programs do not use, and if a program has a handler for it, that handler keeps working; system
 * calls are restarted; where something fails the program runs on, and is not sampled.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SAMPLER_SAMPLER_H
#define SAMPLER_SAMPLER_H

#include "profiler/sample/sample_slots.h"

#include <signal.h>
#include <stdbool.h>

#define SAMPLER_API __attribute__((visibility("default")))

/* The functions that this library stands in front of, and the next one of that name. They are all
 * found at the beginning: looking for one takes a lock. */
#define SAMPLER_FUNCTIONS(X) \
	X(pthread_create)    \
	X(thrd_create)       \
	X(pthread_sigmask)   \
	X(sigprocmask)       \
	X(sigwait) X(sigwaitinfo) X(sigtimedwait) X(signalfd) X(sigaction) X(signal)
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

/* The signal of the clocks; 0: nothing is sampled. Of glibc's own none. */
int sampler_signal(void);
void sampler_signal_take(int number); /* it is ours from now on */
/* One of that number came which no clock sent: it is for the handler that the program set. */
void sampler_signal_theirs(int sig, siginfo_t *info, void *context);
/* The calling thread is sampled from here on, and no more from there on. */
void sampler_thread_begins(void);
void sampler_thread_ends(void);

#endif
