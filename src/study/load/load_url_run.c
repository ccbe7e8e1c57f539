/* load_url_run.c - one measurement of a server: the schedule, the requests, and their times as
 * samples in the order of arrival.
 *
 * The schedule is complete before the first request is sent. TTFT and the latency are from the
 * scheduled time: docs/reference/generation.md. A failed request has the time of --timeout in each
 * of them; one that was cancelled has none. Percentiles of the gaps between chunks treat each
 * request as a cluster (stat_starts_quantile()).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/load/load_url.h"
#include "base/err.h"
#include "base/observer.h"
#include "base/units.h"
#include "base/mem.h"
#include "deepclock/opt.h"
#include "study/load/load_overload.h"
#include <math.h>
#include <stdio.h>

/* Connections with TLS that are made before the first request. */
#define READY_LEAST 4
#define READY_MOST  256

static void url_progress(void *self, uint64_t done, uint64_t elapsed_ns)
{
	const load_url *u = self;
	load_pool *p = u->pool;
	double ratio = (double)elapsed_ns / (double)u->run->time_ns;

	if (u->run->requests > 0)
		ratio = fmax(ratio, (double)done / (double)u->run->requests);
	p->progress.runs = done;
	p->progress.elapsed_ns = elapsed_ns;
	p->progress.done_ratio = fmin(1, ratio);
	p->progress.eta_ns = ratio > 0 ? fmax(0, (double)elapsed_ns * (1 / ratio - 1)) : NAN;
	observer_show(p->watch, &p->progress);
}

/* --- the schedule */

static dck_status schedule_make(load_url *u, const load_run_config *ask, uint64_t *ret_n,
				dck_err *err)
{
	load_arrivals next = ask->arrivals;
	size_t cap = 0;
	double at;

	*ret_n = 0;
	while ((ask->requests == 0 || *ret_n < ask->requests) && load_arrivals_next(&next, &at) &&
	       at < (double)ask->time_ns) {
		if (*ret_n == HTTP_ANSWERS_MAX)
			DCK_FAIL(err, E_LIMIT,
				 "more than %d requests would arrive: give a lower --rate or a "
				 "shorter --time",
				 HTTP_ANSWERS_MAX);
		DCK_NEED(mem_reserve(&u->due_ns, &cap, *ret_n + 1, sizeof *u->due_ns), err,
			 "for the schedule");
		u->due_ns[(*ret_n)++] = at;
	}
	return DCK_OK;
}

/* --- samples */

/* Writes the time of a part; false: the request has none. */
static bool part_time(const load_url *u, const http_answer *a, load_part part, double *ret)
{
	if (part != LOAD_LATENCY && !u->server.generates)
		return false;
	if (!http_outcome_is_good(a->outcome)) {
		*ret = u->timeout_ns;
		return true;
	}
	switch (part) {
	case LOAD_TTFT:
		*ret = server_answer_ttft(a);
		return true;
	case LOAD_TPOT:
		if (server_answer_has_tpot(a))
			*ret = server_answer_tpot(a);
		return server_answer_has_tpot(a);
	default:
		*ret = server_answer_latency(a);
		return true;
	}
}

static void outcome_count(const http_answer *a, load_answers *to)
{
	to->outcome[a->outcome]++;
	to->failed += !http_outcome_is_good(a->outcome);
	if (a->outcome != HTTP_STATUS)
		return;
	for (size_t i = 0; i < LOAD_STATUSES; i++) {
		if (to->status[i].n > 0 && to->status[i].status != a->status)
			continue;
		to->status[i].status = a->status;
		to->status[i].n++;
		return;
	}
}

static void tokens_count(const http_answer *a, load_answers *to)
{
	if (!http_outcome_is_good(a->outcome))
		return;
	to->chunks += a->chunks;
	if (!a->has_usage)
		return;
	to->counted++;
	to->tokens += a->tokens;
	to->prompt_tokens += a->prompt_tokens;
	to->cached_tokens += a->cached_tokens;
	to->cached += a->cached_tokens > 0;
}

/* The usual time until a sleeping client reads is in its floor, which the rule has already. */
static double read_late(const load_pool *p, int64_t late_ns)
{
	return fmax(0, (double)late_ns - p->url->server.floor_ns);
}

