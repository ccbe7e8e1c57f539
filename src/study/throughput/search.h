/* search.h - decides which batch size to measure next, and what the measurements say of all sizes.
 *
 *	while ((status = search_next(s, &more, &ask, err)) == DCK_OK && more) {
 *		... measure ask.batch, fill in the outcome ...
 *		DCK_TRY(search_tell(s, &outcome, err));
 *	}
 *	search_judge(s, &result);
 *
 * First the batch grows (times 2), and each size is measured once. Then sizes between the best one
 * and its neighbours are tried. Then the sizes that matter are measured again in rounds. A round
 * measures all of them, in a new random order, so that slow changes of the machine disturb all of
 * them alike (stat/blocks.h). Here a trial is one measurement of one size.
 *
 * Nothing here measures, reads a clock or starts a process: the same outcomes give the same
 * trials, so that a search can be replayed from its journal. A size is not judged by the
 * measurement that chose it: once it was measured in rounds, only these measurements count.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THROUGHPUT_SEARCH_H
#define THROUGHPUT_SEARCH_H

#include "measure/latency_limit.h"

#define SEARCH_SETTINGS_MAX   64 /* streams times threads */
#define SEARCH_BATCHES_MAX    64 /* of a list */
#define SEARCH_CANDIDATES_MAX 16
#define SEARCH_ROUNDS_MAX     64
#define SEARCH_KNEE_SHARE     0.05 /* the knee is the smallest batch within it of the best */

typedef struct search_config {
	uint64_t min_batch, max_batch;
	const uint64_t *batches; /* exactly these, ascending; NULL: found by growing */
	size_t nbatches;
	unsigned settings;   /* at least 1 */
	double level;	     /* of intervals */
	double precision;    /* differences known so well need no more rounds */
	double longest_ns;   /* sizes whose run takes longer end the growth; 0: no limit */
	latency_limit limit; /* what `held` may be; ns 0: no limit */
	unsigned rounds_min; /* 2 to SEARCH_ROUNDS_MAX */
	unsigned rounds_max;
	uint64_t seed;
} search_config;

typedef enum search_phase { SEARCH_GROW, SEARCH_REFINE, SEARCH_ROUNDS, SEARCH_DONE } search_phase;

typedef struct search_number {
	double value, lo, hi; /* NaN: not known; no interval */
} search_number;

/* How a point ended. */
typedef enum search_end { SEARCH_OK, SEARCH_MEMORY, SEARCH_ERROR } search_end;

/* What one trial gave. */
typedef struct search_outcome {
	search_end end;
	search_number rate;	 /* items per second */
	search_number mean_rate; /* the same with every pause in it */
	search_number latency;	 /* median of one run, ns */
	search_number held;	 /* the statistic that has a limit, ns */
	uint64_t peak_rss_bytes; /* 0: not known */
	char why[488];		 /* of MEMORY and ERROR */
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
	unsigned trials; /* that ended well */
	uint64_t peak_rss_bytes;
} search_point;

/* What ended the growth. */
typedef enum search_limit {
	SEARCH_BY_TIME,	      /* it had not ended, or a run took too long */
	SEARCH_BY_SATURATION, /* larger batches gave no more */
	SEARCH_BY_MEMORY,
	SEARCH_BY_ERROR,
	SEARCH_BY_SLO,
	SEARCH_BY_MAX, /* the largest that was allowed */
} search_limit;

typedef struct search search;

/* config and its list are copied. NULL: no memory. */
search *search_new(const search_config *c);
void search_free(search *s); /* NULL is allowed */

/* The trial to make next; the same until search_tell(). */
typedef struct search_ask {
	size_t point;
	uint64_t batch;
	unsigned setting, round;
	search_phase phase;
} search_ask;
/* *ret_more false: nothing is left to find out. E_NOMEM. */
dck_status search_next(search *s, bool *ret_more, search_ask *ret, dck_err *err);
/* Its outcome. E_NOMEM. */
dck_status search_tell(search *s, const search_outcome *o, dck_err *err);

/* Trials that are still to come as far as can be seen. */
size_t search_left(const search *s);

/* --- what is known; points are in the order they were found */
size_t search_npoints(const search *s);
const search_point *search_get(const search *s, size_t point);
size_t search_ntrials(const search *s);
const search_trial *search_trial_get(const search *s, size_t i);

/* Trials in complete rounds that ended well. */
size_t search_in_rounds(const search *s, size_t point);
/* Over the trials that count, as logarithms: of two and more the mean with Student's t between
 * them, of one its own interval. Rate, and latency where it has no limit: a point that is not in
 * the last rounds has the best's number times the ratio of the two in the trials that both have. */
search_number search_rate(const search *s, size_t point);
search_number search_latency(const search *s, size_t point);
search_number search_mean_rate(const search *s, size_t point);
search_number search_held(const search *s, size_t point);
/* Whether a point keeps to the limit, by its interval; HOLDS where there is none. A maximum is of
 * the runs that were made: one over the limit breaks it, and no number of runs shows that it holds.
 */
dck_verdict search_holds(const search *s, size_t point);

/* Points by setting and batch. order[search_npoints()] */
void search_order(const search *s, size_t *order);

typedef struct search_result {
	bool found;
	dck_verdict verdict; /* on the limit: of the best point, or that all break it, or neither */
	size_t best, knee;   /* points, when found */
	search_limit limit;  /* of the best point's setting */
	unsigned
	    rounds; /* complete ones, over which points were compared; below 2: they were not */
	size_t ncompared; /* other points compared with the best */
	size_t nunresolved;
	size_t unresolved[SEARCH_CANDIDATES_MAX]; /* of them: may be as good or better */
	double half; /* half-width of the interval of a difference, as a share */
} search_result;
void search_judge(const search *s, search_result *ret);

/* Marks the points that no other beats in both latency and rate. front[search_npoints()] */
void search_pareto(const search *s, bool *front);

#endif
