/* test_report_tables.c - result tables as text: units, digits, intervals, absent values, and rows
 * or columns that do not fit.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "golden.h"
#include "record/build.h"
#include "report/scale.h"
#include <math.h>
#include <stdint.h>

static dck_cell real(double v)
{
	return (dck_cell){.value = {.kind = DCK_VALUE_REAL, .as.r = v}};
}

static dck_cell between(double v, double lo, double hi)
{
	dck_cell c = real(v);
	c.lo = lo;
	c.hi = hi;
	c.level = 0.95;
	return c;
}

static column_scale scale_of(dck_unit u, const double *values, size_t n)
{
	column_range range = {.whole = true};
	for (size_t i = 0; i < n; i++) {
		dck_cell c = real(values[i]);
		if (u == DCK_UNIT_BYTE)
			c.value = (dck_value){.kind = DCK_VALUE_INT, .as.i = (int64_t)values[i]};
		column_range_add(&range, &c);
	}
	return column_scale_of(&range, u, false);
}

static void a_column_has_one_unit_and_the_digits_of_its_least(void **state)
{
	(void)state;
	static const struct {
		dck_unit unit;
		double values[2];
		const char *head, *texts[2];
	} all[] = {
	    {DCK_UNIT_NS, {17624011, 475836431}, "ms", {"17.62", "475.84"}},
	    {DCK_UNIT_NS, {900000, 100e6}, "ms", {"0.900", "100.000"}},
	    {DCK_UNIT_NS, {1500, 1600}, "\u00b5s", {"1.500", "1.600"}},
	    {DCK_UNIT_NS, {293e3, 1519e3}, "ms", {"0.2930", "1.5190"}},
	    {DCK_UNIT_NS, {25e3, 1208e3}, "\u00b5s", {"25.00", "1208.00"}},
	    {DCK_UNIT_NS, {293e3, 919e3}, "\u00b5s", {"293.0", "919.0"}},
	    {DCK_UNIT_NS, {1e9, 90e9}, "s", {"1.000", "90.000"}},
	    {DCK_UNIT_NS, {0.25, 0.5}, "ns", {"0.2500", "0.5000"}},
	    {DCK_UNIT_NS, {0, 0}, "ns", {"0", "0"}},
	    {DCK_UNIT_NS, {0, 2e6}, "ms", {"0", "2.000"}},
	    /* They differ too much for one number of decimals, but share a unit. */
	    {DCK_UNIT_NS, {25e3, 20e6}, "\u00b5s", {"25", "20,000"}},
	    {DCK_UNIT_NS, {5163, 7.6123e6}, "\u00b5s", {"5.163", "7612"}},
	    {DCK_UNIT_NS, {15712, 174.31e6}, "ms", {"0.0157", "174.3"}},
	    {DCK_UNIT_NS, {0.5, 1.5e6}, "ns", {"0.500", "1,500,000"}},
	    {DCK_UNIT_BYTE, {4096, 102300672}, "KiB", {"4", "99,903"}},
	    {DCK_UNIT_BYTE, {102300672, 819200000}, "MiB", {"97.6", "781.2"}},
	    {DCK_UNIT_BYTE, {4096, 8192}, "KiB", {"4.00", "8.00"}},
	    {DCK_UNIT_BYTE, {32, 14064}, "B", {"32", "14,064"}},
	    {DCK_UNIT_BYTE, {17, 710656}, "KiB", {"0.0166", "694"}},
	    {DCK_UNIT_FLOP, {1.82e9, 3.64e9}, "GFLOP", {"1.82", "3.64"}},
	    {DCK_UNIT_FLOP_PER_S, {2.06e12, 2.44e12}, "TFLOP/s", {"2.06", "2.44"}},
	    {DCK_UNIT_ITEM_PER_S, {56.74, 1234.5}, "items/s", {"56.74", "1234.50"}},
	    {DCK_UNIT_ITEM_PER_S, {12345.6, 99999.5}, "items/s", {"12,346", "100,000"}},
	    {DCK_UNIT_ITEM_PER_S, {1, 12345.6}, "items/s", {"1", "12,346"}},
	    {DCK_UNIT_HERTZ, {50, 2000}, "Hz", {"50.0", "2000.0"}},
	    {DCK_UNIT_HERTZ, {2.1e9, 3.5e9}, "GHz", {"2.10", "3.50"}},
	    {DCK_UNIT_ONE, {0.98, 12.5}, "", {"0.980", "12.500"}},
	    {DCK_UNIT_ONE, {-0.5, 1.034}, "", {"-0.500", "1.034"}},
	    {DCK_UNIT_ONE, {2.384e-7, 0.00031}, "", {"2.38e-07", "0.00031"}},
	    {DCK_UNIT_ONE, {0, 0}, "", {"0", "0"}},
	    {DCK_UNIT_ONE, {1e-9, 1}, "", {"1e-09", "1"}},
	    {DCK_UNIT_ONE, {0.55, 2000}, "", {"0.550", "2000"}},
	    {DCK_UNIT_CELSIUS, {40.5, 99.9}, "degC", {"40.5", "99.9"}},
	    {DCK_UNIT_NONE, {2.5, 31}, "", {"2.50", "31.00"}},
	    {DCK_UNIT_WATT, {1e300, 1e300}, "PW", {"1e+285", "1e+285"}},
	};
	char buf[FORMAT_SIZE];
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
		const column_scale s = scale_of(all[i].unit, all[i].values, 2);
		assert_string_equal(s.unit, all[i].head);
		for (int k = 0; k < 2; k++)
			assert_string_equal(column_scale_number(&s, all[i].values[k], buf),
					    all[i].texts[k]);
	}
}

