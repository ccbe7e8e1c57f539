/* refused.c - what an engine refuses of a model, as far as the file shows it without a run.
 *
 * External data: https://github.com/onnx/onnx/blob/main/docs/ExternalData.md. ONNX Runtime takes
 * locations relative to the model's directory and within it alone.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/inspect/refused.h"
#include "base/dtype.h"
#include "base/units.h"
#include "base/utf8.h"
#include "os/os.h"
#include <string.h>

/* The newest versions that ONNX Runtime 1.31 takes. */
#define IR_NEWEST    13
#define OPSET_NEWEST 26
static const struct {
	const char *domain;
	int64_t newest;
} refused_domains[] = {{"ai.onnx.ml", 5}, {"com.microsoft", 1}};

/* The operator set that introduced each of ONNX's operators since the 8th. Of older sets ONNX
 * Runtime has LayerNormalization, MeanVarianceNormalization and ThresholdedRelu too. */
static const struct {
	int64_t opset;
	const char *names;
} refused_before[] = {
    {8, "Expand Scan"},
    {9,
     "Acosh Asinh Atanh Compress ConstantOfShape Cosh Erf EyeLike IsNaN MaxUnpool NonZero OneHot "
     "Scatter Shrink Sign Sinh TfIdfVectorizer Where"},
    {10, "ConvInteger DequantizeLinear IsInf MatMulInteger Mod NonMaxSuppression QLinearConv "
	 "QLinearMatMul QuantizeLinear Resize ReverseSequence RoiAlign StringNormalizer"},
    {11,
     "BitShift ConcatFromSequence CumSum Det DynamicQuantizeLinear GatherElements GatherND Range "
     "Round ScatterElements ScatterND SequenceAt SequenceConstruct SequenceEmpty SequenceErase "
     "SequenceInsert SequenceLength SplitToSequence Unique"},
    {12,
     "Celu Einsum GreaterOrEqual LessOrEqual NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss"},
    {14, "HardSwish Trilu"},
    {15, "Bernoulli CastLike Optional OptionalGetElement OptionalHasElement"},
    {16, "GridSample"},
    {17, "BlackmanWindow DFT HammingWindow HannWindow MelWeightMatrix STFT SequenceMap"},
    {18, "BitwiseAnd BitwiseNot BitwiseOr BitwiseXor CenterCropPad Col2Im GroupNormalization Mish"},
    {19, "DeformConv"},
    {20, "AffineGrid Gelu ImageDecoder RegexFullMatch StringConcat StringSplit"},
    {23, "Attention RMSNormalization RotaryEmbedding"},
    {24, "Swish TensorScatter"},
    {26, "BitCast CumProd"},
};

/* Returns whether a path leads out of the directory it begins in. */
static bool refused_outside(const char *path)
{
	size_t depth = 0;

	if (*path == '/')
		return true;
	while (*path) {
		const size_t n = strcspn(path, "/");

		if (n == 2 && path[0] == '.' && path[1] == '.') {
			if (depth-- == 0)
				return true;
		} else if (n > 0 && !(n == 1 && *path == '.')) {
			depth++;
		}
		path += n + (path[n] == '/');
	}
	return false;
}

/* Reads a number of the external data; one that is not stated stays as it is. */
static bool refused_number(const onnx_tensor *t, const char *key, uint64_t *ret)
{
	const char *text = onnx_external(t, key);

	return !text || (*text && !text[strspn(text, "0123456789")] &&
			 units_parse_count(text, ret, NULL) == DCK_OK);
}

const char *refused_weights(const onnx_tensor *t, const char *name, const char *path)
{
	uint64_t offset = 0, length = t->bytes, size = 0, end;
	const bool sized = dtype_onnx_bits(t->dtype) > 0;

	if (refused_outside(name))
		return "is outside of the model's directory";
	if (!os_file_exists(path))
		return REFUSED_MISSING;
	if (!refused_number(t, "offset", &offset) || !refused_number(t, "length", &length))
		return "has an offset or a length that is not a number of bytes";
	if (sized && length != t->bytes)
		return "has another length than the weights' shape";
	if (os_path_kind(path, &size) != OS_FILE)
		return "is not a file";
	if (__builtin_add_overflow(offset, length, &end) || end > size)
		return "is too short";
	return NULL;
}

