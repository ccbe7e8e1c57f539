/* comparable.h - what makes two records comparable, decided in one table: which facts must agree
 * before their numbers may be compared, which may differ because they are what is compared, and
 * which separate the records of a trend.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORD_COMPARABLE_H
#define RECORD_COMPARABLE_H

#include "deepclock/record.h"

typedef enum comparable_group {
	COMPARABLE_MACHINE, /* where it ran */
	COMPARABLE_METHOD,  /* how it was measured */
	COMPARABLE_STATE,   /* of the machine or the method: may differ, is noted */
	COMPARABLE_SETTING, /* engine, threads, ...: what a comparison is about */
	COMPARABLE_SUBJECT, /* the model itself */
	COMPARABLE_NONE,    /* a comparison does not look at it */
	COMPARABLE_GROUPS
} comparable_group;

/* What a difference means for a trend: points of one, or records of two machines, or of two
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
	/* Facts of machine and method that only one of the records has: nothing was compared. */
	const char *unknown[8];
	size_t nunknown;
} comparable_differences;

/* `tag`: of the metric that is compared. What was counted, not measured, depends neither on the
 * machine nor on the clock. */
void comparable_differ(const dck_record *a, const dck_record *b, const char *tag,
		       comparable_differences *ret);

/* "host cpu: 'X' and 'Y'; cpus_online: 2 and 8" of one group, cut to the buffer. Returns text. */
const char *comparable_text(const comparable_differences *f, comparable_group group, char *text,
			    size_t size);

/* A fact's value for a sentence; cut to the buffer. Returns text. */
const char *comparable_value(const dck_fact *fact, char *text, size_t size);

/* TREND_MACHINE or TREND_METHOD: a hash of the record's facts that separate trends so, begun with
 * `begin`. Histories keep it: where the table changes, their next version makes it again. */
uint64_t comparable_key(const dck_record *r, comparable_trend part, uint64_t begin);

/* The metric is a count of the model or of given data: another machine gives the same. */
bool comparable_exact(const char *tag);

#endif
