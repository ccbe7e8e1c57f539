/* inspect.c - dck_inspect(): describes a model file: inputs, outputs, operators, weights.
 *
 *	deepclock inspect model.onnx
 *
 * The model is read and counted by src/study/cost_report. It is never run, no engine is loaded, and
 * files with external weights are not read: inspect only checks that they exist and are long
 * enough. A size that the model leaves open is shown with its name, not guessed.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/inspect.h"
#include "base/err.h"
#include "study/cost_report/cost_formula.h"
#include "record/record_begin.h"
#include "measure/subject/shape_resolve.h"
#include "measure/subject/subject_facts.h"
#include "study/inspect/refused.h"
#include "model/cost/op.h"
#include "base/name_index.h"
#include "base/units.h"
#include "os/os.h"
#include <stdlib.h>
#include <string.h>

#define INPUTS_SHOWN  4u /* in the summary; each must be given */
#define OUTPUTS_SHOWN 2u
#define SHAPE_SHOWN   100u /* characters of a shape in the summary */
#define TYPES_SHOWN   5u   /* of operators in the summary */
#define TEXT_SHOWN    200u /* characters of a property */
#define DOMAIN(d)     (!(d) || !*(d) || strcmp((d), "ai.onnx") == 0 ? "ai.onnx" : (d))

typedef struct kind {
	const char *type, *domain;
	size_t nodes, unknown; /* without a rule for their cost */
} kind;

typedef struct weights_file {
	const char *name;
	uint64_t bytes;
	const char *wrong;     /* "is too short"; NULL: nothing */
	const onnx_tensor *of; /* the first weights for which it is */
} weights_file;

typedef struct inspection {
	model_cost c;
	const onnx_model *file; /* as the file states it; that of c unless c is rebatched */
	shape_resolve sizes;
	model_values values;
	const char *subject;
	mem_arena *arena; /* that of c */
	kind *kinds;
	size_t nkinds, nodes;
	weights_file *files;
	size_t nfiles, missing;
	const weights_file *wrong; /* the first that is there, without what the model states */
	uint64_t weight_bytes;
	bool cut; /* there are too many open sizes to give them all */
} inspection;

/* --- collecting */

static int kinds_order(const void *va, const void *vb)
{
	const kind *a = va, *b = vb;

	if (a->nodes != b->nodes)
		return a->nodes > b->nodes ? -1 : 1;
	const int by_type = strcmp(a->type, b->type);
	return by_type ? by_type : strcmp(a->domain, b->domain);
}

/* Operators as they run: bodies and functions entered. */
static bool kinds_find(inspection *x)
{
	const cost_result *r = x->c.cost;
	name_index keys;

	x->kinds = mem_arena_array(x->arena, r->nops, sizeof *x->kinds);
	if (!x->kinds || !name_index_init(&keys, x->arena, r->nops))
		return false;
	for (size_t i = 0; i < r->nops; i++) {
		const onnx_node *n = r->ops[i].node;
		const char *domain = DOMAIN(n->domain);
		const char *key = mem_arena_fmt(x->arena, "%s %s", domain, n->op);

		if (r->ops[i].expanded)
			continue;
		if (!key)
			return false;
		const size_t at = name_index_intern(&keys, key);
		kind *k = &x->kinds[at];

		*k = (kind){n->op, domain, k->nodes + 1, k->unknown + (r->ops[i].row == NULL)};
		x->nodes++;
	}
	x->nkinds = keys.n;
	qsort(x->kinds, x->nkinds, sizeof *x->kinds, kinds_order);
	return true;
}

/* A sum that overflows stays at the largest. */
static void weight_add(void *self, const onnx_tensor *t)
{
	uint64_t *sum = self;

	if (t && __builtin_add_overflow(*sum, t->bytes, sum))
		*sum = UINT64_MAX;
}

static void weight_count(void *self, const onnx_tensor *t)
{
	*(size_t *)self += t != NULL;
}