static void counts_have_all_digits_and_shares_are_percent(void **state)
{
	(void)state;
	char buf[FORMAT_SIZE];
	const dck_cell counts[] = {{.value = {.kind = DCK_VALUE_INT, .as.i = 1}},
				   {.value = {.kind = DCK_VALUE_INT, .as.i = INT64_MAX}}};
	column_range range = {.whole = true};
	for (int i = 0; i < 2; i++)
		column_range_add(&range, &counts[i]);
	column_scale s = column_scale_of(&range, DCK_UNIT_ONE, false);
	assert_string_equal(column_scale_value(&s, &counts[1].value, buf),
			    "9,223,372,036,854,775,807");
	s = column_scale_of(&range, DCK_UNIT_ITEM_PER_S, false);
	assert_string_equal(s.unit, "items/s");
	const dck_cell share = real(0.125);
	range = (column_range){.whole = true};
	column_range_add(&range, &share);
	s = column_scale_of(&range, DCK_UNIT_ONE, true);
	assert_string_equal(s.unit, "%");
	assert_string_equal(column_scale_value(&s, &share.value, buf), "12.5");
	/* For a share, a relative width would be ambiguous. */
	const dck_cell c = between(0.125, 0.12, 0.13);
	assert_int_equal(column_scale_interval(&s, &c, false, buf), INTERVAL_ENDS);
	assert_string_equal(buf, "[12.0, 13.0]");
}

/* A narrow interval needs more digits: 1.034 is not 1.03. */
static void digits_follow_the_interval(void **state)
{
	(void)state;
	char buf[FORMAT_SIZE];
	const dck_cell c[] = {between(1.0342, 1.0331, 1.0351), between(2.5, 2, 3)};
	column_range range = {.whole = true};
	for (int i = 0; i < 2; i++)
		column_range_add(&range, &c[i]);
	const column_scale s = column_scale_of(&range, DCK_UNIT_ONE, false);
	assert_string_equal(column_scale_value(&s, &c[0].value, buf), "1.0342");
	assert_string_equal(column_scale_value(&s, &c[1].value, buf), "2.5000");
}

/* A wide interval of a ratio shows on which side of 1 its ends are. */
static void a_ratio_is_not_cut_off(void **state)
{
	(void)state;
	char buf[FORMAT_SIZE];
	const dck_cell c[] = {between(48, 0.45, 56), between(47.6, 1.2, 56)};
	column_range range = {.whole = true};
	column_range_add(&range, &c[0]);
	column_range_add(&range, &c[1]);
	const column_scale s = column_scale_of(&range, DCK_UNIT_ONE, false);
	assert_int_equal(column_scale_interval(&s, &c[0], false, buf), INTERVAL_ENDS);
	assert_string_equal(buf, "[0.45, 56]");
	assert_int_equal(column_scale_interval(&s, &c[1], false, buf), INTERVAL_ENDS);
	assert_string_equal(buf, "[1.2, 56]");
}

