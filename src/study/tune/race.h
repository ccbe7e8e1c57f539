/* race.h - the search for the fastest configuration: chooses what to measure next, drops what is
 * slower, and confirms the winner with fresh trials.
 *
 *	while (race_next(r, &ask)) {
 *		... measure ask.arm, or compare its outputs; fill in the outcome ...
 *		race_tell(r, &outcome);
 *	}
 *	race_judge(r, &result);
 *
 * An arm is a configuration: one value of each dimension, 0 being the default's. The stages are
 *   PILOT    one trial of the default and of each other engine, which does not count;
 *   SCREEN   all arms that differ from an engine's default in one value, then rounds of random
 *            combinations (race_mix.c), from which the effect of each value and pair of values is
 *            estimated (race_fit.c);
 *   RACE     the arms that seem fastest by this, tried or not, in rounds that half of the arms
 *            survive (sequential halving: Karnin, Koren and Somekh, ICML 2013; Jamieson
 *            and Talwalkar, AISTATS 2016), or fewer: those shown to be slower leave at once
 *            (racing: Maron and Moore, NIPS 1993; Birattari et al., GECCO 2002);
 *   VERIFY   the outputs of the winner are compared with the default's; if they are not the same,
 *            the next one takes its place;
 *   CONFIRM  pairs of the winner and the default, whose ratio is the answer: the winner was chosen
 *            by luck too, so no trial before counts;
 *   REST     outputs of other good arms, in the time that is left.
 *
 * A round has one trial of each of its arms, in a new random order (stat/blocks.h). Nothing here
 * measures or reads a clock: time is the sum of the outcomes' costs, so the same outcomes give the
 * same questions, a journal can be replayed, and tests/accuracy/tune.c simulates this code.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TUNE_RACE_H
#define TUNE_RACE_H

#include "measure/latency_limit.h"
#include <stddef.h>

#define RACE_DIMS_MAX	 16
#define RACE_VALUES_MAX	 16
#define RACE_SINGLES_MAX 64 /* arms with one value of an engine, and the engines */
#define RACE_ARMS_MAX	 256
#define RACE_FRONT_MAX	 12

typedef struct race_config {
	size_t ndims;
	size_t nvalues[RACE_DIMS_MAX]; /* with the default's, 2 at least */
	bool engines;		       /* dimension 0 is the engine */
	/* Bit e: the dimension exists for value e of the engine; without engines bit 0. */
	uint32_t applies[RACE_DIMS_MAX];
	double level, margin; /* of all intervals; differences up to it do not matter */
	double budget_ns;
	bool verify;	     /* outputs can be compared */
	latency_limit limit; /* arms that violate it are out; ns 0: none */
	uint64_t seed;
} race_config;

typedef enum race_stage {
	RACE_PILOT,
	RACE_SCREEN,
	RACE_RACE,
	RACE_VERIFY,
	RACE_CONFIRM,
	RACE_REST,
	RACE_DONE
} race_stage;

typedef enum race_end { RACE_OK, RACE_MEMORY, RACE_ERROR, RACE_TIME } race_end;

typedef struct race_outcome {
	race_end end;
	double cost_ns;	  /* wall time that it took */
	double before_ns; /* of the first: time that was used before it; 0 or NaN: none */
	/* Of a trial that is OK: what is to be small (time of an item), and the median of a run. */
	double value_ns, latency_ns;
	uint64_t peak_rss_bytes; /* 0: unknown */
	/* With a limit: independent runs, those over it, and the mean of a run. */
	double runs, over, mean_ns;
	/* Of a comparison of outputs that is OK: the largest difference, over the root mean square
	 * of the output (NaN: not comparable, `why`), and whether it is too large. */
	double error;
	bool differs;
	char why[256];
} race_outcome;

typedef struct race_ask {
	race_stage stage;
	size_t arm;
	unsigned round;
	bool outputs;	 /* compare its outputs instead of timing it */
	double limit_ns; /* a trial that takes longer is to be ended */
} race_ask;

/* What is known of an arm's outputs. */
typedef enum race_outputs {
	RACE_NOT_COMPARED,
	RACE_AGREE,
	RACE_DIFFER, /* excluded */
	RACE_UNKNOWN /* `outputs_why` */
} race_outputs;

typedef struct race_arm {
	uint8_t value[RACE_DIMS_MAX];
	unsigned changes; /* values that are not the default */
	race_end end;
	bool skipped;	 /* there was no time to try it */
	bool left;	 /* it left the rounds of its stage */
	bool raced;	 /* it was in the stage RACE */
	unsigned trials; /* that ended well */
	double cost_ns;	 /* of its last trial; 0: none */
	uint64_t peak_rss_bytes;
	/* Of the trials after PILOT: runs, those over the limit, and sums of the means and of their
	 * squares. */
	double runs, over, sum_ns, squares_ns;
	unsigned limited; /* these trials */
	race_outputs outputs;
	double error;
	char why[256], outputs_why[256];
} race_arm;

typedef struct race race;

race *race_new(const race_config *c); /* NULL: no memory */
void race_free(race *r);	      /* NULL is allowed */

/* Returns whether there is something to do, and what; the same until race_tell(). */
bool race_next(race *r, race_ask *ret);
/* Adds the outcome of that. */
void race_tell(race *r, const race_outcome *o);

size_t race_narms(const race *r); /* arm 0 is the default */
const race_arm *race_arm_get(const race *r, size_t arm);
double race_used_ns(const race *r);
size_t race_ntrials(const race *r);

typedef struct race_number {
	double value, lo, hi; /* NaN: unknown; no interval */
	size_t n;	      /* trials or pairs */
} race_number;

/* Estimates the arm's time over the default's, from all trials of SCREEN and RACE by the model of
 * race_fit.c; of the winner, from the pairs of CONFIRM alone, and then of an arm of RACE beside the
 * winner. The intervals of all arms hold together (Bonferroni). */
race_number race_ratio(const race *r, size_t arm);
/* Tests the limit by all trials of an arm after PILOT; the verdicts on all arms hold together
 * (Bonferroni). A maximum is never MET: no number of runs shows it. MET without a limit. */
dck_verdict race_holds(const race *r, size_t arm);
/* Estimates the default's value or latency: geometric mean of its trials. */
race_number race_default_value(const race *r);
race_number race_default_latency(const race *r);
/* Return the items of a run, latency over value, and the latency of a run: geometric means over the
 * arm's trials; NaN: it has none. */
double race_items(const race *r, size_t arm);
double race_latency(const race *r, size_t arm);

typedef struct race_result {
	bool found;	   /* a winner is shown to be faster than the default */
	size_t winner;	   /* the arm that was confirmed, or 0 */
	race_number ratio; /* its time over the default's, from CONFIRM; n 0: not confirmed */
	bool out_of_time;  /* no time for enough pairs */
	/* Arms of RACE that may be faster than the winner by more than the margin. */
	size_t unresolved;
	size_t excluded; /* arms whose outputs differ */
} race_result;
void race_judge(const race *r, race_result *ret);

/* Lists the arms that no other beats in time, memory and error at once, the fastest first, at most
 * RACE_FRONT_MAX; returns their number. Arms whose outputs differ are left out. */
size_t race_front(const race *r, size_t *front);

#endif
