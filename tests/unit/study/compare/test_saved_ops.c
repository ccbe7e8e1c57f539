/* test_saved_ops.c - operators of two profiles: which are compared, and the results.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "saved_build.h"
#include "fault_alloc.h"
#include "record/record_internal.h"
#include <stdio.h>
#include <stdlib.h>

#define INT(v)	((dck_value){.kind = DCK_VALUE_INT, .as.i = (v)})
#define REAL(v) ((dck_value){.kind = DCK_VALUE_REAL, .as.r = (v)})
/* Holm's first test with two operators scales a 95 % interval by this factor. */
#define OF_TWO 1.1435938340116685

typedef struct op {
	const char *name, *type;
	double ns, half;	/* half 0: no interval */
	const char *origins[4]; /* NULL-ended */
} op;

static void op_put(record_builder *b, const op *o)
{
	dck_op own = {.name = o->name,
		      .type = o->type,
		      .time_ns = REAL(o->ns),
		      .origins = o->origins,
		      .time_lo_ns = o->ns - o->half,
		      .time_hi_ns = o->ns + o->half,
		      .time_level = o->half > 0 ? 0.95 : 0};

	while (own.norigins < 4 && o->origins[own.norigins])
		own.norigins++;
	record_op(b, &own);
}

static record_builder *profile_begin(const char *name)
{
	record_builder *b = saved_begin(name, name);

	record_metric_interval(b, "latency/median", 1000, 999, 1001, 0.95, "made up");
	return b;
}

static dck_record *profile(const char *name, const op *ops, size_t n)
{
	record_builder *b = profile_begin(name);

	for (size_t i = 0; i < n; i++)
		op_put(b, &ops[i]);
	return saved_end(b);
}

#define PROFILE(name, ...) \
	profile(name, (const op[]){__VA_ARGS__}, sizeof(const op[]){__VA_ARGS__} / sizeof(op))

static dck_record *compared(dck_record *a, dck_record *b)
{
	dck_record *r = compare_two(a, b, NULL);

	dck_record_free(a);
	dck_record_free(b);
	return r;
}

static const char *cell_text(const dck_table *t, size_t row, const char *key)
{
	const dck_cell *c = dck_table_cell(t, row, key);

	assert_non_null(c);
	assert_int_equal(c->value.kind, DCK_VALUE_TEXT);
	return c->value.as.text;
}

static void cell_is(const dck_table *t, size_t row, const char *key, double v, double lo, double hi)
{
	const dck_cell *c = dck_table_cell(t, row, key);

	assert_non_null(c);
	assert_int_equal(c->value.kind, DCK_VALUE_REAL);
	near(c->value.as.r, v);
	near(c->lo, lo);
	near(c->hi, hi);
}

/* "name|type|verdict" of each row. */
static void rows_are(const dck_table *t, const char *want)
{
	char text[1024] = "";
	size_t n = 0;

	assert_non_null(t);
	for (size_t i = 0; i < t->nrows; i++)
		n += (size_t)snprintf(text + n, sizeof text - n, "%s%s|%s|%s", i > 0 ? ", " : "",
				      cell_text(t, i, "operator"), cell_text(t, i, "type"),
				      cell_text(t, i, "verdict"));
	assert_string_equal(text, want);
}

static void changes_have_exact_intervals(void **state)
{
	dck_record *r =
	    compared(PROFILE("a", {"relu", "Relu", 10, 0.5, {0}}, {"conv", "Conv", 100, 1, {0}},
			     {"rest", "(engine)", 5, 0, {0}}),
		     PROFILE("b", {"relu", "Relu", 10, 0.5, {0}}, {"conv", "Conv", 120, 1, {0}},
			     {"rest", "(engine)", 5, 0, {0}}));
	const dck_table *t = dck_record_table(r, "compare/operators");
	const double half = hypot(1.0 / 100, 1.0 / 120), both = sqrt(2) * OF_TWO;

	(void)state;
	rows_are(t, "conv|Conv|slower, relu|Relu|undecided, rest|(engine)|undecided");
	cell_is(t, 0, "change", 20, 20 - both, 20 + both);
	cell_is(t, 0, "ratio", 1.2, 1.2 * exp(-half * OF_TWO), 1.2 * exp(half * OF_TWO));
	near(dck_table_cell(t, 0, "ratio")->level, 0.975);
	near(dck_table_cell(t, 0, "share")->value.as.r, 1);
	near(dck_table_cell(t, 0, "first")->value.as.r, 100);
	near(dck_table_cell(t, 0, "second")->value.as.r, 120);
	/* Once conv is decided, relu gets the whole alpha. */
	near(dck_table_cell(t, 1, "ratio")->level, 0.95);
	near(dck_table_cell(t, 1, "ratio")->hi, exp(hypot(0.05, 0.05)));
	assert_int_equal(dck_table_cell(t, 2, "ratio")->level, 0);
	near(dck_table_cell(t, 2, "ratio")->value.as.r, 1);
	near(fact_number(r, "operators", "compared"), 3);
	near(fact_number(r, "operators", "first_total"), 115);
	near(fact_number(r, "operators", "second_total"), 135);
	near(fact_number(r, "operators", "spread"), 1);
	assert_non_null(strstr(dck_record_note(r, "operators-slower")->text,
			       "1 operator got slower, by 20.0 ns together; 'conv' (Conv) most"));
	/* The total did not change, and the gate tests the total. */
	verdict_is(r, "same", 0);
	/* Each operator has a different type. */
	assert_null(dck_record_table(r, "compare/operator_types"));
	assert_null(dck_record_table(r, "compare/operators_alone"));
	dck_record_free(r);
}

