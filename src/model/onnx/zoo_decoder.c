/* zoo_decoder.c - decoders with past keys and values as inputs and outputs, as the transformers
 * library computes them and optimum writes them out.
 *
 * LlamaForCausalLM: Touvron et al. 2023 (arXiv:2302.13971). Rotary positions: Su et al. 2021
 * (arXiv:2104.09864); grouped queries: Ainslie et al. 2023 (arXiv:2305.13245); normalisation by the
 * root mean square: Zhang and Sennrich 2019 (arXiv:1910.07467).
 * GPT2LMHeadModel: Radford et al. 2019, Language Models are Unsupervised Multitask Learners. A
 * table of positions, LayerNorm, each head with keys and values of its own, the GELU by tanh
 * (Hendrycks and Gimpel 2016, arXiv:1606.08415).
 *
 * A run appends the keys and values of `sequence_length` new tokens to those of
 * `past_sequence_length` earlier ones, and returns both as present.N.key and present.N.value: the
 * past of the next run. The heads of a group read one key and one value by broadcasting, so the
 * cache is not repeated.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/onnx/zoo.h"
#include "model/onnx/onnx.h"

#include <float.h>
#include <math.h>

#define THETA	10000.0 /* rope_theta */
#define EPSILON 1e-5f	/* rms_norm_eps */

/* Values that all layers share. */
typedef struct decoder {
	onnx_builder *n;
	zoo_size size;
	int64_t head, inner; /* width of a head and of the MLP */
	const char *scope;
	const char *cos, *sin, *bias; /* cos, sin: of Llama */
} decoder;

static const char *ints(const decoder *d, size_t count, const int64_t *v)
{
	return onnx_builder_const_ints(d->n, d->scope, count, v);
}
#define DECODER_INTS(d, ...)                                              \
	ints(d, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t), \
	     (const int64_t[]){__VA_ARGS__})

static const char *matrix(const decoder *d, const char *path, const char *x, int64_t in,
			  int64_t out)
{
	const char *weight =
	    zoo_normal(d->n, path, "weight", 1 / sqrt((double)in), NET_DIMS(in, out));

	return NET_NODE(d->n, onnx_builder_scope(d->n, path), "MatMul", x, weight);
}

static const char *with_const(const decoder *d, const char *scope, const char *op, const char *x,
			      float value)
{
	return NET_NODE(d->n, scope, op, x, onnx_builder_const_float(d->n, scope, value));
}

static const char *rms_norm(const decoder *d, const char *path, const char *x)
{
	onnx_builder *n = d->n;
	const char *scope = onnx_builder_scope(n, path);
	const char *weight = zoo_uniform(n, path, "weight", 0.5, 1, NET_DIMS(d->size.hidden));
	const char *y;

	y = with_const(d, scope, "Pow", x, 2);
	y = onnx_builder_node(
	    n, scope, "ReduceMean", NET_IN(y),
	    NET_ATTRS({"axes", NET_INTS, .ints = {-1}, .n = 1}, {"keepdims", NET_INT, .i = 1}));
	y = with_const(d, scope, "Add", y, EPSILON);
	y = NET_NODE(n, scope, "Sqrt", y);
	y = NET_NODE(n, scope, "Div", onnx_builder_const_float(n, scope, 1), y);
	y = NET_NODE(n, scope, "Mul", x, y);
	return NET_NODE(n, scope, "Mul", weight, y);
}

/* Makes the cosines and sines of the positions, [batch, 1, new, head]. */
static void rotary_values(decoder *d)
{
	onnx_builder *n = d->n;
	const char *scope = "/model/rotary_emb", *x;
	float step[ZOO_HEAD_MAX / 2];
	const int64_t half = d->head / 2;

	for (int64_t i = 0; i < half; i++)
		step[i] = (float)pow(THETA, -2.0 * (double)i / (double)d->head);
	x = NET_NODE(n, scope, "Unsqueeze", "position_ids", DECODER_INTS(d, 2));
	x = onnx_builder_node(n, scope, "Cast", NET_IN(x),
			      NET_ATTRS({"to", NET_INT, .i = ONNX_FLOAT}));
	x = NET_NODE(n, scope, "Mul", x, onnx_builder_const_floats(n, scope, (size_t)half, step));
	x = onnx_builder_node(n, scope, "Concat", NET_IN(x, x), NET_AXIS(-1));
	x = NET_NODE(n, scope, "Unsqueeze", x, DECODER_INTS(d, 1));
	d->cos = NET_NODE(n, scope, "Cos", x);
	d->sin = NET_NODE(n, scope, "Sin", x);
}

