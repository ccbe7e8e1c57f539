/* test_rank_trace.c - one trace of ranks of several machines: what happened at one instant has one
 * time, though clocks and process numbers say something else.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/ranks/rank_trace.h"
#include "profiler/read/reorder.h"
#include "profiler/write/formats.h"
#include "scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

int test_rank_trace(void);

enum { RANKS = 3 };
#define INSTANT_NS INT64_C(5000000000) /* of rank 0's clock */

/* By how much each rank's clock is ahead of rank 0's; rank 2 runs where rank 0 does. */
static const int64_t ahead_ns[RANKS] = {0, 7000000000, 0};
static const char *const hosts[RANKS] = {"node0", "node1", "node0"};

typedef void events_write(const trace_format *f, trace_out *o);

/* A range of 2 us that begins at the instant. */
static void range_write(const trace_format *f, trace_out *o)
{
	const trace_event events[] = {{.ns = 1000000, .name = 1, .kind = TRACE_BEGIN},
				      {.ns = 1002000, .kind = TRACE_END}};

	f->events(o, 2, events, 2);
}

/* Process 77 of a boot whose wall clock is wrong. */
static void trace_write(const char *path, uint32_t rank, events_write *events)
{
	const trace_format *f = trace_format_find("perfetto");
	const uint64_t base = (uint64_t)(INSTANT_NS + ahead_ns[rank]) - 1000000;
	const trace_header about = {.unix_ns = 1700000000000000000 - rank * 1000000000LL,
				    .monotonic_ns = base,
				    .boottime_ns = base,
				    .boot = {hosts[rank][4], '\0'},
				    .width_ns = 1};
	FILE *file = fopen(path, "wb");
	dck_sink sink;
	trace_out *o;

	dck_sink_fd(&sink, fileno(file));
	assert_int_equal(f->open(&o, &sink, &about, NULL), DCK_OK);
	f->intern(o, 1, &(trace_name){.text = "all_reduce", .n = 10});
	f->track(o, &(trace_track){.id = 1, .kind = TRACE_PROCESS, .pid = 77, .name = "train"});
	f->track(o,
		 &(trace_track){.id = 2, .parent = 1, .kind = TRACE_THREAD, .pid = 77, .tid = 77});
	events(f, o);
	assert_int_equal(f->close(o, NULL), DCK_OK);
	assert_int_equal(dck_sink_finish(&sink, NULL), DCK_OK);
	fclose(file);
}

static rank_part part_make(uint32_t rank, rank_exchange *e)
{
	const int64_t at = INSTANT_NS + ahead_ns[rank];
	static const char *const boots[] = {"0", "1", "0"};
	rank_part p = {.arena = mem_arena_new(0), .host = hosts[rank], .boot = boots[rank]};

	/* 100 us there and back. */
	*e = (rank_exchange){at, at - ahead_ns[rank] + 50000, at - ahead_ns[rank] + 50000,
			     at + 100000, 0};
	if (rank > 0) {
		rank_clock_fit(e, 1, &p.clock);
	}
	return p;
}

static const dck_cell *process_cell(const dck_record *r, size_t i, const char *key)
{
	return dck_table_cell(dck_record_table(r, "processes"), i, key);
}

