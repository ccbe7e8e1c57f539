/* record_reader.c - reads typed members of a record's JSON document, with the path of each error.
 *
 * A layer over jansson: a function reads one member of an expected type, or fails with the path of
 * the member and the reason ("metrics[3].value is a list, not a number"). The reader has the
 * position as indices (list, row, sub, cell); reader_place() formats it only for an error.
 *
 * Numbers: JSON numbers are doubles to most parsers, so integers above 2^53 are written as decimal
 * strings (RFC 8259, section 6). A string is read as an integer only if the member has that
 * type (text_is_int); overflow and trailing bytes are refused.
 *
 * Texts are copied into the arena, so the document can be freed afterwards. A missing optional
 * member leaves its result as it was. A lack of memory is sticky in the arena.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/record_reader.h"
#include "base/err.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *reader_type_text(const json_t *v)
{
	static const char *const text[] = {
	    [JSON_OBJECT] = "an object", [JSON_ARRAY] = "a list",  [JSON_STRING] = "text",
	    [JSON_INTEGER] = "a number", [JSON_REAL] = "a number", [JSON_TRUE] = "true",
	    [JSON_FALSE] = "false",	 [JSON_NULL] = "null"};
	return !v ? "missing" : text[json_typeof(v)];
}

/* Writes the path of a member: "metrics[3].value". key NULL: the row itself. */
static const char *reader_place(const record_reader *rd, const char *key, char *text, size_t size)
{
	int n = 0;
	text[0] = '\0';
	if (rd->list)
		n = snprintf(text, size, "%s[%zu]", rd->list, rd->row);
	if (rd->sub)
		n += snprintf(text + n, size - (size_t)n, ".%s[%zu]", rd->sub, rd->sub_row);
	if (rd->in_cell)
		n += snprintf(text + n, size - (size_t)n, "[%zu]", rd->cell);
	if (key)
		snprintf(text + n, size - (size_t)n, "%s%s", n > 0 ? "." : "", key);
	return text;
}

dck_status reader_type_error(const record_reader *rd, const char *key, const json_t *v,
			     const char *wanted)
{
	char where[96];
	reader_place(rd, key, where, sizeof where);
	if (!v)
		DCK_FAIL(rd->err, E_FORMAT, "%s is missing; it should be %s", where, wanted);
	DCK_FAIL(rd->err, E_FORMAT, "%s is %s, not %s", where, reader_type_text(v), wanted);
}

dck_status reader_value_error(const record_reader *rd, const char *key, const char *what)
{
	char where[96];
	DCK_FAIL(rd->err, E_FORMAT, "%s %s", reader_place(rd, key, where, sizeof where), what);
}

dck_status reader_rows_error(const record_reader *rd, const char *key)
{
	char where[96];
	DCK_FAIL(rd->err, E_LIMIT, "%s has more rows than 1 GiB of memory holds",
		 reader_place(rd, key, where, sizeof where));
}

/* --- scalars. An optional member that is missing leaves *ret as it was. */

const char *reader_keep(record_reader *rd, const json_t *v)
{
	return mem_arena_dup_n(rd->arena, jansson->string_value(v), jansson->string_length(v));
}

dck_status reader_text(record_reader *rd, const json_t *o, const char *key, need n,
		       const char **ret)
{
	const json_t *v = jansson->object_get(o, key);
	if (!v && n == OPTIONAL)
		return DCK_OK;
	if (!json_is_string(v))
		return reader_type_error(rd, key, v, "text");
	*ret = reader_keep(rd, v);
	return DCK_OK;
}

const char *reader_either(const json_t *o, const char *now, const char *before)
{
	return !jansson->object_get(o, now) && jansson->object_get(o, before) ? before : now;
}

/* Reads an integer that is written as text, as integers above 2^53 are. */
bool reader_int_of(const char *text, int64_t *ret)
{
	char *end;
	if (text[0] != '-' && (text[0] < '0' || text[0] > '9'))
		return false;
	errno = 0;
	long long v = strtoll(text, &end, 10);
	if (errno != 0 || end == text || *end != '\0')
		return false;
	*ret = v;
	return true;
}

bool reader_uint_of(const json_t *v, uint64_t *ret)
{
	char *end;
	if (json_is_integer(v) && jansson->integer_value(v) >= 0) {
		*ret = (uint64_t)jansson->integer_value(v);
		return true;
	}
	if (!json_is_string(v))
		return false;
	const char *text = jansson->string_value(v);
	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	unsigned long long u = strtoull(text, &end, 10);
	if (errno != 0 || *end != '\0')
		return false;
	*ret = u;
	return true;
}

/* Reads the list at `key`. A missing optional one is empty. */
dck_status reader_list(record_reader *rd, const json_t *o, const char *key, need n,
		       const json_t **ret, size_t *ret_n)
{
	const json_t *v = jansson->object_get(o, key);
	if ((v || n == REQUIRED) && !json_is_array(v))
		return reader_type_error(rd, key, v, "a list");
	*ret = v;
	*ret_n = jansson->array_size(v);
	return DCK_OK;
}

