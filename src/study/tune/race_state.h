/* race_state.h - internal state of the search for the fastest configuration, shared by its files.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TUNE_RACE_STATE_H
#define TUNE_RACE_STATE_H

#include "study/tune/race.h"
#include "stat/sequential.h"

#define RACE_PAIRS_MAX	256  /* of CONFIRM */
#define RACE_ROUNDING	1e-6 /* smaller effects are errors of the model */
#define RACE_ROUNDS_MAX 64   /* of SCREEN, and of RACE */

typedef struct race_fit race_fit;

struct race {
	race_config c;
	race_arm arms[RACE_ARMS_MAX];
	size_t narms;
	size_t asked; /* trials and comparisons, failed ones too */
	/* Logarithms of values by round, from 0 on; NaN: none. */
	double screen[RACE_ROUNDS_MAX][RACE_ARMS_MAX], race[RACE_ROUNDS_MAX][RACE_ARMS_MAX];
	double pair[RACE_PAIRS_MAX][2]; /* of CONFIRM: the default and the winner */
	/* Of the default's trials that count: logarithms of value and latency. */
	double sum[2], squares[2];
	size_t nsum;
	/* Of a run, and its latency: geometric means over the arm's trials. */
	double items[RACE_ARMS_MAX], latency[RACE_ARMS_MAX];
	race_stage stage;
	double used_ns;
	/* Passes of SCREEN and RACE: their number, when the present one began, and the rounds of
	 * the stage before it. */
	unsigned passes, first;
	double from_ns;
	uint64_t random;
	/* The present round, and what it was begun with. */
	size_t queue[RACE_ARMS_MAX], nqueue, at;
	unsigned round;
	unsigned whole[RACE_DONE]; /* last complete round of each stage */
	/* Arms in the rounds of the stage. */
	size_t alive[RACE_ARMS_MAX], nalive;
	/* SCREEN: the arms that differ from an engine's default in one value, and the engines. */
	size_t singles;
	uint8_t single[RACE_VALUES_MAX][RACE_DIMS_MAX][RACE_VALUES_MAX]; /* by engine; 0: none */
	/* RACE: rounds of this rung, and rungs left. */
	unsigned rung_rounds, rungs;
	size_t rank[RACE_ARMS_MAX], nrank; /* arms in the order in which they left, worst first */
	size_t winner;
	/* CONFIRM */
	size_t planned;
	bool few; /* no time for enough pairs */
	stat_boundary boundary;
	double walk[RACE_PAIRS_MAX + 2], *scratch; /* @owned */
	size_t looked;
	race_number ratio;  /* logarithms */
	race_fit *fit;	    /* @owned */
	double outputs_ns;  /* cost of the last comparison of outputs */
	unsigned compared;  /* winners compared */
	unsigned differing; /* arms whose outputs differ */
};

/* Returns whether an arm may be chosen: it has run, it has not all changed values of
 * one whose outputs differ, and it is not shown to violate the limit. */
bool race_usable(const race *r, size_t arm);

/* --- race_arms.c */

/* Returns the arm with these values; SIZE_MAX: there is none. */
size_t race_arm_find(const race *r, const uint8_t *value);
/* The same, and adds it; SIZE_MAX: there are too many. */
size_t race_arm_add(race *r, const uint8_t *value);
size_t race_engine_of(const race *r, size_t arm);
/* Returns the default of the arm's engine. */
size_t race_base_of(const race *r, size_t arm);
/* Returns the expected cost of a trial, ns. */
double race_cost_of(const race *r, size_t arm);
/* Returns the fewest pairs that have an interval at the level (signed-rank test). */
size_t race_pairs_least(const race *r);
/* Returns when CONFIRM, which gets the time after it in any case, begins at the latest, ns. */
double race_before(const race *r);
/* --- race_fit.c */

race_fit *race_fit_new(void); /* mem_free(); NULL: no memory */
/* Estimates the logarithm of the time of an arm with these values, tried or not, over the
 * default's, from all trials of SCREEN and RACE. */
double race_predict(const race *r, const uint8_t *value);
/* Compares two arms that were tried, on logarithms. The interval holds for this number of
 * comparisons together. */
race_number race_compare(const race *r, size_t arm, size_t other, size_t comparisons);

/* --- race_mix.c */

/* Fills `alive` with the default and random combinations of values of the fastest engine, for one
 * round in this time. Returns false if there are none, or no time. */
bool race_mix_begin(race *r, double room_ns);
/* Changes the values one after the other to those for which the model expects the least time. */
void race_mix_best(const race *r, uint8_t *value);

#endif