static void answer_take(load_pool *p, const load_run_config *ask, const http_answer *a,
			load_result *ret)
{
	static const load_part parts[] = {LOAD_LATENCY, LOAD_TTFT, LOAD_TPOT};
	const uint64_t at = a->scheduled_ns - p->url->origin_ns;
	double time;
	bool within = http_outcome_is_good(a->outcome);

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (part_time(p->url, a, parts[i], &time))
			measure_samples_push(&p->samples.of[parts[i]], at, time);
	measure_samples_push(&p->samples.of[LOAD_LAG], at, (double)(a->begin_ns - a->scheduled_ns));
	measure_samples_push(&p->samples.of[LOAD_READ_FIRST], at, read_late(p, a->first_late_ns));
	measure_samples_push(&p->samples.of[LOAD_READ_END], at, read_late(p, a->end_late_ns));
	ret->answers.stamped += a->end_late_ns >= 0;
	for (size_t i = 0; i < ask->nlimits; i++) {
		const bool has = part_time(p->url, a, load_limit_part(&ask->limits[i]), &time);
		const bool over =
		    has && (!http_outcome_is_good(a->outcome) || time > ask->limits[i].ns);

		ret->over[i] += over;
		ret->answers.unknown[i] += !has;
		/* An answer of one token, or one that arrived at once, has no TPOT: no time passed
		 * after its first token, which meets every limit. */
		within &= has ? !over : a->has_usage;
	}
	ret->answers.within += within;
	outcome_count(a, &ret->answers);
	tokens_count(a, &ret->answers);
	ret->served++;
}

/* Percentiles of the gaps between chunks; each request is a cluster. */
static void gaps_estimate_all(const http_client *c, double level, load_answers *to)
{
	static const double p[] = {0.5, 0.9, 0.99};
	stat_start *clusters = mem_zalloc(c->n + 1, sizeof *clusters);
	double *scratch = NULL;
	size_t n = 0;

	for (size_t i = 0; clusters && i < c->n; i++)
		if (c->answers[i].ngaps > 0)
			clusters[n++] =
			    (stat_start){c->gaps + c->answers[i].gaps_at, c->answers[i].ngaps};
	if (n > 0)
		scratch = mem_zalloc(stat_starts_scratch(clusters, n), sizeof *scratch);
	for (size_t i = 0; i < sizeof p / sizeof *p; i++) {
		stat_estimate *e = &to->icl[i];

		if (!scratch) {
			snprintf(e->why, sizeof e->why, "no answer had two chunks");
			continue;
		}
		stat_starts_quantile(p[i], clusters, n, level, scratch, e);
		if (!e->has_interval)
			mem_print(e->why, sizeof e->why, "%zu requests are too few for p%g", n,
				  100 * p[i]);
		else
			snprintf(e->how, sizeof e->how,
				 "of the gaps of %zu requests, each a cluster", n);
		e->present = e->has_interval;
	}
	mem_free(scratch);
	mem_free(clusters);
}

static uint64_t answer_time(const http_answer *a, load_time which)
{
	const uint64_t at[LOAD_TIMES] = {[LOAD_STARTED] = a->begin_ns,
					 [LOAD_SENT] = a->sent_ns,
					 [LOAD_FIRST_BYTE] = a->first_byte_ns,
					 [LOAD_FIRST_EVENT] = a->first_event_ns,
					 [LOAD_FIRST_CONTENT] = a->first_content_ns,
					 [LOAD_END] = a->end_ns};

	return at[which];
}

static void times_take(const http_client *c, load_answers *to)
{
	double *x = mem_zalloc(2 * c->n + 1, sizeof *x);

	for (int k = 0; x && k < LOAD_TIMES; k++) {
		size_t n = 0;

		for (size_t i = 0; i < c->n; i++) {
			const http_answer *a = &c->answers[i];
			const uint64_t at = answer_time(a, (load_time)k);

			if (http_outcome_is_good(a->outcome) && at > 0)
				x[n++] = (double)(at - a->scheduled_ns);
		}
		to->time_ns[k] = n > 0 ? stat_median(x, n, x + c->n) : 0;
	}
	mem_free(x);
}

static load_part read_part(load_part part)
{
	return part == LOAD_TTFT ? LOAD_READ_FIRST : LOAD_READ_END;
}

