/* SPDX-License-Identifier: Apache-2.0 */
#include "stat/sequential.h"
#include "stat/dist.h"
#include "stat/stat.h"
#include <math.h>
#include <string.h>

#define LOOK_FIRST  6
#define LOOK_GROWTH 1.2
/* Fewer pairs tell nothing of how they depend on each other. */
#define DEPEND_MIN 16
/* Ordinates of the cosine transform: of the band, and the lowest, which alone count where they
 * stand out by so much (by chance in about 3 of 100). */
#define BAND_MOST 16
#define LOWEST	  4
#define LOW_HIGH  2.6
#define LAG1_MOST 0.98
/* Levels of a ratio that lie so far apart, as logarithms, are found on real machines. */
#define WANDER 0.03

void stat_boundary_init(stat_boundary *b, double alpha, size_t n_max, double *walk)
{
	*b = (stat_boundary){.alpha = alpha, .n_max = n_max, .walk = walk};
	memset(walk, 0, (n_max + 2) * sizeof *walk);
	walk[0] = 1;
}

/* What may be spent by the share t of the pairs: a tenth in the first half, by Pocock's form, so
 * that great differences end it early; after that by O'Brien and Fleming's, which leaves most to
 * the end, when there are enough pairs to see how they depend on each other. */
static double spending(double alpha, double t)
{
	const double few = 0.1 * log(1 + (exp(1) - 1) * fmin(1, 2 * t));

	if (t >= 1)
		return alpha;
	return fmax(alpha * few, erfc(-stat_normal_quantile(alpha / 2) / sqrt(2 * t)));
}

double stat_boundary_slack(const stat_boundary *b)
{
	return 2 * b->n < b->n_max ? WANDER : 0;
}

void stat_boundary_last(stat_boundary *b, size_t n)
{
	if (n > 0 && n >= b->n && n < b->n_max)
		b->n_max = n;
}

long stat_boundary_look(stat_boundary *b, size_t n)
{
	const double may = spending(b->alpha, (double)n / (double)b->n_max);
	long r = -1;

	/* One more fair step of all walks that are still inside. */
	for (; b->n < n; b->n++)
		for (size_t k = b->n + 1; k > 0; k--) {
			b->walk[k] = (b->walk[k] + b->walk[k - 1]) / 2;
			if (k == 1)
				b->walk[0] /= 2;
		}
	for (size_t k = 0; 2 * k < n && b->spent + b->walk[k] <= may; k++) {
		b->spent += b->walk[k];
		b->walk[k] = 0;
		r = (long)k;
	}
	/* Counts that were cut off at earlier looks and cannot be reached do not tighten this one:
	 * their probability is 0, and they are within r. */
	return r;
}

size_t stat_look_next(size_t n, size_t n_max)
{
	size_t next = n < LOOK_FIRST ? LOOK_FIRST : (size_t)ceil((double)n * LOOK_GROWTH);

	return next < n_max ? next : n_max;
}

/* --- the median and its interval */

/* How the pairs below a value depend on each other, with that value moving outwards. */
typedef struct side {
	size_t n, most; /* pairs; that lie outside if they are independent */
	double *below;	/* [n]: 1 where the pair lies outside */
	double cosine[BAND_MOST + 1];
	size_t neighbours; /* both outside */
	double z, t_band, t_low;
	size_t band, low;
} side;

static void side_add(side *s, size_t i)
{
	const double step = acos(-1.0) * ((double)i + 0.5) / (double)s->n;

	s->neighbours += i > 0 && s->below[i - 1] > 0;
	s->neighbours += i + 1 < s->n && s->below[i + 1] > 0;
	s->below[i] = 1;
	for (size_t k = 1; k <= s->band; k++)
		s->cosine[k] += cos(step * (double)k);
}

static double power(const side *s, size_t count)
{
	double sum = 0;

	for (size_t k = 1; k <= count; k++)
		sum += s->cosine[k] * s->cosine[k];
	return 2 * sum / (double)(s->n * count);
}

/* tau of an autoregression, raised by half of a standard error, whose signs have the lag-1
 * correlation r: the arcsine law. */
