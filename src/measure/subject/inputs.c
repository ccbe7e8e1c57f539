/* inputs.c - makes the input tensors of a model: sizes, memory, and values from files or a
 * generator.
 *
 * subject_inputs_new(): --input is read (files bring shapes), the sizes are resolved
 * (shape_resolve.c), tensors_make() lays out pool x n tensors in one block, and each input is
 * filled. Random values depend on the seed, the stream (set * n + input) and the position alone
 * (random.h), so a run can be repeated on another machine.
 *
 * tensors_make() makes two passes: the first adds up sizes, the second assigns addresses. Every
 * tensor starts on a cache line (LINE). Products and sums are checked for overflow, and the total
 * is at most half of the memory, or of the cgroup's limit where that is less, because the engine
 * needs the rest.
 *
 * Random integers are within the range that the graph allows and the type holds (integers_range()).
 * Lengths of an attention are one number, with which it computes over all keys.
 * Arrays and texts live in the arena, elements in `pages`; subject_inputs_free() accepts a
 * half-built object.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/subject/inputs.h"
#include "base/err.h"
#include "measure/subject/input_given.h"
#include "measure/subject/random.h"
#include "measure/subject/shape_resolve.h"
#include "os/os.h"
#include <string.h>

typedef struct prepared_input {
	const subject_sized *sized;
	const model_input *range; /* NULL: nothing known */
	input_given *given;
	const char *text;
	bool whole; /* its random values make the model do all of the work that they decide */
} prepared_input;

struct subject_inputs {
	mem_arena *arena;
	shape_resolve sizes;
	prepared_input *input; /* [n] */
	input_given *given;    /* [n] */
	size_t n, pool;
	uint64_t limit;	    /* maximum of the bytes of all tensors */
	dck_tensor *tensor; /* [pool * n] */
	void *pages;
	size_t pages_bytes;
	uint64_t items;
	const char *items_how;
};

/* --- values */

static dck_status input_bytes(const prepared_input *in, size_t *ret, dck_err *err)
{
	size_t bytes = dck_dtype_bytes(in->sized->info.dtype);

	if (bytes == 0)
		DCK_FAIL(err, E_UNSUP,
			 "the input '%s' is not a tensor of numbers (it is text, a sequence, "
			 "or has elements of less than a byte): such inputs cannot be made here",
			 in->sized->info.name);
	for (size_t d = 0; d < in->sized->rank; d++)
		if (__builtin_mul_overflow(bytes, in->sized->dim[d], &bytes))
			DCK_FAIL(err, E_LIMIT, "the input '%s' has more bytes than can be counted",
				 in->sized->info.name);
	*ret = bytes;
	return DCK_OK;
}

/* Returns the integers that a type holds, as far as int64_t has them. */
static void type_range(dck_dtype t, int64_t *ret_low, int64_t *ret_high)
{
	const bool negative = t.code == DCK_DTYPE_INT;
	const unsigned bits = negative || t.bits == 64 ? t.bits - 1u : t.bits;

	*ret_high = (int64_t)(UINT64_MAX >> (64 - bits));
	*ret_low = negative ? -*ret_high - 1 : 0;
}

/* Returns the range for random integers of an input. Without a range in the graph, 0 and 1 are the
 * only values that are safe as an index, a mask and a class; bytes are data of any value. The graph
 * may allow more than the type holds: bytes that are cast and then index a long table. */
static void integers_range(subject_inputs *b, prepared_input *in, int64_t *ret_low,
			   int64_t *ret_high, const char **ret_why)
{
	const model_input *r = in->range;
	int64_t low, high, all = 0;

	type_range(in->sized->info.dtype, &low, &high);
	if (r && r->work && shape_resolve_sum(&b->sizes, r->work, &all)) {
		all = all < r->work_most ? all : r->work_most;
		in->whole = all >= low && all <= high;
	}
	if (in->whole) {
		*ret_low = *ret_high = all;
		*ret_why = mem_arena_fmt(b->arena, "all keys of %s", r->decides);
		return;
	}
	if (r && r->has_range && r->low <= high && r->high >= low) {
		*ret_low = r->low > low ? r->low : low;
		*ret_high = r->high < high ? r->high : high;
		*ret_why = r->why;
		return;
	}
	*ret_why = "the graph does not limit them";
	*ret_low = in->sized->info.dtype.bits == 8 ? low : 0;
	*ret_high = in->sized->info.dtype.bits == 8 ? high : 1;
}

