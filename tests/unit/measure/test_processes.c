/* test_processes.c - how the records of several processes become one, with exact numbers. The
 * program that is started is a script that returns records made here, one after the other.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/bench.h"
#include "base/rng.h"
#include "measure/runner.h"
#include "os/os.h"
#include "record/build.h"
#include "scratch.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define RUNS 40

typedef struct start {
	double median, half;
	const char *note; /* NULL: none */
	double huge_mib;
	double undisturbed; /* median of the undisturbed runs; 0: too few */
} start;

static const double *core_latencies; /* of each start, ns; NULL: not known */
static const char *statistic;	     /* NULL: the median */
static unsigned unmeasured;	     /* the start that ends in its warm-up; 0: none does */

static const char program[] =
    "#!/bin/sh\n"
    "for word; do case $word in --worker-fd=*) fd=${word#*=};; esac; done\n"
    "echo \"$*\" > words\n"
    "n=$(($(cat count) + 1))\n"
    "echo $n > count\n"
    "cat $n.json > /proc/self/fd/$fd\n";

static void start_save(const start *s, unsigned number)
{
	record_builder *b = record_new();
	dck_record *r;
	double runs[RUNS];
	char path[32];

	for (unsigned i = 0; i < RUNS; i++)
		runs[i] = 100 + 0.001 * (double)rng_below(&(uint64_t){rng_at(number, i)}, 10000);
	record_series(b, "latency", DCK_UNIT_NS, NULL, runs, RUNS, 10);
	record_metric_absent(b, "latency/p90", "too few");
	record_metric_absent(b, "latency/p999", "too few");
	if (statistic)
		record_metric_absent(b, "latency/p85", "too few");

	record_fact_text(b, "method", "rate", "median");
	record_metric_interval(b, "latency/median", s->median, s->median - s->half,
			       s->median + s->half, 0.95, "a");
	if (s->undisturbed > 0)
		record_metric_interval(b, "latency/undisturbed", s->undisturbed, s->undisturbed,
				       s->undisturbed, 0.95, "e");
	else
		record_metric_absent(b, "latency/undisturbed", "2 of 40 runs, too few");
	record_metric_real(b, "latency/mean", s->median + 1, "b");
	record_metric_real(b, "latency/max", 2 * s->median, "c");
	record_metric_real(b, "throughput/items", 1e9 / s->median, "d");
	record_fact_int(b, "process", "huge_pages", DCK_UNIT_BYTE, (int64_t)s->huge_mib << 20);
	if (core_latencies)
		record_fact_real(b, "process", "core_latency", DCK_UNIT_NS,
				 core_latencies[number - 1]);
	record_fact_real(b, "samples", "minor_faults_per_run", DCK_UNIT_ONE, 0.01 * s->median);
	if (s->note)
		record_note(b, s->note, "here");
	record_metric_int(b, "runs/count", number == unmeasured ? 0 : RUNS - 10, "f");
	record_set_incomplete(b, number == unmeasured);
	if (number == unmeasured)
		record_fact_text(b, "result", "failure", "run 7 failed: why");
	assert_int_equal(record_finish(b, &r, NULL), DCK_OK);
	snprintf(path, sizeof path, "%u.json", number);
	assert_int_equal(dck_record_save(r, path, NULL), DCK_OK);
	dck_record_free(r);
}

