/* ort_values.c - inferred shapes of whole models against ONNX Runtime: every value that a node of
 * the graph computes is made an output, optimisations are off, and each output must have the
 * inferred type and shape, or have been left open because it is data-dependent.
 *
 * The models are the built-in networks, those of the onnx package (Debian's libonnx-testdata), and
 * small ones made here, with subgraphs, sequences and functions.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "../unit/op_case.h"
#include "../unit/scratch.h"
#include "study/cost_report/model_cost.h"
#include "study/cost_report/observed_shapes.h"
#include "deepclock/cost.h"
#include "deepclock/model.h"
#include "deepclock/record.h"
#include "base/name_index.h"

#include <glob.h>
#include <unistd.h>

#define PACKAGE "/usr/share/libonnx-testdata/data/"

typedef struct tally {
	size_t models, exact, open, other, differ, not_run;
} tally;

/* Returns whether the inferred value is wrong; *ret_open: it is not fully known. */
static bool differs(const val *v, const values_shape *real, bool *ret_open)
{
	*ret_open = v->kind != VAL_TENSOR || v->rank < 0 || !v->dtype;
	if (v->kind == VAL_SEQUENCE || v->kind == VAL_OPTIONAL)
		return false; /* the engine gets a tensor type, which ONNX permits for both */
	if (v->dtype && real->dtype && v->dtype != real->dtype)
		return true;
	if (v->rank >= 0 && v->rank != real->rank)
		return true;
	for (int i = 0; i < v->rank; i++) {
		*ret_open |= !sym_known(v->dims[i]);
		if (sym_known(v->dims[i]) && v->dims[i].v != real->dims[i])
			return true;
	}
	return false;
}

static void print_differing(const char *model, const val *v, const values_shape *real,
			    sym_table *nums)
{
	char text[256] = "", was[256] = "";

	op_case_shape(nums, v, text, sizeof text);
	for (int i = 0; i < real->rank; i++)
		snprintf(was + strlen(was), sizeof was - strlen(was), "%s%lld", i ? "," : "",
			 (long long)real->dims[i]);
	print_message("# %s: '%s' is inferred as %s (type %lld), and is [%s] (type %lld)\n", model,
		      v->name, text, (long long)v->dtype, was, (long long)real->dtype);
}

static void compare(const char *model, const cost_result *r, const values_shape *list, size_t n,
		    mem_arena *a, tally *t)
{
	name_index all;

	assert_true(name_index_init(&all, a, r->nvalues));
	for (size_t i = 0; i < r->nvalues; i++)
		assert_int_equal(name_index_intern(&all, r->values[i]->name), i);
	for (size_t i = 0; i < n; i++) {
		size_t at = name_index_find(&all, list[i].name);
		bool open;
		if (at == NAME_INDEX_NONE || !list[i].known) {
			t->other++;
			continue;
		}
		if (differs(r->values[at], &list[i], &open)) {
			t->differ++;
			print_differing(model, r->values[at], &list[i], r->nums);
		} else if (open)
			t->open++;
		else
			t->exact++;
	}
}

/* Checks that `cost --run` reports no difference. */
static void completes(const char *model, const dck_subject *s)
{
	dck_cost_config c;
	dck_record *r = NULL;
	dck_err err = {0};

	dck_cost_config_init(&c);
	c.run = true;
	if (dck_cost(s, &c, NULL, &r, &err) != DCK_OK)
		fail_msg("%s: %s", model, err.msg);
	const dck_fact *differ = dck_record_fact(r, "cost", "run_differ");
	assert_non_null(differ);
	if (differ->value.as.i != 0)
		fail_msg("%s: %lld values differ from the run's", model,
			 (long long)differ->value.as.i);
	dck_record_free(r);
}

