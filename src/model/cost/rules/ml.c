/* ml.c - classical machine learning (domain ai.onnx.ml). Shapes that the standard does not define
 * are as in ONNX Runtime.
 * https://onnx.ai/onnx/operators/#ai-onnx-ml
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/cost/op.h"

#include <string.h>

/* How many values an attribute lists. */
static int64_t ml_listed(const op *o, const char *name)
{
	const onnx_attribute *a = op_attr(o, name);

	if (!a)
		return 0;
	return (int64_t)(a->nints + a->nfloats + a->nstrings);
}

static void shape_float(op *o)
{
	op_set_typed(o, ONNX_FLOAT);
}

static void shape_array_feature(op *o)
{
	const val *x = op_need_rank(o, 0, 1), *y = x ? op_need(o, 1) : NULL;
	int rank = x && x->rank > 1 ? x->rank : 2;

	if (!x || !y)
		return;
	sym_int *dims = op_dims(o, (size_t)rank);
	dims[0] = sym_const(1);
	for (int i = 0; i + 1 < x->rank; i++)
		dims[i] = x->dims[i];
	dims[rank - 1] = op_elements(o, y);
	op_set(o, 0, x->dtype, rank, dims);
}

static void shape_cast_map(op *o)
{
	static const struct {
		const char *name;
		int64_t dtype;
	} to[] = {{"TO_FLOAT", ONNX_FLOAT}, {"TO_STRING", ONNX_STRING}, {"TO_INT64", ONNX_INT64}};
	const char *text = op_attr_text(o, "cast_to"), *form = op_attr_text(o, "map_form");
	sym_int dims[2] = {sym_const(1), sym_const(op_attr_int(o, "max_map", 1))};
	int64_t dtype = text ? 0 : ONNX_FLOAT;

	for (size_t i = 0; text && i < sizeof to / sizeof *to; i++)
		if (strcmp(text, to[i].name) == 0)
			dtype = to[i].dtype;
	if (!form || strcmp(form, "SPARSE") != 0)
		dims[1] = op_fresh(o, "the members of a map");
	op_set(o, 0, dtype, 2, dims);
}

static void shape_category(op *o)
{
	const val *x = op_in(o, 0);

	op_set_typed(o, x && x->dtype == ONNX_STRING ? ONNX_INT64 : x ? ONNX_STRING : 0);
}

static void shape_dict(op *o)
{
	int64_t n = ml_listed(o, "string_vocabulary") + ml_listed(o, "int64_vocabulary");
	sym_int dims[2] = {sym_const(1), sym_const(n)};

	/* The type is that of the values of a map, which the inference does not follow. */
	op_set(o, 0, 0, 2, dims);
}

static sym_int ml_rows_of(const val *x)
{
	return x->rank == 1 ? sym_const(1) : x->dims[0];
}

static sym_int ml_columns_of(const val *x)
{
	return x->dims[x->rank == 1 ? 0 : 1];
}

/* Output i is [rows of the input, n]. */
static void set_rows(op *o, size_t i, int64_t dtype, int64_t n)
{
	const val *x = op_in(o, 0);
	sym_int dims[2] = {ml_rows_of(x), sym_const(n)};

	op_set(o, i, dtype, 2, dims);
}

static void shape_feature_vectorizer(op *o)
{
	size_t n = 0;
	const int64_t *sizes = op_attr_ints(o, "inputdimensions", &n);
	const val *x = op_need_rank(o, 0, 1);
	sym_int sum = sym_const(0);

	if (!x)
		return;
	for (size_t i = 0; i < n; i++)
		sum = sym_add(o->nums, sum, sym_const(sizes[i]));
	for (size_t i = 0; !n && i < o->made->nin; i++) {
		const val *v = op_need_rank(o, i, 1);
		if (!v)
			return;
		sum = sym_add(o->nums, sum, ml_columns_of(v));
	}
	sym_int dims[2] = {ml_rows_of(x), sum};
	op_set(o, 0, ONNX_FLOAT, 2, dims);
}

static void shape_label(op *o)
{
	const onnx_attribute *t = op_attr(o, "values_tensor");
	const val *x = op_in(o, 0);
	int64_t dtype = 0;

	if (t && t->t)
		dtype = t->t->dtype;
	else if (op_attr(o, "values_strings"))
		dtype = ONNX_STRING;
	else if (op_attr(o, "values_int64s"))
		dtype = ONNX_INT64;
	else if (op_attr(o, "values_floats"))
		dtype = ONNX_FLOAT;
	else if (x && x->dtype && op_attr(o, "classes_strings")) /* version 1 of the operator */
		dtype = x->dtype == ONNX_STRING ? ONNX_INT64 : ONNX_STRING;
	op_set_typed(o, dtype);
}

static void ml_shape_one_hot(op *o)
{
	const val *x = op_need(o, 0);

	if (!x)
		return;
	sym_int *dims = op_copy_dims(o, x, 1);
	dims[x->rank] = sym_const(ml_listed(o, "cats_int64s") + ml_listed(o, "cats_strings"));
	op_set(o, 0, ONNX_FLOAT, x->rank + 1, dims);
}

/* --- classifiers and regressors --- */

static void set_labels(op *o, const char *strings)
{
	const val *x = op_in(o, 0);
	sym_int rows = ml_rows_of(x);

	op_set(o, 0, ml_listed(o, strings) ? ONNX_STRING : ONNX_INT64, 1, &rows);
}

static int64_t linear_classes(op *o)
{
	int64_t labels = ml_listed(o, "classlabels_strings");
	int64_t n = ml_listed(o, "intercepts");

	if (!labels)
		labels = ml_listed(o, "classlabels_ints");
	return n ? n : labels;
}

