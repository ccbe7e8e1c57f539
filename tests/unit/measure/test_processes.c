/* test_processes.c - how the records of several processes become one, with exact numbers. The
 * program that is started is a script that returns records made here, one after the other.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/bench.h"
#include "record/build.h"
#include "scratch.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

typedef struct start {
	double median, half;
	const char *note; /* NULL: none */
} start;

static const char program[] =
    "#!/bin/sh\n"
    "for word; do case $word in --worker-fd=*) fd=${word#*=};; esac; done\n"
    "n=$(($(cat count) + 1))\n"
    "echo $n > count\n"
    "cat $n.json > /proc/self/fd/$fd\n";

static void start_save(const start *s, unsigned number)
{
	record_builder *b = record_new();
	dck_record *r;
	char path[32];

	record_fact_text(b, "method", "rate", "median");
	record_metric_interval(b, "latency/median", s->median, s->median - s->half,
			       s->median + s->half, 0.95, "a");
	record_metric_real(b, "latency/mean", s->median + 1, "b");
	record_metric_real(b, "latency/max", 2 * s->median, "c");
	record_metric_real(b, "throughput/items", 1e9 / s->median, "d");
	if (s->note)
		record_note(b, s->note, "here");
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

/* Six starts, of which one takes 2.4 times as long: it moves neither median nor rate. */
static void one_of_six_is_slow(void **state)
{
	static const start starts[] = {{13, 0.1, "turbo"}, {10, 0.1, NULL}, {30, 0.1, "steal"},
				       {12, 0.1, "turbo"}, {14, 0.1, NULL}, {11, 0.1, NULL}};
	dck_record *r = starts_bench(starts, 6);
	const dck_note *n = dck_record_note(r, "slow-start");

	(void)state;
	metric_is(r, "latency/median", 12.5, 10, 30, 0.96875);
	metric_is(r, "throughput/items", 1e9 / 12.5, 1e9 / 30, 1e9 / 10, 0.96875);
	/* 16 +- t(5) of 98.4375 % times 7.4833 / sqrt(6) */
	metric_is(r, "latency/mean", 16, 16 - 9.065617005677, 16 + 9.065617005677, 0.96875);
	metric_is(r, "latency/max", 60, 0, 0, 0);
	assert_non_null(n);
	assert_non_null(
	    strstr(n->text,
		   "1 of 6 starts took 2.4 times as long as the median of all; only there: steal"));
	assert_null(dck_record_note(r, "start-to-start"));
	dck_record_free(r);
}

/* All starts scatter more than each interval: that is another note. */
static void all_starts_differ(void **state)
{
	static const start starts[] = {
	    {13, 0.1, NULL}, {10, 0.1, NULL}, {12, 0.1, NULL}, {14, 0.1, NULL}, {11, 0.1, NULL}};
	dck_record *r = starts_bench(starts, 5);

	(void)state;
	metric_is(r, "latency/median", 12, 10, 14, 0.9375);
	assert_null(dck_record_note(r, "slow-start"));
	assert_non_null(
	    strstr(dck_record_note(r, "start-to-start")->text, "starts differ by 33.3 %"));
	dck_record_free(r);
}

/* What one process says of its own interval is left out; starts agree, so there is no note. */
static void starts_agree(void **state)
{
	static const start starts[] = {
	    {10, 1, "too-few-runs"}, {10.1, 1, "imprecise"}, {10.2, 1, NULL}};
	dck_record *r = starts_bench(starts, 3);

	(void)state;
	metric_is(r, "latency/median", 10.1, 10, 10.2, 0.75);
	assert_int_equal(r->nnotes, 0);
	dck_record_free(r);
}

int test_processes(void);
int test_processes(void)
{
	const struct CMUnitTest tests[] = {
	    SCRATCH_TEST(one_of_six_is_slow),
	    SCRATCH_TEST(all_starts_differ),
	    SCRATCH_TEST(starts_agree),
	};

	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
