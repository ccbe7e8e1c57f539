/* generate_decoder.c - recognises a decoder, and runs its steps.
 *
 * A step binds input_ids [batch, n], attention_mask [batch, length + n] of ones, position_ids
 * [batch, n] and the past [batch, heads, length, width]; it reads logits [batch, n, vocabulary], or
 * [batch, 1, vocabulary] of models that score the last position alone, and takes the first of the
 * highest scores of the last position (greedy, as transformers' generate() with do_sample=False).
 * Buffers are allocated once, for the largest sizes of the measurement. The first step has an empty
 * past, of 0 tokens.
 *
 * An engine without tensors (null) only runs: its times are measured, its tokens are not known.
 *
 * Names: optimum's exports (optimum/exporters/onnx, with_past) and onnxruntime-genai's builder.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/generate/generate_decoder.h"
#include "base/dtype.h"
#include "base/err.h"
#include "measure/device_times.h"
#include "measure/subject/shape_resolve.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define PAST	  "past_key_values."
#define NAME_SIZE 128
#define AXIS_TIME 2 /* of a part of the cache: [batch, heads, tokens, width] */

/* --- the layout */

/* Copies what the model file declares, for an engine that describes nothing. */
static dck_tensor_info *infos_declared(mem_arena *a, const model_value *v, size_t n)
{
	dck_tensor_info *ret = mem_arena_array(a, n, sizeof *ret);

	for (size_t i = 0; ret && i < n; i++) {
		ret[i] = (dck_tensor_info){
		    .name = v[i].name,
		    .dtype = dtype_of_onnx(v[i].dtype),
		    .rank = v[i].rank <= DCK_RANK_MAX ? (int32_t)v[i].rank : -1,
		};
		for (int32_t d = 0; d < ret[i].rank; d++) {
			ret[i].dim[d] = v[i].dims[d];
			ret[i].symbol[d] = v[i].symbols[d];
		}
	}
	return ret;
}

static dck_status integers_check(const decoder_layout *l, size_t index, dck_err *err)
{
	const dck_tensor_info *t = &l->in[index];

	if (t->dtype.code != DCK_DTYPE_INT || (t->dtype.bits != 64 && t->dtype.bits != 32) ||
	    t->rank != 2)
		DCK_FAIL(err, E_UNSUP,
			 "the input '%s' is %s of %d dimensions: a decoder's is int64 [batch, "
			 "tokens]",
			 t->name, dck_dtype_text(t->dtype), (int)t->rank);
	return DCK_OK;
}

/* Finds the output that becomes a part of the past, and checks its shape. */
static dck_status part_find(decoder_layout *l, size_t in, dck_err *err)
{
	static const char *const outputs[] = {"present.", "present_key_values."};
	const dck_tensor_info *t = &l->in[in];
	size_t out = DECODER_NONE;
	char name[NAME_SIZE];

	for (size_t i = 0; i < 2 && out == DECODER_NONE; i++) {
		snprintf(name, sizeof name, "%s%s", outputs[i], t->name + strlen(PAST));
		out = subject_tensor_find(l->out, l->nout, name);
	}
	if (out == DECODER_NONE)
		DCK_FAIL(
		    err, E_UNSUP,
		    "the model has the input '%s' and no output 'present.%s' that continues it",
		    t->name, t->name + strlen(PAST));
	if (t->rank < 0)
		DCK_FAIL(err, E_UNSUP,
			 "the shape of '%s' is not known: a cache is [batch, heads, tokens, width]",
			 t->name);
	if (t->rank != 4)
		DCK_FAIL(err, E_UNSUP,
			 "'%s' has %d dimensions, and a cache has four: [batch, heads, tokens, "
			 "width]",
			 t->name, (int)t->rank);
	for (int d = 1; d < 4; d += 2)
		if (t->dim[d] < 0)
			DCK_FAIL(err, E_UNSUP,
				 "the model leaves the %s of the cache '%s' open: give it with "
				 "--dim %s=N",
				 d == 1 ? "heads" : "width of a head", t->name,
				 t->symbol[d] ? t->symbol[d] : "SYMBOL");
	if (t->dim[AXIS_TIME] >= 0)
		DCK_FAIL(err, E_UNSUP,
			 "the cache '%s' has a fixed length of %lld tokens, and generation makes "
			 "it longer: export the model with an open one",
			 t->name, (long long)t->dim[AXIS_TIME]);
	l->part[l->nparts++] = (decoder_part){in, out};
	return DCK_OK;
}

