/* changepoint.c - where the level of a series changes: maximally selected rank statistics (Lausen
 * and Schumacher, Biometrics 48, 1992), judged by permutation (Dwass, 1957), in binary
 * segmentation.
 *
 * Ranks, since a history has outliers: days on which the machine was busy. Permutation, since the
 * series are short and the distribution of the greatest of many dependent statistics is known for
 * long ones only. Which permutations are drawn depends on the data alone.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "stat/dist.h"
#include "stat/stat.h"
#include "base/rng.h"
#include <float.h>
#include <math.h>
#include <string.h>

/* A level of fewer values is not distinguished from outliers. */
#define SEGMENT_MIN 3
/* p is a multiple of 1 / (this + 1). */
#define PERMUTATIONS 1999
/* Alarms: the two-sided chance of one that remains, at one of ninety looks, which shrinks in
 * proportion below YOUNG points, and the factor to that at any of them; the limit of points, in
 * standard deviations; the penalty of a correlation of 1 on the log-likelihood without a step and
 * with one. Found by simulation (tests/accuracy/changes.c). */
#define ALARM_CHANCE 9e-5
#define ALARM_LOOKS  (0.05 / ALARM_CHANCE)
#define YOUNG	     40.0
#define CLIP	     8.0
#define LEAN_LEVEL   3.0
#define LEAN_STEP    10.0
#define LEANS	     20 /* number of autocorrelations that are tried: multiples of 1 / LEANS */

/* Fisher and Yates. */
static void changepoint_shuffle(double *x, size_t n, uint64_t *state)
{
	for (size_t i = n - 1; i > 0; i--) {
		const size_t j = rng_below(state, i + 1);
		const double t = x[i];

		x[i] = x[j];
		x[j] = t;
	}
}

/* Ranks less their mean, doubled: whole numbers, so that sums are exact and equal splits compare as
 * equal. Ties share their mean rank. false: all values are the same. */
static bool changepoint_rank(const double *x, size_t n, double *sorted, double *ret)
{
	memcpy(sorted, x, n * sizeof *x);
	stat_sort(sorted, n);
	if (sorted[0] == sorted[n - 1])
		return false;
	for (size_t i = 0; i < n; i++) {
		size_t below = 0, upto, half;

		for (size_t lo = 0, hi = n; lo < hi;) {
			half = lo + (hi - lo) / 2;
			if (sorted[half] < x[i])
				lo = half + 1;
			else
				hi = half;
			below = lo;
		}
		for (upto = below; upto < n && sorted[upto] == x[i];)
			upto++;
		ret[i] = (double)(below + upto + 1) - (double)(n + 1);
	}
	return true;
}

/* A split of a segment of the series: the values from `from` to `to` against all others. */
typedef struct arc {
	size_t from, to;
	double z2; /* the square of the rank sum's distance from its mean, in standard deviations,
		      but for a factor that is the same for all arcs of a series */
} arc;

static void arc_try(const double *sums, const double *weight, size_t from, size_t to, arc *best)
{
	const double sum = sums[to] - sums[from], z2 = sum * sum * weight[to - from];

	if (z2 > best->z2)
		*best = (arc){from, to, z2};
}

/* Returns the greatest contrast over all cuts of the series in two, and over interior segments
 * (circular binary segmentation: Olshen et al., Biostatistics 5, 2004), because a temporary level
 * is invisible to a single cut. Segment lengths grow by a fifth, in steps of an eighth of the
 * length: little is missed, and the work is proportional to n. */
static arc arc_find(const double *r, size_t n, const double *weight, double *sums, bool inside)
{
	arc best = {.z2 = -1};

	sums[0] = 0;
	for (size_t i = 0; i < n; i++)
		sums[i + 1] = sums[i] + r[i];
	for (size_t k = SEGMENT_MIN; k + SEGMENT_MIN <= n; k++)
		arc_try(sums, weight, 0, k, &best);
	if (!inside)
		return best;
	for (size_t length = SEGMENT_MIN; length + 2 * SEGMENT_MIN <= n; length += 1 + length / 5)
		for (size_t i = SEGMENT_MIN; i + length + SEGMENT_MIN <= n; i += 1 + length / 8)
			arc_try(sums, weight, i, i + length, &best);
	return best;
}

