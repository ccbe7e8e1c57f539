/* pit.h - makes known mistakes of measuring on purpose, and shows how wrong the number becomes.
 * This file holds what the mistakes share.
 *
 *	{.says = {"one-sample", "one single run as the result", ...}, .measure = pit_one_sample},
 *
 * Each mistake is one row of pit_rows[]: a text and a function that gives the mistaken number and
 * the honest one. To add a mistake, add a row and its function.
 *
 * The honest session stays open and warm all the time. Where both numbers are measured trial by
 * trial, this is done in pairs, in changing order, so that slow changes of the machine disturb
 * both alike. A row that cannot be measured fails with the reason, and the others go on.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PITFALLS_PIT_H
#define PITFALLS_PIT_H

#include "deepclock/pitfalls.h"
#include "measure/session.h"
#include "os/os.h"
#include "record/build.h"

#define PIT_ROUNDS_MAX	 400
#define PIT_OPENINGS_MAX 12
#define PIT_RUNS_MAX	 100 /* of a fresh session */
#define PIT_SINGLES_MAX	 16384

/* A fresh start of the subject, and its first runs. */
typedef struct pit_opening {
	double open_ns;	     /* library and session */
	double reference_ns; /* an honest trial right before and one right after, their mean */
	double run_ns[PIT_RUNS_MAX];
} pit_opening;

typedef struct pit {
	const dck_subject *subject;
	const dck_pitfalls_config *asked;
	measure_plan plan;
	measure_shared shared;
	measure_session session; /* the honest one, open and warm all the time */
	double run_ns;		 /* about what a run takes, to plan with */
	double resolution; /* A/A noise: the largest difference of the subject from itself, as a
			      share */
	/* For progress. */
	const char *phase;
	size_t row, nrows;
	const struct pit_row *made; /* the mistake that is measured */
	uint64_t rows_begin_ns;
	/* Single runs of the honest session, one after the other. */
	double *single_ns; /* [PIT_SINGLES_MAX], heap */
	size_t nsingles;
	/* Fresh starts; several rows look at the same. */
	pit_opening *openings; /* [PIT_OPENINGS_MAX], heap */
	size_t nopenings, opening_runs;
	dck_err opening_failed; /* code OK: not yet */
	double *scratch;	/* stat_scratch(PIT_SINGLES_MAX) and as many values, heap */
	bool not_waiting;
} pit;

/* What came of one mistake. */
typedef struct pit_finding {
	double number_ns; /* what it gives */
	double honest_ns; /* what it should give */
	double factor;	  /* the first over the second, of pairs of trials */
	bool has_interval;
	double lo, hi; /* of the factor */
	bool certain;  /* needs no interval: a clock that reads 0 is wrong */
	char seen[400];
} pit_finding;

typedef struct pit_row {
	dck_pitfall says;
	/* Fails with the reason why there is no number. */
	dck_status (*measure)(pit *p, pit_finding *ret, dck_err *err);
	/* What some of these functions need to know of their row. */
	size_t runs;
	double (*reading)(pit *p, const pit_opening *o, size_t runs);
	bool wall; /* the mistake is the wall time */
	bool (*clock)(dck_clock *ret);
} pit_row;
extern const pit_row pit_rows[]; /* ended by one with no key */

/* --- pitfalls_blocks.c: trials, and pairs of them */
typedef dck_status (*pit_measure)(pit *p, void *self, double *ret_ns, dck_err *err);
typedef struct pit_trial {
	pit_measure measure;
	void *self;
} pit_trial;

typedef struct pit_pairs {
	size_t n;
	double honest_ns, mistaken_ns;	  /* medians of the trials */
	double log_ratio[PIT_ROUNDS_MAX]; /* mistaken over honest, in their order */
	double factor, lo, hi;
	bool has_interval;
} pit_pairs;

bool pit_is_command(const pit *p);
/* Runs that do not count, then those whose median it is. self: a measure_loop. */
dck_status pit_trial_loop(pit *p, void *self, double *ret_ns, dck_err *err);
/* The same with their mean: what disturbs few runs, but those for long, moves no median. */
dck_status pit_trial_mean(pit *p, void *self, double *ret_ns, dck_err *err);
/* The same for something else than a run: `step` is all that the clock encloses, `after` (may be
 * NULL) follows outside. self: a pit_step. */
typedef struct pit_step {
	dck_status (*step)(pit *p, void *self, dck_err *err);
	dck_status (*after)(pit *p, void *self, dck_err *err);
	void *self;
} pit_step;
dck_status pit_trial_step(pit *p, void *self, double *ret_ns, dck_err *err);
/* One run of the honest session and nothing else, as a step. */
dck_status pit_step_run(pit *p, void *self, dck_err *err);

/* The honest session as it is. */
pit_trial pit_honest(pit *p);
/* Pairs of trials in changing order until the row's time is over. */
dck_status pit_pair(pit *p, pit_trial honest, pit_trial mistaken, pit_pairs *ret, dck_err *err);
/* The same as the finding of a mistake. */
dck_status pit_pair_find(pit *p, pit_trial honest, pit_trial mistaken, pit_finding *ret,
			 dck_err *err);
/* The pairs of `from` after those of `to`, judged together; those without room are left out. */
dck_status pit_pairs_add(pit *p, pit_pairs *to, const pit_pairs *from, dck_err *err);
void pit_show(pit *p, double row_share);
double pit_median(pit *p, const double *x, size_t n);

/* Another session beside the honest one, warm. On failure it is closed. */
dck_status pit_candidate_open(pit *p, measure_session *l, const dck_subject *s, uint32_t observe,
			      dck_err *err);

/* --- pitfalls_luck.c: what one might have read. The value at the end of the middle 90 % of x that
 * is farther from `truth`, and its ratio to that, with the interval of the quantile. */
void pit_luck(pit *p, const double *x, size_t n, double truth, pit_finding *ret);
dck_status pit_one_sample(pit *p, pit_finding *ret, dck_err *err);
dck_status pit_mean_of(pit *p, pit_finding *ret, dck_err *err);
dck_status pit_percentile(pit *p, pit_finding *ret, dck_err *err);
dck_status pit_processor_time(pit *p, pit_finding *ret, dck_err *err);
dck_status pit_clock(pit *p, pit_finding *ret, dck_err *err);

/* --- pitfalls_fresh.c: what a fresh start does */
dck_status pit_fresh(pit *p, pit_finding *ret, dck_err *err);
/* What is read off the first runs of a start. */
double pit_read_median(pit *p, const pit_opening *o, size_t runs);
double pit_read_mean(pit *p, const pit_opening *o, size_t runs);
double pit_read_session(pit *p, const pit_opening *o, size_t runs);
dck_status pit_a_then_b(pit *p, pit_finding *ret, dck_err *err);

/* --- pitfalls_other.c: what is done beside or within a run */
dck_status pit_inputs(pit *p, pit_finding *ret, dck_err *err);
dck_status pit_binding(pit *p, pit_finding *ret, dck_err *err);
dck_status pit_no_sync(pit *p, pit_finding *ret, dck_err *err);
dck_status pit_profiler(pit *p, pit_finding *ret, dck_err *err);
dck_status pit_neighbour(pit *p, pit_finding *ret, dck_err *err);
dck_status pit_denormals(pit *p, pit_finding *ret, dck_err *err);
dck_status pit_threads(pit *p, pit_finding *ret, dck_err *err);
dck_status pit_one_input(pit *p, pit_finding *ret, dck_err *err);
dck_status pit_batch(pit *p, pit_finding *ret, dck_err *err);

#endif
