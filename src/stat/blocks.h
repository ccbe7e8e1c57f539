/* blocks.h - treatments compared in randomised complete blocks: each treatment once in every block.
 * What changes from block to block, such as a drifting clock rate, is common to all treatments and
 * falls out of their differences. The model is y = treatment + block + error with errors of one
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
	double between; /* mean square of the blocks: of one error and what is common to a block */
} stat_blocks;

/* y[block * treatments + treatment]; means[treatments]. With fewer than two of either there are no
 * residuals: dof is 0. */
void stat_blocks_fit(const double *y, size_t treatments, size_t blocks, double *means,
		     stat_blocks *ret);

/* Half-width of the interval of the difference of two means, so that `comparisons` of them hold
 * together at that level (Bonferroni). Infinite where dof is 0. */
double stat_blocks_half(const stat_blocks *f, double level, size_t comparisons);

/* What treatments would give on average, as logarithms or whatever y is. */
typedef struct stat_blocks_level {
	double value, lo, hi;
} stat_blocks_level;

/* means[treatments] -> ret[treatments]. The greatest of many means is great by luck too (the
 * winner's curse). Those that are not shown to be below the greatest (Bonferroni) may all be it:
 * their values are drawn towards their mean by the share of their scatter that error explains
 * (empirical Bayes: Efron and Morris, JASA 68, 1973), in their order still. Each interval holds the
 * drawn and the plain mean, and at its lower end allows for the greatest of so many. The error is
 * pooled over blocks and treatments (Satterthwaite, Biometrics Bulletin 2, 1946). Infinite where
 * dof is 0. */
void stat_blocks_levels(const stat_blocks *f, const double *means, double level,
			stat_blocks_level *ret);

#endif
