/* load_record.c - what a measurement under load says: metrics, tables, verdicts and doubts.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/diagnostics.h"
#include "record/asked.h"
#include "subject/subject_facts.h"
#include "load/load_job.h"
#include "measure/results.h"
#include "deepclock/opt.h"
#include "stat/dist.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A mean dispatch lag above this share of the median latency is said. */
#define LAG_SHARE 0.05

/* The samples that are shown, and what is known of them. */
typedef struct view {
	load_job *j;
	record_builder *b;
	const measure_samples *latency, *wait, *service, *lag;
	const load_point *point;
	const load_result *r;
	bool server;			    /* of what is shown */
	stat_estimate all[STAT_ESTIMATORS]; /* of the latency */
} view;

static view view_of(load_job *j)
{
	const bool search = j->config->find_peak;
	view v = {.j = j,
		  .b = j->b,
		  .latency = search ? &j->kept_latency : &j->pool.latency,
		  .wait = search ? &j->kept_wait : &j->pool.wait,
		  .service = search ? &j->kept_service : &j->pool.service,
		  .lag = search ? &j->kept_lag : &j->pool.lag,
		  .point = j->shown,
		  .r = &j->shown->result,
		  .server = j->ask.scenario == LOAD_SERVER && j->shown != &j->unloaded};

	stat_estimate_all(v.latency->value, v.latency->n, j->config->level, j->pool.scratch, v.all);
	/* Extremes are of all samples, also of those that were not kept. */
	v.all[STAT_MIN].value = v.latency->min;
	v.all[STAT_MAX].value = v.latency->max;
	return v;
}

/* --- metrics */

static void metric_part(const view *v, const char *tag, stat_estimator which,
			const measure_samples *s)
{
	stat_estimate e;

	stat_estimate_one(which, s->value, s->n, v->j->config->level, v->j->pool.scratch, &e);
	measure_result_estimate(v->b, tag, &e);
}

/* From one request's end to the next one's: their mean is one over the rate. */
static void rate_estimate(const view *v, stat_estimate *ret)
{
	const measure_samples *s = v->latency;
	double *done = v->j->pool.scratch, *rest;
	size_t n = s->n;

	for (size_t i = 0; i < n; i++)
		done[i] = (double)s->at_ns[i] + s->value[i];
	stat_sort(done, n);
	for (size_t i = 0; i + 1 < n; i++)
		done[i] = (done[i + 1] - done[i]) / (double)s->stride;
	rest = done + n;
	stat_estimate_one(STAT_MEAN, done, n > 0 ? n - 1 : 0, v->j->config->level, rest, ret);
}

static void rate_put(const view *v)
{
	const double items = (double)v->j->session.target.items;
	const char *tag = "throughput/items";
	stat_estimate gap;
	double rate = v->point->achieved;

	if (!(items > 0)) {
		record_metric_absent(v->b, tag,
				     "a run has no items: axis 0 of the first input is 0");
		return;
	}
	if (!(rate > 0)) {
		record_metric_absent(v->b, tag, "no time passed");
		return;
	}
	rate_estimate(v, &gap);
	if (gap.present && gap.has_interval && gap.lo > 0 && !v->server) {
		/* The value is of the whole, the width is that of the gaps. */
		const double mean = gap.value;

		record_metric_interval(
		    v->b, tag, items * rate, items * rate * mean / gap.hi,
		    items * rate * mean / gap.lo, gap.level,
		    "items of all requests over the time until the last was done");
		return;
	}
	record_metric_real(v->b, tag, items * rate,
			   v->server
			       ? "what was served, which in a stable queue is what arrived"
			       : "items of all requests over the time until the last was done");
}

static void throughput(const view *v)
{
	rate_put(v);
	record_metric_unit(v->b, "throughput/items", subject_rate_unit(&v->j->session.target));
}

