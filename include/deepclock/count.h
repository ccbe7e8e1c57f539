/* count.h - how often and how long: counters of the system for a program and all that it starts,
 * and calls, total and own time of each function of one that is built with -finstrument-functions.
 *
 *	dck_count_program p = {.argv = (char *[]){"./train", "data", NULL}};
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
#include "record.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dck_count_config {
	uint32_t struct_size; /* set by dck_count_config_init() */
	dck_list events;      /* by perf's names, each item several with commas; none: a default */
	bool no_functions;    /* no library is preloaded */
	uint64_t top;	      /* functions in the table; 0: all */
	int sort;	      /* index in dck_count_sorts: the order of the table */
} dck_count_config;

/* The orders of the table of functions, by their columns and in pstats' words; NULL ends them. The
 * first is the default. @since 0.1 */
DCK_API extern const char *const dck_count_sorts[];

/* The rows of dck_count_config, for a command line. */
DCK_API extern const dck_opt dck_count_options[];

/* The defaults, for a caller that is compiled with this header. @since 0.1 */
DCK_API void dck_count_config_init_sized(dck_count_config *c, uint32_t struct_size);
static inline void dck_count_config_init(dck_count_config *c)
{
	dck_count_config_init_sized(c, (uint32_t)sizeof *c);
}

typedef struct dck_count_program {
	char *const *argv; /* argv[0] is searched in PATH; NULL-ended */
	/* Asked every 50 ms; true: the program gets SIGTERM. NULL: it never is. */
	bool (*cancelled)(void *self);
	void *self;
	int exit_code, signal; /* set: how it ended; exit_code -1: by the signal */
} dck_count_program;

/* Runs the program; its input and output are ours. config NULL: the defaults. *ret is owned,
 * dck_record_free(): metrics "counter/...", table "functions" and tree "calls" where it was built
 * with -finstrument-functions. When it was cancelled the record is incomplete. E_ABSENT: there is
 * no such program; E_ARG: an event has no such name. @since 0.1 */
DCK_API dck_status dck_count_program_run(const dck_count_config *config, dck_count_program *p,
					 dck_record **ret, dck_err *err) DCK_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
