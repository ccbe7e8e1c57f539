/* sizes_example.c - which sizes a model leaves open, in one sentence, and sizes that it is likely
 * to run with: by names and types, and of several that are usual the one that contradicts the graph
 * least.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "subject/sizes.h"
#include "base/dtype.h"
#include "base/err.h"
#include "cost/cost_model.h"
#include <string.h>

/* Usual sizes: networks for images and lines of text, for tokens and for sound. The first that fits
 * is taken. */
typedef struct usual {
	int64_t height, width, length;
} usual;
static const usual usuals[] = {{224, 224, 128},	 {32, 320, 512},  {48, 320, 1024},
			       {256, 256, 256},	 {320, 320, 64},  {640, 640, 16000},
			       {512, 512, 2048}, {64, 64, 32},	  {32, 32, 16},
			       {28, 28, 80},	 {299, 299, 3000}};
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

static bool is_one_of(const char *name, const char *const *words)
{
	for (; name && *words; words++)
		if (strcasecmp(name, *words) == 0)
			return true;
	return false;
}

/* The middle of a state that is handed on: layers x batch x features. */
static bool state_batch(const dck_tensor_info *t, size_t axis)
{
	return t->rank == 3 && axis == 1 && t->dim[0] >= 0 && t->dim[2] >= 0 &&
	       !onnx_symbol_named(t->symbol[1]);
}

