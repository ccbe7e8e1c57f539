/* Tests of the timeline formats: exact bytes of small timelines, and values that need care in any
 * format.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fault_alloc.h"
#include "profiler/write/formats.h"

#include "base/sink.h"
#include "profiler/timeline/timeline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

/* --- a small timeline in all formats */

typedef struct writing {
	const trace_format *f;
	trace_out *o;
	dck_sink sink;
	dck_buffer out;
} writing;

enum { PROCESS = 1, THREAD, LOSS, OTHER };

static void begin(writing *w, const char *format)
{
	w->f = trace_format_find(format);
	assert_non_null(w->f);
	w->out = (dck_buffer){0};
	dck_sink_buffer(&w->sink, &w->out);
	assert_int_equal(w->f->open(&w->o, &w->sink,
				    &(trace_header){.unix_ns = 5000,
						    .monotonic_ns = 30,
						    .boottime_ns = 100,
						    .command = "prog"},
				    NULL),
			 DCK_OK);
}

static void tell(writing *w, const trace_track *t)
{
	w->f->track(w->o, t);
}

static void tell_threads(writing *w)
{
	tell(w, &(trace_track){.id = PROCESS, .kind = TRACE_PROCESS, .pid = 7, .name = "prog"});
	tell(w, &(trace_track){.id = THREAD,
			       .parent = PROCESS,
			       .kind = TRACE_THREAD,
			       .pid = 7,
			       .tid = 9,
			       .name = "main"});
}

static void name(writing *w, uint32_t id, const char *text)
{
	w->f->intern(w->o, id, &(trace_name){.text = text, .n = strlen(text)});
}

static void put(writing *w, uint32_t track, uint64_t ns, trace_kind kind, uint32_t id)
{
	w->f->events(w->o, track, &(trace_event){.ns = ns, .kind = kind, .name = id}, 1);
}

static void number(writing *w, uint32_t track, uint32_t id, double real)
{
	w->f->events(w->o, track,
		     &(trace_event){.kind = TRACE_ANNOTATION, .name = id, .as.real = real}, 1);
}

static void end(writing *w)
{
	dck_err err = {0};

	if (w->f->close(w->o, &err) != DCK_OK || dck_sink_finish(&w->sink, &err) != DCK_OK)
		fail_msg("%s", err.msg);
}

/* Compares with bytes in hexadecimal digits; blanks are ignored. */
static void assert_bytes(const dck_buffer *got, size_t skip, const char *want)
{
	char hex[8192];
	size_t n = 0, k = 0;

	for (size_t i = skip; i < got->n; i++)
		n += (size_t)snprintf(hex + n, sizeof hex - n, "%02x",
				      (unsigned)(unsigned char)got->data[i]);
	hex[n] = '\0';
	char squeezed[8192];
	for (const char *p = want; *p; p++)
		if (*p != ' ')
			squeezed[k++] = *p;
	squeezed[k] = '\0';
	assert_string_equal(hex, squeezed);
}

/* --- Perfetto */

static const char perfetto_head[] =
    /* The clocks, by sequence 1: REALTIME 5000, MONOTONIC 30, BOOTTIME 100, the trace's clock. */
    "0a19 5001 3215 0a050801108827 0a040803101e 0a0408061064 1006"
    /* The process: uuid 7 << 32 | 1; pid 7, its name. */
    "0a15 5001 e20310 088180808070 1a08 0807 320470726f67"
    /* The thread: uuid 7 << 32 | 2, its parent; pid 7, tid 9, its name. */
    "0a1d 5001 e20318 088280808070 288180808070 220a 0807 1009 2a046d61696e";

static void perfetto_says_what_was_given(void **state)
{
	/* Sequence 2 starts: its clock 64 counts from BOOTTIME 100. Defaults of clock and track. */
	static const char sequence[] = "0a22 5002 6801 320e 0a06 0840 1000 1801 0a04 0806 1064"
				       "da030b d00340 5a06 588280808070"
				       "0a10 5002 620c 120a 0801 1206 6f7574657221" /* name 1 */;
	static const char want[] = "0a0a 5002 4005 5a04 4801 5001"   /* begins at 5 */
				   "0a0b 5002 40c801 5a04 4801 5001" /* 200 later */
				   "0a08 5002 4000 5a02 4802"	     /* ends at once */
				   "0a0a 5002 4001 5a04 4803 5001"   /* an instant */
				   "0a08 5002 4001 5a02 4802";
	writing w;

	(void)state;
	begin(&w, "perfetto");
	tell_threads(&w);
	assert_int_equal(dck_sink_finish(&w.sink, NULL), DCK_OK);
	assert_bytes(&w.out, 0, perfetto_head);
	size_t head = w.out.n;
	name(&w, 1, "outer!");
	put(&w, THREAD, 5, TRACE_BEGIN, 1);
	assert_int_equal(dck_sink_finish(&w.sink, NULL), DCK_OK);
	put(&w, THREAD, 205, TRACE_BEGIN, 1);
	put(&w, THREAD, 205, TRACE_END, 0);
	put(&w, THREAD, 206, TRACE_INSTANT, 1);
	put(&w, THREAD, 207, TRACE_END, 0);
	end(&w);
	char all[1024];
	snprintf(all, sizeof all, "%s%s", sequence, want);
	assert_bytes(&w.out, head, all);
	dck_buffer_done(&w.out);
}

