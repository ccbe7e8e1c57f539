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
} stat_blocks;

/* y[block * treatments + treatment]; means[treatments]. With fewer than two of either there are no
 * residuals: dof is 0. */
void stat_blocks_fit(const double *y, size_t treatments, size_t blocks, double *means,
		     stat_blocks *ret);

/* Half-width of the interval of the difference of two means, so that `comparisons` of them hold
 * together at that level (Bonferroni). Infinite where dof is 0. */
double stat_blocks_half(const stat_blocks *f, double level, size_t comparisons);

#endif
