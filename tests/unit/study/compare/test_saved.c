/* test_saved.c - comparison of saved records: exact ratios, verdicts and refusals.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "saved_build.h"
#include "fault_alloc.h"
#include "stat/stat.h"
#include <stdio.h>

static dck_record *latency(const char *name, double v, double lo, double hi)
{
	return saved_metric(name, "latency/median", v, lo, hi);
}

static void the_interval_adds_squares_on_the_logarithm(void **state)
{
	dck_record *a = latency("a", 100, 98, 103), *b = latency("b", 110, 107, 112);
	dck_record *r = compare_two(a, b, NULL);
	const dck_table *t = dck_record_table(r, "compare/alternatives");

	(void)state;
	/* 1.1 exp(-hypot(ln 110/107, ln 103/100)), 1.1 exp(hypot(ln 112/110, ln 100/98)) */
	metric_is(r, "compare/ratio", 1.1, 1.0563651280913293, 1.1301843407449343, 0.95);
	near(dck_record_value(r, "compare/resolution"), 0.03435022851335952);
	verdict_is(r, "slower", 3);
	assert_string_equal(fact_text(r, "compare", "metric"), "latency/median");
	assert_non_null(t);
	assert_int_equal(t->nrows, 2);
	near(dck_table_cell(t, 0, "time")->value.as.r, 100);
	near(dck_table_cell(t, 0, "time")->hi, 103);
	assert_int_equal(dck_table_cell(t, 0, "ratio")->value.kind, DCK_VALUE_ABSENT);
	near(dck_table_cell(t, 1, "difference")->value.as.r, 10);
	near(dck_table_cell(t, 1, "difference")->lo, 10 - sqrt(18));
	near(dck_table_cell(t, 1, "difference")->hi, 10 + sqrt(8));
	assert_string_equal(dck_table_cell(t, 0, "verdict")->value.as.text, "baseline");
	assert_string_equal(dck_table_cell(t, 1, "verdict")->value.as.text, "slower");
	assert_non_null(dck_record_note(r, "not-interleaved"));
	assert_non_null(dck_record_note(r, "subjects-differ"));
	assert_null(dck_record_note(r, "undecided"));
	assert_false(r->incomplete);
	dck_record_free(r);
	/* The comparison in the other order is the inverse. */
	r = compare_two(b, a, NULL);
	metric_is(r, "compare/ratio", 1 / 1.1, 1 / 1.1301843407449343, 1 / 1.0563651280913293,
		  0.95);
	verdict_is(r, "faster", 0);
	dck_record_free(r);
	dck_record_free(a);
	dck_record_free(b);
}

static void verdicts_follow_the_margin(void **state)
{
	static const struct {
		double v, half, margin;
		const char *verdict;
		int gate;
	} cases[] = {
	    /* Both have the same relative half-width, so the ratio has sqrt(2) times it. */
	    {100, 0.1, 0.01, "same", 0},     {101.5, 0.1, 0.01, "slower", 3},
	    {98.5, 0.1, 0.01, "faster", 0},  {101, 0.5, 0.01, "undecided", 4},
	    {99, 0.5, 0.01, "undecided", 0}, {100, 0.9, 0.01, "undecided", 4},
	    {100, 0.9, 0.02, "same", 0},     {101.5, 0.1, 0.02, "same", 0},
	    {100.5, 0.1, 0, "slower", 3},    {100, 0.1, 0, "undecided", 4},
	    {110, 30, 0.01, "undecided", 4},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const double v = cases[i].v, half = cases[i].half;
		dck_record *a = latency("a", 100, 100 - half, 100 + half);
		dck_record *b = latency("b", v, v - half, v + half), *r;
		dck_compare_config c = plain();

		c.margin = cases[i].margin;
		r = compare_two(a, b, &c);
		verdict_is(r, cases[i].verdict, cases[i].gate);
		assert_int_equal(dck_record_note(r, "undecided") != NULL,
				 strcmp(cases[i].verdict, "undecided") == 0);
		dck_record_free(r);
		dck_record_free(a);
		dck_record_free(b);
	}
}

static void what_would_decide_is_said(void **state)
{
	/* Half-width 2 (times sqrt 2) at 1.03 with margin 1 %: 2.828 % to 1.96 %, squared. */
	dck_record *a = latency("a", 100, 98, 102), *b = latency("b", 103, 100.94, 105.06);
	dck_record *r = compare_two(a, b, NULL);
	dck_compare_config c = plain();

	(void)state;
	verdict_is(r, "undecided", 4);
	assert_non_null(strstr(dck_record_note(r, "undecided")->text, "about 2.1 times as many"));
	dck_record_free(r);
	dck_record_free(b);
	b = latency("b", 101, 100.5, 101.5);
	c.margin = 0.01;
	r = compare_two(a, b, &c);
	assert_non_null(strstr(dck_record_note(r, "undecided")->text, "at the margin"));
	dck_record_free(r);
	dck_record_free(a);
	dck_record_free(b);
}

