/* share_difference.h - whether a change of a function's weight is more than what samples differ by.
 *
 * Each side is a number of samples that fell to the function, of all there were: a share with
 * Wilson's interval (Journal of the American Statistical Association 22, 1927). A difference of two
 * has the interval that Newcombe makes of both (Statistics in Medicine 17, 1998, method 10), which
 * scales with what the shares are of.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CALLS_CALL_NOISE_H
#define CALLS_CALL_NOISE_H

#include <stdbool.h>
#include <stddef.h>

#define CALL_NOISE_LEVEL 0.95

typedef struct call_share {
	double share;	/* 0 to 1 */
	double samples; /* of which it is; more than 0 */
	double whole;	/* what a share of 1 weighs */
} call_share;

/* Of b - a, each times its whole, at that level. */
void call_noise_interval(const call_share *a, const call_share *b, double level, double *ret_lo,
			 double *ret_hi);
/* Whether the change is beyond noise where `rows` changes are tested: at a level at which none
 * of so many would be taken for one, 19 times of 20 (Bonferroni). */
bool call_noise_beyond(const call_share *a, const call_share *b, size_t rows);

#endif
