/* sizes_example.c - writes the message that lists the open sizes of a model, and guesses sizes that
 * it probably runs with: by names and types, and of several usual sizes the one with the fewest
 * contradictions in the graph.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/subject/shape_resolve.h"
#include "deepclock/unstable.h"
#include "base/dtype.h"
#include "base/err.h"
#include "base/name_index.h"
#include "model/cost/cost_model.h"
#include "measure/subject/input_fill.h"
#include <string.h>

/* Usual sizes: networks for images and lines of text, for tokens and for sound. The first that fits
 * is taken. */
typedef struct usual_size {
	int64_t height, width, length;
} usual_size;
static const usual_size usuals[] = {
    {224, 224, 128},   {32, 320, 512},	 {48, 320, 1024}, {256, 256, 256}, {320, 320, 64},
    {640, 640, 16000}, {512, 512, 2048}, {64, 64, 32},	  {32, 32, 16},	   {28, 28, 80},
    {299, 299, 3000},  {384, 384, 77},	 {336, 336, 98},  {448, 448, 76},  {518, 518, 96}};
#define SOUND 16000
/* Larger graphs are not followed once for each. */
#define NODES_MAX 20000

static bool says(const char *name, const char *const *words)
{
	for (; name && *words; words++)
		if (strcasestr(name, *words))
			return true;
	return false;
}

static bool example_is_one_of(const char *name, const char *const *words)
{
	for (; name && *words; words++)
		if (strcasecmp(name, *words) == 0)
			return true;
	return false;
}

/* Whether the axis is the middle one of a recurrent state: layers x batch x features. */
static bool state_batch(const dck_tensor_info *t, size_t axis)
{
	return t->rank == 3 && axis == 1 && t->dim[0] >= 0 && t->dim[2] >= 0 &&
	       !onnx_symbol_named(t->symbol[1]);
}

/* The sizes of a decoder whose cache grows by its new tokens, as the graph relates them. NULL: not
 * known, then names decide. */
typedef struct decoder_sizes {
	const char *past, *fresh;
	const char *total, *sum; /* the name of both together, and what it is: "past+seq" */
} decoder_sizes;

/* Parts of a decoder's names. "total_sequence_length" is the past plus the new tokens. */
static bool is_total(const decoder_sizes *k, const char *symbol)
{
	if (!symbol || k->total)
		return symbol && strcmp(symbol, k->total) == 0;
	return strcasestr(symbol, "total") && strcasestr(symbol, "seq");
}

static bool is_past(const decoder_sizes *k, const char *symbol)
{
	if (!symbol || k->past)
		return symbol && strcmp(symbol, k->past) == 0;
	return strcasestr(symbol, "past");
}

static bool is_new(const decoder_sizes *k, const char *symbol)
{
	if (!symbol || k->past)
		return symbol && k->fresh && strcmp(symbol, k->fresh) == 0;
	return strcasestr(symbol, "seq") && !is_past(k, symbol) && !is_total(k, symbol);
}

/* Returns the size of the first symbol of that kind; -1: none. */
static int64_t size_of_kind(const shape_resolve *z, const decoder_sizes *k,
			    bool (*kind)(const decoder_sizes *k, const char *symbol))
{
	for (size_t i = 0; i < z->nsymbols; i++)
		if (kind(k, z->symbol[i].name))
			return z->symbol[i].size;
	return -1;
}

/* The model has a cache, and a size for the past, the new tokens and both together. */
static bool has_total(const shape_resolve *z, const decoder_sizes *k)
{
	bool past = false, total = k->past != NULL;

	for (size_t i = 0; i < z->n; i++)
		for (size_t d = 0; d < z->input[i].rank; d++) {
			past |= is_past(k, z->input[i].info.symbol[d]);
			total |= is_total(k, z->input[i].info.symbol[d]);
		}
	return past && total;
}

/* Guesses the size of an open dimension: by its name first, then by its position. batch: the axis
 * of the batch; DCK_RANK_MAX: none. */