static void more_throughput_is_faster(void **state)
{
	dck_record *a = saved_metric("a", "throughput/items", 200, 190, 210);
	dck_record *b = saved_metric("b", "throughput/items", 220, 215, 230), *r;
	dck_compare_config c = plain();

	(void)state;
	c.metric = "throughput/items";
	r = compare_two(a, b, &c);
	metric_is(r, "compare/ratio", 0.9090909090909091, 0.8494342161271438, 0.95946921211479,
		  0.95);
	verdict_is(r, "faster", 0);
	near(dck_table_cell(dck_record_table(r, "compare/alternatives"), 1, "difference")
		 ->value.as.r,
	     20);
	near(dck_table_cell(dck_record_table(r, "compare/alternatives"), 1, "value")->value.as.r,
	     220);
	dck_record_free(r);
	dck_record_free(a);
	dck_record_free(b);
}

static void one_number_without_an_interval_decides_nothing(void **state)
{
	dck_record *a = counted("a", "memory/peak_rss", 1000);
	dck_record *b = counted("b", "memory/peak_rss", 3000), *r;
	dck_compare_config c = plain();

	(void)state;
	c.metric = "memory/peak_rss";
	r = compare_two(a, b, &c);
	verdict_is(r, "undecided", 4);
	near(dck_record_value(r, "compare/ratio"), 3);
	assert_non_null(strstr(dck_record_note(r, "undecided")->text, "without an interval"));
	dck_record_free(r);
	dck_record_free(a);
	dck_record_free(b);
}

/* Holm: with two alternatives the first test is at 97.5 %. */
static void several_alternatives_share_the_error(void **state)
{
	dck_record *a = latency("a", 100, 99.9999, 100.0001);
	/* Its interval is above 1.01 at 95 % (half 0.90 %) but not at 97.5 % (half 1.03 %). */
	dck_record *weak = latency("weak", 102, 102 * exp(-0.009), 102 * exp(0.009));
	dck_record *strong = latency("strong", 110, 109.9, 110.1);
	dck_record *open = latency("open", 101, 100, 102), *r;

	(void)state;
	/* Once 'strong' is decided, 'weak' gets the whole alpha. */
	r = compare_n((const dck_record *[]){a, weak, strong}, 3, NULL);
	assert_string_equal(fact_text(r, "compare", "verdict/weak"), "slower");
	assert_string_equal(fact_text(r, "compare", "verdict/strong"), "slower");
	near(dck_record_metric(r, "compare/ratio/strong")->level, 0.975);
	near(dck_record_metric(r, "compare/ratio/weak")->level, 0.95);
	near(dck_record_metric(r, "compare/ratio")->level, 0.95);
	dck_record_free(r);
	/* With another undecided alternative it stays undecided. */
	r = compare_n((const dck_record *[]){a, weak, open}, 3, NULL);
	verdict_is(r, "undecided", 4);
	assert_string_equal(fact_text(r, "compare", "verdict/open"), "undecided");
	near(dck_record_metric(r, "compare/ratio/weak")->level, 0.975);
	/* The saved interval is scaled by the normal quantiles of both levels. */
	assert_true(fabs(log(dck_record_metric(r, "compare/ratio/weak")->hi / 1.02) -
			 0.009 * 1.1435938340116685) < 1e-6);
	dck_record_free(r);
	/* Counts and metrics without an interval take no alpha from the others. */
	dck_record *none = counted("none", "latency/median", 100);
	r = compare_n((const dck_record *[]){a, weak, none}, 3, NULL);
	assert_string_equal(fact_text(r, "compare", "verdict/weak"), "slower");
	assert_string_equal(fact_text(r, "compare", "verdict/none"), "undecided");
	assert_int_equal(dck_record_gate(r), 3);
	dck_record_free(r);
	dck_record_free(a);
	dck_record_free(weak);
	dck_record_free(strong);
	dck_record_free(open);
	dck_record_free(none);
}

/* --- samples */

#define RUNS 400

static void runs_make(double *x, size_t n, double centre, unsigned seed)
{
	for (size_t i = 0; i < n; i++) {
		seed = seed * 1664525u + 1013904223u;
		x[i] = centre * (1 + 0.02 * ((double)(seed >> 8) / (double)(1u << 24) - 0.5));
	}
}

static dck_record *with_runs(const char *name, double *x, size_t n, size_t warmup)
{
	record_builder *b = saved_begin(name, name);

	/* The saved metric is wrong: the samples decide. */
	record_metric_interval(b, "latency/median", 1, 0.9, 1.1, 0.9, "made up");
	record_metric_absent(b, "latency/p90", "made up");
	record_metric_absent(b, "latency/min", "made up");
	record_metric_absent(b, "latency/p999", "made up");
	record_metric_real(b, "latency/max", 5000, "of all runs, some of which are not kept");
	record_series(b, "latency", DCK_UNIT_NS, NULL, x, n, warmup);
	return saved_end(b);
}

