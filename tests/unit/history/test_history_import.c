/* test_history_import.c - import of files of --save and lines of export: the parts that are stored,
 * and refusals.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "history_test.h"
#include "history/store.h"
#include "history/lazy_sqlite.h"

#define A40 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

/* A file written by --save, or with another layout, is stored byte for byte. */
static void one_file_in(void **state)
{
	static const char text[] =
	    "{\n\"schema\": 1, \"deepclock\": \"0.1.0\", \"id\": \"f00d\",\n\n"
	    "\"incomplete\": false, \"facts\": [], \"series\": [], "
	    "\"metrics\": [], \"ops\": [], \"spans\": [], \"spans_lost\": 0, "
	    "\"notes\": []\n}";
	dck_history *h = history_here();
	dck_history_count n;
	dck_buffer got = {0};
	dck_err err;

	(void)state;
	scratch_text("one", text);
	if (dck_history_import(h, "one", A40, &n, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	assert_int_equal(n.added, 1);
	assert_int_equal(dck_history_get_json(h, "f00d", &got, NULL), DCK_OK);
	assert_string_equal(got.data, text);
	dck_buffer_done(&got);
	dck_history_close(h);
}

static void bad_files_in(void **state)
{
	static const struct {
		const char *text, *said;
		dck_status code;
		unsigned added;
	} cases[] = {
	    {"", "reading", DCK_E_FORMAT, 0},
	    {"\n\n", "reading", DCK_E_FORMAT, 0},
	    {"not a record", "reading", DCK_E_FORMAT, 0},
	    {"{\"schema\": 999, \"deepclock\": \"9\", \"id\": \"x\"}", "schema", DCK_E_VERSION, 0},
	};
	dck_history *h = history_here();
	dck_history_count n;
	dck_err err;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		scratch_text("bad", cases[i].text);
		assert_int_equal(dck_history_import(h, "bad", NULL, &n, &err), cases[i].code);
		assert_non_null(strstr(err.msg, cases[i].said));
		assert_true(n.added == cases[i].added);
	}
	assert_int_equal(dck_history_import(h, "/no/such", NULL, &n, &err), DCK_E_ABSENT);
	assert_int_equal(dck_history_import(h, scratch_path, NULL, &n, &err), DCK_E_IO);
	dck_history_close(h);
}

/* The lines before an invalid line are imported. */
static void lines_before_a_bad_one_stay(void **state)
{
	dck_history *h = history_here(), *other;
	dck_buffer lines = {0};
	dck_history_count n;
	dck_sink sink;
	dck_err err;

	(void)state;
	add_number(h, 1, 1, NULL, NULL);
	add_number(h, 2, 1, NULL, NULL);
	dck_sink_buffer(&sink, &lines);
	assert_int_equal(dck_history_export(h, NULL, &sink, NULL), DCK_OK);
	assert_int_equal(dck_sink_finish(&sink, NULL), DCK_OK);
	char *text = malloc(2 * lines.n + 100);
	sprintf(text, "%s\n{\"schema\": 1\n%s", lines.data, lines.data);
	scratch_text("lines", text);
	assert_int_equal(history_open_file("other.db", &other, NULL), DCK_OK);
	assert_int_equal(dck_history_import(other, "lines", NULL, &n, &err), DCK_E_FORMAT);
	assert_non_null(strstr(err.msg, "line 4"));
	assert_true(n.added == 2);
	assert_int_equal(size_of(other), 2);
	free(text);
	dck_buffer_done(&lines);
	dck_history_close(other);
	dck_history_close(h);
}

/* The text of an exported record is longer in the format of --save: too long here. */
static void a_record_that_does_not_fit(void **state)
{
	dck_history *h = history_here(), *other;
	dck_buffer lines = {0}, kept = {0};
	dck_history_health health;
	dck_history_count n;
	dck_sink sink;
	dck_err err = {0};

	(void)state;
	add_number(h, 1, 1, NULL, NULL);
	add_made(h, &(made){.id = "long", .began = BEGAN + 9 * DAY, .median = 1, .samples = 5000},
		 NULL, NULL);
	dck_sink_buffer(&sink, &lines);
	assert_int_equal(dck_history_export(h, NULL, &sink, NULL), DCK_OK);
	assert_int_equal(dck_sink_finish(&sink, NULL), DCK_OK);
	assert_int_equal(dck_history_get_json(h, "long", &kept, NULL), DCK_OK);
	assert_true(kept.n > lines.n);
	scratch_text("lines", lines.data);
	assert_int_equal(history_open_file("other.db", &other, NULL), DCK_OK);
	sqlite3_limit(other->db, SQLITE_LIMIT_LENGTH, (int)kept.n - 1);
	assert_int_equal(dck_history_import(other, "lines", NULL, &n, &err), DCK_E_LIMIT);
	assert_non_null(strstr(err.msg, "line 2"));
	assert_non_null(strstr(err.msg, "too large"));
	assert_true(n.added == 1 && n.known == 0);
	assert_int_equal(size_of(other), 1);
	assert_int_equal(dck_history_check(other, &health, &err), DCK_OK);
	dck_buffer_done(&kept);
	dck_buffer_done(&lines);
	dck_history_close(other);
	dck_history_close(h);
}

/* The stored text may have another layout than export writes. */
static void laid_out_anew(void **state)
{
	static const char text[] =
	    "{\n\n\n\"schema\": 1, \"deepclock\": \"0.1.0\", \"id\": \"f00d\"}";
	dck_history *h = history_here();
	dck_buffer lines = {0}, got = {0};
	dck_history_count n;
	dck_sink sink;
	dck_err err = {0};

	(void)state;
	scratch_text("one", text);
	assert_int_equal(dck_history_import(h, "one", NULL, &n, NULL), DCK_OK);
	dck_sink_buffer(&sink, &lines);
	assert_int_equal(dck_history_export(h, NULL, &sink, NULL), DCK_OK);
	assert_int_equal(dck_sink_finish(&sink, NULL), DCK_OK);
	scratch_text("lines", lines.data);
	if (dck_history_import(h, "lines", NULL, &n, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	assert_true(n.added == 0 && n.known == 1);
	/* The stored record is unchanged; a different one with that id is refused. */
	assert_int_equal(dck_history_get_json(h, "f00d", &got, NULL), DCK_OK);
	assert_string_equal(got.data, text);
	assert_int_equal(
	    add_made(h, &(made){.id = "f00d", .began = BEGAN, .median = 1}, NULL, &err), DCK_E_ARG);
	dck_buffer_done(&got);
	dck_buffer_done(&lines);
	dck_history_close(h);
}

/* Attempts that failed before a success are not errors. */
static void errors_of_import(void **state)
{
	dck_history *h = history_here(), *other;
	dck_buffer lines = {0}, json = {0};
	dck_history_count n;
	dck_sink sink;
	dck_err err = {0};

	(void)state;
	add_made(h, &(made){.id = "a", .began = BEGAN, .median = 1}, A40, NULL);
	dck_sink_buffer(&sink, &lines);
	assert_int_equal(dck_history_export(h, NULL, &sink, NULL), DCK_OK);
	assert_int_equal(dck_sink_finish(&sink, NULL), DCK_OK);
	scratch_text("lines", lines.data);
	assert_int_equal(dck_history_get_json(h, "a", &json, NULL), DCK_OK);
	scratch_text("one", json.data);
	assert_int_equal(history_open_file("other.db", &other, NULL), DCK_OK);
	assert_int_equal(dck_history_import(other, "one", NULL, &n, &err), DCK_OK);
	assert_int_equal(err.code, DCK_OK);
	assert_string_equal(err.msg, "");
	dck_buffer_done(&json);
	dck_buffer_done(&lines);
	dck_history_close(other);
	dck_history_close(h);
}

/* A tag that occurs twice, the first time without a number, is in the index once. */
static void a_tag_twice(void **state)
{
	static const char *const metrics[] = {
	    "{\"tag\": \"latency/p99\", \"unit\": \"ns\", \"absent\": \"too few\"},"
	    "{\"tag\": \"latency/p99\", \"unit\": \"ns\", \"value\": 5}",
	    "{\"tag\": \"latency/p99\", \"unit\": \"ns\", \"value\": 4},"
	    "{\"tag\": \"runs/count\", \"unit\": \"1\", \"value\": 7},"
	    "{\"tag\": \"latency/p99\", \"unit\": \"ns\", \"value\": 5}",
	};
	dck_history *h = history_here();
	dck_history_health health;
	dck_history_count n;
	dck_err err = {0};
	char text[900];

	(void)state;
	for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; i++) {
		snprintf(
		    text, sizeof text,
		    "{\"schema\": 1, \"deepclock\": \"0.1.0\", \"id\": \"%zu\", \"metrics\": [%s]}",
		    i, metrics[i]);
		scratch_text("one", text);
		if (dck_history_import(h, "one", NULL, &n, &err) != DCK_OK)
			fail_msg("%s", err.msg);
	}
	if (dck_history_check(h, &health, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	assert_int_equal(health.records, 2);
	dck_history_close(h);
}

int test_history_import(void);
int test_history_import(void)
{
	const struct CMUnitTest tests[] = {
	    SCRATCH_TEST(one_file_in),
	    SCRATCH_TEST(bad_files_in),
	    SCRATCH_TEST(lines_before_a_bad_one_stay),
	    SCRATCH_TEST(a_record_that_does_not_fit),
	    SCRATCH_TEST(laid_out_anew),
	    SCRATCH_TEST(errors_of_import),
	    SCRATCH_TEST(a_tag_twice),
	};

	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
