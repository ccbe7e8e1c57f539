/* roofline.h - how fast an operator could be on this machine, from the record of the machine's
 * limits (peaks.c makes that record).
 *
 *	roofline_read(machine, false, &limits);
 *	roofline_of(&limits, ONNX_FLOAT, flops, bytes, &roof);
 *	... roof.bound is "memory": the operator cannot take less than roof.least_ns ...
 *
 * The model: Williams, Waterman, Patterson: Roofline, Communications of the ACM 52 (2009). The
 * bandwidth is that of the smallest memory that holds all bytes the operator moves. A limit that
 * is not known is NaN, and so is everything that follows from it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ROOFLINE_ROOFLINE_H
#define ROOFLINE_ROOFLINE_H

#include "deepclock/record.h"

typedef struct roofline_limits {
	double peak[5];	     /* FLOP/s: fp64, fp32, fp16, bf16, int8; NaN: not known */
	double bandwidth[4]; /* B/s: L1, L2, L3, DRAM; NaN: not known */
	double capacity[4];  /* bytes of all that the threads can use; DRAM: infinite */
} roofline_limits;

typedef struct roofline {
	double peak, bandwidth; /* NaN: not known */
	double attainable;	/* FLOP/s; NaN: not known */
	double least_ns;	/* the time that the roof allows; NaN: not known */
	const char *bound;	/* "compute", "memory"; NULL: not known */
	const char *level;	/* "L2": of the bandwidth */
} roofline;

void roofline_read(const dck_record *machine, bool one_thread, roofline_limits *ret);
/* dtype: ONNX's number. */
void roofline_of(const roofline_limits *l, int64_t dtype, double flops, double bytes,
		 roofline *ret);

#endif
