/* input_given.c - what --input gives: numbers, files and arrays in memory, each for the input whose
 * name it has.
 *
 * An archive (.npz) without the name of an input is for all inputs that it has an array of. What
 * gives an input values twice is refused. The shapes of arrays go to shape_resolve_give().
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/subject/input_given.h"
#include "base/err.h"
#include "measure/subject/npz.h"
#include "os/os.h"
#include <string.h>

typedef struct given_reader {
	shape_resolve *z;
	input_given *list;
	uint64_t limit;
} given_reader;

static bool dtype_equal(dck_dtype a, dck_dtype b)
{
	return a.code == b.code && a.bits == b.bits;
}

/* NumPy has no bfloat16 and no numbers of less than a byte, and text is not read. */
static dck_status file_possible(const subject_sized *in, dck_err *err)
{
	const dck_dtype t = in->info.dtype;

	if (t.code == DCK_DTYPE_BFLOAT)
		DCK_FAIL(err, E_ARG,
			 "the input '%s' is of type %s, which NumPy cannot save: "
			 "leave --input out for random values",
			 in->info.name, dck_dtype_text(t));
	if (dck_dtype_bytes(t) == 0)
		DCK_FAIL(err, E_UNSUP,
			 "the input '%s' is not of plain numbers, which are all that --input reads",
			 in->info.name);
	return DCK_OK;
}

/* Moves an array to its input, which owns it; `file` is its name in messages. */
static dck_status array_take(given_reader *b, size_t index, const char *file, dck_err *err)
{
	input_given *in = &b->list[index];

	in->file = file;
	if (!dtype_equal(in->array.dtype, b->z->input[index].info.dtype))
		DCK_FAIL(err, E_ARG, "'%s' has %s, the input '%s' needs %s: %s array.astype('%s')",
			 file, dck_dtype_text(in->array.dtype), b->z->input[index].info.name,
			 dck_dtype_text(b->z->input[index].info.dtype),
			 in->array.file.data ? "save it so, with" : "give it so, as by",
			 dck_dtype_text(b->z->input[index].info.dtype));
	return shape_resolve_give(b->z, index, in->array.dim, in->array.rank,
				  mem_arena_fmt(b->z->arena, "'%s'", file), err);
}

/* An array in memory, a .npy file, or the array of the input's name from a .npz file; with `only`
 * also its only one. */
static dck_status array_read(given_reader *b, size_t index, const char *file, bool only,
			     const dck_arrays *memory, dck_err *err)
{
	const size_t limit = (size_t)b->limit;
	input_given *in = &b->list[index];
	dck_buffer bytes = {0};
	dck_status status;
	bool there = false;

	DCK_TRY(npy_in_memory(memory, file, &there, &in->array, err));
	if (there)
		return array_take(b, index, file, err);
	if (only) /* else it may have no array of this input */
		DCK_TRY(file_possible(&b->z->input[index], err));
	DCK_TRY(os_read_file(file, limit, &bytes, err));
	status = npz_is(&bytes) ? npz_get(file, &bytes, b->z->input[index].info.name, only, limit,
					  &in->array, err)
				: npy_parse(file, &bytes, &in->array, err);
	dck_buffer_done(&bytes);
	DCK_TRY(status);
	DCK_TRY(file_possible(&b->z->input[index], err));
	return array_take(b, index, file, err);
}

static bool given_ends(const char *text, const char *end)
{
	const size_t n = strlen(text), m = strlen(end);

	return n > m && strcmp(text + n - m, end) == 0;
}

/* The same; a name that does not look like a file may have been meant as a number. */
static dck_status given_array(given_reader *b, size_t index, const char *file,
			      const dck_arrays *memory, dck_err *err)
{
	const dck_status status = array_read(b, index, file, true, memory, err);

	if (status == DCK_E_ABSENT && !os_file_exists(file) && !given_ends(file, ".npy") &&
	    !given_ends(file, ".npz") && !strchr(file, '/'))
		DCK_FAIL(err, E_ABSENT,
			 "--input gives the input '%s' '%.80s', which is not a finite number, nor "
			 "'zeros', 'ones' or range(LOW,HIGH), and not a file that exists",
			 b->z->input[index].info.name, file);
	return status;
}

