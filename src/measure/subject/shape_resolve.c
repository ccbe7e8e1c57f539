/* shape_resolve.c - resolves the symbolic shapes of a model's inputs: unification of sizes by name.
 *
 * A dimension has a size or is open (-1), with or without a symbol. Sources apply in the order of
 * shape_resolve.h, and each fills only what is open. A symbol is bound once (symbol_fix()); another
 * size for it is an error that names both sources. symbols_apply() substitutes bound symbols, and
 * evaluates sums and products of them ("past + 1"), before and again after --batch, which may bind
 * one more.
 *
 * - The batch axis of an input is the one named N in --shape, else the symbol named batch, else the
 * second one of what a recurrent layer takes, else the one named N or B behind a first one with
 * another name, else an open first axis (shape_resolve_batch_axis()). - A placeholder of an
 * exporter ("?") that occurs twice is not a symbol, because equal text does not mean equal size
 * there (symbols_clean()). - shape_resolve_items() derives the items of one run from the batch
 * axis.
 *
 * Names and sizes are untrusted: shape_resolve_sum() checks overflow and does not recurse, symbols
 * are at most SIZES_SYMBOLS_MAX; the rest stay open. Memory is of the arena of the caller.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/subject/shape_resolve.h"
#include "deepclock/unstable.h"
#include "base/dtype.h"
#include "base/err.h"
#include "base/units.h"
#include "measure/subject/input_fill.h"
#include "model/cost/cost_model.h"
#include <stdlib.h>
#include <string.h>

const char *subject_dims_text(mem_arena *a, const int64_t *dim, const char *const *symbols,
			      size_t rank)
{
	const char *text = rank == 0 ? "a scalar" : "";

	for (size_t d = 0; text && d < rank; d++) {
		const char *by = d > 0 ? "x" : "";

		text = dim[d] >= 0 ? mem_arena_fmt(a, "%s%s%lld", text, by, (long long)dim[d])
				   : mem_arena_fmt(a, "%s%s%s", text, by,
						   symbols && symbols[d] ? symbols[d] : "?");
	}
	return text ? text : "?";
}

/* --- declared shapes */

static dck_tensor_info subject_declared_info(const model_value *v)
{
	dck_tensor_info t = {.name = v->name, .dtype = {DCK_DTYPE_OTHER, 0, 1}, .rank = -1};

	if (strcmp(v->kind, "tensor") != 0)
		return t;
	t.dtype = dtype_of_onnx(v->dtype);
	if (v->rank < 0 || v->rank > DCK_RANK_MAX)
		return t;
	t.rank = v->rank;
	for (int d = 0; d < v->rank; d++) {
		t.dim[d] = v->dims[d];
		t.symbol[d] = v->symbols[d];
	}
	return t;
}

static size_t symbol_count(const shape_resolve *z, const char *symbol)
{
	size_t n = 0;

	for (size_t i = 0; i < z->n; i++)
		for (int32_t d = 0; d < z->input[i].info.rank; d++) {
			const char *s = z->input[i].info.symbol[d];

			n += s && strcmp(s, symbol) == 0;
		}
	return n;
}

/* Removes placeholders. One that occurs once stays a name, so that --dim can give it. */
static void symbols_clean(shape_resolve *z)
{
	for (size_t i = 0; i < z->n; i++) {
		subject_sized *in = &z->input[i];

		for (int32_t d = 0; d < in->info.rank; d++) {
			const char **s = &in->info.symbol[d];
			char none[16];

			if (!*s || onnx_symbol_named(*s))
				continue;
			if (!**s || strlen(*s) >= sizeof none) {
				*s = NULL;
				continue;
			}
			strcpy(none, *s);
			if (symbol_count(z, none) < 2)
				continue;
			for (size_t k = 0; k < z->n; k++)
				for (int32_t e = 0; e < z->input[k].info.rank; e++) {
					const char **other = &z->input[k].info.symbol[e];

					if (*other && strcmp(*other, none) == 0)
						*other = NULL;
				}
		}
	}
}

