/* test_engine_trace.c - ONNX Runtime's profile as text: the output of older and newer versions, and
 * text that none of them writes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "engine/ort/ort_trace.h"
#include "fault_alloc.h"
#include "scratch.h"
#include "trace_bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define NODE(name, dur, ts, args)                                                \
	"{\"cat\" : \"Node\",\"pid\" :7,\"tid\" :9,\"dur\" :" dur ",\"ts\" :" ts \
	",\"ph\" : \"X\",\"name\" :\"" name "_kernel_time\",\"args\" : {" args "}}"
#define RUN(dur, ts)                                                                \
	"{\"cat\" : \"Session\",\"pid\" :7,\"tid\" :9,\"dur\" :" dur ",\"ts\" :" ts \
	",\"ph\" : \"X\",\"name\" :\"model_run\",\"args\" : {}}"

typedef struct reading {
	mem_arena *arena;
	ort_trace t;
	dck_err err;
	dck_status status;
} reading;

static reading read_n(const char *text, size_t n, bool escaped)
{
	reading r = {.arena = mem_arena_new(0)};

	assert_non_null(r.arena);
	r.status = trace_read_bytes(text, n, escaped, r.arena, &r.t, &r.err);
	return r;
}

static reading read_text(const char *text, bool escaped)
{
	reading r = read_n(text, strlen(text), escaped);

	if (r.status != DCK_OK)
		print_error("%s\n", r.err.msg);
	assert_int_equal(r.status, DCK_OK);
	return r;
}

static void done(reading *r)
{
	mem_arena_free(r->arena);
}

/* --- the events present */

static void operators_and_runs_are_read(void **state)
{
	reading r = read_text(
	    "[\n"
	    "{\"cat\" : \"Session\",\"pid\" :7,\"tid\" :9,\"dur\" :665,\"ts\" :2,\"ph\" : \"X\","
	    "\"name\" :\"model_loading_uri\",\"args\" : {}},\n" NODE(
		"conv", "58", "4792",
		"\"output_type_shape\" : [{\"float\":[1,2]}],\"thread_scheduling_stats\" : "
		"{\"main_thread\": {\"block_size\": [1,2], \"core\": 0}},\"mem_bytes_in_use\" : "
		"\"512\",\"op_name\" : \"Conv\",\"mem_bytes_requested_in_use\" : \"277\","
		"\"provider\" : \"CPUExecutionProvider\",\"node_index\" : \"3\"") ",\n" NODE("add",
											     "3",
											     "4851",
											     "\"mem"
											     "_byte"
											     "s_in_"
											     "use\""
											     " : "
											     "\"512"
											     "\"") ",\n"
												   "{\"cat\" : \"Session\",\"pid\" :7,\"tid\" :9,\"dur\" :70,\"ts\" :4790,\"ph\" : \"X\","
												   "\"name\" :\"SequentialExecutor::Execute\",\"args\" : {}},\n" RUN(
												       "80",
												       "4785") "\n]\n",
	    false);

	(void)state;
	assert_int_equal(r.t.nevents, 5);
	assert_int_equal(r.t.nops, 2);
	assert_string_equal(r.t.ops[0].name, "conv");
	assert_string_equal(r.t.ops[0].type, "Conv");
	assert_string_equal(r.t.ops[0].provider, "CPUExecutionProvider");
	assert_int_equal(r.t.ops[0].begin_us, 4792);
	assert_int_equal(r.t.ops[0].duration_us, 58);
	assert_int_equal(r.t.ops[0].thread, 9);
	assert_int_equal(r.t.ops[0].memory_bytes, 277);
	assert_false(r.t.ops[0].has_device);
	assert_null(r.t.ops[1].type);
	assert_null(r.t.ops[1].provider);
	assert_int_equal(r.t.ops[1].memory_bytes, 512);
	assert_int_equal(r.t.nruns, 1);
	assert_int_equal(r.t.runs[0].begin_us, 4785);
	assert_int_equal(r.t.runs[0].duration_us, 80);
	assert_int_equal(r.t.runs[0].ops_before, 2);
	done(&r);
}