/* The square of the distance between the means of [a, b) and [b, c), in standard deviations, but
 * for the same factor for all. */
static double contrast(const double *sums, size_t a, size_t b, size_t c)
{
	const double m = (double)(b - a), n = (double)(c - b);
	const double d = (sums[b] - sums[a]) / m - (sums[c] - sums[b]) / n;

	return d * d * m * n / (m + n);
}

/* For an interior segment (circular binary segmentation), returns the end with the larger contrast;
 * the recursion finds the other. */
static size_t arc_cut(const double *sums, size_t n, const arc *a)
{
	if (a->from == 0)
		return a->to;
	return contrast(sums, 0, a->from, a->to) >= contrast(sums, a->from, a->to, n) ? a->from
										      : a->to;
}

typedef struct segment {
	size_t from, to, at; /* at: where it would be split */
	double p;
} segment;

/* Scratch for n values. */
typedef struct changepoint_room {
	double *rank, *weight, *sums; /* [n + 1] each */
} changepoint_room;

static changepoint_room room_of(double *scratch, size_t n)
{
	return (changepoint_room){scratch, scratch + n + 1, scratch + 2 * (n + 1)};
}

/* false: all values are the same. */
static bool room_fill(const changepoint_room *m, const double *x, size_t n)
{
	if (!changepoint_rank(x, n, m->sums, m->rank))
		return false;
	for (size_t k = 1; k < n; k++)
		m->weight[k] = 1 / ((double)k * (double)(n - k));
	return true;
}

/* Made from the data: the same data give the same p, and other data other permutations, of which
 * one fixed set would be a little too strict or too mild for all. */
static uint64_t seed_of(const double *r, size_t n)
{
	uint64_t seed = n;

	for (size_t i = 0; i < n; i++)
		seed = seed * RNG_STEP + (uint64_t)(int64_t)r[i];
	return seed;
}

/* p above alpha is not worked out, and 1. */
static void changepoint_judge(const double *x, segment *s, double alpha, double *scratch)
{
	const size_t n = s->to - s->from;
	const changepoint_room m = room_of(scratch, n);
	uint64_t state;
	size_t as_great = 1;
	arc observed;

	s->p = 1;
	if (n < STAT_CHANGE_MIN || !room_fill(&m, x + s->from, n))
		return;
	state = seed_of(m.rank, n);
	observed = arc_find(m.rank, n, m.weight, m.sums, true);
	s->at = s->from + arc_cut(m.sums, n, &observed);
	for (int i = 0; i < PERMUTATIONS; i++) {
		changepoint_shuffle(m.rank, n, &state);
		as_great += arc_find(m.rank, n, m.weight, m.sums, true).z2 >= observed.z2;
		if ((double)as_great > alpha * (PERMUTATIONS + 1))
			return;
	}
	s->p = (double)as_great / (PERMUTATIONS + 1);
}

static double changepoint_median(const double *x, size_t n, double *scratch)
{
	memcpy(scratch, x, n * sizeof *x);
	stat_sort(scratch, n);
	return stat_quantile_sorted(scratch, n, 0.5);
}

/* Splits are found one after the other, each while the series still contains the others: each is
 * located again between its known neighbours (Bai, Econometric Theory 13, 1997). */
static void place_again(const double *x, size_t n, stat_change *c, size_t count, double *scratch)
{
	const changepoint_room m = room_of(scratch, n);

	for (size_t round = 0; round < 2; round++)
		for (size_t i = 0; i < count; i++) {
			const size_t from = i > 0 ? c[i - 1].at : 0;
			const size_t to = i + 1 < count ? c[i + 1].at : n;

			if (room_fill(&m, x + from, to - from))
				c[i].at =
				    from + arc_find(m.rank, to - from, m.weight, m.sums, false).to;
		}
}

