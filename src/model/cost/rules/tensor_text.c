/* tensor_text.c - operators on text.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/cost/rules/tensor_rules.h"

/* It removes words from the last dimension. */
static void shape_string_normalizer(op *o)
{
	const val *v = op_need_rank(o, 0, 1);
	const onnx_attribute *stop = op_attr(o, "stopwords");

	if (!v)
		return;
	sym_int *dims = op_copy_dims(o, v, 0);
	if (stop && stop->nstrings)
		dims[v->rank - 1] = op_fresh(o, "words that are kept");
	op_set(o, 0, ONNX_STRING, v->rank, dims);
}

static void shape_string_split(op *o)
{
	const val *v = op_need(o, 0);

	if (!v)
		return;
	sym_int *dims = op_copy_dims(o, v, 1);
	dims[v->rank] = op_fresh(o, "the most parts of a text");
	op_set(o, 0, ONNX_STRING, v->rank + 1, dims);
	op_set(o, 1, ONNX_INT64, v->rank, v->dims);
}

static void shape_regex(op *o)
{
	op_set_typed(o, ONNX_BOOL);
}

static void shape_tfidf(op *o)
{
	const val *v = op_need_rank(o, 0, 1);
	size_t n = 0;
	const int64_t *indexes = op_attr_ints(o, "ngram_indexes", &n);
	int64_t most = -1;

	if (!v)
		return;
	for (size_t i = 0; i < n; i++)
		most = indexes[i] > most ? indexes[i] : most;
	if (most < 0 || most == INT64_MAX || v->rank > 2) {
		op_unknown(o, "its indexes are missing, or it has more than 2 dimensions");
		return;
	}
	sym_int *dims = op_copy_dims(o, v, 0);
	dims[v->rank - 1] = sym_const(most + 1);
	op_set(o, 0, ONNX_FLOAT, v->rank, dims);
}

static const op_row tensor_text_rows[] = {
    {"RegexFullMatch", .shape = shape_regex},
    {"StringConcat", .shape = shape_broadcast},
    {"StringNormalizer", .shape = shape_string_normalizer},
    {"StringSplit", .shape = shape_string_split},
    {"TfIdfVectorizer", shape_tfidf, cost_by_values, .how = "not known: it depends on values"},
};

const op_family op_family_tensor_text = {"", tensor_text_rows,
					 sizeof tensor_text_rows / sizeof *tensor_text_rows};