static void server_metrics(const view *v)
{
	const load_result *r = v->r;
	record_builder *b = v->b;

	record_metric_real(b, "load/offered_rate", v->point->offered,
			   "arrivals over the time in which they came");
	record_metric_real(b, "load/achieved_rate", v->point->achieved,
			   "served requests over the time until the last was done");
	record_metric_real(b, "load/utilisation", v->point->utilisation,
			   "rate times mean service over streams");
	metric_part(v, "load/wait_mean", STAT_MEAN, v->wait);
	metric_part(v, "load/wait_p99", STAT_P99, v->wait);
	metric_part(v, "load/service_mean", STAT_MEAN, v->service);
	metric_part(v, "load/service_p99", STAT_P99, v->service);
	if (r->lag_n > 0) {
		record_metric_real(b, "load/dispatch_lag_mean", r->lag_sum_ns / (double)r->lag_n,
				   "of requests for which a stream stood ready");
		record_metric_real(b, "load/dispatch_lag_max", v->lag->max,
				   "of requests for which a stream stood ready");
	} else {
		record_metric_absent(b, "load/dispatch_lag_mean",
				     "no request found a stream ready");
		record_metric_absent(b, "load/dispatch_lag_max", "no request found a stream ready");
	}
	record_metric_int(b, "load/queue_max", (int64_t)r->queue_max,
			  "due and not yet taken, looked at as each is taken");
	if (r->unserved > 0)
		record_metric_int(b, "load/unserved", (int64_t)r->unserved,
				  "due, and given up when it ended early");
}

static void peak_metric(const view *v)
{
	const load_peak *p = &v->j->peak;
	const char *tag = "load/peak_rate";

	if (!v->j->config->find_peak)
		return;
	if (v->j->has_unloaded && v->j->unloaded.verdict == DCK_VERDICT_BROKEN)
		record_metric_absent(v->b, tag,
				     "no rate holds the limits: the unloaded service is over");
	else if (v->j->npoints == 0 || p->held == 0)
		record_metric_absent(v->b, tag, "no rate was shown to hold the limits");
	else if (isinf(p->broken))
		record_metric_real(v->b, tag, p->held, "highest rate that was shown to hold");
	else
		record_metric_interval(v->b, tag, p->held, p->held, p->broken,
				       v->j->config->confidence,
				       "highest rate shown to hold, to lowest shown to break");
}

static void metrics(const view *v)
{
	const measure_phases *p = &v->j->session.phases;
	const load_result *r = v->r;
	record_builder *b = v->b;
	os_usage usage;

	peak_metric(v);
	for (int i = 0; i < STAT_ESTIMATORS; i++)
		measure_result_estimate(b, measure_estimator_tag[i], &v->all[i]);
	throughput(v);
	if (v->server)
		server_metrics(v);
	record_metric_int(b, "runs/count", (int64_t)r->served, "requests that were served");
	record_metric_int(b, "runs/warmup", (int64_t)p->warmup_runs,
			  "runs before, the first one included; each stream's first runs aside");
	if (v->j->session.target.session_ns > 0 &&
	    v->j->session.target.engine.ops != &subject_function_engine)
		record_metric_int(b, "time/session", (int64_t)v->j->session.target.session_ns,
				  "wall time");
	if (p->has_first_run) {
		record_metric_int(b, "time/first_run", (int64_t)p->first_run_ns, "wall time");
		record_metric_int(b, "time/warmup", (int64_t)p->warmup_ns, "wall time");
	}
	record_metric_real(b, "time/measured", r->done_ns,
			   "from the start until the last was done");
	os_usage_get(&usage);
	if (v->j->session.target.engine.ops->caps & DCK_CAP_COMMAND) {
		if (r->peak_rss_bytes > 0)
			record_metric_int(b, "memory/peak_rss", (int64_t)r->peak_rss_bytes,
					  "the greatest of the command's runs");
	} else if (usage.peak_rss_bytes > 0) {
		record_metric_int(b, "memory/peak_rss", (int64_t)usage.peak_rss_bytes,
				  "of the whole process since it started");
	}
	record_series(b, "latency", DCK_UNIT_NS, v->latency->at_ns, v->latency->value,
		      v->latency->n, 0);
	if (v->server)
		record_series(b, "wait", DCK_UNIT_NS, v->wait->at_ns, v->wait->value, v->wait->n,
			      0);
}

/* --- tables */

