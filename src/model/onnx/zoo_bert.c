/* zoo_bert.c - BERT encoders with their pooler: Devlin et al. 2018 (arXiv:1810.04805), as
 * BertModel of the transformers library computes them and exporters write them out (attention
 * and GELU in single operators, LayerNormalization in one). Small sizes: Turc et al. 2019
 * (arXiv:1908.08962).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/onnx/zoo.h"
#include "model/onnx/onnx.h"

#include <float.h>
#include <math.h>

#define VOCABULARY 30522
#define POSITIONS  512
#define SEGMENTS   2
#define DEVIATION  0.02 /* initializer_range */

typedef struct bert {
	int64_t hidden, layers, heads;
} bert;

static const char *norm(onnx_builder *n, const char *scope, const char *path, const char *x,
			int64_t hidden)
{
	const char *weight = zoo_uniform(n, path, "weight", 0.5, 1, NET_DIMS(hidden));
	const char *bias = zoo_normal(n, path, "bias", DEVIATION, NET_DIMS(hidden));

	return onnx_builder_node(
	    n, onnx_builder_text(n, "%s/LayerNorm", scope), "LayerNormalization",
	    NET_IN(x, weight, bias),
	    NET_ATTRS({"axis", NET_INT, .i = -1}, {"epsilon", NET_FLOAT, .f = 1e-12f}));
}

/* On three dimensions exporters multiply by the transposed weight and add the bias. */
static const char *linear(onnx_builder *n, const char *scope, const char *path, const char *x,
			  int64_t in, int64_t out)
{
	const char *weight = zoo_normal(n, path, "weight", DEVIATION, NET_DIMS(in, out));
	const char *bias = zoo_normal(n, path, "bias", DEVIATION, NET_DIMS(out));

	x = NET_NODE(n, scope, "MatMul", x, weight);
	return NET_NODE(n, scope, "Add", bias, x);
}

static const char *bert_gather(onnx_builder *n, const char *scope, const char *path,
			       const char *ids, int64_t rows, int64_t hidden)
{
	const char *table = zoo_normal(n, path, "weight", DEVIATION, NET_DIMS(rows, hidden));

	return NET_NODE(n, scope, "Gather", table, ids);
}

/* The first seq of the positions 0, 1, 2, ... that the model stores as a buffer. */
static const char *bert_positions(onnx_builder *n, const char *scope, int64_t seq)
{
	const char *ids = onnx_builder_count(n, "embeddings.position_ids", NET_DIMS(1, POSITIONS)),
		   *end;
	const char *zero = onnx_builder_const_ints(n, scope, 1, (const int64_t[]){0});
	const char *axis = onnx_builder_const_ints(n, scope, 1, (const int64_t[]){1});

	if (seq == NET_OPEN) {
		const char *shape = NET_NODE(n, scope, "Shape", "input_ids");
		const char *one = onnx_builder_const_int(n, scope, 1);
		end = onnx_builder_node(n, scope, "Gather", NET_IN(shape, one), NET_AXIS(0));
		end = NET_NODE(n, scope, "Unsqueeze", end, zero);
	} else {
		end = onnx_builder_const_ints(n, scope, 1, &seq);
	}
	return NET_NODE(n, scope, "Slice", ids, zero, end, axis);
}

static const char *embeddings(onnx_builder *n, const bert *b, const zoo_size *s)
{
	const char *scope = "/embeddings";
	const char *word =
	    bert_gather(n, "/embeddings/word_embeddings", "embeddings.word_embeddings", "input_ids",
			VOCABULARY, b->hidden);
	const char *segment =
	    bert_gather(n, "/embeddings/token_type_embeddings", "embeddings.token_type_embeddings",
			"token_type_ids", SEGMENTS, b->hidden);
	const char *position =
	    bert_gather(n, "/embeddings/position_embeddings", "embeddings.position_embeddings",
			bert_positions(n, scope, s->seq), POSITIONS, b->hidden);
	const char *x = NET_NODE(n, scope, "Add", word, segment);

	x = NET_NODE(n, scope, "Add", x, position);
	return norm(n, scope, "embeddings.LayerNorm", x, b->hidden);
}

/* [batch, seq] of 0 and 1 becomes [batch, 1, 1, seq] of the lowest number and 0. */
static const char *extended_mask(onnx_builder *n)
{
	const char *axes = onnx_builder_const_ints(n, "", 2, (const int64_t[]){1, 2});
	const char *x = NET_NODE(n, "", "Unsqueeze", "attention_mask", axes), *c;

	x = onnx_builder_node(n, "", "Cast", NET_IN(x),
			      NET_ATTRS({"to", NET_INT, .i = ONNX_FLOAT}));
	c = onnx_builder_const_float(n, "", 1);
	x = NET_NODE(n, "", "Sub", c, x);
	c = onnx_builder_const_float(n, "", -FLT_MAX);
	return NET_NODE(n, "", "Mul", x, c);
}

/* [batch, seq, hidden] to [batch, heads, seq, size], or [batch, heads, size, seq]. */
static const char *split_heads(onnx_builder *n, const char *scope, const bert *b, const char *x,
			       bool transposed)
{
	/* 0 in Reshape: the dimension stays as it is */
	const char *shape = onnx_builder_const_ints(
	    n, scope, 4, (const int64_t[]){0, 0, b->heads, b->hidden / b->heads});

	x = NET_NODE(n, scope, "Reshape", x, shape);
	if (transposed)
		return onnx_builder_node(n, scope, "Transpose", NET_IN(x), NET_PERM(0, 2, 3, 1));
	return onnx_builder_node(n, scope, "Transpose", NET_IN(x), NET_PERM(0, 2, 1, 3));
}

