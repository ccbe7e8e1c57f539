/* npy.c - parser of NumPy's .npy format, versions 1.0 to 3.0.
 *
 * A file is the magic "\x93NUMPY", two bytes of version, the length of the header (little-endian, 2
 * bytes in version 1, then 4), the header, and the elements. The header is a Python dict literal
 * with the keys descr, fortran_order and shape; each is located by its quoted name and its value is
 * parsed, which needs no Python parser.
 *
 * Foreign byte order is swapped in place (bytes_swap()); Fortran order becomes row-major through
 * one copy (npy_transpose()). Structured and object arrays are refused.
 *
 * Input is untrusted: the header has at most HEADER_MAX bytes, the rank is at most DCK_RANK_MAX, an
 * element of text has at most TEXT_MAX characters, the product of the sizes is checked for overflow
 * and must equal the bytes of data that follow. On success the array owns the buffer of the file,
 * into which `data` points; on failure the caller keeps it.
 *
 * Source: numpy.lib.format, NEP 1.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/subject/npy.h"
#include "base/err.h"
#include "base/mem.h"
#include "os/os.h"
#include <stdlib.h>
#include <string.h>

#define HEADER_MAX 65536
#define TEXT_MAX   65536 /* characters of an element */

/* NumPy's letters; sizes are in bytes. */
static const struct {
	char kind;
	uint8_t bytes, code;
} types[] = {
    {'b', 1, DCK_DTYPE_BOOL},	 {'i', 1, DCK_DTYPE_INT},      {'i', 2, DCK_DTYPE_INT},
    {'i', 4, DCK_DTYPE_INT},	 {'i', 8, DCK_DTYPE_INT},      {'u', 1, DCK_DTYPE_UINT},
    {'u', 2, DCK_DTYPE_UINT},	 {'u', 4, DCK_DTYPE_UINT},     {'u', 8, DCK_DTYPE_UINT},
    {'f', 2, DCK_DTYPE_FLOAT},	 {'f', 4, DCK_DTYPE_FLOAT},    {'f', 8, DCK_DTYPE_FLOAT},
    {'c', 8, DCK_DTYPE_COMPLEX}, {'c', 16, DCK_DTYPE_COMPLEX},
};

typedef struct header {
	dck_dtype dtype;
	char text;    /* 'U' or 'S'; 0: numbers */
	size_t width; /* bytes of an element */
	bool swapped, fortran;
	size_t rank;
	int64_t dim[DCK_RANK_MAX];
} header;

/* Returns the text of the value after `key`, or NULL. `text` ends with NUL. */
static const char *npy_value_of(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	if (!at)
		return NULL;
	at += strlen(key);
	at += strspn(at, " ");
	if (*at++ != ':')
		return NULL;
	return at + strspn(at, " ");
}

/* Sets the type to text: `chars` characters of 4 bytes ('U') or 1 ('S'), padded with zeros. */
static bool text_descr(char kind, unsigned long chars, header *h)
{
	if ((kind != 'U' && kind != 'S') || chars > TEXT_MAX)
		return false;
	h->text = kind;
	h->dtype = (dck_dtype){DCK_DTYPE_OTHER, 0, 1};
	h->width = kind == 'U' ? 4 * chars : chars;
	return true;
}

static dck_status descr_read(const char *name, const char *at, bool texts, header *h, dck_err *err)
{
	char order, kind;
	unsigned long bytes;
	size_t length;
	char *end;

	if (!at)
		DCK_FAIL(err, E_FORMAT, "'%s' is no .npy file: its header has no element type",
			 name);
	if (*at != '\'' && *at != '"')
		DCK_FAIL(err, E_FORMAT,
			 "'%s' holds records, not plain numbers: save a plain array (numpy.save)",
			 name);
	order = at[1];
	kind = order ? at[2] : '\0';
	bytes = kind ? strtoul(at + 3, &end, 10) : 0;
	for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
		if (strchr("<>|=", order) && types[i].kind == kind && types[i].bytes == bytes &&
		    *end == *at) {
			const bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

			h->dtype = (dck_dtype){types[i].code, (uint8_t)(8 * bytes), 1};
			h->width = bytes;
			h->swapped = order == (little ? '>' : '<');
			return DCK_OK;
		}
	if (texts && strchr("<>|=", order) && text_descr(kind, bytes, h) && *end == *at) {
		h->swapped = order == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '>' : '<');
		return DCK_OK;
	}
	length = strcspn(at + 1, "'\"");
	DCK_FAIL(err, E_FORMAT,
		 "'%s' has elements of NumPy's type '%.*s': only booleans, integers, "
		 "floats%s and complex numbers are read%s",
		 name, length < 16 ? (int)length : 16, at + 1, texts ? ", text" : "",
		 texts ? " (save labels with array.astype(str))" : "");
}

