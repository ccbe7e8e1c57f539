/* pitfall.h - reproduces known measurement mistakes and reports the error of each. Common part of
 * the mistakes.
 *
 *	{.says = {"one-sample", "one single run as the result", ...}, .measure =
 * pitfall_one_sample},
 *
 * Each mistake is one row of pitfall_rows[]: a text and a function that returns the mistaken number
 * and the reference. To add a mistake, add a row and its function.
 *
 * The reference session stays open and warm. If both numbers are measured in trials, the trials are
 * paired, in alternating order, so that slow changes of the machine affect both alike. A row that
 * cannot be measured fails with the reason, and the other rows continue.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PITFALLS_PITFALL_H
#define PITFALLS_PITFALL_H

#include "deepclock/pitfalls.h"
#include "measure/session.h"

#define PIT_ROUNDS_MAX	 400
#define PIT_OPENINGS_MAX 12
#define PIT_RUNS_MAX	 100 /* of a fresh session */
#define PIT_SINGLES_MAX	 16384

/* A fresh start of the subject, and its first runs. */
typedef struct pitfall_opening {
	double open_ns;	     /* library and session */
	double reference_ns; /* mean of a reference trial right before and one right after */
	double run_ns[PIT_RUNS_MAX];
} pitfall_opening;

typedef struct pitfall {
	const dck_subject *subject;
	const dck_pitfalls_config *asked;
	measure_plan plan;
	measure_context shared;
	measure_session session; /* the reference session, always open and warm */
	double run_ns;		 /* approximate time of a run, for planning */
	double resolution; /* A/A noise: the largest difference of the subject from itself, as a
			      share */
	/* For progress. */
	const char *phase;
	size_t row, nrows;
	const struct pitfall_row *made; /* the current mistake */
	uint64_t rows_begin_ns;
	/* Single runs of the reference session, in sequence. */
	double *single_ns; /* [PIT_SINGLES_MAX], heap */
	size_t nsingles;
	/* Fresh starts; several rows share them. */
	pitfall_opening *openings; /* [PIT_OPENINGS_MAX], heap */
	size_t nopenings, opening_runs;
	dck_err opening_failed; /* code OK: not yet */
	double *scratch;	/* stat_scratch(PIT_SINGLES_MAX) + PIT_SINGLES_MAX values, heap */
	bool not_waiting;
} pitfall;

/* Result of one mistake. */
typedef struct pitfall_finding {
	double number_ns; /* the mistaken number */
	double honest_ns; /* the reference */
	double factor;	  /* the first over the second, of pairs of trials */
	bool has_interval;
	double lo, hi; /* of the factor */
	bool certain;  /* needs no interval: a clock that reads 0 is wrong */
	char seen[400];
} pitfall_finding;

typedef struct pitfall_row {
	dck_pitfall says;
	/* Measures the mistake; a failure is the reason why the number is absent. */
	dck_status (*measure)(pitfall *p, pitfall_finding *ret, dck_err *err);
	/* Parameters of some of these functions. */
	size_t runs;
	double (*reading)(pitfall *p, const pitfall_opening *o, size_t runs);
	bool wall; /* the mistake is the wall time */
	bool (*clock)(dck_clock *ret);
} pitfall_row;
extern const pitfall_row pitfall_rows[]; /* the last has no key */

/* --- pitfalls_blocks.c: trials, and pairs of them */
typedef dck_status (*pitfall_measure)(pitfall *p, void *self, double *ret_ns, dck_err *err);
typedef struct pitfall_trial {
	pitfall_measure measure;
	void *self;
} pitfall_trial;

typedef struct pitfall_pairs {
	size_t n;
	double honest_ns, mistaken_ns;	  /* medians of the trials */
	double log_ratio[PIT_ROUNDS_MAX]; /* mistaken over reference, in order */
	double factor, lo, hi;
	bool has_interval;
} pitfall_pairs;

bool pitfall_is_command(const pitfall *p);
/* Returns the time that the runs of a trial should take together. */
double pitfall_trial_ns(const pitfall *p);
/* Makes runs that do not count, then runs whose median is *ret_ns. self: a measure_loop. */
dck_status pitfall_trial_loop(pitfall *p, void *self, double *ret_ns, dck_err *err);
/* Makes a trial with the mean, because a rare, long disturbance does not move the median. */
dck_status pitfall_trial_mean(pitfall *p, void *self, double *ret_ns, dck_err *err);
/* A trial of a step other than a run: the clock encloses `step`; `after` (may be NULL) follows
 * untimed. self: a pitfall_step. */
