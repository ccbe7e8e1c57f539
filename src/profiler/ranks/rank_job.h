/* rank_job.h - the job from the parts of its ranks: clocks aligned, steps and collectives matched,
 * costs, and the rank that holds the others up.
 *
 *	rank_job_analyse(parts, size, &(rank_job_config){.directory = tmp, .warmup = 2}, &job, err);
 *	... job.blame, job.part_ns ...
 *	rank_job_done(&job);
 *
 * A collective begins in the last step of its rank that began before it; the k-th collective of a
 * name in a step is one operation with the k-th of that name in the same step of other ranks. The
 * work of a part is its time without the time in which the rank was in a collective.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RANKS_RANK_JOB_H
#define RANKS_RANK_JOB_H

#include "profiler/ranks/rank_blame.h"
#include "profiler/ranks/rank_part.h"
#include "stat/stat.h"

/* Runs of adjacent steps of a rank, for its wait and cost over time; of all ranks. */
enum { RANK_RUNS_MAX = 60, RANK_RUNS_ALL_MAX = 20000 };
/* Probability that a healthy job accuses a rank or a node: family-wise, over both tests. */
#define RANK_JOB_ALPHA 0.01

typedef struct rank_member {
	uint32_t rank;
	const rank_part *part;
	uint32_t node;	  /* index into rank_job.node */
	rank_clock clock; /* by the exchanges; rank 0's own is exact */
	bool same_boot;	  /* it shares rank 0's clock: the exchanges confirm it, and are not used */
	double within_ns; /* uncertainty of its times on rank 0's clock */
	size_t steps;	  /* that it recorded */
	double work_ns, wait_ns; /* mean per step: outside of collectives, and in them */
} rank_member;

/* A name of collectives. */
typedef struct rank_operation {
	const char *name;
	uint64_t calls; /* of all ranks */
	double time_ns; /* mean of a call */
} rank_operation;

typedef struct rank_job {
	mem_arena *arena;
	rank_member *member; /* ranks that have steps */
	size_t n;
	size_t skipped, steps; /* at the beginning; analysed */
	bool uneven;	       /* ranks have different numbers of steps */
	stat_estimate step;    /* median time from the begin of a step to that of the next */
	rank_costs costs;
	rank_blame blame; /* blame.unit: index into member */
	/* Of an accused rank: ranks of its node on the same processors, and the number of these. If
	 * the verdict is BLAME_SHARED: its time per step in the run queue, and the median of the
	 * others. */
	size_t sharing, cpus;
	double queue_own_ns, queue_others_ns;
	const char **node;
	size_t nodes;
	rank_costs node_costs;
	rank_blame node_blame; /* one node: BLAME_NOBODY */
	const char **part;     /* names; the last two are the rest of a step, and between steps */
	size_t nparts;
	double *part_ns; /* [member * nparts + part]: mean work per step */
	rank_operation *operation;
	size_t noperations;
} rank_job;

typedef struct rank_job_config {
	uint64_t warmup;       /* steps at the beginning that are left out, at most a quarter */
	const char *directory; /* for a file while the job is analysed */
	size_t arrivals;       /* in memory at a time; 0: RANK_ARRIVALS_USUAL */
} rank_job_config;
enum { RANK_ARRIVALS_USUAL = 1 << 17 };

/* parts[size], by rank; borrowed until rank_job_done(). E_NOMEM, E_IO. */
dck_status rank_job_analyse(const rank_part *parts, uint32_t size, const rank_job_config *config,
			    rank_job *ret, dck_err *err);
void rank_job_done(rank_job *j);
/* Returns the time of rank 0's clock. */
int64_t rank_member_time(const rank_member *m, int64_t ns);
/* Returns the part in which a member does most more work than the median of the others, and by how
 * much per step; nparts: in none. */
size_t rank_job_part(const rank_job *j, size_t member, double *ret_more_ns);

#endif
