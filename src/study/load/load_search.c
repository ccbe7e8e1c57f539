/* load_search.c - searches the highest rate that meets every limit.
 *
 * First one stream in a closed loop, whose rate is an upper bound for the subject. Then a
 * measurement at each rate that load_peak.c chooses. An inconclusive measurement is repeated with
 * new arrivals and tested on all data so far; the error is divided among these looks (Bonferroni),
 * so that repeating does not inflate it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/rng.h"
#include "base/units.h"
#include "base/mem.h"
#include "study/load/load_view.h"
#include "deepclock/opt.h"
#include <math.h>
#include <stdio.h>

#define LOOKS		  3
#define RUNS_FACTOR	  3   /* requests at a rate, over the fewest that could decide */
#define RUNS_FACTOR_LEAST 1.3 /* where time is short */
#define POINTS_PLANNED	  8   /* rates that --max-time is shared by */
#define POINTS_LEAST	  4   /* with fewer a search finds nothing */
#define POINT_LEAST_NS	  2e9
#define UNLOADED_LEAST_NS 500e6
#define UNLOADED_MOST_NS  5e9
#define START_PART	  4 /* divisor of the streams' capacity: start of the search */

static double confidence_of_look(const load_job *j)
{
	return 1 - (1 - j->config->confidence) / LOOKS;
}

/* Independent requests without which no limit can be shown to hold; the limit that needs most. */
static double requests_least(const load_job *j, size_t *ret_limit)
{
	double most = STAT_N_EFF_ENOUGH;

	*ret_limit = 0;
	for (size_t i = 0; i < j->ask.nlimits; i++) {
		const double n =
		    j->limits[i].kind == LIMIT_PERCENTILE
			? (double)stat_percentile_runs(j->limits[i].p, confidence_of_look(j), 1)
			: STAT_N_EFF_ENOUGH;

		if (n > most) {
			most = n;
			*ret_limit = i;
		}
	}
	return most;
}

/* Stores the samples of the last measurement in place of the earlier ones. */
static void samples_keep(load_job *j, const load_point *point)
{
	const load_samples before = j->kept;

	j->kept = j->pool.samples;
	j->pool.samples = before;
	j->shown = point;
}

static bool leans_over(const load_job *j, const load_point *s)
{
	for (size_t i = 0; i < j->ask.nlimits; i++)
		if (limit_exceeded_in_sample(&s->seen[i], &s->limit[i], &j->limits[i]))
			return true;
	return false;
}

/* --- one stream, unloaded */

static dck_status unloaded_look(load_job *j, const load_run_config *a, bool *ret_stopped,
				dck_err *err)
{
	const size_t streams = j->pool.n;
	load_result r;
	dck_status status;

	j->pool.n = 1;
	status = load_run(&j->pool, a, &r, err);
	j->pool.n = streams;
	DCK_TRY(status);
	if (r.served == 0 && !j->has_unloaded) {
		if (r.cancelled || r.failed == DCK_E_CANCEL)
			DCK_FAIL(err, E_CANCEL, "interrupted before the first request was served");
		*err = r.why;
		return r.failed == DCK_OK ? DCK_E_ENGINE : r.failed;
	}
	if (r.served > 0) {
		load_point_take(j, a, &r, confidence_of_look(j), &j->unloaded);
		samples_keep(j, &j->unloaded);
		j->has_unloaded = true;
	}
	*ret_stopped = load_stopped(j, &r) || r.served == 0;
	return DCK_OK;
}

/* Returns whether the server refused requests because too many came: one stream may make more than
 * it admits, and at a lower rate it may meet the limits. */
static bool unloaded_is_refused(const load_answers *a)
{
	const uint64_t good =
	    a->outcome[HTTP_ANSWERED] + a->outcome[HTTP_EARLY] + a->outcome[HTTP_LONGER];

	for (size_t i = 0; i < LOAD_STATUSES && good > 0; i++)
		if (a->status[i].n > 0 &&
		    (a->status[i].status == 429 || a->status[i].status == 503))
			return true;
	return false;
}

/* If this violates a limit, no rate has to be measured. So an inconclusive measurement in which a
 * limit is exceeded is repeated: one during which the machine changes has a small effective sample
 * size. */
