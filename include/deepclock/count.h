/* count.h - event counters of the kernel for a program and its children; calls, total and self time
 * of each function of a program that is built with -finstrument-functions.
 *
 *	dck_program p = {.argv = (char *[]){"./train", "data", NULL}};
 *	dck_record *record;
 *	dck_err err;
 *
 *	if (dck_count_program_run(NULL, &p, &record, &err) != DCK_OK)
 *		...
 *	dck_record_value(record, "counter/page-faults");
 *	dck_record_table(record, "functions");      name, calls, total, self, ...
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_COUNT_H
#define DCK_COUNT_H

#include "opt.h"
#include "program.h"
#include "record.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How times of functions are measured: by a clock that is read at each enter and exit, or by
 * sampling the innermost call about every millisecond; then the hooks read no clock, and the times
 * are estimates with intervals. Calls are exact in both. @since 0.1 */
enum { DCK_COUNT_EXACT, DCK_COUNT_SAMPLED };

typedef struct dck_count_config {
	uint32_t struct_size; /* set by dck_count_config_init() */
	dck_list events; /* perf's names, one or more per item, comma-separated; none: a default */
	bool no_functions; /* do not preload the library */
	uint64_t top;	   /* maximum number of functions in the table; 0: all */
	int sort;	   /* index in dck_count_sorts: the order of the table */
	int times;	   /* DCK_COUNT_EXACT */
} dck_count_config;

/* The sort orders of the table of functions: column keys and pstats' names, NULL-ended. The first
 * is the default. @since 0.1 */
DCK_API extern const char *const dck_count_sorts[];

/* The command-line options of dck_count_config. */
DCK_API extern const dck_opt dck_count_options[];

/* Writes the defaults into the first argument, of struct_size bytes. @since 0.1 */
DCK_API void dck_count_config_init_sized(dck_count_config *c, uint32_t struct_size);
static inline void dck_count_config_init(dck_count_config *c)
{
	dck_count_config_init_sized(c, (uint32_t)sizeof *c);
}

/* Runs the program, which inherits standard input and output. config NULL: the defaults. *ret is
 * owned, dck_record_free(): metrics "counter/...", and table "functions" and tree "calls" if the
 * program was built with -finstrument-functions. After a cancellation the record is incomplete.
 * E_ABSENT: no such program; E_ARG: an event has no such name. @since 0.1 */
DCK_API dck_status dck_count_program_run(const dck_count_config *config, dck_program *p,
					 dck_record **ret, dck_err *err) DCK_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
