/* test_load_threads.c - streams in separate threads, through the public interface. Meant for
 * ThreadSanitizer too.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "deepclock/load.h"

/* Counters of a function that several threads call. */
typedef struct work {
	atomic_int calls, inside, most_inside, fail_at, cancel_at, hang_at;
	int sleep_us, slower_ns; /* slower: each call than the one before */
	dck_subject subject;
	dck_load_config config;
	dck_observer watch;
} work;

static int work_do(void *arg)
{
	work *w = arg;
	int inside = atomic_fetch_add(&w->inside, 1) + 1, most = atomic_load(&w->most_inside);
	int call = atomic_fetch_add(&w->calls, 1) + 1;
	const struct timespec t = {.tv_nsec = 1000L * w->sleep_us + (long)call * w->slower_ns};

	while (inside > most && !atomic_compare_exchange_weak(&w->most_inside, &most, inside))
		;
	if (w->sleep_us > 0)
		nanosleep(&t, NULL);
	if (call == atomic_load(&w->hang_at))
		nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
	atomic_fetch_sub(&w->inside, 1);
	return call == atomic_load(&w->fail_at) ? 3 : 0;
}

static bool work_cancelled(void *self)
{
	work *w = self;
	const int at = atomic_load(&w->cancel_at);

	return at > 0 && atomic_load(&w->calls) >= at;
}

static void work_init(work *w, int sleep_us)
{
	memset(w, 0, sizeof *w);
	w->sleep_us = sleep_us;
	dck_subject_init(&w->subject);
	w->subject.function = work_do;
	w->subject.arg = w;
	dck_load_config_init(&w->config);
	w->config.warmup = "2";
	w->config.time_ns = 200000000u;
	w->watch = (dck_observer){.self = w, .cancelled = work_cancelled};
}

/* Configures this number of requests, however long they take. */
static void work_ask(work *w, uint64_t requests)
{
	w->config.requests = requests;
	w->config.time_ns = UINT64_C(60000000000);
}