/* A category and a source location use the number of their name, and are interned with it. */
static void perfetto_explains_categories_and_places(void **state)
{
	static const char want[] =
	    "0a1f 5002 621b 1205 0801 120161 0a06 0801 1202696f 220a 0801 1203612e63 20ac02"
	    "0a0f 5002 4005 5a09 4801 5001 1801 900201" /* name, category, place */
	    "0a0f 5002 4001 5a09 4801 5001 1801 900201"
	    "0a14 5002 6210 1205 0802 120162 2207 0802 1203612e63"
	    "0a0d 5002 4001 5a07 4803 5002 900202"
	    "0a08 5002 4001 5a02 4802 0a08 5002 4001 5a02 4802";
	writing w;

	(void)state;
	begin(&w, "perfetto");
	tell_threads(&w);
	w.f->intern(
	    w.o, 1,
	    &(trace_name){.text = "a", .n = 1, .category = "io", .file = "a.c", .line = 300});
	w.f->intern(w.o, 2, &(trace_name){.text = "b", .n = 1, .file = "a.c"});
	put(&w, THREAD, 5, TRACE_BEGIN, 1);
	put(&w, THREAD, 6, TRACE_BEGIN, 1);
	put(&w, THREAD, 7, TRACE_INSTANT, 2);
	put(&w, THREAD, 8, TRACE_END, 0);
	put(&w, THREAD, 9, TRACE_END, 0);
	end(&w);
	assert_bytes(&w.out, w.out.n - 124, want);
	dck_buffer_done(&w.out);
}

/* Values after a begin are in its packet, later values in that of the end. */
static void perfetto_has_numbers_counters_and_open_ranges(void **state)
{
	static const char want[] =
	    "0a1c 5002 4003 5a16 4801 5001 2210 52056261746368 290000000000004040" /* 32 */
	    "0a22 5003 6801 320e 0a06 0840 1000 1801 0a04 0806 1064"
	    "da030b d00340 5a06 588380808070"
	    "0a12 5003 4009 5a0c 4804 e102 00000000000000c0" /* -2 */
	    /* The range that any thread may end has a separate track. */
	    "0a19 5001 e20314 0885808080808080808001 120161 2881808080 70"
	    "0a15 5002 4005 5a0f 4801 5001 5885808080808080808001"
	    "0a0b 5002 4068 d00306 5a02 4803" /* back in time: BOOTTIME 104 */
	    /* Open ranges end at the last time, marked as unended. */
	    "0a27 5002 4001 5a21 4802 2210 52056261746368 29000000000000e03f"
	    "220b 5207756e656e646564 1001"
	    "0a20 5002 4000 5a1a 4802 5885808080808080808001 220b 5207756e656e646564 1001";
	const trace_event three[] = {{.ns = 3, .kind = TRACE_BEGIN, .name = 1},
				     {.kind = TRACE_ANNOTATION, .name = 2, .as.real = 32},
				     {.kind = TRACE_ANNOTATION, .name = 2, .as.real = NAN}};
	writing w;

	(void)state;
	begin(&w, "perfetto");
	tell_threads(&w);
	tell(&w, &(trace_track){.id = LOSS,
				.parent = PROCESS,
				.kind = TRACE_COUNTER_TRACK,
				.pid = 7,
				.name = "loss",
				.unit = DCK_UNIT_WATT});
	name(&w, 1, "a");
	name(&w, 2, "batch");
	number(&w, THREAD, 2, 4); /* outside of any range */
	put(&w, THREAD, 2, TRACE_END, 0);
	w.f->events(w.o, THREAD, three, 3);
	number(&w, THREAD, 2, 0.5);
	w.f->events(w.o, LOSS, &(trace_event){.ns = 9, .kind = TRACE_COUNTER, .as.real = -2}, 1);
	w.f->events(w.o, LOSS, &(trace_event){.ns = 9, .kind = TRACE_COUNTER, .as.real = NAN}, 1);
	w.f->events(w.o, THREAD,
		    &(trace_event){.ns = 8, .kind = TRACE_ASYNC_BEGIN, .name = 1, .as.id = 5}, 1);
	put(&w, THREAD, 4, TRACE_INSTANT, 3); /* back in time, without a name */
	end(&w);
	assert_bytes(&w.out, w.out.n - 224, want);
	dck_buffer_done(&w.out);
}

/* --- a timeline for the other formats, whose output is compared as text */

/* On "main": outer 10..200010 us with a number, with two ranges inner in it, one of them inside
 * inner; one outer that never ends. */