static dck_status unloaded_measure(load_job *j, bool *ret_stopped, dck_err *err)
{
	load_run_config a = {
	    .scenario = LOAD_SINGLE, .limits = j->limits, .nlimits = j->ask.nlimits};
	const double wanted = j->needed * fmax(1, j->session.phases.loop.run_ns);

	a.time_ns = (uint64_t)fmin(UNLOADED_MOST_NS, fmax(UNLOADED_LEAST_NS, wanted));
	if (j->config->time_ns > 0 && a.time_ns > j->config->time_ns)
		a.time_ns = j->config->time_ns;
	j->pool.progress.phase = "unloaded";
	j->unloaded.rate = NAN;
	for (unsigned look = 0; look < LOOKS && !*ret_stopped; look++) {
		DCK_TRY(unloaded_look(j, &a, ret_stopped, err));
		if (j->unloaded.verdict != DCK_VERDICT_INCONCLUSIVE || !leans_over(j, &j->unloaded))
			break;
	}
	if (j->unloaded.verdict == DCK_VERDICT_VIOLATED &&
	    unloaded_is_refused(&j->unloaded.result.answers))
		j->unloaded.verdict = DCK_VERDICT_INCONCLUSIVE;
	return DCK_OK;
}

/* --- a rate */

static uint64_t point_time(const load_job *j, double rate)
{
	if (j->config->time_ns > 0)
		return j->config->time_ns;
	/* The number that makes a verdict likely, within the time that several rates need. */
	const double part_ns = (double)j->config->max_time_ns / POINTS_PLANNED;
	const double least_ns = j->needed / rate * 1e9;

	return (uint64_t)fmax(POINT_LEAST_NS, fmax(RUNS_FACTOR_LEAST * least_ns,
						   fmin(part_ns, RUNS_FACTOR * least_ns)));
}

/* Returns a rate at which the looks that fit into the time could show that the limits are met;
 * worth: effective sample size per request. */
static bool can_be_known(const load_job *j, double rate, double worth, double left_ns)
{
	const double each_ns = (double)point_time(j, rate);
	const double looks = fmin(LOOKS, floor(left_ns / each_ns));

	return looks * each_ns / 1e9 * rate * worth >= j->needed;
}

/* Finds the first rate: a part of the streams' capacity, or more if that part would take too long
 * to measure. A search that cannot reach a verdict is rejected before it starts. */
static dck_status start_find(const load_job *j, double *ret, dck_err *err)
{
	const double most = (double)j->pool.n * 1e9 / fmax(1, j->session.phases.loop.run_ns);
	const double max_ns = (double)j->config->max_time_ns;
	double rate = j->config->rate_hz > 0 ? j->config->rate_hz : most / START_PART;
	/* A server answers more than one at a time, and what it can do is not known. */
	const char *other = j->pool.url ? "a higher --rate to begin with, " : "";
	char each[32];

	if (j->config->rate_hz <= 0 && !(j->session.phases.loop.run_ns > 0))
		DCK_FAIL(err, E_ARG,
			 "--find-peak starts from the time of a run, which --warmup 0 does not "
			 "measure: give --rate, or leave --warmup at auto");
	for (; j->config->rate_hz <= 0 && rate < most / 2; rate *= 1.25)
		if (POINTS_LEAST * (double)point_time(j, rate) <= max_ns)
			break;
	*ret = rate;
	/* The search goes up from there, to rates at which the same time is enough. */
	const double highest = fmax(rate, most);
	if (j->config->time_ns > 0 && !can_be_known(j, highest, 1, max_ns))
		DCK_FAIL(
		    err, E_ARG,
		    "--find-peak with --time %s cannot show that %s is met: that needs %.0f "
		    "independent requests at a rate, which at %s requests/s arrive in %s; give "
		    "more --time, %sor a lower --confidence",
		    UNITS_TIME((double)j->config->time_ns), j->limits[j->needed_by].text, j->needed,
		    load_rate_text(highest, each), UNITS_TIME(j->needed / highest * 1e9), other);
	if (j->config->time_ns == 0 && POINTS_LEAST * (double)point_time(j, rate) > max_ns)
		DCK_FAIL(err, E_ARG,
			 "--find-peak cannot reach a verdict in --max-time %s: to show that %s is "
			 "met takes %.0f independent requests at each rate, which at %s "
			 "requests/s arrive in %s; give --max-time %.0fs, a lower --confidence, "
			 "%sor limit a lower percentile",
			 UNITS_TIME(max_ns), j->limits[j->needed_by].text, j->needed,
			 load_rate_text(rate, each), UNITS_TIME(j->needed / rate * 1e9),
			 ceil(POINTS_PLANNED * (double)point_time(j, rate) / 1e9), other);
	return DCK_OK;
}

