/* test_history.c - adding records, finding them, and queries over many records.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "history_test.h"
#include "deepclock/unstable.h"
#include "fault_alloc.h"
#include "history/store.h"
#include "history/lazy_sqlite.h"
#include <math.h>
#include <sys/stat.h>

#define A40 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B40 "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

/* --- add and find */

static void bytes_come_back(void **state)
{
	dck_history *h = history_here();
	dck_record *r = record_of(&(made){.id = "abc123", .began = BEGAN, .median = 5}), *back;
	dck_buffer want = {0}, got = {0};
	dck_sink sink;
	bool is_new = false;

	(void)state;
	assert_int_equal(dck_history_add(h, r, A40, &is_new, NULL), DCK_OK);
	assert_true(is_new);
	dck_sink_buffer(&sink, &want);
	record_json_write(r, &sink);
	assert_int_equal(dck_sink_finish(&sink, NULL), DCK_OK);
	assert_int_equal(dck_history_get_json(h, "abc123", &got, NULL), DCK_OK);
	assert_int_equal(got.n, want.n);
	assert_memory_equal(got.data, want.data, want.n);
	assert_int_equal(dck_history_get(h, "abc123", &back, NULL), DCK_OK);
	assert_true(dck_record_value(back, "latency/median") == 5);
	dck_record_free(back);
	/* An equal record is already known; a different one with that id is refused. */
	assert_int_equal(dck_history_add(h, r, NULL, &is_new, NULL), DCK_OK);
	assert_false(is_new);
	assert_int_equal(
	    add_made(h, &(made){.id = "abc123", .began = BEGAN, .median = 6}, NULL, NULL),
	    DCK_E_ARG);
	assert_int_equal(size_of(h), 1);
	dck_record_free(r);
	dck_buffer_done(&want);
	dck_buffer_done(&got);
	dck_history_close(h);
	/* Another connection reads it; closing leaves no other file. */
	h = history_here();
	assert_int_equal(size_of(h), 1);
	dck_history_close(h);
	char log[sizeof file + 8];
	snprintf(log, sizeof log, "%s-wal", file);
	assert_false(os_file_exists(log));
	dck_history_close(NULL);
}

static void ids_that_cannot_be(void **state)
{
	dck_history *h = history_here();
	char longest[300];

	(void)state;
	memset(longest, 'a', sizeof longest - 1);
	longest[sizeof longest - 1] = '\0';
	assert_int_equal(add_made(h, &(made){.id = "", .median = 1}, NULL, NULL), DCK_E_ARG);
	assert_int_equal(add_made(h, &(made){.id = longest, .median = 1}, NULL, NULL), DCK_E_ARG);
	assert_int_equal(add_made(h, &(made){.id = "a\x1b[1m", .median = 1}, NULL, NULL),
			 DCK_E_ARG);
	assert_int_equal(add_made(h, &(made){.id = "a", .median = 1}, "a\nb", NULL), DCK_E_ARG);
	assert_int_equal(add_made(h, &(made){.id = "a", .median = 1}, "", NULL), DCK_E_ARG);
	assert_int_equal(add_made(h, &(made){.id = "a", .median = 1}, longest, NULL), DCK_E_ARG);
	assert_int_equal(size_of(h), 0);
	assert_int_equal(add_made(h, &(made){.id = "a", .median = 1}, "v1.2-dirty", NULL), DCK_OK);
	dck_history_close(h);
}

static void names_of_records(void **state)
{
	dck_history *h = history_here();
	char id[DCK_HISTORY_ID_SIZE];
	dck_err err;

	(void)state;
	assert_int_equal(dck_history_find(h, "last", id, &err), DCK_E_ABSENT);
	/* Adds records in another order than their start times. */
	add_made(h, &(made){.id = "ab2", .began = BEGAN + 2, .median = 2}, NULL, NULL);
	add_made(h, &(made){.id = "ab3", .began = BEGAN + 3, .median = 3}, NULL, NULL);
	add_made(h, &(made){.id = "ab", .began = BEGAN + 1, .median = 1}, NULL, NULL);
	add_made(h, &(made){.id = "%_?", .began = BEGAN, .median = 1}, NULL, NULL);
	assert_int_equal(size_of(h), 3);
	assert_int_equal(dck_history_find(h, "last", id, NULL), DCK_OK);
	assert_string_equal(id, "ab3");
	assert_int_equal(dck_history_find(h, "last~2", id, NULL), DCK_OK);
	assert_string_equal(id, "ab");
	assert_int_equal(dck_history_find(h, "last~3", id, &err), DCK_E_ABSENT);
	assert_int_equal(dck_history_find(h, "last~99999999999999999999", id, &err), DCK_E_ABSENT);
	assert_int_equal(dck_history_find(h, "a", id, &err), DCK_E_ARG);
	assert_non_null(strstr(err.msg, "several"));
	assert_int_equal(dck_history_find(h, "ab", id, NULL),
			 DCK_OK); /* a whole id is found, though others begin with it */
	assert_string_equal(id, "ab");
	assert_int_equal(dck_history_find(h, "ab3", id, NULL), DCK_OK);
	assert_int_equal(dck_history_find(h, "%", id, NULL), DCK_E_ABSENT);
	assert_int_equal(dck_history_find(h, "' OR 1=1 --", id, NULL), DCK_E_ABSENT);
	assert_int_equal(dck_history_find(h, "", id, NULL), DCK_E_ARG);
	dck_history_close(h);
}

