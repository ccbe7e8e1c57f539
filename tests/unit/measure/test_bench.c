/* test_bench.c - whole measurements through the public API, on a clock that only the measured
 * function advances, so that every number is exact.
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
#include <cmocka.h>

#include "deepclock/bench.h"
#include "base/rng.h"

/* Only the work advances the time; CPU time is twice the wall time, as with two busy threads. */
typedef struct world {
	uint64_t ns, calls;
	uint64_t coarse_ns;		     /* the clock shows multiples of it; 0: all */
	uint64_t (*duration)(uint64_t call); /* of call 1, 2, ... */
	uint64_t fail_at, cancel_at;
	int fails_with; /* 0: 5 */
	dck_clock clock;
	dck_plan plan;
	dck_subject subject;
	dck_observer watch;
} world;

static uint64_t world_now(void *self)
{
	const world *w = self;

	return w->coarse_ns > 0 ? w->ns / w->coarse_ns * w->coarse_ns : w->ns;
}

static uint64_t world_cpu(void *self)
{
	return 2 * ((world *)self)->ns;
}

static int world_work(void *arg)
{
	world *w = arg;

	w->calls++;
	w->ns += w->duration(w->calls);
	return w->calls == w->fail_at ? w->fails_with ? w->fails_with : 5 : 0;
}

static bool world_cancelled(void *self)
{
	const world *w = self;

	return w->cancel_at > 0 && w->calls >= w->cancel_at;
}

static void world_init(world *w, uint64_t (*duration)(uint64_t call))
{
	memset(w, 0, sizeof *w);
	w->duration = duration;
	w->clock = (dck_clock){.name = "fake",
			       .now_ns = world_now,
			       .self = w,
			       .tick_ns = 1,
			       .cost_ns = 16,
			       .cpu_ns = world_cpu};
	dck_plan_init(&w->plan);
	w->plan.clock = &w->clock;
	dck_subject_init(&w->subject);
	w->subject.kind = DCK_SUBJECT_FUNCTION;
	w->subject.text = "work";
	w->subject.function = world_work;
	w->subject.arg = w;
	w->watch = (dck_observer){.self = w, .cancelled = world_cancelled};
}

