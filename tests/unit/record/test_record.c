/* test_record.c - building a record and looking up its parts.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/build.h"
#include "base/mem.h"
#include "record/record_internal.h"
#include "counted.h"
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void a_record_is_named_by_its_title_subject_or_command(void **state)
{
	static const struct {
		const char *title, *name, *command, *want;
	} all[] = {{"batch 8", "Net", "deepclock bench", "batch 8"},
		   {"", "Net", "deepclock bench", "Net"},
		   {NULL, "Net", "deepclock bench", "Net"},
		   {NULL, NULL, "deepclock bench", "deepclock bench"},
		   {NULL, NULL, NULL, NULL}};

	(void)state;
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
		record_builder *b = record_new();
		dck_record *r;

		record_set_command(b, all[i].command);
		if (all[i].title)
			record_fact_text(b, "subject", "title", all[i].title);
		if (all[i].name)
			record_fact_text(b, "subject", "name", all[i].name);
		assert_int_equal(record_finish(b, &r, NULL), DCK_OK);
		if (all[i].want)
			assert_string_equal(dck_record_name(r), all[i].want);
		else
			assert_null(dck_record_name(r));
		dck_record_free(r);
	}
}

static void an_empty_record_says_who_made_it(void **state)
{
	(void)state;
	dck_record *r = NULL;
	dck_err err;
	record_builder *b = record_new();
	assert_non_null(b);
	assert_int_equal(record_finish(b, &r, &err), DCK_OK);
	assert_int_equal(r->schema, 1);
	assert_string_equal(r->version, DCK_VERSION);
	assert_string_equal(r->id, "");
	assert_null(r->command);
	assert_false(r->incomplete);
	assert_int_equal(r->nfacts + r->nseries + r->nmetrics + r->nops + r->nnotes, 0);
	assert_null(dck_record_metric(r, "latency/median"));
	assert_null(dck_record_series(r, "latency"));
	assert_null(dck_record_fact(r, "host", "cpu"));
	assert_null(dck_record_note(r, "not-steady"));
	assert_true(isnan(dck_record_value(r, "latency/median")));
	dck_record_free(r);
	dck_record_free(NULL);
	record_drop(NULL);
}

static void strings_and_arrays_are_copied(void **state)
{
	(void)state;
	dck_record *r = NULL;
	char text[16] = "before";
	uint64_t at[3] = {10, 20, 30};
	double x[3] = {1.5, 2.5, 3.5};
	record_builder *b = record_new();

	record_set_id(b, text);
	record_set_began(b, 1234567890123456789);
	record_set_command(b, text);
	record_set_incomplete(b, true);
	record_fact_text(b, text, text, text);
	record_series(b, text, DCK_UNIT_NS, at, x, 3, 1);
	record_note_as(b, DCK_WARN, text, "%s %d", text, 7);
	strcpy(text, "after");
	at[1] = 99;
	x[1] = 99;
	assert_int_equal(record_finish(b, &r, NULL), DCK_OK);
	assert_string_equal(r->id, "before");
	assert_string_equal(r->command, "before");
	assert_true(r->began_unix_ns == 1234567890123456789);
	assert_true(r->incomplete);
	assert_string_equal(dck_record_fact(r, "before", "before")->value.as.text, "before");
	const dck_series *s = dck_record_series(r, "before");
	assert_int_equal(s->n, 3);
	assert_int_equal(s->warmup, 1);
	assert_int_equal(s->unit, DCK_UNIT_NS);
	assert_true(s->at_ns[1] == 20);
	assert_true(s->values[1] == 2.5);
	assert_string_equal(dck_record_note(r, "before")->text, "before 7");
	dck_record_free(r);
}

static void a_later_row_replaces_the_earlier(void **state)
{
	(void)state;
	dck_record *r = NULL;
	record_builder *b = record_new();
	record_fact_text(b, "host", "cpu", "first");
	record_fact_int(b, "host", "cores", DCK_UNIT_ONE, 4);
	record_fact_text(b, "engine", "cpu", "other section");
	record_fact_text(b, "host", "cpu", "second");
	record_metric_real(b, "latency/median", 1, "a");
	record_metric_interval(b, "latency/median", 2, 1, 3, 0.95, "b");
	assert_int_equal(record_finish(b, &r, NULL), DCK_OK);
	assert_int_equal(r->nfacts, 3);
	assert_string_equal(r->facts[0].value.as.text, "second");
	assert_int_equal(r->nmetrics, 1);
	assert_true(dck_record_value(r, "latency/median") == 2);
	assert_string_equal(r->metrics[0].how, "b");
	dck_record_free(r);
}

static void what_is_not_known_is_absent_never_zero(void **state)
{
	(void)state;
	dck_record *r = NULL;
	record_builder *b = record_new();
	record_fact_text(b, "host", "governor", NULL);
	record_fact_absent(b, "host", "turbo", "no such file");
	record_fact_real(b, "host", "load", DCK_UNIT_ONE, NAN);
	record_metric_real(b, "latency/mean", INFINITY, NULL);
	record_metric_interval(b, "latency/p90", NAN, 1, 2, 0.95, NULL);
	record_metric_interval(b, "latency/p95", 1, NAN, 2, 0.95, NULL);
	record_metric_absent(b, "latency/p99", "needs 299 runs, there are 12");
	record_metric_int(b, "runs/count", 12, NULL);
	assert_int_equal(record_finish(b, &r, NULL), DCK_OK);
	for (size_t i = 0; i < r->nfacts; i++)
		assert_int_equal(r->facts[i].value.kind, DCK_VALUE_ABSENT);
	assert_string_equal(r->facts[0].value.as.text, "not known");
	assert_string_equal(r->facts[1].value.as.text, "no such file");
	assert_string_equal(r->facts[2].value.as.text, "not a finite number");
	assert_int_equal(dck_record_metric(r, "latency/mean")->value.kind, DCK_VALUE_ABSENT);
	assert_int_equal(dck_record_metric(r, "latency/p90")->value.kind, DCK_VALUE_ABSENT);
	const dck_metric *half = dck_record_metric(r, "latency/p95");
	assert_int_equal(half->value.kind, DCK_VALUE_REAL);
	assert_true(half->level == 0); /* an interval with one open end is dropped */
	assert_true(isnan(dck_record_value(r, "latency/p99")));
	assert_true(dck_record_value(r, "runs/count") == 12);
	dck_record_free(r);
}

