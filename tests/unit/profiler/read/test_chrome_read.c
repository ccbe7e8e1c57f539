/* Tests of chrome_read.c: output of our writer is read back, events of other producers are
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
#include "trace_random.h"

#include "profiler/read/chrome/chrome_read.h"

static dck_status read_log(const void *bytes, size_t n, trace_log *l, trace_read_facts *facts,
			   dck_err *err)
{
	static dck_sink sink;
	wire_source s;

	trace_log_sink(&sink, l);
	dck_status status = wire_source_bytes(bytes, n, &wire_chrome, &s, err);
	if (status == DCK_OK) {
		status = chrome_read(&s, NULL, &trace_log_format, &sink, facts, err);
		wire_source_close(&s);
	}
	return status;
}

/* --- our own files */

static void write_random(dck_buffer *b, uint64_t seed)
{
	const trace_format *f = trace_format_find("chrome");
	const trace_header about = {.unix_ns = 1700000000000000001};
	dck_sink sink;
	trace_out *o;

	*b = (dck_buffer){0};
	dck_sink_buffer(&sink, b);
	assert_int_equal(f->open(&o, &sink, &about, NULL), DCK_OK);
	tell_random(f, o, seed, false);
	/* The ends that the writer makes for async ranges that are still open are not read. */
	assert_int_equal(f->close(o, NULL), DCK_OK);
	assert_int_equal(dck_sink_finish(&sink, NULL), DCK_OK);
}

static void what_was_written_comes_back(void **state)
{
	static trace_log want, got;

	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++) {
		const trace_header about = {.unix_ns = 1700000000000000001};
		dck_sink sink;
		dck_buffer b;
		trace_out *o;
		trace_read_facts facts;
		dck_err err = {0};

		trace_log_sink(&sink, &want);
		assert_int_equal(trace_log_open(&o, &sink, &about, NULL), DCK_OK);
		tell_random(&trace_log_format, o, seed, false);
		write_random(&b, seed);
		if (read_log(b.data, b.n, &got, &facts, &err) != DCK_OK)
			fail_msg("%s", err.msg);
		assert_same_log(&want, &got);
		assert_true(got.closed);
		assert_int_equal(got.about.unix_ns, about.unix_ns);
		assert_int_equal(facts.skipped + facts.undated + facts.late, 0);
		assert_string_equal(facts.cut, "");
		trace_log_done(&want);
		trace_log_done(&got);
		dck_buffer_done(&b);
	}
}

/* --- files of other writers */

static const char main_thread[] = "thread 4/5 ''  of 'process 4/0 ''  of '''";
static const char named_thread[] = "thread 4/5 'main'  of 'process 4/0 'prog'  of '''";

/* The log of a track, for a file with these events. */
static const char *told_of(const char *file, const char *what, trace_read_facts *facts)
{
	static trace_log got;
	static char text[8192];
	dck_err err = {0};

	if (read_log(file, strlen(file), &got, facts, &err) != DCK_OK)
		fail_msg("%s: %s", file, err.msg);
	const char *found = trace_log_find(&got, what);
	snprintf(text, sizeof text, "%s", found ? found : "");
	for (size_t i = 0; i < LOG_TRACKS; i++)
		assert_false(got.tracks[i].disorder);
	trace_log_done(&got);
	return text;
}

#define ON "\"pid\":4,\"tid\":5,"

