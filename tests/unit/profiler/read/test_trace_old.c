/* Tests of perfetto_read.c: compressed files, and output of old producers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "trace_foreign.h"

#include "os/file/gzip.h"
#include "profiler/read/inflate_reader.h"

static const char main_thread[] = "thread 4/5 'main'  of 'process 4/0 ''  of '''";

static void interned(foreign *x, uint32_t field, int64_t iid, const char *text, int64_t line)
{
	size_t all = wire_begin(&x->w, PF_PACKET_INTERNED), one = wire_begin(&x->w, field);

	wire_put_int(&x->w, PF_NAME_IID, iid);
	wire_put_text(&x->w, PF_NAME_TEXT, text);
	if (line)
		wire_put_int(&x->w, PF_SOURCE_LINE, line);
	wire_end(&x->w, one);
	wire_end(&x->w, all);
}

static void plain(foreign *x, int64_t ns, int64_t type, int64_t track, const char *name)
{
	stamp(x, 2, ns, 0);
	event(x, type, track, name);
	event_end(x);
}

/* --- categories, source locations, flows */

static void categories_and_places_are_read(void **state)
{
	foreign x = {0};
	trace_read_facts facts;

	(void)state;
	thread(&x, 77, 4, 5, "main");
	packet(&x, 2);
	interned(&x, PF_INTERNED_CATEGORIES, 3, "gpu", 0);
	packet_end(&x);
	packet(&x, 2);
	interned(&x, PF_INTERNED_SOURCES, 3, "a.cc", 12);
	packet_end(&x);
	for (int i = 0; i < 2; i++) { /* the location at the first use of a name is its location */
		stamp(&x, 2, i, 0);
		event(&x, PF_BEGIN, 77, "copy");
		wire_put_int(&x.w, PF_EVENT_CATEGORY_IID, 3);
		wire_put_text(&x.w, PF_EVENT_CATEGORY, "own");
		if (i == 0)
			wire_put_int(&x.w, PF_EVENT_SOURCE_IID, 3);
		event_end(&x);
	}
	plain(&x, 2, PF_BEGIN, 77, "copy");
	stamp(&x, 2, 3, 0);
	event(&x, PF_INSTANT, 77, "mark");
	size_t at = wire_begin(&x.w, PF_EVENT_SOURCE);
	wire_put_text(&x.w, PF_NAME_TEXT, "b.cc");
	wire_end(&x.w, at);
	event_end(&x);
	assert_string_equal(told(&x, main_thread, &facts),
			    "begin 0 copy of gpu,own at a.cc:12\n"
			    "begin 1 copy of gpu,own at a.cc:12\n"
			    "begin 2 copy\ninstant 3 mark at b.cc:0\n");
	wire_out_done(&x.w);
}

static void put_fixed(wire_out *w, uint32_t field, uint64_t v)
{
	double real;

	memcpy(&real, &v, sizeof real);
	wire_put_double(w, field, real);
}

static void flows_are_read(void **state)
{
	static const uint32_t fields[] = {PF_EVENT_FLOW, PF_EVENT_FLOW, PF_EVENT_FLOW_END,
					  PF_EVENT_FLOW_END};
	foreign x = {0};
	trace_read_facts facts;

	(void)state;
	thread(&x, 77, 4, 5, "main");
	for (int i = 0; i < 4; i++) {
		stamp(&x, 2, i, 0);
		event(&x, i == 2 ? PF_END : PF_BEGIN, 77, i == 2 ? NULL : "r");
		put_fixed(&x.w, fields[i], 600);
		if (i == 1)
			wire_put_int(&x.w, PF_EVENT_FLOW_OLD, 601);
		event_end(&x);
	}
	/* The start of the last flow is missing. */
	assert_string_equal(told(&x, main_thread, &facts),
			    "begin 0 r\nflow begin 0 600\nbegin 1 r\nflow step 1 600\n"
			    "flow begin 1 601\nflow end 2 600\nend 2\nbegin 3 r\n");
	wire_out_done(&x.w);
}

/* --- ranges on separate tracks */

