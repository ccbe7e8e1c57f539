/* test_engine_genai.c - the engine 'genai': what it reads of genai_config.json, what it refuses,
 * and its tokens: test_generate.c compares them with those of other engines.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "engine_test.h"

#include "deepclock/model.h"
#include "engine/genai/oga_config.h"
#include "genai_model.h"

extern const dck_engine engine_genai;

static dck_status genai_open(const char *path, dck_engine_model **ret, dck_err *err)
{
	const dck_open_params p = {.struct_size = sizeof p, .model_path = path, .device = "cpu"};

	return engine_genai.open(&p, ret, err);
}

static void description_is_read(void **state)
{
	mem_arena *a = mem_arena_new(0);
	oga_settings s;
	dck_err err;

	(void)state;
	scratch_text(
	    "a.json",
	    "{\"search\": {\"model\": {\"vocab_size\": 3}}, \"vocab_size\": 4, \"model\": "
	    "{\"x\": [{\"vocab_size\": 5}], \"decoder\": {\"num_hidden_layers\": 7, "
	    "\"outputs\": {\"present_key_names\": \"k.%d.z\", \"present_value_names\": 5}}, "
	    "\"vocab_size\": 512, \"context_length\": -1}}");
	assert_int_equal(oga_config_read("a.json", a, &s, &err), DCK_OK);
	assert_int_equal(s.vocabulary, 512);
	assert_int_equal(s.layers, 7);
	assert_int_equal(s.context, 0);
	assert_null(s.value);
	assert_string_equal(oga_layer_name(a, s.key, 12), "k.12.z");
	scratch_text("a.json", "{\"model\": {\"vocab_size\": 1.5}, \"a\": 1}");
	assert_int_equal(oga_config_read("a.json", a, &s, &err), DCK_E_FORMAT);
	assert_string_equal(err.msg,
			    "while reading 'a.json': genai_config.json has no model.vocab_size");
	scratch_text("a.json", "[{\"model\": {\"vocab_size\": 5}}]");
	assert_int_equal(oga_config_read("a.json", a, &s, &err), DCK_E_FORMAT);
	scratch_text("a.json", "{\"model\": {\"vocab_size\": 5}");
	assert_int_equal(oga_config_read("a.json", a, &s, &err), DCK_E_FORMAT);
	/* Deeper than the path of a member may be long. */
	char deep[8 * 400 + 1] = "";
	for (int i = 0; i < 400; i++)
		strcat(deep, "{\"abc\": ");
	scratch_text("a.json", deep);
	assert_int_equal(oga_config_read("a.json", a, &s, &err), DCK_E_FORMAT);
	mem_arena_free(a);
}

static void other_files_are_refused(void **state)
{
	dck_engine_model *m = NULL;
	dck_err err;

	(void)state;
	assert_int_equal(genai_open(NULL, &m, &err), DCK_E_ARG);
	assert_int_equal(genai_open("x/model.json", &m, &err), DCK_E_ARG);
	assert_non_null(strstr(err.msg, "not 'model.json'"));
	assert_int_equal(genai_open("x/genai_config.json", &m, &err), DCK_E_ABSENT);
	assert_null(m);
}

static void broken_models_are_refused(void **state)
{
	dck_engine_model *m = NULL;
	dck_err err;

	(void)state;
	need_genai();
	scratch_text("none/genai_config.json", "{\"model\": {\"vocab_size\": 64}}");
	assert_int_equal(genai_open("none/genai_config.json", &m, &err), DCK_E_ENGINE);
	assert_non_null(strstr(err.msg, "cannot open the model of 'none/genai_config.json': "));
	genai_model_write("broken", 2);
	scratch_text("broken/decoder.onnx", "no model");
	assert_int_equal(genai_open("broken/genai_config.json", &m, &err), DCK_E_ENGINE);
	assert_null(m);
}

/* Two contexts of a model generate in turns; the end of a sequence is never chosen. */
static void contexts_do_not_mix(void **state)
{
	const int64_t prompts[2][4] = {{1, 2, 3, 4}, {40, 30, 20, 10}};
	int64_t alone[2][6], end;
	dck_engine_context *c[2];
	dck_engine_model *m = NULL;
	dck_generation g = {.struct_size = sizeof g};
	dck_err err;

	(void)state;
	need_genai();
	genai_model_write("m", 2);
	if (genai_open("m/genai_config.json", &m, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	for (int k = 0; k < 2; k++) {
		assert_int_equal(engine_genai.context_new(m, &c[k], &err), DCK_OK);
		assert_int_equal(engine_genai.generate_next(c[k], &end, &err), DCK_E_ARG);
		assert_int_equal(engine_genai.run(c[k], &err), DCK_E_UNSUP);
		assert_int_equal(engine_genai.generate_begin(c[k], prompts[k], 1, 4, 6, &err),
				 DCK_OK);
		for (int i = 0; i < 6; i++)
			assert_int_equal(engine_genai.generate_next(c[k], &alone[k][i], &err),
					 DCK_OK);
	}
	/* More than asked for. */
	assert_int_equal(engine_genai.generate_next(c[0], &end, &err), DCK_E_ENGINE);
	for (int k = 0; k < 2; k++)
		assert_int_equal(engine_genai.generate_begin(c[k], prompts[!k], 1, 4, 6, &err),
				 DCK_OK);
	for (int i = 0; i < 6; i++)
		for (int k = 0; k < 2; k++) {
			assert_int_equal(engine_genai.generate_next(c[k], &end, &err), DCK_OK);
			assert_int_equal(end, alone[!k][i]);
		}
	assert_int_equal(engine_genai.generation(c[0], &g, &err), DCK_OK);
	assert_int_equal(g.vocabulary, 64);
	assert_int_equal(engine_genai.generate_begin(c[0], prompts[0], 1, 4, 253, &err), DCK_E_ARG);
	for (int k = 0; k < 2; k++)
		engine_genai.context_free(c[k]);
	engine_genai.close(m);
	/* The first token becomes the end of a sequence. */
	genai_model_write("end", (int)alone[0][0]);
	assert_int_equal(genai_open("end/genai_config.json", &m, &err), DCK_OK);
	assert_int_equal(engine_genai.context_new(m, &c[0], &err), DCK_OK);
	assert_int_equal(engine_genai.generate_begin(c[0], prompts[0], 1, 4, 6, &err), DCK_OK);
	for (int i = 0; i < 6; i++) {
		assert_int_equal(engine_genai.generate_next(c[0], &end, &err), DCK_OK);
		assert_int_not_equal(end, alone[0][0]);
	}
	engine_genai.context_free(c[0]);
	engine_genai.close(m);
}

int test_engine_genai(void);
int test_engine_genai(void)
{
	const struct CMUnitTest tests[] = {
	    SCRATCH_TEST(description_is_read),
	    SCRATCH_TEST(other_files_are_refused),
	    SCRATCH_TEST(broken_models_are_refused),
	    SCRATCH_TEST(contexts_do_not_mix),
	};

	return cmocka_run_group_tests_name("engine_genai", tests, scratch_begin, scratch_end);
}