static void point_ask(const load_job *j, double rate, unsigned look, uint64_t deadline_ns,
		      load_run_config *ret)
{
	const uint64_t now_ns = os_now_ns();

	*ret = j->ask;
	ret->time_ns = point_time(j, rate);
	ret->until_ns = deadline_ns > now_ns + ret->time_ns ? deadline_ns : now_ns + ret->time_ns;
	load_run_config_rate(j, rate, j->config->seed + RNG_STEP * (j->npoints * LOOKS + look),
			     ret);
}

/* Returns whether the remaining looks would be enough, by the current estimates. */
static bool worth_another_look(const load_point *s, size_t nlimits)
{
	for (size_t i = 0; i < nlimits; i++) {
		const stat_limit *l = &s->limit[i];

		if (l->verdict == DCK_VERDICT_INCONCLUSIVE &&
		    !(l->n_needed > 0 && l->n_needed <= 1.2 * l->n_eff * LOOKS / s->runs))
			return false;
	}
	return true;
}

static dck_status point_measure(load_job *j, double rate, uint64_t deadline_ns, bool *ret_stopped,
				dck_err *err)
{
	load_point *point = &j->points[j->npoints];
	load_run_config a;

	*point = (load_point){.rate = rate};
	dck_text_si(rate, "/s", j->phase, sizeof j->phase);
	j->pool.progress.phase = j->phase;
	for (unsigned look = 0; look < LOOKS && !*ret_stopped; look++) {
		load_result r;

		point_ask(j, rate, look, deadline_ns, &a);
		DCK_TRY(load_run(&j->pool, &a, &r, err));
		if (point->runs == 0)
			point->result = r;
		if (r.served > 0 || r.unstable)
			load_point_take(j, &a, &r, confidence_of_look(j), point);
		*ret_stopped = load_stopped(j, &r);
		if (r.served == 0 || point->verdict != DCK_VERDICT_INCONCLUSIVE ||
		    !worth_another_look(point, a.nlimits) || os_now_ns() + a.time_ns > deadline_ns)
			break;
	}
	/* An interrupted measurement is not a rate point of the search. */
	if (*ret_stopped && point->verdict == DCK_VERDICT_MET)
		point->verdict = DCK_VERDICT_INCONCLUSIVE;
	if (point->runs > 0)
		j->npoints++;
	return DCK_OK;
}

/* The record shows the highest rate that meets the limits, or else the lowest one measured. A point
 * whose queue was full before a request was served has no results. */
static bool better_shown(const load_job *j, const load_point *s)
{
	const load_point *now = j->shown;
	const bool held = s->verdict == DCK_VERDICT_MET && s->rate <= j->peak.held;
	const bool now_held = now->verdict == DCK_VERDICT_MET && now->rate <= j->peak.held;

	if (now == &j->unloaded || s->result.served == 0)
		return s->result.served > 0;
	if (held != now_held)
		return held;
	return held ? s->rate > now->rate : s->rate < now->rate;
}

/* Returns the lowest inconclusive rate, for the effective sample size of its requests. */
static const load_point *open_lowest(const load_job *j)
{
	for (size_t k = 0; k < j->npoints; k++)
		if (j->points[k].rate == j->peak.open_lo &&
		    j->points[k].verdict == DCK_VERDICT_INCONCLUSIVE)
			return &j->points[k];
	return NULL;
}

/* Lower rates take longer. Below an undecided rate only rates that can be decided in the remaining
 * time are measured. */
