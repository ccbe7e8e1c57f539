/* Tests of perfetto_read.c: output of our writer is read back, packets of other producers are
 * supported, and malformed files are refused with a message.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "profiler/write/formats.h"
#include "fault_alloc.h"
#include "trace_foreign.h"
#include "trace_random.h"

#include "profiler/read/reorder.h"

/* --- our own files */

static void what_was_written_comes_back(void **state)
{
	static trace_log want, got;
	const trace_format *f = trace_format_find("perfetto");
	const trace_header about = {
	    .unix_ns = 1700000000000000001, .monotonic_ns = 12345, .boottime_ns = 1234567};

	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++) {
		dck_sink sink;
		dck_buffer b = {0};
		trace_out *o;
		trace_read_facts facts;
		dck_err err = {0};

		trace_log_sink(&sink, &want);
		assert_int_equal(trace_log_open(&o, &sink, &about, NULL), DCK_OK);
		tell_random(&trace_log_format, o, seed, true);

		dck_sink_buffer(&sink, &b);
		assert_int_equal(f->open(&o, &sink, &about, NULL), DCK_OK);
		tell_random(f, o, seed, true);
		/* Async ranges that are still open: the log does not have the writer's ends. */
		assert_int_equal(dck_sink_finish(&sink, NULL), DCK_OK);
		size_t n = b.n;
		assert_int_equal(f->close(o, NULL), DCK_OK);

		if (read_log(b.data, n, &got, &facts, &err) != DCK_OK)
			fail_msg("%s", err.msg);
		assert_same_log(&want, &got);
		assert_true(got.closed);
		assert_int_equal(got.about.unix_ns, about.unix_ns);
		assert_int_equal(got.about.monotonic_ns, about.monotonic_ns);
		assert_int_equal(got.about.boottime_ns, about.boottime_ns);
		assert_int_equal(facts.skipped + facts.undated + facts.late, 0);
		assert_string_equal(facts.cut, "");
		trace_log_done(&want);
		trace_log_done(&got);
		dck_buffer_done(&b);
	}
}

/* A file truncated anywhere is read up to its last complete packet. */
static void a_file_that_was_cut_is_read_up_to_there(void **state)
{
	static trace_log whole, got;
	const trace_format *f = trace_format_find("perfetto");
	dck_sink sink;
	dck_buffer b = {0};
	trace_out *o;
	trace_read_facts facts;
	dck_err err = {0};

	(void)state;
	dck_sink_buffer(&sink, &b);
	assert_int_equal(f->open(&o, &sink, &(trace_header){.boottime_ns = 9}, NULL), DCK_OK);
	tell_random(f, o, 1, true);
	assert_int_equal(f->close(o, NULL), DCK_OK);
	assert_int_equal(dck_sink_finish(&sink, NULL), DCK_OK);
	assert_int_equal(read_log(b.data, b.n, &whole, &facts, &err), DCK_OK);
	for (size_t n = 500; n < 600; n++) {
		if (read_log(b.data, n, &got, &facts, &err) != DCK_OK)
			fail_msg("%s", err.msg);
		for (size_t i = 0; i < LOG_TRACKS; i++)
			if (got.tracks[i].text.data)
				assert_memory_equal(got.tracks[i].text.data,
						    trace_log_find(&whole, got.tracks[i].what),
						    got.tracks[i].text.n);
		trace_log_done(&got);
	}
	assert_int_equal(read_log(b.data, 600, &got, &facts, &err), DCK_OK);
	assert_non_null(strstr(facts.cut, "the trace in memory is truncated: the packet states "));
	assert_non_null(strstr(facts.cut, " bytes, the file ends after 600"));
	trace_log_done(&got);
	trace_log_done(&whole);
	dck_buffer_done(&b);
}

/* --- files of other writers, made here packet by packet */

static const char main_thread[] = "thread 4/5 'main'  of 'process 4/0 ''  of '''";

