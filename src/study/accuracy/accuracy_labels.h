/* accuracy_labels.h - labels and predictions of a classifier: read from files, picked from scores,
 * and made into classes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ACCURACY_ACCURACY_LABELS_H
#define ACCURACY_ACCURACY_LABELS_H

#include "base/mem.h"
#include "deepclock/bench.h"
#include "measure/verify/tensor_compare.h"

#define LABEL_NONE INT64_MIN /* scores that are no numbers: no class can be picked */

/* One label for each item: whole numbers, or texts. */
typedef struct labels {
	const char *from; /* the file or model, for sentences */
	size_t n;
	bool text;
	int64_t *number; /* without text */
	char **texts;	 /* with */
	size_t nnone, first_none;
	size_t columns;	    /* picked from so many scores; 0: they were labels already */
	uint64_t *ahead;    /* with columns: scores ahead of the true label's; NULL: not counted */
	const char *header; /* a first line that was taken for one; NULL: none */
} labels;

/* Bytes of a file that are read at most: half of the memory. */
size_t labels_limit(void);

/* Reads an array in memory, a .npy (whole numbers or texts; `scores`: also [N][K] scores) or a text
 * file with a label on each line. Everything lives in the arena. truth: counts `ahead`; NULL: not.
 * At most `limit` bytes. E_ABSENT, E_IO, E_LIMIT; E_FORMAT: what is no label, and where. */
dck_status labels_read(mem_arena *a, const char *path, const dck_arrays *memory, size_t limit,
		       bool scores, const labels *truth, labels *ret, dck_err *err);

/* Room for n labels picked from `columns` scores each. */
dck_status labels_new(mem_arena *a, const char *from, size_t n, size_t columns, bool ahead,
		      labels *ret, dck_err *err);
/* Item i: the first of the highest scores; any NaN: none. */
void labels_pick(labels *to, size_t i, const double *score, const labels *truth);

/* A comma-parted list, or "@FILE" with one name on each line. */
typedef struct label_names {
	const char **name;
	size_t n;
} label_names;
dck_status label_names_read(mem_arena *a, const char *option, const char *text, label_names *ret,
			    dck_err *err);

/* Texts become the positions of their names, as in scores. E_ARG: one has no name. */
dck_status labels_number(mem_arena *a, labels *l, const label_names *names, dck_err *err);

/* The classes of labels and predictions. */
typedef struct classes {
	const char **name; /* [n], as they are shown */
	size_t n;
	bool complete;	      /* every label and prediction is of one of them */
	uint32_t *truth;      /* [items]; n: none of them */
	uint32_t **predicted; /* [npredictions][items] */
} classes;

/* `list` NULL: all that occur, sorted. names NULL: the labels themselves. E_ARG: sizes that do not
 * fit, a label list or names that do not. */
dck_status classes_make(mem_arena *a, const labels *truth, const labels *predictions,
			size_t npredictions, const label_names *list, const label_names *names,
			classes *ret, dck_err *err);

#endif