static dck_status random_input(subject_inputs *b, size_t index, uint64_t seed, dck_err *err)
{
	prepared_input *in = &b->input[index];
	const dck_dtype t = in->sized->info.dtype;
	const bool integer = t.code == DCK_DTYPE_INT || t.code == DCK_DTYPE_UINT;
	const model_input *r = in->range;
	const bool real =
	    (t.code == DCK_DTYPE_FLOAT || t.code == DCK_DTYPE_BFLOAT) && r && r->has_range;
	const char *shape = subject_dims_text(b->arena, in->sized->dim, NULL, in->sized->rank),
		   *why = "";
	int64_t low = 0, high = 1;

	if (integer) {
		integers_range(b, in, &low, &high, &why);
	} else if (real) {
		low = r->low;
		high = r->high;
		why = r->why;
	}
	for (size_t set = 0; set < b->pool; set++) {
		dck_tensor *tensor = &b->tensor[set * b->n + index];
		const size_t n = tensor->bytes / dck_dtype_bytes(t), stream = set * b->n + index;

		if (real ? !random_fill_reals(tensor->data, n, t, (double)low, (double)high, seed,
					      stream)
			 : !random_fill(tensor->data, n, t, low, high, seed, stream))
			DCK_FAIL(err, E_UNSUP,
				 "the input '%s' is of type %s: give its values with --input",
				 in->sized->info.name, dck_dtype_text(t));
	}
	if (integer || real)
		in->text = mem_arena_fmt(b->arena, "%s %s, uniform %lld..%lld (%s), seed %llu",
					 shape, dck_dtype_text(t), (long long)low, (long long)high,
					 why, (unsigned long long)seed);
	else
		in->text = mem_arena_fmt(b->arena, "%s %s, %s, seed %llu", shape, dck_dtype_text(t),
					 t.code == DCK_DTYPE_BOOL ? "0 or 1" : "normal(0,1)",
					 (unsigned long long)seed);
	return DCK_OK;
}

static dck_status filled_input(subject_inputs *b, size_t index, uint64_t seed, dck_err *err)
{
	prepared_input *in = &b->input[index];
	const dck_dtype t = in->sized->info.dtype;

	for (size_t set = 0; set < b->pool; set++) {
		const dck_tensor *tensor = &b->tensor[set * b->n + index];

		DCK_TRY(input_fill_put(&in->given->fill, in->sized->info.name, tensor->data,
				       tensor->bytes / dck_dtype_bytes(t), t, seed,
				       set * b->n + index, err));
	}
	in->text = mem_arena_fmt(b->arena, "%s %s, %s (--input)",
				 subject_dims_text(b->arena, in->sized->dim, NULL, in->sized->rank),
				 dck_dtype_text(t), in->given->filled);
	return DCK_OK;
}

static void file_input(subject_inputs *b, size_t index)
{
	prepared_input *in = &b->input[index];

	for (size_t set = 0; set < b->pool; set++) {
		const dck_tensor *tensor = &b->tensor[set * b->n + index];

		memcpy(tensor->data, in->given->array.data, in->given->array.bytes);
	}
	in->text = mem_arena_fmt(b->arena, "%s %s, from '%s'",
				 subject_dims_text(b->arena, in->sized->dim, NULL, in->sized->rank),
				 dck_dtype_text(in->sized->info.dtype), in->given->file);
	npy_done(&in->given->array);
}

/* Every tensor begins on a separate cache line. */
#define LINE 64u

static dck_status tensors_make(subject_inputs *b, dck_err *err)
{
	size_t total = 0;

	for (int pass = 0; pass < 2; pass++) {
		size_t at = 0;

		for (size_t k = 0; k < b->pool * b->n; k++) {
			const prepared_input *in = &b->input[k % b->n];
			size_t bytes = 0;

			DCK_TRY(input_bytes(in, &bytes, err));
			if (pass == 1) {
				b->tensor[k] = (dck_tensor){.data = (char *)b->pages + at,
							    .dtype = in->sized->info.dtype,
							    .rank = (int32_t)in->sized->rank,
							    .bytes = bytes};
				memcpy(b->tensor[k].dim, in->sized->dim, sizeof in->sized->dim);
			}
			if (__builtin_add_overflow(at, bytes, &at) || at > b->limit)
				DCK_FAIL(err, E_NOMEM,
					 "%zu set(s) of inputs need more than %llu MiB, "
					 "half of the memory: make --input-pool, "
					 "--batch or the shapes smaller",
					 b->pool, (unsigned long long)(b->limit >> 20));
			at = (at + LINE - 1) / LINE * LINE;
		}
		total = at;
		if (pass == 0) {
			b->pages_bytes = total + LINE;
			b->pages = os_pages_alloc(b->pages_bytes);
			DCK_NEED(b->pages, err, "for %zu bytes of inputs", total);
		}
	}
	return DCK_OK;
}

