/* comparable.h - comparability of two records, defined by one table: the facts that must agree
 * before numbers may be compared, the facts that may differ because a comparison is about them, and
 * the facts that separate trends.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORD_COMPARABLE_H
#define RECORD_COMPARABLE_H

#include "deepclock/record.h"

typedef enum comparable_group {
	COMPARABLE_MACHINE, /* the machine */
	COMPARABLE_METHOD,  /* the method of measurement */
	COMPARABLE_STATE,   /* of the machine or the method: may differ, is noted */
	COMPARABLE_SETTING, /* engine, threads, ...: the subject of a comparison */
	COMPARABLE_SUBJECT, /* the model itself */
	COMPARABLE_NONE,    /* ignored by comparisons */
	COMPARABLE_GROUPS
} comparable_group;

/* The meaning of a difference for a trend: points of one trend, or of two machines, or of two
 * methods. */
typedef enum comparable_trend { TREND_TOGETHER, TREND_MACHINE, TREND_METHOD } comparable_trend;

/* A fact that differs. Borrowed from the records. */
typedef struct comparable_difference {
	comparable_group group;
	const char *section, *key;
	const dck_fact *a, *b; /* one may be NULL: that record does not have it */
} comparable_difference;

#define COMPARABLE_MAX 96
typedef struct comparable_differences {
	comparable_difference rows[COMPARABLE_MAX];
	size_t n;
	size_t count[COMPARABLE_GROUPS];
	/* Facts of machine and method that only one of the records has: not compared. */
	const char *unknown[8];
	size_t nunknown;
} comparable_differences;

/* Finds the differences. `tag`: the metric that is compared. A counted metric depends neither on
 * the machine nor on the clock. */
void comparable_differ(const dck_record *a, const dck_record *b, const char *tag,
		       comparable_differences *ret);

/* Writes the differences of one group, "host cpu: 'X' and 'Y'; cpus_online: 2 and 8", cut to the
 * buffer. Returns text. */
const char *comparable_text(const comparable_differences *f, comparable_group group, char *text,
			    size_t size);

/* Writes a fact's value for a message; cut to the buffer. Returns text. */
const char *comparable_value(const dck_fact *fact, char *text, size_t size);

/* Returns a hash, started with `begin`, of the record's facts that separate trends by TREND_MACHINE
 * or TREND_METHOD. Histories store it: if the table changes, their next version recomputes it. */
uint64_t comparable_key(const dck_record *r, comparable_trend part, uint64_t begin);

/* Returns whether the metric is a count of the model or of given data: the same on every machine.
 */
bool comparable_exact(const char *tag);

#endif