static void levels_put(const double *x, size_t n, stat_change *c, size_t count, double *scratch)
{
	for (size_t i = 0; i < count; i++) {
		const size_t from = i > 0 ? c[i - 1].at : 0;
		const size_t to = i + 1 < count ? c[i + 1].at : n;

		c[i].before = changepoint_median(x + from, c[i].at - from, scratch);
		c[i].after = changepoint_median(x + c[i].at, to - c[i].at, scratch);
	}
}

size_t stat_change_scratch(size_t n)
{
	return 3 * (n + 1);
}

size_t stat_change_find(const double *x, size_t n, double alpha, double *scratch, stat_change *ret)
{
	segment all[STAT_CHANGES_MAX + 1];
	size_t segments = 1, count;

	all[0] = (segment){.from = 0, .to = n};
	changepoint_judge(x, &all[0], alpha, scratch);
	/* With s segments under test each is judged at alpha / s (Bonferroni): when all true
	 * changes are found, one more is a false alarm with probability alpha at most. */
	while (segments <= STAT_CHANGES_MAX) {
		size_t best = 0;
		segment left, right;

		for (size_t i = 1; i < segments; i++)
			if (all[i].p < all[best].p)
				best = i;
		if (!(all[best].p * (double)segments <= alpha))
			break;
		left = (segment){.from = all[best].from, .to = all[best].at};
		right = (segment){.from = all[best].at, .to = all[best].to};
		ret[segments - 1] =
		    (stat_change){.at = all[best].at, .p = all[best].p * (double)segments};
		changepoint_judge(x, &left, alpha, scratch);
		changepoint_judge(x, &right, alpha, scratch);
		all[best] = left;
		all[segments++] = right;
	}
	count = segments - 1;
	for (size_t i = 1; i < count; i++) { /* in their order along the series */
		const stat_change c = ret[i];
		size_t j = i;

		for (; j > 0 && ret[j - 1].at > c.at; j--)
			ret[j] = ret[j - 1];
		ret[j] = c;
	}
	place_again(x, n, ret, count, scratch);
	levels_put(x, n, ret, count, scratch);
	return count;
}

/* An autoregression of order one about a level, for one autocorrelation r: the squares of y less r
 * times the value before, the same of the level's column, and their product. */
typedef struct regression {
	const double *y;
	size_t n;
	double r, first, later, level, with_level, total;
} regression;

static regression regression_of(const double *y, size_t n, double r)
{
	const double first = sqrt(1 - r * r), later = 1 - r;
	regression g = {y, n, r, first, later, .with_level = first * first * y[0]};

	g.level = first * first + ((double)n - 1) * later * later;
	g.total = g.with_level * y[0];
	for (size_t i = 1; i < n; i++) {
		const double w = y[i] - r * y[i - 1];

		g.with_level += later * w;
		g.total += w * w;
	}
	return g;
}

/* Returns by how much a step at its clearest position lessens the sum of squares. */
static double gain_of_step(const regression *g)
{
	const double r = g->r, later = g->later;
	double behind = 0, gained = 0;

	for (size_t at = g->n - 1; at >= SEGMENT_MIN; at--) {
		const double w = g->y[at] - r * g->y[at - 1];
		const double rest = (double)(g->n - 1 - at) * later * later;
		const double both = later + rest; /* the two columns' product */
		const double gain = w + later * behind - both * g->with_level / g->level;

		if (at + SEGMENT_MIN <= g->n)
			gained = fmax(gained, gain * gain / (1 + rest - both * both / g->level));
		behind += w;
	}
	return gained;
}

/* The same for a straight line. */
static double gain_of_line(const regression *g)
{
	double square = 0, both = 0, gain = 0; /* the first point's time is 0 */

	for (size_t i = 1; i < g->n; i++) {
		const double time = (double)i - g->r * (double)(i - 1);

		square += time * time;
		both += time * g->later;
		gain += time * (g->y[i] - g->r * g->y[i - 1]);
	}
	gain -= both * g->with_level / g->level;
	return gain * gain / (square - both * both / g->level);
}

/* The greatest log-likelihood of y as an autoregression of order one about a level with one step,
 * or a line, less the greatest without it. The level and the step are fitted by generalised least
 * squares to y less r times the value before, the variance is profiled out. */