static void each_kind_of_event_is_understood(void **state)
{
	static const struct {
		const char *events, *told;
	} cases[] = {
	    /* Of ranges that start together the longest is the outermost, in any order. */
	    {"{" ON "\"ph\":\"X\",\"ts\":12,\"dur\":1,\"name\":\"c\"},"
	     "{" ON "\"ph\":\"X\",\"ts\":10,\"dur\":2,\"name\":\"b\"},"
	     "{" ON "\"ph\":\"X\",\"ts\":10,\"dur\":3.5,\"name\":\"a\",\"cat\":\"io\"}",
	     "begin 0 a of io\nbegin 0 b\nend 2000\nbegin 2000 c\nend 3000\nend 3500\n"},
	    /* 19 digits; a text as a number; a number with an exponent is as exact as a double. */
	    {"{" ON "\"ph\":\"i\",\"ts\":4508215143015673.123,\"name\":\"a\"},"
	     "{" ON "\"ph\":\"I\",\"ts\":\"4508215143015673.1249\",\"name\":\"b\"},"
	     "{" ON "\"ph\":\"R\",\"ts\":4508215143.015674e6,\"name\":\"c\"}",
	     "instant 0 a\ninstant 2 b\ninstant 733 c\n"},
	    /* Arguments: those of the begin, then those of the end. */
	    {"{" ON
	     "\"ph\":\"B\",\"ts\":1,\"name\":\"a\",\"args\":{\"n\":2,\"s\":\"x\",\"l\":[1,{}]}},"
	     "{" ON "\"ph\":\"E\",\"ts\":2,\"args\":{\"m\":-1.5e2,\"unended\":true}}",
	     "begin 0 a\nnumber n 2\nnumber m -150\nnumber unended 1\nend 1000\n"},
	    /* Matched by category and id; nested in itself; old events by name. */
	    {"{" ON "\"ph\":\"S\",\"ts\":1,\"name\":\"a\",\"id\":1,\"cat\":\"x\"},"
	     "{" ON "\"ph\":\"T\",\"ts\":1.5,\"name\":\"a\",\"id\":1,\"cat\":\"x\"},"
	     "{" ON "\"ph\":\"b\",\"ts\":1,\"name\":\"own\",\"id\":\"0x7\",\"cat\":\"range\"},"
	     "{" ON "\"ph\":\"e\",\"ts\":2,\"name\":\"own\",\"id\":\"0x7\",\"cat\":\"range\"}",
	     NULL},
	    /* A flow ends in the enclosing range, or in the next one. */
	    {"{" ON "\"ph\":\"X\",\"ts\":1,\"dur\":1,\"name\":\"a\"},"
	     "{" ON "\"ph\":\"s\",\"ts\":1,\"name\":\"flow\",\"cat\":\"flow\",\"id\":9},"
	     "{" ON "\"ph\":\"f\",\"ts\":2.5,\"name\":\"flow\",\"cat\":\"flow\",\"id\":9},"
	     "{" ON "\"ph\":\"f\",\"bp\":\"e\",\"ts\":3,\"name\":\"flow\",\"cat\":\"flow\","
	     "\"id\":\"8\"},"
	     "{" ON "\"ph\":\"X\",\"ts\":3,\"dur\":1,\"name\":\"b\"}",
	     "begin 0 a\nflow begin 0 9\nend 1000\nbegin 2000 b\nflow end 2000 9\n"
	     "flow end 2000 8\nend 3000\n"},
	    /* Two flows wait for the same range. */
	    {"{" ON "\"ph\":\"f\",\"ts\":1,\"name\":\"flow\",\"cat\":\"flow\",\"id\":7},"
	     "{" ON "\"ph\":\"f\",\"ts\":2,\"name\":\"flow\",\"cat\":\"flow\",\"id\":8},"
	     "{" ON "\"ph\":\"X\",\"ts\":3,\"dur\":1,\"name\":\"a\"}",
	     "begin 2000 a\nflow end 2000 8\nflow end 2000 7\nend 3000\n"},
	    /* A begin, and its end, at the time of a range with a duration: the longest is the
	     * outermost, and what follows a begin is inside it. */
	    {"{" ON "\"ph\":\"X\",\"ts\":0,\"dur\":10,\"name\":\"a\"},"
	     "{" ON "\"ph\":\"B\",\"ts\":0,\"name\":\"b\"},"
	     "{" ON "\"ph\":\"B\",\"ts\":0,\"name\":\"c\"},"
	     "{" ON "\"ph\":\"i\",\"ts\":0,\"name\":\"i\"},"
	     "{" ON "\"ph\":\"E\",\"ts\":0},"
	     "{" ON "\"ph\":\"E\",\"ts\":5},"
	     "{" ON "\"ph\":\"X\",\"ts\":20,\"dur\":5,\"name\":\"d\"},"
	     "{" ON "\"ph\":\"B\",\"ts\":20,\"name\":\"e\"},"
	     "{" ON "\"ph\":\"E\",\"ts\":30},"
	     "{" ON "\"ph\":\"X\",\"ts\":30,\"dur\":1,\"name\":\"f\"},"
	     "{" ON "\"ph\":\"X\",\"ts\":40,\"dur\":1,\"name\":\"g\"},"
	     "{" ON "\"ph\":\"B\",\"ts\":40,\"name\":\"h\"}",
	     "begin 0 a\nbegin 0 b\nbegin 0 c\ninstant 0 i\nend 0\nend 5000\nend 10000\n"
	     "begin 20000 e\nbegin 20000 d\nend 25000\nend 30000\nbegin 30000 f\nend 31000\n"
	     "begin 40000 h\nbegin 40000 g\nend 41000\n"},
	    /* Whole microseconds: an inner range may seem to end after its outer range. */
	    {"{" ON "\"ph\":\"X\",\"ts\":0,\"dur\":9,\"name\":\"a\"},"
	     "{" ON "\"ph\":\"X\",\"ts\":1,\"dur\":9,\"name\":\"b\"}",
	     "begin 0 a\nbegin 1000 b\nend 9000\nend 9000\n"},
	    /* An annotation starts inside the call that starts it. */
	    {"{" ON "\"ph\":\"X\",\"ts\":0,\"dur\":20.5,\"name\":\"run\"},"
	     "{" ON "\"ph\":\"X\",\"ts\":1,\"dur\":1,\"name\":\"enter\"},"
	     "{" ON "\"ph\":\"X\",\"ts\":1.5,\"dur\":15,\"name\":\"step\",\"cat\":"
	     "\"user_annotation\"},"
	     "{" ON "\"ph\":\"X\",\"ts\":16,\"dur\":2,\"name\":\"exit\"}",
	     "begin 0 run\nbegin 1000 enter\nend 1500\nbegin 1500 step of user_annotation\n"
	     "end 16000\nbegin 16000 exit\nend 18000\nend 20500\n"},
	    /* Unpaired surrogates; the text after the first half stays. */
	    {"{" ON "\"ph\":\"X\",\"ts\":5,\"dur\":0,\"name\":\"\\ud800\\tb\\ud800\\u0041\\ud800c"
	     "\\udc00\\ud83d\\ud83d\\ude00\\ud800\"}",
	     "begin 0 \xef\xbf\xbd b\xef\xbf\xbd"
	     "A\xef\xbf\xbd"
	     "c\xef\xbf\xbd\xef\xbf\xbd\xf0\x9f\x98\x80\xef\xbf\xbd\nend 0\n"},
	    /* An end that is named ends that range: ranges that cross have two tracks. */
	    {"{" ON "\"ph\":\"B\",\"ts\":0,\"name\":\"a\"},"
	     "{" ON "\"ph\":\"B\",\"ts\":1,\"name\":\"b\"},"
	     "{" ON "\"ph\":\"E\",\"ts\":5,\"name\":\"a\",\"args\":{\"n\":1}},"
	     "{" ON "\"ph\":\"E\",\"ts\":9,\"name\":\"b\"}",
	     "begin 0 a\nnumber n 1\nend 5000\n"},
	    /* One whose end is missing ends with the range around it; an end without a range. */
	    {"{" ON "\"ph\":\"B\",\"ts\":0,\"name\":\"a\"},"
	     "{" ON "\"ph\":\"B\",\"ts\":1,\"name\":\"b\"},"
	     "{" ON "\"ph\":\"E\",\"ts\":2,\"name\":\"c\"},"
	     "{" ON "\"ph\":\"E\",\"ts\":9,\"name\":\"a\"}",
	     "begin 0 a\nbegin 1000 b\nnumber unended 1\nend 9000\nend 9000\n"},
	    /* The same among ranges with a duration. */
	    {"{" ON "\"ph\":\"X\",\"ts\":0,\"dur\":10,\"name\":\"a\"},"
	     "{" ON "\"ph\":\"E\",\"ts\":1},"
	     "{" ON "\"ph\":\"B\",\"ts\":2,\"name\":\"b\",\"args\":{\"n\":1}},"
	     "{" ON "\"ph\":\"X\",\"ts\":20,\"dur\":2,\"name\":\"c\"}",
	     "begin 0 a\nbegin 2000 b\nnumber n 1\nnumber unended 1\nend 10000\nend 10000\n"
	     "begin 20000 c\nend 22000\n"},
	    /* A begin and its end around a part of a range with a duration. */
	    {"{" ON "\"ph\":\"B\",\"ts\":0,\"name\":\"b\"},"
	     "{" ON "\"ph\":\"X\",\"ts\":5,\"dur\":15,\"name\":\"a\"},"
	     "{" ON "\"ph\":\"E\",\"ts\":10}",
	     "begin 0 b\nend 10000\n"},
	    /* Unsupported events. */
	    {"{" ON "\"ph\":\"X\",\"dur\":1,\"name\":\"no time\"},{\"ph\":\"P\",\"ts\":1},7,[[]],"
	     "{" ON "\"ph\":\"X\",\"ts\":5,\"dur\":-1,\"name\":\"a\\u0000\\ud83d\\ude00\\q\"}",
	     "begin 0 a\xef\xbf\xbd\xf0\x9f\x98\x80q\nend 0\n"},
	};
	char file[2048];
	trace_read_facts facts;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		for (int form = 0; form < 4; form++) {
			static const char
			    *const before[] = {"[", "[", "{\"traceEvents\":[",
					       "{\"a\":{\"b\":[1]},\"traceEvents\" :[\n"},
				   *const after[] = {"]", ",\n", "]}", "],\"c\":null}\n"};
			snprintf(file, sizeof file, "%s%s%s", before[form], cases[i].events,
				 after[form]);
			const char *got = told_of(file, main_thread, &facts);
			if (cases[i].told)
				assert_string_equal(got, cases[i].told);
			assert_string_equal(facts.cut, "");
		}
	assert_int_equal(facts.undated, 1);
	assert_int_equal(facts.skipped, 1);
}