static bool is_missing(const weights_file *f)
{
	return f->wrong && strcmp(f->wrong, REFUSED_MISSING) == 0;
}

typedef struct finding {
	inspection *x;
	name_index seen;
} finding;

/* Files are in the directory of the model. */
static void inspect_file_take(void *self, const onnx_tensor *t)
{
	finding *of = self;
	inspection *x = of->x;
	const char *slash = strrchr(x->subject, '/');
	const char *name = t ? onnx_external(t, "location") : NULL;

	if (!name)
		return;
	weights_file *f = &x->files[name_index_intern(&of->seen, name)];

	f->name = name;
	if (!f->wrong) {
		const char *path = mem_arena_fmt(
		    x->arena, "%.*s%s", slash && *name != '/' ? (int)(slash - x->subject + 1) : 0,
		    x->subject, name);

		f->wrong = path ? refused_weights(t, name, path) : NULL;
		f->of = t;
		if (is_missing(f))
			x->missing++;
		else if (f->wrong && !x->wrong)
			x->wrong = f;
	}
	if (__builtin_add_overflow(f->bytes, t->bytes, &f->bytes))
		f->bytes = UINT64_MAX;
}

static bool files_find(inspection *x)
{
	const onnx_graph *g = x->file->graph;
	finding of = {.x = x};
	size_t n = 0;

	onnx_weights_each(g, weight_add, &x->weight_bytes);
	onnx_weights_each(g, weight_count, &n);
	x->files = mem_arena_array(x->arena, n, sizeof *x->files);
	if (!x->files || !name_index_init(&of.seen, x->arena, n))
		return false;
	onnx_weights_each(g, inspect_file_take, &of);
	x->nfiles = of.seen.n;
	return true;
}

/* Completes outputs by inference, if the file does not state their shapes. */
static void outputs_complete(inspection *x)
{
	const cost_result *r = x->c.cost;
	model_value *out = mem_arena_array(x->arena, x->values.nout, sizeof *out);
	size_t k = 0; /* both lists are in the order of the file, and this one may lack some */

	for (size_t i = 0; out && i < x->values.nout; i++) {
		const val *v = k < r->noutputs ? r->outputs[k] : NULL;

		out[i] = x->values.out[i];
		if (!v || !v->name || strcmp(v->name, out[i].name) != 0)
			continue;
		k++;
		if (out[i].rank >= 0 || v->kind != VAL_TENSOR || v->rank < 0)
			continue;
		const size_t rank = (size_t)v->rank;
		int64_t *dims = mem_arena_array(x->arena, rank, sizeof *dims);
		const char **symbols = mem_arena_array(x->arena, rank, sizeof *symbols);
		for (size_t d = 0; d < rank && dims && symbols; d++) {
			dims[d] = sym_known(v->dims[d]) ? v->dims[d].v : -1;
			symbols[d] = sym_known(v->dims[d]) ? NULL : sym_text(r->nums, v->dims[d]);
		}
		if (!dims || !symbols)
			continue;
		out[i].kind = "tensor";
		out[i].dtype = v->dtype;
		out[i].rank = v->rank;
		out[i].dims = dims;
		out[i].symbols = symbols;
	}
	if (out)
		x->values.out = out;
}

/* --- words */

/* "1x3x224x224", as --shape takes it; with names "[batch, 3, h, w]": names may hold an x. */
static const char *dims_text(inspection *x, const model_value *v)
{
	const char *text = "";
	bool open = false;

	for (int d = 0; d < v->rank && text; d++) {
		const char *by = d > 0 ? ", " : "";

		open |= v->dims[d] < 0;
		text = v->dims[d] < 0
			   ? mem_arena_fmt(x->arena, "%s%s%s", text, by,
					   v->symbols[d] && *v->symbols[d] ? v->symbols[d] : "?")
			   : mem_arena_fmt(x->arena, "%s%s%lld", text, by, (long long)v->dims[d]);
	}
	return open && text ? mem_arena_fmt(x->arena, "[%s]", text)
			    : subject_dims_text(x->arena, v->dims, NULL, (size_t)v->rank);
}

