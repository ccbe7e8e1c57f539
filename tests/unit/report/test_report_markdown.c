/* test_report_markdown.c - the tables for pages, issues and reviews.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "golden.h"
#include "record/build.h"
#include "report/markdown.h"
#include "report/ops.h"

static void golden_records_as_markdown(void **state)
{
	(void)state;
	static const char *const names[] = {"typical", "absent", "empty",   "extreme", "incomplete",
					    "ops",     "cost",	 "profile", "tables",  "machine"};
	char json[64], md[64];
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		snprintf(json, sizeof json, "record_%s.json", names[i]);
		snprintf(md, sizeof md, "record_%s.md", names[i]);
		dck_record *r = golden_record(json);
		const dck_record *one = r;
		dck_buffer got = golden_report("markdown", &one, 1, NULL);
		golden_compare(&got, md);
		dck_buffer_done(&got);
		dck_record_free(r);
	}
}

static void one_table_of_operators(void **state)
{
	(void)state;
	const dck_style style = {.ops = {.by = OPS_BY_TYPE, .sort = OPS_SORT_NAME, .top = 2}};
	dck_record *r = golden_record("record_cost.json");
	const dck_record *one = r;
	dck_buffer got = golden_report("markdown", &one, 1, &style);
	golden_compare(&got, "record_cost_type.md");
	dck_buffer_done(&got);
	dck_record_free(r);
}

static dck_record *timed_record(const char *name, double median)
{
	dck_record *r = NULL;
	record_builder *b = record_new();
	record_fact_text(b, "subject", "name", name);
	record_metric_interval(b, "latency/median", median, median * 0.99, median * 1.01, 0.95, "");
	record_metric_real(b, "latency/mean", median * 1.1, "");
	record_metric_real(b, "latency/stddev", median * 0.05, "");
	record_metric_real(b, "latency/min", median * 0.9, "");
	record_metric_real(b, "latency/max", median * 2, "");
	assert_int_equal(record_finish(b, &r, NULL), DCK_OK);
	return r;
}

static void several_records_are_one_table(void **state)
{
	(void)state;
	dck_record *a = timed_record("slow", 13.1e6), *b = timed_record("fast", 10e6);
	const dck_record *both[] = {a, b};
	dck_buffer got = golden_report("markdown", both, 2, NULL);
	assert_string_equal(
	    got.data,
	    "| Subject | Median [ms] |  95 % interval | Mean ± σ [ms] | Min [ms] | Max [ms] | "
	    "Relative |\n"
	    "|:--------|------------:|---------------:|--------------:|---------:|---------:|"
	    "---------:|\n"
	    "| slow    |       13.10 | 12.97 to 13.23 |  14.41 ± 0.66 |    11.79 |    26.20 |"
	    "     1.31 |\n"
	    "| fast    |       10.00 |  9.90 to 10.10 |  11.00 ± 0.50 |     9.00 |    20.00 |"
	    "     1.00 |\n\n");
	dck_buffer_done(&got);
	dck_record_free(a);
	dck_record_free(b);
}

/* A record may be untrusted: names are escaped. */
static void text_stays_text(void **state)
{
	(void)state;
	static const struct {
		const char *text, *written;
	} all[] = {{"a|b", "a\\|b"},
		   {"a\\|b", "a\\\\\\|b"},
		   {"<img src=x onerror=y>", "&lt;img src=x onerror=y>"},
		   {"&lt;", "&amp;lt;"},
		   {"[x](http://y)", "[x\\](http://y)"},
		   {"a\r\nb\x1b[2J", "a  b [2J"},
		   {"\xc2\x9b"
		    "2J \xc2\xb5s",
		    " 2J \xc2\xb5s"},
		   {"`*_~$", "\\`\\*\\_\\~\\$"}};
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
		dck_buffer b = {0};
		dck_sink s;
		dck_sink_buffer(&s, &b);
		markdown_text(&s, all[i].text);
		assert_int_equal(dck_sink_finish(&s, NULL), DCK_OK);
		assert_string_equal(b.data, all[i].written);
		dck_buffer_done(&b);
	}
}

int test_report_markdown(void);
int test_report_markdown(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(golden_records_as_markdown),
	    cmocka_unit_test(one_table_of_operators),
	    cmocka_unit_test(several_records_are_one_table),
	    cmocka_unit_test(text_stays_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