/* Returns what is wrong with the names of the main graph; NULL: nothing. */
static const char *names_wrong(const onnx_graph *g, mem_arena *a)
{
	size_t most = g->ninputs + g->ninitializers + g->nsparse;
	name_index made, nodes;

	for (size_t i = 0; i < g->nnodes; i++)
		most += g->nodes[i].noutputs;
	if (!name_index_init(&made, a, most) || !name_index_init(&nodes, a, g->nnodes))
		return NULL;
	for (size_t i = 0; i < g->ninputs; i++) {
		const char *name = g->inputs[i].name;

		if (!name)
			continue;
		if (name_index_find(&made, name) != NAME_INDEX_NONE)
			return mem_arena_fmt(a, "two inputs have the name '%.*s'", UTF8_NAME(name));
		name_index_intern(&made, name);
	}
	for (size_t i = 0; i < g->nnodes; i++)
		for (size_t k = 0; k < g->nodes[i].noutputs; k++)
			name_index_intern(&made, g->nodes[i].outputs[k]);
	onnx_initializer_names(g, &made);
	for (size_t i = 0; i < g->nnodes; i++) {
		const onnx_node *n = &g->nodes[i];

		for (size_t k = 0; k < n->ninputs; k++)
			if (n->inputs[k] && *n->inputs[k] &&
			    name_index_find(&made, n->inputs[k]) == NAME_INDEX_NONE)
				return mem_arena_fmt(a, "nothing makes '%.*s', an input of %.40s",
						     UTF8_NAME(n->inputs[k]), n->op ? n->op : "?");
		/* ONNX Runtime makes initializers of constants before it compares names. */
		if (!n->name || !*n->name || (n->op && strcmp(n->op, "Constant") == 0))
			continue;
		if (name_index_find(&nodes, n->name) != NAME_INDEX_NONE)
			return mem_arena_fmt(a, "two operators have the name '%.*s'",
					     UTF8_NAME(n->name));
		name_index_intern(&nodes, n->name);
	}
	for (size_t i = 0; i < g->noutputs; i++)
		if (g->outputs[i].name &&
		    name_index_find(&made, g->outputs[i].name) == NAME_INDEX_NONE)
			return mem_arena_fmt(a, "no operator makes the output '%.*s'",
					     UTF8_NAME(g->outputs[i].name));
	return NULL;
}

/* Returns the first operator whose inputs contradict each other, with how; NULL: none. */
static const char *sizes_wrong(const cost_result *r, mem_arena *a)
{
	for (size_t i = 0; i < r->nops; i++) {
		const cost_op *c = &r->ops[i];

		for (size_t k = 0; k < c->nout; k++)
			if (c->out[k] && c->out[k]->misfit)
				return mem_arena_fmt(a, "of %.40s%s%.*s%s %s", c->node->op,
						     c->node->name && *c->node->name ? " '" : "",
						     UTF8_NAME(c->node->name ? c->node->name : ""),
						     c->node->name && *c->node->name ? "'" : "",
						     c->out[k]->why);
	}
	return NULL;
}

static bool refused_own_domain(const char *domain)
{
	return !domain || !*domain || strcmp(domain, "ai.onnx") == 0;
}

/* Returns the first Cast to another type than the file states of its output, as conversions to
 * float16 leave them; NULL: none. */
static const char *casts_wrong(const onnx_graph *g, mem_arena *a)
{
	const size_t most = g->nvalues + g->noutputs;
	int64_t *stated = mem_arena_array(a, most + 1, sizeof *stated);
	name_index names;

	if (!stated || !name_index_init(&names, a, most))
		return NULL;
	for (size_t i = 0; i < most; i++) {
		const onnx_value *v = i < g->nvalues ? &g->values[i] : &g->outputs[i - g->nvalues];

		if (v->name && v->type && v->type->tensor)
			stated[name_index_intern(&names, v->name)] = v->type->tensor->dtype;
	}
	for (size_t i = 0; i < g->nnodes; i++) {
		const onnx_node *n = &g->nodes[i];
		const int64_t to = onnx_attribute_int(n, "to", 0);

		if (to == 0 || !n->op || strcmp(n->op, "Cast") != 0 ||
		    !refused_own_domain(n->domain) || n->noutputs != 1 || !n->outputs[0])
			continue;
		const size_t at = name_index_find(&names, n->outputs[0]);
		if (at != NAME_INDEX_NONE && stated[at] != 0 && stated[at] != to)
			return mem_arena_fmt(a, "'%.*s' is %s by the file, and Cast makes it %s",
					     UTF8_NAME(n->outputs[0]), dtype_onnx_text(stated[at]),
					     dtype_onnx_text(to));
	}
	return NULL;
}

/* Returns whether operator i is inside the call of a function, which has its own operator sets. */
static bool refused_in_function(const cost_result *r, size_t i)
{
	while (r->ops[i].inside < i) {
		i = r->ops[i].inside;
		if (r->ops[i].expanded)
			return true;
	}
	return false;
}