dck_status reader_uint(record_reader *rd, const json_t *o, const char *key, need n, uint64_t max,
		       uint64_t *ret)
{
	const json_t *v = jansson->object_get(o, key);
	uint64_t u;
	if (!v && n == OPTIONAL)
		return DCK_OK;
	if (!json_is_integer(v) && !json_is_string(v))
		return reader_type_error(rd, key, v, "an integer");
	if (!reader_uint_of(v, &u) || u > max) {
		char what[64];
		snprintf(what, sizeof what, "is not an integer from 0 to %" PRIu64, max);
		return reader_value_error(rd, key, what);
	}
	*ret = u;
	return DCK_OK;
}

static dck_status reader_real_get(record_reader *rd, const json_t *o, const char *key, double *ret)
{
	const json_t *v = jansson->object_get(o, key);
	if (!json_is_number(v))
		return reader_type_error(rd, key, v, "a number");
	*ret = jansson->number_value(v);
	return DCK_OK;
}

/* Converts a JSON number. Integers that are exact in a double are integers; larger ones are written
 * as text, so a larger number is a real without a fraction. */
static dck_value number_of_json(const json_t *v)
{
	if (json_is_integer(v) && jansson->integer_value(v) <= RECORD_EXACT_MAX &&
	    jansson->integer_value(v) >= -RECORD_EXACT_MAX)
		return (dck_value){.kind = DCK_VALUE_INT, .as.i = jansson->integer_value(v)};
	return (dck_value){.kind = DCK_VALUE_REAL, .as.r = jansson->number_value(v)};
}

dck_status reader_unit(record_reader *rd, const json_t *o, dck_unit *ret)
{
	const json_t *v = jansson->object_get(o, "unit");
	if (!v)
		return DCK_OK;
	if (!json_is_string(v))
		return reader_type_error(rd, "unit", v, "text");
	if (jansson->string_length(v) > 0 && record_find_unit(jansson->string_value(v), ret))
		return DCK_OK;
	return reader_value_error(rd, "unit", "is not a unit of this version");
}

/* Reads the value at `key` (NULL: at the position of the reader). */
dck_status reader_bare(record_reader *rd, const char *key, const json_t *v, bool text_is_int,
		       dck_value *ret)
{
	if (json_is_number(v)) {
		*ret = number_of_json(v);
	} else if (json_is_string(v) && text_is_int) {
		ret->kind = DCK_VALUE_INT;
		if (!reader_int_of(jansson->string_value(v), &ret->as.i))
			return reader_value_error(
			    rd, key, "is text that is not a 64-bit integer, not a number");
	} else if (json_is_string(v)) {
		ret->kind = DCK_VALUE_TEXT;
		ret->as.text = reader_keep(rd, v);
	} else if (json_is_boolean(v) && !text_is_int) {
		*ret = (dck_value){.kind = DCK_VALUE_BOOL, .as.b = json_is_true(v)};
	} else {
		return reader_type_error(
		    rd, key, v, text_is_int ? "a number" : "text, a number, true or false");
	}
	return DCK_OK;
}

/* Reads "absent" and "code". */
dck_status reader_absent(record_reader *rd, const json_t *o, dck_value *ret)
{
	const char *code = NULL;

	DCK_TRY(reader_text(rd, o, "absent", REQUIRED, &ret->as.text));
	DCK_TRY(reader_text(rd, o, "code", OPTIONAL, &code));
	ret->kind = DCK_VALUE_ABSENT;
	ret->absence =
	    code && strcmp(code, RECORD_OPEN_SIZE) == 0 ? DCK_ABSENCE_OPEN_SIZE : DCK_ABSENCE_OTHER;
	return DCK_OK;
}

/* Reads "value" or "absent" of a fact, a metric or a cell. Text is an integer where `text_is_int`.
 * */
dck_status reader_value(record_reader *rd, const json_t *o, bool text_is_int, dck_value *ret)
{
	const json_t *v = jansson->object_get(o, "value");
	const json_t *absent = jansson->object_get(o, "absent");
	if ((v == NULL) == (absent == NULL))
		return reader_value_error(rd, NULL,
					  !v ? "has neither \"value\" nor \"absent\""
					     : "has both \"value\" and \"absent\"");
	return absent ? reader_absent(rd, o, ret) : reader_bare(rd, "value", v, text_is_int, ret);
}

/* Reads the three members of an interval: all of them or none. */
dck_status reader_interval(record_reader *rd, const json_t *o, const char *const keys[3],
			   double *lo, double *hi, double *level)
{
	double *const to[] = {lo, hi, level};
	bool any = false;

	for (int i = 0; i < 3; i++)
		any = any || jansson->object_get(o, keys[i]);
	for (int i = 0; i < 3 && any; i++)
		DCK_TRY(reader_real_get(rd, o, keys[i], to[i]));
	if (any && !(*level > 0 && *level < 1))
		return reader_value_error(rd, keys[2], "is not between 0 and 1");
	if (any && *lo > *hi)
		return reader_value_error(rd, keys[0], "is greater than the upper end");
	return DCK_OK;
}