static dck_record *world_bench(world *w)
{
	dck_record *r = NULL;
	dck_err err = {0};

	if (dck_bench(&w->subject, &w->plan, &w->watch, &r, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	return r;
}

static int64_t metric_int(const dck_record *r, const char *tag)
{
	const dck_metric *m = dck_record_metric(r, tag);

	assert_non_null(m);
	assert_int_equal(m->value.kind, DCK_VALUE_INT);
	return m->value.as.i;
}

static void assert_value(const dck_record *r, const char *tag, double expected)
{
	double v = dck_record_value(r, tag);

	if (!(fabs(v - expected) <= 1e-9 * fabs(expected)))
		fail_msg("%s is %.17g, not %.17g", tag, v, expected);
}

static const char *fact_text(const dck_record *r, const char *section, const char *key)
{
	const dck_fact *f = dck_record_fact(r, section, key);

	assert_non_null(f);
	assert_int_equal(f->value.kind, DCK_VALUE_TEXT);
	return f->value.as.text;
}

static int64_t fact_int(const dck_record *r, const char *section, const char *key)
{
	const dck_fact *f = dck_record_fact(r, section, key);

	assert_non_null(f);
	assert_int_equal(f->value.kind, DCK_VALUE_INT);
	return f->value.as.i;
}

/* 1.00, 1.01, ... 1.09 ms, repeated; the first call 5 ms. */
static uint64_t saw(uint64_t call)
{
	return call == 1 ? 5000000 : 1000000 + (call % 10) * 10000;
}

static void exact_runs(void **state)
{
	world w;
	dck_record *r;

	(void)state;
	world_init(&w, saw);
	w.plan.runs = 100;
	w.plan.warmup = "10";
	r = world_bench(&w);
	assert_false(r->incomplete);
	assert_int_equal(w.calls, 110);
	assert_int_equal(metric_int(r, "runs/count"), 100);
	assert_int_equal(metric_int(r, "runs/warmup"), 10);
	assert_value(r, "latency/min", 1000000);
	assert_value(r, "latency/max", 1090000);
	assert_value(r, "latency/mean", 1045000);
	assert_value(r, "latency/median", 1045000);
	assert_value(r, "throughput/items", 1e9 / 1045000);
	assert_value(r, "cpu/ratio", 2);
	assert_value(r, "cpu/time", 2090000);
	assert_int_equal(metric_int(r, "time/first_run"), 5000000);
	assert_int_equal(metric_int(r, "time/measured"), 104500000);
	assert_int_equal(metric_int(r, "time/warmup"), 5000000 + 9 * 1000000 + 10000 * 44);
	assert_true(dck_record_metric(r, "latency/p999")->value.kind == DCK_VALUE_ABSENT);
	assert_true(dck_record_metric(r, "time/library")->value.kind == DCK_VALUE_ABSENT);
	assert_non_null(strstr(fact_text(r, "method", "stop"), "runs: 100"));
	assert_non_null(dck_record_note(r, "first-run-slow"));
	const dck_series *s = dck_record_series(r, "latency");
	assert_int_equal(s->n, 110);
	assert_int_equal(s->warmup, 10);
	assert_true(s->values[0] == 5000000 && s->values[10] == 1010000);
	assert_true(s->at_ns[10] - s->at_ns[9] == 1000000);
	dck_record_free(r);
}

static void no_warmup(void **state)
{
	world w;
	dck_record *r;

	(void)state;
	world_init(&w, saw);
	w.plan.runs = 20;
	w.plan.warmup = "0";
	r = world_bench(&w);
	assert_int_equal(w.calls, 20);
	assert_value(r, "latency/max", 5000000);
	assert_int_equal(metric_int(r, "runs/warmup"), 0);
	assert_true(dck_record_metric(r, "time/first_run")->value.kind == DCK_VALUE_ABSENT);
	assert_non_null(dck_record_note(r, "no-warmup"));
	dck_record_free(r);
}

static uint64_t constant(uint64_t call)
{
	(void)call;
	return 2000000;
}

static void stops_by_precision(void **state)
{
	world w;
	dck_record *r;

	(void)state;
	world_init(&w, constant);
	r = world_bench(&w);
	assert_int_equal(metric_int(r, "runs/count"), 304); /* half a second and two more checks */
	dck_record_free(r);

	world_init(&w, constant);
	w.plan.min_time_ns = 0;
	r = world_bench(&w);
	assert_int_equal(metric_int(r, "runs/count"), 62); /* checks after 50, 56 and 62 runs */
	assert_non_null(strstr(fact_text(r, "method", "stop"), "precision"));
	assert_non_null(strstr(fact_text(r, "method", "steady"), "steady from the first run on"));
	assert_null(dck_record_note(r, "not-steady"));
	assert_null(dck_record_note(r, "imprecise"));
	dck_record_free(r);
}

/* Noise of +-50 %. */
static uint64_t noise(uint64_t call)
{
	return 500000 + rng_at(0, call) % 1000000;
}

static void stops_by_max_time(void **state)
{
	world w;
	dck_record *r;

	(void)state;
	world_init(&w, noise);
	w.plan.precision = 1e-5;
	w.plan.max_time_ns = 1000000000;
	r = world_bench(&w);
	assert_non_null(strstr(fact_text(r, "method", "stop"), "max-time"));
	assert_non_null(dck_record_note(r, "imprecise"));
	assert_in_range(metric_int(r, "time/measured"), 1000000000, 1001500000);
	dck_record_free(r);
}

static uint64_t noise_seed;

static uint64_t noise_of_seed(uint64_t call)
{
	return noise(call + (noise_seed << 32));
}

/* Time and precision end close together: in either case the fact, the note and the clause about the
 * stop reason use one half-width and one decision. */
/* The least time is more than the most: the precision is reached, and no look was made. */
static void stop_before_the_first_look(void **state)
{
	world w;
	dck_record *r;

	(void)state;
	noise_seed = 1;
	world_init(&w, noise_of_seed);
	w.plan.precision = 0.5;
	w.plan.min_time_ns = 2000000000;
	w.plan.max_time_ns = 1000000000;
	r = world_bench(&w);
	assert_non_null(strstr(fact_text(r, "method", "stop"),
			       "tested only from --min-time 2 s and --min-runs 50 on"));
	assert_null(dck_record_note(r, "imprecise"));
	dck_record_free(r);
}

static void stop_and_precision_agree(void **state)
{
	unsigned reached = 0, unconfirmed = 0, missed = 0;

	(void)state;
	for (noise_seed = 1; noise_seed <= 60; noise_seed++) {
		char percent[32], number[32];
		world w;
		dck_record *r;
		const dck_metric *m;
		const char *stop;
		double half;

		world_init(&w, noise_of_seed);
		w.plan.precision = 0.03;
		w.plan.min_time_ns = 0;
		w.plan.max_time_ns = 1000000000 + 10000000 * noise_seed;
		r = world_bench(&w);
		m = dck_record_metric(r, "latency/median");
		half = dck_record_fact(r, "method", "precision_reached")->value.as.r;
		stop = fact_text(r, "method", "stop");
		assert_true(fabs(half - (m->hi - m->lo) / 2 / m->value.as.r) < 1e-12);
		snprintf(percent, sizeof percent, " is %.3g", 100 * half);
		snprintf(number, sizeof number, "%.3s", percent + 4);
		if (!strstr(stop, number))
			fail_msg("%s: not %s %%", stop, percent);
		if (dck_record_note(r, "imprecise")) {
			assert_true(half > 0.03);
			assert_non_null(strstr(stop, "before the precision was reached"));
			missed++;
		} else {
			assert_true(half <= 0.03);
			assert_null(strstr(stop, "before the precision was reached"));
			if (strncmp(stop, "max-time", 8) == 0) {
				assert_non_null(strstr(stop, "three consecutive looks"));
				unconfirmed++;
			} else {
				assert_true(strncmp(stop, "precision: ", 11) == 0);
				reached++;
			}
		}
		dck_record_free(r);
	}
	assert_true(reached > 0 && unconfirmed > 0 && missed > 0);
}

static void stops_by_time(void **state)
{
	world w;
	dck_record *r;

	(void)state;
	world_init(&w, constant);
	w.plan.time_ns = 301000000;
	r = world_bench(&w);
	assert_int_equal(metric_int(r, "runs/count"), 151);
	assert_int_equal(metric_int(r, "time/measured"), 302000000);
	dck_record_free(r);
}

static uint64_t short_work(uint64_t call)
{
	(void)call;
	return 700;
}

/* The 13 last of 1013 runs, after 41 that warm up, are slow. */
static uint64_t slow_at_last(uint64_t call)
{
	return call < 41 + 1000 ? 700 : 70000;
}

static uint64_t slow_at_first(uint64_t call)
{
	return (call <= 22 ? 80000000 : 30000000) + 1000 * (call * 7 % 31);
}

static void groups_short_work(void **state)
{
	world w;
	dck_record *r;

	(void)state;
	world_init(&w, short_work);
	r = world_bench(&w);
	/* 16 ns of clock are 0.1 % of 23 runs of 700 ns. */
	assert_int_equal(fact_int(r, "method", "group"), 23);
	assert_value(r, "latency/median", 700);
	assert_value(r, "cpu/time", 1400);
	assert_non_null(
	    strstr(dck_record_note(r, "grouped")->text, "reading the clock takes 16.0 ns"));
	assert_non_null(strstr(dck_record_metric(r, "latency/min")->how, " means of "));
	dck_record_free(r);

	/* A tick that is longer than a reading decides. */
	world_init(&w, short_work);
	w.clock.tick_ns = 1000;
	r = world_bench(&w);
	assert_int_equal(fact_int(r, "method", "group"), 1429);
	assert_non_null(
	    strstr(dck_record_note(r, "grouped")->text, "a tick of the clock is 1.00 "));
	dck_record_free(r);

	/* No single run is seen: a sample is a thousand ticks long. */
	world_init(&w, short_work);
	w.clock.tick_ns = 100000;
	w.coarse_ns = 100000;
	r = world_bench(&w);
	assert_true(fact_int(r, "method", "group") > 100000);
	assert_true(fact_int(r, "method", "group") < 200000);
	assert_true(fabs(dck_record_value(r, "latency/median") - 700) < 7);
	dck_record_free(r);

	/* One run was single, and six groups follow it. */
	world_init(&w, slow_at_first);
	w.plan.group = 5;
	r = world_bench(&w);
	assert_non_null(strstr(fact_text(r, "method", "steady"), "steady after 31 runs"));
	dck_record_free(r);

	/* Runs too few for a sample are made, and are no sample. */
	world_init(&w, slow_at_last);
	w.plan.runs = 1013;
	w.plan.warmup = "40";
	r = world_bench(&w);
	assert_int_equal(fact_int(r, "method", "group"), 20);
	assert_int_equal(metric_int(r, "runs/count"), 1013);
	assert_value(r, "latency/max", 700);
	assert_value(r, "latency/mean", 700);
	assert_int_equal(fact_int(r, "method", "samples"), 50);
	dck_record_free(r);
}

static void run_812_fails(void **state)
{
	world w;
	dck_record *r;

	(void)state;
	world_init(&w, saw);
	w.plan.runs = 1000;
	w.plan.warmup = "100";
	w.fail_at = 812;
	r = world_bench(&w);
	assert_true(r->incomplete);
	assert_int_equal(metric_int(r, "runs/count"), 711);
	assert_non_null(dck_record_note(r, "engine-failed"));
	assert_int_equal(dck_record_note(r, "engine-failed")->severity, DCK_ERROR);
	assert_non_null(strstr(dck_record_note(r, "engine-failed")->text, "run 812 failed"));
	assert_non_null(strstr(dck_record_note(r, "engine-failed")->text, "returned 5"));
	/* The same message without the report's words, for a command that passes it on. */
	const dck_fact *failure = dck_record_fact(r, "result", "failure");
	assert_non_null(failure);
	assert_string_equal(failure->value.as.text, "run 812 failed: the function returned 5");
	dck_record_free(r);
}

static uint64_t ten_ms(uint64_t call)
{
	(void)call;
	return 10000000;
}

static void world_shown(void *self, const dck_progress *p)
{
	(void)p;
	((world *)self)->ns += 10000000;
}

typedef struct seen_progress {
	uint64_t warmup_total, total;
	bool warmup_left;
	double ratio, eta_ns;
} seen_progress;

static void progress_seen(void *self, const dck_progress *p)
{
	seen_progress *s = self;

	if (strcmp(p->phase, "warm-up") == 0) {
		s->warmup_total = p->runs_total;
		s->warmup_left = p->runs_total > 0 && p->eta_ns > 0;
	}
	if (strcmp(p->phase, "measure") == 0) {
		s->total = p->runs_total;
		s->ratio = fabs(p->done_ratio - (double)p->runs / 1000);
		s->eta_ns = p->eta_ns;
	}
}

/* The observer gets the number of runs in advance, where it is known. */
static void known_runs_are_foreseen(void **state)
{
	seen_progress seen = {0};
	dck_record *r = NULL;
	world w;

	(void)state;
	world_init(&w, ten_ms);
	w.plan.runs = 1000;
	w.plan.warmup = "100";
	w.watch = (dck_observer){.self = &seen, .progress = progress_seen};
	assert_int_equal(dck_bench(&w.subject, &w.plan, &w.watch, &r, NULL), DCK_OK);
	assert_int_equal(seen.warmup_total, 100);
	assert_true(seen.warmup_left);
	assert_int_equal(seen.total, 1000);
	assert_true(seen.ratio < 0.01 && seen.eta_ns >= 0);
	dck_record_free(r);
	seen = (seen_progress){.total = 1, .warmup_total = 1};
	world_init(&w, ten_ms);
	w.plan.time_ns = 5000000000u;
	w.watch = (dck_observer){.self = &seen, .progress = progress_seen};
	assert_int_equal(dck_bench(&w.subject, &w.plan, &w.watch, &r, NULL), DCK_OK);
	assert_int_equal(seen.total, 0);
	dck_record_free(r);
}

/* After a pause a run is made that does not count; a message about it has the engine's run
 * number. */
static void run_300_fails_after_pauses(void **state)
{
	world w;
	dck_record *r;

	(void)state;
	world_init(&w, ten_ms);
	w.plan.runs = 1000;
	w.plan.warmup = "100";
	w.watch.progress = world_shown;
	w.fail_at = 300;
	r = world_bench(&w);
	assert_true(metric_int(r, "runs/count") <
		    199); /* 299 minus the warm-up, if all had counted */
	assert_non_null(strstr(dck_record_note(r, "engine-failed")->text, "run 300 failed"));
	dck_record_free(r);
}

static void first_run_fails(void **state)
{
	world w;
	dck_record *r = NULL;
	dck_err err = {0};

	(void)state;
	world_init(&w, saw);
	w.fail_at = 1;
	assert_int_equal(dck_bench(&w.subject, &w.plan, NULL, &r, &err), DCK_E_ENGINE);
	assert_null(r);
	assert_non_null(strstr(err.msg, "returned 5"));
}

static void cancelled_in_between(void **state)
{
	world w;
	dck_record *r;

	(void)state;
	world_init(&w, saw);
	w.plan.runs = 1000;
	w.plan.warmup = "10";
	w.cancel_at = 300;
	r = world_bench(&w);
	assert_true(r->incomplete);
	assert_non_null(dck_record_note(r, "interrupted"));
	assert_int_equal(metric_int(r, "runs/count"), 290);
	dck_record_free(r);

	/* A cancellation during the warm-up also gives a record: of the warm-up, as it states. */
	world_init(&w, saw);
	w.plan.warmup = "100";
	w.cancel_at = 50;
	r = world_bench(&w);
	assert_true(r->incomplete);
	assert_int_equal(metric_int(r, "runs/count"), 0);
	assert_int_equal(metric_int(r, "runs/warmup"), 50);
	const dck_metric *m = dck_record_metric(r, "latency/median");
	assert_true(m->value.kind == DCK_VALUE_REAL && m->level == 0);
	assert_string_equal(m->how, "of 50 warm-up runs, before the steady state");
	m = dck_record_metric(r, "throughput/items");
	assert_true(m->value.kind == DCK_VALUE_ABSENT);
	assert_int_equal(dck_record_series(r, "latency")->n, 50);
	assert_int_equal(dck_record_series(r, "latency")->warmup, 50);
	dck_record_free(r);
}

static void a_function_says_that_it_was_interrupted(void **state)
{
	dck_record *r;
	world w;

	(void)state;
	world_init(&w, saw);
	w.plan.runs = 1000;
	w.fail_at = 300;
	w.fails_with = DCK_E_CANCEL;
	assert_int_equal(dck_bench(&w.subject, &w.plan, NULL, &r, NULL), DCK_OK);
	assert_true(r->incomplete);
	assert_non_null(dck_record_note(r, "interrupted"));
	assert_null(dck_record_note(r, "engine-failed"));
	assert_null(dck_record_fact(r, "result", "failure"));
	dck_record_free(r);
}

static void memory_stays_bounded(void **state)
{
	world w;
	dck_record *r;

	(void)state;
	world_init(&w, saw);
	w.plan.runs = 1000;
	w.plan.warmup = "9";
	w.plan.keep = 64;
	r = world_bench(&w);
	assert_int_equal(fact_int(r, "method", "samples"), 1000);
	assert_int_equal(fact_int(r, "method", "samples_kept"), 63); /* every 16th */
	assert_int_equal(metric_int(r, "runs/count"), 1000);
	assert_value(r, "latency/min", 1000000);
	assert_value(r, "latency/max", 1090000);
	assert_non_null(dck_record_note(r, "thinned"));
	const dck_series *s = dck_record_series(r, "latency");
	assert_true(s->values[s->warmup + 1] == (double)saw(9 + 1 + 16));
	assert_true(s->values[s->n - 1] == (double)saw(9 + 1 + 62 * 16));
	dck_record_free(r);
}

/* 3 ms that decay to 1 ms with a time constant of 15 runs, and 1 % of noise. */
static uint64_t decay(uint64_t call)
{
	return (uint64_t)(1e6 + 2e6 * exp(-(double)call / 15) + ((double)noise(call) - 1e6) * 0.01);
}

static void warms_up_until_steady(void **state)
{
	world w;
	dck_record *r;

	(void)state;
	world_init(&w, decay);
	r = world_bench(&w);
	assert_in_range(metric_int(r, "runs/warmup"), 60, 1000);
	assert_in_range((uint64_t)dck_record_value(r, "latency/median"), 990000, 1015000);
	assert_non_null(strstr(fact_text(r, "method", "steady"), "steady after"));
	assert_true(fact_int(r, "method", "steady_after") > 0);
	assert_null(dck_record_note(r, "not-steady"));
	dck_record_free(r);
}

/* 10 ms, half of it after 500 runs, a third after 1,000: never steady. */
static uint64_t never_steady(uint64_t call)
{
	return (uint64_t)(1e7 / (1 + (double)call / 500));
}

static void says_not_steady(void **state)
{
	world w;
	dck_record *r;

	(void)state;
	world_init(&w, never_steady);
	w.plan.max_time_ns = 2000000000;
	r = world_bench(&w);
	assert_non_null(strstr(fact_text(r, "method", "steady"), "still falling"));
	assert_non_null(dck_record_note(r, "not-steady"));
	assert_non_null(dck_record_note(r, "drift"));
	assert_non_null(strstr(dck_record_note(r, "drift")->text, "the latency fell by "));
	assert_null(strstr(dck_record_note(r, "drift")->text, "[-"));
	dck_record_free(r);
}

/* 10, 9, ... 1, 0.5, 0.5 ms: the regression line falls by more than its start. */
static uint64_t falls_to_a_twentieth(uint64_t call)
{
	return call <= 10 ? (11 - call) * 1000000 : 500000;
}

static void fall_is_of_the_start(void **state)
{
	world w;
	dck_record *r;
	const char *text;

	(void)state;
	world_init(&w, falls_to_a_twentieth);
	w.plan.warmup = "0";
	w.plan.runs = 12;
	r = world_bench(&w);
	assert_non_null(dck_record_note(r, "drift"));
	text = dck_record_note(r, "drift")->text;
	assert_int_equal(strncmp(text, "the latency fell by 95.0 % [", 28), 0);
	assert_true(strtod(text + 28, NULL) <= 95 && strtod(strchr(text, ',') + 1, NULL) < 100);
	dck_record_free(r);
}

/* 1.08 ms, and 1 ms after `at` calls, each within 2 %. */
static uint64_t level_ends, level_begins, level_again;
static uint64_t levels(uint64_t call)
{
	const bool slow = call <= level_ends || (call > level_begins && call <= level_again);

	return (slow ? 1080000 : 1000000) + (call * 7919 % 101) * 400 - 20000;
}

static dck_record *levels_bench(world *w, uint64_t ends, uint64_t begins, uint64_t again)
{
	level_ends = ends;
	level_begins = begins;
	level_again = again;
	return world_bench(w);
}

/* A compiler that finishes after 600 runs: the plateau before it looked like the steady state. */
static void a_plateau_is_cut(void **state)
{
	world w;
	dck_record *r;

	(void)state;
	world_init(&w, levels);
	w.plan.runs = 3000;
	r = levels_bench(&w, 600, UINT64_MAX, 0);
	assert_int_equal(metric_int(r, "runs/count"), 3000);
	assert_in_range(metric_int(r, "runs/warmup"), 600, 720);
	assert_int_equal(w.calls, metric_int(r, "runs/count") + metric_int(r, "runs/warmup"));
	assert_in_range((uint64_t)dck_record_value(r, "latency/max"), 1000000, 1030000);
	assert_value(r, "cpu/ratio", 2);
	const dck_series *s = dck_record_series(r, "latency");
	assert_int_equal(s->warmup, metric_int(r, "runs/warmup"));
	assert_int_equal(s->n, w.calls);
	assert_true(s->values[599] > 1050000 && s->values[s->warmup] < 1030000);
	/* cpu: twice the wall time of the counted runs only */
	assert_in_range((uint64_t)dck_record_value(r, "cpu/time"),
			(uint64_t)(1.999 * dck_record_value(r, "latency/mean")),
			(uint64_t)(2.001 * dck_record_value(r, "latency/mean")));
	assert_int_equal(metric_int(r, "time/measured"),
			 (int64_t)(0.5 + 3000 * dck_record_value(r, "latency/mean")));
	assert_non_null(strstr(fact_text(r, "method", "warmup_cut"), "8.0 % slower"));
	assert_non_null(dck_record_note(r, "plateau"));
	assert_null(dck_record_note(r, "level-changed"));
	dck_record_free(r);
}

/* Also with a precision target: the remaining runs alone have to reach it. */
static void after_a_plateau_it_goes_on(void **state)
{
	world w;
	dck_record *r;

	(void)state;
	world_init(&w, levels);
	w.plan.precision = 0.001;
	r = levels_bench(&w, 600, UINT64_MAX, 0);
	assert_in_range((uint64_t)dck_record_value(r, "latency/median"), 995000, 1005000);
	assert_non_null(strstr(fact_text(r, "method", "stop"), "precision"));
	assert_non_null(dck_record_note(r, "plateau"));
	assert_true(metric_int(r, "runs/count") >= 50);
	dck_record_free(r);
}

/* A late change, or one that reverts: this is the machine, and a note reports it. */
static void other_levels_stay(void **state)
{
	static const uint64_t at[][3] = {{1900, UINT64_MAX, 0}, {700, 1400, 2000}};
	world w;
	dck_record *r;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		world_init(&w, levels);
		w.plan.runs = 2000;
		r = levels_bench(&w, at[i][0], at[i][1], at[i][2]);
		assert_int_equal(metric_int(r, "runs/count"), 2000);
		assert_true(dck_record_value(r, "latency/max") > 1050000);
		assert_null(dck_record_note(r, "plateau"));
		assert_non_null(dck_record_note(r, "level-changed"));
		dck_record_free(r);
	}
	/* An explicit end of the warm-up is taken as given. */
	world_init(&w, levels);
	w.plan.runs = 2000;
	w.plan.warmup = "300";
	r = levels_bench(&w, 600, UINT64_MAX, 0);
	assert_int_equal(metric_int(r, "runs/warmup"), 300);
	assert_null(dck_record_note(r, "plateau"));
	dck_record_free(r);
}

static void idle_means_no_throughput(void **state)
{
	world w;
	dck_record *r;

	(void)state;
	world_init(&w, constant);
	w.plan.runs = 3;
	w.plan.warmup = "1";
	w.plan.idle_ns = 1000;
	r = world_bench(&w);
	assert_int_equal(dck_record_metric(r, "throughput/items")->value.kind, DCK_VALUE_ABSENT);
	dck_record_free(r);
}

static void refuses_plans(void **state)
{
	world w;
	dck_record *r = NULL;
	dck_err err;

	(void)state;
	world_init(&w, constant);
	w.plan.runs = 5;
	w.plan.time_ns = 5;
	assert_int_equal(dck_bench(&w.subject, &w.plan, NULL, &r, &err), DCK_E_ARG);
	world_init(&w, constant);
	w.plan.warmup = "soon";
	assert_int_equal(dck_bench(&w.subject, &w.plan, NULL, &r, &err), DCK_E_ARG);
	assert_non_null(strstr(err.msg, "'soon'"));
	world_init(&w, constant);
	w.plan.processes = 3;
	assert_int_equal(dck_bench(&w.subject, &w.plan, NULL, &r, &err), DCK_E_UNSUP);
	world_init(&w, constant);
	w.subject.function = NULL;
	assert_int_equal(dck_bench(&w.subject, &w.plan, NULL, &r, &err), DCK_E_ARG);
	world_init(&w, constant);
	w.plan.statistic = "p17";
	assert_int_equal(dck_bench(&w.subject, &w.plan, NULL, &r, NULL), DCK_E_ARG);
	assert_null(r);
}

/* --- an allocator that counts, and fails the n-th request */

static struct {
	long out, requests, fail_at;
} heap;

static void *heap_resize(void *self, void *old, size_t n)
{
	void *p;

	(void)self;
	if (++heap.requests == heap.fail_at)
		return NULL;
	p = realloc(old, n);
	if (p && !old)
		heap.out++;
	return p;
}

static void *heap_alloc(void *self, size_t n)
{
	return heap_resize(self, NULL, n ? n : 1);
}

static void heap_release(void *self, void *old)
{
	(void)self;
	if (old)
		heap.out--;
	free(old);
}

static const dck_allocator counting = {heap_alloc, heap_resize, heap_release, NULL};

static void every_allocation_may_fail(void **state)
{
	dck_status status = DCK_E_NOMEM;
	world w;

	(void)state;
	for (long n = 1; status != DCK_OK; n++) {
		dck_record *r = NULL;

		world_init(&w, saw);
		w.plan.runs = 30;
		w.plan.warmup = "5";
		memset(&heap, 0, sizeof heap);
		heap.fail_at = n;
		dck_set_allocator(&counting);
		status = dck_bench(&w.subject, &w.plan, NULL, &r, NULL);
		if (status == DCK_OK)
			dck_record_free(r);
		else
			assert_int_equal(status, DCK_E_NOMEM);
		dck_set_allocator(NULL);
		assert_int_equal(heap.out, 0);
		assert_true(n < 10000);
	}
}

int test_bench(void);
int test_bench(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(exact_runs),
	    cmocka_unit_test(no_warmup),
	    cmocka_unit_test(stops_by_precision),
	    cmocka_unit_test(stops_by_max_time),
	    cmocka_unit_test(stop_and_precision_agree),
	    cmocka_unit_test(stop_before_the_first_look),
	    cmocka_unit_test(stops_by_time),
	    cmocka_unit_test(groups_short_work),
	    cmocka_unit_test(run_812_fails),
	    cmocka_unit_test(run_300_fails_after_pauses),
	    cmocka_unit_test(known_runs_are_foreseen),
	    cmocka_unit_test(first_run_fails),
	    cmocka_unit_test(cancelled_in_between),
	    cmocka_unit_test(a_function_says_that_it_was_interrupted),
	    cmocka_unit_test(memory_stays_bounded),
	    cmocka_unit_test(warms_up_until_steady),
	    cmocka_unit_test(says_not_steady),
	    cmocka_unit_test(fall_is_of_the_start),
	    cmocka_unit_test(a_plateau_is_cut),
	    cmocka_unit_test(after_a_plateau_it_goes_on),
	    cmocka_unit_test(other_levels_stay),
	    cmocka_unit_test(idle_means_no_throughput),
	    cmocka_unit_test(refuses_plans),
	    cmocka_unit_test(every_allocation_may_fail),
	};

	return cmocka_run_group_tests_name("bench", tests, NULL, NULL);
}