static bool sizes_called_batch(const char *symbol)
{
	return symbol && strcasestr(symbol, "batch");
}

/* The usual letters of the batch; of [points, N] and [?, N] N may be anything. */
static bool sizes_letter_of_batch(const char *symbol)
{
	return symbol && (strcasecmp(symbol, "n") == 0 || strcasecmp(symbol, "b") == 0 ||
			  strcasecmp(symbol, "bs") == 0);
}

/* Returns 0 if no symbol is called so, 1 if one of a first axis is, 2 if only one of another axis
 * is. */
static int sizes_batch_place(const shape_resolve *z, bool (*called)(const char *symbol))
{
	int place = 0;

	for (size_t i = 0; i < z->n; i++)
		for (int32_t d = 0; d < z->input[i].info.rank; d++)
			if (called(z->input[i].info.symbol[d])) {
				if (d == 0)
					return 1;
				place = 2;
			}
	return place;
}

/* The names of the sizes do not change from here on, so that each input need not search all. */
static void places_find(shape_resolve *z)
{
	z->called_place = 1 + sizes_batch_place(z, sizes_called_batch);
	z->letter_place = 1 + sizes_batch_place(z, sizes_letter_of_batch);
}

static void input_begin(subject_sized *to, const dck_tensor_info *info)
{
	to->info = *info;
	to->rank = info->rank > 0 ? (size_t)info->rank : 0;
	memcpy(to->dim, info->dim, sizeof to->dim);
}

/* The engine's input i; both lists mostly have the same order. */
static const model_value *declared_find(const model_summary *m, const dck_tensor_info *in,
					size_t at)
{
	if (m && at < m->values.nin && strcmp(m->values.in[at].name, in->name) == 0)
		return &m->values.in[at];
	for (size_t i = 0; m && i < m->values.nin; i++)
		if (strcmp(m->values.in[i].name, in->name) == 0)
			return &m->values.in[i];
	return NULL;
}

dck_status shape_resolve_init(shape_resolve *z, mem_arena *a, const dck_tensor_info *in, size_t n,
			      const model_summary *m, dck_err *err)
{
	*z = (shape_resolve){.arena = a, .n = n, .sure = true, .path = m ? m->path : NULL};
	z->input = mem_arena_array(a, n + 1, sizeof *z->input);
	DCK_NEED(z->input, err, "for the model's inputs");
	for (size_t i = 0; i < n; i++) {
		const model_value *v = declared_find(m, &in[i], i);
		dck_tensor_info info = in[i];

		/* A symbol that the engine bound before compilation is missing in its description;
		 * the file has it. */
		if (v && (v->rank == in[i].rank || in[i].rank < 0))
			info = subject_declared_info(v);
		for (int32_t d = 0; d < info.rank; d++)
			if (info.dim[d] < 0 && !info.symbol[d])
				info.dim[d] = in[i].dim[d];
		info.name = in[i].name;
		info.dtype = in[i].dtype;
		z->sure &= !m || v;
		input_begin(&z->input[i], &info);
		z->input[i].time_major = v && v->time_major && info.rank == v->rank;
	}
	symbols_clean(z);
	places_find(z);
	return DCK_OK;
}

dck_status shape_resolve_declared(shape_resolve *z, mem_arena *a, const model_values *v,
				  const char *path, dck_err *err)
{
	*z = (shape_resolve){.arena = a, .n = v->nin, .sure = true, .path = path};
	z->input = mem_arena_array(a, v->nin + 1, sizeof *z->input);
	DCK_NEED(z->input, err, "for the model's inputs");
	for (size_t i = 0; i < v->nin; i++) {
		const dck_tensor_info info = subject_declared_info(&v->in[i]);

		input_begin(&z->input[i], &info);
		z->input[i].time_major = v->in[i].time_major && info.rank == v->in[i].rank;
	}
	symbols_clean(z);
	places_find(z);
	return DCK_OK;
}