static void an_interval_is_short_only_where_that_is_true(void **state)
{
	(void)state;
	static const struct {
		dck_unit unit;
		double v, lo, hi;
		const char *text;
	} all[] = {
	    {DCK_UNIT_NS, 100e6, 99e6, 101e6, "+-1.0 %"},
	    {DCK_UNIT_NS, 100e6, 99.93e6, 100.07e6, "+-0.07 %"},
	    {DCK_UNIT_NS, 100e6, 88e6, 112e6, "+-12 %"},
	    {DCK_UNIT_NS, 100e6, 90.02e6, 110e6, "+-10 %"},
	    {DCK_UNIT_NS, 100e6, 99.999e6, 100.0011e6, "+-0.01 %"},
	    {DCK_UNIT_NS, 100e6, 99e6, 101.9e6, "+-1.5 %"},
	    {DCK_UNIT_NS, 100e6, 99e6, 110e6, "[99.0, 110.0]"},
	    {DCK_UNIT_NS, 100e6, 101e6, 110e6, "[101.0, 110.0]"}, /* excludes its value */
	    {DCK_UNIT_NS, 100e6, 99.9e6, 100.9e6, "+-0.50 %"},	  /* asymmetric, but narrow */
	    {DCK_UNIT_NS, 0, -1e6, 1e6, "[-1.0, 1.0]"},
	    {DCK_UNIT_NS, 1e6, 1e6, 1e6, "[1.000, 1.000]"}, /* zero width: not +-0 % */
	    {DCK_UNIT_NS, 100e6, 75e6, 125e6, "+-25 %"},
	    {DCK_UNIT_NS, 100e6, 74e6, 126e6, "[74, 126]"},
	    {DCK_UNIT_NS, -100e6, -101e6, -99e6, "[-101.0, -99.0]"}, /* a difference */
	    {DCK_UNIT_ONE, 1.01, 0.999, 1.03, "[0.999, 1.030]"},
	    {DCK_UNIT_ONE, 1.01, 1.001, 1.02, "+-0.94 %"},
	    {DCK_UNIT_ONE, 1, -19, 21, "[-19.0, 21.0]"},
	};
	char buf[FORMAT_SIZE];
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
		const dck_cell c = between(all[i].v, all[i].lo, all[i].hi);
		column_range range = {.whole = true};
		column_range_add(&range, &c);
		const column_scale s = column_scale_of(&range, all[i].unit, false);
		column_scale_interval(&s, &c, false, buf);
		assert_string_equal(buf, all[i].text);
	}
	const dck_cell none = real(1);
	const column_scale s = scale_of(DCK_UNIT_NS, (const double[]){1}, 1);
	assert_int_equal(column_scale_interval(&s, &none, false, buf), INTERVAL_NONE);
	const dck_cell c = between(2e6, 1.9e6, 2.1e6);
	column_scale_interval(&s, &c, true, buf);
	assert_string_equal(buf, "\u00b15.0 %");
}

/* --- whole tables */

static const dck_column columns[] = {
    {"name", "name", DCK_UNIT_NONE}, {"a", "first", DCK_UNIT_NS}, {"b", "second", DCK_UNIT_ONE}};

static char *text_of(record_builder *b, unsigned width)
{
	dck_record *r = NULL;
	const dck_style style = {.width = width, .terminal = true};
	assert_int_equal(record_finish(b, &r, NULL), DCK_OK);
	const dck_record *one = r;
	dck_buffer got = golden_report("text", &one, 1, &style);
	dck_record_free(r);
	return got.data;
}

static void assert_says(char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no '%s' in:\n%s", part, text);
}

static void assert_does_not_say(char *text, const char *part)
{
	if (strstr(text, part))
		fail_msg("'%s' in:\n%s", part, text);
}

static void one_reason_has_no_letter(void **state)
{
	(void)state;
	record_builder *b = record_new();
	record_table(b, "t", "Title", columns, 3);
	for (int i = 0; i < 3; i++) {
		record_cell_fmt(b, "row %d", i);
		if (i < 2)
			record_cell_real(b, 1e6);
		else
			record_cell_absent(b, "it failed");
		record_cell_absent(b, "there is no counter");
	}
	char *text = text_of(b, 80);
	assert_says(text,
		    "\nTitle\n  name   first\n            ms\n  row 0  1.000\n  row 1  1.000\n"
		    "  row 2      -\n  -: it failed\n  second: absent, there is no counter\n");
	assert_does_not_say(text, "no latency");
	mem_free(text);
}