double load_url_on_time(const load_pool *p, const load_samples *samples, load_part part, double q,
			double *ret_shift)
{
	const measure_samples *x = &samples->of[part], *late = &samples->of[LOAD_LAG];
	const measure_samples *read = &samples->of[read_part(part)];

	*ret_shift = 0;
	/* All have a sample of each request, and drop the same ones. */
	if ((part != LOAD_TTFT && part != LOAD_LATENCY) || x->n != late->n || x->n != read->n)
		return NAN;
	return load_client_on_time(q, x->value, late->value, read->value, x->n, p->scratch,
				   ret_shift);
}

/* A late or busy client, or one whose own time is most of the result, measures itself. */
static void client_judge(const load_pool *p, load_answers *to)
{
	const load_url *u = p->url;
	const load_part part = u->server.generates ? LOAD_TTFT : LOAD_LATENCY;
	const measure_samples *x = &p->samples.of[part];
	const double late = measure_samples_mean(&p->samples.of[LOAD_LAG]) +
			    measure_samples_mean(&p->samples.of[read_part(part)]);
	char *why = to->client_bound;
	double median, shift;

	if (p->url->server.client.limit.code != DCK_OK) {
		snprintf(why, sizeof to->client_bound,
			 "this machine has no more connections for it: %.90s (ulimit -n)",
			 p->url->server.client.limit.msg);
		return;
	}
	if (x->pushed == to->failed)
		return; /* nothing that it could limit */
	median = stat_median(x->value, x->n, p->scratch);
	load_url_on_time(p, &p->samples, part, 0.5, &shift);
	switch (load_client_judge(to->client_busy, late, shift, u->server.floor_ns, median)) {
	case CLIENT_FREE:
		break;
	case CLIENT_BUSY:
		snprintf(why, sizeof to->client_bound,
			 "the client was busy for %.0f %% of the time", 100 * to->client_busy);
		break;
	case CLIENT_LATE:
		mem_print(
		    why, sizeof to->client_bound,
		    "the client was %s late to start requests and read answers (mean), %.2g %% "
		    "of the median, %s",
		    UNITS_TIME(late), 100 * late / median, UNITS_TIME(median));
		break;
	case CLIENT_SHIFT:
		mem_print(why, sizeof to->client_bound,
			  "the client started requests and read answers late, which moved the "
			  "median by %.2g %%, to %s",
			  100 * shift, UNITS_TIME(median));
		break;
	case CLIENT_FLOOR:
		snprintf(why, sizeof to->client_bound,
			 "the client alone needs %s, and the median is %s",
			 UNITS_TIME(u->server.floor_ns), UNITS_TIME(median));
		break;
	}
}

static void answers_take(load_pool *p, const load_run_config *ask, load_result *ret)
{
	const http_client *c = &p->url->server.client;
	uint64_t done_ns = c->start_ns, last_ns = done_ns;

	for (int k = 0; k < LOAD_PARTS_ALL; k++)
		measure_samples_clear(&p->samples.of[k]);
	for (size_t i = 0; i < c->n; i++) {
		const http_answer *a = &c->answers[i];

		last_ns = a->scheduled_ns > last_ns ? a->scheduled_ns : last_ns;
		if (a->outcome == HTTP_CANCELLED) {
			ret->abandoned++;
			continue;
		}
		answer_take(p, ask, a, ret);
		p->url->usage_cached |= a->has_cached;
		done_ns = a->end_ns > done_ns ? a->end_ns : done_ns;
	}
	ret->arrived = ret->served + ret->abandoned;
	/* Failed requests have no end. */
	ret->done_ns = (double)(done_ns > c->start_ns ? done_ns - c->start_ns : c->wall_ns);
	ret->span_ns = (double)(last_ns - c->start_ns);
	ret->queue_max = c->in_flight_max;
	ret->answers.in_flight_max = c->in_flight_max;
	ret->answers.resent = c->resent;
	ret->answers.gaps_dropped = c->gaps_dropped;
	ret->answers.no_end = p->url->server.generates && !c->sends_end;
	ret->answers.full = ask->scenario != LOAD_SERVER && c->n == HTTP_ANSWERS_MAX;
	ret->answers.client_busy = 1 - (double)c->idle_ns / (double)c->wall_ns;
	snprintf(ret->answers.why, sizeof ret->answers.why, "%.199s", c->why.msg);
	times_take(c, &ret->answers);
	gaps_estimate_all(c, p->url->server.config->level, &ret->answers);
	client_judge(p, &ret->answers);
}

