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
	const char *weight = onnx_builder_normal(d->n, onnx_builder_text(d->n, "%s.weight", path),
						 1 / sqrt((double)in), NET_DIMS(in, out));

	return onnx_builder_node(d->n, onnx_builder_scope(d->n, path), "MatMul", NET_IN(x, weight),
				 NULL);
}

static const char *with_const(const decoder *d, const char *scope, const char *op, const char *x,
			      float value)
{
	return onnx_builder_node(d->n, scope, op,
				 NET_IN(x, onnx_builder_const_float(d->n, scope, value)), NULL);
}

static const char *rms_norm(const decoder *d, const char *path, const char *x)
{
	onnx_builder *n = d->n;
	const char *scope = onnx_builder_scope(n, path);
	const char *weight = onnx_builder_uniform(n, onnx_builder_text(n, "%s.weight", path), 0.5,
						  1, NET_DIMS(d->size.hidden));
	const char *y;

	y = with_const(d, scope, "Pow", x, 2);
	y = onnx_builder_node(
	    n, scope, "ReduceMean", NET_IN(y),
	    NET_ATTRS({"axes", NET_INTS, .ints = {-1}, .n = 1}, {"keepdims", NET_INT, .i = 1}));
	y = with_const(d, scope, "Add", y, EPSILON);
	y = onnx_builder_node(n, scope, "Sqrt", NET_IN(y), NULL);
	y = onnx_builder_node(n, scope, "Div", NET_IN(onnx_builder_const_float(n, scope, 1), y),
			      NULL);
	y = onnx_builder_node(n, scope, "Mul", NET_IN(x, y), NULL);
	return onnx_builder_node(n, scope, "Mul", NET_IN(weight, y), NULL);
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
	x = onnx_builder_node(n, scope, "Unsqueeze", NET_IN("position_ids", DECODER_INTS(d, 2)),
			      NULL);
	x = onnx_builder_node(n, scope, "Cast", NET_IN(x),
			      NET_ATTRS({"to", NET_INT, .i = ONNX_FLOAT}));
	x = onnx_builder_node(n, scope, "Mul",
			      NET_IN(x, onnx_builder_const_floats(n, scope, (size_t)half, step)),
			      NULL);
	x = onnx_builder_node(n, scope, "Concat", NET_IN(x, x),
			      NET_ATTRS({"axis", NET_INT, .i = -1}));
	x = onnx_builder_node(n, scope, "Unsqueeze", NET_IN(x, DECODER_INTS(d, 1)), NULL);
	d->cos = onnx_builder_node(n, scope, "Cos", NET_IN(x), NULL);
	d->sin = onnx_builder_node(n, scope, "Sin", NET_IN(x), NULL);
}

/* Returns the size of a dimension, a scalar. */
static const char *length_of(const decoder *d, const char *x, int64_t axis)
{
	const char *shape = onnx_builder_node(d->n, d->scope, "Shape", NET_IN(x), NULL);

	return onnx_builder_node(d->n, d->scope, "Gather",
				 NET_IN(shape, onnx_builder_const_int(d->n, d->scope, axis)),
				 NET_ATTRS({"axis", NET_INT, .i = 0}));
}

/* Makes what is added to the scores, [batch, 1, new, all] with as many more ones as `ones`: 0, or
 * the lowest number for keys that are masked or of later positions. */
