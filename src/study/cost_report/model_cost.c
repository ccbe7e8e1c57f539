/* model_cost.c - adapter from a subject to the cost model (model/cost) and from its symbolic
 * numbers to the values and rows of a record.
 *
 * counted_open() builds a network (zoo:NAME) or reads a file, rebatched where another batch than
 * the exported one is requested. sizes_read() turns --shape, --dim, --batch and --input into sizes
 * of inputs; contents of small inputs are passed too, since they may decide a branch, the turns of
 * a loop or a shape. Then cost_model() infers and counts. With `real`, the sizes and values are
 * the ones observed in a run.
 *
 * A known number is an integer. An open one is a polynomial of sizes: the value is absent and its
 * formula is the reason, so that it is never mistaken for 0. All texts and arrays are in one arena,
 * whose limit (COST_MEMORY_MAX beyond the model) bounds hostile models; model_cost_close()
 * frees it, and a function that fails has done so.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/cost_report/model_cost.h"
#include "base/err.h"
#include "model/onnx/module_path.h"
#include "measure/subject/input_given.h"
#include "measure/subject/inputs.h"
#include "study/cost_report/observed_shapes.h"
#include "deepclock/model.h"
#include <stdio.h>
#include <string.h>

typedef struct sizes {
	cost_dim dims[DCK_LIST_MAX];
	cost_shape *inputs;
	cost_content *contents;
	cost_config config;
} sizes;

/* Reads which sizes of an input the user gave; -1 leaves a size to the graph. */
static bool given_read(const subject_sized *in, mem_arena *a, cost_shape *ret)
{
	int64_t *dims = mem_arena_array(a, in->rank, sizeof *dims);
	bool given = in->shaped != NULL;

	for (size_t d = 0; dims && d < in->rank; d++) {
		const bool was_open = in->shaped || in->info.dim[d] < 0;

		dims[d] = was_open ? in->dim[d] : -1;
		given |= was_open && in->dim[d] >= 0;
	}
	*ret = (cost_shape){.name = in->info.name, .rank = (int)in->rank, .dims = dims};
	return given && dims;
}

/* Reads the contents of few elements that --input gives: they may decide which branch is taken, how
 * often a loop runs, how large a result is. A range leaves them open. */
static bool content_read(const input_given *in, const char *name, mem_arena *a, cost_content *ret)
{
	const size_t width = in->array.width;
	int64_t *whole = mem_arena_alloc(a, sizeof *whole);
	double *real = mem_arena_alloc(a, sizeof *real);

	*ret = (cost_content){.name = name, .n = 1};
	if (!whole || !real)
		return false;
	*whole = in->fill.low;
	*real = in->fill.rlow;
	if (in->filled && in->fill.whole && in->fill.low == in->fill.high) {
		ret->ints = whole;
	} else if (in->filled && !in->fill.whole && !(in->fill.rlow < in->fill.rhigh)) {
		ret->reals = real;
	} else if (in->file && width && in->array.bytes / width <= ONNX_INTS_MAX) {
		ret->n = in->array.bytes / width;
		ret->ints = values_whole(in->array.dtype, in->array.data, ret->n, a);
	}
	return ret->ints || ret->reals;
}

static dck_status contents_read(sizes *z, shape_resolve *given, const dck_model_config *c,
				mem_arena *a, dck_err *err)
{
	input_given *list = mem_arena_array(a, given->n + 1, sizeof *list);
	dck_status status;

	z->contents = mem_arena_array(a, given->n + 1, sizeof *z->contents);
	DCK_NEED(list && z->contents, err, "for the model's inputs");
	status = input_given_read(given, c, subject_memory_half(), list, err);
	for (size_t i = 0; i < given->n && status == DCK_OK; i++)
		z->config.ncontents += content_read(&list[i], given->input[i].info.name, a,
						    &z->contents[z->config.ncontents]);
	input_given_done(list, given->n);
	z->config.contents = z->contents;
	return status;
}

