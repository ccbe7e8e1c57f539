/* test_record_json.c - the JSON format: records are read back byte for byte, and anything else is
 * refused with its position.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "deepclock/report.h"
#include "record/build.h"
#include "record/record_internal.h"
#include <dlfcn.h>
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static dck_buffer to_json(const dck_record *r)
{
	dck_buffer b = {0};
	dck_sink s;
	dck_sink_buffer(&s, &b);
	record_json_write(r, &s);
	assert_int_equal(dck_sink_finish(&s, NULL), DCK_OK);
	return b;
}

static dck_record *from_json(const char *json, size_t n)
{
	dck_record *r = NULL;
	dck_err err = {0};
	if (dck_record_parse(json, n, &r, &err) != DCK_OK)
		fail_msg("%s: %s", dck_status_name(err.code), err.msg);
	return r;
}

static dck_buffer golden(const char *name)
{
	char path[512];
	dck_buffer b = {0};
	snprintf(path, sizeof path, TESTS_DATA "/%s", name);
	FILE *f = fopen(path, "rb");
	assert_non_null(f);
	b.cap = 1 << 20;
	b.data = mem_alloc(b.cap);
	b.n = fread(b.data, 1, b.cap - 1, f);
	b.data[b.n] = '\0';
	fclose(f);
	return b;
}

/* save(load(json)) == json */
static void assert_same(const char *json, size_t n)
{
	dck_record *r = from_json(json, n);
	dck_buffer again = to_json(r);
	assert_string_equal(again.data, json);
	assert_int_equal(again.n, n);
	dck_buffer_done(&again);
	dck_record_free(r);
}

static const char *const golden_names[] = {
    "record_typical.json",    "record_absent.json",  "record_empty.json",
    "record_incomplete.json", "record_extreme.json", "record_ops.json",
    "record_cost.json",	      "record_profile.json", "record_tables.json"};
#define GOLDEN (sizeof golden_names / sizeof golden_names[0])

static void golden_records_come_back_byte_for_byte(void **state)
{
	(void)state;
	for (size_t i = 0; i < GOLDEN; i++) {
		dck_buffer b = golden(golden_names[i]);
		assert_same(b.data, b.n);
		dck_buffer_done(&b);
	}
}

static void kinds_and_values_survive(void **state)
{
	(void)state;
	dck_buffer b = golden("record_extreme.json");
	dck_record *r = from_json(b.data, b.n);
	const dck_fact *f = dck_record_fact(r, "plan", "big");
	assert_int_equal(f->value.kind, DCK_VALUE_INT);
	assert_true(f->value.as.i == INT64_MAX);
	f = dck_record_fact(r, "plan", "least");
	assert_int_equal(f->value.kind, DCK_VALUE_INT);
	assert_true(f->value.as.i == INT64_MIN);
	assert_true(dck_record_fact(r, "plan", "tiny")->value.as.r == 5e-324);
	assert_true(dck_record_fact(r, "plan", "huge")->value.as.r == DBL_MAX);
	assert_true(dck_record_fact(r, "plan", "third")->value.as.r == 1.0 / 3);
	f = dck_record_fact(r, "plan", "whole");
	assert_int_equal(f->value.kind, DCK_VALUE_REAL);
	assert_true(f->value.as.r == 9007199254740994.0);
	f = dck_record_fact(r, "plan", "looks like a number");
	assert_int_equal(f->value.kind, DCK_VALUE_TEXT);
	assert_string_equal(f->value.as.text, "9007199254740993");
	assert_int_equal(dck_record_metric(r, "runs/count")->value.kind, DCK_VALUE_INT);
	assert_true(dck_record_metric(r, "runs/count")->value.as.i == INT64_MAX);
	const dck_series *s = dck_record_series(r, "latency");
	assert_int_equal(s->n, 20);
	assert_true(s->at_ns[19] == UINT64_MAX - 1);
	assert_true(isnan(s->values[19]));
	assert_true(s->values[18] == 8.64e13);
	dck_record_free(r);
	dck_buffer_done(&b);
}

static void operators_with_open_shapes_and_unknown_costs(void **state)
{
	(void)state;
	dck_buffer b = golden("record_ops.json");
	dck_record *r = from_json(b.data, b.n);
	assert_int_equal(r->nops, 2);
	const dck_op *o = &r->ops[0];
	assert_string_equal(o->type, "Conv");
	assert_string_equal(o->scope, "layer1/0");
	assert_int_equal(o->noutputs, 1);
	assert_int_equal(o->outputs[0].rank, 4);
	assert_true(o->outputs[0].dims[0] == -1);
	assert_string_equal(o->outputs[0].symbols[0], "batch");
	assert_true(o->outputs[0].dims[1] == 64);
	assert_null(o->outputs[0].symbols[1]);
	assert_true(o->macs.as.i == 118013952);
	assert_true(o->flops.as.i == INT64_C(9007199254740993));
	assert_true(o->time_ns.as.r == 1234.5);
	o = &r->ops[1];
	assert_null(o->scope);
	assert_int_equal(o->macs.kind, DCK_VALUE_ABSENT);
	assert_string_equal(o->macs.as.text, "the shape of its output is not known");
	assert_int_equal(o->time_ns.kind, DCK_VALUE_ABSENT);
	assert_string_equal(o->time_ns.as.text, "not measured");
	dck_record_free(r);
	dck_buffer_done(&b);
}

#define HEAD "{\"schema\": 1, \"deepclock\": \"0.1.0\", \"id\": \"x\""

/* A table with this name, and a record that contains it. */
#define TABLE_OF(name, columns, rows) \
	"{\"name\": \"" name "\", \"title\": \"t\", \"columns\": [" columns "], \"rows\": " rows "}"