static void lists_grow_and_notes_can_be_asked_for(void **state)
{
	(void)state;
	dck_record *r = NULL;
	size_t n = 99;
	char key[32];
	record_builder *b = record_new();
	assert_true(!record_notes(b, &n) || n == 0);
	assert_int_equal(n, 0);
	for (int i = 0; i < 100; i++) {
		snprintf(key, sizeof key, "k%d", i);
		record_fact_int(b, "many", key, DCK_UNIT_ONE, i);
		record_note_as(b, DCK_INFO, key, "text %d", i);
	}
	const dck_note *notes = record_notes(b, &n);
	assert_int_equal(n, 100);
	assert_string_equal(notes[99].text, "text 99");
	assert_int_equal(record_finish(b, &r, NULL), DCK_OK);
	assert_int_equal(r->nfacts, 100);
	assert_int_equal(dck_record_fact(r, "many", "k42")->value.as.i, 42);
	assert_string_equal(dck_record_note(r, "k42")->text, "text 42");
	dck_record_free(r);
}

static void every_definition_is_complete_and_unique(void **state)
{
	(void)state;
	size_t n;
	const dck_metric_def *d = dck_metric_defs(&n);
	static const char *const must[] = {
	    "latency/mean", "latency/median",	"latency/min",	  "latency/max", "latency/stddev",
	    "latency/cv",   "latency/mad",	"latency/p90",	  "latency/p95", "latency/p99",
	    "latency/p999", "throughput/items", "runs/count",	  "runs/warmup", "cpu/time",
	    "cpu/ratio",    "time/library",	"time/session",	  "time/inputs", "time/first_run",
	    "time/warmup",  "time/measured",	"memory/peak_rss"};
	for (size_t i = 0; i < n; i++) {
		assert_true(d[i].tag[0] != '\0' && d[i].name[0] != '\0' && d[i].help[0] != '\0');
		assert_true(d[i].unit != DCK_UNIT_NONE && d[i].unit < DCK_UNIT_COUNT);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(d[i].tag, d[k].tag);
	}
	for (size_t i = 0; i < sizeof must / sizeof must[0]; i++)
		assert_non_null(record_find_def(must[i], NULL));
	assert_null(record_find_def("latency/nonsense", NULL));
	assert_int_equal(record_find_def("throughput/items", NULL)->unit, DCK_UNIT_ITEM_PER_S);
	assert_int_equal(record_find_def("throughput/items", NULL)->better, DCK_BETTER_HIGHER);
	assert_int_equal(record_find_def("latency/p999", NULL)->better, DCK_BETTER_LOWER);
}

