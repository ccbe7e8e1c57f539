/* operator_view.c - the table of operators that a trace of torch.profiler has, by one of its
 * columns.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/tree/operator_view.h"
#include "base/err.h"
#include "base/mem.h"
#include "record/tree/call_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Words of --sort for this table, their columns, and torch.profiler's names of these. */
static const char *const words[][2] = {
    {"memory", "memory"},
    {"self_memory", "self_memory"},
    {"device_memory", "device_memory"},
    {"self_device_memory", "self_device_memory"},
    {"cpu_memory_usage", "memory"},
    {"self_cpu_memory_usage", "self_memory"},
};

const char *operator_view_column(const char *word)
{
	for (size_t i = 0; word && i < sizeof words / sizeof *words; i++)
		if (strcmp(words[i][0], word) == 0)
			return words[i][1];
	return NULL;
}

typedef struct view_key {
	double value;
	size_t row;
} view_key;

/* Sorts the largest first, unknown values last, else in the previous order. */
static int view_by_value(const void *a, const void *b)
{
	const view_key *x = a, *y = b;

	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

static void view_table_put(const dck_table *t, const view_key *keys, size_t top, record_builder *b)
{
	record_table(b, t->name, t->title, t->columns, t->ncolumns);
	record_summary_columns(b, "calls self total device memory self_memory device_memory");
	for (size_t i = 0; i < t->nrows && i < top; i++) {
		for (size_t k = 0; k < t->ncolumns; k++)
			record_cell(b, t->cells[keys[i].row * t->ncolumns + k].value);
		if (i < CALL_VIEW_BRIEF)
			record_summary_row(b);
	}
}

dck_status operator_view_put(record_builder *b, const dck_record *r, const char *column, size_t top,
			     dck_err *err)
{
	const dck_table *t = dck_record_table(r, "operators");
	const dck_fact *why = dck_record_fact(r, "trace", "allocations");
	size_t at = 0;

	if (!t)
		DCK_FAIL(err, E_ABSENT,
			 "no table of operators to sort by %s: only traces of torch.profiler have "
			 "one",
			 column);
	while (at < t->ncolumns && strcmp(t->columns[at].key, column) != 0)
		at++;
	if (at == t->ncolumns)
		DCK_FAIL(err, E_ABSENT, "operators cannot be sorted by %s: %.200s", column,
			 why && why->value.kind == DCK_VALUE_ABSENT
			     ? why->value.as.text
			     : "no allocation on a device is in the file");
	view_key *keys = mem_zalloc(t->nrows + 1, sizeof *keys);
	DCK_NEED(keys, err, "to sort operators");
	for (size_t i = 0; i < t->nrows; i++) {
		const double v = dck_value_number(&t->cells[i * t->ncolumns + at].value);
		keys[i] = (view_key){isnan(v) ? -INFINITY : v, i};
	}
	qsort(keys, t->nrows, sizeof *keys, view_by_value);
	view_table_put(t, keys, top, b);
	mem_free(keys);
	return DCK_OK;
}