static void samples_give_the_interval_at_any_level(void **state)
{
	static double x[RUNS + 3], y[RUNS], scratch[2 * RUNS + 65536];
	dck_record *a, *b, *r;
	stat_estimate e, f;
	dck_compare_config c = plain();

	(void)state;
	assert_true(stat_scratch(RUNS) <= sizeof scratch / sizeof *scratch);
	x[0] = x[1] = x[2] = 1e9; /* warm-up */
	runs_make(x + 3, RUNS, 1000, 1);
	runs_make(y, RUNS, 1100, 2);
	a = with_runs("a", x, RUNS + 3, 3);
	b = with_runs("b", y, RUNS, 0);
	stat_estimate_one(STAT_MEDIAN, x + 3, RUNS, 0.99, scratch, &e);
	stat_estimate_one(STAT_MEDIAN, y, RUNS, 0.99, scratch, &f);
	assert_true(e.has_interval && f.has_interval);
	c.level = 0.99;
	r = compare_two(a, b, &c);
	metric_is(r, "compare/ratio", f.value / e.value,
		  f.value / e.value * exp(-hypot(log(f.value / f.lo), log(e.hi / e.value))),
		  f.value / e.value * exp(hypot(log(f.hi / f.value), log(e.value / e.lo))), 0.99);
	verdict_is(r, "slower", 3);
	assert_non_null(dck_record_note(r, "one-process"));
	dck_record_free(r);
	c = plain();
	c.metric = "latency/p90";
	stat_estimate_one(STAT_P90, x + 3, RUNS, 0.95, scratch, &e);
	stat_estimate_one(STAT_P90, y, RUNS, 0.95, scratch, &f);
	r = compare_two(a, b, &c);
	near(dck_record_value(r, "compare/ratio"), f.value / e.value);
	dck_record_free(r);
	/* A tail beyond so few runs: undecided, with the reason. */
	c.metric = "latency/p999";
	r = compare_two(a, b, &c);
	verdict_is(r, "undecided", 4);
	assert_int_equal(dck_record_metric(r, "compare/ratio")->value.kind, DCK_VALUE_ABSENT);
	assert_non_null(strstr(dck_record_note(r, "undecided")->text, "independent runs"));
	dck_record_free(r);
	/* The minimum has no interval. */
	c = plain();
	for (c.statistic = 0; strcmp(dck_compare_statistics[c.statistic], "min") != 0;)
		c.statistic++;
	r = compare_two(a, b, &c);
	verdict_is(r, "undecided", 4);
	assert_true(dck_record_value(r, "compare/ratio") > 1.05);
	dck_record_free(r);
	/* The maximum is that of all runs, kept or not. */
	c.metric = "latency/max";
	r = compare_two(a, b, &c);
	near(dck_record_value(r, "compare/ratio"), 1);
	dck_record_free(r);
	dck_record_free(a);
	dck_record_free(b);
}

static void runs_that_are_no_number_are_left_out(void **state)
{
	static double x[RUNS], y[RUNS + 2];
	dck_record *a, *b, *r;

	(void)state;
	runs_make(x, RUNS, 1000, 1);
	memcpy(y + 1, x, sizeof x);
	y[0] = NAN;
	y[RUNS + 1] = INFINITY;
	a = with_runs("a", x, RUNS, 0);
	b = with_runs("b", y, RUNS + 2, 0);
	r = compare_two(a, b, NULL);
	near(dck_record_value(r, "compare/ratio"), 1);
	assert_true(dck_record_metric(r, "compare/ratio")->level > 0);
	dck_record_free(r);
	dck_record_free(b);
	/* No sample is left: the saved metric is used. */
	for (size_t i = 0; i < RUNS; i++)
		y[i] = NAN;
	b = with_runs("b", y, RUNS, 0);
	r = compare_two(a, b, NULL);
	verdict_is(r, "undecided", 4);
	dck_record_free(r);
	dck_record_free(a);
	dck_record_free(b);
}

static dck_record *with_processes(const char *name, const double *medians, size_t n)
{
	record_builder *b = saved_begin(name, name);
	char tag[64];

	record_fact_int(b, "method", "processes", DCK_UNIT_ONE, (int64_t)n);
	record_metric_absent(b, "latency/median", "made up");
	record_metric_absent(b, "latency/min", "made up");
	for (size_t i = 0; i < n; i++) {
		const double x[] = {9e9, medians[i] + 10, medians[i] - 10, medians[i]};

		snprintf(tag, sizeof tag, "latency/process/%zu", i + 1);
		record_series(b, tag, DCK_UNIT_NS, NULL, x, 4, 1);
	}
	return saved_end(b);
}

