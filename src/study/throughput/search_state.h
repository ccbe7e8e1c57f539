/* search_state.h - internal state of the search, shared by its files.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THROUGHPUT_SEARCH_STATE_H
#define THROUGHPUT_SEARCH_STATE_H

#include "study/throughput/search.h"
#include "stat/blocks.h"

/* The growth of one setting. */
typedef struct search_growth {
	bool ended;
	search_limit limit;
	double best;   /* rate */
	unsigned flat; /* consecutive sizes without improvement */
} search_growth;

struct search {
	search_config c;
	uint64_t batches[SEARCH_BATCHES_MAX];
	search_point *points; /* @owned */
	search_trial *trials; /* @owned */
	size_t npoints, points_cap, ntrials, trials_cap;
	search_phase phase;
	search_growth growth[SEARCH_SETTINGS_MAX];
	uint64_t grown; /* the size, or index in the list, of the last step; 0: none yet */
	unsigned level; /* of refinement */
	/* Points to measure next: one step, level or round. */
	size_t queue[SEARCH_SETTINGS_MAX], nqueue, at;
	size_t candidates[SEARCH_CANDIDATES_MAX], ncandidates;
	unsigned round, first_round; /* the current one; the first of these candidates */
	unsigned complete;	     /* the last round in which all were tried */
	unsigned chosen;	     /* number of selections */
	size_t nbeaten;		     /* candidates known to be worse, dropped */
	uint64_t random;
};

/* Returns the index of the point among the candidates; SIZE_MAX: it is not a candidate. */
size_t search_candidate(const search *s, size_t point);
/* Compares the candidates over their complete rounds: means of the logarithms. Returns false if no
 * round is complete. */
bool search_compare(const search *s, double *means, stat_blocks *ret);
/* Difference of candidate i to `best`, an index among the candidates. */
typedef struct search_difference {
	double by, half; /* logarithms: best over i; half of its interval */
	bool resolved;	 /* significantly worse */
	bool close;	 /* known to the requested precision */
} search_difference;
search_difference search_differ(const search *s, const double *means, const stat_blocks *f,
				size_t best, size_t i);
/* Returns the logarithm of a point's rate in a round (0: when it was found); NaN: none. */
double search_trial_log_rate(const search *s, size_t point, unsigned round);
/* Returns the logarithm of a's rate over b's in the rounds that have both; before the first such
 * round, of the trials that found them. */
double search_log_ratio(const search *s, size_t a, size_t b);
/* Finds the point with the highest rate that meets the limit; `strict`: significantly. Returns
 * false if no point does. */
bool search_best(const search *s, bool strict, size_t *ret);
/* Finds the nearest measured batches of the point's setting, failed ones too. SIZE_MAX: none. */
void search_neighbours(const search *s, size_t point, size_t *ret_below, size_t *ret_above);
/* Returns the smallest batch of the point's setting whose rate is within SEARCH_KNEE_SHARE of the
 * point's rate. */
size_t search_knee(const search *s, size_t best);

#endif