dck_status shape_resolve_types(mem_arena *a, const model_values *v, dck_err *err)
{
	for (size_t i = 0; i < v->nin; i++) {
		const model_value *in = &v->in[i];
		const bool tensor = strcmp(in->kind, "tensor") == 0;

		if (*in->kind && !tensor)
			DCK_FAIL(err, E_UNSUP,
				 "the input '%s' is of the kind %s: "
				 "only models whose inputs are tensors of numbers can be fed here",
				 in->name, in->kind);
		if (tensor && in->dtype && dck_dtype_bytes(dtype_of_onnx(in->dtype)) == 0)
			DCK_FAIL(
			    err, E_UNSUP,
			    "the input '%s' is of type %s, "
			    "of which no values can be made or read here: "
			    "export the model with an input of %s",
			    in->name, cost_dtype_text(in->dtype, a),
			    in->dtype == ONNX_STRING
				? "numbers, and leave text and its tokens outside"
				: "integers of 8 bits or more, or of real numbers of 16 bits or "
				  "more");
	}
	return DCK_OK;
}

/* --- naming inputs and symbols */

static dck_status input_unknown(const shape_resolve *z, const char *option, const char *name,
				dck_err *err)
{
	const char **names = mem_arena_array(z->arena, z->n + 1, sizeof *names);
	const char *nearest;

	DCK_NEED(names, err, "for the model's inputs");
	if (z->n == 0)
		DCK_FAIL(err, E_ARG, "--%s names the input '%s', but the model has no inputs",
			 option, name);
	for (size_t i = 0; i < z->n; i++)
		names[i] = z->input[i].info.name;
	nearest = dck_nearest(name, names, z->n);
	DCK_FAIL(err, E_ARG, "--%s names the input '%s', which the model does not have: %s '%s'%s",
		 option, name, nearest ? "did you mean" : "its first is",
		 nearest ? nearest : names[0], nearest ? "?" : "");
}

const char *subject_pair_rest(const char *text, const char *name)
{
	const size_t n = strlen(name);

	return strncmp(text, name, n) == 0 && text[n] == '=' ? text + n + 1 : NULL;
}

dck_status shape_resolve_pair(shape_resolve *z, const char *option, const char *form,
			      const char *text, size_t *ret_input, const char **ret_rest,
			      dck_err *err)
{
	const char *first = strchr(text, '='), *found = NULL, *name;

	for (size_t i = 0; i < z->n; i++) {
		const char *rest = subject_pair_rest(text, z->input[i].info.name);

		if (rest && *rest && (!found || rest < found)) {
			found = rest;
			*ret_input = i;
		}
	}
	if (found) {
		*ret_rest = found;
		return DCK_OK;
	}
	if (!first && *text && z->n == 1) {
		*ret_input = 0;
		*ret_rest = text;
		return DCK_OK;
	}
	if (!first && *text && z->n > 1)
		DCK_FAIL(err, E_ARG,
			 "--%s is '%s', and the model has %zu inputs: write it as NAME=%s, "
			 "for example %s=%s",
			 option, text, z->n, form, z->input[0].info.name, text);
	if (!first || first == text || !first[1])
		DCK_FAIL(err, E_ARG, "--%s is '%s': write it as NAME=%s", option, text, form);
	name = mem_arena_dup_n(z->arena, text, (size_t)(first - text));
	return name ? input_unknown(z, option, name, err)
		    : ERR_NO_MEMORY(err, "for the model's inputs");
}

const subject_symbol *shape_resolve_symbol(const shape_resolve *z, const char *name)
{
	for (size_t i = 0; name && i < z->nsymbols; i++)
		if (strcmp(z->symbol[i].name, name) == 0)
			return &z->symbol[i];
	return NULL;
}