#define TREE(frames, nodes)                                                                 \
	HEAD ", \"trees\": [{\"name\": \"n\", \"title\": \"t\", \"columns\": [" TIMES "], " \
	     "\"frames\": [" frames "], \"nodes\": " nodes "}]}"
#define TABLE(columns, rows) HEAD ", \"tables\": [" TABLE_OF("n", columns, rows) "]}"
#define TEXTS		     "{\"key\": \"a\", \"title\": \"b\"}"
#define TIMES		     "{\"key\": \"c\", \"title\": \"d\", \"unit\": \"ns\"}"

static void tables_survive(void **state)
{
	(void)state;
	dck_buffer b = golden("record_tables.json");
	dck_record *r = from_json(b.data, b.n);
	assert_int_equal(r->ntables, 4);
	const dck_table *t = dck_record_table(r, "throughput/points");
	assert_string_equal(t->title, "Throughput by batch");
	assert_int_equal(t->ncolumns, 7);
	assert_int_equal(t->nrows, 4);
	assert_string_equal(t->columns[1].key, "latency");
	assert_int_equal(t->columns[1].unit, DCK_UNIT_NS);
	assert_int_equal(t->columns[6].unit, DCK_UNIT_NONE);
	const dck_cell *c = dck_table_cell(t, 2, "latency");
	assert_true(c->value.kind == DCK_VALUE_REAL && c->value.as.r == 475836431.0);
	assert_true(c->lo == 470000000.0 && c->hi == 495000000.0 && c->level == 0.95);
	c = dck_table_cell(t, 3, "latency");
	assert_int_equal(c->value.kind, DCK_VALUE_ABSENT);
	assert_string_equal(c->value.as.text, "out of memory: the limit is 2 GiB");
	assert_true(c->level == 0);
	assert_null(dck_table_cell(t, 4, "latency"));
	assert_null(dck_table_cell(t, 0, "latenc"));
	t = dck_record_table(r, "extreme");
	c = dck_table_cell(t, 2, "count");
	assert_true(c->value.kind == DCK_VALUE_INT && c->value.as.i == INT64_MAX);
	c = dck_table_cell(dck_record_table(r, "pitfalls"), 2, "harm");
	assert_true(c->value.kind == DCK_VALUE_BOOL && !c->value.as.b);
	t = dck_record_table(r, "empty");
	assert_int_equal(t->nrows, 0);
	assert_null(dck_table_cell(t, 0, "n"));
	assert_null(dck_record_table(r, "none"));
	dck_record_free(r);
	dck_buffer_done(&b);
}

/* Text in a column without a unit stays text, whatever its form; members of later versions are
 * skipped. */
static void cells_of_other_writers(void **state)
{
	(void)state;
	static const char json[] =
	    HEAD ", \"tables\": [{\"name\": \"n\", \"title\": \"\", \"new\": [[]], \"columns\": "
		 "[{\"key\": \"a\", \"title\": \"\", \"wide\": true}, " TIMES "], \"rows\": "
		 "[[\"9007199254740993\", {\"value\": 7, \"new\": {}}], [2.5, \"-12\"]]}]}";
	dck_record *r = from_json(json, sizeof json - 1);
	const dck_cell *c = r->tables[0].cells;
	assert_int_equal(c[0].value.kind, DCK_VALUE_TEXT);
	assert_true(c[1].value.kind == DCK_VALUE_INT && c[1].value.as.i == 7 && c[1].level == 0);
	assert_true(c[2].value.kind == DCK_VALUE_REAL && c[2].value.as.r == 2.5);
	assert_true(c[3].value.kind == DCK_VALUE_INT && c[3].value.as.i == -12);
	dck_buffer again = to_json(r);
	assert_same(again.data, again.n);
	dck_buffer_done(&again);
	dck_record_free(r);
}

/* A metric of a family has the family's meaning and a separate name, whatever follows the slash. */
static void families_have_members_of_any_name(void **state)
{
	(void)state;
	char long_name[301], json[1024];
	memset(long_name, 'x', 300);
	long_name[300] = '\0';
	const char *const members[] = {"cat", "a/b", "macro avg", "\xc3\xa9\xe7\x8c\xab",
				       "*",   " ",   "=1+1",	  long_name};
	for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
		char tag[320], name[340];
		snprintf(tag, sizeof tag, "precision/%s", members[i]);
		snprintf(name, sizeof name, "precision of %s", members[i]);
		snprintf(json, sizeof json,
			 HEAD
			 ", \"metrics\": [{\"tag\": \"%s\", \"value\": 0.5, \"unit\": \"1\"}]}",
			 tag);
		dck_record *r = from_json(json, strlen(json));
		const dck_metric *m = dck_record_metric(r, tag);
		assert_non_null(m);
		assert_string_equal(m->def->tag, tag);
		assert_string_equal(m->def->name, name);
		assert_int_equal(m->def->better, DCK_BETTER_HIGHER);
		assert_int_equal(m->def->unit, DCK_UNIT_ONE);
		dck_buffer again = to_json(r);
		assert_same(again.data, again.n);
		dck_buffer_done(&again);
		dck_record_free(r);
	}
	/* The family's prefix alone is an unknown tag. */
	static const char bare[] = HEAD ", \"metrics\": [{\"tag\": \"precision/\", \"value\": 3, "
					"\"unit\": \"B\"}]}";
	dck_record *r = from_json(bare, sizeof bare - 1);
	assert_int_equal(r->metrics[0].def->unit, DCK_UNIT_BYTE);
	assert_string_equal(r->metrics[0].def->name, "precision/");
	assert_int_equal(r->metrics[0].def->better, DCK_BETTER_NEITHER);
	dck_record_free(r);
}