/* Nested ranges on one separate track keep their names. */
static void ranges_on_a_lane_may_be_nested(void **state)
{
	foreign x = {0};
	trace_read_facts facts;
	uint64_t outer, inner, other;

	(void)state;
	thread(&x, 77, 4, 5, "main");
	packet(&x, 2);
	size_t track = wire_begin(&x.w, PF_PACKET_TRACK);
	wire_put_int(&x.w, PF_TRACK_UUID, 99);
	wire_put_int(&x.w, PF_TRACK_PARENT, 77);
	wire_end(&x.w, track);
	packet_end(&x);
	plain(&x, 1, PF_BEGIN, 99, "outer");
	plain(&x, 2, PF_BEGIN, 99, "inner");
	plain(&x, 3, PF_END, 99, NULL);
	plain(&x, 4, PF_BEGIN, 99, "other");
	plain(&x, 5, PF_END, 99, NULL);
	plain(&x, 6, PF_END, 99, NULL);
	const char *text = told(&x, main_thread, &facts);
	unsigned long long id[6];
	assert_int_equal(sscanf(text,
				"async begin 0 outer %llu\nasync begin 1 inner %llu\n"
				"async end 2 %llu\nasync begin 3 other %llu\nasync end 4 %llu\n"
				"async end 5 %llu\n",
				&id[0], &id[1], &id[2], &id[3], &id[4], &id[5]),
			 6);
	outer = id[0];
	inner = id[1];
	other = id[3];
	assert_true(outer == 99 && outer != inner && outer != other);
	assert_true(id[2] == inner && id[4] == other && id[5] == outer);
	wire_out_done(&x.w);
}

/* --- phases */

typedef struct phase {
	char letter;
	const char *name;
	int64_t duration_us, id;
} phase;

static void old(foreign *x, int64_t ns, phase p)
{
	stamp(x, 2, ns, 0);
	x->event = wire_begin(&x->w, PF_PACKET_TRACK_EVENT);
	if (p.name)
		wire_put_text(&x->w, PF_EVENT_NAME, p.name);
	size_t legacy = wire_begin(&x->w, PF_EVENT_LEGACY);
	wire_put_int(&x->w, PF_LEGACY_PHASE, p.letter);
	if (p.duration_us)
		wire_put_int(&x->w, PF_LEGACY_DURATION_US, p.duration_us);
	if (p.id)
		wire_put_int(&x->w, PF_LEGACY_ID, p.id);
	wire_end(&x->w, legacy);
}

static void old_thread(foreign *x, int64_t us)
{
	packet(x, 2);
	size_t one = wire_begin(&x->w, PF_PACKET_THREAD);
	wire_put_int(&x->w, PF_THREAD_PID, 4);
	wire_put_int(&x->w, PF_THREAD_TID, 5);
	wire_put_text(&x->w, PF_THREAD_NAME, "main");
	wire_put_int(&x->w, PF_THREAD_US, us);
	wire_end(&x->w, one);
	packet_end(x);
}

static void phases_are_ranges(void **state)
{
	static const phase phases[] = {
	    {'X', "whole", 10, 0}, {'B', "inner", 0, 0},       {'X', "part", 2, 0},
	    {'i', "mark", 0, 0},   {'E', NULL, 0, 0},	       {'s', NULL, 0, 7},
	    {'X', "next", 1, 0},   {'M', "thread_name", 0, 0}, {'f', NULL, 0, 7},
	    {'S', "job", 0, 8},	   {'F', "job", 0, 8}};
	static const int64_t us[] = {1, 2, 3, 4, 8, 9, 11, 11, 11, 20, 21};
	foreign x = {0};
	trace_read_facts facts;
	unsigned long long begin, end;

	(void)state;
	old_thread(&x, 0);
	for (size_t i = 0; i < sizeof phases / sizeof *phases; i++) {
		old(&x, us[i] * 1000, phases[i]);
		event_end(&x);
	}
	const char *text = told(&x, main_thread, &facts);
	const char *rest = strstr(text, "async");
	assert_non_null(rest);
	assert_int_equal(
	    sscanf(rest, "async begin 19000 job %llu\nasync end 20000 %llu\n", &begin, &end), 2);
	assert_true(begin == end);
	((char *)(uintptr_t)rest)[0] = '\0';
	/* A complete range ends at its stated time, between other events. */
	assert_string_equal(text,
			    "begin 0 whole\nbegin 1000 inner\nbegin 2000 part\ninstant 3000 mark\n"
			    "end 4000\nend 7000\nflow begin 8000 7\nend 10000\nbegin 10000 next\n"
			    "flow end 10000 7\nend 11000\n");
	assert_int_equal(facts.skipped, 1);
	wire_out_done(&x.w);
}