/* Returns which operator is newer than the model's operator set; NULL: none. */
static const char *too_new(const onnx_model *m, const cost_result *r, int64_t opset, mem_arena *a)
{
	for (size_t i = 0; i < r->nops; i++) {
		const onnx_node *n = r->ops[i].node;
		int64_t since = 0;

		if (!refused_own_domain(n->domain) || r->ops[i].expanded)
			continue;
		for (size_t k = 0; k < sizeof refused_before / sizeof *refused_before; k++)
			if (opset < refused_before[k].opset &&
			    name_index_listed(refused_before[k].names, n->op))
				since = refused_before[k].opset;
		if (since == 0 || refused_in_function(r, i))
			continue;
		for (size_t k = 0; k < m->nfunctions && since > 0; k++)
			if (refused_own_domain(m->functions[k].domain) && m->functions[k].name &&
			    strcmp(m->functions[k].name, n->op) == 0)
				since = 0;
		if (since > 0)
			return mem_arena_fmt(
			    a, "its opset is %lld, and the operator %.40s exists since %lld",
			    (long long)opset, n->op, (long long)since);
	}
	return NULL;
}

/* Returns the first initializer whose data has another length than its shape; NULL: none. */
static const onnx_tensor *data_wrong(const onnx_graph *g)
{
	for (size_t i = 0; i < g->ninitializers; i++) {
		const onnx_tensor *t = &g->initializers[i];

		if (t->location != 1 && t->raw_bytes > 0 && dtype_onnx_bits(t->dtype) > 0 &&
		    t->raw_bytes != t->bytes)
			return t;
	}
	return NULL;
}

/* Returns what is wrong with the operator sets beside ONNX's own: their versions, or that builds
 * for inference lack them; NULL: nothing. */
static const char *domains_wrong(const onnx_model *m, const cost_result *r, mem_arena *a)
{
	static const char training[] = "ai.onnx.preview.training";

	for (size_t i = 0; i < r->nops; i++)
		if (r->ops[i].node->domain && !r->ops[i].expanded &&
		    strcmp(r->ops[i].node->domain, training) == 0)
			return mem_arena_fmt(
			    a, "it has the operator %.40s of %s, which builds for inference lack",
			    r->ops[i].node->op, training);
	for (size_t i = 0; i < m->nopsets; i++)
		for (size_t k = 0; k < sizeof refused_domains / sizeof *refused_domains; k++)
			if (m->opsets[i].domain &&
			    strcmp(m->opsets[i].domain, refused_domains[k].domain) == 0 &&
			    m->opsets[i].version > refused_domains[k].newest)
				return mem_arena_fmt(
				    a, "its opset of %s is %lld, the newest known one is %lld",
				    refused_domains[k].domain, (long long)m->opsets[i].version,
				    (long long)refused_domains[k].newest);
	return NULL;
}

const char *refused_model(const onnx_model *m, const cost_result *r, mem_arena *a)
{
	const int64_t opset = onnx_opset_version(m);
	const onnx_tensor *t;
	const char *why;

	if (m->ir_version < 0)
		return "the file states no IR version";
	if (m->ir_version > IR_NEWEST)
		return mem_arena_fmt(a, "its IR version is %lld, the newest known one is %d",
				     (long long)m->ir_version, IR_NEWEST);
	if (m->nopsets == 0)
		return "the file states no opset";
	for (size_t i = 0; i < m->nopsets; i++) {
		const char *domain = m->opsets[i].domain;

		if (refused_own_domain(domain) && m->opsets[i].version < 1)
			return mem_arena_fmt(a, "its opset is %lld, the first one is 1",
					     (long long)m->opsets[i].version);
	}
	if (opset > OPSET_NEWEST)
		return mem_arena_fmt(a, "its opset is %lld, the newest known one is %d",
				     (long long)opset, OPSET_NEWEST);
	if (m->graph->noutputs == 0)
		return "the model has no outputs";
	why = domains_wrong(m, r, a);
	if (!why)
		why = names_wrong(m->graph, a);
	if (!why)
		why = sizes_wrong(r, a);
	if (!why)
		why = casts_wrong(m->graph, a);
	if (!why && opset > 0)
		why = too_new(m, r, opset, a);
	if (why)
		return why;
	t = data_wrong(m->graph);
	return t ? mem_arena_fmt(
		       a, "the weights '%.*s' have %llu bytes of data, their shape needs %llu",
		       UTF8_NAME(t->name ? t->name : "?"), (unsigned long long)t->raw_bytes,
		       (unsigned long long)t->bytes)
		 : NULL;
}