static dck_status order_read(const char *name, const char *at, header *h, dck_err *err)
{
	h->fortran = at && strncmp(at, "True", 4) == 0;
	if (!h->fortran && (!at || strncmp(at, "False", 5) != 0))
		DCK_FAIL(err, E_FORMAT, "'%s' is no .npy file: its header has no fortran_order",
			 name);
	return DCK_OK;
}

static dck_status npy_shape_read(const char *name, const char *at, header *h, dck_err *err)
{
	if (!at || *at++ != '(')
		DCK_FAIL(err, E_FORMAT, "'%s' is no .npy file: its header has no shape", name);
	for (h->rank = 0;; h->rank++) {
		char *end;
		long long dim;

		at += strspn(at, ", ");
		if (*at == ')')
			return DCK_OK;
		if (h->rank == DCK_RANK_MAX)
			DCK_FAIL(err, E_FORMAT, "'%s' has more than %d dimensions", name,
				 DCK_RANK_MAX);
		dim = strtoll(at, &end, 10);
		if (end == at || dim < 0 || dim == INT64_MAX)
			DCK_FAIL(err, E_FORMAT, "'%s' has a shape that cannot be read: %.40s", name,
				 at);
		h->dim[h->rank] = dim;
		at = end;
	}
}

/* Finds the header's text and where the data begin. */
static dck_status header_find(const char *name, const dck_buffer *b, size_t *ret_begin,
			      size_t *ret_n, dck_err *err)
{
	const unsigned char *p = (const unsigned char *)b->data;
	size_t begin, n;

	if (b->n < 10 || memcmp(p, "\x93NUMPY", 6) != 0)
		DCK_FAIL(err, E_FORMAT, "'%s' is no .npy file (write it with numpy.save)", name);
	if (p[6] < 1 || p[6] > 3)
		DCK_FAIL(err, E_VERSION, "'%s' is a .npy file of version %d: 1 to 3 are read", name,
			 p[6]);
	begin = p[6] == 1 ? 10 : 12;
	n = (size_t)p[8] | (size_t)p[9] << 8;
	if (p[6] > 1 && b->n >= 12)
		n |= (size_t)p[10] << 16 | (size_t)p[11] << 24;
	if (n > HEADER_MAX || b->n < begin || n > b->n - begin)
		DCK_FAIL(err, E_FORMAT, "'%s' is truncated or damaged: its header states %zu bytes",
			 name, n);
	*ret_begin = begin;
	*ret_n = n;
	return DCK_OK;
}

static dck_status npy_header_read(const char *name, const dck_buffer *b, bool texts, header *h,
				  size_t *ret_data, dck_err *err)
{
	size_t begin = 0, n = 0;
	char *text;
	dck_status status;

	DCK_TRY(header_find(name, b, &begin, &n, err));
	text = mem_zalloc(n + 1, 1);
	DCK_NEED(text, err, "to read '%s'", name);
	memcpy(text, b->data + begin, n);
	status = descr_read(name, npy_value_of(text, "'descr'"), texts, h, err);
	DCK_NEXT(status, order_read(name, npy_value_of(text, "'fortran_order'"), h, err));
	DCK_NEXT(status, npy_shape_read(name, npy_value_of(text, "'shape'"), h, err));
	mem_free(text);
	*ret_data = begin + n;
	return status;
}

static void bytes_swap(char *data, size_t n, size_t width)
{
	for (char *e = data; e < data + n; e += width)
		for (size_t i = 0; i < width / 2; i++) {
			char byte = e[i];

			e[i] = e[width - 1 - i];
			e[width - 1 - i] = byte;
		}
}

/* Converts column-major to row-major order, through a copy. */
static dck_status npy_transpose(const header *h, char *data, size_t bytes, size_t width,
				dck_err *err)
{
	char *copy = mem_alloc(bytes ? bytes : 1);
	int64_t at[DCK_RANK_MAX] = {0};
	size_t stride[DCK_RANK_MAX];

	DCK_NEED(copy, err, "to turn %zu bytes into row-major order", bytes);
	memcpy(copy, data, bytes);
	for (size_t d = 0, s = 1; d < h->rank; s *= (size_t)h->dim[d++])
		stride[d] = s;
	for (size_t to = 0; to < bytes; to += width) {
		size_t from = 0;

		for (size_t d = 0; d < h->rank; d++)
			from += (size_t)at[d] * stride[d];
		memcpy(data + to, copy + from * width, width);
		for (size_t d = h->rank; d-- > 0 && ++at[d] == h->dim[d];)
			at[d] = 0;
	}
	mem_free(copy);
	return DCK_OK;
}