static void clocks_are_brought_together(void **state)
{
	foreign x = {0};
	trace_read_facts facts;

	(void)state;
	thread(&x, 77, 4, 5, "main");
	packet(&x, 2);
	size_t at = wire_begin(&x.w, PF_PACKET_CLOCK_SNAPSHOT);
	clock(&x, PF_MONOTONIC, 500, 0, false);
	clock(&x, PF_BOOTTIME, 10000, 0, false);
	clock(&x, 65, 3, 1000, true); /* microseconds since the previous packet */
	clock(&x, 66, 20, 10, false);
	wire_end(&x.w, at);
	packet_end(&x);
	stamp(&x, 2, 10001, 0);
	event(&x, PF_BEGIN, 77, "boot");
	event_end(&x);
	stamp(&x, 2, 502, PF_MONOTONIC);
	event(&x, PF_BEGIN, 77, "mono");
	event_end(&x);
	stamp(&x, 2, 2, 65);
	packet_end(&x); /* advances its clock only */
	stamp(&x, 2, 1, 65);
	event(&x, PF_BEGIN, 77, "micro");
	event_end(&x);
	stamp(&x, 2, 330, 66);
	event(&x, PF_INSTANT, 77, "tens");
	event_end(&x);
	stamp(&x, 2, 1, 67); /* no snapshot has this clock */
	event(&x, PF_INSTANT, 77, "never");
	event_end(&x);
	stamp(&x, 3, 1, 65); /* clock 65 of another sequence */
	event(&x, PF_INSTANT, 77, "never");
	event_end(&x);
	assert_string_equal(told(&x, main_thread, &facts), "begin 1 boot\nbegin 2 mono\n"
							   "begin 3000 micro\ninstant 3100 tens\n");
	assert_int_equal(facts.undated, 2);
	assert_int_equal(facts.skipped, 1);
	wire_out_done(&x.w);
}

static void times_that_go_back_are_put_in_order(void **state)
{
	foreign x = {0};
	trace_read_facts facts;

	(void)state;
	thread(&x, 77, 4, 5, "main");
	for (int i = 0; i < 4; i++) { /* equal times keep their order */
		static const int64_t ns[] = {50, 10, 50, 20};
		static const char *const names[] = {"c", "a", "d", "b"};
		stamp(&x, 2, ns[i], 0);
		event(&x, PF_INSTANT, 77, names[i]);
		event_end(&x);
	}
	assert_string_equal(told(&x, main_thread, &facts),
			    "instant 0 a\ninstant 10 b\ninstant 40 c\ninstant 40 d\n");
	assert_int_equal(facts.late, 0);
	/* More than the buffer holds: a late event gets the last time. */
	for (int i = 0; i < REORDER_MAX; i++) {
		stamp(&x, 2, 1000, 0);
		event(&x, PF_COUNTER, 78, NULL);
		wire_put_int(&x.w, PF_EVENT_COUNTER_INT, 1);
		event_end(&x);
	}
	stamp(&x, 2, 30, 0);
	event(&x, PF_INSTANT, 77, "late");
	event_end(&x);
	assert_string_equal(
	    told(&x, main_thread, &facts),
	    "instant 0 a\ninstant 10 b\ninstant 40 c\ninstant 40 d\ninstant 40 late\n");
	assert_int_equal(facts.late, 1);
	wire_out_done(&x.w);
}

