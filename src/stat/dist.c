/* dist.c - quantiles by Newton's or Halley's method on the distribution functions.
 *
 * The incomplete beta and gamma functions are a power series or a continued fraction
 * (DLMF 8.17, 8.7 and 8.9), whichever converges at the argument, times a front factor by Loader's
 * formula, which keeps its digits for large parameters. A bracket that bisection shrinks bounds
 * each step.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "stat/dist.h"
#include <float.h>
#include <math.h>

/* Start from the tail's leading term, then Newton with Halley's correction on erfc, which is
 * accurate in both tails. A handful of steps reaches the last digit. */
double stat_normal_quantile(double p)
{
	const double tail = p < 0.5 ? p : 1 - p;
	double z;

	if (!(p > 0) || !(p < 1))
		return p <= 0 ? -INFINITY : INFINITY;
	if (p == 0.5)
		return 0;
	z = tail > 0.2 ? (0.5 - tail) * 2.5 : sqrt(-2 * log(tail));
	for (int i = 0; i < 50; i++) {
		/* z is the upper quantile of `tail`. */
		const double density = exp(-z * z / 2) / sqrt(2 * acos(-1.0));
		const double error = (0.5 * erfc(z / sqrt(2.0)) - tail) / density;
		const double step = error / (1 - 0.5 * error * z);

		z += step;
		if (fabs(step) <= 4 * DBL_EPSILON * fabs(z))
			break;
	}
	return p < 0.5 ? -z : z;
}

/* The continued fraction DLMF 8.17.22, evaluated by Lentz's method. It converges fast for
 * x < (a + 1) / (a + b + 2), in about sqrt(max(a, b)) steps. */
static double beta_fraction(double x, double a, double b)
{
	double c = 1, d = 1 - (a + b) * x / (a + 1), value;

	if (fabs(d) < DBL_MIN)
		d = DBL_MIN;
	d = 1 / d;
	value = d;
	for (int i = 1; i <= 100000; i++) {
		const double m = i;
		const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double factor = 1;

		for (int half = 0; half < 2; half++) {
			const double term = half == 0 ? even : odd;

			d = 1 + term * d;
			if (fabs(d) < DBL_MIN)
				d = DBL_MIN;
			c = 1 + term / c;
			if (fabs(c) < DBL_MIN)
				c = DBL_MIN;
			d = 1 / d;
			factor = c * d;
			value *= factor;
		}
		if (fabs(factor - 1) < 2 * DBL_EPSILON)
			break;
	}
	return value;
}

/* lgamma() stores the sign in a global of the C library; this one returns it. */
static double log_gamma(double x)
{
	int sign;

	return lgamma_r(x, &sign);
}

enum { STIRLING_FROM = 25 };

/* ln(Gamma(z + 1)) - ((z + 1/2) ln(z) - z + ln(sqrt(2 pi))): Stirling's series (DLMF 5.11.1) where
 * its sixth term is below the last digit. */
static double stirling_error(double z)
{
	const double w = 1 / (z * z);

	if (z < STIRLING_FROM)
		return log_gamma(z + 1) - (z + 0.5) * log(z) + z - 0.5 * log(2 * acos(-1.0));
	return (1 / 12.0 - w * (1 / 360.0 - w * (1 / 1260.0 - w * (1 / 1680.0 - w / 1188.0)))) / z;
}

/* z ln(z / m) + m - z, without the cancellation where z is near m: with v = (z - m) / (z + m) it is
 * (z - m) v + 2 z (v^3 / 3 + v^5 / 5 + ...). */
static double deviance(double z, double m)
{
	const double v = (z - m) / (z + m);
	double sum = (z - m) * v, term = 2 * z * v;

	if (!(fabs(v) < 0.1))
		return z * log(z / m) + m - z;
	for (int k = 3; k < 100; k += 2) {
		const double before = sum;

		term *= v * v;
		sum += term / k;
		if (sum == before)
			break;
	}
	return sum;
}

/* x^a (1-x)^b / B(a, b). With large a + b the logarithms of the gamma function would lose digits:
 * by the formula of C. Loader, "Fast and accurate computation of binomial probabilities", 2000,
 * what is large cancels before it is computed. */