static const char *inspect_shape_text(inspection *x, const model_value *v)
{
	if (strcmp(v->kind, "tensor") != 0)
		return *v->kind ? v->kind : "of a type that is not stated";
	if (v->rank < 0)
		return "of any shape";
	if (v->rank == 0)
		return "scalar";
	return dims_text(x, v);
}

static const char *inspect_type_text(inspection *x, const model_value *v)
{
	return v->dtype ? cost_dtype_text(v->dtype, x->arena) : "";
}

static const char *producer_text(inspection *x)
{
	const onnx_model *m = x->c.model;

	if (!m->producer || !*m->producer)
		return NULL;
	return mem_arena_fmt(x->arena, "%s%s%s", m->producer,
			     m->producer_version && *m->producer_version ? " " : "",
			     m->producer_version ? m->producer_version : "");
}

static void sentence_put(record_builder *b, inspection *x)
{
	const char *producer = producer_text(x);

	const char *letters = sym_known(x->c.cost->macs) ? "" : cost_open_letters(&x->c);

	record_answer(b, "%s, %s, opset %lld%s%s%s", cost_macs_text(&x->c),
		      cost_amount_text(&x->c, x->c.cost->params, "parameters"),
		      (long long)onnx_opset_version(x->c.model), producer ? ", from " : "",
		      producer ? producer : "", letters ? letters : "");
}

/* --- the summary */

static void inspect_row(record_builder *b, const char *what, const char *value)
{
	record_cell_text(b, what);
	record_cell_text(b, value ? value : "?");
}

/* A shape whose dimensions have long names ends after the last one that fits, as "[batch, ...]". */
static const char *shape_brief(inspection *x, const model_value *v)
{
	const char *text = inspect_shape_text(x, v);
	size_t n = SHAPE_SHOWN;

	if (!text || strlen(text) <= SHAPE_SHOWN)
		return text;
	while (n > 1 && text[n - 1] != ',')
		n--;
	return n == 1 ? text : mem_arena_fmt(x->arena, "%.*s ...]", (int)n, text);
}

static void rows_values(record_builder *b, inspection *x, const char *what, const model_value *v,
			size_t n, size_t shown)
{
	for (size_t i = 0; i < n && i < shown; i++) {
		const char *more = n > shown && i + 1 == shown
				       ? mem_arena_fmt(x->arena, ", and %zu more", n - shown)
				       : "";

		inspect_row(b, what,
			    mem_arena_fmt(x->arena, "%s: %s %s%s", v[i].name, shape_brief(x, &v[i]),
					  inspect_type_text(x, &v[i]), more ? more : ""));
	}
	if (n == 0)
		inspect_row(b, what, "none");
}

static const char *opsets_text(inspection *x)
{
	const onnx_model *m = x->c.model;
	const char *text = "";

	for (size_t i = 0; i < m->nopsets && text; i++)
		text = mem_arena_fmt(x->arena, "%s%s%s %lld", text, i ? ", " : "",
				     DOMAIN(m->opsets[i].domain), (long long)m->opsets[i].version);
	return text;
}

static const char *kinds_text(inspection *x)
{
	const char *text = mem_arena_fmt(x->arena, "%zu of %zu type%s:", x->nodes, x->nkinds,
					 x->nkinds == 1 ? "" : "s");

	for (size_t i = 0; i < x->nkinds && i < TYPES_SHOWN && text; i++)
		text = mem_arena_fmt(x->arena, "%s%s %zu %s", text, i ? "," : "", x->kinds[i].nodes,
				     x->kinds[i].type);
	return x->nkinds > TYPES_SHOWN && text ? mem_arena_fmt(x->arena, "%s, ...", text) : text;
}

/* Lists the operators that neither ONNX nor ONNX Runtime has: the engine needs a library for them.
 */
