/* load_record.c - the record of a measurement under load: method and facts, metrics, and tables of
 * the parts of a latency (queue wait, service, dispatch lag) or of the streams.
 *
 * load_record() is the order; load_limits.c writes what concerns limits, load_notes.c the notes.
 * The samples come from the last measurement, in a search from the measurement of the reported
 * rate. In a closed loop the throughput is requests over time; the relative width of its interval
 * is that of the mean gap between completions, whose reciprocal is the rate (a renewal process),
 * corrected for autocorrelation. Where samples were thinned, a gap is divided by their stride.
 *
 * All estimates use the scratch of the pool, which load_pool_open() made large enough, so they are
 * made one after the other. Nothing is allocated here but by the builder of the record, whose
 * failure is sticky.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/load/load_view.h"
#include "measure/method.h"
#include "measure/results.h"
#include <math.h>

static load_view view_of(load_job *j)
{
	load_view v = {.j = j,
		       .b = j->b,
		       .samples = j->config->find_peak ? &j->kept : &j->pool.samples,
		       .point = j->shown,
		       .r = &j->shown->result,
		       .server = j->ask.scenario == LOAD_SERVER && j->shown != &j->unloaded};

	measure_result_estimates(&v.samples->of[LOAD_LATENCY], j->config->level, j->pool.scratch,
				 v.all);
	return v;
}

/* --- metrics */

/* Estimates the mean gap between the ends of requests, which is one over the rate. */
static void rate_estimate(const load_view *v, stat_estimate *ret)
{
	const measure_samples *s = &v->samples->of[LOAD_LATENCY];
	double *done = v->j->pool.scratch;
	const size_t n = s->n;

	for (size_t i = 0; i < n; i++)
		done[i] = (double)s->at_ns[i] + s->value[i];
	stat_sort(done, n);
	for (size_t i = 0; i + 1 < n; i++)
		done[i] = (done[i + 1] - done[i]) / (double)s->stride;
	stat_estimate_one(STAT_MEAN, done, n > 0 ? n - 1 : 0, v->j->config->level, done + n, ret);
}

static void load_throughput(const load_view *v)
{
	const double items = (double)v->j->session.target.items;
	const double rate = items * v->point->achieved;
	const char *tag = "throughput/items";
	const char *how = v->server ? "served requests, which in a stable queue equal the arrivals"
				    : "items of all requests over the time until the last was done";
	stat_estimate gap = {0};

	if (!v->server)
		rate_estimate(v, &gap);
	if (!(items > 0))
		record_metric_absent(v->b, tag,
				     "a run has no items: axis 0 of the first input is 0");
	else if (!(rate > 0))
		record_metric_absent(v->b, tag, "no time passed");
	else if (gap.present && gap.has_interval && gap.lo > 0)
		/* The value is that of all requests, the relative width is that of the gaps. */
		record_metric_interval(v->b, tag, rate, rate * gap.value / gap.hi,
				       rate * gap.value / gap.lo, gap.level, how);
	else
		record_metric_real(v->b, tag, rate, how);
	record_metric_unit(v->b, tag, subject_rate_unit(&v->j->session.target));
}

static void server_metrics(const load_view *v)
{
	static const struct {
		const char *tag;
		load_part part;
		stat_estimator which;
	} rows[] = {
	    {"load/wait_mean", LOAD_WAIT, STAT_MEAN},
	    {"load/wait_p99", LOAD_WAIT, STAT_P99},
	    {"load/service_mean", LOAD_SERVICE, STAT_MEAN},
	    {"load/service_p99", LOAD_SERVICE, STAT_P99},
	};
	static const char *const lag_tags[] = {"load/dispatch_lag_mean", "load/dispatch_lag_max"};
	const measure_samples *lag = &v->samples->of[LOAD_LAG];
	record_builder *b = v->b;

	record_metric_real(b, "load/offered_rate", v->point->offered, "arrivals over their time");
	record_metric_real(b, "load/achieved_rate", v->point->achieved,
			   "served requests " LOAD_SERVED_OVER);
	record_metric_real(b, "load/utilisation", v->point->utilisation,
			   "rate times mean service over streams");
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const measure_samples *s = &v->samples->of[rows[i].part];
		stat_estimate e;

		stat_estimate_one(rows[i].which, s->value, s->n, v->j->config->level,
				  v->j->pool.scratch, &e);
		measure_result_estimate(b, rows[i].tag, &e);
	}
	for (size_t i = 0; i < 2; i++)
		record_metric_if(lag->pushed > 0, b, lag_tags[i],
				 RECORD_REAL(i == 0 ? measure_samples_mean(lag) : lag->max),
				 "of requests for which a stream was waiting",
				 "no request found a stream ready");
	record_metric_int(b, "load/queue_max", (int64_t)v->r->queue_max,
			  "due and not yet taken, counted as each is taken");
	if (v->r->abandoned > 0)
		record_metric_int(b, "load/abandoned", (int64_t)v->r->abandoned,
				  "due, and given up when it ended early");
}

void load_peak_metric(const load_view *v)
{
	const load_peak *p = &v->j->peak;
	const char *tag = "load/peak_rate";

	if (!v->j->config->find_peak)
		return;
	if (v->j->has_unloaded && v->j->unloaded.verdict == DCK_VERDICT_VIOLATED)
		record_metric_absent(v->b, tag,
				     "no rate meets the limits: the unloaded service is over");
	else if (v->j->npoints == 0 || p->held == 0)
		record_metric_absent(v->b, tag, "no rate was shown to meet the limits");
	else if (isinf(p->broken))
		record_metric_real(v->b, tag, p->held, "highest rate that was shown to meet them");
	else
		record_metric_interval(v->b, tag, p->held, p->held, p->broken,
				       v->j->config->confidence,
				       "highest rate shown to meet, to lowest shown to violate");
}

