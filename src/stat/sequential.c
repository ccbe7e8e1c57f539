/* sequential.c - group sequential sign test with alpha spending, inverted to an interval of the
 * median.
 *
 * stat_boundary: walk[k] is the probability that k of the n pairs so far are below the median and
 * no earlier look has ended the walk. Each pair is one step of a fair random walk, a convolution of
 * O(n), so n_max pairs take O(n_max^2); at a look the lowest counts are absorbed while the spent
 * error permits. These probabilities are exact. Only the spending function uses the
 * normal distribution, and any increasing one is valid. sequential.h has the sources.
 *
 * stat_paired_median(): pairs may depend on each other. Seven models (white noise and
 * autoregressions of order 1, mixed) are weighted by Whittle's likelihood of at most ORDINATES
 * ordinates of the cosine transform: first of all pairs' normal scores, then of the signs on one
 * side. side_least() returns the outermost rank whose chance, averaged over the models, exceeds
 * that of independent pairs at rank r. It takes O(n x ORDINATES) cosines.
 *
 * stat_paired_shift(): the same with scores of signed ranks, whose limit moves outwards until the
 * weighted chance is that of independent pairs; means of two values are counted, not listed.
 *
 * Pure functions: the caller gives walk and scratch; `depend` takes about 4 KiB of the stack. The
 * order of d is time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "stat/sequential.h"
#include "stat/dist.h"
#include "stat/stat.h"
#include <math.h>
#include <string.h>

#define LOOK_FIRST  6
#define LOOK_GROWTH 1.2
/* Share of alpha spent in the first half of the plan. */
#define EARLY 0.2
/* On real machines levels of a ratio differ by this much, as logarithms. After this share of the
 * plan every level has been observed. */
#define WANDER	    0.03
#define WANDER_OVER 0.7
/* Number of lowest ordinates of the cosine transform. */
#define ORDINATES 64
/* Signs are not Gaussian, so the likelihood of their spectrum is too certain: its logarithm gets
 * this weight. */
#define SIGNS_TRUST 0.1
/* Pairs up to which the distribution of the sum of scores is computed. */
enum { RANKS_EXACT = 32 };
/* Bisections that find a value between two others, and a factor of at most WIDE_MOST. */
#define WALSH_STEPS 64
#define ROUNDING    1e-9
#define WIDE_STEPS  30
#define WIDE_MOST   16

void stat_boundary_init(stat_boundary *b, double alpha, size_t n_max, double *walk)
{
	*b = (stat_boundary){.alpha = alpha, .n_max = n_max, .walk = walk};
	memset(walk, 0, (n_max + 2) * sizeof *walk);
	walk[0] = 1;
}

/* Returns the error that may be spent by the share t of the pairs: a little in the first half, by
 * Pocock's spending function, so that great differences end it early; after that by O'Brien and
 * Fleming's, which leaves most to the end, when the pairs suffice to estimate their
 * autocorrelation. */
static double spending(double alpha, double t)
{
	const double few = EARLY * log(1 + (exp(1) - 1) * fmin(1, 2 * t));

	if (t >= 1)
		return alpha;
	return fmax(alpha * few, erfc(-stat_normal_quantile(alpha / 2) / sqrt(2 * t)));
}

double stat_boundary_slack(const stat_boundary *b)
{
	const double t = (double)b->n / (double)b->n_max;

	return WANDER * fmax(0, 1 - t / WANDER_OVER);
}

void stat_boundary_last(stat_boundary *b, size_t n)
{
	if (n > 0 && n >= b->n && n < b->n_max)
		b->n_max = n;
}

/* Makes fair steps, of all walks that are still inside, up to n pairs. */
static void walk_on(stat_boundary *b, size_t n)
{
	for (; b->n < n; b->n++)
		for (size_t k = b->n + 1; k > 0; k--) {
			b->walk[k] = (b->walk[k] + b->walk[k - 1]) / 2;
			if (k == 1)
				b->walk[0] /= 2;
		}
}

long stat_boundary_look(stat_boundary *b, size_t n)
{
	const double may = spending(b->alpha, (double)n / (double)b->n_max);
	long r = -1;

	walk_on(b, n);
	for (size_t k = 0; 2 * k < n && b->spent + b->walk[k] <= may; k++) {
		b->spent += b->walk[k];
		b->walk[k] = 0;
		r = (long)k;
	}
	/* Counts that were cut off at earlier looks and cannot be reached do not tighten this one:
	 * their probability is 0, and they are within r. */
	return r;
}

