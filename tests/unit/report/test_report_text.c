/* test_report_text.c - the text and JSON writers over golden records.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "golden.h"
#include "deepclock/opt.h"
#include "record/build.h"
#include "report/format.h"
#include "report/ops.h"
#include "report/text/page.h"
#include <math.h>

static const char *const names[] = {"typical", "absent", "empty",   "incomplete", "extreme",
				    "ops",     "cost",	 "profile", "tables"};
#define NAMES (sizeof names / sizeof names[0])

/* The width of the widest line; escape sequences have no width. */
static unsigned widest(const char *text)
{
	unsigned most = 0, n = 0;
	for (; *text != '\0'; text++) {
		if (*text == '\033') {
			text = strchr(text, 'm');
			assert_non_null(text);
		} else if (*text == '\n') {
			n = 0;
		} else if ((*text & 0xc0) != 0x80) {
			n++;
		}
		if (n > most)
			most = n;
	}
	return most;
}

static void plain_text_is_as_expected(void **state)
{
	(void)state;
	char json[64], text[64];
	for (size_t i = 0; i < NAMES; i++) {
		snprintf(json, sizeof json, "record_%s.json", names[i]);
		snprintf(text, sizeof text, "record_%s.txt", names[i]);
		dck_record *r = golden_record(json);
		const dck_record *one = r;
		dck_buffer got = golden_report("text", &one, 1, NULL);
		golden_compare(&got, text);
		assert_in_range(widest(got.data), 10, 80);
		for (size_t k = 0; k < got.n; k++)
			assert_true(got.data[k] == '\n' ||
				    (got.data[k] >= ' ' && got.data[k] < 127));
		assert_null(strstr(got.data, " \n"));
		dck_buffer_done(&got);
		dck_record_free(r);
	}
}

static void decorated_text_is_as_expected(void **state)
{
	(void)state;
	const dck_style style = {.colour = true, .utf8 = true, .width = 100};
	dck_record *r = golden_record("record_incomplete.json");
	const dck_record *one = r;
	dck_buffer got = golden_report("text", &one, 1, &style);
	golden_compare(&got, "record_incomplete_colour.txt");
	dck_buffer_done(&got);
	dck_record_free(r);
}

/* On narrow and wide pages, with and without colour. */
static void tables_fit_the_page(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		dck_style style;
	} all[] = {{"record_tables_narrow.txt", {.width = 60, .utf8 = true}},
		   {"record_tables_wide.txt", {.width = 120, .utf8 = true, .colour = true}}};
	dck_record *r = golden_record("record_tables.json");
	const dck_record *one = r;
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
		dck_buffer got = golden_report("text", &one, 1, &all[i].style);
		golden_compare(&got, all[i].text);
		dck_buffer_done(&got);
	}
	dck_record_free(r);
}

static void no_line_is_wider_than_asked(void **state)
{
	(void)state;
	char json[64];
	static const unsigned widths[] = {60, 72, 80, 100, 133, 200};
	for (size_t i = 0; i < NAMES; i++) {
		snprintf(json, sizeof json, "record_%s.json", names[i]);
		dck_record *r = golden_record(json);
		const dck_record *one = r;
		for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
			for (unsigned k = 0; k < 4; k++) {
				const dck_style style = {.colour = (k & 1) != 0,
							 .utf8 = (k & 2) != 0,
							 .width = widths[w],
							 .terminal = true};
				dck_buffer got = golden_report("text", &one, 1, &style);
				assert_in_range(widest(got.data), 10, widths[w]);
				dck_buffer_done(&got);
			}
		}
		dck_record_free(r);
	}
}