static void tables_are_copied_whole(void **state)
{
	(void)state;
	dck_record *r = NULL;
	char name[] = "name", title[] = "title", key[] = "key", text[] = "text", why[] = "why";
	dck_column columns[] = {{key, title, DCK_UNIT_NONE}, {"v", "V", DCK_UNIT_NS}};
	record_builder *b = record_new();
	record_table(b, name, title, columns, 2);
	record_cell_text(b, text);
	record_cell_real(b, 1.5);
	record_cell_fmt(b, "%s/%d", text, 2);
	record_cell_real(b, (double)NAN);
	record_cell_int(b, 3);
	record_cell_absent(b, why);
	record_cell_text(b, "a");
	record_cell_interval(b, 2.5, 2, 3, 0.95);
	record_cell_text(b, "b");
	record_cell_absent(b, "its own reason");
	record_cell_text(b, "c");
	record_cell_absent(b, NULL);
	record_cell_text(b, "d");
	record_cell_int(b, 7);
	record_cell_text(b, "e");
	record_cell_interval(b, 4, (double)NAN, 5, 0.95);
	record_table(b, "none", "no rows", columns, 1);
	columns[0] = (dck_column){"x", "x", DCK_UNIT_BYTE};
	name[0] = title[0] = key[0] = text[0] = why[0] = '#';
	assert_int_equal(record_finish(b, &r, NULL), DCK_OK);
	assert_int_equal(r->ntables, 2);
	const dck_table *t = dck_record_table(r, "name");
	assert_string_equal(t->title, "title");
	assert_string_equal(t->columns[0].key, "key");
	assert_string_equal(t->columns[0].title, "title");
	assert_int_equal(t->columns[0].unit, DCK_UNIT_NONE);
	assert_int_equal(t->nrows, 8);
	assert_string_equal(dck_table_cell(t, 0, "key")->value.as.text, "text");
	assert_string_equal(dck_table_cell(t, 1, "key")->value.as.text, "text/2");
	assert_true(dck_table_cell(t, 0, "v")->value.as.r == 1.5);
	assert_string_equal(dck_table_cell(t, 1, "v")->value.as.text, "not a finite number");
	assert_true(dck_table_cell(t, 2, "key")->value.as.i == 3);
	assert_string_equal(dck_table_cell(t, 2, "v")->value.as.text, "why");
	const dck_cell *c = dck_table_cell(t, 3, "v");
	assert_true(c->value.as.r == 2.5 && c->lo == 2 && c->hi == 3 && c->level == 0.95);
	assert_string_equal(dck_table_cell(t, 4, "v")->value.as.text, "its own reason");
	assert_string_equal(dck_table_cell(t, 5, "v")->value.as.text, "not known");
	assert_true(dck_table_cell(t, 6, "v")->value.as.i == 7);
	assert_true(dck_table_cell(t, 7, "v")->level == 0);
	assert_int_equal(dck_record_table(r, "none")->nrows, 0);
	assert_int_equal(dck_record_table(r, "none")->ncolumns, 1);
	dck_record_free(r);
}

/* A duplicate name gets a number, so that each can be found. */
static void tables_and_columns_have_names_of_their_own(void **state)
{
	(void)state;
	dck_record *r = NULL;
	const dck_column columns[] = {{"a", "1", DCK_UNIT_NONE},
				      {"p99", "2", DCK_UNIT_NS},
				      {"p99", "3", DCK_UNIT_NS},
				      {"p99_2", "4", DCK_UNIT_NS},
				      {"p99", "5", DCK_UNIT_NS}};
	record_builder *b = record_new();
	for (int i = 0; i < 3; i++)
		record_table(b, "t", "title", columns, 5);
	assert_int_equal(record_finish(b, &r, NULL), DCK_OK);
	assert_string_equal(r->tables[0].name, "t");
	assert_string_equal(r->tables[1].name, "t/2");
	assert_string_equal(r->tables[2].name, "t/3");
	const dck_column *c = r->tables[2].columns;
	assert_string_equal(c[1].key, "p99");
	assert_string_equal(c[2].key, "p99_2");
	assert_string_equal(c[3].key, "p99_2_2");
	assert_string_equal(c[4].key, "p99_3");
	dck_record_free(r);
}

