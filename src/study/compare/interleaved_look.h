/* interleaved_look.h - group-sequential tests: interim verdicts after each round.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COMPARE_INTERLEAVED_LOOK_H
#define COMPARE_INTERLEAVED_LOOK_H

#include "study/compare/interleaved.h"
#include "stat/sequential.h"

/* Boundaries at alpha / 1, alpha / 2, ... for Holm's procedure (Scand. J. Statist. 6, 1979): with m
 * alternatives undecided each is tested at alpha / m, so each decision leaves more alpha to the
 * rest. */
typedef struct interleaved_looks {
	stat_boundary of[DCK_ALTERNATIVES_MAX]; /* [m - 1] */
	long rank[DCK_ALTERNATIVES_MAX];
	size_t n;
	double *walks, *scratch;
} interleaved_looks;

/* Computes the boundaries for r->planned rounds, which are fixed. */
dck_status interleaved_looks_init(interleaved_looks *f, const interleaved *v,
				  const interleaved_rounds *r, dck_err *err);
void interleaved_looks_done(interleaved_looks *f); /* {0} is allowed */

/* Tests all undecided candidates; returns how many stay undecided. Of a ranking: finds the fastest,
 * and returns how many ratios to it are not known to the requested precision. */
size_t interleaved_look(const interleaved *v, interleaved_looks *f, interleaved_rounds *r);

/* Returns the rounds that n subjects need for an interval of every pair. */
size_t interleaved_look_least(size_t n, double level);

#endif
