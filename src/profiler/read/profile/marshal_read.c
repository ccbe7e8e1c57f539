/* marshal_read.c - recursive descent over the encoding: a byte for the type, its high bit for
 * "later references name this value", then the value. Items of an open container are on a stack;
 * when the container ends they are copied after the items of its inner containers, so that each
 * container's items are adjacent.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/read/profile/marshal_read.h"

#include "base/err.h"
#include "base/mem.h"

#include <math.h>
#include <string.h>

enum { FLAG_REF = 0x80, NESTING_MAX = 32, DIGIT_BITS = 15 };
/* Limit of each list below: 200 MB. Profiles of large programs have a million items. */
#define VALUES_MAX ((size_t)1 << 23)

/* Values in a growing array. */
typedef struct value_list {
	marshal_value *at; /* @owned */
	size_t n, cap;
} value_list;

typedef struct marshal_reader {
	const unsigned char *bytes;
	size_t n, at;
	value_list items, stack, refs;
	unsigned depth;
	dck_err *err;
} marshal_reader;

/* n > 0 values. */
static dck_status values_append(value_list *l, const marshal_value *v, size_t n, dck_err *err)
{
	if (n > VALUES_MAX - l->n)
		DCK_FAIL(err, E_FORMAT, "the profile has more than %zu values", VALUES_MAX);
	DCK_NEED(mem_reserve(&l->at, &l->cap, l->n + n, sizeof *l->at), err,
		 "for the values of a profile");
	memcpy(l->at + l->n, v, n * sizeof *v);
	l->n += n;
	return DCK_OK;
}

static dck_status marshal_bytes_take(marshal_reader *r, size_t n, const unsigned char **ret)
{
	if (n > r->n - r->at)
		DCK_FAIL(r->err, E_FORMAT, "the profile is truncated: %zu bytes are missing",
			 n - (r->n - r->at));
	*ret = r->bytes + r->at;
	r->at += n;
	return DCK_OK;
}

/* Little-endian, of 1 to 8 bytes. */
static dck_status bits_read(marshal_reader *r, size_t bytes, uint64_t *ret)
{
	const unsigned char *p = NULL;

	DCK_TRY(marshal_bytes_take(r, bytes, &p));
	*ret = 0;
	for (size_t i = bytes; i-- > 0;)
		*ret = *ret << 8 | p[i];
	return DCK_OK;
}

/* The number of digits has the sign of the integer. */
static dck_status long_read(marshal_reader *r, double *ret)
{
	uint64_t count, digit;

	DCK_TRY(bits_read(r, 4, &count));
	const int32_t digits = (int32_t)(uint32_t)count;
	const int64_t n = digits < 0 ? -(int64_t)digits : digits;
	double value = 0;
	for (int64_t i = 0; i < n; i++) {
		DCK_TRY(bits_read(r, 2, &digit));
		value += ldexp((double)digit, (int)(i < 100 ? i : 100) * DIGIT_BITS);
	}
	*ret = digits < 0 ? -value : value;
	return DCK_OK;
}

static dck_status marshal_number_read(marshal_reader *r, unsigned char type, marshal_value *ret)
{
	uint64_t bits;

	ret->kind = MARSHAL_NUMBER;
	switch (type) {
	case 'i':
		DCK_TRY(bits_read(r, 4, &bits));
		ret->number = (int32_t)(uint32_t)bits;
		return DCK_OK;
	case 'l':
		return long_read(r, &ret->number);
	default: /* 'g' */
		DCK_TRY(bits_read(r, 8, &bits));
		memcpy(&ret->number, &bits, sizeof bits);
		return DCK_OK;
	}
}

static dck_status marshal_text_read(marshal_reader *r, bool is_short, marshal_value *ret)
{
	uint64_t n;
	const unsigned char *p = NULL;

	DCK_TRY(bits_read(r, is_short ? 1 : 4, &n));
	DCK_TRY(marshal_bytes_take(r, (size_t)n, &p));
	*ret = (marshal_value){.kind = MARSHAL_TEXT, .n = (uint32_t)n, .text = (const char *)p};
	return DCK_OK;
}

static dck_status marshal_ref_read(marshal_reader *r, marshal_value *ret)
{
	uint64_t index;

	DCK_TRY(bits_read(r, 4, &index));
	if (index >= r->refs.n || r->refs.at[index].kind == MARSHAL_OPEN)
		DCK_FAIL(r->err, E_FORMAT,
			 "the profile is damaged at byte %zu: it refers to a "
			 "value that was not read before",
			 r->at);
	*ret = r->refs.at[index];
	return DCK_OK;
}

