/* load_run.c - one load test: streams that claim requests until none are left.
 *
 * Between the two clock readings of a run is only the call. Shared state is accessed once per
 * request, when it is claimed.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/load/load_run.h"
#include "study/load/load_url.h"
#include "base/err.h"
#include "base/observer.h"
#include <math.h>
#include <string.h>
#include <time.h>

#define CANCEL_POLL_NS 50000000u /* how often Ctrl-C is checked */
#define HEAD_NS	       1000000u	 /* from the start of the threads to the first arrival */
#define KEEP_MIN       64
#define WARM_RUNS      10
#define WARM_NS	       50000000u
#define COUNT_MOST     4096u
#define SPIN_NS	       120000u /* the kernel wakes a sleeper up to 50 us late, and needs time to do it */

typedef struct run_state run_state;

/* On separate cache lines, to avoid false sharing between streams. */
struct load_stream {
	_Alignas(128) load_pool *pool;
	run_state *run;
	dck_engine_context *context;
	size_t next_set;
	pthread_t thread;
	load_samples samples;
	uint64_t over[LOAD_LIMITS], last_done_ns, last_begin_ns, peak_rss_bytes;
	atomic_uint_fast64_t served; /* read by the progress display */
	dck_status failed;
	dck_err why;
};

/* State shared by the streams during a run. */
struct run_state {
	load_pool *pool;
	const load_run_config *ask;
	uint64_t start_ns;
	pthread_mutex_t lock;	/* of all below, up to `one` */
	pthread_cond_t changed; /* of the next three */
	size_t there, running;
	bool go;
	load_arrivals next, ahead; /* the next to claim; `ahead` has passed all that are due */
	double ahead_ns;
	bool ahead_any;
	uint64_t taken, arrived, uncounted, queue_max, queue_end;
	double last_arrival_ns;
	bool unstable;
	pthread_mutex_t one; /* held during a run, with `serial` */
	atomic_uint_fast64_t begun;
	atomic_uint busy;
};

static uint64_t load_now(const load_pool *p)
{
	return p->clock->now_ns(p->clock->self);
}

/* --- distribution of requests to streams */

/* Returns the expected number of requests that are due by `at_ns` and not counted yet. */
static uint64_t uncounted_of(const run_state *r, double at_ns)
{
	const load_run_config *a = r->ask;
	const double ns = fmin(at_ns, (double)a->time_ns) - r->ahead_ns;
	double n = r->ahead_any && !a->arrivals.trace ? fmax(0, ns / a->arrivals.gap_ns) : 0;

	if (a->requests > 0)
		n = fmin(n, (double)(a->requests - r->arrived));
	return (uint64_t)n;
}

/* Returns the number of requests that are due by `at_ns` and that no stream has taken yet. More may
 * come than can be counted, so a call, which holds the lock, counts at most COUNT_MOST. */
static uint64_t queue_length(run_state *r, double at_ns)
{
	const load_run_config *a = r->ask;

	for (unsigned n = 0;
	     n < COUNT_MOST && r->ahead_any && r->ahead_ns <= at_ns &&
	     r->ahead_ns < (double)a->time_ns && (a->requests == 0 || r->arrived < a->requests);
	     n++) {
		r->arrived++;
		r->last_arrival_ns = r->ahead_ns;
		r->ahead_any = load_arrivals_next(&r->ahead, &r->ahead_ns);
	}
	r->uncounted = uncounted_of(r, at_ns);
	return (r->arrived > r->taken ? r->arrived - r->taken : 0) + r->uncounted;
}

/* Claims the next request; the caller holds the lock. false: none is left. */
static bool arrival_take(run_state *r, uint64_t now_ns, double *ret_at_ns)
{
	const load_run_config *a = r->ask;
	const double since = now_ns > r->start_ns ? (double)(now_ns - r->start_ns) : 0;
	const uint64_t queue = queue_length(r, since);

	if (queue > r->queue_max)
		r->queue_max = queue;
	if (since <= (double)a->time_ns)
		r->queue_end = queue;
	if (queue > a->max_queue) {
		r->unstable = true;
		r->arrived += r->uncounted;
		if (r->uncounted > 0)
			r->last_arrival_ns = fmin(since, (double)a->time_ns);
		atomic_store(&r->pool->stop, true);
		return false;
	}
	if (a->requests > 0 && r->taken >= a->requests)
		return false;
	if (!load_arrivals_next(&r->next, ret_at_ns) || *ret_at_ns >= (double)a->time_ns)
		return false;
	r->taken++;
	return true;
}