/* Returns the size of a dimension, a scalar. */
static const char *length_of(const decoder *d, const char *x, int64_t axis)
{
	const char *shape = NET_NODE(d->n, d->scope, "Shape", x);

	return onnx_builder_node(d->n, d->scope, "Gather",
				 NET_IN(shape, onnx_builder_const_int(d->n, d->scope, axis)),
				 NET_AXIS(0));
}

/* Makes what is added to the scores, [batch, 1, new, all] with as many more ones as `ones`: 0, or
 * the lowest number for keys that are masked or of later positions. */
static void causal_bias(decoder *d, size_t ones)
{
	static const int64_t axes[] = {1, 2, 3};
	onnx_builder *n = d->n;
	const char *scope = d->scope;
	const char *past = length_of(d, "past_key_values.0.key", 2);
	const char *all = NET_NODE(n, scope, "Add", past, length_of(d, "input_ids", 1));
	const char *one = onnx_builder_const_int(n, scope, 1);
	const char *zero = onnx_builder_const_int(n, scope, 0);
	const char *keys = NET_NODE(n, scope, "Range", zero, all, one);
	const char *queries = NET_NODE(n, scope, "Range", past, all, one);
	const char *x, *mask;

	queries = NET_NODE(n, scope, "Unsqueeze", queries, DECODER_INTS(d, 1));
	x = NET_NODE(n, scope, "LessOrEqual", keys, queries);
	mask = onnx_builder_node(n, scope, "Cast", NET_IN("attention_mask"),
				 NET_ATTRS({"to", NET_INT, .i = ONNX_BOOL}));
	mask = NET_NODE(n, scope, "Unsqueeze", mask, ints(d, 2 + ones, axes));
	x = NET_NODE(n, scope, "And", x, mask);
	d->bias = NET_NODE(n, scope, "Where", x, onnx_builder_const_float(n, scope, 0),
			   onnx_builder_const_float(n, scope, -FLT_MAX));
}

/* [batch, new, heads * head] to [batch, heads, new, head]. */
static const char *decoder_split(const decoder *d, const char *scope, const char *x, int64_t heads)
{
	x = NET_NODE(d->n, scope, "Reshape", x, DECODER_INTS(d, 0, 0, heads, d->head));
	return onnx_builder_node(d->n, scope, "Transpose", NET_IN(x), NET_PERM(0, 2, 1, 3));
}

static const char *slice(const decoder *d, const char *scope, const char *x, int64_t from,
			 int64_t to, int64_t axis)
{
	return NET_NODE(d->n, scope, "Slice", x, DECODER_INTS(d, from), DECODER_INTS(d, to),
			DECODER_INTS(d, axis));
}

static const char *rotated(const decoder *d, const char *scope, const char *x)
{
	onnx_builder *n = d->n;
	const char *low = slice(d, scope, x, 0, d->head / 2, 3);
	const char *high = NET_NODE(n, scope, "Neg", slice(d, scope, x, d->head / 2, d->head, 3));
	const char *turned = onnx_builder_node(n, scope, "Concat", NET_IN(high, low), NET_AXIS(-1));

	x = NET_NODE(n, scope, "Mul", x, d->cos);
	turned = NET_NODE(n, scope, "Mul", turned, d->sin);
	return NET_NODE(n, scope, "Add", x, turned);
}

static const char *cache_name(const decoder *d, bool past, int64_t layer, const char *what)
{
	return onnx_builder_text(d->n, "%s.%d.%s", past ? "past_key_values" : "present", (int)layer,
				 what);
}

static const char *cached(const decoder *d, const char *scope, int64_t layer, const char *what,
			  const char *x)
{
	onnx_builder_name_next(d->n, cache_name(d, false, layer, what));
	return onnx_builder_node(d->n, scope, "Concat", NET_IN(cache_name(d, true, layer, what), x),
				 NET_AXIS(2));
}