static void nothing_is_a_profile_too(void **state)
{
	static const char *const cases[] = {"[]",   "[\n]\n", " [ ] ",
					    "[{}]", "[{},]",  "[{\"args\":{}}]"};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		reading r = read_text(cases[i], false);
		assert_int_equal(r.t.nops, 0);
		assert_int_equal(r.t.nruns, 0);
		done(&r);
	}
}

static void members_come_in_any_order(void **state)
{
	reading r = read_text(
	    "[{\"args\":{\"op_name\":\"Add\"},\"more\":[1,{\"a\":\"]\"}],\"name\":"
	    "\"a_kernel_time\",\"ts\":\"12\",\"x\":null,\"tid\":-3,\"dur\":4.75,\"cat\":\"Node\"}]",
	    true);

	(void)state;
	assert_int_equal(r.t.nops, 1);
	assert_string_equal(r.t.ops[0].type, "Add");
	assert_string_equal(r.t.ops[0].name, "a");
	assert_int_equal(r.t.ops[0].begin_us, 12);
	assert_int_equal(r.t.ops[0].duration_us, 4);
	assert_int_equal(r.t.ops[0].thread, -3);
	done(&r);
}

/* Versions before 1.11 wrote three events for each operator; device profilers write others. */
static void other_events_are_no_operators(void **state)
{
	reading r = read_text(
	    "[{\"cat\" : \"Node\",\"dur\" :1,\"ts\" :1,\"name\" :\"a_fence_before\",\"args\" : "
	    "{}}," NODE("a", "5", "2", "") ","
					   "{\"cat\" : \"Node\",\"dur\" :1,\"ts\" :7,\"name\" "
					   ":\"a_fence_after\",\"args\" : {}},"
					   "{\"cat\" : \"Api\",\"dur\" :1,\"ts\" :7,\"name\" "
					   ":\"b_kernel_time\",\"args\" : {}},"
					   "{\"cat\" : \"Kernel\",\"dur\" :1,\"ts\" :7,\"name\" "
					   ":\"c_kernel_time\",\"args\" : {}},"
					   "{\"cat\" : \"Session\",\"dur\" :1,\"ts\" :7,\"name\" "
					   ":\"model_loading\",\"args\" : {}}]",
	    false);

	(void)state;
	assert_int_equal(r.t.nevents, 6);
	assert_int_equal(r.t.nops, 1);
	assert_string_equal(r.t.ops[0].name, "a");
	assert_int_equal(r.t.nruns, 0);
	done(&r);
}

/* Lists of the shapes of tensors and sequences had a superfluous comma. */
static void lists_may_have_commas_too_many(void **state)
{
	reading r = read_text("[" NODE("a", "5", "2",
				       "\"input_type_shape\" : "
				       "[{\"float\":[1]},],\"op_name\" : \"X\"") "]",
			      false);

	(void)state;
	assert_string_equal(r.t.ops[0].type, "X");
	done(&r);
}

static void kernels_of_a_device_add_up(void **state)
{
#define KERNEL(dur, parent)                                                                      \
	"{\"cat\" : \"Kernel\",\"tid\" :2,\"dur\" :" dur ",\"ts\" :3,\"name\" :\"void f<float, " \
	"\\\"x\\\">()\",\"args\" : {\"stream\" : \"7\",\"parent_name\" : \"" parent              \
	"_kernel_time\"}}"
	reading r = read_text("[" NODE("a", "5", "2", "") "," KERNEL("20", "a") "," KERNEL(
				  "22", "a") "," KERNEL("9", "b") "," NODE("c", "5", "8", "") "]",
			      true);

	(void)state;
	assert_int_equal(r.t.nops, 2);
	assert_true(r.t.ops[0].has_device);
	assert_int_equal(r.t.ops[0].device_ns, 42000);
	assert_int_equal(r.t.ops[0].duration_us, 5);
	assert_false(r.t.ops[1].has_device);
	done(&r);
}

/* --- names */

