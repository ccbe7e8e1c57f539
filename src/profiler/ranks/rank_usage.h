/* rank_usage.h - what the program of a rank used of its machine, and whether that explains why it
 * holds the others up.
 *
 *	rank_usage_begin(&start, false);
 *	... the program runs, and is recorded ...
 *	rank_usage_end(&start, trace_record, &part.usage);
 *	cause = rank_cause_find(usages, n, accused, share, &own, &others);	at rank 0
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RANKS_RANK_USAGE_H
#define RANKS_RANK_USAGE_H

#include "deepclock/record.h"

typedef enum rank_resource {
	RANK_LIFETIME,	 /* ns */
	RANK_CPU,	 /* ns, of all processes of the program */
	RANK_MEMORY,	 /* bytes: peak of its largest process */
	RANK_RUN_QUEUE,	 /* ns in which its thread that waited longest for a CPU was runnable */
	RANK_THROTTLED,	 /* ns in which the CPU limit of its control group stopped it */
	RANK_PERIODS,	 /* in which that happened (nr_throttled) */
	RANK_WORK_QUEUE, /* ns outside of its collectives in which their thread was runnable */
	RANK_WORK_TIME,	 /* ns that RANK_WORK_QUEUE covers */
	RANK_WORK_WAIT,	 /* ns of them in which it was in a collective */
	RANK_CPUS,	 /* processors on which it may run */
	RANK_CPU_SET,	 /* their hash: ranks of a node with the same one share them */
	RANK_RESOURCES
} rank_resource;

typedef struct rank_usage {
	int64_t n[RANK_RESOURCES];
	uint64_t known; /* 1 << rank_resource */
} rank_usage;

typedef struct rank_usage_start {
	uint64_t began_ns, cpu_ns, throttled_ns, periods;
	bool has_throttled, own;
} rank_usage_start;

/* own: of this process; else of the children that it waits for until the end. */
void rank_usage_begin(rank_usage_start *s, bool own);
/* trace: the record of the program's trace, whose threads have the time in the run queue; may be
 * NULL. */
void rank_usage_end(const rank_usage_start *s, const dck_record *trace, rank_usage *ret);

void rank_usage_put(rank_usage *u, rank_resource of, uint64_t n);

/* The part of its time that a rank lost to RANK_RUN_QUEUE, RANK_WORK_QUEUE, RANK_WORK_WAIT or
 * RANK_THROTTLED. NAN: unknown. */
double rank_usage_share(const rank_usage *u, rank_resource of);
/* Returns the resource of which the accused rank lost more than the median of the others, by at
 * least half of `share`, its cost as a share of a step; RANK_RESOURCES: neither. RANK_RUN_QUEUE has
 * RANK_WORK_QUEUE, where that is known: a rank that waits in a collective may be runnable. *ret_own
 * and *ret_others are both shares. A rank that was stopped by its limit is not counted as one whose
 * CPU was taken. usage[n], n at least 2. */
rank_resource rank_cause_find(const rank_usage *const *usage, size_t n, size_t accused,
			      double share, double *ret_own, double *ret_others);

#endif