static dck_record *starts_bench(const start *starts, unsigned n)
{
	dck_subject s;
	dck_plan plan;
	dck_record *r = NULL;
	dck_err err = {0};

	for (unsigned i = 0; i < n; i++)
		start_save(&starts[i], i + 1);
	scratch_text("count", "0\n");
	dck_subject_init(&s);
	s.kind = DCK_SUBJECT_MODEL;
	s.text = "zoo:simplenet";
	dck_plan_init(&plan);
	plan.program = scratch_text("./program", program);
	plan.processes = n;
	if (statistic)
		plan.statistic = statistic;
	if (dck_bench(&s, &plan, NULL, &r, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	return r;
}

static void metric_is(const dck_record *r, const char *tag, double v, double lo, double hi,
		      double level)
{
	const dck_metric *m = dck_record_metric(r, tag);

	assert_non_null(m);
	if (fabs(dck_record_value(r, tag) - v) > 1e-9 * v || fabs(m->level - level) > 1e-12 ||
	    (level > 0 && (fabs(m->lo - lo) > 1e-6 * v || fabs(m->hi - hi) > 1e-6 * v)))
		fail_msg("%s is %.12g [%.12g, %.12g] at %g", tag, dck_record_value(r, tag), m->lo,
			 m->hi, m->level);
}

/* The plan's percentile is of the runs of all starts where each has too few, as those of the table.
 */
static void any_percentile_is_of_all_runs(void **state)
{
	static const start starts[] = {{10, 0.1, NULL, 0, 0},
				       {11, 0.1, NULL, 0, 0},
				       {12, 0.1, NULL, 0, 0},
				       {10, 0.1, NULL, 0, 0}};
	dck_record *r;

	(void)state;
	statistic = "p85";
	r = starts_bench(starts, 4);
	statistic = NULL;
	assert_true(dck_record_value(r, "latency/p85") > 106);
	assert_string_equal(dck_record_metric(r, "latency/p85")->how,
			    "of the runs of all 4 starts, each start a cluster");
	dck_record_free(r);
}

/* A start that fails in its warm-up has no part in the result. */
static void one_ends_in_its_warmup(void **state)
{
	static const start starts[] = {{10, 0.1, NULL, 0, 0},
				       {12, 0.1, NULL, 0, 0},
				       {90, 0.1, NULL, 0, 0},
				       {11, 0.1, NULL, 0, 0}};
	dck_record *r;

	(void)state;
	unmeasured = 3;
	r = starts_bench(starts, 4);
	unmeasured = 0;
	assert_true(r->incomplete);
	metric_is(r, "latency/median", 11, 10, 12, 0.5);
	assert_true(dck_record_value(r, "latency/max") == 24);
	assert_string_equal(dck_record_fact(r, "method", "stop")->value.as.text,
			    "process 3 of 4 failed");
	assert_string_equal(dck_record_note(r, "engine-failed")->text,
			    "process 3 of 4 failed: run 7 failed: why; this is what was measured "
			    "until then");
	dck_record_free(r);
}

/* Six starts, of which one takes 2.4 times as long: it moves neither median nor rate. */
static void one_of_six_is_slow(void **state)
{
	static const start starts[] = {{13, 0.1, "turbo", 0, 0}, {10, 0.1, NULL, 0, 0},
				       {30, 0.1, "steal", 0, 0}, {12, 0.1, "turbo", 0, 0},
				       {14, 0.1, NULL, 0, 0},	 {11, 0.1, NULL, 0, 0}};
	dck_record *r = starts_bench(starts, 6);
	const dck_note *n = dck_record_note(r, "slow-start");

	(void)state;
	metric_is(r, "latency/median", 12.5, 10, 30, 0.96875);
	metric_is(r, "throughput/items", 1e9 / 12.5, 1e9 / 30, 1e9 / 10, 0.96875);
	/* 16 +- t(5) of 98.4375 % times 7.4833 / sqrt(6) */
	metric_is(r, "latency/mean", 16, 16 - 9.065617005677, 16 + 9.065617005677, 0.96875);
	metric_is(r, "latency/max", 60, 0, 0, 0);
	/* Of p90 no start has the 36 runs that it needs, all together have; of p99.9 they have not.
	 */
	assert_true(dck_record_value(r, "latency/p90") > 107);
	assert_string_equal(dck_record_metric(r, "latency/p90")->how,
			    "of the runs of all 6 starts, each start a cluster");
	assert_true(isnan(dck_record_value(r, "latency/p999")));
	assert_non_null(n);
	assert_non_null(
	    strstr(n->text,
		   "1 of 6 starts took 2.4 times as long as the median of all; only there: steal"));
	assert_null(dck_record_note(r, "start-to-start"));
	dck_record_free(r);
}

/* What is known of a start is named where the slow one differs, and nothing where it does not. */
static void what_slow_starts_have(void **state)
{
	static const char *const says[] = {
	    "; there memory in huge pages 0 B, of the others 96.0 MiB",
	    "; there memory in huge pages 0 B, of the others 96.0 MiB; only there: steal",
	    "; the cause is not known"};

	(void)state;
	for (int i = 0; i < 3; i++) {
		const double slow = i == 2 ? 96 : 0;
		const start starts[] = {{13, 0.1, NULL, 96, 0},
					{10, 0.1, NULL, 94, 0},
					{30, 0.1, i == 1 ? "steal" : NULL, slow, 0},
					{12, 0.1, NULL, 96, 0},
					{14, 0.1, NULL, 98, 0},
					{11, 0.1, NULL, 96, 0}};
		dck_record *r = starts_bench(starts, 6);
		const char *text = dck_record_note(r, "slow-start")->text,
			   *end = strstr(text, "median of all");

		if (!end || strncmp(end + strlen("median of all"), says[i], strlen(says[i])) != 0)
			fail_msg("%s", text);
		dck_record_free(r);
	}
}

/* All starts scatter more than each interval: that is another note. */
static void all_starts_differ(void **state)
{
	static const start starts[] = {{13, 0.1, NULL, 0, 0},
				       {10, 0.1, NULL, 0, 0},
				       {12, 0.1, NULL, 0, 0},
				       {14, 0.1, NULL, 0, 0},
				       {11, 0.1, NULL, 0, 0}};
	dck_record *r = starts_bench(starts, 5);

	(void)state;
	metric_is(r, "latency/median", 12, 10, 14, 0.9375);
	assert_null(dck_record_note(r, "slow-start"));
	assert_non_null(
	    strstr(dck_record_note(r, "start-to-start")->text, "starts differ by 33.3 %"));
	dck_record_free(r);
}

static double fact_number(const dck_record *r, const char *section, const char *key)
{
	const dck_fact *f = dck_record_fact(r, section, key);

	return f ? dck_value_number(&f->value) : NAN;
}

/* Two levels of starts are named with what distinguishes them; the fewer are compared with the
 * others. The record has the median of the starts. */
static void starts_at_two_levels(void **state)
{
	static const double near[] = {51, 50, 52, 51, 53, 50},
			    far[] = {329, 330, 334, 328, 331, 330};
	static const struct {
		double median[6]; /* the lower level is with processors that are near */
		double middle;	  /* of the latencies */
		const char *says;
	} rows[] = {
	    {{15.1, 10, 15, 15.2, 9.9, 15.3},
	     328.5,
	     "2 of 6 starts took 0.66 times as long as the others; there core-to-core latency 51.5 ns, "
	     "of the others 330 ns: the system moved the processors"},
	    {{15.1, 10, 15, 15.2, 9.9, 10.1},
	     (53 + 328) / 2.0,
	     "3 of 6 starts took 1.51 times as long as the others; there core-to-core latency 329 ns, "
	     "of the others 50.0 ns: the system moved the processors"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		start starts[6] = {0};
		double latency[6];

		for (size_t k = 0; k < 6; k++) {
			starts[k].median = rows[i].median[k];
			starts[k].half = 0.1;
			latency[k] = starts[k].median > 12 ? far[k] : near[k];
		}
		core_latencies = latency;
		dck_record *r = starts_bench(starts, 6);

		core_latencies = NULL;
		assert_true(fact_number(r, "process", "core_latency") == rows[i].middle);
		assert_null(dck_record_note(r, "slow-start"));
		if (!strstr(dck_record_note(r, "start-levels")->text, rows[i].says))
			fail_msg("%s", dck_record_note(r, "start-levels")->text);
		assert_null(dck_record_note(r, "start-to-start"));
		dck_record_free(r);
		r = starts_bench(starts, 6);
		assert_null(dck_record_note(r, "start-levels"));
		assert_non_null(dck_record_note(r, "start-to-start"));
		dck_record_free(r);
	}
}

/* Notes on the interval of one process are omitted; starts agree, so there is no note. */
static void starts_agree(void **state)
{
	static const start starts[] = {
	    {10, 1, "too-few-runs", 0, 0}, {10.1, 1, "imprecise", 0, 0}, {10.2, 1, NULL, 0, 0}};
	dck_record *r = starts_bench(starts, 3);

	(void)state;
	metric_is(r, "latency/median", 10.1, 10, 10.2, 0.75);
	assert_int_equal(r->nnotes, 0);
	dck_record_free(r);
}

/* Other programs leave some starts no undisturbed runs: the others have them, if they are half. */
static void undisturbed_runs_of_some(void **state)
{
	start starts[] = {{13, 9, NULL, 0, 0}, {10, 9, NULL, 0, 5}, {12, 9, NULL, 0, 7},
			  {14, 9, NULL, 0, 6}, {11, 9, NULL, 0, 9}, {11, 9, NULL, 0, 8}};
	dck_record *r = starts_bench(starts, 6);

	(void)state;
	metric_is(r, "latency/undisturbed", 7, 5, 9, 0.9375);
	assert_non_null(
	    strstr(dck_record_metric(r, "latency/undisturbed")->how, "; of 5 of 6 starts"));
	assert_int_equal(dck_record_fact(r, "samples", "undisturbed_starts")->value.as.i, 5);
	dck_record_free(r);
	for (int i = 2; i < 5; i++)
		starts[i].undisturbed = 0;
	r = starts_bench(starts, 6);
	assert_string_equal(dck_record_metric(r, "latency/undisturbed")->value.as.text,
			    "2 of 6 starts have it; another: 2 of 40 runs, too few");
	assert_null(dck_record_fact(r, "samples", "undisturbed_starts"));
	dck_record_free(r);
}

/* --- several starts by default */

static unsigned started(void)
{
	FILE *f = fopen("count", "r");
	unsigned n = 0;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%u", &n), 1);
	fclose(f);
	return n;
}

/* The null engine, whose five warm-up runs end at once: all that takes time is opening. */
static void alone_init(dck_subject *s, dck_plan *plan)
{
	static const start starts[] = {{13, 0.1, NULL, 0, 0},
				       {10, 0.1, NULL, 0, 0},
				       {12, 0.1, NULL, 0, 0},
				       {14, 0.1, NULL, 0, 0},
				       {11, 0.1, NULL, 0, 0}};

	for (unsigned i = 0; i < 5; i++)
		start_save(&starts[i], i + 1);
	scratch_text("count", "0\n");
	dck_subject_init(s);
	s->kind = DCK_SUBJECT_MODEL;
	s->text = "zoo:simplenet";
	s->model.engine = "null";
	dck_plan_init(plan);
	plan->program = scratch_text("./program", program);
	plan->processes = 0;
	plan->warmup = "5";
	plan->precision = 1;
	plan->max_time_ns = 30000000000;
}

static dck_record *alone_bench(const dck_subject *s, const dck_plan *plan)
{
	dck_record *r = NULL;
	dck_err err = {0};

	if (dck_bench(s, plan, NULL, &r, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	return r;
}

/* This process is the first of six; the plan of the record is the whole one, that of the others a
 * sixth of it. */
static void six_starts(void **state)
{
	dck_subject s;
	dck_plan plan;
	dck_record *r;
	char words[4096] = "";

	(void)state;
	alone_init(&s, &plan);
	plan.statistic = "p50";
	r = alone_bench(&s, &plan);
	assert_int_equal(started(), 5);
	assert_string_equal(dck_record_fact(r, "plan", "statistic")->value.as.text, "median");
	assert_true(fact_number(r, "method", "processes") == 6);
	assert_true(fact_number(r, "plan", "processes") == 6);
	assert_true(fact_number(r, "plan", "max-time") == 30e9);
	assert_true(fact_number(r, "method", "starting_share") <= 0.5);
	assert_true(fabs(dck_record_metric(r, "latency/median")->level - 0.96875) < 1e-12);
	assert_non_null(dck_record_series(r, "latency/process/1"));
	FILE *f = fopen("words", "r");
	assert_non_null(f);
	assert_non_null(fgets(words, sizeof words, f));
	fclose(f);
	assert_non_null(strstr(words, "--max-time=5000000001ns"));
	assert_non_null(strstr(words, "--min-time=83333333ns"));
	assert_non_null(strstr(words, "--processes=1 "));
	dck_record_free(r);
}

/* Without a time of the caller's the five others share what this start and opening leave of 10 s.
 */
static void starting_is_part_of_the_default(void **state)
{
	dck_subject s;
	dck_plan plan, plain;
	dck_record *r;
	unsigned long long ns = 0;
	char words[4096] = "";

	(void)state;
	alone_init(&s, &plan);
	dck_plan_init(&plain);
	plan.max_time_ns = plain.max_time_ns;
	r = alone_bench(&s, &plan);
	assert_int_equal(started(), 5);
	assert_true(fact_number(r, "plan", "max-time") == 10e9);
	dck_record_free(r);
	FILE *f = fopen("words", "r");
	assert_non_null(f);
	assert_non_null(fgets(words, sizeof words, f));
	fclose(f);
	assert_non_null(strstr(words, "--max-time="));
	assert_int_equal(sscanf(strstr(words, "--max-time="), "--max-time=%lluns", &ns), 1);
	assert_true(ns >= 9000000000 / 12 && ns <= 9000000000 / 6 + 1);

	assert_true(measure_plan_whole(&plain) == 9000000000);
	plan = plain;
	plan.max_time_given = true;
	assert_true(measure_plan_whole(&plan) == 0);
	plan = plain;
	plan.max_warmup_ns = 1000000000;
	assert_true(measure_plan_whole(&plan) == 0);
}

/* Starting takes too long relative to the time to measure, or the plan has one process. */
static void one_start(void **state)
{
	dck_subject s;
	dck_plan plan;
	dck_record *r;

	(void)state;
	for (int i = 0; i < 5; i++) {
		alone_init(&s, &plan);
		plan.max_time_ns = i == 0 ? 100000 : 50000000;
		if (i == 1) {
			plan.runs = 20;
			plan.max_time_ns = 60000000000;
		} else if (i == 2) {
			plan.statistic = "p90";
		} else if (i == 3) {
			plan.program = NULL;
		} else if (i == 4) {
			plan.trace = "trace.json";
		}
		r = alone_bench(&s, &plan);
		assert_int_equal(started(), 0);
		assert_true(fact_number(r, "method", "processes") == 1);
		assert_true(fact_number(r, "plan", "processes") == 1);
		assert_int_equal(fact_number(r, "method", "starting_share") > 0.5, i == 0);
		assert_non_null(dck_record_series(r, "latency"));
		dck_record_free(r);
	}
}

/* A caller that names no program has the one of this version in PATH, where it is none of another
 * version; else the record says why there is one start. */
static void the_program_is_searched(void **state)
{
	const char *path = getenv("PATH");
	struct stat asked;
	char *before = path ? strdup(path) : NULL, script[256], here[PATH_MAX + 32];

	(void)state;
	snprintf(here, sizeof here, "%s:/usr/bin:/bin", scratch_path);
	setenv("PATH", here, 1);
	for (int i = 0; i < 3; i++) {
		static const char *const why[] = {"neither beside",
						  "/deepclock' is not the program "
						  "of this version"};
		const bool found = i == 2;
		dck_subject s;
		dck_plan plan;
		dck_record *r;
		dck_err err;

		alone_init(&s, &plan);
		s.model.engine_option =
		    (dck_list){.item = {"ns=100000"}, .n = 1}; /* precise soon */
		plan.program = NULL;
		if (!found)
			plan.max_time_ns = 1000000000; /* of one process, on a noisy machine */
		snprintf(script, sizeof script,
			 "#!/bin/sh\n"
			 "[ $1 = --version ] && echo >> asked && echo deepclock %s && exit\n"
			 "exec ./program \"$@\"\n",
			 found ? dck_version() : "0.0.0");
		if (i > 0)
			scratch_text("./deepclock", script);
		r = alone_bench(&s, &plan);
		assert_int_equal(started(), found ? 5 : 0);
		assert_true(fact_number(r, "method", "processes") == (found ? 6 : 1));
		const dck_fact *share = dck_record_fact(r, "method", "starting_share");
		assert_int_equal(share->value.kind == DCK_VALUE_ABSENT, !found);
		assert_true(found || strstr(share->value.as.text, why[i]));
		dck_record_free(r);
		/* Where they are asked for, one process is not what was wanted. */
		plan.processes = 5;
		scratch_text("count", "0\n");
		if (found) {
			r = alone_bench(&s, &plan);
			assert_int_equal(started(), 5);
			dck_record_free(r);
		} else {
			assert_int_equal(dck_bench(&s, &plan, NULL, &r, &err), DCK_E_UNSUP);
			assert_non_null(strstr(err.msg, why[i]));
		}
	}
	/* Each that is of another version, and the right one once. */
	assert_int_equal(stat("asked", &asked), 0);
	assert_int_equal(asked.st_size, 3);
	unlink("deepclock");
	if (before)
		setenv("PATH", before, 1);
	free(before);
}

/* --- a fixed address layout */

static const char layout_program[] =
    "#!/bin/sh\n"
    "for word; do case $word in --worker-fd=*) fd=${word#*=};; esac; done\n"
    "cat /proc/self/personality >> layouts\n"
    "echo \"$*\" > words\n"
    "cat 1.json > /proc/self/fd/$fd\n";

/* Each start has it, all six are fresh processes that share the time, and this process is as
 * before. Where the system refuses it, all the same but the fact, which has the reason. */
static void starts_are_pinned(void **state)
{
	const bool before = os_address_layout_is_fixed();
	unsigned long layout;
	dck_subject s;
	dck_plan plan;
	dck_record *r;
	char line[4096];
	int n = 0;

	(void)state;
	const bool possible = os_address_layout_fix(&layout, NULL) == DCK_OK;
	if (possible)
		os_address_layout_restore(layout);
	unlink("layouts");
	alone_init(&s, &plan);
	plan.program = scratch_text("./layout_program", layout_program);
	plan.pin_start = true;
	r = alone_bench(&s, &plan);
	assert_true(fact_number(r, "method", "processes") == 6);
	const dck_fact *fixed = dck_record_fact(r, "method", "address_layout");
	assert_int_equal(fixed->value.kind, possible ? DCK_VALUE_TEXT : DCK_VALUE_ABSENT);
	assert_true(possible || strstr(fixed->value.as.text, "personality"));
	dck_record_free(r);
	FILE *f = fopen("layouts", "r");
	assert_non_null(f);
	while (fgets(line, sizeof line, f)) {
		assert_int_equal((strtoul(line, NULL, 16) & 0x40000) != 0, possible || before);
		n++;
	}
	fclose(f);
	assert_int_equal(n, 6);
	f = fopen("words", "r");
	assert_non_null(f);
	assert_non_null(fgets(line, sizeof line, f));
	fclose(f);
	assert_non_null(strstr(line, "--max-time=5000000001ns"));
	assert_null(strstr(line, "--pin-start"));
	assert_int_equal(os_address_layout_is_fixed(), before);
	/* This process has a layout already. */
	for (int i = 0; i < 3; i++) {
		dck_err err;

		alone_init(&s, &plan);
		plan.pin_start = true;
		if (i == 0)
			plan.processes = 1;
		else if (i == 1)
			plan.runs = 20;
		else
			s.kind = DCK_SUBJECT_FUNCTION;
		assert_int_equal(dck_bench(&s, &plan, NULL, &r, &err), DCK_E_ARG);
		assert_non_null(strstr(err.msg, "give --processes 2 or more"));
	}
}

/* --- functions */

typedef struct starter {
	size_t calls, fails_at;
} starter;

static dck_status function_start(void *self, size_t number, dck_record **ret, dck_err *err)
{
	starter *t = self;
	char path[32];

	assert_int_equal(number, ++t->calls);
	if (number == t->fails_at) {
		*err = (dck_err){.code = DCK_E_ENGINE, .msg = "it broke"};
		return err->code;
	}
	snprintf(path, sizeof path, "%zu.json", number);
	return dck_record_load(path, ret, err);
}

/* Only its own program can start processes that have a function. */
static void functions_are_started_by_their_program(void **state)
{
	for (size_t fails_at = 0; fails_at < 4; fails_at += 3) {
		starter t = {.fails_at = fails_at};
		dck_subject s;
		dck_plan plan;
		dck_record *r;
		dck_err err;

		(void)state;
		alone_init(&s, &plan);
		dck_subject_init(&s);
		plan.processes = 5;
		assert_int_equal(dck_bench(&s, &plan, NULL, &r, &err), DCK_E_UNSUP);
		plan.start = function_start;
		plan.start_self = &t;
		r = alone_bench(&s, &plan);
		assert_int_equal(t.calls, fails_at ? 3 : 5);
		assert_int_equal(r->incomplete, fails_at > 0);
		if (fails_at > 0)
			assert_non_null(strstr(dck_record_note(r, "engine-failed")->text,
					       "process 3 of 5 failed: it broke"));
		else
			metric_is(r, "latency/median", 12, 10, 14, 0.9375);
		dck_record_free(r);
	}
}

/* What is measured in this process fails, which ends the whole; no other is started. */
static void the_first_start_fails(void **state)
{
	dck_subject s;
	dck_plan plan;
	dck_record *r;

	(void)state;
	alone_init(&s, &plan);
	s.model.engine_option = (dck_list){.item = {"fail_at=8"}, .n = 1};
	r = alone_bench(&s, &plan);
	assert_int_equal(started(), 0);
	assert_true(r->incomplete);
	assert_true(fact_number(r, "method", "processes") == 1);
	dck_record_free(r);
}

/* A device may serve one process: what this one measures is the result, with a note. A process that
 * was killed is a failure. */
static void the_second_start_fails(void **state)
{
	static const char refuses[] =
	    "#!/bin/sh\n"
	    "for word; do case $word in --worker-fd=*) fd=${word#*=};; esac; done\n"
	    "n=$(($(cat count) + 1))\n"
	    "echo $n > count\n"
	    "printf '!-6 the device is in use' > /proc/self/fd/$fd\n";
	dck_subject s;
	dck_plan plan;
	dck_record *r;

	(void)state;
	alone_init(&s, &plan);
	plan.max_time_ns = 10000000000; /* a busy machine has time for a second start */
	plan.program = scratch_text("./refuses", refuses);
	r = alone_bench(&s, &plan);
	assert_int_equal(started(), 1);
	assert_false(r->incomplete);
	assert_true(fact_number(r, "method", "processes") == 1);
	assert_true(dck_record_metric(r, "latency/median")->level > 0);
	assert_non_null(strstr(dck_record_note(r, "start-failed")->text,
			       "another process could not measure it: the device is in use;"));
	assert_int_equal(dck_record_fact(r, "method", "starting_share")->value.kind,
			 DCK_VALUE_ABSENT);
	dck_record_free(r);

	plan.program = "./missing";
	r = alone_bench(&s, &plan);
	assert_false(r->incomplete);
	assert_non_null(strstr(dck_record_note(r, "start-failed")->text, "./missing"));
	dck_record_free(r);

	plan.program = scratch_text("./crashes", "#!/bin/sh\nkill -SEGV $$\n");
	r = alone_bench(&s, &plan);
	assert_true(r->incomplete);
	assert_non_null(dck_record_note(r, "engine-failed"));
	dck_record_free(r);
}

/* On this clock only the work takes time. It has two levels. */
typedef struct world {
	uint64_t ns, calls, rng, sojourn;
	double level, fall, run_ns;
} world;

static uint64_t world_now(void *self)
{
	return ((world *)self)->ns;
}

static int world_work(void *arg)
{
	world *w = arg;

	if (w->calls++ % w->sojourn == 0)
		w->level = 1 + 0.3 * (double)rng_below(&w->rng, 2);
	w->ns +=
	    (uint64_t)(w->run_ns * w->level * (1 + 3 * w->fall / (1 + 0.002 * (double)w->calls)));
	return 0;
}

/* Noise hides a change for as long as one warms up: several starts show more. A change that is
 * shown is warmed up as for one start, and so are slow runs, whose warm-up alone takes too long; in
 * the time of the whole command what that took is missing from the measurement. */
static void noise_is_left_to_starts(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		const bool falls = i == 1, slow = i >= 2, whole = i == 3;
		world w = {.rng = slow ? 5 : 3,
			   .fall = falls,
			   .run_ns = slow ? 90e6 : 1e6,
			   .sojourn = slow ? 4 : 50};
		const dck_clock clock = {
		    .name = "fake", .now_ns = world_now, .self = &w, .tick_ns = 1, .cost_ns = 16};
		dck_subject s;
		dck_plan asked;
		measure_plan plan;
		dck_record *r;

		dck_subject_init(&s);
		s.kind = DCK_SUBJECT_FUNCTION;
		s.function = world_work;
		s.arg = &w;
		dck_plan_init(&asked);
		asked.clock = &clock;
		assert_int_equal(measure_plan_check(&asked, &plan, NULL), DCK_OK);
		plan.starts = MEASURE_STARTS;
		plan.whole_ns = whole ? measure_plan_whole(&asked) : 0;
		assert_int_equal(measure_run_here(&s, &plan, NULL, &r, NULL), DCK_OK);
		const double share = fact_number(r, "method", "starting_share");
		if (whole) {
			const double took = dck_record_value(r, "time/warmup") +
					    dck_record_value(r, "time/measured");

			assert_true(fact_number(r, "plan", "max-time") < 8e9);
			assert_true(took > 8.5e9 && took < 9.5e9);
		} else if (falls || slow) {
			assert_true(share > 0.5);
			assert_true(fact_number(r, "plan", "max-time") == 10e9);
			assert_true(dck_record_value(r, "time/warmup") > 1.5e9);
		} else {
			assert_true(share >= 0.4 && share <= 0.5);
			assert_true(fact_number(r, "plan", "max-time") < 1.7e9);
			assert_non_null(dck_record_note(r, "not-steady"));
		}
		dck_record_free(r);
	}
}

int test_processes(void);
int test_processes(void)
{
	const struct CMUnitTest tests[] = {
	    SCRATCH_TEST(one_of_six_is_slow),
	    SCRATCH_TEST(one_ends_in_its_warmup),
	    SCRATCH_TEST(any_percentile_is_of_all_runs),
	    SCRATCH_TEST(what_slow_starts_have),
	    SCRATCH_TEST(all_starts_differ),
	    SCRATCH_TEST(starts_at_two_levels),
	    SCRATCH_TEST(starts_agree),
	    SCRATCH_TEST(undisturbed_runs_of_some),
	    SCRATCH_TEST(six_starts),
	    SCRATCH_TEST(starting_is_part_of_the_default),
	    SCRATCH_TEST(one_start),
	    SCRATCH_TEST(the_program_is_searched),
	    SCRATCH_TEST(starts_are_pinned),
	    SCRATCH_TEST(functions_are_started_by_their_program),
	    SCRATCH_TEST(the_first_start_fails),
	    SCRATCH_TEST(the_second_start_fails),
	    cmocka_unit_test(noise_is_left_to_starts),
	};

	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