static void cell_estimate(record_builder *b, const stat_estimate *e, bool interval)
{
	if (!e->present)
		record_cell_absent(b, e->why);
	else if (interval && e->has_interval)
		record_cell_interval(b, e->value, fmax(0, e->lo), e->hi, e->level);
	else
		record_cell_real(b, e->value);
}

static const stat_estimator part_statistics[] = {STAT_MEAN, STAT_MEDIAN, STAT_P90, STAT_P99};

static void part_cells(const view *v, const measure_samples *s)
{
	stat_estimate e[STAT_ESTIMATORS];

	record_cell_int(v->b, (int64_t)s->pushed);
	stat_estimate_all(s->value, s->n, v->j->config->level, v->j->pool.scratch, e);
	for (size_t i = 0; i < sizeof part_statistics / sizeof part_statistics[0]; i++)
		cell_estimate(v->b, &e[part_statistics[i]], false);
	if (s->pushed > 0)
		record_cell_real(v->b, s->max);
	else
		record_cell_absent(v->b, "there were none");
}

/* `first`: what a row is. */
static void summary_begin(const view *v, const char *title, const char *first)
{
	const dck_column columns[] = {
	    {first, first, DCK_UNIT_NONE}, {"requests", "requests", DCK_UNIT_ONE},
	    {"mean", "mean", DCK_UNIT_NS}, {"median", "median", DCK_UNIT_NS},
	    {"p90", "p90", DCK_UNIT_NS},   {"p99", "p99", DCK_UNIT_NS},
	    {"max", "max", DCK_UNIT_NS},
	};

	record_table(v->b, "load/summary", title, columns, sizeof columns / sizeof columns[0]);
}

static void parts_table(const view *v)
{
	const struct {
		const char *name;
		const measure_samples *samples;
	} rows[] = {{"latency", v->latency},
		    {"queue wait", v->wait},
		    {"service", v->service},
		    {"dispatch lag", v->lag}};

	summary_begin(v, "Latency and its parts", "part");
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		record_cell_text(v->b, rows[i].name);
		part_cells(v, rows[i].samples);
	}
}

static void streams_table(const view *v)
{
	summary_begin(v, "By stream", "stream");
	for (size_t i = 0; i < v->j->pool.n; i++) {
		record_cell_int(v->b, (int64_t)i + 1);
		part_cells(v, load_stream_latency(&v->j->pool, i));
	}
}

static void points_table(const view *v)
{
	const load_job *j = v->j;
	dck_column columns[6 + LOAD_LIMITS] = {
	    {"rate", "rate", DCK_UNIT_HERTZ},	    {"served", "served", DCK_UNIT_HERTZ},
	    {"requests", "requests", DCK_UNIT_ONE}, {"utilisation", "busy", DCK_UNIT_ONE},
	    {"median", "median", DCK_UNIT_NS},
	};
	size_t n = 5;

	for (size_t i = 0; i < j->ask.nlimits; i++)
		if (strcmp(j->limits[i].statistic, "median") != 0)
			columns[n++] = (dck_column){j->limits[i].statistic, j->limits[i].statistic,
						    DCK_UNIT_NS};
	columns[n++] = (dck_column){"verdict", "limits", DCK_UNIT_NONE};
	record_table(v->b, "load/steps", "Rates that were tried", columns, n);
	record_brief_columns(v->b, "served median p90 p95 p99 p999 max mean verdict");
	for (size_t k = 0; k < j->npoints; k++) {
		const load_point *s = &j->points[k];

		record_cell_real(v->b, s->rate);
		record_cell_real(v->b, s->achieved);
		record_cell_int(v->b, (int64_t)s->seen[0].n);
		record_cell_real(v->b, s->utilisation);
		cell_estimate(v->b, &s->median, false);
		for (size_t i = 0; i < j->ask.nlimits; i++)
			if (strcmp(j->limits[i].statistic, "median") != 0)
				cell_estimate(v->b, &s->statistic[i], true);
		record_cell_text(v->b,
				 s->result.unstable ? "unstable" : latency_limit_word(s->verdict));
		if (s->rate == j->peak.held || s->rate == j->peak.broken ||
		    s->rate == j->peak.open_lo || s->rate == j->peak.open_hi)
			record_brief_row(v->b);
	}
}