/* More reasons than letters, rows than a page, columns than a grid: reported. */
static void large_tables_say_what_is_missing(void **state)
{
	(void)state;
	enum { COLUMNS = 60, ROWS = 250 };
	dck_column many[COLUMNS];
	char titles[COLUMNS][16];
	record_builder *b = record_new();
	for (int c = 0; c < COLUMNS; c++) {
		snprintf(titles[c], sizeof titles[c], "c%d", c);
		many[c] = (dck_column){titles[c], titles[c], c > 0 ? DCK_UNIT_ONE : DCK_UNIT_NONE};
	}
	record_table(b, "t", "Title", many, COLUMNS);
	for (int r = 0; r < ROWS; r++) {
		record_cell_fmt(b, "r%d", r);
		for (int c = 1; c < COLUMNS; c++) {
			char why[32];
			snprintf(why, sizeof why, "reason %d", r);
			if (c == 1 && r < 30)
				record_cell_absent(b, why);
			else
				record_cell_int(b, c);
		}
	}
	char *text = text_of(b, 80);
	assert_says(text, "\n  r199 ");
	assert_does_not_say(text, "\n  r200 ");
	assert_says(text,
		    "\n  50 more rows and 12 more columns are not shown: --format json or csv");
	assert_says(text, "\n  -z: reason 25\n");
	assert_says(text, " c47\n");
	assert_says(text, "\n  -?: other reasons: ");
	mem_free(text);
}

static void long_texts_stand_below_their_row(void **state)
{
	(void)state;
	static const dck_column texts[] = {{"n", "name", DCK_UNIT_NONE},
					   {"s", "short", DCK_UNIT_NONE},
					   {"l", "long", DCK_UNIT_NONE}};
	record_builder *b = record_new();
	record_table(b, "t", "Title", texts, 3);
	record_cell_text(b, "one");
	record_cell_text(b, "thirty characters are a column");
	record_cell_text(b, "thirty-one characters are a line");
	record_cell_text(b, "two");
	record_cell_absent(b, "nobody asked");
	record_cell_text(b, "");
	record_cell_text(b, "three");
	record_cell_text(b, "");
	record_cell_absent(b, "nobody asked");
	char *text = text_of(b, 90);
	assert_says(text, "\n  name   short\n  one    thirty characters are a column\n"
			  "    long: thirty-one characters are a line\n"
			  "  two    -\n  three\n    long: -\n  -: nobody asked\n");
	mem_free(text);
}

/* The members at the start of a record with tables; the tables' values are not repeated. */
static void keys_and_verdict_come_first(void **state)
{
	(void)state;
	record_builder *b = record_new();
	record_fact_text(b, "subject", "name", "a against b");
	record_fact_text(b, "compare", "verdict", "slower");
	record_metric_interval(b, "compare/ratio", 1.034, 1.02, 1.05, 0.95, NULL);
	record_metric_real(b, "compare/ratio/b", 1.034, NULL);
	record_metric_int(b, "memory/peak_rss", 4096, NULL);
	record_table(b, "t", "Title", columns, 1);
	record_cell_text(b, "one");
	char *text = text_of(b, 80);
	assert_says(text,
		    "a against b\n\n  verdict: slower\n\n  B / A  1.034  [1.020, 1.050] 95 %\n"
		    "\nTitle\n  name\n  one\n\nResources\n");
	assert_does_not_say(text, "ratio of b");
	assert_does_not_say(text, "Other metrics");
	assert_does_not_say(text, "compare  ");
	mem_free(text);

	/* Each alternative has a verdict, and each section may have one. */
	b = record_new();
	record_fact_text(b, "compare", "verdict", "slower");
	record_fact_text(b, "compare", "verdict/b", "slower");
	record_fact_text(b, "compare", "verdict/c", "same");
	record_fact_text(b, "compare", "verdicts", "no verdict");
	record_table(b, "t", "Title", columns, 1);
	text = text_of(b, 80);
	assert_says(text, "\n\n  verdict b: slower\n  verdict c: same\n\nTitle");
	assert_says(text, "compare      verdicts no verdict\n");
	mem_free(text);
	b = record_new();
	record_fact_text(b, "compare", "verdict", "slower");
	record_fact_text(b, "difference", "verdict", "identical");
	text = text_of(b, 80);
	assert_says(text, "\n\n  compare verdict: slower\n  difference verdict: identical\n");
	assert_does_not_say(text, "no latency");
	mem_free(text);

	/* Without tables the members are the whole table. */
	b = record_new();
	record_metric_real(b, "recall/cat", 0.5, NULL);
	record_metric_real(b, "accuracy/overall", 0.75, NULL);
	text = text_of(b, 80);
	assert_says(text, "a measurement\n\n  accuracy  0.75\n");
	assert_says(text, "recall of cat 0.5\n");
	assert_does_not_say(text, "no latency");
	mem_free(text);

	/* With latencies both are shown, and the throughput once. */
	b = record_new();
	record_metric_real(b, "latency/median", 1e6, NULL);
	record_metric_real(b, "throughput/items", 1000, NULL);
	record_metric_real(b, "load/peak_rate", 900, NULL);
	record_table(b, "t", "Title", columns, 1);
	text = text_of(b, 80);
	assert_says(text, "\n  median 1.000 ms  (no interval)   1000 items/s\n  peak rate  900 Hz\n"
			  "\nTitle\n  no rows\n\nLatency\n");
	assert_does_not_say(text, "throughput");
	mem_free(text);
}

