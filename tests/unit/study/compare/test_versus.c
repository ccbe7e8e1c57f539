/* test_versus.c - live comparisons with exact numbers: functions that advance a simulated clock.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "study/compare/verdict.h"
#include "stat/stat.h"
#include "deepclock/compare.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static uint64_t time_ns;

static uint64_t now(void *self)
{
	(void)self;
	return time_ns;
}
static const dck_clock false_clock = {
    .name = "false", .now_ns = now, .tick_ns = 1, .cost_ns = 0.01};

/* Takes `ns`, with random variation, and `drift` more for each run of any subject. */
typedef struct work {
	double ns, spread, drift;
	double second; /* factor while the machine is in the second of three speeds; 0: 1 */
	uint64_t runs, fail_at, random;
} work;
static uint64_t all_runs;

static int work_do(void *arg)
{
	work *w = arg;
	double noise;

	w->random = w->random * UINT64_C(6364136223846793005) + 1442695040888963407u;
	noise = ((double)(w->random >> 40) / 16777216.0 - 0.5) * 2 * w->spread;
	if (++w->runs == w->fail_at)
		return 1;
	if (w->second > 0) {
		const uint64_t speed = time_ns / 50000000 % 3;

		noise = (double)(1u << speed) * (speed == 1 ? w->second : 1) - 1;
	}
	time_ns += (uint64_t)(w->ns * (1 + noise) + w->drift * (double)all_runs++);
	return 0;
}

typedef struct set {
	work work[4];
	dck_subject subject[4];
	dck_alternative all[4];
	dck_compare_config config;
} set;

static void set_make(set *s, size_t n)
{
	static const char *const names[] = {"a", "b", "c", "d"};

	memset(s, 0, sizeof *s);
	time_ns = 1000000000;
	all_runs = 0;
	dck_compare_config_init(&s->config);
	s->config.clock = &false_clock;
	for (size_t i = 0; i < n; i++) {
		s->work[i] = (work){.ns = 1e6, .random = i + 1};
		dck_subject_init(&s->subject[i]);
		s->subject[i].kind = DCK_SUBJECT_FUNCTION;
		s->subject[i].function = work_do;
		s->subject[i].arg = &s->work[i];
		s->all[i] = (dck_alternative){names[i], &s->subject[i]};
	}
}

static dck_record *compare(set *s, size_t n)
{
	dck_record *r = NULL;
	dck_err err = {0};
	const dck_status status = dck_compare(s->all, n, &s->config, NULL, &r, &err);

	if (status != DCK_OK)
		print_error("%s\n", err.msg);
	assert_int_equal(status, DCK_OK);
	return r;
}

static const char *fact(const dck_record *r, const char *key)
{
	const dck_fact *f = dck_record_fact(r, "compare", key);

	assert_non_null(f);
	return f->value.kind == DCK_VALUE_TEXT ? f->value.as.text : "(no text)";
}

