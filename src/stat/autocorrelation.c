/* autocorrelation.c - autocorrelation of a series and the long-run variance of its mean.
 *
 * stat_autocorrelation_find() works in these steps:
 *
 * - autocorrelation_fold(): longer series become means of groups of adjacent values, at most
 *   STAT_FOLD_MAX.
 * - geyer(): integrated autocorrelation time tau, by the initial monotone sequence (Geyer 1992).
 * - dependence_seen(): tests on autocorrelations decide whether the series is independent; then the
 *   variance with n - 1 stays.
 * - band_take(): otherwise the long-run variance is the mean of the lowest ordinates of the cosine
 *   transform (Mueller 2007; Lazarus et al. 2018). An F test against a fitted autoregression
 *   (Levinson's recursion, Schwarz's criterion) shows change that is slower; the band is then
 *   narrower.
 * - wider_take(): the wider of this estimate and of tau's counts.
 *
 * Pure functions on arrays: the caller gives the scratch, nothing is allocated. Time is O(n) for
 * folding and then bounded: at most LAGS_MOST autocovariances and BAND_MOST ordinates of at most
 * STAT_FOLD_MAX values. docs/reference/methods.md has the coverage by simulation.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "stat/autocorrelation.h"
#include "stat/dist.h"
#include "stat/stat.h"
#include <float.h>
#include <math.h>
#include <string.h>

/* Standard errors of tau that stat_precise() allows for. */
#define CAREFUL 0.35
/* The band of low frequencies holds at most BAND x m^(2/3) and BAND_TAU x n_eff ordinates. */
#define BAND	  0.4
#define BAND_TAU  0.25
#define BAND_MOST 48 /* Student's t has nothing to gain from more */
/* LOWEST: its lowest ordinates, which show change that is slow relative to the rest; FEWEST: the
 * minimum for an estimate. */
#define LOWEST 8
#define FEWEST 4
/* Neighbourhoods whose level is removed, and the minimum of runs in each. */
#define LEVELS	   50
#define LEVEL_RUNS 16
/* Highest order of the autoregression that models short memory. */
#define ORDERS 2
/* Maximum number of lags that tau is summed over, which bounds the time. */
#define LAGS_MOST 1024
#define LAGS_SEEN 64
/* p-value thresholds of the low-frequency F test: below ALLOWED the slow-drift estimate is used,
 * below REPORTED it is reported, below CERTAIN the interval is also widened by SLOW_WIDER, because
 * the spectrum of a machine's noise keeps rising towards frequency 0, like 1 / f. */
#define SLOW_ALLOWED  0.05
#define SLOW_REPORTED 0.03
#define SLOW_CERTAIN  0.01
#define SLOW_WIDER    1.5
/* With fewer effective runs even the lowest ordinates are where the spectrum falls. */
#define N_EFF_FEW   15
#define FEW_WIDER   1.2
#define LINE_CHANCE 5e-4

typedef struct folded {
	double *y; /* m means of g adjacent values each, less the mean of all */
	size_t m, g;
	double mean, var; /* of the single values */
} folded;

static double autocorrelation_map(stat_map f, const void *self, double x)
{
	return f ? f(x, self) : x;
}

/* Values are taken relative to the first, so that squares of nearly equal numbers do not lose
 * digits; Kahan's compensation does the same for the sum of many. */