static const char *custom_text(inspection *x)
{
	const char *text = NULL;
	size_t n = 0;

	for (size_t i = 0; i < x->nkinds; i++)
		if (x->kinds[i].unknown > 0 && n++ < TYPES_SHOWN)
			text =
			    mem_arena_fmt(x->arena, "%s%s%s.%s", text ? text : "", text ? ", " : "",
					  x->kinds[i].domain, x->kinds[i].type);
	return text;
}

static const char *weights_text(inspection *x)
{
	const char *size = UNITS_BYTES((double)x->weight_bytes);

	if (x->nfiles == 0)
		return mem_arena_fmt(x->arena, "%s, in the file", size);
	return mem_arena_fmt(x->arena, "%s, in %zu other file%s%s", size, x->nfiles,
			     x->nfiles == 1 ? "" : "s",
			     x->missing == 0 && x->wrong ? ", NOT USABLE"
			     : x->missing == 0		 ? ", there"
			     : x->missing == x->nfiles	 ? ", MISSING"
							 : ", some of them MISSING");
}

static const char *open_text(inspection *x, size_t *ret_n)
{
	const char *text = "", *seen_names[SIZES_SYMBOLS_MAX];
	size_t n = 0;

	for (size_t i = 0; i < x->sizes.n; i++)
		for (size_t d = 0; d < x->sizes.input[i].rank; d++) {
			const char *symbol = x->sizes.input[i].info.symbol[d];
			bool seen = false;

			if (x->sizes.input[i].dim[d] >= 0 || n == SIZES_SYMBOLS_MAX)
				continue;
			for (size_t k = 0; k < n && symbol; k++)
				seen |= seen_names[k] && strcmp(seen_names[k], symbol) == 0;
			if (seen)
				continue;
			seen_names[n++] = symbol;
			text = symbol ? mem_arena_fmt(x->arena, "%s%s%s", text ? text : "",
						      n > 1 ? ", " : "", symbol)
				      : mem_arena_fmt(x->arena, "%s%saxis %zu of %s",
						      text ? text : "", n > 1 ? ", " : "", d,
						      x->sizes.input[i].info.name);
		}
	*ret_n = n;
	return text;
}

static void summary_put(record_builder *b, inspection *x)
{
	static const dck_column columns[] = {{.key = "what", .title = ""},
					     {.key = "value", .title = ""}};
	const onnx_model *m = x->c.model;
	const char *custom = custom_text(x), *open;
	size_t nopen;

	open = open_text(x, &nopen);
	record_table(b, "inspect/summary", "The model", columns, 2);
	rows_values(b, x, "input", x->values.in, x->values.nin, INPUTS_SHOWN);
	rows_values(b, x, "output", x->values.out, x->values.nout, OUTPUTS_SHOWN);
	inspect_row(b, "open sizes", nopen ? open : "none");
	inspect_row(b, "operators", kinds_text(x));
	if (custom)
		inspect_row(b, "not known", custom);
	inspect_row(b, "weights", weights_text(x));
	if (m->nmetadata)
		inspect_row(b, "properties",
			    mem_arena_fmt(x->arena, "%zu: %s%s", m->nmetadata,
					  m->metadata[0].key ? m->metadata[0].key : "?",
					  m->nmetadata > 1 ? ", ..." : ""));
}

/* --- the rest */

static void inspect_values_put(record_builder *b, inspection *x, const char *name,
			       const char *title, const model_value *v, size_t n)
{
	static const dck_column columns[] = {{.key = "name", .title = "name"},
					     {.key = "kind", .title = "kind"},
					     {.key = "type", .title = "type"},
					     {.key = "shape", .title = "shape"}};

	if (n == 0)
		return;
	record_table(b, name, title, columns, 4);
	for (size_t i = 0; i < n; i++) {
		record_cell_text(b, v[i].name);
		record_cell_text(b, *v[i].kind ? v[i].kind : "?");
		record_cell_text(b, inspect_type_text(x, &v[i]));
		record_cell_text(b, inspect_shape_text(x, &v[i]));
	}
}