/* A run with more items takes longer, and wins if an item takes less. */
static void items_decide_where_runs_differ_in_them(void **state)
{
	const dck_table *t;
	dck_record *r;
	set s;

	(void)state;
	set_make(&s, 2);
	s.subject[0].items = 1;
	s.subject[1].items = 64;
	s.work[0].ns = 8e6;
	s.work[1].ns = 10e6;
	r = compare(&s, 2);
	assert_true(fabs(dck_record_value(r, "compare/ratio") - 10.0 / 8 / 64) < 1e-9);
	assert_string_equal(fact(r, "verdict"), "faster");
	assert_string_equal(fact(r, "gate"), "not worse");
	assert_string_equal(fact(r, "metric"), "throughput/items");
	t = dck_record_table(r, "compare/alternatives");
	assert_int_equal(t->columns[1].unit, DCK_UNIT_ITEM_PER_S);
	assert_true(fabs(t->cells[1].value.as.r - 125) < 1e-6);
	assert_true(fabs(t->cells[t->ncolumns + 1].value.as.r - 6400) < 1e-6);
	assert_true(fabs(t->cells[t->ncolumns + 3].value.as.r - 6275) < 1e-3);
	assert_true(t->cells[t->ncolumns + 3].lo < 6275 && t->cells[t->ncolumns + 3].hi > 6275);
	assert_ptr_equal(strstr(dck_record_fact(r, "result", "answer")->value.as.text,
				"items per second: b is 51.2 times faster than a ["),
			 dck_record_fact(r, "result", "answer")->value.as.text);
	t = dck_record_table(r, "compare/startup"); /* per run */
	assert_true(fabs(dck_table_cell(t, 1, "cached_run")->value.as.r - 10e6) < 1e-3);
	dck_record_free(r);
	/* The same in a ranking. */
	set_make(&s, 2);
	s.subject[0].items = 1;
	s.subject[1].items = 64;
	s.work[0].ns = 8e6;
	s.work[1].ns = 10e6;
	s.config.ranking = true;
	r = compare(&s, 2);
	t = dck_record_table(r, "bench/ranking");
	assert_string_equal(t->cells[0].value.as.text, "b");
	assert_true(fabs(dck_table_cell(t, 1, "ratio")->value.as.r - 51.2) < 1e-6);
	assert_true(fabs(dck_table_cell(t, 0, "time")->value.as.r - 10e6 / 64) < 1e-3);
	dck_record_free(r);
	/* Equal items: the time per run is compared. */
	set_make(&s, 2);
	s.subject[0].items = s.subject[1].items = 64;
	s.work[1].ns = 1.05e6;
	r = compare(&s, 2);
	assert_true(fabs(dck_record_value(r, "compare/ratio") - 1.05) < 1e-9);
	assert_null(dck_record_fact(r, "compare", "metric"));
	assert_int_equal(dck_record_table(r, "compare/alternatives")->columns[1].unit, DCK_UNIT_NS);
	dck_record_free(r);
}

static void slower(void **state)
{
	set s;
	dck_record *r;
	const dck_metric *m;
	const dck_table *t;

	(void)state;
	set_make(&s, 2);
	s.work[1].ns = 1.05e6;
	r = compare(&s, 2);
	m = dck_record_metric(r, "compare/ratio");
	assert_true(fabs(m->value.as.r - 1.05) < 1e-9);
	/* Few rounds: the interval is widened by a possible shift between levels. */
	assert_true(m->lo > 1.05 / exp(0.03) && m->lo < 1.05 / exp(0.02));
	assert_true(fabs(m->lo * m->hi - 1.05 * 1.05) < 1e-9);
	assert_true(m->level == 0.95);
	assert_string_equal(fact(r, "verdict"), "slower");
	assert_string_equal(fact(r, "gate"), "regressed");
	assert_int_equal(dck_record_gate(r), 3);
	t = dck_record_table(r, "compare/alternatives");
	assert_int_equal(t->nrows, 2);
	assert_string_equal(dck_table_cell(t, 1, "verdict")->value.as.text, "slower");
	assert_true(fabs(dck_table_cell(t, 1, "difference")->value.as.r - 5e4) < 1);
	assert_int_equal(dck_record_series(r, "compare/rounds/b")->n,
			 dck_record_series(r, "compare/rounds/a")->n);
	/* Without noise the first look that can have an interval decides. */
	assert_true(dck_record_series(r, "compare/rounds/b")->n < 20);
	dck_record_free(r);
}

/* The machine has three speeds (1, 2 and 4 times as long); b takes 1.1 times as long as a in the
 * first and third and 1.32 times in the second. So both medians are from the second, and the median
 * of the ratios is in between. */
