/* commits.c - two commits compared over all machines that measured both.
 *
 *  1. commit_name_find() finds each commit by the beginning of its name, which no other may have.
 *  2. series_each() reads the records of both commits, one series (subject, command, machine,
 * method) after the other; commit_pair_test() compares the logarithms of its two groups of values
 * by Welch's t (Biometrika 34, 1947), so that the ratio is of geometric means.
 *  3. The p-values of all series pass the procedure of Benjamini and Hochberg (1995) at
 *     SERIES_DISCOVERY_RATE.
 *  4. commit_overall_add(): the ratios of the machines of one subject, command and engine have a
 * mean with Student's t interval between machines (stat_processes() of their logarithms).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "history/series.h"
#include "base/err.h"
#include "record/record_internal.h"
#include "stat/dist.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ABBREVIATION_MIN 7 /* digits of an abbreviated hash */

typedef struct comparison {
	dck_history_commits result; /* first, so that dck_history_commits_free() finds it */
	mem_arena *arena;
	const char *commits[2];	 /* names of records, where these have them */
	dck_history_pair *pairs; /* mem_free() */
	size_t n, capacity;
} comparison;

static dck_status commit_pair_add(comparison *c, const dck_history_pair *p, dck_err *err)
{
	DCK_NEED(mem_reserve(&c->pairs, &c->capacity, c->n + 1, sizeof *c->pairs), err,
		 "for the comparison");
	c->pairs[c->n++] = *p;
	return DCK_OK;
}

/* --- one series */

/* Of the logarithms of a commit's values. */
typedef struct side {
	size_t n;
	double mean, squares; /* sum of squared deviations (Welford 1962) */
} side;

static void commit_side_add(side *s, double value)
{
	const double d = value - s->mean;

	s->mean += d / (double)++s->n;
	s->squares += d * (value - s->mean);
}

static void commit_pair_test(const side *s, dck_history_pair *p)
{
	const double difference = s[1].mean - s[0].mean;
	double error[2], square, dof, half;

	p->records[0] = s[0].n;
	p->records[1] = s[1].n;
	p->ratio = exp(difference);
	p->p = p->q = (double)NAN;
	if (s[0].n < 2 || s[1].n < 2)
		return;
	for (size_t i = 0; i < 2; i++)
		error[i] = s[i].squares / ((double)(s[i].n - 1) * (double)s[i].n);
	square = error[0] + error[1];
	p->level = SERIES_LEVEL;
	p->lo = p->hi = p->ratio;
	p->p = fabs(difference) > 0 ? 0 : 1;
	if (!(square > 0)) /* all values of a commit are the same */
		return;
	dof = square * square /
	      (error[0] * error[0] / (double)(s[0].n - 1) +
	       error[1] * error[1] / (double)(s[1].n - 1));
	half = stat_t_quantile((1 + SERIES_LEVEL) / 2, dof) * sqrt(square);
	p->lo = exp(difference - half);
	p->hi = exp(difference + half);
	p->p = stat_beta_cdf(dof / (dof + difference * difference / square), dof / 2, 0.5);
}

/* Whether `longer` is the same commit with all its digits: one machine records 3f09c1a, another one
 * the whole hash. Other names are of one commit only if they are equal, unlike v1 and v10. */
static bool commit_is_abbreviated(const char *name, const char *longer)
{
	const size_t n = strlen(name);

	return n >= ABBREVIATION_MIN && history_commit_is_hash(longer) &&
	       strncmp(longer, name, n) == 0;
}

static bool commit_is(const char *name, const char *commit)
{
	return strcmp(name, commit) == 0 || commit_is_abbreviated(name, commit);
}

