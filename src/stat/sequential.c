/* SPDX-License-Identifier: Apache-2.0 */
#include "stat/sequential.h"
#include "stat/autocorrelation.h"
#include "stat/stat.h"
#include <math.h>
#include <string.h>

#define LOOK_FIRST  6
#define LOOK_GROWTH 1.2

void stat_boundary_init(stat_boundary *b, double alpha, size_t n_max, double *walk)
{
	*b = (stat_boundary){.alpha = alpha, .n_max = n_max, .walk = walk};
	memset(walk, 0, (n_max + 2) * sizeof *walk);
	walk[0] = 1;
}

/* What may be spent by the share t of the pairs. */
static double spending(double alpha, double t)
{
	return t >= 1 ? alpha : alpha * log(1 + (exp(1) - 1) * t);
}

long stat_boundary_look(stat_boundary *b, size_t n)
{
	const double may = spending(b->alpha, (double)n / (double)b->n_max);
	long r = -1;

	/* One more fair step of all walks that are still inside. */
	for (; b->n < n; b->n++)
		for (size_t k = b->n + 1; k > 0; k--) {
			b->walk[k] = (b->walk[k] + b->walk[k - 1]) / 2;
			if (k == 1)
				b->walk[0] /= 2;
		}
	for (size_t k = 0; 2 * k < n && b->spent + b->walk[k] <= may; k++) {
		b->spent += b->walk[k];
		b->walk[k] = 0;
		r = (long)k;
	}
	/* Counts that were cut off at earlier looks and cannot be reached do not tighten this one:
	 * their probability is 0, and they are within r. */
	return r;
}

size_t stat_look_next(size_t n, size_t n_max)
{
	size_t next = n < LOOK_FIRST ? LOOK_FIRST : (size_t)ceil((double)n * LOOK_GROWTH);

	return next < n_max ? next : n_max;
}

static double below(double x, const void *self)
{
	return x < *(const double *)self;
}

void stat_paired_median(const double *d, size_t n, long r, double *scratch, stat_paired *ret)
{
	stat_dependence dependence;
	double out, ranks;

	*ret = (stat_paired){.median = NAN, .lo = NAN, .hi = NAN, .tau = 1};
	if (n == 0)
		return;
	memcpy(scratch, d, n * sizeof *d);
	stat_sort(scratch, n);
	ret->median = stat_quantile_sorted(scratch, n, 0.5);
	if (r < 0)
		return;
	stat_depend_find(d, n, below, &ret->median, false, scratch + n, &dependence);
	ret->tau = fmax(1, dependence.tau);
	/* The count below the median varies by tau times as much as that of independent pairs. */
	out = ((double)n / 2 - (double)(r + 1)) * sqrt(ret->tau);
	ranks = floor((double)n / 2 - out);
	if (ranks < 1)
		return;
	ret->lo = scratch[(size_t)ranks - 1];
	ret->hi = scratch[n - (size_t)ranks];
	ret->has_interval = true;
}