uint64_t subject_memory_half(void)
{
	os_host host;
	uint64_t limit;

	os_host_get(&host);
	limit = host.memory_bytes > 0 ? host.memory_bytes : (uint64_t)1 << 36;
	if (host.cgroup_memory_bytes > 0 && (uint64_t)host.cgroup_memory_bytes < limit)
		limit = (uint64_t)host.cgroup_memory_bytes;
	return limit / 2;
}

static dck_status inputs_begin(subject_inputs *b, const dck_tensor_info *in, const model_summary *m,
			       dck_err *err)
{
	/* The table of tensors alone could take all memory. */
	if (b->n > 0 && b->pool > b->limit / sizeof *b->tensor / b->n)
		DCK_FAIL(err, E_NOMEM,
			 "%zu set(s) of inputs need more than %llu MiB, half of the memory: "
			 "make --input-pool smaller",
			 b->pool, (unsigned long long)(b->limit >> 20));
	b->input = mem_arena_array(b->arena, b->n + 1, sizeof *b->input);
	b->given = mem_arena_array(b->arena, b->n + 1, sizeof *b->given);
	b->tensor = mem_arena_array(b->arena, b->pool * b->n + 1, sizeof *b->tensor);
	DCK_NEED(b->input && b->given && b->tensor, err, "for the model's inputs");
	DCK_TRY(shape_resolve_init(&b->sizes, b->arena, in, b->n, m, err));
	for (size_t i = 0; i < b->n; i++) {
		prepared_input *to = &b->input[i];

		to->sized = &b->sizes.input[i];
		to->given = &b->given[i];
		for (size_t k = 0; m && k < m->ninputs; k++)
			if (strcmp(m->inputs[k].name, in[i].name) == 0)
				to->range = &m->inputs[k];
	}
	return DCK_OK;
}

static dck_status inputs_fill(subject_inputs *b, const model_values *v, const dck_model_config *c,
			      dck_err *err)
{
	DCK_TRY(input_given_read(&b->sizes, c, b->limit, b->given, err));
	DCK_TRY(shape_resolve_read(&b->sizes, v, c, err));
	DCK_TRY(shape_resolve_closed(&b->sizes, NULL, err));
	DCK_TRY(tensors_make(b, err));
	for (size_t i = 0; i < b->n; i++) {
		if (b->given[i].file)
			file_input(b, i);
		else if (b->given[i].filled)
			DCK_TRY(filled_input(b, i, c->seed, err));
		else
			DCK_TRY(random_input(b, i, c->seed, err));
	}
	b->items = shape_resolve_items(&b->sizes, v, c, &b->items_how);
	DCK_NEED(!mem_arena_failed(b->arena), err, "for the model's inputs");
	return DCK_OK;
}

dck_status subject_inputs_new(const dck_tensor_info *in, size_t n, const model_summary *m,
			      const dck_model_config *c, subject_inputs **ret, dck_err *err)
{
	subject_inputs *b = mem_zalloc(1, sizeof *b);
	dck_status status;

	DCK_NEED(b, err, "for the model's inputs");
	b->arena = mem_arena_new(0);
	b->n = n;
	b->pool = c->input_pool > 0 ? (size_t)c->input_pool : 1;
	b->limit = subject_memory_half();
	status =
	    b->arena ? inputs_begin(b, in, m, err) : ERR_NO_MEMORY(err, "for the model's inputs");
	DCK_NEXT(status, inputs_fill(b, m ? &m->values : NULL, c, err));
	if (status != DCK_OK) {
		subject_inputs_free(b);
		return status;
	}
	*ret = b;
	return DCK_OK;
}

void subject_inputs_free(subject_inputs *b)
{
	if (!b)
		return;
	if (b->given)
		input_given_done(b->given, b->n);
	os_pages_free(b->pages, b->pages_bytes);
	mem_arena_free(b->arena);
	mem_free(b);
}

size_t subject_inputs_pool(const subject_inputs *b)
{
	return b->pool;
}

const dck_tensor *subject_inputs_get(const subject_inputs *b, size_t set, size_t index)
{
	return &b->tensor[set * b->n + index];
}