/* Fixes a symbol, or refuses when it has another size already. */
static dck_status symbol_fix(shape_resolve *z, const char *name, int64_t size, const char *from,
			     dck_err *err)
{
	const subject_symbol *s = shape_resolve_symbol(z, name);

	if (!name)
		return DCK_OK;
	if (s && s->size != size)
		DCK_FAIL(err, E_ARG,
			 "the dimension '%s' would be %lld (%s) and %lld (%s): it has one size",
			 name, (long long)s->size, s->from, (long long)size, from);
	if (!s && z->nsymbols < SIZES_SYMBOLS_MAX)
		z->symbol[z->nsymbols++] = (subject_symbol){name, size, from};
	return DCK_OK;
}

/* --- shapes */

dck_status shape_resolve_give(shape_resolve *z, size_t input, const int64_t *dim, size_t rank,
			      const char *from, dck_err *err)
{
	subject_sized *in = &z->input[input];
	const dck_tensor_info *info = &in->info;
	bool whole = true;

	if (info->rank >= 0 && (size_t)info->rank != rank)
		DCK_FAIL(err, E_ARG,
			 "%s gives the input '%s' %zu dimensions (%s), the model needs %d (%s)",
			 from, info->name, rank, subject_dims_text(z->arena, dim, NULL, rank),
			 (int)info->rank,
			 subject_dims_text(z->arena, info->dim, info->symbol, (size_t)info->rank));
	if (in->shaped && (in->rank != rank || memcmp(in->dim, dim, rank * sizeof *dim) != 0))
		DCK_FAIL(err, E_ARG, "%s gives the input '%s' the shape %s, and %s gives it %s",
			 in->shaped, info->name,
			 subject_dims_text(z->arena, in->dim, NULL, in->rank), from,
			 subject_dims_text(z->arena, dim, NULL, rank));
	for (size_t d = 0; d < rank; d++) {
		if (dim[d] < 0)
			continue;
		if (info->rank >= 0 && info->dim[d] >= 0 && info->dim[d] != dim[d] && !z->any)
			DCK_FAIL(err, E_ARG,
				 "%s gives the input '%s' the shape %s, "
				 "but the model fixes axis %zu at %lld (%s): "
				 "export it with a symbolic dimension there to change it",
				 from, info->name, subject_dims_text(z->arena, dim, NULL, rank), d,
				 (long long)info->dim[d],
				 subject_dims_text(z->arena, info->dim, info->symbol,
						   (size_t)info->rank));
		if (info->rank >= 0)
			DCK_TRY(symbol_fix(z, info->symbol[d], dim[d], from, err));
	}
	for (size_t d = 0; d < rank; d++) {
		whole &= dim[d] >= 0;
		if (dim[d] >= 0 || info->rank < 0)
			in->dim[d] = dim[d];
	}
	in->rank = rank;
	if (whole)
		in->shaped = from;
	return DCK_OK;
}

/* Parses "Nx3x224x?": N is the batch, ? is left to other options; both become -1. */
static dck_status shape_parse(mem_arena *a, const char *text, int64_t *dim, size_t *ret_rank,
			      uint32_t *ret_batch, dck_err *err)
{
	char *numbers = mem_arena_dup(a, text);
	bool open[DCK_RANK_MAX] = {false};
	size_t axis = 0;

	for (char *p = numbers; p && *p; p++) {
		const bool alone = (p == numbers || p[-1] == 'x') && (p[1] == 'x' || !p[1]);

		if ((*p == 'N' || *p == '?') && alone && axis < DCK_RANK_MAX) {
			open[axis] = true;
			if (*p == 'N')
				*ret_batch |= 1u << axis;
			*p = '1';
		}
		axis += *p == 'x';
	}
	DCK_TRY(units_parse_dims(numbers ? numbers : text, dim, DCK_RANK_MAX, ret_rank, err));
	for (size_t d = 0; d < *ret_rank; d++)
		if (open[d])
			dim[d] = -1;
	return DCK_OK;
}

