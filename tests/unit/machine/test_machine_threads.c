/* The thread pool, and dck_machine() as a whole. Meant for ThreadSanitizer too. No rate is
 * asserted, only relations between the numbers of a record.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "deepclock/machine.h"
#include "machine/loops.h"
#include "scratch.h"

static int begin(void **state)
{
	return scratch_clear(state) || setenv("XDG_CACHE_HOME", scratch_path, 1);
}

/* --- the pool */

enum { THREADS = 3, ROUNDS = 50 };
typedef struct tally {
	unsigned count[THREADS][ROUNDS];
	unsigned seen; /* of another thread, number of missing counts */
} tally;

/* Without a lock: each thread writes its own slot and reads the slots of the previous round. */
static void work(void *self, unsigned thread, unsigned threads, unsigned round)
{
	tally *t = self;

	t->count[thread][round]++;
	for (unsigned i = 0; round > 0 && i < threads; i++)
		if (t->count[i][round - 1] != 1)
			t->seen = round;
}

static void each_thread_runs_each_round(void **state)
{
	const unsigned cpu[THREADS] = {0, 0, 0}; /* one CPU for all: they must still progress */
	machine_pool *p;
	dck_err err;

	(void)state;
	assert_int_equal(machine_pool_open(cpu, THREADS, &p, &err), DCK_OK);
	for (unsigned threads = 1; threads <= THREADS; threads++) {
		double ns[ROUNDS];
		tally t = {{{0}}, 0};

		for (int i = 0; i < ROUNDS; i++)
			ns[i] = -1;
		machine_pool_run(p, threads, ROUNDS, work, &t, ns);
		assert_int_equal(t.seen, 0);
		for (unsigned k = 0; k < THREADS; k++)
			for (unsigned i = 0; i < ROUNDS; i++)
				assert_int_equal(t.count[k][i], k < threads ? 1 : 0);
		for (int i = 0; i < ROUNDS; i++)
			assert_true(ns[i] >= 0);
	}
	machine_pool_close(p);
	machine_pool_close(NULL);
}

/* --- the whole measurement */

static dck_machine_config quick(void)
{
	dck_machine_config c;
	dck_machine_init(&c);
	c.quick = true;
	return c;
}

static void check_metric(const dck_record *r, const char *tag)
{
	const dck_metric *m = dck_record_metric(r, tag);

	if (!m)
		fail_msg("no metric %s", tag);
	if (m->value.kind == DCK_VALUE_ABSENT) {
		assert_non_null(m->value.as.text);
		return;
	}
	assert_true(m->value.as.r > 0 && isfinite(m->value.as.r));
	if (m->level > 0)
		assert_true(m->lo <= m->value.as.r && m->value.as.r <= m->hi);
}

/* The value is the best of its series; the bound is 19 times as far from it as the second best. */
static void check_series(const dck_record *r)
{
	for (size_t i = 0; i < r->nseries; i++) {
		const dck_series *s = &r->series[i];
		const dck_metric *m = dck_record_metric(r, s->tag);
		double best = 0, second = 0;

		assert_non_null(m);
		for (size_t k = 0; k < s->n; k++) {
			assert_true(s->values[k] > 0);
			if (s->values[k] > best) {
				second = best;
				best = s->values[k];
			} else {
				second = fmax(second, s->values[k]);
			}
		}
		if (m->def->unit == DCK_UNIT_NS || s->n < 2)
			continue;
		assert_true(m->value.as.r == best && m->lo == best);
		assert_true(fabs(m->hi - (best + 19 * (best - second))) <= 1e-9 * m->hi);
	}
}

