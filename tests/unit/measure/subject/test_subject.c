/* test_subject.c - subjects in the syntax of the command line, and how "cmd:" is split into words;
 * usual sizes; the hash of a model's content.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/bench.h"
#include "measure/subject/model_content.h"
#include "measure/subject/shape_resolve.h"
#include "os/os.h"
#include "counted.h"
#include "fault_alloc.h"
#include "model_build.h"
#include "scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

/* words: NULL-ended */
static void cut(const char *text, const char *const *words)
{
	dck_subject s;
	void *owned = NULL;
	dck_err err = {0};
	size_t n = 0;

	dck_subject_init(&s);
	if (dck_subject_parse(text, &s, &owned, &err) != DCK_OK)
		fail_msg("%s: %s", text, err.msg);
	assert_int_equal(s.kind, DCK_SUBJECT_COMMAND);
	assert_ptr_equal(s.text, text + 4);
	for (; words[n]; n++) {
		assert_non_null(s.argv[n]);
		assert_string_equal(s.argv[n], words[n]);
	}
	assert_null(s.argv[n]);
	assert_non_null(owned);
	dck_free(owned);
}
#define CUT(text, ...) cut(text, (const char *const[]){__VA_ARGS__, NULL})

static void refused(const char *text, const char *sentence)
{
	dck_subject s, before;
	void *owned = &s;
	dck_err err = {0};

	dck_subject_init(&s);
	before = s;
	assert_int_equal(dck_subject_parse(text, &s, &owned, &err), DCK_E_ARG);
	assert_string_equal(err.msg, sentence);
	assert_ptr_equal(owned, &s);
	assert_int_equal(s.kind, before.kind);
	assert_null(s.argv);
	assert_int_equal(dck_subject_parse(text, &s, &owned, NULL), DCK_E_ARG);
}

static void parsed(const char *text, dck_subject_kind kind, const char *rest)
{
	dck_subject s;
	void *owned = &s;
	dck_err err = {0};

	dck_subject_init(&s);
	if (dck_subject_parse(text, &s, &owned, &err) != DCK_OK)
		fail_msg("%s: %s", text, err.msg);
	assert_int_equal(s.kind, kind);
	assert_string_equal(s.text, rest);
	assert_null(s.argv);
	assert_null(owned);
}

static void defaults(void **state)
{
	dck_subject s;

	(void)state;
	memset(&s, 0xa5, sizeof s);
	dck_subject_init(&s);
	assert_int_equal(s.kind, DCK_SUBJECT_FUNCTION);
	assert_null(s.function);
	assert_null(s.argv);
	assert_string_equal(s.model.engine, "ort");
	assert_int_equal(s.model.engine_lib.n, 0);
	assert_string_equal(s.model.device, "cpu");
	assert_int_equal(s.model.threads, 0);
	assert_int_equal(s.model.opt, 3);
	assert_int_equal(s.model.input_pool, 1);
	assert_int_equal(s.model.seed, 1);
	assert_int_equal(s.model.shape.n, 0);
	assert_string_equal(s.command.output, "discard");
	assert_false(s.command.shell);
	assert_false(s.command.any_exit);
	assert_null(s.command.directory);
}

static void models_and_plugins(void **state)
{
	(void)state;
	parsed("model.onnx", DCK_SUBJECT_MODEL, "model.onnx");
	parsed("./a:b/model.onnx", DCK_SUBJECT_MODEL, "./a:b/model.onnx");
	parsed("a b.onnx", DCK_SUBJECT_MODEL, "a b.onnx");
	parsed("C:model.onnx", DCK_SUBJECT_MODEL, "C:model.onnx");
	parsed("c:model.onnx", DCK_SUBJECT_MODEL, "c:model.onnx");
	parsed(":x", DCK_SUBJECT_MODEL, ":x");
	parsed("zoo:resnet18", DCK_SUBJECT_MODEL, "zoo:resnet18");
	parsed("plugin:./a.so", DCK_SUBJECT_PLUGIN, "./a.so");
	parsed("plugin:zoo:x", DCK_SUBJECT_PLUGIN, "zoo:x");
}