static dck_status commit_pair_find(void *self, series *s, dck_err *err)
{
	comparison *c = self;
	side sides[2] = {{0}, {0}};
	dck_history_pair p = {.machines = 1};

	if (!c->result.metric.tag) {
		const dck_metric_def *def = record_find_def(s->metric.tag, c->arena);

		DCK_NEED(def, err, "for the comparison");
		c->result.metric = *def;
		c->result.metric.unit = s->metric.unit;
	}
	for (size_t i = 0; i < s->rows.n; i++) {
		const series_row *r = &s->rows.row[i];

		for (size_t k = 0; k < 2; k++)
			if (r->value > 0 && commit_is(c->commits[k], r->commit))
				commit_side_add(&sides[k], log(r->value));
	}
	if (sides[0].n == 0 || sides[1].n == 0) {
		c->result.one_only += sides[0].n + sides[1].n > 0;
		return DCK_OK;
	}
	p.subject = mem_arena_dup(c->arena, s->subject);
	p.command = mem_arena_dup(c->arena, s->verb);
	p.engine = mem_arena_dup(c->arena, s->engine);
	p.cpu = mem_arena_dup(c->arena, s->cpu);
	p.machine = mem_arena_dup(c->arena, s->machine);
	p.method = mem_arena_dup(c->arena, s->method);
	DCK_NEED(!mem_arena_failed(c->arena), err, "for the comparison");
	commit_pair_test(sides, &p);
	return commit_pair_add(c, &p, err);
}

/* --- all of them */

/* Pairs of one subject, command and engine are adjacent. */
static int subjects_order(const dck_history_pair *a, const dck_history_pair *b)
{
	const char *const x[] = {a->subject, a->command, a->engine};
	const char *const y[] = {b->subject, b->command, b->engine};

	return series_texts_order(x, y, sizeof x / sizeof x[0]);
}

static int pairs_by_subject(const void *a, const void *b)
{
	const dck_history_pair *p = a, *q = b;
	const char *const x[] = {p->subject, p->command, p->engine, p->cpu, p->machine, p->method};
	const char *const y[] = {q->subject, q->command, q->engine, q->cpu, q->machine, q->method};

	return series_texts_order(x, y, sizeof x / sizeof x[0]);
}

/* Pairs that have no interval are last. */
static int pairs_by_p(const void *a, const void *b)
{
	const dck_history_pair *x = a, *y = b;

	if (isnan(x->p) || isnan(y->p))
		return isnan(x->p) - isnan(y->p);
	return x->p < y->p ? -1 : x->p > y->p;
}

static dck_status differences_find(comparison *c, dck_err *err)
{
	double *p = mem_arena_array(c->arena, c->n, sizeof *p),
	       *q = mem_arena_array(c->arena, c->n, sizeof *q);
	dck_history_commits *r = &c->result;
	size_t n = 0;

	DCK_NEED(p && q, err, "for the comparison");
	if (c->n > 1)
		qsort(c->pairs, c->n, sizeof *c->pairs, pairs_by_p);
	for (; n < c->n && !isnan(c->pairs[n].p); n++)
		p[n] = c->pairs[n].p;
	stat_discovery_rates(p, n, n, q);
	for (size_t i = 0; i < n; i++) {
		dck_history_pair *one = &c->pairs[i];
		const bool longer = one->ratio > 1;

		one->q = q[i];
		one->changed = q[i] <= SERIES_DISCOVERY_RATE;
		one->worse = one->changed && longer == (r->metric.better == DCK_BETTER_LOWER);
		r->changed += one->changed;
		r->worse += one->worse;
	}
	r->tested = n;
	return DCK_OK;
}

/* Adds the mean over machines of the pairs [from, to). */
static dck_status commit_overall_add(comparison *c, size_t from, size_t to, dck_err *err)
{
	dck_history_pair all = c->pairs[from];
	double *values = mem_arena_array(c->arena, to - from, sizeof *values);
	stat_estimate e;

	DCK_NEED(values, err, "for the comparison");
	all.machines = to - from;
	all.cpu = all.machine = all.method = NULL;
	all.records[0] = all.records[1] = 0;
	all.p = all.q = (double)NAN;
	all.changed = all.worse = false;
	for (size_t i = from; i < to; i++) {
		values[i - from] = log(c->pairs[i].ratio);
		for (size_t k = 0; k < 2; k++)
			all.records[k] += c->pairs[i].records[k];
	}
	stat_processes(values, to - from, SERIES_LEVEL, &e);
	all.ratio = exp(e.value);
	all.lo = exp(e.lo);
	all.hi = exp(e.hi);
	all.level = e.has_interval ? e.level : 0;
	return commit_pair_add(c, &all, err);
}

static dck_status commit_overalls_add(comparison *c, dck_err *err)
{
	const size_t n = c->n;

	if (n > 1)
		qsort(c->pairs, n, sizeof *c->pairs, pairs_by_subject);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && subjects_order(&c->pairs[i], &c->pairs[end]) == 0;)
			end++;
		if (end > i + 1)
			DCK_TRY(commit_overall_add(c, i, end, err));
	}
	/* The processor of a mean is unknown, so that the mean comes before its machines. */
	if (c->n > n)
		qsort(c->pairs, c->n, sizeof *c->pairs, pairs_by_subject);
	return DCK_OK;
}

