/* load_url_record.c - the record of a server under load: facts, metrics, tables and notes.
 *
 * Limits, verdicts and the search have the same rows as every load test (load_limits.c). Every
 * quantity is one of the samples of load_url_run.c; a percentile that failed requests reach, or
 * whose interval they reach, has no value or no upper end, with the reason. If the client
 * is the bottleneck no latency is a metric; the series stay, because they are what was observed.
 *
 * Nothing of the user's headers is written here, nor of a body.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/load/load_url.h"
#include "base/units.h"
#include "measure/method.h"
#include "measure/results.h"
#include "record/host.h"
#include "stat/dist.h"
#include "study/load/load_view.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct url_part {
	load_part part;
	const char *family, *title, *series;
} url_parts[] = {
    {LOAD_TTFT, "ttft", "TTFT", "ttft"},
    {LOAD_TPOT, "tpot", "TPOT", "tpot"},
    {LOAD_LATENCY, NULL, "end to end", "latency"},
    {LOAD_LAG, "client_late", "client late", "client_late"},
};
#define URL_PARTS (sizeof url_parts / sizeof *url_parts)

#define NO_FLOOR "the null server has no TLS"

#define CACHE_FASTER 0.95 /* a repeated prompt's time over the first one's, at most: a cache */

static const double url_quantiles[] = {0.5, 0.9, 0.99};
static const char *const url_quantile_names[] = {"median", "p90", "p99"};
#define URL_QUANTILES (sizeof url_quantiles / sizeof *url_quantiles)

static const double estimator_quantile[STAT_ESTIMATORS] = {
    [STAT_MEDIAN] = 0.5, [STAT_P90] = 0.9,    [STAT_P95] = 0.95,
    [STAT_P99] = 0.99,	 [STAT_P999] = 0.999, [STAT_MAX] = 1};

static const load_answers *answers_of(const load_view *v)
{
	return &v->r->answers;
}

static const measure_samples *url_samples(const load_view *v, load_part part)
{
	return &v->samples->of[part];
}

static void estimate_drop(stat_estimate *e, const char *why)
{
	*e = (stat_estimate){0};
	snprintf(e->why, sizeof e->why, "%s", why);
}

/* Returns the greatest time of the answered requests, or of their deviations from `median`. */
static double answered_most(const load_view *v, load_part part, double median)
{
	const measure_samples *s = url_samples(v, part);
	double most = 0;

	for (size_t i = 0; i < s->n; i++)
		if (s->value[i] < v->j->pool.url->timeout_ns)
			most = fmax(most, fabs(s->value[i] - median));
	return most;
}

/* What failed requests and a late client make of an estimate. median: of a deviation; else 0.
 * Between ranks values are interpolated, so one above those of the answered has a failed one in it.
 */
static void estimate_qualify(const load_view *v, load_part part, bool percentile, double median,
			     stat_estimate *e)
{
	const double most = answers_of(v)->failed > 0 ? answered_most(v, part, median) : INFINITY;
	char why[160];

	if (part == LOAD_LAG)
		return;
	if (answers_of(v)->client_bound[0]) {
		estimate_drop(e, "client-bound: it would be the client's");
	} else if (e->present && answers_of(v)->failed > 0 && (!percentile || e->value > most)) {
		snprintf(why, sizeof why, "%llu of %llu requests failed%s",
			 (unsigned long long)answers_of(v)->failed,
			 (unsigned long long)v->r->served,
			 percentile ? ", and it is one of them" : "");
		estimate_drop(e, why);
	} else if (e->present && e->has_interval && e->hi > most) {
		e->has_interval = false;
		snprintf(e->why, sizeof e->why, "its upper end is among failed requests");
	}
}

/* Drops a quantile that the client's lateness moved. */
static void quantile_qualify(const load_view *v, load_part part, double p, stat_estimate *e)
{
	char why[80];
	double shift;

	load_url_on_time(&v->j->pool, v->samples, part, p, &shift);
	if (!e->present || shift <= CLIENT_SHIFT_MOST)
		return;
	snprintf(why, sizeof why, "client-bound: its lateness moved it by %.0f %%", 100 * shift);
	estimate_drop(e, why);
}