static void inspect_open_put(record_builder *b, inspection *x)
{
	static const dck_column columns[] = {{.key = "name", .title = "size"},
					     {.key = "input", .title = "input"},
					     {.key = "axis", .title = "axis", .unit = DCK_UNIT_ONE},
					     {.key = "option", .title = "given by"}};
	bool begun = false;

	for (size_t i = 0; i < x->sizes.n; i++)
		for (size_t d = 0; d < x->sizes.input[i].rank; d++) {
			const subject_sized *in = &x->sizes.input[i];
			const char *symbol = in->info.symbol[d];

			if (in->dim[d] >= 0)
				continue;
			if (!begun)
				record_table(b, "inspect/open", "Open sizes", columns, 4);
			begun = true;
			record_cell_text(b, symbol ? symbol : "?");
			record_cell_text(b, in->info.name);
			record_cell_int(b, (int64_t)d);
			record_cell_text(b, shape_resolve_batch_axis(&x->sizes, i) == d ? "--batch"
					    : symbol					? "--dim"
						     : "--shape");
		}
}

static void kinds_put(record_builder *b, inspection *x)
{
	static const dck_column columns[] = {
	    {.key = "type", .title = "operator"},
	    {.key = "domain", .title = "of"},
	    {.key = "nodes", .title = "nodes", .unit = DCK_UNIT_ONE},
	    {.key = "cost", .title = "cost"}};

	if (x->nkinds == 0)
		return;
	record_table(b, "inspect/operators", "Operators, bodies and functions entered", columns, 4);
	for (size_t i = 0; i < x->nkinds; i++) {
		record_cell_text(b, x->kinds[i].type);
		record_cell_text(b, x->kinds[i].domain);
		record_cell_int(b, (int64_t)x->kinds[i].nodes);
		record_cell_text(b, x->kinds[i].unknown ? "not known" : "known");
	}
}

static void files_put(record_builder *b, inspection *x)
{
	static const dck_column columns[] = {
	    {.key = "file", .title = "file of weights"},
	    {.key = "bytes", .title = "of the model", .unit = DCK_UNIT_BYTE},
	    {.key = "there", .title = "is there"}};

	const char *first = NULL;

	if (x->nfiles == 0)
		return;
	record_table(b, "inspect/files", "Weights outside the model", columns, 3);
	for (size_t i = 0; i < x->nfiles; i++) {
		record_cell_text(b, x->files[i].name);
		record_cell_int(b, x->files[i].bytes > INT64_MAX ? INT64_MAX
								 : (int64_t)x->files[i].bytes);
		record_cell_text(b, is_missing(&x->files[i]) ? "no"
				    : x->files[i].wrong	     ? "not usable"
							     : "yes");
		if (is_missing(&x->files[i]) && !first)
			first = x->files[i].name;
	}
	if (x->missing)
		record_note(b, "weights-missing",
			    "%zu of %zu files of weights that the model names are not in its "
			    "directory, '%s' first",
			    x->missing, x->nfiles, first);
}

static void properties_put(record_builder *b, inspection *x)
{
	static const dck_column columns[] = {{.key = "key", .title = "property"},
					     {.key = "value", .title = "value"}};
	const onnx_model *m = x->c.model;

	if (m->nmetadata == 0)
		return;
	record_table(b, "inspect/properties", "Properties", columns, 2);
	for (size_t i = 0; i < m->nmetadata; i++) {
		const char *value = m->metadata[i].value ? m->metadata[i].value : "";

		record_cell_text(b, m->metadata[i].key ? m->metadata[i].key : "?");
		record_cell_fmt(b, "%.*s%s", (int)TEXT_SHOWN, value,
				strlen(value) > TEXT_SHOWN ? "..." : "");
	}
}

/* Returns the first operator that no runtime has; NULL: none, or the user's engine may have it. Of
 * com.microsoft a release may have more than deepclock knows. */