static void values_of_a_list_are_shown(void **state)
{
	(void)state;
	static const dck_column two[] = {{"what", "", DCK_UNIT_NONE}, {"value", "", DCK_UNIT_NONE}};
	record_builder *b = record_new();

	record_table(b, "t", "Title", two, 2);
	record_cell_text(b, "batch");
	record_cell_int(b, 4711);
	record_cell_text(b, "share");
	record_cell_real(b, 0.25);
	record_cell_text(b, "warm");
	record_cell_bool(b, true);
	record_cell_int(b, 7);
	record_cell_absent(b, "not measured");
	char *text = text_of(b, 80);
	assert_says(text, "\n  batch  4,711\n  share  0.25\n  warm   yes\n  7      not measured\n");
	mem_free(text);
}

/* An average may have a longer name than every class. */
static void names_of_averages_have_room(void **state)
{
	(void)state;
	static const dck_column five[] = {{"name", "name", DCK_UNIT_NONE},
					  {"precision", "precision", DCK_UNIT_ONE},
					  {"recall", "recall", DCK_UNIT_ONE},
					  {"f1", "f1", DCK_UNIT_ONE},
					  {"support", "support", DCK_UNIT_ONE}};
	static const char *const names[] = {"cat", "an average of all weights"};
	static const char *const tables[] = {"accuracy/classes", "accuracy/averages"};
	record_builder *b = record_new();

	for (int i = 0; i < 2; i++) {
		record_table(b, tables[i], "Title", five, 5);
		record_cell_text(b, names[i]);
		for (int k = 0; k < 3; k++)
			record_cell_real(b, 0.5);
		record_cell_int(b, 3);
	}
	char *text = text_of(b, 80);
	assert_says(text, "                      cat       0.50");
	assert_says(text, "\nan average of all weights       0.50");
	mem_free(text);
}

static void ends_of_a_range_differ(void **state)
{
	(void)state;
	static const struct {
		dck_unit unit;
		double ends[2];
		const char *texts[2];
	} all[] = {
	    {DCK_UNIT_NS, {1e6, 2e6}, {"1.00 ms", "2.00 ms"}},
	    {DCK_UNIT_NS, {1e6, 1e6}, {"1.00 ms", "1.00 ms"}},
	    {DCK_UNIT_NS, {1e6, 1.0003e6}, {"1.0000 ms", "1.0003 ms"}},
	    {DCK_UNIT_NS, {1e12, 1e12 + 1e8}, {"1000.0 s", "1000.1 s"}},
	    {DCK_UNIT_BYTE, {1048576, 1048676}, {"1.0000 MiB", "1.0001 MiB"}},
	    {DCK_UNIT_ITEM_PER_S, {9927, 9476}, {"9927 items/s", "9476 items/s"}},
	    {DCK_UNIT_ITEM_PER_S, {12345.1, 12345.4}, {"12345.1 items/s", "12345.4 items/s"}},
	    {DCK_UNIT_ITEM_PER_S, {-1.0001, -1.0002}, {"-1.0001 items/s", "-1.0002 items/s"}},
	    {DCK_UNIT_ONE, {1e-7, 1.0001e-7}, {"1.0000e-07", "1.0001e-07"}},
	};

	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
		char text[2][RECORD_RANGE_SIZE];

		record_range_text(all[i].unit, all[i].ends[0], all[i].ends[1], text);
		assert_string_equal(text[0], all[i].texts[0]);
		assert_string_equal(text[1], all[i].texts[1]);
	}
}