static void causal_bias(decoder *d, size_t ones)
{
	static const int64_t axes[] = {1, 2, 3};
	onnx_builder *n = d->n;
	const char *scope = d->scope;
	const char *past = length_of(d, "past_key_values.0.key", 2);
	const char *all =
	    onnx_builder_node(n, scope, "Add", NET_IN(past, length_of(d, "input_ids", 1)), NULL);
	const char *one = onnx_builder_const_int(n, scope, 1);
	const char *zero = onnx_builder_const_int(n, scope, 0);
	const char *keys = onnx_builder_node(n, scope, "Range", NET_IN(zero, all, one), NULL);
	const char *queries = onnx_builder_node(n, scope, "Range", NET_IN(past, all, one), NULL);
	const char *x, *mask;

	queries =
	    onnx_builder_node(n, scope, "Unsqueeze", NET_IN(queries, DECODER_INTS(d, 1)), NULL);
	x = onnx_builder_node(n, scope, "LessOrEqual", NET_IN(keys, queries), NULL);
	mask = onnx_builder_node(n, scope, "Cast", NET_IN("attention_mask"),
				 NET_ATTRS({"to", NET_INT, .i = ONNX_BOOL}));
	mask =
	    onnx_builder_node(n, scope, "Unsqueeze", NET_IN(mask, ints(d, 2 + ones, axes)), NULL);
	x = onnx_builder_node(n, scope, "And", NET_IN(x, mask), NULL);
	d->bias = onnx_builder_node(n, scope, "Where",
				    NET_IN(x, onnx_builder_const_float(n, scope, 0),
					   onnx_builder_const_float(n, scope, -FLT_MAX)),
				    NULL);
}

/* [batch, new, heads * head] to [batch, heads, new, head]. */
static const char *decoder_split(const decoder *d, const char *scope, const char *x, int64_t heads)
{
	x = onnx_builder_node(d->n, scope, "Reshape",
			      NET_IN(x, DECODER_INTS(d, 0, 0, heads, d->head)), NULL);
	return onnx_builder_node(d->n, scope, "Transpose", NET_IN(x),
				 NET_ATTRS({"perm", NET_INTS, .ints = {0, 2, 1, 3}, .n = 4}));
}

static const char *slice(const decoder *d, const char *scope, const char *x, int64_t from,
			 int64_t to, int64_t axis)
{
	return onnx_builder_node(
	    d->n, scope, "Slice",
	    NET_IN(x, DECODER_INTS(d, from), DECODER_INTS(d, to), DECODER_INTS(d, axis)), NULL);
}

static const char *rotated(const decoder *d, const char *scope, const char *x)
{
	onnx_builder *n = d->n;
	const char *low = slice(d, scope, x, 0, d->head / 2, 3);
	const char *high = onnx_builder_node(
	    n, scope, "Neg", NET_IN(slice(d, scope, x, d->head / 2, d->head, 3)), NULL);
	const char *turned = onnx_builder_node(n, scope, "Concat", NET_IN(high, low),
					       NET_ATTRS({"axis", NET_INT, .i = -1}));

	x = onnx_builder_node(n, scope, "Mul", NET_IN(x, d->cos), NULL);
	turned = onnx_builder_node(n, scope, "Mul", NET_IN(turned, d->sin), NULL);
	return onnx_builder_node(n, scope, "Add", NET_IN(x, turned), NULL);
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
				 NET_ATTRS({"axis", NET_INT, .i = 2}));
}

/* Adds softmax(q k / sqrt(head) + bias) v. */
static const char *attend(const decoder *d, const char *scope, const char *q, const char *k,
			  const char *v)
{
	onnx_builder *n = d->n;
	const char *y = onnx_builder_node(n, scope, "MatMul", NET_IN(q, k), NULL);

	y = with_const(d, scope, "Mul", y, (float)(1 / sqrt((double)d->head)));
	y = onnx_builder_node(n, scope, "Add", NET_IN(y, d->bias), NULL);
	y = onnx_builder_node(n, scope, "Softmax", NET_IN(y),
			      NET_ATTRS({"axis", NET_INT, .i = -1}));
	return onnx_builder_node(n, scope, "MatMul", NET_IN(y, v), NULL);
}

static const char *keys_transpose(const decoder *d, const char *scope, const char *k)
{
	return onnx_builder_node(d->n, scope, "Transpose", NET_IN(k),
				 NET_ATTRS({"perm", NET_INTS, .ints = {0, 1, 3, 2}, .n = 4}));
}