/* Adds softmax(q k / sqrt(head) + bias) v. */
static const char *attend(const decoder *d, const char *scope, const char *q, const char *k,
			  const char *v)
{
	onnx_builder *n = d->n;
	const char *y = NET_NODE(n, scope, "MatMul", q, k);

	y = with_const(d, scope, "Mul", y, (float)(1 / sqrt((double)d->head)));
	y = NET_NODE(n, scope, "Add", y, d->bias);
	y = onnx_builder_node(n, scope, "Softmax", NET_IN(y), NET_AXIS(-1));
	return NET_NODE(n, scope, "MatMul", y, v);
}

static const char *keys_transpose(const decoder *d, const char *scope, const char *k)
{
	return onnx_builder_node(d->n, scope, "Transpose", NET_IN(k), NET_PERM(0, 1, 3, 2));
}

/* [batch, heads, new, head] to [batch, new, hidden]. */
static const char *heads_join(const decoder *d, const char *scope, const char *y)
{
	y = onnx_builder_node(d->n, scope, "Transpose", NET_IN(y), NET_PERM(0, 2, 1, 3));
	return NET_NODE(d->n, scope, "Reshape", y, DECODER_INTS(d, 0, 0, d->size.hidden));
}

static const char *self_attention(const decoder *d, int64_t layer, const char *x)
{
	onnx_builder *n = d->n;
	const zoo_size *s = &d->size;
	const char *path = onnx_builder_text(n, "model.layers.%d.self_attn", (int)layer);
	const char *scope = onnx_builder_scope(n, path), *q, *k, *v, *y;
	const int64_t group = s->heads / s->kv_heads, narrow = s->kv_heads * d->head;

	q = matrix(d, onnx_builder_text(n, "%s.q_proj", path), x, s->hidden, s->hidden);
	k = matrix(d, onnx_builder_text(n, "%s.k_proj", path), x, s->hidden, narrow);
	v = matrix(d, onnx_builder_text(n, "%s.v_proj", path), x, s->hidden, narrow);
	q = rotated(d, scope, decoder_split(d, scope, q, s->heads));
	k = rotated(d, scope, decoder_split(d, scope, k, s->kv_heads));
	k = cached(d, scope, layer, "key", k);
	v = cached(d, scope, layer, "value", decoder_split(d, scope, v, s->kv_heads));
	q = NET_NODE(n, scope, "Reshape", q, DECODER_INTS(d, 0, s->kv_heads, group, -1, d->head));
	k = keys_transpose(d, scope, k);
	k = NET_NODE(n, scope, "Unsqueeze", k, DECODER_INTS(d, 2));
	v = NET_NODE(n, scope, "Unsqueeze", v, DECODER_INTS(d, 2));
	y = attend(d, scope, q, k, v);
	y = NET_NODE(n, scope, "Reshape", y, DECODER_INTS(d, 0, s->heads, -1, d->head));
	y = heads_join(d, scope, y);
	return matrix(d, onnx_builder_text(n, "%s.o_proj", path), y, s->hidden, s->hidden);
}

/* down(silu(gate x) * up x) */
static const char *mlp(const decoder *d, int64_t layer, const char *x)
{
	onnx_builder *n = d->n;
	const char *path = onnx_builder_text(n, "model.layers.%d.mlp", (int)layer);
	const char *scope = onnx_builder_scope(n, path);
	const char *gate =
	    matrix(d, onnx_builder_text(n, "%s.gate_proj", path), x, d->size.hidden, d->inner);
	const char *up =
	    matrix(d, onnx_builder_text(n, "%s.up_proj", path), x, d->size.hidden, d->inner);
	const char *y = NET_NODE(n, scope, "Sigmoid", gate);

	y = NET_NODE(n, scope, "Mul", gate, y);
	y = NET_NODE(n, scope, "Mul", y, up);
	return matrix(d, onnx_builder_text(n, "%s.down_proj", path), y, d->inner, d->size.hidden);
}

