/* share_difference.h - tests whether the change of a function's weight exceeds sampling error.
 *
 * Each side is the function's share of all samples, with Wilson's interval (Journal of the American
 * Statistical Association 22, 1927). The difference of two shares has Newcombe's interval
 * (Statistics in Medicine 17, 1998, method 10), which scales with the wholes of the shares.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TREE_SHARE_DIFFERENCE_H
#define TREE_SHARE_DIFFERENCE_H

#include <stdbool.h>
#include <stddef.h>

#define CALL_NOISE_LEVEL 0.95

typedef struct call_share {
	double share;	/* 0 to 1 */
	double samples; /* all samples; more than 0 */
	double whole;	/* weight of a share of 1 */
} call_share;

/* Computes the interval of a, times its whole, at that level. */
void call_share_interval(const call_share *a, double level, double *ret_lo, double *ret_hi);
/* Computes the interval of b - a, each times its whole, at that level. */
void call_noise_interval(const call_share *a, const call_share *b, double level, double *ret_lo,
			 double *ret_hi);
/* Returns whether the change is significant if `rows` changes are tested, with a family-wise error
 * rate of 1 in 20 (Bonferroni). */
bool call_noise_beyond(const call_share *a, const call_share *b, size_t rows);

#endif