/* [batch, heads, new, head] to [batch, new, hidden]. */
static const char *heads_join(const decoder *d, const char *scope, const char *y)
{
	y = onnx_builder_node(d->n, scope, "Transpose", NET_IN(y),
			      NET_ATTRS({"perm", NET_INTS, .ints = {0, 2, 1, 3}, .n = 4}));
	return onnx_builder_node(d->n, scope, "Reshape",
				 NET_IN(y, DECODER_INTS(d, 0, 0, d->size.hidden)), NULL);
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
	q = onnx_builder_node(n, scope, "Reshape",
			      NET_IN(q, DECODER_INTS(d, 0, s->kv_heads, group, -1, d->head)), NULL);
	k = keys_transpose(d, scope, k);
	k = onnx_builder_node(n, scope, "Unsqueeze", NET_IN(k, DECODER_INTS(d, 2)), NULL);
	v = onnx_builder_node(n, scope, "Unsqueeze", NET_IN(v, DECODER_INTS(d, 2)), NULL);
	y = attend(d, scope, q, k, v);
	y = onnx_builder_node(n, scope, "Reshape",
			      NET_IN(y, DECODER_INTS(d, 0, s->heads, -1, d->head)), NULL);
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
	const char *y = onnx_builder_node(n, scope, "Sigmoid", NET_IN(gate), NULL);

	y = onnx_builder_node(n, scope, "Mul", NET_IN(gate, y), NULL);
	y = onnx_builder_node(n, scope, "Mul", NET_IN(y, up), NULL);
	return matrix(d, onnx_builder_text(n, "%s.down_proj", path), y, d->inner, d->size.hidden);
}

static const char *llama_layer(const decoder *d, int64_t layer, const char *x)
{
	onnx_builder *n = d->n;
	const char *path = onnx_builder_text(n, "model.layers.%d", (int)layer);
	const char *scope = onnx_builder_scope(n, path), *y;

	y = rms_norm(d, onnx_builder_text(n, "%s.input_layernorm", path), x);
	y = self_attention(d, layer, y);
	x = onnx_builder_node(n, scope, "Add", NET_IN(x, y), NULL);
	y = rms_norm(d, onnx_builder_text(n, "%s.post_attention_layernorm", path), x);
	y = mlp(d, layer, y);
	return onnx_builder_node(n, scope, "Add", NET_IN(x, y), NULL);
}

/* --- of GPT-2 */

static const char *gpt_norm(const decoder *d, const char *path, const char *x)
{
	onnx_builder *n = d->n;
	const char *weight = onnx_builder_uniform(n, onnx_builder_text(n, "%s.weight", path), 0.5,
						  1, NET_DIMS(d->size.hidden));
	const char *bias = onnx_builder_normal(n, onnx_builder_text(n, "%s.bias", path), 0.02,
					       NET_DIMS(d->size.hidden));

	return onnx_builder_node(
	    n, onnx_builder_scope(n, path), "LayerNormalization", NET_IN(x, weight, bias),
	    NET_ATTRS({"axis", NET_INT, .i = -1}, {"epsilon", NET_FLOAT, .f = EPSILON}));
}

/* Conv1D of the transformers library: a matrix and a bias. */
static const char *biased(const decoder *d, const char *path, const char *x, int64_t in,
			  int64_t out)
{
	const char *bias = onnx_builder_normal(d->n, onnx_builder_text(d->n, "%s.bias", path), 0.02,
					       NET_DIMS(out));

	x = matrix(d, path, x, in, out);
	return onnx_builder_node(d->n, onnx_builder_scope(d->n, path), "Add", NET_IN(x, bias),
				 NULL);
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
	y = onnx_builder_node(n, scope, "Add", NET_IN(x, y), NULL);
	y = with_const(d, scope, "Mul", y, (float)0.79788456080286535588);
	y = onnx_builder_node(n, scope, "Tanh", NET_IN(y), NULL);
	y = with_const(d, scope, "Add", y, 1);
	y = onnx_builder_node(n, scope, "Mul", NET_IN(x, y), NULL);
	return with_const(d, scope, "Mul", y, 0.5f);
}