static void processes_give_the_interval_between_them(void **state)
{
	static const double from[] = {100, 101, 102, 103, 104}, to[] = {120, 121, 119, 122, 118};
	dck_record *a = with_processes("a", from, 5), *b = with_processes("b", to, 5), *r;
	stat_estimate e, f;
	dck_compare_config c = plain();

	(void)state;
	stat_processes(from, 5, 0.95, &e);
	stat_processes(to, 5, 0.95, &f);
	r = compare_two(a, b, NULL);
	metric_is(r, "compare/ratio", 120.0 / 102,
		  f.value / e.value * exp(-hypot(log(f.value / f.lo), log(e.hi / e.value))),
		  f.value / e.value * exp(hypot(log(f.hi / f.value), log(e.value / e.lo))), 0.95);
	verdict_is(r, "slower", 3);
	assert_null(dck_record_note(r, "one-process"));
	dck_record_free(r);
	/* The minima of processes do have an interval: between the processes. */
	c.statistic = 2;
	assert_string_equal(dck_compare_statistics[2], "min");
	r = compare_two(a, b, &c);
	near(dck_record_value(r, "compare/ratio"), 110.0 / 92);
	verdict_is(r, "slower", 3);
	dck_record_free(r);
	dck_record_free(b);
	/* A single process that ended early gives no interval. */
	b = with_processes("b", to, 1);
	r = compare_two(a, b, NULL);
	verdict_is(r, "undecided", 4);
	dck_record_free(r);
	dck_record_free(a);
	dck_record_free(b);
}

/* --- against all earlier records */

typedef struct change {
	const char *section, *key, *text;
	int64_t number; /* if text is NULL */
} change;

static dck_record *changed(const char *name, const change *c, size_t n)
{
	record_builder *b = saved_begin(name, name);

	for (size_t i = 0; i < n; i++)
		if (c[i].text)
			record_fact_text(b, c[i].section, c[i].key, c[i].text);
		else
			record_fact_int(b, c[i].section, c[i].key, DCK_UNIT_ONE, c[i].number);
	record_metric_interval(b, "latency/median", 100, 99.9, 100.1, 0.95, "made up");
	return saved_end(b);
}

static void recordings_together_hold_what_lies_between_them(void **state)
{
	dck_record *before[] = {latency("m", 100, 99.9, 100.1), latency("m", 104, 103.9, 104.1),
				latency("m", 102, 101.9, 102.1), latency("m", 98, 97.9, 98.1)};
	dck_record *now = latency("m", 115, 114.9, 115.1), *loose, *r;
	const dck_record *all[] = {before[0], before[1], before[2], before[3], now};
	dck_compare_config c = plain();
	const dck_table *t;

	(void)state;
	c.pool = true;
	r = compare_n(all, 5, &c);
	/* t(97.5 %, 3) s sqrt(1 + 1/4) on logarithms. */
	metric_is(r, "compare/ratio", 1.1388930524965826, 1.0398423498997915, 1.2473788792599008,
		  0.95);
	verdict_is(r, "slower", 3);
	assert_non_null(dck_record_note(r, "pooled-baseline"));
	assert_null(dck_record_note(r, "not-interleaved"));
	near(fact_number(r, "method", "scatter"), 0.025901874382588723);
	t = dck_record_table(r, "compare/alternatives");
	assert_int_equal(t->nrows, 6);
	assert_string_equal(dck_table_cell(t, 0, "subject")->value.as.text, "all before");
	near(dck_table_cell(t, 0, "time")->value.as.r, 100.97524060569776);
	near(dck_table_cell(t, 0, "time")->lo, 96.94893742937194);
	near(dck_table_cell(t, 0, "time")->hi, 105.16875672625521);
	assert_string_equal(dck_table_cell(t, 1, "verdict")->value.as.text, "part of it");
	near(dck_table_cell(t, 5, "difference")->value.as.r, 115 - 100.97524060569776);
	assert_string_equal(dck_table_cell(t, 5, "verdict")->value.as.text, "slower");
	dck_record_free(r);
	/* Each pair alone has a verdict; a difference within the scatter has none. */
	r = compare_two(before[0], before[1], NULL);
	verdict_is(r, "slower", 3);
	dck_record_free(r);
	all[4] = before[1];
	r = compare_n(all, 5, &c);
	verdict_is(r, "undecided", 4);
	assert_non_null(strstr(dck_record_note(r, "undecided")->text, "scatter by 2.6 %"));
	assert_non_null(dck_record_note(r, "same-record"));
	dck_record_free(r);
	/* A record less precise than the scatter keeps its own interval. */
	loose = latency("m", 115, 115 / 1.2, 115 * 1.2);
	all[4] = loose;
	r = compare_n(all, 5, &c);
	metric_is(r, "compare/ratio", 1.1388930524965826, 1.1388930524965826 / 1.2,
		  1.1388930524965826 * 1.2, 0.95);
	dck_record_free(r);
	refused_n(all + 2, 3, &c, DCK_E_ARG, "fewer than 3");
	for (size_t i = 0; i < 4; i++)
		dck_record_free(before[i]);
	dck_record_free(now);
	dck_record_free(loose);
}

