/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/timeline/zone_stats.h"

#include "stat/dist.h"

#include <math.h>

bool zone_stats_mean(const zone_stats *z, double level, double *ret_mean, double *ret_lo,
		     double *ret_hi)
{
	double n = z->nbatches, sum = 0, squares = 0;

	*ret_mean = z->calls ? (double)z->sum_ns / (double)z->calls : 0;
	if (z->nbatches < ZONE_BATCHES_ENOUGH)
		return false;
	for (unsigned i = 0; i < z->nbatches; i++)
		sum += z->batch_ns[i];
	for (unsigned i = 0; i < z->nbatches; i++) {
		double d = z->batch_ns[i] - sum / n;

		squares += d * d;
	}
	double half = stat_t_quantile((1 + level) / 2, n - 1) * sqrt(squares / (n - 1) / n) /
		      (double)z->batch_calls;
	*ret_lo = fmax(*ret_mean - half, 0);
	*ret_hi = *ret_mean + half;
	return true;
}
