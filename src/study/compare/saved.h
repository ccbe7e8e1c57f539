/* saved.h - compares records that were saved before, and holds what the files of this comparison
 * share.
 *
 *	DCK_TRY(dck_compare_records(records, 2, &config, &record, err));
 *
 * The records were not measured in turns. So their estimates are independent, and what changed on
 * the machine between them is in no interval: a note says so where it matters. Raw samples are
 * used where the record has them, since these give an interval at any level.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COMPARE_SAVED_H
#define COMPARE_SAVED_H

#include "deepclock/compare.h"
#include "base/mem.h"
#include "record/comparable.h"
#include "study/compare/verdict.h"
#include "record/build.h"

/* The statistic of one record at one level. */
typedef struct saved_value {
	bool known; /* false: `why` says why there is none */
	bool exact; /* a count: it has no error */
	double value;
	bool has_interval; /* false with known: `why` says why, unless exact */
	double lo, hi;
	char why[192];
} saved_value;

/* --- saved_value.c: where it comes from. The raw samples where the record has them, since these
 * give an interval at any level; else the metric as it was kept. */
typedef enum saved_from { SAVED_METRIC, SAVED_RUNS, SAVED_PROCESSES } saved_from;

typedef struct saved_source {
	const dck_record *record;
	const dck_metric *metric; /* NULL: the samples alone decide */
	const dck_metric_def *def;
	saved_from from;
	int estimator;
	const double *runs; /* RUNS: n of them */
	size_t n;
	double *own, *scratch;
	double *process; /* PROCESSES: the statistic of each */
	size_t nprocesses;
	double run_to_run; /* of two such records, at 95 %: what lies between starts; 0: nothing */
	bool scale;	   /* a spread: processes are averaged on the logarithm */
	char failed[192];
} saved_source;

/* `name`: of the record, for sentences. E_ARG: the record has no such metric. */
dck_status saved_source_open(const dck_record *r, const char *name, const char *tag,
			     saved_source *ret, dck_err *err);
void saved_source_close(saved_source *s); /* {0} is allowed */
void saved_source_value(const saved_source *s, double level, saved_value *ret);

/* The tag that records are compared by when none is asked: that of the statistic, or what the
 * baseline is a record of; items per second where runs have different numbers of items. Static, or
 * in text. */
const char *saved_tag(const dck_record *const *records, size_t n, const dck_compare_config *c,
		      char *text, size_t size);
/* Items of a run; 0: not known. */
int64_t saved_items(const dck_record *r);

/* --- saved_ratio.c */
typedef struct saved_ratio {
	bool known; /* false: the value is no number, and `why` says why; lo and hi may decide */
	double value;
	double lo, hi;					 /* NaN: no interval */
	double difference, difference_lo, difference_hi; /* B - A, in the metric's unit */
	bool exact;
	char why[224];
} saved_ratio;

/* "Time over time": above 1 is worse, whichever way the metric points. The interval is that of two
 * independent estimates by square-and-add on logarithms: Zou and Donner, Statistics in Medicine 27
 * (2008), after Newcombe (1998). extra: what else is uncertain, half its interval, relative. */
void saved_ratio_find(const saved_value *a, const saved_value *b, bool higher_is_better,
		      saved_ratio *ret);
/* sqrt(x^2 + y^2 + ...) of the distances from a value to the end of its interval. */
double saved_square_add(double x, double y, double z);

/* --- saved.c: one record in the comparison. */
typedef struct saved_side {
	const dck_record *record;
	const char *name;
	saved_source source;
	saved_value value;		/* at the level of its verdict */
	comparable_differences differs; /* from the first record */
	saved_ratio ratio;		/* to the baseline */
	double level;			/* of the ratio's interval */
	verdict verdict;
	dck_verdict gate;
	bool open; /* no verdict yet, and it has an interval that may give one */
} saved_side;

typedef struct saved_comparison {
	const dck_compare_config *asked;
	const char *tag;
	const dck_metric_def *def;
	saved_side *sides; /* [n] */
	size_t n;
	size_t first; /* of those that are compared with the baseline */
	/* Sides 0 to first - 1 pooled, where there are several. */
	bool pooled;
	saved_side pool;
	double scatter; /* of the logarithms: their standard deviation */
	record_builder *b;
} saved_comparison;

/* saved_pooled.c: the last record against all before it. */
void saved_pooled_judge(saved_comparison *c);

/* saved_notes.c */
void saved_notes(const saved_comparison *c);

/* --- saved_names.c: what the records are called in results. name[n], each unique, in the arena;
 * false: no memory. */
bool saved_names(const dck_record *const *records, size_t n, const char *const *given, mem_arena *a,
		 const char **ret);

/* --- saved_ops.c: the operators of two profiles, where both have times. `suffix`: of the table's
 * name, "" or "/NAME". */
dck_status saved_operators(record_builder *b, const dck_record *from, const dck_record *to,
			   const char *suffix, const dck_compare_config *c, dck_err *err);

#endif