static void fused_operators_meet_their_parts(void **state)
{
	/* conv and relu were fused; add was split in two; gelu changed its kernel. */
	dck_record *r = compared(
	    PROFILE("a", {"relu", "Relu", 10, 1, {0}}, {"conv", "Conv", 90, 2, {0}},
		    {"add", "AddMul", 50, 1, {"add", "mul", NULL}}, {"gelu", "Gelu", 7, 1, {0}}),
	    PROFILE("b", {"conv", "FusedConv", 150, 3, {"conv", "relu", NULL}},
		    {"mul", "Mul", 20, 1, {0}}, {"add", "Add", 35, 1, {0}},
		    {"gelu", "FastGelu", 7, 1, {0}}));
	const dck_table *t = dck_record_table(r, "compare/operators");

	(void)state;
	rows_are(t, "conv +1|Conv > FusedConv|slower, add +1|AddMul > Add|slower, "
		    "gelu|Gelu > FastGelu|undecided");
	near(dck_table_cell(t, 0, "first")->value.as.r, 100);
	near(dck_table_cell(t, 0, "second")->value.as.r, 150);
	near(dck_table_cell(t, 1, "first")->value.as.r, 50);
	near(dck_table_cell(t, 1, "second")->value.as.r, 55);
	/* Errors of parts are added, those of both records in squares. Three undecided: 98.33 %. */
	assert_true(fabs(dck_table_cell(t, 0, "ratio")->level - (1 - 0.05 / 3)) < 1e-12);
	near(log(dck_table_cell(t, 0, "ratio")->hi / 1.5) /
		 log(dck_table_cell(t, 0, "ratio")->value.as.r / dck_table_cell(t, 0, "ratio")->lo),
	     1);
	near((dck_table_cell(t, 0, "change")->hi - 50) /
		 log(dck_table_cell(t, 0, "ratio")->hi / 1.5),
	     sqrt(9 + 9) / hypot(0.03, 0.02));
	near(fact_number(r, "operators", "only_in_first"), 0);
	near(fact_number(r, "operators", "only_in_second"), 0);
	near(fact_number(r, "operators", "compared"), 3);
	dck_record_free(r);
}

static void renamed_operators_are_matched_in_order(void **state)
{
	dck_record *r =
	    compared(PROFILE("a", {"x1", "Conv", 10, 0.1, {0}}, {"x2", "Conv", 20, 0.1, {0}},
			     {"y", "Relu", 1, 0.1, {0}}, {"z", "Pool", 2, 0.1, {0}},
			     {"same", "Conv", 3, 0.1, {0}}, {"", "Gemm", 40, 0.1, {0}}),
		     PROFILE("b", {"same", "Conv", 3, 0.1, {0}}, {"w1", "Conv", 10, 0.1, {0}},
			     {"w2", "Conv", 25, 0.1, {0}}, {"v1", "Relu", 1, 0.1, {0}},
			     {"v2", "Relu", 1, 0.1, {0}}, {"", "Gemm", 40, 0.1, {0}}));
	const dck_table *t = dck_record_table(r, "compare/operators");

	(void)state;
	/* Two convolutions and one product remain on each side; one Relu and two differ in
	 * number. */
	near(fact_number(r, "operators", "renamed"), 3);
	near(fact_number(r, "operators", "compared"), 4);
	near(fact_number(r, "operators", "only_in_first"), 2);
	near(fact_number(r, "operators", "only_in_second"), 2);
	assert_string_equal(cell_text(t, 0, "operator"), "x2");
	near(dck_table_cell(t, 0, "second")->value.as.r, 25);
	assert_string_equal(cell_text(t, 0, "verdict"), "slower");
	t = dck_record_table(r, "compare/operators_alone");
	assert_non_null(t);
	assert_int_equal(t->nrows, 4);
	/* Sorted by time. */
	assert_string_equal(cell_text(t, 0, "operator"), "z");
	assert_string_equal(cell_text(t, 0, "record"), "first");
	near(dck_table_cell(t, 0, "time")->value.as.r, 2);
	dck_record_free(r);
}