/* Clopper and Pearson's exact interval of a share, at what the requests are worth. */
static void cell_share(const view *v, const stat_limit *l)
{
	const double half = (1 - v->j->config->level) / 2, k = l->share * l->n_eff, n = l->n_eff;

	record_cell_interval(v->b, l->share, k > 0 ? stat_beta_quantile(half, k, n - k + 1) : 0,
			     k < n ? stat_beta_quantile(1 - half, k + 1, n - k) : 1,
			     v->j->config->level);
}

static void limits_table(const view *v)
{
	const load_job *j = v->j;
	dck_column columns[6] = {
	    {"limit", "limit", DCK_UNIT_NONE},
	    {"over", "over it", DCK_UNIT_ONE},
	    {"share", "share", DCK_UNIT_ONE},
	    {"worth", "worth", DCK_UNIT_ONE},
	};
	size_t n = 4;
	bool needed = false;

	for (size_t i = 0; i < j->ask.nlimits; i++)
		needed = needed || v->point->limit[i].n_needed > 0;
	if (needed)
		columns[n++] = (dck_column){"needed", "needed", DCK_UNIT_ONE};
	columns[n++] = (dck_column){"verdict", "verdict", DCK_UNIT_NONE};
	record_table(v->b, "load/limits", "Limits", columns, n);
	for (size_t i = 0; i < j->ask.nlimits; i++) {
		const stat_limit *l = &v->point->limit[i];

		record_cell_text(v->b, j->limits[i].text);
		record_cell_int(v->b, (int64_t)v->point->seen[i].over);
		cell_share(v, l);
		record_cell_int(v->b, (int64_t)floor(l->n_eff));
		if (needed && l->n_needed > 0)
			record_cell_int(v->b, (int64_t)ceil(l->n_needed));
		else if (needed)
			record_cell_absent(v->b, "it is decided, or cannot be foreseen");
		record_cell_text(v->b, latency_limit_word(l->verdict));
	}
}

/* --- facts */

static dck_verdict verdict_of_all(const view *v)
{
	const load_job *j = v->j;

	if (!j->config->find_peak)
		return v->point->verdict;
	if (j->peak.held > 0)
		return DCK_VERDICT_HOLDS;
	if (j->unloaded.verdict == DCK_VERDICT_BROKEN)
		return DCK_VERDICT_BROKEN;
	/* The lowest rate that was tried speaks for all below it that could be tried. */
	return j->npoints > 0 && isinf(j->peak.open_lo) && !isinf(j->peak.broken)
		   ? DCK_VERDICT_BROKEN
		   : DCK_VERDICT_UNDECIDED;
}

