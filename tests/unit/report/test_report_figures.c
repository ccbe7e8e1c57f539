/* test_report_figures.c - figures of a complete record equal the expected files; with values, names
 * and row counts that no measurement has they are bounded and contain no NaN; a failed allocation
 * is an error without a leak.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fault_alloc.h"
#include "record/build.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "golden.h"
#include "deepclock/unstable.h"
#include <float.h>
#include <math.h>

/* Without string functions: AddressSanitizer checks their arguments to the end of 8 MB. */
static bool begins(const char *at, const char *text)
{
	while (*text && *at == *text)
		at++, text++;
	return !*text;
}

/* Elements are closed, attributes are quoted, and no number is NaN or infinite. */
static void is_sound(const dck_buffer *svg)
{
	const char *const last = svg->data + svg->n;
	long depth = 0;

	assert_true(begins(svg->data, "<svg "));
	for (const char *at = svg->data; (at = memchr(at, '<', (size_t)(last - at))); at++) {
		const char *end = memchr(at, '>', (size_t)(last - at));

		assert_non_null(end);
		assert_null(memchr(at + 1, '<', (size_t)(end - at - 1)));
		if (at[1] == '/')
			depth--;
		else if (end[-1] != '/')
			depth++;
		assert_true(depth > 0 || end + 2 == last);
		for (const char *v = at; v < end; v++)
			if (*v == '"' && v[-1] == '=')
				assert_false(begins(v + 1, "nan") || begins(v + 1, "-nan") ||
					     begins(v + 1, "inf") || begins(v + 1, "-inf"));
	}
	assert_int_equal(depth, 0);
}

static dck_buffer drawn(const dck_figure *f, const dck_record *r)
{
	dck_buffer svg = {0};
	dck_sink out;

	dck_sink_buffer(&out, &svg);
	f->draw(r, &out);
	assert_int_equal(dck_sink_finish(&out, NULL), DCK_OK);
	is_sound(&svg);
	return svg;
}

static void all_figures_are_as_they_were(void **state)
{
	dck_record *r = golden_record("record_figures.json");
	size_t n;
	const dck_figure *const *all = dck_figures(&n);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		char name[64];

		if (!all[i]->has(r))
			fail_msg("the record has no %s", all[i]->name);
		snprintf(name, sizeof name, "figures/%s.svg", all[i]->name);
		dck_buffer svg = drawn(all[i], r);
		golden_compare(&svg, name);
		dck_buffer_done(&svg);
	}
	dck_record_free(r);
}

/* --- values that no measurement has */

typedef struct table_kind {
	const char *name;
	size_t n;
	struct {
		const char *key;
		dck_unit unit;
	} column[6];
} table_kind;

static const table_kind kinds[] = {
    {"bench/ranking",
     4,
     {{"subject", DCK_UNIT_NONE},
      {"time", DCK_UNIT_NS},
      {"ratio", DCK_UNIT_ONE},
      {"verdict", DCK_UNIT_NONE}}},
    {"compare/alternatives",
     4,
     {{"subject", DCK_UNIT_NONE},
      {"time", DCK_UNIT_NS},
      {"ratio", DCK_UNIT_ONE},
      {"verdict", DCK_UNIT_NONE}}},
    {"pitfalls/mistakes",
     3,
     {{"mistake", DCK_UNIT_NONE}, {"factor", DCK_UNIT_ONE}, {"verdict", DCK_UNIT_NONE}}},
    {"compare/over",
     5,
     {{"value", DCK_UNIT_NONE},
      {"subject", DCK_UNIT_NONE},
      {"base_time", DCK_UNIT_NS},
      {"time", DCK_UNIT_NS},
      {"ratio", DCK_UNIT_ONE}}},
    {"load/steps",
     4,
     {{"rate", DCK_UNIT_HERTZ},
      {"served", DCK_UNIT_HERTZ},
      {"median", DCK_UNIT_NS},
      {"p99", DCK_UNIT_NS}}},
    {"throughput/points",
     4,
     {{"threads", DCK_UNIT_ONE},
      {"batch", DCK_UNIT_ONE},
      {"latency", DCK_UNIT_NS},
      {"throughput", DCK_UNIT_ITEM_PER_S}}},
    {"history/points",
     4,
     {{"value", DCK_UNIT_NS}, {"lo", DCK_UNIT_NS}, {"hi", DCK_UNIT_NS}, {"after", DCK_UNIT_NS}}},
    {"accuracy/confusion",
     3,
     {{"label", DCK_UNIT_NONE}, {"as_0", DCK_UNIT_ONE}, {"as_1", DCK_UNIT_ONE}}},
};

enum { PLAIN, ABSENT, ZERO, NEGATIVE, HUGE_NUMBERS, TINY, EQUAL, MIXED, FORMS };

static void cell_put(record_builder *b, int form, size_t row)
{
	static const double mixed[] = {DBL_MAX, -DBL_MAX, DBL_MIN, 0,	     1,
				       -1,	1e-300,	  1e300,   12345.678};
	const double i = (double)row + 1;

	switch (form) {
	case ABSENT:
		record_cell_absent(b, "it is not known");
		break;
	case HUGE_NUMBERS:
		record_cell_interval(b, DBL_MAX / i, -DBL_MAX, DBL_MAX, 0.95);
		break;
	case MIXED:
		if (row % 10 == 9)
			record_cell_absent(b, "it is not known");
		else
			record_cell_interval(b, mixed[row % 10], mixed[row % 10] - 1,
					     mixed[(row + 4) % 9], 0.95);
		break;
	default:
		record_cell_interval(b,
				     form == ZERO	? 0
				     : form == NEGATIVE ? -i
				     : form == TINY	? DBL_TRUE_MIN * i
				     : form == EQUAL	? 7
							: i,
				     0, 2 * i, 0.95);
	}
}