/* Returns why the engine did not run it, or NULL. inputs: "NAME=FILE.npy"; NULL: random values. */
static const char *check(const char *model, const dck_list *inputs, tally *t)
{
	static char why[512];
	mem_arena *a = mem_arena_new(0);
	values_shape *list = NULL;
	size_t n = 0;
	model_cost c;
	dck_subject s;
	dck_err err = {0};
	dck_status status;

	assert_non_null(a);
	dck_subject_init(&s);
	s.kind = DCK_SUBJECT_MODEL;
	s.text = model;
	if (inputs)
		s.model.input = *inputs;
	status = observed_shapes_run(&s, NULL, a, &list, &n, NULL, &err);
	if (status != DCK_OK) {
		snprintf(why, sizeof why, "%s", err.msg);
		mem_arena_free(a);
		t->not_run++;
		return why;
	}
	if (model_cost_open(&c, &s, NULL, &err) != DCK_OK)
		fail_msg("%s: %s", model, err.msg);
	compare(model, c.cost, list, n, a, t);
	model_cost_close(&c);
	completes(model, &s);
	t->models++;
	mem_arena_free(a);
	return NULL;
}

static bool have_engine(void)
{
	static int have = -1;
	tally t = {0};

	if (have < 0) {
		const char *why = check("zoo:simplenet", NULL, &t);
		have = !why;
		if (why)
			print_message("# skipped: no ONNX Runtime: %s\n", why);
	}
	return have;
}

static void report(const char *what, const tally *t)
{
	print_message("# %s: %zu models, %zu values: %zu as inferred, %zu left open, %zu differ; "
		      "%zu values are no tensors, %zu models not run\n",
		      what, t->models, t->exact + t->open + t->differ, t->exact, t->open, t->differ,
		      t->other, t->not_run);
}

static void built_in_networks(void **state)
{
	tally t = {0};
	size_t n;
	const dck_zoo_entry *zoo = dck_zoo(&n);

	(void)state;
	if (!have_engine())
		skip();
	for (size_t i = 0; i < n; i++) {
		char name[64];
		snprintf(name, sizeof name, "zoo:%s", zoo[i].name);
		const char *why = check(name, NULL, &t);
		if (why)
			fail_msg("%s: %s", name, why);
	}
	report("built-in networks", &t);
	assert_int_equal(t.differ, 0);
	assert_int_equal(t.open, 0);
}

/* Writes an integer input of the package, which may be a size, as a NumPy file for the engine. */
static bool npy_write(const char *file, const onnx_tensor *x)
{
	static const struct {
		int64_t dtype;
		const char *descr;
		size_t size;
	} types[] = {{ONNX_INT64, "<i8", 8}, {ONNX_INT32, "<i4", 4}, {ONNX_BOOL, "|b1", 1}};
	char dims[128] = "", head[256];
	FILE *f;

	for (size_t i = 0; i < x->rank; i++)
		snprintf(dims + strlen(dims), sizeof dims - strlen(dims), "%lld,",
			 (long long)x->dims[i]);
	for (size_t i = 0; x->ints && i < sizeof types / sizeof *types; i++) {
		if (types[i].dtype != x->dtype)
			continue;
		int n = snprintf(head, sizeof head,
				 "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }",
				 types[i].descr, dims);
		f = fopen(file, "wb");
		assert_non_null(f);
		int room = (n + 10 + 64) / 64 * 64 - 10; /* aligns the data to 64 bytes */
		fprintf(f, "\x93NUMPY%c%c%c%c%-*s\n", 1, 0, room % 256, room / 256, room - 1, head);
		for (uint64_t k = 0; k < x->elements; k++)
			fwrite(&x->ints[k], types[i].size, 1, f);
		assert_int_equal(fclose(f), 0);
		return true;
	}
	return false;
}

