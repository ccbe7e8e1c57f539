/* search.h - the search for the best batch size: chooses the next size to measure, and estimates
 * the rate of each size.
 *
 *	while ((status = search_next(s, &more, &ask, err)) == DCK_OK && more) {
 *		... measure ask.batch, fill in the outcome ...
 *		DCK_TRY(search_tell(s, &outcome, err));
 *	}
 *	search_judge(s, &result);
 *
 * First the batch grows (times 2), and each size is measured once. Then sizes between the best one
 * and the adjacent ones are tried. Then the candidates are measured again in rounds. A round
 * measures all candidates, in a new random order, so that slow changes of the machine affect all
 * alike (stat/blocks.h). A trial is one measurement of one size.
 *
 * Nothing here measures, reads a clock or starts a process: the same outcomes give the same trials,
 * so a search can be replayed from its journal. To avoid selection bias, a size that was measured
 * in rounds is judged by the rounds only, not by the measurement that selected it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THROUGHPUT_SEARCH_H
#define THROUGHPUT_SEARCH_H

#include "measure/latency_limit.h"

#define SEARCH_SETTINGS_MAX   64 /* numbers in flight times threads */
#define SEARCH_BATCHES_MAX    64 /* of a list */
#define SEARCH_CANDIDATES_MAX 16
#define SEARCH_ROUNDS_MAX     64
#define SEARCH_KNEE_SHARE     0.05 /* the knee: smallest batch within this share of the best rate */

typedef struct search_config {
	uint64_t min_batch, max_batch;
	const uint64_t *batches; /* exactly these, ascending; NULL: found by growing */
	size_t nbatches;
	unsigned settings;   /* at least 1 */
	double level;	     /* of intervals */
	double precision;    /* differences known to this precision need no more rounds */
	double longest_ns;   /* sizes whose run takes longer end the growth; 0: no limit */
	latency_limit limit; /* limit on `held`; ns 0: none */
	unsigned rounds_min; /* 2 to SEARCH_ROUNDS_MAX */
	unsigned rounds_max;
	uint64_t seed;
} search_config;

typedef enum search_phase { SEARCH_GROW, SEARCH_REFINE, SEARCH_ROUNDS, SEARCH_DONE } search_phase;

typedef struct search_number {
	double value, lo, hi; /* NaN: unknown; no interval */
} search_number;

/* How a point ended. */
typedef enum search_end { SEARCH_OK, SEARCH_MEMORY, SEARCH_ERROR } search_end;

/* Result of one trial. */
typedef struct search_outcome {
	search_end end;
	search_number rate;	 /* items per second */
	search_number mean_rate; /* the same, pauses included */
	search_number latency;	 /* median of one run, ns */
	search_number held;	 /* the statistic that has a limit, ns */
	uint64_t peak_rss_bytes; /* 0: not known */
	char why[488];		 /* reason of MEMORY and ERROR */
} search_outcome;

typedef struct search_trial {
	size_t point;
	unsigned round; /* 0: growth and refinement */
	search_outcome outcome;
} search_trial;

typedef struct search_point {
	uint64_t batch;
	unsigned setting;
	search_end end; /* of its last trial */
	char why[488];
	unsigned trials; /* successful */
	uint64_t peak_rss_bytes;
} search_point;

/* What ended the growth. */
typedef enum search_limit {
	SEARCH_BY_TIME,	      /* out of time, or a run took too long */
	SEARCH_BY_SATURATION, /* larger batches gave no higher rate */
	SEARCH_BY_MEMORY,
	SEARCH_BY_ERROR,
	SEARCH_BY_SLO,
	SEARCH_BY_MAX, /* the largest allowed */
} search_limit;

typedef struct search search;

/* Makes a search; config and its list are copied. NULL: no memory. */
search *search_new(const search_config *c);
void search_free(search *s); /* NULL is allowed */

/* The trial to make next; the same until search_tell(). */
typedef struct search_ask {
	size_t point;
	uint64_t batch;
	unsigned setting, round;
	search_phase phase;
} search_ask;
/* Returns the next trial. *ret_more false: the search is complete. E_NOMEM. */
dck_status search_next(search *s, bool *ret_more, search_ask *ret, dck_err *err);
/* Adds the outcome of that trial. E_NOMEM. */
dck_status search_tell(search *s, const search_outcome *o, dck_err *err);

/* Returns the number of trials left, an estimate. */
size_t search_left(const search *s);

/* --- results; points are in order of discovery */
size_t search_npoints(const search *s);
const search_point *search_get(const search *s, size_t point);
size_t search_ntrials(const search *s);
const search_trial *search_trial_get(const search *s, size_t i);

/* Returns the number of successful trials in complete rounds. */
size_t search_in_rounds(const search *s, size_t point);
/* Estimate a point from the trials that count, on logarithms: of two and more the mean with
 * Student's t, of one its own interval. Rate, and latency without a limit: a point that is not in
 * the last rounds has the value of the best point times the ratio of the two in their common
 * trials. */
search_number search_rate(const search *s, size_t point);
search_number search_latency(const search *s, size_t point);
search_number search_mean_rate(const search *s, size_t point);
search_number search_held(const search *s, size_t point);
/* Returns whether a point meets the limit, by its interval; HOLDS without a limit. A maximum covers
 * only the runs that were made: one run above the limit violates it, and no number of runs proves
 * that it is met. */
dck_verdict search_holds(const search *s, size_t point);

/* Sorts the points by setting and batch. order[search_npoints()] */
void search_order(const search *s, size_t *order);

typedef struct search_result {
	bool found;
	dck_verdict verdict; /* on the limit: of the best point, or of all points */
	size_t best, knee;   /* points, when found */
	search_limit limit;  /* of the best point's setting */
	unsigned
	    rounds; /* complete rounds over which points were compared; below 2: not compared */
	size_t ncompared; /* other points compared with the best */
	size_t nunresolved;
	size_t unresolved[SEARCH_CANDIDATES_MAX]; /* points that may be as good or better */
	size_t unsure; /* the point that gives the most among those that may give more than the best
			  and are not shown to meet the limit; SIZE_MAX: none */
	double half;   /* half-width of the interval of a difference, relative; NaN: none */
} search_result;
void search_judge(const search *s, search_result *ret);

/* Marks the Pareto front: points that no other point beats in both latency and rate.
 * front[search_npoints()], scratch[2 * search_npoints()] */
void search_pareto(const search *s, bool *front, double *scratch);

#endif
