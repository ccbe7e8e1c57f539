/* test_report_summary.c - the answer in at most 15 lines.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "golden.h"
#include "base/common_prefix.h"
#include "record/build.h"
#include <math.h>

#define LINES_MAX 15

static unsigned lines_of(const dck_buffer *b)
{
	unsigned n = 0;
	for (size_t i = 0; i < b->n; i++)
		n += b->data[i] == '\n';
	return n;
}

static dck_buffer brief(const dck_record *r, const dck_style *style)
{
	return golden_styled("text", &r, 1, style);
}

static dck_record *finished(record_builder *b)
{
	dck_record *r = NULL;
	assert_int_equal(record_finish(b, &r, NULL), DCK_OK);
	return r;
}

static void every_record_is_answered_in_15_lines(void **state)
{
	(void)state;
	static const char *const names[] = {"typical", "absent", "empty", "incomplete",
					    "extreme", "ops",	 "cost",  "profile",
					    "tables",  "machine"};
	static const dck_style styles[] = {
	    {.rest = "--details"},
	    {.rest = "--details", .terminal = true, .utf8 = true, .colour = true},
	    {.rest = "--details", .terminal = true, .width = 120},
	    {.rest = "deepclock report FILE --details", .width = 200}};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		char json[64];
		snprintf(json, sizeof json, "record_%s.json", names[i]);
		dck_record *r = golden_record(json);
		for (size_t k = 0; k < sizeof styles / sizeof styles[0]; k++) {
			dck_buffer got = brief(r, &styles[k]);
			if (lines_of(&got) > LINES_MAX)
				fail_msg("%s: %u lines\n%s", names[i], lines_of(&got), got.data);
			assert_non_null(strstr(got.data, "the rest"));
			dck_buffer_done(&got);
		}
		dck_record_free(r);
	}
}

static void a_latency_is_as_expected(void **state)
{
	(void)state;
	dck_record *r = golden_record("record_typical.json");
	dck_buffer got = brief(r, &(dck_style){.rest = "--details"});
	golden_compare(&got, "record_typical_brief.txt");
	dck_buffer_done(&got);
	got = brief(r, &(dck_style){.rest = "--details", .terminal = true, .utf8 = true});
	golden_compare(&got, "record_typical_terminal.txt");
	dck_buffer_done(&got);
	got = brief(r, &(dck_style){.width = 40});
	golden_compare(&got, "record_typical_brief_narrow.txt");
	dck_buffer_done(&got);
	dck_record_free(r);
	r = golden_record("record_incomplete.json");
	got = brief(r, NULL);
	golden_compare(&got, "record_incomplete_brief.txt");
	dck_buffer_done(&got);
	dck_record_free(r);
}

/* The line of the answer states whether its interval is from starts or one process, also without an
 * interval. */
static void one_start_or_one_process(void **state)
{
	static const struct {
		const char *kind;
		int64_t processes;
		const char *scope;
		bool offered, beside;
	} rows[] = {{"model", 1, " of one start", true, false},
		    {"model", 1, " of one start beside other programs", true, true},
		    {"command", 1, " beside other programs", false, true},
		    {"plugin", 1, " of one start", true, false},
		    {"function", 1, " of one process", false, false},
		    {"PyTorch module", 1, " of one process", false, false},
		    {"command", 1, "", false, false},
		    {"model", 6, " of 6 starts", false, false},
		    {"command", 3, " of 3 processes", false, false}};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		for (int interval = 0; interval < 2; interval++) {
			record_builder *b = record_new();
			char want[64];

			record_fact_text(b, "subject", "kind", rows[i].kind);
			record_fact_int(b, "method", "processes", DCK_UNIT_ONE, rows[i].processes);
			record_metric(b, "latency/median", RECORD_REAL(20e6), 19e6, 21e6,
				      interval ? 0.95 : 0, "h");
			record_metric_int(b, "runs/count", 100, "h");
			if (rows[i].beside) {
				record_note(b, "busy-neighbours", "t");
				record_note(b, "preempted", "t");
			}
			dck_record *r = finished(b);
			dck_buffer got = brief(r, &(dck_style){.rest = "--details"});

			snprintf(want, sizeof want, "%s%s\n",
				 interval ? "  median 20.00 ms  [19.00, 21.00] 95 %"
					  : "  median 20.00 ms  (no interval)",
				 rows[i].scope);
			if (!strstr(got.data, want))
				fail_msg("'%s' is not in:\n%s", want, got.data);
			assert_int_equal(strstr(got.data, "several starts: --processes 6") != NULL,
					 rows[i].offered);
			dck_buffer_done(&got);
			dck_record_free(r);
		}
}