/* Returns the bytes of one swapped unit: a number, half of a complex one, a character. */
static size_t swapped_width(const header *h)
{
	return h->text == 'U'			    ? 4
	       : h->text == 'S'			    ? 1
	       : h->dtype.code == DCK_DTYPE_COMPLEX ? h->width / 2
						    : h->width;
}

static dck_status parse(const char *name, dck_buffer *bytes, bool texts, npy_array *ret,
			dck_err *err)
{
	header h = {0};
	size_t data = 0, width, need;
	npy_array a = {0};

	DCK_TRY(npy_header_read(name, bytes, texts, &h, &data, err));
	width = h.width;
	need = width;
	for (size_t d = 0; d < h.rank; d++)
		if (__builtin_mul_overflow(need, h.dim[d], &need))
			DCK_FAIL(err, E_FORMAT, "'%s' has a shape whose size overflows", name);
	if (need != bytes->n - data)
		DCK_FAIL(err, E_FORMAT,
			 "'%s' is %s: its shape needs %zu bytes of data, there are %zu", name,
			 need > bytes->n - data ? "truncated" : "damaged", need, bytes->n - data);
	a.data = bytes->data + data;
	if (h.swapped)
		bytes_swap(a.data, need, swapped_width(&h));
	if (h.fortran && h.rank > 1 && width > 0)
		DCK_TRY(npy_transpose(&h, a.data, need, width, err));
	a.dtype = h.dtype;
	a.text = h.text;
	a.width = width;
	a.rank = h.rank;
	memcpy(a.dim, h.dim, sizeof a.dim);
	a.bytes = need;
	a.file = *bytes;
	*bytes = (dck_buffer){0};
	*ret = a;
	return DCK_OK;
}

dck_status npy_parse(const char *name, dck_buffer *bytes, npy_array *ret, dck_err *err)
{
	return parse(name, bytes, false, ret, err);
}

dck_status npy_parse_any(const char *name, dck_buffer *bytes, npy_array *ret, dck_err *err)
{
	return parse(name, bytes, true, ret, err);
}

dck_status npy_read(const char *path, size_t limit, npy_array *ret, dck_err *err)
{
	dck_buffer bytes = {0};
	dck_status status;

	DCK_TRY(os_read_file(path, limit, &bytes, err));
	status = npy_parse(path, &bytes, ret, err);
	if (status != DCK_OK)
		dck_buffer_done(&bytes);
	return status;
}

dck_status npy_in_memory(const dck_arrays *all, const char *name, bool *ret_there, npy_array *ret,
			 dck_err *err)
{
	const dck_tensor *t = NULL;

	for (size_t i = 0; i < all->n && !t; i++)
		if (strcmp(all->item[i].name, name) == 0)
			t = &all->item[i].tensor;
	*ret_there = t != NULL;
	if (!t)
		return DCK_OK;
	size_t bytes = dck_dtype_bytes(t->dtype);
	bool fits = bytes > 0 && t->rank >= 0 && t->rank <= DCK_RANK_MAX;

	for (int32_t d = 0; fits && d < t->rank; d++)
		fits = t->dim[d] >= 0 && !__builtin_mul_overflow(bytes, t->dim[d], &bytes);
	if (!fits || bytes != t->bytes)
		DCK_FAIL(err, E_ARG,
			 "the array '%s' in memory has %llu bytes, which do not match its type "
			 "and shape",
			 name, (unsigned long long)t->bytes);
	*ret = (npy_array){.dtype = t->dtype,
			   .width = dck_dtype_bytes(t->dtype),
			   .rank = (size_t)t->rank,
			   .data = t->data,
			   .bytes = bytes};
	memcpy(ret->dim, t->dim, sizeof ret->dim);
	return DCK_OK;
}

bool npy_is(const dck_buffer *bytes)
{
	return bytes->n >= 6 && memcmp(bytes->data, "\x93NUMPY", 6) == 0;
}

void npy_done(npy_array *a)
{
	dck_buffer_done(&a->file);
	memset(a, 0, sizeof *a);
}