static void facts(const view *v)
{
	load_job *j = v->j;
	record_builder *b = v->b;
	const uint32_t caps = j->session.target.engine.ops->caps;

	subject_facts_of(b, j->subject, &j->session.target);
	subject_facts_engine(b, &j->session.target);
	subject_facts_host(b, &j->host);
	record_fact_options(b, "plan", dck_load_options, j->config);
	if (j->subject->kind == DCK_SUBJECT_MODEL || j->subject->kind == DCK_SUBJECT_PLUGIN)
		record_fact_options(b, "plan", dck_model_options, &j->subject->model);
	if (j->subject->kind == DCK_SUBJECT_COMMAND)
		record_fact_options(b, "plan", dck_command_options, &j->subject->command);
	/* What is shown first. */
	if (j->ask.nlimits > 0)
		record_fact_text(b, "plan", "statistic", j->limits[0].statistic);
	record_fact_text(b, "load", "scenario", dck_load_scenarios[j->ask.scenario]);
	record_fact_int(b, "load", "streams", DCK_UNIT_ONE, (int64_t)j->pool.n);
	if (j->trace.n > 0) {
		record_fact_int(b, "load", "trace_arrivals", DCK_UNIT_ONE, (int64_t)j->trace.n);
		record_fact_real(b, "load", "trace_rate", DCK_UNIT_HERTZ, j->trace.rate_hz);
	}
	if (j->ask.nlimits > 0) {
		record_gate(b, verdict_of_all(v));
		record_fact_text(b, "load", "verdict", latency_limit_word(verdict_of_all(v)));
	}
	for (size_t i = 0; i < j->ask.nlimits; i++) {
		char key[64];

		snprintf(key, sizeof key, "verdict/%s", j->limits[i].text);
		record_fact_text(b, "load", key, latency_limit_word(v->point->limit[i].verdict));
	}
	record_fact_text(b, "method", "clock", j->shared.clock.name);
	record_fact_real(b, "method", "clock_cost", DCK_UNIT_NS, j->shared.clock.cost_ns);
	record_fact_real(b, "method", "clock_tick", DCK_UNIT_NS, j->shared.clock.tick_ns);
	record_fact_text(
	    b, "method", "enclosed",
	    v->server ? "from the scheduled arrival until the results are ready: waiting is in it"
	    : caps & DCK_CAP_COMMAND ? "from before the process is started until it is waited for"
				     : "from when a stream takes the request until the results are "
				       "ready");
	record_fact_text(b, "method", "stop",
			 v->r->unstable	   ? "unstable: the queue grew without bound"
			 : j->cut[0]	   ? j->cut
			 : v->r->cancelled ? "interrupted"
			 : j->ask.requests > 0 && v->r->served >= j->ask.requests
			     ? "requests: as many as were asked"
			     : "time: no more arrivals, and all that had come were served");
	record_fact_text(b, "method", "interval",
			 "within this process, corrected for autocorrelation");
	record_fact_int(b, "method", "samples", DCK_UNIT_ONE, (int64_t)v->latency->pushed);
	record_fact_int(b, "method", "samples_kept", DCK_UNIT_ONE, (int64_t)v->latency->n);
	record_fact_int(b, "method", "processes", DCK_UNIT_ONE, 1);
}

/* --- notes */

/* "17,763", "4.44" */
static const char *rate_text(double rate, char *buf, size_t size)
{
	if (rate >= 1000)
		return dck_text_count((int64_t)round(rate), buf, size);
	snprintf(buf, size, "%.3g", rate);
	return buf;
}

static void closed_loop(const view *v)
{
	const load_scenario s = v->j->ask.scenario;

	if (s == LOAD_SINGLE || s == LOAD_MULTI)
		record_note(v->b, "coordinated-omission",
			    "each stream sends a request only when the one before is done, so a "
			    "slow run delays the next ones instead of making them wait: these are "
			    "service times, and users who come by themselves wait longer");
}

static void unstable(const view *v)
{
	const double service = v->r->service_sum_ns / (double)v->r->served;
	char come[32], can[32], left[32];

	if (v->server && v->r->unstable)
		record_note(
		    v->b, "unstable",
		    "unstable: arrivals exceed what is served: %s arrive a second, and %zu "
		    "stream%s can serve %s; %s were waiting at last, and more would wait the "
		    "longer it lasts, so that latency here says only how long it was measured",
		    rate_text(v->point->offered, come, sizeof come), v->j->pool.n,
		    v->j->pool.n == 1 ? "" : "s",
		    rate_text((double)v->j->pool.n * 1e9 / service, can, sizeof can),
		    dck_text_count((int64_t)(v->r->unserved > 0 ? v->r->unserved : v->r->queue_end),
				   left, sizeof left));
}

static void dispatch_lag(const view *v)
{
	const load_result *r = v->r;
	const double mean_ns = r->lag_n > 0 ? r->lag_sum_ns / (double)r->lag_n : 0;
	char mean[32], most[32], median[32];

	if (!v->server || r->lag_n < 10 || !v->all[STAT_MEDIAN].present ||
	    mean_ns <= LAG_SHARE * v->all[STAT_MEDIAN].value)
		return;
	record_note(v->b, "dispatch-lag",
		    "the dispatch lag is %s (mean; at most %s): requests that found a stream ready "
		    "began so long after they arrived, as the system woke it late or its "
		    "processors were busy; it is in the latency, whose median is %s",
		    dck_text_time(mean_ns, mean, sizeof mean),
		    dck_text_time(v->lag->max, most, sizeof most),
		    dck_text_time(v->all[STAT_MEDIAN].value, median, sizeof median));
}