/* A range has all numbers of its beginning and of its end. */
static void no_number_is_left_out(void **state)
{
	enum { NUMBERS = 140 };
	static char file[2 * NUMBERS * 12 + 200];
	const char *got;
	size_t n = 0, seen = 0;
	trace_read_facts facts;

	(void)state;
	for (int end = 0; end < 2; end++) {
		n += (size_t)snprintf(file + n, sizeof file - n,
				      "%s{" ON "\"ph\":\"%s\",\"ts\":%d,"
				      "\"name\":\"r\",\"args\":{",
				      end ? "}}," : "[", end ? "E" : "B", 1 + end);
		for (int i = 0; i < NUMBERS; i++)
			n += (size_t)snprintf(file + n, sizeof file - n, "%s\"%s%d\":%d",
					      i ? "," : "", end ? "e" : "b", i, i);
	}
	snprintf(file + n, sizeof file - n, "}}]");
	got = told_of(file, main_thread, &facts);
	while ((got = strstr(got, "number "))) {
		got++;
		seen++;
	}
	assert_int_equal(seen, 2 * NUMBERS);
}

/* The last nanosecond of 63 bits is valid, later times are not. */
static void times_end_after_292_years(void **state)
{
	static const char *const late[] = {"9223372036854775.808",
					   "9999999999999999",
					   "-9223372036854775.808",
					   "9.9e15",
					   "-9.3e15",
					   "-9999999999999999.9999"};
	char file[256];
	trace_read_facts facts;

	(void)state;
	for (size_t i = 0; i < sizeof late / sizeof *late; i++) {
		snprintf(file, sizeof file,
			 "[{" ON "\"ph\":\"i\",\"ts\":9223372036854775.806,\"name\":\"a\"},"
			 "{" ON "\"ph\":\"i\",\"ts\":9223372036854775.807,\"name\":\"b\"},"
			 "{" ON "\"ph\":\"i\",\"ts\":%s,\"name\":\"c\"}]",
			 late[i]);
		assert_string_equal(told_of(file, main_thread, &facts),
				    "instant 0 a\ninstant 1 b\n");
		assert_int_equal(facts.undated, 1);
	}
}