static void times_that_differ(void **state)
{
	set s;
	dck_record *r;
	const dck_note *n;

	(void)state;
	set_make(&s, 2);
	s.config.rounds = 300;
	s.work[0].second = 1;
	s.work[1].second = 1.2;
	s.work[1].ns = 1.1e6;
	r = compare(&s, 2);
	n = dck_record_note(r, "ratio-of-times");
	assert_non_null(n);
	assert_non_null(strstr(n->text, "give the ratio 1.32 for b (paired: 1.2)"));
	dck_record_free(r);
	/* An equal ratio at any speed: times and ratio agree. */
	set_make(&s, 2);
	s.config.rounds = 300;
	s.work[0].second = s.work[1].second = 1;
	s.work[1].ns = 1.1e6;
	r = compare(&s, 2);
	assert_null(dck_record_note(r, "ratio-of-times"));
	dck_record_free(r);
}

/* A difference of 2 % takes nearly half of the planned rounds, because fewer rounds give a wider
 * interval. */
static void small(void **state)
{
	set s;
	dck_record *r;

	(void)state;
	set_make(&s, 2);
	s.work[1].ns = 1.02e6;
	r = compare(&s, 2);
	assert_string_equal(fact(r, "verdict"), "slower");
	assert_in_range(dck_record_series(r, "compare/rounds/b")->n, 180, 240);
	assert_true(dck_record_metric(r, "compare/ratio")->lo > 1.01);
	assert_true(dck_record_metric(r, "compare/ratio")->lo < 1.02);
	dck_record_free(r);
}

/* No round starts that would end too late, however few there are; the completed rounds count. */
static void max_time_holds(void **state)
{
	static const uint64_t limits_ns[] = {10000000000, 20000000000};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		set s;
		dck_record *r;
		uint64_t begin, rounds;

		set_make(&s, 2);
		s.config.max_time_ns = limits_ns[i];
		s.work[0].ns = s.work[1].ns = 1e8;
		s.work[0].spread = s.work[1].spread = 0.02;
		begin = time_ns;
		r = compare(&s, 2);
		rounds = dck_record_series(r, "compare/rounds/b")->n;
		assert_true(time_ns - begin <= limits_ns[i]);
		assert_true(rounds >= 1 && rounds < 12);
		assert_string_equal(fact(r, "verdict"), "undecided");
		assert_string_equal(dck_record_fact(r, "method", "stop")->value.as.text,
				    "max-time passed before all was decided");
		dck_record_free(r);
	}
}

static void faster(void **state)
{
	set s;
	dck_record *r;

	(void)state;
	set_make(&s, 2);
	s.work[1].ns = 0.9e6;
	r = compare(&s, 2);
	assert_string_equal(fact(r, "verdict"), "faster");
	assert_int_equal(dck_record_gate(r), 0);
	dck_record_free(r);
}

static void same(void **state)
{
	set s;
	dck_record *r;

	(void)state;
	set_make(&s, 2);
	s.work[0].spread = s.work[1].spread = 0.02;
	s.work[1].ns = 1.002e6;
	r = compare(&s, 2);
	assert_string_equal(fact(r, "verdict"), "same");
	assert_int_equal(dck_record_gate(r), 0);
	dck_record_free(r);
}

/* At the margin nothing is decided, and the note does not promise a decision by more rounds. */
static void at_the_margin(void **state)
{
	set s;
	dck_record *r;

	(void)state;
	set_make(&s, 2);
	s.work[0].spread = s.work[1].spread = 0.02;
	s.work[1].ns = 1.01e6;
	s.config.rounds = 30;
	r = compare(&s, 2);
	assert_string_equal(fact(r, "verdict"), "undecided");
	assert_int_equal(dck_record_gate(r), 4);
	assert_non_null(dck_record_note(r, "undecided"));
	dck_record_free(r);
}

static void more_rounds(void **state)
{
	(void)state;
	/* Half-width 2 %, difference 3 %, margin 1 %: the distance is one half-width. */
	static const struct {
		double value, lo, hi, fixed, more;
	} cases[] = {
	    {0.03, 0.01, 0.05, 0, 1},		{0.02, 0.00, 0.04, 0, 4},
	    {0.02, 0.00, 0.04, 0.005, 5}, /* (4 - 0.25) / (1 - 0.25) */
	    {0.02, 0.00, 0.04, 0.01, INFINITY}, {0.00, -0.4, 0.4, 0, INFINITY},
	    {0.01, -0.01, 0.03, 0, NAN},	{0.00, NAN, NAN, 0, NAN},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const double more = verdict_more(exp(cases[i].value), exp(cases[i].lo),
						 exp(cases[i].hi), expm1(0.01), cases[i].fixed);

		assert_true(isfinite(cases[i].more) ? fabs(more - cases[i].more) < 1e-9
			    : isnan(cases[i].more)  ? isnan(more)
						    : isinf(more));
	}
}