static void put_small(writing *w)
{
	tell_threads(w);
	tell(w, &(trace_track){.id = LOSS,
			       .parent = PROCESS,
			       .kind = TRACE_COUNTER_TRACK,
			       .pid = 7,
			       .name = "loss"});
	name(w, 1, "out;er");
	name(w, 2, "say \"hi\"\n");
	name(w, 3, "batch");
	put(w, THREAD, 500, TRACE_END, 0); /* started before the trace */
	put(w, THREAD, 10000, TRACE_BEGIN, 1);
	put(w, THREAD, 20000, TRACE_BEGIN, 2);
	number(w, THREAD, 3, 32);
	put(w, THREAD, 20000, TRACE_BEGIN, 2);
	put(w, THREAD, 30007, TRACE_END, 0);
	put(w, THREAD, 40000, TRACE_END, 0);
	put(w, THREAD, 200010000, TRACE_END, 0);
	put(w, THREAD, 200010000, TRACE_INSTANT, 1);
	w->f->events(w->o, LOSS,
		     &(trace_event){.ns = 200011000, .kind = TRACE_COUNTER, .as.real = 0.1}, 1);
	w->f->events(
	    w->o, THREAD,
	    &(trace_event){.ns = 200012000, .kind = TRACE_ASYNC_BEGIN, .name = 3, .as.id = 255}, 1);
	put(w, THREAD, 200013000, TRACE_BEGIN, 1);
	put(w, THREAD, 200013500, TRACE_INSTANT, 1);
}

static void chrome_says_what_was_given(void **state)
{
	writing w;

	(void)state;
	begin(&w, "chrome");
	put_small(&w);
	end(&w);
	assert_string_equal(
	    w.out.data,
	    "{\"displayTimeUnit\":\"ns\",\"baseTimeNanoseconds\":5000,\"traceEvents\":[\n"
	    "{\"ph\":\"M\",\"pid\":7,\"tid\":0,\"name\":\"process_name\",\"args\":{\"name\":\"prog\"}},\n"
	    "{\"ph\":\"M\",\"pid\":7,\"tid\":9,\"name\":\"thread_name\",\"args\":{\"name\":\"main\"}},\n"
	    "{\"ph\":\"B\",\"ts\":10.000,\"pid\":7,\"tid\":9,\"name\":\"out;er\"},\n"
	    "{\"ph\":\"B\",\"ts\":20.000,\"pid\":7,\"tid\":9,\"name\":\"say \\\"hi\\\" \"},\n"
	    "{\"ph\":\"B\",\"ts\":20.000,\"pid\":7,\"tid\":9,\"name\":\"say \\\"hi\\\" \"},\n"
	    "{\"ph\":\"E\",\"ts\":30.007,\"pid\":7,\"tid\":9},\n"
	    "{\"ph\":\"E\",\"ts\":40.000,\"pid\":7,\"tid\":9,\"args\":{\"batch\":32.0}},\n"
	    "{\"ph\":\"E\",\"ts\":200010.000,\"pid\":7,\"tid\":9},\n"
	    "{\"ph\":\"i\",\"s\":\"t\",\"ts\":200010.000,\"pid\":7,\"tid\":9,\"name\":\"out;er\"},\n"
	    "{\"ph\":\"C\",\"ts\":200011.000,\"pid\":7,\"tid\":0,\"name\":\"loss\","
	    "\"args\":{\"value\":0.1}},\n"
	    "{\"ph\":\"b\",\"ts\":200012.000,\"pid\":7,\"tid\":9,\"cat\":\"range\",\"id\":\"0xff\","
	    "\"name\":\"batch\"},\n"
	    "{\"ph\":\"B\",\"ts\":200013.000,\"pid\":7,\"tid\":9,\"name\":\"out;er\"},\n"
	    "{\"ph\":\"i\",\"s\":\"t\",\"ts\":200013.500,\"pid\":7,\"tid\":9,\"name\":\"out;er\"},\n"
	    "{\"ph\":\"E\",\"ts\":200013.500,\"pid\":7,\"tid\":9,\"args\":{\"unended\":true}},\n"
	    "{\"ph\":\"e\",\"ts\":200013.500,\"pid\":7,\"tid\":9,\"cat\":\"range\",\"id\":\"0xff\","
	    "\"name\":\"batch\",\"args\":{\"unended\":true}}\n"
	    "]}\n");
	dck_buffer_done(&w.out);
}