/* Ids of our writer stay; those of other writers become unique. */
static void ranges_of_any_thread(void **state)
{
	static const char file[] =
	    "[{" ON "\"ph\":\"b\",\"ts\":1,\"name\":\"own\",\"id\":\"0x7\",\"cat\":\"range\"},"
	    "{" ON "\"ph\":\"e\",\"ts\":2,\"name\":\"own\",\"id\":\"0x7\",\"cat\":\"range\"},"
	    "{" ON "\"ph\":\"b\",\"ts\":3,\"name\":\"a\",\"id\":7,\"cat\":\"x\"},"
	    "{" ON "\"ph\":\"b\",\"ts\":4,\"name\":\"b\",\"id\":7,\"cat\":\"x\"},"
	    "{" ON "\"ph\":\"n\",\"ts\":4,\"name\":\"i\",\"id\":7,\"cat\":\"x\"},"
	    "{" ON "\"ph\":\"e\",\"ts\":5,\"id\":7,\"cat\":\"x\"},"
	    "{" ON "\"ph\":\"b\",\"ts\":5,\"name\":\"c\",\"id2\":{\"local\":7},\"cat\":\"x\"},"
	    "{" ON "\"ph\":\"e\",\"ts\":6,\"id\":7,\"cat\":\"x\"}";
	unsigned long long ids[5];
	trace_read_facts facts;
	int n = 0;

	(void)state;
	const char *got = told_of(file, main_thread, &facts);
	sscanf(got,
	       "async begin 0 own 7\nasync end 1000 7\nasync begin 2000 a of x %llu\n"
	       "async begin 3000 b of x %llu\ninstant 3000 i of x\nasync end 4000 %llu\n"
	       "async begin 4000 c of x %llu\nasync end 5000 %llu\n%n",
	       &ids[0], &ids[1], &ids[2], &ids[3], &ids[4], &n);
	if (!n || got[n])
		fail_msg("%s", got);
	assert_int_equal(ids[1], ids[2]);
	assert_int_equal(ids[0], ids[4]);
	assert_int_not_equal(ids[0], ids[1]);
	assert_int_not_equal(ids[0], ids[3]);
}

