/* sampler_clock.h - what sends the signals: one for each thread, each time that it has used some
 * CPU time.
 *
 * Of the kernel's perf_event, where deepclock found that it permits one: exact to the microsecond
 * at any rate. Its signal is SIGURG: what is on its way when the program runs another one is
 * ignored there, and never more than one waits. The event holds no descriptor, only a page of
 * memory: the program may close what it wants. Else a timer, which the kernel looks at when its own
 * clock ticks.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SAMPLER_SAMPLER_CLOCK_H
#define SAMPLER_SAMPLER_CLOCK_H

#include "profiler/sample/sample_slots.h"

#include <signal.h>
#include <stdbool.h>

typedef struct sampler_clock {
	void *event; /* NULL: a timer */
	int timer;
} sampler_clock;

/* The signal for that kind of clock, which has no handler; 0: there is none. */
int sampler_clock_signal(sample_slots_clock kind);
/* Of the calling thread. *ret_kind: what it became. */
bool sampler_clock_begin(sampler_clock *c, sample_slots_clock kind, int tid, int number,
			 uint64_t period_ns, sample_slots_clock *ret_kind);
void sampler_clock_end(sampler_clock *c);
/* In the handler: the signal is of such a clock, and not the program's own. */
bool sampler_clock_sent(const siginfo_t *info);

#endif