static int64_t guess(const dck_tensor_info *t, size_t axis, size_t rank, bool batch, bool before,
		     const usual_size *u)
{
	static const char *const heights[] = {"height", "_h", NULL}, *const h[] = {"h", NULL};
	static const char *const widths[] = {"width", "_w", NULL}, *const w[] = {"w", NULL};
	static const char *const c[] = {"c", NULL};
	static const char *const sound[] = {"sample", "audio", "wave", "signal", "pcm", NULL};
	static const char *const ones[] = {"batch", "num_images", NULL};
	static const char *const ns[] = {"n", "b", "bs", NULL}, *const ts[] = {"t", "l", "s", NULL};
	static const char *const lengths[] = {"seq",  "token", "len",  "time",	"frame",
					      "text", "pos",   "past", "cache", NULL};
	const char *symbol = t->rank > 0 ? t->symbol[axis] : NULL;
	/* Channels last: the last size is small and fixed. */
	const bool last = rank == 4 && t->rank == 4 && t->dim[3] >= 0 && t->dim[3] <= 4;
	const size_t first = rank == 4 && !last ? 2 : 1;

	if (batch || says(symbol, ones) || (axis == 0 && example_is_one_of(symbol, ns)))
		return 1;
	if (says(symbol, heights) || example_is_one_of(symbol, h))
		return u->height;
	if (says(symbol, widths) || example_is_one_of(symbol, w))
		return u->width;
	if (symbol &&
	    (strcasestr(symbol, "channel") || (rank == 4 && example_is_one_of(symbol, c))))
		return 3;
	if (says(symbol, sound) || (rank <= 2 && axis + 1 == rank && says(t->name, sound)))
		return u == usuals ? SOUND : u->length;
	if (says(symbol, lengths) || (before && example_is_one_of(symbol, ts)))
		return u->length;
	if (axis == 0 && rank >= 2)
		return 1;
	if (rank == 4 && dtype_is_float(t->dtype) && axis >= first && axis < first + 2)
		return axis == first ? u->height : u->width;
	if (rank == 4 && axis == 1)
		return 3;
	if (state_batch(t, axis))
		return 1;
	return u->length;
}

static bool rank_open(const subject_sized *in)
{
	return !in->shaped && in->info.rank < 0 && in->rank == 0;
}

static void symbol_add(shape_resolve *full, const char *symbol, int64_t size, const char *from)
{
	if (symbol && !shape_resolve_symbol(full, symbol) && full->nsymbols < SIZES_SYMBOLS_MAX)
		full->symbol[full->nsymbols++] = (subject_symbol){symbol, size, from};
}

/* Fills the remaining sizes of one input; totals: only sizes that are the sum of others, else all
 * other sizes. decodes: as has_total(). */
static void input_fill_sizes(const shape_resolve *z, const decoder_sizes *k, bool decodes,
			     shape_resolve *full, size_t i, const usual_size *u, bool totals)
{
	subject_sized *in = &full->input[i];
	const size_t batch = shape_resolve_batch_axis(z, i);

	for (size_t d = 0; d < in->rank; d++) {
		const char *symbol = in->info.symbol[d];

		if (in->dim[d] >= 0 || (symbol && strpbrk(symbol, "+*")))
			continue; /* it follows from its parts */
		if (totals != (decodes && is_total(k, symbol)))
			continue;
		const subject_symbol *s = shape_resolve_symbol(full, symbol);
		const int64_t past = size_of_kind(full, k, is_past),
			      fresh = size_of_kind(full, k, is_new),
			      total = size_of_kind(full, k, is_total),
			      rest = total - (fresh >= 0 ? fresh : 1);
		int64_t sum = past >= 0 && fresh >= 0 ? past + fresh : -1;

		if (totals && k->sum)
			(void)shape_resolve_sum(full, k->sum, &sum);
		in->dim[d] = s						  ? s->size
			     : totals && sum >= 0			  ? sum
			     : decodes && is_past(k, symbol) && rest >= 0 ? rest
			     : k->past && is_past(k, symbol)		  ? u->length
			     : decodes && d != batch && is_new(k, symbol)
				 ? 1
				 : guess(&in->info, d, in->rank, d == batch,
					 d < batch && batch < in->rank, u);
		symbol_add(full, symbol, in->dim[d], "an example");
	}
}

/* All sizes with one set of usual ones: a copy of z in which nothing is open. derived: symbols that
 * the graph decides. */
