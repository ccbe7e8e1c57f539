/* load.c - dck_load(): a subject under load, in a closed loop (single, multi), with all requests at
 * once (offline) or in an open loop with scheduled arrivals (server).
 *
 * Order: the options are checked before the clock is calibrated; the subject is opened and warmed
 * up; each stream gets its context; then one measurement (load_run.c, a thread for each stream), or
 * a search for the highest rate that holds the limits (load_search.c); then the record
 * (load_record.c). The latency of a server request begins at its scheduled arrival, so that a stall
 * delays the requests after it in the numbers too (no coordinated omission).
 *
 * The caller's observer need not be thread-safe: only the caller's thread calls it, and streams
 * read the flag pool.stop. job_measure() closes the pool, the session and the shared log in this
 * order on every path, because the engine may log until it is closed. The job is on the heap, since
 * streams and the engine hold pointers into it, and is freed last.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/load/load_run.h"
#include "base/err.h"
#include "base/opt_text.h"
#include "base/observer.h"
#include "base/units.h"
#include "record/record_begin.h"
#include "study/load/load_job.h"
#include "study/load/load_url.h"
#include <math.h>
#include <string.h>

#define TIME_DEFAULT_NS 10000000000u
#define TIME_MOST_NS	(UINT64_MAX / 4)

/* --- the options, checked */

static load_scenario scenario_of(const dck_load_config *c)
{
	if (c->scenario != LOAD_AUTO)
		return (load_scenario)c->scenario;
	if (c->rate_hz > 0 || c->trace || c->find_peak)
		return LOAD_SERVER;
	return c->streams > 1 ? LOAD_MULTI : LOAD_SINGLE;
}

/* Refuses options that would change nothing, since they are misunderstandings. */
static dck_status closed_check(const dck_load_config *c, load_scenario scenario, dck_err *err)
{
	const char *name = dck_load_scenarios[scenario];
	const char *option = c->rate_hz > 0	? "rate"
			     : c->trace		? "trace"
			     : c->arrivals != 0 ? "arrivals"
			     : c->max_queue > 0 ? "max-queue"
			     : c->find_peak	? "find-peak"
						: NULL;

	if (option)
		DCK_FAIL(err, E_ARG,
			 "--%s is about arrivals, and with --scenario %s nothing arrives: "
			 "give --scenario server",
			 option, name);
	if (scenario == LOAD_SINGLE && c->streams > 1)
		DCK_FAIL(err, E_ARG,
			 "--scenario single has one stream, and --streams is %llu: "
			 "give --scenario multi",
			 (unsigned long long)c->streams);
	if (scenario == LOAD_OFFLINE && c->slo.n > 0)
		DCK_FAIL(
		    err, E_ARG,
		    "--slo limits latency, and with --scenario offline all requests arrive at the start, so that the latency of each is its position in the queue: give another scenario");
	return DCK_OK;
}

static dck_status server_check(const dck_load_config *c, dck_err *err)
{
	if (!(c->rate_hz > 0) && !c->trace && !c->find_peak)
		DCK_FAIL(
		    err, E_ARG,
		    "--scenario server needs arrivals: give --rate N (a second), --trace FILE, "
		    "or --find-peak");
	if (c->trace && c->arrivals != 0)
		DCK_FAIL(err, E_ARG,
			 "--arrivals and --trace both define when requests arrive: give one");
	if (c->find_peak && c->slo.n == 0)
		DCK_FAIL(err, E_ARG, "--find-peak needs a limit to meet: give --slo 'p99<=50ms'");
	return DCK_OK;
}