static void too_few(const view *v)
{
	const stat_estimate *e = &v->all[STAT_MEDIAN];

	if (v->server && v->r->unstable)
		return; /* more of the same would tell nothing */
	if (!e->has_interval)
		record_note(v->b, "too-few-runs",
			    "%llu requests are too few for an interval (%s): measure longer with "
			    "--time or --requests",
			    (unsigned long long)v->r->served, e->why);
	else if (e->narrow)
		record_note(v->b, "too-few-runs",
			    "the requests are worth only %.0f independent ones, so intervals are "
			    "narrower than their level says: measure longer with --time or "
			    "--requests",
			    e->n_eff);
}

static void oversubscribed(const view *v)
{
	const load_pool *p = &v->j->pool;

	if (p->n * p->run_threads > p->cpus)
		record_note(v->b, "oversubscribed",
			    "%zu stream%s, of which each run may use %u thread%s, share %u "
			    "processor%s: runs at the same time slow each other; with --threads 1 "
			    "each has one",
			    p->n, p->n == 1 ? "" : "s", p->run_threads,
			    p->run_threads == 1 ? "" : "s", p->cpus, p->cpus == 1 ? "" : "s");
}

static const char *value_text(const stat_estimate *e, char *buf, size_t size)
{
	return e->present ? dck_text_time(e->value, buf, size) : "not known";
}

/* "12 of 3000 requests took longer" */
static void seen_text(const view *v, size_t i, char *buf, size_t size)
{
	const load_seen *seen = &v->point->seen[i];
	char value[32];

	if (v->j->limits[i].kind == LIMIT_MEAN)
		snprintf(buf, size, "the mean of %llu requests is %s", (unsigned long long)seen->n,
			 dck_text_time(seen->sum / (double)seen->n, value, sizeof value));
	else
		snprintf(buf, size, "%llu of %llu requests took longer",
			 (unsigned long long)seen->over, (unsigned long long)seen->n);
}

static void broken_note(const view *v, size_t i)
{
	const latency_limit *limit = &v->j->limits[i];
	const stat_limit *l = &v->point->limit[i];
	double percent = 100 * v->j->config->confidence;
	char seen[80], value[32], may[48] = "";

	if (v->r->unstable) {
		record_note(v->b, "slo-broken", "%s does not hold: the queue grows without bound",
			    limit->text);
		return;
	}
	if (limit->kind == LIMIT_PERCENTILE) {
		snprintf(may, sizeof may, " (%.3g %%), %.3g %% may", 100 * l->share,
			 100 * (1 - limit->p));
		percent = 100 * fmin(1 - l->p_broken, 0.9999);
	}
	seen_text(v, i, seen, sizeof seen);
	if (limit->kind == LIMIT_MAX)
		record_note(v->b, "slo-broken", "%s does not hold: %s; max is %s", limit->text,
			    seen, value_text(&v->point->statistic[i], value, sizeof value));
	else
		record_note(v->b, "slo-broken",
			    "%s does not hold: %s%s; %s is %s (confidence %.4g %%)", limit->text,
			    seen, may, limit->statistic,
			    value_text(&v->point->statistic[i], value, sizeof value), percent);
}

static void open_note(const view *v, size_t i)
{
	const latency_limit *limit = &v->j->limits[i];
	const stat_limit *l = &v->point->limit[i];
	const double percent = 100 * v->j->config->confidence;
	char seen[80];

	seen_text(v, i, seen, sizeof seen);
	if (limit->kind == LIMIT_MAX)
		record_note(v->b, "slo-not-shown",
			    "%s is not broken: %s; but no number of requests shows that none ever "
			    "will: limit a percentile, such as p99.9",
			    limit->text, seen);
	else if (l->n_needed > 0)
		record_note(v->b, "slo-not-shown",
			    "%s is not shown, neither to hold nor to break, with %.4g %% "
			    "confidence: %s, and they are worth %.0f independent ones; about %.0f "
			    "times as many would decide (--time, --requests), or accept a lower "
			    "--confidence",
			    limit->text, percent, seen, floor(l->n_eff),
			    fmax(2, ceil(l->n_needed / l->n_eff)));
	else
		record_note(v->b, "slo-not-shown",
			    "%s is not shown, neither to hold nor to break, with %.4g %% "
			    "confidence: %s",
			    limit->text, percent,
			    limit->kind == LIMIT_MEAN ? seen
						      : "just as many requests took longer as may");
}