static dck_status sizes_read(sizes *z, const onnx_graph *g, mem_arena *a, const dck_model_config *c,
			     bool zoo, dck_err *err)
{
	dck_model_config config = *c;
	shape_resolve given;
	model_values v;

	if (zoo)
		config.batch = 0; /* a built-in network was made with its batch */
	DCK_TRY(model_values_read(g, a, &v, err));
	DCK_TRY(shape_resolve_declared(&given, a, &v, NULL, err));
	/* The options with which a built-in network was made hold for --shape too. */
	given.any = !zoo || (c->batch == 0 && !c->image_size && c->seq == 0);
	DCK_TRY(contents_read(z, &given, &config, a, err));
	DCK_TRY(shape_resolve_read(&given, &v, &config, err));
	z->inputs = mem_arena_array(a, given.n, sizeof *z->inputs);
	DCK_NEED(z->inputs, err, "for the model's sizes");
	for (size_t i = 0; i < given.n; i++)
		z->config.ninputs += given_read(&given.input[i], a, &z->inputs[z->config.ninputs]);
	/* Sizes by name alone contradict nothing that the file states of inner values. */
	if (c->shape.n == 0 && config.batch == 0 && !shape_resolve_from_files(&given, c)) {
		for (size_t i = 0; i < c->dim.n; i++) {
			const char *name = NULL;
			int64_t size = 0;

			DCK_TRY(subject_dim_read(a, c->dim.item[i], &name, &size, err));
			if (onnx_symbol_named(name))
				z->dims[z->config.ndims++] = (cost_dim){name, size};
		}
		if (z->config.ndims == c->dim.n)
			z->config.ninputs = 0;
	}
	z->config.dims = z->dims;
	z->config.inputs = z->inputs;
	return DCK_OK;
}

static dck_status zoo_read(model_cost *c, const char *name, const dck_model_config *m, dck_err *err)
{
	const dck_zoo_config zoo = {
	    .batch = m->batch, .image_size = m->image_size, .seq = m->seq, .seed = m->seed};
	dck_buffer bytes = {0};
	dck_sink sink;

	dck_sink_buffer(&sink, &bytes);
	dck_status status = dck_zoo_write(name, &zoo, &sink, err);
	if (status == DCK_E_ABSENT) {
		status = DCK_E_ARG; /* a name in no table is mistyped */
		if (err)
			err->code = status;
	}
	DCK_NEXT(status, dck_sink_finish(&sink, err));
	DCK_NEXT(status, onnx_read_bytes(bytes.data, bytes.n, c->arena, &c->model, err));
	dck_buffer_done(&bytes);
	return status;
}

static dck_status counted_count(model_cost *c, const dck_subject *s, bool zoo,
				const tally_real *real, dck_err *err)
{
	sizes z = {0};

	mem_arena_limit(c->arena, mem_arena_bytes(c->arena) + COST_MEMORY_MAX);
	c->observed = real != NULL;
	if (real) {
		z.config = (cost_config){.inputs = real->inputs,
					 .ninputs = real->ninputs,
					 .contents = real->contents,
					 .ncontents = real->ncontents,
					 .known = real->values,
					 .nknown = real->nvalues};
	} else if (s) {
		DCK_TRY(sizes_read(&z, c->model->graph, c->arena, &s->model, zoo, err));
	}
	return cost_model(c->model, &z.config, c->arena, &c->cost, err);
}

/* A file whose batch is fixed at another size is counted as the model that it becomes. */
static dck_status counted_file_read(model_cost *c, const char *path, const dck_model_config *m,
				    dck_err *err)
{
	rebatched_model f = {0};
	dck_status status;

	DCK_TRY(rebatched_make(path, m, true, c->arena, &f, err));
	if (!f.done)
		return onnx_read_file(path, c->arena, &c->model, err);
	status = onnx_read_bytes(f.model.bytes.data, f.model.bytes.n, c->arena, &c->model, err);
	c->rebatched = rebatched_facts(&f, (int64_t)m->batch);
	snprintf(c->rebatched.looked, sizeof c->rebatched.looked, "nothing was run");
	rebatched_done(&f);
	return status;
}