typedef struct pitfall_step {
	dck_status (*step)(pitfall *p, void *self, dck_err *err);
	dck_status (*after)(pitfall *p, void *self, dck_err *err);
	void *self;
} pitfall_step;
dck_status pitfall_trial_step(pitfall *p, void *self, double *ret_ns, dck_err *err);
/* Makes one run of the reference session, as a step. */
dck_status pitfall_step_run(pitfall *p, void *self, dck_err *err);

/* Returns the trial of the reference session. */
pitfall_trial pitfall_honest(pitfall *p);
/* Makes pairs of trials in alternating order until the row's time is over. */
dck_status pitfall_pair(pitfall *p, pitfall_trial honest, pitfall_trial mistaken,
			pitfall_pairs *ret, dck_err *err);
/* Makes pairs of trials and writes them as the result of a mistake. */
dck_status pitfall_pair_find(pitfall *p, pitfall_trial honest, pitfall_trial mistaken,
			     pitfall_finding *ret, dck_err *err);
/* Durations of one run: of the call that starts it, of a wait for its end after that, and of the
 * same wait again, when the run has ended. */
typedef struct pitfall_wait {
	double call_ns, wait_ns, idle_ns;
} pitfall_wait;

/* Compares the time of a call that starts a run with the time until the run has ended: the call's
 * and the wait's, less the wait's when there is nothing to wait for. `once` makes one run, whose
 * call ends with that barrier where there are barriers. */
typedef dck_status (*pitfall_ready_once)(pitfall *p, unsigned barrier, pitfall_wait *ret,
					 dck_err *err);
dck_status pitfall_ready_find(pitfall *p, pitfall_ready_once once, unsigned barrier,
			      pitfall_finding *ret, dck_err *err);
/* Appends the pairs of `from` to `to` and estimates them together; pairs beyond the capacity are
 * dropped. */
dck_status pitfall_pairs_add(pitfall *p, pitfall_pairs *to, const pitfall_pairs *from,
			     dck_err *err);
void pitfall_show(pitfall *p, double row_share);
/* Return a quantile of x, in p->scratch; NaN: n is 0. */
double pitfall_quantile(pitfall *p, const double *x, size_t n, double q);
double pitfall_median(pitfall *p, const double *x, size_t n);

/* Has the runs of a session on a device end with a barrier, by its index; does nothing if there is
 * no such barrier, as where runs end within their call. */
void pitfall_barrier_choose(const measure_session *s, unsigned barrier);
/* Opens another session next to the reference session, and warms it up. On failure it is closed. */
dck_status pitfall_candidate_open(pitfall *p, measure_session *l, const dck_subject *s,
				  uint32_t observe, dck_err *err);

/* Finds the sampling error (pitfalls_luck.c): the end of the central 90 % of x that is farther from
 * `truth`, and its ratio to `truth`, with the interval of the quantile. */
void pitfall_sampling_error(pitfall *p, const double *x, size_t n, double truth,
			    pitfall_finding *ret);
dck_status pitfall_one_sample(pitfall *p, pitfall_finding *ret, dck_err *err);
dck_status pitfall_mean_of(pitfall *p, pitfall_finding *ret, dck_err *err);
dck_status pitfall_percentile(pitfall *p, pitfall_finding *ret, dck_err *err);
dck_status pitfall_processor_time(pitfall *p, pitfall_finding *ret, dck_err *err);
dck_status pitfall_clock(pitfall *p, pitfall_finding *ret, dck_err *err);

/* --- pitfalls_fresh.c: effects of a fresh start */
dck_status pitfall_fresh(pitfall *p, pitfall_finding *ret, dck_err *err);
/* Return the number that a mistaken user would read from the first runs of a start. */
double pitfall_read_median(pitfall *p, const pitfall_opening *o, size_t runs);
double pitfall_read_mean(pitfall *p, const pitfall_opening *o, size_t runs);
double pitfall_read_session(pitfall *p, const pitfall_opening *o, size_t runs);
dck_status pitfall_a_then_b(pitfall *p, pitfall_finding *ret, dck_err *err);

/* --- pitfalls_device.c: runs that continue after the call that starts them */
bool pitfall_on_device(const pitfall *p);
/* Compares runs whose clock stops when they are enqueued; the subject must be on a device. */
dck_status pitfall_enqueue_only(pitfall *p, pitfall_finding *ret, dck_err *err);
dck_status pitfall_untested_sync(pitfall *p, pitfall_finding *ret, dck_err *err);
dck_status pitfall_sync_each(pitfall *p, pitfall_finding *ret, dck_err *err);
dck_status pitfall_transfers(pitfall *p, pitfall_finding *ret, dck_err *err);
dck_status pitfall_fallback(pitfall *p, pitfall_finding *ret, dck_err *err);

/* --- pitfalls_other.c: work during or around a run */
dck_status pitfall_allocation(pitfall *p, pitfall_finding *ret, dck_err *err);
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