/* Ids of different categories are distinct, whatever the numbers. */
static void ids_of_different_categories_differ(void **state)
{
	static const char *const ids[] = {"\"id\":%d", "\"id\":\"%d\"",
					  "\"id2\":{\"global\":\"0x%d\"}"};
	enum { CATEGORIES = 5, IDS = 8, ALL = CATEGORIES * IDS };
	char file[8192], id[64];
	trace_read_facts facts;

	(void)state;
	for (size_t form = 0; form < sizeof ids / sizeof *ids; form++) {
		unsigned long long got[ALL];
		size_t n = 0;
		for (int i = 0; i < ALL; i++) {
			snprintf(id, sizeof id, ids[form], i % IDS);
			n += (size_t)snprintf(file + n, sizeof file - n,
					      "%s{" ON "\"ph\":\"s\",\"ts\":1,\"name\":\"f\","
					      "\"cat\":\"%c\",%s}",
					      i ? "," : "[", 'a' + i / IDS, id);
		}
		snprintf(file + n, sizeof file - n, "]");
		const char *at = told_of(file, main_thread, &facts);
		for (int i = 0; i < ALL; i++) {
			int used = 0;
			sscanf(at, "flow begin 0 %llu\n%n", &got[i], &used);
			assert_true(used > 0);
			at += used;
			for (int k = 0; k < i; k++)
				assert_true(got[i] != got[k]);
		}
	}
}

static const char other_thread[] = "thread 4/6 ''  of 'process 4/0 ''  of '''";

static void local_ids_belong_to_a_process(void **state)
{
	static const char file[] =
	    "[{" ON "\"ph\":\"b\",\"ts\":0,\"name\":\"a\",\"id2\":{\"local\":1},\"cat\":\"x\"},"
	    "{\"id2\":{\"local\":1},\"pid\":6,\"ph\":\"b\",\"ts\":5,\"name\":\"a\",\"cat\":\"x\"},"
	    "{\"pid\":4,\"tid\":6,\"ph\":\"e\",\"ts\":10,\"id2\":{\"local\":1},\"cat\":\"x\"},"
	    "{\"id2\":{\"local\":1},\"pid\":6,\"ph\":\"e\",\"ts\":30,\"cat\":\"x\"}]";
	unsigned long long ids[4];
	trace_read_facts facts;

	(void)state;
	assert_int_equal(
	    sscanf(told_of(file, main_thread, &facts), "async begin 0 a of x %llu", &ids[0]), 1);
	assert_int_equal(
	    sscanf(told_of(file, other_thread, &facts), "async end 10000 %llu", &ids[1]), 1);
	assert_int_equal(sscanf(told_of(file, "thread 6/0 ''  of 'process 6/0 ''  of '''", &facts),
				"async begin 5000 a of x %llu\nasync end 30000 %llu", &ids[2],
				&ids[3]),
			 2);
	assert_true(ids[0] == ids[1] && ids[2] == ids[3] && ids[0] != ids[2]);
}