static void verdicts(void **state)
{
	static const struct {
		double lo, hi;
		verdict v;
		int gate;
	} rows[] = {
	    {1.011, 1.02, VERDICT_SLOWER, 3},	 {0.98, 0.989, VERDICT_FASTER, 0},
	    {0.995, 1.005, VERDICT_SAME, 0},	 {0.98, 1.005, VERDICT_UNDECIDED, 0},
	    {0.999, 1.02, VERDICT_UNDECIDED, 4}, {0.9, 1.1, VERDICT_UNDECIDED, 4},
	    {NAN, NAN, VERDICT_UNDECIDED, 4},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		assert_int_equal(verdict_of(rows[i].lo, rows[i].hi, 0.01), rows[i].v);
		assert_int_equal(stat_limit_interval(rows[i].lo, rows[i].hi, 1 + 0.01),
				 rows[i].gate);
	}
	assert_int_equal(verdict_of(1, 1, 0), VERDICT_UNDECIDED); /* no margin: nothing is "same" */
	assert_int_equal(verdict_of(1.0001, 1.0002, 0), VERDICT_SLOWER);
}

/* Every run slows all later ones: A then B would show 4 %, interleaved trials show none. */
static void drift(void **state)
{
	set s;
	dck_record *r;

	(void)state;
	set_make(&s, 2);
	s.work[0].drift = s.work[1].drift = 20;
	r = compare(&s, 2);
	assert_string_equal(fact(r, "verdict"), "same");
	dck_record_free(r);
}

static void several(void **state)
{
	set s;
	dck_record *r;

	(void)state;
	set_make(&s, 4);
	s.work[1].ns = 1.2e6;
	s.work[2].ns = 0.8e6;
	s.work[3].ns = 1e6;
	r = compare(&s, 4);
	assert_string_equal(fact(r, "verdict"), "slower");
	assert_string_equal(fact(r, "verdict/b"), "slower");
	assert_string_equal(fact(r, "verdict/c"), "faster");
	assert_string_equal(fact(r, "verdict/d"), "same");
	assert_true(fabs(dck_record_value(r, "compare/ratio/c") - 0.8) < 1e-9);
	assert_true(fabs(dck_record_value(r, "compare/ratio") - 1.2) < 1e-9);
	assert_int_equal(dck_record_gate(r), 3);
	dck_record_free(r);
}