static void types_are_sums_whose_errors_add_up(void **state)
{
	dck_record *r =
	    compared(PROFILE("a", {"c1", "Conv", 100, 1, {0}}, {"c2", "Conv", 50, 1, {0}},
			     {"r", "Relu", 10, 1, {0}}, {"g", "Gelu", 9, 1, {0}}),
		     PROFILE("b", {"c1", "Conv", 120, 2, {0}}, {"c2", "Conv", 60, 1, {0}},
			     {"r", "Relu", 10, 1, {0}}, {"g", "FastGelu", 9, 0, {0}}));
	const dck_table *t = dck_record_table(r, "compare/operator_types");
	const double half = hypot(2.0 / 150, 3.0 / 180) * OF_TWO, ns = sqrt(4 + 9) * OF_TWO;

	(void)state;
	assert_non_null(t);
	assert_int_equal(t->nrows, 3);
	assert_string_equal(cell_text(t, 0, "type"), "Conv");
	assert_string_equal(cell_text(t, 0, "verdict"), "slower");
	assert_int_equal(dck_table_cell(t, 0, "n")->value.as.i, 2);
	cell_is(t, 0, "change", 30, 30 - ns, 30 + ns);
	cell_is(t, 0, "ratio", 1.2, 1.2 * exp(-half), 1.2 * exp(half));
	near(dck_table_cell(t, 0, "share")->value.as.r, 1);
	near(dck_table_cell(t, 0, "first")->value.as.r, 150);
	assert_string_equal(cell_text(t, 1, "type"), "Relu");
	assert_string_equal(cell_text(t, 2, "type"), "Gelu > FastGelu");
	assert_int_equal(dck_table_cell(t, 2, "ratio")->level, 0);
	dck_record_free(r);
}

static void equal_names_are_one_row(void **state)
{
	dck_record *r = compared(PROFILE("a", {"n", "Conv", 10, 1, {0}}, {"n", "Conv", 20, 1, {0}}),
				 PROFILE("b", {"n", "Conv", 35, 1, {0}}));
	const dck_table *t = dck_record_table(r, "compare/operators");

	(void)state;
	assert_int_equal(t->nrows, 1);
	assert_string_equal(cell_text(t, 0, "operator"), "n +1");
	near(dck_table_cell(t, 0, "change")->value.as.r, 5);
	dck_record_free(r);
}

/* n operators of 1000 ns +- 10; the logarithm of each ratio is z[i] times the half-width of its
 * interval over 1.96. */
static dck_record *scattered(const char *name, const double *z, size_t n)
{
	record_builder *b = profile_begin(name);
	char text[32];

	for (size_t i = 0; i < n; i++) {
		const double ns = 1000 * exp(z ? z[i] * hypot(0.01, 0.01) / 1.959963984540054 : 0);
		op o = {text, "Conv", ns, 0.01 * ns, {0}};

		snprintf(text, sizeof text, "op%zu", i);
		op_put(b, &o);
	}
	return saved_end(b);
}

static void scatter_of_unchanged_operators_widens_all(void **state)
{
	/* Median 0.5, its absolute deviation 2: 2 / 0.6745 = 2.965 times as wide. One changed. */
	const double z[] = {-3, -2, -1.5, -1.5, 0.5, 0.5, 0.5, 2.5, 2.5, 2.5, 40};
	dck_record *r = compared(scattered("a", NULL, 11), scattered("b", z, 11));
	const dck_table *t = dck_record_table(r, "compare/operators");

	(void)state;
	assert_true(fabs(fact_number(r, "operators", "spread") - 2 / 0.6744897501960817) < 1e-9);
	assert_non_null(dck_record_note(r, "operators-scatter"));
	assert_string_equal(cell_text(t, 0, "operator"), "op10");
	assert_string_equal(cell_text(t, 0, "verdict"), "slower");
	for (size_t i = 1; i < t->nrows; i++)
		assert_string_equal(cell_text(t, i, "verdict"), "undecided");
	dck_record_free(r);
	/* Nine operators are too few for the estimate. */
	r = compared(scattered("a", NULL, 9), scattered("b", z, 9));
	near(fact_number(r, "operators", "spread"), 1);
	dck_record_free(r);
}

