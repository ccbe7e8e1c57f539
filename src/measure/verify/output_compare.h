/* output_compare.h - numerical comparison (allclose): runs two opened targets on the same inputs,
 * compares their outputs element by element, and adds the result to a record.
 *
 *     compared x;
 *     DCK_TRY(compared_targets(&reference, &other, NULL, NULL, &x, err));
 *     compared_record(b, &x, 1);
 *     compared_done(&x);
 *
 * Both targets get the inputs of the first, which is the reference. An output that cannot be
 * compared is "unknown", with a reason; it never counts as equal. Nothing is timed here.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VERIFY_OUTPUT_COMPARE_H
#define VERIFY_OUTPUT_COMPARE_H

#include "measure/verify/tensor_compare.h"
#include "measure/subject/target.h"
#include "record/build.h"

/* From best to worst. */
typedef enum compared_verdict {
	AGREE_IDENTICAL, /* every element is equal */
	AGREE_CLOSE,	 /* within the tolerance */
	AGREE_UNKNOWN,	 /* not comparable: `why`; of all outputs together: none was */
	AGREE_DIFFERENT,
} compared_verdict;
extern const char *const compared_verdict_text[]; /* "identical", "close", "unknown", "different" */

typedef struct compared_output {
	const char *name;   /* name in the reference, or of an output that only the other has */
	const char *dtypes; /* "float32", or "float32, float16" if they differ */
	compared_verdict verdict;
	const char *why; /* with UNKNOWN and DIFFERENT: a clause; else NULL */
	bool compared;	 /* false: `sum` is not set */
	int32_t rank;	 /* with compared: the shape, of the last set */
	int64_t dim[DCK_RANK_MAX];
	double rtol;
	double atol; /* the largest of all sets */
	compared_sum sum;
} compared_output;

typedef struct compared {
	mem_arena *arena;
	const char *label; /* name of the compared target, if a record compares several; borrowed,
			      NULL: none */
	compared_verdict verdict;
	compared_output *outputs;
	size_t noutputs, nunknown;
	size_t sets;	    /* of inputs, compared */
	size_t asked;	    /* requested sets; more than `sets`: cancelled */
	bool parts;	    /* sets are parts of one tensor along axis 0 */
	bool tf32;	    /* one of both computes products of float32 in TF32 */
	const char *inputs; /* how the inputs were bound to both, a clause */
} compared;

/* Runs both once for every set of a's inputs and compares the outputs. Both get a's inputs, by
 * name, or by position if the names differ. Afterwards b is bound to its own inputs again; a must
 * stay open as long as b. `watch` (or NULL) is polled for cancellation; after the first set, a
 * cancelled comparison returns the sets so far. `limits` NULL: by the types of the outputs. The
 * caller owns *ret: compared_done(). E_UNSUP: an engine without outputs, no common output, or none
 * of numbers. E_ARG: inputs that cannot be the same. E_CANCEL. E_ENGINE: a run failed. */
dck_status compared_targets(subject_target *a, subject_target *b, const compared_limits *limits,
			    const dck_observer *watch, compared *ret, dck_err *err);

/* Opens two subjects and calls compared_targets(); a is the reference. */
dck_status compared_subjects(const dck_subject *a, const dck_subject *b,
			     const compared_limits *limits, const dck_observer *watch,
			     compared *ret, dck_err *err);

/* Starts a comparison of one output whose values the caller has, part by part: a set is a part. */
dck_status compared_begin(compared *ret, const char *output, const char *inputs, dck_err *err);
dck_status compared_part(compared *x, const dck_tensor *a, const dck_tensor *b,
			 const compared_limits *limits, dck_err *err);
dck_status compared_end(compared *x, dck_err *err);

/* Adds the result as the record's answer (record_answer()), for a command that does nothing else.
 */
void compared_answer(record_builder *b, const compared *list, size_t n);

void compared_done(compared *x); /* {0} is allowed */

/* Fails with E_ARG if s has no outputs. */
dck_status compared_can_check(const dck_subject *s, dck_err *err);
/* Compares the outputs of `measured`, which is s opened (NULL: opened here), with the outputs of
 * the same model without optimisations on one CPU thread, and adds the result to the record:
 * compared_record(), or the note outputs-not-compared. */
void output_compare_check(record_builder *b, const dck_subject *s, subject_target *measured,
			  const dck_observer *watch);

/* Adds the results of n comparisons with one reference: table difference/outputs, metrics
 * difference/..., facts of the section "difference", and a note for outputs that differ or could
 * not be compared. With n > 1 the name of a row starts with the label. A cancelled comparison makes
 * the record incomplete (note interrupted). Returns the worst verdict. */
compared_verdict compared_record(record_builder *b, const compared *list, size_t n);

#endif
