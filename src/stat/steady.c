/* steady.c - from which run on is the trace steady? docs/reference/methods.md has the rule,
 * docs/reference/validation.md its error rates.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "stat/stat.h"
#include "base/decimal.h"
#include "base/mem.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define STEADY_RUNS_MIN 8
#define BLOCKS_MAX	128
/* The last 1 / LAST of the runs is tested separately. */
#define LAST 16
/* Negligible change over the window after the cut. */
#define CHANGE_SMALL 0.01
/* A change that must not hide in the noise: this much, or this share of the noise from run to run.
 */
#define CHANGE_HIDDEN 0.03
#define NOISE_HIDDEN  0.7
/* Both limits are for a window of this number of runs. For a shorter window they shrink in
 * proportion: a small change in ten runs may be a large one in a hundred. */
#define WINDOW 60
/* Level of the line's interval. It is low so that a true change is seldom mistaken for noise; a
 * trace that is refused by chance is tested again a few runs later. */
#define LEVEL 0.8

/* Clamps values to the outer fences of the later half, so that single spikes do not move the cut.
 */
static void steady_clip(double *y, size_t m, double *scratch)
{
	const size_t half = m - m / 2;
	double q1, q3, room;

	memcpy(scratch, y + m / 2, half * sizeof *y);
	stat_sort(scratch, half);
	q1 = stat_quantile_sorted(scratch, half, 0.25);
	q3 = stat_quantile_sorted(scratch, half, 0.75);
	room = fmax(3 * (q3 - q1), CHANGE_SMALL * fabs(q3));
	for (size_t i = 0; i < m; i++)
		y[i] = fmin(fmax(y[i], q1 - room), q3 + room);
}

/* White's MSER (1997) on medians of blocks: the cut that leaves the mean of the rest best known.
 * At least half of the trace stays. */
static size_t cut_find(const double *y, size_t m)
{
	double sum = 0, squares = 0, best = HUGE_VAL;
	size_t cut = 0;

	for (size_t i = m; i-- > 0;) {
		const double v = y[i] - y[m - 1], k = (double)(m - i);
		double error;

		sum += v;
		squares += v * v;
		error = (squares - sum * sum / k) / (k * k);
		if (i <= m / 2 && error <= best) {
			best = error;
			cut = i;
		}
	}
	return cut;
}

/* Returns the run-to-run noise as a standard deviation, from the median step between adjacent runs,
 * which neither slow change nor spikes increase. */
static double noise_find(const double *x, size_t n, double *scratch)
{
	for (size_t i = 0; i + 1 < n; i++)
		scratch[i] = fabs(x[i + 1] - x[i]);
	stat_sort(scratch, n - 1);
	/* The median of |N(0, 2 sd^2)| is 0.6745 sqrt(2) sd. */
	return stat_quantile_sorted(scratch, n - 1, 0.5) / (0.6745 * sqrt(2.0));
}

/* The line does not detect a step in the last few runs, which is clipped like a spike: so their
 * median must be near the quartiles of all runs. Returns its distance from the median. */
static double last_step(const double *x, size_t n, double *scratch)
{
	const size_t k = n / LAST < 5 ? 5 : n / LAST;
	const double last = stat_median(x + n - k, k, scratch), middle = stat_median(x, n, scratch);
	const double q1 = stat_quantile_sorted(scratch, n, 0.25);
	const double q3 = stat_quantile_sorted(scratch, n, 0.75);
	const double room = fmax(0.5 * (q3 - q1), CHANGE_SMALL * fabs(q3) / 2);

	if (!(middle > 0) || (last >= q1 - room && last <= q3 + room))
		return 0;
	return last / middle - 1;
}

/* In a short trace the cut may be anywhere by chance. It moves back over runs that are similar to
 * the runs after it. */
