/* steps.c - does the level change by steps while it is measured?
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "stat/stat.h"
#include <math.h>

#define BLOCKS	      50
#define STEP_RUNS_MIN 4
#define CHANCE	      0.01
/* A step that is negligible. */
#define CHANGE_SMALL 0.01
/* A level that lasts longer is not warm-up. */
#define PLATEAU_MAX 0.25

size_t stat_steps_find(const double *x, size_t n, double *scratch, stat_change *ret)
{
	double *medians = scratch, *work = medians + BLOCKS,
	       *room = work + stat_change_scratch(BLOCKS);
	const size_t blocks = n / STEP_RUNS_MIN < BLOCKS ? n / STEP_RUNS_MIN : BLOCKS;
	size_t size, found, kept = 0;

	if (blocks < STAT_CHANGE_MIN)
		return 0;
	size = n / blocks;
	for (size_t b = 0; b < blocks; b++)
		medians[b] = stat_median(x + b * size, size, room);
	found = stat_change_find(medians, blocks, CHANCE, work, ret);
	for (size_t i = 0; i < found; i++) {
		stat_change c = ret[i];

		if (!(c.before > 0) || fabs(c.after / c.before - 1) < CHANGE_SMALL)
			continue;
		c.at *= size;
		ret[kept++] = c;
	}
	return kept;
}

bool stat_plateau_find(const double *x, size_t n, size_t before, double *scratch, stat_change *ret)
{
	const size_t block = n / BLOCKS > STEP_RUNS_MIN ? n / BLOCKS : STEP_RUNS_MIN;
	stat_change steps[STAT_CHANGES_MAX];
	stat_estimate rest;

	if (stat_steps_find(x, n, scratch, steps) != 1)
		return false;
	*ret = steps[0];
	ret->at += block; /* the step is somewhere in a block */
	if ((double)(before + ret->at) > PLATEAU_MAX * (double)(before + n))
		return false;
	stat_estimate_one(STAT_MEDIAN, x + ret->at, n - ret->at, 0.95, scratch, &rest);
	return !rest.slow;
}