static void quantile_estimate(const load_view *v, load_part part, double p, stat_estimate *ret)
{
	const measure_samples *s = url_samples(v, part);

	if (s->n == 0)
		estimate_drop(ret, part == LOAD_TPOT
				       ? "the server reports no numbers of tokens, or each answer "
					 "arrived at once"
				       : "no request has it");
	else
		stat_estimate_quantile(p, s->value, s->n, v->j->config->level, v->j->pool.scratch,
				       ret);
	estimate_qualify(v, part, true, 0, ret);
	quantile_qualify(v, part, p, ret);
}

/* --- metrics */

static void part_metrics(const load_view *v)
{
	char tag[64];
	stat_estimate e;

	for (size_t i = 0; i < URL_PARTS; i++)
		for (size_t q = 0; url_parts[i].family && q < URL_QUANTILES; q++) {
			if (!v->j->pool.url->server.generates && url_parts[i].part != LOAD_LAG)
				continue;
			snprintf(tag, sizeof tag, "load/%s/%s", url_parts[i].family,
				 url_quantile_names[q]);
			quantile_estimate(v, url_parts[i].part, url_quantiles[q], &e);
			measure_result_estimate(v->b, tag, &e);
		}
	for (size_t q = 0; v->j->pool.url->server.generates && q < URL_QUANTILES; q++) {
		e = answers_of(v)->icl[q];
		if (answers_of(v)->client_bound[0])
			estimate_drop(&e, "client-bound: it would be the client's");
		snprintf(tag, sizeof tag, "load/icl/%s", url_quantile_names[q]);
		measure_result_estimate(v->b, tag, &e);
	}
	for (int i = 0; i < STAT_ESTIMATORS; i++) {
		/* The deviations are from a median that is a failed request's. */
		const bool no_median =
		    i == STAT_MAD && answers_of(v)->failed > 0 &&
		    v->all[STAT_MEDIAN].value > answered_most(v, LOAD_LATENCY, 0);
		const bool moment = i == STAT_MEAN || i == STAT_STDDEV || i == STAT_CV || no_median;

		e = v->all[i];
		if (i == STAT_MIN && answers_of(v)->failed > 0)
			snprintf(e.how, sizeof e.how, "smallest of the %llu answered",
				 (unsigned long long)(v->r->served - answers_of(v)->failed));
		estimate_qualify(v, LOAD_LATENCY, !moment,
				 i == STAT_MAD ? v->all[STAT_MEDIAN].value : 0, &e);
		if (estimator_quantile[i] > 0)
			quantile_qualify(v, LOAD_LATENCY, estimator_quantile[i], &e);
		measure_result_estimate(v->b, measure_estimator_tag[i], &e);
	}
}

/* Clopper and Pearson's interval at the least effective sample size of the limits. */
static void goodput_metrics(const load_view *v)
{
	const load_answers *a = answers_of(v);
	const double n = (double)v->r->served, half = (1 - v->j->config->level) / 2;
	const double share = n > 0 ? (double)a->within / n : 0;
	const char *why = a->client_bound[0] ? "client-bound" : NULL;
	double worth = n;

	if (v->j->ask.nlimits == 0 || v->r->served == 0)
		return;
	for (size_t i = 0; i < v->j->ask.nlimits; i++)
		if (load_limit_unknown(v->r, i))
			why = load_unknown_text(v->r);
	for (size_t i = 0; i < v->j->ask.nlimits; i++)
		if (v->point->limit[i].n_eff > 0)
			worth = fmin(worth, v->point->limit[i].n_eff);
	if (why) {
		record_metric_absent(v->b, "load/goodput", why);
		record_metric_absent(v->b, "load/goodput_rate", why);
		return;
	}
	const double k = share * worth;

	record_metric_interval(
	    v->b, "load/goodput", share, k > 0 ? stat_beta_quantile(half, k, worth - k + 1) : 0,
	    k < worth ? stat_beta_quantile(1 - half, k + 1, worth - k) : 1, v->j->config->level,
	    "requests that meet all limits over all; exact at the effective sample size");
	record_metric_real(v->b, "load/goodput_rate",
			   (double)a->within * 1e9 / load_result_time(v->r),
			   "requests that meet all limits " LOAD_SERVED_OVER);
}

