/* json_read.h - streaming JSON reader: reads JSON of any length token by token, from pieces that
 * the caller passes. It stores only the open brackets and the text of one token.
 *
 *	json_reader r;
 *	json_token t;
 *
 *	json_read_init(&r, more, self, "the file 'x'");
 *	while ((status = json_next(&r, &t, err)) == DCK_OK && t != JSON_END)
 *		if (t == JSON_KEY && strcmp(r.text, "name") == 0)
 *			...
 *
 * It accepts some common deviations: a byte order mark, a comma after the last element, NaN and
 * Infinity, characters in texts that should be escaped. Anything else that JSON does not allow is
 * refused.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_JSON_READ_H
#define BASE_JSON_READ_H

#include "deepclock/base.h"

enum { JSON_TEXT_MAX = 4000, JSON_NESTED_MAX = 512 };

typedef enum json_token {
	JSON_END, /* end of the bytes; r->depth brackets are still open */
	JSON_OBJECT,
	JSON_ARRAY,
	JSON_CLOSE,  /* the innermost object or array */
	JSON_KEY,    /* text */
	JSON_TEXT,   /* text */
	JSON_LITERAL /* text: a number, true, false, null */
} json_token;

typedef struct json_reader {
	/* Returns the next piece, valid until the next call; *ret_n 0: end of input. */
	dck_status (*more)(void *self, const uint8_t **ret, size_t *ret_n, dck_err *err);
	void *self;
	const char *label; /* begins a message; borrowed */
	const uint8_t *at, *end;
	uint64_t before; /* bytes before `end` */
	uint32_t depth;
	bool object[JSON_NESTED_MAX]; /* types of the open brackets, the outermost first */
	bool after_value;	      /* a comma or a bracket must follow */
	bool after_key;		      /* a value must follow */
	size_t n;		      /* bytes of text */
	char text[JSON_TEXT_MAX + 1]; /* NUL-terminated, cut after JSON_TEXT_MAX bytes */
} json_reader;

void json_read_init(json_reader *r,
		    dck_status (*more)(void *self, const uint8_t **ret, size_t *ret_n,
				       dck_err *err),
		    void *self, const char *label);
/* The same for n bytes in memory, which stay there while they are read. */
void json_read_bytes(json_reader *r, const void *bytes, size_t n, const char *label);
/* Reads the next token. E_FORMAT: invalid JSON, or it ends within a token. */
dck_status json_next(json_reader *r, json_token *ret, dck_err *err);
/* Skips an object or array after its JSON_OBJECT or JSON_ARRAY, its end included. Does nothing for
 * other tokens. */
dck_status json_skip(json_reader *r, json_token begun, dck_err *err);
/* Reads the next key of an object; *ret_more false: its end. E_FORMAT: the bytes end. */
dck_status json_next_key(json_reader *r, bool *ret_more, dck_err *err);
/* Reads up to the value of the next member whose key is in the NULL-terminated `keys`, of which it
 * skips the others: the index of the key (-1: end of the object), and the token of the value. */
dck_status json_next_member(json_reader *r, const char *const *keys, int *ret_key,
			    json_token *ret_value, dck_err *err);
/* Reads the next element of a list; JSON_CLOSE: its end. E_FORMAT: the bytes end. */
dck_status json_next_element(json_reader *r, json_token *ret, dck_err *err);
/* Parses the text of a JSON_LITERAL; false: not all of it is a number. */
bool json_number(const char *text, double *ret);

#endif