static double likelihood_ratio(const double *y, size_t n, double (*gain_of)(const regression *g))
{
	static const double cost[] = {LEAN_LEVEL, LEAN_STEP};
	double best[] = {-INFINITY, -INFINITY};

	for (int lean = 0; lean < LEANS; lean++) {
		const double r = (double)lean / LEANS;
		const regression g = regression_of(y, n, r);
		const double level = g.total - g.with_level * g.with_level / g.level,
			     left[] = {level, level - gain_of(&g)};

		for (int with = 0; with < 2; with++)
			best[with] = fmax(
			    best[with], (log1p(-r * r) -
					 (double)n * log(fmax(left[with], DBL_EPSILON * g.total))) /
						2 -
					    r * cost[with]);
	}
	return best[1] - best[0];
}

/* Returns the p-value of a likelihood ratio as Student's t (Andrews, Econometrica 61, 1993). */
static double chance_of_ratio(double ratio, size_t n)
{
	const double dof = (double)n - 3, t2 = dof * expm1(2 * fmax(ratio, 0) / (double)n);

	return stat_beta_cdf(dof / (dof + t2), dof / 2, 0.5) * fmax(1, YOUNG / (double)n);
}

/* Returns the p-value of the step of x at `first`: the likelihood ratio with a step, at its
 * clearest position, and without. A correlation can explain a step, so a larger correlation is
 * penalized: few points do not distinguish the two. scratch: n. */
static double chance_of_step(const double *x, size_t first, size_t n, double *scratch)
{
	const double level[] = {changepoint_median(x, first, scratch),
				changepoint_median(x + first, n - first, scratch)};
	double spread;

	for (size_t i = 0; i < n; i++)
		scratch[i] = fabs(x[i] - level[i >= first]);
	stat_sort(scratch, n);
	spread = CLIP * 1.4826 * stat_quantile_sorted(scratch, n, 0.5);
	if (!(spread > 0)) /* more than half of the points are at their levels */
		return level[0] < level[1] || level[0] > level[1] ? 0 : 1;
	for (size_t i = 0; i < n; i++)
		scratch[i] = fmin(fmax(x[i] - level[i >= first], -spread), spread) +
			     level[i >= first] - level[0];
	return chance_of_ratio(likelihood_ratio(scratch, n, gain_of_step), n);
}

/* Finds a drift of x: the resistant line through the medians of its first and last third (Tukey,
 * Exploratory Data Analysis, 1977), and its p-value as that of a step. scratch: 2 n. */
static double chance_of_line(const double *x, size_t n, double *scratch, stat_change *ret)
{
	const size_t third = n / 3;
	const double rise = changepoint_median(x + n - third, third, scratch) -
			    changepoint_median(x, third, scratch),
		     slope = rise / (double)(n - third);
	double *rest = scratch, *sorted = scratch + n, middle, spread;

	for (size_t i = 0; i < n; i++)
		rest[i] = x[i] - slope * (double)i;
	middle = changepoint_median(rest, n, sorted);
	*ret = (stat_change){.before = middle, .after = middle + slope * (double)(n - 1)};
	for (size_t i = 0; i < n; i++)
		sorted[i] = fabs(rest[i] - middle);
	stat_sort(sorted, n);
	spread = CLIP * 1.4826 * stat_quantile_sorted(sorted, n, 0.5);
	if (!(spread > 0)) /* more than half of the points are on the line */
		return slope < 0 || slope > 0 ? 0 : 1;
	for (size_t i = 0; i < n; i++)
		rest[i] = fmin(fmax(rest[i] - middle, -spread), spread) + slope * (double)i;
	return chance_of_ratio(likelihood_ratio(rest, n, gain_of_line), n);
}

/* Schwarz's criterion (Ann. Statist. 6, 1978) for Laplace's distribution, but for a constant, of a
 * model with k parameters. */
static double misfit(double deviations, size_t k, size_t n)
{
	return 2 * (double)n * log(fmax(deviations, DBL_MIN)) + (double)k * log((double)n);
}

/* Writes a drift to ret[0], if there is one and it describes x better than the `count` steps of
 * ret. A step has two parameters: where and how much. */