static void limit_note(const view *v, size_t i)
{
	const stat_limit *l = &v->point->limit[i];
	const bool mean = v->j->limits[i].kind == LIMIT_MEAN;
	const double sure = mean ? v->j->config->confidence : fmin(1 - l->p_held, 0.9999);
	char seen[80];

	if (l->verdict == DCK_VERDICT_BROKEN) {
		broken_note(v, i);
	} else if (l->verdict == DCK_VERDICT_UNDECIDED) {
		open_note(v, i);
	} else {
		seen_text(v, i, seen, sizeof seen);
		record_note(v->b, "slo-held",
			    "%s holds: %s, worth %.0f independent ones (confidence %.4g %%)",
			    v->j->limits[i].text, seen, floor(l->n_eff), 100 * sure);
	}
}

static void unloaded_notes(const view *v)
{
	const load_job *j = v->j;
	char value[32];

	for (size_t i = 0; i < j->ask.nlimits; i++)
		if (j->unloaded.limit[i].verdict == DCK_VERDICT_BROKEN)
			record_note(v->b, "slo-not-held",
				    "no rate holds %s: unloaded, without a queue, %s is %s already",
				    j->limits[i].text, j->limits[i].statistic,
				    value_text(&j->unloaded.statistic[i], value, sizeof value));
}

/* No rate was shown to hold the limits. */
static void none_note(const view *v)
{
	const load_peak *p = &v->j->peak;
	char rate[32];

	if (verdict_of_all(v) == DCK_VERDICT_BROKEN)
		record_note(
		    v->b, "slo-not-held",
		    "no rate that was tried holds the limits: they break even at %s requests a "
		    "second, where a stream is busy %.2g %% of the time",
		    rate_text(p->broken, rate, sizeof rate), 100 * v->point->utilisation);
	else
		record_note(
		    v->b, "slo-not-shown",
		    "no rate was shown to hold the limits with %.4g %% confidence; requests at %s "
		    "a "
		    "second, the lowest that was tried, are worth %.0f independent ones: give more "
		    "--time or a lower --confidence",
		    100 * v->j->config->confidence, rate_text(v->point->rate, rate, sizeof rate),
		    floor(v->point->limit[0].n_eff));
}

static void search_note(const view *v)
{
	const load_job *j = v->j;
	const load_peak *p = &j->peak;
	char open[96] = "", held[32], broken[32], from[32], to[32];

	if (j->unloaded.verdict == DCK_VERDICT_BROKEN) {
		unloaded_notes(v);
		return;
	}
	if (j->npoints == 0)
		return;
	if (p->held == 0) {
		none_note(v);
		return;
	}
	if (p->open_hi > 0)
		snprintf(open, sizeof open, ", from %s to %s it is not shown",
			 rate_text(p->open_lo, from, sizeof from),
			 rate_text(p->open_hi, to, sizeof to));
	if (isinf(p->broken))
		record_note(v->b, "peak-open",
			    "the limits hold at %s requests a second; no rate was shown to break "
			    "them%s, so the peak may be higher",
			    rate_text(p->held, held, sizeof held), open);
	else
		record_note(v->b, "peak-bracket",
			    "the limits hold at %s requests a second and break at %s%s; each of "
			    "these verdicts has %.4g %% confidence",
			    rate_text(p->held, held, sizeof held),
			    rate_text(p->broken, broken, sizeof broken), open,
			    100 * j->config->confidence);
}

/* "p99<=50ms and p90<=20ms" */
static void limits_text(const load_job *j, char *buf, size_t size)
{
	size_t n = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < j->ask.nlimits && n < size; i++)
		n += (size_t)snprintf(buf + n, size - n, "%s%s", i > 0 ? " and " : "",
				      j->limits[i].text);
}