static void names_are_taken_as_they_were_written(void **state)
{
	/* the text in the file, whether it is escaped, its value */
	static const struct {
		const char *written;
		bool escaped;
		const char *name;
	} cases[] = {
	    /* Not escaped: the name is the whole text. */
	    {"a\"b", false, "a\"b"},
	    {"a\"", false, "a\""},
	    {"\"", false, "\""},
	    {"a\\b", false, "a\\b"},
	    {"a\\\\b", false, "a\\\\b"},
	    {"a\\\"b", false, "a\\\"b"},
	    {"a\nb\tc\001d", false, "a\nb\tc\001d"},
	    {"a\",b", false, "a\",b"},
	    {"a\", \"b", false, "a\", \"b"},
	    {"a\"}b", false, "a\"}b"},
	    {"a\"}}b", false, "a\"}}b"},
	    {"a\",\"args\" : {", false, "a\",\"args\" : {"},
	    {"a\",\"x\" : \"", false, "a\",\"x\" : \""},
	    {"\xc3\xa4/\xff", false, "\xc3\xa4/\xff"},
	    {"", false, ""},
	    /* Escaped. */
	    {"a\\\"b", true, "a\"b"},
	    {"a\\\\b", true, "a\\b"},
	    {"a\\nb\\tc\\u0001d\\/\\b\\f\\r", true, "a\nb\tc\001d/\b\f\r"},
	    {"\\u00e4\\u20AC\\ud83d\\ude00", true, "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"},
	    {"a\\\",\\\"args\\\" : {", true, "a\",\"args\" : {"},
	    /* Marked as escaped, but not validly. */
	    {"a\"b\\n", true, "a\"b\\n"},
	    {"a\\xb", true, "a\\xb"},
	    {"a\\u12", true, "a\\u12"},
	    {"a\\u0000", true, "a\\u0000"},
	    {"a\\ud83d", true, "a\\ud83d"},
	    {"a\nb\\n", true, "a\nb\\n"},
	};
	char text[400];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		snprintf(text, sizeof text,
			 "[" NODE("%s", "5", "2", "\"op_name\" : \"T\"") "," NODE("next", "1", "9",
										  "") "]",
			 cases[i].written);
		reading r = read_text(text, cases[i].escaped);
		assert_int_equal(r.t.nops, 2);
		assert_string_equal(r.t.ops[0].name, cases[i].name);
		assert_string_equal(r.t.ops[0].type, "T");
		assert_string_equal(r.t.ops[1].name, "next");
		done(&r);
	}
}

/* Stores one copy of a name, however often it occurs. */
static void names_are_kept_once(void **state)
{
	char text[64000] = "[", *at = text + 1;

	(void)state;
	for (int i = 0; i < 300; i++)
		at += snprintf(at, (size_t)(text + sizeof text - at),
			       "%s" NODE("n%d", "1", "2", "\"op_name\" : \"T\""), i ? "," : "",
			       i % 150);
	strcpy(at, "]");
	reading r = read_text(text, false);
	assert_int_equal(r.t.nops, 300);
	for (size_t i = 0; i < 150; i++) {
		assert_ptr_equal(r.t.ops[i].name, r.t.ops[i + 150].name);
		assert_ptr_equal(r.t.ops[i].type, r.t.ops[0].type);
	}
	assert_string_equal(r.t.ops[149].name, "n149");
	done(&r);
}

/* --- the window */

static void events_may_lie_across_its_end(void **state)
{
	static const char event[] =
	    NODE("a\"}b", "5", "2", "\"op_name\" : \"T\"") "," RUN("6", "1") "]";
	enum { WINDOW = 65536 };
	char *text = malloc(WINDOW + 2 * sizeof(event));

	(void)state;
	for (size_t before = 0; before < sizeof(event) + 2; before++) {
		size_t n = WINDOW - before;
		memset(text, ' ', n);
		text[0] = '[';
		memcpy(text + n, event, sizeof(event));
		reading r = read_text(text, false);
		assert_int_equal(r.t.nops, 1);
		assert_string_equal(r.t.ops[0].name, "a\"}b");
		assert_int_equal(r.t.nruns, 1);
		done(&r);
	}
	free(text);
}

static void names_may_be_long_but_not_too_long(void **state)
{
	enum { LONG = 200000, TOO_LONG = 1100000 };
	static char name[TOO_LONG + 1], text[TOO_LONG + 300];

	(void)state;
	memset(name, 'n', LONG);
	snprintf(text, sizeof text, "[" NODE("%s", "5", "2", "") "]", name);
	reading r = read_text(text, false);
	assert_string_equal(r.t.ops[0].name, name);
	done(&r);
	memset(name, 'n', TOO_LONG);
	snprintf(text, sizeof text, "[" NODE("%s", "5", "2", "") "]", name);
	r = read_n(text, strlen(text), false);
	assert_int_equal(r.status, DCK_E_FORMAT);
	assert_non_null(strstr(r.err.msg, "a text is longer than"));
	done(&r);
}