/* The drain reads one thread after the other. chrome://tracing matches an end by its name too. */
static void chrome_ends_have_the_name_of_a_begin_that_comes_later(void **state)
{
	writing w;

	(void)state;
	begin(&w, "chrome");
	tell_threads(&w);
	tell(&w, &(trace_track){
		     .id = OTHER, .parent = PROCESS, .kind = TRACE_THREAD, .pid = 7, .tid = 8});
	name(&w, 1, "any");
	for (uint64_t id = 1; id <= 2; id++)
		w.f->events(w.o, OTHER,
			    &(trace_event){.ns = 9000, .kind = TRACE_ASYNC_END, .as.id = id}, 1);
	w.f->events(w.o, THREAD,
		    &(trace_event){.ns = 5000, .kind = TRACE_ASYNC_BEGIN, .name = 1, .as.id = 1},
		    1);
	end(&w);
	assert_non_null(strstr(
	    w.out.data, ",\n{\"ph\":\"b\",\"ts\":5.000,\"pid\":7,\"tid\":9,\"cat\":\"range\","
			"\"id\":\"0x1\",\"name\":\"any\"},\n"
			"{\"ph\":\"e\",\"ts\":9.000,\"pid\":7,\"tid\":8,\"cat\":\"range\","
			"\"id\":\"0x1\",\"name\":\"any\"},\n"
			"{\"ph\":\"e\",\"ts\":9.000,\"pid\":7,\"tid\":8,\"cat\":\"range\","
			"\"id\":\"0x2\",\"name\":\"\"}\n]}"));
	dck_buffer_done(&w.out);
}

/* Flows on the open ranges; outside of any range a flow is left out. */
static void put_flows(writing *w)
{
	const trace_event first[] = {{.ns = 1000, .kind = TRACE_FLOW_BEGIN, .as.id = 300},
				     {.ns = 2000, .kind = TRACE_BEGIN, .name = 1},
				     {.ns = 3000, .kind = TRACE_FLOW_BEGIN, .as.id = 300},
				     {.ns = 4000, .kind = TRACE_FLOW_STEP, .as.id = 300},
				     {.ns = 5000, .kind = TRACE_FLOW_END, .as.id = 300},
				     {.ns = 6000, .kind = TRACE_END}};

	tell_threads(w);
	name(w, 1, "r");
	w->f->events(w->o, THREAD, first, 6);
}

static void flows_are_written(void **state)
{
	static const char want[] = "0a0b 5002 40d00f 5a04 4801 5001"
				   "0a0e 5002 40e807 5a07 3205 1073 30ac02"	 /* s */
				   "0a0e 5002 40e807 5a07 3205 1074 30ac02"	 /* t */
				   "0a10 5002 40e807 5a09 3207 1066 30ac02 6001" /* f */
				   "0a09 5002 40e807 5a02 4802";
	writing w;

	(void)state;
	begin(&w, "perfetto");
	put_flows(&w);
	end(&w);
	assert_bytes(&w.out, w.out.n - 74, want);
	dck_buffer_done(&w.out);
	begin(&w, "chrome");
	put_flows(&w);
	end(&w);
	assert_non_null(strstr(
	    w.out.data,
	    "\"thread_name\",\"args\":{\"name\":\"main\"}},\n"
	    "{\"ph\":\"B\",\"ts\":2.000,\"pid\":7,\"tid\":9,\"name\":\"r\"},\n"
	    "{\"ph\":\"s\",\"ts\":3.000,\"pid\":7,\"tid\":9,\"cat\":\"flow\",\"id\":\"0x12c\","
	    "\"name\":\"flow\"},\n"
	    "{\"ph\":\"t\",\"ts\":4.000,\"pid\":7,\"tid\":9,\"cat\":\"flow\",\"id\":\"0x12c\","
	    "\"name\":\"flow\"},\n"
	    "{\"ph\":\"f\",\"bp\":\"e\",\"ts\":5.000,\"pid\":7,\"tid\":9,\"cat\":\"flow\","
	    "\"id\":\"0x12c\",\"name\":\"flow\"},\n"
	    "{\"ph\":\"E\",\"ts\":6.000,\"pid\":7,\"tid\":9}\n"));
	dck_buffer_done(&w.out);
}

static void chrome_has_categories(void **state)
{
	writing w;

	(void)state;
	begin(&w, "chrome");
	tell_threads(&w);
	w.f->intern(w.o, 1, &(trace_name){.text = "a", .n = 1, .category = "io \"2\""});
	put(&w, THREAD, 1000, TRACE_BEGIN, 1);
	put(&w, THREAD, 1000, TRACE_INSTANT, 1);
	put(&w, THREAD, 2000, TRACE_END, 0);
	w.f->events(w.o, THREAD,
		    &(trace_event){.ns = 3000, .kind = TRACE_ASYNC_BEGIN, .name = 1, .as.id = 1},
		    1);
	w.f->events(w.o, THREAD, &(trace_event){.ns = 4000, .kind = TRACE_ASYNC_END, .as.id = 1},
		    1);
	end(&w);
	assert_non_null(strstr(
	    w.out.data,
	    "{\"ph\":\"B\",\"ts\":1.000,\"pid\":7,\"tid\":9,\"cat\":\"io \\\"2\\\"\",\"name\":\"a\"},\n"
	    "{\"ph\":\"i\",\"s\":\"t\",\"ts\":1.000,\"pid\":7,\"tid\":9,"
	    "\"cat\":\"io \\\"2\\\"\",\"name\":\"a\"},\n"
	    "{\"ph\":\"E\",\"ts\":2.000,\"pid\":7,\"tid\":9},\n"
	    /* Viewers match these by category and id. */
	    "{\"ph\":\"b\",\"ts\":3.000,\"pid\":7,\"tid\":9,\"cat\":\"range\",\"id\":\"0x1\","
	    "\"name\":\"a\"},\n"
	    "{\"ph\":\"e\",\"ts\":4.000,\"pid\":7,\"tid\":9,\"cat\":\"range\",\"id\":\"0x1\","
	    "\"name\":\"a\"}\n"
	    "]}\n"));
	dck_buffer_done(&w.out);
}