/* A long range with more events inside than the reorder buffer holds: no event is late. */
static void the_end_of_a_long_range_is_kept_back(void **state)
{
	enum { MANY = 70000 };
	foreign x = {0};
	trace_log got;
	trace_read_facts facts;
	dck_err err = {0};

	(void)state;
	old_thread(&x, 0);
	old(&x, 0, (phase){'X', "long", MANY + 5, 0});
	event_end(&x);
	for (int i = 1; i <= MANY; i++) {
		old(&x, i * 1000, (phase){'i', "m", 0, 0});
		event_end(&x);
	}
	assert_int_equal(read_log(x.w.data, x.w.n, &got, &facts, &err), DCK_OK);
	assert_int_equal(facts.late, 0);
	assert_int_equal(facts.events, MANY + 2);
	const char *text = trace_log_find(&got, main_thread);
	static const char last[] = "instant 70000000 m\nend 70005000\n";
	assert_string_equal(text + strlen(text) - (sizeof last - 1), last);
	trace_log_done(&got);
	wire_out_done(&x.w);
}

static void old_times_and_counters(void **state)
{
	foreign x = {0};
	trace_read_facts facts;

	(void)state;
	old_thread(&x, 1000);
	for (int i = 0; i < 3; i++) {
		packet(&x, 2);
		x.event = wire_begin(&x.w, PF_PACKET_TRACK_EVENT);
		wire_put_int(&x.w, i == 1 ? PF_EVENT_US : PF_EVENT_DELTA_US, i == 1 ? 1006 : 5);
		wire_put_text(&x.w, PF_EVENT_NAME, "used");
		size_t number = wire_begin(&x.w, PF_EVENT_NUMBER);
		wire_put_text(&x.w, PF_NUMBER_NAME, i ? "value" : "kB");
		wire_put_int(&x.w, PF_NUMBER_INT, 64 + i);
		wire_end(&x.w, number);
		size_t legacy = wire_begin(&x.w, PF_EVENT_LEGACY);
		wire_put_int(&x.w, PF_LEGACY_PHASE, i < 2 ? 'C' : 'I');
		wire_end(&x.w, legacy);
		event_end(&x);
	}
	assert_string_equal(told(&x, "counter 4/0 'used,kB'  of 'process 4/0 ''  of '''", &facts),
			    "counter 0 64\n");
	assert_string_equal(told(&x, "counter 4/0 'used'  of 'process 4/0 ''  of '''", &facts),
			    "counter 1000 65\n");
	assert_string_equal(told(&x, main_thread, &facts), "instant 5000 used\n");
	wire_out_done(&x.w);
}

static void another_thread_may_be_named(void **state)
{
	foreign x = {0};
	trace_read_facts facts;

	(void)state;
	old_thread(&x, 0);
	stamp(&x, 2, 10, 0);
	x.event = wire_begin(&x.w, PF_PACKET_TRACK_EVENT);
	wire_put_text(&x.w, PF_EVENT_NAME, "kernel");
	size_t legacy = wire_begin(&x.w, PF_EVENT_LEGACY);
	wire_put_int(&x.w, PF_LEGACY_PHASE, 'B');
	wire_put_int(&x.w, PF_LEGACY_TID, 99);
	wire_end(&x.w, legacy);
	event_end(&x);
	assert_string_equal(told(&x, "thread 4/99 ''  of 'process 4/0 ''  of '''", &facts),
			    "begin 0 kernel\n");
	wire_out_done(&x.w);
}

/* --- compression */

static void pack(dck_buffer *ret, const void *bytes, size_t n, bool cut)
{
	dck_sink to;
	gzip_sink *g;

	*ret = (dck_buffer){0};
	dck_sink_buffer(&to, ret);
	assert_int_equal(gzip_sink_open(&g, &to, NULL), DCK_OK);
	sink_put(gzip_sink_in(g), bytes, n);
	if (cut)
		gzip_sink_flush(g);
	else
		assert_int_equal(gzip_sink_close(g, NULL), DCK_OK);
	assert_int_equal(dck_sink_finish(&to, NULL), DCK_OK);
	if (cut)
		(void)gzip_sink_close(g, NULL);
	to.used = 0; /* discards the bytes that close() wrote */
}

static void put_many(foreign *x, int n)
{
	thread(x, 77, 4, 5, "main");
	for (int i = 0; i < n; i++)
		plain(x, i, PF_INSTANT, 77, "mark");
}