double stat_boundary_level(stat_boundary *b, size_t n)
{
	const double may = spending(b->alpha, (double)n / (double)b->n_max);
	double level = 0, binomial = exp2(-(double)n), share = 1;

	walk_on(b, n);
	for (size_t k = 0; 2 * k < n && share >= 1; k++) {
		if (b->walk[k] > 0)
			share = fmin(1, fmax(0, may - b->spent) / b->walk[k]);
		level += share * binomial;
		b->spent += share * b->walk[k];
		b->walk[k] *= 1 - share;
		binomial *= (double)(n - k) / (double)(k + 1);
	}
	return level;
}

size_t stat_look_next(size_t n, size_t n_max)
{
	size_t next = n < LOOK_FIRST ? LOOK_FIRST : (size_t)ceil((double)n * LOOK_GROWTH);

	return next < n_max ? next : n_max;
}

/* --- how pairs depend on each other */

/* `share` of the variance is a first-order autoregression's with the lag-1 correlation `rho`, the
 * rest is white: of short and long memory, weak and strong. */
typedef struct model {
	double share, rho;
	double weight; /* prior; the first model, independence, has the remaining probability */
} model;

static const model models[] = {{0, 0, 0},     {0.2, 0.9, 0.2}, {0.5, 0.9, 0.1}, {0.5, 0.97, 0.1},
			       {1, 0.6, 0.1}, {1, 0.9, 0.1},   {1, 0.97, 0.4}};

#define MODELS (sizeof models / sizeof models[0])

/* Quantities of n pairs under each model. S(k): its spectrum, scaled to the variance 1 in n
 * pairs. */
typedef struct depend {
	size_t n, ordinates;
	double fit[MODELS][ORDINATES]; /* (1 - 1 / S) / 2 */
	double logs[MODELS];	       /* the sum of log(S) / 2 */
	double wide[MODELS];   /* standard deviation of a sum, relative to independent pairs */
	double weight[MODELS]; /* posterior, from the values; their sum is not 1 */
} depend;

static double spectrum(const model *m, double at)
{
	const double r = m->rho;

	return 1 - m->share + m->share * (1 - r * r) / (1 - 2 * r * cos(at) + r * r);
}

static double sequential_wide(const model *m, double n)
{
	const double r = m->rho, lags = 1 - (1 - pow(r, n)) / (n * (1 - r));

	return sqrt(1 + 2 * m->share * r / (1 - r) * lags);
}

static void depend_init(depend *d, size_t n, double even)
{
	const double step = acos(-1.0) / (double)n;
	const double likely = (double)n / ((double)n + even);

	*d = (depend){.n = n, .ordinates = n - 1 < ORDINATES ? n - 1 : ORDINATES};
	for (size_t m = 0; m < MODELS; m++) {
		double mean = 0;

		for (size_t k = 1; k < n; k++)
			mean += spectrum(&models[m], step * (double)k) / (double)(n - 1);
		for (size_t k = 0; k < d->ordinates; k++) {
			const double at = spectrum(&models[m], step * (double)(k + 1)) / mean;

			d->fit[m][k] = (1 - 1 / at) / 2;
			d->logs[m] += log(at) / 2;
		}
		d->wide[m] = sequential_wide(&models[m], (double)n);
		d->weight[m] = m == 0 ? 1 - likely : likely * models[m].weight;
	}
}

/* Adds x at the i-th pair to the cosine transform. */
static void cosine_add(const depend *d, double *cosine, size_t i, double x)
{
	const double step = acos(-1.0) * ((double)i + 0.5) / (double)d->n;

	for (size_t k = 0; k < d->ordinates; k++)
		cosine[k] += x * cos(step * (double)(k + 1));
}

/* Computes the logarithms of the models' likelihoods (Whittle), relative to the likeliest. */
static void likelihoods(const depend *d, const double *cosine, double variance, double *ret)
{
	double most = 0;

	for (size_t m = 0; m < MODELS; m++) {
		ret[m] = -d->logs[m];
		for (size_t k = 0; k < d->ordinates; k++)
			ret[m] +=
			    cosine[k] * cosine[k] * d->fit[m][k] * 2 / ((double)d->n * variance);
		most = fmax(most, ret[m]);
	}
	for (size_t m = 0; m < MODELS; m++)
		ret[m] -= most;
}

/* Tests all values for dependence, as normal scores of their ranks (van der Waerden): the Bayes
 * factor of dependence goes into the weights. */