static void usual_sizes_apply(const shape_resolve *z, const shape_resolve *derived,
			      const decoder_sizes *k, shape_resolve *full, const usual_size *u)
{
	const dck_model_config none = {0};
	const bool decodes = has_total(z, k);
	int64_t unknown[4];

	*full = *z;
	full->input = mem_arena_array(z->arena, z->n + 1, sizeof *full->input);
	if (!full->input)
		return;
	memcpy(full->input, z->input, z->n * sizeof *full->input);
	for (size_t i = 0; i < derived->nsymbols; i++)
		symbol_add(full, derived->symbol[i].name, derived->symbol[i].size, "the graph");
	for (size_t i = 0; i < z->n; i++) {
		subject_sized *in = &full->input[i];

		if (!rank_open(in)) {
			input_fill_sizes(z, k, decodes, full, i, u, false);
			continue;
		}
		in->rank = dtype_is_float(in->info.dtype) ? 4 : 2;
		for (size_t d = 0; d < in->rank; d++)
			unknown[d] = in->rank == 4 && d == 1
					 ? 3
					 : guess(&in->info, d, in->rank, d == 0, false, u);
		memcpy(in->dim, unknown, in->rank * sizeof *unknown);
	}
	for (size_t i = 0; i < z->n; i++)
		input_fill_sizes(z, k, decodes, full, i, u, true);
	(void)shape_resolve_read(full, NULL, &none, NULL); /* sizes that follow from symbols */
	for (size_t i = 0; i < z->n; i++)
		for (size_t d = 0; d < full->input[i].rank; d++)
			if (full->input[i].dim[d] < 0)
				full->input[i].dim[d] = guess(&full->input[i].info, d,
							      full->input[i].rank, false, false, u);
}

/* Returns the single value that an input has or will get; false: none. */
static bool input_number(const subject_sized *in, int64_t *ret)
{
	input_fill f;
	bool is = false;

	if (!in->fed || input_fill_parse(in->fed, &f, &is, NULL) != DCK_OK || !is || !f.whole ||
	    f.low != f.high)
		return false;
	*ret = f.low;
	return true;
}

/* Inference with these sizes; dims NULL: all is open. NULL: it failed. */
static const cost_result *inferred(const onnx_model *m, const shape_resolve *z, bool sized,
				   mem_arena *a)
{
	cost_shape *shapes = mem_arena_array(a, z->n + 1, sizeof *shapes);
	cost_content *contents = mem_arena_array(a, z->n + 1, sizeof *contents);
	int64_t *number = mem_arena_array(a, z->n + 1, sizeof *number);
	cost_config config = {.inputs = shapes, .ninputs = sized ? z->n : 0, .contents = contents};
	cost_result *r = NULL;

	for (size_t i = 0; shapes && contents && number && i < z->n; i++) {
		const subject_sized *in = &z->input[i];

		shapes[i] =
		    (cost_shape){.name = in->info.name, .rank = (int)in->rank, .dims = in->dim};
		if (input_number(in, &number[i]))
			contents[config.ncontents++] =
			    (cost_content){.name = in->info.name, .ints = &number[i], .n = 1};
	}
	mem_arena_limit(a, ONNX_MEMORY_MAX);
	return shapes && contents && number && cost_model(m, &config, a, &r, NULL) == DCK_OK ? r
											     : NULL;
}

/* Operators whose outputs the graph cannot have with these sizes. */
static size_t contradictions(const onnx_model *m, const shape_resolve *full)
{
	mem_arena *a = mem_arena_new(1 << 18);
	const cost_result *r = a ? inferred(m, full, true, a) : NULL;
	size_t n = r ? 0 : SIZE_MAX;

	for (size_t i = 0; r && i < r->nops; i++)
		for (size_t k = 0; k < r->ops[i].nout; k++) {
			const val *v = r->ops[i].out[k];
			bool open = v && v->kind == VAL_TENSOR && v->rank < 0;

			for (int d = 0; v && d < v->rank; d++)
				open |= sym_unknown_reason(v->dims[d]) != NULL;
			n += open;
		}
	mem_arena_free(a);
	return n;
}