typedef struct seen {
	size_t n, most;
	char ids[400];
	dck_history_entry last;
} seen;

static bool see(void *self, const dck_history_entry *e)
{
	seen *s = self;

	s->last = *e;
	strcat(strcat(s->ids, e->id), " ");
	return ++s->n != s->most;
}

static const char *ids(dck_history *h, const dck_history_filter *f, seen *s)
{
	*s = (seen){0};
	assert_int_equal(dck_history_list(h, f, NULL, see, s, NULL), DCK_OK);
	return s->ids;
}

static void lists(void **state)
{
	dck_history *h = history_here();
	seen s;
	dck_err err;
	uint64_t n;

	(void)state;
	assert_string_equal(ids(h, NULL, &s), "");
	add_made(h, &(made){.id = "a", .began = BEGAN, .median = 1, .subject = "zoo:x"}, A40, NULL);
	add_made(h,
		 &(made){.id = "b",
			 .began = BEGAN + DAY,
			 .median = 2,
			 .subject = "zoo:y",
			 .command = "deepclock profile zoo:y"},
		 B40, NULL);
	add_made(h,
		 &(made){.id = "c",
			 .began = BEGAN + 2 * DAY,
			 .median = 3,
			 .subject = "m[1].onnx",
			 .command = "something of mine",
			 .incomplete = true},
		 NULL, NULL);
	assert_string_equal(ids(h, NULL, &s), "c b a ");
	assert_string_equal(ids(h, &(dck_history_filter){.limit = 2}, &s), "c b ");
	assert_string_equal(ids(h, &(dck_history_filter){.subject = "zoo:x"}, &s), "a ");
	assert_string_equal(ids(h, &(dck_history_filter){.subject = "zoo:*"}, &s), "b a ");
	assert_string_equal(ids(h, &(dck_history_filter){.subject = "m[1].onnx"}, &s), "c ");
	assert_string_equal(ids(h, &(dck_history_filter){.command = "profile"}, &s), "b ");
	assert_string_equal(ids(h, &(dck_history_filter){.commit = "aaaa"}, &s), "a ");
	assert_string_equal(ids(h, &(dck_history_filter){.since = "2026-09-22"}, &s), "c b ");
	assert_string_equal(ids(h, &(dck_history_filter){.until = "2026-09-22T13:33:20Z"}, &s),
			    "a ");
	assert_string_equal(ids(h, &(dck_history_filter){.since = "100000d"}, &s), "c b a ");
	assert_string_equal(ids(h, &(dck_history_filter){.until = "99999999999w"}, &s), "");
	assert_int_equal(
	    dck_history_list(h, &(dck_history_filter){.since = "soon"}, NULL, see, &s, &err),
	    DCK_E_ARG);
	assert_int_equal(dck_history_size(h, &(dck_history_filter){.subject = "*"}, &n, NULL),
			 DCK_OK);
	assert_int_equal(n, 3);
	s = (seen){.most = 1};
	assert_int_equal(dck_history_list(h, NULL, "runs/count", see, &s, NULL), DCK_OK);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.last.value.kind, DCK_VALUE_INT);
	assert_int_equal(s.last.value.as.i, 100);
	assert_true(s.last.level == 0);
	s = (seen){0};
	assert_int_equal(dck_history_list(h, NULL, "latency/p99", see, &s, NULL), DCK_OK);
	assert_int_equal(s.last.value.kind, DCK_VALUE_ABSENT);
	dck_history_close(h);
}

static bool see_all(void *self, const dck_history_entry *e)
{
	(void)self;
	assert_string_equal(e->id, "b");
	assert_string_equal(e->command, "deepclock bench zoo:y");
	assert_string_equal(e->verb, "bench");
	assert_string_equal(e->subject, "zoo:y");
	assert_string_equal(e->engine, "ort");
	assert_string_equal(e->cpu, "a processor");
	assert_string_equal(e->commit, B40);
	assert_int_equal(strlen(e->machine), 16);
	assert_int_equal(strlen(e->method), 16);
	assert_false(e->incomplete);
	assert_true(e->bytes > 100);
	assert_true(e->at_unix_ns == BEGAN);
	assert_true(e->value.as.r == 2 && e->lo == 1.98 && e->hi == 2.02 && e->level == 0.95);
	assert_int_equal(e->unit, DCK_UNIT_NS);
	return true;
}