static dck_status inputs_find(decoder_layout *l, dck_err *err)
{
	bool cached = false;

	for (size_t i = 0; i < l->nin; i++)
		cached |= strncmp(l->in[i].name, PAST, strlen(PAST)) == 0;
	if (!cached)
		DCK_FAIL(err, E_UNSUP,
			 "the model has no inputs past_key_values.N: it is not a decoder with a "
			 "cache; export it with past keys and values (optimum-cli export onnx "
			 "--task text-generation-with-past), or try zoo:llama_mini");
	if (l->ids == DECODER_NONE)
		DCK_FAIL(err, E_UNSUP, "the model has no input 'input_ids'");
	for (size_t i = 0; i < l->nin; i++) {
		const char *name = l->in[i].name;

		if (strncmp(name, PAST, strlen(PAST)) == 0)
			DCK_TRY(part_find(l, i, err));
		else if (i != l->ids && i != l->mask && i != l->positions)
			DCK_FAIL(err, E_UNSUP,
				 "the model has an input '%s', which is not known: a decoder has "
				 "input_ids, attention_mask, position_ids and past_key_values.N",
				 name);
		else
			DCK_TRY(integers_check(l, i, err));
	}
	return DCK_OK;
}

static dck_status scores_find(decoder_layout *l, dck_err *err)
{
	if (l->logits == DECODER_NONE)
		DCK_FAIL(err, E_UNSUP, "the model has no output 'logits'");
	const dck_tensor_info *t = &l->out[l->logits];

	if (t->rank != 3 || t->dim[2] < 1)
		DCK_FAIL(err, E_UNSUP,
			 "the shape of 'logits' is not known: a decoder's is [batch, tokens, "
			 "vocabulary], with the vocabulary fixed");
	if (!dtype_is_float(t->dtype) || t->dtype.bits > 32)
		DCK_FAIL(err, E_UNSUP, "'logits' is %s, not float32, float16 or bfloat16",
			 dck_dtype_text(t->dtype));
	l->vocabulary = t->dim[2];
	l->batch = l->in[l->ids].dim[0] > 0 ? l->in[l->ids].dim[0] : 0;
	return DCK_OK;
}

/* Gives an input the symbols of the model file, and the sizes that are given for them: an engine
 * may neither report nor fix them. */
static dck_status info_close(dck_tensor_info *t, const model_values *v, const dck_list *dims,
			     mem_arena *a, dck_err *err)
{
	size_t i = 0;

	while (i < v->nin && strcmp(v->in[i].name, t->name) != 0)
		i++;
	for (int32_t d = 0; i < v->nin && t->rank == v->in[i].rank && d < t->rank; d++) {
		const char *symbol = v->in[i].symbols[d];

		if (t->dim[d] >= 0 || !symbol)
			continue;
		t->symbol[d] = symbol;
		for (size_t k = 0; k < dims->n; k++) {
			const char *name;
			int64_t size;

			DCK_TRY(subject_dim_read(a, dims->item[k], &name, &size, err));
			if (strcmp(name, symbol) == 0)
				t->dim[d] = size;
		}
	}
	return DCK_OK;
}

dck_status decoder_layout_find(const subject_target *t, const dck_list *dims, mem_arena *a,
			       decoder_layout *ret, dck_err *err)
{
	const model_values *v = &t->summary.values;
	decoder_layout l = {.runs = !(t->engine.ops->caps & DCK_CAP_NO_TENSORS)};
	dck_tensor_info *in;

	l.nin = l.runs ? t->nin : v->nin;
	l.nout = l.runs ? t->nout : v->nout;
	l.out = l.runs ? t->out : infos_declared(a, v->out, v->nout);
	in = l.runs ? mem_arena_array(a, l.nin, sizeof *in) : infos_declared(a, v->in, v->nin);
	DCK_NEED(in && l.out, err, "for the model's inputs");
	if (l.runs && l.nin > 0)
		memcpy(in, t->in, l.nin * sizeof *in);
	for (size_t i = 0; i < l.nin; i++)
		DCK_TRY(info_close(&in[i], v, dims, a, err));
	l.in = in;
	l.part = mem_arena_array(a, l.nin + 1, sizeof *l.part);
	DCK_NEED(l.part, err, "for the model's inputs");
	l.ids = subject_tensor_find(l.in, l.nin, "input_ids");
	l.mask = subject_tensor_find(l.in, l.nin, "attention_mask");
	l.positions = subject_tensor_find(l.in, l.nin, "position_ids");
	l.logits = subject_tensor_find(l.out, l.nout, "logits");
	DCK_TRY(inputs_find(&l, err));
	DCK_TRY(scores_find(&l, err));
	*ret = l;
	return DCK_OK;
}