/* Refuses options of subjects, which a server has none of, and of a warm-up without a number. */
static dck_status url_options_check(const load_job *j, dck_err *err)
{
	const dck_subject *s = j->subject;
	dck_load_config usual;
	dck_subject plain;
	http_url address;

	DCK_TRY(server_config_check(j->config, &address, err));
	dck_subject_init(&plain);
	for (const dck_opt *o = dck_model_options; s && o->name; o++)
		if (strcmp(o->name, "seed") != 0 && !opt_same(o, &s->model, &plain.model))
			DCK_FAIL(err, E_ARG, "--%s is about models in this process: not with --url",
				 o->name);
	for (const dck_opt *o = dck_command_options; s && o->name; o++)
		if (!opt_same(o, &s->command, &plain.command))
			DCK_FAIL(err, E_ARG, "--%s is about programs: not with --url", o->name);
	dck_load_config_init(&usual);
	if (j->config->max_warmup_ns != usual.max_warmup_ns)
		DCK_FAIL(err, E_ARG,
			 "--max-warmup has no effect with --url: give --warmup N, a number of "
			 "requests");
	return DCK_OK;
}

static dck_status url_check(const load_job *j, dck_err *err)
{
	const dck_load_config *c = j->config;

	if (!c->url && !j->subject)
		DCK_FAIL(err, E_ARG, "there is neither a subject nor --url");
	if (!c->url)
		return DCK_OK;
	if (j->subject && (j->subject->text || j->subject->argv || j->subject->function))
		DCK_FAIL(err, E_ARG, "--url is measured instead of a subject: give one of them");
	DCK_TRY(url_options_check(j, err));
	if (j->ask.scenario == LOAD_OFFLINE)
		DCK_FAIL(err, E_ARG, "--scenario offline is not for servers: give --streams N");
	if (j->ask.scenario == LOAD_SERVER && c->streams > 1)
		DCK_FAIL(
		    err, E_ARG,
		    "--streams is about a closed loop: with --rate and --url every request has "
		    "a connection for itself");
	if (c->requests > HTTP_ANSWERS_MAX)
		DCK_FAIL(err, E_ARG,
			 "--requests is %llu, and with --url at most %d are made: give fewer, or "
			 "measure several times",
			 (unsigned long long)c->requests, HTTP_ANSWERS_MAX);
	if (c->max_queue > HTTP_IN_FLIGHT_MAX)
		DCK_FAIL(err, E_ARG,
			 "--max-queue is %llu, and with --url at most %d requests are in flight",
			 (unsigned long long)c->max_queue, HTTP_IN_FLIGHT_MAX);
	for (size_t i = 0; i < j->ask.nlimits; i++)
		if (j->limits[i].ns > (double)c->timeout_ns)
			DCK_FAIL(err, E_ARG, "the limit %s is above --timeout", j->limits[i].text);
	return DCK_OK;
}

static dck_status limits_parse(load_job *j, dck_err *err)
{
	const dck_load_config *c = j->config;
	size_t n = 0;

	for (size_t i = 0; i < c->slo.n; i++) {
		latency_limit limit[2];
		bool two = false;

		if (c->url)
			DCK_TRY(latency_limit_preset(c->slo.item[i], limit, &two, err));
		if (!two)
			DCK_TRY(latency_limit_parse(c->slo.item[i], c->url != NULL, limit, err));
		if (n + 1 + two > LOAD_LIMITS)
			DCK_FAIL(err, E_ARG, "there are more than %d limits (--slo)", LOAD_LIMITS);
		memcpy(&j->limits[n], limit, (1 + (size_t)two) * sizeof *limit);
		n += 1 + (size_t)two;
	}
	j->ask.limits = j->limits;
	j->ask.nlimits = n;
	return DCK_OK;
}

static dck_status config_check(load_job *j, dck_err *err)
{
	const dck_load_config *c = j->config;

	j->ask.scenario = scenario_of(c);
	DCK_TRY(limits_parse(j, err));
	for (size_t i = 0; i < j->ask.nlimits; i++)
		if (c->find_peak && j->limits[i].kind == LIMIT_MAX)
			DCK_FAIL(err, E_ARG,
				 "--find-peak needs limits that can be shown to be met, "
				 "and no number of requests shows it of %s: limit a percentile, "
				 "as in p99.9<=50ms",
				 j->limits[i].text);
	j->ask.requests = c->requests;
	DCK_TRY(url_check(j, err));
	return j->ask.scenario == LOAD_SERVER ? server_check(c, err)
					      : closed_check(c, j->ask.scenario, err);
}

