/* Tests of read/perfetto/perfetto_stacks.c and of the samples in each format.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/err.h"
#include "profiler/write/formats.h"
#include "fault_alloc.h"
#include "trace_foreign.h"

enum { CLOCK = 3, PAGE_FAULTS = 2 };

static void row_put(foreign *x, uint32_t field, int64_t iid, const char *text)
{
	const size_t at = wire_begin(&x->w, field);

	wire_put_int(&x->w, PF_NAME_IID, iid);
	if (text)
		wire_put_text(&x->w, PF_NAME_TEXT, text);
	wire_end(&x->w, at);
}

static void list_put(foreign *x, uint32_t field, int64_t iid, uint32_t part, int64_t a, int64_t b)
{
	const size_t at = wire_begin(&x->w, field);

	wire_put_int(&x->w, PF_NAME_IID, iid);
	wire_put_int(&x->w, part, a);
	if (b)
		wire_put_int(&x->w, part, b);
	wire_end(&x->w, at);
}

static void frame_put(foreign *x, int64_t iid, int64_t function, int64_t mapping)
{
	const size_t at = wire_begin(&x->w, PF_INTERNED_FRAMES);

	wire_put_int(&x->w, PF_NAME_IID, iid);
	wire_put_int(&x->w, PF_FRAME_FUNCTION, function);
	wire_put_int(&x->w, PF_FRAME_MAPPING, mapping);
	wire_end(&x->w, at);
}

/* Writes the state of a sequence whose samples count `counter`: main, and main;work in a library
 * whose path has parts. Referenced rows come after their references. */
static void state_put(foreign *x, uint32_t sequence, int64_t counter)
{
	packet(x, sequence);
	wire_put_int(&x->w, PF_PACKET_FLAGS, PF_FLAG_CLEARED | PF_FLAG_NEEDED);
	const size_t defaults = wire_begin(&x->w, PF_PACKET_DEFAULTS);
	const size_t sample = wire_begin(&x->w, PF_DEFAULTS_SAMPLE);
	const size_t timebase = wire_begin(&x->w, PF_SAMPLES_TIMEBASE);
	wire_put_int(&x->w, PF_TIMEBASE_RATE, 100);
	wire_put_int(&x->w, PF_TIMEBASE_COUNTER, counter);
	wire_end(&x->w, timebase);
	wire_end(&x->w, sample);
	wire_end(&x->w, defaults);
	const size_t interned = wire_begin(&x->w, PF_PACKET_INTERNED);
	list_put(x, PF_INTERNED_CALLSTACKS, 1, PF_CALLSTACK_FRAME, 1, 0);
	list_put(x, PF_INTERNED_CALLSTACKS, 2, PF_CALLSTACK_FRAME, 1, 2);
	frame_put(x, 1, 1, 1);
	frame_put(x, 2, 2, 2);
	list_put(x, PF_INTERNED_MAPPINGS, 1, PF_MAPPING_PATH, 1, 0);
	list_put(x, PF_INTERNED_MAPPINGS, 2, PF_MAPPING_PATH, 2, 3);
	row_put(x, PF_INTERNED_MODULES, 1, "app");
	row_put(x, PF_INTERNED_MODULES, 2, "lib");
	row_put(x, PF_INTERNED_MODULES, 3, "libwork.so");
	row_put(x, PF_INTERNED_FUNCTIONS, 1, "main");
	row_put(x, PF_INTERNED_FUNCTIONS, 2, "work");
	wire_end(&x->w, interned);
	packet_end(x);
}

static void sample_put(foreign *x, uint32_t sequence, int64_t ns, int64_t cpu, int64_t count,
		       int64_t stack)
{
	stamp(x, sequence, ns, 0);
	const size_t at = wire_begin(&x->w, PF_PACKET_SAMPLE);
	wire_put_int(&x->w, PF_SAMPLE_CPU, cpu);
	wire_put_int(&x->w, PF_SAMPLE_PID, 4);
	wire_put_int(&x->w, PF_SAMPLE_TID, 5);
	if (stack)
		wire_put_int(&x->w, PF_SAMPLE_CALLSTACK, stack);
	wire_put_int(&x->w, PF_SAMPLE_COUNT, count);
	wire_end(&x->w, at);
	packet_end(x);
}