/* A differs from itself by chance here: its noise floor is above the margin, and replaces it. */
static dck_record *rank_of(set *s, size_t n)
{
	dck_record *r = NULL;
	dck_err err = {0};

	if (dck_rank(s->all, n, &s->config, NULL, &r, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	return r;
}

static const char *cell_text(const dck_table *t, size_t row, const char *key)
{
	return dck_table_cell(t, row, key)->value.as.text;
}

static void ranked(void **state)
{
	set s;
	dck_record *r;
	const dck_table *t;
	const dck_cell *ratio;

	(void)state;
	set_make(&s, 3);
	s.work[0].ns = 1.31e6;
	s.work[2].ns = 2e6;
	r = rank_of(&s, 3);
	t = dck_record_table(r, "bench/ranking");
	assert_int_equal(t->nrows, 3);
	assert_string_equal(cell_text(t, 0, "subject"), "b");
	assert_string_equal(cell_text(t, 0, "verdict"), "fastest");
	assert_string_equal(cell_text(t, 1, "subject"), "a");
	assert_string_equal(cell_text(t, 2, "subject"), "c");
	assert_string_equal(cell_text(t, 2, "verdict"), "slower");
	assert_int_equal(dck_table_cell(t, 2, "rank")->value.as.i, 3);
	ratio = dck_table_cell(t, 1, "ratio");
	assert_true(fabs(ratio->value.as.r - 1.31) < 1e-9);
	assert_true(ratio->lo > 1.31 / 1.01 && ratio->lo < 1.31);
	assert_true(ratio->level == 0.95);
	assert_string_equal(
	    dck_record_fact(r, "result", "answer")->value.as.text,
	    "b is the fastest; a takes 1.310 times as long [1.299, 1.322], c 2.000 times "
	    "[1.983, 2.018], in one process");
	assert_null(dck_record_note(r, "imprecise"));
	assert_null(dck_record_metric(r, "compare/ratio"));
	dck_record_free(r);
}

/* One of several equal subjects is always the fastest: this is not a difference. At most 5 % of
 * rankings may report one. */
static void ranked_alike(void **state)
{
	unsigned shown = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 20; seed++) {
		set s;
		dck_record *r;
		const dck_table *t;
		const char *said;
		bool any = false;

		set_make(&s, 4);
		for (size_t i = 0; i < 4; i++) {
			s.work[i].spread = 0.1;
			s.work[i].random += seed * 1000;
		}
		s.config.rounds = 40;
		r = rank_of(&s, 4);
		t = dck_record_table(r, "bench/ranking");
		said = dck_record_fact(r, "result", "answer")->value.as.text;
		for (size_t i = 1; i < 4; i++) {
			const bool slow = strcmp(cell_text(t, i, "verdict"), "slower") == 0;

			any = any || slow;
			assert_true(slow == (dck_table_cell(t, i, "rank")->value.as.i > 1));
			assert_true(slow == (dck_table_cell(t, i, "ratio")->lo > 1));
		}
		assert_true(any == (strstr(said, " as long [") != NULL));
		shown += any;
		dck_record_free(r);
	}
	assert_in_range(shown, 0, 3);
}

static int work_slower_later(void *arg)
{
	work *w = arg;
	const bool late = time_ns > w->fail_at;

	w->random = w->random * UINT64_C(6364136223846793005) + 1442695040888963407u;
	time_ns += (uint64_t)((late ? 1.5 * w->second : 1) * w->ns *
			      (0.99 + 0.02 * (double)(w->random >> 40) / 16777216.0));
	return 0;
}

/* The fastest until now is compared by its median of all rounds, not by that of the last look. */
static void ranked_while_the_machine_slows_down(void **state)
{
	(void)state;
	for (uint64_t k = 10; k < 60; k += 2) {
		set s;
		dck_record *r;
		const dck_table *t;

		set_make(&s, 3);
		for (size_t i = 0; i < 3; i++) {
			s.subject[i].function = work_slower_later;
			s.work[i].random += 3 * k;
			s.work[i].fail_at = time_ns + k * 20000000;
			s.work[i].second = i == 2 ? 1.014 : 1;
		}
		s.work[2].ns *= 0.99;
		s.config.keep_sessions = true;
		s.config.max_rounds = 15;
		s.config.max_time_ns = UINT64_C(20000000000);
		s.config.margin = 0.0001;
		s.config.warmup = "5";
		r = rank_of(&s, 3);
		t = dck_record_table(r, "bench/ranking");
		for (size_t i = 1; i < 3; i++)
			assert_true(dck_table_cell(t, 0, "time")->value.as.r <=
				    dck_table_cell(t, i, "time")->value.as.r);
		dck_record_free(r);
	}
}

static void itself(void **state)
{
	set s;
	dck_record *r;
	double resolution;

	(void)state;
	set_make(&s, 2);
	s.work[0].spread = s.work[1].spread = 0.4;
	s.work[1].ns = 1.02e6;
	s.config.aa = true;
	s.config.rounds = 12;
	r = compare(&s, 2);
	resolution = dck_record_value(r, "compare/resolution");
	assert_true(resolution > 0.01);
	assert_non_null(dck_record_note(r, "aa-resolution"));
	/* Noise neither makes a difference nor equality. */
	assert_string_equal(fact(r, "verdict"), "undecided");
	assert_int_equal(dck_record_gate(r), DCK_VERDICT_INCONCLUSIVE);
	assert_non_null(dck_record_fact(r, "compare", "aa_ratio"));
	dck_record_free(r);
}

/* Too few rounds of the first subject with itself: the noise is not known, so that not even a
 * difference of ten times is claimed. */
static void itself_too_seldom(void **state)
{
	set s;
	dck_record *r;

	(void)state;
	set_make(&s, 2);
	s.work[0].ns = 1e9;
	s.work[1].ns = 1e8;
	s.config.aa = true;
	s.config.warmup = "1";
	s.config.max_time_ns = UINT64_C(200000000000);
	r = compare(&s, 2);
	assert_null(dck_record_fact(r, "compare", "aa_lo"));
	assert_true(dck_record_metric(r, "compare/ratio")->level > 0);
	assert_string_equal(fact(r, "verdict"), "undecided");
	assert_non_null(strstr(dck_record_note(r, "undecided")->text, "to know the noise"));
	dck_record_free(r);
}

static void fails_in_the_middle(void **state)
{
	set s;
	dck_record *r;

	(void)state;
	set_make(&s, 2);
	s.work[0].spread = s.work[1].spread = 0.3;
	s.work[1].fail_at = 2000;
	s.config.rounds = 1000;
	r = compare(&s, 2);
	assert_true(r->incomplete);
	assert_non_null(dck_record_note(r, "engine-failed"));
	assert_non_null(strstr(dck_record_note(r, "engine-failed")->text, "'b'"));
	assert_true(dck_record_series(r, "compare/rounds/a")->n >= 1);
	dck_record_free(r);
}

static bool cancel_late(void *self)
{
	(void)self;
	return all_runs > 3000;
}

static void interrupted(void **state)
{
	const dck_observer watch = {.cancelled = cancel_late};
	dck_record *r = NULL;
	dck_err err;
	set s;

	(void)state;
	set_make(&s, 2);
	s.work[0].spread = s.work[1].spread = 0.3;
	s.config.rounds = 1000;
	assert_int_equal(dck_compare(s.all, 2, &s.config, &watch, &r, &err), DCK_OK);
	assert_true(r->incomplete);
	assert_non_null(dck_record_note(r, "interrupted"));
	dck_record_free(r);
	set_make(&s, 2);
	all_runs = 5000; /* before the first result */
	assert_int_equal(dck_compare(s.all, 2, &s.config, &watch, &r, &err), DCK_E_CANCEL);
}

/* The A/A comparison is reported even if time allowed nothing else. */
static void interrupted_early(void **state)
{
	const dck_observer watch = {.cancelled = cancel_late};
	dck_record *r = NULL;
	dck_err err;
	set s;

	(void)state;
	set_make(&s, 2);
	s.work[0].spread = s.work[1].spread = 0.3;
	s.config.aa = true;
	s.config.rounds = 1000;
	assert_int_equal(dck_compare(s.all, 2, &s.config, &watch, &r, &err), DCK_OK);
	assert_true(r->incomplete);
	assert_non_null(dck_record_fact(r, "compare", "aa_ratio"));
	assert_int_equal(dck_record_metric(r, "compare/ratio")->value.kind, DCK_VALUE_ABSENT);
	assert_int_equal(dck_record_gate(r), 4);
	dck_record_free(r);
}

static void refused(void **state)
{
	dck_record *r = NULL;
	dck_err err;
	set s;

	(void)state;
	set_make(&s, 2);
	assert_int_equal(dck_compare(s.all, 1, &s.config, NULL, &r, &err), DCK_E_ARG);
	s.all[1].name = "a";
	assert_int_equal(dck_compare(s.all, 2, &s.config, NULL, &r, &err), DCK_E_ARG);
	s.all[1].name = "b";
	/* The least number of rounds depends on the level. */
	s.config.rounds = 5;
	assert_int_equal(dck_compare(s.all, 2, &s.config, NULL, &r, &err), DCK_E_ARG);
	s.config.rounds = 7;
	s.config.level = 0.99;
	assert_int_equal(dck_compare(s.all, 2, &s.config, NULL, &r, &err), DCK_E_ARG);
	s.config.rounds = 4;
	s.config.level = 0.8;
	s.work[1].ns = 2e6;
	r = compare(&s, 2);
	assert_string_equal(fact(r, "verdict"), "slower");
	dck_record_free(r);
}

static void vary(void **state)
{
	dck_list list = {.item = {"opt=none,all", "threads=1,2,4"}, .n = 2};
	dck_alternative *all = NULL;
	dck_subject base;
	dck_err err;
	size_t n = 0;

	(void)state;
	dck_subject_init(&base);
	base.text = "zoo:simplenet";
	assert_int_equal(dck_alternatives_vary(&base, &list, &all, &n, &err), DCK_OK);
	assert_int_equal(n, 6);
	assert_string_equal(all[0].name, "opt=none threads=1");
	assert_string_equal(all[5].name, "opt=all threads=4");
	assert_int_equal(all[0].subject->model.opt, 0);
	assert_int_equal(all[5].subject->model.opt, 3);
	assert_int_equal(all[4].subject->model.threads, 2);
	dck_free(all);
	list = (dck_list){.item = {"opt=none"}, .n = 1};
	assert_int_equal(dck_alternatives_vary(&base, &list, &all, &n, &err), DCK_E_ARG);
	list.item[0] = "opt";
	assert_int_equal(dck_alternatives_vary(&base, &list, &all, &n, &err), DCK_E_ARG);
	list.item[0] = "tredds=1,2";
	assert_int_equal(dck_alternatives_vary(&base, &list, &all, &n, &err), DCK_E_ARG);
	assert_non_null(strstr(err.msg, "threads"));
	list.item[0] = "threads=1,two";
	assert_int_equal(dck_alternatives_vary(&base, &list, &all, &n, &err), DCK_E_ARG);
	list.item[0] = "threads=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17";
	assert_int_equal(dck_alternatives_vary(&base, &list, &all, &n, &err), DCK_E_ARG);
	list.item[0] = "engine-option=spin=0,spin=1";
	assert_int_equal(dck_alternatives_vary(&base, &list, &all, &n, &err), DCK_OK);
	assert_string_equal(all[1].subject->model.engine_option.item[0], "spin=1");
	dck_free(all);
	assert_int_equal(dck_alternatives_modes(&base, &all, &n, &err), DCK_OK);
	assert_int_equal(n, 4);
	assert_string_equal(all[0].name, "eager");
	assert_int_equal(all[0].subject->model.opt, 0);
	assert_true(all[3].subject->model.interop_threads >= 2);
	dck_free(all);
}

int test_versus(void);
int test_versus(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(times_that_differ),
	    cmocka_unit_test(slower),
	    cmocka_unit_test(items_decide_where_runs_differ_in_them),
	    cmocka_unit_test(small),
	    cmocka_unit_test(max_time_holds),
	    cmocka_unit_test(faster),
	    cmocka_unit_test(same),
	    cmocka_unit_test(at_the_margin),
	    cmocka_unit_test(more_rounds),
	    cmocka_unit_test(verdicts),
	    cmocka_unit_test(drift),
	    cmocka_unit_test(several),
	    cmocka_unit_test(ranked),
	    cmocka_unit_test(ranked_alike),
	    cmocka_unit_test(ranked_while_the_machine_slows_down),
	    cmocka_unit_test(itself),
	    cmocka_unit_test(itself_too_seldom),
	    cmocka_unit_test(fails_in_the_middle),
	    cmocka_unit_test(interrupted),
	    cmocka_unit_test(interrupted_early),
	    cmocka_unit_test(refused),
	    cmocka_unit_test(vary),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