/* In a closed loop a request starts when the previous run has ended. Each stream makes at least
 * one, however late its thread is scheduled. */
static bool turn_take(const load_stream *s, run_state *r, uint64_t now_ns)
{
	const load_run_config *a = r->ask;

	if (s->samples.of[LOAD_LATENCY].pushed > 0 && now_ns - r->start_ns >= a->time_ns)
		return false;
	return a->requests == 0 || atomic_fetch_add(&r->begun, 1) < a->requests;
}

/* --- waiting */

/* A stream may spin only on a processor that no run needs. */
static bool core_is_free(const run_state *r)
{
	return atomic_load(&r->busy) * r->pool->run_threads < r->pool->cpus;
}

/* Waits until the clock reads `until_ns`; false: the streams were stopped. */
static bool wait_until(run_state *r, uint64_t until_ns)
{
	load_pool *p = r->pool;

	for (;;) {
		const uint64_t t = load_now(p);
		uint64_t left, spin;

		if (t >= until_ns)
			return true;
		if (atomic_load_explicit(&p->stop, memory_order_relaxed))
			return false;
		left = until_ns - t;
		spin = p->pace.spin_ns > 0 && core_is_free(r) ? p->pace.spin_ns : 0;
		if (left <= spin)
			continue;
		left -= spin;
		p->pace.sleep_ns(p->pace.self, left < CANCEL_POLL_NS ? left : CANCEL_POLL_NS);
	}
}

static void sleep_really(void *self, uint64_t ns)
{
	(void)self;
	os_sleep_ns(ns, NULL, NULL);
}

/* --- a stream */

static void usage_add(load_stream *s)
{
	const dck_engine *e = s->pool->target->engine.ops;
	dck_usage u;

	if (!(e->caps & DCK_CAP_COMMAND) || engine_usage(e, s->context, &u, NULL) != DCK_OK)
		return;
	if (u.peak_rss_bytes > s->peak_rss_bytes)
		s->peak_rss_bytes = u.peak_rss_bytes;
}

/* at_ns: when it was due. `ready`: the stream was waiting for it. */
static void request_push(load_stream *s, const run_state *r, uint64_t at_ns, uint64_t begin,
			 uint64_t end, bool ready)
{
	const double wait = begin > at_ns ? (double)(begin - at_ns) : 0;
	const double latency = end > at_ns ? (double)(end - at_ns) : 0;
	const uint64_t at = at_ns - s->pool->origin_ns;

	measure_samples_push(&s->samples.of[LOAD_LATENCY], at, latency);
	measure_samples_push(&s->samples.of[LOAD_SERVICE], at, (double)(end - begin));
	for (size_t i = 0; i < r->ask->nlimits; i++)
		s->over[i] += latency > r->ask->limits[i].ns;
	if (r->ask->scenario != LOAD_SERVER)
		return;
	measure_samples_push(&s->samples.of[LOAD_WAIT], at, wait);
	if (ready)
		measure_samples_push(&s->samples.of[LOAD_LAG], at, wait);
}

/* One run, which with `serial` waits until no other stream runs. */
static dck_status load_run_once(load_stream *s, run_state *r, uint64_t *ret_begin,
				uint64_t *ret_end)
{
	const dck_engine *e = s->pool->target->engine.ops;
	dck_status status;
	dck_err why;

	engine_why_begin(&why);
	if (s->pool->serial)
		pthread_mutex_lock(&r->one);
	atomic_fetch_add(&r->busy, 1);
	*ret_begin = load_now(s->pool);
	status = e->run(s->context, &why);
	*ret_end = load_now(s->pool);
	atomic_fetch_sub(&r->busy, 1);
	if (s->pool->serial)
		pthread_mutex_unlock(&r->one);
	return engine_answer(e, "run", status, &why, &s->why);
}

