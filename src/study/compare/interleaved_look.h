/* interleaved_look.h - what the rounds so far have decided.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COMPARE_VERSUS_LOOK_H
#define COMPARE_VERSUS_LOOK_H

#include "study/compare/interleaved.h"
#include "stat/sequential.h"
#include "stat/stat.h"

/* Boundaries at alpha / 1, alpha / 2, ... for Holm's procedure (Scand. J. Statist. 6, 1979): with m
 * alternatives undecided each is judged at alpha / m; one that is decided leaves more to the rest.
 */
typedef struct interleaved_looks {
	stat_boundary of[DCK_ALTERNATIVES_MAX]; /* [m - 1] */
	long rank[DCK_ALTERNATIVES_MAX];
	size_t n;
	double *walks, *scratch;
} interleaved_looks;

/* For r->planned rounds, which are fixed. */
dck_status interleaved_looks_init(interleaved_looks *f, const interleaved *v,
				  const interleaved_rounds *r, dck_err *err);
void interleaved_looks_done(interleaved_looks *f); /* {0} is allowed */

/* Judges all that is undecided; how many remain so. Of a ranking: finds the fastest, and how many
 * ratios to it are not known as well as was asked. */
size_t interleaved_look(const interleaved *v, interleaved_looks *f, interleaved_rounds *r);

/* Rounds that a ranking of n subjects needs for an interval of every pair. */
size_t interleaved_look_least(size_t n, double level);

#endif
