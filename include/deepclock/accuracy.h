/* accuracy.h - are the answers still the same, and are they right?
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

/* Fill it with its _init function. Texts are borrowed. Rows:
 * dck_tolerance_options and dck_accuracy_options. */
typedef struct dck_accuracy_config {
	uint32_t struct_size; /* set by dck_accuracy_config_init() */
	/* Of outputs. An element is the same when |b - a| <= atol + rtol |a|, a the reference's. */
	const char *rtol, *atol; /* NULL: by the outputs' types, docs/commands/accuracy.md */
	/* Of a classifier. */
	const char *labels;   /* FILE; NULL: there are none */
	dck_list predictions; /* "FILE" or "NAME=FILE"; empty: the subjects predict */
	dck_list inputs;      /* "FILE.npy" or "NAME=FILE.npy": the labelled items, along axis 0 */
	const char *output;   /* whose highest score is the prediction; NULL: the first */
	const char *target_names; /* "A,B,C" or "@FILE" */
	const char *label_list;	  /* "A,B,C" or "@FILE": the classes of the report, in that order */
	uint64_t top_k;		  /* 1: only whether the highest score is right */
	uint64_t digits;
	const char *title; /* the record's `command`; NULL: none */
	dck_arrays arrays; /* that labels, predictions and inputs may name */
} dck_accuracy_config;
DCK_API extern const dck_opt dck_tolerance_options[];
DCK_API extern const dck_opt dck_accuracy_options[];

/* The defaults, for a caller that is compiled with this header. @since 0.1 */
DCK_API void dck_accuracy_config_init_sized(dck_accuracy_config *c, uint32_t struct_size);
static inline void dck_accuracy_config_init(dck_accuracy_config *c)
{
	dck_accuracy_config_init_sized(c, (uint32_t)sizeof *c);
}

/* Without labels: the outputs of n subjects (at least 2) on the same inputs, against those of the
 * first: table difference/outputs, metrics difference/..., fact difference/verdict ("identical",
 * "close", "different").
 * With labels and predictions (n 0), or with labels and inputs that n subjects (at least 1) are run
 * on: the classification report, tables accuracy/classes, accuracy/averages and accuracy/confusion,
 * metrics accuracy/overall, precision/..., recall/..., f1/..., support/...; with several subjects
 * also what the others predict differently, table accuracy/alternatives, and the differences of
 * their scores.
 * An ERROR note ("outputs-differ", "nan-predictions") says that the answers are not the same, or no
 * numbers. When a run fails or is cancelled after the first items, the record is incomplete and of
 * those. *ret is owned: dck_record_free(). c NULL: the defaults; watch NULL: silent.
 * Errors: those of dck_bench(); E_ARG: sizes or labels that do not fit; E_FORMAT: a file that holds
 * no labels; E_UNSUP: outputs that cannot be compared. @since 0.1 */
DCK_API dck_status dck_accuracy(const dck_alternative *all, size_t n, const dck_accuracy_config *c,
				const dck_observer *watch, dck_record **ret,
				dck_err *err) DCK_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