double decoder_cache_bytes(const decoder_layout *l, uint64_t batch, uint64_t tokens)
{
	double bytes = 0;

	for (size_t i = 0; i < l->nparts; i++) {
		const dck_tensor_info *t = &l->in[l->part[i].in];

		bytes += (double)t->dim[1] * (double)t->dim[3] * (double)dck_dtype_bytes(t->dtype);
	}
	return bytes * (double)batch * (double)tokens;
}

/* --- the steps */

/* Returns memory for [rows][columns] of the input's type; an input that is missing needs none. */
static dck_status buffer_new(const decoder_layout *l, size_t index, uint64_t rows, uint64_t columns,
			     void **ret, dck_err *err)
{
	if (index == DECODER_NONE)
		return DCK_OK;
	*ret = mem_zalloc((size_t)(rows * columns), dck_dtype_bytes(l->in[index].dtype));
	DCK_NEED(*ret, err, "for the input '%s'", l->in[index].name);
	return DCK_OK;
}

static void element_put(const dck_tensor_info *t, void *to, size_t i, int64_t v)
{
	if (t->dtype.bits == 64)
		((int64_t *)to)[i] = v;
	else
		((int32_t *)to)[i] = (int32_t)v;
}

/* Decides whether the cache is on a device: `device` is the one that was asked for. */
static dck_status decoder_device_check(decoder_steps *d, const char *device, dck_err *err)
{
	device_proof p;

	if (!device || strcmp(device, "cpu") == 0 || !d->layout->runs)
		return DCK_OK;
	DCK_TRY(device_barriers_list(d->engine, d->own, &p, err));
	if (p.n == 0 || !engine_may_bind_from(d->engine))
		DCK_FAIL(err, E_UNSUP,
			 "the engine '%s' keeps no outputs in the memory of --device %s: each step "
			 "would copy the cache to the host and back",
			 d->engine->name, device);
	d->on_device = true;
	return DCK_OK;
}

/* Refuses more tokens than a model with a table of positions can have. The last token is not read.
 */
static dck_status positions_check(const decoder_layout *l, const model_summary *summary,
				  uint64_t tokens, dck_err *err)
{
	if (l->positions == DECODER_NONE)
		return DCK_OK;
	for (size_t i = 0; i < summary->ninputs; i++) {
		const model_input *in = &summary->inputs[i];

		if (strcmp(in->name, l->in[l->positions].name) == 0 && in->has_range &&
		    in->high >= 0 && tokens >= 2 && tokens - 2 > (uint64_t)in->high)
			DCK_FAIL(err, E_ARG,
				 "the model has %llu positions ('%s' %s), and the longest prompt "
				 "with its new tokens has %llu tokens: give a shorter "
				 "--prompt-length or fewer --new-tokens",
				 (unsigned long long)in->high + 1, in->name, in->why,
				 (unsigned long long)tokens);
	}
	return DCK_OK;
}

static dck_status steps_open(decoder_steps *d, const subject_target *t, decoder_sizes s,
			     dck_err *err)
{
	const decoder_layout *l = d->layout;

	DCK_TRY(positions_check(l, &t->summary, s.tokens, err));
	d->context[0] = d->context[1] = t->context;
	d->past = mem_zalloc(l->nparts, sizeof *d->past);
	d->empty = mem_zalloc(1, sizeof(double));
	DCK_NEED(d->past && d->empty, err, "for the cache");
	if (!l->runs)
		return DCK_OK;
	DCK_TRY(engine_context_new(d->engine, t->model, &d->own, err));
	d->context[1] = d->own;
	DCK_TRY(decoder_device_check(d, s.device, err));
	DCK_TRY(buffer_new(l, l->ids, s.batch, s.prompt, &d->ids, err));
	DCK_TRY(buffer_new(l, l->positions, s.batch, s.prompt, &d->positions, err));
	DCK_TRY(buffer_new(l, l->mask, s.batch, s.tokens, &d->mask, err));
	for (size_t i = 0; d->mask && i < s.batch * s.tokens; i++)
		element_put(&l->in[l->mask], d->mask, i, 1);
	return DCK_OK;
}