static void assert_written(const char *format, const char *want)
{
	writing w;

	begin(&w, format);
	put_small(&w);
	end(&w);
	assert_string_equal(w.out.data, want);
	dck_buffer_done(&w.out);
}

static void folded_stacks_add_up(void **state)
{
	(void)state;
	assert_written("folded", "main 9;out er 199980500\n"
				 "main 9;out er;say \"hi\"  9993\n"
				 "main 9;out er;say \"hi\" ;say \"hi\"  10007\n"
				 "ranges of no thread;batch 1500\n");
}

/* A number at the end of a stack would be the first of two weights. */
static void folded_stacks_end_in_no_number(void **state)
{
	static const char *const names[] = {"layer 3", "v 1.2.3", "7", "pi 3.14"};
	writing w;

	(void)state;
	begin(&w, "folded");
	tell_threads(&w);
	for (uint32_t i = 0; i < 4; i++) {
		name(&w, i + 1, names[i]);
		put(&w, THREAD, i * UINT64_C(10), TRACE_BEGIN, i + 1);
	}
	for (uint64_t i = 0; i < 4; i++)
		put(&w, THREAD, 40 + i, TRACE_END, 0);
	end(&w);
	assert_string_equal(w.out.data, "main 9;layer_3 11\n"
					"main 9;layer_3;v 1.2.3 11\n"
					"main 9;layer_3;v 1.2.3;7 11\n"
					"main 9;layer_3;v 1.2.3;7;pi_3.14 10\n");
	dck_buffer_done(&w.out);
}

static void speedscope_adds_up(void **state)
{
	(void)state;
	assert_written(
	    "speedscope",
	    "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
	    "\"exporter\":\"deepclock " DCK_VERSION "\",\"name\":\"prog\",\"shared\":{\"frames\":["
	    "{\"name\":\"main 9\"},{\"name\":\"out;er\"},{\"name\":\"say \\\"hi\\\" \"},"
	    "{\"name\":\"ranges of no thread\"},{\"name\":\"batch\"}]},"
	    "\"profiles\":[{\"type\":\"sampled\",\"name\":\"main 9\",\"unit\":\"nanoseconds\","
	    "\"startValue\":0,\"samples\":[[1],[1,2],[1,2,2]],\"weights\":[199980500,9993,10007],"
	    "\"endValue\":200000500},"
	    "{\"type\":\"sampled\",\"name\":\"ranges of no thread\",\"unit\":\"nanoseconds\","
	    "\"startValue\":0,\"samples\":[[4]],\"weights\":[1500],\"endValue\":1500}]}\n");
}

/* A range inside one with its name becomes a separate function, so that no time counts twice. */
static void callgrind_adds_up(void **state)
{
	(void)state;
	assert_written("callgrind",
		       "# callgrind format\nversion: 1\ncreator: deepclock " DCK_VERSION
		       "\ncmd: prog\npositions: line\nevents: ns\n"
		       "summary: 200002000\n\nfl=(1) ranges\n"
		       "fn=(1) main 9\n0 0\n"
		       "cfn=(2) out;er\ncalls=2 0\n0 200000500\n\n"
		       "fn=(2)\n0 199980500\n"
		       "cfn=(3) say \"hi\" \ncalls=1 0\n0 20000\n\n"
		       "fn=(3)\n0 9993\n"
		       "cfn=(4) say \"hi\" '2\ncalls=1 0\n0 10007\n\n"
		       "fn=(4)\n0 10007\n\n"
		       "fn=(5) ranges of no thread\n0 0\n"
		       "cfn=(6) batch\ncalls=1 0\n0 1500\n\n"
		       "fn=(6)\n0 1500\n\n");
}

static void csv_has_a_row_for_each(void **state)
{
	(void)state;
	assert_written("rows", "pid,tid,thread,kind,name,begin_ns,duration_ns,depth,value\n"
			       "7,9,\"main\",number,\"batch\",,,2,32\n"
			       "7,9,\"main\",range,\"say \"\"hi\"\" \",20000,10007,3,\n"
			       "7,9,\"main\",range,\"say \"\"hi\"\" \",20000,20000,2,\n"
			       "7,9,\"main\",range,\"out;er\",10000,200000000,1,\n"
			       "7,9,\"main\",instant,\"out;er\",200010000,,,\n"
			       "7,,,counter,\"loss\",200011000,,,0.1\n"
			       "7,9,\"main\",async begin,\"batch\",200012000,,,255\n"
			       "7,9,\"main\",instant,\"out;er\",200013500,,,\n"
			       "7,9,\"main\",range,\"out;er\",200013000,500,1,\n");
}

