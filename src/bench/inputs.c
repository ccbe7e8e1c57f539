/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/inputs.h"
#include "base/err.h"
#include "base/units.h"
#include "bench/npy.h"
#include "bench/random.h"
#include "os/os.h"
#include <stdio.h>
#include <string.h>

#define SYMBOLS_MAX 64

typedef struct sized {
	const char *name;
	int64_t size;
	const char *from; /* who fixed it, for sentences */
} sized;

typedef struct input {
	const dck_tensor_info *info;
	const model_input *range; /* NULL: nothing known */
	const char *file;	  /* of --input; NULL: random */
	npy_array array;
	int64_t dim[DCK_RANK_MAX]; /* -1: still open */
	size_t rank;
	const char *shaped; /* who made rank and dims definite: --shape or a file; NULL: nobody */
	const char *text;
} input;

struct bench_inputs {
	mem_arena *arena;
	input *input; /* [n] */
	size_t n, pool;
	uint64_t limit;	    /* bytes that all of it may take */
	dck_tensor *tensor; /* [pool * n] */
	void *pages;
	size_t pages_bytes;
	uint64_t items;
	const char *items_how;
	sized symbol[SYMBOLS_MAX];
	size_t nsymbols;
};

static dck_status no_memory(dck_err *err)
{
	DCK_FAIL(err, E_NOMEM, "no memory for the model's inputs");
}

/* --- naming inputs and symbols */

static dck_status input_unknown(const bench_inputs *b, const char *option, const char *name,
				dck_err *err)
{
	const char **names = mem_arena_array(b->arena, b->n + 1, sizeof *names);
	const char *nearest;

	if (!names)
		return no_memory(err);
	if (b->n == 0)
		DCK_FAIL(err, E_ARG, "--%s names the input '%s', but the model has no inputs",
			 option, name);
	for (size_t i = 0; i < b->n; i++)
		names[i] = b->input[i].info->name;
	nearest = dck_nearest(name, names, b->n);
	DCK_FAIL(err, E_ARG, "--%s names the input '%s', which the model does not have: %s '%s'%s",
		 option, name, nearest ? "did you mean" : "its first is",
		 nearest ? nearest : names[0], nearest ? "?" : "");
}

/* "NAME=REST": *ret_rest points into text. Names and files may hold '=' themselves: the first that
 * ends an input's name counts. */
static dck_status pair_cut(bench_inputs *b, const char *option, const char *text, input **ret_input,
			   const char **ret_rest, dck_err *err)
{
	const char *first = strchr(text, '='), *name;

	for (const char *equals = first; equals && equals[1]; equals = strchr(equals + 1, '=')) {
		for (size_t i = 0; i < b->n; i++) {
			const char *known = b->input[i].info->name;

			if (strlen(known) == (size_t)(equals - text) &&
			    strncmp(known, text, strlen(known)) == 0) {
				*ret_input = &b->input[i];
				*ret_rest = equals + 1;
				return DCK_OK;
			}
		}
	}
	if (!first || first == text || !first[1])
		DCK_FAIL(err, E_ARG, "--%s is '%s': write it as NAME=%s", option, text,
			 strcmp(option, "shape") == 0 ? "1x3x224x224" : "FILE.npy");
	name = mem_arena_dup_n(b->arena, text, (size_t)(first - text));
	return name ? input_unknown(b, option, name, err) : no_memory(err);
}

static sized *symbol_find(bench_inputs *b, const char *name)
{
	for (size_t i = 0; name && i < b->nsymbols; i++)
		if (strcmp(b->symbol[i].name, name) == 0)
			return &b->symbol[i];
	return NULL;
}

/* Fixes a symbol, or refuses when it has another size already. */
static dck_status symbol_fix(bench_inputs *b, const char *name, int64_t size, const char *from,
			     dck_err *err)
{
	sized *s = symbol_find(b, name);

	if (!name)
		return DCK_OK;
	if (s && s->size != size)
		DCK_FAIL(err, E_ARG,
			 "the dimension '%s' would be %lld (%s) and %lld (%s): it has one size",
			 name, (long long)s->size, s->from, (long long)size, from);
	if (!s && b->nsymbols < SYMBOLS_MAX)
		b->symbol[b->nsymbols++] = (sized){name, size, from};
	return DCK_OK;
}

