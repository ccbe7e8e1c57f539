/* blocks.h - treatments compared in randomised complete blocks: each treatment once in every block.
 * A change from block to block, such as a drifting clock rate, is common to all treatments and
 * cancels in their differences. The model is y = treatment + block + error with errors of one
 * variance. Source: Box, Hunter and Hunter, Statistics for Experimenters, 2nd edition, chapter 4.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef STAT_BLOCKS_H
#define STAT_BLOCKS_H

#include <stddef.h>

typedef struct stat_blocks {
	size_t treatments, blocks;
	double sd; /* of one error, from the residuals */
	double dof;
	double between; /* mean square of the blocks: variance of an error and of block effects */
} stat_blocks;

/* Fits the model to y[block * treatments + treatment]; means[treatments]. With fewer than two
 * blocks or treatments dof is 0: no residuals. */
void stat_blocks_fit(const double *y, size_t treatments, size_t blocks, double *means,
		     stat_blocks *ret);

/* Returns the half-width of the interval of a difference of two means, simultaneous for
 * `comparisons` intervals (Bonferroni). Infinite if dof is 0. */
double stat_blocks_half(const stat_blocks *f, double level, size_t comparisons);

/* Estimated mean of a treatment, in the unit of y (such as logarithms). */
typedef struct stat_blocks_level {
	double value, lo, hi;
} stat_blocks_level;

/* Estimates ret[treatments] from means[treatments]. The greatest of many means is biased upwards
 * (the winner's curse). All means not significantly below the greatest (Bonferroni) may be the
 * greatest: they are shrunk towards their mean by the share of their scatter that error explains
 * (empirical Bayes: Efron and Morris, JASA 68, 1973), which preserves their order. Each interval
 * contains the shrunk and the plain mean, and its lower end allows for the greatest of that many
 * means. The error is pooled over blocks and treatments (Satterthwaite, Biometrics Bulletin 2,
 * 1946). Infinite if dof is 0. */
void stat_blocks_levels(const stat_blocks *f, const double *means, double level,
			stat_blocks_level *ret);

#endif