/* Returns whether a cache has that symbol as its axis: an input of the rank of its output. */
static bool is_of_cache(const shape_resolve *z, const char *symbol, size_t rank, size_t axis)
{
	for (size_t i = 0; rank >= 4 && i < z->n; i++) {
		const dck_tensor_info *in = &z->input[i].info;

		if (in->rank == (int32_t)rank && in->symbol[axis] &&
		    strcmp(in->symbol[axis], symbol) == 0)
			return true;
	}
	return false;
}

/* Reads the sizes of a decoder off an axis of an output that the graph makes of size n: the sum of
 * a cache's axis and something that is not of a cache. */
static void decoder_find(const shape_resolve *z, sym_table *t, sym_int n, const onnx_shape *s,
			 size_t axis, decoder_sizes *k)
{
	sym_term terms[NUM_TERMS_MAX];
	const char *name[2] = {NULL}, *what, *total = s->dims[axis].symbol;
	bool exact = false, cached[2];

	if (k->past || sym_terms(t, n, terms, &exact) != 2 || !exact)
		return;
	for (size_t i = 0; i < 2; i++) {
		if (terms[i].degree > 1 || (terms[i].degree == 1 && terms[i].coef != 1) ||
		    (terms[i].degree == 1 &&
		     (!sym_factor(t, terms[i].of, 0, &name[i], &what) || what)))
			return;
		cached[i] = name[i] && is_of_cache(z, name[i], s->rank, axis);
	}
	if (cached[0] == cached[1])
		return;
	k->past = mem_arena_dup(z->arena, name[cached[0] ? 0 : 1]);
	k->fresh = mem_arena_dup(z->arena, name[cached[0] ? 1 : 0]);
	k->sum = mem_arena_dup(z->arena, sym_text(t, n));
	if (onnx_symbol_named(total) && !strpbrk(total, "+*"))
		k->total = mem_arena_dup(z->arena, total);
}

/* A symbol for a dimension that the graph computes with a known size has that size everywhere: the
 * head size of a cache follows from the attributes of the attention that produces it. */
static void symbols_derive(const onnx_model *m, const shape_resolve *z, shape_resolve *derived,
			   decoder_sizes *k)
{
	mem_arena *a = mem_arena_new(1 << 18);
	const cost_result *r = a ? inferred(m, z, false, a) : NULL;
	size_t j = 0; /* both lists have the same order, and one may lack some */

	for (size_t i = 0; r && i < m->graph->noutputs && j < r->noutputs; i++) {
		const onnx_value *out = &m->graph->outputs[i];
		const onnx_shape *s =
		    out->name && out->type && out->type->tensor ? out->type->tensor->shape : NULL;

		const val *v = r->outputs[j];

		if (!out->name || strcmp(v->name, out->name) != 0)
			continue;
		j++;
		if (!s || v->rank < 0 || (size_t)v->rank != s->rank)
			continue;
		for (size_t d = 0; d < s->rank; d++)
			if (onnx_symbol_named(s->dims[d].symbol) && sym_known(v->dims[d]))
				symbol_add(derived, mem_arena_dup(z->arena, s->dims[d].symbol),
					   v->dims[d].v, "the graph");
			else if (!sym_unknown_reason(v->dims[d]))
				decoder_find(z, r->nums, v->dims[d], s, d, k);
	}
	mem_arena_free(a);
}

/* A single integer that the graph compares with a constant selects something by it. */
static void selectors_feed(shape_resolve *z, mem_arena *a)
{
	model_summary m;

	if (model_summary_read_file(z->path, a, &m, NULL) != DCK_OK)
		return;
	for (size_t i = 0; i < z->n; i++) {
		subject_sized *in = &z->input[i];
		bool one = in->info.rank >= 0;

		for (size_t d = 0; d < in->rank; d++)
			one &= in->dim[d] == 1;
		for (size_t k = 0; k < m.ninputs && one && !in->fed; k++)
			if (m.inputs[k].is_compared && strcmp(m.inputs[k].name, in->info.name) == 0)
				in->fed = mem_arena_fmt(z->arena, "%lld",
							(long long)m.inputs[k].compared);
	}
}

static bool is_open(const subject_sized *in, size_t d)
{
	return !in->shaped && in->dim[d] < 0;
}

/* Returns whether the graph is needed: an input has an open size, or is a single number that may
 * select something. */