static void depend_learn(depend *d, const double *sorted, const double *order)
{
	const double n = (double)d->n;
	double cosine[ORDINATES] = {0}, of[MODELS], variance = 0, factor = 0;

	for (size_t i = 0, end; i < d->n; i = end) {
		double score;

		for (end = i + 1; end < d->n && !(sorted[end] > sorted[i]); end++)
			;
		score = stat_normal_quantile((double)(i + end) / (2 * n));
		variance += score * score * (double)(end - i) / n;
		for (size_t k = i; k < end; k++)
			cosine_add(d, cosine, (size_t)order[k], score);
	}
	if (!(variance > 0))
		return;
	likelihoods(d, cosine, variance, of);
	for (size_t m = 1; m < MODELS; m++)
		factor += models[m].weight * exp(of[m]);
	d->weight[0] *= exp(of[0]);
	for (size_t m = 1; m < MODELS; m++)
		d->weight[m] *= factor;
}

/* Returns the probability that a standard normal variable exceeds z. */
static double normal_tail(double z)
{
	return erfc(z / sqrt(2)) / 2;
}

/* Returns the probability that a count is z standard deviations of independent pairs too small, the
 * models weighted by the likelihood of these signs too. */
static double chance_of(const depend *d, const double *cosine, double variance, double z)
{
	double of[MODELS], sum = 0, all = 0;

	likelihoods(d, cosine, variance, of);
	for (size_t m = 0; m < MODELS; m++) {
		const double weight = d->weight[m] * exp(SIGNS_TRUST * of[m]);

		all += weight;
		sum += weight * normal_tail(z / d->wide[m]);
	}
	return sum / all;
}

/* --- the median and its interval */

/* Returns the number of pairs on one side, the smallest that the median may have there, if
 * independent pairs may have r outside. If a value were the median, its side would hold n/2 of n
 * pairs. Whether the j that it holds are too few is judged by the dependence of *its* side, since
 * of two levels with the value between them pairs around another value show nothing. */
static size_t side_least(const depend *d, const double *sorted, const double *order, size_t r,
			 bool from_end, double *ret_factor)
{
	const double n = (double)d->n, half = n / 2, room = half - (double)r - 0.5;
	const double chance = stat_binomial_at_most((double)r, n, 0.5);
	const double z = -stat_normal_quantile(chance);
	double cosine[ORDINATES] = {0};

	*ret_factor = 1;
	for (size_t j = 1; j <= r; j++) {
		const size_t at = from_end ? d->n - j : j - 1, next = from_end ? at - 1 : at + 1;
		const double p = (double)j / n, factor = (half - (double)j) / room;

		cosine_add(d, cosine, (size_t)order[at], 1);
		if (!(sorted[at] < sorted[next]) && !(sorted[at] > sorted[next]))
			continue; /* ties: more pairs of this value follow */
		if (chance_of(d, cosine, p * (1 - p), z * factor) > chance) {
			*ret_factor = factor;
			return j;
		}
	}
	return r + 1;
}

