/* race_fit.c - the model of all trials of SCREEN and RACE, from which arms are compared.
 *
 * The logarithm of a trial's value is the sum of an effect of its round, of its values, of each
 * pair of its values, of its arm, and noise. Rounds are eliminated, so a change of the machine from
 * round to round cancels. All other effects are random ones, with one variance for values and
 * another for pairs and arms, so they are estimated by ridge regression: effects of few trials
 * shrink to 0, and what was fast by luck does not lead (empirical Bayes: Morris, J. Am. Statist.
 * Assoc. 78, 1983). The variances, relative to the noise, are those of a grid that maximise the
 * restricted likelihood (Patterson and Thompson, Biometrika 58, 1971). race_predict() ranks arms by
 * these effects; the intervals of race_compare() come from a last fit in which the effects of
 * values do not shrink, since intervals of shrunk ones do not cover a true effect.
 *
 * Trials beside other programs have long tails, so the fit is repeated with weights: Huber's (Ann.
 * Math. Statist. 35, 1964), then Tukey's biweight, which ignores outliers (Beaton and Tukey,
 * Technometrics 16, 1974). The fit is kept until there are more trials.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "stat/dist.h"
#include "study/tune/race_state.h"
#include <math.h>
#include <string.h>

#define COLUMNS_MAX 176
#define TRIALS_MAX  2048
#define PARTS_MAX   (RACE_DIMS_MAX + 1)
#define ARM_COLUMNS (PARTS_MAX + RACE_DIMS_MAX * (RACE_DIMS_MAX - 1) / 2 + 1)
/* Fits, and those before the last ones, whose weights are Tukey's. */
#define FITS	   7
#define HUBER_FITS 2
/* Residuals in standard deviations, of 95 % efficiency with normal noise; the shares of its
 * variance that the weights leave. A weight of 0 would leave a round without trials. */
#define HUBER		   1.345
#define HUBER_SHARE	   0.8213
#define BISQUARE	   4.685
#define BISQUARE_SHARE	   0.7578
#define WEIGHT_LEAST	   1e-3
#define PENALTY_LEAST	   1e-7
#define PENALTY_PAIRS_MOST 30 /* in intervals */
#define VARIANCE_LEAST	   1e-16

typedef struct fit_trial {
	double y, weight, residual;
	uint16_t arm, round;
} fit_trial;

struct race_fit {
	size_t asked; /* trials when it was made; SIZE_MAX: never */
	fit_trial trials[TRIALS_MAX];
	size_t n, nrounds, nmains, ncolumns;
	/* Columns of values (arms of SCREEN with one value), of pairs of them, of arms; 0: none. */
	uint16_t main[RACE_SINGLES_MAX], pair[RACE_SINGLES_MAX][RACE_SINGLES_MAX],
	    own[RACE_ARMS_MAX];
	uint16_t seen[RACE_ARMS_MAX]; /* trials of an arm */
	double luck[RACE_ARMS_MAX];   /* of an arm of one trial: what is left of its residual */
	/* Normal equations, the factor of their matrix with penalties, the solution. */
	double a[COLUMNS_MAX][COLUMNS_MAX], u[COLUMNS_MAX][COLUMNS_MAX];
	double b[COLUMNS_MAX], beta[COLUMNS_MAX], squares;
	double shrunk[COLUMNS_MAX]; /* the solution for race_predict() */
	/* Variances of the noise over those of effects of values; of pairs and arms; places in
	 * their grid. */
	double penalty[2];
	size_t place[2];
	double variance, dof;
};

race_fit *race_fit_new(void)
{
	race_fit *f = mem_zalloc(1, sizeof *f);

	if (f)
		f->asked = SIZE_MAX;
	return f;
}

/* Lists the values of an arm as numbers of arms that have one value. */
static size_t fit_parts(const race *r, const uint8_t *value, uint8_t *parts)
{
	const size_t engine = r->c.engines ? value[0] : 0;
	size_t n = 0;

	for (size_t d = r->c.engines ? 1 : 0; d < r->c.ndims; d++)
		if (value[d] > 0)
			parts[n++] = r->single[engine][d][value[d]];
	return n;
}