uint64_t subject_inputs_items(const subject_inputs *b, const char **ret_how)
{
	*ret_how = b->items_how;
	return b->items;
}

const char *subject_inputs_text(const subject_inputs *b, size_t index)
{
	return b->input[index].text;
}

const char *subject_inputs_decides(const subject_inputs *b, size_t index)
{
	const prepared_input *in = &b->input[index];

	return in->range && !in->range->has_range && !in->whole && !in->given->file &&
		       !in->given->filled
		   ? in->range->decides
		   : NULL;
}

static bool hint_single(const subject_sized *z)
{
	return z->rank == 0 || (z->rank == 1 && z->dim[0] == 1);
}

/* Returns the value to try for a single integer: the other one of 0 and 1. */
static int hint_other(const subject_inputs *b, size_t index)
{
	const dck_tensor *t = &b->tensor[index];
	uint64_t failed = 0;

	memcpy(&failed, t->data, t->bytes < sizeof failed ? t->bytes : sizeof failed);
	return failed == 1 ? 0 : 1;
}

/* Returns the hint about the input of the node that failed; NULL if its values fit the node. */
static const char *hint_of_node(const subject_inputs *b, const model_failed *f)
{
	const bool divides = strcmp(f->op, "Div") == 0 || strcmp(f->op, "Mod") == 0;
	const char *node =
	    f->node && *f->node ? mem_arena_fmt(b->arena, "'%s' (%s)", f->node, f->op) : f->op;

	for (size_t i = 0; i < b->n && node; i++) {
		const prepared_input *in = &b->input[i];
		const bool one = hint_single(in->sized);

		if (strcmp(in->sized->info.name, f->input) != 0 || in->given->file ||
		    in->given->filled || (in->range && in->range->has_range))
			continue;
		if (one || divides)
			return mem_arena_fmt(b->arena,
					     "its random inputs may be why: %s takes the "
					     "integer%s '%s': try --input %s=%d",
					     node, one ? "" : "s", f->input, f->input,
					     divides ? 1 : hint_other(b, i));
		return mem_arena_fmt(b->arena,
				     "its random inputs may be why: %s takes the integers "
				     "'%s': give them with --input %s=FILE.npy",
				     node, f->input, f->input);
	}
	return NULL;
}

/* Returns the hint about the first random input of several integers. */
static const char *hint_of_range(const subject_inputs *b)
{
	for (size_t i = 0; i < b->n; i++) {
		const prepared_input *in = &b->input[i];
		const int code = in->sized->info.dtype.code;

		if ((code == DCK_DTYPE_INT || code == DCK_DTYPE_UINT) && !in->given->file &&
		    !in->given->filled)
			return mem_arena_fmt(b->arena,
					     "its random inputs may be why: '%s' has integers, "
					     "which may be out of range: try --input %s=0",
					     in->sized->info.name, in->sized->info.name);
	}
	return NULL;
}

const char *subject_inputs_hint(const subject_inputs *b, const model_failed *f, const char *message)
{
	if (f)
		return hint_of_node(b, f);
	if (strstr(message, "out of range"))
		return hint_of_range(b);
	for (size_t i = 0; i < b->n; i++) {
		const prepared_input *in = &b->input[i];
		const subject_sized *z = in->sized;
		const char *name = z->info.name;
		const bool integer =
		    z->info.dtype.code == DCK_DTYPE_INT || z->info.dtype.code == DCK_DTYPE_UINT;
		const bool rate = strcmp(name, "sr") == 0 || strcasestr(name, "rate");

		if (!integer || !hint_single(z) || in->given->file || in->given->filled)
			continue;
		return mem_arena_fmt(b->arena,
				     "its random inputs may be why: '%s' is a single integer, "
				     "which may select something: try --input %s=%lld",
				     name, name,
				     in->range && in->range->is_compared
					 ? (long long)in->range->compared
				     : rate ? 16000LL
					    : (long long)hint_other(b, i));
	}
	return NULL;
}

bool subject_inputs_fixed(const subject_inputs *b, size_t index)
{
	const input_given *in = b->input[index].given;

	return in->file || (in->filled && (in->fill.whole ? in->fill.low == in->fill.high
							  : !(in->fill.rlow < in->fill.rhigh)));
}

bool subject_inputs_given(const subject_inputs *b)
{
	for (size_t i = 0; i < b->n; i++)
		if (b->input[i].given->file || b->input[i].given->filled)
			return true;
	return false;
}