static int add_at_rows(unsigned what, void *self, void *statement, void *text)
{
	dck_history **other = self;

	(void)what;
	(void)statement;
	if (*other && strncmp(text, "SELECT id, at", 13) == 0) {
		assert_int_equal(add_number(*other, 9, 9, NULL, NULL), DCK_OK);
		*other = NULL;
	}
	return 0;
}

/* Another connection adds a record between the statements of a list. */
static void a_list_is_of_one_moment(void **state)
{
	dck_history *h = history_here(), *other = history_here(), *adds = other;
	dck_record *r;
	dck_err err = {0};

	(void)state;
	add_number(h, 1, 1, NULL, NULL);
	add_number(h, 2, 2, NULL, NULL);
	assert_int_equal(sqlite3_trace_v2(h->db, SQLITE_TRACE_STMT, add_at_rows, &adds), SQLITE_OK);
	if (dck_history_list_record(h, NULL, NULL, "deepclock history list", &r, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	assert_null(adds);
	assert_int_equal(dck_record_fact(r, "history", "records")->value.as.i, 2);
	assert_int_equal(dck_record_table(r, "history/records")->nrows, 2);
	dck_record_free(r);
	/* The list has ended: the write continues, and the next list has the record. */
	assert_int_equal(size_of(h), 3);
	add_number(h, 3, 3, NULL, NULL);
	assert_int_equal(size_of(other), 4);
	dck_history_close(other);
	dck_history_close(h);
}

static void an_entry(void **state)
{
	dck_history *h = history_here();

	(void)state;
	add_made(h,
		 &(made){.id = "b",
			 .began = BEGAN,
			 .median = 2,
			 .subject = "zoo:y",
			 .command = "deepclock bench zoo:y"},
		 B40, NULL);
	assert_int_equal(dck_history_list(h, NULL, NULL, see_all, NULL, NULL), DCK_OK);
	dck_history_close(h);
}

static void baselines(void **state)
{
	dck_history *h = history_here();
	const made now = {.id = "now", .began = BEGAN + 10, .median = 9, .version = "2"};
	dck_record *r = record_of(&now), *base;
	dck_err err;

	(void)state;
	assert_int_equal(dck_history_baseline(h, r, &base, &err), DCK_E_ABSENT);
	add_made(h, &(made){.id = "old", .began = BEGAN + 1, .median = 1}, NULL, NULL);
	/* A record of another engine version is comparable; the others here are not. */
	add_made(h, &(made){.id = "right", .began = BEGAN + 2, .median = 1, .version = "1"}, NULL,
		 NULL);
	add_made(h, &(made){.id = "part", .began = BEGAN + 3, .median = 1, .incomplete = true},
		 NULL, NULL);
	add_made(h, &(made){.id = "engine", .began = BEGAN + 4, .median = 1, .engine = "null"},
		 NULL, NULL);
	add_made(h, &(made){.id = "cpu", .began = BEGAN + 5, .median = 1, .cpu = "other"}, NULL,
		 NULL);
	add_made(h, &(made){.id = "subject", .began = BEGAN + 6, .median = 1, .subject = "zoo:b"},
		 NULL, NULL);
	add_made(h,
		 &(made){.id = "verb",
			 .began = BEGAN + 7,
			 .median = 1,
			 .command = "deepclock profile zoo:a"},
		 NULL, NULL);
	assert_int_equal(dck_history_add(h, r, NULL, NULL, NULL), DCK_OK);
	add_made(h, &(made){.id = "later", .began = BEGAN + 11, .median = 1}, NULL, NULL);
	assert_int_equal(dck_history_baseline(h, r, &base, &err), DCK_OK);
	assert_string_equal(base->id, "right");
	dck_record_free(base);
	dck_record_free(r);
	dck_history_close(h);
}

/* Earlier starts of the same subject: no other engine, but also another version, which may be the
 * cause of the slowdown; of 10, 12 and 11 the middle one, between the others in 75 %. */
static void starts(void **state)
{
	dck_history *h = history_here();
	dck_record *r = record_of(
		       &(made){.seed = 1, .id = "now", .began = BEGAN + 10, .median = 10}),
		   *all;
	dck_err err;

	(void)state;
	assert_int_equal(dck_history_starts(h, r, &all, &err), DCK_E_ABSENT);
	add_made(h, &(made){.seed = 1, .id = "a", .began = BEGAN + 1, .median = 12}, NULL, NULL);
	add_made(h, &(made){.id = "b", .began = BEGAN + 2, .median = 11, .seed = 7}, NULL, NULL);
	add_made(h,
		 &(made){.seed = 1, .id = "cpu", .began = BEGAN + 3, .median = 1, .cpu = "other"},
		 NULL, NULL);
	add_made(
	    h, &(made){.seed = 1, .id = "version", .began = BEGAN + 4, .median = 1, .version = "2"},
	    NULL, NULL);
	add_made(
	    h,
	    &(made){.seed = 1, .id = "part", .began = BEGAN + 5, .median = 1, .incomplete = true},
	    NULL, NULL);
	add_made(h, &(made){.seed = 1, .id = "later", .began = BEGAN + 11, .median = 1}, NULL,
		 NULL);
	assert_int_equal(dck_history_starts(h, r, &all, &err), DCK_OK);
	assert_string_equal(all->id, r->id);
	assert_string_equal(all->command, r->command);
	assert_true(all->began_unix_ns == r->began_unix_ns);
	assert_int_equal(dck_record_fact(all, "method", "starts")->value.as.i, 3);
	const dck_metric *m = dck_record_metric(all, "latency/starts");
	assert_true(fabs(m->value.as.r - 11) < 1e-12);
	assert_true(m->lo == 10 && m->hi == 12 && m->level == 0.75);
	assert_true(dck_record_value(all, "latency/median") == 10);
	/* It is below both earlier ones. */
	assert_int_equal(dck_record_fact(all, "history", "earlier")->value.as.i, 2);
	assert_true(dck_record_fact(all, "history", "earlier_least")->value.as.r == 11);
	assert_true(dck_record_fact(all, "history", "earlier_greatest")->value.as.r == 12);
	assert_int_equal(all->nseries, r->nseries);
	dck_record_free(all);
	dck_record_free(r);
	r = record_of(&(made){
	    .seed = 1, .id = "half", .began = BEGAN + 10, .median = 10, .incomplete = true});
	assert_int_equal(dck_history_starts(h, r, &all, &err), DCK_E_ABSENT);
	dck_record_free(r);
	dck_history_close(h);
}

/* --- trend */

static void trends(void **state)
{
	dck_history *h = history_here();
	dck_history_trend_config c;
	dck_history_trend *t;

	(void)state;
	dck_history_trend_config_init(&c);
	for (int i = 0; i < 24; i++)
		add_number(h, i, (i < 12 ? 100 : 110) + i * 5 % 12 / 10.0, NULL, NULL);
	add_made(h, &(made){.id = "other", .began = BEGAN - 1, .median = 1, .cpu = "other"}, NULL,
		 NULL);
	add_made(h, &(made){.id = "part", .began = BEGAN - 1, .median = 1, .incomplete = true},
		 NULL, NULL);
	assert_int_equal(dck_history_trend_get(h, NULL, &c, &t, NULL), DCK_OK);
	assert_int_equal(t->n, 24);
	assert_string_equal(t->metric.tag, "latency/median");
	assert_int_equal(t->metric.better, DCK_BETTER_LOWER);
	assert_string_equal(t->subject, "zoo:a");
	assert_true(t->points[0].at_unix_ns == BEGAN && t->points[0].value == 100);
	assert_true(t->points[0].level == 0.95 && t->points[0].records == 1);
	assert_int_equal(t->nchanges, 1);
	assert_int_equal(t->changes[0].at, 12);
	assert_true(t->changes[0].p == 1.0 / 2000);
	assert_true(fabs(t->changes[0].before - 100.55) < 1e-9);
	assert_null(t->changes_absent);
	assert_int_equal(t->incomplete, 1);
	assert_int_equal(t->other, 1);
	dck_history_trend_free(t);
	c.min_change = 0.2;
	assert_int_equal(dck_history_trend_get(h, NULL, &c, &t, NULL), DCK_OK);
	assert_int_equal(t->nchanges, 0);
	dck_history_trend_free(t);
	c.mixed = true;
	assert_int_equal(
	    dck_history_trend_get(h, &(dck_history_filter){.until = "2026-09-23"}, &c, &t, NULL),
	    DCK_OK);
	assert_int_equal(t->n, 3); /* one of the other machine, two of this */
	assert_non_null(t->changes_absent);
	dck_history_trend_free(t);
	dck_history_trend_free(NULL);
	dck_history_close(h);
}

/* Records that differ in the seed alone are comparable, and so they form one trend. */
static void trends_over_seeds(void **state)
{
	dck_history *h = history_here();
	dck_history_trend_config c;
	dck_history_trend *t;
	dck_record *now, *base;
	char id[16];

	(void)state;
	for (int i = 1; i <= 10; i++) {
		snprintf(id, sizeof id, "seed%d", i);
		add_made(h, &(made){.id = id, .began = BEGAN + i, .median = 1, .seed = i}, NULL,
			 NULL);
	}
	dck_history_trend_config_init(&c);
	assert_int_equal(dck_history_trend_get(h, NULL, &c, &t, NULL), DCK_OK);
	assert_int_equal(t->n, 10);
	assert_int_equal(t->other, 0);
	dck_history_trend_free(t);
	now = record_of(&(made){.id = "now", .began = BEGAN + 99, .median = 1, .seed = 77});
	assert_int_equal(dck_history_baseline(h, now, &base, NULL), DCK_OK);
	assert_string_equal(base->id, "seed10");
	dck_record_free(base);
	dck_record_free(now);
	dck_history_close(h);
}

/* The points of a commit or of a day are means with Student's t intervals. */
static void trends_by(void **state)
{
	dck_history *h = history_here();
	dck_history_trend_config c;
	dck_history_trend *t;
	/* commits A, B, A again, one without a commit, two of them on one day */
	static const struct {
		const char *id, *commit;
		int64_t at;
		double value;
	} rows[] = {{"1", A40, BEGAN, 10},
		    {"2", B40, BEGAN + DAY, 20},
		    {"3", A40, BEGAN + 2 * DAY, 14},
		    {"4", NULL, BEGAN + 3 * DAY, 30},
		    {"5", NULL, BEGAN + 3 * DAY + 1, 34}};

	(void)state;
	dck_history_trend_config_init(&c);
	for (size_t i = 0; i < 5; i++)
		add_made(h, &(made){.id = rows[i].id, .began = rows[i].at, .median = rows[i].value},
			 rows[i].commit, NULL);
	c.by = DCK_HISTORY_BY_COMMIT;
	assert_int_equal(dck_history_trend_get(h, NULL, &c, &t, NULL), DCK_OK);
	assert_int_equal(t->n, 4);
	assert_string_equal(t->points[0].commit, A40);
	assert_int_equal(t->points[0].records, 2);
	assert_string_equal(t->points[0].id, "3");
	assert_true(t->points[0].value == 12);
	/* t of 0.975 with one degree of freedom, 12.7062, times 2 (standard error) */
	assert_true(fabs(t->points[0].hi - (12 + 2 * 12.706204736)) < 1e-6);
	assert_true(t->points[1].value == 20 && t->points[1].hi == 20 * 1.01);
	assert_null(t->points[2].commit);
	assert_true(t->points[2].value == 30 && t->points[3].value == 34);
	dck_history_trend_free(t);
	c.by = DCK_HISTORY_BY_DAY;
	assert_int_equal(dck_history_trend_get(h, NULL, &c, &t, NULL), DCK_OK);
	assert_int_equal(t->n, 4);
	assert_true(t->points[3].value == 32 && t->points[3].records == 2);
	dck_history_trend_free(t);
	/* The limit is one of points, each with all of its records. */
	assert_int_equal(dck_history_trend_get(h, &(dck_history_filter){.limit = 2}, &c, &t, NULL),
			 DCK_OK);
	assert_int_equal(t->n, 2);
	assert_true(t->points[0].value == 14 && t->points[1].value == 32);
	dck_history_trend_free(t);
	dck_history_close(h);
}

static void trends_of_nothing(void **state)
{
	dck_history *h = history_here();
	dck_history_trend_config c;
	dck_history_trend *t;
	dck_err err;

	(void)state;
	dck_history_trend_config_init(&c);
	assert_int_equal(dck_history_trend_get(h, NULL, &c, &t, &err), DCK_E_ABSENT);
	add_number(h, 1, 5, NULL, NULL);
	c.metric = "latency/medain";
	assert_int_equal(dck_history_trend_get(h, NULL, &c, &t, &err), DCK_E_ABSENT);
	assert_non_null(strstr(err.msg, "did you mean 'latency/median'"));
	c.metric = NULL;
	assert_int_equal(
	    dck_history_trend_get(h, &(dck_history_filter){.subject = "zoo:b"}, &c, &t, &err),
	    DCK_E_ABSENT);
	/* A metric unknown to this version is shown unchanged. */
	c.metric = "runs/count";
	assert_int_equal(dck_history_trend_get(h, NULL, &c, &t, &err), DCK_OK);
	assert_true(t->n == 1 && t->points[0].value == 100);
	dck_history_trend_free(t);
	dck_history_close(h);
}

/* --- export and import */

static void all_out_and_in(void **state)
{
	dck_history *h = history_here(), *other;
	dck_history_count n;
	dck_buffer lines = {0}, a = {0}, b = {0};
	dck_sink sink;
	dck_err err;

	(void)state;
	for (int i = 0; i < 250; i++)
		add_number(h, i, i + 1, i % 2 ? A40 : NULL, NULL);
	dck_sink_buffer(&sink, &lines);
	assert_int_equal(dck_history_export(h, NULL, &sink, NULL), DCK_OK);
	assert_int_equal(dck_sink_finish(&sink, NULL), DCK_OK);
	scratch_text("lines", lines.data);
	assert_int_equal(history_open_file("other.db", &other, NULL), DCK_OK);
	assert_int_equal(dck_history_import(other, "lines", NULL, &n, &err), DCK_OK);
	assert_true(n.added == 250 && n.known == 0);
	assert_int_equal(dck_history_import(other, "lines", NULL, &n, &err), DCK_OK);
	assert_true(n.added == 0 && n.known == 250);
	/* Equal byte for byte, including the commit. */
	assert_int_equal(dck_history_get_json(h, "001230123456789abcdef0123456", &a, NULL), DCK_OK);
	assert_int_equal(dck_history_get_json(other, "001230123456789abcdef0123456", &b, NULL),
			 DCK_OK);
	assert_string_equal(a.data, b.data);
	seen s = {.most = 1};
	assert_int_equal(
	    dck_history_list(other, &(dck_history_filter){.commit = A40}, NULL, see, &s, NULL),
	    DCK_OK);
	assert_int_equal(s.n, 1);
	dck_buffer_done(&a);
	dck_buffer_done(&b);
	dck_buffer_done(&lines);
	dck_history_close(other);
	dck_history_close(h);
}

static dck_status full_sink(void *self, const void *bytes, size_t n, dck_err *err)
{
	(void)self;
	(void)bytes;
	(void)n;
	(void)err;
	return DCK_E_IO;
}

static void csv_and_a_full_sink(void **state)
{
	dck_history *h = history_here();
	dck_buffer csv = {0};
	dck_sink sink;

	(void)state;
	add_made(h, &(made){.id = "a", .began = BEGAN, .median = 2, .subject = "x,\"y\""}, A40,
		 NULL);
	dck_sink_buffer(&sink, &csv);
	assert_int_equal(dck_history_export_csv(h, NULL, &sink, NULL), DCK_OK);
	assert_int_equal(dck_sink_finish(&sink, NULL), DCK_OK);
	assert_non_null(strstr(csv.data, "\na,2026-09-21T14:13:20Z,bench,\"x,\"\"y\"\"\",ort,"));
	assert_non_null(strstr(csv.data, "," A40 ",false,latency/median,2,1.98,2.02,0.95,ns\n"));
	assert_non_null(strstr(csv.data, ",false,runs/count,100,,,,1\n"));
	assert_null(strstr(csv.data, "p99")); /* absent metrics are left out */
	dck_buffer_done(&csv);
	for (int i = 0; i < 100; i++)
		add_number(h, i, 1, NULL, NULL);
	dck_sink_custom(&sink, full_sink, NULL);
	assert_int_equal(dck_history_export(h, NULL, &sink, NULL), DCK_OK);
	assert_int_equal(dck_sink_finish(&sink, NULL), DCK_E_IO);
	dck_history_close(h);
}

/* --- maintenance */

static void removing(void **state)
{
	dck_history *h = history_here();
	const char *const some[] = {"a", "c", "a"}, *const wrong[] = {"b", "none"};
	dck_history_pruned n = {.kept = 7};
	seen s;
	dck_err err;

	(void)state;
	for (int i = 0; i < 4; i++) {
		char id[2] = {(char)('a' + i), '\0'};

		add_made(h, &(made){.id = id, .began = BEGAN + i, .median = 1}, NULL, NULL);
	}
	assert_int_equal(dck_history_remove(h, wrong, 2, &n, &err), DCK_E_ABSENT);
	assert_non_null(strstr(err.msg, "has no record none"));
	assert_true(n.kept == 7);
	assert_string_equal(ids(h, NULL, &s), "d c b a ");
	assert_int_equal(dck_history_remove(h, some, 3, &n, NULL), DCK_OK);
	assert_true(n.removed == 2 && n.kept == 2);
	assert_string_equal(ids(h, NULL, &s), "d b ");
	dck_history_close(h);
}

static void pruning(void **state)
{
	dck_history *h = history_here();
	dck_history_prune_config c = {.keep = 3};
	dck_history_pruned n;
	seen s;
	dck_err err;

	(void)state;
	for (int i = 0; i < 5; i++) {
		char id[2] = {(char)('a' + i), '\0'}, other[3] = {'x', (char)('a' + i), '\0'};

		add_made(h, &(made){.id = id, .began = BEGAN + i, .median = 1, .samples = 5000},
			 NULL, NULL);
		add_made(h,
			 &(made){.id = other, .began = BEGAN + i, .median = 1, .subject = "zoo:b"},
			 NULL, NULL);
	}
	assert_int_equal(dck_history_prune(h, NULL, &(dck_history_prune_config){0}, &n, &err),
			 DCK_E_ARG);
	c.dry_run = true;
	assert_int_equal(dck_history_prune(h, NULL, &c, &n, NULL), DCK_OK);
	assert_true(n.removed == 4 && n.kept == 6 && n.removed_bytes > 100000);
	assert_int_equal(size_of(h), 10);
	c.dry_run = false;
	assert_int_equal(dck_history_prune(h, &(dck_history_filter){.limit = 1}, &c, &n, &err),
			 DCK_E_ARG);
	assert_int_equal(
	    dck_history_prune(h, &(dck_history_filter){.subject = "zoo:b"}, &c, &n, NULL), DCK_OK);
	assert_true(n.removed == 2 && n.kept == 8);
	assert_string_equal(ids(h, &(dck_history_filter){.subject = "zoo:b"}, &s), "xe xd xc ");
	c = (dck_history_prune_config){.older_than = "2026-09-22"};
	const char *before = ids(h, NULL, &s);
	assert_int_equal(strlen(before), 2 * 5 + 3 * 3);
	assert_int_equal(
	    dck_history_prune(h, &(dck_history_filter){.subject = "zoo:a"}, &c, &n, NULL), DCK_OK);
	assert_true(n.removed == 5 && n.kept == 3);
	dck_history_health health;
	assert_int_equal(dck_history_check(h, &health, NULL), DCK_OK);
	assert_int_equal(health.records, 3);
	assert_true(health.bytes < 200000); /* the space is freed */
	/* What --keep retains is removed at no age. */
	c = (dck_history_prune_config){.older_than = "1d", .keep = 2};
	assert_int_equal(dck_history_prune(h, NULL, &c, &n, NULL), DCK_OK);
	assert_true(n.removed == 1 && n.kept == 2);
	dck_history_close(h);
}

/* --- paths */

static void the_place(void **state)
{
	char path[200];
	dck_err err;

	(void)state;
	setenv("DEEPCLOCK_DB", "here.db", 1);
	assert_int_equal(dck_history_path(path, sizeof path, NULL), DCK_OK);
	assert_string_equal(path, "here.db");
	setenv("DEEPCLOCK_DB", "", 1);
	setenv("XDG_DATA_HOME", "/data", 1);
	assert_int_equal(dck_history_path(path, sizeof path, NULL), DCK_OK);
	assert_string_equal(path, "/data/deepclock/history.db");
	setenv("XDG_DATA_HOME", "relative", 1);
	setenv("HOME", "/mine", 1);
	assert_int_equal(dck_history_path(path, sizeof path, NULL), DCK_OK);
	assert_string_equal(path, "/mine/.local/share/deepclock/history.db");
	assert_int_equal(dck_history_path(path, 10, &err), DCK_E_LIMIT);
	unsetenv("HOME");
	assert_int_equal(dck_history_path(path, sizeof path, &err), DCK_E_ABSENT);
	unsetenv("XDG_DATA_HOME");
	unsetenv("DEEPCLOCK_DB");
}

static void directories_are_made(void **state)
{
	char path[PATH_MAX + 20];
	dck_history *h;
	dck_history_config c;
	dck_err err;

	(void)state;
	snprintf(path, sizeof path, "%s/a/b/history.db", scratch_path);
	dck_history_config_init(&c);
	c.path = path;
	c.existing = true;
	assert_int_equal(dck_history_open(&c, &h, &err), DCK_E_ABSENT);
	assert_false(os_file_exists(path));
	assert_int_equal(history_open_file(path, &h, &err), DCK_OK);
	assert_string_equal(dck_history_file(h), path);
	dck_history_close(h);
	assert_true(os_file_exists(path));
	/* Names that have a special meaning in SQLite. */
	assert_int_equal(history_open_file(":memory:", &h, &err), DCK_OK);
	dck_history_close(h);
	assert_true(os_file_exists("./:memory:"));
	assert_int_equal(history_open_file("file:x?mode=ro", &h, &err), DCK_OK);
	dck_history_close(h);
	assert_true(os_file_exists("./file:x?mode=ro"));
	assert_int_equal(history_open_file("", &h, &err), DCK_E_ARG);
	assert_int_equal(history_open_file("a", &h, &err), DCK_E_IO);
	assert_non_null(strstr(err.msg, "a directory"));
	assert_int_equal(history_open_file("/dev/null", &h, &err), DCK_E_IO);
	assert_int_equal(history_open_file("a/b/history.db/x", &h, &err), DCK_E_IO);
	assert_int_equal(history_open_file("/proc/none/x.db", &h, &err), DCK_E_IO);
}

static void commits_of_git(void **state)
{
	char text[DCK_COMMIT_SIZE], path[PATH_MAX + 10];

	(void)state;
	assert_null(dck_history_commit(scratch_path, text));
	mkdir(".git", 0700);
	assert_null(dck_history_commit(scratch_path, text));
	scratch_text(".git/HEAD", A40 "\n");
	assert_string_equal(dck_history_commit(scratch_path, text), A40);
	scratch_text(".git/HEAD", "ref: refs/heads/main\n");
	assert_null(dck_history_commit(scratch_path, text)); /* no commit yet */
	scratch_text(".git/packed-refs", "# pack-refs with: peeled\n" A40 " refs/heads/main2\n" B40
					 " refs/heads/main\n^" A40 "\n");
	assert_string_equal(dck_history_commit(scratch_path, text), B40);
	scratch_text(".git/refs/heads/main", A40);
	assert_string_equal(dck_history_commit(scratch_path, text), A40);
	/* From a subdirectory; from a work tree, which shares references. */
	mkdir("sub", 0700);
	mkdir("sub/deep", 0700);
	snprintf(path, sizeof path, "%s/sub/deep", scratch_path);
	assert_string_equal(dck_history_commit(path, text), A40);
	assert_int_equal(chdir(path), 0);
	assert_string_equal(dck_history_commit(".", text), A40);
	assert_int_equal(chdir(scratch_path), 0);
	scratch_text("sub/.git", "gitdir: ../.git/worktrees/sub\n");
	scratch_text(".git/worktrees/sub/HEAD", "ref: refs/heads/main\n");
	scratch_text(".git/worktrees/sub/commondir", "../..\n");
	scratch_text(".git/refs/heads/main", B40 "\n");
	assert_string_equal(dck_history_commit(path, text), B40);
	/* Not a repository. */
	scratch_text(".git/HEAD", "ref: ../../secret\n");
	assert_null(dck_history_commit(scratch_path, text));
	scratch_text(".git/HEAD", "ref: refs/../../secret\n");
	assert_null(dck_history_commit(scratch_path, text));
	scratch_text(".git/HEAD", "");
	assert_null(dck_history_commit(scratch_path, text));
	scratch_text(".git/HEAD", "zzzzaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n");
	assert_null(dck_history_commit(scratch_path, text));
	assert_null(dck_history_commit("/no/such/folder", text));
}

/* --- out of memory: an error, no partial change, no loss */

static dck_status out_and_in(dck_history *h, const char *lines, dck_err *err)
{
	dck_history_count n;
	dck_buffer out = {0};
	dck_sink sink;
	dck_status status;

	dck_sink_buffer(&sink, &out);
	status = dck_history_export(h, NULL, &sink, err);
	if (status == DCK_OK)
		status = dck_sink_finish(&sink, err);
	dck_buffer_done(&out);
	if (status == DCK_OK)
		status = dck_history_import(h, lines, NULL, &n, err);
	return status;
}

static dck_status round_trip(const char *lines)
{
	dck_history_trend_config c;
	dck_history *h = NULL;
	dck_history_trend *t = NULL;
	dck_history_alarms *a = NULL;
	dck_history_commits *of_two = NULL;
	dck_record *back = NULL;
	dck_history_config where;
	static const char id[] = "000010123456789abcdef0123456";
	dck_err err;
	dck_status status;

	dck_history_config_init(&where);
	where.path = file;
	dck_history_trend_config_init(&c);
	c.by = DCK_HISTORY_BY_COMMIT;
	status = dck_history_open(&where, &h, &err);
	if (status == DCK_OK)
		status = dck_history_get(h, id, &back, &err);
	if (status == DCK_OK)
		status = dck_history_add(h, back, NULL, NULL, &err);
	if (status == DCK_OK)
		status = dck_history_trend_get(h, NULL, &c, &t, &err);
	if (status == DCK_OK)
		status = dck_history_alarms_get(h, NULL, &c, &a, &err);
	if (status == DCK_OK)
		status = dck_history_commits_get(h, NULL, NULL, A40, B40, &of_two, &err);
	if (status == DCK_OK)
		status = out_and_in(h, lines, &err);
	dck_history_trend_free(t);
	dck_history_alarms_free(a);
	dck_history_commits_free(of_two);
	dck_record_free(back);
	dck_history_close(h);
	return status;
}

static void without_memory(void **state)
{
	dck_history *h = history_here();
	dck_buffer text = {0};
	dck_sink sink;
	fault_alloc f = {.calls = 1, .fail_at = 0};
	size_t at = 1;

	(void)state;
	for (int i = 0; i < 9; i++)
		add_number(h, i, i, i % 2 ? A40 : i % 4 ? B40 : NULL, NULL);
	dck_sink_buffer(&sink, &text);
	assert_int_equal(dck_history_export(h, &(dck_history_filter){.limit = 2}, &sink, NULL),
			 DCK_OK);
	assert_int_equal(dck_sink_finish(&sink, NULL), DCK_OK);
	scratch_text("lines", text.data);
	dck_buffer_done(&text);
	dck_history_close(h);
	for (bool failed = true; failed; at++) {
		fault_alloc_begin(&f, at);
		const dck_status status = round_trip("lines");
		failed = f.calls >= at;
		dck_set_allocator(NULL);
		assert_int_equal(f.out, 0);
		assert_int_equal(status, failed ? DCK_E_NOMEM : DCK_OK);
	}
	assert_true(at > 30);
	h = history_here();
	assert_int_equal(size_of(h), 9);
	dck_history_close(h);
}

int test_history(void);
int test_history(void)
{
	const struct CMUnitTest tests[] = {
	    SCRATCH_TEST(bytes_come_back),
	    SCRATCH_TEST(ids_that_cannot_be),
	    SCRATCH_TEST(names_of_records),
	    SCRATCH_TEST(lists),
	    SCRATCH_TEST(an_entry),
	    SCRATCH_TEST(baselines),
	    SCRATCH_TEST(starts),
	    SCRATCH_TEST(trends),
	    SCRATCH_TEST(trends_over_seeds),
	    SCRATCH_TEST(trends_by),
	    SCRATCH_TEST(trends_of_nothing),
	    SCRATCH_TEST(all_out_and_in),
	    SCRATCH_TEST(a_list_is_of_one_moment),
	    SCRATCH_TEST(csv_and_a_full_sink),
	    SCRATCH_TEST(pruning),
	    SCRATCH_TEST(removing),
	    SCRATCH_TEST(the_place),
	    SCRATCH_TEST(directories_are_made),
	    SCRATCH_TEST(commits_of_git),
	    SCRATCH_TEST(without_memory),
	};

	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