static dck_status shapes_read(shape_resolve *z, const dck_model_config *c, dck_err *err)
{
	for (size_t i = 0; i < c->shape.n; i++) {
		int64_t dim[DCK_RANK_MAX];
		const char *text = NULL;
		size_t rank = 0, input = 0;
		uint32_t batch = 0;

		DCK_TRY(shape_resolve_pair(z, "shape", "1x3x224x224", c->shape.item[i], &input,
					   &text, err));
		DCK_TRY(shape_parse(z->arena, text, dim, &rank, &batch, err));
		DCK_TRY(shape_resolve_give(z, input, dim, rank, "--shape", err));
		z->input[input].batch |= batch;
	}
	return DCK_OK;
}

/* Lists the symbols of all dimensions, with duplicates. */
static size_t symbols_list(const shape_resolve *z, const char **names, size_t most)
{
	size_t n = 0;

	for (size_t i = 0; i < z->n; i++)
		for (int32_t d = 0; d < z->input[i].info.rank && n < most; d++)
			if (z->input[i].info.symbol[d])
				names[n++] = z->input[i].info.symbol[d];
	return n;
}

/* Refuses the name of a dimension that no input has, and suggests the nearest one. */
static dck_status symbol_unknown(const shape_resolve *z, const char *name, dck_err *err)
{
	const char *names[SIZES_SYMBOLS_MAX], *nearest;
	const size_t n = symbols_list(z, names, SIZES_SYMBOLS_MAX);

	if (!onnx_symbol_named(name))
		DCK_FAIL(err, E_ARG,
			 "--dim names '%s', which is not a name: "
			 "exporters write it for any open size; give such sizes with --shape",
			 name);
	if (n == 0)
		DCK_FAIL(err, E_ARG,
			 "--dim names '%s', but no input of the model has a dimension with a name: "
			 "it was exported with fixed sizes, or with open ones that --shape gives",
			 name);
	nearest = dck_nearest(name, names, n);
	DCK_FAIL(err, E_ARG, "--dim names '%s', which no input of the model has: %s '%s'?", name,
		 nearest ? "did you mean" : "is it", nearest ? nearest : names[0]);
}

static bool is_digits(const char *text)
{
	return *text && !text[strspn(text, "0123456789")];
}

dck_status subject_dim_read(mem_arena *a, const char *text, const char **ret_symbol,
			    int64_t *ret_size, dck_err *err)
{
	const char *equals = strrchr(text, '=');
	uint64_t size;

	if (!equals || equals == text)
		DCK_FAIL(err, E_ARG, "--dim is '%s': write it as SYMBOL=N", text);
	const dck_status status = units_parse_count(equals + 1, &size, NULL);
	if (status != DCK_OK || size > INT64_MAX)
		DCK_FAIL(err, E_ARG, "--dim is '%s': %s", text,
			 status == DCK_OK	 ? "the size is too large"
			 : equals[1] == '-'	 ? "the size must not be negative"
			 : is_digits(equals + 1) ? "the size is too large"
						 : "the size must be a whole number");
	*ret_symbol = mem_arena_dup_n(a, text, (size_t)(equals - text));
	DCK_NEED(*ret_symbol, err, "for the model's inputs");
	*ret_size = (int64_t)size;
	return DCK_OK;
}

static dck_status dims_read(shape_resolve *z, const dck_model_config *c, dck_err *err)
{
	for (size_t i = 0; i < c->dim.n; i++) {
		const char *name = NULL;
		int64_t size = 0;

		DCK_TRY(subject_dim_read(z->arena, c->dim.item[i], &name, &size, err));
		if (z->sure && symbol_count(z, name) == 0)
			return symbol_unknown(z, name, err);
		DCK_TRY(symbol_fix(z, name, size, "--dim", err));
	}
	return DCK_OK;
}

/* --- derived sizes: "past + 1" */

static bool operand(const shape_resolve *z, const char **at, int64_t *ret)
{
	char name[128];
	size_t n;
	char *end;

	*at += strspn(*at, " ");
	n = strcspn(*at, " +*-");
	if (n == 0 || n >= sizeof name)
		return false;
	memcpy(name, *at, n);
	name[n] = '\0';
	*at += n;
	*ret = strtoll(name, &end, 10);
	if (!*end)
		return true;
	const subject_symbol *s = shape_resolve_symbol(z, name);
	if (s)
		*ret = s->size;
	return s != NULL;
}