static void client_metrics(const load_view *v)
{
	const load_url *u = v->j->pool.url;
	record_builder *b = v->b;

	record_metric_real(b, "load/client_busy", answers_of(v)->client_busy,
			   "time not spent waiting, over all");
	record_metric_if(answers_of(v)->stamped > 0, b, "load/client_read_late",
			 RECORD_REAL(measure_samples_mean(url_samples(v, LOAD_READ_END))),
			 "mean of all answers: from the kernel's time stamp of the last chunk to "
			 "the read, beyond the floor, where several were read together",
			 "the kernel's time stamps of arrival are missing");
	record_metric_if(u->server.floor_ns > 0, b, "load/client_floor",
			 RECORD_REAL(u->server.floor_ns),
			 "median of one connection to the null server in this process",
			 u->server.address.tls ? NO_FLOOR : "the null server did not answer");
	record_metric_if(u->server.highest_rate > 0, b, "load/client_rate",
			 RECORD_REAL(u->server.highest_rate),
			 "eight connections to the null server in this process",
			 u->server.address.tls ? NO_FLOOR : "the null server did not answer");
	record_metric_int(b, "load/in_flight_max", (int64_t)answers_of(v)->in_flight_max,
			  "counted as each is sent");
}

static void tokens_metric(const load_view *v)
{
	const load_answers *a = answers_of(v);
	const uint64_t answered = v->r->served - a->failed;
	char why[120];

	if (!v->j->pool.url->server.generates)
		return;
	if (a->counted > 0 && a->counted == answered) {
		record_metric_real(v->b, "load/tokens",
				   (double)a->tokens * 1e9 / load_result_time(v->r),
				   "as the server counts them, " LOAD_SERVED_OVER);
		return;
	}
	snprintf(why, sizeof why, "the server reports no numbers of tokens");
	if (a->counted > 0)
		snprintf(why, sizeof why,
			 "the server reports numbers of tokens in %llu of %llu answers",
			 (unsigned long long)a->counted, (unsigned long long)answered);
	record_metric_absent(v->b, "load/tokens", why);
}

static void url_metrics(const load_view *v)
{
	const load_answers *a = answers_of(v);
	record_builder *b = v->b;

	load_peak_metric(v);
	part_metrics(v);
	if (v->server)
		record_metric_real(b, "load/offered_rate", v->point->offered,
				   "arrivals over their time");
	record_metric_real(b, "load/achieved_rate", v->point->achieved,
			   "answered requests " LOAD_SERVED_OVER);
	tokens_metric(v);
	goodput_metrics(v);
	if (v->j->pool.url->cache.repeated)
		measure_result_estimate(b, "load/repeated_ratio", &v->j->pool.url->cache.again);
	record_metric_int(b, "load/failed", (int64_t)a->failed, "table load/outcomes");
	if (v->r->abandoned > 0)
		record_metric_int(b, "load/abandoned", (int64_t)v->r->abandoned,
				  "given up when it ended early");
	client_metrics(v);
	record_metric_int(b, "runs/count", (int64_t)v->r->served, "requests");
	record_metric_int(b, "runs/warmup", (int64_t)v->j->pool.url->server.probes,
			  "requests before");
	record_metric_real(b, "time/measured", v->r->done_ns,
			   "from the start until the last was done");
	for (size_t i = 0; i < URL_PARTS; i++) {
		const measure_samples *s = url_samples(v, url_parts[i].part);

		if (s->n > 0)
			record_series(b, url_parts[i].series, DCK_UNIT_NS, s->at_ns, s->value, s->n,
				      0);
	}
}

/* --- tables */

static void url_cells(const load_view *v, const char *name, uint64_t n, const stat_estimate *e)
{
	record_cell_text(v->b, name);
	record_cell_int(v->b, (int64_t)n);
	for (size_t q = 0; q < URL_QUANTILES; q++)
		load_cell(v->b, &e[q], true);
}

static void quantities_table(const load_view *v)
{
	const dck_column columns[] = {{"part", "quantity", DCK_UNIT_NONE},
				      {"requests", "requests", DCK_UNIT_ONE},
				      {"median", "median", DCK_UNIT_NS},
				      {"p90", "p90", DCK_UNIT_NS},
				      {"p99", "p99", DCK_UNIT_NS}};
	const bool bound = answers_of(v)->client_bound[0];
	stat_estimate e[URL_QUANTILES];

	RECORD_TABLE(v->b, "load/summary", "Times from the schedule", columns);
	for (size_t i = 0; i < URL_PARTS; i++) {
		const load_part part = url_parts[i].part;

		if ((part == LOAD_TTFT || part == LOAD_TPOT) && !v->j->pool.url->server.generates)
			continue;
		for (size_t q = 0; q < URL_QUANTILES; q++)
			quantile_estimate(v, part, url_quantiles[q], &e[q]);
		url_cells(v, url_parts[i].title, url_samples(v, part)->pushed, e);
		if (part != LOAD_TPOT)
			continue;
		for (size_t q = 0; q < URL_QUANTILES; q++) {
			e[q] = answers_of(v)->icl[q];
			if (bound)
				estimate_drop(&e[q], "client-bound: it would be the client's");
		}
		url_cells(v, "ICL", v->r->served - answers_of(v)->failed, e);
	}
}