static void together_needs_values_of_one_kind(void **state)
{
	const change one[] = {{"engine", "threads", "1", 0}};
	dck_record *a = latency("m", 100, 99, 101), *other = changed("m", one, 1);
	dck_record *zero = latency("m", 0, 0, 0), *r;
	dck_record *flops = counted("f", "cost/flops", 5), *more = counted("g", "cost/flops", 6);
	dck_record *none = counted("n", "cost/flops", 0);
	dck_record *slow = saved_metric("m", "throughput/items", 50, 49, 51);
	dck_record *fast = saved_metric("m", "throughput/items", 100, 99, 101);
	dck_compare_config c = plain();

	(void)state;
	c.pool = true;
	r = compare_n((const dck_record *[]){a, other, a, a}, 4, &c);
	assert_non_null(dck_record_note(r, "pooled-unlike"));
	dck_record_free(r);
	r = compare_n((const dck_record *[]){a, zero, a, a}, 4, &c);
	verdict_is(r, "undecided", 4);
	assert_int_equal(dck_record_metric(r, "compare/ratio")->value.kind, DCK_VALUE_ABSENT);
	dck_record_free(r);
	r = compare_n((const dck_record *[]){flops, flops, flops, more}, 4, &c);
	verdict_is(r, "slower", 3);
	near(dck_record_value(r, "compare/ratio"), 1.2);
	dck_record_free(r);
	r = compare_n((const dck_record *[]){none, none, none, none}, 4, &c);
	verdict_is(r, "same", 0);
	assert_null(dck_record_note(r, "pooled-baseline"));
	dck_record_free(r);
	c.metric = "throughput/items";
	r = compare_n((const dck_record *[]){fast, fast, fast, slow}, 4, &c);
	verdict_is(r, "slower", 3);
	near(dck_record_value(r, "compare/ratio"), 2);
	near(dck_table_cell(dck_record_table(r, "compare/alternatives"), 4, "difference")
		 ->value.as.r,
	     -50);
	dck_record_free(r);
	dck_record_free(a);
	dck_record_free(other);
	dck_record_free(zero);
	dck_record_free(flops);
	dck_record_free(more);
	dck_record_free(none);
	dck_record_free(slow);
	dck_record_free(fast);
}

/* --- refusals */

static void other_machines_and_methods_are_refused(void **state)
{
	static const struct {
		change what;
		const char *says, *code;
	} cases[] = {
	    {{"host", "cpu", "another", 0},
	     "host cpu 'one processor' and 'another'",
	     "machine-differs"},
	    {{"host", "cpus_online", NULL, 2}, "cpus_online '4' and '2'", "machine-differs"},
	    {{"host", "kernel", "Linux 6.1.2 aarch64", 0}, "different machines", "machine-differs"},
	    {{"host", "kernel", "Darwin 6.1.2 x86_64", 0}, "different machines", "machine-differs"},
	    {{"host", "governor", "powersave", 0},
	     "the system does not tell' and 'powersave'",
	     "machine-differs"},
	    {{"method", "clock", "CLOCK_MONOTONIC", 0},
	     "measured in different ways (method clock",
	     "method-differs"},
	    {{"method", "enclosed", "all of it", 0}, "enclosed", "method-differs"},
	    {{"method", "group", NULL, 7}, "group '1' and '7'", "method-differs"},
	    {{"plan", "slo/1", "p99<=20ms", 0},
	     "plan slo/1 'not given' and 'p99<=20ms'",
	     "method-differs"},
	};
	dck_record *a = latency("a", 100, 99.9, 100.1);

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		dck_record *b = changed("b", &cases[i].what, 1), *r;
		dck_compare_config c = plain();

		refused_two(a, b, NULL, cases[i].says);
		refused_two(a, b, NULL, "--force");
		c.force = true;
		r = compare_two(a, b, &c);
		verdict_is(r, "same", 0);
		assert_non_null(dck_record_note(r, cases[i].code));
		assert_int_equal(dck_record_note(r, cases[i].code)->severity, DCK_WARN);
		/* The result has no machine facts if the machines differ. */
		assert_int_equal(dck_record_fact(r, "host", "cpu") == NULL,
				 strcmp(cases[i].code, "machine-differs") == 0);
		dck_record_free(r);
		dck_record_free(b);
	}
	dck_record_free(a);
}