/* The undisturbed runs are stated where they differ from the answer, or it has no interval. */
static void undisturbed_runs_where_they_matter(void **state)
{
	static const struct {
		double alone, level;
		bool shown;
	} rows[] = {{15e6, 0.95, true}, {19.9e6, 0.95, false}, {19.9e6, 0, true}, {0, 0, false}};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		record_builder *b = record_new();

		record_metric(b, "latency/median", RECORD_REAL(20e6), 19.8e6, 20.2e6, rows[i].level,
			      "h");
		record_metric_int(b, "runs/count", 100, "h");
		record_fact_int(b, "samples", "undisturbed", DCK_UNIT_ONE, 31);
		record_fact_int(b, "samples", "undisturbed_of", DCK_UNIT_ONE, 99);
		if (rows[i].alone > 0)
			record_metric_interval(b, "latency/undisturbed", rows[i].alone,
					       rows[i].alone - 1e5, rows[i].alone + 1e5, 0.95, "h");
		dck_record *r = finished(b);
		dck_buffer got = brief(r, NULL);

		if (rows[i].shown != (strstr(got.data, "  31 of 99 runs had their processors to "
						       "themselves: median ") != NULL))
			fail_msg("%g:\n%s", rows[i].alone, got.data);
		dck_buffer_done(&got);
		dck_record_free(r);
	}
}

/* Whether the value lies where those in the history do; of one nothing can be said. */
static void where_earlier_ones_lay(void **state)
{
	static const struct {
		int64_t n;
		double least, greatest;
		const char *line; /* NULL: none */
	} rows[] = {{8, 19.5e6, 20.5e6, "\n  among 8 earlier ones, 19.50 to 20.50 ms\n"},
		    {8, 18e6, 19.5e6,
		     "\n  above all 8 earlier ones, 18.00 to 19.50 ms (by chance in 1 of 9)\n"},
		    {2, 20.5e6, 21e6,
		     "\n  below all 2 earlier ones, 20.50 to 21.00 ms (by chance in 1 of 3)\n"},
		    {1, 18e6, 18e6, NULL}};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		record_builder *b = record_new();

		record_fact_text(b, "subject", "kind", "model");
		record_fact_int(b, "method", "processes", DCK_UNIT_ONE, 6);
		record_fact_int(b, "history", "earlier", DCK_UNIT_ONE, rows[i].n);
		record_fact_real(b, "history", "earlier_least", DCK_UNIT_NS, rows[i].least);
		record_fact_real(b, "history", "earlier_greatest", DCK_UNIT_NS, rows[i].greatest);
		record_metric(b, "latency/median", RECORD_REAL(20e6), 19e6, 21e6, 0.95, "h");
		record_metric_int(b, "runs/count", 100, "h");
		dck_record *r = finished(b);
		dck_buffer got = brief(r, &(dck_style){.rest = "--details"});

		if (rows[i].line ? !strstr(got.data, rows[i].line)
				 : strstr(got.data, "earlier one") != NULL)
			fail_msg("'%s' in:\n%s", rows[i].line ? rows[i].line : "no line", got.data);
		dck_buffer_done(&got);
		dck_record_free(r);
	}
}

