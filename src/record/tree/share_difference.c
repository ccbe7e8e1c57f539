/* SPDX-License-Identifier: Apache-2.0 */
#include "record/tree/share_difference.h"

#include "stat/dist.h"

#include <math.h>

static void wilson(const call_share *s, double z, double *ret_lo, double *ret_hi)
{
	const double n = s->samples, p = fmin(fmax(s->share, 0), 1), zz = z * z / n;
	const double middle = (p + zz / 2) / (1 + zz);
	const double half = z * sqrt(p * (1 - p) / n + zz / (4 * n)) / (1 + zz);

	*ret_lo = s->whole * fmax(middle - half, 0);
	*ret_hi = s->whole * fmin(middle + half, 1);
}

void call_share_interval(const call_share *a, double level, double *ret_lo, double *ret_hi)
{
	wilson(a, stat_normal_quantile(0.5 + level / 2), ret_lo, ret_hi);
}

void call_noise_interval(const call_share *a, const call_share *b, double level, double *ret_lo,
			 double *ret_hi)
{
	const double z = stat_normal_quantile(0.5 + level / 2);
	const double at_a = a->whole * a->share, at_b = b->whole * b->share;
	double lo_a, hi_a, lo_b, hi_b;

	wilson(a, z, &lo_a, &hi_a);
	wilson(b, z, &lo_b, &hi_b);
	*ret_lo = at_b - at_a - hypot(at_b - lo_b, hi_a - at_a);
	*ret_hi = at_b - at_a + hypot(hi_b - at_b, at_a - lo_a);
}

bool call_noise_beyond(const call_share *a, const call_share *b, size_t rows)
{
	double lo, hi;

	call_noise_interval(a, b, 1 - (1 - CALL_NOISE_LEVEL) / (double)(rows ? rows : 1), &lo, &hi);
	return lo > 0 || hi < 0;
}
