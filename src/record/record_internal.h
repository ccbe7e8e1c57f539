/* record_internal.h - private header of this directory: the owner of a record's memory.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORD_RECORD_INTERNAL_H
#define RECORD_RECORD_INTERNAL_H

#include "deepclock/record.h"
#include "base/mem.h"

/* Large arrays of a record, which are not copied to the arena. */
typedef struct record_rows {
	struct record_rows *next;
	void *rows; /* @owned */
} record_rows;

/* A record and the arena with the record, this struct and all that they point to but `large`. */
typedef struct record_owner {
	dck_record record; /* first, so that dck_record_free() finds the owner */
	mem_arena *arena;
	record_rows *large; /* in the arena */
} record_owner;

record_owner *record_box_new(void); /* @owned, dck_record_free(&box->record); NULL: no memory */

/* Returns the row of metrics.def for a tag: static; for a family ("precision/cat" belongs to the
 * row "precision/ *" without the space) a copy with that tag, in the arena. NULL: no such metric,
 * or no memory (then the arena has failed). */
const dck_metric_def *record_find_def(const char *tag, mem_arena *a);
/* Returns the row with numbers in that unit: `def`, or a copy in the arena if the unit is another
 * of the same kind (a model's rate is items/s, a program's runs/s). NULL: another kind, or no
 * memory. */
const dck_metric_def *record_def_in(const dck_metric_def *def, dck_unit u, mem_arena *a);
bool record_find_unit(const char *text, dck_unit *ret);
/* Return a fact of a section; NaN, 0, NULL: there is none, or it is of another kind. */
double record_get_real(const dck_record *r, const char *section, const char *key);
int64_t record_get_int(const dck_record *r, const char *section, const char *key);
const char *record_get_text(const dck_record *r, const char *section, const char *key);

struct dck_records; /* deepclock/unstable.h */
/* Makes room for n more. */
dck_status record_list_reserve(struct dck_records *r, size_t n, dck_err *err);
/* Append the records of a text or a file, which has one or a list of them. On failure those before
 * the bad one are in the list. */
dck_status record_list_parse(const char *json, size_t n, struct dck_records *to, dck_err *err);
dck_status record_list_load(const char *path, struct dck_records *to, dck_err *err);

/* Compares numbers by value; absent values are equal, whatever their reasons. */
bool record_value_equal(const dck_value *a, const dck_value *b);

/* An integer is exact in a double, and so is a JSON number, up to this magnitude. */
#define RECORD_EXACT_MAX INT64_C(9007199254740992)

/* The reason with which an operator's peer, time, rate or roof is not written to JSON. */
#define RECORD_NOT_MEASURED "not measured"

/* The numbers of an operator, in the order of every format: the member's name in JSON, its offset
 * in a dck_op, and whether it is measured: then it is left out if it was not. */
typedef struct record_op_number {
	const char *key;
	size_t at;
	bool measured;
} record_op_number;
enum { RECORD_OP_COUNTS = 6, RECORD_OP_TIME = 7, RECORD_OP_NUMBERS = 11 };
extern const record_op_number record_op_numbers[RECORD_OP_NUMBERS];
const dck_value *record_op_get(const dck_op *op, size_t i);
void record_op_set(dck_op *op, size_t i, dck_value v);

/* The members of an interval: of a metric or a cell, and of an operator's time. */
#define RECORD_INTERVAL	   ((const char *const[]){"lo", "hi", "level"})
#define RECORD_OP_INTERVAL ((const char *const[]){"time_lo", "time_hi", "time_level"})

/* Suffix of an operator's exact formula. */
#define RECORD_OPEN_SIZE \
	"open-size" /* DCK_ABSENCE_OPEN_SIZE as the member "code" of a JSON value */

/* "2026-11-21T04:56:52.123456789Z". text: at least RECORD_TIME_SIZE bytes. */
#define RECORD_TIME_SIZE 40
void record_time_text(int64_t unix_ns, char *text);
bool record_time_parse(const char *text, int64_t *ret_unix_ns);

/* Writes two values as dck_text_value(), with enough digits that values that differ do. */
#define RECORD_RANGE_SIZE 64
void record_range_text(dck_unit unit, double a, double b, char text[2][RECORD_RANGE_SIZE]);

#endif