/* Lists the columns of an arm; arm SIZE_MAX: it was not tried. */
static size_t fit_columns(const race *r, const race_fit *f, const uint8_t *value, size_t arm,
			  uint16_t *list)
{
	const uint16_t engine = r->c.engines ? f->main[value[0]] : 0;
	uint8_t parts[PARTS_MAX];
	const size_t nparts = fit_parts(r, value, parts);
	size_t n = 0;

	if (engine > 0)
		list[n++] = engine;
	for (size_t i = 0; i < nparts; i++) {
		if (f->main[parts[i]] > 0)
			list[n++] = f->main[parts[i]];
		for (size_t k = 0; k < i; k++)
			if (f->pair[parts[k]][parts[i]] > 0)
				list[n++] = f->pair[parts[k]][parts[i]];
	}
	if (arm != SIZE_MAX && f->own[arm] > 0)
		list[n++] = f->own[arm];
	return n;
}

static void fit_trials_collect(const race *r, race_fit *f)
{
	const double(*const stages[])[RACE_ARMS_MAX] = {r->screen, r->race};

	f->n = f->nrounds = 0;
	memset(f->seen, 0, sizeof f->seen);
	for (size_t s = 0; s < 2; s++)
		for (size_t k = 0; k < RACE_ROUNDS_MAX; k++) {
			const size_t before = f->n;

			for (size_t i = 0; i < r->narms && f->n < TRIALS_MAX; i++)
				if (!isnan(stages[s][k][i])) {
					f->trials[f->n++] =
					    (fit_trial){stages[s][k][i], 1, 0, (uint16_t)i,
							(uint16_t)f->nrounds};
					f->seen[i]++;
				}
			f->nrounds += f->n > before;
		}
}

/* Gives columns to values that were tried, to pairs of them that were tried often enough for all to
 * have place, and to arms of more values that were tried twice. Column 0 is not used. */
static void fit_columns_choose(const race *r, race_fit *f)
{
	uint8_t parts[PARTS_MAX];
	size_t n = 1, npairs = 0;

	memset(f->main, 0, sizeof f->main);
	memset(f->pair, 0, sizeof f->pair);
	memset(f->own, 0, sizeof f->own);
	for (size_t t = 0; t < f->n; t++) {
		const uint8_t *value = r->arms[f->trials[t].arm].value;
		const size_t nparts = fit_parts(r, value, parts);

		if (r->c.engines && value[0] > 0)
			f->main[value[0]] = 1;
		for (size_t i = 0; i < nparts; i++) {
			f->main[parts[i]] = 1;
			for (size_t k = 0; k < i; k++)
				f->pair[parts[k]][parts[i]]++;
		}
	}
	for (size_t i = 1; i < r->singles; i++)
		if (f->main[i] > 0)
			f->main[i] = (uint16_t)n++;
	f->nmains = n - 1;
	for (size_t i = r->singles; i < r->narms; i++)
		if (f->seen[i] > 1 && n < COLUMNS_MAX)
			f->own[i] = (uint16_t)n++;
	for (uint16_t least = 2; npairs == 0; least++) {
		for (size_t i = 0; i < r->singles; i++)
			for (size_t k = 0; k < r->singles; k++)
				npairs += f->pair[i][k] >= least;
		if (npairs > COLUMNS_MAX - n) {
			npairs = 0;
			continue;
		}
		for (size_t i = 0; i < r->singles; i++)
			for (size_t k = 0; k < r->singles; k++)
				f->pair[i][k] = f->pair[i][k] >= least ? (uint16_t)n++ : 0;
		break;
	}
	f->ncolumns = n;
}

/* Makes the normal equations without the rounds. */
static void fit_equations_make(const race *r, race_fit *f)
{
	double x[COLUMNS_MAX];
	uint16_t list[ARM_COLUMNS];

	f->squares = 0;
	memset(f->a, 0, sizeof f->a);
	memset(f->b, 0, sizeof f->b);
	for (size_t t = 0; t < f->n;) {
		const uint16_t round = f->trials[t].round;
		double w = 0, wy = 0;

		memset(x, 0, sizeof x);
		for (; t < f->n && f->trials[t].round == round; t++) {
			const fit_trial *s = &f->trials[t];
			const size_t n = fit_columns(r, f, r->arms[s->arm].value, s->arm, list);

			w += s->weight;
			wy += s->weight * s->y;
			f->squares += s->weight * s->y * s->y;
			for (size_t i = 0; i < n; i++) {
				x[list[i]] += s->weight;
				f->b[list[i]] += s->weight * s->y;
				for (size_t k = 0; k < n; k++)
					f->a[list[i]][list[k]] += s->weight;
			}
		}
		f->squares -= wy * wy / w;
		for (size_t i = 1; i < f->ncolumns; i++) {
			if (!(x[i] > 0))
				continue;
			f->b[i] -= x[i] * wy / w;
			for (size_t k = 1; k < f->ncolumns; k++)
				f->a[i][k] -= x[i] * x[k] / w;
		}
	}
}

