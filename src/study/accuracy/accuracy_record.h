/* accuracy_record.h - classification metrics: compares predictions with labels, as metrics and
 * tables of a record.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ACCURACY_ACCURACY_RECORD_H
#define ACCURACY_ACCURACY_RECORD_H

#include "study/accuracy/accuracy_labels.h"
#include "record/build.h"

typedef struct accuracy_result {
	const classes *classes;
	const labels *truth, *predictions; /* [n] */
	const char *const *names;	   /* [n] names of the models */
	size_t n;			   /* at least 1; the first is the reference */
	uint64_t digits, top_k;
} accuracy_result;

/* Refuses a --top-k above the number of scores of an item; 0 columns: an item has none. */
dck_status accuracy_top_k_check(uint64_t top_k, size_t columns, dck_err *err);

/* Adds the report of the first predictions (tables accuracy/classes, accuracy/averages and
 * accuracy/confusion or accuracy/confusions; metrics), and table accuracy/alternatives of all
 * predictions. E_NOMEM. */
dck_status accuracy_record(record_builder *b, mem_arena *a, const accuracy_result *r, dck_err *err);

#endif
