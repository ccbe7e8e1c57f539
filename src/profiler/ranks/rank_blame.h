/* rank_blame.h - which rank, or node, holds the others up. Pure functions on arrays; the same input
 * gives the same result.
 *
 *	rank_costs_init(units, steps, runs, step_ns, &costs, err);
 *	rank_costs_add(&costs, arrivals, n, err);	// of the first steps, then of the next ones
 *	rank_blame_find(&costs, alpha, &blame, err);
 *	rank_costs_done(&costs);
 *
 * Durations cannot show it, because a collective operation makes all ranks equally slow. So the
 * arrivals at each collective count: from the arrival of the last rank but one to that of the last,
 * all others wait for one rank alone. The cost of a rank in a step is the time in which at least
 * one collective waited for it alone: overlapping collectives, such as the buckets of gradients,
 * count once. Ranks that have left the collective, as the sender of a broadcast, no longer wait. A
 * rank that its last collective held for longer than the others, after all had arrived there, is
 * late for that reason: its neighbour may have a slow link. This time is not its cost. The order of
 * two arrivals that are closer than the uncertainty of their clocks is not used.
 *
 * The test is a permutation test (Fisher, The Design of Experiments, 1935; the greatest statistic
 * for many units: Westfall and Young, Resampling-Based Multiple Testing, 1993). Without a straggler
 * the names of the ranks in a step are exchangeable, so they are permuted within each block of
 * adjacent steps, and the greatest total cost of any rank is compared with the observed one. Blocks
 * and not steps, because a disturbance lasts for several steps. At most BLAME_BLOCKS_MAX blocks.
 *
 * Memory: units times blocks and runs, and one number for each step.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RANKS_RANK_BLAME_H
#define RANKS_RANK_BLAME_H

#include "deepclock/base.h"

enum { BLAME_BLOCKS_MAX = 32, BLAME_BLOCKS_MIN = 8 };
/* A cost below this share of a step is not attributed. */
#define BLAME_SHARE_LEAST 0.01

/* The arrival of one unit (a rank or a node) at one collective. */
typedef struct rank_arrival {
	uint32_t step, collective, unit; /* collective: within the step */
	int64_t at_ns, end_ns;		 /* on rank 0's clock */
	double within_ns;
} rank_arrival;

/* Sums over steps, in ns. Step s belongs to the block s * blocks / steps; the runs, of which there
 * are at most as many as steps, begin at the steps run * steps / runs; both rounded down. */
typedef struct rank_costs {
	size_t units, steps, blocks, runs;
	double step_ns;
	double *cost;	    /* @owned, with all other doubles; [unit] */
	double *wait;	    /* [unit]; in which the unit was in a collective */
	double *block_cost; /* [unit * blocks + block] */
	double *run_cost;   /* [unit * runs + run] */
	double *run_wait;   /* [unit * runs + run] */
	double *step_wait;  /* [step]; of all units */
	uint64_t *last; /* @owned, with costly_steps; collectives at which the unit was last, beyond
			   the uncertainty */
	uint64_t *costly_steps; /* in which it cost more than BLAME_SHARE_LEAST of a step */
	uint64_t collectives, undecided; /* of two and more units; of them without a certain last */
	double skew_ns; /* over collectives, of the time from the first to the last arrival */
	double *now;	/* cost and wait of each unit in one step */
	/* [unit], @owned together: when it left its last collective, and for how long it had stayed
	 * there after the last arrival. */
	int64_t *left_ns, *held_ns;
} rank_costs;

/* step_ns: time of a step. E_NOMEM. */
dck_status rank_costs_init(size_t units, size_t steps, size_t runs, double step_ns, rank_costs *ret,
			   dck_err *err);
/* Adds all arrivals of some steps, which are after those of the last call. Sorts a[0..n). E_NOMEM.
 */
dck_status rank_costs_add(rank_costs *c, rank_arrival *a, size_t n, dck_err *err);
void rank_costs_done(rank_costs *c); /* {0} is allowed */

typedef enum rank_verdict {
	BLAME_NOBODY,
	BLAME_ONE,
	BLAME_FEW,    /* too few steps for a verdict */
	BLAME_UNSURE, /* the rank that is last is not the one that waits least */
	BLAME_SHARED, /* rank_job: its processors are those of other ranks, which took them */
} rank_verdict;

typedef struct rank_blame {
	rank_verdict verdict;
	size_t unit;		      /* of the greatest cost */
	double p;		      /* probability of such a cost by chance; NAN: too few steps */
	double cost_ns, lo_ns, hi_ns; /* mean over steps, 95 % (Student's t on the blocks); lo_ns
					 NAN: unknown */
	size_t blocks;
	size_t steps; /* in which it cost more than BLAME_SHARE_LEAST of a step */
} rank_blame;

/* alpha: probability of a false accusation. E_NOMEM. */
dck_status rank_blame_find(const rank_costs *c, double alpha, rank_blame *ret, dck_err *err);

#endif