static void long_tags_of_others_are_cut(void **state)
{
	(void)state;
	char tag[301], json[1024];
	dck_record *r = NULL;
	memset(tag, 't', 300);
	tag[300] = '\0';
	snprintf(json, sizeof json,
		 "{\"schema\": 1, \"deepclock\": \"9\", \"id\": \"\", \"metrics\": [{\"tag\": "
		 "\"latency/%s\", \"value\": 1.5, \"unit\": \"ns\"}, {\"tag\": \"%s\", "
		 "\"value\": 2, \"unit\": \"W\", \"lo\": 1, \"hi\": 3, \"level\": 0.9}]}",
		 tag, tag);
	assert_int_equal(dck_record_parse(json, strlen(json), &r, NULL), DCK_OK);
	const dck_record *one = r;
	dck_buffer got = golden_report("text", &one, 1, NULL);
	assert_in_range(widest(got.data), 10, 80);
	assert_non_null(strstr(got.data, ".. 1.5"));
	assert_non_null(strstr(got.data, ".. 2.00 W [1.00, 3.00]"));
	dck_buffer_done(&got);
	dck_record_free(r);
}

/* If a name does not fit, its words are shortened to three letters before parts are cut out. */
static void long_names_keep_what_tells_them_apart(void **state)
{
	(void)state;
	static const char *const path[] = {"/encoder/layer.10/intermediate/dense/MatMul",
					   "/encoder/layer.11/intermediate/dense/MatMul",
					   "/a/b/Add"};
	dck_record *r = NULL;
	record_builder *b = record_new();
	const dck_style style = {.ops = {.by = OPS_BY_NODE}};
	for (int i = 0; i < 3; i++)
		record_op(b, &(dck_op){.name = path[i],
				       .type = "MatMul",
				       .macs = {.kind = DCK_VALUE_INT, .as.i = 1000 - i},
				       .flops = {.kind = DCK_VALUE_INT, .as.i = 2000},
				       .params = {.kind = DCK_VALUE_INT, .as.i = 1000},
				       .read_bytes = {.kind = DCK_VALUE_INT, .as.i = 1000},
				       .write_bytes = {.kind = DCK_VALUE_INT, .as.i = 1000}});
	assert_int_equal(record_finish(b, &r, NULL), DCK_OK);
	const dck_record *one = r;
	const dck_style narrow = {.width = 60, .terminal = true, .ops = style.ops};
	dck_buffer got = golden_report("text", &one, 1, &narrow);
	assert_non_null(strstr(got.data, "\n  /enc/lay.10/int/den"));
	assert_non_null(strstr(got.data, "\n  /enc/lay.11/int/den"));
	assert_non_null(strstr(got.data, "\n  /a/b/Add  "));
	dck_buffer_done(&got);
	const dck_style wide = {.width = 200, .ops = style.ops};
	got = golden_report("text", &one, 1, &wide);
	assert_non_null(strstr(got.data, path[0]));
	dck_buffer_done(&got);
	dck_record_free(r);
}

/* A time of 0 is not shown as exact: the profiler's resolution bounds it. */
static void short_operators_have_a_bound(void **state)
{
	(void)state;
	dck_record *r = NULL;
	record_builder *b = record_new();
	const dck_style style = {.ops = {.by = OPS_BY_NODE}};
	record_fact_bool(b, "profile", "device_time", false);
	record_fact_real(b, "profile", "resolution", DCK_UNIT_NS, 1000);
	record_op(b, &(dck_op){.name = "/short",
			       .type = "Identity",
			       .time_ns = {.kind = DCK_VALUE_REAL, .as.r = 0}});
	record_op(b, &(dck_op){.name = "/long",
			       .type = "Add",
			       .time_ns = {.kind = DCK_VALUE_REAL, .as.r = 50000}});
	assert_int_equal(record_finish(b, &r, NULL), DCK_OK);
	const dck_record *one = r;
	dck_buffer got = golden_report("text", &one, 1, &style);
	assert_non_null(strstr(got.data, " <1.00 "));
	assert_null(strstr(got.data, " 0.00 "));
	dck_buffer_done(&got);
	dck_record_free(r);
}

/* Colour adds escape sequences and changes nothing else. */
static void colour_changes_no_text(void **state)
{
	(void)state;
	const dck_style style = {.colour = true, .terminal = true};
	dck_record *r = golden_record("record_typical.json");
	const dck_record *one = r;
	dck_buffer plain = golden_report("text", &one, 1, NULL);
	dck_buffer got = golden_report("text", &one, 1, &style);
	char *to = got.data;
	assert_true(got.n > plain.n);
	for (const char *from = got.data; *from != '\0'; from++) {
		if (*from == '\033')
			from = strchr(from, 'm');
		else
			*to++ = *from;
	}
	*to = '\0';
	assert_string_equal(got.data, plain.data);
	dck_buffer_done(&got);
	dck_buffer_done(&plain);
	dck_record_free(r);
}