static void load_metrics(const load_view *v)
{
	const measure_phases *p = &v->j->session.phases;
	const measure_samples *latency = &v->samples->of[LOAD_LATENCY];
	const measure_samples *wait = &v->samples->of[LOAD_WAIT];
	record_builder *b = v->b;

	load_peak_metric(v);
	for (int i = 0; i < STAT_ESTIMATORS; i++)
		measure_result_estimate(b, measure_estimator_tag[i], &v->all[i]);
	load_throughput(v);
	if (v->server)
		server_metrics(v);
	record_metric_int(b, "runs/count", (int64_t)v->r->served, "requests that were served");
	record_metric_int(b, "runs/warmup", (int64_t)p->warmup_runs,
			  "runs before, the first one included; each stream's first runs aside");
	measure_result_phases(b, p);
	record_metric_real(b, "time/measured", v->r->done_ns,
			   "from the start until the last was done");
	measure_result_memory(b, &v->j->session.target, v->r->peak_rss_bytes);
	record_series(b, "latency", DCK_UNIT_NS, latency->at_ns, latency->value, latency->n, 0);
	if (v->server)
		record_series(b, "wait", DCK_UNIT_NS, wait->at_ns, wait->value, wait->n, 0);
}

/* --- tables */

/* `first`: the key and title of the first column, which names the rows. */
static void summary_begin(const load_view *v, const char *title, const char *first)
{
	const dck_column columns[] = {
	    {first, first, DCK_UNIT_NONE}, {"requests", "requests", DCK_UNIT_ONE},
	    {"mean", "mean", DCK_UNIT_NS}, {"median", "median", DCK_UNIT_NS},
	    {"p90", "p90", DCK_UNIT_NS},   {"p99", "p99", DCK_UNIT_NS},
	    {"max", "max", DCK_UNIT_NS},
	};

	RECORD_TABLE(v->b, "load/summary", title, columns);
}

static void summary_cells(const load_view *v, const measure_samples *s)
{
	static const stat_estimator shown[] = {STAT_MEAN, STAT_MEDIAN, STAT_P90, STAT_P99,
					       STAT_MAX};
	stat_estimate e[STAT_ESTIMATORS];

	record_cell_int(v->b, (int64_t)s->pushed);
	measure_result_estimates(s, v->j->config->level, v->j->pool.scratch, e);
	for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++)
		load_cell(v->b, &e[shown[i]], false);
}

static void summary_table(const load_view *v)
{
	static const char *const parts[LOAD_PARTS] = {[LOAD_LATENCY] = "latency",
						      [LOAD_WAIT] = "queue wait",
						      [LOAD_SERVICE] = "service",
						      [LOAD_LAG] = "dispatch lag"};

	if (v->server) {
		summary_begin(v, "Latency and its parts", "part");
		for (int i = 0; i < LOAD_PARTS; i++) {
			record_cell_text(v->b, parts[i]);
			summary_cells(v, &v->samples->of[i]);
		}
	} else if (v->j->pool.n > 1 && !v->j->config->find_peak) {
		summary_begin(v, "By stream", "stream");
		for (size_t i = 0; i < v->j->pool.n; i++) {
			record_cell_int(v->b, (int64_t)i + 1);
			summary_cells(v, load_stream_latency(&v->j->pool, i));
		}
	}
}

/* --- facts */

static void method(const load_view *v)
{
	const load_job *j = v->j;

	method_clock(v->b, &j->shared.clock);
	record_fact_text(
	    v->b, "method", "enclosed",
	    v->server ? "from the scheduled arrival until the results are ready: waiting is in it"
	    : j->session.target.engine.ops->caps & DCK_CAP_COMMAND
		? METHOD_PROCESS
		: "from when a stream takes the request until the results are ready");
	method_transfers(v->b, j->subject, &j->session.target, &j->session.barriers);
	record_fact_text(v->b, "method", "stop",
			 v->r->unstable	   ? "unstable: the queue grew without bound"
			 : j->cut[0]	   ? j->cut
			 : v->r->cancelled ? "interrupted"
			 : j->ask.requests > 0 && v->r->served >= j->ask.requests
			     ? "requests: as requested"
			     : "time: no more arrivals, and all that had come were served");
	record_fact_text(v->b, "method", "interval",
			 "within this process, corrected for autocorrelation");
	method_samples(v->b, &v->samples->of[LOAD_LATENCY]);
}

static void load_facts(const load_view *v)
{
	const load_job *j = v->j;
	record_builder *b = v->b;

	method_subject(b, j->subject, &j->session.target, &j->host, dck_load_options, j->config);
	/* A summary shows this statistic first. */
	if (j->ask.nlimits > 0)
		record_fact_text(b, "plan", "statistic", j->limits[0].statistic);
	record_fact_text(b, "load", "scenario", dck_load_scenarios[j->ask.scenario]);
	record_fact_int(b, "load", "streams", DCK_UNIT_ONE, (int64_t)j->pool.n);
	if (j->trace.n > 0) {
		record_fact_int(b, "load", "trace_arrivals", DCK_UNIT_ONE, (int64_t)j->trace.n);
		record_fact_real(b, "load", "trace_rate", DCK_UNIT_HERTZ, j->trace.rate_hz);
	}
	load_verdict_facts(v);
	method(v);
}

void load_record(load_job *j)
{
	const load_view v = view_of(j);

	if (j->pool.url) {
		load_url_record(&v);
		return;
	}
	load_facts(&v);
	device_proof_record(v.b, &j->session.barriers);
	load_answer(&v);
	load_metrics(&v);
	load_points_table(&v);
	summary_table(&v);
	load_limits_table(&v);
	load_notes(&v);
}
