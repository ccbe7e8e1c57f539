/* SPDX-License-Identifier: Apache-2.0 */
#include "stat/blocks.h"
#include "stat/dist.h"
#include <math.h>
#include <stdbool.h>

void stat_blocks_fit(const double *y, size_t treatments, size_t blocks, double *means,
		     stat_blocks *ret)
{
	stat_blocks f = {.treatments = treatments, .blocks = blocks};
	double grand = 0, squares = 0, between = 0;

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
		between += (double)treatments * (mean - grand) * (mean - grand);
		for (size_t t = 0; t < treatments; t++) {
			const double r = y[b * treatments + t] - means[t] - mean + grand;

			squares += r * r;
		}
	}
	if (treatments >= 2 && blocks >= 2) {
		f.dof = (double)((treatments - 1) * (blocks - 1));
		f.sd = sqrt(squares / f.dof);
		f.between = between / (double)(blocks - 1);
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

/* The means that may be the greatest: their number, their mean, and the factor that shrinks their
 * distance from it. */
typedef struct top {
	double least, mean, left;
	size_t n;
} top;

static top blocks_top_find(const stat_blocks *f, const double *means, double level)
{
	double greatest = means[0], squares = 0, mean = 0, explained;
	top t = {.left = 1};

	for (size_t i = 1; i < f->treatments; i++)
		greatest = fmax(greatest, means[i]);
	t.least = greatest - stat_blocks_half(f, 1 - 2 * (1 - level), f->treatments);
	for (size_t i = 0; i < f->treatments; i++)
		if (means[i] >= t.least) {
			t.n++;
			mean += means[i];
		}
	t.mean = mean / (double)t.n;
	for (size_t i = 0; i < f->treatments; i++)
		if (means[i] >= t.least)
			squares += (means[i] - t.mean) * (means[i] - t.mean);
	explained = f->sd * f->sd / (double)f->blocks * (double)(t.n - 1);
	if (t.n > 1)
		t.left = squares > explained ? 1 - explained / squares : 0;
	return t;
}

void stat_blocks_levels(const stat_blocks *f, const double *means, double level,
			stat_blocks_level *ret)
{
	const double k = (double)f->treatments, runs = k * (double)f->blocks;
	const double common = f->between / runs, own = f->sd * f->sd * (k - 1) / runs;
	const double var = common + own, alpha = (1 - level) / 2;
	double dof, one, several;
	top t;

	if (!(f->dof > 0)) {
		for (size_t i = 0; i < f->treatments; i++)
			ret[i] = (stat_blocks_level){means[i], -INFINITY, INFINITY};
		return;
	}
	t = blocks_top_find(f, means, level);
	dof = var > 0 ? var * var / (common * common / (double)(f->blocks - 1) + own * own / f->dof)
		      : f->dof;
	one = stat_t_quantile(1 - alpha, dof) * sqrt(var);
	several = stat_t_quantile(1 - alpha / (double)t.n, dof) * sqrt(var);
	for (size_t i = 0; i < f->treatments; i++) {
		const bool may = means[i] >= t.least;
		const double value = may ? t.mean + t.left * (means[i] - t.mean) : means[i];

		ret[i].value = value;
		ret[i].lo = fmin(value - one, means[i] - (may ? several : one));
		ret[i].hi = fmax(value, means[i]) + one;
	}
}
