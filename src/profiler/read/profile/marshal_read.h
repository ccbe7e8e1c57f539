/* marshal_read.h - reads a value in Python's marshal encoding into plain arrays.
 *
 *	marshal_values v;
 *
 *	DCK_TRY(marshal_read(&v, bytes, n, err));
 *	... v.root.kind == MARSHAL_DICT, v.items[v.root.first] ...
 *	marshal_values_done(&v);
 *
 * Only what tables of numbers and names need: None, booleans, integers, reals, texts, tuples, lists
 * and dictionaries. Texts point into `bytes`. The number of values and
 * their nesting are limited.
 * Source: Python/marshal.c of CPython, versions 2 to 5 of the encoding
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IMPORT_MARSHAL_READ_H
#define IMPORT_MARSHAL_READ_H

#include "deepclock/base.h"

#include <stddef.h>
#include <stdint.h>

typedef enum marshal_kind {
	MARSHAL_OPEN, /* a container that is still being read; no finished value has this kind */
	MARSHAL_NONE,
	MARSHAL_NUMBER,
	MARSHAL_TEXT,
	MARSHAL_TUPLE, /* a list too */
	MARSHAL_DICT,  /* items: key, value, key, value, ... */
} marshal_kind;

typedef struct marshal_value {
	marshal_kind kind;
	uint32_t n; /* bytes of a text; items of a tuple; keys and values of a dictionary */
	union {
		double number;	  /* an integer past 2^53 is rounded */
		const char *text; /* not terminated */
		size_t first;	  /* index into marshal_values.items */
	};
} marshal_value;

typedef struct marshal_values {
	marshal_value root;
	marshal_value *items; /* @owned */
	size_t nitems;
} marshal_values;

/* Borrows `bytes` while *ret is used. E_FORMAT: truncated, nested too deeply, or with a type that
 * is not listed above; E_NOMEM. */
dck_status marshal_read(marshal_values *ret, const char *bytes, size_t n,
			dck_err *err) DCK_MUST_USE;
void marshal_values_done(marshal_values *v); /* {0} is allowed */

#endif