/* A track without a thread: its ranges may end in any order. A counter in steps of 1000. */
static void other_tracks_and_counters(void **state)
{
	foreign x = {0};
	trace_read_facts facts;

	(void)state;
	thread(&x, 77, 4, 5, "main");
	packet(&x, 2);
	size_t at = wire_begin(&x.w, PF_PACKET_DEFAULTS),
	       in = wire_begin(&x.w, PF_DEFAULTS_TRACK_EVENT);
	wire_put_int(&x.w, PF_EVENT_TRACK, 77);
	wire_end(&x.w, in);
	wire_end(&x.w, at);
	packet_end(&x);
	packet(&x, 2);
	at = wire_begin(&x.w, PF_PACKET_TRACK);
	wire_put_int(&x.w, PF_TRACK_UUID, 99);
	wire_put_int(&x.w, PF_TRACK_PARENT, 77);
	wire_put_text(&x.w, PF_TRACK_NAME, "bytes");
	in = wire_begin(&x.w, PF_TRACK_COUNTER);
	wire_put_int(&x.w, PF_COUNTER_UNIT, PF_UNIT_BYTES);
	wire_put_int(&x.w, PF_COUNTER_MULTIPLIER, 1000);
	wire_put_int(&x.w, PF_COUNTER_INCREMENTAL, 1);
	wire_end(&x.w, in);
	wire_end(&x.w, at);
	packet_end(&x);
	stamp(&x, 2, 7, 0);
	event(&x, PF_BEGIN, 1234, "copy"); /* track 1234 has no descriptor */
	event_end(&x);
	for (int i = 1; i < 3; i++) {
		stamp(&x, 2, 7 + i, 0);
		event(&x, PF_COUNTER, 99, NULL);
		wire_put_int(&x.w, PF_EVENT_COUNTER_INT, i);
		event_end(&x);
	}
	stamp(&x, 2, 9, 0);
	event(&x, PF_END, 1234, NULL);
	event_end(&x);
	stamp(&x, 2, 9, 0);
	event(&x, 5, 77, "a kind of the future");
	event_end(&x);
	assert_string_equal(told(&x, main_thread, &facts), "async begin 0 copy 1234\n"
							   "async end 2 1234\n");
	assert_int_equal(facts.skipped, 1);
	assert_string_equal(
	    told(&x, "counter 4/5 'bytes' B of 'thread 4/5 'main'  of 'process 4/0 ''  of ''''",
		 &facts),
	    "counter 1 1000\ncounter 2 3000\n");
	wire_out_done(&x.w);
}

static void names_and_numbers_by_their_numbers(void **state)
{
	foreign x = {0};
	trace_read_facts facts;

	(void)state;
	thread(&x, 77, 4, 5, "main");
	for (int round = 0; round < 2; round++) { /* the flag clears the interned names */
		packet(&x, 2);
		wire_put_int(&x.w, PF_PACKET_FLAGS, PF_FLAG_CLEARED);
		size_t at = wire_begin(&x.w, PF_PACKET_INTERNED);
		size_t one = wire_begin(&x.w, PF_INTERNED_EVENT_NAMES);
		wire_put_int(&x.w, PF_NAME_IID, 300);
		wire_put_text(&x.w, PF_NAME_TEXT, round ? "second" : "first\xff");
		wire_end(&x.w, one);
		one = wire_begin(&x.w, PF_INTERNED_NUMBER_NAMES);
		wire_put_int(&x.w, PF_NAME_IID, 300 + round);
		wire_put_text(&x.w, PF_NAME_TEXT, "batch");
		wire_end(&x.w, one);
		wire_end(&x.w, at);
		packet_end(&x);
		stamp(&x, 2, 5, 0);
		event(&x, PF_BEGIN, 77, NULL);
		wire_put_int(&x.w, PF_EVENT_NAME_IID, 300);
		for (int k = 0; k < 2; k++) {
			one = wire_begin(&x.w, PF_EVENT_NUMBER);
			wire_put_int(&x.w, PF_NUMBER_NAME_IID, 300);
			wire_put_int(&x.w, k ? PF_NUMBER_BOOL : PF_NUMBER_INT, -3);
			wire_end(&x.w, one);
		}
		event_end(&x);
	}
	assert_string_equal(told(&x, main_thread, &facts),
			    "begin 0 first\xef\xbf\xbd\nnumber batch -3\nnumber batch 1\n"
			    "begin 0 second\nnumber -3\nnumber 1\n");
	wire_out_done(&x.w);
}