/* One time and id have an end and the next begin, on two threads: their order in the file counts.
 */
static void a_range_ends_before_the_next_begins(void **state)
{
	static const char file[] =
	    "[{" ON "\"ph\":\"b\",\"ts\":0,\"name\":\"a\",\"id\":1,\"cat\":\"x\"},"
	    "{\"pid\":4,\"tid\":6,\"ph\":\"e\",\"ts\":9,\"id\":1,\"cat\":\"x\"},"
	    "{" ON "\"ph\":\"b\",\"ts\":9,\"name\":\"b\",\"id\":1,\"cat\":\"x\"},"
	    "{" ON "\"ph\":\"X\",\"ts\":9,\"dur\":1,\"name\":\"c\"},"
	    "{" ON "\"ph\":\"e\",\"ts\":12,\"id\":1,\"cat\":\"x\"}]";
	unsigned long long ids[4];
	trace_read_facts facts;

	(void)state;
	assert_int_equal(sscanf(told_of(file, main_thread, &facts),
				"async begin 0 a of x %llu\nasync begin 9000 b of x %llu\n"
				"begin 9000 c\nend 10000\nasync end 12000 %llu",
				&ids[0], &ids[1], &ids[2]),
			 3);
	assert_int_equal(
	    sscanf(told_of(file, other_thread, &facts), "async end 9000 %llu", &ids[3]), 1);
	for (int i = 1; i < 4; i++) /* none is inside another */
		assert_true(ids[i] == ids[0]);
}

static void processes_threads_and_counters(void **state)
{
	static const char file[] =
	    "{\"baseTimeNanoseconds\":1000,\"schemaVersion\":1,\"traceEvents\":["
	    "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":4,\"args\":{\"name\":\"prog\"}},"
	    "{\"ph\":\"i\",\"ts\":2,\"pid\":\"4\",\"tid\":5,\"name\":\"a\"},"
	    "{\"ph\":\"i\",\"ts\":2,\"pid\":\"Spans\",\"tid\":\"PyTorch\",\"name\":\"b\"},"
	    "{\"ph\":\"i\",\"ts\":2,\"pid\":4,\"tid\":140123456789012,\"name\":\"c\"},"
	    "{\"ph\":\"C\",\"ts\":3,\"pid\":4,\"name\":\"loss\",\"args\":{\"value\":0.5,\"x\":2}},"
	    "{\"ph\":\"C\",\"ts\":3,\"pid\":4,\"name\":\"loss\",\"id\":2,\"args\":{\"value\":7}},"
	    "{\"ph\":\"C\",\"ts\":4,\"pid\":4,\"name\":\"loss\",\"id\":\"0x3\",\"args\":{\"x\":\"8\"}},"
	    "{\"ph\":\"i\",\"ts\":2,\"pid\":\"1/2\",\"tid\":\"3\",\"name\":\"d\"},"
	    "{\"ph\":\"i\",\"ts\":2,\"pid\":\"1\",\"tid\":\"2/3\",\"name\":\"e\"},"
	    "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":4,\"tid\":5,\"args\":{\"name\":"
	    "\"main\"}}]}";
	static trace_log got;
	trace_read_facts facts;
	dck_err err = {0};

	(void)state;
	assert_int_equal(read_log(file, sizeof file - 1, &got, &facts, &err), DCK_OK);
	assert_string_equal(trace_log_find(&got, named_thread), "instant 0 a\n");
	assert_int_equal(got.about.unix_ns, 3000);
	assert_string_equal(
	    trace_log_find(&got, "counter 4/0 'loss'  of 'process 4/0 'prog'  of '''"),
	    "counter 1000 0.5\n");
	assert_string_equal(
	    trace_log_find(&got, "counter 4/0 'loss x'  of 'process 4/0 'prog'  of '''"),
	    "counter 1000 2\n");
	assert_string_equal(
	    trace_log_find(&got, "counter 4/0 'loss[2]'  of 'process 4/0 'prog'  of '''"),
	    "counter 1000 7\n");
	assert_string_equal(
	    trace_log_find(&got, "counter 4/0 'loss[0x3] x'  of 'process 4/0 'prog'  of '''"),
	    "counter 2000 8\n");
	int found = 0;
	for (size_t i = 0; i < LOG_TRACKS; i++)
		found += strstr(got.tracks[i].what, "'PyTorch'  of 'process 1073741") ||
			 strstr(got.tracks[i].what, "'140123456789012'  of 'process 4/0") ||
			 strstr(got.tracks[i].what, "'2/3'  of 'process 1/0");
	assert_int_equal(found, 3);
	trace_log_done(&got);
}