static size_t cut_relax(const double *x, size_t n, size_t cut, double *scratch)
{
	double q1, q3, room;

	memcpy(scratch, x + cut, (n - cut) * sizeof *x);
	stat_sort(scratch, n - cut);
	q1 = stat_quantile_sorted(scratch, n - cut, 0.25);
	q3 = stat_quantile_sorted(scratch, n - cut, 0.75);
	room = fmax(1.5 * (q3 - q1), CHANGE_SMALL * fabs(q3) / 2);
	while (cut > 0 && x[cut - 1] >= q1 - room && x[cut - 1] <= q3 + room)
		cut--;
	return cut;
}

static void say(stat_steady *s, size_t rest, bool few, double most, double hidden, double halves)
{
	if (s->steady)
		snprintf(s->evidence, sizeof s->evidence,
			 "medians of the last two halves agree within %s", PERCENT_TEXT(2, halves));
	else if (fabs(s->change_ratio) <= hidden && few)
		snprintf(s->evidence, sizeof s->evidence,
			 "the last %zu samples, at one level, are too few to decide", rest);
	else if (fabs(s->change_ratio) <= hidden)
		snprintf(s->evidence, sizeof s->evidence,
			 "noise could hide a change of %s in the last %zu samples",
			 PERCENT_TEXT(2, most), rest);
	else if (s->change_ratio <= -1) /* of a straight line, which would end below 0 */
		snprintf(s->evidence, sizeof s->evidence,
			 "still falling, to a fraction, in the last %zu samples", rest);
	else
		mem_print(
		    s->evidence, sizeof s->evidence, "still %s by %.*f %% in the last %zu samples",
		    s->change_ratio < 0 ? "falling" : "rising",
		    fabs(s->change_ratio) < 0.0995 ? 1 : 0, 100 * fabs(s->change_ratio), rest);
}

void stat_steady_check(const double *x, size_t n, size_t min_steady, double *scratch,
		       stat_steady *ret)
{
	stat_steady s = {0};
	double y[BLOCKS_MAX], early, late, change, hidden, noise, window, step, most;
	const size_t g = n / BLOCKS_MAX + 1, m = n / g, head = n - m * g;
	stat_drift drift;
	size_t rest;

	if (n >= 4) {
		early = stat_median(x, n / 2, scratch);
		late = stat_median(x + n - n / 2, n / 2, scratch);
		s.change_ratio = early > 0 ? late / early - 1 : 0;
	}
	if (n < min_steady || n < STEADY_RUNS_MIN) {
		snprintf(s.evidence, sizeof s.evidence, "%zu samples are too few to decide", n);
		*ret = s;
		return;
	}
	/* Remaining runs before the blocks belong to the first block. */
	for (size_t i = 0; i < m; i++)
		y[i] = stat_median(x + head + i * g, g, scratch);
	steady_clip(y, m, scratch);
	s.first = cut_find(y, m) * g;
	if (s.first > 0)
		s.first += head;
	if (n - s.first < min_steady)
		s.first = cut_relax(x, n, s.first, scratch);
	rest = n - s.first;
	x += s.first;
	early = stat_median(x, rest / 2, scratch);
	late = stat_median(x + rest - rest / 2, rest / 2, scratch);
	noise = noise_find(x, rest, scratch);
	stat_drift_find(x, rest, LEVEL, scratch, &drift);
	step = last_step(x, rest, scratch);
	s.change_ratio = drift.ratio;
	change = fabs(drift.ratio);
	hidden = (drift.hi - drift.lo) / 2;
	window = fmin(1, (double)rest / WINDOW);
	most = late > 0 ? fmax(CHANGE_HIDDEN, NOISE_HIDDEN * noise / late) : CHANGE_HIDDEN;
	s.steady = rest >= min_steady && (change <= hidden || change <= CHANGE_SMALL * window) &&
		   change + hidden <= most * window && step == 0;
	/* Twice the half-width of an interval at 80 %: 1 % of traces without change are beyond it.
	 */
	s.noisy = !s.steady && rest >= min_steady && change <= 2 * hidden && step == 0;
	if (fabs(step) > change)
		s.change_ratio = step;
	say(&s, rest,
	    rest<min_steady, change + hidden, hidden, early> 0 ? fabs(late / early - 1) : 0);
	*ret = s;
}
