/* perf_sampling.h - the kernel's own sampling of programs (perf_event): a sample of each thread
 * each time that it has used some CPU time, with its registers and the top of its stack. Nothing is
 * put into the program.
 *
 *	os_perf *p;
 *
 *	DCK_TRY(os_perf_open(&(os_perf_config){.period_ns = 1000000}, &p, err));
 *	os_spawn(...)                  the thread that opened it starts a program: it is sampled
 *	os_perf_follow(p, tid, err)    or a thread that runs already, and what it makes
 *	while (os_perf_wait(p, 20)) ...rings of os_perf_ring_at() are read
 *	os_perf_close(p);
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OS_PERF_SAMPLING_H
#define OS_PERF_SAMPLING_H

#include "deepclock/base.h"

#include <stddef.h>
#include <stdint.h>

typedef struct os_perf os_perf;

/* The period of samples that are made when a thread leaves its CPU. */
enum { OS_PERF_SWITCH = 1 };

typedef struct os_perf_config {
	uint64_t period_ns;   /* of CPU time between two samples of a thread; above that */
	uint64_t registers;   /* which of the user's: PERF_REG_... of <asm/perf_regs.h> as bits */
	uint32_t stack_bytes; /* of the top of the stack, copied; a multiple of 8, below 65536 */
	size_t ring_bytes;    /* of all CPUs together, as far as the kernel gives so much */
	bool switches; /* also each time that a thread leaves its CPU, and when it comes back */
} os_perf_config;

/* What is in a ring: the kernel writes at `head`, we free up to `tail`. */
typedef struct os_perf_ring {
	void *page; /* struct perf_event_mmap_page */
	const unsigned char *data;
	size_t bytes; /* a power of two */
} os_perf_ring;

/* Whether a thread may have an event of itself. ret_kernel: also while the kernel works for it.
 * E_UNSUP as below. */
dck_status os_perf_permits(bool *ret_kernel, dck_err *err);
/* Sampling is off for the calling thread, and begins in its children at exec(). One CPU has one
 * ring. E_UNSUP: the kernel refuses; the sentence says why. */
dck_status os_perf_open(const os_perf_config *c, os_perf **ret, dck_err *err);
/* Samples that thread from now on, and all threads and processes that it makes. E_ABSENT: there is
 * no such thread any more; E_UNSUP: not ours, or too many. */
dck_status os_perf_follow(os_perf *p, int tid, dck_err *err);
void os_perf_stop(os_perf *p);	/* no samples from now on; what is in the rings stays */
void os_perf_close(os_perf *p); /* NULL is allowed */

size_t os_perf_rings(const os_perf *p);
const os_perf_ring *os_perf_ring_at(const os_perf *p, size_t i);
/* Samples are also made while the kernel works for the thread, and of what leaves its CPU. */
bool os_perf_sees_kernel(const os_perf *p);
bool os_perf_sees_switches(const os_perf *p);
/* Until some ring is a quarter full, or so many milliseconds. */
void os_perf_wait(const os_perf *p, int ms);
uint64_t os_perf_now_ns(void); /* the clock that records carry */

#endif