/* The points in time of a typical request; none is claimed of a client that was late. */
static void times_table(const load_view *v)
{
	static const char *const names[LOAD_TIMES] = {"started",     "sent",	      "first byte",
						      "first event", "first content", "end"};
	const dck_column columns[] = {{"point", "point", DCK_UNIT_NONE},
				      {"median", "median", DCK_UNIT_NS}};
	const load_answers *a = answers_of(v);

	if (a->client_bound[0] || a->failed == v->r->served)
		return;
	RECORD_TABLE(v->b, "load/times", "Points in time, from the schedule", columns);
	for (int i = 0; i < LOAD_TIMES; i++) {
		if (!v->j->pool.url->server.generates &&
		    (i == LOAD_FIRST_EVENT || i == LOAD_FIRST_CONTENT))
			continue;
		record_cell_text(v->b, names[i]);
		record_cell_real(v->b, a->time_ns[i]);
	}
}

static void outcome_row(const load_view *v, const char *text, uint64_t n)
{
	double lo, hi;

	if (n == 0)
		return;
	record_cell_text(v->b, text);
	record_cell_int(v->b, (int64_t)n);
	stat_proportion(n, v->r->served, v->j->config->level, &lo, &hi);
	record_cell_interval(v->b, (double)n / (double)v->r->served, lo, hi, v->j->config->level);
}

static void outcomes_table(const load_view *v)
{
	const dck_column columns[] = {{"outcome", "outcome", DCK_UNIT_NONE},
				      {"requests", "requests", DCK_UNIT_ONE},
				      {"share", "share", DCK_UNIT_ONE}};
	const load_answers *a = answers_of(v);
	uint64_t other = a->outcome[HTTP_STATUS];
	char text[32];

	RECORD_TABLE(v->b, "load/outcomes", "Requests by their outcome", columns);
	for (int i = 0; i < HTTP_CANCELLED; i++)
		if (i != HTTP_STATUS)
			outcome_row(v, http_outcome_text((http_outcome)i), a->outcome[i]);
	for (size_t i = 0; i < LOAD_STATUSES; i++) {
		snprintf(text, sizeof text, "status %u", a->status[i].status);
		outcome_row(v, text, a->status[i].n);
		other -= a->status[i].n;
	}
	outcome_row(v, "another status", other);
}

/* --- facts */

static void url_method(const load_view *v)
{
	const load_job *j = v->j;
	record_builder *b = v->b;

	method_clock(b, &j->shared.clock);
	record_fact_text(b, "method", "enclosed",
			 v->server
			     ? "from the scheduled time to the last content"
			     : "from when a connection takes the request to the last content");
	record_fact_text(b, "method", "unit", "the request: its chunks depend on each other");
	record_fact_text(b, "method", "interval",
			 "within this process, over requests, corrected for autocorrelation");
	record_fact_text(b, "method", "stop",
			 v->r->unstable	       ? "more requests were in flight than are allowed"
			 : j->cut[0]	       ? j->cut
			 : v->r->cancelled     ? "interrupted"
			 : answers_of(v)->full ? "the most requests of a measurement"
			 : answers_of(v)->crowded
			     ? "the most requests that this client has in flight"
			     : "all requests were answered or had failed");
	method_samples(b, url_samples(v, LOAD_LATENCY));
}

/* How it is known whether the server's cache had parts of prompts. */
static void cache_facts(const load_view *v)
{
	const load_url *u = v->j->pool.url;
	const load_answers *a = answers_of(v);
	const double counted = server_cache_share(&u->cache);
	record_builder *b = v->b;

	if (u->usage_cached) {
		record_fact_text(b, "load", "cache_evidence", "usage of the answers");
		record_fact_real(b, "load", "cached_share", DCK_UNIT_ONE,
				 (double)a->cached_tokens / fmax(1, (double)a->prompt_tokens));
	} else if (!isnan(counted)) {
		record_fact_fmt(b, "load", "cache_evidence",
				"counters of %s at /metrics, of all its clients",
				u->cache.before.server);
		record_fact_real(b, "load", "cached_share", DCK_UNIT_ONE, counted);
	} else if (u->cache.repeated) {
		record_fact_fmt(b, "load", "cache_evidence", "%zu %s sent twice", u->cache.pairs,
				COUNTED(u->cache.pairs, "prompt", "prompts"));
	} else {
		record_fact_absent(b, "load", "cache_evidence",
				   u->cache.again.why[0] ? u->cache.again.why
							 : "it was interrupted");
	}
}

