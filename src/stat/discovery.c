/* discovery.c - the false discovery rate of many tests.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "stat/stat.h"

void stat_discovery_rates(const double *p, size_t n, size_t tests, double *ret)
{
	double least = 1;

	for (size_t i = n; i-- > 0;) {
		const double q = p[i] * (double)tests / (double)(i + 1);

		if (q < least)
			least = q;
		ret[i] = least;
	}
}