static dck_status counted_open(model_cost *c, const dck_subject *s, const tally_real *real,
			       dck_err *err)
{
	bool zoo = s->text && strncmp(s->text, "zoo:", 4) == 0;

	if (s->kind != DCK_SUBJECT_MODEL || !s->text)
		DCK_FAIL(err, E_ARG, "only a model can be counted: give a file or zoo:NAME");
	if (!zoo && (s->model.image_size || s->model.seq > 0))
		DCK_FAIL(err, E_ARG,
			 "--image-size and --seq are for built-in networks (zoo:NAME); "
			 "for a file give --shape NAME=1x3x224x224 or --dim SYMBOL=N");
	c->arena = mem_arena_new(1 << 18);
	DCK_NEED(c->arena, err, "for the model's sizes");
	if (zoo)
		DCK_TRY(zoo_read(c, s->text + 4, &s->model, err));
	else
		DCK_TRY(counted_file_read(c, s->text, &s->model, err));
	return counted_count(c, s, zoo, real, err);
}

static dck_status counted_file_open(model_cost *c, const char *path, const tally_real *real,
				    dck_err *err)
{
	c->arena = mem_arena_new(1 << 18);
	DCK_NEED(c->arena, err, "for the model's sizes");
	DCK_TRY(onnx_read_file(path, c->arena, &c->model, err));
	return counted_count(c, NULL, false, real, err);
}

dck_status model_cost_file(model_cost *ret, const char *path, const tally_real *real, dck_err *err)
{
	*ret = (model_cost){0};
	dck_status status = counted_file_open(ret, path, real, err);
	if (status != DCK_OK)
		model_cost_close(ret);
	return status;
}

dck_status model_cost_open(model_cost *ret, const dck_subject *s, const tally_real *real,
			   dck_err *err)
{
	*ret = (model_cost){0};
	dck_status status = counted_open(ret, s, real, err);
	if (status != DCK_OK)
		model_cost_close(ret);
	return status;
}

dck_status model_cost_none(model_cost *ret, dck_err *err)
{
	*ret = (model_cost){.arena = mem_arena_new(0)};
	if (ret->arena)
		ret->cost = mem_arena_array(ret->arena, 1, sizeof *ret->cost);
	if (ret->cost)
		return DCK_OK;
	model_cost_close(ret);
	return ERR_NO_MEMORY(err, "to count the model");
}

void model_cost_close(model_cost *c)
{
	mem_arena_free(c->arena);
	*c = (model_cost){0};
}

/* --- rows --- */

static dck_value counted_absent(const char *why)
{
	return (dck_value){.kind = DCK_VALUE_ABSENT, .as.text = why ? why : "out of memory"};
}

dck_value model_cost_value(model_cost *c, sym_int n)
{
	sym_table *t = c->cost->nums;

	if (sym_known(n))
		return (dck_value){.kind = DCK_VALUE_INT, .as.i = n.v};
	if (sym_unknown_reason(n))
		return counted_absent(sym_unknown_reason(n));
	if (sym_why_fresh(t, n))
		return counted_absent(
		    mem_arena_fmt(c->arena, "it depends on %s", sym_why_fresh(t, n)));
	dck_value open = counted_absent(
	    mem_arena_fmt(c->arena, "%s, which --dim makes a number", sym_text(t, n)));
	open.absence = DCK_ABSENCE_OPEN_SIZE;
	return open;
}

const char *model_cost_name(model_cost *c, const onnx_node *node)
{
	return cost_node_name(c->arena, node);
}

const char *model_cost_scope(model_cost *c, const cost_op *from)
{
	const char *own = module_path_of(c->arena, from->node);

	if (!from->scope || !own)
		return own ? own : from->scope;
	return mem_arena_fmt(c->arena, "%s/%s", from->scope, own);
}

