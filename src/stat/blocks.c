/* SPDX-License-Identifier: Apache-2.0 */
#include "stat/blocks.h"
#include "stat/dist.h"
#include <math.h>

void stat_blocks_fit(const double *y, size_t treatments, size_t blocks, double *means,
		     stat_blocks *ret)
{
	stat_blocks f = {.treatments = treatments, .blocks = blocks};
	double grand = 0, squares = 0;

	for (size_t t = 0; t < treatments; t++) {
		means[t] = 0;
		for (size_t b = 0; b < blocks; b++)
			means[t] += y[b * treatments + t] / (double)blocks;
		grand += means[t] / (double)treatments;
	}
	for (size_t b = 0; b < blocks; b++) {
		double mean = 0;

		for (size_t t = 0; t < treatments; t++)
			mean += y[b * treatments + t] / (double)treatments;
		for (size_t t = 0; t < treatments; t++) {
			const double r = y[b * treatments + t] - means[t] - mean + grand;

			squares += r * r;
		}
	}
	if (treatments >= 2 && blocks >= 2) {
		f.dof = (double)((treatments - 1) * (blocks - 1));
		f.sd = sqrt(squares / f.dof);
	}
	*ret = f;
}

double stat_blocks_half(const stat_blocks *f, double level, size_t comparisons)
{
	const double each = (1 - level) / (double)(comparisons > 0 ? comparisons : 1);

	if (!(f->dof > 0))
		return INFINITY;
	return stat_t_quantile(1 - each / 2, f->dof) * f->sd * sqrt(2.0 / (double)f->blocks);
}
