/* measured.h - series for monitoring systems: one for each metric with a number, named by labels.
 *
 *	measured_series s = measured_series_of(record);
 *	... s.label[i].key, s.label[i].value ...
 *	if (measured_is_last(records, n, i, metric)) ... a series has one value: the newest
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_MEASURED_H
#define REPORT_MEASURED_H

#include "deepclock/record.h"

enum { MEASURED_LABELS_MAX = 4 };

typedef struct measured_label {
	const char *key, *value; /* value: borrowed from the record */
} measured_label;

typedef struct measured_series {
	measured_label label[MEASURED_LABELS_MAX]; /* those that the record has */
	size_t n;
} measured_series;

measured_series measured_series_of(const dck_record *r);
/* Returns whether the metric has a finite number. */
bool measured_has(const dck_metric *m);
/* Returns whether record i of n is the last that has this metric with these labels. */
bool measured_is_last(const dck_record *const *records, size_t n, size_t i, const dck_metric *m);
/* Returns whether it is the last of these labels that has a metric with a number. */
bool measured_is_newest(const dck_record *const *records, size_t n, size_t i);
/* Returns a metric by its tag, if it has a number; NULL: none. */
const dck_metric *measured_find(const dck_record *r, const char *tag);

#endif
