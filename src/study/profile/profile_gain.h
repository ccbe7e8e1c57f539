/* profile_gain.h - the times of operators against their roofs: the time of a run at the roofs, and
 * the notes on the operators that could gain most and on roofs that do not apply.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PROFILE_PROFILE_GAIN_H
#define PROFILE_PROFILE_GAIN_H

#include "base/mem.h"
#include "record/build.h"

typedef struct profile_gain {
	const char *name, *type;
	const char *bound;   /* of the roof */
	double ns, least_ns; /* its time, and that at its roof; NaN: it has no roof */
} profile_gain;

/* The operators of a run that have a time. */
typedef struct profile_gains {
	profile_gain *of; /* [n] */
	size_t n;
	double latency_ns;   /* of the run */
	const char *no_roof; /* why the first operator without a roof has none; NULL: all have */
	mem_arena *arena;
} profile_gains;

/* Returns the time of a run in which each operator reaches its roof; one that beats its roof a
 * little has its own time. NaN: not known, with *ret_why. */
double profile_gain_least(const profile_gains *g, const char **ret_why);
/* Notes up to three operators that could gain most. */
void profile_gain_worth(const profile_gains *g, record_builder *b);
/* Notes that much of the time is far above or below the roofs. */
void profile_gain_far(const profile_gains *g, record_builder *b);

#endif
