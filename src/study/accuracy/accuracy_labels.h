/* accuracy_labels.h - labels and predictions of a classifier: reads them from files, takes the
 * argmax of scores, and maps them to classes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ACCURACY_ACCURACY_LABELS_H
#define ACCURACY_ACCURACY_LABELS_H

#include "base/mem.h"
#include "deepclock/bench.h"
#include "measure/verify/tensor_compare.h"

#define LABEL_NONE INT64_MIN /* scores with a NaN: no class */

/* One label per item: integers, or texts. */
typedef struct labels {
	const char *from; /* the file or model, for messages */
	size_t n;
	bool text;
	int64_t *number; /* without text */
	char **texts;	 /* with */
	size_t nnone, first_none;
	size_t columns;	    /* number of scores per item; 0: labels without scores */
	uint64_t *ahead;    /* with columns: scores above the true label's; NULL: not counted */
	const char *header; /* a first line that was read as a header; NULL: none */
} labels;

/* Returns the maximum size of a file in bytes: half of the memory. */
size_t labels_limit(void);

/* Reads an array in memory, a .npy (integers or texts; `scores`: also [N][K] scores) or a text file
 * with one label per line, of at most `limit` bytes. Results live in the arena. truth: used to
 * count `ahead`; NULL: not counted. E_ABSENT, E_IO, E_LIMIT; E_FORMAT: the message names the
 * invalid label and its position. */
dck_status labels_read(mem_arena *a, const char *path, const dck_arrays *memory, size_t limit,
		       bool scores, const labels *truth, labels *ret, dck_err *err);

/* Allocates n labels, to be picked from `columns` scores each. */
dck_status labels_new(mem_arena *a, const char *from, size_t n, size_t columns, bool ahead,
		      labels *ret, dck_err *err);
/* Sets the label of item i to the first of the highest scores; LABEL_NONE with any NaN. */
void labels_pick(labels *to, size_t i, const double *score, const labels *truth);

/* A comma-separated list, or "@FILE" with one name per line. */
typedef struct label_names {
	const char **name;
	size_t n;
} label_names;
dck_status label_names_read(mem_arena *a, const char *option, const char *text, label_names *ret,
			    dck_err *err);

/* Replaces texts by the indices of their names, which index the scores. E_ARG: a text is not among
 * the names, or twice. */
dck_status labels_number(mem_arena *a, labels *l, const label_names *names, dck_err *err);

/* The classes of labels and predictions. */
typedef struct classes {
	const char **name; /* [n], display names */
	size_t n;
	bool complete;	      /* every label and prediction is in one of them */
	uint32_t *truth;      /* [items]; n: not one of the classes */
	uint32_t **predicted; /* [npredictions][items] */
} classes;

/* Makes the classes. `list` NULL: all labels that occur, sorted. names NULL: the labels themselves.
 * E_ARG: sizes, the list of labels or the names do not match. */
dck_status classes_make(mem_arena *a, const labels *truth, const labels *predictions,
			size_t npredictions, const label_names *list, const label_names *names,
			classes *ret, dck_err *err);

#endif
