/* sampler_clock.h - per-thread CPU clock that sends a signal after each period of CPU time.
 *
 * Its source is a perf_event, if deepclock found that the kernel permits one: exact to the
 * microsecond at any rate. Its signal is SIGURG: a signal that is pending across exec() is ignored
 * by the new program, and at most one is pending. The event uses no descriptor, only a page of
 * memory, so the program may close any descriptor. Otherwise a timer, which the kernel checks at
 * its clock ticks.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SAMPLER_SAMPLER_CLOCK_H
#define SAMPLER_SAMPLER_CLOCK_H

#include "profiler/sample/sample_slots.h"

#include <signal.h>
#include <stdbool.h>

typedef struct sampler_clock {
	void *event; /* NULL: a timer */
	int timer;   /* its number, also after its end; -1: none */
} sampler_clock;
#define SAMPLER_CLOCK_NONE ((sampler_clock){NULL, -1})

/* Returns a signal without a handler for that kind of clock; 0: none. */
int sampler_clock_signal(sample_slots_clock kind);
/* Starts the clock of the calling thread. *ret_kind: the actual kind. */
bool sampler_clock_begin(sampler_clock *c, sample_slots_clock kind, int tid, int number,
			 uint64_t period_ns, sample_slots_clock *ret_kind);
void sampler_clock_end(sampler_clock *c);
/* Returns, in the handler, whether the thread's clock sent the signal, not the program or a timer
 * of it. */
bool sampler_clock_sent(const sampler_clock *c, const siginfo_t *info);

#endif