static void what_a_comparison_is_about_is_told(void **state)
{
	static const struct {
		change what;
		const char *code, *says;
	} cases[] = {
	    {{"engine", "threads", "1", 0}, "settings-differ", "engine threads '2' and '1'"},
	    {{"engine", "version", "1.32.0", 0}, "settings-differ", "'1.31.1' and '1.32.0'"},
	    {{"plan", "shape/1", "x=1x3", 0}, "settings-differ", "shape/1 'not given' and 'x=1x3'"},
	    {{"host", "kernel", "Linux 6.1.9 x86_64", 0}, "state-differs", "6.1.9"},
	    {{"host", "memory", NULL, INT64_C(20000000000)}, "state-differs", "memory"},
	    {{"method", "processes", NULL, 5}, "state-differs", "processes '1' and '5'"},
	    {{"subject", "input/x", "1x3 float32", 0}, "subjects-differ", "input/x"},
	    {{"subject", "items_per_run", NULL, 8}, "items-differ", "throughput/items"},
	    {{"method", "transfers", "none", 0}, "not-checked", "transfers"},
	};
	dck_record *a = latency("same", 100, 99.9, 100.1);

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		dck_record *b = changed("same", &cases[i].what, 1);
		dck_record *r = compare_two(a, b, NULL);
		const dck_note *note = dck_record_note(r, cases[i].code);

		assert_non_null(note);
		if (!strstr(note->text, cases[i].says))
			fail_msg("'%s' does not say '%s'", note->text, cases[i].says);
		assert_string_equal(fact_text(r, "host", "cpu"), "one processor");
		dck_record_free(r);
		dck_record_free(b);
	}
	/* A little memory reserved by the kernel is not reported, nor a group that is not another
	 * kind of sample. */
	const change little[] = {{"host", "memory", NULL, INT64_C(16000100000)}};
	dck_record *b = changed("same", little, 1), *r = compare_two(a, b, NULL);
	assert_null(dck_record_note(r, "state-differs"));
	dck_record_free(r);
	dck_record_free(b);
	dck_record_free(a);
	const change group[] = {{"method", "group", NULL, 8}, {"method", "group", NULL, 9}};
	a = changed("same", &group[0], 1);
	b = changed("same", &group[1], 1);
	r = compare_two(a, b, NULL);
	verdict_is(r, "same", 0);
	dck_record_free(r);
	dck_record_free(b);
	dck_record_free(a);
}

static void names_are_unique_and_say_what_differs(void **state)
{
	const change one[] = {{"engine", "threads", "1", 0}};
	dck_record *a = latency("m", 100, 99, 101), *b = changed("m", one, 1);
	dck_record *again = latency("m", 100, 99, 101), *other = latency("n", 100, 99, 101);
	char long_name[300];
	dck_record *r;

	(void)state;
	r = compare_two(a, b, NULL);
	const dck_table *t = dck_record_table(r, "compare/alternatives");
	assert_string_equal(dck_table_cell(t, 0, "subject")->value.as.text, "threads=2");
	assert_string_equal(dck_table_cell(t, 1, "subject")->value.as.text, "threads=1");
	assert_string_equal(fact_text(r, "subject", "name"), "m");
	dck_record_free(r);
	r = compare_two(a, again, NULL);
	t = dck_record_table(r, "compare/alternatives");
	assert_string_equal(dck_table_cell(t, 0, "subject")->value.as.text, "m");
	assert_string_equal(dck_table_cell(t, 1, "subject")->value.as.text, "m (2)");
	dck_record_free(r);
	r = compare_n((const dck_record *[]){a, b, other, again}, 4, NULL);
	t = dck_record_table(r, "compare/alternatives");
	assert_string_equal(dck_table_cell(t, 1, "subject")->value.as.text, "m threads=1");
	assert_string_equal(dck_table_cell(t, 2, "subject")->value.as.text, "n threads=2");
	assert_string_equal(dck_table_cell(t, 3, "subject")->value.as.text, "m threads=2 (2)");
	assert_non_null(dck_record_metric(r, "compare/ratio/n threads=2"));
	dck_record_free(r);
	dck_record_free(other);
	/* A name is truncated at a character boundary. */
	memset(long_name, 0, sizeof long_name);
	for (size_t i = 0; i + 3 < sizeof long_name - 1; i += 3)
		memcpy(long_name + i, "\xe2\x82\xac", 3);
	other = latency(long_name, 100, 99, 101);
	r = compare_two(a, other, NULL);
	t = dck_record_table(r, "compare/alternatives");
	const char *cut = dck_table_cell(t, 1, "subject")->value.as.text;
	assert_true(strlen(cut) < 80 && strcmp(cut + strlen(cut) - 3, "...") == 0);
	assert_int_equal((strlen(cut) - 3) % 3, 0);
	dck_record_free(r);
	dck_record_free(a);
	dck_record_free(b);
	dck_record_free(again);
	dck_record_free(other);
}

