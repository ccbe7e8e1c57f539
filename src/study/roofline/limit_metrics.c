/* SPDX-License-Identifier: Apache-2.0 */
#include "study/roofline/limit_metrics.h"

#include "stat/stat.h"

#include <math.h>
#include <stdio.h>

double limit_best(const double *value, unsigned n)
{
	double best = NAN;

	for (unsigned i = 0; i < n; i++)
		best = fmax(best, value[i]);
	return best;
}

/* Returns a bound on the end point of the distribution of rounds: with probability 1 - a it is
 * below best + (1/a - 1) x (best - second best). D. S. Robson and J. H. Whitlock, "Estimation of a
 * truncation point", Biometrika 51 (1964). */
static double end_point(const double *value, unsigned n, double best)
{
	double second = -INFINITY;
	bool seen = false;

	for (unsigned k = 0; k < n; k++) {
		if (value[k] == best && !seen)
			seen = true;
		else
			second = fmax(second, value[k]);
	}
	return best + (1 / (1 - LIMIT_LEVEL) - 1) * (best - second);
}

void limit_rate_write(record_builder *b, const char *tag, const double *value, unsigned n,
		      const char *how)
{
	const double best = limit_best(value, n);

	if (n > 1)
		record_metric_interval(b, tag, best, best, end_point(value, n, best), LIMIT_LEVEL,
				       how);
	else
		record_metric_real(b, tag, best, how);
}

void limit_time_write(record_builder *b, const char *tag, const double *value, unsigned n,
		      double *scratch)
{
	stat_estimate e;
	char how[192];

	stat_estimate_one(STAT_MEDIAN, value, n, LIMIT_LEVEL, scratch, &e);
	snprintf(how, sizeof how, "median of %u%s%s", n, e.how[0] ? "; " : "", e.how);
	if (!e.present)
		record_metric_absent(b, tag, e.why);
	else if (e.has_interval)
		record_metric_interval(b, tag, e.value, e.lo, e.hi, e.level, how);
	else
		record_metric_real(b, tag, e.value, how);
}