/* Solves U' z = c. */
static void fit_forward(const race_fit *f, const double *c, double *z)
{
	memcpy(z, c, f->ncolumns * sizeof *z);
	for (size_t k = 1; k < f->ncolumns; k++) {
		z[k] /= f->u[k][k];
		for (size_t i = k + 1; i < f->ncolumns; i++)
			z[i] -= f->u[k][i] * z[k];
	}
}

/* Factors the matrix with the penalties (Cholesky); returns the logarithm of the restricted
 * likelihood, up to a factor and a constant. */
static double fit_factor(race_fit *f)
{
	double z[COLUMNS_MAX], left = f->squares, logs = 0;
	const size_t n = f->ncolumns;

	for (size_t i = 1; i < n; i++) {
		memcpy(f->u[i] + i, f->a[i] + i, (n - i) * sizeof f->u[i][0]);
		f->u[i][i] += f->penalty[i > f->nmains];
	}
	for (size_t k = 1; k < n; k++) {
		const double penalty = f->penalty[k > f->nmains];
		const double root = sqrt(fmax(f->u[k][k], 1e-12 * penalty));

		f->u[k][k] = root;
		logs += 2 * log(root) - log(penalty);
		for (size_t i = k + 1; i < n; i++)
			f->u[k][i] /= root;
		for (size_t i = k + 1; i < n; i++)
			for (size_t m = i; m < n; m++)
				f->u[i][m] -= f->u[k][i] * f->u[k][m];
	}
	fit_forward(f, f->b, z);
	for (size_t i = 1; i < n; i++)
		left -= z[i] * z[i];
	f->dof = fmax(1, (double)(f->n - f->nrounds));
	f->variance = fmax(left / f->dof, VARIANCE_LEAST);
	return -f->dof * log(f->variance) - logs;
}

/* Chooses the penalties of the grid, one after the other, at most `reach` places from the last
 * ones. */
static void fit_penalties_choose(race_fit *f, size_t reach)
{
	static const double grid[] = {PENALTY_LEAST, 1e-3, 0.03, 0.2, 1, 5, 30, 1000};
	const size_t n = sizeof grid / sizeof grid[0];

	for (size_t which = 2; which-- > 0;) {
		const size_t from = f->place[which] > reach ? f->place[which] - reach : 0;
		const size_t to = f->place[which] + reach;
		double most = -INFINITY;

		for (size_t i = from; i < n && i <= to; i++) {
			f->penalty[which] = grid[i];
			const double v = fit_factor(f);

			if (v > most) {
				most = v;
				f->place[which] = i;
			}
		}
		f->penalty[which] = grid[f->place[which]];
	}
}

static void fit_solve(race_fit *f)
{
	double z[COLUMNS_MAX];

	(void)fit_factor(f);
	fit_forward(f, f->b, z);
	for (size_t i = f->ncolumns; i-- > 1;) {
		double sum = z[i];

		for (size_t k = i + 1; k < f->ncolumns; k++)
			sum -= f->u[i][k] * f->beta[k];
		f->beta[i] = sum / f->u[i][i];
	}
}

static double fit_sum(const race *r, const race_fit *f, const double *beta, const uint8_t *value,
		      size_t arm)
{
	uint16_t list[ARM_COLUMNS];
	const size_t n = fit_columns(r, f, value, arm, list);
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += beta[list[i]];
	return sum;
}

static double fit_weight(double z, bool bisquare)
{
	const double u = z / BISQUARE;

	if (!bisquare)
		return fmin(1, HUBER / fmax(fabs(z), 1e-12));
	return fmax(WEIGHT_LEAST, fabs(u) < 1 ? (1 - u * u) * (1 - u * u) : 0);
}