/* Reads a file with a single tensor, as an initializer of a model made around it. */
static const onnx_tensor *tensor_read(const char *file, mem_arena *a)
{
	static uint8_t bytes[65536];
	FILE *f = fopen(file, "rb");
	wire_out w = {0};
	onnx_model *m = NULL;
	dck_err err;

	if (!f)
		return NULL;
	size_t n = fread(bytes, 1, sizeof bytes, f), graph;
	fclose(f);
	if (n == sizeof bytes)
		return NULL;
	graph = graph_begin(&w);
	wire_put_bytes(&w, 5, bytes, n);
	graph_end(&w, graph);
	dck_status status = onnx_read_bytes(w.data, w.n, a, &m, &err);
	wire_out_done(&w);
	return status == DCK_OK && m->graph->ninitializers ? m->graph->initializers : NULL;
}

#define NPY "ort_values-%zu.npy"

static const char *check_package(const char *model, tally *t)
{
	mem_arena *a = mem_arena_new(0);
	onnx_model *m = NULL;
	dck_list inputs = {0};
	dck_err err = {0};
	size_t k = 0, files = 0;
	char file[512];

	if (onnx_read_file(model, a, &m, &err) != DCK_OK)
		fail_msg("%s: %s", model, err.msg);
	for (size_t i = 0; i < m->graph->ninputs; i++) {
		bool stored = false;
		const onnx_tensor *x;
		for (size_t j = 0; j < m->graph->ninitializers; j++)
			stored |= !strcmp(m->graph->initializers[j].name, m->graph->inputs[i].name);
		if (stored)
			continue;
		snprintf(file, sizeof file, "%.*s/test_data_set_0/input_%zu.pb",
			 (int)(strrchr(model, '/') - model), model, k++);
		x = tensor_read(file, a);
		snprintf(file, sizeof file, NPY, files);
		if (x && npy_write(file, x) && inputs.n < DCK_LIST_MAX) {
			inputs.item[inputs.n++] =
			    mem_arena_fmt(a, "%s=%s", m->graph->inputs[i].name, file);
			files++;
		}
	}
	const char *why = check(model, &inputs, t);
	for (size_t i = 0; i < files; i++) {
		snprintf(file, sizeof file, NPY, i);
		unlink(file);
	}
	mem_arena_free(a);
	return why;
}

static void package_of_onnx(void **state)
{
	static const char *const families[] = {"simple", "pytorch-converted", "pytorch-operator"};
	tally t = {0};
	size_t n = 0;

	(void)state;
	if (!have_engine())
		skip();
	for (size_t f = 0; f < sizeof families / sizeof *families; f++) {
		char pattern[256];
		glob_t found;
		snprintf(pattern, sizeof pattern, PACKAGE "%s/*/model.onnx", families[f]);
		if (glob(pattern, 0, NULL, &found) != 0)
			continue;
		n += found.gl_pathc;
		for (size_t i = 0; i < found.gl_pathc; i++) {
			const char *why = check_package(found.gl_pathv[i], &t);
			if (why)
				print_message("# not run: %s: %s\n",
					      found.gl_pathv[i] + sizeof PACKAGE - 1, why);
		}
		globfree(&found);
	}
	if (!n) {
		print_message("# skipped: no models: install libonnx-testdata\n");
		skip();
	}
	report("models of the onnx package", &t);
	assert_int_equal(t.differ, 0);
	assert_true(t.models >= n / 2);
}

/* --- small models --- */

typedef struct small {
	const char *what;
	const char *inputs; /* as in op_case */
	/* "Op in in > out out|attributes|body|body"; a body is "NAME=INPUTS;OUTPUTS;NODE;NODE", a
	 * node in it "Op in > out~attributes"; its inputs are as in op_case. */
	const char *nodes[8];
	const char *output;
	bool open; /* a shape is data-dependent */
} small;