static void one_instant_has_one_time(void **state)
{
	static const char *const files[RANKS] = {"0.pftrace", "1.pftrace", "2.pftrace"};
	static const char *const names[2] = {"node0: train", "node1: train"};
	static char bytes[100000];
	rank_exchange e[RANKS];
	rank_part parts[RANKS];
	dck_record *r;
	FILE *f;
	size_t n;
	dck_err err;

	(void)state;
	for (uint32_t rank = 0; rank < RANKS; rank++) {
		trace_write(files[rank], rank, range_write);
		parts[rank] = part_make(rank, &e[rank]);
	}
	if (rank_trace_write("all.pftrace", parts, files, RANKS, &r, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	assert_int_equal(dck_record_fact(r, "trace", "files")->value.as.i, RANKS);
	for (size_t i = 0; i < RANKS; i++) {
		assert_int_equal(process_cell(r, i, "began")->value.as.i, 1000000);
		assert_int_equal(process_cell(r, i, "ended")->value.as.i, 1002000);
		/* Ranks of one boot have one number in their containers. */
		assert_int_equal(process_cell(r, i, "pid")->value.as.i, 77 + (int64_t)i * 10000000);
	}
	assert_true(process_cell(r, 1, "uncertainty")->value.as.i >= 50000);
	assert_true(process_cell(r, 2, "uncertainty")->value.as.i < 50000);
	dck_record_free(r);
	f = fopen("all.pftrace", "rb");
	n = fread(bytes, 1, sizeof bytes - 1, f);
	fclose(f);
	for (uint32_t rank = 0; rank < 2; rank++)
		assert_non_null(memmem(bytes, n, names[rank], strlen(names[rank])));
	for (uint32_t rank = 0; rank < RANKS; rank++)
		mem_arena_free(parts[rank].arena);
}

static void without_traces_there_is_none(void **state)
{
	static const char *const files[1] = {NULL};
	rank_part part = {.arena = mem_arena_new(0), .host = "a", .boot = "a"};
	dck_record *r;
	dck_err err;

	(void)state;
	assert_int_equal(rank_trace_write("none.pftrace", &part, files, 1, &r, &err), DCK_E_ABSENT);
	assert_int_equal(rank_trace_check("no-such/none.pftrace", &err), DCK_E_IO);
	mem_arena_free(part.arena);
}

enum { LAPS = 3 };

/* Steps of 5 us around a part of 2 us, which end on another thread: their ends are so far
 * before their begins in the file that the reader emits them first. */
static void laps_write(const trace_format *f, trace_out *o)
{
	f->track(o,
		 &(trace_track){.id = 3, .parent = 1, .kind = TRACE_THREAD, .pid = 77, .tid = 78});
	f->intern(o, 2, &(trace_name){.text = "step", .n = 4});
	for (uint64_t i = 0; i < LAPS; i++)
		f->events(
		    o, 3,
		    &(trace_event){.ns = 10000 * i + 6000, .kind = TRACE_ASYNC_END, .as.id = 1 + i},
		    1);
	for (int i = 0; i < REORDER_MAX; i++)
		f->events(o, 3, &(trace_event){.ns = 1000000, .name = 1, .kind = TRACE_INSTANT}, 1);
	for (uint64_t i = 0; i < LAPS; i++) {
		const uint64_t ns = 10000 * i + 1000;
		const trace_event events[] = {
		    {.ns = ns, .name = 2, .kind = TRACE_ASYNC_BEGIN, .as.id = 1 + i},
		    {.ns = ns + 1000, .name = 1, .kind = TRACE_BEGIN},
		    {.ns = ns + 3000, .kind = TRACE_END}};

		f->events(o, 2, events, 3);
	}
}

static void steps_may_end_on_another_thread(void **state)
{
	rank_part p = {.arena = mem_arena_new(0)};
	int64_t n[RANK_KINDS] = {0}, ns[RANK_KINDS] = {0};
	dck_err err;

	(void)state;
	trace_write("laps.pftrace", 0, laps_write);
	if (rank_ranges_read("laps.pftrace", &(rank_names){.step = "step"}, &p, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	for (size_t i = 0; i < p.nranges; i++) {
		n[p.ranges[i].kind]++;
		ns[p.ranges[i].kind] += p.ranges[i].end_ns - p.ranges[i].begin_ns;
	}
	assert_int_equal(n[RANK_STEP], LAPS);
	assert_int_equal(ns[RANK_STEP], LAPS * 5000);
	assert_int_equal(n[RANK_PART], LAPS);
	assert_int_equal(ns[RANK_PART], LAPS * 2000);
	mem_arena_free(p.arena);
}

int test_rank_trace(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(one_instant_has_one_time),
	    cmocka_unit_test(without_traces_there_is_none),
	    cmocka_unit_test(steps_may_end_on_another_thread),
	};

	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
