/* verdict.h - equivalence and difference test of a ratio by its interval and a margin; one
 * definition for live and saved comparisons.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COMPARE_VERDICT_H
#define COMPARE_VERDICT_H

#include "record/build.h"

/* The compared metric if runs differ in items. */
#define ITEMS_METRIC "throughput/items"
/* The compared metric with --undisturbed. */
#define UNDISTURBED_METRIC "latency/undisturbed"
/* The remedy where too few runs are undisturbed. */
#define VERDICT_UNDISTURBED_REMEDY \
	"measure longer (--max-time), with fewer --threads, or without --undisturbed"

/* The printed times may give a ratio other than the one that decides; from this difference of the
 * logarithms on a note states which one counts. */
#define VERDICT_TIMES_DIFFER 0.02

typedef enum verdict { VERDICT_UNDECIDED, VERDICT_SAME, VERDICT_FASTER, VERDICT_SLOWER } verdict;
extern const char *const verdict_texts[]; /* "undecided", "same", "faster", "slower" */

/* Returns the verdict of the interval lo to hi of time over the baseline's time; NaN: none. same:
 * within 1/(1+margin) to 1+margin; slower, faster: entirely outside. With a margin of 0 no verdict
 * is "same". */
verdict verdict_of(double lo, double hi, double margin);

/* Result of one subject against the baseline, in a live or a saved comparison. */
typedef struct verdict_outcome {
	const char *name;  /* in facts and tags */
	const char *label; /* display name */
	dck_cell value;	   /* its time, or another compared metric */
	/* Time over the baseline's time; and the difference, in the unit of the value. */
	dck_cell ratio, difference;
	verdict verdict;
	dck_verdict gate;
	char how[160]; /* how the ratio was computed */
} verdict_outcome;

dck_cell verdict_cell(double v, double lo, double hi, double level); /* level 0: no interval */
dck_cell verdict_cell_absent(const char *why);
void verdict_cell_put(record_builder *b, const dck_cell *c);

/* Returns the decimals of a ratio that show two digits of its half-width. */
int verdict_decimals(double lo, double hi);

/* Adds the record's answer: n subjects against `base`; margin: of the verdict "same". metric: the
 * compared metric, NULL: a time; times and rates are faster or slower, others better or worse.
 * `where` ends the sentence. */
void verdict_answer(record_builder *b, const char *base, const verdict_outcome *all, size_t n,
		    double margin, const dck_metric_def *metric, const char *where);

/* Adds metric compare/ratio of the first outcome and, of several, compare/ratio/NAME of all. */
void verdict_metrics(record_builder *b, const verdict_outcome *all, size_t n);
void verdict_metric(record_builder *b, const char *tag, const verdict_outcome *o);

/* Adds the table compare/alternatives; value: its second column; ratio: the title of the ratios. A
 * row is the baseline, or a part of it, which is not compared for the reason `why`; or an outcome.
 */
void verdict_table(record_builder *b, const char *title, const dck_column *value,
		   const char *ratio);
void verdict_row_base(record_builder *b, const char *label, dck_cell value, const char *why,
		      const char *word);
/* metric: as for verdict_answer() */
void verdict_row(record_builder *b, const verdict_outcome *o, const dck_metric_def *metric);

#define VERDICT_MORE_MAX 400
/* Returns the factor by which the rounds (or runs) must grow to decide, because the half-width
 * falls with the root of their number. fixed: the part of the half-width, on the logarithm, that
 * does not. INFINITY: more than VERDICT_MORE_MAX, or none; NaN: none, at the margin itself.
 * `value` is the ratio. */
double verdict_more(double value, double lo, double hi, double margin, double fixed);

/* Sets the record's gate, and the fact compare/gate that states it. */
void verdict_gate(record_builder *b, dck_verdict v);
/* Adds facts compare/verdict of the first alternative and compare/verdict/NAME of all, and
 * verdict_gate() of the worst of them where `gate`. */
void verdict_facts(record_builder *b, const verdict_outcome *all, size_t n, bool gate);

#endif
