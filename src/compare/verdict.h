/* verdict.h - what an interval of a ratio says, given the margin that does not matter. Stated here
 * once, for live and for saved comparisons.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COMPARE_VERDICT_H
#define COMPARE_VERDICT_H

#include "record/build.h"

typedef enum verdict { VERDICT_UNDECIDED, VERDICT_SAME, VERDICT_FASTER, VERDICT_SLOWER } verdict;
extern const char *const verdict_texts[]; /* "undecided", "same", "faster", "slower" */

/* lo to hi: interval of time over the baseline's time; NaN: none. same: within 1/(1+margin) to
 * 1+margin; slower, faster: wholly beyond it. A margin of 0 leaves no "same". */
verdict verdict_of(double lo, double hi, double margin);
/* What came of one subject against the baseline, for a sentence. ratio: time over time, 0: there is
 * none; lo NaN: no interval. */
typedef struct verdict_said {
	const char *name;
	verdict verdict;
	double ratio, lo, hi;
} verdict_said;

/* Decimals of a ratio that show two digits of half of its interval. */
int verdict_decimals(double lo, double hi);

/* The record's answer: n subjects against `base`; margin: of the verdict "same". what NULL: they
 * are times; else the metric's name. */
void verdict_answer(record_builder *b, const char *base, const verdict_said *all, size_t n,
		    double margin, const char *what);

/* How many times as many rounds (or runs) would decide; the half-width falls with the root of their
 * number. NaN: none would, or not known. The ratio itself is `value`. */
double verdict_more(double value, double lo, double hi, double margin);

/* Facts compare/verdict of the first alternative and compare/verdict/NAME of all; compare/gate, and
 * the record's gate: the worst of `gates`. */
void verdict_facts(record_builder *b, const char *const *names, const verdict *verdicts,
		   const dck_verdict *gates, size_t n);

#endif