dck_status decoder_steps_open(decoder_steps *d, const subject_target *t, const dck_clock *clock,
			      const decoder_layout *l, decoder_sizes sizes, dck_err *err)
{
	*d = (decoder_steps){.engine = t->engine.ops, .clock = clock, .layout = l};
	const dck_status status = steps_open(d, t, sizes, err);

	if (status != DCK_OK)
		decoder_steps_close(d);
	return status;
}

void decoder_steps_close(decoder_steps *d)
{
	if (d->own)
		d->engine->context_free(d->own);
	mem_free(d->ids);
	mem_free(d->mask);
	mem_free(d->positions);
	mem_free(d->empty);
	mem_free(d->past);
	*d = (decoder_steps){0};
}

void decoder_steps_begin(decoder_steps *d, uint64_t batch)
{
	d->batch = batch;
	d->length = 0;
	d->engine_ns = 0;
}

/* Binds a matrix of `rows` sequences of integers. */
static dck_status matrix_bind(const decoder_steps *d, dck_engine_context *c, size_t index,
			      void *data, uint64_t columns, dck_err *err)
{
	const dck_tensor_info *t = index == DECODER_NONE ? NULL : &d->layout->in[index];

	if (!t)
		return DCK_OK;
	return engine_bind_input(
	    d->engine, c, index,
	    &(dck_tensor){.data = data,
			  .dtype = t->dtype,
			  .rank = 2,
			  .dim = {(int64_t)d->batch, (int64_t)columns},
			  .bytes = d->batch * columns * dck_dtype_bytes(t->dtype)},
	    err);
}

/* Binds the cache: nothing at first, then the outputs of the other context. */
static dck_status past_bind(const decoder_steps *d, dck_engine_context *c, dck_err *err)
{
	for (size_t i = 0; i < d->layout->nparts; i++) {
		const size_t in = d->layout->part[i].in;

		if (d->on_device && d->length > 0) {
			DCK_TRY(engine_bind_from(d->engine, c, in, d->context[!d->turn],
						 d->layout->part[i].out, err));
			continue;
		}
		const dck_tensor_info *t = &d->layout->in[in];
		const dck_tensor none = {.data = d->empty,
					 .dtype = t->dtype,
					 .rank = 4,
					 .dim = {(int64_t)d->batch, t->dim[1], 0, t->dim[3]}};

		DCK_TRY(engine_bind_input(d->engine, c, in, d->length ? &d->past[i] : &none, err));
	}
	return DCK_OK;
}

static dck_status step_bind(decoder_steps *d, dck_engine_context *c, const int64_t *ids, size_t n,
			    dck_err *err)
{
	const decoder_layout *l = d->layout;

	for (size_t i = 0; i < d->batch * n; i++) {
		element_put(&l->in[l->ids], d->ids, i, ids[i]);
		if (d->positions)
			element_put(&l->in[l->positions], d->positions, i,
				    (int64_t)(d->length + i % n));
	}
	DCK_TRY(matrix_bind(d, c, l->ids, d->ids, n, err));
	DCK_TRY(matrix_bind(d, c, l->mask, d->mask, d->length + n, err));
	DCK_TRY(matrix_bind(d, c, l->positions, d->positions, n, err));
	DCK_TRY(past_bind(d, c, err));
	return engine_prepare(d->engine, c, err);
}

/* Returns a number that orders numbers of half precision, or bfloat16, as they are; 0: NaN.
 * infinity: its bits. */
static unsigned half_order(unsigned bits, unsigned infinity)
{
	const unsigned size = bits & 0x7fff;

	if (size > infinity)
		return 0;
	return bits & 0x8000 ? 0x8000 - size : 0x8000 + size;
}

/* Return the index of the first of the highest of n scores; n: all are NaN. They are in the
 * measured time, so nothing is converted: to convert a vocabulary of 150,000 took 6 ms. */
static size_t half_highest(const uint16_t *x, size_t n, unsigned infinity)
{
	/* Of a positive top the bits as an integer, below which negative ones are too. */
	int least = INT16_MIN - 1;
	unsigned top = 0;
	size_t at = n;

	for (size_t i = 0; i < n; i++) {
		if ((int16_t)x[i] <= least)
			continue;
		const unsigned order = half_order(x[i], infinity);

		if (order <= top)
			continue;
		top = order;
		at = i;
		least = top > 0x8000 ? (int)(top - 0x8000) : INT16_MIN - 1;
	}
	return at;
}

static size_t float_highest(const float *x, size_t n)
{
	size_t at = 0;

	while (at < n && isnan(x[at]))
		at++;
	float top = at < n ? x[at] : 0;

	for (size_t i = at; i < n; i++)
		if (x[i] > top) {
			top = x[i];
			at = i;
		}
	return at;
}