static bool is_out_of_reach(load_job *j, double rate, uint64_t deadline_ns)
{
	const load_point *open = open_lowest(j);
	const uint64_t now_ns = os_now_ns();
	const double left_ns = deadline_ns > now_ns ? (double)(deadline_ns - now_ns) : 0;
	char each[32];

	if (!open || !(rate < open->rate))
		return false;
	const limit_stats *seen = &open->seen[j->needed_by];
	const double worth = seen->n > 0 ? seen->n_eff / (double)seen->n : 1;

	if (can_be_known(j, rate, worth, left_ns))
		return false;
	j->out_of_time = true;
	snprintf(j->cut, sizeof j->cut,
		 "%s requests/s, the next rate, would have to be measured for %.0f s",
		 load_rate_text(rate, each), ceil(j->needed / fmax(worth, 1e-6) / rate));
	return true;
}

/* Returns whether a rate is beyond what the client makes of a server: its most requests, with a
 * tenth for chance. */
static bool is_beyond_client(load_job *j, double rate)
{
	char each[32];

	if (!j->pool.url || j->npoints == 0 || j->ask.requests > 0 ||
	    rate * (double)point_time(j, rate) / 1e9 < 0.9 * HTTP_ANSWERS_MAX)
		return false;
	snprintf(j->cut, sizeof j->cut,
		 "at %s requests/s, the next rate, there would be more than %d requests",
		 load_rate_text(rate, each), HTTP_ANSWERS_MAX);
	return true;
}

/* Returns whether the highest rate is open because the client was the limit there. */
static bool ends_at_client(const load_job *j)
{
	for (size_t k = 0; k < j->npoints; k++)
		if (j->points[k].rate == j->peak.open_hi &&
		    (j->points[k].result.answers.client_bound[0] ||
		     j->points[k].result.answers.crowded))
			return isinf(j->peak.broken);
	return false;
}

dck_status load_search(load_job *j, dck_err *err)
{
	const uint64_t deadline_ns = os_now_ns() + j->config->max_time_ns;
	bool stopped = false;
	char each[32];
	double rate;

	j->needed = requests_least(j, &j->needed_by);
	DCK_TRY(start_find(j, &rate, err));
	load_peak_init(&j->peak, rate, j->config->precision);
	DCK_TRY(load_samples_init(&j->kept, j->pool.url ? LOAD_PARTS_ALL : LOAD_PARTS,
				  j->pool.samples.of[LOAD_LATENCY].cap, false, err));
	DCK_TRY(unloaded_measure(j, &stopped, err));
	for (size_t i = 0; i < j->ask.nlimits; i++)
		if (load_limit_unknown(&j->unloaded.result, i))
			DCK_FAIL(err, E_UNSUP, "--find-peak cannot test %s: %s", j->limits[i].text,
				 load_unknown_text(&j->unloaded.result));
	if (stopped || j->unloaded.verdict == DCK_VERDICT_VIOLATED)
		return DCK_OK;
	while (!stopped && load_peak_next(&j->peak, &rate)) {
		const size_t before = j->npoints;

		if (is_out_of_reach(j, rate, deadline_ns) || is_beyond_client(j, rate))
			break;
		if (j->npoints > 0 && os_now_ns() + point_time(j, rate) > deadline_ns) {
			j->out_of_time = true;
			mem_print(j->cut, sizeof j->cut, "--max-time (%g s) was over",
				  (double)j->config->max_time_ns / 1e9);
			break;
		}
		DCK_TRY(point_measure(j, rate, deadline_ns, &stopped, err));
		if (j->npoints == before) {
			if (!stopped)
				snprintf(j->cut, sizeof j->cut,
					 "no request %s at %s requests/s in %s",
					 j->points[before].result.arrived > 0 ? "was answered"
									      : "arrived",
					 load_rate_text(rate, each),
					 UNITS_TIME((double)point_time(j, rate)));
			break;
		}
		if (!stopped)
			load_peak_take(&j->peak, rate, j->points[before].verdict,
				       leans_over(j, &j->points[before]));
		if (better_shown(j, &j->points[before]))
			samples_keep(j, &j->points[before]);
	}
	if (!stopped && !j->out_of_time && ends_at_client(j))
		snprintf(j->cut, sizeof j->cut,
			 "at %s requests/s the client was the limit, not the server",
			 load_rate_text(j->peak.open_hi, each));
	if (!stopped && j->npoints == LOAD_PEAK_POINTS)
		snprintf(j->cut, sizeof j->cut, "%d rates were tried", LOAD_PEAK_POINTS);
	return DCK_OK;
}
