/* accuracy.h - compares outputs numerically, and measures the accuracy of a classifier.
 *
 *     dck_accuracy_config c;
 *     dck_record *r;
 *     dck_err err;
 *     dck_accuracy_config_init(&c);
 *     c.labels = "labels.npy";
 *     c.predictions.item[c.predictions.n++] = "predictions.npy";
 *     if (dck_accuracy(NULL, 0, &c, NULL, &r, &err) == DCK_OK)
 *             printf("%g\n", dck_record_value(r, "accuracy/overall"));
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_ACCURACY_H
#define DCK_ACCURACY_H

#include "compare.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Initialise it with its _init function. Strings are borrowed. Options: dck_tolerance_options and
 * dck_accuracy_options. */
typedef struct dck_accuracy_config {
	uint32_t struct_size; /* set by dck_accuracy_config_init() */
	/* Outputs: elements are equal if |b - a| <= atol + rtol |a|, where a is the reference's. */
	const char *rtol, *atol; /* NULL: chosen by type, docs/commands/accuracy.md */
	/* Classifiers. */
	const char *labels;   /* FILE; NULL: none */
	dck_list predictions; /* "FILE" or "NAME=FILE"; empty: the subjects predict */
	dck_list inputs;      /* "FILE.npy" or "NAME=FILE.npy": the labelled items, along axis 0 */
	const char *output;   /* output with the class scores; NULL: the first */
	const char *target_names; /* "A,B,C" or "@FILE" */
	const char *label_list;	  /* "A,B,C" or "@FILE": classes of the report, in this order */
	uint64_t top_k;		  /* top-k accuracy; 1: only the highest score counts */
	uint64_t digits;
	const char *title; /* the record's `command`; NULL: none */
	dck_arrays arrays; /* arrays that labels, predictions and inputs may name */
} dck_accuracy_config;
DCK_API extern const dck_opt dck_tolerance_options[];
DCK_API extern const dck_opt dck_accuracy_options[];

/* Writes the defaults into the first argument, of struct_size bytes. @since 0.1 */
DCK_API void dck_accuracy_config_init_sized(dck_accuracy_config *c, uint32_t struct_size);
static inline void dck_accuracy_config_init(dck_accuracy_config *c)
{
	dck_accuracy_config_init_sized(c, (uint32_t)sizeof *c);
}

/* Without labels: compares the outputs of n subjects (at least 2) on the same inputs with the first
 * subject's. The record has table difference/outputs, metrics difference/... and fact
 * difference/verdict ("identical", "close", "different").
 * With labels and predictions (n 0), or with labels and inputs on which n subjects (at least 1) are
 * run: writes the classification report, tables accuracy/classes, accuracy/averages and
 * accuracy/confusion, metrics accuracy/overall, precision/..., recall/..., f1/..., support/...;
 * with several subjects also table accuracy/alternatives, the items that the others predict
 * differently, and the differences of their scores.
 * An ERROR note ("outputs-differ", "nan-predictions") states that the outputs differ or are NaN. If
 * a run fails or is cancelled after the first items, the record is incomplete and covers only the
 * items before. *ret is owned: dck_record_free(). c NULL: the defaults; watch NULL: silent.
 * Errors: those of dck_bench(); E_ARG: sizes or labels that do not fit; E_FORMAT: a file without
 * labels; E_UNSUP: outputs that cannot be compared. @since 0.1 */
DCK_API dck_status dck_accuracy(const dck_alternative *all, size_t n, const dck_accuracy_config *c,
				const dck_observer *watch, dck_record **ret,
				dck_err *err) DCK_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