static size_t token_highest(const dck_tensor *t, size_t from, size_t n)
{
	if (t->dtype.bits == 32)
		return float_highest((const float *)t->data + from, n);
	return half_highest((const uint16_t *)t->data + from, n,
			    t->dtype.code == DCK_DTYPE_BFLOAT ? 0x7f80 : 0x7c00);
}

/* Checks that an output has the sizes that a decoder's has; on a device it waits for the run. Some
 * models score the last position alone. */
static dck_status output_fetch(const decoder_steps *d, dck_engine_context *c, size_t index,
			       const int64_t *want, size_t rank, dck_tensor *ret, dck_err *err)
{
	const int64_t last[] = {want[0], 1, want[2]};

	DCK_TRY(engine_output(d->engine, c, index, ret, err));
	if (ret->rank == (int32_t)rank &&
	    (memcmp(ret->dim, want, rank * sizeof *want) == 0 ||
	     (index == d->layout->logits && memcmp(ret->dim, last, sizeof last) == 0)))
		return DCK_OK;
	DCK_FAIL(err, E_UNSUP,
		 "the output '%s' does not have the size of a decoder's: %lld tokens are expected "
		 "after %llu, with a batch of %llu",
		 d->layout->out[index].name, (long long)want[rank == 3 ? 1 : AXIS_TIME],
		 (unsigned long long)d->length, (unsigned long long)d->batch);
}

/* Chooses the next token of each sequence. */
static dck_status scores_read(decoder_steps *d, const dck_tensor *t, int64_t *ret_next,
			      dck_err *err)
{
	const decoder_layout *l = d->layout;
	const size_t width = (size_t)l->vocabulary, n = (size_t)t->dim[1];

	if (t->dtype.bits != l->out[l->logits].dtype.bits)
		DCK_FAIL(err, E_ENGINE, "the output 'logits' has another type than declared");
	for (size_t i = 0; i < d->batch; i++) {
		const size_t at = token_highest(t, (i * n + n - 1) * width, width);

		ret_next[i] = at < width ? (int64_t)at : 0;
		d->unscored += at == width;
	}
	d->chosen += d->batch;
	return DCK_OK;
}

/* Gets the cache for the next step. On a device it stays where it is, unread. */
static dck_status decoder_cache_read(decoder_steps *d, dck_engine_context *c, size_t n,
				     dck_err *err)
{
	const decoder_layout *l = d->layout;
	uint64_t bytes = 0;

	if (d->on_device)
		return DCK_OK;
	for (size_t i = 0; i < l->nparts; i++) {
		const int64_t *declared = l->in[l->part[i].in].dim;

		DCK_TRY(output_fetch(d, c, l->part[i].out,
				     (const int64_t[]){(int64_t)d->batch, declared[1],
						       (int64_t)(d->length + n), declared[3]},
				     4, &d->past[i], err));
		bytes += d->past[i].bytes;
	}
	d->cache_bytes = bytes;
	return DCK_OK;
}

/* Runs the model until its scores are in the host's memory. */
static dck_status step_run(decoder_steps *d, dck_engine_context *c, size_t n, dck_tensor *ret,
			   dck_err *err)
{
	const decoder_layout *l = d->layout;

	DCK_TRY(d->on_device ? engine_enqueue(d->engine, c, err) : engine_run(d->engine, c, err));
	if (!l->runs)
		return DCK_OK;
	return output_fetch(d, c, l->logits,
			    (const int64_t[]){(int64_t)d->batch, (int64_t)n, l->vocabulary}, 3, ret,
			    err);
}

dck_status decoder_step(decoder_steps *d, const int64_t *ids, size_t n, int64_t *ret_next,
			dck_err *err)
{
	dck_engine_context *c = d->context[d->turn];
	dck_tensor scores;

	if (d->layout->runs)
		DCK_TRY(step_bind(d, c, ids, n, err));
	const uint64_t begin_ns = d->clock->now_ns(d->clock->self);
	DCK_TRY(step_run(d, c, n, &scores, err));
	d->engine_ns += d->clock->now_ns(d->clock->self) - begin_ns;
	if (d->layout->runs) {
		DCK_TRY(scores_read(d, &scores, ret_next, err));
		DCK_TRY(decoder_cache_read(d, c, n, err));
	}
	for (size_t i = 0; !d->layout->runs && i < d->batch; i++)
		ret_next[i] = -1;
	d->length += n;
	d->turn = !d->turn;
	return DCK_OK;
}