static void pstats_is_a_dictionary_of_python(void **state)
{
	writing w;

	(void)state;
	begin(&w, "pstats");
	tell_threads(&w);
	name(&w, 1, "a");
	put(&w, THREAD, 0, TRACE_BEGIN, 1);
	put(&w, THREAD, 500000000, TRACE_END, 0);
	end(&w);
	assert_bytes(
	    &w.out, 0,
	    "7b"
	    "2803000000 7506000000 746872656164 6900000000 7506000000 6d61696e2039" /* main 9 */
	    "2805000000 6900000000 6900000000 670000000000000000 67000000000000e03f 7b30"
	    "2803000000 7501000000 7e 6900000000 7501000000 61" /* ("~", 0, "a"): */
	    "2805000000 6901000000 6901000000 67000000000000e03f 67000000000000e03f"
	    "7b 2803000000 7506000000 746872656164 6900000000 7506000000 6d61696e2039"
	    "2804000000 6901000000 6901000000 67000000000000e03f 67000000000000e03f 30"
	    "30");
	dck_buffer_done(&w.out);
}

static void pprof_is_a_compressed_profile(void **state)
{
	unsigned char plain[1024];
	writing w;

	(void)state;
	begin(&w, "pprof");
	tell_threads(&w);
	name(&w, 1, "a");
	put(&w, THREAD, 0, TRACE_BEGIN, 1);
	put(&w, THREAD, 100, TRACE_BEGIN, 1);
	put(&w, THREAD, 120, TRACE_END, 0);
	put(&w, THREAD, 300, TRACE_END, 0);
	end(&w);
	z_stream z = {.next_in = (unsigned char *)w.out.data,
		      .avail_in = (unsigned)w.out.n,
		      .next_out = plain,
		      .avail_out = sizeof plain};
	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(inflateEnd(&z), Z_OK);
	assert_bytes(&(dck_buffer){.data = (char *)plain, .n = z.total_out}, 0,
		     "0a04 0801 1002 0a04 0803 1004"	       /* calls, count; time, nanoseconds */
		     "120d 0802 1001 109802 1a04 0805 1006"    /* a: 1 call, 280 ns, on main 9 */
		     "120e 0802 0802 1001 1014 1a04 0805 1006" /* the leaf first: a, a */
		     "2206 0801 2202 0801 2206 0802 2202 0802"
		     "2a04 0801 1006 2a04 0802 1007"
		     "3200 320563616c6c73 3205636f756e74 320474696d65 320b6e616e6f7365636f6e6473"
		     "3206746872656164 32066d61696e2039 320161"
		     "488827 50ac02 7003");
	dck_buffer_done(&w.out);
}

/* Deeper than the limit: the time belongs to the enclosing ranges, and sums stay correct. */
static void paths_are_bounded(void **state)
{
	static const char *const formats[] = {"folded", "callgrind", "speedscope",
					      "pstats", "pprof",     "rows"};
	(void)state;
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
		writing w;
		uint64_t sum = 0;
		begin(&w, formats[i]);
		tell_threads(&w);
		name(&w, 1, "a");
		for (uint64_t k = 0; k < 5000; k++)
			put(&w, THREAD, k, TRACE_BEGIN, 1);
		for (uint64_t k = 0; k < 4000; k++)
			put(&w, THREAD, 5000 + k, TRACE_END, 0);
		end(&w);
		for (const char *p = w.out.data; i == 0 && p && *p; p = strchr(p, '\n') + 1) {
			const char *blank = strchr(p, '\n');
			while (*blank != ' ')
				blank--;
			sum += strtoull(blank, NULL, 10);
		}
		if (i == 0)
			assert_int_equal(sum, 8999);
		assert_true(w.out.n > 0);
		dck_buffer_done(&w.out);
	}
}

static dck_status count_bytes(void *self, const void *bytes, size_t n, dck_err *err)
{
	(void)bytes;
	(void)err;
	*(uint64_t *)self += n;
	return DCK_OK;
}

/* Some long names, deeply nested, would make terabytes of paths. */
static void paths_together_are_bounded(void **state)
{
	static char text[4000];
	writing w = {.f = trace_format_find("folded")};
	uint64_t written = 0;

	(void)state;
	memset(text, 'x', sizeof text);
	dck_sink_custom(&w.sink, count_bytes, &written);
	assert_int_equal(w.f->open(&w.o, &w.sink, &(trace_header){0}, NULL), DCK_OK);
	tell_threads(&w);
	w.f->intern(w.o, 1, &(trace_name){.text = text, .n = sizeof text});
	for (uint64_t k = 0; k < 1000; k++)
		put(&w, THREAD, k, TRACE_BEGIN, 1);
	assert_int_equal(w.f->close(w.o, NULL), DCK_OK);
	assert_int_equal(dck_sink_finish(&w.sink, NULL), DCK_OK);
	assert_in_range(written, 200000000, 270000000);
}

