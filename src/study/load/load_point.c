/* load_point.c - tests the limits at one load, and notes an early end.
 *
 * A percentile is tested by the share of requests above the limit, a mean by its interval. A
 * maximum is violated by one request above the limit; no number of requests proves that it is met,
 * because the next one may take longer.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/load/load_job.h"
#include "study/load/load_url.h"
#include "base/observer.h"
#include <math.h>

#define QUEUE_LEAST 100
#define QUEUE_PART  4 /* divisor of all requests: more waiting means that the queue grows */

void load_run_config_rate(const load_job *j, double rate, uint64_t seed, load_run_config *a)
{
	const dck_load_config *c = j->config;
	double expected = rate * (double)a->time_ns / 1e9;

	load_arrivals_init(&a->arrivals, rate, c->arrivals == 1, c->trace ? &j->trace : NULL, seed);
	if (a->requests > 0)
		expected = fmin(expected, (double)a->requests);
	a->max_queue = c->max_queue > 0
			   ? c->max_queue
			   : (uint64_t)fmin(1e9, fmax(QUEUE_LEAST, expected / QUEUE_PART));
}

bool load_stopped(load_job *j, const load_result *r)
{
	const unsigned long long at = (unsigned long long)r->served + 1;
	const bool asked =
	    r->cancelled || r->failed == DCK_E_CANCEL || observer_cancelled(j->watch);

	if (!asked && r->failed == DCK_OK)
		return false;
	j->ended = true;
	record_set_incomplete(j->b, true);
	if (asked)
		record_note(
		    j->b, "interrupted",
		    "interrupted after %llu request%s: this is what was measured until then",
		    at - 1, at == 2 ? "" : "s");
	else
		record_note(j->b, "engine-failed",
			    "request %llu failed: %s; this is what was measured until then", at,
			    r->why.msg);
	return true;
}

/* --- limits */

/* An interval whose ends are each missed with a probability of 1 - confidence. */
static double point_level_of(double confidence)
{
	return 2 * confidence - 1;
}

void limit_stats_add(const load_pool *p, const load_result *r, size_t limit_index,
		     const latency_limit *limit, double confidence, limit_stats *to)
{
	const measure_samples *x = &p->samples.of[load_limit_part(limit)];
	const double n = (double)x->pushed;
	stat_estimate mean;
	double runs;

	if (x->pushed == 0)
		return;
	to->n += x->pushed;
	to->over += r->over[limit_index];
	if (limit->kind == LIMIT_MEAN) {
		stat_estimate_one(STAT_MEAN, x->value, x->n, point_level_of(confidence), p->scratch,
				  &mean);
		runs = mean.n_eff;
		to->sum += n * mean.value;
		/* Runs at one rate are independent of each other, so their variances add up. */
		to->half_squares +=
		    mean.has_interval ? pow(n * (mean.hi - mean.lo) / 2, 2) : INFINITY;
	} else if (limit->kind == LIMIT_PERCENTILE) {
		runs = stat_limit_runs(x->value, x->n, limit->p, limit->ns, confidence, p->scratch);
	} else {
		runs = n;
	}
	to->n_eff += runs;
	/* All requests are counted, also when the sample was dropped. */
	to->over_eff += runs * (double)r->over[limit_index] / n;
}

void limit_test(const limit_stats *seen, const latency_limit *limit, double confidence,
		stat_limit *ret)
{
	const double n = (double)seen->n;

	switch (limit->kind) {
	case LIMIT_PERCENTILE:
		stat_limit_test(limit->p, confidence, seen->n_eff, seen->over_eff, ret);
		return;
	case LIMIT_MEAN:
		stat_limit_mean(seen->sum / n, sqrt(seen->half_squares) / n, n, seen->n_eff,
				limit->ns, ret);
		break;
	case LIMIT_MAX:
		*ret = (stat_limit){.verdict = seen->over > 0 ? DCK_VERDICT_VIOLATED
							      : DCK_VERDICT_INCONCLUSIVE,
				    .n_eff = seen->n_eff};
		break;
	}
	ret->share = seen->n > 0 ? (double)seen->over / n : 0;
}

bool limit_exceeded_in_sample(const limit_stats *seen, const stat_limit *l,
			      const latency_limit *limit)
{
	return limit->kind == LIMIT_MEAN	 ? seen->sum > limit->ns * (double)seen->n
	       : limit->kind == LIMIT_PERCENTILE ? l->share > 1 - limit->p
						 : seen->over > 0;
}

