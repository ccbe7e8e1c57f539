/* measured.h - metrics of several records as series for monitoring systems: a series is a metric of
 * a group of records, those with equal labels, and has one value: the newest.
 *
 *	measured m;
 *	DCK_TRY(measured_make(records, n, &m, err));
 *	... m.row[i] ... by metric
 *	measured_done(&m);
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_MEASURED_H
#define REPORT_MEASURED_H

#include "base/mem.h"
#include "deepclock/record.h"

enum { MEASURED_LABELS_MAX = 4 };

typedef struct measured_label {
	const char *key, *value; /* value: borrowed from the record */
} measured_label;

typedef struct measured_labels {
	measured_label label[MEASURED_LABELS_MAX]; /* those that the record has */
	size_t n;
} measured_labels;

measured_labels measured_labels_of(const dck_record *r);
/* Returns whether the metric has a finite number. */
bool measured_has(const dck_metric *m);

typedef struct measured_row {
	const dck_record *record;
	const dck_metric *metric;
	size_t tag, group; /* numbers in the order of first occurrence */
	size_t at;	   /* position of the value among all */
} measured_row;

typedef struct measured {
	measured_row
	    *row; /* the newest value of each series: by tag, by unit, in the order of records */
	size_t n;
	const dck_record **newest; /* of each group, with a metric that has a number */
	size_t ngroups;
	mem_arena *arena;
} measured;

dck_status measured_make(const dck_record *const *records, size_t n, measured *ret, dck_err *err);
void measured_done(measured *m);

#endif