static void fit_weigh(const race *r, race_fit *f, bool bisquare)
{
	const double sd = sqrt(f->variance);

	for (size_t t = 0; t < f->n;) {
		const size_t first = t;
		double w = 0, sum = 0;

		for (; t < f->n && f->trials[t].round == f->trials[first].round; t++) {
			fit_trial *s = &f->trials[t];

			s->residual = s->y - fit_sum(r, f, f->beta, r->arms[s->arm].value, s->arm);
			w += s->weight;
			sum += s->weight * s->residual;
		}
		for (size_t i = first; i < t; i++) {
			fit_trial *s = &f->trials[i];

			s->residual -= sum / w;
			s->weight = fit_weight(s->residual / sd, bisquare);
		}
	}
}

static void fit_make(const race *r, race_fit *f)
{
	f->asked = r->asked;
	fit_trials_collect(r, f);
	fit_columns_choose(r, f);
	f->penalty[0] = f->penalty[1] = 1;
	for (size_t i = 0; i < FITS; i++) {
		fit_equations_make(r, f);
		if (i % 2 == 0)
			fit_penalties_choose(f, i == 0 ? COLUMNS_MAX : 1);
		fit_solve(f);
		if (i > 0)
			f->variance /= i > HUBER_FITS ? BISQUARE_SHARE : HUBER_SHARE;
		fit_weigh(r, f, i >= HUBER_FITS);
	}
	for (size_t t = 0; t < f->n; t++) {
		const fit_trial *s = &f->trials[t];

		f->luck[s->arm] = s->weight * s->residual / (1 + f->penalty[1]);
	}
	memcpy(f->shrunk, f->beta, sizeof f->beta);
	/* Intervals hold only if the effects of values do not shrink. */
	f->penalty[0] = PENALTY_LEAST;
	f->penalty[1] = fmin(f->penalty[1], PENALTY_PAIRS_MOST);
	fit_solve(f);
	f->variance *= f->dof / BISQUARE_SHARE;
	f->dof = fmax(1, f->dof - (double)f->nmains);
	f->variance /= f->dof;
}

static const race_fit *fit_of(const race *r)
{
	if (r->fit->asked != r->asked)
		fit_make(r, r->fit);
	return r->fit;
}

/* Returns the logarithm of the time over the default's. */
static double fit_value(const race *r, const race_fit *f, const double *beta, const uint8_t *value)
{
	const size_t arm = race_arm_find(r, value);
	const bool once = arm < r->narms && arm >= r->singles && f->seen[arm] == 1;

	return fit_sum(r, f, beta, value, arm) + (once ? f->luck[arm] : 0);
}

double race_predict(const race *r, const uint8_t *value)
{
	const race_fit *f = fit_of(r);

	return fit_value(r, f, f->shrunk, value);
}

/* Adds the arm's columns; returns the variance of the effect of the arm alone if it has no
 * column, over the noise's. */
static double contrast_add(const race *r, const race_fit *f, size_t arm, double sign, double *c)
{
	uint16_t list[ARM_COLUMNS];
	const size_t n = fit_columns(r, f, r->arms[arm].value, arm, list);

	for (size_t i = 0; i < n; i++)
		c[list[i]] += sign;
	return arm < r->singles || f->own[arm] > 0 ? 0
	       : f->seen[arm] == 1		   ? 1 / (1 + f->penalty[1])
						   : 1 / f->penalty[1];
}

race_number race_compare(const race *r, size_t arm, size_t other, size_t comparisons)
{
	const race_fit *f = fit_of(r);
	double c[COLUMNS_MAX] = {0}, z[COLUMNS_MAX], variance, half;
	const double value = fit_value(r, f, f->beta, r->arms[arm].value) -
			     fit_value(r, f, f->beta, r->arms[other].value);

	if (f->seen[arm] == 0 || f->seen[other] == 0)
		return (race_number){NAN, NAN, NAN, 0};
	variance = contrast_add(r, f, arm, 1, c) + contrast_add(r, f, other, -1, c);
	fit_forward(f, c, z);
	for (size_t i = 1; i < f->ncolumns; i++)
		variance += z[i] * z[i];
	half = f->n - f->nrounds > f->nmains
		   ? stat_t_quantile(1 - (1 - r->c.level) / 2 / (double)comparisons, f->dof) *
			 sqrt(variance * f->variance)
		   : (double)NAN;
	return (race_number){value, value - half, value + half, f->seen[arm]};
}