/* A file of many events, generated as it is read. */
typedef struct many {
	size_t left;
	const char *at, *event;
} many;

static size_t many_read(void *self, void *to, size_t n)
{
	many *m = self;
	char *out = to;

	for (size_t i = 0; i < n; i++) {
		if (*m->at == '\0') {
			if (m->left == 0)
				return i;
			m->left--;
			m->at = m->left ? m->event : "{}]";
		}
		out[i] = *m->at++;
	}
	return n;
}

static void memory_grows_with_operators_alone(void **state)
{
	static const char other[] =
	    "{\"cat\" : \"Api\",\"dur\" :1,\"ts\" :7,\"name\" :\"some call or other\",\"args\" : "
	    "{\"much\" : [{\"float\":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]}]}},";
	static const char op[] = NODE("a", "1", "2", "") ",";
	many source = {400000, "[", other};
	mem_arena *a = mem_arena_new(0);
	ort_trace t;
	dck_err err;

	(void)state;
	assert_int_equal(
	    ort_trace_read(&(ort_trace_source){many_read, &source, "it"}, false, a, &t, &err),
	    DCK_OK);
	assert_int_equal(t.nevents, 400000);
	assert_true(mem_arena_bytes(a) < 100000);
	source = (many){10000, "[", op};
	assert_int_equal(
	    ort_trace_read(&(ort_trace_source){many_read, &source, "it"}, false, a, &t, &err),
	    DCK_OK);
	assert_int_equal(t.nops, 9999);
	assert_true(mem_arena_bytes(a) < 100000 + 9999 * sizeof(ort_trace_op) * 2);
	mem_arena_free(a);
}

static void more_events_than_any_are_refused(void **state)
{
	many source = {9000000, "[", "{},"};
	mem_arena *a = mem_arena_new(0);
	ort_trace t;
	dck_err err;

	(void)state;
	assert_int_equal(
	    ort_trace_read(&(ort_trace_source){many_read, &source, "it"}, false, a, &t, &err),
	    DCK_E_LIMIT);
	assert_non_null(strstr(err.msg, "it has more than 8000000 events"));
	mem_arena_free(a);
}

/* --- malformed input */

static void wrong_texts_are_refused(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
	    {"", "it ends where '[' must be"},
	    {"x", "'[' must be there"},
	    {"{}", "'[' must be there"},
	    {"[x]", "'{' must be there"},
	    {"[1]", "'{' must be there"},
	    {"[{}", "it ends where ',' must be"},
	    {"[{}]x", "something follows"},
	    {"[{}{}]", "',' must be there"},
	    {"[{1:2}]", "'\"' must be there"},
	    {"[{\"\":2}]", "a member has no name"},
	    {"[{\"a\\\":2}]", "the name of a member"},
	    {"[{\"a\"}]", "':' must be there"},
	    {"[{\"a\":}]", "a value must be there"},
	    {"[{\"a\":,}]", "a value must be there"},
	    {"[{\"a\":1 2}]", "',' must be there"},
	    {"[{\"a\":1,}]", "'\"' must be there"},
	    {"[{\"ts\":x}]", "a number must be there"},
	    {"[{\"ts\":\"\"}]", "a number must be there"},
	    {"[{\"ts\":-}]", "a number must be there"},
	    {"[{\"ts\":1e9}]", "a number must be there"},
	    {"[{\"ts\":9223372036854775808}]", "a number is too large"},
	    {"[{\"ts\":99999999999999999999999}]", "a number is too large"},
	    {"[{\"ts\":[1]}]", "a value must be there"},
	    {"[{\"a\":[}]", "']' must be there"},
	    {"[{\"a\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", "nested more than 32 deep"},
	    {"[{\"a\":[\"", "it ends within a text"},
	    {"[{\"name\":\"x", "it ends within a text"},
	    {"[{\"args\":{\"op_name\":\"x\"", "it ends within a text"},
	    {"[{\"cat\":\"Node\",\"name\":\"a_kernel_time\",\"dur\":1}]", "is not a time"},
	    {"[{\"cat\":\"Node\",\"name\":\"a_kernel_time\",\"ts\":-1,\"dur\":1}]",
	     "is not a time"},
	    {"[{\"cat\":\"Node\",\"name\":\"a_kernel_time\",\"ts\":1,\"dur\":-1}]",
	     "is not a time"},
	    {"[{\"cat\":\"Session\",\"name\":\"model_run\",\"ts\":9223372036854775807}]",
	     "is not a time"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		reading r = read_n(cases[i].text, strlen(cases[i].text), false);
		if (r.status != DCK_E_FORMAT || !strstr(r.err.msg, cases[i].says))
			print_error("%s: %s\n", cases[i].text, r.err.msg);
		assert_int_equal(r.status, DCK_E_FORMAT);
		assert_non_null(strstr(r.err.msg, cases[i].says));
		done(&r);
	}
}