static void generation_facts(const load_view *v)
{
	const load_url *u = v->j->pool.url;
	const load_answers *a = answers_of(v);
	record_builder *b = v->b;

	if (u->server.prompts.n > 0) {
		record_fact_fmt(b, "load", "prompts", "%zu of a file, in turn",
				u->server.prompts.n);
		record_fact_absent(b, "load", "prompt_words", "prompts are from a file");
	} else {
		record_fact_text(b, "load", "prompts",
				 "random words, different in each request and run");
		record_fact_text(b, "load", "prompt_nonce", u->server.nonce);
		record_fact_int(b, "load", "prompt_words", DCK_UNIT_ONE,
				(int64_t)u->server.ask.prompt_length);
	}
	record_fact_real(b, "load", "shared_prefix", DCK_UNIT_ONE, u->server.ask.shared_prefix);
	record_fact_text(b, "load", "end_of_sequence",
			 server_end_text(&u->server, a->outcome[HTTP_EARLY] > 0));
	record_fact_int(b, "load", "tokens_asked", DCK_UNIT_ONE, (int64_t)u->server.ask.new_tokens);
	cache_facts(v);
	record_fact_real(b, "load", "chunks", DCK_UNIT_ONE,
			 (double)a->chunks / fmax(1, (double)(v->r->served - a->failed)));
	if (a->counted == 0) {
		record_fact_absent(b, "load", "tokens_delivered", "the server reports none");
		return;
	}
	record_fact_real(b, "load", "tokens_delivered", DCK_UNIT_ONE,
			 (double)a->tokens / (double)a->counted);
	record_fact_real(b, "load", "prompt_tokens", DCK_UNIT_ONE,
			 (double)a->prompt_tokens / (double)a->counted);
	record_fact(b, "load", "cached_tokens", DCK_UNIT_ONE,
		    u->usage_cached ? RECORD_REAL((double)a->cached_tokens / (double)a->counted)
				    : RECORD_ABSENT("the server reports none"));
}

static void url_facts(const load_view *v)
{
	static const char *const protocols[] = {[HTTP_COMPLETIONS] = "completions, streamed",
						[HTTP_CHAT] = "chat completions, streamed",
						[HTTP_KSERVE] = "KServe v2"};
	const load_job *j = v->j;
	const load_url *u = j->pool.url;
	record_builder *b = v->b;

	record_fact_text(b, "subject", "kind", "server");
	record_fact_fmt(b, "subject", "name", "%s://%s%s", u->server.address.tls ? "https" : "http",
			u->server.address.authority, u->server.address.path);
	record_fact_text(b, "subject", "served_model",
			 u->server.generates ? j->config->served_model : u->server.address.model);
	record_host(b, &j->host);
	record_fact_options(b, "plan", dck_load_options, j->config);
	record_fact_options(b, "plan", dck_server_options, j->config);
	if (j->ask.nlimits > 0)
		record_fact_text(b, "plan", "statistic", j->limits[0].statistic);
	record_fact_text(b, "load", "scenario", dck_load_scenarios[j->ask.scenario]);
	record_fact_text(b, "load", "protocol", protocols[u->server.address.protocol]);
	record_fact_fmt(
	    b, "load", "client", "one thread, an event loop, HTTP/1.1 with keep-alive%s%s",
	    u->server.address.tls ? ", TLS by " : "", u->server.address.tls ? tls_version() : "");
	if (!v->server)
		record_fact_int(b, "load", "streams", DCK_UNIT_ONE, (int64_t)j->pool.n);
	if (answers_of(v)->resent > 0)
		record_fact_int(b, "load", "resent", DCK_UNIT_ONE, (int64_t)answers_of(v)->resent);
	if (u->server.generates)
		generation_facts(v);
	else
		record_fact_text(b, "load", "inputs", "the same random tensors in each request");
	load_verdict_facts(v);
	url_method(v);
}