/* Kernels of one stream may overlap: the second gets a separate range, and their common time
 * belongs to the one that started last. */
static void ranges_that_overlap_are_told_beside(void **state)
{
	static const char file[] = "[{" ON "\"ph\":\"X\",\"ts\":0.5,\"dur\":10,\"name\":\"a\"},"
				   "{" ON "\"ph\":\"X\",\"ts\":5.5,\"dur\":10,\"name\":\"b\"},"
				   "{" ON "\"ph\":\"X\",\"ts\":6.5,\"dur\":1,\"name\":\"c\"},"
				   "{" ON "\"ph\":\"X\",\"ts\":11.5,\"dur\":2,\"name\":\"d\"},"
				   "{" ON "\"ph\":\"X\",\"ts\":20.5,\"dur\":2,\"name\":\"e\"}]";
	static trace_log got;
	trace_read_facts facts;
	dck_err err = {0};

	(void)state;
	assert_int_equal(read_log(file, sizeof file - 1, &got, &facts, &err), DCK_OK);
	assert_string_equal(trace_log_find(&got, main_thread),
			    "begin 0 a\nend 10000\nbegin 20000 e\nend 22000\n");
	int found = 0;
	for (size_t i = 0; i < LOG_TRACKS; i++) {
		if (!strstr(got.tracks[i].what, "'5 (overlapping)'"))
			continue;
		assert_string_equal(got.tracks[i].text.data,
				    "begin 5000 b\nbegin 6000 c\nend 7000\nbegin 11000 d\n"
				    "end 13000\nend 15000\n");
		found++;
	}
	assert_int_equal(found, 1);
	assert_int_equal(facts.late, 0);
	trace_log_done(&got);
}

/* --- malformed files */