/* A zone from 1000 to 5000 after the base, and samples on two CPUs, one before the base. */
static void trace_put(foreign *x)
{
	packet(x, 1);
	const size_t at = wire_begin(&x->w, PF_PACKET_CLOCK_SNAPSHOT);
	clock(x, PF_BOOTTIME, 10000, 0, false);
	wire_end(&x->w, at);
	packet_end(x);
	thread(x, 77, 4, 5, "main");
	stamp(x, 1, 11000, 0);
	event(x, PF_BEGIN, 77, "zone");
	event_end(x);
	stamp(x, 1, 15000, 0);
	event(x, PF_END, 77, NULL);
	event_end(x);
	state_put(x, 8, CLOCK);
	sample_put(x, 8, 9990, 0, 1000, 1);
	sample_put(x, 8, 12000, 0, 2500, 2);
	sample_put(x, 8, 12500, 1, 700, 2); /* each CPU has a separate count */
	sample_put(x, 8, 13000, 0, 3000, 0);
	sample_put(x, 8, 14000, 1, 900, 99); /* unknown stack */
}

static dck_status converted(const foreign *x, const char *form, dck_buffer *ret,
			    trace_read_facts *facts, dck_err *err)
{
	dck_sink sink;
	wire_source s;

	*ret = (dck_buffer){0};
	dck_sink_buffer(&sink, ret);
	DCK_TRY(wire_source_bytes(x->w.data, x->w.n, &wire_perfetto, &s, err));
	dck_status status = perfetto_read(&s, trace_format_find(form), &sink, facts, err);
	const dck_status written = dck_sink_finish(&sink, status == DCK_OK ? err : NULL);
	wire_source_close(&s);
	return status == DCK_OK ? written : status;
}

static const char rows[] = "pid,tid,thread,kind,name,begin_ns,duration_ns,depth,value\n"
			   "4,5,\"main\",range,\"zone\",1000,4000,1,\n"
			   "4,5,,sample,\"main\",-10,,1,1000\n"
			   "4,5,,sample,\"main;work\",2000,,2,1500\n"
			   "4,5,,sample,\"main;work\",2500,,2,700\n"
			   "4,5,,sample,,3000,,0,500\n"
			   "4,5,,sample,,4000,,0,200\n";

static void samples_of_another_producer(void **state)
{
	foreign x = {0};
	trace_read_facts facts;
	dck_buffer b;

	(void)state;
	trace_put(&x);
	state_put(&x, 9, PAGE_FAULTS);
	sample_put(&x, 9, 12000, 0, 1, 1); /* a count without time */
	stamp(&x, 8, 1, 99);		   /* a clock that no snapshot has */
	wire_end(&x.w, wire_begin(&x.w, PF_PACKET_SAMPLE));
	packet_end(&x);
	assert_int_equal(converted(&x, "rows", &b, &facts, NULL), DCK_OK);
	assert_string_equal(b.data, rows);
	assert_int_equal(facts.samples, 5);
	assert_int_equal(facts.skipped, 1);
	assert_int_equal(facts.undated, 1);
	dck_buffer_done(&b);
	wire_out_done(&x.w);
}

static void a_copy_has_the_same_samples(void **state)
{
	foreign x = {0}, copy = {0};
	trace_read_facts facts;
	dck_buffer b, again;

	(void)state;
	trace_put(&x);
	assert_int_equal(converted(&x, "perfetto", &b, &facts, NULL), DCK_OK);
	copy.w.data = (uint8_t *)b.data;
	copy.w.n = b.n;
	assert_int_equal(converted(&copy, "rows", &again, &facts, NULL), DCK_OK);
	assert_string_equal(again.data, rows);
	assert_int_equal(facts.skipped, 0);
	dck_buffer_done(&again);
	dck_buffer_done(&b);
	wire_out_done(&x.w);
}