static void a_record_is_whole(void **state)
{
	static const char *const types[] = {"fp64", "fp32", "fp16", "bf16", "int8"};
	static const char *const levels[] = {"l1", "l2", "l3", "dram"};
	static const char *const kinds[] = {"read", "write", "write_nt", "copy", "triad"};
	static const char *const counts[] = {"1", "all"};
	const dck_machine_config c = quick();
	dck_record *r;
	dck_err err;
	char tag[64];

	(void)state;
	if (dck_machine(&c, NULL, &r, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	for (size_t t = 0; t < 2; t++) {
		for (size_t i = 0; i < 5; i++) {
			snprintf(tag, sizeof tag, "peak/%s/%s", types[i], counts[t]);
			check_metric(r, tag);
		}
		for (size_t i = 0; i < 20; i++) {
			snprintf(tag, sizeof tag, "bandwidth/%s_%s/%s", levels[i / 5], kinds[i % 5],
				 counts[t]);
			check_metric(r, tag);
		}
		snprintf(tag, sizeof tag, "blas/sgemm/%s", counts[t]);
		check_metric(r, tag);
	}
	check_metric(r, "overhead/clock");
	check_metric(r, "overhead/fork_join");
	check_metric(r, "overhead/spawn");
	check_series(r);
	assert_false(r->incomplete);
	assert_false(dck_record_fact(r, "machine", "kept")->value.as.b);
	assert_string_equal(dck_record_fact(r, "machine", "source")->value.as.text, "measured now");
	/* Quick mode: nothing is cached. */
	assert_int_not_equal(access("deepclock", F_OK), 0);
	dck_record_free(r);
}

/* As on a processor with cores of several kinds: the work of each thread follows its core. */
static void uneven_cores_are_weighed(void **state)
{
	static machine_topology t;
	static machine_result r;
	const machine_run_config ask = {
	    .topology = &t, .isa = machine_isa_find(), .threads = 2, .quick = true};
	dck_err err;

	(void)state;
	machine_topology_find(&t);
	if (t.ncpus < 2)
		skip();
	t.uneven = true;
	if (machine_measure(&ask, &r, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	for (size_t i = 0; i < r.n; i++) {
		const machine_item *item = &r.item[i];

		if ((item->peak || item->stream) && item->n > 0)
			assert_true(item->work > 0 && isfinite(item->work) &&
				    machine_best(item) > 0);
	}
}

/* The overall peak is the peak of one of the instruction sets. */
static void the_peak_is_the_best_of_all(void **state)
{
	dck_machine_config c = quick();
	double best = NAN;
	dck_record *r;

	(void)state;
	c.threads = 1;
	assert_int_equal(dck_machine(&c, NULL, &r, NULL), DCK_OK);
	for (size_t i = 0; i < r->nmetrics; i++) {
		const char *tag = r->metrics[i].def->tag;
		/* fmax ignores rates that a busy machine had no time for. */
		if (!strncmp(tag, "peak/fp32/", 10) && strlen(tag) > 12 && strstr(tag + 10, "/1"))
			best = fmax(best, dck_record_value(r, tag));
	}
	if (!isnan(best))
		assert_true(best == dck_record_value(r, "peak/fp32/1"));
	/* One thread is the whole machine. */
	assert_true(isnan(best) || best == dck_record_value(r, "peak/fp32/all"));
	dck_record_free(r);
}

static void nothing_is_kept(void **state)
{
	dck_machine_config c = quick();
	dck_record *r = NULL;
	dck_err err;

	(void)state;
	c.quick = false;
	c.cached_only = true;
	assert_int_equal(dck_machine(&c, NULL, &r, &err), DCK_E_ABSENT);
	assert_null(r);
	assert_string_equal(err.msg, "the limits of this machine have not been measured: run "
				     "'deepclock machine' once");
}

static void what_cannot_be(void **state)
{
	dck_machine_config c = quick();
	dck_record *r = NULL;
	dck_err err;

	(void)state;
	c.threads = 1000;
	assert_int_equal(dck_machine(&c, NULL, &r, &err), DCK_E_ARG);
	assert_non_null(strstr(err.msg, "--threads is 1000"));
	c.threads = 0;
	c.refresh = c.cached_only = true;
	assert_int_equal(dck_machine(&c, NULL, &r, &err), DCK_E_ARG);
	assert_null(r);
}

/* Called before the pool, after the overheads, and then before each rate; the time limit is tested
 * only after this call. */
static bool before_the_first_rate(void *self)
{
	unsigned *asked = self;
	return ++*asked > 2;
}

static void interrupted_is_reported(void **state)
{
	const dck_machine_config c = quick();
	unsigned asked = 0;
	const dck_observer watch = {.self = &asked, .cancelled = before_the_first_rate};
	dck_record *r;
	dck_err err;

	(void)state;
	if (dck_machine(&c, &watch, &r, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	assert_true(r->incomplete);
	assert_int_equal(dck_record_note(r, "interrupted")->severity, DCK_ERROR);
	assert_int_equal(dck_record_metric(r, "bandwidth/dram_read/1")->value.kind,
			 DCK_VALUE_ABSENT);
	dck_record_free(r);
}

/* Progress callback: the fraction grows, and ends below 1. */
static void on_progress(void *self, const dck_progress *p)
{
	double *last = self;

	assert_non_null(p->phase);
	if (isnan(p->done_ratio))
		return;
	assert_true(p->done_ratio >= *last && p->done_ratio <= 1);
	*last = p->done_ratio;
}

/* Each value is equal, or absent for the same reason: an unsupported rate is never a number. */
static void check_same_metrics(const dck_record *a, const dck_record *b)
{
	assert_int_equal(a->nmetrics, b->nmetrics);
	for (size_t i = 0; i < a->nmetrics; i++) {
		const dck_value *x = &a->metrics[i].value, *y = &b->metrics[i].value;

		assert_string_equal(a->metrics[i].def->tag, b->metrics[i].def->tag);
		assert_int_equal(x->kind, y->kind);
		if (x->kind == DCK_VALUE_ABSENT)
			assert_string_equal(x->as.text, y->as.text);
		else
			assert_true(x->as.r == y->as.r);
	}
}

static void a_kept_result_is_shown_again(void **state)
{
	double last = 0;
	const dck_observer watch = {.self = &last, .progress = on_progress};
	dck_machine_config c;
	dck_record *first, *second;
	dck_err err;

	(void)state;
	dck_machine_init(&c);
	c.threads = 1;
	c.keep = true;
	if (dck_machine(&c, &watch, &first, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	assert_true(last > 0.1 || dck_record_note(first, "few-passes"));
	assert_null(dck_record_note(first, "not-cached"));
	c.cached_only = true;
	if (dck_machine(&c, NULL, &second, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	assert_string_equal(first->id, second->id);
	assert_int_equal(first->began_unix_ns, second->began_unix_ns);
	check_same_metrics(first, second);
	assert_true(dck_record_fact(second, "machine", "kept")->value.as.b);
	assert_string_equal(dck_record_fact(first, "machine", "measured")->value.as.text,
			    dck_record_fact(second, "machine", "measured")->value.as.text);
	/* A cache file with other content is ignored. */
	const char *path = dck_record_fact(first, "machine", "kept_in")->value.as.text;
	assert_int_equal(truncate(path, 100), 0);
	dck_record *none = NULL;
	assert_int_equal(dck_machine(&c, NULL, &none, &err), DCK_E_ABSENT);
	assert_null(none);
	dck_record_free(first);
	dck_record_free(second);
}

int test_machine_threads(void);
int test_machine_threads(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_thread_runs_each_round),
	    cmocka_unit_test_setup(a_record_is_whole, begin),
	    cmocka_unit_test_setup(uneven_cores_are_weighed, begin),
	    cmocka_unit_test_setup(the_peak_is_the_best_of_all, begin),
	    cmocka_unit_test_setup(nothing_is_kept, begin),
	    cmocka_unit_test_setup(what_cannot_be, begin),
	    cmocka_unit_test_setup(interrupted_is_reported, begin),
	    cmocka_unit_test_setup(a_kept_result_is_shown_again, begin),
	};
	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