static const char *llama_layer(const decoder *d, int64_t layer, const char *x)
{
	onnx_builder *n = d->n;
	const char *path = onnx_builder_text(n, "model.layers.%d", (int)layer);
	const char *scope = onnx_builder_scope(n, path), *y;

	y = rms_norm(d, onnx_builder_text(n, "%s.input_layernorm", path), x);
	y = self_attention(d, layer, y);
	x = NET_NODE(n, scope, "Add", x, y);
	y = rms_norm(d, onnx_builder_text(n, "%s.post_attention_layernorm", path), x);
	y = mlp(d, layer, y);
	return NET_NODE(n, scope, "Add", x, y);
}

/* --- of GPT-2 */

static const char *gpt_norm(const decoder *d, const char *path, const char *x)
{
	onnx_builder *n = d->n;
	const char *weight = zoo_uniform(n, path, "weight", 0.5, 1, NET_DIMS(d->size.hidden));
	const char *bias = zoo_normal(n, path, "bias", 0.02, NET_DIMS(d->size.hidden));

	return onnx_builder_node(
	    n, onnx_builder_scope(n, path), "LayerNormalization", NET_IN(x, weight, bias),
	    NET_ATTRS({"axis", NET_INT, .i = -1}, {"epsilon", NET_FLOAT, .f = EPSILON}));
}

/* Conv1D of the transformers library: a matrix and a bias. */
static const char *biased(const decoder *d, const char *path, const char *x, int64_t in,
			  int64_t out)
{
	const char *bias = zoo_normal(d->n, path, "bias", 0.02, NET_DIMS(out));

	x = matrix(d, path, x, in, out);
	return NET_NODE(d->n, onnx_builder_scope(d->n, path), "Add", x, bias);
}

static const char *gpt_attention(const decoder *d, int64_t layer, const char *x)
{
	onnx_builder *n = d->n;
	const int64_t width = d->size.hidden;
	const char *path = onnx_builder_text(n, "transformer.h.%d.attn", (int)layer);
	const char *scope = onnx_builder_scope(n, path), *qkv[3], *y;

	x = biased(d, onnx_builder_text(n, "%s.c_attn", path), x, width, 3 * width);
	for (int64_t i = 0; i < 3; i++)
		qkv[i] = decoder_split(d, scope, slice(d, scope, x, i * width, (i + 1) * width, 2),
				       d->size.heads);
	for (int i = 1; i < 3; i++)
		qkv[i] = cached(d, scope, layer, i == 1 ? "key" : "value", qkv[i]);
	y = attend(d, scope, qkv[0], keys_transpose(d, scope, qkv[1]), qkv[2]);
	y = heads_join(d, scope, y);
	return biased(d, onnx_builder_text(n, "%s.c_proj", path), y, width, width);
}

/* x/2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) */
static const char *gelu_tanh(const decoder *d, const char *scope, const char *x)
{
	onnx_builder *n = d->n;
	const char *y = with_const(d, scope, "Pow", x, 3);

	y = with_const(d, scope, "Mul", y, 0.044715f);
	y = NET_NODE(n, scope, "Add", x, y);
	y = with_const(d, scope, "Mul", y, (float)0.79788456080286535588);
	y = NET_NODE(n, scope, "Tanh", y);
	y = with_const(d, scope, "Add", y, 1);
	y = NET_NODE(n, scope, "Mul", x, y);
	return with_const(d, scope, "Mul", y, 0.5f);
}

static const char *gpt_layer(const decoder *d, int64_t layer, const char *x)
{
	onnx_builder *n = d->n;
	const char *path = onnx_builder_text(n, "transformer.h.%d", (int)layer);
	const char *scope = onnx_builder_scope(n, path), *y;

	y = gpt_norm(d, onnx_builder_text(n, "%s.ln_1", path), x);
	y = gpt_attention(d, layer, y);
	x = NET_NODE(n, scope, "Add", y, x);
	y = gpt_norm(d, onnx_builder_text(n, "%s.ln_2", path), x);
	y = biased(d, onnx_builder_text(n, "%s.mlp.c_fc", path), y, d->size.hidden, d->inner);
	y = gelu_tanh(d, onnx_builder_text(n, "%s/mlp/act", scope), y);
	y = biased(d, onnx_builder_text(n, "%s.mlp.c_proj", path), y, d->inner, d->size.hidden);
	return NET_NODE(n, scope, "Add", x, y);
}