/* A file name may look like an unknown scheme. */
static void files_called_like_schemes(void **state)
{
	(void)state;
	scratch_text("other:x", "");
	parsed("other:x", DCK_SUBJECT_MODEL, "other:x");
	refused("other:y",
		"'other:y': there is no file of that name, and no subject begins with 'other:': "
		"give a file, zoo:NAME, cmd:PROG or plugin:FILE");
}

static void words_without_quotes(void **state)
{
	(void)state;
	CUT("cmd:true", "true");
	CUT("cmd:sleep 1", "sleep", "1");
	CUT("cmd:  a\t b\n\nc  ", "a", "b", "c");
	CUT("cmd:a b c d e f g", "a", "b", "c", "d", "e", "f", "g");
	/* There is no shell: other characters have no special meaning. */
	CUT("cmd:a $HOME *.c `b` $(c) | > d; e & ~ #f", "a", "$HOME", "*.c", "`b`", "$(c)", "|",
	    ">", "d;", "e", "&", "~", "#f");
}

static void words_with_quotes(void **state)
{
	(void)state;
	CUT("cmd:a 'b c' d", "a", "b c", "d");
	CUT("cmd:a \"b c\" d", "a", "b c", "d");
	CUT("cmd:a 'it\"s' \"it's\"", "a", "it\"s", "it's");
	CUT("cmd:a '' \"\"", "a", "", "");
	CUT("cmd:''", "");
	CUT("cmd:a b'c d'\"e f\"g", "a", "bc de fg");
	CUT("cmd:a '\n\t '", "a", "\n\t ");
	CUT("cmd:a '\\n' '\\'", "a", "\\n", "\\");
}

static void words_with_backslashes(void **state)
{
	(void)state;
	CUT("cmd:a b\\ c", "a", "b c");
	CUT("cmd:a \\'b \\\"c \\\\d", "a", "'b", "\"c", "\\d");
	CUT("cmd:a \\n", "a", "n");
	/* Between double quotes a backslash is special only before " \ $ and `. */
	CUT("cmd:a \"\\\"\\\\\\$\\`\\n\"", "a", "\"\\$`\\n");
	CUT("cmd:a\\", "a\\");
	CUT("cmd:\\ ", " ");
}

static void bad_subjects(void **state)
{
	(void)state;
	refused("", "the subject is empty: give a model, zoo:NAME, cmd:PROG or plugin:FILE");
	refused("cmd:", "'cmd:' has no command: write 'cmd:PROG ARG...'");
	refused("cmd: \t\n", "'cmd:' has no command: write 'cmd:PROG ARG...'");
	refused("cmd:a 'b c", "a quote (') is opened and not closed in the command: 'b c");
	refused("cmd:a \"b", "a quote (\") is opened and not closed in the command: \"b");
	refused("cmd:a \"b\\\"", "a quote (\") is opened and not closed in the command: \"b\\\"");
	refused("plugin:", "'plugin:' has no file: write plugin:FILE.so");
	refused(
	    "zooo:resnet18",
	    "'zooo:resnet18': there is no file of that name, and no subject begins with 'zooo:' "
	    "(did you mean 'zoo:'?): give a file, zoo:NAME, cmd:PROG or plugin:FILE");
	refused(
	    "https://host/model.onnx",
	    "'https://host/model.onnx': there is no file of that name, and no subject begins with "
	    "'https:': give a file, zoo:NAME, cmd:PROG or plugin:FILE");
}