static void what_is_no_trace_gets_a_sentence(void **state)
{
	static const struct {
		const char *bytes;
		size_t n;
		const char *sentence;
	} cases[] = {
	    {"", 0, "the trace in memory is empty, not a trace of Perfetto"},
	    {"{\"traceEvents\":[]}", 18,
	     "the trace in memory is not a trace of Perfetto: field 15 at byte 0 has wire type 3"},
	    {"\x08\x08", 2,
	     "the trace in memory is not a trace of Perfetto: field 1 at byte 0 is not "
	     "a packet"},
	    {"\x12\x00", 2,
	     "the trace in memory is not a trace of Perfetto: field 2 at byte 0 is not a packet"},
	    {"\x0a\x7f", 2,
	     "the trace in memory is not a trace of Perfetto: packet at byte 0 has length 127, "
	     "but 0 bytes are left"},
	    /* A clock stored as a number of eight bytes, once read as a message beyond the file. */
	    {"\x0a\x0b\x32\x09\x09\x01\x00\x00\x00\x00\x00\x00\x10", 13,
	     "the trace in memory is malformed: field 1 at byte 4 is not a clock, in a clock snapshot"},
	    {"\x0a\x02\x58\x01", 4,
	     "the trace in memory is malformed: field 11 at byte 2 is not an event, in a packet"},
	};
	static trace_log got;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		dck_err err = {0};
		trace_read_facts facts;
		assert_int_equal(read_log(cases[i].bytes, cases[i].n, &got, &facts, &err),
				 DCK_E_FORMAT);
		assert_string_equal(err.msg, cases[i].sentence);
		trace_log_done(&got);
	}
}

static void a_lack_of_memory_is_said(void **state)
{
	const trace_format *f = trace_format_find("perfetto");
	dck_sink sink;
	dck_buffer b = {0};
	trace_out *o;
	bool done = false;

	(void)state;
	dck_sink_buffer(&sink, &b);
	assert_int_equal(f->open(&o, &sink, &(trace_header){.boottime_ns = 9}, NULL), DCK_OK);
	tell_random(f, o, 1, true);
	assert_int_equal(f->close(o, NULL), DCK_OK);
	assert_int_equal(dck_sink_finish(&sink, NULL), DCK_OK);
	for (size_t fail = 1; !done; fail++) {
		fault_alloc alloc;
		dck_buffer again = {0};
		dck_err err = {0};
		trace_read_facts facts;
		wire_source s;
		assert_int_equal(wire_source_bytes(b.data, 4000, &wire_perfetto, &s, NULL), DCK_OK);
		fault_alloc_begin(&alloc, fail);
		dck_sink_buffer(&sink, &again);
		dck_status status = perfetto_read(&s, f, &sink, &facts, &err);
		dck_err late = {0};
		dck_status written = dck_sink_finish(&sink, &late);
		dck_buffer_done(&again);
		done = alloc.calls < fail;
		dck_set_allocator(NULL);
		wire_source_close(&s);
		assert_true((status == DCK_OK && written == DCK_OK) == done);
		assert_true(status != DCK_OK ? status == DCK_E_NOMEM && err.msg[0]
					     : done || written == DCK_E_NOMEM);
		assert_int_equal(alloc.out, 0);
	}
	dck_buffer_done(&b);
}

int test_trace_read(void);
int test_trace_read(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_was_written_comes_back),
	    cmocka_unit_test(a_file_that_was_cut_is_read_up_to_there),
	    cmocka_unit_test(clocks_are_brought_together),
	    cmocka_unit_test(times_that_go_back_are_put_in_order),
	    cmocka_unit_test(other_tracks_and_counters),
	    cmocka_unit_test(names_and_numbers_by_their_numbers),
	    cmocka_unit_test(what_is_no_trace_gets_a_sentence),
	    cmocka_unit_test(a_lack_of_memory_is_said),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
