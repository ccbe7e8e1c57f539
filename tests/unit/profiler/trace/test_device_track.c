/* test_device_track.c - ranges of devices on separate tracks: their times, their table, their
 * arrows, in each format that is read back.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/trace.h"
#include "deepclock/zone.h"
#include "profiler/trace/backfill.h"
#include "profiler/trace/device_track.h"
#include "profiler/trace/ticks.h"
#include "scratch.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

enum { US = 1000, TEXT = 1 << 20 };

static void begin(const char *path)
{
	dck_err err = {0};

	if (dck_trace_start(&(dck_trace_config){.path = path, .no_waits = true}, &err) != DCK_OK)
		fail_msg("%s", err.msg);
}

static dck_record *end(void)
{
	dck_record *r = NULL;
	dck_err err = {0};

	if (dck_trace_stop(&r, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	return r;
}

static dck_record *read_back(const char *path)
{
	dck_record *r = NULL;
	dck_err err = {0};

	if (dck_trace_read(path, &r, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	return r;
}

/* Calls and total of a row; -1: there is no such table or row. */
static int64_t cell(const dck_record *r, const char *table, const char *name, const char *column)
{
	const dck_table *t = dck_record_table(r, table);

	for (size_t i = 0; t && i < t->nrows; i++)
		for (size_t k = 0; k < t->ncolumns; k++)
			if (!strcmp(t->cells[i * t->ncolumns].value.as.text, name) &&
			    !strcmp(t->columns[k].key, column))
				return t->cells[i * t->ncolumns + k].value.as.i;
	return -1;
}

static int64_t fact(const dck_record *r, const char *key)
{
	const dck_fact *f = dck_record_fact(r, "trace", key);

	assert_non_null(f);
	return f->value.as.i;
}

static const char *text_of(const char *path)
{
	static char text[TEXT];
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	text[fread(text, 1, sizeof text - 1, f)] = '\0';
	fclose(f);
	return text;
}