static const small smalls[] = {
    {"a loop of known length",
     "m:*l[]=5 x:f[2,3]",
     {"Loop m - x > y s||body=i:l[] c:t[] v:f[2,3];c v2 v3;Neg v > v2;Transpose v2 > v3"},
     "y",
     false},
    {"a loop whose state grows",
     "m:*l[]=4 x:f[2,3]",
     {"Loop m - x > y s||body=i:l[] c:t[] v:f[r,3];c v2 n;Concat v x > v2~axis=0;Shape v2 > n",
      "Neg y > z"},
     "z",
     false},
    {"a loop of no round",
     "m:*l[]=0 x:f[2,3]",
     {"Loop m - x > y s||body=i:l[] c:t[] v:f[2,3];c v2 v2;Neg v > v2"},
     "y",
     false},
    {"a loop that ends by itself",
     "x:f[2,3] one:*l[]=1 four:*l[]=4 begin:*l[]=0",
     {"Loop - - begin x > n y s||body=i:l[] c:t[] k:l[] v:f[2,3];e k2 v2 v2;Add k one > k2;Less "
      "k2 four > e;Neg v > v2"},
     "y",
     false},
    {"both branches alike",
     "x:f[2,3] zero:f[]",
     {"ReduceSum x > r|keepdims=0", "Greater r zero > c",
      "If c > y||then_branch=;a;Neg x > a|else_branch=;b;Abs x > b"},
     "y",
     false},
    {"branches of different sizes",
     "x:f[2,3] zero:f[] w:f[1,3]",
     {"ReduceSum x > r|keepdims=0", "Greater r zero > c",
      "If c > y||then_branch=;a;Neg x > a|else_branch=;b;Abs w > b", "Neg y > z"},
     "z",
     true},
    {"a branch that a shape decides",
     "x:f[2,3] n:*l[]=2 i:*l[]=0",
     {"Shape x > s", "Gather s i > d", "Equal d n > c",
      "If c > y||then_branch=;a;Transpose x > a|else_branch=;b;Abs x > b"},
     "y",
     false},
    {"a scan",
     "h:f[3] x:f[3,7]",
     {"Scan h x > g o|num_scan_inputs=1 scan_input_axes=1, "
      "scan_output_axes=-1,|body=a:f[3] e:f[3];b b;Add a e > b"},
     "o",
     false},
    {"a sequence",
     "x:f[2,6] y:f[2,3] one:*l[]=1 two:*l[]=2",
     {"SplitToSequence x two > s|axis=1", "SequenceInsert s y > t", "SequenceErase t one > u",
      "SequenceAt u one > v", "SequenceLength u > n", "ConcatFromSequence u > w|axis=1",
      "Neg w > z"},
     "z",
     false},
    {"a function of the model", "x:f[2,3] y:f[3,4]", {"Product x y > z", "Neg z > w"}, "w", false},
    {"shapes that are computed",
     "x:f[2,3,4,5] two:*l[1]=2 one:*l[1]=-1 i:*l[]=1",
     {"Shape x > s", "Gather s i > c", "Mul two one > q", "Concat two one > t|axis=0",
      "Reshape x t > r", "ReduceSum r one > z|keepdims=0", "Unsqueeze c one > w"},
     "z",
     false},
};

static void small_attributes(wire_out *w, char *text)
{
	char *save = NULL;

	for (char *t = strtok_r(text, " ", &save); t; t = strtok_r(NULL, " ", &save))
		op_case_attribute(w, t);
}

/* "Op in in > out out"; the caller ends it. */
static size_t small_node(wire_out *w, char *text)
{
	char *arrow = strstr(text, " > "), *space = strchr(text, ' ');

	assert_non_null(arrow);
	*arrow = *space = '\0';
	return node_begin(w, text, space < arrow ? space + 1 : "", arrow + 3);
}