/* The answer of a command, the summary columns of a table, and the most severe notes. */
static dck_record *answered(void)
{
	static const dck_column columns[] = {{"size", "size", DCK_UNIT_ONE},
					     {"spare", "spare", DCK_UNIT_ONE},
					     {"time", "time", DCK_UNIT_NS},
					     {"word", "word", DCK_UNIT_NONE}};
	record_builder *b = record_new();

	record_fact_text(b, "subject", "name", "a subject");
	record_answer(b, "size %d is the fastest", 3);
	record_table(b, "sizes", "All sizes", columns, 4);
	record_summary_columns(b, "time word none");
	for (int i = 0; i < 12; i++) {
		record_cell_int(b, i);
		record_cell_int(b, 1000 + i);
		record_cell_interval(b, 1e6 + i * 1e4, 1e6, 1.2e6, 0.95);
		record_cell_text(b, i == 3 ? "fastest" : "");
		if (i % 3 == 0)
			record_summary_row(b);
	}
	record_note_as(b, DCK_INFO, "small", "a small thing; it may be read elsewhere");
	record_note_as(
	    b, DCK_WARN, "cause",
	    "others kept the machine busy while this was measured, as was found by looking "
	    "at it; this has been known to disturb in nearly every case, and in the others "
	    "it did at least no good to anybody, as far as is known");
	record_remedy(b, "stop them; or take %d other machines", 2);
	record_note_as(b, DCK_WARN, "effect", "the interval is wide");
	record_note_set_cause(b, "effect", "cause");
	record_note_set_cause(b, "effect", "nothing of that name");
	return finished(b);
}

static void an_answer_with_its_table(void **state)
{
	(void)state;
	dck_record *r = answered();
	dck_buffer got = brief(r, &(dck_style){.rest = "--details"});

	golden_compare(&got, "record_answered_brief.txt");
	assert_null(strstr(got.data, "1,00"));
	assert_null(strstr(got.data, "interval is wide"));
	dck_buffer_done(&got);
	dck_record_free(r);
}

static void on_a_terminal_the_answer_is_last(void **state)
{
	(void)state;
	dck_record *r = answered();
	const char line[] = "  size 3 is the fastest\n";
	dck_buffer got = brief(r, &(dck_style){.terminal = true});

	assert_string_equal(got.data + got.n - (sizeof line - 1), line);
	dck_buffer_done(&got);
	got = brief(r, NULL);
	assert_ptr_equal(strstr(got.data, line), strchr(got.data, '\n') + 1);
	dck_buffer_done(&got);
	dck_record_free(r);
}

/* Text has the micro sign; a page that cannot show it has "us". */
static void one_spelling_of_microseconds(void **state)
{
	(void)state;
	record_builder *b = record_new();
	record_fact_text(b, "subject", "name", "us us.onnx");
	record_answer(b, "19.1 \u00b5s, (2.5 \u00b5s) and about us, bus 7 users");
	dck_record *r = finished(b);
	dck_buffer got = brief(r, &(dck_style){.utf8 = true});
	assert_string_equal(
	    got.data, "us us.onnx\n  19.1 \u00b5s, (2.5 \u00b5s) and about us, bus 7 users\n");
	dck_buffer_done(&got);
	got = brief(r, NULL);
	assert_string_equal(got.data,
			    "us us.onnx\n  19.1 us, (2.5 us) and about us, bus 7 users\n");
	dck_buffer_done(&got);
	dck_record_free(r);
}