static const char whole[] = "[\n" NODE(
    "a\\\"b", "5", "2", "\"op_name\" : \"T\",\"x\" : {\"y\":[1]}") ",\n" RUN("6", "1") "\n]\n";

static void each_cut_is_seen(void **state)
{
	reading r;

	(void)state;
	for (size_t n = 0; n < sizeof(whole) - 3; n++) {
		r = read_n(whole, n, true);
		assert_int_equal(r.status, DCK_E_FORMAT);
		done(&r);
	}
	r = read_text(whole, true);
	done(&r);
}

static void each_allocation_may_fail(void **state)
{
	size_t n = 1;

	(void)state;
	for (bool good = false; !good; n++) {
		fault_alloc f;
		ort_trace t;
		dck_err err = {0};

		assert_true(n < 100);
		fault_alloc_begin(&f, n);
		mem_arena *a = mem_arena_new(0);
		dck_status status =
		    a ? trace_read_bytes(whole, sizeof(whole) - 1, true, a, &t, &err) : DCK_E_NOMEM;
		good = f.calls < n;
		assert_int_equal(status, good ? DCK_OK : DCK_E_NOMEM);
		mem_arena_free(a);
		assert_int_equal(f.out, 0);
		dck_set_allocator(NULL);
	}
	assert_true(n > 5);
}

static void files_are_read(void **state)
{
	const char *path = scratch_file("trace", whole, sizeof(whole) - 1);
	mem_arena *a = mem_arena_new(0);
	ort_trace t;
	dck_err err;

	(void)state;
	assert_int_equal(ort_trace_read_file(path, true, a, &t, &err), DCK_OK);
	assert_string_equal(t.ops[0].name, "a\"b");
	unlink(path);
	assert_int_equal(ort_trace_read_file(path, true, a, &t, &err), DCK_E_IO);
	assert_non_null(strstr(err.msg, "cannot open ONNX Runtime's profile"));
	assert_int_equal(ort_trace_read_file("/", true, a, &t, &err), DCK_E_IO);
	assert_non_null(strstr(err.msg, "cannot read ONNX Runtime's profile"));
	mem_arena_free(a);
}

int test_engine_trace(void);
int test_engine_trace(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(operators_and_runs_are_read),
	    cmocka_unit_test(nothing_is_a_profile_too),
	    cmocka_unit_test(members_come_in_any_order),
	    cmocka_unit_test(other_events_are_no_operators),
	    cmocka_unit_test(lists_may_have_commas_too_many),
	    cmocka_unit_test(kernels_of_a_device_add_up),
	    cmocka_unit_test(names_are_taken_as_they_were_written),
	    cmocka_unit_test(names_are_kept_once),
	    cmocka_unit_test(events_may_lie_across_its_end),
	    cmocka_unit_test(names_may_be_long_but_not_too_long),
	    cmocka_unit_test(memory_grows_with_operators_alone),
	    cmocka_unit_test(more_events_than_any_are_refused),
	    cmocka_unit_test(wrong_texts_are_refused),
	    cmocka_unit_test(each_cut_is_seen),
	    cmocka_unit_test(each_allocation_may_fail),
	    cmocka_unit_test(files_are_read),
	};
	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
