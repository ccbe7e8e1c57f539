/* saved.h - comparison of saved records; private header of its files.
 *
 *	DCK_TRY(dck_compare_records(records, 2, &config, &record, err));
 *
 * The records were not measured alternately, so their estimates are independent, and no interval
 * covers a change of the machine between them: a note states this where it matters. Raw samples are
 * used if the record has them, because they give an interval at any level.
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
	bool known; /* false: `why` is the reason */
	bool exact; /* a count: it has no error */
	double value;
	bool has_interval; /* false with known: `why` is the reason, unless exact */
	double lo, hi;
	char why[192];
} saved_value;

/* --- saved_value.c: source of a value: the raw samples if the record has them, because they give
 * an interval at any level; else the saved metric. */
typedef enum saved_from { SAVED_METRIC, SAVED_RUNS, SAVED_PROCESSES } saved_from;

typedef struct saved_source {
	const dck_record *record;
	const dck_metric *metric; /* NULL: only samples */
	const dck_metric_def *def;
	saved_from from;
	int estimator;
	const double *runs; /* RUNS: n of them */
	size_t n;
	double *own, *scratch;
	double *process; /* PROCESSES: the statistic of each */
	size_t nprocesses;
	double run_to_run; /* variation between two such records, at 95 %; 0: none */
	bool scale;	   /* a spread: processes are averaged on the logarithm */
	char failed[192];
} saved_source;

/* Finds the source of a metric. `name`: name of the record, for messages. E_ARG: the record has no
 * such metric. */
dck_status saved_source_open(const dck_record *r, const char *name, const char *tag,
			     saved_source *ret, dck_err *err);
void saved_source_close(saved_source *s); /* {0} is allowed */
/* Returns whether the value is of the runs of one process, whose interval does not include how much
 * starts differ. */
/* Returns whether it is compared by the mean of starts, where its record may report their median.
 */
bool saved_source_means(const saved_source *s);
bool saved_source_one_process(const saved_source *s);
/* Returns the half-width, on the logarithm, that run-to-run variation adds to it; 0: none. */
double saved_source_added(const saved_source *s, double level);
void saved_source_value(const saved_source *s, double level, saved_value *ret);
dck_cell saved_value_cell(const saved_value *v, double level); /* absent: with its reason */

/* Returns the metric to compare: the requested one, else the tag of the statistic, or the main
 * metric of the baseline's command; items per second if runs differ in items. Static, borrowed, or
 * in text. */
const char *saved_tag(const dck_record *const *records, size_t n, const dck_compare_config *c,
		      char *text, size_t size);
/* Returns the items of a run; 0: unknown. */
int64_t saved_items(const dck_record *r);

/* --- saved_ratio.c */
typedef struct saved_ratio {
	bool known; /* false: no value, for the reason `why`; lo and hi may decide */
	double value;
	double lo, hi;					 /* NaN: no interval */
	double difference, difference_lo, difference_hi; /* B - A, in the metric's unit */
	bool exact;
	char why[320];
} saved_ratio;

/* Computes the ratio as "time over time": above 1 is worse, whichever direction of the metric is
 * better. The interval is for two independent estimates, by square-and-add on logarithms: Zou and
 * Donner, Statistics in Medicine 27 (2008), after Newcombe (1998). extra: half-width of an
 * additional uncertainty, relative. */
void saved_ratio_find(const saved_value *a, const saved_value *b, bool higher_is_better,
		      saved_ratio *ret);
/* Returns sqrt(x^2 + y^2 + z^2) of the distances from a value to the end of its interval. */
double saved_square_add(double x, double y, double z);

/* --- saved.c: one record in the comparison. */
typedef struct saved_side {
	const dck_record *record;
	const char *name;
	saved_source source;
	saved_value value;		/* at the level of its verdict */
	comparable_differences differs; /* from the first record */
	saved_ratio ratio;		/* ratio to the baseline */
	double level;			/* of the ratio's interval */
	saved_source undisturbed;	/* of its undisturbed runs; no metric: not opened */
	bool disturbed, cores_moved;	/* the ratio's interval allows for other programs, for
					 * processors at another distance */
	verdict verdict;
	dck_verdict gate;
	bool open; /* undecided, with an interval that may decide */
} saved_side;

typedef struct saved_comparison {
	const dck_compare_config *asked;
	const char *tag;
	const dck_metric_def *def;
	saved_side *sides; /* [n] */
	size_t n;
	size_t first; /* first side that is compared with the baseline */
	/* Sides 0 to first - 1 are pooled, if several. */
	bool pooled;
	saved_side pool;
	double scatter; /* standard deviation of the logarithms */
	record_builder *b;
} saved_comparison;

/* Compares the last record with all before it (saved_pooled.c). */
void saved_pooled_judge(saved_comparison *c);

/* --- saved_conditions.c: other programs, and the distance of the processors. */
/* Opens the undisturbed runs of each side, if other programs may have moved the compared metric of
 * any. */
dck_status saved_conditions_open(saved_comparison *c, dck_err *err);
/* Extends the interval of the ratio of `s` to `from` by that of their undisturbed runs, if other
 * programs may have moved either, and by the ratio of their core-to-core latencies, if these
 * differ; without undisturbed runs the ratio has none. */
void saved_conditions_extend(const saved_comparison *c, const saved_side *from, saved_side *s,
			     double level);
/* Returns that of a record whose runs use several processors, in ns; else, or unknown, NaN. */
double saved_core_latency(const saved_side *s);

/* saved_notes.c */
void saved_notes(const saved_comparison *c);

/* --- saved_scaling.c: jobs of different numbers of ranks. */
#define SAVED_SCALING_METRIC "ranks/step"
/* E_ARG: the records are not of jobs, or of jobs of one size. */
dck_status saved_scaling_check(const saved_comparison *c, dck_err *err);
/* Strong scaling: makes the ratio of times one of rank times, 1 for a perfect job. */
void saved_scaling_ratio(const saved_comparison *c, saved_side *s);
/* Writes the answer and the table of efficiencies. false: without --scaling. */
bool saved_scaling_put(const saved_comparison *c);
int64_t saved_ranks(const dck_record *r); /* 0: it is not of a job */

/* Makes display names of the records (saved_names.c): name[n], each unique, in the arena; false: no
 * memory. */
bool saved_names(const dck_record *const *records, size_t n, const char *const *given, mem_arena *a,
		 const char **ret);

/* Compares the operators of two profiles, if both have times (saved_ops.c). `suffix`: of the
 * table's name, "" or "/NAME". */
dck_status saved_operators(record_builder *b, const dck_record *from, const dck_record *to,
			   const char *suffix, const dck_compare_config *c, dck_err *err);

#endif