/* --- the answer and the notes */

static void url_answer(const load_view *v)
{
	stat_estimate first, next;
	char a[96], t[120] = "", rate[32], at[64] = "", failed[64] = "";

	if (answers_of(v)->client_bound[0]) {
		record_answer(v->b, "client-bound: %s; no latency is reported",
			      answers_of(v)->client_bound);
		return;
	}
	if (v->j->ask.nlimits > 0) {
		load_answer(v);
		return;
	}
	if (answers_of(v)->overload_rate > 0) {
		record_answer(v->b,
			      "unstable: of %s requests/s the server answers %s, so the times "
			      "depend on how long this lasts",
			      load_rate_text(v->point->offered, rate),
			      load_rate_text(answers_of(v)->overload_rate, a));
		return;
	}
	if (v->server)
		snprintf(at, sizeof at, " at %s requests/s", load_rate_text(v->point->rate, rate));
	if (answers_of(v)->failed > 0)
		snprintf(failed, sizeof failed, "; %llu of %llu requests failed",
			 (unsigned long long)answers_of(v)->failed,
			 (unsigned long long)v->r->served);
	quantile_estimate(v, v->j->pool.url->server.generates ? LOAD_TTFT : LOAD_LATENCY, 0.5,
			  &first);
	quantile_estimate(v, LOAD_TPOT, 0.5, &next);
	if (next.present) {
		char b[96];

		snprintf(t, sizeof t, ", each further token %s", measure_result_text(&next, b));
	}
	if (first.present)
		record_answer(v->b, "%s takes %s%s%s%s",
			      v->j->pool.url->server.generates ? "the first token" : "an answer",
			      measure_result_text(&first, a), t, at, failed);
	else
		record_answer(v->b, "%s%s",
			      failed[0] ? failed + strlen("; ") : "no latency is known", at);
}

/* A chat template is the same at the start of every prompt. */
static bool cache_is_unexplained(const load_view *v, double share)
{
	return share > v->j->config->shared_prefix + 0.1;
}

/* Only random prompts are known to differ. */
static const char *cache_although(const load_view *v)
{
	const load_url *u = v->j->pool.url;

	if (u->prompts_again)
		return "as prompts of the file were sent several times";
	if (u->server.prompts.n > 0)
		return "as prompts of a file may begin alike, or have been sent in an earlier run";
	return v->j->config->shared_prefix > 0
		   ? "although the prompts differ after their shared part"
		   : "although the prompts differ";
}

static void cache_note_usage(const load_view *v)
{
	const load_answers *a = answers_of(v);
	const double share =
	    a->prompt_tokens > 0 ? (double)a->cached_tokens / (double)a->prompt_tokens : 0;

	if (cache_is_unexplained(v, share))
		record_note(
		    v->b, "prefix-cache",
		    "the server had %.0f %% of the prompts' tokens in its cache, in %llu of "
		    "%llu requests, %s: times to the first token are shorter than without it",
		    100 * share, (unsigned long long)a->cached, (unsigned long long)a->counted,
		    cache_although(v));
}

static void cache_note(const load_view *v)
{
	const load_url *u = v->j->pool.url;
	const server_cache *c = &u->cache;
	const double share = server_cache_share(c);

	if (v->j->pool.url->usage_cached)
		cache_note_usage(v);
	else if (cache_is_unexplained(v, share))
		record_note(v->b, "prefix-cache",
			    "%s counted %.0f %% of the prompts' tokens, of all its clients, in its "
			    "cache, %s: times to the first token are shorter than without it",
			    c->before.server, 100 * share, cache_although(v));
	if (!c->again.present || !c->again.has_interval || c->again.hi >= CACHE_FASTER)
		return;
	record_note(v->b, "cache-found",
		    "a prompt that is sent again has its first token after %.2f [%.2f, %.2f] of "
		    "the first time: the server has a cache of prefixes",
		    c->again.value, c->again.lo, c->again.hi);
	/* Those of a file were sent in turn. */
	if (u->prompts_again)
		record_remedy(v->b,
			      "the requests have prompts of the file several times, so their "
			      "times are with the cache: give more prompts, or fewer requests");
	else
		record_remedy(v->b, "the prompts of a run differ, so its times are without the "
				    "cache; --shared-prefix measures it on purpose");
}