/* Replaces the beginning of a commit's name by the shortest name that records have of it; it stays
 * where none has. A whole name wins over longer ones. E_ARG: names of several commits begin so. */
static dck_status commit_name_find(dck_history *h, const history_where *w, mem_arena *a,
				   const char **name, dck_err *err)
{
	const char *first = NULL, *last = NULL, *other = NULL;
	char sql[700];
	history_statement *s;
	dck_status status = DCK_OK;

	snprintf(sql, sizeof sql,
		 "SELECT DISTINCT commit_id FROM records %s %s substr(commit_id, 1, "
		 "length(:name)) = :name ORDER BY commit_id",
		 w->sql, w->sql[0] ? "AND" : "WHERE");
	DCK_TRY(history_prepare_many(h, sql, &s, "read", err));
	history_where_bind(w, s);
	history_bind_text(s, ":name", *name);
	while (!other && history_next(s, &status, err)) {
		const char *next = mem_arena_dup(a, history_text(s, 0));

		if (last && next && !commit_is_abbreviated(last, next))
			other = next;
		first = first ? first : next;
		last = next;
	}
	history_finalize(s);
	DCK_TRY(status);
	DCK_NEED(!mem_arena_failed(a), err, "for the comparison");
	if (other && (strcmp(first, *name) != 0 || commit_is_abbreviated(*name, other)))
		DCK_FAIL(err, E_ARG,
			 "the names of several commits begin with '%.80s', as %.80s and %.80s: "
			 "give more of it",
			 *name, first, other);
	*name = first ? first : *name;
	return DCK_OK;
}

static dck_status commits_make(dck_history *h, const dck_history_filter *f, const char *tag,
			       comparison *c, dck_err *err)
{
	const char *const asked[] = {c->commits[0], c->commits[1]};
	history_where w;

	for (size_t i = 0; i < 2; i++)
		if (!history_commit_fits(c->commits[i]))
			DCK_FAIL(err, E_ARG, "'%.80s' is not a name of a commit", c->commits[i]);
	DCK_TRY(history_where_make(f, &w, err));
	for (size_t i = 0; i < 2; i++)
		DCK_TRY(commit_name_find(h, &w, c->arena, &c->commits[i], err));
	if (commit_is(c->commits[0], c->commits[1]) || commit_is(c->commits[1], c->commits[0]))
		DCK_FAIL(err, E_ARG, "'%.80s' and '%.80s' are one commit", asked[0], asked[1]);
	DCK_TRY(series_each(h, &w, tag, c->commits, commit_pair_find, c, err));
	if (!c->result.metric.tag)
		DCK_FAIL(err, E_ABSENT,
			 "no complete record of these commits%s has a value of the metric '%.80s', "
			 "or the metric has no better direction",
			 w.sql[0] ? " that fits" : "", tag);
	DCK_TRY(differences_find(c, err));
	DCK_TRY(commit_overalls_add(c, err));
	c->result.pairs = c->pairs;
	c->result.n = w.limit < (int64_t)c->n ? (size_t)w.limit : c->n;
	return DCK_OK;
}

dck_status dck_history_commits_get(dck_history *h, const dck_history_filter *f, const char *metric,
				   const char *before, const char *after, dck_history_commits **ret,
				   dck_err *err)
{
	mem_arena *arena = mem_arena_new(0);
	comparison *c = arena ? mem_arena_alloc(arena, sizeof *c) : NULL;
	dck_status status;

	if (!c) {
		mem_arena_free(arena);
		return ERR_NO_MEMORY(err, "for the comparison");
	}
	c->arena = arena;
	c->commits[0] = before;
	c->commits[1] = after;
	c->result.rate = SERIES_DISCOVERY_RATE;
	status = commits_make(h, f, metric ? metric : HISTORY_METRIC, c, err);
	if (status == DCK_OK)
		*ret = &c->result;
	else
		dck_history_commits_free(&c->result);
	return status;
}

void dck_history_commits_free(dck_history_commits *c)
{
	comparison *own = (comparison *)c;

	if (!own)
		return;
	mem_free(own->pairs);
	mem_arena_free(own->arena);
}