/* The record owns a copy of every member of an operator. */
static void an_operator_is_copied_whole(void **state)
{
	(void)state;
	char name[] = "conv1", symbol[] = "2*N+1", origin[] = "relu1";
	const char *symbols[] = {symbol, NULL};
	const char *origins[] = {"conv1", origin};
	int64_t dims[] = {-1, 64};
	dck_op_output out = {
	    .name = "y", .dtype = "float32", .rank = 2, .dims = dims, .symbols = symbols};
	dck_op op = {.name = name,
		     .type = "Conv",
		     .outputs = &out,
		     .noutputs = 1,
		     .macs = {.kind = DCK_VALUE_INT, .as.i = INT64_MAX},
		     .flops = {.kind = DCK_VALUE_REAL, .as.r = (double)NAN},
		     .read_bytes = {.kind = DCK_VALUE_ABSENT, .as.text = "no shape"},
		     .time_ns = {.kind = DCK_VALUE_REAL, .as.r = 10},
		     .time_lo_ns = 9,
		     .time_hi_ns = 12,
		     .time_level = 0.95,
		     .bound = "memory",
		     .origins = origins,
		     .norigins = 2};
	dck_record *r = NULL;
	record_builder *b = record_new();
	record_op(b, &op);
	memset(name, 'x', 5);
	memset(symbol, 'x', 5);
	memset(origin, 'x', 5);
	dims[1] = 0;
	op.time_ns = (dck_value){.kind = DCK_VALUE_ABSENT};
	op.outputs = NULL;
	op.noutputs = op.norigins = 0;
	record_op(b, &op);
	assert_int_equal(record_finish(b, &r, NULL), DCK_OK);
	assert_int_equal(r->nops, 2);
	const dck_op *o = &r->ops[0];
	assert_string_equal(o->name, "conv1");
	assert_null(o->scope);
	assert_true(o->outputs[0].dims[0] == -1 && o->outputs[0].dims[1] == 64);
	assert_string_equal(o->outputs[0].symbols[0], "2*N+1");
	assert_true(o->macs.as.i == INT64_MAX);
	assert_int_equal(o->flops.kind, DCK_VALUE_ABSENT);
	assert_string_equal(o->flops.as.text, "not a finite number");
	assert_string_equal(o->params.as.text, "not measured");
	assert_string_equal(o->read_bytes.as.text, "no shape");
	assert_true(o->time_lo_ns == 9 && o->time_hi_ns == 12 && o->time_level == 0.95);
	assert_string_equal(o->bound, "memory");
	assert_int_equal(o->norigins, 2);
	assert_string_equal(o->origins[1], "relu1");
	/* No interval without a time. */
	assert_true(r->ops[1].time_level == 0);
	assert_int_equal(r->ops[1].noutputs + r->ops[1].norigins, 0);
	dck_record_free(r);
}

static void every_metric_is_explained_once(void **state)
{
	(void)state;
	size_t n;
	const dck_metric_def *d = dck_metric_defs(&n);

	assert_true(n > 100);
	for (size_t i = 0; i < n; i++) {
		if (!*d[i].name || strlen(d[i].help) < 5 || !*dck_unit_text(d[i].unit))
			fail_msg("%s has no name, no help or no unit", d[i].tag);
		for (size_t k = 0; k < i; k++)
			if (strcmp(d[i].tag, d[k].tag) == 0)
				fail_msg("%s stands there twice", d[i].tag);
	}
}

static void units_have_the_names_of_the_json_form(void **state)
{
	(void)state;
	dck_unit u;
	assert_string_equal(dck_unit_text(DCK_UNIT_NONE), "");
	assert_string_equal(dck_unit_text(DCK_UNIT_NS), "ns");
	assert_string_equal(dck_unit_text(DCK_UNIT_ITEM_PER_S), "items/s");
	assert_string_equal(dck_unit_text((dck_unit)99), "");
	assert_string_equal(dck_unit_text(DCK_UNIT_RUN_PER_S), "runs/s");
	assert_true(record_find_unit("FLOP/s", &u) && u == DCK_UNIT_FLOP_PER_S);
	assert_false(record_find_unit("furlong", &u));
}