static void output_row(model_cost *c, const val *v, dck_op_output *ret)
{
	size_t n = v->rank > 0 ? (size_t)v->rank : 0;
	int64_t *dims = mem_arena_array(c->arena, n, sizeof *dims);
	const char **symbols = mem_arena_array(c->arena, n, sizeof *symbols);

	ret->name = v->name;
	ret->dtype = cost_dtype_text(v->dtype, c->arena);
	if (v->kind != VAL_TENSOR)
		ret->absent = v->kind == VAL_SEQUENCE	? "it is a sequence"
			      : v->kind == VAL_OPTIONAL ? "it is optional"
			      : v->why			? v->why
							: "it is not a tensor";
	else if (v->rank < 0)
		ret->absent = v->why ? v->why : "not known";
	ret->rank = n;
	ret->dims = dims;
	ret->symbols = symbols;
	for (size_t i = 0; i < n && dims && symbols; i++) {
		dims[i] = sym_known(v->dims[i]) ? v->dims[i].v : -1;
		symbols[i] = sym_known(v->dims[i]) ? NULL : sym_text(c->cost->nums, v->dims[i]);
	}
}

/* Domains of ONNX Runtime, whose operators people know by their names alone. */
static const struct {
	const char *domain, *shown;
} short_domains[] = {
    {"", ""},
    {"ai.onnx", ""},
    {"com.microsoft", ""},
    {"com.microsoft.nchwc", "nchwc."},
    {"com.ms.internal.nhwc", "nhwc."},
};

const char *model_cost_type(model_cost *c, const onnx_node *node)
{
	const char *domain = node->domain ? node->domain : "";

	for (size_t i = 0; i < sizeof short_domains / sizeof *short_domains; i++)
		if (strcmp(domain, short_domains[i].domain) == 0)
			return *short_domains[i].shown
				   ? mem_arena_fmt(c->arena, "%s%s", short_domains[i].shown,
						   node->op)
				   : node->op;
	return mem_arena_fmt(c->arena, "%s.%s", domain, node->op);
}

void model_cost_place(const onnx_node *node, dck_op *ret)
{
	const onnx_frame *innermost = node->nframes ? &node->frames[node->nframes - 1] : NULL;

	ret->class_name = node->class_name;
	ret->line = innermost ? innermost->line : NULL;
	ret->code = innermost ? innermost->code : NULL;
}

void model_cost_op(model_cost *c, const cost_op *from, dck_op *ret)
{
	dck_op_output *outputs = mem_arena_array(c->arena, from->nout, sizeof *outputs);

	*ret = (dck_op){
	    .name = model_cost_name(c, from->node),
	    .type = model_cost_type(c, from->node),
	    .scope = model_cost_scope(c, from),
	    .outputs = outputs,
	    .macs = model_cost_value(c, from->macs),
	    .flops = model_cost_value(c, from->flops),
	    .params = model_cost_value(c, from->params),
	    .weight_bytes = model_cost_value(c, from->weight_bytes),
	    .read_bytes = model_cost_value(c, from->read_bytes),
	    .write_bytes = model_cost_value(c, from->write_bytes),
	};
	model_cost_place(from->node, ret);
	for (size_t i = 0; i < from->nout && outputs; i++)
		if (from->out[i])
			output_row(c, from->out[i], &outputs[ret->noutputs++]);
}

bool model_cost_batch_open(model_cost *c, const dck_model_config *m)
{
	const cost_result *r = c->cost;
	shape_resolve z;
	model_values v;

	/* The engine reports what is wrong. */
	if (model_values_read(c->model->graph, c->arena, &v, NULL) != DCK_OK ||
	    shape_resolve_declared(&z, c->arena, &v, NULL, NULL) != DCK_OK ||
	    shape_resolve_read(&z, &v, m, NULL) != DCK_OK)
		return true;
	for (size_t i = 0; i < r->ninputs && i < z.n; i++) {
		const size_t axis = shape_resolve_batch_axis(&z, i);
		const val *in = r->inputs[i];

		if (in->rank < 0 || (axis < (size_t)in->rank && !sym_known(in->dims[axis])))
			return true;
	}
	return r->ninputs == 0;
}