static const kind *kind_of_nobody(const inspection *x, const char *engine)
{
	for (size_t i = 0; i < x->nkinds && !(engine && strncmp(engine, "plugin:", 7) == 0); i++)
		if (x->kinds[i].unknown > 0 &&
		    strncmp(x->kinds[i].domain, "com.microsoft", 13) != 0)
			return &x->kinds[i];
	return NULL;
}

/* Sets the next command, or the reason why none runs the model. */
static void inspect_next_put(record_builder *b, inspection *x, const char *next, const char *engine)
{
	const kind *k = kind_of_nobody(x, engine);
	const bool runtime = !engine || strcmp(engine, "ort") == 0;
	const char *why = runtime ? refused_model(x->file, x->c.cost, x->arena) : NULL;
	dck_err err;

	if (x->missing) {
		record_fact_absent(b, "result", "next", "files of weights are missing");
	} else if (x->wrong) {
		record_fact_absent(b, "result", "next", "a file of weights is not as stated");
		record_note(
		    b, "not-runnable",
		    "no engine here can run it: its file of weights '%.120s' %s, for '%.80s'",
		    x->wrong->name, x->wrong->wrong, x->wrong->of->name ? x->wrong->of->name : "?");
		record_remedy(b, "copy the file again, or export the model again");
	} else if (why) {
		record_fact_absent(b, "result", "next", why);
		record_note(b, "not-runnable", "ONNX Runtime refuses it: %s", why);
	} else if (shape_resolve_types(x->arena, &x->values, &err) != DCK_OK) {
		record_fact_absent(b, "result", "next", err.msg);
		record_note(b, "not-runnable", "no engine here can run it: %s", err.msg);
	} else if (k) {
		record_fact_absent(b, "result", "next", "no engine here has one of its operators");
		record_note(b, "not-runnable",
			    "no engine here can run it: neither ONNX nor ONNX Runtime has the "
			    "operator %s.%s",
			    k->domain, k->type);
		record_remedy(b, "give an engine that has it, with --engine plugin:FILE");
	} else if (!next) {
		record_fact_absent(b, "result", "next",
				   "its open sizes take more words than an option may have");
	} else {
		record_fact_text(b, "result", "next", next);
	}
}

static void inspect_facts_put(record_builder *b, inspection *x)
{
	const onnx_model *m = x->file;
	const char *producer = producer_text(x);

	record_fact_text(b, "subject", "kind", "model");
	record_fact_text(b, "subject", "name", x->subject);
	if (producer)
		record_fact_text(b, "subject", "producer", producer);
	if (m->ir_version >= 0)
		record_fact_int(b, "subject", "ir_version", DCK_UNIT_ONE, m->ir_version);
	else
		record_fact_absent(b, "subject", "ir_version", "the file states none");
	record_fact_int(b, "subject", "opset", DCK_UNIT_ONE, onnx_opset_version(m));
	record_fact_text(b, "subject", "opsets", opsets_text(x));
	record_fact_int(b, "subject", "nodes", DCK_UNIT_ONE, (int64_t)m->graph->nnodes);
	record_fact_int(b, "subject", "functions", DCK_UNIT_ONE, (int64_t)m->nfunctions);
	record_fact_int(b, "subject", "file_bytes", DCK_UNIT_BYTE, (int64_t)m->file_bytes);
}