static void statistic_take(load_job *j, const latency_limit *limit, stat_estimate *ret)
{
	const measure_samples *x = &j->pool.samples.of[load_limit_part(limit)];
	const double level = j->config->level;

	if (limit->kind == LIMIT_PERCENTILE) {
		stat_estimate_quantile(limit->p, x->value, x->n, level, j->pool.scratch, ret);
		return;
	}
	stat_estimate_one(limit->kind == LIMIT_MEAN ? STAT_MEAN : STAT_MAX, x->value, x->n, level,
			  j->pool.scratch, ret);
	if (limit->kind == LIMIT_MAX)
		ret->value = x->max; /* dropped samples included */
}

/* Returns whether a limit is exceeded because the client was late: without that it is not. */
static bool limit_is_moved(const load_job *j, const latency_limit *limit)
{
	double shift;

	return j->pool.url && limit->kind == LIMIT_PERCENTILE &&
	       load_url_on_time(&j->pool, &j->pool.samples, load_limit_part(limit), limit->p,
				&shift) <= limit->ns &&
	       shift > CLIENT_SHIFT_MOST;
}

/* Returns whether a limit that is met would be met too if each request that was given up, when the
 * measurement ended early, had been over it: those that hang are among them. */
static bool limit_holds_anyway(const limit_stats *seen, const latency_limit *limit,
			       double confidence, uint64_t given_up)
{
	limit_stats s = *seen;
	stat_limit l;

	if (given_up == 0 || limit->kind != LIMIT_PERCENTILE)
		return given_up == 0;
	s.n += given_up;
	s.over += given_up;
	s.n_eff += (double)given_up;
	s.over_eff += (double)given_up;
	limit_test(&s, limit, confidence, &l);
	return l.verdict == DCK_VERDICT_MET;
}

void load_point_take(load_job *j, const load_run_config *a, const load_result *r, double confidence,
		     load_point *point)
{
	const measure_samples *x = &j->pool.samples.of[LOAD_LATENCY];

	point->result = *r;
	point->runs++;
	point->verdict = DCK_VERDICT_MET;
	point->utilisation = load_utilisation(&j->pool, r);
	point->offered = r->span_ns > 0 ? (double)r->arrived * 1e9 / r->span_ns : NAN;
	point->achieved = r->done_ns > 0
			      ? (double)(r->served - r->answers.failed) * 1e9 / load_result_time(r)
			      : NAN;
	stat_estimate_one(STAT_MEDIAN, x->value, x->n, j->config->level, j->pool.scratch,
			  &point->median);
	for (size_t i = 0; i < a->nlimits; i++) {
		limit_stats_add(&j->pool, r, i, &a->limits[i], confidence, &point->seen[i]);
		limit_test(&point->seen[i], &a->limits[i], confidence, &point->limit[i]);
		/* However long the queue is now, it will be longer. */
		if (r->unstable)
			point->limit[i].verdict = DCK_VERDICT_VIOLATED;
		/* A longer measurement would have a longer queue. In a search such a rate is too
		 * high, also if a short measurement does not exceed the limit. */
		if (r->answers.overload_rate > 0 &&
		    (j->config->find_peak ||
		     limit_exceeded_in_sample(&point->seen[i], &point->limit[i], &a->limits[i])))
			point->limit[i].verdict = DCK_VERDICT_VIOLATED;
		if (point->limit[i].verdict == DCK_VERDICT_MET &&
		    (r->answers.overload_rate > 0 || r->answers.given_up || r->answers.crowded ||
		     !limit_holds_anyway(&point->seen[i], &a->limits[i], confidence, r->abandoned)))
			point->limit[i].verdict = DCK_VERDICT_INCONCLUSIVE;
		/* Such times are the client's, not the server's. Late starts make times only
		 * longer, so that a limit that is met is met. */
		if (r->answers.client_bound[0] || load_limit_unknown(r, i) ||
		    (point->limit[i].verdict == DCK_VERDICT_VIOLATED && !r->unstable &&
		     limit_is_moved(j, &a->limits[i])))
			point->limit[i].verdict = DCK_VERDICT_INCONCLUSIVE;
		statistic_take(j, &a->limits[i], &point->statistic[i]);
		point->verdict = latency_limit_worse(point->verdict, point->limit[i].verdict);
	}
}