/* Of equally severe notes, the cause of the others comes first. */
static void a_cause_stands_first(void **state)
{
	(void)state;
	record_builder *b = record_new();
	record_fact_text(b, "subject", "name", "m.onnx");
	record_answer(b, "slow");
	record_note_as(b, DCK_WARN, "drift", "it drifts");
	record_note_as(b, DCK_WARN, "busy", "stop them");
	record_note_as(b, DCK_ERROR, "worst", "it is broken");
	record_note_as(b, DCK_WARN, "steal", "folded");
	record_note_set_cause(b, "steal", "busy");
	dck_record *r = finished(b);
	dck_buffer got = brief(r, NULL);
	const char *worst = strstr(got.data, "it is broken"),
		   *cause = strstr(got.data, "stop them"), *other = strstr(got.data, "it drifts");
	assert_true(worst && cause && other);
	assert_true(worst < cause && cause < other);
	dck_buffer_done(&got);
	dck_record_free(r);
}

/* The explanation of a long note is cut, the advice is not. */
static void a_remedy_is_never_cut(void **state)
{
	(void)state;
	for (unsigned width = 60; width <= 120; width += 20) {
		record_builder *b = record_new();
		record_fact_text(b, "subject", "name", "m.onnx");
		record_answer(b, "slow");
		record_note_as(
		    b, DCK_WARN, "long",
		    "the first thing is not right: the second explains it in many words, "
		    "which go on and on, as do the third, the fourth, the fifth and the "
		    "sixth, so that no summary has room for all of it");
		record_remedy(b, "restart");
		record_note_as(b, DCK_INFO, "first-run-slow", "the first run was slow");
		dck_record *r = finished(b);
		dck_buffer got = brief(r, &(dck_style){.width = width, .rest = "--details"});
		assert_non_null(strstr(got.data, "the first thing is not"));
		assert_non_null(strstr(got.data, "restart\n"));
		assert_null(strstr(got.data, "the first run was slow"));
		assert_non_null(strstr(got.data, "with 1 more note"));
		dck_buffer_done(&got);
		dck_record_free(r);
	}
}

/* Directories common to all names distinguish none; a program's arguments are not a path. */
static void names_without_what_they_share(void **state)
{
	(void)state;
	const char *const files[] = {"/a/b/m1.onnx", "/a/b/m2.onnx", "/a/b/c/m1.onnx"};
	const char *const other[] = {"/a/m1.onnx", "b/m2.onnx"};
	const char *const programs[] = {"tar /a/x", "tar /a/y"};

	assert_int_equal(common_prefix(files, 3), 5);
	assert_int_equal(common_prefix(files, 1), 0);
	assert_int_equal(common_prefix(other, 2), 0);
	assert_int_equal(common_prefix(programs, 2), 0);
}

