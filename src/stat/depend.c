/* SPDX-License-Identifier: Apache-2.0 */
#include "stat/depend.h"
#include "stat/stat.h"
#include <float.h>
#include <math.h>
#include <string.h>

typedef struct folded {
	double *y; /* m means of g neighbours each, their mean taken away */
	size_t m, g;
	double mean, var; /* of the single values */
} folded;

static double map(stat_map f, const void *self, double x)
{
	return f ? f(x, self) : x;
}

/* Values are taken relative to the first, so that squares of nearly equal numbers keep their
 * digits; Kahan's compensation keeps the sum of many. */
static void fold(const double *x, size_t n, stat_map f, const void *self, double *y, folded *ret)
{
	const double origin = map(f, self, x[0]);
	const size_t g = (n + STAT_FOLD_MAX - 1) / STAT_FOLD_MAX, m = n / g;
	double sum = 0, lost = 0, squares = 0, mean;

	for (size_t i = 0; i < n; i++) {
		const double v = map(f, self, x[i]) - origin - lost;
		const double next = sum + v;

		lost = (next - sum) - v;
		sum = next;
	}
	mean = sum / (double)n;
	for (size_t i = 0, k = 0; i < n; i++) {
		const double v = map(f, self, x[i]) - origin - mean;

		squares += v * v;
		if (i % g == 0 && k < m)
			y[k] = 0;
		if (k < m)
			y[k] += v / (double)g;
		if (i % g == g - 1)
			k++;
	}
	*ret = (folded){.y = y,
			.m = m,
			.g = g,
			.mean = origin + mean,
			.var = n > 1 ? squares / (double)(n - 1) : 0};
}

static double autocovariance(const folded *s, size_t lag)
{
	double sum = 0;

	for (size_t i = 0; i + lag < s->m; i++)
		sum += s->y[i] * s->y[i + lag];
	return sum / (double)s->m;
}

/* Geyer's initial monotone positive sequence (1992): autocovariances are added in pairs, as long
 * as the pairs stay positive, each no larger than the one before. */
static double geyer(const folded *s)
{
	const size_t most = s->m / 2;
	double sum = 0, last = HUGE_VAL, zero = 0;

	for (size_t lag = 0; lag + 1 <= most; lag += 2) {
		const double even = autocovariance(s, lag), odd = autocovariance(s, lag + 1);
		const double pair = fmin(even + odd, last);

		if (lag == 0)
			zero = even;
		if (pair <= 0)
			break;
		sum += pair;
		last = pair;
	}
	if (!(zero > 0))
		return 1;
	/* As a share of the single values' variance; they were averaged in groups of g. */
	return (2 * sum - zero) * (double)s->g * (double)s->m / ((double)(s->m - 1) * s->var);
}

/* Sums of the first 1, 2, 4, ... autocorrelations, each against its spread if there were no
 * dependence. The widest allowance of them is kept low by the limit 2.6. */
static bool dependence_seen(const folded *s)
{
	const double m = (double)s->m;
	const double zero = autocovariance(s, 0);
	double sum = 0;
	size_t lag = 1;

	if (s->m < 8 || !(zero > 0))
		return false;
	for (size_t width = 1; width <= s->m / 4 && width <= 64; width *= 2) {
		const double k = (double)width;

		for (; lag <= width; lag++)
			sum += autocovariance(s, lag) / zero;
		if (fabs(sum + k / m) > 2.6 * sqrt(k / m))
			return true;
	}
	return false;
}

/* The mean of the `count` lowest ordinates of the cosine transform, from `first` on (Mueller 2007;
 * Lazarus, Lewis, Stock and Watson 2018): an estimate of the spectrum at frequency 0 with as many
 * degrees of freedom. A pattern that repeats lies at higher frequencies and is not counted. */
static double cosine_spectrum(const folded *s, size_t first, size_t count)
{
	double total = 0;

	for (size_t j = first; j < first + count; j++) {
		const double step = acos(-1.0) * (double)j / (double)s->m;
		const double twice = 2 * cos(step);
		double now = cos(step / 2), before = now, sum = 0;

		for (size_t i = 0; i < s->m; i++) {
			const double next = twice * now - before;

			sum += s->y[i] * now;
			before = now;
			now = next;
		}
		total += 2 * sum * sum / (double)s->m;
	}
	return total / (double)count;
}

void stat_depend_find(const double *x, size_t n, stat_map f, const void *self, double *scratch,
		      stat_dependence *ret)
{
	stat_dependence d = {.n = n, .tau = 1, .dof = n > 1 ? (double)(n - 1) : 0};
	folded s;
	double count;

	if (n == 0) {
		*ret = d;
		return;
	}
	fold(x, n, f, self, scratch, &s);
	d.mean = s.mean;
	d.var = s.var;
	d.long_run = s.var;
	if (!(s.var > 0) || !dependence_seen(&s)) {
		*ret = d;
		return;
	}
	d.dependent = true;
	d.tau = fmax(1, geyer(&s));
	count = fmin(0.5 * pow((double)s.m, 2.0 / 3), 0.35 * (double)n / d.tau);
	count = fmax(4, floor(count));
	d.long_run = cosine_spectrum(&s, 1, (size_t)count) * (double)s.g;
	d.dof = count;
	*ret = d;
}

double stat_depend_n(const stat_dependence *d)
{
	if (!(d->var > 0) || !(d->long_run > 0))
		return (double)d->n;
	return (double)d->n * d->var / d->long_run;
}

double stat_lag1(const double *x, size_t n)
{
	double mean = 0, products = 0, squares = 0;

	if (n < 3)
		return 0;
	for (size_t i = 0; i < n; i++)
		mean += (x[i] - x[0]) / (double)n;
	for (size_t i = 0; i < n; i++) {
		const double v = x[i] - x[0] - mean;

		squares += v * v;
		if (i > 0)
			products += v * (x[i - 1] - x[0] - mean);
	}
	return squares > 0 ? products / squares : 0;
}

double stat_tau(const double *x, size_t n, double *scratch)
{
	folded s;

	if (n < 4)
		return 1;
	fold(x, n, NULL, NULL, scratch, &s);
	return s.var > 0 ? fmax(1, geyer(&s)) : 1;
}