static dck_record *with_floor(const char *name, double ns, double floor)
{
	record_builder *b = profile_begin(name);
	op o = {"short", "Relu", ns, 1, {0}};

	record_fact_real(b, "profile", "resolution", DCK_UNIT_NS, 1000);
	record_fact_real(b, "profile", "floor", DCK_UNIT_NS, floor);
	op_put(b, &o);
	return saved_end(b);
}

static void what_the_profiler_does_not_resolve_is_undecided(void **state)
{
	/* 200 ns to 400 ns, each +- 1 ns by its runs; but the overhead is uncertain by 300 ns. */
	dck_record *r = compared(with_floor("a", 200, 900), with_floor("b", 400, 1000));
	const dck_table *t = dck_record_table(r, "compare/operators");

	(void)state;
	near(fact_number(r, "operators", "step"), 300);
	rows_are(t, "short|Relu|undecided");
	near(dck_table_cell(t, 0, "change")->hi, 200 + sqrt(1 + 1 + 9e4));
	dck_record_free(r);
	/* Overheads that differ more are reported. */
	r = compared(with_floor("a", 200, 900), with_floor("b", 400, 1700));
	near(fact_number(r, "operators", "step"), 800);
	dck_record_free(r);
	r = compared(with_floor("a", 20000, 900), with_floor("b", 40000, 900));
	rows_are(dck_record_table(r, "compare/operators"), "short|Relu|slower");
	dck_record_free(r);
}

static void records_without_times_have_no_such_table(void **state)
{
	record_builder *b = profile_begin("b");
	dck_op counted = {.name = "n", .type = "Conv", .macs = INT(5)};
	dck_record *a = PROFILE("a", {"n", "Conv", 10, 1, {0}}), *c, *r;

	(void)state;
	record_op(b, &counted);
	c = saved_end(b);
	r = compare_two(a, c, NULL);
	assert_null(dck_record_table(r, "compare/operators"));
	assert_null(dck_record_fact(r, "operators", "compared"));
	dck_record_free(r);
	r = compare_two(c, a, NULL);
	assert_null(dck_record_table(r, "compare/operators"));
	dck_record_free(r);
	dck_record_free(a);
	dck_record_free(c);
}

static void each_alternative_has_its_table(void **state)
{
	dck_record *a = PROFILE("a", {"n", "Conv", 10, 0.1, {0}});
	dck_record *b = PROFILE("b", {"n", "Conv", 11, 0.1, {0}});
	dck_record *c = PROFILE("c", {"n", "Conv", 9, 0.1, {0}});
	dck_record *r = compare_n((const dck_record *[]){a, b, c}, 3, NULL);

	(void)state;
	rows_are(dck_record_table(r, "compare/operators/b"), "n|Conv|slower");
	rows_are(dck_record_table(r, "compare/operators/c"), "n|Conv|faster");
	near(fact_number(r, "operators", "second_total/c"), 9);
	dck_record_free(r);
	dck_record_free(a);
	dck_record_free(b);
	dck_record_free(c);
}

/* --- values absent from profiles */

static double odd_number(unsigned *seed)
{
	static const double odd[] = {0, -0.0, 1, -1, 1e-320, 1e308, -1e308, 1e18, 1e19, 0.95, 100};

	*seed = *seed * 1664525u + 1013904223u;
	return odd[(*seed >> 16) % (sizeof odd / sizeof odd[0])];
}

static dck_value odd_value(unsigned *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	switch ((*seed >> 16) % 5) {
	case 0:
		return (dck_value){.kind = DCK_VALUE_ABSENT, .as.text = "odd"};
	case 1:
		return INT((int64_t)((*seed >> 20) % 7) - 3);
	case 2:
		return INT((*seed >> 20) % 2 ? INT64_MAX : INT64_MIN);
	default:
		return REAL(odd_number(seed));
	}
}

/* A record as a file may have it: every number odd, with NaN and infinity where a hand-made struct
 * may have them. */