static void autocorrelation_fold(const double *x, size_t n, stat_map f, const void *self, double *y,
				 folded *ret)
{
	const double origin = autocorrelation_map(f, self, x[0]);
	const size_t g = (n + STAT_FOLD_MAX - 1) / STAT_FOLD_MAX, m = n / g;
	double sum = 0, lost = 0, squares = 0, mean;

	for (size_t i = 0; i < n; i++) {
		const double v = autocorrelation_map(f, self, x[i]) - origin - lost;
		const double next = sum + v;

		lost = (next - sum) - v;
		sum = next;
	}
	mean = sum / (double)n;
	for (size_t i = 0, k = 0; i < n; i++) {
		const double v = autocorrelation_map(f, self, x[i]) - origin - mean;

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

/* Geyer's initial monotone positive sequence (1992): autocovariances are added in pairs while the
 * pairs are positive, each limited to the previous pair. Each autocovariance is too small by about
 * the variance of the mean, because the mean was estimated from the same runs: the sum is divided
 * by the remaining fraction. */
static double geyer(const folded *s, double *ret_spread)
{
	const size_t most = s->m / 2 < LAGS_MOST ? s->m / 2 : LAGS_MOST;
	double sum = 0, last = HUGE_VAL, zero = 0, left;
	size_t lag;

	for (lag = 0; lag + 1 <= most; lag += 2) {
		const double even = autocovariance(s, lag), odd = autocovariance(s, lag + 1);
		const double pair = fmin(even + odd, last);

		if (lag == 0)
			zero = even;
		if (pair <= 0)
			break;
		sum += pair;
		last = pair;
	}
	/* Its relative standard error (Madras and Sokal 1988). */
	*ret_spread = sqrt(2 * (2 * (double)lag - 1) / (double)s->m);
	if (!(zero > 0))
		return 1;
	left = fmax(0.25, 1 - (2 * (double)lag - 1) / (double)s->m);
	/* It is a share of the single values' variance; they were averaged in groups of g. */
	return (2 * sum - zero) / left * (double)s->g / s->var;
}

/* Returns the effective number of values in the variance: nearly all for usual noise, only the
 * outliers if most values are equal. Divided by m it is 1 / kurtosis. */
static double carriers(const folded *s)
{
	double squares = 0, fourths = 0;

	for (size_t i = 0; i < s->m; i++) {
		const double square = s->y[i] * s->y[i];

		squares += square;
		fourths += square * square;
	}
	return squares * squares / fourths;
}

/* Tests for dependence. Sums of the first 1, 2, 4, ... autocorrelations are compared with their
 * spread under independence; single ones show a pattern that repeats. The limits are wide because
 * many lags are tested. Rare events that are adjacent by chance, two or four of them, must not
 * count. */
static bool dependence_seen(const folded *s)
{
	const double m = (double)s->m;
	const double zero = autocovariance(s, 0);
	double sum = 0, rare;
	size_t width = 1;

	if (!(zero > 0))
		return false;
	rare = 1 / carriers(s);
	if (s->g > 1 && fabs((double)s->g * zero / s->var - 1) > 2.6 * sqrt(rare))
		return true;
	for (size_t lag = 1; lag <= s->m / 3 && lag <= LAGS_SEEN; lag++) {
		const double one = autocovariance(s, lag) / zero, k = (double)lag;

		sum += one;
		if (fabs(one) > fmax(4.5 / sqrt(m), 4.5 * rare))
			return true;
		if (lag == width) {
			const double moved = sum + k / m, limit = 2.6 * sqrt(k / m);

			if (moved < -limit || moved > fmax(limit, 2.5 * rare))
				return true;
			width *= 2;
		}
	}
	return false;
}

/* Returns the squared coefficient of the j-th cosine: an estimate of the spectrum at a low
 * frequency. */
static double cosine_power(const folded *s, size_t j)
{
	const double step = acos(-1.0) * (double)j / (double)s->m;
	const double twice = 2 * cos(step);
	double now = cos(step / 2), before = now, sum = 0;

	for (size_t i = 0; i < s->m; i++) {
		const double next = twice * now - before;

		sum += s->y[i] * now;
		before = now;
		now = next;
	}
	return 2 * sum * sum / (double)s->m;
}

static double autocorrelation_mean_of(const double *x, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += x[i];
	return sum / (double)n;
}

/* Returns the probability that F with (a, b) degrees of freedom exceeds f. */
static double f_tail(double f, double a, double b)
{
	return stat_beta_cdf(b / (b + a * f), b / 2, a / 2);
}

/* Finds the line that a repeating pattern puts into the spectrum. It carries no information on
 * frequency 0, so the band ends before it. */
static size_t line_find(const double *power, size_t count)
{
	double sum = 0;

	for (size_t j = 0; j < count; j++) {
		const double k = (double)j;

		if (j >= FEWEST && f_tail(power[j] / (sum / k), 1, k) < LINE_CHANCE)
			return j;
		sum += power[j];
	}
	return count;
}

/* Fits the autoregression that describes the series best by Schwarz's criterion (1978), by
 * Levinson's recursion (1947). Returns its order; *ret_var: the variance that it leaves. */
static size_t autoregression(const folded *s, double ret[ORDERS], double *ret_var)
{
	double now[ORDERS] = {0}, before[ORDERS], covariance[ORDERS + 1], var, best;
	size_t order = 0;

	for (size_t k = 0; k <= ORDERS; k++)
		covariance[k] = autocovariance(s, k);
	*ret_var = var = covariance[0];
	best = (double)s->m * log(var);
	for (size_t k = 1; k <= ORDERS; k++) {
		double reflection = covariance[k], criterion;

		memcpy(before, now, sizeof now);
		for (size_t i = 1; i < k; i++)
			reflection -= before[i - 1] * covariance[k - i];
		reflection /= var;
		now[k - 1] = reflection;
		for (size_t i = 1; i < k; i++)
			now[i - 1] = before[i - 1] - reflection * before[k - i - 1];
		var *= 1 - reflection * reflection;
		if (!(var > 0))
			break;
		criterion = (double)s->m * log(var) + (double)k * log((double)s->m);
		if (criterion < best) {
			best = criterion;
			order = k;
			*ret_var = var;
			memcpy(ret, now, sizeof now);
		}
	}
	return order;
}

/* Tests the lowest ordinates against the spectrum of the autoregression that fits the whole series,
 * which is short memory. If they exceed it, the level changes more slowly. Returns the smaller
 * p-value of the first FEWEST and of all LOWEST. */
static double slow_chance(const folded *s, const double *power)
{
	double coefficients[ORDERS] = {0}, var, sum = 0, least = 1;
	const size_t order = autoregression(s, coefficients, &var);

	for (size_t j = 1; j <= LOWEST; j++) {
		const double step = acos(-1.0) * (double)j / (double)s->m;
		double real = 1, imaginary = 0;

		for (size_t k = 0; k < order; k++) {
			real -= coefficients[k] * cos(step * (double)(k + 1));
			imaginary += coefficients[k] * sin(step * (double)(k + 1));
		}
		sum += power[j - 1] * (real * real + imaginary * imaginary);
		if (j == FEWEST || j == LOWEST)
			least = fmin(least, f_tail(sum / (double)j / var, (double)j,
						   (double)(s->m - order)));
	}
	return least;
}

/* Sets the long-run variance from the band. If the level changes slowly, the lowest ordinates alone
 * are the estimate. */
static void band_take(const folded *s, const double *power, size_t count, stat_autocorrelation *d)
{
	const double chance = slow_chance(s, power);
	double wider = (double)d->n / d->tau < N_EFF_FEW ? FEW_WIDER : 1;

	d->slow = chance < SLOW_REPORTED;
	if (chance < SLOW_CERTAIN) {
		count = FEWEST;
		wider = SLOW_WIDER;
	} else if (chance < SLOW_ALLOWED && count > LOWEST) {
		count = LOWEST;
	}
	d->long_run = autocorrelation_mean_of(power, count) * (double)s->g * wider * wider;
	d->dof = (double)count;
}

/* Subtracts the level of the neighbourhood from each value. */
static void level_remove(const folded *s, double *ret)
{
	const size_t room = s->m / LEVELS > LEVEL_RUNS ? s->m / LEVELS : LEVEL_RUNS;

	for (size_t from = 0; from < s->m; from += room) {
		const size_t count = from + 2 * room <= s->m ? room : s->m - from;
		const double mean = autocorrelation_mean_of(s->y + from, count);

		for (size_t i = from; i < from + count; i++)
			ret[i] = s->y[i] - mean;
		if (count > room)
			break;
	}
}

/* Takes the wider of two estimates: the spectrum's has little bias and much noise, tau's much bias
 * and little noise. A stop rule waits until chance makes an interval narrow; chance seldom does it
 * to both. */
static void wider_take(stat_autocorrelation *d)
{
	const double dof = fmax(2, (double)d->n / d->tau - 1);
	const double by_tau = stat_t_quantile(0.975, dof) * sqrt(d->tau * d->var);

	if (d->tau > 1 && by_tau > stat_t_quantile(0.975, d->dof) * sqrt(d->long_run)) {
		d->long_run = d->tau * d->var;
		d->dof = dof;
	}
}

/* The mean of the lowest ordinates of the cosine transform (Mueller 2007; Lazarus, Lewis, Stock and
 * Watson 2018): the spectrum at frequency 0, with a degree of freedom for each. The band is narrow
 * against 1/tau, over which the spectrum falls. */
void stat_autocorrelation_find(const double *x, size_t n, stat_map f, const void *self, bool assume,
			       double *scratch, stat_autocorrelation *ret)
{
	stat_autocorrelation d = {
	    .n = n, .tau = 1, .tau_upper = 1, .tau_level = 1, .dof = n > 1 ? (double)(n - 1) : 0};
	double *power = scratch + STAT_FOLD_MAX, most, spread;
	size_t count;
	folded s;

	if (n == 0) {
		*ret = d;
		return;
	}
	autocorrelation_fold(x, n, f, self, scratch, &s);
	d.mean = s.mean;
	d.var = s.var;
	d.long_run = s.var;
	if (!(s.var > 0) || n < 16) {
		*ret = d;
		return;
	}
	d.carriers = carriers(&s);
	d.fold = (double)s.g;
	d.tau = fmax(1, geyer(&s, &spread));
	d.tau_upper = d.tau * (1 + CAREFUL * spread);
	d.dependent = assume || dependence_seen(&s);
	if (d.dependent) {
		most = fmin(BAND * pow((double)s.m, 2.0 / 3), BAND_TAU * (double)n / d.tau);
		most = fmin(most, BAND_MOST);
		count = most > FEWEST ? (size_t)most : FEWEST;
		for (size_t j = 0; j < count || j < LOWEST; j++)
			power[j] = cosine_power(&s, j + 1);
		band_take(&s, power, line_find(power, count), &d);
		wider_take(&d);
	} else {
		d.tau = 1;
	}
	d.tau_level = d.tau;
	if (d.slow) {
		level_remove(&s, power);
		s.y = power;
		d.tau_level = fmin(d.tau, fmax(1, geyer(&s, &spread)));
	}
	*ret = d;
}

double stat_depend_n(const stat_autocorrelation *d)
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
	double spread;

	if (n < 4)
		return 1;
	autocorrelation_fold(x, n, NULL, NULL, scratch, &s);
	return s.var > 0 ? fmax(1, geyer(&s, &spread)) : 1;
}
