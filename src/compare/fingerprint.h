/* fingerprint.h - which facts of two records must agree before their numbers may be compared, and
 * which may differ because they are what is compared.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COMPARE_FINGERPRINT_H
#define COMPARE_FINGERPRINT_H

#include "deepclock/record.h"

typedef enum fingerprint_group {
	FINGERPRINT_MACHINE, /* where it ran */
	FINGERPRINT_METHOD,  /* how it was measured */
	FINGERPRINT_STATE,   /* of the machine or the method: may differ, is told */
	FINGERPRINT_SETTING, /* engine, threads, ...: what a comparison is about */
	FINGERPRINT_SUBJECT, /* the model itself */
	FINGERPRINT_GROUPS
} fingerprint_group;

/* A fact that differs. Borrowed from the records. */
typedef struct fingerprint_difference {
	fingerprint_group group;
	const char *section, *key;
	const dck_fact *a, *b; /* one may be NULL: that record does not have it */
} fingerprint_difference;

#define FINGERPRINT_MAX 96
typedef struct fingerprint {
	fingerprint_difference rows[FINGERPRINT_MAX];
	size_t n;
	size_t count[FINGERPRINT_GROUPS];
	/* Facts of machine and method that only one of the records has: nothing was compared. */
	const char *unknown[8];
	size_t nunknown;
} fingerprint;

/* `tag`: of the metric that is compared. What was counted, not measured, depends neither on the
 * machine nor on the clock. */
void fingerprint_compare(const dck_record *a, const dck_record *b, const char *tag,
			 fingerprint *ret);

/* "host cpu: 'X' and 'Y'; cpus_online: 2 and 8" of one group, cut to the buffer. Returns text. */
const char *fingerprint_text(const fingerprint *f, fingerprint_group group, char *text,
			     size_t size);

/* A fact's value for a sentence; cut to the buffer. Returns text. */
const char *fingerprint_value(const dck_fact *fact, char *text, size_t size);

/* The metric is a count of the model or of given data: another machine gives the same. */
bool fingerprint_exact(const char *tag);

#endif
