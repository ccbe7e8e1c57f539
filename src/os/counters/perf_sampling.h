/* perf_sampling.h - kernel sampling of programs (perf_event): a sample of a thread each time it has
 * used a period of CPU time, with its registers and the top of its stack. Nothing is loaded into
 * the program.
 *
 *	os_perf *p;
 *
 *	DCK_TRY(os_perf_open(&(os_perf_config){.period_ns = 1000000}, &p, err));
 *	os_spawn(...)                  the thread that opened it starts a program: it is sampled
 *	os_perf_follow(p, tid, err)    or a running thread, and its new children
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

/* The period of samples taken when a thread leaves its CPU. */
enum { OS_PERF_SWITCH = 1 };

typedef struct os_perf_config {
	uint64_t period_ns;   /* CPU time between two samples of a thread; > OS_PERF_SWITCH */
	uint64_t registers;   /* user registers: PERF_REG_... of <asm/perf_regs.h> as bits */
	uint32_t stack_bytes; /* copied from the top of the stack; a multiple of 8, < 65536 */
	size_t ring_bytes;    /* of all CPUs together, up to the kernel's limit */
	bool switches;	      /* also sample each thread that leaves its CPU, and its return */
} os_perf_config;

/* A ring buffer: the kernel writes at `head`, we free up to `tail`. */
typedef struct os_perf_ring {
	void *page; /* struct perf_event_mmap_page */
	const unsigned char *data;
	size_t bytes; /* a power of two */
} os_perf_ring;

/* Checks whether a thread may open an event on itself. ret_kernel: also in kernel mode. E_UNSUP as
 * below. */
dck_status os_perf_permits(bool *ret_kernel, dck_err *err);
/* Opens sampling: off for the calling thread, on in its children from exec(). Each CPU has one
 * ring. E_UNSUP: refused by the kernel; the message has the reason. */
dck_status os_perf_open(const os_perf_config *c, os_perf **ret, dck_err *err);
/* Returns the thread that was followed by an event, which its children inherited; 0: none, or that
 * of os_perf_open(). id: of a record. */
int os_perf_root(const os_perf *p, uint64_t id);
/* Samples that thread from now on, and all threads and processes that it makes. E_ABSENT: the
 * thread does not exist any more; E_UNSUP: not ours, or too many. */
dck_status os_perf_follow(os_perf *p, int tid, dck_err *err);
void os_perf_stop(os_perf *p);	/* no samples from now on; the rings keep their samples */
void os_perf_close(os_perf *p); /* NULL is allowed */

size_t os_perf_rings(const os_perf *p);
const os_perf_ring *os_perf_ring_at(const os_perf *p, size_t i);
/* Return whether samples are also taken in kernel mode, and when a thread leaves its CPU. */
bool os_perf_sees_kernel(const os_perf *p);
bool os_perf_sees_switches(const os_perf *p);
/* Waits until a ring is a quarter full, or for ms milliseconds. */
void os_perf_wait(const os_perf *p, int ms);
uint64_t os_perf_now_ns(void); /* the clock of the samples' times */

#endif
