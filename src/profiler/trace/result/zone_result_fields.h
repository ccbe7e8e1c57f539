/* zone_result_fields.h - the fields of zone_result.h's message: each scalar member of a struct has
 * a row in a table, which the writer and the reader share. A number is never given another meaning.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RESULT_ZONE_RESULT_FIELDS_H
#define RESULT_ZONE_RESULT_FIELDS_H

#include "profiler/trace/result/zone_result.h"

typedef enum result_kind {
	RESULT_INT64, /* also unsigned */
	RESULT_INT32,
	RESULT_FLAG,
	RESULT_REAL,
	RESULT_TEXT, /* NULL is left out */
} result_kind;

typedef struct result_field {
	uint32_t number; /* 0: end of the table */
	result_kind kind;
	size_t at;
} result_field;

/* Of zone_result, and of the rows in its nested messages. */
extern const result_field result_fields[], result_zone_fields[], result_histogram_fields[],
    result_path_fields[], result_thread_fields[], result_process_fields[];
/* Of zone_result.sums; their numbers are not among those of result_fields. */
extern const result_field result_sums_fields[];

/* Nested messages and lists of zone_result. */
enum {
	RESULT_CAPTURE = 100,	  /* texts */
	RESULT_PERCENTILE = 101,  /* reals */
	RESULT_ZONE = 102,	  /* result_zone */
	RESULT_PATH = 103,	  /* path_node, in the order of its rows from 1 on */
	RESULT_THREAD = 104,	  /* thread_row */
	RESULT_PROCESS = 105,	  /* thread_process */
	RESULT_USE_ABSENT = 106,  /* texts, in the order of os_thread_counter */
	RESULT_DEVICE_ZONE = 109, /* result_zone, of a device's ranges */
};

/* A zone: its name and number, and zone_stats. */
typedef struct result_zone {
	const char *name;
	uint32_t id;
	zone_stats stats;
} result_zone;
enum { ZONE_BATCH = 20, ZONE_HISTOGRAM = 21 }; /* reals; zone_histogram */
enum { HISTOGRAM_COUNTS = 10 };		       /* bytes: numbers of 8 bytes of this machine */

#endif