static void convert(const char *from, const char *form, const char *to)
{
	FILE *f = fopen(to, "w");
	dck_sink sink;
	dck_err err = {0};

	assert_non_null(f);
	dck_sink_fd(&sink, fileno(f));
	if (dck_trace_convert(from, form, false, &sink, NULL, &err) != DCK_OK ||
	    dck_sink_finish(&sink, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	fclose(f);
}

/* Begin and duration of the first range of that name, from a file of rows. */
static void range_of(const char *path, const char *of, const char *name, uint64_t *ret_begin,
		     uint64_t *ret_ns)
{
	char want[100];

	snprintf(want, sizeof want, "%srange,\"%s\",", of, name);
	const char *row = strstr(text_of(path), want);
	if (!row)
		fail_msg("no row '%s'", want);
	assert_int_equal(sscanf(row + strlen(want), "%lu,%lu", ret_begin, ret_ns), 2);
}

static void work(device_track *t)
{
	static const char *const kernels[] = {"first", "second"};
	uint64_t flow;

	DCK_PUSH("step");
	const uint64_t enqueued = ticks_of_system();
	flow = dck_device_flow();
	assert_true(flow);
	usleep(2000);
	DCK_POP();
	DCK_PUSH("later");
	/* They are known after the zone that enqueued them, and are before the one that is open. */
	for (int i = 0; i < 2; i++)
		dck_device_track_range(
		    t, &(device_range){.name = dck_past_name("kernel", kernels[i]),
				       .begin_ns = enqueued + (uint64_t)(100 + 500 * i) * US,
				       .end_ns = enqueued + (uint64_t)(400 + 500 * i) * US,
				       .flow = i ? 0 : flow,
				       .nnumbers = 1,
				       .numbers = {{dck_past_name(NULL, "bytes"), 4096}}});
	DCK_POP();
}

static void they_are_on_a_track_of_their_own(void **state)
{
	device_track *t = dck_device_track_open("null:0 queue 1");
	uint64_t step, step_ns, first, first_ns, second, second_ns;

	(void)state;
	begin("a.pftrace");
	work(t);
	dck_record *r = end();
	assert_int_equal(cell(r, "device_zones", "first", "calls"), 1);
	assert_int_equal(cell(r, "device_zones", "second", "calls"), 1);
	/* 2 ns: two conversions from ticks. */
	assert_in_range(cell(r, "device_zones", "second", "total"), 300 * US - 20, 300 * US + 20);
	assert_int_equal(cell(r, "zones", "first", "calls"), -1);
	assert_int_equal(cell(r, "zones", "step", "self"), cell(r, "zones", "step", "total"));
	assert_int_equal(fact(r, "threads"), 1);
	assert_int_equal(fact(r, "moved_events"), 0);
	assert_int_equal(fact(r, "unmatched_ends"), 0);
	/* Its arrow and the times of both, by the file. */
	convert("a.pftrace", "rows", "a.csv");
	range_of("a.csv", "\"null:0 queue 1\",", "first", &first, &first_ns);
	range_of("a.csv", "\"null:0 queue 1\",", "second", &second, &second_ns);
	range_of("a.csv", "", "step", &step, &step_ns);
	assert_true(first >= step + 100 * US && second + second_ns < step + step_ns);
	assert_in_range(second - first, 500 * US - 20, 500 * US + 20);
	dck_record_free(r);
	dck_device_track_close(t);
}

static void every_format_has_them(void **state)
{
	static const char *const files[] = {"b.pftrace", "b.json", "b.again.json",
					    "b.again.pftrace"};
	device_track *t = dck_device_track_open("null:0 queue 1");

	(void)state;
	begin(files[0]);
	work(t);
	dck_record *live = end();
	convert(files[0], "chrome", files[1]);
	convert(files[1], "chrome", files[2]);
	convert(files[2], "perfetto", files[3]);
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		dck_record *r = read_back(files[i]);

		assert_int_equal(cell(r, "device_zones", "first", "total"),
				 cell(live, "device_zones", "first", "total"));
		assert_int_equal(cell(r, "zones", "step", "total"),
				 cell(live, "zones", "step", "total"));
		assert_int_equal(cell(r, "zones", "first", "calls"), -1);
		assert_int_equal(fact(r, "threads"), 1);
		dck_record_free(r);
	}
	const char *json = text_of(files[2]);
	const char *from = strstr(json, "{\"ph\":\"s\""),
		   *to = strstr(json, "\"ph\":\"f\",\"bp\":\"e\"");
	char id[40];
	assert_non_null(from);
	assert_non_null(to);
	assert_int_equal(sscanf(strstr(from, "\"id\":\""), "\"id\":\"%30[^\"]", id), 1);
	to = strstr(to, "\"id\":\"") + strlen("\"id\":\"");
	assert_int_equal(strncmp(to, id, strlen(id)), 0);
	assert_null(strstr(from + 1, "{\"ph\":\"s\""));
	assert_non_null(strstr(json, "\"name\":\"null:0 queue 1\",\"device\":true"));
	assert_non_null(strstr(json, "\"bytes\":4096"));
	convert(files[0], "folded", "b.folded");
	assert_non_null(strstr(text_of("b.folded"), "null:0 queue 1;first "));
	dck_record_free(live);
	dck_device_track_close(t);
}

static void overlapping_ranges_get_rows(void **state)
{
	device_track *t = dck_device_track_open("null:0 queue 1");
	uint64_t at, ns;
	char name[40];

	(void)state;
	begin("c.csv");
	usleep(1100);
	const uint64_t now = ticks_of_system() - 1000 * US, name_id = dck_past_name("kernel", "k");
	/* Ten at once, for eight rows; then one that fits in the first row again. */
	for (uint64_t i = 0; i < DEVICE_TRACK_ROWS + 2; i++)
		dck_device_track_range(t, &(device_range){.name = (uint32_t)name_id,
							  .begin_ns = now + i * US,
							  .end_ns = now + 100 * US + i * US});
	dck_device_track_range(t, &(device_range){.name = dck_past_name("kernel", "after"),
						  .begin_ns = now + 500 * US,
						  .end_ns = now + 600 * US});
	dck_record *r = end();
	assert_int_equal(cell(r, "device_zones", "k", "calls"), DEVICE_TRACK_ROWS + 2);
	/* The two that found no free row begin where the first and the second end. */
	assert_in_range(cell(r, "device_zones", "k", "total"), 816 * US - 200, 816 * US + 200);
	for (unsigned i = 1; i < DEVICE_TRACK_ROWS; i++) {
		snprintf(name, sizeof name, "\"null:0 queue 1 (%u)\",", i + 1);
		range_of("c.csv", name, "k", &at, &ns);
		assert_in_range(ns, 100 * US - 20, 100 * US + 20);
	}
	range_of("c.csv", "\"null:0 queue 1\",", "after", &at, &ns);
	assert_int_equal(fact(r, "moved_events"), 0);
	dck_record_free(r);
	dck_device_track_close(t);
}

static void ranges_may_nest(void **state)
{
	device_track *t = dck_device_track_open("null:0 queue 1");

	(void)state;
	begin(NULL);
	usleep(1100);
	const uint64_t now = ticks_of_system() - 1000 * US;
	const uint32_t outer = dck_past_name("zone", "outer"),
		       inner = dck_past_name("zone", "inner");
	dck_device_track_begin(t, outer, now, 0);
	for (uint64_t i = 0; i < 3; i++) {
		dck_device_track_begin(t, inner, now + (100 + 100 * i) * US, 0);
		dck_device_track_end(t, now + (150 + 100 * i) * US);
	}
	/* An earlier time is the last one, a later one than now is now. */
	dck_device_track_begin(t, inner, now, 0);
	dck_device_track_number(t, dck_past_name(NULL, "bytes"), 1);
	dck_device_track_end(t, now);
	dck_device_track_end(t, UINT64_MAX);
	dck_record *r = end();
	const int64_t total = cell(r, "device_zones", "outer", "total");
	assert_true(total >= 1000 * US - 20);
	assert_int_equal(cell(r, "device_zones", "inner", "calls"), 4);
	assert_in_range(cell(r, "device_zones", "inner", "total"), 150 * US - 20, 150 * US + 20);
	assert_int_equal(cell(r, "device_zones", "outer", "self"),
			 total - cell(r, "device_zones", "inner", "total"));
	assert_int_equal(fact(r, "moved_events"), 0);
	assert_int_equal(fact(r, "unmatched_ends"), 0);
	dck_record_free(r);
	dck_device_track_close(t);
}

static void without_a_recording_nothing_is_written(void **state)
{
	device_track *t = dck_device_track_open("null:0 queue 1");

	(void)state;
	assert_int_equal(dck_device_flow(), 0);
	dck_device_track_range(t, &(device_range){.name = 1, .begin_ns = 1, .end_ns = 2});
	begin(NULL);
	DCK_PUSH("step");
	DCK_POP();
	dck_record *r = end();
	/* Not an empty one. */
	assert_null(dck_record_table(r, "device_zones"));
	dck_record_free(r);
	/* It serves the next recording. */
	for (int i = 0; i < 2; i++) {
		begin(NULL);
		work(t);
		r = end();
		assert_int_equal(cell(r, "device_zones", "first", "calls"), 1);
		dck_record_free(r);
	}
	dck_device_track_close(t);
}

/* In a forked child the buffers are the parent's memory. */
static void a_child_writes_to_its_own(void **state)
{
	device_track *t = dck_device_track_open("null:0 queue 1");
	int status;

	(void)state;
	begin("d.pftrace");
	work(t);
	const pid_t child = fork();
	if (!child) {
		work(t);
		exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	work(t);
	dck_record *r = end();
	char path[40];
	snprintf(path, sizeof path, "d.%d.pftrace", (int)child);
	dck_record *of_child = read_back(path);
	assert_int_equal(cell(r, "device_zones", "first", "calls"), 2);
	assert_int_equal(cell(of_child, "device_zones", "first", "calls"), 1);
	dck_record_free(r);
	dck_record_free(of_child);
	dck_device_track_close(t);
}

enum { ROUNDS = 20000, PAIRS = 3 };

typedef struct pair {
	pthread_t thread;
	device_track *track;
	uint32_t name;
} pair;

static void *enqueue(void *arg)
{
	pair *p = arg;

	for (int i = 0; i < ROUNDS; i++) {
		DCK_ZONE("enqueue");
		const uint64_t flow = dck_device_flow(), now = ticks_of_system();
		dck_device_track_range(p->track, &(device_range){.name = p->name,
								 .begin_ns = now,
								 .end_ns = now + 1,
								 .flow = flow});
	}
	return NULL;
}

static void several_threads_write_at_once(void **state)
{
	pair pairs[PAIRS];
	char name[40];

	(void)state;
	assert_int_equal(
	    dck_trace_start(&(dck_trace_config){.path = "e.pftrace", .lossless = true}, NULL),
	    DCK_OK);
	for (int i = 0; i < PAIRS; i++) {
		snprintf(name, sizeof name, "null:0 queue %d", i);
		pairs[i].track = dck_device_track_open(name);
		pairs[i].name = dck_past_name("kernel", "k");
		assert_int_equal(pthread_create(&pairs[i].thread, NULL, enqueue, &pairs[i]), 0);
	}
	for (int i = 0; i < PAIRS; i++) {
		pthread_join(pairs[i].thread, NULL);
		dck_device_track_close(pairs[i].track);
	}
	dck_record *r = end(), *again = read_back("e.pftrace");
	assert_int_equal(cell(r, "device_zones", "k", "calls"), PAIRS * ROUNDS);
	assert_int_equal(cell(again, "device_zones", "k", "calls"), PAIRS * ROUNDS);
	assert_int_equal(cell(r, "zones", "enqueue", "calls"), PAIRS * ROUNDS);
	assert_int_equal(fact(r, "dropped_events"), 0);
	dck_record_free(r);
	dck_record_free(again);
}

int test_device_track(void);
int test_device_track(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(they_are_on_a_track_of_their_own),
	    cmocka_unit_test(every_format_has_them),
	    cmocka_unit_test(overlapping_ranges_get_rows),
	    cmocka_unit_test(ranges_may_nest),
	    cmocka_unit_test(without_a_recording_nothing_is_written),
	    cmocka_unit_test(a_child_writes_to_its_own),
	    cmocka_unit_test(several_threads_write_at_once),
	};

	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
