/* output_compare.h - are the answers still the same? Runs two opened targets on the same inputs,
 * compares their outputs element by element, and puts the result into a record.
 *
 *     agree x;
 *     DCK_TRY(compared_targets(&reference, &other, NULL, NULL, &x, err));
 *     compared_record(b, &x, 1);
 *     compared_done(&x);
 *
 * Both targets get the inputs of the first, which is the reference. An output that cannot be
 * compared is "unknown" and has a reason; it is never taken for equal. Nothing is timed here.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VERIFY_AGREE_H
#define VERIFY_AGREE_H

#include "measure/verify/tensor_compare.h"
#include "measure/subject/target.h"
#include "record/build.h"

/* In the order in which they get worse. */
typedef enum compared_verdict {
	AGREE_IDENTICAL, /* every element is equal */
	AGREE_CLOSE,	 /* within the tolerance */
	AGREE_UNKNOWN,	 /* could not be compared: `why`; of all outputs together: none could */
	AGREE_DIFFERENT,
} compared_verdict;
extern const char *const compared_verdict_text[]; /* "identical", "close", "unknown", "different" */

typedef struct compared_output {
	const char *name;   /* the reference's, or of an output that only the other has */
	const char *dtypes; /* "float32", or "float32, float16" where they differ */
	compared_verdict verdict;
	const char *why; /* with UNKNOWN and DIFFERENT: a clause; else NULL */
	bool compared;	 /* false: there is no `sum` */
	int32_t rank;	 /* with compared: the shape, of the last set */
	int64_t dim[DCK_RANK_MAX];
	double rtol;
	double atol; /* the largest of all sets */
	compared_sum sum;
} compared_output;

typedef struct compared {
	mem_arena *arena;
	const char *label; /* whose outputs these are, where a record compares several; the
			      caller's, NULL: none */
	compared_verdict verdict;
	compared_output *outputs;
	size_t noutputs, nunknown;
	size_t sets;	    /* of inputs, that were compared */
	size_t asked;	    /* more than those: it was cancelled */
	bool parts;	    /* sets are parts of one tensor along axis 0 */
	const char *inputs; /* how the inputs were given to both, a clause */
} compared;

/* Runs both once for every set of a's inputs and compares what came out. Both get a's inputs, by
 * their names, or by their positions where the names differ. b is fed its own again afterwards; a
 * must stay open as long as b. `watch` (or NULL) is asked whether to stop, and if so after
 * the first set, the result is of those before; `limits` NULL: by the outputs' types. *ret is
 * owned: compared_done().
 * E_UNSUP: an engine without outputs, no output that both have, or none of numbers. E_ARG: inputs
 * that cannot be the same. E_CANCEL. E_ENGINE: a run failed. */
dck_status compared_targets(subject_target *a, subject_target *b, const compared_limits *limits,
			    const dck_observer *watch, compared *ret, dck_err *err);

/* compared_targets() of two that are opened for it; a is the reference. */
dck_status compared_subjects(const dck_subject *a, const dck_subject *b,
			     const compared_limits *limits, const dck_observer *watch,
			     compared *ret, dck_err *err);

/* The same for one output of which the values are at hand, part by part: a set is a part. */
dck_status compared_begin(compared *ret, const char *output, const char *inputs, dck_err *err);
dck_status compared_part(compared *x, const dck_tensor *a, const dck_tensor *b,
			 const compared_limits *limits, dck_err *err);
dck_status compared_end(compared *x, dck_err *err);

/* What came out in a sentence: record_answer(). For a command that does nothing else. */
void compared_answer(record_builder *b, const compared *list, size_t n);

void compared_done(compared *x); /* {0} is allowed */

/* E_ARG: s has no outputs. */
dck_status compared_can_check(const dck_subject *s, dck_err *err);
/* Compares the outputs of `measured`, which is s opened (NULL: it is opened here), with those of
 * the same model without optimisations on one thread of the processor, and adds what came of it to
 * the record: compared_record(), or the note outputs-not-compared. */
void output_compare_check(record_builder *b, const dck_subject *s, subject_target *measured,
			  const dck_observer *watch);

/* Adds table difference/outputs, metrics difference/..., facts of the section "difference", and of
 * those that differ or could not be compared a note. n of them, each against the same reference;
 * with n > 1 a row's name begins with the label. One that was cancelled makes the record incomplete
 * (note interrupted). Returns the worst verdict. */
compared_verdict compared_record(record_builder *b, const compared *list, size_t n);

#endif