static dck_record *work_load(work *w)
{
	dck_record *r = NULL;
	dck_err err = {0};

	if (dck_load(&w->subject, &w->config, &w->watch, &r, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	return r;
}

static const char *fact_text(const dck_record *r, const char *section, const char *key)
{
	const dck_fact *f = dck_record_fact(r, section, key);

	assert_non_null(f);
	assert_int_equal(f->value.kind, DCK_VALUE_TEXT);
	return f->value.as.text;
}

static void one_stream(void **state)
{
	dck_record *r;
	work w;

	(void)state;
	work_init(&w, 1000);
	work_ask(&w, 50);
	r = work_load(&w);
	assert_string_equal(fact_text(r, "load", "scenario"), "single");
	assert_int_equal(w.most_inside, 1);
	assert_int_equal(w.calls, 50 + 2 + 1); /* warm-up, and one run in the stream's thread */
	assert_true(dck_record_value(r, "runs/count") == 50);
	assert_true(dck_record_value(r, "latency/min") >= 1e6);
	assert_non_null(dck_record_note(r, "coordinated-omission"));
	assert_int_equal(dck_record_series(r, "latency")->n, 50);
	assert_int_equal(dck_record_gate(r), 0);
	dck_record_free(r);
}

static void streams_at_once(void **state)
{
	dck_record *r;
	work w;

	(void)state;
	work_init(&w, 2000);
	w.config.streams = 4;
	work_ask(&w, 200);
	r = work_load(&w);
	assert_string_equal(fact_text(r, "load", "scenario"), "multi");
	assert_int_equal(w.most_inside, 4);
	assert_true(dck_record_value(r, "runs/count") == 200);
	/* Little's law: rate times latency is the number of requests in service at one time. */
	assert_true(dck_record_value(r, "throughput/items") * dck_record_value(r, "latency/mean") >
		    2.5e9);
	assert_int_equal(dck_record_table(r, "load/summary")->nrows, 4);
	for (size_t i = 1; i < 200; i++)
		assert_true(dck_record_series(r, "latency")->at_ns[i] >=
			    dck_record_series(r, "latency")->at_ns[i - 1]);
	dck_record_free(r);
}

/* Many more streams than processors: they all contend for the sample store. */
static void many_streams_at_once(void **state)
{
	dck_record *r;
	work w;

	(void)state;
	work_init(&w, 1000);
	w.config.streams = 64;
	work_ask(&w, 640);
	r = work_load(&w);
	assert_true(w.most_inside > 4);
	assert_true(dck_record_value(r, "runs/count") == 640);
	assert_int_equal(dck_record_table(r, "load/summary")->nrows, 64);
	for (size_t i = 1; i < 640; i++)
		assert_true(dck_record_series(r, "latency")->at_ns[i] >=
			    dck_record_series(r, "latency")->at_ns[i - 1]);
	dck_record_free(r);
}

static void streams_that_may_not_overlap(void **state)
{
	dck_record *r;
	work w;

	(void)state;
	work_init(&w, 300);
	w.config.streams = 4;
	w.config.serial = true;
	work_ask(&w, 100);
	r = work_load(&w);
	assert_int_equal(w.most_inside, 1);
	assert_true(dck_record_value(r, "throughput/items") * dck_record_value(r, "latency/mean") <
		    1.1e9);
	assert_true(dck_record_value(r, "runs/count") == 100);
	dck_record_free(r);
}

static void all_at_once(void **state)
{
	dck_record *r;
	work w;

	(void)state;
	work_init(&w, 500);
	w.config.scenario = 3; /* offline */
	w.config.streams = 2;
	work_ask(&w, 100);
	r = work_load(&w);
	assert_true(dck_record_value(r, "runs/count") == 100);
	assert_null(dck_record_note(r, "coordinated-omission"));
	assert_true(dck_record_value(r, "throughput/items") > 0);
	dck_record_free(r);
}

static void arrivals_by_themselves(void **state)
{
	const dck_table *t;
	const dck_series *latency, *wait;
	dck_record *r;
	work w;

	(void)state;
	work_init(&w, 1000);
	w.config.rate_hz = 500;
	w.config.streams = 3;
	w.config.time_ns = 400000000u;
	r = work_load(&w);
	assert_string_equal(fact_text(r, "load", "scenario"), "server");
	assert_true(dck_record_value(r, "runs/count") >= 10); /* of 200 */
	t = dck_record_table(r, "load/summary");
	assert_non_null(t);
	assert_int_equal(t->nrows, 4);
	latency = dck_record_series(r, "latency");
	wait = dck_record_series(r, "wait");
	assert_int_equal(latency->n, wait->n);
	for (size_t i = 0; i < latency->n; i++) {
		/* The wait is part of the latency, and both have the same start time. */
		assert_true(latency->values[i] >= wait->values[i] + 1e6);
		assert_true(latency->at_ns[i] == wait->at_ns[i]);
	}
	assert_true(dck_record_value(r, "load/dispatch_lag_mean") >= 0);
	dck_record_free(r);
}

static void too_much(void **state)
{
	dck_record *r;
	work w;

	(void)state;
	work_init(&w, 2000);
	w.config.rate_hz = 5000;
	w.config.max_queue = 50;
	w.config.time_ns = 20000000000u; /* stops long before */
	w.config.slo.item[w.config.slo.n++] = "p90<=1s";
	r = work_load(&w);
	assert_false(r->incomplete);
	assert_non_null(dck_record_note(r, "unstable"));
	assert_non_null(dck_record_note(r, "slo-violated"));
	assert_int_equal(dck_record_gate(r), 3);
	assert_true(dck_record_value(r, "load/queue_max") > 50);
	assert_true(dck_record_value(r, "load/abandoned") >= 50);
	dck_record_free(r);
}

/* Tests with an exact clock cover met limits: here a busy machine may give no verdict. */
static void limit_verdicts(void **state)
{
	const char *verdict;
	dck_record *r;
	work w;

	(void)state;
	work_init(&w, 200);
	w.config.time_ns = 0;
	work_ask(&w, 3000);
	w.config.slo.item[w.config.slo.n++] = "p90<=100us"; /* each takes at least 200 us */
	w.config.slo.item[w.config.slo.n++] = "median<=20s";
	w.config.slo.item[w.config.slo.n++] = "p99.9<=20s"; /* it needs 6636 requests */
	r = work_load(&w);
	assert_string_equal(fact_text(r, "load", "verdict/p90<=100us"), "violated");
	assert_string_equal(fact_text(r, "load", "verdict/p99.9<=20s"), "inconclusive");
	assert_string_equal(fact_text(r, "load", "verdict"), "violated");
	assert_int_equal(dck_record_gate(r), 3);
	dck_record_free(r);
	w.config.slo.item[0] = "p90<=20s";
	r = work_load(&w);
	assert_int_equal(dck_record_gate(r), 4);
	assert_non_null(dck_record_note(r, "slo-inconclusive"));
	dck_record_free(r);
	w.config.slo.item[0] = "median<=20s";
	w.config.slo.n = 1;
	r = work_load(&w);
	verdict = fact_text(r, "load", "verdict");
	assert_int_equal(dck_record_gate(r), strcmp(verdict, "met") == 0 ? 0 : 4);
	assert_string_not_equal(verdict, "violated");
	dck_record_free(r);
}

static void failure_in_the_middle(void **state)
{
	dck_record *r;
	work w;

	(void)state;
	work_init(&w, 200);
	w.config.streams = 2;
	work_ask(&w, 1000);
	w.fail_at = 60;
	r = work_load(&w);
	assert_true(r->incomplete);
	assert_non_null(
	    strstr(dck_record_note(r, "engine-failed")->text, "the function returned 3"));
	assert_true(dck_record_value(r, "runs/count") >= 20);
	dck_record_free(r);
}

static void failure_before_anything(void **state)
{
	dck_record *r = NULL;
	dck_err err = {0};
	work w;

	(void)state;
	work_init(&w, 0);
	w.fail_at = 1;
	assert_int_equal(dck_load(&w.subject, &w.config, NULL, &r, &err), DCK_E_ENGINE);
	w.calls = 0;
	w.fail_at = 3; /* the stream's first run, before any request */
	assert_int_equal(dck_load(&w.subject, &w.config, NULL, &r, &err), DCK_E_ENGINE);
	assert_null(r);
}

static void interruption(void **state)
{
	static const int scenarios[] = {1, 4};
	dck_record *r;
	work w;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		work_init(&w, 1000);
		w.config.scenario = scenarios[i];
		w.config.rate_hz = scenarios[i] == 4 ? 200 : 0;
		w.config.time_ns = 60000000000u;
		w.cancel_at = 30;
		r = work_load(&w);
		assert_true(r->incomplete);
		assert_non_null(dck_record_note(r, "interrupted"));
		assert_true(dck_record_value(r, "runs/count") >= 20);
		dck_record_free(r);
	}
}

/* A run hangs until it is interrupted: the requests that were due meanwhile count against the
 * limit, however fast those before were. */
static void interruption_of_a_run_that_hangs(void **state)
{
	dck_record *r;
	work w;

	(void)state;
	work_init(&w, 100);
	w.config.rate_hz = 1000;
	w.config.time_ns = 60000000000u;
	w.config.slo.item[w.config.slo.n++] = "median<=900ms";
	w.hang_at = w.cancel_at = 300;
	r = work_load(&w);
	assert_true(r->incomplete);
	assert_true(dck_record_value(r, "load/abandoned") >= 500);
	assert_string_not_equal(fact_text(r, "load", "verdict"), "met");
	dck_record_free(r);
}

/* The limit is met at low rates and is violated when arrivals exceed the capacity. */
static void peak(void **state)
{
	const dck_metric *m;
	const dck_table *t;
	dck_record *r;
	work w;

	(void)state;
	work_init(&w, 1000);
	w.config.find_peak = true;
	w.config.time_ns = 300000000u;
	w.config.precision = 0.5;
	w.config.confidence = 0.9;
	w.config.max_time_ns = 20000000000u;
	w.config.slo.item[w.config.slo.n++] = "median<=200ms";
	r = work_load(&w);
	t = dck_record_table(r, "load/steps");
	assert_non_null(t);
	assert_true(t->nrows >= 2);
	m = dck_record_metric(r, "load/peak_rate");
	assert_non_null(m);
	if (m->value.kind == DCK_VALUE_REAL) {
		assert_true(m->value.as.r < 1000); /* the capacity of one stream */
		assert_int_equal(dck_record_gate(r), 0);
	}
	dck_record_free(r);
}

static void nothing_holds(void **state)
{
	dck_record *r;
	work w;

	(void)state;
	work_init(&w, 1000);
	w.config.find_peak = true;
	w.config.time_ns = 60000000000u; /* per rate, and none is tried; less is refused where
					    requests take long */
	w.config.slo.item[w.config.slo.n++] = "p90<=100us";
	r = work_load(&w);
	assert_int_equal(dck_record_gate(r), 3);
	assert_non_null(
	    strstr(dck_record_note(r, "slo-not-met")->text, "no rate meets p90<=100us"));
	assert_int_equal(dck_record_metric(r, "load/peak_rate")->value.kind, DCK_VALUE_ABSENT);
	assert_true(dck_record_value(r, "runs/count") > 10); /* the measured runs stay */
	dck_record_free(r);
}

/* While requests become slower they are worth less than two independent ones, which it takes to
 * show that p90 is above the limit: without load that is measured again, and no rate is tried. */
static void nothing_holds_while_it_slows(void **state)
{
	dck_record *r;
	work w;

	(void)state;
	work_init(&w, 1000);
	w.slower_ns = 4000;
	w.config.find_peak = true;
	w.config.time_ns = 30000000000u;
	w.config.slo.item[w.config.slo.n++] = "p90<=100us";
	r = work_load(&w);
	assert_int_equal(dck_record_gate(r), 3);
	assert_non_null(strstr(dck_record_note(r, "slo-not-met")->text, "unloaded"));
	assert_int_equal(dck_record_table(r, "load/limits")->nrows, 1);
	assert_true(dck_record_value(r, "runs/count") > 10);
	dck_record_free(r);
}

/* Few samples are stored, all runs are counted. */
static void samples_are_bounded(void **state)
{
	dck_record *r;
	work w;

	(void)state;
	work_init(&w, 0);
	w.config.streams = 2;
	w.config.keep = 256;
	work_ask(&w, 20000);
	w.config.time_ns = 0;
	r = work_load(&w);
	assert_true(dck_record_value(r, "runs/count") == 20000);
	assert_true(dck_record_series(r, "latency")->n <= 256);
	assert_true(dck_record_series(r, "latency")->n >= 64);
	assert_non_null(dck_record_note(r, "thinned"));
	/* The warm-up groups runs that are short relative to the clock; requests are never
	 * grouped. */
	assert_null(dck_record_note(r, "grouped"));
	assert_non_null(dck_record_note(r, "timer-coarse"));
	dck_record_free(r);
}

static void refused(void **state)
{
	dck_record *r = NULL;
	dck_err err;
	work w;

	(void)state;
	work_init(&w, 0);
	w.config.streams = 0;
	assert_int_equal(dck_load(&w.subject, &w.config, NULL, &r, &err), DCK_E_ARG);
	w.config.streams = 1;
	w.config.confidence = 1;
	assert_int_equal(dck_load(&w.subject, &w.config, NULL, &r, &err), DCK_E_ARG);
	w.config.confidence = 0.99;
	w.config.scenario = 9;
	assert_int_equal(dck_load(&w.subject, &w.config, NULL, &r, &err), DCK_E_ARG);
	w.config.scenario = 4;
	assert_int_equal(dck_load(&w.subject, &w.config, NULL, &r, &err), DCK_E_ARG);
	assert_non_null(strstr(err.msg, "--rate"));
	assert_null(r);
}

int test_load_threads(void);
int test_load_threads(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(one_stream),
	    cmocka_unit_test(streams_at_once),
	    cmocka_unit_test(many_streams_at_once),
	    cmocka_unit_test(streams_that_may_not_overlap),
	    cmocka_unit_test(all_at_once),
	    cmocka_unit_test(arrivals_by_themselves),
	    cmocka_unit_test(too_much),
	    cmocka_unit_test(limit_verdicts),
	    cmocka_unit_test(failure_in_the_middle),
	    cmocka_unit_test(failure_before_anything),
	    cmocka_unit_test(interruption),
	    cmocka_unit_test(interruption_of_a_run_that_hangs),
	    cmocka_unit_test(peak),
	    cmocka_unit_test(nothing_holds),
	    cmocka_unit_test(nothing_holds_while_it_slows),
	    cmocka_unit_test(samples_are_bounded),
	    cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests_name("load_threads", tests, NULL, NULL);
}