/* --- one measurement */

/* Sets when requests arrive and when that ends, by the options. */
static void arrivals_ask(load_job *j)
{
	const dck_load_config *c = j->config;
	load_run_config *a = &j->ask;
	const double rate = c->rate_hz > 0 ? c->rate_hz : c->trace ? j->trace.rate_hz : 1;

	a->time_ns = c->time_ns > 0    ? c->time_ns
		     : c->requests > 0 ? TIME_MOST_NS
		     : c->trace	       ? load_trace_time(&j->trace, rate)
				       : TIME_DEFAULT_NS;
	if (a->scenario == LOAD_SERVER)
		load_run_config_rate(j, rate, c->seed, a);
}

static dck_status measure_once(load_job *j, dck_err *err)
{
	load_result r;
	load_point *point = &j->points[0];

	arrivals_ask(j);
	j->pool.progress.phase = dck_load_scenarios[j->ask.scenario];
	DCK_TRY(load_run(&j->pool, &j->ask, &r, err));
	if (r.served == 0)
		DCK_TRY(err_pass(r.failed, &r.why, err));
	if (r.served == 0 && r.cancelled)
		DCK_FAIL(err, E_CANCEL, "interrupted before the first request was served");
	if (r.served == 0 && r.unstable)
		DCK_FAIL(err, E_LIMIT,
			 "the service cannot keep up: "
			 "before the first request was served %llu were due, "
			 "and at most %llu may wait (--max-queue): give a lower --rate, "
			 "more --streams or a larger --max-queue",
			 (unsigned long long)r.arrived, (unsigned long long)j->ask.max_queue);
	if (r.served == 0)
		DCK_FAIL(err, E_ARG,
			 "no request arrived in %g s: give a higher --rate or a longer --time",
			 (double)j->ask.time_ns / 1e9);
	point->rate = j->ask.scenario == LOAD_SERVER ? 1e9 / j->ask.arrivals.gap_ns : NAN;
	load_point_take(j, &j->ask, &r, j->config->confidence, point);
	load_stopped(j, &r);
	j->npoints = 1;
	j->shown = point;
	return DCK_OK;
}

/* --- opening */

/* The caller's observer need not be thread-safe: only the caller's thread queries it; stream
 * threads read the stop flag. */
static bool load_stop_asked(void *self)
{
	load_job *j = self;

	return atomic_load(&j->pool.stop) ||
	       (pthread_equal(pthread_self(), j->caller) && observer_cancelled(j->watch));
}

static void progress_pass(void *self, const dck_progress *p)
{
	const load_job *j = self;

	observer_show(j->watch, p);
}

/* Returns the number of threads that one run uses, as the engine reports; 1 if it does not. A run
 * on a device uses one, which enqueues it. */
static unsigned threads_of_run(const load_job *j)
{
	const dck_engine *e = j->session.target.engine.ops;
	const dck_kv *kv;
	size_t n;
	uint64_t threads;

	if (j->session.barriers.n == 0 &&
	    engine_facts(e, j->session.target.model, &kv, &n, NULL) == DCK_OK)
		for (size_t i = 0; i < n; i++)
			if (strcmp(kv[i].key, "threads") == 0 &&
			    units_parse_count(kv[i].value, &threads, NULL) == DCK_OK && threads > 0)
				return threads < 10000 ? (unsigned)threads : 10000;
	return 1;
}