/* --- inputs and outputs, with the names and symbols of optimum's exports */

#define NEW "sequence_length"
#define OLD "past_sequence_length"
#define ALL "past_sequence_length + sequence_length"

static int64_t all_of(const zoo_size *s)
{
	return s->seq == NET_OPEN ? NET_OPEN : s->past + s->seq;
}

static void cache_values(const decoder *d)
{
	static const char *const what[] = {"key", "value"};
	const zoo_size *s = &d->size;

	for (int64_t i = 0; i < 2 * s->layers; i++) {
		onnx_builder_input(d->n, cache_name(d, true, i / 2, what[i % 2]), ONNX_FLOAT,
				   NET_SYMBOLS("batch_size", NULL, OLD),
				   NET_DIMS(s->batch, s->kv_heads, s->past, d->head));
		onnx_builder_output(d->n, cache_name(d, false, i / 2, what[i % 2]), ONNX_FLOAT,
				    NET_SYMBOLS("batch_size", NULL, ALL),
				    NET_DIMS(s->batch, s->kv_heads, all_of(s), d->head));
	}
}

static void decoder_values(const decoder *d)
{
	static const char *const inputs[] = {"input_ids", "attention_mask", "position_ids"};
	const zoo_size *s = &d->size;

	for (size_t i = 0; i < 3; i++)
		onnx_builder_input(d->n, inputs[i], ONNX_INT64,
				   NET_SYMBOLS("batch_size", i == 1 ? ALL : NEW),
				   NET_DIMS(s->batch, i == 1 ? all_of(s) : s->seq));
	onnx_builder_output(d->n, "logits", ONNX_FLOAT, NET_SYMBOLS("batch_size", NEW),
			    NET_DIMS(s->batch, s->seq, s->vocabulary));
	cache_values(d);
}

/* The output matrix is the transposed embedding. */
static void logits_add(const decoder *d, const char *table, const char *x)
{
	table = onnx_builder_node(d->n, "/lm_head", "Transpose", NET_IN(table),
				  NET_ATTRS({"perm", NET_INTS, .ints = {1, 0}, .n = 2}));
	onnx_builder_name_next(d->n, "logits");
	NET_NODE(d->n, "/lm_head", "MatMul", x, table);
}

static const char *embedding(const decoder *d, const char *path, int64_t rows)
{
	return onnx_builder_normal(d->n, path, 1 / sqrt((double)d->size.hidden),
				   NET_DIMS(rows, d->size.hidden));
}

void zoo_llama(onnx_builder *n, const zoo_size *s)
{
	/* 8/3 of the width, as Llama's MLP, rounded up to 16. */
	decoder d = {.n = n,
		     .size = *s,
		     .head = s->hidden / s->heads,
		     .inner = (s->hidden * 8 / 3 + 15) / 16 * 16,
		     .scope = "/model"};
	const char *table, *x;

	decoder_values(&d);
	table = embedding(&d, "model.embed_tokens.weight", s->vocabulary);
	x = NET_NODE(n, "/model/embed_tokens", "Gather", table, "input_ids");
	rotary_values(&d);
	causal_bias(&d, 1);
	for (int64_t i = 0; i < s->layers; i++)
		x = llama_layer(&d, i, x);
	logits_add(&d, table, rms_norm(&d, "model.norm", x));
}

void zoo_gpt(onnx_builder *n, const zoo_size *s)
{
	decoder d = {.n = n,
		     .size = *s,
		     .head = s->hidden / s->heads,
		     .inner = 4 * s->hidden,
		     .scope = "/transformer"};
	const char *table, *x, *at;

	decoder_values(&d);
	table = embedding(&d, "transformer.wte.weight", s->vocabulary);
	x = NET_NODE(n, "/transformer/wte", "Gather", table, "input_ids");
	at = embedding(&d, "transformer.wpe.weight", s->positions);
	at = NET_NODE(n, "/transformer/wpe", "Gather", at, "position_ids");
	x = NET_NODE(n, d.scope, "Add", x, at);
	causal_bias(&d, 0);
	for (int64_t i = 0; i < s->layers; i++)
		x = gpt_layer(&d, i, x);
	logits_add(&d, table, gpt_norm(&d, "transformer.ln_f", x));
}