static bool graph_helps(const shape_resolve *z)
{
	for (size_t i = 0; i < z->n; i++) {
		const subject_sized *in = &z->input[i];
		bool one = !in->fed;

		if (rank_open(in))
			return true;
		for (size_t d = 0; d < in->rank; d++) {
			if (is_open(in, d))
				return true;
			one &= in->dim[d] == 1;
		}
		if (one)
			return true;
	}
	return false;
}

/* Fills all open dimensions with usual values: the first of the usual sizes that contradicts the
 * graph least. full->input NULL: no memory. */
static void full_make(const shape_resolve *z, shape_resolve *full)
{
	mem_arena *a = z->path && graph_helps(z) ? mem_arena_new(0) : NULL;
	shape_resolve derived = {.arena = z->arena}, own = *z;
	decoder_sizes decoder = {0};
	const usual_size *best = usuals;
	size_t least = SIZE_MAX;
	onnx_model *m;

	own.input = mem_arena_array(z->arena, z->n + 1, sizeof *own.input);
	full->input = NULL;
	if (own.input) {
		memcpy(own.input, z->input, z->n * sizeof *own.input);
		if (a)
			selectors_feed(&own, a);
		if (a && onnx_read_file(z->path, a, &m, NULL) == DCK_OK &&
		    m->graph->nnodes <= NODES_MAX) {
			symbols_derive(m, &own, &derived, &decoder);
			for (size_t i = 0; i < sizeof usuals / sizeof *usuals && least > 0; i++) {
				shape_resolve with;

				usual_sizes_apply(&own, &derived, &decoder, &with, &usuals[i]);
				if (!with.input)
					break;
				const size_t n = contradictions(m, &with);

				if (n < least) {
					least = n;
					best = &usuals[i];
				}
			}
		}
		usual_sizes_apply(&own, &derived, &decoder, full, best);
	}
	mem_arena_free(a);
}

/* --- options */

const char *subject_shell_word(mem_arena *a, const char *text)
{
	const char *out = "'";

	if (*text &&
	    !text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
			       "_-+=.,:/@%")])
		return text;
	for (const char *p = text; *p && out; p++)
		out = *p == '\'' ? mem_arena_fmt(a, "%s'\\''", out)
				 : mem_arena_fmt(a, "%s%c", out, *p);
	return out ? mem_arena_fmt(a, "%s'", out) : NULL;
}

/* It has an open dimension that no name means: only --shape can give it. */
static bool needs_shape(const shape_resolve *z, size_t i)
{
	const subject_sized *in = &z->input[i];

	if (rank_open(in))
		return true;
	for (size_t d = 0; d < in->rank; d++)
		if (is_open(in, d) && !in->info.symbol[d] && d != shape_resolve_batch_axis(z, i))
			return true;
	return false;
}

/* "NAME=1x3x224x224", without the name where the model has one input. */
static const char *shape_pair(const shape_resolve *z, const shape_resolve *full, size_t i)
{
	const subject_sized *in = &full->input[i];
	const char *n[DCK_RANK_MAX] = {NULL};
	int64_t dim[DCK_RANK_MAX];

	memcpy(dim, in->dim, sizeof dim);
	for (size_t d = 0; z->batch > 0 && d < in->rank; d++)
		if (d == shape_resolve_batch_axis(z, i) || state_batch(&in->info, d)) {
			dim[d] = -1; /* set by --batch */
			n[d] = "N";
		}
	const char *dims = subject_dims_text(z->arena, dim, n, in->rank);

	return z->n == 1 ? dims : mem_arena_fmt(z->arena, "%s=%s", in->info.name, dims);
}

/* Starts the list of symbols that need no more options: those of inputs that get --shape. */
static bool said_begin(const shape_resolve *z, name_index *said)
{
	size_t most = 1;

	for (size_t i = 0; i < z->n; i++)
		most += z->input[i].rank;
	if (!name_index_init(said, z->arena, most))
		return false;
	for (size_t i = 0; i < z->n; i++)
		for (size_t d = 0; d < z->input[i].rank && needs_shape(z, i); d++)
			if (is_open(&z->input[i], d) && z->input[i].info.symbol[d])
				name_index_intern(said, z->input[i].info.symbol[d]);
	return true;
}