typedef struct odd_record {
	dck_record r;
	dck_metric metrics[2];
	dck_metric_def def;
	dck_op ops[8];
	dck_series series[2];
	double values[2][40];
	dck_fact facts[4];
} odd_record;

static const char *const odd_names[] = {"", "a", "b", "c", "d"};
static const char *const odd_origins[] = {"a", "b", "", "c"};

static double odd_any(unsigned *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	switch ((*seed >> 16) % 8) {
	case 0:
		return NAN;
	case 1:
		return INFINITY;
	case 2:
		return -INFINITY;
	default:
		return odd_number(seed);
	}
}

static unsigned odd_choice(unsigned *seed, unsigned n)
{
	*seed = *seed * 1664525u + 1013904223u;
	return (*seed >> 16) % n;
}

static void odd_make(odd_record *o, const dck_metric_def *def, unsigned *seed)
{
	static const char *const tags[] = {"latency", "latency/process/1", "latency/process/2"};

	*o = (odd_record){.r = {.schema = DCK_RECORD_SCHEMA, .version = "0", .id = ""}};
	o->metrics[0] = (dck_metric){.def = def,
				     .value = odd_value(seed),
				     .lo = odd_any(seed),
				     .hi = odd_any(seed),
				     .level = odd_choice(seed, 2) ? 0.95 : 0};
	for (size_t i = 0; i < 8; i++) {
		o->ops[i] = (dck_op){.name = odd_names[odd_choice(seed, 5)],
				     .type = odd_names[odd_choice(seed, 3)],
				     .time_ns = odd_value(seed),
				     .time_lo_ns = odd_any(seed),
				     .time_hi_ns = odd_any(seed),
				     .time_level = odd_choice(seed, 3) ? 0.95 : fabs(odd_any(seed)),
				     .origins = odd_origins + odd_choice(seed, 3),
				     .norigins = odd_choice(seed, 2)};
	}
	for (size_t i = 0; i < 2; i++) {
		const size_t n = odd_choice(seed, 40);

		for (size_t k = 0; k < n; k++)
			o->values[i][k] =
			    odd_choice(seed, 2) ? 1000 + odd_choice(seed, 9) : odd_any(seed);
		o->series[i] = (dck_series){.tag = tags[odd_choice(seed, 3)],
					    .unit = DCK_UNIT_NS,
					    .n = n,
					    .warmup = odd_choice(seed, (unsigned)n + 1),
					    .values = o->values[i]};
	}
	o->facts[0] = (dck_fact){"profile", "resolution", DCK_UNIT_NS, odd_value(seed)};
	o->facts[1] = (dck_fact){"profile", "floor", DCK_UNIT_NS, odd_value(seed)};
	o->facts[2] = (dck_fact){"method", "processes", DCK_UNIT_ONE, odd_value(seed)};
	o->facts[3] = (dck_fact){"subject", "name", DCK_UNIT_NONE, odd_value(seed)};
	o->r.metrics = o->metrics;
	o->r.nmetrics = 1;
	o->r.ops = o->ops;
	o->r.nops = odd_choice(seed, 9);
	o->r.series = o->series;
	o->r.nseries = odd_choice(seed, 3);
	o->r.facts = o->facts;
	o->r.nfacts = 4;
	o->r.began_unix_ns = odd_choice(seed, 2) ? INT64_MIN : INT64_MAX;
}

static void check_value(const dck_value *v, double lo, double hi, double level)
{
	if (v->kind == DCK_VALUE_REAL)
		assert_true(isfinite(v->as.r));
	if (v->kind == DCK_VALUE_ABSENT || v->kind == DCK_VALUE_TEXT)
		assert_true(v->as.text && v->as.text[0]);
	assert_true(isfinite(lo) && isfinite(hi));
	if (level > 0)
		assert_true(level < 1 && lo <= hi);
}

static void check_result(const dck_record *r)
{
	static const char *const verdicts[] = {"faster", "slower", "same", "undecided"};
	bool known = false;

	for (size_t i = 0; i < 4; i++)
		known |= strcmp(fact_text(r, "compare", "verdict"), verdicts[i]) == 0;
	assert_true(known);
	for (size_t i = 0; i < r->nmetrics; i++)
		check_value(&r->metrics[i].value, r->metrics[i].lo, r->metrics[i].hi,
			    r->metrics[i].level);
	for (size_t i = 0; i < r->ntables; i++)
		for (size_t k = 0; k < r->tables[i].nrows * r->tables[i].ncolumns; k++) {
			const dck_cell *c = &r->tables[i].cells[k];

			if (c->value.kind != DCK_VALUE_TEXT)
				check_value(&c->value, c->lo, c->hi, c->level);
		}
}