static dck_status request_make(load_stream *s, run_state *r, uint64_t *at_ns, bool due, bool ready)
{
	uint64_t begin, end;

	DCK_TRY(load_run_once(s, r, &begin, &end));
	usage_add(s);
	s->last_begin_ns = begin;
	s->last_done_ns = end;
	request_push(s, r, due ? *at_ns : begin, begin, end, ready);
	atomic_fetch_add_explicit(&s->served, 1, memory_order_relaxed);
	return DCK_OK;
}

/* Claims the next request and waits for it; false: none is left. */
static bool request_next(load_stream *s, run_state *r, uint64_t *ret_at_ns, bool *ret_ready)
{
	double at;
	bool more;

	*ret_ready = false;
	if (atomic_load_explicit(&s->pool->stop, memory_order_relaxed))
		return false;
	if (r->ask->scenario != LOAD_SERVER)
		return turn_take(s, r, load_now(s->pool));
	pthread_mutex_lock(&r->lock);
	more = arrival_take(r, load_now(s->pool), &at);
	pthread_mutex_unlock(&r->lock);
	if (!more)
		return false;
	*ret_at_ns = r->start_ns + (uint64_t)at;
	*ret_ready = load_now(s->pool) < *ret_at_ns;
	return true;
}

static dck_status stream_serve(load_stream *s, run_state *r)
{
	const bool server = r->ask->scenario == LOAD_SERVER;
	const subject_target *t = s->pool->target;
	uint64_t at_ns = 0;
	bool ready;

	while (request_next(s, r, &at_ns, &ready)) {
		/* Inputs are bound before the wait, so that binding is not in the latency. */
		if (t->pool > 1)
			DCK_TRY(
			    subject_target_bind(t, s->context, t->inputs, &s->next_set, &s->why));
		if (server && !wait_until(r, at_ns))
			return DCK_OK;
		DCK_TRY(request_make(s, r, &at_ns, server, ready));
	}
	return DCK_OK;
}

/* The first run in a new thread is slower than later ones, and is not counted. */
static dck_status stream_settle(load_stream *s, run_state *r)
{
	uint64_t begin, end;

	return s->pool->target->engine.ops->caps & DCK_CAP_COMMAND
		   ? DCK_OK
		   : load_run_once(s, r, &begin, &end);
}

/* Barrier: waits until all streams are ready. */
static void stream_meet(run_state *r)
{
	pthread_mutex_lock(&r->lock);
	r->there++;
	pthread_cond_broadcast(&r->changed);
	while (!r->go)
		pthread_cond_wait(&r->changed, &r->lock);
	pthread_mutex_unlock(&r->lock);
}