static void shape_linear_classifier(op *o)
{
	int64_t n = linear_classes(o);
	bool two =
	    ml_listed(o, "classlabels_strings") == 2 || ml_listed(o, "classlabels_ints") == 2;

	if (!op_need_rank(o, 0, 1))
		return;
	set_labels(o, "classlabels_strings");
	set_rows(o, 1, ONNX_FLOAT, n == 1 && two ? 2 : n);
}

/* The input times n rows of coefficients, plus n intercepts. */
static void cost_products(op *o, int64_t n)
{
	const val *x = op_in(o, 0);

	if (!x || x->rank < 1) {
		op_cost_unknown(o, "the shape of its input is not known");
		return;
	}
	sym_int out = sym_mul(o->nums, ml_rows_of(x), sym_const(n));
	op_cost_macs(o, sym_mul(o->nums, out, ml_columns_of(x)), out);
}

static void cost_linear_classifier(op *o)
{
	cost_products(o, linear_classes(o));
}

static void shape_linear_regressor(op *o)
{
	if (op_need_rank(o, 0, 1))
		set_rows(o, 0, ONNX_FLOAT, op_attr_int(o, "targets", 1));
}

static void cost_linear_regressor(op *o)
{
	cost_products(o, op_attr_int(o, "targets", 1));
}

static int64_t svm_classes(op *o)
{
	int64_t n = ml_listed(o, "classlabels_strings");

	return n ? n : ml_listed(o, "classlabels_ints");
}

static void shape_svm_classifier(op *o)
{
	int64_t n = svm_classes(o), scores = n;

	if (!op_need_rank(o, 0, 1))
		return;
	if (n > 65535) {
		op_unknown(o, "it has more than 65535 classes");
		return;
	}
	/* Without probabilities each pair of classes has a score. */
	if (ml_listed(o, "vectors_per_class") && !ml_listed(o, "prob_a"))
		scores = n > 2 ? n * (n - 1) / 2 : 2;
	set_labels(o, "classlabels_strings");
	set_rows(o, 1, ONNX_FLOAT, scores);
}

static void shape_svm_regressor(op *o)
{
	if (op_need_rank(o, 0, 1))
		set_rows(o, 0, ONNX_FLOAT, 1);
}

static void cost_svm(op *o)
{
	op_cost_unknown(o, "deepclock does not count support vector machines");
}

static void shape_tree_regressor(op *o)
{
	if (op_need_rank(o, 0, 1))
		set_rows(o, 0, ONNX_FLOAT, op_attr_int(o, "n_targets", 1));
}

static void shape_tree_classifier(op *o)
{
	int64_t n = ml_listed(o, "classlabels_strings");

	if (!op_need_rank(o, 0, 1))
		return;
	if (!n)
		n = ml_listed(o, "classlabels_int64s");
	set_labels(o, "classlabels_strings");
	set_rows(o, 1, ONNX_FLOAT, n);
}

static void shape_tree_ensemble(op *o)
{
	const val *x = op_need_rank(o, 0, 1);

	if (x)
		set_rows(o, 0, x->dtype, op_attr_int(o, "n_targets", 1));
}

static void cost_tree(op *o)
{
	op_flops_unknown(o, "how many of its nodes are visited depends on values");
}

static void shape_zip_map(op *o)
{
	val *v = op_out(o, 0), *item = op_like(o, NULL);

	if (!v || !item)
		return;
	item->kind = VAL_OTHER;
	item->why = "it is a map";
	v->kind = VAL_SEQUENCE;
	v->why = "it is a sequence";
	v->item = item;
}

static const op_row ml_rows[] = {
    {"ArrayFeatureExtractor", shape_array_feature, .traffic = TRAFFIC_PICK},
    {"Binarizer", shape_same_first, cost_each, 1, .how = "FLOPs: a comparison per element"},
    {"CastMap", .shape = shape_cast_map},
    {"CategoryMapper", .shape = shape_category},
    {"DictVectorizer", .shape = shape_dict},
    {"FeatureVectorizer", .shape = shape_feature_vectorizer},
    {"Imputer", shape_same_first, cost_each, 1, .how = "FLOPs: a comparison per element"},
    {"LabelEncoder", .shape = shape_label},
    {"LinearClassifier", shape_linear_classifier, cost_linear_classifier,
     .how = "MACs: rows x features x classes; an addition per score; "
	    "its post-transform is not counted"},
    {"LinearRegressor", shape_linear_regressor, cost_linear_regressor,
     .how = "MACs: rows x features x targets; an addition per target; "
	    "its post-transform is not counted"},
    {"Normalizer", shape_float, cost_each, 3, .how = "FLOPs per element: *, + (or abs, max), /"},
    {"OneHotEncoder", .shape = ml_shape_one_hot},
    {"SVMClassifier", shape_svm_classifier, .cost = cost_svm},
    {"SVMRegressor", shape_svm_regressor, .cost = cost_svm},
    {"Scaler", shape_float, cost_each, 2, .how = "FLOPs per element: -, *"},
    {"TreeEnsemble", shape_tree_ensemble, .cost = cost_tree,
     .how = "not known: it depends on values"},
    {"TreeEnsembleClassifier", shape_tree_classifier, .cost = cost_tree,
     .how = "not known: it depends on values"},
    {"TreeEnsembleRegressor", shape_tree_regressor, .cost = cost_tree,
     .how = "not known: it depends on values"},
    {"ZipMap", .shape = shape_zip_map},
};

const op_family op_family_ml = {"ai.onnx.ml", ml_rows, sizeof ml_rows / sizeof *ml_rows};