static void times_are_rfc_3339_both_ways(void **state)
{
	(void)state;
	static const struct {
		int64_t ns;
		const char *text;
	} same[] = {
	    {0, "1970-01-01T00:00:00Z"},
	    {1, "1970-01-01T00:00:00.000000001Z"},
	    {-1, "1969-12-31T23:59:59.999999999Z"},
	    {951782400000000000, "2000-02-29T00:00:00Z"},
	    {1234567890123456789, "2009-02-13T23:31:30.123456789Z"},
	    {4107542400000000000, "2100-03-01T00:00:00Z"},
	};
	static const char *const refused[] = {"",
					      "2026",
					      "2026-13-01T00:00:00Z",
					      "2026-00-01T00:00:00Z",
					      "2026-01-32T00:00:00Z",
					      "2026-01-01T24:00:00Z",
					      "2026-01-01T00:00:00",
					      "2026-01-01T00:00:00+01:00",
					      "2026-01-01T00:00:00.Z",
					      "9999-01-01T00:00:00Z",
					      "1000-01-01T00:00:00Z"};
	char text[RECORD_TIME_SIZE];
	int64_t ns;
	for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
		record_time_text(same[i].ns, text);
		assert_string_equal(text, same[i].text);
		assert_true(record_time_parse(text, &ns));
		assert_true(ns == same[i].ns);
	}
	assert_true(record_time_parse("2026-11-21T04:56:52.5Z", &ns));
	record_time_text(ns, text);
	assert_string_equal(text, "2026-11-21T04:56:52.500000000Z");
	for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
		assert_false(record_time_parse(refused[i], &ns));
}

/* --- the n-th allocation fails */

static size_t calls, fail_at, out;

static void *count_alloc(void *self, size_t bytes)
{
	(void)self;
	if (++calls == fail_at)
		return NULL;
	out++;
	return malloc(bytes > 0 ? bytes : 1);
}

static void *count_resize(void *self, void *old, size_t bytes)
{
	if (!old)
		return count_alloc(self, bytes);
	return ++calls == fail_at ? NULL : realloc(old, bytes > 0 ? bytes : 1);
}

static void count_release(void *self, void *old)
{
	(void)self;
	if (old)
		out--;
	free(old);
}

static dck_status build_large(dck_record **ret)
{
	static double x[20000];
	static const int64_t dim = -1;
	static const char *const origin = "o";
	static const dck_column columns[] = {{"a", "a", DCK_UNIT_NONE}, {"b", "b", DCK_UNIT_NS}};
	char key[32];
	record_builder *b = record_new();
	if (!b)
		return DCK_E_NOMEM;
	record_set_id(b, "id");
	for (int i = 0; i < 40; i++) {
		snprintf(key, sizeof key, "k%d", i);
		record_fact_fmt(b, "s", key, "%0200d", i);
		record_note_as(b, DCK_INFO, key, "%0200d", i);
	}
	record_series(b, "latency", DCK_UNIT_NS, NULL, x, 20000, 0);
	record_metric_real(b, "latency/median", 1, "how");
	for (int i = 0; i < 40; i++)
		record_op(b, &(dck_op){.name = key,
				       .outputs = &(dck_op_output){.rank = 1, .dims = &dim},
				       .noutputs = 1,
				       .origins = &origin,
				       .norigins = 1});
	for (int i = 0; i < 3; i++) {
		snprintf(key, sizeof key, "t%d", i);
		record_table(b, key, "title", columns, 2);
		for (int row = 0; row < 300; row++) {
			record_cell_fmt(b, "%0100d", row);
			record_cell_interval(b, 2, 1, 3, 0.95);
		}
	}
	for (int i = 0; i < 300; i++) {
		snprintf(key, sizeof key, "recall/%d", i);
		record_metric_real(b, key, i, NULL);
	}
	return record_finish(b, ret, NULL);
}