/* Returns the rate of answers of an overloaded server, by the requests that were answered, in the
 * order in which the client turned to them, so that its own delays do not count; 0: it is not one.
 * work: [3 c->n]. */
static double overload_find(const http_client *c, double *work)
{
	double *begin = work, *end = work + c->n;
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++) {
		const http_answer *a = &c->answers[i];

		if (!http_outcome_is_good(a->outcome))
			continue;
		begin[n] = (double)(a->begin_ns - c->start_ns);
		end[n++] = (double)(a->end_ns - c->start_ns);
	}
	return load_overload(begin, end, n, end + c->n);
}

/* Whether the queue grows as the load lasts. The client's own limit of requests in flight does not
 * show that of a server whose answers take long; a limit of the user does. */
static dck_status stability_judge(const http_client *c, bool own, load_result *r, dck_err *err)
{
	double *work;

	r->unstable = c->overrun;
	if (r->cancelled || (c->overrun && (!own || 2 * r->answers.failed > r->served)))
		return DCK_OK;
	work = mem_zalloc(3 * c->n, sizeof *work);
	DCK_NEED(work, err, "for the times of %zu requests", c->n);
	r->answers.overload_rate = overload_find(c, work);
	mem_free(work);
	r->unstable = c->overrun && r->answers.overload_rate > 0;
	r->answers.crowded = c->overrun && !r->unstable;
	return DCK_OK;
}

/* Returns how many requests will be in flight at once, about: twice the mean of an idle server. */
static size_t connections_needed(const load_url *u, const http_plan *plan)
{
	const double ns = plan->n > 0 && plan->due_ns ? plan->due_ns[plan->n - 1] : 0;

	if (!plan->due_ns)
		return plan->connections;
	return (size_t)fmin(READY_MOST,
			    READY_LEAST + 2 * (double)plan->n * u->server.probe_ns / fmax(1, ns));
}

/* Ends a measurement when the user or the search does. */
typedef struct run_end {
	const dck_observer *watch;
	uint64_t until_ns; /* 0: none */
	bool *given_up;
} run_end;

static bool run_is_over(void *self)
{
	const run_end *e = self;

	if (observer_cancelled(e->watch))
		return true;
	*e->given_up = e->until_ns > 0 && os_now_ns() >= e->until_ns;
	return *e->given_up;
}

dck_status load_url_run(load_pool *p, const load_run_config *ask, load_result *ret, dck_err *err)
{
	const bool server = ask->scenario == LOAD_SERVER;
	load_url *u = p->url;
	const bool asked = u->server.config->max_queue > 0;
	http_plan plan = {.time_ns = ask->time_ns,
			  .connections = server ? HTTP_IN_FLIGHT_MAX : p->n};
	load_result result = {0};
	run_end end = {p->watch, ask->until_ns, &result.answers.given_up};
	const dck_observer watch = {.self = &end, .cancelled = run_is_over};
	dck_status status;

	if (server && asked && ask->max_queue < plan.connections)
		plan.connections = (size_t)ask->max_queue;
	plan.n = ask->requests;
	if (server) {
		DCK_TRY(schedule_make(u, ask, &plan.n, err));
		if (plan.n == 0) {
			*ret = result;
			return DCK_OK;
		}
		plan.due_ns = u->due_ns;
	}
	u->pool = p;
	u->run = ask;
	u->server.client.ready = connections_needed(u, &plan);
	u->server.client.progress = url_progress;
	u->server.client.progress_self = u;
	u->server.client.watch = &watch;
	record_others_begin(&result.others, 0);
	os_usage_get(&result.before);
	status = http_client_run(&u->server.client, &plan, err);
	os_usage_get(&result.after);
	record_others_end(&result.others);
	u->server.client.progress = NULL;
	u->server.client.watch = p->watch;
	DCK_TRY(status);
	u->server.client.cancelled &= !result.answers.given_up;
	answers_take(p, ask, &result);
	result.cancelled = u->server.client.cancelled;
	if (server) {
		DCK_TRY(stability_judge(&u->server.client, !asked, &result, err));
		result.span_ns = load_run_span(ask, &result, result.span_ns);
		/* A stream that waits for an answer which never comes makes no request, and time
		 * passes. */
	} else if (result.answers.failed + result.abandoned > 0)
		result.span_ns = fmax(result.span_ns,
				      fmin((double)u->server.client.wall_ns, (double)ask->time_ns));
	*ret = result;
	return DCK_OK;
}
