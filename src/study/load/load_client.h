/* load_client.h - the rule by which a client limits what it measures of a server: pure functions.
 * docs/reference/validation.md has its error rates (tests/accuracy/client.c).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef LOAD_LOAD_CLIENT_H
#define LOAD_LOAD_CLIENT_H

#include <stddef.h>

typedef enum load_client_limit {
	CLIENT_FREE,
	CLIENT_BUSY,  /* it handled events for most of the time */
	CLIENT_LATE,  /* it started requests late, or read answers late */
	CLIENT_SHIFT, /* that moved the median */
	CLIENT_FLOOR, /* its own time is most of the result */
} load_client_limit;

/* A quantile that the lateness moved by more than this is not reported. */
#define CLIENT_SHIFT_MOST 0.02

/* Returns the p-quantile of x[0..n) without the client's lateness: that of the start, late[i], and
 * that of the read, read[i]. *ret_shift: by how much it moved the quantile, as a share. scratch: n
 * doubles. */
double load_client_on_time(double p, const double *x, const double *late, const double *read,
			   size_t n, double *scratch, double *ret_shift);

/* Judges the whole run: the client's busy share, its mean lateness, the shift of the median by it,
 * and its floor, beside the median. */
load_client_limit load_client_judge(double busy, double late_ns, double shift, double floor_ns,
				    double median_ns);

#endif