static const char *attention(onnx_builder *n, const char *scope, const char *path, const bert *b,
			     const char *x, const char *mask)
{
	static const char *const parts[3] = {"query", "key", "value"};
	const char *qkv[3], *shape, *y;

	for (int i = 0; i < 3; i++) {
		y = linear(n, onnx_builder_text(n, "%s/self/%s", scope, parts[i]),
			   onnx_builder_text(n, "%s.self.%s", path, parts[i]), x, b->hidden,
			   b->hidden);
		qkv[i] = split_heads(n, onnx_builder_text(n, "%s/self", scope), b, y, i == 1);
	}
	scope = onnx_builder_text(n, "%s/self", scope);
	y = NET_NODE(n, scope, "MatMul", qkv[0], qkv[1]);
	shape = onnx_builder_const_float(n, scope, sqrtf((float)b->hidden / (float)b->heads));
	y = NET_NODE(n, scope, "Div", y, shape);
	y = NET_NODE(n, scope, "Add", y, mask);
	y = onnx_builder_node(n, scope, "Softmax", NET_IN(y), NET_AXIS(-1));
	y = NET_NODE(n, scope, "MatMul", y, qkv[2]);
	y = onnx_builder_node(n, scope, "Transpose", NET_IN(y), NET_PERM(0, 2, 1, 3));
	shape = onnx_builder_const_ints(n, scope, 3, (const int64_t[]){0, 0, b->hidden});
	return NET_NODE(n, scope, "Reshape", y, shape);
}

/* The exact GELU: x/2 (1 + erf(x / sqrt 2)). */
static const char *gelu(onnx_builder *n, const char *scope, const char *x)
{
	const char *c = onnx_builder_const_float(n, scope, (float)1.41421356237309504880), *y;

	y = NET_NODE(n, scope, "Div", x, c);
	y = NET_NODE(n, scope, "Erf", y);
	c = onnx_builder_const_float(n, scope, 1);
	y = NET_NODE(n, scope, "Add", y, c);
	y = NET_NODE(n, scope, "Mul", x, y);
	c = onnx_builder_const_float(n, scope, 0.5f);
	return NET_NODE(n, scope, "Mul", y, c);
}

/* A linear layer, the residual sum and its normalisation, which gets the name `as`. */
static const char *output(onnx_builder *n, const char *scope, const char *path, const char *x,
			  const char *residual, int64_t in, int64_t out, const char *as)
{
	x = linear(n, onnx_builder_text(n, "%s/dense", scope),
		   onnx_builder_text(n, "%s.dense", path), x, in, out);
	x = NET_NODE(n, scope, "Add", x, residual);
	onnx_builder_name_next(n, as);
	return norm(n, scope, onnx_builder_text(n, "%s.LayerNorm", path), x, out);
}

static const char *layer(onnx_builder *n, const bert *b, int64_t index, const char *x,
			 const char *mask, bool last)
{
	const char *scope = onnx_builder_text(n, "/encoder/layer.%d", (int)index);
	const char *path = onnx_builder_text(n, "encoder.layer.%d", (int)index), *y;

	y = attention(n, onnx_builder_text(n, "%s/attention", scope),
		      onnx_builder_text(n, "%s.attention", path), b, x, mask);
	x = output(n, onnx_builder_text(n, "%s/attention/output", scope),
		   onnx_builder_text(n, "%s.attention.output", path), y, x, b->hidden, b->hidden,
		   NULL);
	y = linear(n, onnx_builder_text(n, "%s/intermediate/dense", scope),
		   onnx_builder_text(n, "%s.intermediate.dense", path), x, b->hidden,
		   4 * b->hidden);
	y = gelu(n, onnx_builder_text(n, "%s/intermediate/intermediate_act_fn", scope), y);
	return output(n, onnx_builder_text(n, "%s/output", scope),
		      onnx_builder_text(n, "%s.output", path), y, x, 4 * b->hidden, b->hidden,
		      last ? "last_hidden_state" : NULL);
}

static void bert_values(onnx_builder *n, const bert *b, const zoo_size *s)
{
	static const char *const inputs[] = {"input_ids", "attention_mask", "token_type_ids"};

	for (size_t i = 0; i < 3; i++)
		onnx_builder_input(n, inputs[i], ONNX_INT64, NET_SYMBOLS("batch", "seq"),
				   NET_DIMS(s->batch, s->seq));
	onnx_builder_output(n, "last_hidden_state", ONNX_FLOAT, NET_SYMBOLS("batch", "seq"),
			    NET_DIMS(s->batch, s->seq, b->hidden));
	onnx_builder_output(n, "pooler_output", ONNX_FLOAT, NET_SYMBOLS("batch"),
			    NET_DIMS(s->batch, b->hidden));
}

static void build(onnx_builder *n, const zoo_size *s, const bert *b)
{
	const char *x, *mask, *first;

	bert_values(n, b, s);
	x = embeddings(n, b, s);
	mask = extended_mask(n);
	for (int64_t i = 0; i < b->layers; i++)
		x = layer(n, b, i, x, mask, i + 1 == b->layers);
	/* The pooler reads the first token. */
	first = onnx_builder_const_int(n, "/pooler", 0);
	x = onnx_builder_node(n, "/pooler", "Gather", NET_IN(x, first), NET_AXIS(1));
	x = zoo_add_gemm(n, "pooler.dense", x, b->hidden, b->hidden);
	onnx_builder_name_next(n, "pooler_output");
	NET_NODE(n, "/pooler/activation", "Tanh", x);
}

void zoo_bert_base(onnx_builder *n, const zoo_size *s)
{
	build(n, s, &(bert){768, 12, 12});
}

void zoo_bert_mini(onnx_builder *n, const zoo_size *s)
{
	build(n, s, &(bert){256, 4, 4});
}
