/* race_state.h - internal state of the search for the fastest configuration, shared by its files.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TUNE_RACE_STATE_H
#define TUNE_RACE_STATE_H

#include "study/tune/race.h"
#include "stat/sequential.h"

#define RACE_PAIRS_MAX	256 /* of CONFIRM */
#define RACE_ROUNDS_MAX 64  /* of SCREEN, and of RACE */

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
	double items[RACE_ARMS_MAX]; /* of a run */
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
	/* SCREEN: arms that are pairs of values, and the arms before them. */
	size_t npairs, singles;
	bool pairing; /* this round is of pairs */
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
	race_number ratio; /* logarithms */
	double outputs_ns; /* cost of the last comparison of outputs */
	unsigned compared; /* winners compared */
};

/* Compares an arm with another in the rounds of the stages `from` to `to` that both have, on
 * logarithms. The interval holds for this number of comparisons together; its error is pooled over
 * all arms in those stages. */
race_number race_paired(const race *r, race_stage from, race_stage to, size_t arm, size_t other,
			size_t comparisons);
/* Returns whether an arm may be chosen: it has run, its outputs are not known to differ, and it is
 * not shown to violate the limit. */
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
/* Returns the fewest pairs that have an interval at the level (sign test). */
size_t race_pairs_least(const race *r);
/* Returns when CONFIRM, which gets the time after it in any case, begins at the latest, ns. */
double race_before(const race *r);
/* Returns the effect of an arm against another in SCREEN, a logarithm. */
double race_screen_effect(const race *r, size_t arm, size_t other);
/* Returns the single value that seems fastest; 0: the default. */
size_t race_screen_best(const race *r);

/* --- race_pairs.c */

#define RACE_PAIRS_KEPT 4
/* Fills `alive` with the default and pairs of values of the fastest engine, for one round. Returns
 * false if there are none, or no time. */
bool race_pairs_begin(race *r);
/* Lists the pairs that are faster than the default, and than the effects of their values add up to,
 * the best first; returns their number. ret[RACE_PAIRS_KEPT] */
size_t race_pairs_best(const race *r, size_t *ret);

#endif