static void url_notes(const load_view *v)
{
	const load_url *u = v->j->pool.url;
	const load_answers *a = answers_of(v);
	char text[32], come[32];

	if (a->client_bound[0] && u->server.highest_rate > 0)
		record_note(v->b, "client-bound", "client-bound: %s; its highest rate is %s/s",
			    a->client_bound, load_rate_text(u->server.highest_rate, text));
	else if (a->client_bound[0])
		record_note(v->b, "client-bound", "client-bound: %s", a->client_bound);
	if (a->failed > 0)
		record_note(v->b, "requests-failed",
			    "%llu of %llu requests failed and %s of %s (--timeout); "
			    "the first: %s",
			    (unsigned long long)a->failed, (unsigned long long)v->r->served,
			    COUNTED(a->failed, "counts as one", "count as ones"),
			    dck_text_time(u->timeout_ns, text, sizeof text), a->why);
	if (u->server.warmup_failed > 0)
		record_note(v->b, "warmup-failed", "%llu of the requests of --warmup failed",
			    (unsigned long long)u->server.warmup_failed);
	if (a->gaps_dropped > 0)
		record_note(v->b, "gaps-dropped",
			    "%zu %s between chunks %s not in ICL, which is of the first requests: "
			    "%d are kept",
			    a->gaps_dropped, COUNTED(a->gaps_dropped, "gap", "gaps"),
			    COUNTED(a->gaps_dropped, "is", "are"), HTTP_GAPS_MAX);
	if (a->outcome[HTTP_EARLY] > 0)
		record_note(v->b, "stopped-early", "%llu of %llu answers ended before %llu %s",
			    (unsigned long long)a->outcome[HTTP_EARLY],
			    (unsigned long long)(v->r->served - a->failed),
			    (unsigned long long)u->server.ask.new_tokens,
			    COUNTED(u->server.ask.new_tokens, "token", "tokens"));
	if (a->outcome[HTTP_LONGER] > 0)
		record_note(v->b, "tokens-more",
			    "%llu of %llu answers %s more than %llu %s, as the server counts",
			    (unsigned long long)a->outcome[HTTP_LONGER],
			    (unsigned long long)(v->r->served - a->failed),
			    COUNTED(a->outcome[HTTP_LONGER], "has", "have"),
			    (unsigned long long)u->server.ask.new_tokens,
			    COUNTED(u->server.ask.new_tokens, "token", "tokens"));
	if (u->server.generates && a->counted == 0 && a->failed < v->r->served)
		record_note(v->b, "tokens-unknown",
			    "the server reports no numbers of tokens: chunks are timed, and TPOT "
			    "and tokens/s are not known");
	if (a->no_end && a->failed < v->r->served)
		record_note(v->b, "end-unmarked",
			    "no answer has a finish_reason or [DONE]: one ends with its body, also "
			    "where the server broke off");
	if (a->full)
		record_note(v->b, "requests-most",
			    "%d requests were made, the most of a measurement, before the time was "
			    "over",
			    HTTP_ANSWERS_MAX);
	if (a->crowded)
		record_note(v->b, "requests-most",
			    "%d requests were in flight, the most of this client, before the time "
			    "was over",
			    HTTP_IN_FLIGHT_MAX);
	cache_note(v);
	if (a->overload_rate > 0) {
		record_note(v->b, "unstable",
			    "unstable: the server answered %s requests/s of %s/s, and each waited "
			    "longer than the ones before; up to %zu were in flight",
			    load_rate_text(a->overload_rate, text),
			    load_rate_text(v->point->offered, come), a->in_flight_max);
		record_remedy(v->b, "lower --rate, or search the highest that meets a limit with "
				    "--slo and --find-peak");
	} else if (v->r->unstable) {
		record_note(v->b, "unstable",
			    "unstable: %zu requests were in flight, and more were due",
			    a->in_flight_max);
		record_remedy(v->b, "lower --rate%s",
			      v->j->config->max_queue > 0 ? ", or give a higher --max-queue" : "");
	}
	load_note_closed(v);
	load_note_heading(v);
	if (!a->client_bound[0])
		load_note_few(v);
	load_limits_notes(v);
	record_others_put(&v->r->others, v->b, "load", false);
}

void load_url_record(const load_view *v)
{
	url_facts(v);
	url_answer(v);
	url_metrics(v);
	load_points_table(v);
	quantities_table(v);
	times_table(v);
	outcomes_table(v);
	load_limits_table(v);
	url_notes(v);
}