static dck_record *record_of(const table_kind *k, size_t rows, int form, const char *name)
{
	record_builder *b = record_new();
	dck_column columns[6] = {{0}};
	dck_record *r;
	char text[64];

	for (size_t i = 0; i < k->n; i++)
		columns[i] = (dck_column){
		    .key = k->column[i].key, .title = k->column[i].key, .unit = k->column[i].unit};
	record_table(b, k->name, name, columns, k->n);
	for (size_t i = 0; i < rows; i++)
		for (size_t c = 0; c < k->n; c++) {
			snprintf(text, sizeof text, "%zu", i + 1);
			if (k->column[c].unit != DCK_UNIT_NONE)
				cell_put(b, form, i);
			else
				record_cell_text(b, strcmp(k->column[c].key, "value") == 0 ? text
											   : name);
		}
	assert_int_equal(record_finish(b, &r, NULL), DCK_OK);
	return r;
}

/* Draws all figures; returns their number. */
static int draw_all(const dck_record *r, size_t bytes_most)
{
	size_t n;
	const dck_figure *const *all = dck_figures(&n);
	int had = 0;

	for (size_t i = 0; i < n; i++) {
		if (!all[i]->has(r))
			continue;
		dck_buffer svg = drawn(all[i], r);

		had++;
		if (svg.n > bytes_most)
			fail_msg("%s has %zu bytes", all[i]->name, svg.n);
		dck_buffer_done(&svg);
	}
	return had;
}

static void any_values(void **state)
{
	(void)state;
	for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
		for (int form = 0; form < FORMS; form++)
			for (size_t rows = 0; rows <= 20; rows += rows < 3 ? 1 : 17) {
				dck_record *r = record_of(&kinds[k], rows, form, "a & <b>");
				const int had = draw_all(r, 40000);

				if (form == PLAIN && rows > 2)
					assert_true(had > 0);
				if (rows == 0)
					assert_int_equal(had, 0);
				dck_record_free(r);
			}
}

static void any_names_and_numbers_of_rows(void **state)
{
	static char name[5001];
	static const char *const parts[] = {"x", "\xe6\x97\xa5", "<", "\x01", "\xff", "&\""};

	(void)state;
	for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++) {
		for (size_t i = 0; i < 5000; i++)
			name[i] = parts[p][i % strlen(parts[p])];
		for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
			dck_record *r = record_of(&kinds[k], 3, PLAIN, name);

			draw_all(r, 400000);
			dck_record_free(r);
		}
	}
	for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
		dck_record *r = record_of(&kinds[k], 10000, PLAIN, "name");

		draw_all(r, 8 << 20);
		dck_record_free(r);
	}
}

#define ELLIPSIS "\xe2\x80\xa6"
/* Truncated at a whole character, with an ellipsis; a name that fits is unchanged. */
static void names_are_cut(void **state)
{
	static const char *const long_name =
	    "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6"
	    "\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4"
	    "\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc";
	dck_record *r = record_of(&kinds[0], 2, PLAIN, long_name);
	size_t n;
	const dck_figure *const *all = dck_figures(&n);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		if (!all[i]->has(r))
			continue;
		dck_buffer svg = drawn(all[i], r);
		assert_non_null(strstr(svg.data, ELLIPSIS "</text>"));
		assert_null(strstr(svg.data, "\xc3" ELLIPSIS));
		dck_buffer_done(&svg);
	}
	dck_record_free(r);
	r = record_of(&kinds[0], 2, PLAIN, "threads=2");
	for (size_t i = 0; i < n; i++) {
		if (!all[i]->has(r))
			continue;
		dck_buffer svg = drawn(all[i], r);
		assert_non_null(strstr(svg.data, ">threads=2</text>"));
		dck_buffer_done(&svg);
	}
	dck_record_free(r);
}

static void every_allocation_fails_once(void **state)
{
	dck_record *r = golden_record("record_figures.json");
	size_t n;
	const dck_figure *const *all = dck_figures(&n);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		bool more = true;

		for (size_t at = 1; more; at++) {
			dck_buffer svg = {0};
			fault_alloc f;
			dck_sink out;

			fault_alloc_begin(&f, at);
			const bool has = all[i]->has(r);
			dck_sink_buffer(&out, &svg);
			if (has)
				all[i]->draw(r, &out);
			const dck_status status = dck_sink_finish(&out, NULL);
			more = f.calls >= at;
			if (!more) {
				assert_true(has);
				assert_int_equal(status, DCK_OK);
			}
			dck_buffer_done(&svg);
			assert_int_equal(f.out, 0);
			dck_set_allocator(NULL);
		}
	}
	dck_record_free(r);
}

int test_report_figures(void);
int test_report_figures(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(all_figures_are_as_they_were),  cmocka_unit_test(any_values),
	    cmocka_unit_test(any_names_and_numbers_of_rows), cmocka_unit_test(names_are_cut),
	    cmocka_unit_test(every_allocation_fails_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