static dck_status marshal_value_read(marshal_reader *r, marshal_value *ret);

/* n items of a tuple, or, of a dictionary, keys and values up to a null. */
static dck_status marshal_items_read(marshal_reader *r, marshal_kind kind, uint64_t n,
				     marshal_value *ret)
{
	const size_t begin = r->stack.n;

	if (++r->depth > NESTING_MAX)
		DCK_FAIL(r->err, E_FORMAT, "the profile is nested deeper than %d", NESTING_MAX);
	for (uint64_t i = 0; kind == MARSHAL_DICT || i < n; i++) {
		marshal_value item;

		if (kind == MARSHAL_DICT && i % 2 == 0 && r->at < r->n && r->bytes[r->at] == '0') {
			r->at++;
			break;
		}
		DCK_TRY(marshal_value_read(r, &item));
		DCK_TRY(values_append(&r->stack, &item, 1, r->err));
	}
	r->depth--;
	*ret =
	    (marshal_value){.kind = kind, .n = (uint32_t)(r->stack.n - begin), .first = r->items.n};
	if (ret->n > 0)
		DCK_TRY(values_append(&r->items, r->stack.at + begin, ret->n, r->err));
	r->stack.n = begin;
	return DCK_OK;
}

static dck_status tuple_read(marshal_reader *r, bool is_short, marshal_value *ret)
{
	uint64_t n;

	DCK_TRY(bits_read(r, is_short ? 1 : 4, &n));
	if (n > r->n - r->at)
		DCK_FAIL(r->err, E_FORMAT,
			 "the profile is truncated: a tuple of %llu items has "
			 "%zu bytes left",
			 (unsigned long long)n, r->n - r->at);
	return marshal_items_read(r, MARSHAL_TUPLE, n, ret);
}

static dck_status typed_read(marshal_reader *r, unsigned char type, marshal_value *ret)
{
	switch (type) {
	case 'N':
		*ret = (marshal_value){.kind = MARSHAL_NONE};
		return DCK_OK;
	case 'T':
	case 'F':
		*ret = (marshal_value){.kind = MARSHAL_NUMBER, .number = type == 'T'};
		return DCK_OK;
	case 'i':
	case 'l':
	case 'g':
		return marshal_number_read(r, type, ret);
	case 'z': /* ASCII of fewer than 256 characters, plain and interned */
	case 'Z':
		return marshal_text_read(r, true, ret);
	case 'a': /* ASCII, UTF-8, bytes */
	case 'A':
	case 'u':
	case 't':
	case 's':
		return marshal_text_read(r, false, ret);
	case 'r':
		return marshal_ref_read(r, ret);
	case ')':
		return tuple_read(r, true, ret);
	case '(':
	case '[':
		return tuple_read(r, false, ret);
	case '{':
		return marshal_items_read(r, MARSHAL_DICT, 0, ret);
	case 'c':
		DCK_FAIL(
		    r->err, E_FORMAT,
		    "the profile has compiled code as a name, as those of the module 'profile' "
		    "do: write it with 'python -m cProfile -o FILE'");
	default:
		DCK_FAIL(r->err, E_FORMAT,
			 "the profile has a value of type 0x%02x at byte %zu, "
			 "which profiles of Python do not have",
			 type, r->at - 1);
	}
}

static dck_status marshal_value_read(marshal_reader *r, marshal_value *ret)
{
	static const marshal_value open = {.kind = MARSHAL_OPEN};
	const size_t ref = r->refs.n;
	const unsigned char *type = NULL;

	DCK_TRY(marshal_bytes_take(r, 1, &type));
	if (*type & FLAG_REF) /* a container is numbered before its items */
		DCK_TRY(values_append(&r->refs, &open, 1, r->err));
	DCK_TRY(typed_read(r, (unsigned char)(*type & ~FLAG_REF), ret));
	if (*type & FLAG_REF)
		r->refs.at[ref] = *ret;
	return DCK_OK;
}

dck_status marshal_read(marshal_values *ret, const char *bytes, size_t n, dck_err *err)
{
	marshal_reader r = {.bytes = (const unsigned char *)bytes, .n = n, .err = err};
	marshal_value root;
	const dck_status status = marshal_value_read(&r, &root);

	mem_free(r.stack.at);
	mem_free(r.refs.at);
	if (status == DCK_OK)
		*ret = (marshal_values){.root = root, .items = r.items.at, .nitems = r.items.n};
	else
		mem_free(r.items.at);
	return status;
}

void marshal_values_done(marshal_values *v)
{
	mem_free(v->items);
	*v = (marshal_values){0};
}