/* The line of a trend states both ends of its values. */
static void ends_of_a_course_differ(void **state)
{
	(void)state;
	static const dck_column some[] = {{"time", "time", DCK_UNIT_NONE},
					  {"value", "median", DCK_UNIT_NS}};
	record_builder *b = record_new();

	record_fact_bool(b, "result", "listing", true);
	record_answer(b, "a step");
	record_table(b, "history/points", "Points", some, 2);
	record_summary_columns(b, "value");
	for (int i = 0; i < 8; i++) {
		record_cell_text(b, "2026-11-21");
		record_cell_real(b, i < 4 ? 1e6 : 1.0003e6);
		record_summary_row(b);
	}
	dck_record *r = NULL;
	const dck_style style = {.width = 80, .terminal = true};
	assert_int_equal(record_finish(b, &r, NULL), DCK_OK);
	const dck_record *one = r;
	dck_buffer got = golden_styled("text", &one, 1, &style);
	assert_says(got.data, "  1.0000 ms to 1.0003 ms\n");
	dck_record_free(r);
	mem_free(got.data);
}

static uint64_t random_state = 88172645463325252u;

static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static double random_number(void)
{
	static const double all[] = {0,	     1,	   -1,	 7,	  0.1,	 17624011, 1e308, -1e308,
				     5e-324, 1e15, 1e-7, 123.456, -0.02, 9e18,	   1000};
	return all[random_next() % (sizeof all / sizeof all[0])];
}

static void random_cell(record_builder *b, bool text)
{
	static const char long_text[] = "words and words that are more than what a column holds";
	const double v = random_number();

	switch (random_next() % 5) {
	case 0:
		record_cell_absent(b, long_text + random_next() % sizeof long_text);
		break;
	case 1:
		record_cell_interval(b, v, v - fabs(random_number()), v * 1.25, 0.95);
		break;
	case 2:
		record_cell_int(b, (int64_t)random_next());
		break;
	default:
		if (text)
			record_cell_text(b, long_text + random_next() % sizeof long_text);
		else
			record_cell_real(b, v);
	}
}

/* Any content, at any width. */
static void any_table_stays_on_the_page(void **state)
{
	(void)state;
	static const unsigned widths[] = {60, 80, 120};
	for (int i = 0; i < 300; i++) {
		dck_column some[20];
		const size_t ncolumns = 1 + random_next() % 20, nrows = random_next() % 6;
		record_builder *b = record_new();
		for (size_t c = 0; c < ncolumns; c++)
			some[c] = (dck_column){
			    "key",
			    random_next() % 4 == 0 ? "a title that has a lot to say" : "title",
			    (dck_unit)(random_next() % DCK_UNIT_COUNT)};
		record_table(b, "t", "Title", some, ncolumns);
		for (size_t k = 0; k < nrows * ncolumns; k++)
			random_cell(b, some[k % ncolumns].unit == DCK_UNIT_NONE);
		const unsigned width = widths[i % 3];
		char *text = text_of(b, width);
		for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1)
			if (strcspn(line, "\n") > width)
				fail_msg("%u columns: %.*s", width, (int)strcspn(line, "\n"), line);
		mem_free(text);
	}
}

int test_report_tables(void);
int test_report_tables(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_column_has_one_unit_and_the_digits_of_its_least),
	    cmocka_unit_test(counts_have_all_digits_and_shares_are_percent),
	    cmocka_unit_test(digits_follow_the_interval),
	    cmocka_unit_test(a_ratio_is_not_cut_off),
	    cmocka_unit_test(an_interval_is_short_only_where_that_is_true),
	    cmocka_unit_test(one_reason_has_no_letter),
	    cmocka_unit_test(large_tables_say_what_is_missing),
	    cmocka_unit_test(long_texts_stand_below_their_row),
	    cmocka_unit_test(keys_and_verdict_come_first),
	    cmocka_unit_test(values_of_a_list_are_shown),
	    cmocka_unit_test(names_of_averages_have_room),
	    cmocka_unit_test(ends_of_a_range_differ),
	    cmocka_unit_test(ends_of_a_course_differ),
	    cmocka_unit_test(any_table_stays_on_the_page),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
