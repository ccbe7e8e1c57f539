/* rank_check.h - before a job: the same work at all ranks, round by round, driven by rank 0.
 *
 *	rank 0:					another rank:
 *	rank_server_start(...)			rank_client_start(...), rank_client_clock(...)
 *	rank_server_wait(...), _close(...)	rank_check_follow(c, &part, wait, &kernel, err);
 *	rank_check_lead(s, size, ..., &check, err);
 *	... check.x ...
 *	rank_check_done(&check);
 *
 * Each round has a kernel that all ranks run at the same time, and an exchange of RANK_ECHO_BYTES
 * with each rank in random order, one after the other, so that exchanges do not share rank 0's
 * network. Of the repetitions in a round the fastest counts: other programs and the scheduler only
 * add time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RANKS_RANK_CHECK_H
#define RANKS_RANK_CHECK_H

#include "profiler/ranks/rank_link.h"
#include "profiler/ranks/rank_part.h"

enum { RANK_CHECK_ROUNDS = 50, RANK_ECHO_BYTES = 64 << 10 };

/* What a round measures. */
typedef enum rank_quantity {
	RANK_COMPUTE, /* arithmetic whose steps depend on each other: the clock of the processor */
	RANK_STREAM,  /* reading memory that no private cache holds */
	RANK_KERNELS,
	RANK_ECHO_TIME = RANK_KERNELS, /* with rank 0 and back */
	RANK_QUANTITIES
} rank_quantity;

typedef struct rank_kernel {
	void *self;
	/* Runs the kernels once each, and writes their times. */
	void (*run)(void *self, double ret_ns[RANK_KERNELS]);
} rank_kernel;

/* The real kernels. E_NOMEM. */
dck_status rank_kernel_open(rank_kernel *ret, dck_err *err);
void rank_kernel_close(rank_kernel *k);

typedef struct rank_check {
	size_t rounds;		    /* that were completed */
	double *x[RANK_QUANTITIES]; /* @owned; x[q][rank * rounds + round] */
	bool *lost; /* @owned; by rank: it did not answer, and its times do not count */
} rank_check;

/* Drives the ranks whose parts have come to s. E_NOMEM. */
dck_status rank_check_lead(rank_server *s, uint32_t size, const rank_kernel *k, rank_check *ret,
			   dck_err *err);
void rank_check_done(rank_check *c); /* {0} is allowed */
/* Sends the part, with host and boot, and does what rank 0 requests until the end. E_IO: rank 0 is
 * lost. */
dck_status rank_check_follow(rank_client *c, const rank_part *own, uint64_t wait_ns,
			     const rank_kernel *k, dck_err *err);

#endif
