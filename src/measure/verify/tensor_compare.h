/* tensor_compare.h - error measures between two tensors of equal shape. Pure functions.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VERIFY_TENSOR_COMPARE_H
#define VERIFY_TENSOR_COMPARE_H

#include "deepclock/plugin.h"
#include <stdbool.h>

/* An element is within the tolerance when |b - a| <= atol + rtol |a|, a the reference: the rule of
 * numpy.allclose. NaN: by the types, compared_limits_of(). */
typedef struct compared_limits {
	double rtol, atol;
} compared_limits;

/* Returns the limits for two tensors of these types: rtol of the coarser type. atol is NaN if it is
 * to be computed from the reference: rtol times the root mean square of its elements, because the
 * error of a sum is proportional to the terms and not to the result (Higham, Accuracy and Stability
 * of Numerical Algorithms, 2nd ed., 4.2). */
compared_limits compared_limits_of(dck_dtype a, dck_dtype b, const compared_limits *asked);

/* Sums over the elements of one output, over all sets of inputs. {0} at first. */
typedef struct compared_sum {
	uint64_t sets;	       /* tensors added */
	uint64_t n;	       /* elements; the parts of complex ones count */
	uint64_t elements;     /* a complex number counts once */
	uint64_t differing;    /* unequal elements; NaN equals NaN here */
	uint64_t outside;      /* outside the tolerance */
	uint64_t nan_a, nan_b; /* NaN in each */
	uint64_t inf_a, inf_b;
	uint64_t unlike; /* not finite in one and different in the other: outside */
	uint64_t finite; /* finite in both: the members below are over these */
	uint64_t zeros;	 /* finite, but the reference is 0: not in the relative ones */
	double least_a, most_a, least_b, most_b; /* of the finite ones; with finite > 0 */
	double max_abs, max_rel;
	long double sum_abs, sum_rel;
	long double dot, aa, bb;
	bool has_ulp; /* both of one floating type */
	uint64_t max_ulp;
	/* The worst element: the first unlike one, else the farthest outside, else the farthest
	 * apart. */
	uint64_t worst, worst_set; /* position in its tensor; which set */
	uint64_t worst_of_all;	   /* position among all elements of all sets */
	double worst_a, worst_b, worst_excess;
} compared_sum;

/* Adds the elements of a (the reference) and b, of equal shape and of types with a fixed element
 * size. Returns the atol that was used. */
double compared_add(compared_sum *s, const dck_tensor *a, const dck_tensor *b,
		    const compared_limits *limits);

/* Return statistics of the sums; NaN: undefined. */
double compared_mean_abs(const compared_sum *s);
double compared_mean_rel(const compared_sum *s);
/* Returns 1 - cosine of the angle, 0 to 2; exact to about 1e-17. NaN: one tensor is all zeros. */
double compared_cosine_gap(const compared_sum *s);

/* Returns why equal elements prove nothing: all are one number ("0", "NaN"), or nearly all are NaN.
 * NULL: they are evidence. Writes into buf. */
const char *compared_degenerate(const compared_sum *s, char *buf, size_t size);

/* Reads n elements from position `first` as doubles; false: not real numbers. */
bool compared_load(const dck_tensor *t, size_t first, size_t n, double *ret);

/* Copies the elements of `from` into `to`, of another floating type and the same shape, rounded to
 * nearest even. false: not both are floats. */
bool compared_convert(dck_tensor *to, const dck_tensor *from);

#endif