/* A size for one open dimension. Names count most, then where it stands. */
static int64_t guess(const dck_tensor_info *t, size_t axis, size_t rank, bool batch, const usual *u)
{
	static const char *const heights[] = {"height", "_h", NULL}, *const h[] = {"h", NULL};
	static const char *const widths[] = {"width", "_w", NULL}, *const w[] = {"w", NULL};
	static const char *const sound[] = {"sample", "audio", "wave", "signal", "pcm", NULL};
	static const char *const ones[] = {"batch", "num_images", NULL};
	static const char *const ns[] = {"n", "b", "bs", NULL};
	static const char *const lengths[] = {"seq",   "token", "len", "time",
					      "frame", "text",	"pos", NULL};
	const char *symbol = t->rank > 0 ? t->symbol[axis] : NULL;
	/* Channels last: the last size is small and fixed. */
	const bool last = rank == 4 && t->rank == 4 && t->dim[3] >= 0 && t->dim[3] <= 4;
	const size_t first = rank == 4 && !last ? 2 : 1;

	if (batch || says(symbol, ones) || (axis == 0 && is_one_of(symbol, ns)))
		return 1;
	if (says(symbol, heights) || is_one_of(symbol, h))
		return u->height;
	if (says(symbol, widths) || is_one_of(symbol, w))
		return u->width;
	if (symbol && strcasestr(symbol, "channel"))
		return 3;
	if (says(symbol, sound) || (rank <= 2 && axis + 1 == rank && says(t->name, sound)))
		return u == usuals ? SOUND : u->length;
	if (says(symbol, lengths))
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

/* All sizes with one set of usual ones: a copy of z in which nothing is open. */
static void fill(const subject_sizes *z, subject_sizes *full, const usual *u)
{
	const dck_model_config none = {0};
	int64_t unknown[4];

	*full = *z;
	full->input = mem_arena_array(z->arena, z->n + 1, sizeof *full->input);
	if (!full->input)
		return;
	memcpy(full->input, z->input, z->n * sizeof *full->input);
	for (size_t i = 0; i < z->n; i++) {
		subject_sized *in = &full->input[i];
		const size_t batch = subject_sizes_batch_axis(z, i);

		if (rank_open(in)) {
			in->rank = dtype_is_float(in->info.dtype) ? 4 : 2;
			for (size_t d = 0; d < in->rank; d++)
				unknown[d] = in->rank == 4 && d == 1
						 ? 3
						 : guess(&in->info, d, in->rank, d == 0, u);
			memcpy(in->dim, unknown, in->rank * sizeof *unknown);
			continue;
		}
		for (size_t d = 0; d < in->rank; d++) {
			const char *symbol = in->info.symbol[d];

			if (in->dim[d] >= 0 || (symbol && strpbrk(symbol, "+*")))
				continue; /* it follows from its parts */
			const subject_symbol *s = subject_sizes_symbol(full, symbol);

			in->dim[d] = s ? s->size : guess(&in->info, d, in->rank, d == batch, u);
			if (symbol && !s && full->nsymbols < SIZES_SYMBOLS_MAX)
				full->symbol[full->nsymbols++] =
				    (subject_symbol){symbol, in->dim[d], "an example"};
		}
	}
	(void)subject_sizes_read(full, NULL, &none, NULL); /* what follows from symbols */
	for (size_t i = 0; i < z->n; i++)
		for (size_t d = 0; d < full->input[i].rank; d++)
			if (full->input[i].dim[d] < 0)
				full->input[i].dim[d] =
				    guess(&full->input[i].info, d, full->input[i].rank, false, u);
}

/* Operators whose outputs the graph cannot have with these sizes. */
static size_t contradictions(const onnx_model *m, const subject_sizes *full)
{
	mem_arena *a = mem_arena_new(1 << 18);
	cost_shape *shapes = a ? mem_arena_array(a, full->n + 1, sizeof *shapes) : NULL;
	cost_config config = {.inputs = shapes, .ninputs = full->n};
	cost_result *r = NULL;
	size_t n = SIZE_MAX;

	for (size_t i = 0; shapes && i < full->n; i++)
		shapes[i] = (cost_shape){.name = full->input[i].info.name,
					 .rank = (int)full->input[i].rank,
					 .dims = full->input[i].dim};
	mem_arena_limit(a, ONNX_MEMORY_MAX);
	if (shapes && cost_model(m, &config, a, &r, NULL) == DCK_OK) {
		n = 0;
		for (size_t i = 0; i < r->nops; i++)
			for (size_t k = 0; k < r->ops[i].nout; k++) {
				const val *v = r->ops[i].out[k];
				bool open = v && v->kind == VAL_TENSOR && v->rank < 0;

				for (int d = 0; v && d < v->rank; d++)
					open |= num_why_none(v->dims[d]) != NULL;
				n += open;
			}
	}
	mem_arena_free(a);
	return n;
}

/* The first of the usual sizes that contradicts the graph least. */
static const usual *usual_find(const subject_sizes *z)
{
	mem_arena *a = z->path ? mem_arena_new(0) : NULL;
	const usual *best = usuals;
	size_t least = SIZE_MAX;
	onnx_model *m;

	if (a && onnx_read_file(z->path, a, &m, NULL) == DCK_OK && m->graph->nnodes <= NODES_MAX)
		for (size_t i = 0; i < sizeof usuals / sizeof *usuals && least > 0; i++) {
			subject_sizes full;

			fill(z, &full, &usuals[i]);
			if (!full.input)
				break;
			const size_t n = contradictions(m, &full);

			if (n < least) {
				least = n;
				best = &usuals[i];
			}
		}
	mem_arena_free(a);
	return best;
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

static bool is_open(const subject_sized *in, size_t d)
{
	return !in->shaped && in->dim[d] < 0;
}

/* It has an open dimension that no name means: only --shape can give it. */
static bool needs_shape(const subject_sizes *z, size_t i)
{
	const subject_sized *in = &z->input[i];

	if (rank_open(in))
		return true;
	for (size_t d = 0; d < in->rank; d++)
		if (is_open(in, d) && !in->info.symbol[d] && d != subject_sizes_batch_axis(z, i))
			return true;
	return false;
}

static const char *shape_option(const subject_sizes *z, const subject_sizes *full, size_t i)
{
	const subject_sized *in = &full->input[i];
	const char *n[DCK_RANK_MAX] = {NULL};
	int64_t dim[DCK_RANK_MAX];

	memcpy(dim, in->dim, sizeof dim);
	for (size_t d = 0; z->batch > 0 && d < in->rank; d++)
		if (d == subject_sizes_batch_axis(z, i) || state_batch(&in->info, d)) {
			dim[d] = -1; /* --batch says it */
			n[d] = "N";
		}
	const char *dims = subject_dims_text(z->arena, dim, n, in->rank);
	const char *pair = z->n == 1 ? dims : mem_arena_fmt(z->arena, "%s=%s", in->info.name, dims);

	return mem_arena_fmt(z->arena, "--shape %s",
			     subject_shell_word(z->arena, pair ? pair : ""));
}

/* The same symbol is open in an input before this place, or --shape gives it a size. */
static bool said_before(const subject_sizes *z, size_t input, size_t axis)
{
	const char *symbol = z->input[input].info.symbol[axis];

	for (size_t i = 0; i < z->n; i++)
		for (size_t d = 0; d < z->input[i].rank; d++) {
			const char *other = z->input[i].info.symbol[d];
			const bool before = i < input || (i == input && d < axis);

			if ((before || needs_shape(z, i)) && is_open(&z->input[i], d) && other &&
			    symbol && strcmp(other, symbol) == 0)
				return true;
		}
	return false;
}

/* Its size follows from those of others. */
static bool follows(const subject_sizes *full, const char *symbol)
{
	const subject_symbol *s = subject_sizes_symbol(full, symbol);

	return s && strcmp(s->from, "its parts") == 0;
}

static const char *options_text(const subject_sizes *z, const subject_sizes *full)
{
	const char *text = "";
	bool batch = false;

	for (size_t i = 0; i < z->n; i++)
		for (size_t d = 0; d < z->input[i].rank && !batch; d++)
			if (!needs_shape(z, i) && is_open(&z->input[i], d) &&
			    d == subject_sizes_batch_axis(z, i) && !said_before(z, i, d)) {
				text = mem_arena_fmt(z->arena, " --batch %lld",
						     (long long)full->input[i].dim[d]);
				batch = true;
			}
	for (size_t i = 0; i < z->n; i++)
		for (size_t d = 0; text && d < z->input[i].rank && !needs_shape(z, i); d++) {
			const char *symbol = z->input[i].info.symbol[d];

			if (!is_open(&z->input[i], d) || d == subject_sizes_batch_axis(z, i) ||
			    said_before(z, i, d) || follows(full, symbol))
				continue;
			const char *pair = mem_arena_fmt(z->arena, "%s=%lld", symbol,
							 (long long)full->input[i].dim[d]);
			text = mem_arena_fmt(z->arena, "%s --dim %s", text,
					     pair ? subject_shell_word(z->arena, pair) : "");
		}
	for (size_t i = 0; text && i < z->n; i++)
		if (needs_shape(z, i))
			text = mem_arena_fmt(z->arena, "%s %s", text, shape_option(z, full, i));
	return text ? text + (*text == ' ') : NULL;
}

const char *subject_sizes_example(const subject_sizes *z)
{
	subject_sizes full;

	fill(z, &full, usual_find(z));
	return full.input ? options_text(z, &full) : NULL;
}

/* --- the sentence */

#define LISTED_MAX 6

/* Nobody gave it any size. */
static bool all_open(const subject_sized *in)
{
	bool all = !in->shaped;

	for (size_t d = 0; d < in->rank; d++)
		all &= in->info.dim[d] >= 0 || in->dim[d] < 0;
	return all;
}

/* "batch (input 'x' axis 0)"; where it stands, once for each size. */
static const char *open_list(const subject_sizes *z, size_t *ret_n)
{
	const char *text = "", *last = NULL;
	size_t n = 0;

	for (size_t i = 0; i < z->n && text; i++) {
		const subject_sized *in = &z->input[i];

		if (rank_open(in) && n++ < LISTED_MAX)
			text = mem_arena_fmt(z->arena,
					     "%s%sall of the input '%s', "
					     "even how many dimensions it has",
					     text, n > 1 ? ", " : "", in->info.name);
		for (size_t d = 0; d < in->rank && text; d++) {
			const char *symbol = in->info.symbol[d];
			bool seen = false;

			for (size_t k = 0; k <= i && symbol && !seen; k++)
				for (size_t e = 0; e < (k < i ? z->input[k].rank : d); e++)
					seen |= is_open(&z->input[k], e) &&
						z->input[k].info.symbol[e] &&
						strcmp(z->input[k].info.symbol[e], symbol) == 0;
			if (!is_open(in, d) || seen || n++ >= LISTED_MAX)
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

dck_status subject_sizes_closed(const subject_sizes *z, const char *command, dck_err *err)
{
	size_t n;
	const char *list = open_list(z, &n), *shape = "";
	subject_sizes full;

	if (n == 0)
		return DCK_OK;
	const usual *u = usual_find(z);

	fill(z, &full, u);
	const char *options = full.input ? options_text(z, &full) : NULL;
	DCK_NEED(options, err, "for the model's inputs");
	/* The same in one word. */
	if (z->n == 1 && !needs_shape(z, 0) && n > 1 && all_open(&z->input[0]))
		shape = mem_arena_fmt(z->arena, " (or %s)", shape_option(z, &full, 0));
	/* A command that would be cut is none. */
	if (command &&
	    strlen(list) + strlen(command) + strlen(options) + strlen(shape) < sizeof err->msg - 80)
		DCK_FAIL(err, E_ARG, "the model leaves %zu size%s open: %s; for example: %s %s%s",
			 n, n == 1 ? "" : "s", list, command, options, shape);
	DCK_FAIL(err, E_ARG,
		 "the model leaves %zu size%s open: %s; give them, for example with %s%s", n,
		 n == 1 ? "" : "s", list, options, shape);
}

static dck_status check(const dck_subject *s, const char *command, mem_arena *a, dck_err *err)
{
	const dck_model_config c = s->model;
	model_summary m;
	subject_sizes z;

	/* Who opens the file says what else is wrong with it, or with what is given. */
	if (model_summary_read_file(s->text, a, &m, NULL) != DCK_OK)
		return DCK_OK;
	DCK_TRY(subject_sizes_declared(&z, a, &m.values, m.path, err));
	if (subject_sizes_from_files(&z, &c) ||
	    subject_sizes_read(&z, &m.values, &c, NULL) != DCK_OK)
		return DCK_OK;
	return subject_sizes_closed(&z, command, err);
}

dck_status dck_subject_check(const dck_subject *s, const char *command, dck_err *err)
{
	dck_status status;
	mem_arena *a;

	/* Other engines may need no sizes: they are asked when they open it. */
	if (s->kind != DCK_SUBJECT_MODEL || !s->text || strncmp(s->text, "zoo:", 4) == 0 ||
	    (s->model.engine && strcmp(s->model.engine, "ort") != 0))
		return DCK_OK;
	a = mem_arena_new(0);
	DCK_NEED(a, err, "to look at the model");
	status = check(s, command, a, err);
	mem_arena_free(a);
	return status;
}
