/* test_generate.c - generation on a clock that only its readings advance, so that times are exact;
 * the cache against a decoder that computes everything again.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "deepclock/generate.h"
#include "base/err.h"
#include "base/mem.h"
#include "fault_alloc.h"
#include "genai_model.h"
#include "scratch.h"
#include "study/generate/generate_decoder.h"
#include "webgpu_test.h"

/* Each reading takes `step` ns, and the next one `more` ns longer. */
typedef struct counting_clock {
	uint64_t now, step, more;
} counting_clock;

static uint64_t counting_now(void *self)
{
	counting_clock *c = self;

	c->step += c->more;
	return c->now += c->step;
}

static dck_record *generated_by(const char *engine, const char *model, uint64_t step, uint64_t more,
				const dck_generate_config *given)
{
	counting_clock counting = {.step = step, .more = more};
	const dck_clock clock = {
	    .name = "counting", .now_ns = counting_now, .self = &counting, .tick_ns = 1};
	dck_generate_config c = *given;
	dck_record *r = NULL;
	dck_subject s;
	dck_err err = {0};

	dck_subject_init(&s);
	s.kind = DCK_SUBJECT_MODEL;
	s.text = model;
	s.model.engine = engine;
	s.model.threads = strcmp(engine, "ort") == 0 || strcmp(engine, "genai") == 0;
	c.clock = &clock;
	if (dck_generate(&s, &c, NULL, &r, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	return r;
}

static dck_record *generated(uint64_t step, uint64_t more, const dck_generate_config *given)
{
	return generated_by("null", "zoo:llama_mini", step, more, given);
}

static dck_generate_config config_of(uint64_t requests, uint64_t new_tokens)
{
	dck_generate_config c;

	dck_generate_config_init(&c);
	c.requests = requests;
	c.new_tokens = new_tokens;
	return c;
}

static void assert_value(const dck_record *r, const char *tag, double expected)
{
	const double v = dck_record_value(r, tag);

	if (!(fabs(v - expected) <= 1e-6 * fabs(expected)))
		fail_msg("%s is %.9g, not %.9g", tag, v, expected);
}

/* A token takes three readings: before and after the run, and when it is known. */
static void times_are_exact(void **state)
{
	const dck_generate_config c = config_of(100, 11);
	dck_record *r = generated(1000, 0, &c);

	(void)state;
	assert_value(r, "generate/ttft/128x1", 3000);
	assert_value(r, "generate/tpot/128x1", 3000);
	assert_value(r, "generate/itl_p50/128x1", 3000);
	assert_value(r, "generate/itl_p90/128x1", 3000);
	assert_value(r, "generate/e2e/128x1", 33000);
	assert_value(r, "generate/tokens/128x1", 11e9 / 33000);
	assert_value(r, "generate/prefill/128x1", 128e9 / 3000);
	assert_value(r, "generate/engine_share/128x1", 1. / 3);
	assert_value(r, "runs/count", 100);
	/* Four layers of keys and values, two heads of 32 float32 numbers, 128 + 11 - 1 tokens. */
	assert_value(r, "generate/cache_computed/128x1", 4 * 2 * 2 * 32 * 4 * 138);
	assert_true(isnan(dck_record_value(r, "generate/cache/128x1")));
	dck_record_free(r);
}

/* Reading k takes k ns more than the first: each gap of three readings is 9 ns longer. */
static void growth_is_exact(void **state)
{
	const dck_generate_config c = config_of(8, 32);
	dck_record *r = generated(1000, 1, &c);

	(void)state;
	assert_value(r, "generate/growth/128x1", 9);
	dck_record_free(r);
}

static void each_length_with_each_batch(void **state)
{
	dck_generate_config c = config_of(6, 4);

	(void)state;
	c.prompt_length = "1024,128";
	c.batch = "4,1";
	dck_record *r = generated(1000, 0, &c);
	const dck_table *t = dck_record_table(r, "generate/lengths");

	assert_non_null(t);
	assert_int_equal(t->nrows, 4);
	assert_value(r, "generate/ttft/1024x4", 3000);
	assert_value(r, "generate/tokens/128x4", 4 * 4e9 / 12000);
	assert_value(r, "generate/prefill/1024x4", 4 * 1024e9 / 3000);
	assert_value(r, "generate/cache_computed/1024x4", 4. * 2048 * 1027);
	/* Three gaps have no slope, and six requests no 99th percentile. */
	assert_true(isnan(dck_record_value(r, "generate/growth/128x1")));
	assert_true(isnan(dck_record_value(r, "generate/itl_p99/128x1")));
	assert_true(isnan(dck_record_value(r, "generate/ttft_p99/128x1")));
	dck_record_free(r);
}

static void one_token_has_no_gap(void **state)
{
	const dck_generate_config c = config_of(6, 1);
	dck_record *r = generated(1000, 0, &c);

	(void)state;
	assert_value(r, "generate/ttft/128x1", 3000);
	assert_true(isnan(dck_record_value(r, "generate/tpot/128x1")));
	assert_true(isnan(dck_record_value(r, "generate/itl_p50/128x1")));
	dck_record_free(r);
}

static const char *fact(const dck_record *r, const char *key)
{
	const dck_fact *f = dck_record_fact(r, "generate", key);

	assert_non_null(f);
	return f->value.as.text;
}

/* The prompts of a file, those of a length in turn, by an engine with its own loop, of which each
 * token is the one before plus one. A token takes four readings: the engine's two, and when it is
 * known, and the first the start. */
static void loop_of_the_engine(void **state)
{
	char engine[3 * PATH_MAX];
	dck_generate_config c = config_of(3, 5);

	(void)state;
	snprintf(engine, sizeof engine, "plugin:%s", built_file("plugins/generating.so"));
	scratch_text("prompts", "[1, 97]\n[5, 6, 7]\n[2, 30]\n");
	c.prompt_file = "prompts";
	c.batch = "2";
	dck_record *r = generated_by(engine, "zoo:llama_mini", 1000, 0, &c);

	assert_value(r, "generate/ttft/2x2", 3000);
	assert_value(r, "generate/tpot/3x2", 3000);
	assert_value(r, "generate/engine_share/2x2", 1. / 3);
	/* 10 bytes for a token of a sequence: 2 sequences of 2 + 5 tokens. */
	assert_value(r, "generate/cache/2x2", 140);
	assert_value(r, "generate/cache/3x2", 160);
	assert_true(isnan(dck_record_value(r, "generate/cache_computed/2x2")));
	assert_string_equal(fact(r, "first_tokens"), "98 99 0 1 2");
	assert_string_equal(fact(r, "loop"), "the plug-in's");
	assert_string_equal(fact(r, "end_of_sequence"), "there is none");
	assert_string_equal(fact(r, "cache"), "the engine's own");
	dck_record_free(r);
}

/* ONNX Runtime GenAI chooses the tokens that the loop here chooses, and keeps a cache of that
 * size. */
static void loop_of_genai(void **state)
{
	dck_generate_config c = config_of(1, 24);
	dck_subject s;
	subject_target t = {.bare = true};
	dck_record *r[2];
	dck_err err;

	(void)state;
	genai_model_write("m", 5);
	dck_subject_init(&s);
	s.kind = DCK_SUBJECT_MODEL;
	s.text = "m/genai_config.json";
	s.model.engine = "genai";
	counting_clock counting = {.step = 1};
	const dck_clock clock = {.name = "counting", .now_ns = counting_now, .self = &counting};
	if (subject_target_open(&t, &s, &clock, NULL, NULL, NULL, &err) != DCK_OK) {
		if (err.code != DCK_E_ABSENT)
			fail_msg("%s", err.msg);
		print_message("skipped: %s\n", err.msg);
		skip();
	}
	subject_target_close(&t);
	c.prompt_length = "9";
	c.batch = "2";
	r[0] = generated_by("ort", "m/decoder.onnx", 1000, 0, &c);
	r[1] = generated_by("genai", s.text, 1000, 0, &c);
	assert_string_equal(fact(r[0], "first_tokens"), fact(r[1], "first_tokens"));
	assert_value(r[1], "generate/cache/9x2", dck_record_value(r[0], "generate/cache/9x2"));
	dck_record_free(r[0]);
	dck_record_free(r[1]);
}

static void mistakes(void **state)
{
	dck_generate_config c;
	dck_record *r = NULL;
	dck_subject s;
	dck_err err;

	(void)state;
	dck_subject_init(&s);
	s.kind = DCK_SUBJECT_MODEL;
	s.text = "zoo:llama_mini";
	s.model.engine = "null";
	dck_generate_config_init(&c);
	c.new_tokens = 0;
	assert_int_equal(dck_generate(&s, &c, NULL, &r, &err), DCK_E_ARG);
	assert_string_equal(err.msg, "option 'new-tokens': '0' is less than the least it takes, 1");
	dck_generate_config_init(&c);
	c.prompt_length = NULL;
	assert_int_equal(dck_generate(&s, &c, NULL, &r, &err), DCK_E_ARG);
	dck_generate_config_init(&c);
	s.kind = DCK_SUBJECT_FUNCTION;
	assert_int_equal(dck_generate(&s, &c, NULL, &r, &err), DCK_E_ARG);
	s.kind = DCK_SUBJECT_MODEL;
	s.text = "zoo:bert_mini";
	assert_int_equal(dck_generate(&s, &c, NULL, &r, &err), DCK_E_UNSUP);
	assert_non_null(strstr(err.msg, "it is not a decoder"));
	assert_null(r);
}

/* The n-th allocation fails, for each n. */
static void no_memory(void **state)
{
	(void)state;
	for (size_t n = 1;; n += n < 40 ? 1 : 41) {
		fault_alloc f;
		const dck_generate_config c = config_of(6, 8);
		dck_record *r = NULL;
		dck_subject s;
		dck_err err;

		dck_subject_init(&s);
		s.kind = DCK_SUBJECT_MODEL;
		s.text = "zoo:llama_mini";
		s.model.engine = "null";
		fault_alloc_begin(&f, n);
		const dck_status status = dck_generate(&s, &c, NULL, &r, &err);

		if (status == DCK_OK)
			dck_record_free(r);
		else
			assert_int_equal(status, DCK_E_NOMEM);
		dck_set_allocator(NULL);
		assert_int_equal(f.out, 0);
		if (f.calls < n)
			return;
	}
}

/* --- the cache */

#define PROMPT 9
#define NEW    8
#define BATCH  2

/* The engine's table, which counts outputs that are read. */
static const dck_engine *counted_engine;
static size_t counted_outputs;

static dck_status output_counted(dck_engine_context *c, size_t index, dck_tensor *ret, dck_err *err)
{
	counted_outputs++;
	return counted_engine->output(c, index, ret, err);
}

/* Generates with the cache, then each token again from all tokens before it, without one. On a
 * device the scores alone are read. */
static void cache_gives_the_same_tokens(const char *engine, const char *device)
{
	const char *model =
	    device ? "small/decoder.onnx" : "zoo:llama_mini"; /* for a GPU in software */
	counting_clock counting = {.step = 1};
	const dck_clock clock = {.name = "counting", .now_ns = counting_now, .self = &counting};
	int64_t ids[BATCH][PROMPT + NEW], step[BATCH * (PROMPT + NEW)], next[BATCH];
	subject_target t = {.bare = true};
	decoder_steps d = {0};
	const int tokens = device ? 2 : NEW; /* each length compiles shaders */
	decoder_layout l;
	dck_engine counts;
	dck_subject s;
	dck_err err;

	genai_model_write("small", 0);
	dck_subject_init(&s);
	s.kind = DCK_SUBJECT_MODEL;
	s.text = model;
	s.model.engine = engine;
	s.model.device = device;
	s.model.threads = 1;
	if (subject_target_open(&t, &s, &clock, NULL, NULL, NULL, &err) != DCK_OK) {
		assert_int_equal(err.code, DCK_E_ABSENT);
		skip();
	}
	if (decoder_layout_find(&t, &s.model.dim, t.arena, &l, &err) != DCK_OK ||
	    decoder_steps_open(&d, &t, &clock, &l,
			       (decoder_sizes){BATCH, PROMPT + NEW, PROMPT + NEW, device},
			       &err) != DCK_OK)
		fail_msg("%s", err.msg);
	counted_engine = d.engine;
	counted_outputs = 0;
	counts = *d.engine;
	counts.output = output_counted;
	d.engine = &counts;
	assert_int_equal(l.vocabulary, device ? 64 : 4096);
	assert_int_equal(l.nparts, device ? 2 : 8);
	for (int b = 0; b < BATCH; b++)
		for (int i = 0; i < PROMPT; i++)
			ids[b][i] = (b + 1) * 331 * (i + 3) % l.vocabulary;
	decoder_steps_begin(&d, BATCH);
	for (int i = 0; i < tokens; i++) {
		const int n = i == 0 ? PROMPT : 1, from = i == 0 ? 0 : PROMPT + i - 1;

		for (int b = 0; b < BATCH; b++)
			memcpy(step + b * n, &ids[b][from], (size_t)n * sizeof *step);
		assert_int_equal(decoder_step(&d, step, (size_t)n, next, &err), DCK_OK);
		for (int b = 0; b < BATCH; b++)
			ids[b][PROMPT + i] = next[b];
		assert_int_equal(d.cache_bytes,
				 device ? 0 : decoder_cache_bytes(&l, BATCH, d.length));
	}
	assert_int_equal(d.on_device, device != NULL);
	assert_int_equal(counted_outputs, device ? 2 : NEW * (1 + l.nparts));
	for (int i = 0; i < tokens; i++) {
		const int n = PROMPT + i;

		for (int b = 0; b < BATCH; b++)
			memcpy(step + b * n, ids[b], (size_t)n * sizeof *step);
		decoder_steps_begin(&d, BATCH);
		assert_int_equal(decoder_step(&d, step, (size_t)n, next, &err), DCK_OK);
		for (int b = 0; b < BATCH; b++)
			assert_int_equal(next[b], ids[b][n]);
	}
	assert_true(ids[0][PROMPT] != ids[0][PROMPT + 1] || ids[0][PROMPT] != ids[1][PROMPT]);
	decoder_steps_close(&d);
	subject_target_close(&t);
}

/* Scores that the engine's table returns in place of the model's. */
static struct {
	size_t index;
	dck_dtype type;
	union {
		float wide[4096];
		uint16_t half[4096];
	} of;
} scores;

static dck_status output_scores(dck_engine_context *c, size_t index, dck_tensor *ret, dck_err *err)
{
	const dck_status status = counted_engine->output(c, index, ret, err);

	if (status == DCK_OK && index == scores.index) {
		ret->data = &scores.of;
		ret->dtype = scores.type;
		ret->bytes = sizeof scores.of.wide * scores.type.bits / 32;
	}
	return status;
}

#define FLOAT32                        \
	{                              \
		DCK_DTYPE_FLOAT, 32, 1 \
	}
#define FLOAT16                        \
	{                              \
		DCK_DTYPE_FLOAT, 16, 1 \
	}
#define BFLOAT16                        \
	{                               \
		DCK_DTYPE_BFLOAT, 16, 1 \
	}

/* Rows: the bits of all scores, and of up to three of them; the token, -1: all are NaN. */
static const struct scores_row {
	dck_dtype type;
	uint32_t all;
	struct {
		size_t at;
		uint32_t bits;
	} set[3];
	int64_t token;
} scores_rows[] = {
    {FLOAT32, 0x3f800000, {{7, 0x40000000}, {9, 0x40000000}}, 7},
    {FLOAT32, 0xc0000000, {{0, 0x7fc00000}, {5, 0xbf800000}}, 5},
    {FLOAT32, 0x7fc00000, {{4095, 0xff800000}}, 4095},
    {FLOAT32, 0xff800000, {{0, 0xff800000}}, 0},
    {FLOAT32, 0x7fc00000, {{0, 0xffc00000}}, -1},
    {FLOAT16, 0x3c00, {{5, 0x4000}, {9, 0x4000}}, 5},
    {FLOAT16, 0xc000, {{7, 0xbc00}, {8, 0x7e00}, {9, 0xfe00}}, 7},
    {FLOAT16, 0x8001, {{3, 0x0001}}, 3},
    {FLOAT16, 0x8000, {{4, 0x0000}}, 0},
    {FLOAT16, 0xfc00, {{2, 0xfbff}}, 2},
    {FLOAT16, 0x7bff, {{6, 0x7c00}, {7, 0x7c01}}, 6},
    {FLOAT16, 0x7e00, {{4095, 0xfc00}}, 4095},
    {FLOAT16, 0x7e00, {{0, 0xfe01}}, -1},
    {BFLOAT16, 0x3f80, {{5, 0x4000}, {9, 0x7fc0}}, 5},
    {BFLOAT16, 0xc000, {{7, 0xbf80}}, 7},
    {BFLOAT16, 0x7f7f, {{1, 0x7f80}}, 1},
    {BFLOAT16, 0x7fc0, {{0, 0xffc0}}, -1},
};

/* Skips the test where the engine is absent. */
static void llama_open(subject_target *t, const dck_clock *clock, decoder_layout *ret)
{
	dck_subject s;
	dck_err err;

	dck_subject_init(&s);
	s.kind = DCK_SUBJECT_MODEL;
	s.text = "zoo:llama_mini";
	if (subject_target_open(t, &s, clock, NULL, NULL, NULL, &err) != DCK_OK) {
		assert_int_equal(err.code, DCK_E_ABSENT);
		skip();
	}
	assert_int_equal(decoder_layout_find(t, &s.model.dim, t->arena, ret, &err), DCK_OK);
}

/* The first of the highest scores is chosen, of each type; token 0 where all are NaN, which is
 * counted. */
static void scores_are_searched(void **state)
{
	counting_clock counting = {.step = 1};
	const dck_clock clock = {.name = "counting", .now_ns = counting_now, .self = &counting};
	subject_target t = {.bare = true};
	decoder_steps d = {0};
	dck_tensor_info *out;
	uint64_t unscored = 0;
	decoder_layout l;
	dck_engine own;
	dck_err err;

	(void)state;
	llama_open(&t, &clock, &l);
	assert_int_equal(l.vocabulary, 4096);
	out = mem_alloc(l.nout * sizeof *out);
	assert_non_null(out);
	memcpy(out, l.out, l.nout * sizeof *out);
	l.out = out;
	assert_int_equal(
	    decoder_steps_open(&d, &t, &clock, &l, (decoder_sizes){1, 1, 2, NULL}, &err), DCK_OK);
	counted_engine = d.engine;
	own = *d.engine;
	own.output = output_scores;
	d.engine = &own;
	scores.index = l.logits;
	for (size_t i = 0; i < sizeof scores_rows / sizeof *scores_rows; i++) {
		const struct scores_row *r = &scores_rows[i];
		int64_t id = 1;

		for (size_t k = 0; k < 4096 + 3; k++) {
			const size_t at = k < 4096 ? k : r->set[k - 4096].at;
			const uint32_t bits = k < 4096 ? r->all : r->set[k - 4096].bits;

			if (k >= 4096 && bits == 0 && at == 0)
				continue; /* not given */
			if (r->type.bits == 32)
				memcpy(&scores.of.wide[at], &bits, sizeof bits);
			else
				scores.of.half[at] = (uint16_t)bits;
		}
		scores.type = out[l.logits].dtype = r->type;
		decoder_steps_begin(&d, 1);
		if (decoder_step(&d, &id, 1, &id, &err) != DCK_OK)
			fail_msg("%s", err.msg);
		unscored += r->token < 0;
		if (id != (r->token < 0 ? 0 : r->token) || d.unscored != unscored)
			fail_msg("row %zu: token %lld, %llu without a score", i, (long long)id,
				 (unsigned long long)d.unscored);
	}
	assert_int_equal(d.chosen, sizeof scores_rows / sizeof *scores_rows);
	decoder_steps_close(&d);
	subject_target_close(&t);
	mem_free(out);
}

/* How many of the last positions the engine's table has scores of; 0: of all. */
static int64_t positions_scored;

static dck_status output_of_last(dck_engine_context *c, size_t index, dck_tensor *ret, dck_err *err)
{
	const dck_status status = counted_engine->output(c, index, ret, err);

	if (status != DCK_OK || index != scores.index || positions_scored == 0)
		return status;
	ret->data = (float *)ret->data + (ret->dim[1] - positions_scored) * ret->dim[2];
	ret->dim[1] = positions_scored;
	ret->bytes = (uint64_t)(positions_scored * ret->dim[2]) * sizeof(float);
	return status;
}

/* Models that score the last position alone give the same token. */
static void last_scores_are_enough(void **state)
{
	static const int64_t prompt[] = {5, 77, 1009};
	counting_clock counting = {.step = 1};
	const dck_clock clock = {.name = "counting", .now_ns = counting_now, .self = &counting};
	subject_target t = {.bare = true};
	decoder_steps d = {0};
	decoder_layout l;
	dck_engine own;
	int64_t next[2];
	dck_err err;

	(void)state;
	llama_open(&t, &clock, &l);
	assert_int_equal(
	    decoder_steps_open(&d, &t, &clock, &l, (decoder_sizes){1, 3, 4, NULL}, &err), DCK_OK);
	counted_engine = d.engine;
	own = *d.engine;
	own.output = output_of_last;
	d.engine = &own;
	scores.index = l.logits;
	for (positions_scored = 0; positions_scored < 2; positions_scored++) {
		decoder_steps_begin(&d, 1);
		assert_int_equal(decoder_step(&d, prompt, 3, &next[positions_scored], &err),
				 DCK_OK);
	}
	assert_int_equal(next[0], next[1]);
	decoder_steps_begin(&d, 1);
	assert_int_equal(decoder_step(&d, prompt, 3, next, &err), DCK_E_UNSUP);
	assert_string_equal(err.msg,
			    "the output 'logits' does not have the size of a decoder's: 3 tokens "
			    "are expected after 0, with a batch of 1");
	decoder_steps_close(&d);
	subject_target_close(&t);
}

static void cache_of_ort(void **state)
{
	(void)state;
	cache_gives_the_same_tokens("ort", NULL);
}

static void cache_on_a_device(void **state)
{
	(void)state;
	need_webgpu();
	cache_gives_the_same_tokens("ort", "webgpu");
}

/* The provider's tensors are the host's. */
static void cache_that_cannot_stay(void **state)
{
	counting_clock counting = {.step = 1};
	const dck_clock clock = {.name = "counting", .now_ns = counting_now, .self = &counting};
	subject_target t = {.bare = true};
	decoder_steps d = {0};
	decoder_layout l;
	dck_err err;

	(void)state;
	llama_open(&t, &clock, &l);
	assert_int_equal(
	    decoder_steps_open(&d, &t, &clock, &l, (decoder_sizes){1, 1, 2, "rocm"}, &err),
	    DCK_E_UNSUP);
	assert_string_equal(err.msg, "the engine 'ort' keeps no outputs in the memory of --device "
				     "rocm: each step would copy the cache to the host and back");
	subject_target_close(&t);
}

static void cache_of_openvino(void **state)
{
	(void)state;
	cache_gives_the_same_tokens("openvino", NULL);
}

int test_generate(void);
int test_generate(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(times_are_exact),
	    cmocka_unit_test(growth_is_exact),
	    cmocka_unit_test(each_length_with_each_batch),
	    cmocka_unit_test(one_token_has_no_gap),
	    cmocka_unit_test(loop_of_the_engine),
	    cmocka_unit_test(loop_of_genai),
	    cmocka_unit_test(mistakes),
	    cmocka_unit_test(no_memory),
	    cmocka_unit_test(scores_are_searched),
	    cmocka_unit_test(last_scores_are_enough),
	    cmocka_unit_test(cache_of_ort),
	    cmocka_unit_test(cache_of_openvino),
	    cmocka_unit_test(cache_on_a_device),
	    cmocka_unit_test(cache_that_cannot_stay),
	};

	return cmocka_run_group_tests_name("generate", tests, scratch_begin, scratch_end);
}
