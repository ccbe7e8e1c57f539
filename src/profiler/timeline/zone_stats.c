/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/timeline/zone_stats.h"

#include "stat/dist.h"

#include <math.h>

void zone_stats_close_batch(zone_stats *z)
{
	z->batch_ns[z->nbatches++] = (double)z->open_ns;
	z->open_calls = 0;
	z->open_ns = 0;
	if (z->nbatches < ZONE_BATCHES)
		return;
	for (unsigned i = 0; i < ZONE_BATCHES / 2; i++)
		z->batch_ns[i] = z->batch_ns[2 * i] + z->batch_ns[2 * i + 1];
	z->nbatches = ZONE_BATCHES / 2;
	z->batch_calls *= 2;
}

void zone_stats_add_pieces(zone_stats *z, const zone_pieces *p, uint64_t ns, uint64_t self_ns,
			   bool outermost, bool finished)
{
	z->total_ns += p->total_ns + (outermost ? ns : 0);
	(finished ? zone_stats_add : zone_stats_add_unfinished)(z, p->took_ns + ns,
								p->self_ns + self_ns, false);
}

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