static double tau_of_lag1(double r, size_t n)
{
	const double pi = acos(-1.0);
	double tau = 1, rho;

	r += (1 + 3 * r) / (double)n + 0.5 * sqrt(fmax(0, 1 - r * r) / (double)n);
	rho = sin(pi / 2 * fmin(r, LAG1_MOST));
	for (double power = rho; power > 1e-3; power *= rho)
		tau += 4 / pi * asin(power);
	return tau;
}

/* By how many times the count of those outside, j, scatters more than that of independent pairs,
 * and what Student's t asks more than the normal since that is an estimate itself. At least 1. */
static double factor(const side *s, size_t j)
{
	const double n = (double)s->n, p = (double)j / n, var = p * (1 - p);
	const double both = (double)s->neighbours / n - (1 - 1 / n) * p * p;
	const double low = power(s, s->low) / var;
	double f = fmax(1, sqrt(power(s, s->band) / var) * s->t_band / s->z);

	f = fmax(f, sqrt(tau_of_lag1(both / var, s->n)));
	return low > LOW_HIGH ? fmax(f, sqrt(low) * s->t_low / s->z) : f;
}

/* The number of pairs on one side, the smallest that the median may have there: order[0] is the
 * outermost pair. If a value were the median, its side would hold n/2 of n; whether the j that it
 * holds are too few is judged by how *its* side depends, since of two levels with the value between
 * them the pairs about another value say nothing. 0: no interval. */
static size_t side_least(side *s, const double *order, bool from_end, double *ret_factor)
{
	const double half = (double)s->n / 2, room = half - (double)s->most - 0.5;

	*ret_factor = 1;
	for (size_t j = 1; j <= s->most; j++) {
		double f;

		side_add(s, (size_t)order[from_end ? s->n - j : j - 1]);
		f = factor(s, j);
		if (half - (double)j < room * f) {
			*ret_factor = f;
			return j;
		}
	}
	return s->most + 1;
}

/* order[k]: which of d is the k-th smallest. */
static void order_make(const double *d, const double *sorted, size_t n, double *taken,
		       double *order)
{
	memset(taken, 0, n * sizeof *taken);
	for (size_t i = 0; i < n; i++) {
		size_t lo = 0, hi = n;

		while (lo < hi) {
			const size_t middle = lo + (hi - lo) / 2;

			if (sorted[middle] < d[i])
				lo = middle + 1;
			else
				hi = middle;
		}
		order[lo + (size_t)taken[lo]] = (double)i;
		taken[lo]++;
	}
}

static side side_of(size_t n, long r, double *below)
{
	const double chance = stat_binomial_at_most((double)r, (double)n, 0.5);
	side s = {.n = n, .most = (size_t)r, .below = below, .z = -stat_normal_quantile(chance)};

	memset(below, 0, n * sizeof *below);
	s.band = (size_t)fmin(BAND_MOST, fmax(3, (double)n / 3));
	s.low = s.band < LOWEST ? s.band : LOWEST;
	s.t_band = stat_t_quantile(1 - chance, (double)s.band);
	s.t_low = stat_t_quantile(1 - chance, (double)s.low);
	return s;
}

void stat_paired_median(const double *d, size_t n, long r, double *scratch, stat_paired *ret)
{
	double *order = scratch + n, *room = scratch + 2 * n, low = 1, high = 1;
	size_t below, above;
	side s;

	*ret = (stat_paired){.median = NAN, .lo = NAN, .hi = NAN, .tau = 1};
	if (n == 0)
		return;
	memcpy(scratch, d, n * sizeof *d);
	stat_sort(scratch, n);
	ret->median = stat_quantile_sorted(scratch, n, 0.5);
	if (r < 0)
		return;
	order_make(d, scratch, n, room, order);
	below = above = (size_t)r + 1;
	if (n >= DEPEND_MIN) {
		s = side_of(n, r, room);
		below = side_least(&s, order, false, &low);
		s = side_of(n, r, room);
		above = side_least(&s, order, true, &high);
	}
	ret->tau = fmax(low, high) * fmax(low, high);
	ret->lo = scratch[below - 1];
	ret->hi = scratch[n - above];
	ret->has_interval = true;
}