static bool drift_find(const double *x, size_t n, double *scratch, stat_change *ret, size_t count)
{
	stat_change line;
	const double chance = chance_of_line(x, n, scratch, &line),
		     slope = (line.after - line.before) / (double)(n - 1);
	double from_line = 0, from_steps = 0;

	for (size_t i = 0, k = 0; i < n && count > 0; i++) {
		while (k < count && ret[k].at <= i)
			k++;
		from_line += fabs(x[i] - line.before - slope * (double)i);
		from_steps += fabs(x[i] - (k > 0 ? ret[k - 1].after : ret[0].before));
	}
	if (chance > ALARM_CHANCE ||
	    (count > 0 && misfit(from_line, 1, n) >= misfit(from_steps, 2 * count, n)))
		return false;
	line.p = chance;
	line.alarm = fmin(chance * ALARM_LOOKS, 1);
	*ret = line;
	return true;
}

/* Returns an upper bound of the probability that chance alone gives a rank sum as extreme as that
 * of x before a cut at `first`, at any of n cuts: Chernoff's, with the generating function of the
 * rank-sum statistic U (Mann and Whitney, Ann. Math. Statist. 18, 1947),
 *
 *     E exp(t U) = prod over i = 1..k of (exp(t (n - k + i)) - 1) / (exp(t i) - 1) / binomial(n,
 * k).
 *
 * It holds for independent points of any distribution, where a few outliers in a row look like a
 * level to the likelihood. Ties share ranks, which makes exp(t U) smaller on average. scratch: 2 n.
 */
static double chance_of_ranks(const double *x, size_t first, size_t n, double *scratch)
{
	const double k = (double)(first < n - first ? first : n - first), m = (double)n - k;
	double sum = 0, u, lo = 0, hi = 50, least = 0;

	if (!changepoint_rank(x, n, scratch, scratch + n))
		return 1;
	for (size_t i = 0; i < first; i++)
		sum += scratch[n + i];
	u = k * m / 2 + fabs(sum) / 2; /* ranks are doubled, and less their mean */
	for (int round = 0; round < 60; round++) {
		const double t[] = {lo + (hi - lo) / 3, hi - (hi - lo) / 3};
		double f[] = {0, 0};

		for (size_t side = 0; side < 2; side++) {
			for (double i = 1; i <= k; i++)
				f[side] += log1p(-exp(-t[side] * (m + i))) -
					   log1p(-exp(-t[side] * i)) - log((m + i) / i);
			f[side] += t[side] * (k * m - u);
		}
		if (f[0] < f[1])
			hi = t[1];
		else
			lo = t[0];
		least = fmin(least, fmin(f[0], f[1]));
	}
	return fmin(1, 2 * (double)n * exp(least));
}

size_t stat_change_alarms(const double *x, size_t n, double alpha, double *scratch,
			  stat_change *ret)
{
	size_t count = stat_change_find(x, n, alpha, scratch, ret);

	while (count > 0) {
		size_t weakest = 0;
		double most = -1;

		for (size_t i = 0; i < count; i++) {
			const size_t from = i > 0 ? ret[i - 1].at : 0;
			const size_t to = i + 1 < count ? ret[i + 1].at : n;
			const double chance =
			    chance_of_step(x + from, ret[i].at - from, to - from, scratch);

			ret[i].alarm = fmin(chance * ALARM_LOOKS, 1);
			if (chance > most) {
				most = chance;
				weakest = i;
			}
		}
		if (most <= ALARM_CHANCE)
			break;
		count--;
		for (size_t i = weakest; i < count; i++)
			ret[i] = ret[i + 1];
		place_again(x, n, ret, count, scratch);
	}
	for (size_t i = 0; i < count; i++) {
		const size_t from = i > 0 ? ret[i - 1].at : 0;
		const size_t to = i + 1 < count ? ret[i + 1].at : n;

		ret[i].alarm = fmax(
		    ret[i].alarm, chance_of_ranks(x + from, ret[i].at - from, to - from, scratch));
	}
	levels_put(x, n, ret, count, scratch);
	return n >= STAT_CHANGE_MIN && drift_find(x, n, scratch, ret, count) ? 1 : count;
}
