/* test_load.c - arrival times, queues with known waits, limits and the search, on a clock that only
 * work and sleep advance, so that numbers are exact.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/err.h"
#include "study/load/load_run.h"
#include "fault_alloc.h"
#include "scratch.h"

static void assert_near(double v, double expected, double tolerance)
{
	if (!(fabs(v - expected) <= tolerance))
		fail_msg("%.17g is not %.17g", v, expected);
}

/* --- arrivals */

static void even_arrivals(void **state)
{
	load_arrivals a;
	double at;

	(void)state;
	load_arrivals_init(&a, 1000, true, NULL, 1);
	for (int i = 0; i < 100; i++) {
		assert_true(load_arrivals_next(&a, &at));
		assert_near(at, 1e6 * i, 0);
	}
}

/* Intervals are exponential: mean, spread, quantiles, and equal for an equal seed. */
static void random_arrivals(void **state)
{
	enum { N = 100000 };
	static const double quantiles[] = {0.1, 0.5, 0.9, 0.99};
	double *gap = malloc(N * sizeof *gap), last = 0, at, mean = 0, square = 0;
	load_arrivals a, again, other;

	(void)state;
	load_arrivals_init(&a, 200, false, NULL, 42);
	load_arrivals_init(&again, 200, false, NULL, 42);
	load_arrivals_init(&other, 200, false, NULL, 43);
	for (size_t i = 0; i < N; i++) {
		double same, different;

		assert_true(load_arrivals_next(&a, &at));
		load_arrivals_next(&again, &same);
		load_arrivals_next(&other, &different);
		assert_true(at == same && at != different && at > last);
		gap[i] = at - last;
		last = at;
		mean += gap[i] / N;
		square += gap[i] * gap[i] / N;
	}
	assert_near(mean, 5e6, 4 * 5e6 / sqrt(N));
	assert_near(sqrt(square - mean * mean), 5e6, 0.02 * 5e6);
	stat_sort(gap, N);
	for (size_t i = 0; i < 4; i++)
		assert_near(stat_quantile_sorted(gap, N, quantiles[i]),
			    -5e6 * log(1 - quantiles[i]), 0.03 * 5e6);
	free(gap);
}

static void traces(void **state)
{
	static const char *const good[] = {"0\n0.25\n1\n", "arrival,user\n10.0,a\n10.25,b\n11,c\n",
					   "# a trace\n0s\n250ms # x\n\n1s",
					   "\"1e3\"\r\n\"1000.25\"\r\n1001\r\n",
					   "at ms\n 0 ms , 7\n\" 250 ms\"\n1 s ;1"};
	load_trace t;
	load_arrivals a;
	dck_err err = {0};
	double at;

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
		const char *path = scratch_text("trace", good[i]);

		if (load_trace_read(path, &t, &err) != DCK_OK)
			fail_msg("%s", err.msg);
		assert_int_equal(t.n, 3);
		assert_near(t.at_ns[0], 0, 0);
		assert_near(t.at_ns[1], 0.25e9, 1);
		assert_near(t.at_ns[2], 1e9, 1);
		assert_near(t.rate_hz, 2, 1e-9);
		/* Twice as fast. */
		load_arrivals_init(&a, 4, false, &t, 1);
		load_arrivals_next(&a, &at);
		load_arrivals_next(&a, &at);
		assert_near(at, 0.125e9, 1);
		assert_true(load_arrivals_next(&a, &at));
		assert_false(load_arrivals_next(&a, &at));
		load_trace_done(&t);
	}
}

static void bad_traces(void **state)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
	    {"", "0 arrival times"},
	    {"1\n", "1 arrival time:"},
	    {"1\n1\n", "all the same"},
	    {"1\n2\nx\n", "line 3: 'x'"},
	    {"a\nb\n1\n", "line 2: 'b'"},
	    {"1\n3\n2\n", "line 3: arrival times must not fall"},
	    {"1\nnan\n", "line 2: 'nan'"},
	    {"1\n1e999\n", "line 2"},
	    {"0 128\n1 256\n", "line 1: '0 128'"},
	    {"0\n1 .5\n2\n", "line 2: '1 .5'"},
	    {"1\n\001\n", "line 2: '?'"},
	    {"0\n1\n1e300\n", "line 3: this time is 1e+300 s after"},
	};
	load_trace t;
	dck_err err;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		const char *path = scratch_text("trace", bad[i].text);

		assert_int_equal(load_trace_read(path, &t, &err), DCK_E_FORMAT);
		if (!strstr(err.msg, bad[i].says))
			fail_msg("'%s' lacks '%s'", err.msg, bad[i].says);
	}
	assert_int_equal(load_trace_read("/no/such/file", &t, &err), DCK_E_ABSENT);
}