static double beta_front(double x, double a, double b)
{
	const double n = a + b;

	if (n < STIRLING_FROM)
		return exp(log_gamma(n) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
	return sqrt(a * b / n / (2 * acos(-1.0))) *
	       exp(stirling_error(n) - stirling_error(a) - stirling_error(b) - deviance(a, n * x) -
		   deviance(b, n * (1 - x)));
}

double stat_beta_cdf(double x, double a, double b)
{
	if (!(x > 0))
		return 0;
	if (!(x < 1))
		return 1;
	if (x < (a + 1) / (a + b + 2))
		return beta_front(x, a, b) * beta_fraction(x, a, b) / a;
	return 1 - beta_front(x, a, b) * beta_fraction(1 - x, b, a) / b;
}

/* Newton's method inside a bracket that bisection shrinks. */
double stat_beta_quantile(double p, double a, double b)
{
	double lo = 0, hi = 1, x = a / (a + b);

	if (!(p > 0) || !(p < 1))
		return p <= 0 ? 0 : 1;
	for (int i = 0; i < 200; i++) {
		const double error = stat_beta_cdf(x, a, b) - p;
		const double density = beta_front(x, a, b) / (x * (1 - x));
		double next;

		if (error > 0)
			hi = x;
		else
			lo = x;
		next = x - error / density;
		if (!(next > lo && next < hi))
			next = (lo + hi) / 2;
		if (fabs(next - x) <= 4 * DBL_EPSILON * x)
			return next;
		x = next;
	}
	return x;
}

/* t^2 / (dof + t^2) is beta distributed with 1/2 and dof/2, and 1 minus it with dof/2 and 1/2: the
 * smaller of the two is accurate. */
double stat_t_quantile(double p, double dof)
{
	const double tail = 2 * fmin(p, 1 - p);
	double x, t;

	if (p == 0.5)
		return 0;
	x = stat_beta_quantile(1 - tail, 0.5, dof / 2);
	t = sqrt(dof * x / (1 - x));
	if (x > 0.5) {
		x = stat_beta_quantile(tail, dof / 2, 0.5);
		t = sqrt(dof * (1 - x) / x);
	}
	return p < 0.5 ? -t : t;
}

/* x^a e^-x / gamma(a), as beta_front(). */
static double gamma_front(double x, double a)
{
	if (a < STIRLING_FROM)
		return exp(a * log(x) - x - log_gamma(a));
	return sqrt(a / (2 * acos(-1.0))) * exp(-deviance(a, x) - stirling_error(a));
}

/* 1 + x / (a + 1) + x^2 / ((a + 1) (a + 2)) + ... (DLMF 8.7.1). */
static double gamma_series(double x, double a)
{
	double sum = 1, term = 1;

	for (int i = 1; i <= 1000000 && term > DBL_EPSILON / 4 * sum; i++) {
		term *= x / (a + i);
		sum += term;
	}
	return sum;
}

/* The continued fraction DLMF 8.9.2 in its even part, evaluated by Lentz's method. */
static double gamma_fraction(double x, double a)
{
	double b = x + 1 - a, c = 1 / DBL_MIN, d = 1 / b, value = d;

	for (int i = 1; i <= 1000000; i++) {
		const double term = -i * (i - a);

		b += 2;
		d = term * d + b;
		if (fabs(d) < DBL_MIN)
			d = DBL_MIN;
		c = b + term / c;
		if (fabs(c) < DBL_MIN)
			c = DBL_MIN;
		d = 1 / d;
		value *= c * d;
		if (fabs(c * d - 1) < 2 * DBL_EPSILON)
			break;
	}
	return value;
}

double stat_gamma_cdf(double x, double shape)
{
	if (!(x > 0))
		return 0;
	if (x < shape + 1)
		return gamma_front(x, shape) * gamma_series(x, shape) / shape;
	return 1 - gamma_front(x, shape) * gamma_fraction(x, shape);
}

enum { NEARLY_NORMAL = 100000 };

/* From the approximation of E. B. Wilson and M. M. Hilferty (PNAS 17, 1931, 684), whose relative
 * error is below 1e-9 for shapes above NEARLY_NORMAL, Newton's method inside a bracket that
 * bisection shrinks. */
double stat_gamma_quantile(double p, double shape)
{
	double lo = 0, hi = shape + 10 * sqrt(shape) + 50, x;

	if (!(p > 0) || !(p < 1))
		return p <= 0 ? 0 : INFINITY;
	x = shape * pow(1 - 1 / (9 * shape) + stat_normal_quantile(p) / (3 * sqrt(shape)), 3);
	if (shape > NEARLY_NORMAL)
		return x;
	while (stat_gamma_cdf(hi, shape) < p)
		hi *= 2;
	if (!(x > 0 && x < hi))
		x = fmin(shape, hi / 2);
	for (int i = 0; i < 2000; i++) {
		const double error = stat_gamma_cdf(x, shape) - p;
		double next = x - error * x / gamma_front(x, shape);

		if (error > 0)
			hi = x;
		else
			lo = x;
		if (!(next > lo && next < hi))
			next = (lo + hi) / 2;
		if (fabs(next - x) <= 1e-12 * x || hi < DBL_MIN)
			return next;
		x = next;
	}
	return x;
}
