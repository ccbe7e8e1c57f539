/* SPDX-License-Identifier: Apache-2.0 */
#include "study/load/load_client.h"
#include "stat/stat.h"
#include <math.h>
#include <string.h>

#define BUSY_MOST  0.8
#define LATE_MOST  0.05 /* of the median: the mean is moved by about that */
#define FLOOR_MOST 0.5	/* of the median */

load_client_limit load_client_judge(double busy, double late_ns, double shift, double floor_ns,
				    double median_ns)
{
	if (busy > BUSY_MOST)
		return CLIENT_BUSY;
	if (late_ns > LATE_MOST * median_ns)
		return CLIENT_LATE;
	if (shift > CLIENT_SHIFT_MOST)
		return CLIENT_SHIFT;
	return floor_ns > FLOOR_MOST * median_ns ? CLIENT_FLOOR : CLIENT_FREE;
}

double load_client_on_time(double p, const double *x, const double *late, const double *read,
			   size_t n, double *scratch, double *ret_shift)
{
	double with, without;

	*ret_shift = 0;
	if (n == 0)
		return NAN;
	memcpy(scratch, x, n * sizeof *x);
	stat_sort(scratch, n);
	with = stat_quantile_sorted(scratch, n, p);
	for (size_t i = 0; i < n; i++)
		scratch[i] = x[i] - late[i] - read[i];
	stat_sort(scratch, n);
	without = stat_quantile_sorted(scratch, n, p);
	*ret_shift = without > 0 ? with / without - 1 : INFINITY;
	return without;
}