static void a_file_cannot_drive_the_terminal(void **state)
{
	(void)state;
	const dck_style style = {.utf8 = true};
	static const char json[] =
	    "{\"schema\": 1, \"deepclock\": \"\\u001b[2J\", \"id\": \"\\u009b31m\", "
	    "\"command\": \"a\\u0007\\u001b]0;title\\u0007\", \"notes\": [{\"severity\": "
	    "\"info\", \"code\": \"\\u001b[31m\", \"text\": \"x\\r\\u001b[1A\\u007f\"}]}";
	dck_record *r = NULL;
	assert_int_equal(dck_record_parse(json, sizeof json - 1, &r, NULL), DCK_OK);
	const dck_record *one = r;
	dck_buffer got = golden_report("text", &one, 1, &style);
	for (size_t k = 0; k < got.n; k++)
		assert_true((unsigned char)got.data[k] >= ' ' || got.data[k] == '\n');
	assert_null(strchr(got.data, 0x7f));
	assert_null(strstr(got.data, "\xc2\x9b"));
	dck_buffer_done(&got);
	dck_record_free(r);
}

static dck_record *with_samples(const double *x, size_t n)
{
	dck_record *r = NULL;
	record_builder *b = record_new();
	record_series(b, "latency", DCK_UNIT_NS, NULL, x, n, 0);
	record_metric_real(b, "latency/median", x[n / 2], NULL);
	assert_int_equal(record_finish(b, &r, NULL), DCK_OK);
	return r;
}

/* The sum of the histogram's counts: no sample is lost, whatever its value. */
static size_t histogram_sum(const char *text)
{
	size_t sum = 0;
	const char *line = strstr(text, "Histogram");
	for (line = line ? strchr(line, '\n') + 1 : ""; line[0] == ' ';
	     line = strchr(line, '\n') + 1) {
		const char *bar = strpbrk(line, "|:");
		if (bar)
			sum += strtoul(bar + 1 + strspn(bar + 1, "# "), NULL, 10);
	}
	return sum;
}

static void the_histogram_counts_every_sample(void **state)
{
	(void)state;
	static double x[500];
	for (int shape = 0; shape < 7; shape++) {
		for (int i = 0; i < 500; i++) {
			double u = i / 500.0;
			const double value[] = {1e6,
						1e6 + i,
						1e6 * exp(3 * u * u),
						i < 400 ? 1e7 + 10 * i : 1.2e7 + 10 * i,
						i < 5 ? 1.0 : 1e9 + 1e5 * u,
						i == 499 ? 1e15 : 0.25 + u,
						i % 2 ? 0 : 1e300};
			x[i] = value[shape];
		}
		dck_record *r = with_samples(x, 500);
		const dck_record *one = r;
		dck_buffer got = golden_report("text", &one, 1, NULL);
		assert_int_equal(histogram_sum(got.data), 500);
		assert_in_range(widest(got.data), 20, 80);
		if (shape == 3) /* the second mode is shown and not cut off */
			assert_null(strstr(got.data, "more, up to"));
		if (shape == 5)
			assert_non_null(strstr(got.data, "1 more, up to "));
		dck_buffer_done(&got);
		dck_record_free(r);
	}
}

/* A median that is not reported leaves the samples' unit. */
static void the_histogram_has_a_unit_without_a_median(void **state)
{
	(void)state;
	double x[40];
	dck_record *r = NULL;
	record_builder *b = record_new();
	for (int i = 0; i < 40; i++)
		x[i] = 1.2e9 + 1e6 * i;
	record_series(b, "latency", DCK_UNIT_NS, NULL, x, 40, 0);
	record_metric_absent(b, "latency/median", "client-bound");
	assert_int_equal(record_finish(b, &r, NULL), DCK_OK);
	const dck_record *one = r;
	dck_buffer got = golden_report("text", &one, 1, NULL);
	assert_non_null(strstr(got.data, " s a row"));
	assert_null(strstr(got.data, " ns"));
	dck_buffer_done(&got);
	dck_record_free(r);
}