static void assert_many(const dck_buffer *b, int n, const char *cut)
{
	static trace_log got;
	trace_read_facts facts;
	dck_err err = {0};

	if (read_log(b->data, b->n, &got, &facts, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	assert_int_equal(facts.events, n);
	assert_string_equal(facts.cut, cut);
	trace_log_done(&got);
}

static void a_compressed_file_is_read(void **state)
{
	enum { N = 20000 }; /* more than one step of decompression */
	foreign x = {0};
	dck_buffer b;

	(void)state;
	put_many(&x, N);
	pack(&b, x.w.data, x.w.n, false);
	assert_many(&b, N, "");
	/* Two gzip members, concatenated, are one file. */
	dck_sink more;
	char *copy = malloc(b.n);
	size_t n = b.n;
	memcpy(copy, b.data, n);
	dck_sink_buffer(&more, &b);
	sink_put(&more, copy, n);
	assert_int_equal(dck_sink_finish(&more, NULL), DCK_OK);
	free(copy);
	assert_many(&b, 2 * N, "");
	/* Zeros may follow, as of a device that writes whole blocks; other bytes may not. */
	static const char zeros[20000];
	dck_sink_buffer(&more, &b);
	sink_put(&more, zeros, sizeof zeros);
	assert_int_equal(dck_sink_finish(&more, NULL), DCK_OK);
	assert_many(&b, 2 * N, "");
	dck_sink_buffer(&more, &b);
	sink_put(&more, "zzz", 3);
	assert_int_equal(dck_sink_finish(&more, NULL), DCK_OK);
	assert_many(&b, 2 * N,
		    "the trace in memory is malformed: its compressed data are damaged "
		    "(incorrect header check)");
	dck_buffer_done(&b);
	/* The writer was killed after a flush: all events up to there are read. */
	pack(&b, x.w.data, x.w.n, true);
	assert_many(&b, N, "the trace in memory is truncated: it ends inside compressed data");
	dck_buffer_done(&b);
	/* Also truncated in the middle. */
	pack(&b, x.w.data, x.w.n, false);
	for (size_t cut = 200; cut < b.n; cut += b.n / 7) {
		static trace_log got;
		trace_read_facts facts;
		dck_err err = {0};
		if (read_log(b.data, cut, &got, &facts, &err) == DCK_OK)
			assert_true(facts.events < N && facts.cut[0]);
		else
			assert_int_equal(err.code, DCK_E_FORMAT);
		trace_log_done(&got);
	}
	dck_buffer_done(&b);
	wire_out_done(&x.w);
}

static void compressed_packets_are_read(void **state)
{
	foreign x = {0}, all = {0};
	dck_buffer b, outer;

	(void)state;
	put_many(&x, 1000);
	pack(&b, x.w.data, x.w.n, false);
	for (int i = 0; i < 2; i++) {
		packet(&all, 0);
		wire_put_bytes(&all.w, PF_PACKET_COMPRESSED, b.data, b.n);
		packet_end(&all);
	}
	assert_many(&(dck_buffer){(char *)all.w.data, all.w.n, all.w.n}, 2000, "");
	pack(&outer, all.w.data, all.w.n, false);
	assert_many(&outer, 2000, "");
	dck_buffer_done(&outer);
	dck_buffer_done(&b);
	wire_out_done(&x.w);
	wire_out_done(&all.w);
}

/* n times the same bytes. */
static void bomb(foreign *x, size_t n)
{
	static const char zeros[60000];

	for (size_t i = 0; i < n; i++) {
		packet(x, 1);
		wire_put_bytes(&x->w, 777, zeros, sizeof zeros);
		packet_end(x);
	}
}

/* With the bytes before it the length is more than 64 bits: the rest is not unpacked. */
static void a_packed_length_does_not_wrap(void **state)
{
	static const char tag[] = "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
	static trace_log got;
	trace_read_facts facts;
	foreign x = {0};
	dck_buffer plain_bytes = {0}, b;
	dck_sink sink;
	dck_err err = {0};

	(void)state;
	put_many(&x, 10);
	dck_sink_buffer(&sink, &plain_bytes);
	sink_put(&sink, x.w.data, x.w.n);
	sink_put(&sink, tag, sizeof tag - 1);
	bomb(&x, 20);
	sink_put(&sink, x.w.data, x.w.n);
	assert_int_equal(dck_sink_finish(&sink, NULL), DCK_OK);
	pack(&b, plain_bytes.data, plain_bytes.n, false);
	if (read_log(b.data, b.n, &got, &facts, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	assert_int_equal(facts.events, 10);
	assert_non_null(strstr(facts.cut, "the packet states 9,223,372,036,854,775,807 bytes"));
	assert_true(strtoull(strrchr(facts.cut, ' ') + 1, NULL, 10) < 1000);
	trace_log_done(&got);
	dck_buffer_done(&b);
	dck_buffer_done(&plain_bytes);
	wire_out_done(&x.w);
}

static void what_is_packed_badly_gets_a_sentence(void **state)
{
	static const struct {
		const char *bytes;
		size_t n;
		const char *sentence;
	} cases[] = {
	    {"\x1f\x8b\x08\x00zzzzzz\xff\xff\xff\xff", 14,
	     "the trace in memory is malformed: its compressed data are damaged "
	     "(invalid block type)"},
	    {"\x1f\x8b", 2, "the trace in memory is truncated: it ends inside compressed data"},
	    {"\x28\xb5\x2f\xfd\x20", 5,
	     "the trace in memory is compressed by zstd; unpack it first: zstd -d, or write it by "
	     "gzip"},
	    {"\x0a\x06\x92\x03\x03\x01\x02\x03", 8,
	     "the trace in memory is malformed: its compressed data are damaged "
	     "(incorrect header check)"},
	    {"\x0a\x03\x90\x03\x01", 5,
	     "the trace in memory is malformed: compressed packets that are not bytes, "
	     "in a packet"},
	};
	static trace_log got;
	trace_read_facts facts;
	dck_err err;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		err = (dck_err){0};
		assert_int_equal(read_log(cases[i].bytes, cases[i].n, &got, &facts, &err),
				 DCK_E_FORMAT);
		assert_string_equal(err.msg, cases[i].sentence);
		trace_log_done(&got);
	}
	/* Compressed twice, a small file could expand to any size. */
	foreign x = {0}, all = {0};
	dck_buffer b, outer;
	bomb(&x, 100);
	pack(&b, x.w.data, x.w.n, false);
	for (int i = 0; i < 50; i++) {
		packet(&all, 0);
		wire_put_bytes(&all.w, PF_PACKET_COMPRESSED, b.data, b.n);
		packet_end(&all);
	}
	pack(&outer, all.w.data, all.w.n, false);
	assert_true(50 * x.w.n > INFLATE_RATIO_MAX * outer.n);
	assert_int_equal(read_log(outer.data, outer.n, &got, &facts, &err), DCK_E_LIMIT);
	assert_string_equal(err.msg,
			    "the trace in memory unpacks to more than 1032 times its size");
	trace_log_done(&got);
	dck_buffer_done(&outer);
	/* Compressed packets inside compressed packets inside a compressed file. */
	foreign inner = {0};
	packet(&inner, 0);
	wire_put_bytes(&inner.w, PF_PACKET_COMPRESSED, all.w.data, all.w.n);
	packet_end(&inner);
	dck_buffer second;
	pack(&second, all.w.data, all.w.n, false);
	inner.w.n = 0;
	packet(&inner, 0);
	wire_put_bytes(&inner.w, PF_PACKET_COMPRESSED, second.data, second.n);
	packet_end(&inner);
	pack(&outer, inner.w.data, inner.w.n, false);
	assert_int_equal(read_log(outer.data, outer.n, &got, &facts, &err), DCK_E_FORMAT);
	assert_string_equal(
	    err.msg,
	    "the trace in memory is malformed: compressed packets inside compressed packets, "
	    "in a packet");
	trace_log_done(&got);
	dck_buffer_done(&second);
	dck_buffer_done(&outer);
	dck_buffer_done(&b);
	wire_out_done(&x.w);
	wire_out_done(&all.w);
	wire_out_done(&inner.w);
}

int test_trace_old(void);
int test_trace_old(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(categories_and_places_are_read),
	    cmocka_unit_test(flows_are_read),
	    cmocka_unit_test(ranges_on_a_lane_may_be_nested),
	    cmocka_unit_test(phases_are_ranges),
	    cmocka_unit_test(the_end_of_a_long_range_is_kept_back),
	    cmocka_unit_test(old_times_and_counters),
	    cmocka_unit_test(another_thread_may_be_named),
	    cmocka_unit_test(a_compressed_file_is_read),
	    cmocka_unit_test(compressed_packets_are_read),
	    cmocka_unit_test(a_packed_length_does_not_wrap),
	    cmocka_unit_test(what_is_packed_badly_gets_a_sentence),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