static void small_body(wire_out *w, char *text)
{
	char *rest = strchr(text, '='), *part;
	size_t at = wire_begin(w, 5), graph;

	assert_non_null(rest);
	*rest++ = '\0';
	wire_put_text(w, 1, text);
	graph = wire_begin(w, 6);
	wire_put_text(w, 2, text);
	for (int n = 0; (part = strsep(&rest, ";")); n++) {
		if (n >= 2) {
			char *attributes = strchr(part, '~');
			if (attributes)
				*attributes++ = '\0';
			size_t node = small_node(w, part);
			if (attributes)
				small_attributes(w, attributes);
			wire_end(w, node);
			continue;
		}
		for (char *word; (word = strsep(&part, " "));) {
			if (!*word)
				continue;
			if (n == 0) {
				op_case_input(w, word);
				continue;
			}
			size_t value = wire_begin(w, 12);
			wire_put_text(w, 1, word);
			wire_end(w, value);
		}
	}
	wire_end(w, graph);
	wire_put_int(w, 20, ONNX_ATTR_GRAPH);
	wire_end(w, at);
}

/* The model's own function: Product(a, b) = Transpose(a b), and how it is called. */
static void small_function(wire_out *w)
{
	size_t at = wire_begin(w, 8);

	wire_put_text(w, 1, "local");
	wire_put_int(w, 2, 1);
	wire_end(w, at);
	at = wire_begin(w, 25);
	wire_put_text(w, 1, "Product");
	put_names(w, 4, "a b");
	put_names(w, 5, "d");
	static const char *const nodes[] = {"MatMul", "a b", "c", "Transpose", "c", "d"};
	for (int i = 0; i < 6; i += 3) {
		size_t node = wire_begin(w, 7);
		put_names(w, 1, nodes[i + 1]);
		put_names(w, 2, nodes[i + 2]);
		wire_put_text(w, 4, nodes[i]);
		wire_end(w, node);
	}
	size_t opset = wire_begin(w, 9);
	wire_put_text(w, 1, "");
	wire_put_int(w, 2, 17);
	wire_end(w, opset);
	wire_put_text(w, 10, "local");
	wire_end(w, at);
}

static void small_write(const small *m, const char *file)
{
	wire_out w = {0};
	char text[512], *save = NULL;

	wire_put_int(&w, 1, 8);
	size_t graph = wire_begin(&w, 7);
	snprintf(text, sizeof text, "%s", m->inputs);
	for (char *t = strtok_r(text, " ", &save); t; t = strtok_r(NULL, " ", &save))
		op_case_input(&w, t);
	for (int i = 0; i < 8 && m->nodes[i]; i++) {
		char *rest = text, *part;
		snprintf(text, sizeof text, "%s", m->nodes[i]);
		size_t node = small_node(&w, strsep(&rest, "|"));
		if (rest)
			small_attributes(&w, strsep(&rest, "|"));
		while ((part = strsep(&rest, "|")))
			small_body(&w, part);
		if (strncmp(m->nodes[i], "Product ", 8) == 0)
			wire_put_text(&w, 7, "local");
		wire_end(&w, node);
	}
	wire_put_text(&w, 2, "small");
	size_t value = wire_begin(&w, 12);
	wire_put_text(&w, 1, m->output);
	wire_end(&w, value);
	graph_end(&w, graph);
	small_function(&w);
	assert_false(w.failed);
	FILE *f = fopen(file, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(w.data, 1, w.n, f), w.n);
	assert_int_equal(fclose(f), 0);
	wire_out_done(&w);
}

static void small_models(void **state)
{
	const char *file = "m.onnx";
	tally t = {0};

	(void)state;
	if (!have_engine())
		skip();
	for (size_t i = 0; i < sizeof smalls / sizeof *smalls; i++) {
		size_t open = t.open;
		small_write(&smalls[i], file);
		const char *why = check(file, NULL, &t);
		if (why)
			fail_msg("%s: %s", smalls[i].what, why);
		if (smalls[i].open != (t.open > open))
			fail_msg("%s: %zu values are left open", smalls[i].what, t.open - open);
	}
	report("small models", &t);
	assert_int_equal(t.differ, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(small_models),
	    cmocka_unit_test(package_of_onnx),
	    cmocka_unit_test(built_in_networks),
	};

	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