static dck_status subject_open(load_job *j, dck_err *err)
{
	const dck_load_config *c = j->config;
	measure_plan plan;

	j->inner =
	    (dck_observer){.self = j, .progress = progress_pass, .cancelled = load_stop_asked};
	DCK_TRY(measure_plan_warmup(c->warmup, c->max_warmup_ns, c->level, &plan, err));
	DCK_TRY(measure_session_open(&j->session, &j->shared, j->subject, &plan, &j->inner, err));
	DCK_TRY(measure_session_warm(&j->session, err));
	observer_phase(&j->inner, "streams");
	j->pool = (load_pool){.origin_ns = j->shared.origin_ns,
			      .serial = c->serial,
			      .cpus = os_cpus_allowed(),
			      .run_threads = threads_of_run(j),
			      .watch = j->watch};
	j->pool.progress = progress_indeterminate("");
	return load_pool_open(&j->pool, &j->session.target, &j->shared.clock, (size_t)c->streams,
			      (size_t)c->keep, err);
}

static dck_status server_open_job(load_job *j, dck_err *err)
{
	j->pool = (load_pool){.origin_ns = j->shared.origin_ns,
			      .clock = &j->shared.clock,
			      .n = (size_t)j->config->streams,
			      .watch = j->watch};
	j->pool.progress = progress_indeterminate("");
	DCK_TRY(load_url_open(&j->pool, j->config, j->watch, err));
	for (size_t i = 0; i < j->ask.nlimits; i++)
		if (!j->pool.url->server.generates && j->limits[i].quantity != LIMIT_LATENCY)
			DCK_FAIL(err, E_ARG,
				 "the limit %s is about tokens, and this server returns tensors: "
				 "limit the latency, as in p99<=50ms",
				 j->limits[i].text);
	/* Where a search starts. */
	j->session.phases.loop.run_ns = j->pool.url->server.probe_ns;
	return DCK_OK;
}

static dck_status job_run(load_job *j, dck_err *err)
{
	j->points = mem_zalloc(LOAD_PEAK_POINTS, sizeof *j->points);
	DCK_NEED(j->points, err, "for the results");
	os_host_get(&j->host);
	j->shared.origin_ns = measure_context_now(&j->shared);
	record_set_began(j->b, os_unix_ns());
	DCK_TRY(j->config->url ? server_open_job(j, err) : subject_open(j, err));
	DCK_TRY(j->config->find_peak ? load_search(j, err) : measure_once(j, err));
	if (j->config->url)
		load_url_finish(&j->pool);
	load_record(j);
	return DCK_OK;
}

static dck_status job_measure(load_job *j, dck_record **ret, dck_err *err)
{
	dck_err why = {0};
	dck_status status;

	measure_context_begin(&j->shared, j->config->clock, j->watch,
			      j->config->url || j->subject->kind == DCK_SUBJECT_COMMAND);
	j->b = record_begin(j->config->title);
	status = j->b ? job_run(j, &why) : ERR_NO_MEMORY(&why, "for a record");
	if (status == DCK_OK)
		measure_notes_show(j->watch, j->b);
	/* The engine may log until it is closed. */
	load_pool_close(&j->pool);
	load_url_close(&j->pool);
	measure_session_close(&j->session);
	load_samples_done(&j->kept);
	measure_context_end(&j->shared);
	return record_finish_if(err_pass(status, &why, err), j->b, ret, err);
}

dck_status dck_load(const dck_subject *s, const dck_load_config *config, const dck_observer *watch,
		    dck_record **ret, dck_err *err)
{
	dck_load_config own;
	load_job *j;
	dck_status status;

	DCK_TRY(OPT_CONFIG_GET(config, &own, dck_load_config_init, err, dck_load_options,
			       dck_server_options));
	config = &own;
	j = mem_zalloc(1, sizeof *j);
	DCK_NEED(j, err, "for a measurement");
	j->subject = s;
	j->config = config;
	j->watch = watch;
	j->caller = pthread_self();
	/* Invalid configurations are rejected before the clock is calibrated. */
	status = config_check(j, err);
	if (status == DCK_OK && config->trace)
		status = load_trace_read(config->trace, &j->trace, err);
	DCK_NEXT(status, job_measure(j, ret, err));
	load_trace_done(&j->trace);
	mem_free(j->points);
	mem_free(j);
	return status;
}