static void what_is_no_trace_gets_a_sentence(void **state)
{
	static const struct {
		const char *file, *sentence;
	} cases[] = {
	    {"7", "is not a trace: it is neither an object nor a list"},
	    {"{}", "is not a trace: it has no list \"traceEvents\""},
	    {"{\"traceEvents\":7}", "is not a trace: it has no list \"traceEvents\""},
	    {"{\"traceEvents\":[{}", "is truncated: its list of events is not closed"},
	    {"{\"traceEvents\":[]", "is truncated: it is not closed"},
	    {"[{\"ph\":\"X", "is truncated: it ends within a text, after 9 bytes"},
	    {"[{\"ph\":", "is truncated: it ends after a key, at 7 bytes"},
	    {"[{\"ph\"", "is truncated: it ends after a key, at 6 bytes"},
	    {"[{\"ts\":1", "is truncated: it ends within a value, after 8 bytes"},
	    {"[{]", "is malformed: ']' at byte 2 is out of place"},
	    {"[1 2]", "is malformed: '2' at byte 3 is out of place"},
	    {"[nul]", "is malformed: 'nul' at byte 1 is not a value"},
	    {"[0x1f]", "is malformed: '0x1f' at byte 1 is not a value"},
	    {"[\"\\ud83d\\u", "is truncated: it ends within a text, after 10 bytes"},
	    {"[\"\\u00g0\"]", "is malformed: 'g' at byte 6 is out of place"},
	    {"[]]", "is malformed: ']' at byte 2 is out of place"},
	    {"[][]", "is malformed: '[' at byte 2 is out of place"},
	    {"[\x01]", "is malformed: the byte 0x01 at 1 is out of place"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		static trace_log got;
		trace_read_facts facts;
		dck_err err = {0};
		assert_int_equal(read_log(cases[i].file, strlen(cases[i].file), &got, &facts, &err),
				 DCK_E_FORMAT);
		const char *want = err.msg + strlen("the trace in memory ");
		assert_string_equal(want, cases[i].sentence);
		trace_log_done(&got);
	}
}

/* Truncated anywhere, or with any byte changed, a file is read up to there or refused with a
 * message; the events before a truncation equal those of the whole file. */
static void any_cut_and_any_byte(void **state)
{
	static trace_log got;
	trace_read_facts facts;
	dck_buffer b;
	uint64_t rng = 7;

	(void)state;
	write_random(&b, 1);
	for (size_t n = 1; n < 6000; n += 7) {
		dck_err err = {0};
		dck_status status = read_log(b.data, n, &got, &facts, &err);
		assert_true(status == DCK_OK || (status == DCK_E_FORMAT && err.msg[0]));
		assert_true(status != DCK_OK || facts.cut[0]);
		trace_log_done(&got);
	}
	for (int i = 0; i < 3000; i++) {
		dck_err err = {0};
		char *bytes = b.data;
		const size_t at = rng_below(&rng, 5000);
		const char was = bytes[at];
		bytes[at] = (char)rng_below(&rng, 256);
		dck_status status = read_log(bytes, 5000, &got, &facts, &err);
		assert_true(status == DCK_OK || err.msg[0]);
		bytes[at] = was;
		trace_log_done(&got);
	}
	dck_buffer_done(&b);
}

static void a_lack_of_memory_is_said(void **state)
{
	const trace_format *f = trace_format_find("chrome");
	dck_buffer b;
	bool done = false;

	(void)state;
	write_random(&b, 1);
	for (size_t fail = 1; !done; fail++) {
		fault_alloc alloc;
		dck_buffer again = {0};
		dck_sink sink;
		dck_err err = {0};
		trace_read_facts facts;
		wire_source s;
		assert_int_equal(wire_source_bytes(b.data, 4000, &wire_chrome, &s, NULL), DCK_OK);
		fault_alloc_begin(&alloc, fail);
		dck_sink_buffer(&sink, &again);
		dck_status status = chrome_read(&s, NULL, f, &sink, &facts, &err);
		dck_status written = dck_sink_finish(&sink, NULL);
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

/* --- detection of the format */

static void a_record_is_no_trace(void **state)
{
	static const struct {
		const char *file;
		bool is;
	} cases[] = {{"[{\"ph\":1}", true},
		     {" [\n", true},
		     {"[{\"name\":\"a\",\"args\":{\"a\":[1]},\"ts\":", true},
		     {"[{\"schema\":1,\"facts\":[{\"ts\":1}]},{\"ph\":1}]", false},
		     {"[{\"a\":1}]", false},
		     {"[{}", false},
		     {"[1]", false},
		     {"[[", false},
		     {"{\"schemaVersion\":1,\"x\":[{}],\"traceEvents\":", true},
		     {"{\"schema\":1,\"traceEvents\":[]}", false},
		     {"{\"deepclock\":\"0.1\"}", false},
		     {"{\"a\":\"traceEvents\"}", false},
		     {"\n\x08\x40\x01", false},
		     {"\"a", false}};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		wire_source s;
		assert_int_equal(
		    wire_source_bytes(cases[i].file, strlen(cases[i].file), &wire_chrome, &s, NULL),
		    DCK_OK);
		if (chrome_is(&s) != cases[i].is)
			fail_msg("%s", cases[i].file);
		wire_source_close(&s);
	}
}

int test_chrome_read(void);
int test_chrome_read(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_was_written_comes_back),
	    cmocka_unit_test(each_kind_of_event_is_understood),
	    cmocka_unit_test(no_number_is_left_out),
	    cmocka_unit_test(times_end_after_292_years),
	    cmocka_unit_test(ranges_of_any_thread),
	    cmocka_unit_test(ids_of_different_categories_differ),
	    cmocka_unit_test(local_ids_belong_to_a_process),
	    cmocka_unit_test(a_range_ends_before_the_next_begins),
	    cmocka_unit_test(processes_threads_and_counters),
	    cmocka_unit_test(ranges_that_overlap_are_told_beside),
	    cmocka_unit_test(what_is_no_trace_gets_a_sentence),
	    cmocka_unit_test(any_cut_and_any_byte),
	    cmocka_unit_test(a_lack_of_memory_is_said),
	    cmocka_unit_test(a_record_is_no_trace),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