static const char *gpt_layer(const decoder *d, int64_t layer, const char *x)
{
	onnx_builder *n = d->n;
	const char *path = onnx_builder_text(n, "transformer.h.%d", (int)layer);
	const char *scope = onnx_builder_scope(n, path), *y;

	y = gpt_norm(d, onnx_builder_text(n, "%s.ln_1", path), x);
	y = gpt_attention(d, layer, y);
	x = onnx_builder_node(n, scope, "Add", NET_IN(y, x), NULL);
	y = gpt_norm(d, onnx_builder_text(n, "%s.ln_2", path), x);
	y = biased(d, onnx_builder_text(n, "%s.mlp.c_fc", path), y, d->size.hidden, d->inner);
	y = gelu_tanh(d, onnx_builder_text(n, "%s/mlp/act", scope), y);
	y = biased(d, onnx_builder_text(n, "%s.mlp.c_proj", path), y, d->inner, d->size.hidden);
	return onnx_builder_node(n, scope, "Add", NET_IN(x, y), NULL);
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
		onnx_builder_value v = {.name = cache_name(d, true, i / 2, what[i % 2]),
					.dims = {s->batch, s->kv_heads, s->past, d->head},
					.symbols = {"batch_size", NULL, OLD},
					.rank = 4,
					.dtype = ONNX_FLOAT};
		onnx_builder_input(d->n, &v);
		v.name = cache_name(d, false, i / 2, what[i % 2]);
		v.dims[2] = all_of(s);
		v.symbols[2] = ALL;
		onnx_builder_output(d->n, &v);
	}
}

static void decoder_values(const decoder *d)
{
	static const char *const inputs[] = {"input_ids", "attention_mask", "position_ids"};
	const zoo_size *s = &d->size;

	for (size_t i = 0; i < 3; i++)
		onnx_builder_input(
		    d->n, &(onnx_builder_value){.name = inputs[i],
						.dims = {s->batch, i == 1 ? all_of(s) : s->seq},
						.symbols = {"batch_size", i == 1 ? ALL : NEW},
						.rank = 2,
						.dtype = ONNX_INT64});
	onnx_builder_output(d->n, &(onnx_builder_value){.name = "logits",
							.dims = {s->batch, s->seq, s->vocabulary},
							.symbols = {"batch_size", NEW},
							.rank = 3,
							.dtype = ONNX_FLOAT});
	cache_values(d);
}

/* The output matrix is the transposed embedding. */
static void logits_add(const decoder *d, const char *table, const char *x)
{
	table = onnx_builder_node(d->n, "/lm_head", "Transpose", NET_IN(table),
				  NET_ATTRS({"perm", NET_INTS, .ints = {1, 0}, .n = 2}));
	onnx_builder_name_next(d->n, "logits");
	onnx_builder_node(d->n, "/lm_head", "MatMul", NET_IN(x, table), NULL);
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
	x = onnx_builder_node(n, "/model/embed_tokens", "Gather", NET_IN(table, "input_ids"), NULL);
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
	x = onnx_builder_node(n, "/transformer/wte", "Gather", NET_IN(table, "input_ids"), NULL);
	at = embedding(&d, "transformer.wpe.weight", s->positions);
	at = onnx_builder_node(n, "/transformer/wpe", "Gather", NET_IN(at, "position_ids"), NULL);
	x = onnx_builder_node(n, d.scope, "Add", NET_IN(x, at), NULL);
	causal_bias(&d, 0);
	for (int64_t i = 0; i < s->layers; i++)
		x = gpt_layer(&d, i, x);
	logits_add(&d, table, gpt_norm(&d, "transformer.ln_f", x));
}