/* A file preserves everything that a summary needs. */
static void a_summary_survives_the_file(void **state)
{
	(void)state;
	dck_record *r = answered(), *again = NULL;
	dck_buffer json = golden_styled("json", (const dck_record *const *)&r, 1, NULL);
	dck_buffer one = brief(r, NULL);
	dck_err err;

	if (dck_record_parse(json.data, json.n, &again, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	dck_buffer two = brief(again, NULL);
	assert_string_equal(one.data, two.data);
	assert_string_equal(dck_record_note(again, "effect")->cause, "cause");
	dck_buffer_done(&json);
	dck_buffer_done(&one);
	dck_buffer_done(&two);
	dck_record_free(r);
	dck_record_free(again);
}

static void bad_indices_are_refused(void **state)
{
	(void)state;
	static const char *const bad[] = {"[3]", "[1, 1]", "[-1]", "[\"x\"]", "7"};

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		char json[512];
		dck_record *r = NULL;
		snprintf(json, sizeof json,
			 "{\"schema\": 1, \"deepclock\": \"0.1.0\", \"id\": \"\", \"tables\": "
			 "[{\"name\": \"t\", \"title\": \"t\", \"columns\": [{\"key\": \"a\", "
			 "\"title\": \"a\"}, {\"key\": \"b\", \"title\": \"b\"}], \"rows\": "
			 "[[\"1\", \"2\"]], \"summary_columns\": %s}]}",
			 bad[i]);
		assert_int_equal(dck_record_parse(json, strlen(json), &r, NULL), DCK_E_FORMAT);
	}
}

/* Three rows of a history; course: the rows are ordered, and the last two are the summary. */
static dck_record *listed(bool course)
{
	static const dck_column columns[] = {{"id", "id", DCK_UNIT_NONE},
					     {"time", "time", DCK_UNIT_NONE},
					     {"subject", "subject", DCK_UNIT_NONE},
					     {"odd", "odd", DCK_UNIT_NONE},
					     {"value", "value", DCK_UNIT_NS}};
	record_builder *b = record_new();

	record_fact_bool(b, "result", "listing", true);
	record_answer(b, "three of them");
	record_table(b, "history/records", "Records", columns, 5);
	record_summary_columns(b, "time subject odd value");
	for (int i = 0; i < 3; i++) {
		record_cell_text(b, "0123456789abcdef0123456789abcdef");
		record_cell_text(b, "2026-11-22T04:56:52.5Z");
		record_cell_text(b, "a subject with a name that no line of this page could hold");
		record_cell_bool(b, false);
		record_cell_real(b, 1e6 * (i + 1));
		if (course && i > 0)
			record_summary_row(b);
	}
	return finished(b);
}

static void a_listing_keeps_its_columns(void **state)
{
	(void)state;
	dck_record *r = listed(false);
	dck_buffer got = brief(r, &(dck_style){.terminal = true, .width = 60});

	assert_string_equal(got.data,
			    "\n"
			    "  id        time              subject                  value\n"
			    "                                                          ms\n"
			    "  01234567  2026-11-22 04:56  a subject with a name..  1.000\n"
			    "  01234567  2026-11-22 04:56  a subject with a name..  2.000\n"
			    "  01234567  2026-11-22 04:56  a subject with a name..  3.000\n"
			    "  three of them\n");
	dck_buffer_done(&got);
	/* In a pipe nothing is truncated. */
	got = brief(r, &(dck_style){.width = 60});
	assert_non_null(strstr(got.data, "that no line of this page could hold"));
	assert_null(strstr(got.data, "odd"));
	dck_buffer_done(&got);
	dck_record_free(r);
}

static void a_listing_with_an_order_shows_its_course(void **state)
{
	(void)state;
	dck_record *r = listed(true);
	dck_buffer got = brief(r, &(dck_style){.terminal = true, .width = 60});

	assert_non_null(strstr(got.data, "\n  .+@  1.00 ms to 3.00 ms\n"));
	assert_int_equal(lines_of(&got),
			 7); /* an empty one, the course, two titles, two rows, the answer */
	dck_buffer_done(&got);
	got = brief(r, &(dck_style){.width = 60, .details = true});
	assert_non_null(strstr(got.data, "  .+@  1.00 ms to 3.00 ms\n"));
	assert_int_equal(lines_of(&got), 8);
	dck_buffer_done(&got);
	dck_record_free(r);
}

int test_report_summary(void);
int test_report_summary(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_record_is_answered_in_15_lines),
	    cmocka_unit_test(a_latency_is_as_expected),
	    cmocka_unit_test(one_start_or_one_process),
	    cmocka_unit_test(undisturbed_runs_where_they_matter),
	    cmocka_unit_test(where_earlier_ones_lay),
	    cmocka_unit_test(an_answer_with_its_table),
	    cmocka_unit_test(on_a_terminal_the_answer_is_last),
	    cmocka_unit_test(one_spelling_of_microseconds),
	    cmocka_unit_test(a_cause_stands_first),
	    cmocka_unit_test(a_remedy_is_never_cut),
	    cmocka_unit_test(names_without_what_they_share),
	    cmocka_unit_test(a_summary_survives_the_file),
	    cmocka_unit_test(bad_indices_are_refused),
	    cmocka_unit_test(a_listing_keeps_its_columns),
	    cmocka_unit_test(a_listing_with_an_order_shows_its_course),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