/* --- every format */

/* All kinds of events, on three threads, with values that need escaping in some format. */
static void put_all(writing *w)
{
	static const char *const strange[] = {
	    "plain",	    "quo\"te\\", "semi;colon",	"line\nbreak\ttab\x01",
	    "\xff\xfe\xc3", "",		 "caf\xc3\xa9",
	};
	uint32_t names = sizeof strange / sizeof *strange;

	tell_threads(w);
	tell(w, &(trace_track){.id = OTHER, .parent = PROCESS, .kind = TRACE_THREAD, .pid = 7});
	tell(w,
	     &(trace_track){.id = LOSS, .parent = PROCESS, .kind = TRACE_COUNTER_TRACK, .pid = 7});
	for (uint32_t i = 0; i < names; i++)
		name(w, i + 1, strange[i]);
	put(w, THREAD, 0, TRACE_END, 0);
	for (uint32_t i = 0; i < 200; i++) {
		put(w, THREAD, i * 10, TRACE_BEGIN, 1 + i % (names + 2)); /* two are undefined */
		number(w, THREAD, 1 + i % names, i % 3 ? (double)i : (double)NAN);
		put(w, THREAD, i * 10, TRACE_INSTANT, 3);
		put(w, OTHER, i * 7, i % 5 == 4 ? TRACE_END : TRACE_BEGIN, 2);
		w->f->events(w->o, OTHER,
			     &(trace_event){.ns = i * 7,
					    .kind = i % 2 ? TRACE_ASYNC_END : TRACE_ASYNC_BEGIN,
					    .name = 3,
					    .as.id = i % 4 < 2 ? i / 2 : i * UINT64_C(1000003)},
			     1);
		w->f->events(w->o, LOSS,
			     &(trace_event){.ns = i,
					    .kind = TRACE_COUNTER,
					    .as.real = i % 2 ? 1.0 / i : INFINITY},
			     1);
		if (i % 2)
			put(w, THREAD, i * 10, TRACE_END, 0);
	}
	put(w, 99, 5, TRACE_BEGIN, 1);	  /* an undefined track */
	put(w, OTHER, 3, TRACE_BEGIN, 1); /* back in time */
	put(w, OTHER, UINT64_MAX / 2, TRACE_END, 0);
}

static dck_status all_of(writing *w, const trace_format *f, dck_err *err)
{
	*w = (writing){.f = f};
	dck_sink_buffer(&w->sink, &w->out);
	dck_status status = f->open(&w->o, &w->sink, &(trace_header){.unix_ns = 1}, err);
	if (status != DCK_OK)
		return status;
	put_all(w);
	status = f->close(w->o, err);
	dck_status written = dck_sink_finish(&w->sink, err);
	return status != DCK_OK ? status : written;
}

static void every_format_survives_a_lack_of_memory(void **state)
{
	size_t n;
	const trace_format *const *formats = trace_formats(&n);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		size_t fail = 1;
		for (bool done = false; !done; fail++) {
			fault_alloc f;
			writing w;
			dck_err err = {0};
			fault_alloc_begin(&f, fail);
			dck_status status = all_of(&w, formats[i], &err);
			dck_buffer_done(&w.out);
			done = f.calls < fail;
			dck_set_allocator(NULL);
			assert_int_equal(status, done ? DCK_OK : DCK_E_NOMEM);
			assert_int_equal(f.out, 0);
		}
		assert_true(fail > 5);
	}
}

static dck_status full(void *self, const void *bytes, size_t n, dck_err *err)
{
	(void)bytes;
	(void)err;
	size_t *left = self;
	if (n > *left)
		return DCK_E_IO;
	*left -= n;
	return DCK_OK;
}

static void every_format_survives_a_full_disk(void **state)
{
	size_t n;
	const trace_format *const *formats = trace_formats(&n);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		size_t left = 10;
		writing w = {.f = formats[i]};
		dck_err err = {0};
		dck_sink_custom(&w.sink, full, &left);
		assert_int_equal(w.f->open(&w.o, &w.sink, &(trace_header){0}, NULL), DCK_OK);
		put_all(&w);
		assert_int_equal(w.f->close(w.o, NULL), DCK_OK);
		assert_int_equal(dck_sink_finish(&w.sink, &err), DCK_E_IO);
	}
}

