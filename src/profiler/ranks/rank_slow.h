/* rank_slow.h - ranks that are slower than the others at the same work. Pure functions on arrays.
 *
 *	rank_slow_find(x, member, n, rounds, tests, alpha, 1.1, ratios, err);
 *
 * In each round every rank does the same work at about the same time. Its ratio is its time by the
 * median of the other ranks' times in that round, so what changes from round to round for all of
 * them cancels. The interval of the median ratio is between order statistics (sign test), whatever
 * the distribution; its level is corrected for the number of tests (Bonferroni), so that all
 * intervals hold together with probability 1 - alpha.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RANKS_RANK_SLOW_H
#define RANKS_RANK_SLOW_H

#include "deepclock/base.h"

#include <stddef.h>

typedef struct rank_ratio {
	double median_ns;     /* of its own times */
	double ratio, lo, hi; /* lo, hi: NAN: too few rounds for an interval */
	bool slow;
} rank_ratio;

/* x[rank * rounds + round], in ns, above 0; member[n]: the ranks that are compared, at least 2.
 * tests: comparisons that share alpha. A rank is slow if the lower end of its interval is above
 * `least`. Writes ret[n]. E_NOMEM. */
dck_status rank_slow_find(const double *x, const size_t *member, size_t n, size_t rounds,
			  size_t tests, double alpha, double least, rank_ratio *ret, dck_err *err);

#endif