static void few_samples_give_no_histogram(void **state)
{
	(void)state;
	const double x[7] = {1, 2, 3, 4, 5, 6, 7};
	dck_record *r = with_samples(x, 7);
	const dck_record *one = r;
	dck_buffer got = golden_report("text", &one, 1, NULL);
	assert_null(strstr(got.data, "Histogram"));
	dck_buffer_done(&got);
	dck_record_free(r);
}

static void several_records_follow_each_other(void **state)
{
	(void)state;
	dck_record *a = golden_record("record_empty.json"), *b = golden_record("record_ops.json");
	const dck_record *both[] = {a, b};
	dck_buffer got = golden_report("text", both, 2, NULL);
	assert_non_null(strstr(got.data, "\n------"));
	dck_buffer_done(&got);
	got = golden_report("json", both, 2, NULL);
	assert_true(strncmp(got.data, "[\n  {\n    \"schema\": 1,", 20) == 0);
	assert_string_equal(got.data + got.n - 4, "}\n]\n");
	dck_buffer_done(&got);
	got = golden_report("json", NULL, 0, NULL);
	assert_string_equal(got.data, "[]\n");
	dck_buffer_done(&got);
	got = golden_report("json", both, 1, NULL);
	golden_compare(&got, "record_empty.json");
	dck_buffer_done(&got);
	dck_record_free(a);
	dck_record_free(b);
}

static void writers_are_found_by_name(void **state)
{
	(void)state;
	size_t n;
	dck_err err;
	const dck_writer *const *w = dck_writers(&n);
	assert_true(n >= 3);
	assert_string_equal(w[0]->name, "text");
	for (size_t i = 0; i < n; i++)
		assert_true(w[i]->ext[0] == '.' && w[i]->help[0] != '\0' && w[i]->write);
	assert_int_equal(dck_report("jsn", NULL, 0, NULL, NULL, &err), DCK_E_ABSENT);
	assert_non_null(strstr(err.msg, "'json'"));
	assert_int_equal(dck_report("spreadsheet", NULL, 0, NULL, NULL, &err), DCK_E_ABSENT);
	assert_non_null(strstr(err.msg, "the formats are text, json, csv, markdown, html"));
}

static void columns_share_one_unit(void **state)
{
	(void)state;
	char b[FORMAT_SIZE];
	format_scale s = format_scale_for(17624011, 80000);
	assert_string_equal(s.unit, "ms");
	assert_int_equal(s.decimals, 3);
	assert_string_equal(format_scaled(&s, 17624011, b), "17.624");
	assert_string_equal(format_scaled(&s, 0, b), "0.000");
	assert_string_equal(format_scaled(&s, 3, b), "<0.001");
	assert_string_equal(format_scaled(&s, 1e300, b), "1e+294");
	assert_string_equal(format_scaled(&s, NAN, b), "?");
	s = format_scale_for(712, 0);
	assert_string_equal(s.unit, "ns");
	assert_int_equal(s.decimals, 1);
	s = format_scale_for(7120, 1e-9); /* six digits at most */
	assert_string_equal(s.unit, "\u00b5s");
	assert_int_equal(s.decimals, 5);
	s = format_scale_for(0.3, NAN);
	assert_string_equal(s.unit, "ns");
	s = format_scale_for(3.6e12, NAN);
	assert_string_equal(s.unit, "s");
	assert_string_equal(format_scaled(&s, 3.6e12, b), "3600");
	s = format_scale_for(NAN, NAN);
	assert_string_equal(s.unit, "ns");
}