static void odd_records_are_compared_or_refused(void **state)
{
	static odd_record o[5];
	size_t ndefs, done = 0;
	const dck_metric_def *defs = dck_metric_defs(&ndefs);
	unsigned seed = 20261121;

	(void)state;
	for (size_t round = 0; round < 20000; round++) {
		const dck_metric_def *def =
		    &defs[round % 4 ? odd_choice(&seed, (unsigned)ndefs) : 0];
		const bool together = round % 5 == 4;
		const size_t n = together ? 5 : 2 + round % 2;
		const dck_record *all[5];
		dck_compare_config c;
		dck_record *r = NULL;
		dck_err err = {0};
		dck_status status;

		for (size_t i = 0; i < 5; i++) {
			odd_make(&o[i], def, &seed);
			all[i] = &o[i].r;
		}
		dck_compare_config_init(&c);
		c.run_to_run = 0;
		c.metric = def->tag;
		c.margin = round % 3 ? 0.01 : 0;
		c.force = round % 2;
		c.pool = together;
		status = dck_compare_records(all, n, &c, &r, &err);
		if (status == DCK_OK) {
			check_result(r);
			dck_record_free(r);
			done++;
			continue;
		}
		assert_int_equal(status, DCK_E_ARG);
		assert_true(err.msg[0] && !strchr(err.msg, '\n'));
	}
	assert_true(done > 5000);
}

/* Each list of names is read once: a hundred thousand operators must not take minutes. */
static void many_operators_take_no_minutes(void **state)
{
	enum { MANY = 100000 };
	static char names[2 * MANY][16];

	(void)state;
	for (int shape = 0; shape < 3; shape++) {
		record_builder *b[2] = {profile_begin("a"), profile_begin("b")};
		dck_record *r[2], *result;

		for (size_t i = 0; i < 2 * MANY; i++) {
			/* all names equal; all types different; all names in one hash chain */
			snprintf(names[i], sizeof names[i], "n%zu", shape == 1 ? i : i % MANY);
			op one = {names[i],
				  shape == 1 ? names[i] : "Conv",
				  100 + (double)(i % 7),
				  1,
				  {0}};
			if (shape == 2 && i % MANY > 0)
				one.origins[0] = names[i - 1];
			op_put(b[i / MANY], &one);
		}
		r[0] = saved_end(b[0]);
		r[1] = saved_end(b[1]);
		result = compare_two(r[0], r[1], NULL);
		near(fact_number(result, "operators", "compared"), shape == 0	? MANY
								   : shape == 1 ? 0
										: 1);
		assert_int_equal(dck_record_note(result, "operators-unmatched") != NULL,
				 shape == 1);
		dck_record_free(result);
		dck_record_free(r[0]);
		dck_record_free(r[1]);
	}
}

static void memory_may_end_anywhere(void **state)
{
	dck_record *a = PROFILE("a", {"x1", "Conv", 10, 1, {0}}, {"y", "Relu", 1, 1, {0}},
				{"z", "Pool", 2, 1, {0}});
	dck_record *b = PROFILE("b", {"w1", "Conv", 10, 1, {"w1", "y", NULL}},
				{"v", "Conv", 1, 1, {0}}, {"u", "Gemm", 1, 1, {0}});
	const dck_record *const all[] = {a, b, a};
	dck_record *r = NULL;

	(void)state;
	for (size_t at = 1;; at++) {
		fault_alloc f;
		dck_status status;
		dck_err err = {0};

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
}

int test_saved_ops(void);
int test_saved_ops(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(changes_have_exact_intervals),
	    cmocka_unit_test(fused_operators_meet_their_parts),
	    cmocka_unit_test(renamed_operators_are_matched_in_order),
	    cmocka_unit_test(types_are_sums_whose_errors_add_up),
	    cmocka_unit_test(equal_names_are_one_row),
	    cmocka_unit_test(scatter_of_unchanged_operators_widens_all),
	    cmocka_unit_test(what_the_profiler_does_not_resolve_is_undecided),
	    cmocka_unit_test(records_without_times_have_no_such_table),
	    cmocka_unit_test(each_alternative_has_its_table),
	    cmocka_unit_test(odd_records_are_compared_or_refused),
	    cmocka_unit_test(many_operators_take_no_minutes),
	    cmocka_unit_test(memory_may_end_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
