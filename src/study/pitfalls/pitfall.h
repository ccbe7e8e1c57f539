/* pitfall.h - makes known mistakes of measuring on purpose, and shows how wrong the number becomes.
 * This file holds what the mistakes share.
 *
 *	{.says = {"one-sample", "one single run as the result", ...}, .measure =
 * pitfall_one_sample},
 *
 * Each mistake is one row of pitfall_rows[]: a text and a function that gives the mistaken number
 * and the honest one. To add a mistake, add a row and its function.
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
typedef struct pitfall_opening {
	double open_ns;	     /* library and session */
	double reference_ns; /* an honest trial right before and one right after, their mean */
	double run_ns[PIT_RUNS_MAX];
} pitfall_opening;

typedef struct pitfall {
	const dck_subject *subject;
	const dck_pitfalls_config *asked;
	measure_plan plan;
	measure_context shared;
	measure_session session; /* the honest one, open and warm all the time */
	double run_ns;		 /* about what a run takes, to plan with */
	double resolution; /* A/A noise: the largest difference of the subject from itself, as a
			      share */
	/* For progress. */
	const char *phase;
	size_t row, nrows;
	const struct pitfall_row *made; /* the mistake that is measured */
	uint64_t rows_begin_ns;
	/* Single runs of the honest session, one after the other. */
	double *single_ns; /* [PIT_SINGLES_MAX], heap */
	size_t nsingles;
	/* Fresh starts; several rows look at the same. */
	pitfall_opening *openings; /* [PIT_OPENINGS_MAX], heap */
	size_t nopenings, opening_runs;
	dck_err opening_failed; /* code OK: not yet */
	double *scratch;	/* stat_scratch(PIT_SINGLES_MAX) and as many values, heap */
	bool not_waiting;
} pitfall;

/* What came of one mistake. */
typedef struct pitfall_finding {
	double number_ns; /* what it gives */
	double honest_ns; /* what it should give */
	double factor;	  /* the first over the second, of pairs of trials */
	bool has_interval;
	double lo, hi; /* of the factor */
	bool certain;  /* needs no interval: a clock that reads 0 is wrong */
	char seen[400];
} pitfall_finding;

typedef struct pitfall_row {
	dck_pitfall says;
	/* Fails with the reason why there is no number. */
	dck_status (*measure)(pitfall *p, pitfall_finding *ret, dck_err *err);
	/* What some of these functions need to know of their row. */
	size_t runs;
	double (*reading)(pitfall *p, const pitfall_opening *o, size_t runs);
	bool wall; /* the mistake is the wall time */
	bool (*clock)(dck_clock *ret);
} pitfall_row;
extern const pitfall_row pitfall_rows[]; /* ended by one with no key */

/* --- pitfalls_blocks.c: trials, and pairs of them */
typedef dck_status (*pitfall_measure)(pitfall *p, void *self, double *ret_ns, dck_err *err);
typedef struct pitfall_trial {
	pitfall_measure measure;
	void *self;
} pitfall_trial;

typedef struct pitfall_pairs {
	size_t n;
	double honest_ns, mistaken_ns;	  /* medians of the trials */
	double log_ratio[PIT_ROUNDS_MAX]; /* mistaken over honest, in their order */
	double factor, lo, hi;
	bool has_interval;
} pitfall_pairs;

bool pitfall_is_command(const pitfall *p);
/* Runs that do not count, then those whose median it is. self: a measure_loop. */
dck_status pitfall_trial_loop(pitfall *p, void *self, double *ret_ns, dck_err *err);
/* The same with their mean: what disturbs few runs, but those for long, moves no median. */
dck_status pitfall_trial_mean(pitfall *p, void *self, double *ret_ns, dck_err *err);
/* The same for something else than a run: `step` is all that the clock encloses, `after` (may be
 * NULL) follows outside. self: a pitfall_step. */
typedef struct pitfall_step {
	dck_status (*step)(pitfall *p, void *self, dck_err *err);
	dck_status (*after)(pitfall *p, void *self, dck_err *err);
	void *self;
} pitfall_step;
dck_status pitfall_trial_step(pitfall *p, void *self, double *ret_ns, dck_err *err);
/* One run of the honest session and nothing else, as a step. */
dck_status pitfall_step_run(pitfall *p, void *self, dck_err *err);

/* The honest session as it is. */
pitfall_trial pitfall_honest(pitfall *p);
/* Pairs of trials in changing order until the row's time is over. */
dck_status pitfall_pair(pitfall *p, pitfall_trial honest, pitfall_trial mistaken,
			pitfall_pairs *ret, dck_err *err);
/* The same as the finding of a mistake. */
dck_status pitfall_pair_find(pitfall *p, pitfall_trial honest, pitfall_trial mistaken,
			     pitfall_finding *ret, dck_err *err);
/* The pairs of `from` after those of `to`, judged together; those without room are left out. */
dck_status pitfall_pairs_add(pitfall *p, pitfall_pairs *to, const pitfall_pairs *from,
			     dck_err *err);
void pitfall_show(pitfall *p, double row_share);
double pitfall_median(pitfall *p, const double *x, size_t n);

/* Another session beside the honest one, warm. On failure it is closed. */
dck_status pitfall_candidate_open(pitfall *p, measure_session *l, const dck_subject *s,
				  uint32_t observe, dck_err *err);

/* --- pitfalls_luck.c: what one might have read. The value at the end of the middle 90 % of x that
 * is farther from `truth`, and its ratio to that, with the interval of the quantile. */
void pitfall_sampling_error(pitfall *p, const double *x, size_t n, double truth,
			    pitfall_finding *ret);
dck_status pitfall_one_sample(pitfall *p, pitfall_finding *ret, dck_err *err);
dck_status pitfall_mean_of(pitfall *p, pitfall_finding *ret, dck_err *err);
dck_status pitfall_percentile(pitfall *p, pitfall_finding *ret, dck_err *err);
dck_status pitfall_processor_time(pitfall *p, pitfall_finding *ret, dck_err *err);
dck_status pitfall_clock(pitfall *p, pitfall_finding *ret, dck_err *err);

/* --- pitfalls_fresh.c: what a fresh start does */
dck_status pitfall_fresh(pitfall *p, pitfall_finding *ret, dck_err *err);
/* What is read off the first runs of a start. */
double pitfall_read_median(pitfall *p, const pitfall_opening *o, size_t runs);
double pitfall_read_mean(pitfall *p, const pitfall_opening *o, size_t runs);
double pitfall_read_session(pitfall *p, const pitfall_opening *o, size_t runs);
dck_status pitfall_a_then_b(pitfall *p, pitfall_finding *ret, dck_err *err);

/* --- pitfalls_other.c: what is done beside or within a run */
dck_status pitfall_inputs(pitfall *p, pitfall_finding *ret, dck_err *err);
dck_status pitfall_binding(pitfall *p, pitfall_finding *ret, dck_err *err);
dck_status pitfall_no_sync(pitfall *p, pitfall_finding *ret, dck_err *err);
dck_status pitfall_profiler(pitfall *p, pitfall_finding *ret, dck_err *err);
dck_status pitfall_neighbour(pitfall *p, pitfall_finding *ret, dck_err *err);
dck_status pitfall_denormals(pitfall *p, pitfall_finding *ret, dck_err *err);
dck_status pitfall_threads(pitfall *p, pitfall_finding *ret, dck_err *err);
dck_status pitfall_one_input(pitfall *p, pitfall_finding *ret, dck_err *err);
dck_status pitfall_batch(pitfall *p, pitfall_finding *ret, dck_err *err);

#endif