static void every_allocation_may_fail(void **state)
{
	dck_subject s;
	void *owned = NULL;
	fault_alloc f;
	dck_err err;

	(void)state;
	dck_subject_init(&s);
	fault_alloc_begin(&f, 1);
	assert_int_equal(dck_subject_parse("cmd:a b", &s, &owned, &err), DCK_E_NOMEM);
	assert_null(owned);
	fault_alloc_begin(&f, 0);
	assert_int_equal(dck_subject_parse("cmd:a b", &s, &owned, &err), DCK_OK);
	assert_int_equal(f.calls, 1);
	dck_free(owned);
	assert_int_equal(f.out, 0);
	assert_int_equal(dck_subject_parse("cmd:a 'b", &s, &owned, &err), DCK_E_ARG);
	assert_int_equal(f.out, 0);
	dck_set_allocator(NULL);
}

/* Usual sizes of a model without an open one need no second reading of the file, whose window alone
 * has 64 KiB. */
static void closed_models_are_not_read_again(void **state)
{
	static const int64_t batch[] = {1, -1};
	static const bool read[] = {false, true};

	(void)state;
	scratch_text("a.onnx", "no model");
	for (size_t k = 0; k < 2; k++) {
		mem_arena *a = mem_arena_new(0);
		subject_sized in = {.info = {.name = "x", .rank = 2, .dim = {batch[k], 64}},
				    .rank = 2,
				    .dim = {batch[k], 64}};
		const shape_resolve z = {.arena = a, .path = "a.onnx", .input = &in, .n = 1};
		subject_usual u;

		counted_begin();
		assert_true(subject_usual_find(&z, &u));
		assert_int_equal(counted_end() > 65536, read[k]);
		mem_arena_free(a);
	}
}

/* Writes a model whose weight is in a file of that name. */
static void external_put(const char *path, const char *location)
{
	wire_out w = {0};
	const size_t graph = graph_begin(&w), weight = wire_begin(&w, 5);

	wire_put_int(&w, 1, 1);
	wire_put_int(&w, 2, ONNX_FLOAT);
	wire_put_text(&w, 8, "w");
	const size_t pair = wire_begin(&w, 13);
	wire_put_text(&w, 1, "location");
	wire_put_text(&w, 2, location);
	wire_end(&w, pair);
	wire_put_int(&w, 14, 1);
	wire_end(&w, weight);
	graph_end(&w, graph);
	scratch_file(path, w.data, w.n);
	wire_out_done(&w);
}

/* What a model is made of beside its file counts; one file alone has the hash that it always had.
 */
static void content_has_all_files(void **state)
{
	static const struct {
		const char *model, *file;
	} parts[] = {{"far/a.onnx", "far/w.bin"}, {"net.xml", "net.bin"}, {"saved", "saved/in/w"}};

	(void)state;
	external_put("far/a.onnx", "w.bin");
	scratch_text("net.xml", "<net>");
	scratch_text("saved/graph.pb", "1");
	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
		const char *model = parts[i].model;
		uint64_t before;

		scratch_text(parts[i].file, "weights");
		before = model_content_hash(model);
		assert_true(before == model_content_hash(model));
		scratch_text(parts[i].file, "heights");
		assert_true(before != model_content_hash(model));
		unlink(parts[i].file);
		assert_true(before != model_content_hash(model));
	}
	scratch_text("text.onnx", "no model");
	assert_true(model_content_hash("text.onnx") == os_file_hash("text.onnx"));
	assert_true(model_content_hash("none.onnx") == 0);
	/* A device does not end. */
	external_put("far/b.onnx", "/dev/zero");
	assert_true(model_content_hash("far/b.onnx") != 0);
}

int test_subject(void);
int test_subject(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(defaults),
	    cmocka_unit_test(models_and_plugins),
	    cmocka_unit_test(files_called_like_schemes),
	    cmocka_unit_test(words_without_quotes),
	    cmocka_unit_test(words_with_quotes),
	    cmocka_unit_test(words_with_backslashes),
	    cmocka_unit_test(bad_subjects),
	    cmocka_unit_test(every_allocation_may_fail),
	    cmocka_unit_test(closed_models_are_not_read_again),
	    cmocka_unit_test(content_has_all_files),
	};
	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