static void what_cannot_be_compared_is_refused(void **state)
{
	dck_record *a = latency("a", 100, 99, 101), *c = counted("c", "cost/flops", 5);
	dck_record *empty = saved_end(saved_begin("empty", "empty"));
	dck_record other = *a;
	const dck_record *many[DCK_ALTERNATIVES_MAX + 1];
	dck_compare_config config = plain();

	(void)state;
	refused_two(a, c, NULL,
		    "'c' (of 'deepclock bench something') has no metric "
		    "'latency/median'; --metric compares "
		    "cost/flops");
	refused_two(c, a, NULL, "'a' (of 'deepclock bench something') has no metric 'cost/flops'");
	refused_two(a, empty, NULL, "no metric to compare");
	config.metric = "latency/medain";
	refused_two(a, a, &config, "did you mean 'latency/median'?");
	config.metric = "runs/count";
	dck_record *runs = counted("runs", "runs/count", 5);
	refused_two(runs, runs, &config, "neither better nor worse");
	for (size_t i = 0; i < DCK_ALTERNATIVES_MAX + 1; i++)
		many[i] = a;
	refused_n(many, 1, NULL, DCK_E_ARG, "at least two records");
	refused_n(many, 0, NULL, DCK_E_ARG, "at least two records");
	refused_n(many, DCK_ALTERNATIVES_MAX + 1, NULL, DCK_E_ARG, "at most 16");
	other.schema = 7;
	many[1] = &other;
	refused_n(many, 2, NULL, DCK_E_VERSION, "record 2 has schema 7");
	dck_record_free(runs);
	dck_record_free(a);
	dck_record_free(c);
	dck_record_free(empty);
}

static void doubts_of_the_records_are_passed_on(void **state)
{
	record_builder *b = saved_begin("b", "same id");
	dck_record *a = saved_metric("a", "latency/median", 100, 99, 101), *other, *r;

	(void)state;
	record_set_incomplete(b, true);
	record_note_as(b, DCK_WARN, "drift", "it drifted");
	record_note_as(b, DCK_WARN, "drift", "and again");
	record_note_as(b, DCK_INFO, "outliers", "some");
	record_metric_interval(b, "latency/median", 100, 99, 101, 0.95, "made up");
	other = saved_end(b);
	r = compare_two(a, other, NULL);
	assert_true(r->incomplete);
	assert_non_null(strstr(dck_record_note(r, "incomplete-record")->text, "'b'"));
	assert_non_null(
	    strstr(dck_record_note(r, "records-doubted")->text, "themselves: drift ('b');"));
	assert_null(dck_record_note(r, "same-record"));
	dck_record_free(r);
	r = compare_two(other, other, NULL);
	assert_non_null(dck_record_note(r, "same-record"));
	dck_record_free(r);
	dck_record_free(a);
	dck_record_free(other);
}

static void records_are_compared_by_what_they_are_of(void **state)
{
	static const struct {
		const char *tag, *other;
		double value;
	} cases[] = {{"throughput/best", "latency/median", 5},
		     {"load/peak_rate", "latency/median", 5},
		     {"latency/median", "cost/flops", 5},
		     {"accuracy/overall", "runs/count", 0.5}};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		record_builder *b = saved_begin("a", "a");
		dck_record *a, *r;

		record_metric_int(b, cases[i].other, 7, "made up");
		record_metric_real(b, cases[i].tag, cases[i].value, "made up");
		a = saved_end(b);
		r = compare_two(a, a, NULL);
		assert_string_equal(fact_text(r, "compare", "metric"), cases[i].tag);
		dck_record_free(r);
		dck_record_free(a);
	}
}

/* Each fact is looked up in the other record: many facts must not take minutes. */
static void many_facts_take_no_minutes(void **state)
{
	enum { MANY = 100000 };
	static dck_fact facts[MANY];
	static char keys[MANY][24];
	dck_record *a = latency("a", 100, 99, 101), many = *a;
	dck_record *r;

	(void)state;
	for (int kind = 0; kind < 2; kind++) {
		for (size_t i = 0; i < MANY; i++) {
			snprintf(keys[i], sizeof keys[i], kind ? "input/%zu" : "%zu", i);
			facts[i] = (dck_fact){kind ? "subject" : "host",
					      keys[i],
					      DCK_UNIT_NONE,
					      {.kind = DCK_VALUE_TEXT, .as.text = "x"}};
		}
		many.facts = facts;
		many.nfacts = MANY;
		r = compare_two(&many, &many, NULL);
		verdict_is(r, "undecided", 4);
		dck_record_free(r);
	}
	dck_record_free(a);
}