bool shape_resolve_sum(const shape_resolve *z, const char *text, int64_t *ret)
{
	int64_t sum = 0, product = 0, factor;
	char sign = '+';

	if (!strpbrk(text, "+*-") || !operand(z, &text, &product))
		return false;
	for (;;) {
		text += strspn(text, " ");
		const char c = *text;

		if (c == '*') {
			text++;
			if (!operand(z, &text, &factor) ||
			    __builtin_mul_overflow(product, factor, &product))
				return false;
			continue;
		}
		if (sign == '+' ? __builtin_add_overflow(sum, product, &sum)
				: __builtin_sub_overflow(sum, product, &sum))
			return false;
		if (!c)
			break;
		if (c != '+' && c != '-')
			return false;
		sign = c;
		text++;
		if (!operand(z, &text, &product))
			return false;
	}
	*ret = sum;
	return sum >= 0;
}

static void symbols_apply(shape_resolve *z)
{
	for (size_t i = 0; i < z->n; i++) {
		subject_sized *in = &z->input[i];

		for (size_t d = 0; d < in->rank; d++) {
			const char *name = in->dim[d] < 0 ? in->info.symbol[d] : NULL;
			const subject_symbol *s = shape_resolve_symbol(z, name);

			if (s)
				in->dim[d] = s->size;
			else if (name && shape_resolve_sum(z, name, &in->dim[d]))
				(void)symbol_fix(z, name, in->dim[d], "its parts", NULL);
		}
	}
}

/* --- the batch */

/* Returns the axis of [T, N, C] with the letter of the batch, if no first axis of the model has it;
 * DCK_RANK_MAX: none. */
static size_t sizes_letter_axis(const shape_resolve *z, const dck_tensor_info *t)
{
	if (t->rank < 3 || (t->dim[0] < 0 && !t->symbol[0]) ||
	    (z->letter_place ? z->letter_place - 1 : sizes_batch_place(z, sizes_letter_of_batch)) !=
		2)
		return DCK_RANK_MAX;
	return sizes_letter_of_batch(t->symbol[1]) ? 1 : DCK_RANK_MAX;
}

size_t shape_resolve_batch_axis(const shape_resolve *z, size_t input)
{
	const subject_sized *in = &z->input[input];
	const dck_tensor_info *t = &in->info;
	const int place =
	    z->called_place ? z->called_place - 1 : sizes_batch_place(z, sizes_called_batch);
	size_t letter;

	if (in->batch)
		return (size_t)__builtin_ctz(in->batch);
	if (t->rank < 0)
		return in->rank > 0 ? 0 : DCK_RANK_MAX;
	for (int32_t d = 0; place == 2 && d < t->rank; d++)
		if (sizes_called_batch(t->symbol[d]))
			return (size_t)d;
	if (place == 0 && in->time_major)
		return t->dim[1] < 0 ? 1 : DCK_RANK_MAX;
	if (place == 0 && (letter = sizes_letter_axis(z, t)) != DCK_RANK_MAX)
		return letter;
	if (place == 2 || t->rank == 0 || t->dim[0] >= 0)
		return DCK_RANK_MAX;
	return place == 0 || !t->symbol[0] || sizes_called_batch(t->symbol[0]) ? 0 : DCK_RANK_MAX;
}

/* Returns the batch axis of an input of fixed shape. */
static size_t sizes_fixed_axis(const subject_sized *in)
{
	return in->time_major && in->rank == 3 ? 1 : 0;
}

/* Returns the input of fixed shape that has the batch: what a recurrent layer takes, else the one
 * whose first axis equals the first axis of the first output, because a state that is passed from
 * run to run has other first axes. */