/* One archive for all inputs that it has an array of; the others stay random, or as given before.
 */
static dck_status archive_read(given_reader *b, const char *file, dck_err *err)
{
	const dck_arrays none = {0};
	size_t found = 0;

	for (size_t i = 0; i < b->z->n; i++) {
		const input_given before = b->list[i];
		const bool given = before.file || before.filled;

		b->list[i] = (input_given){0};
		const dck_status status = array_read(b, i, file, false, &none, err);

		if (given) {
			npy_done(&b->list[i].array);
			b->list[i] = before;
		}
		if (given && status == DCK_OK)
			DCK_FAIL(err, E_ARG, "--input gives the input '%s' values twice",
				 b->z->input[i].info.name);
		if (status != DCK_OK && (status != DCK_E_ABSENT || !os_file_exists(file)))
			return status;
		found += status == DCK_OK;
	}
	if (found == 0)
		DCK_FAIL(err, E_ARG,
			 "'%s' holds no array with the name of an input ('%s' is the first): "
			 "save it with numpy.savez(FILE, NAME=array), or write --input NAME=%s",
			 file, b->z->n > 0 ? b->z->input[0].info.name : "", file);
	return DCK_OK;
}

dck_status input_given_read(shape_resolve *z, const dck_model_config *c, uint64_t limit,
			    input_given *list, dck_err *err)
{
	given_reader *b = &(given_reader){z, list, limit};

	for (size_t i = 0; i < c->input.n; i++) {
		const char *text = c->input.item[i], *file = NULL;
		bool is_fill = false;
		size_t index = 0;

		if (!strchr(text, '=') && given_ends(text, ".npz") && b->z->n > 1) {
			DCK_TRY(archive_read(b, text, err));
			continue;
		}
		DCK_TRY(shape_resolve_pair(b->z, "input", "FILE.npy, or NAME=NUMBER", text, &index,
					   &file, err));
		input_given *in = &b->list[index];

		if (in->file || in->filled)
			DCK_FAIL(err, E_ARG, "--input gives the input '%s' values twice",
				 b->z->input[index].info.name);
		DCK_TRY(input_fill_parse(file, &in->fill, &is_fill, err));
		if (is_fill)
			in->filled = file;
		else
			DCK_TRY(given_array(b, index, file, &c->arrays, err));
	}
	return DCK_OK;
}

/* A single integer as text, which may select a branch; else the file's name. */
static const char *fed_text(const input_given *in, mem_arena *a)
{
	const npy_array *x = &in->array;
	int64_t wide;
	int32_t narrow;

	if (x->dtype.code != DCK_DTYPE_INT || x->bytes != x->width)
		return in->file;
	if (x->bytes == sizeof wide) {
		memcpy(&wide, x->data, sizeof wide);
	} else if (x->bytes == sizeof narrow) {
		memcpy(&narrow, x->data, sizeof narrow);
		wide = narrow;
	} else {
		return in->file;
	}
	return mem_arena_fmt(a, "%lld", (long long)wide);
}

dck_status input_given_sizes(shape_resolve *z, const model_values *v, const dck_model_config *c,
			     uint64_t limit, dck_err *err)
{
	input_given *list = mem_arena_array(z->arena, z->n + 1, sizeof *list);
	dck_status status;

	DCK_NEED(list, err, "for the model's inputs");
	status = input_given_read(z, c, limit, list, err);
	DCK_NEXT(status, shape_resolve_read(z, v, c, err));
	for (size_t i = 0; i < z->n && status == DCK_OK; i++)
		if (list[i].file)
			z->input[i].fed = fed_text(&list[i], z->arena);
	input_given_done(list, z->n);
	return status;
}

void input_given_done(input_given *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		npy_done(&list[i].array);
}