static void no_memory_is_an_error_and_leaks_nothing(void **state)
{
	(void)state;
	const dck_allocator counting = {
	    .alloc = count_alloc, .resize = count_resize, .release = count_release};
	dck_status st = DCK_E_NOMEM;
	dck_set_allocator(&counting);
	for (fail_at = 1; st != DCK_OK && fail_at < 1000; fail_at++) {
		dck_record *r = NULL;
		calls = 0;
		st = build_large(&r);
		assert_true(st == DCK_OK || (st == DCK_E_NOMEM && !r));
		dck_record_free(r);
		assert_int_equal(out, 0);
	}
	dck_set_allocator(NULL);
	assert_int_equal(st, DCK_OK);
	assert_true(fail_at > 5);
}

/* The cells of a large table are in memory once, also when the record is finished. */
static void a_large_table_is_in_memory_once(void **state)
{
	enum { ROWS = 100000 };
	static const dck_column columns[] = {{"a", "a", DCK_UNIT_ONE}, {"b", "b", DCK_UNIT_ONE}};
	record_builder *b;
	dck_record *r;

	(void)state;
	counted_begin();
	b = record_new();
	record_table(b, "t", "T", columns, 2);
	record_table_reserve(b, ROWS);
	for (int64_t i = 0; i < 2 * ROWS; i++)
		record_cell_int(b, i);
	assert_int_equal(record_finish(b, &r, NULL), DCK_OK);
	assert_int_equal(r->tables[0].nrows, ROWS);
	for (size_t i = 0; i < 2 * ROWS; i += 1000)
		assert_int_equal(r->tables[0].cells[i].value.as.i, i);
	dck_record_free(r);
	assert_true(counted_end() < 2 * ROWS * sizeof(dck_cell) * 11 / 10);
}

/* The row of notes.def gives the severity and the remedy, or the message has a remedy of its own.
 */
static void test_notes(void **state)
{
	size_t n;
	const dck_note_def *defs = dck_note_defs(&n);
	record_builder *b = record_new();
	dck_record *r = NULL;

	(void)state;
	assert_true(n > 90);
	for (size_t i = 1; i < n; i++)
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(defs[i].code, defs[k].code);
	assert_null(record_note_find("no-such-note"));
	record_note(b, "outliers", "%d of %d samples", 3, 50);
	record_note(b, "turbo", "turbo is on");
	record_remedy(b, "wait %d s; measure then", 9);
	record_note_as(b, DCK_ERROR, "outliers", "as it came");
	assert_int_equal(record_finish(b, &r, NULL), DCK_OK);
	assert_int_equal(r->nnotes, 3);
	assert_int_equal(r->notes[0].severity, DCK_INFO);
	assert_string_equal(r->notes[0].text, "3 of 50 samples; prefer the median to the mean");
	assert_string_equal(r->notes[0].remedy, "prefer the median to the mean");
	assert_string_equal(r->notes[1].text, "turbo is on; wait 9 s; measure then");
	assert_string_equal(r->notes[1].remedy, "wait 9 s; measure then");
	assert_int_equal(r->notes[2].severity, DCK_ERROR);
	assert_string_equal(r->notes[2].text, "as it came");
	assert_string_equal(r->notes[2].remedy, "");
	dck_record_free(r);
}

int test_record(void);
int test_record(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_notes),
	    cmocka_unit_test(an_empty_record_says_who_made_it),
	    cmocka_unit_test(a_record_is_named_by_its_title_subject_or_command),
	    cmocka_unit_test(strings_and_arrays_are_copied),
	    cmocka_unit_test(a_later_row_replaces_the_earlier),
	    cmocka_unit_test(what_is_not_known_is_absent_never_zero),
	    cmocka_unit_test(lists_grow_and_notes_can_be_asked_for),
	    cmocka_unit_test(every_definition_is_complete_and_unique),
	    cmocka_unit_test(tables_are_copied_whole),
	    cmocka_unit_test(tables_and_columns_have_names_of_their_own),
	    cmocka_unit_test(an_operator_is_copied_whole),
	    cmocka_unit_test(every_metric_is_explained_once),
	    cmocka_unit_test(units_have_the_names_of_the_json_form),
	    cmocka_unit_test(times_are_rfc_3339_both_ways),
	    cmocka_unit_test(no_memory_is_an_error_and_leaks_nothing),
	    cmocka_unit_test(a_large_table_is_in_memory_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