/* Returns whether the open size's symbol was in the list already, and adds it. */
static bool said_before(const shape_resolve *z, name_index *said, size_t input, size_t axis)
{
	const char *symbol = z->input[input].info.symbol[axis];
	const size_t n = said->n;

	return symbol && name_index_intern(said, symbol) < n;
}

/* Returns whether the size of the symbol follows from other sizes. */
static bool follows(const shape_resolve *full, const char *symbol)
{
	const subject_symbol *s = shape_resolve_symbol(full, symbol);

	return s && strcmp(s->from, "its parts") == 0;
}

static bool item_add(dck_list *list, const char *text)
{
	if (!text || list->n == DCK_LIST_MAX)
		return false;
	list->item[list->n++] = text;
	return true;
}

static bool usual_make(const shape_resolve *z, const shape_resolve *full, subject_usual *ret)
{
	name_index said;
	bool fits = full->input && said_begin(z, &said);

	*ret = (subject_usual){0};
	for (size_t i = 0; i < z->n && fits; i++)
		for (size_t d = 0; d < z->input[i].rank && !ret->batch; d++)
			if (!needs_shape(z, i) && is_open(&z->input[i], d) &&
			    !said_before(z, &said, i, d) && d == shape_resolve_batch_axis(z, i))
				ret->batch = (uint64_t)full->input[i].dim[d];
	fits = fits && said_begin(z, &said);
	for (size_t i = 0; i < z->n && fits; i++) {
		const subject_sized *in = &z->input[i];
		const bool shape = needs_shape(z, i);

		for (size_t d = 0; d < in->rank && fits && !shape; d++) {
			const char *symbol = in->info.symbol[d];

			if (is_open(in, d) && !said_before(z, &said, i, d) &&
			    d != shape_resolve_batch_axis(z, i) && !follows(full, symbol))
				fits = item_add(&ret->dim,
						mem_arena_fmt(z->arena, "%s=%lld", symbol,
							      (long long)full->input[i].dim[d]));
		}
		if (shape)
			fits &= item_add(&ret->shape, shape_pair(z, full, i));
		if (!in->fed && full->input[i].fed)
			fits &=
			    item_add(&ret->input, mem_arena_fmt(z->arena, "%s=%s", in->info.name,
								full->input[i].fed));
	}
	ret->cut = !fits && full->input && !mem_arena_failed(z->arena);
	return fits && !mem_arena_failed(z->arena);
}

bool subject_usual_find(const shape_resolve *z, subject_usual *ret)
{
	shape_resolve full;

	full_make(z, &full);
	return usual_make(z, &full, ret);
}

const char *subject_usual_text(mem_arena *a, const subject_usual *u)
{
	const struct {
		const char *option;
		const dck_list *list;
	} lists[] = {{"dim", &u->dim}, {"shape", &u->shape}, {"input", &u->input}};
	const char *text =
	    u->batch ? mem_arena_fmt(a, "--batch %llu", (unsigned long long)u->batch) : "";

	for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
		for (size_t i = 0; i < lists[k].list->n && text; i++) {
			const char *word = subject_shell_word(a, lists[k].list->item[i]);

			text = word ? mem_arena_fmt(a, "%s%s--%s %s", text, *text ? " " : "",
						    lists[k].option, word)
				    : NULL;
		}
	return text;
}

/* --- the message */

#define LISTED_MAX 6

/* No option gave it any size. */
static bool all_open(const subject_sized *in)
{
	bool all = !in->shaped;

	for (size_t d = 0; d < in->rank; d++)
		all &= in->info.dim[d] >= 0 || in->dim[d] < 0;
	return all;
}