/* Returns the next command: with the given sizes and the open ones. */
static const char *next_text(inspection *x, const dck_model_config *c)
{
	const struct {
		const char *option;
		const dck_list *list;
	} given[] = {{"shape", &c->shape}, {"dim", &c->dim}, {"input", &c->input}};
	const char *text = subject_shell_word(x->arena, x->subject);
	subject_usual usual;
	const char *options =
	    subject_usual_find(&x->sizes, &usual) ? subject_usual_text(x->arena, &usual) : NULL;

	x->cut = usual.cut;

	text = text ? mem_arena_fmt(x->arena, "deepclock bench %s", text) : NULL;
	if (c->batch > 0 && text)
		text =
		    mem_arena_fmt(x->arena, "%s --batch %llu", text, (unsigned long long)c->batch);
	if (c->image_size && text)
		text = mem_arena_fmt(x->arena, "%s --image-size %s", text,
				     subject_shell_word(x->arena, c->image_size));
	if (c->seq > 0 && text)
		text = mem_arena_fmt(x->arena, "%s --seq %llu", text, (unsigned long long)c->seq);
	for (size_t k = 0; k < sizeof given / sizeof *given; k++)
		for (size_t i = 0; i < given[k].list->n && text; i++) {
			const char *word = subject_shell_word(x->arena, given[k].list->item[i]);

			text = word ? mem_arena_fmt(x->arena, "%s --%s %s", text, given[k].option,
						    word)
				    : NULL;
		}
	return options && *options && text ? mem_arena_fmt(x->arena, "%s %s", text, options)
	       : options		   ? text
					   : NULL;
}

/* A rebatched model holds its weights otherwise than the file does. */
static dck_status inspect_file_read(inspection *x, dck_err *err)
{
	onnx_model *file = x->c.model;

	if (x->c.rebatched.done)
		DCK_TRY(onnx_read_file(x->subject, x->arena, &file, err));
	x->file = file;
	return DCK_OK;
}

static dck_status inspection_write(record_builder *b, inspection *x, const dck_subject *s,
				   dck_err *err)
{
	const bool zoo = strncmp(x->subject, "zoo:", 4) == 0;
	dck_model_config given = s->model;
	const char *next;

	x->arena = x->c.arena;
	DCK_TRY(inspect_file_read(x, err));
	if (zoo)
		given.batch = 0; /* it was made with it */
	DCK_TRY(model_values_read(x->c.model->graph, x->arena, &x->values, err));
	DCK_TRY(
	    shape_resolve_declared(&x->sizes, x->arena, &x->values, zoo ? NULL : x->subject, err));
	DCK_TRY(shape_resolve_read(&x->sizes, &x->values, &given, err));
	next = next_text(x, &s->model);
	outputs_complete(x);
	if ((!next && !x->cut) || !kinds_find(x) || !files_find(x))
		DCK_FAIL(err, E_LIMIT, "reading the model exceeds the memory limit");
	record_set_began(b, os_unix_ns());
	inspect_facts_put(b, x);
	inspect_next_put(b, x, next, s->model.engine);
	sentence_put(b, x);
	cost_metric_put(
	    b, &x->c, "cost/macs", x->c.cost->macs,
	    "convolutions, matrix products, recurrent and attention operators; no bias");
	cost_metric_put(b, &x->c, "cost/flops", x->c.cost->flops, "2 x MACs plus everything else");
	cost_metric_put(b, &x->c, "cost/params", x->c.cost->params,
			"initializers in trained roles, each once");
	cost_metric_put(b, &x->c, "cost/weight_bytes", x->c.cost->weight_bytes,
			"initializers that are used, each once");
	summary_put(b, x);
	inspect_values_put(b, x, "inspect/inputs", "Inputs", x->values.in, x->values.nin);
	inspect_values_put(b, x, "inspect/outputs", "Outputs", x->values.out, x->values.nout);
	inspect_open_put(b, x);
	kinds_put(b, x);
	files_put(b, x);
	properties_put(b, x);
	if (x->c.rebatched.done)
		subject_facts_rebatched(b, &x->c.rebatched);
	if (mem_arena_failed(x->arena))
		DCK_FAIL(err, E_LIMIT, "reading the model exceeds the memory limit");
	return DCK_OK;
}

dck_status dck_inspect(const dck_subject *s, const char *title, dck_record **ret, dck_err *err)
{
	inspection x = {.subject = s->text};
	record_builder *b;
	dck_status status;

	DCK_TRY(model_cost_open(&x.c, s, NULL, err));
	b = record_begin(title);
	status = b ? inspection_write(b, &x, s, err) : ERR_NO_MEMORY(err, "for a record");
	model_cost_close(&x.c);
	return record_finish_if(status, b, ret, err);
}
