/* search_state.h - what the files of the search share.
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
	unsigned flat; /* sizes in a row that were no better */
} search_growth;

struct search {
	search_config c;
	uint64_t batches[SEARCH_BATCHES_MAX];
	search_point *points; /* @owned */
	search_trial *trials; /* @owned */
	size_t npoints, points_cap, ntrials, trials_cap;
	search_phase phase;
	search_growth growth[SEARCH_SETTINGS_MAX];
	uint64_t grown; /* the size, or place in the list, of the last step; 0: none yet */
	unsigned level; /* of refinement */
	/* What is tried next: points of one step, level or round. */
	size_t queue[SEARCH_SETTINGS_MAX], nqueue, at;
	size_t candidates[SEARCH_CANDIDATES_MAX], ncandidates;
	unsigned round, first_round; /* the current one; the first of these candidates */
	unsigned complete;	     /* the last round in which all were tried */
	unsigned chosen;	     /* so many times */
	size_t nbeaten;		     /* candidates that are known to be worse, and were let go */
	uint64_t random;
};

/* Its place among the candidates; SIZE_MAX: it is none. */
size_t search_candidate(const search *s, size_t point);
/* The candidates compared over their complete rounds: means of the logarithms. false: there is no
 * complete round. */
bool search_compare(const search *s, double *means, stat_blocks *ret);
/* How sure candidate i is worse than `best`, a place among the candidates. */
typedef struct search_difference {
	double by, half; /* logarithms: best over i; half of its interval */
	bool resolved;	 /* worse for certain */
	bool close;	 /* known as well as was asked for */
} search_difference;
search_difference search_differ(const search *s, const double *means, const stat_blocks *f,
				size_t best, size_t i);
/* Logarithm of the rate that a point had in a round (0: when it was found); NaN: it had none. */
double search_trial_log_rate(const search *s, size_t point, unsigned round);
/* Logarithm of a's rate over b's in the rounds that have both; before there are any, of the trials
 * that found them. */
double search_log_ratio(const search *s, size_t a, size_t b);
/* The point of the highest rate that keeps to the limit; `strict`: for certain. false: there is
 * none. */
bool search_best(const search *s, bool strict, size_t *ret);
/* Nearest tried batches of the point's setting, whatever their end. SIZE_MAX: there is none. */
void search_neighbours(const search *s, size_t point, size_t *ret_below, size_t *ret_above);
/* The smallest batch of the point's setting whose rate is within SEARCH_KNEE_SHARE of it. */
size_t search_knee(const search *s, size_t best);

#endif