/* --- a single-server queue, exactly */

typedef struct world {
	uint64_t ns, calls, service_ns, fail_at;
	dck_clock clock;
	load_pool pool;
	subject_target target;
} world;

static world *the_world; /* an engine's functions have no user pointer */

static uint64_t world_now(void *self)
{
	return ((world *)self)->ns;
}

static void world_sleep(void *self, uint64_t ns)
{
	((world *)self)->ns += ns;
}

static dck_status world_run(dck_engine_context *c, dck_err *err)
{
	(void)c;
	the_world->ns += the_world->service_ns;
	if (++the_world->calls == the_world->fail_at)
		DCK_FAIL(err, E_ENGINE, "as requested");
	return DCK_OK;
}

static dck_status one_context(dck_engine_model *m, dck_engine_context **ret, dck_err *err)
{
	(void)m;
	(void)ret;
	DCK_FAIL(err, E_ENGINE, "there is one already");
}

static void no_free(dck_engine_context *c)
{
	(void)c;
}

static const dck_engine engine = {.name = "world",
				  .caps = DCK_CAP_NO_TENSORS,
				  .context_new = one_context,
				  .context_free = no_free,
				  .run = world_run};

static void world_open(world *w, uint64_t service_ns)
{
	dck_err err;

	memset(w, 0, sizeof *w);
	the_world = w;
	w->ns = 1000;
	w->service_ns = service_ns;
	w->clock = (dck_clock){.name = "fake", .now_ns = world_now, .self = w};
	w->target.engine.ops = &engine;
	w->target.pool = 1;
	w->target.items = 1;
	w->pool.pace = (load_timer){.sleep_ns = world_sleep, .self = w};
	w->pool.inline_only = true;
	w->pool.cpus = w->pool.run_threads = 1;
	if (load_pool_open(&w->pool, &w->target, &w->clock, 1, 1 << 16, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	w->calls = 0;
}

static load_result world_run_ask(world *w, const load_run_config *a)
{
	load_result r = {0};
	dck_err err;

	if (load_run(&w->pool, a, &r, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	return r;
}

/* Lindley's recursion: each wait follows from the previous one. */
static void waits_are_exact(void **state)
{
	enum { N = 5000 };
	load_run_config a = {
	    .scenario = LOAD_SERVER, .time_ns = UINT64_MAX / 4, .requests = N, .max_queue = N};
	load_arrivals arrivals;
	load_result r;
	double at, free_at = 0, queue_most = 0;
	world w;
	const measure_samples *lag = &w.pool.samples.of[LOAD_LAG];

	(void)state;
	world_open(&w, 1000000);
	load_arrivals_init(&a.arrivals, 900, false, NULL, 5);
	arrivals = a.arrivals;
	r = world_run_ask(&w, &a);
	assert_int_equal(r.served, N);
	assert_int_equal(r.arrived, N);
	assert_int_equal(r.abandoned, 0);
	assert_false(r.unstable);
	assert_int_equal(w.pool.samples.of[LOAD_LATENCY].n, N);
	for (size_t i = 0; i < N; i++) {
		double begin;

		load_arrivals_next(&arrivals, &at);
		at = floor(at);
		begin = fmax(at, free_at);
		free_at = begin + 1e6;
		assert_near(w.pool.samples.of[LOAD_WAIT].value[i], begin - at, 0);
		assert_near(w.pool.samples.of[LOAD_LATENCY].value[i], begin - at + 1e6, 0);
		assert_near(w.pool.samples.of[LOAD_SERVICE].value[i], 1e6, 0);
		assert_near((double)w.pool.samples.of[LOAD_LATENCY].at_ns[i], at + 1000, 0);
		queue_most = fmax(queue_most, floor((begin - at) / 1e6));
	}
	assert_near(r.done_ns, free_at, 0);
	assert_true((double)r.queue_max >= queue_most);
	/* Requests that found the stream idle have no dispatch lag: this clock wakes on time. */
	assert_true(lag->pushed > 100 && lag->pushed < N / 2);
	assert_near(lag->sum, 0, 0);
	load_pool_close(&w.pool);
}

/* The mean wait of M/D/1: u / (2 (1 - u)) service times (Pollaczek and Khinchine). */
static void waits_are_those_of_theory(void **state)
{
	static const double utilisations[] = {0.3, 0.6, 0.9};
	enum { N = 60000 };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		const double u = utilisations[i], theory = u / (2 * (1 - u)) * 1e6;
		load_run_config a = {.scenario = LOAD_SERVER,
				     .time_ns = UINT64_MAX / 4,
				     .requests = N,
				     .max_queue = N};
		load_result r;
		world w;

		world_open(&w, 1000000);
		load_arrivals_init(&a.arrivals, 1000 * u, false, NULL, 1);
		r = world_run_ask(&w, &a);
		assert_near(measure_samples_mean(&w.pool.samples.of[LOAD_WAIT]), theory,
			    (u > 0.8 ? 0.15 : 0.04) * theory);
		assert_near(load_utilisation(&w.pool, &r), u, 0.02 * u);
		load_pool_close(&w.pool);
	}
}

static void overload_is_seen(void **state)
{
	load_run_config a = {.scenario = LOAD_SERVER, .time_ns = 10000000000u, .max_queue = 100};
	load_result r;
	world w;

	(void)state;
	world_open(&w, 1000000);
	/* 2000 per second, of which 1000 are served: 100 are queued after 100 ms. */
	load_arrivals_init(&a.arrivals, 2000, true, NULL, 1);
	r = world_run_ask(&w, &a);
	assert_true(r.unstable);
	assert_true(r.served >= 98 && r.served <= 104);
	assert_int_equal(r.queue_max, 101);
	assert_int_equal(r.abandoned, r.arrived - r.served);
	assert_near(load_utilisation(&w.pool, &r), 2, 0.05);
	/* Slightly too many, but the queue is not full when arrivals end: all are served. */
	a.max_queue = 100000;
	load_arrivals_init(&a.arrivals, 1050, true, NULL, 1);
	r = world_run_ask(&w, &a);
	assert_true(r.unstable);
	assert_int_equal(r.abandoned, 0);
	assert_int_equal(r.served, 10500);
	assert_true(r.queue_end > 490 && r.queue_end < 510);
	/* Slightly less than the capacity. */
	load_arrivals_init(&a.arrivals, 990, true, NULL, 1);
	r = world_run_ask(&w, &a);
	assert_false(r.unstable);
	load_pool_close(&w.pool);
}

/* More arrive than a claim counts: the rest is estimated, here exactly. */
static void a_far_higher_rate_is_unstable_at_once(void **state)
{
	load_run_config a = {
	    .scenario = LOAD_SERVER, .time_ns = 10000000000u, .max_queue = 1000000};
	load_result r;
	world w;

	(void)state;
	world_open(&w, 1000000);
	load_arrivals_init(&a.arrivals, 1e8, true, NULL, 1);
	r = world_run_ask(&w, &a);
	assert_true(r.unstable);
	assert_true(r.served >= 10 && r.served <= 12);
	assert_true(r.queue_max > 1000000 && r.queue_max < 1200000);
	assert_int_equal(r.arrived, r.queue_max + r.served);
	assert_near((double)r.arrived * 1e9 / r.span_ns, 1e8, 1e6);
	load_pool_close(&w.pool);
}

static void time_and_requests_end_it(void **state)
{
	load_run_config a = {.scenario = LOAD_SERVER, .time_ns = 1000000000u, .max_queue = 1000};
	load_result r;
	world w;

	(void)state;
	world_open(&w, 1000);
	load_arrivals_init(&a.arrivals, 100, true, NULL, 1);
	r = world_run_ask(&w, &a);
	assert_int_equal(r.served, 100); /* at 0, 10, ..., 990 ms */
	assert_near(r.span_ns, 1e9, 0);
	a.requests = 7;
	r = world_run_ask(&w, &a);
	assert_int_equal(r.served, 7);
	assert_near(r.span_ns, 70e6, 0); /* 7 arrivals have 6 gaps */
	a.requests = 1;
	r = world_run_ask(&w, &a);
	assert_near(r.span_ns, 10e6, 0);
	/* Closed loop: as many requests as fit. */
	a = (load_run_config){.scenario = LOAD_SINGLE, .time_ns = 1000000};
	r = world_run_ask(&w, &a);
	assert_int_equal(r.served, 1000);
	a.requests = 10;
	r = world_run_ask(&w, &a);
	assert_int_equal(r.served, 10);
	assert_near(w.pool.samples.of[LOAD_LATENCY].value[3], 1000, 0);
	load_pool_close(&w.pool);
}

static void limits_are_counted(void **state)
{
	latency_limit limits[] = {{.p = 0.9, .ns = 999},	   {.p = 0.9, .ns = 1000},
				  {.kind = LIMIT_MEAN, .ns = 999}, {.kind = LIMIT_MEAN, .ns = 1001},
				  {.kind = LIMIT_MAX, .ns = 999},  {.kind = LIMIT_MAX, .ns = 1000}};
	static const dck_verdict verdicts[] = {DCK_VERDICT_VIOLATED, DCK_VERDICT_MET,
					       DCK_VERDICT_VIOLATED, DCK_VERDICT_MET,
					       DCK_VERDICT_VIOLATED, DCK_VERDICT_INCONCLUSIVE};
	enum { N = sizeof limits / sizeof limits[0] };
	load_run_config a = {
	    .scenario = LOAD_SINGLE, .time_ns = 1000000, .limits = limits, .nlimits = N};
	limit_stats seen[N] = {{0}};
	stat_limit l;
	load_result r;
	world w;

	(void)state;
	world_open(&w, 1000);
	r = world_run_ask(&w, &a);
	assert_int_equal(r.over[0], 1000);
	assert_int_equal(r.over[1], 0); /* a latency equal to the limit meets it */
	for (size_t i = 0; i < N; i++) {
		limit_stats_add(&w.pool, &r, i, &limits[i], 0.99, &seen[i]);
		limit_test(&seen[i], &limits[i], 0.99, &l);
		assert_int_equal(l.verdict, verdicts[i]);
	}
	/* Added twice: the same means, and twice the number of requests. */
	limit_stats_add(&w.pool, &r, 3, &limits[3], 0.99, &seen[3]);
	assert_int_equal(seen[3].n, 2000);
	assert_near(seen[3].sum, 2000 * 1000.0, 1e-6);
	load_pool_close(&w.pool);
}

static void failure_keeps_what_was_measured(void **state)
{
	load_run_config a = {.scenario = LOAD_SERVER, .time_ns = 1000000000u, .max_queue = 1000};
	load_result r;
	world w;

	(void)state;
	world_open(&w, 1000);
	w.fail_at = 50;
	load_arrivals_init(&a.arrivals, 100, true, NULL, 1);
	r = world_run_ask(&w, &a);
	assert_int_equal(r.served, 49);
	assert_int_equal(r.failed, DCK_E_ENGINE);
	assert_non_null(strstr(r.why.msg, "as requested"));
	assert_int_equal(w.pool.samples.of[LOAD_LATENCY].n, 49);
	load_pool_close(&w.pool);
}

static void one_context_only(void **state)
{
	world w;
	dck_err err;

	(void)state;
	world_open(&w, 1000);
	load_pool_close(&w.pool);
	w.pool = (load_pool){.inline_only = true};
	assert_int_equal(load_pool_open(&w.pool, &w.target, &w.clock, 2, 1024, &err), DCK_E_UNSUP);
	assert_non_null(strstr(err.msg, "no context for stream 2"));
	assert_non_null(strstr(err.msg, "there is one already"));
	assert_non_null(strstr(err.msg, "--streams 1"));
}

/* --- the search */

/* A queue whose limit is met below 100 and violated above; inconclusive within `open` of 100. */
static dck_verdict judge(double rate, double open)
{
	if (open > 0 && fabs(rate - 100) <= open)
		return DCK_VERDICT_INCONCLUSIVE;
	return rate <= 100 ? DCK_VERDICT_MET : DCK_VERDICT_VIOLATED;
}

static load_peak search(double start, double open, double precision)
{
	load_peak p;
	double rate;

	load_peak_init(&p, start, precision);
	while (load_peak_next(&p, &rate)) {
		/* No decided rate is tried again. */
		assert_true(rate >= p.held && rate <= p.broken);
		load_peak_take(&p, rate, judge(rate, open), rate > 100);
	}
	return p;
}

static void search_brackets(void **state)
{
	static const double starts[] = {2, 10, 60, 100, 300, 3000};

	(void)state;
	for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
		load_peak p = search(starts[i], 0, 0.05);

		assert_true(p.held <= 100 && p.broken >= 100);
		assert_true(p.broken / p.held <= 1.05);
		assert_true(p.points < 20);
		p = search(starts[i], 5, 0.05);
		assert_true(p.held < 95 && p.held >= 95 / 1.06);
		assert_true(p.broken > 105 && p.broken <= 105 * 1.06);
		assert_true(p.open_lo >= 95 && p.open_hi <= 105);
	}
}

/* Noise: a low rate is inconclusive, and higher ones meet the limit. */
static void search_goes_on_past_noise(void **state)
{
	load_peak p;
	double rate;

	(void)state;
	load_peak_init(&p, 5, 0.05);
	while (load_peak_next(&p, &rate)) {
		load_peak_take(&p, rate, rate < 6 ? DCK_VERDICT_INCONCLUSIVE : judge(rate, 5),
			       rate > 100);
	}
	assert_true(p.held < 95 && p.held >= 95 / 1.06);
	assert_true(p.broken > 105 && p.broken <= 105 * 1.06);
	assert_true(p.points < 20);
}

/* Bursts of another process: the third measurement has a wrong verdict, whatever the rate. The
 * final result was confirmed twice. */
static void search_looks_twice(void **state)
{
	static const dck_verdict wrong[] = {DCK_VERDICT_VIOLATED, DCK_VERDICT_MET};

	(void)state;
	for (size_t w = 0; w < 2; w++)
		for (unsigned when = 1; when < 12; when++) {
			load_peak p;
			double rate;
			unsigned n = 0;

			load_peak_init(&p, 10, 0.05);
			while (load_peak_next(&p, &rate))
				load_peak_take(&p, rate, ++n == when ? wrong[w] : judge(rate, 0),
					       rate > 100);
			if (p.held > 100 || p.broken < 100)
				fail_msg("%g to %g after measurement %u", p.held, p.broken, when);
			assert_true(p.taken < 30);
		}
}

static void search_gives_up(void **state)
{
	load_peak p;
	double rate, least = INFINITY;

	(void)state;
	load_peak_init(&p, 10, 0.05);
	while (load_peak_next(&p, &rate)) {
		least = fmin(least, rate);
		load_peak_take(&p, rate, DCK_VERDICT_VIOLATED, true);
	}
	assert_true(p.held == 0 && p.broken == least && p.points == 7);
	load_peak_init(&p, 10, 0.05);
	while (load_peak_next(&p, &rate))
		load_peak_take(&p, rate, DCK_VERDICT_MET, false);
	assert_true(p.held > 1000 && isinf(p.broken) && p.points < 20);
	load_peak_init(&p, 10, 0.05);
	while (load_peak_next(&p, &rate))
		load_peak_take(&p, rate, DCK_VERDICT_INCONCLUSIVE, false);
	assert_true(p.held == 0 && isinf(p.broken) && p.points <= 40);
}

/* --- no memory */

static int nothing(void *arg)
{
	(void)arg;
	return 0;
}

/* Each allocation in turn fails: a message, and no leak. A closed loop, an open one with a trace, a
 * search. */
static void no_memory(void **state)
{
	const char *trace = scratch_text("trace", "0\n0.001\n0.002\n");

	(void)state;
	for (int kind = 0; kind < 3; kind++)
		for (size_t n = 1;; n++) {
			dck_subject s;
			dck_load_config c;
			dck_record *r = NULL;
			dck_err err = {0};
			fault_alloc f;
			dck_status status;

			dck_subject_init(&s);
			s.function = nothing;
			dck_load_config_init(&c);
			c.warmup = "1";
			c.requests = 5;
			c.time_ns = 1000000;
			c.keep = 64;
			c.trace = kind == 1 ? trace : NULL;
			c.find_peak = kind == 2;
			/* A rate that was estimated from one run may be too low to be decided. */
			c.rate_hz = kind == 2 ? 1e6 : 0;
			c.slo.item[c.slo.n++] = "median<=1s";
			c.max_time_ns = 3000000;
			fault_alloc_begin(&f, n);
			status = dck_load(&s, &c, NULL, &r, &err);
			if (status == DCK_OK)
				dck_record_free(r);
			else
				assert_true(err.msg[0] != '\0');
			dck_set_allocator(NULL);
			assert_int_equal(f.out, 0);
			if (f.calls < n) {
				assert_int_equal(status, DCK_OK);
				break;
			}
			if (status != DCK_OK)
				assert_int_equal(status, DCK_E_NOMEM);
		}
}

int test_load(void);
int test_load(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(even_arrivals),
	    cmocka_unit_test(random_arrivals),
	    cmocka_unit_test(traces),
	    cmocka_unit_test(bad_traces),
	    cmocka_unit_test(waits_are_exact),
	    cmocka_unit_test(waits_are_those_of_theory),
	    cmocka_unit_test(overload_is_seen),
	    cmocka_unit_test(a_far_higher_rate_is_unstable_at_once),
	    cmocka_unit_test(time_and_requests_end_it),
	    cmocka_unit_test(limits_are_counted),
	    cmocka_unit_test(failure_keeps_what_was_measured),
	    cmocka_unit_test(one_context_only),
	    cmocka_unit_test(search_brackets),
	    cmocka_unit_test(search_goes_on_past_noise),
	    cmocka_unit_test(search_looks_twice),
	    cmocka_unit_test(search_gives_up),
	    cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests_name("load", tests, scratch_begin, scratch_end);
}