static void *stream_main(void *arg)
{
	load_stream *s = arg;
	run_state *r = s->run;

	if (!s->pool->inline_only) {
		s->failed = stream_settle(s, r);
		stream_meet(r);
	}
	if (s->failed == DCK_OK)
		s->failed = stream_serve(s, r);
	if (s->failed != DCK_OK)
		atomic_store(&s->pool->stop, true);
	pthread_mutex_lock(&r->lock);
	r->running--;
	pthread_cond_broadcast(&r->changed);
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

/* --- the progress display */

static void load_show(load_pool *p, const run_state *r, uint64_t elapsed_ns)
{
	uint64_t served = 0;
	double ratio = (double)elapsed_ns / (double)r->ask->time_ns;

	if (!p->watch || !p->watch->progress)
		return;
	for (size_t i = 0; i < p->n; i++)
		served += atomic_load_explicit(&p->streams[i].served, memory_order_relaxed);
	if (r->ask->requests > 0)
		ratio = fmax(ratio, (double)served / (double)r->ask->requests);
	p->progress.runs = served;
	p->progress.elapsed_ns = elapsed_ns;
	p->progress.done_ratio = fmin(1, ratio);
	p->progress.eta_ns = ratio > 0 ? fmax(0, (double)elapsed_ns * (1 / ratio - 1)) : NAN;
	observer_show(p->watch, &p->progress);
}

/* Waits until all streams have ended. It reads the system's clock, because the given one belongs to
 * the streams alone. */
static bool look_on(load_pool *p, run_state *r)
{
	const uint64_t begin_ns = os_now_ns();
	bool stopped = false;

	pthread_mutex_lock(&r->lock);
	while (r->running > 0) {
		const uint64_t until = os_now_ns() + CANCEL_POLL_NS;
		const struct timespec t = {.tv_sec = (time_t)(until / 1000000000u),
					   .tv_nsec = (long)(until % 1000000000u)};

		pthread_cond_timedwait(&r->changed, &r->lock, &t);
		pthread_mutex_unlock(&r->lock);
		if (!stopped && observer_cancelled(p->watch)) {
			stopped = true;
			atomic_store(&p->stop, true);
		}
		load_show(p, r, os_now_ns() - begin_ns);
		pthread_mutex_lock(&r->lock);
	}
	pthread_mutex_unlock(&r->lock);
	return stopped;
}

/* --- all of them */

static void streams_reset(load_pool *p, run_state *r)
{
	for (size_t i = 0; i < p->n; i++) {
		load_stream *s = &p->streams[i];

		s->run = r;
		for (int k = 0; k < LOAD_PARTS; k++)
			measure_samples_clear(&s->samples.of[k]);
		s->last_done_ns = s->last_begin_ns = s->peak_rss_bytes = 0;
		memset(s->over, 0, sizeof s->over);
		atomic_store(&s->served, 0);
		s->failed = DCK_OK;
		s->why = (dck_err){0};
	}
	atomic_store(&p->stop, false);
}

/* Threads are made before any begins: making one takes longer than many a run. */
static dck_status streams_run(load_pool *p, run_state *r, load_result *ret, dck_err *err)
{
	size_t made = 0;

	for (; made < p->n; made++)
		if (pthread_create(&p->streams[made].thread, NULL, stream_main, &p->streams[made]))
			break;
	pthread_mutex_lock(&r->lock);
	while (r->there < made)
		pthread_cond_wait(&r->changed, &r->lock);
	if (made < p->n)
		atomic_store(&p->stop, true);
	r->start_ns = load_now(p) + (r->ask->scenario == LOAD_SERVER ? HEAD_NS : 0);
	r->running = made;
	r->go = true;
	pthread_cond_broadcast(&r->changed);
	pthread_mutex_unlock(&r->lock);
	ret->cancelled = look_on(p, r);
	for (size_t i = 0; i < made; i++)
		pthread_join(p->streams[i].thread, NULL);
	if (made < p->n)
		DCK_FAIL(err, E_NOMEM,
			 "cannot make a thread for stream %zu of %zu: give fewer --streams",
			 made + 1, p->n);
	return DCK_OK;
}

/* Streams are merged in the order of time. One that was thinned more often than others makes all
 * of them as thin: the samples stay evenly spread. */
static void load_merge(load_pool *p, load_part part)
{
	measure_samples *to = &p->samples.of[part];
	size_t at[LOAD_STREAMS] = {0};

	measure_samples_clear(to);
	for (size_t i = 0; i < p->n; i++) {
		const measure_samples *s = &p->streams[i].samples.of[part];

		to->stride = s->stride > to->stride ? s->stride : to->stride;
		to->pushed += s->pushed;
		to->sum += s->sum;
		to->min = fmin(to->min, s->min);
		to->max = fmax(to->max, s->max);
	}
	for (;;) {
		const measure_samples *best = NULL;
		size_t which = 0;

		for (size_t i = 0; i < p->n; i++) {
			const measure_samples *s = &p->streams[i].samples.of[part];

			if (at[i] < s->n && (!best || s->at_ns[at[i]] < best->at_ns[at[which]])) {
				best = s;
				which = i;
			}
		}
		if (!best || to->n == to->cap)
			break;
		to->value[to->n] = best->value[at[which]];
		to->at_ns[to->n] = best->at_ns[at[which]];
		to->n++;
		at[which] += (size_t)(to->stride / best->stride);
	}
}

static void result_sum(load_pool *p, const run_state *r, load_result *ret)
{
	uint64_t done = r->start_ns, begun = r->start_ns;

	for (size_t i = 0; i < p->n; i++) {
		const load_stream *s = &p->streams[i];

		ret->served += s->samples.of[LOAD_LATENCY].pushed;
		for (size_t k = 0; k < LOAD_LIMITS; k++)
			ret->over[k] += s->over[k];
		if (s->peak_rss_bytes > ret->peak_rss_bytes)
			ret->peak_rss_bytes = s->peak_rss_bytes;
		done = s->last_done_ns > done ? s->last_done_ns : done;
		begun = s->last_begin_ns > begun ? s->last_begin_ns : begun;
		if (s->failed != DCK_OK && ret->failed == DCK_OK) {
			ret->failed = s->failed;
			ret->why = s->why;
		}
	}
	ret->done_ns = (double)(done - r->start_ns);
	ret->span_ns = (double)(begun - r->start_ns);
}

double load_run_span(const load_run_config *ask, const load_result *r, double last_ns)
{
	const load_arrivals *a = &ask->arrivals;
	const double n = (double)r->arrived;

	if (a->trace || a->constant)
		return n > 1 && last_ns > 0 ? last_ns * n / (n - 1) : n * a->gap_ns;
	return r->unstable || r->answers.crowded || r->cancelled || r->failed != DCK_OK ||
		       ask->requests > 0
		   ? last_ns
		   : (double)ask->time_ns;
}

static void result_make(load_pool *p, run_state *r, load_result *ret)
{
	const bool server = r->ask->scenario == LOAD_SERVER;

	result_sum(p, r, ret);
	for (int k = 0; k < LOAD_PARTS; k++)
		load_merge(p, (load_part)k);
	if (!server) {
		ret->arrived = ret->served;
		return;
	}
	/* Streams that were stopped did not count what had arrived since they took their last, also
	 * while that ran: a run that hangs is often why it was stopped. */
	if (ret->cancelled || ret->failed != DCK_OK) {
		const double at_ns = fmax(ret->span_ns, ret->done_ns);

		queue_length(r, at_ns);
		r->arrived += r->uncounted;
		if (r->uncounted > 0)
			r->last_arrival_ns = fmin(at_ns, (double)r->ask->time_ns);
	}
	ret->arrived = r->arrived > ret->served ? r->arrived : ret->served;
	ret->queue_max = r->queue_max;
	ret->queue_end = r->queue_end;
	ret->abandoned = ret->arrived - ret->served;
	ret->unstable = r->unstable;
	ret->span_ns = load_run_span(r->ask, ret, r->last_arrival_ns);
	/* More work came than the streams can do, and it was still there when arrivals ended. */
	ret->unstable |= ret->served >= 20 && load_utilisation(p, ret) >= 1 &&
			 (double)ret->queue_end > fmax(10, 3.0 * (double)p->n);
}

dck_status load_run(load_pool *p, const load_run_config *ask, load_result *ret, dck_err *err)
{
	run_state r = {
	    .pool = p, .ask = ask, .next = ask->arrivals, .ahead = ask->arrivals, .running = p->n};
	pthread_condattr_t monotonic;
	dck_status status = DCK_OK;
	load_result result = {0};

	if (p->url)
		return load_url_run(p, ask, ret, err);
	atomic_init(&r.begun, 0);
	atomic_init(&r.busy, 0);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&r.changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	pthread_mutex_init(&r.lock, NULL);
	pthread_mutex_init(&r.one, NULL);
	record_others_begin(&result.others, 0);
	os_usage_get(&result.before);
	if (ask->scenario == LOAD_SERVER)
		r.ahead_any = load_arrivals_next(&r.ahead, &r.ahead_ns);
	streams_reset(p, &r);
	if (p->inline_only) {
		r.start_ns = load_now(p);
		stream_main(&p->streams[0]);
	} else {
		status = streams_run(p, &r, &result, err);
	}
	os_usage_get(&result.after);
	record_others_end(&result.others);
	if (status == DCK_OK)
		result_make(p, &r, &result);
	pthread_mutex_destroy(&r.one);
	pthread_mutex_destroy(&r.lock);
	pthread_cond_destroy(&r.changed);
	if (status == DCK_OK)
		*ret = result;
	return status;
}

const measure_samples *load_stream_latency(const load_pool *p, size_t i)
{
	return &p->streams[i].samples.of[LOAD_LATENCY];
}

double load_utilisation(const load_pool *p, const load_result *r)
{
	/* A stream that has to do with a request is busy with nothing else. */
	const double work = measure_samples_mean(&p->samples.of[LOAD_SERVICE]);

	return r->span_ns > 0 ? (double)r->arrived * work / r->span_ns / (double)p->n : NAN;
}

/* --- opening */

void load_samples_done(load_samples *s)
{
	for (int k = 0; k < LOAD_PARTS_ALL; k++)
		measure_samples_done(&s->of[k]);
}

dck_status load_samples_init(load_samples *s, size_t parts, size_t cap, bool hot, dck_err *err)
{
	for (size_t k = 0; k < parts; k++)
		DCK_TRY(measure_samples_init(&s->of[k], cap, hot, err));
	return DCK_OK;
}

/* Outputs are allocated and code is touched before anything counts. The first context has been
 * warmed up already. */
static dck_status stream_warm(load_stream *s, dck_err *err)
{
	const dck_engine *e = s->pool->target->engine.ops;
	const uint64_t begin_ns = os_now_ns();

	for (int i = 0; i < WARM_RUNS && (i == 0 || os_now_ns() - begin_ns < WARM_NS); i++) {
		if (observer_cancelled(s->pool->watch))
			DCK_FAIL(err, E_CANCEL, "interrupted");
		DCK_TRY(
		    subject_target_failed(s->pool->target, engine_run(e, s->context, err), err));
	}
	return DCK_OK;
}

static dck_status context_make(load_pool *p, size_t i, dck_err *err)
{
	const dck_engine *e = p->target->engine.ops;
	load_stream *s = &p->streams[i];
	dck_err why = {0};

	if (i == 0) {
		s->context = p->target->context;
		return DCK_OK;
	}
	if (engine_context_new(e, p->target->model, &s->context, &why) != DCK_OK) {
		s->context = NULL;
		DCK_FAIL(err, E_UNSUP,
			 "the engine '%s' makes no context for stream %zu: %s; give --streams %zu",
			 e->name, i + 1, why.msg, i);
	}
	s->next_set = i % p->target->pool;
	DCK_TRY(subject_target_bind(p->target, s->context, p->target->inputs, &s->next_set, err));
	return stream_warm(s, err);
}

static dck_status pool_fill(load_pool *p, size_t cap, dck_err *err)
{
	const bool hot = !(p->target->engine.ops->caps & DCK_CAP_COMMAND);
	const size_t each = cap / p->n > KEEP_MIN ? cap / p->n : KEEP_MIN;
	const size_t all = each * p->n;

	p->cap = each;
	for (size_t i = 0; i < p->n; i++) {
		load_stream *s = &p->streams[i];

		s->pool = p;
		DCK_TRY(load_samples_init(&s->samples, LOAD_PARTS, each, hot, err));
	}
	DCK_TRY(load_samples_init(&p->samples, LOAD_PARTS, all, false, err));
	p->scratch_n = stat_scratch(all) + all;
	p->scratch = os_pages_reserve(p->scratch_n * sizeof *p->scratch);
	DCK_NEED(p->scratch, err, "for the statistics of %zu samples", all);
	for (size_t i = 0; i < p->n; i++)
		DCK_TRY(context_make(p, i, err));
	return DCK_OK;
}

dck_status load_pool_open(load_pool *p, subject_target *t, const dck_clock *clock, size_t n,
			  size_t cap, dck_err *err)
{
	dck_status status;

	p->target = t;
	p->clock = clock;
	p->n = n;
	if (!p->pace.sleep_ns)
		p->pace = (load_timer){.sleep_ns = sleep_really, .spin_ns = SPIN_NS};
	p->streams = os_pages_reserve(n * sizeof *p->streams);
	DCK_NEED(p->streams, err, "for %zu streams", n);
	status = pool_fill(p, cap, err);
	if (status != DCK_OK)
		load_pool_close(p);
	return status;
}

void load_pool_close(load_pool *p)
{
	for (size_t i = 0; p->streams && i < p->n; i++) {
		load_stream *s = &p->streams[i];

		if (s->context && i > 0)
			p->target->engine.ops->context_free(s->context);
		load_samples_done(&s->samples);
	}
	os_pages_free(p->streams, p->n * sizeof *p->streams);
	load_samples_done(&p->samples);
	os_pages_free(p->scratch, p->scratch_n * sizeof *p->scratch);
	p->streams = NULL;
	p->scratch = NULL;
}