/* A program's rate is in runs/s, under the tag of a model's rate. */
static void a_rate_is_of_items_or_of_runs(void **state)
{
	static const char json[] =
	    HEAD ", \"metrics\": [{\"tag\": \"throughput/items\", \"value\": 2.5, "
		 "\"unit\": \"runs/s\"}]}";
	dck_record *r = NULL;
	dck_err err = {0};

	(void)state;
	if (dck_record_parse(json, sizeof json - 1, &r, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	const dck_metric *m = dck_record_metric(r, "throughput/items");
	assert_int_equal(m->def->unit, DCK_UNIT_RUN_PER_S);
	assert_string_equal(m->def->name, "throughput");
	dck_record_free(r);
}

static void newer_minors_and_other_programs_are_understood(void **state)
{
	(void)state;
	static const char json[] = HEAD
	    ", \"colour\": {\"deep\": [[[{}]]]}, \"metrics\": ["
	    "{\"tag\": \"theirs/speed\", \"value\": 3, \"unit\": \"W\", \"new\": true},"
	    "{\"tag\": \"latency/p99\", \"value\": 7.5, \"unit\": \"ns\"},"
	    "{\"tag\": \"theirs/none\", \"absent\": \"why\"}], "
	    "\"notes\": [{\"severity\": \"info\", \"code\": \"c\", \"text\": \"t\", \"x\": 1}]}";
	dck_record *r = from_json(json, sizeof json - 1);
	const dck_metric *m = dck_record_metric(r, "theirs/speed");
	assert_int_equal(m->def->unit, DCK_UNIT_WATT);
	assert_int_equal(m->def->better, DCK_BETTER_NEITHER);
	assert_string_equal(m->def->name, "theirs/speed");
	assert_true(dck_record_value(r, "theirs/speed") == 3);
	assert_ptr_equal(dck_record_metric(r, "latency/p99")->def,
			 record_find_def("latency/p99", NULL));
	assert_null(m->how);
	assert_int_equal(r->nfacts, 0);
	/* From here on unknown tags are preserved. */
	dck_buffer first = to_json(r);
	assert_non_null(strstr(first.data, "theirs/speed"));
	assert_same(first.data, first.n);
	dck_buffer_done(&first);
	dck_record_free(r);
}

/* Names from before 0.1 (record/renamed.c). */
static void names_of_before_are_read_as_todays(void **state)
{
	static const char json[] =
	    "{\"schema\": 1, \"deepclock\": \"0.0.9\", \"id\": \"a\", \"facts\": ["
	    "{\"section\": \"load\", \"key\": \"verdict\", \"value\": \"not shown\"},"
	    "{\"section\": \"sample\", \"key\": \"stacks_cut\", \"value\": 3},"
	    "{\"section\": \"report\", \"key\": \"took\", \"value\": \"holds\"},"
	    "{\"section\": \"throughput\", \"key\": \"limited_by\", \"value\": \"roof\"},"
	    "{\"section\": \"trace\", \"key\": \"x\", \"absent\": \"N, which --dim makes a number\"}],"
	    "\"metrics\": [{\"tag\": \"load/unserved\", \"value\": 7, \"unit\": \"1\"}],"
	    "\"ops\": [{\"name\": \"a\", \"type\": \"MatMul\","
	    "\"macs\": {\"absent\": \"N*3, which --dim makes a number\"},"
	    "\"flops\": {\"absent\": \"a size is N*3, which --dim makes a number\"}}],"
	    "\"tables\": [{\"name\": \"t\", \"title\": \"t\", \"columns\": [{\"key\": \"k\", \"title\": \"k\"}],"
	    "\"rows\": [[\"a\"], [\"b\"]], \"brief_columns\": [0], \"brief_rows\": [1]}],"
	    "\"notes\": [{\"code\": \"slo-broken\", \"severity\": \"error\", \"text\": \"x\"},"
	    "{\"code\": \"drift\", \"severity\": \"warning\", \"text\": \"y\", \"under\": \"slo-broken\"}]}";
	dck_record *r = from_json(json, sizeof json - 1);
	const dck_table *t = dck_record_table(r, "t");

	(void)state;
	assert_string_equal(dck_record_fact(r, "load", "verdict")->value.as.text, "inconclusive");
	assert_int_equal(dck_record_fact(r, "sample", "stacks_truncated")->value.as.i, 3);
	/* Names in other sections are not renamed. */
	assert_string_equal(dck_record_fact(r, "report", "took")->value.as.text, "holds");
	assert_string_equal(dck_record_fact(r, "throughput", "limited_by")->value.as.text,
			    "saturation");
	assert_int_equal(dck_record_metric(r, "load/abandoned")->value.as.i, 7);
	assert_int_equal(r->ops[0].macs.absence, DCK_ABSENCE_OPEN_SIZE);
	assert_int_equal(r->ops[0].flops.absence, DCK_ABSENCE_OTHER);
	/* Such a text of anything but an operator may have any author. */
	assert_int_equal(dck_record_fact(r, "trace", "x")->value.absence, DCK_ABSENCE_OTHER);
	assert_int_equal(t->nsummary_columns, 1);
	assert_int_equal(t->nsummary_rows, 1);
	assert_int_equal(t->summary_rows[0], 1);
	assert_non_null(dck_record_note(r, "slo-violated"));
	assert_string_equal(dck_record_note(r, "drift")->cause, "slo-violated");
	dck_record_free(r);
}

/* The kind of a reason is in the file: readers need not understand its text. */
static void a_reason_has_its_kind(void **state)
{
	static const char json[] =
	    "{\"schema\": 1, \"deepclock\": \"0.1\", \"id\": \"a\", \"ops\": ["
	    "{\"name\": \"a\", \"type\": \"MatMul\","
	    "\"macs\": {\"absent\": \"in other words\", \"code\": \"open-size\"},"
	    "\"flops\": {\"absent\": \"x\", \"code\": \"of a later version\"}}]}";
	dck_record *r = from_json(json, sizeof json - 1);
	dck_buffer out = {0};
	dck_sink sink;

	(void)state;
	assert_int_equal(r->ops[0].macs.absence, DCK_ABSENCE_OPEN_SIZE);
	assert_int_equal(r->ops[0].flops.absence, DCK_ABSENCE_OTHER);
	dck_sink_buffer(&sink, &out);
	record_json_write(r, &sink);
	assert_int_equal(dck_sink_finish(&sink, NULL), DCK_OK);
	assert_non_null(
	    strstr(out.data, "{\"absent\": \"in other words\", \"code\": \"open-size\"}"));
	assert_non_null(strstr(out.data, "\"flops\": {\"absent\": \"x\"}"));
	dck_buffer_done(&out);
	dck_record_free(r);
}

static void a_newer_schema_is_refused_as_such(void **state)
{
	(void)state;
	dck_err err;
	dck_record *r = NULL;
	static const char json[] = "{\"schema\": 2, \"metrics\": \"of another kind\"}";
	assert_int_equal(dck_record_parse(json, sizeof json - 1, &r, &err), DCK_E_VERSION);
	assert_non_null(strstr(err.msg, "schema 2"));
	assert_null(r);
}

static void what_is_wrong_is_named_with_its_place(void **state)
{
	(void)state;
	static const struct {
		const char *json, *says;
	} bad[] = {
	    {"", "empty"},
	    {" ", "not JSON"},
	    {"hello", "not JSON"},
	    {"{", "not JSON"},
	    {"[]", "a list, not one deepclock record"},
	    {"\"text\"", "not JSON"},
	    {"{}", "no member \"schema\""},
	    {"{\"schema\": \"1\"}", "schema is text, not an integer"},
	    {"{\"schema\": 0}", "schema is below 1"},
	    {"{\"schema\": 1.5}", "schema is a number, not an integer"},
	    {"{\"schema\": 1}", "deepclock is missing"},
	    {"{\"schema\": 1, \"schema\": 1}", "not JSON: duplicate"},
	    {"{\"schema\": 99999999999999999999}", "too big integer"},
	    {HEAD ", \"id\": 2}", "duplicate"},
	    {HEAD ", \"began\": 7}", "began is a number, not text"},
	    {HEAD ", \"began\": \"yesterday\"}", "began is not a time"},
	    {HEAD ", \"began\": \"2026-02-29T00:00:00Z\"}", "began is not a time"},
	    {HEAD ", \"began\": \"1900-02-29T00:00:00Z\"}", "began is not a time"},
	    {HEAD ", \"incomplete\": 1}", "incomplete is a number, not true or false"},
	    {HEAD ", \"command\": null}", "command is null, not text"},
	    {HEAD ", \"metrics\": {}}", "metrics is an object, not a list"},
	    {HEAD ", \"metrics\": [1]}", "metrics[0] is a number, not an object"},
	    {HEAD ", \"metrics\": [{}]}", "metrics[0].tag is missing"},
	    {HEAD ", \"metrics\": [{\"tag\": \"a\"}]}",
	     "metrics[0] has neither \"value\" nor \"absent\""},
	    {HEAD ", \"metrics\": [{\"tag\": \"a\", \"value\": 1, \"absent\": \"b\"}]}",
	     "metrics[0] has both \"value\" and \"absent\""},
	    {HEAD ", \"metrics\": [{\"tag\": \"a\", \"value\": 1}, "
		  "{\"tag\": \"b\", \"value\": [2]}]}",
	     "metrics[1].value is a list, not a number"},
	    {HEAD ", \"metrics\": [{\"tag\": \"a\", \"value\": true}]}",
	     "metrics[0].value is true, not a number"},
	    {HEAD ", \"metrics\": [{\"tag\": \"a\", \"value\": NaN}]}", "not JSON"},
	    {HEAD ", \"metrics\": [{\"tag\": \"a\", \"value\": \"NaN\"}]}",
	     "metrics[0].value is text that is not a 64-bit integer"},
	    {HEAD ", \"metrics\": [{\"tag\": \"a\", \"value\": \"9223372036854775808\"}]}",
	     "metrics[0].value is text that is not a 64-bit integer"},
	    {HEAD ", \"metrics\": [{\"tag\": \"a\", \"value\": 1e999}]}", "real number overflow"},
	    {HEAD ", \"metrics\": [{\"tag\": \"a\", \"value\": 1, \"lo\": 1}]}",
	     "metrics[0].hi is missing"},
	    {HEAD ", \"metrics\": [{\"tag\": \"a\", \"value\": 1, \"lo\": 1, \"hi\": 2, "
		  "\"level\": 95}]}",
	     "metrics[0].level is not between 0 and 1"},
	    {HEAD ", \"metrics\": [{\"tag\": \"a\", \"value\": 1, \"lo\": 2, \"hi\": 1, "
		  "\"level\": 0.95}]}",
	     "metrics[0].lo is greater than the upper end"},
	    {HEAD ", \"series\": [{\"tag\": \"latency\", \"unit\": \"ns\", \"values\": [1, -1]}]}",
	     "series[0].values[1] is negative"},
	    {HEAD ", \"metrics\": [{\"tag\": \"a\", \"value\": 1, \"unit\": \"furlong\"}]}",
	     "metrics[0].unit is not a unit of this version"},
	    {HEAD ", \"metrics\": [{\"tag\": \"latency/p99\", \"value\": 1, \"unit\": \"B\"}]}",
	     "metrics[0].unit is not the unit of that tag"},
	    {HEAD ", \"facts\": [{\"section\": \"s\", \"value\": 1}]}", "facts[0].key is missing"},
	    {HEAD ", \"facts\": [{\"section\": \"s\", \"key\": \"k\", \"value\": null}]}",
	     "facts[0].value is null"},
	    {HEAD ", \"facts\": [{\"section\": \"s\", \"key\": \"k\", \"absent\": 0}]}",
	     "facts[0].absent is a number, not text"},
	    {HEAD ", \"series\": [{\"tag\": \"t\"}]}", "series[0].values is missing"},
	    {HEAD ", \"series\": [{\"tag\": \"t\", \"values\": [1, \"2\"]}]}",
	     "series[0].values[1] is text, not a number"},
	    {HEAD ", \"series\": [{\"tag\": \"t\", \"values\": [1], \"at_ns\": [1, 2]}]}",
	     "series[0].at_ns has not as many entries"},
	    {HEAD ", \"series\": [{\"tag\": \"t\", \"values\": [1], \"at_ns\": [-1]}]}",
	     "series[0].at_ns[0] is not an integer"},
	    {HEAD ", \"series\": [{\"tag\": \"t\", \"values\": [1], \"warmup\": 2}]}",
	     "series[0].warmup is not an integer from 0 to 1"},
	    {HEAD ", \"ops\": [{\"name\": \"n\", \"type\": \"t\", \"outputs\": 1}]}",
	     "ops[0].outputs is a number, not a list"},
	    {HEAD ", \"ops\": [{\"name\": \"n\", \"type\": \"t\", \"outputs\": [{\"name\": \"o\", "
		  "\"dtype\": \"d\", \"shape\": [1, -2]}]}]}",
	     "ops[0].outputs[0].shape is a number, not of sizes and symbols only"},
	    {HEAD ", \"ops\": [{\"name\": \"n\", \"type\": \"t\", \"macs\": {}}]}",
	     "ops[0].macs is an object, not a number or"},
	    {HEAD ", \"ops\": [{\"name\": \"n\", \"type\": \"t\", \"origins\": [1]}]}",
	     "ops[0].origins[0] is a number, not text"},
	    {HEAD ", \"ops\": [{\"name\": \"n\", \"type\": \"t\", \"bound\": true}]}",
	     "ops[0].bound is true, not text"},
	    {HEAD ", \"ops\": [{\"name\": \"n\", \"type\": \"t\", \"time_lo\": 1}]}",
	     "ops[0].time_lo is there and \"time\" is not"},
	    {HEAD ", \"ops\": [{\"name\": \"n\", \"type\": \"t\", \"time\": 2, \"time_lo\": 1}]}",
	     "ops[0].time_hi is missing"},
	    {HEAD ", \"ops\": [{\"name\": \"n\", \"type\": \"t\", \"time\": 2, \"time_lo\": 1, "
		  "\"time_hi\": 3, \"time_level\": 1}]}",
	     "ops[0].time_level is not between 0 and 1"},
	    {HEAD ", \"tables\": {}}", "tables is an object, not a list"},
	    {HEAD ", \"tables\": [[]]}", "tables[0] is a list, not an object"},
	    {HEAD ", \"tables\": [{}]}", "tables[0].name is missing"},
	    {HEAD ", \"tables\": [{\"name\": \"n\", \"title\": 1}]}",
	     "tables[0].title is a number, not text"},
	    {HEAD ", \"tables\": [{\"name\": \"n\", \"title\": \"t\"}]}",
	     "tables[0].columns is missing; it should be a list"},
	    {TABLE("", "[]"), "tables[0].columns is empty"},
	    {TABLE("1", "[]"), "tables[0].columns[0] is a number, not an object"},
	    {TABLE("{\"key\": \"a\"}", "[]"), "tables[0].columns[0].title is missing"},
	    {TABLE(TEXTS ", {\"title\": \"a\"}", "[]"), "tables[0].columns[1].key is missing"},
	    {TABLE("{\"key\": \"a\", \"title\": \"b\", \"unit\": \"ell\"}", "[]"),
	     "tables[0].columns[0].unit is not a unit"},
	    {TABLE(TEXTS ", " TIMES ", " TEXTS, "[]"),
	     "tables[0].columns[2].key is that of another column too"},
	    {TABLE(TEXTS, "7"), "tables[0].rows is a number, not a list"},
	    {TABLE(TEXTS, "[[\"a\"], {}]"), "tables[0].rows[1] is an object, not a list"},
	    {TABLE(TEXTS ", " TIMES, "[[\"a\", 1], [\"b\"]]"),
	     "tables[0].rows[1] has 1 cells, the table has 2 columns"},
	    {TABLE(TEXTS, "[[\"a\", 1]]"), "tables[0].rows[0] has 2 cells, the table has 1 column"},
	    {TABLE(TEXTS, "[[null]]"), "tables[0].rows[0][0] is null, not text, a number, true"},
	    {TABLE(TEXTS ", " TIMES, "[[\"a\", [1]]]"),
	     "tables[0].rows[0][1] is a list, not a number"},
	    {TABLE(TEXTS ", " TIMES, "[[\"a\", 1], [\"a\", true]]"),
	     "tables[0].rows[1][1] is true, not a number"},
	    {TABLE(TIMES, "[[\"soon\"]]"),
	     "tables[0].rows[0][0] is text that is not a 64-bit integer"},
	    {TABLE(TIMES, "[[{}]]"), "tables[0].rows[0][0] has neither \"value\" nor \"absent\""},
	    {TABLE(TIMES, "[[{\"absent\": 1}]]"),
	     "tables[0].rows[0][0].absent is a number, not text"},
	    {TABLE(TIMES, "[[{\"value\": 1, \"absent\": \"a\"}]]"),
	     "tables[0].rows[0][0] has both \"value\" and \"absent\""},
	    {TABLE(TIMES, "[[{\"value\": \"1.5\"}]]"),
	     "tables[0].rows[0][0].value is text that is not a 64-bit integer"},
	    {TABLE(TIMES, "[[{\"value\": 1, \"lo\": 1}]]"), "tables[0].rows[0][0].hi is missing"},
	    {TABLE(TIMES, "[[{\"value\": 1, \"lo\": 1, \"hi\": 2, \"level\": 0}]]"),
	     "tables[0].rows[0][0].level is not between 0 and 1"},
	    {TABLE(TIMES, "[[{\"absent\": \"a\", \"lo\": 1, \"hi\": 2, \"level\": 0.9}]]"),
	     "tables[0].rows[0][0] has an interval and no number"},
	    {TABLE(TEXTS, "[[{\"value\": \"a\", \"lo\": 1, \"hi\": 2, \"level\": 0.9}]]"),
	     "tables[0].rows[0][0] has an interval and no number"},
	    {HEAD ", \"tables\": [" TABLE_OF("a", TEXTS, "[]") ", " TABLE_OF(
		 "b", TEXTS, "[]") ", " TABLE_OF("a", TEXTS, "[]") "]}",
	     "tables[2].name is a duplicate"},
	    {TREE("\"a\"", "7"), "trees[0].nodes is a number, not a list"},
	    {TREE("7", "[]"), "trees[0].frames[0] is a number, not an object or text"},
	    {TREE("{\"file\": \"a.c\"}", "[]"), "trees[0].frames[0].name is missing"},
	    {TREE("\"a\", {\"name\": \"b\", \"file\": 7}", "[]"),
	     "trees[0].frames[1].file is a number, not text"},
	    {TREE("{\"name\": \"b\", \"line\": -1}", "[]"),
	     "trees[0].frames[0].line is not an integer from 0 to 4294967295"},
	    {TREE("\"a\"", "[7]"),
	     "trees[0].nodes[0] is not a list of a parent, a frame and a weight"},
	    {TREE("\"a\"", "[[-1, 0]]"), "trees[0].nodes[0] is not a list"},
	    {TREE("\"a\"", "[[-1, 0, 1], [1, 0, 1]]"),
	     "trees[0].nodes[1] has a parent that does not precede it"},
	    {TREE("\"a\"", "[[-2, 0, 1]]"), "trees[0].nodes[0] has a parent"},
	    {TREE("\"a\"", "[[-1, 1, 1]]"), "trees[0].nodes[0] has a frame that there is not"},
	    {TREE("", "[[-1, 0, 1]]"), "trees[0].nodes[0] has a frame that there is not"},
	    {TREE("\"a\"", "[[-1, 0, \"1\"]]"),
	     "trees[0].nodes[0] has a weight that is not a number"},
	    {HEAD ", \"metrics\": [{\"tag\": \"precision/cat\", \"value\": 1, \"unit\": \"B\"}]}",
	     "metrics[0].unit is not the unit of that tag"},
	    {HEAD ", \"metrics\": [{\"tag\": \"precision/cat\", \"value\": 1}]}",
	     "metrics[0].unit is not the unit of that tag"},
	    {HEAD ", \"metrics\": [{\"tag\": \"latency/mean\", \"value\": 1, \"unit\": "
		  "\"runs/s\"}]}",
	     "metrics[0].unit is not the unit of that tag"},
	    {HEAD ", \"notes\": [{\"severity\": \"info\", \"code\": \"c\", \"text\": \"t\", "
		  "\"remedy\": \"of another\"}]}",
	     "notes[0].remedy is not the end of \"text\", after a semicolon"},
	    {HEAD ", \"notes\": [{\"severity\": \"info\", \"code\": \"c\", \"text\": \"wait\", "
		  "\"remedy\": \"wait\"}]}",
	     "notes[0].remedy is not the end of \"text\", after a semicolon"},
	    {HEAD ", \"notes\": [{\"severity\": \"loud\", \"code\": \"c\", \"text\": \"t\"}]}",
	     "notes[0].severity is not info, warning or error"},
	    {HEAD ", \"id2\": \"\xff\xfe\"}", "not JSON: unable to decode byte"},
	    {HEAD ", \"id2\": \"a\\u0000b\"}", "a text holds the character U+0000"},
	    {HEAD ", \"metrics\": [{\"tag\": \"latency/median\", \"value\": -1, \"unit\": "
		  "\"ns\"}]}",
	     "metrics[0].value is negative"},
	    {HEAD "} trailing", "not JSON: end of file expected"},
	};
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		dck_record *r = NULL;
		dck_err err = {0};
		dck_status st = dck_record_parse(bad[i].json, strlen(bad[i].json), &r, &err);
		if (st != DCK_E_FORMAT || !strstr(err.msg, bad[i].says))
			fail_msg("%s gives %s: %s", bad[i].json, dck_status_name(st), err.msg);
		assert_null(r);
		assert_null(strchr(err.msg, '\n'));
		assert_int_equal(dck_record_parse(bad[i].json, strlen(bad[i].json), &r, NULL),
				 DCK_E_FORMAT);
	}
}

static void trees_are_read_as_they_were_written(void **state)
{
	static const dck_column columns[] = {{"calls", "calls", DCK_UNIT_ONE},
					     {"self", "self", DCK_UNIT_NS}};
	static const dck_frame frames[] = {
	    {"main", NULL, NULL, 0, 0}, {"a \"name\"\n", "src/a.c", "liba.so.1", 12, UINT32_MAX}};
	static const dck_tree_node nodes[] = {
	    {DCK_TREE_ROOT, 0}, {0, 1}, {1, 1}, {DCK_TREE_ROOT, 1}};
	static const double weights[] = {1, 1e18, 2, 0.1, 3, -5, 0, 9007199254740993.0};
	const dck_tree tree = {.name = "zones",
			       .title = "Zones",
			       .columns = columns,
			       .ncolumns = 2,
			       .frames = frames,
			       .nframes = 2,
			       .nodes = nodes,
			       .nnodes = 4,
			       .weights = weights};
	record_builder *b = record_new();
	dck_buffer first = {0}, second = {0};
	dck_record *r, *again;
	dck_sink out;

	(void)state;
	record_tree(b, &tree);
	assert_int_equal(record_finish(b, &r, NULL), DCK_OK);
	dck_sink_buffer(&out, &first);
	record_json_write(r, &out);
	assert_int_equal(dck_sink_finish(&out, NULL), DCK_OK);
	assert_int_equal(dck_record_parse(first.data, first.n, &again, NULL), DCK_OK);
	dck_sink_buffer(&out, &second);
	record_json_write(again, &out);
	assert_int_equal(dck_sink_finish(&out, NULL), DCK_OK);
	assert_string_equal(first.data, second.data);
	const dck_tree *t = dck_record_tree(again, "zones");
	assert_null(dck_record_tree(again, "zone"));
	assert_int_equal(t->nnodes, 4);
	assert_memory_equal(t->nodes, nodes, sizeof nodes);
	assert_memory_equal(t->weights, weights, sizeof weights);
	assert_string_equal(t->frames[1].name, frames[1].name);
	assert_string_equal(t->frames[1].file, frames[1].file);
	assert_string_equal(t->frames[1].module, frames[1].module);
	assert_int_equal(t->frames[1].line, 12);
	assert_int_equal(t->frames[1].start_line, UINT32_MAX);
	assert_null(t->frames[0].file);
	assert_null(t->frames[0].module);
	assert_int_equal(t->frames[0].line, 0);
	dck_buffer_done(&first);
	dck_buffer_done(&second);
	dck_record_free(r);
	dck_record_free(again);
}

/* `times` copies of `unit` between the two ends. */
static dck_status parse_repeated(const char *begin, const char *unit, size_t times, const char *end,
				 dck_err *err)
{
	size_t b = strlen(begin), u = strlen(unit), e = strlen(end), n = b + u * times + e;
	char *json = mem_alloc(n + 1), *p = json;
	dck_record *r = NULL;
	assert_non_null(json);
	memcpy(p, begin, b);
	p += b;
	for (size_t i = 0; i < times; i++, p += u)
		memcpy(p, unit, u);
	memcpy(p, end, e + 1);
	dck_status st = dck_record_parse(json, n, &r, err);
	mem_free(json);
	dck_record_free(r);
	return st;
}

static void size_and_depth_are_bounded_before_anything_is_built(void **state)
{
	(void)state;
	dck_err err;
	assert_int_equal(parse_repeated("", "[", 100000000, "", &err), DCK_E_LIMIT);
	assert_non_null(strstr(err.msg, "nested deeper than 64"));
	assert_int_equal(parse_repeated(HEAD ", \"x\": ", "{\"a\":", 1000, "", &err), DCK_E_LIMIT);
	assert_non_null(strstr(err.msg, "nested deeper"));
	/* 30 MB of empty lists would expand to several GB of tree. */
	assert_int_equal(parse_repeated(HEAD ", \"facts\": [[]", ",[]", 10000000, "]}", &err),
			 DCK_E_LIMIT);
	assert_non_null(strstr(err.msg, "too large"));
	assert_int_equal(parse_repeated("", " ", 20000000, "", &err), DCK_E_FORMAT);
	/* Rows that would expand to a thousand times the file's size. */
	assert_int_equal(parse_repeated(HEAD ", \"tables\": [{\"name\": \"n\", \"title\": \"t\", "
					     "\"columns\": [" TEXTS "], \"rows\": [[1,2]",
					",[]", 4000000, "]}]}", &err),
			 DCK_E_LIMIT);
	assert_non_null(strstr(err.msg, "too large"));
	assert_int_equal(parse_repeated(HEAD ", \"tables\": [{\"name\": \"n\", \"title\": \"t\", "
					     "\"columns\": [" TEXTS "], \"rows\": [[1]",
					",[1]", 200000, "]}]}", &err),
			 DCK_OK);
	assert_int_equal(parse_repeated(HEAD ", \"tables\": [{\"name\": \"n\", \"title\": \"t\", "
					     "\"columns\": [" TEXTS,
					"," TEXTS, 100000, "], \"rows\": []}]}", &err),
			 DCK_E_FORMAT);
	assert_non_null(strstr(err.msg, "].key is that of another column too"));
	/* Brackets inside texts do not count. */
	assert_int_equal(parse_repeated(HEAD ", \"command\": \"\\\"", "[{,:", 1000, "\"}", &err),
			 DCK_OK);
	/* A large record is accepted. */
	assert_int_equal(parse_repeated(HEAD ", \"series\": [{\"tag\": \"t\", \"values\": [1",
					",17624011.5", 200000, "]}]}", &err),
			 DCK_OK);
}

static uint64_t random_state = 88172645463325252u;

static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* A damaged record is refused, or read as one that can be saved and read again. */
static void damaged_records_do_no_harm(void **state)
{
	(void)state;
	static const char pieces[][12] = {"null", "[]",	 "{}",	 "-1", "1e308", "\"\"", "true",
					  "}",	  "\"a", "\\u0", "0",  ",",	"\xc3", "\""};
	unsigned refused = 0, read = 0;
	for (size_t g = 0; g < GOLDEN; g++) {
		dck_buffer b = golden(golden_names[g]);
		char *text = mem_alloc(b.n + 1);
		for (int i = 0; i < 400; i++) {
			memcpy(text, b.data, b.n + 1);
			size_t n = random_next() % 8 == 0 ? random_next() % b.n : b.n;
			for (uint64_t k = random_next() % 3 + 1; k > 0; k--) {
				const char *p =
				    pieces[random_next() % (sizeof pieces / sizeof pieces[0])];
				size_t at = random_next() % b.n, len = strlen(p);
				if (random_next() % 2 == 0)
					text[at] = (char)random_next();
				else if (at + len < b.n)
					memcpy(text + at, p, len);
			}
			dck_record *r = NULL;
			dck_err err = {0};
			dck_status st = dck_record_parse(text, n, &r, &err);
			if (st != DCK_OK) {
				assert_true(st == DCK_E_FORMAT || st == DCK_E_VERSION);
				assert_true(err.msg[0] != '\0');
				refused++;
				continue;
			}
			read++;
			dck_buffer again = to_json(r);
			assert_same(again.data, again.n);
			dck_buffer_done(&again);
			dck_record_free(r);
		}
		mem_free(text);
		dck_buffer_done(&b);
	}
	assert_true(refused > 100 && read > 100);
}

static size_t calls, fail_at;

static void *failing_alloc(void *self, size_t bytes)
{
	(void)self;
	return ++calls == fail_at ? NULL : malloc(bytes > 0 ? bytes : 1);
}

static void *failing_resize(void *self, void *old, size_t bytes)
{
	(void)self;
	return ++calls == fail_at ? NULL : realloc(old, bytes > 0 ? bytes : 1);
}

static void failing_release(void *self, void *old)
{
	(void)self;
	free(old);
}

static void no_memory_while_reading(void **state)
{
	(void)state;
	const dck_allocator failing = {
	    .alloc = failing_alloc, .resize = failing_resize, .release = failing_release};
	for (size_t g = 0; g < GOLDEN; g++) {
		dck_status st = DCK_E_NOMEM;
		dck_buffer b = golden(golden_names[g]);
		char *text = malloc(b.n);
		size_t n = b.n;
		memcpy(text, b.data, n);
		dck_buffer_done(&b);
		dck_set_allocator(&failing);
		for (fail_at = 1; st != DCK_OK; fail_at++) {
			dck_record *r = NULL;
			calls = 0;
			st = dck_record_parse(text, n, &r, NULL);
			assert_true(st == DCK_OK || (st == DCK_E_NOMEM && !r));
			assert_true(fail_at < 1000);
			dck_record_free(r);
		}
		dck_set_allocator(NULL);
		assert_true(fail_at > 2);
		free(text);
	}
}

/* jansson's own allocations: jansson misses some failures, and a growing text then loses a
 * letter. */
static struct {
	size_t calls, fail_at; /* 0: none fails */
} parser;

static void *parser_alloc(size_t bytes)
{
	return ++parser.calls == parser.fail_at ? NULL : malloc(bytes);
}

/* Like a program that uses jansson before this library: the program's functions stay in use. */
static void parser_watch(void)
{
	void *jansson = dlopen("libjansson.so.4", RTLD_NOW);
	void (*set)(void *(*)(size_t), void (*)(void *)) = NULL;

	assert_non_null(jansson);
	*(void **)&set = dlsym(jansson, "json_set_alloc_funcs");
	assert_non_null(set);
	set(parser_alloc, free);
}

static void no_memory_in_the_parser(void **state)
{
	dck_buffer b = golden(golden_names[0]);

	(void)state;
	assert_same(b.data, b.n);
	assert_true(parser.calls > 100);
	for (parser.fail_at = 1;; parser.fail_at++) {
		dck_record *r = NULL;
		dck_err err = {0};

		parser.calls = 0;
		if (dck_record_parse(b.data, b.n, &r, &err) != DCK_OK) {
			assert_int_equal(err.code, DCK_E_NOMEM);
			assert_string_equal(err.msg, "no memory to read the record");
			continue;
		}
		assert_true(parser.calls < parser.fail_at);
		dck_record_free(r);
		break;
	}
	parser.fail_at = 0;
	assert_same(b.data, b.n);
	dck_buffer_done(&b);
}

int test_record_json(void);
int test_record_json(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(trees_are_read_as_they_were_written),
	    cmocka_unit_test(golden_records_come_back_byte_for_byte),
	    cmocka_unit_test(kinds_and_values_survive),
	    cmocka_unit_test(operators_with_open_shapes_and_unknown_costs),
	    cmocka_unit_test(tables_survive),
	    cmocka_unit_test(cells_of_other_writers),
	    cmocka_unit_test(families_have_members_of_any_name),
	    cmocka_unit_test(a_rate_is_of_items_or_of_runs),
	    cmocka_unit_test(newer_minors_and_other_programs_are_understood),
	    cmocka_unit_test(names_of_before_are_read_as_todays),
	    cmocka_unit_test(a_reason_has_its_kind),
	    cmocka_unit_test(a_newer_schema_is_refused_as_such),
	    cmocka_unit_test(what_is_wrong_is_named_with_its_place),
	    cmocka_unit_test(size_and_depth_are_bounded_before_anything_is_built),
	    cmocka_unit_test(damaged_records_do_no_harm),
	    cmocka_unit_test(no_memory_while_reading),
	    cmocka_unit_test(no_memory_in_the_parser),
	};

	parser_watch();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