static const subject_sized *batch_input(const shape_resolve *z, const model_values *v)
{
	for (size_t i = 0; i < z->n; i++)
		if (sizes_fixed_axis(&z->input[i]) > 0)
			return &z->input[i];
	for (size_t least = 2; least > 0; least--) {
		for (size_t k = 0; v && k < v->nout; k++) {
			if (v->out[k].rank < 1 || v->out[k].dims[0] < 0)
				continue;
			for (size_t i = 0; i < z->n; i++)
				if (z->input[i].rank >= least &&
				    z->input[i].dim[0] == v->out[k].dims[0])
					return &z->input[i];
			break;
		}
		for (size_t i = 0; i < z->n; i++)
			if (z->input[i].rank >= least)
				return &z->input[i];
	}
	return NULL;
}

static dck_status batch_conflict(const shape_resolve *z, const subject_sized *in, size_t axis,
				 uint64_t batch, dck_err *err)
{
	const subject_symbol *s = shape_resolve_symbol(z, in->info.symbol[axis]);
	const char *from = in->shaped ? in->shaped : s ? s->from : NULL;

	if (from && (in->info.rank < 0 || in->info.dim[axis] < 0))
		DCK_FAIL(err, E_ARG,
			 "--batch is %llu, but %s makes axis %zu of the input '%s' %lld: "
			 "give one of them",
			 (unsigned long long)batch, from, axis, in->info.name,
			 (long long)in->dim[axis]);
	DCK_FAIL(err, E_ARG,
		 "--batch is %llu, but the model fixes axis %zu of the input '%s' at %lld: "
		 "export it with a symbolic batch dimension (torch.onnx.export: "
		 "dynamic_axes) to change it",
		 (unsigned long long)batch, axis, in->info.name, (long long)in->dim[axis]);
}

/* Applies --batch. Where no input leaves its batch open, the model's batch must equal it, unless
 * it is optional. */
static dck_status sizes_batch_give(shape_resolve *z, const model_values *v,
				   const dck_model_config *c, dck_err *err)
{
	const subject_sized *other = NULL;
	size_t other_axis = 0;
	bool given = false, open = false;

	for (size_t i = 0; c->batch > 0 && i < z->n; i++) {
		const size_t axis = shape_resolve_batch_axis(z, i);
		subject_sized *in = &z->input[i];

		if (axis >= in->rank)
			continue;
		open = true;
		for (size_t d = axis + 1; d < in->rank; d++)
			if (in->batch >> d & 1 && in->dim[d] < 0)
				in->dim[d] = (int64_t)c->batch;
		if (in->dim[axis] < 0) {
			const subject_symbol *s = shape_resolve_symbol(z, in->info.symbol[axis]);

			in->dim[axis] = s ? s->size : (int64_t)c->batch;
			if (!s)
				DCK_TRY(symbol_fix(z, in->info.symbol[axis], (int64_t)c->batch,
						   "--batch", err));
		}
		given |= in->dim[axis] == (int64_t)c->batch;
		if (!other && in->dim[axis] != (int64_t)c->batch) {
			other = in;
			other_axis = axis;
		}
	}
	if (c->batch_optional)
		return DCK_OK;
	if (c->batch > 0 && !open && z->n > 0) {
		other = batch_input(z, v);
		if (!other)
			DCK_FAIL(err, E_ARG,
				 "--batch is %llu, but no input of the model has a first axis "
				 "that could be the batch",
				 (unsigned long long)c->batch);
		other_axis = sizes_fixed_axis(other);
		given = other->dim[other_axis] == (int64_t)c->batch;
	}
	if (c->batch > 0 && !given && other)
		return batch_conflict(z, other, other_axis, c->batch, err);
	return DCK_OK;
}

bool shape_resolve_from_files(shape_resolve *z, const dck_model_config *c)
{
	for (size_t i = 0; i < c->input.n; i++) {
		const char *rest = NULL;
		input_fill fill;
		bool is_fill = false;
		size_t input;

		if (shape_resolve_pair(z, "input", "", c->input.item[i], &input, &rest, NULL) !=
			DCK_OK ||
		    input_fill_parse(rest, &fill, &is_fill, NULL) != DCK_OK || !is_fill)
			return true;
	}
	return false;
}

/* --- items */