/* Lists each open size once, with its position: "batch (input 'x' axis 0)". */
static const char *open_list(const shape_resolve *z, size_t *ret_n)
{
	const char *text = "", *last = NULL;
	size_t n = 0, most = 1;
	name_index seen;

	for (size_t i = 0; i < z->n; i++)
		most += z->input[i].rank;
	if (!name_index_init(&seen, z->arena, most)) {
		*ret_n = 1; /* the caller needs memory too, and fails */
		return "";
	}

	for (size_t i = 0; i < z->n && text; i++) {
		const subject_sized *in = &z->input[i];

		if (rank_open(in) && n++ < LISTED_MAX)
			text = mem_arena_fmt(z->arena,
					     "%s%sall of the input '%s', "
					     "even how many dimensions it has",
					     text, n > 1 ? ", " : "", in->info.name);
		for (size_t d = 0; d < in->rank && text; d++) {
			const char *symbol = in->info.symbol[d];
			const size_t before = seen.n;

			if (!is_open(in, d) ||
			    (symbol && name_index_intern(&seen, symbol) < before) ||
			    n++ >= LISTED_MAX)
				continue;
			text = last == in->info.name
				   ? mem_arena_fmt(z->arena, "%s, %s (axis %zu)", text,
						   symbol ? symbol : "one without a name", d)
				   : mem_arena_fmt(z->arena, "%s%s%s (input '%s' axis %zu)", text,
						   n > 1 ? ", " : "",
						   symbol ? symbol : "one without a name",
						   in->info.name, d);
			last = in->info.name;
		}
	}
	if (n > LISTED_MAX && text)
		text = mem_arena_fmt(z->arena, "%s and %zu more", text, n - LISTED_MAX);
	*ret_n = n;
	return text ? text : "";
}

dck_status shape_resolve_closed(const shape_resolve *z, const char *command, dck_err *err)
{
	size_t n;
	const char *list = open_list(z, &n), *shape = "", *options;
	shape_resolve full;
	subject_usual u;

	if (n == 0)
		return DCK_OK;
	full_make(z, &full);
	options = usual_make(z, &full, &u) ? subject_usual_text(z->arena, &u) : NULL;
	if (!options && u.cut)
		DCK_FAIL(err, E_ARG,
			 "the model leaves %zu size%s open: %s; to give them takes more than %d "
			 "words of an option: export it with fewer open sizes",
			 n, n == 1 ? "" : "s", list, DCK_LIST_MAX);
	DCK_NEED(options, err, "for the model's inputs");
	/* The same in one word. */
	if (z->n == 1 && !needs_shape(z, 0) && n > 1 && all_open(&z->input[0])) {
		const char *pair = shape_pair(z, &full, 0);

		shape = mem_arena_fmt(z->arena, " (or --shape %s)",
				      subject_shell_word(z->arena, pair ? pair : ""));
		DCK_NEED(shape, err, "for the model's inputs");
	}
	/* A truncated command would be wrong. */
	if (command &&
	    strlen(list) + strlen(command) + strlen(options) + strlen(shape) < sizeof err->msg - 80)
		DCK_FAIL(err, E_ARG, "the model leaves %zu size%s open: %s; for example: %s %s%s",
			 n, n == 1 ? "" : "s", list, command, options, shape);
	DCK_FAIL(err, E_ARG,
		 "the model leaves %zu size%s open: %s; give them, for example with %s%s", n,
		 n == 1 ? "" : "s", list, options, shape);
}

static dck_status example_check(const dck_subject *s, const char *command, mem_arena *a,
				dck_err *err)
{
	const dck_model_config c = s->model;
	model_summary m;
	shape_resolve z;
	subject_usual u;

	/* The code that opens the file reports other errors of the file or the options. */
	if (model_summary_read_file(s->text, a, &m, NULL) != DCK_OK)
		return DCK_OK;
	DCK_TRY(shape_resolve_declared(&z, a, &m.values, m.path, err));
	if (shape_resolve_from_files(&z, &c) ||
	    shape_resolve_read(&z, &m.values, &c, NULL) != DCK_OK || subject_usual_find(&z, &u))
		return DCK_OK;
	return shape_resolve_closed(&z, command, err);
}

dck_status dck_subject_check(const dck_subject *s, const char *command, dck_err *err)
{
	dck_status status;
	mem_arena *a;

	/* Other engines may need no sizes, which is known only when they open the model. */
	if (s->kind != DCK_SUBJECT_MODEL || !s->text || strncmp(s->text, "zoo:", 4) == 0 ||
	    (s->model.engine && strcmp(s->model.engine, "ort") != 0))
		return DCK_OK;
	a = mem_arena_new(0);
	DCK_NEED(a, err, "to read the model");
	status = example_check(s, command, a, err);
	mem_arena_free(a);
	return status;
}
