/* compared_tensor.h - how far two tensors of equal shape are apart. Pure functions.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VERIFY_AGREE_TENSOR_H
#define VERIFY_AGREE_TENSOR_H

#include "deepclock/plugin.h"
#include <stdbool.h>

/* An element is within the tolerance when |b - a| <= atol + rtol |a|, a the reference: the rule of
 * numpy.allclose. NaN: by the types, compared_limits_of(). */
typedef struct compared_limits {
	double rtol, atol;
} compared_limits;

/* rtol for two tensors of these types: the coarser one's. atol stays NaN where it is to be made
 * from the reference: rtol times the root mean square of its elements, since the error of a sum is
 * in proportion to what was added up and not to what is left of it (Higham, Accuracy and Stability
 * of Numerical Algorithms, 2nd ed., 4.2). */
compared_limits compared_limits_of(dck_dtype a, dck_dtype b, const compared_limits *asked);

/* Everything that is summed up over the elements of one output, over several sets of inputs too.
 * {0} at first. */
typedef struct compared_sum {
	uint64_t sets;	       /* tensors added */
	uint64_t n;	       /* elements; the parts of complex ones count */
	uint64_t elements;     /* a complex number is one */
	uint64_t differing;    /* of those, not equal; NaN equals NaN here */
	uint64_t outside;      /* outside the tolerance */
	uint64_t nan_a, nan_b; /* NaN in each */
	uint64_t inf_a, inf_b;
	uint64_t unlike; /* not finite in one and not the same in the other: outside */
	uint64_t finite; /* finite in both: what the numbers below are of */
	uint64_t zeros;	 /* finite, but the reference is 0: left out of the relative ones */
	double least_a, most_a, least_b, most_b; /* of the finite ones; with finite > 0 */
	double max_abs, max_rel;
	long double sum_abs, sum_rel;
	long double dot, aa, bb;
	bool has_ulp; /* both of one floating type */
	uint64_t max_ulp;
	/* The worst element: the first that is unlike, else the one farthest outside, else the
	 * farthest apart. */
	uint64_t worst, worst_set; /* position in its tensor; which set */
	uint64_t worst_of_all;	   /* position among all elements of all sets */
	double worst_a, worst_b, worst_excess;
} compared_sum;

/* Adds the elements of a (the reference) and b: of equal shape, each of a type with elements of a
 * fixed size. Returns atol as it was used. */
double compared_add(compared_sum *s, const dck_tensor *a, const dck_tensor *b,
		    const compared_limits *limits);

/* What the sums say; NaN where there is nothing to say. */
double compared_mean_abs(const compared_sum *s);
double compared_mean_rel(const compared_sum *s);
/* 1 - cosine of the angle, in 0 to 2; exact to about 1e-17. NaN: one of them is all zeros. */
double compared_cosine_gap(const compared_sum *s);

/* Why equal elements show nothing: both are nothing but one number ("0", "NaN"), or NaN in part.
 * NULL: they do show something. Writes into buf. */
const char *compared_degenerate(const compared_sum *s, char *buf, size_t size);

/* n elements from position `first` on as doubles; false: not of real numbers. */
bool compared_load(const dck_tensor *t, size_t first, size_t n, double *ret);

/* Copies the elements of `from` into `to`, of another floating type and the same shape, rounded to
 * nearest even. false: not both are floats. */
bool compared_convert(dck_tensor *to, const dck_tensor *from);

#endif