static bool output_has(const model_values *v, const char *symbol)
{
	for (size_t i = 0; v && symbol && i < v->nout; i++)
		for (int d = 0; d < v->out[i].rank; d++)
			if (v->out[i].symbols[d] && strcmp(v->out[i].symbols[d], symbol) == 0)
				return true;
	return false;
}

/* Returns the input that has the batch axis; shared: one whose symbol the outputs have too. */
static const subject_sized *items_input(const shape_resolve *z, const model_values *v, bool shared)
{
	for (size_t i = 0; i < z->n; i++) {
		const subject_sized *in = &z->input[i];
		const size_t axis = shape_resolve_batch_axis(z, i);

		if (in->info.rank < 0 || axis >= in->rank)
			continue;
		if (shared ? output_has(v, in->info.symbol[axis]) : in->rank >= 2)
			return in;
	}
	return NULL;
}

/* Refuses a batch of 0 items: there would be nothing to run or to count. */
static dck_status sizes_batch_check(const shape_resolve *z, const model_values *v, dck_err *err)
{
	const subject_sized *in = items_input(z, v, true);
	size_t axis;

	if (!in)
		in = items_input(z, v, false);
	if (!in)
		return DCK_OK;
	axis = shape_resolve_batch_axis(z, (size_t)(in - z->input));
	if (in->dim[axis] == 0)
		DCK_FAIL(err, E_ARG, "axis %zu of the input '%s', the batch, is 0: give 1 or more",
			 axis, in->info.name);
	return DCK_OK;
}

/* Marks the inputs that have values. Errors in --input are reported where it is read. */
static void inputs_mark(shape_resolve *z, const dck_model_config *c)
{
	for (size_t i = 0; i < c->input.n; i++) {
		const char *rest = NULL;
		size_t input = 0;

		if (shape_resolve_pair(z, "input", "", c->input.item[i], &input, &rest, NULL) ==
		    DCK_OK)
			z->input[input].fed = rest;
	}
}

dck_status shape_resolve_read(shape_resolve *z, const model_values *v, const dck_model_config *c,
			      dck_err *err)
{
	z->batch = c->batch;
	inputs_mark(z, c);
	DCK_TRY(shapes_read(z, c, err));
	DCK_TRY(dims_read(z, c, err));
	symbols_apply(z);
	DCK_TRY(sizes_batch_give(z, v, c, err));
	symbols_apply(z);
	DCK_TRY(sizes_batch_check(z, v, err));
	DCK_NEED(!mem_arena_failed(z->arena), err, "for the model's inputs");
	return DCK_OK;
}

uint64_t shape_resolve_items(const shape_resolve *z, const model_values *v,
			     const dck_model_config *c, const char **ret_how)
{
	const subject_sized *in = items_input(z, v, true);
	const bool shared = in != NULL;

	if (c->batch > 0 && !c->batch_optional && z->n > 0) {
		*ret_how = "from --batch";
		return c->batch;
	}
	if (!in)
		in = items_input(z, v, false);
	if (in) {
		const size_t axis = shape_resolve_batch_axis(z, (size_t)(in - z->input));
		const char *symbol = in->info.symbol[axis];

		*ret_how =
		    mem_arena_fmt(z->arena, "%s%s%saxis %zu of '%s', which the model leaves open%s",
				  symbol ? "'" : "", symbol ? symbol : "", symbol ? "': " : "",
				  axis, in->info.name, shared ? ", there and in its outputs" : "");
		return (uint64_t)in->dim[axis];
	}
	in = batch_input(z, v);
	if (in && in->rank >= 2) {
		const size_t axis = sizes_fixed_axis(in);

		*ret_how = mem_arena_fmt(z->arena, "axis %zu of '%s'%s", axis, in->info.name,
					 axis > 0	  ? ", which a recurrent layer takes"
					 : in == z->input ? ", the first input"
							  : "");
		return (uint64_t)in->dim[axis];
	}
	*ret_how = "one a run: no input has a batch axis";
	return 1;
}
