/* offcpu_poll.h - off-CPU sampling by polling /proc, for kernels that do not report context
 * switches, and for threads that are blocked when a process is attached: /proc shows where each
 * thread waits, and its stack is read from the process.
 *
 * Between two polls a thread that was not given a CPU stayed where it was; the others have waited
 * the time that they did not run. /proc has only two of the registers, so a function that was
 * compiled with a frame pointer may end a stack early.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SAMPLE_OFFCPU_POLL_H
#define SAMPLE_OFFCPU_POLL_H

#include "profiler/sample/sample_profile.h"

typedef struct offcpu_poll {
	uint64_t every_ns; /* at least */
	uint64_t next_ns, last_ns, took_ns, looks, refused;
	uint64_t unread;      /* threads that waited at a place that may not be read */
	unsigned char *stack; /* @owned */
	size_t stack_bytes;
	bool only; /* one poll: from then on events report context switches */
} offcpu_poll;

dck_status offcpu_poll_init(offcpu_poll *l, size_t stack_bytes, dck_err *err);
void offcpu_poll_done(offcpu_poll *l);
/* Polls all threads of the profile's processes if a poll is due. Polling takes at most 5 % of a
 * CPU. */
void offcpu_poll_take(offcpu_poll *l, sample_profile *p, uint64_t now_ns);

#endif