/* --- shapes */

static const char *dims_text(mem_arena *a, const int64_t *dim, const char *const *symbols,
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

/* A whole shape from --shape or a file must agree with what the model fixes. */
static dck_status shape_give(bench_inputs *b, input *in, const int64_t *dim, size_t rank,
			     const char *from, dck_err *err)
{
	const dck_tensor_info *info = in->info;

	if (info->rank >= 0 && (size_t)info->rank != rank)
		DCK_FAIL(err, E_ARG,
			 "%s gives the input '%s' %zu dimensions (%s), the model wants %d (%s)",
			 from, info->name, rank, dims_text(b->arena, dim, NULL, rank),
			 (int)info->rank,
			 dims_text(b->arena, info->dim, info->symbol, (size_t)info->rank));
	if (in->shaped && (in->rank != rank || memcmp(in->dim, dim, rank * sizeof *dim) != 0))
		DCK_FAIL(err, E_ARG, "%s gives the input '%s' the shape %s, and %s gives it %s",
			 in->shaped, info->name, dims_text(b->arena, in->dim, NULL, in->rank), from,
			 dims_text(b->arena, dim, NULL, rank));
	for (size_t d = 0; d < rank; d++) {
		if (info->rank >= 0 && info->dim[d] >= 0 && info->dim[d] != dim[d])
			DCK_FAIL(err, E_ARG,
				 "%s gives the input '%s' the shape %s, but the model fixes axis "
				 "%zu at %lld "
				 "(%s): export it with a symbolic dimension there to change it",
				 from, info->name, dims_text(b->arena, dim, NULL, rank), d,
				 (long long)info->dim[d],
				 dims_text(b->arena, info->dim, info->symbol, (size_t)info->rank));
		if (info->rank >= 0)
			DCK_TRY(symbol_fix(b, info->symbol[d], dim[d], from, err));
	}
	memcpy(in->dim, dim, rank * sizeof *dim);
	in->rank = rank;
	in->shaped = from;
	return DCK_OK;
}

static bool dtype_equal(dck_dtype a, dck_dtype b)
{
	return a.code == b.code && a.bits == b.bits;
}

/* NumPy has no bfloat16 and no numbers of less than a byte, and text is not read. */
static dck_status file_possible(const input *in, dck_err *err)
{
	const dck_dtype t = in->info->dtype;

	if (t.code == DCK_DTYPE_BFLOAT)
		DCK_FAIL(err, E_ARG,
			 "the input '%s' is of type %s, which NumPy cannot save: leave --input out "
			 "for random values",
			 in->info->name, dck_dtype_text(t));
	if (dck_dtype_bytes(t) == 0)
		DCK_FAIL(err, E_UNSUP,
			 "the input '%s' is not of plain numbers, which are all that --input reads",
			 in->info->name);
	return DCK_OK;
}

static dck_status files_read(bench_inputs *b, const dck_model_config *c, dck_err *err)
{
	for (size_t i = 0; i < c->input.n; i++) {
		const char *file = NULL;
		input *in = NULL;

		DCK_TRY(pair_cut(b, "input", c->input.item[i], &in, &file, err));
		if (in->file)
			DCK_FAIL(err, E_ARG, "--input gives the input '%s' two files",
				 in->info->name);
		DCK_TRY(file_possible(in, err));
		DCK_TRY(npy_read(file, (size_t)b->limit, &in->array, err));
		in->file = file;
		if (!dtype_equal(in->array.dtype, in->info->dtype))
			DCK_FAIL(err, E_ARG,
				 "'%s' holds %s, the input '%s' wants %s: save it so, with "
				 "array.astype('%s')",
				 file, dck_dtype_text(in->array.dtype), in->info->name,
				 dck_dtype_text(in->info->dtype), dck_dtype_text(in->info->dtype));
		DCK_TRY(shape_give(b, in, in->array.dim, in->array.rank,
				   mem_arena_fmt(b->arena, "'%s'", file), err));
	}
	return DCK_OK;
}

static dck_status shapes_read(bench_inputs *b, const dck_model_config *c, dck_err *err)
{
	for (size_t i = 0; i < c->shape.n; i++) {
		int64_t dim[DCK_RANK_MAX];
		const char *text = NULL;
		input *in = NULL;
		size_t rank = 0;

		DCK_TRY(pair_cut(b, "shape", c->shape.item[i], &in, &text, err));
		DCK_TRY(units_parse_dims(text, dim, DCK_RANK_MAX, &rank, err));
		DCK_TRY(shape_give(b, in, dim, rank, "--shape", err));
	}
	return DCK_OK;
}

/* True when some input has that symbol. The nearest one that there is, for a sentence. */
static bool symbol_known(const bench_inputs *b, const char *name, const char **ret_nearest)
{
	const char *names[SYMBOLS_MAX];
	size_t n = 0;

	for (size_t i = 0; i < b->n; i++)
		for (int32_t d = 0; d < b->input[i].info->rank; d++) {
			const char *symbol = b->input[i].info->symbol[d];

			if (symbol && strcmp(symbol, name) == 0)
				return true;
			if (symbol && n < SYMBOLS_MAX)
				names[n++] = symbol;
		}
	*ret_nearest = dck_nearest(name, names, n);
	return false;
}

/* A symbol that the engine was told before compilation may be gone from its description: that the
 * model never had it cannot be told then, unless it was never there to be fixed. */
static dck_status dims_read(bench_inputs *b, const dck_model_config *c, dck_err *err)
{
	for (size_t i = 0; i < c->dim.n; i++) {
		const char *text = c->dim.item[i], *equals = strchr(text, '='), *nearest = NULL,
			   *name;
		uint64_t size;

		if (!equals || equals == text)
			DCK_FAIL(err, E_ARG, "--dim is '%s': write it as SYMBOL=N", text);
		if (units_parse_count(equals + 1, &size, NULL) != DCK_OK || size > INT64_MAX)
			DCK_FAIL(err, E_ARG, "--dim is '%s': the size must be a whole number",
				 text);
		name = mem_arena_dup_n(b->arena, text, (size_t)(equals - text));
		if (!name)
			return no_memory(err);
		if (!symbol_known(b, name, &nearest) && nearest)
			DCK_FAIL(
			    err, E_ARG,
			    "--dim names '%s', which no input of the model has: did you mean '%s'?",
			    name, nearest);
		DCK_TRY(symbol_fix(b, name, (int64_t)size, "--dim", err));
	}
	return DCK_OK;
}

static dck_status batch_conflict(bench_inputs *b, const input *in, uint64_t batch, dck_err *err)
{
	const sized *s = symbol_find(b, in->info->symbol[0]);
	const char *from = in->shaped ? in->shaped : s ? s->from : NULL;

	if (from && (in->info->rank < 0 || in->info->dim[0] < 0))
		DCK_FAIL(err, E_ARG,
			 "--batch is %llu, but %s makes axis 0 of the input '%s' %lld: give one of "
			 "them",
			 (unsigned long long)batch, from, in->info->name, (long long)in->dim[0]);
	DCK_FAIL(err, E_ARG,
		 "--batch is %llu, but the model fixes axis 0 of the input '%s' at %lld: export it "
		 "with a symbolic batch dimension (torch.onnx.export: dynamic_axes) to change it",
		 (unsigned long long)batch, in->info->name, (long long)in->dim[0]);
}

/* --batch gives axis 0 of every input that leaves it open. Where no input leaves it open, the
 * model's own batch must be the same. */
static dck_status batch_give(bench_inputs *b, const dck_model_config *c, dck_err *err)
{
	const input *fixed = NULL;
	bool given = false;

	for (size_t i = 0; c->batch > 0 && i < b->n; i++) {
		input *in = &b->input[i];

		if (in->rank == 0)
			continue;
		if (in->dim[0] < 0) {
			const sized *s = symbol_find(b, in->info->symbol[0]);

			in->dim[0] = s ? s->size : (int64_t)c->batch;
			if (!s)
				DCK_TRY(symbol_fix(b, in->info->symbol[0], (int64_t)c->batch,
						   "--batch", err));
		}
		given |= in->dim[0] == (int64_t)c->batch;
		if (!fixed && in->dim[0] != (int64_t)c->batch)
			fixed = in;
	}
	if (c->batch > 0 && !given && fixed)
		return batch_conflict(b, fixed, c->batch, err);
	return DCK_OK;
}

static dck_status open_dimension(const bench_inputs *b, const input *in, size_t axis, dck_err *err)
{
	const char *symbol = in->info->symbol[axis];
	const char *batch = axis == 0 ? "--batch N, " : "";
	int64_t example[DCK_RANK_MAX];

	for (size_t d = 0; d < in->rank; d++)
		example[d] = in->dim[d] >= 0 ? in->dim[d] : d == 0 ? 1 : 8;
	DCK_FAIL(
	    err, E_ARG,
	    "the input '%s' has the open dimension %s%s%s at axis %zu: give %s%s%s%s--shape %s=%s",
	    in->info->name, symbol ? "'" : "", symbol ? symbol : "without a name",
	    symbol ? "'" : "", axis, batch, symbol ? "--dim " : "", symbol ? symbol : "",
	    symbol	? "=SIZE or "
	    : axis == 0 ? "or "
			: "",
	    in->info->name, dims_text(b->arena, example, NULL, in->rank));
}

static dck_status shapes_resolve(bench_inputs *b, const dck_model_config *c, dck_err *err)
{
	for (size_t i = 0; i < b->n; i++) {
		input *in = &b->input[i];

		if (!in->shaped && in->info->rank < 0)
			DCK_FAIL(err, E_ARG,
				 "the model does not say how many dimensions the input '%s' has: "
				 "give --shape "
				 "%s=AxB...",
				 in->info->name, in->info->name);
		for (size_t d = 0; !in->shaped && d < in->rank; d++) {
			const sized *s = symbol_find(b, in->info->symbol[d]);

			if (in->dim[d] < 0 && s)
				in->dim[d] = s->size;
		}
	}
	DCK_TRY(batch_give(b, c, err));
	for (size_t i = 0; i < b->n; i++) {
		input *in = &b->input[i];

		for (size_t d = 0; d < in->rank; d++) {
			const sized *s =
			    in->dim[d] < 0 ? symbol_find(b, in->info->symbol[d]) : NULL;

			if (s)
				in->dim[d] = s->size;
			if (in->dim[d] < 0)
				return open_dimension(b, in, d, err);
		}
	}
	return DCK_OK;
}

/* --- values */

static dck_status input_bytes(const input *in, size_t *ret, dck_err *err)
{
	size_t bytes = dck_dtype_bytes(in->info->dtype);

	if (bytes == 0)
		DCK_FAIL(err, E_UNSUP,
			 "the input '%s' is no tensor of numbers (it is text, a sequence, or has "
			 "elements "
			 "of less than a byte): such inputs cannot be made here",
			 in->info->name);
	for (size_t d = 0; d < in->rank; d++)
		if (__builtin_mul_overflow(bytes, in->dim[d], &bytes))
			DCK_FAIL(err, E_LIMIT, "the input '%s' has more bytes than can be counted",
				 in->info->name);
	*ret = bytes;
	return DCK_OK;
}

/* The whole numbers that a type holds, as far as an int64 goes. */
static void type_range(dck_dtype t, int64_t *ret_low, int64_t *ret_high)
{
	const bool negative = t.code == DCK_DTYPE_INT;
	const unsigned bits = negative || t.bits == 64 ? t.bits - 1u : t.bits;

	*ret_high = (int64_t)(UINT64_MAX >> (64 - bits));
	*ret_low = negative ? -*ret_high - 1 : 0;
}

/* What random integers of an input may be. Where the graph says nothing, 0 and 1 are the only
 * values that are safe as an index, a mask and a class alike; bytes are data, of any value. The
 * graph may allow more than the type holds: bytes that are cast and then index a long table. */
static void integers_range(const input *in, int64_t *ret_low, int64_t *ret_high,
			   const char **ret_why)
{
	const model_input *r = in->range;
	int64_t low, high;

	type_range(in->info->dtype, &low, &high);
	if (r && r->has_range && r->low <= high && r->high >= low) {
		*ret_low = r->low > low ? r->low : low;
		*ret_high = r->high < high ? r->high : high;
		*ret_why = r->why;
		return;
	}
	*ret_why = "the graph does not limit them";
	*ret_low = in->info->dtype.bits == 8 ? low : 0;
	*ret_high = in->info->dtype.bits == 8 ? high : 1;
}

static dck_status random_input(bench_inputs *b, size_t index, uint64_t seed, dck_err *err)
{
	input *in = &b->input[index];
	const dck_dtype t = in->info->dtype;
	const bool integer = t.code == DCK_DTYPE_INT || t.code == DCK_DTYPE_UINT;
	const char *shape = dims_text(b->arena, in->dim, NULL, in->rank), *why = "";
	int64_t low = 0, high = 1;

	if (integer)
		integers_range(in, &low, &high, &why);
	for (size_t set = 0; set < b->pool; set++) {
		dck_tensor *tensor = &b->tensor[set * b->n + index];

		if (!random_fill(tensor->data, tensor->bytes / dck_dtype_bytes(t), t, low, high,
				 seed, set * b->n + index))
			DCK_FAIL(err, E_UNSUP,
				 "the input '%s' is of type %s: give its values with --input",
				 in->info->name, dck_dtype_text(t));
	}
	if (integer)
		in->text = mem_arena_fmt(b->arena, "%s %s, uniform %lld..%lld (%s), seed %llu",
					 shape, dck_dtype_text(t), (long long)low, (long long)high,
					 why, (unsigned long long)seed);
	else
		in->text = mem_arena_fmt(b->arena, "%s %s, %s, seed %llu", shape, dck_dtype_text(t),
					 t.code == DCK_DTYPE_BOOL ? "0 or 1" : "normal(0,1)",
					 (unsigned long long)seed);
	return DCK_OK;
}

static void file_input(bench_inputs *b, size_t index)
{
	input *in = &b->input[index];

	for (size_t set = 0; set < b->pool; set++) {
		const dck_tensor *tensor = &b->tensor[set * b->n + index];

		memcpy(tensor->data, in->array.data, in->array.bytes);
	}
	in->text = mem_arena_fmt(b->arena, "%s %s, from '%s'",
				 dims_text(b->arena, in->dim, NULL, in->rank),
				 dck_dtype_text(in->info->dtype), in->file);
	npy_done(&in->array);
}

/* Every tensor begins on a cache line of its own. */
#define LINE 64u

static dck_status tensors_make(bench_inputs *b, dck_err *err)
{
	size_t total = 0;

	for (int pass = 0; pass < 2; pass++) {
		size_t at = 0;

		for (size_t k = 0; k < b->pool * b->n; k++) {
			const input *in = &b->input[k % b->n];
			size_t bytes = 0;

			DCK_TRY(input_bytes(in, &bytes, err));
			if (pass == 1) {
				b->tensor[k] = (dck_tensor){.data = (char *)b->pages + at,
							    .dtype = in->info->dtype,
							    .rank = (int32_t)in->rank,
							    .bytes = bytes};
				memcpy(b->tensor[k].dim, in->dim, sizeof in->dim);
			}
			if (__builtin_add_overflow(at, bytes, &at) || at > b->limit)
				DCK_FAIL(err, E_LIMIT,
					 "%zu set(s) of inputs need more than %llu MiB, half of "
					 "the memory: "
					 "make --input-pool, --batch or the shapes smaller",
					 b->pool, (unsigned long long)(b->limit >> 20));
			at = (at + LINE - 1) / LINE * LINE;
		}
		total = at;
		if (pass == 0) {
			b->pages_bytes = total + LINE;
			b->pages = os_pages_alloc(b->pages_bytes);
			if (!b->pages)
				DCK_FAIL(err, E_NOMEM, "no memory for %zu bytes of inputs", total);
		}
	}
	return DCK_OK;
}

static void items_count(bench_inputs *b, const dck_model_config *c)
{
	b->items = 1;
	b->items_how = "one a run: the first input has no batch axis";
	if (c->batch > 0) {
		b->items = c->batch;
		b->items_how = "as --batch says";
	} else if (b->n > 0 && b->input[0].rank >= 2) {
		b->items = (uint64_t)b->input[0].dim[0];
		b->items_how = "axis 0 of the first input";
	}
}

/* Half of the memory: the model needs the rest. */
static uint64_t memory_limit(void)
{
	os_host host;
	uint64_t limit;

	os_host_get(&host);
	limit = host.memory_bytes > 0 ? host.memory_bytes : (uint64_t)1 << 36;
	if (host.cgroup_memory_bytes > 0 && (uint64_t)host.cgroup_memory_bytes < limit)
		limit = (uint64_t)host.cgroup_memory_bytes;
	return limit / 2;
}

static dck_status inputs_begin(bench_inputs *b, const dck_tensor_info *in,
			       const model_input *ranges, size_t nranges, dck_err *err)
{
	/* The table of tensors alone could take all memory. */
	if (b->n > 0 && b->pool > b->limit / sizeof *b->tensor / b->n)
		DCK_FAIL(err, E_LIMIT,
			 "%zu set(s) of inputs need more than %llu MiB, half of the memory: make "
			 "--input-pool smaller",
			 b->pool, (unsigned long long)(b->limit >> 20));
	b->input = mem_arena_array(b->arena, b->n + 1, sizeof *b->input);
	b->tensor = mem_arena_array(b->arena, b->pool * b->n + 1, sizeof *b->tensor);
	if (!b->input || !b->tensor)
		return no_memory(err);
	for (size_t i = 0; i < b->n; i++) {
		input *to = &b->input[i];

		to->info = &in[i];
		to->rank = in[i].rank > 0 ? (size_t)in[i].rank : 0;
		memcpy(to->dim, in[i].dim, sizeof to->dim);
		for (size_t k = 0; k < nranges; k++)
			if (strcmp(ranges[k].name, in[i].name) == 0)
				to->range = &ranges[k];
	}
	return DCK_OK;
}

static dck_status inputs_fill(bench_inputs *b, const dck_model_config *c, dck_err *err)
{
	DCK_TRY(files_read(b, c, err));
	DCK_TRY(shapes_read(b, c, err));
	DCK_TRY(dims_read(b, c, err));
	DCK_TRY(shapes_resolve(b, c, err));
	DCK_TRY(tensors_make(b, err));
	for (size_t i = 0; i < b->n; i++) {
		if (b->input[i].file)
			file_input(b, i);
		else
			DCK_TRY(random_input(b, i, c->seed, err));
	}
	items_count(b, c);
	return mem_arena_failed(b->arena) ? no_memory(err) : DCK_OK;
}

dck_status bench_inputs_new(const dck_tensor_info *in, size_t n, const model_input *ranges,
			    size_t nranges, const dck_model_config *c, bench_inputs **ret,
			    dck_err *err)
{
	bench_inputs *b = mem_zalloc(1, sizeof *b);
	dck_status status;

	if (!b)
		return no_memory(err);
	b->arena = mem_arena_new(0);
	b->n = n;
	b->pool = c->input_pool > 0 ? (size_t)c->input_pool : 1;
	b->limit = memory_limit();
	status = b->arena ? inputs_begin(b, in, ranges, nranges, err) : no_memory(err);
	if (status == DCK_OK)
		status = inputs_fill(b, c, err);
	if (status != DCK_OK) {
		bench_inputs_free(b);
		return status;
	}
	*ret = b;
	return DCK_OK;
}

void bench_inputs_free(bench_inputs *b)
{
	if (!b)
		return;
	for (size_t i = 0; b->input && i < b->n; i++)
		npy_done(&b->input[i].array);
	if (b->pages)
		os_pages_free(b->pages, b->pages_bytes);
	mem_arena_free(b->arena);
	mem_free(b);
}

size_t bench_inputs_pool(const bench_inputs *b)
{
	return b->pool;
}

const dck_tensor *bench_inputs_get(const bench_inputs *b, size_t set, size_t index)
{
	return &b->tensor[set * b->n + index];
}

uint64_t bench_inputs_items(const bench_inputs *b, const char **ret_how)
{
	*ret_how = b->items_how;
	return b->items;
}

const char *bench_inputs_text(const bench_inputs *b, size_t index)
{
	return b->input[index].text;
}