static void numbers_are_for_people(void **state)
{
	(void)state;
	char b[FORMAT_SIZE];
	assert_string_equal(format_number(56.1058, DCK_UNIT_ITEM_PER_S, b), "56.11 items/s");
	assert_string_equal(format_number(123456.7, DCK_UNIT_ITEM_PER_S, b), "123,457 items/s");
	assert_string_equal(format_number(1000, DCK_UNIT_ONE, b), "1000");
	assert_string_equal(format_number(0.412, DCK_UNIT_ONE, b), "0.412");
	assert_string_equal(format_number(17623456, DCK_UNIT_NS, b), "17.6 ms");
	assert_string_equal(format_number(INFINITY, DCK_UNIT_NS, b), "?");
	assert_string_equal(format_percent(0.0045403, b), "0.454 %");
	assert_string_equal(format_percent(0.01, b), "1 %");
	assert_string_equal(format_percent(12.5, b), "1250 %");
	const dck_value yes = {.kind = DCK_VALUE_BOOL, .as.b = true};
	assert_string_equal(format_value(&yes, DCK_UNIT_NONE, b), "yes");
	const dck_value large = {.kind = DCK_VALUE_INT, .as.i = INT64_MAX};
	assert_string_equal(format_value(&large, DCK_UNIT_ONE, b), "9,223,372,036,854,775,807");
}

static void words_wrap_and_long_ones_break(void **state)
{
	(void)state;
	dck_buffer b = {0};
	dck_sink s;
	page p;
	dck_sink_buffer(&s, &b);
	page_init(&p, &s, &(dck_style){.width = 40, .terminal = true});
	page_text(&p, "key:");
	page_space(&p);
	page_wrap(&p, 4, "one two three four five six seven eight nine ten");
	page_line(&p);
	page_wrap(&p, 4, "12345678901234567890123456789012345678901234567890");
	page_line(&p);
	page_wrap(&p, 4, "  \n ");
	page_text_cut(&p, "caf\xc3\xa9 au lait", 7);
	page_line(&p);
	assert_int_equal(dck_sink_finish(&s, NULL), DCK_OK);
	assert_string_equal(b.data, "key: one two three four five six seven\n"
				    "    eight nine ten\n"
				    "123456789012345678901234567890123456789\n"
				    "    01234567890\n"
				    "caf? ..\n");
	dck_buffer_done(&b);
}

/* The bytes after a part of a text are not read: here a mark that would join its last letter. */
static void a_part_of_a_text_ends_where_it_ends(void **state)
{
	(void)state;
	static const char text[] = "abcdefghij\xcc\x81";
	static const struct {
		unsigned cols;
		const char *want;
	} all[] = {{10, "abcdefghij"}, {4, "abcd"}, {8, "ab..ghij"}};
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
		dck_buffer b = {0};
		dck_sink s;
		page p;
		dck_sink_buffer(&s, &b);
		page_init(&p, &s, &(dck_style){.width = 40, .terminal = true, .utf8 = true});
		page_text_middle(&p, text, 10, all[i].cols);
		assert_int_equal(dck_sink_finish(&s, NULL), DCK_OK);
		assert_string_equal(b.data, all[i].want);
		dck_buffer_done(&b);
	}
}

int test_report_text(void);
int test_report_text(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(plain_text_is_as_expected),
	    cmocka_unit_test(decorated_text_is_as_expected),
	    cmocka_unit_test(tables_fit_the_page),
	    cmocka_unit_test(no_line_is_wider_than_asked),
	    cmocka_unit_test(long_tags_of_others_are_cut),
	    cmocka_unit_test(long_names_keep_what_tells_them_apart),
	    cmocka_unit_test(short_operators_have_a_bound),
	    cmocka_unit_test(colour_changes_no_text),
	    cmocka_unit_test(a_file_cannot_drive_the_terminal),
	    cmocka_unit_test(the_histogram_counts_every_sample),
	    cmocka_unit_test(the_histogram_has_a_unit_without_a_median),
	    cmocka_unit_test(few_samples_give_no_histogram),
	    cmocka_unit_test(several_records_follow_each_other),
	    cmocka_unit_test(writers_are_found_by_name),
	    cmocka_unit_test(columns_share_one_unit),
	    cmocka_unit_test(numbers_are_for_people),
	    cmocka_unit_test(words_wrap_and_long_ones_break),
	    cmocka_unit_test(a_part_of_a_text_ends_where_it_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
