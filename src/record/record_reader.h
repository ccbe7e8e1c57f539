/* record_reader.h - reads the members of a record's JSON one by one, each with its position for the
 * error message.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORD_RECORD_READER_H
#define RECORD_RECORD_READER_H

#include "record/record_internal.h"
#include "record/lazy_jansson.h"

/* Bytes that the parser's tree may take; a million samples with their times take 90 MB. */
#define READER_MAX ((uint64_t)1 << 30)

/* The position in the document, for messages, and the arena of the record. */
typedef struct record_reader {
	mem_arena *arena;
	dck_err *err;
	const char *list; /* "metrics"; NULL: top level */
	size_t row;
	const char *sub; /* "outputs" inside a row; NULL: none */
	size_t sub_row;
	bool in_cell; /* "rows[3][2]" of a table */
	size_t cell;
} record_reader;

/* Set E_FORMAT: a missing member or one of another type; an invalid value. key NULL: the row. */
dck_status reader_type_error(const record_reader *rd, const char *key, const json_t *v,
			     const char *wanted);
dck_status reader_value_error(const record_reader *rd, const char *key, const char *what);
/* Fails with E_LIMIT. */
dck_status reader_rows_error(const record_reader *rd, const char *key);

/* An optional member that is missing leaves *ret as it was. */
typedef enum need { OPTIONAL, REQUIRED } need;

/* Returns `before`, the member's name before 0.1, if `o` has it and not `now`; else `now`. */
const char *reader_either(const json_t *o, const char *now, const char *before);
const char *reader_keep(record_reader *rd, const json_t *v);
dck_status reader_text(record_reader *rd, const json_t *o, const char *key, need n,
		       const char **ret);
dck_status reader_uint(record_reader *rd, const json_t *o, const char *key, need n, uint64_t max,
		       uint64_t *ret);
dck_status reader_unit(record_reader *rd, const json_t *o, dck_unit *ret);
/* Reads the list at `key`. A missing optional list is empty. */
dck_status reader_list(record_reader *rd, const json_t *o, const char *key, need n,
		       const json_t **ret, size_t *ret_n);
/* Read integers; above 2^53 they are text. false: not an integer. */
bool reader_int_of(const char *text, int64_t *ret);
bool reader_uint_of(const json_t *v, uint64_t *ret);
/* Reads a value of the document at `key` (NULL: at the current position). */
dck_status reader_bare(record_reader *rd, const char *key, const json_t *v, bool text_is_int,
		       dck_value *ret);
/* Reads "value" or "absent" of a fact, a metric or a cell. Text is an integer if `text_is_int`. */
dck_status reader_absent(record_reader *rd, const json_t *o, dck_value *ret);
dck_status reader_value(record_reader *rd, const json_t *o, bool text_is_int, dck_value *ret);
/* Reads the three members of an interval: all of them or none. */
dck_status reader_interval(record_reader *rd, const json_t *o, const char *const keys[3],
			   double *lo, double *hi, double *level);

/* record_parse_tables.c: read a table and a tree; row is a dck_table, a dck_tree. */
dck_status reader_table(record_reader *rd, const json_t *o, void *row);
dck_status reader_tree(record_reader *rd, const json_t *o, void *row);
/* Checks that names are unique, because tables and trees are looked up by name. */
dck_status reader_names(record_reader *rd, const char *list, const void *rows, size_t n,
			size_t size);

#endif