/* ": p90 is 10.2 ms, over 5 ms" */
static void over_text(const view *v, char *buf, size_t size)
{
	char value[32], most[32];

	buf[0] = '\0';
	for (size_t i = 0; i < v->j->ask.nlimits && !buf[0] && !v->r->unstable; i++) {
		const latency_limit *limit = &v->j->limits[i];
		const stat_estimate *e = &v->point->statistic[i];

		if (v->point->limit[i].verdict != DCK_VERDICT_BROKEN)
			continue;
		dck_text_time(limit->ns, most, sizeof most);
		if (e->present)
			snprintf(buf, size, ": %s is %s, over %s", limit->statistic,
				 value_text(e, value, sizeof value), most);
		else
			snprintf(buf, size, ": %llu of %llu requests took longer than %s",
				 (unsigned long long)v->point->seen[i].over,
				 (unsigned long long)v->point->seen[i].n, most);
	}
}

static void answer(const view *v)
{
	const load_job *j = v->j;
	const load_peak *p = &j->peak;
	char limits[200], held[32], broken[64] = "; no rate broke it", rate[32], over[128];

	if (j->ask.nlimits == 0)
		return; /* the latency is the answer */
	limits_text(j, limits, sizeof limits);
	if (!j->config->find_peak) {
		over_text(v, over, sizeof over);
		if (v->server)
			record_answer(v->b, "%s: %s at %s requests/s%s", limits,
				      latency_limit_word(v->point->verdict),
				      rate_text(v->point->rate, rate, sizeof rate), over);
		else
			record_answer(v->b, "%s: %s%s", limits,
				      latency_limit_word(v->point->verdict), over);
	} else if (p->held > 0) {
		if (!isinf(p->broken))
			snprintf(broken, sizeof broken, "; %s/s breaks it",
				 rate_text(p->broken, rate, sizeof rate));
		record_answer(v->b, "holds %s requests/s with %s%s",
			      rate_text(p->held, held, sizeof held), limits, broken);
	} else {
		record_answer(v->b, "no rate was shown to hold %s", limits);
	}
}

static void notes(const view *v)
{
	load_job *j = v->j;

	closed_loop(v);
	unstable(v);
	dispatch_lag(v);
	too_few(v);
	oversubscribed(v);
	for (size_t i = 0; !j->config->find_peak && i < j->ask.nlimits; i++)
		limit_note(v, i);
	if (j->config->find_peak)
		search_note(v);
	if (j->cut[0])
		record_note(v->b, "search-cut",
			    "the search ended before its ends came as near as asked: %s", j->cut);
	measure_shared_notes(&v->j->shared, v->b);
}

/* The doubts of every measurement, looked for in the service times: a queue has outliers and drifts
 * of its own, which are what is measured. */
static void doubts(const view *v)
{
	const load_job *j = v->j;
	measure_evidence e = diagnostics_evidence(&j->session.phases, &j->host);
	stat_estimate median;

	stat_estimate_one(STAT_MEDIAN, v->service->value, v->service->n, j->config->level,
			  j->pool.scratch, &median);
	e.samples = v->service;
	e.median = &median;
	e.asked = NULL; /* too_few() says it, with the options that this command has */
	e.runs = v->r->served;
	e.wall_ns = (uint64_t)v->r->done_ns;
	e.before = v->r->before;
	e.after = v->r->after;
	if (j->session.target.engine.ops->caps & DCK_CAP_COMMAND)
		e.child_cpu_ns = v->r->cpu_ns;
	diagnostics_notes(v->b, &e, j->pool.scratch);
}

void load_record(load_job *j)
{
	view v = view_of(j);

	facts(&v);
	answer(&v);
	metrics(&v);
	if (j->config->find_peak && j->npoints > 0)
		points_table(&v);
	if (v.server)
		parts_table(&v);
	else if (j->pool.n > 1 && !j->config->find_peak)
		streams_table(&v);
	if (j->ask.nlimits > 0)
		limits_table(&v);
	notes(&v);
	doubts(&v);
}