/* A process that ended first: what it left open lasted until its own last event. */
static void open_ranges_end_with_their_process(void **state)
{
	static const char *const rows[][2] = {
	    {"chrome",
	     "{\"ph\":\"E\",\"ts\":9.000,\"pid\":8,\"tid\":8,\"args\":{\"unended\":true}}"},
	    {"chrome", "{\"ph\":\"e\",\"ts\":9.000,\"pid\":8,\"tid\":8,\"cat\":\"range\""},
	    {"rows", "8,8,,range,\"left\",2000,7000,1,\n"},
	    {"folded", "thread 8;left 7000\n"},
	    {"folded", "ranges of no thread;any 6000\n"}};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		writing w;

		begin(&w, rows[i][0]);
		tell_threads(&w);
		tell(&w, &(trace_track){.id = OTHER, .kind = TRACE_PROCESS, .pid = 8});
		tell(&w, &(trace_track){.id = OTHER + 1,
					.parent = OTHER,
					.kind = TRACE_THREAD,
					.pid = 8,
					.tid = 8});
		tell(&w, &(trace_track){.id = OTHER + 2,
					.parent = OTHER + 1,
					.kind = TRACE_COUNTER_TRACK,
					.pid = 8,
					.tid = 8,
					.name = "CPU"});
		name(&w, 1, "left");
		name(&w, 2, "any");
		put(&w, OTHER + 1, 2000, TRACE_BEGIN, 1);
		w.f->events(
		    w.o, OTHER + 1,
		    &(trace_event){.ns = 3000, .kind = TRACE_ASYNC_BEGIN, .name = 2, .as.id = 5},
		    1);
		put(&w, OTHER + 2, 9000, TRACE_COUNTER, 0);
		put(&w, THREAD, 500000, TRACE_INSTANT, 1);
		end(&w);
		if (!strstr(w.out.data, rows[i][1]))
			fail_msg("%s", w.out.data);
		dck_buffer_done(&w.out);
	}
}

/* A range in pieces is one call. */
static void pieces_are_one_call(void **state)
{
	writing w;

	(void)state;
	begin(&w, "callgrind");
	tell_threads(&w);
	name(&w, 1, "a");
	name(&w, 2, "continued");
	put(&w, THREAD, 0, TRACE_BEGIN, 1);
	number(&w, THREAD, 2, 1);
	put(&w, THREAD, 10, TRACE_END, 0);
	put(&w, THREAD, 10, TRACE_BEGIN, 1);
	put(&w, THREAD, 30, TRACE_END, 0);
	end(&w);
	assert_non_null(strstr(w.out.data, "\ncalls=1 "));
	dck_buffer_done(&w.out);
}

/* An annotation without a name is not the mark of a piece. */
static void an_unnamed_annotation_continues_no_range(void **state)
{
	writing w;

	(void)state;
	begin(&w, "callgrind");
	tell_threads(&w);
	name(&w, 1, "a");
	for (uint64_t ns = 0; ns < 20; ns += 10) {
		put(&w, THREAD, ns, TRACE_BEGIN, 1);
		number(&w, THREAD, 0, 1);
		put(&w, THREAD, ns + 10, TRACE_END, 0);
	}
	end(&w);
	assert_non_null(strstr(w.out.data, "\ncalls=2 "));
	dck_buffer_done(&w.out);
}

static void every_format_has_a_name_of_its_own(void **state)
{
	size_t n;
	const trace_format *const *formats = trace_formats(&n);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		assert_ptr_equal(trace_format_find(formats[i]->name), formats[i]);
		assert_true(formats[i]->suffix[0] == '.' && formats[i]->help[0]);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(formats[k]->suffix, formats[i]->suffix);
	}
	assert_null(trace_format_find("no such format"));
}

int test_trace_formats(void);
int test_trace_formats(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(perfetto_says_what_was_given),
	    cmocka_unit_test(perfetto_explains_categories_and_places),
	    cmocka_unit_test(perfetto_has_numbers_counters_and_open_ranges),
	    cmocka_unit_test(chrome_says_what_was_given),
	    cmocka_unit_test(chrome_ends_have_the_name_of_a_begin_that_comes_later),
	    cmocka_unit_test(flows_are_written),
	    cmocka_unit_test(chrome_has_categories),
	    cmocka_unit_test(folded_stacks_add_up),
	    cmocka_unit_test(folded_stacks_end_in_no_number),
	    cmocka_unit_test(speedscope_adds_up),
	    cmocka_unit_test(callgrind_adds_up),
	    cmocka_unit_test(csv_has_a_row_for_each),
	    cmocka_unit_test(pstats_is_a_dictionary_of_python),
	    cmocka_unit_test(pprof_is_a_compressed_profile),
	    cmocka_unit_test(paths_are_bounded),
	    cmocka_unit_test(paths_together_are_bounded),
	    cmocka_unit_test(every_format_survives_a_lack_of_memory),
	    cmocka_unit_test(every_format_survives_a_full_disk),
	    cmocka_unit_test(every_format_has_a_name_of_its_own),
	    cmocka_unit_test(open_ranges_end_with_their_process),
	    cmocka_unit_test(pieces_are_one_call),
	    cmocka_unit_test(an_unnamed_annotation_continues_no_range),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