static void in_chromes_format(void **state)
{
	foreign x = {0};
	trace_read_facts facts;
	dck_buffer b;

	(void)state;
	trace_put(&x);
	assert_int_equal(converted(&x, "chrome", &b, &facts, NULL), DCK_OK);
	assert_non_null(strstr(b.data, "{\"ph\":\"P\",\"ts\":-0.010,\"pid\":4,\"tid\":5,"
				       "\"cat\":\"sample\",\"name\":\"sample\",\"sf\":1,"
				       "\"args\":{\"cpu_ns\":1000,\"rate\":100}}"));
	assert_non_null(strstr(b.data, "\"name\":\"sample\",\"args\":{\"cpu_ns\":500,"));
	assert_non_null(strstr(b.data, "],\"stackFrames\":{\n"
				       "\"1\":{\"name\":\"main\",\"category\":\"app\"},\n"
				       "\"2\":{\"name\":\"work\",\"category\":\"/lib/libwork.so\","
				       "\"parent\":1}\n}}\n"));
	dck_buffer_done(&b);
	wire_out_done(&x.w);
}

/* A format with one tree gets the tree of the zones. */
static void as_trees(void **state)
{
	foreign x = {0};
	trace_read_facts facts;
	dck_buffer b;

	(void)state;
	trace_put(&x);
	assert_int_equal(converted(&x, "folded", &b, &facts, NULL), DCK_OK);
	assert_string_equal(b.data, "main 5;zone 4000\n");
	dck_buffer_done(&b);
	assert_false(trace_format_has_samples(trace_format_find("folded")));
	assert_int_equal(converted(&x, "speedscope", &b, &facts, NULL), DCK_OK);
	assert_true(trace_format_has_samples(trace_format_find("speedscope")));
	assert_non_null(strstr(b.data, "\"name\":\"main 5\",\"unit\":\"nanoseconds\","
				       "\"startValue\":0,\"samples\":[[1]],\"weights\":[4000]"));
	assert_non_null(strstr(b.data,
			       "\"name\":\"Samples by call path: samples\",\"unit\":\"none\","
			       "\"startValue\":0,\"samples\":[[2],[3],[3,4]],"
			       "\"weights\":[2,1,2]"));
	assert_non_null(strstr(b.data, "\"weights\":[700,1000,2200]"));
	dck_buffer_done(&b);
	wire_out_done(&x.w);
}

static void a_lack_of_memory_is_reported(void **state)
{
	static const char *const forms[] = {"perfetto", "chrome", "rows", "speedscope"};
	foreign x = {0};

	(void)state;
	trace_put(&x);
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		bool done = false;

		for (size_t fail = 1; !done; fail++) {
			fault_alloc alloc;
			trace_read_facts facts;
			dck_buffer b;
			dck_err err = {0};

			fault_alloc_begin(&alloc, fail);
			const dck_status status = converted(&x, forms[i], &b, &facts, &err);
			dck_buffer_done(&b);
			done = alloc.calls < fail;
			dck_set_allocator(NULL);
			if ((status == DCK_OK) != done)
				fail_msg("%s: allocation %zu of %zu", forms[i], fail, alloc.calls);
			assert_true(status == DCK_OK || status == DCK_E_NOMEM);
			assert_int_equal(alloc.out, 0);
		}
	}
	wire_out_done(&x.w);
}

int test_trace_samples(void);
int test_trace_samples(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(samples_of_another_producer),
	    cmocka_unit_test(a_copy_has_the_same_samples),
	    cmocka_unit_test(in_chromes_format),
	    cmocka_unit_test(as_trees),
	    cmocka_unit_test(a_lack_of_memory_is_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
