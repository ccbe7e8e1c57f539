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

/* What came of one subject against the baseline: of a comparison that was measured, and of one of
 * records. */
typedef struct verdict_outcome {
	const char *name;  /* in facts and tags */
	const char *label; /* where people read it */
	dck_cell value;	   /* its time, or what else is compared */
	/* Time over the baseline's time; and what it is more, in the unit of the value. */
	dck_cell ratio, difference;
	verdict verdict;
	dck_verdict gate;
	char how[160]; /* the ratio was found */
} verdict_outcome;

dck_cell verdict_cell(double v, double lo, double hi, double level); /* level 0: no interval */
dck_cell verdict_cell_absent(const char *why);

/* Decimals of a ratio that show two digits of half of its interval. */
int verdict_decimals(double lo, double hi);

/* The record's answer: n subjects against `base`; margin: of the verdict "same". metric: what they
 * differ in; times and rates are faster or slower, all else is better or worse. */
void verdict_answer(record_builder *b, const char *base, const verdict_outcome *all, size_t n,
		    double margin, const dck_metric_def *metric);

/* Metrics compare/ratio of the first and, of several, compare/ratio/NAME of all. */
void verdict_metrics(record_builder *b, const verdict_outcome *all, size_t n);
void verdict_metric(record_builder *b, const char *tag, const verdict_outcome *o);

/* The table compare/alternatives; value: its second column; ratio: the title of the ratios. A row
 * is of the baseline, or of a part of it, which are compared with nothing since `why`; or of an
 * outcome. */
void verdict_table(record_builder *b, const char *title, const dck_column *value,
		   const char *ratio);
void verdict_row_base(record_builder *b, const char *label, dck_cell value, const char *why,
		      const char *word);
void verdict_row(record_builder *b, const verdict_outcome *o);

/* How many times as many rounds (or runs) would decide; the half-width falls with the root of their
 * number. NaN: none would, or not known. The ratio itself is `value`. */
double verdict_more(double value, double lo, double hi, double margin);

/* Facts compare/verdict of the first alternative and compare/verdict/NAME of all; compare/gate, and
 * the record's gate: the worst of theirs. */
void verdict_facts(record_builder *b, const verdict_outcome *all, size_t n);

#endif