/* Neither the runs of one process nor several starts within seconds show the variation between
 * recordings. */
static void what_lies_between_recordings_is_added(void **state)
{
	double near_runs[200], far_runs[200];
	dck_compare_config c = plain();

	(void)state;
	for (size_t i = 0; i < 200; i++) {
		near_runs[i] = 1000 + (double)(i * 7 % 11) / 10;
		far_runs[i] = near_runs[i] * 1.04;
	}
	for (int processes = 0; processes < 2; processes++) {
		dck_record *pair[2], *r;

		for (int k = 0; k < 2; k++) {
			record_builder *b = saved_begin(k ? "b" : "a", k ? "2" : "1");
			const double *runs = k ? far_runs : near_runs;

			if (!processes)
				record_series(b, "latency", DCK_UNIT_NS, NULL, runs, 200, 0);
			for (int i = 0; processes && i < 5; i++) {
				char tag[40];

				snprintf(tag, sizeof tag, "latency/process/%d", i + 1);
				record_series(b, tag, DCK_UNIT_NS, NULL, runs + 40 * i, 40, 0);
			}
			record_metric_interval(b, "latency/median", runs[0], runs[0] * 0.999,
					       runs[0] * 1.001, 0.95, "made");
			pair[k] = saved_end(b);
		}
		c.run_to_run = 0;
		r = compare_two(pair[0], pair[1], &c);
		verdict_is(r, "slower", 3);
		dck_record_free(r);
		c.run_to_run = 0.05;
		r = compare_two(pair[0], pair[1], &c);
		verdict_is(r, "undecided", 4);
		if (!processes) /* 5 % at each side, plus a little from the runs */
			assert_true(fabs(log(dck_record_metric(r, "compare/ratio")->hi /
					     dck_record_value(r, "compare/ratio")) -
					 0.05) < 1e-4);
		dck_record_free(r);
		dck_record_free(pair[0]);
		dck_record_free(pair[1]);
	}
}

static void the_gate_of_another_record_is_open(void **state)
{
	dck_record *a = latency("a", 100, 99, 101);

	(void)state;
	assert_int_equal(dck_record_gate(a), DCK_VERDICT_MET);
	dck_record_free(a);
}

static void memory_may_end_anywhere(void **state)
{
	static double x[RUNS];
	static const double medians[] = {100, 101, 99};
	const change one[] = {{"engine", "threads", "1", 0}};
	dck_record *a, *b, *c, *r = NULL;

	(void)state;
	runs_make(x, RUNS, 100, 1);
	x[5] = NAN;
	a = with_runs("m", x, RUNS, 2);
	b = with_processes("m", medians, 3);
	c = changed("m", one, 1);
	const dck_record *const all[] = {a, b, c};
	for (size_t at = 1;; at++) {
		fault_alloc f;
		dck_err err = {0};
		dck_status status;

		fault_alloc_begin(&f, at);
		status = dck_compare_records(all, 3, NULL, &r, &err);
		if (status == DCK_OK)
			dck_record_free(r);
		else
			assert_int_equal(status, DCK_E_NOMEM);
		assert_int_equal(f.out, 0);
		dck_set_allocator(NULL);
		if (status == DCK_OK && f.calls < at)
			break;
		assert_true(at < 1000);
	}
	dck_record_free(a);
	dck_record_free(b);
	dck_record_free(c);
}

int test_saved(void);
int test_saved(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_interval_adds_squares_on_the_logarithm),
	    cmocka_unit_test(verdicts_follow_the_margin),
	    cmocka_unit_test(what_would_decide_is_said),
	    cmocka_unit_test(more_throughput_is_faster),
	    cmocka_unit_test(one_number_without_an_interval_decides_nothing),
	    cmocka_unit_test(several_alternatives_share_the_error),
	    cmocka_unit_test(samples_give_the_interval_at_any_level),
	    cmocka_unit_test(runs_that_are_no_number_are_left_out),
	    cmocka_unit_test(processes_give_the_interval_between_them),
	    cmocka_unit_test(recordings_together_hold_what_lies_between_them),
	    cmocka_unit_test(together_needs_values_of_one_kind),
	    cmocka_unit_test(other_machines_and_methods_are_refused),
	    cmocka_unit_test(what_a_comparison_is_about_is_told),
	    cmocka_unit_test(names_are_unique_and_say_what_differs),
	    cmocka_unit_test(what_cannot_be_compared_is_refused),
	    cmocka_unit_test(doubts_of_the_records_are_passed_on),
	    cmocka_unit_test(records_are_compared_by_what_they_are_of),
	    cmocka_unit_test(many_facts_take_no_minutes),
	    cmocka_unit_test(the_gate_of_another_record_is_open),
	    cmocka_unit_test(what_lies_between_recordings_is_added),
	    cmocka_unit_test(memory_may_end_anywhere),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
