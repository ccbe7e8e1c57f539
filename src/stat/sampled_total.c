/* SPDX-License-Identifier: Apache-2.0 */
#include "stat/dist.h"
#include "stat/stat.h"

#include <math.h>

/* Poisson sampling: Horvitz and Thompson, JASA 47 (1952), 663. */
void stat_sampled_add(stat_sampled *s, double k, double y, double p)
{
	s->items += k;
	s->sampled += k * y;
	s->missed += k * y * (1 - p) / p;
	s->variance += k * y * y * (1 - p) / (p * p);
}

void stat_sampled_sum(stat_sampled *to, const stat_sampled *from)
{
	to->items += from->items;
	to->sampled += from->sampled;
	to->missed += from->missed;
	to->variance += from->variance;
}

/* Fay and Feuer, Statistics in Medicine 16 (1997), 791: a weighted sum of Poisson counts has the
 * quantiles of gamma variables with its mean and variance, for the upper end with one more item of
 * the largest weight. With one weight these are the exact ends for a Poisson count. What was
 * sampled is certain: the total is not below it, and the upper end is that of the rest. */
void stat_sampled_interval(const stat_sampled *s, double heaviest, double level, double *ret_lo,
			   double *ret_hi)
{
	const double tail = (1 - level) / 2, m = s->missed, v = s->variance, all = s->sampled + m;
	const double most = !isnan(heaviest) ? heaviest : m > 0 ? v / m : 0;
	const double more = m + most, wider = v + most * most;

	*ret_lo = v > 0 ? v / all * stat_gamma_quantile(tail, all * all / v) : all;
	*ret_lo = fmax(*ret_lo, s->sampled);
	*ret_hi =
	    s->sampled +
	    (wider > 0 ? wider / more * stat_gamma_quantile(1 - tail, more * more / wider) : 0);
}