/* Sets order[k] to the index in d of the k-th smallest value. */
static void sequential_order_make(const double *d, const double *sorted, size_t n, double *taken,
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

void stat_paired_median(const double *d, size_t n, long r, double *scratch, stat_paired *ret)
{
	double *order = scratch + n, low, high;
	size_t below, above;
	depend how;

	*ret = (stat_paired){.median = NAN, .lo = NAN, .hi = NAN, .tau = 1};
	if (n == 0)
		return;
	memcpy(scratch, d, n * sizeof *d);
	stat_sort(scratch, n);
	ret->median = stat_quantile_sorted(scratch, n, 0.5);
	if (r < 0)
		return;
	sequential_order_make(d, scratch, n, scratch + 2 * n, order);
	depend_init(&how, n, STAT_PAIRS_EVEN);
	depend_learn(&how, scratch, order);
	below = side_least(&how, scratch, order, (size_t)r, false, &low);
	above = side_least(&how, scratch, order, (size_t)r, true, &high);
	ret->tau = fmax(low, high) * fmax(low, high);
	ret->lo = scratch[below - 1];
	ret->hi = scratch[n - above];
	ret->has_interval = true;
}

/* --- the shift and its interval */

/* Returns the sum of the scores n + 1 .. 2n. */
static double scores_sum(size_t n)
{
	return (double)n * (double)n + (double)n * (double)(n + 1) / 2;
}

/* Returns the largest value that the sum of the positive differences' scores has or stays below
 * with at most this probability if n differences are symmetric around 0; -1: none. Exact up to
 * RANKS_EXACT differences; the normal distribution of more has the heavier tail. */
static double scores_least(size_t n, double level)
{
	double p[RANKS_EXACT * RANKS_EXACT + RANKS_EXACT * (RANKS_EXACT + 1) / 2 + 1] = {1};
	double sum = 0, least = -1;
	const double all = scores_sum(n), m = (double)n;

	if (n > RANKS_EXACT) /* the variance is the sum of the squares of the scores, over 4 */
		return fmax(-1,
			    floor((all - 1) / 2 + stat_normal_quantile(level) *
						      sqrt(m * (2 * m + 1) * (7 * m + 1) / 24)));
	for (size_t score = n + 1, most = 0; score <= 2 * n; score++) {
		most += score;
		for (size_t s = most + 1; s-- > 0;)
			p[s] = (p[s] + (s >= score ? p[s - score] : 0)) / 2;
	}
	for (size_t s = 0; (double)s < all && (sum += p[s]) <= level * (1 + ROUNDING); s++)
		least = (double)s;
	return least;
}

/* Returns the smallest x that at least k of the means of two values do not exceed (Walsh averages);
 * a value, the mean of it and itself, counts n + 1 times. */
static double walsh_quantile(const double *sorted, size_t n, double k)
{
	double lo = sorted[0], hi = sorted[n - 1];

	for (unsigned steps = 0; steps < WALSH_STEPS && lo < hi; steps++) {
		const double x = lo + (hi - lo) / 2;
		double count = 0;

		for (size_t i = 0, j = n; i < n; i++) {
			while (j > i && (sorted[i] + sorted[j - 1]) / 2 > x)
				j--;
			count += j > i ? (double)(n + j - i) : 0;
		}
		if (count >= k)
			hi = x;
		else
			lo = x;
	}
	return hi;
}

/* Returns how far out the limit must be, in standard deviations of independent pairs, for the
 * probability of `z`: the models are weighted by the signs of the values around `limit` too. */
static double shift_z(const depend *d, const double *sorted, const double *order, double z,
		      double limit)
{
	const double chance = normal_tail(z);
	double cosine[ORDINATES] = {0}, lo = z, hi = z * WIDE_MOST, p;
	size_t below = 0;

	for (; below < d->n && sorted[below] < limit; below++)
		cosine_add(d, cosine, (size_t)order[below], 1);
	p = fmin(fmax((double)below, 0.5), (double)d->n - 0.5) / (double)d->n;
	if (chance_of(d, cosine, p * (1 - p), z) <= chance)
		return z;
	for (unsigned steps = 0; steps < WIDE_STEPS; steps++) {
		const double at = (lo + hi) / 2;

		if (chance_of(d, cosine, p * (1 - p), at) > chance)
			lo = at;
		else
			hi = at;
	}
	return hi;
}

void stat_paired_shift(const double *d, size_t n, double level, double even, double *scratch,
		       stat_paired *ret)
{
	const double all = scores_sum(n);
	double *sorted = scratch, *order = scratch + n;
	double limit[2], widest = 1, z;
	depend how;

	*ret = (stat_paired){.median = NAN, .lo = NAN, .hi = NAN, .tau = 1};
	if (n == 0)
		return;
	memcpy(sorted, d, n * sizeof *d);
	stat_sort(sorted, n);
	ret->median = (walsh_quantile(sorted, n, ceil(all / 2)) +
		       walsh_quantile(sorted, n, floor(all / 2) + 1)) /
		      2;
	if (!(level > 0) || scores_least(n, level) < 0)
		return;
	sequential_order_make(d, sorted, n, scratch + 2 * n, order);
	depend_init(&how, n, even);
	depend_learn(&how, sorted, order);
	z = -stat_normal_quantile(level);
	for (unsigned side = 0; side < 2; side++) {
		double at = z, was;

		do {
			const double k = fmax(1, scores_least(n, normal_tail(at)) + 1);

			limit[side] = walsh_quantile(sorted, n, side == 0 ? k : all + 1 - k);
			was = at;
			at = fmax(at, shift_z(&how, sorted, order, z, limit[side]));
		} while (at > was);
		widest = fmax(widest, at / z);
	}
	ret->tau = widest * widest;
	ret->lo = limit[0];
	ret->hi = limit[1];
	ret->has_interval = true;
}
