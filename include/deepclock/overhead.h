/* overhead.h - what the ways of looking at a program cost it: the same command under none, count,
 * sample, trace and memory, in turns.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_OVERHEAD_H
#define DCK_OVERHEAD_H

#include "opt.h"
#include "record.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dck_overhead_config {
	uint32_t struct_size; /* set by dck_overhead_config_init() */
	uint64_t rounds;      /* each runs the command once under each method */
	uint64_t seed;	      /* of the order in them */
	dck_list methods;     /* "count", "sample", "trace", "memory"; none: all of them */
	/* The program deepclock, which is started for each run. */
	const char *deepclock;
	/* Asked every 50 ms; true: it ends. NULL: it never does. */
	bool (*cancelled)(void *self);
	void *self;
} dck_overhead_config;

/* The command-line options of dck_overhead_config. */
DCK_API extern const dck_opt dck_overhead_options[];

/* Writes the defaults into the first argument, of struct_size bytes. @since 0.1 */
DCK_API void dck_overhead_config_init_sized(dck_overhead_config *c, uint32_t struct_size);
static inline void dck_overhead_config_init(dck_overhead_config *c)
{
	dck_overhead_config_init_sized(c, (uint32_t)sizeof *c);
}

/* Runs argv (NULL-ended; its output goes nowhere) and makes the table "overhead". *ret is owned,
 * dck_record_free(). E_ABSENT: no such program; E_ENGINE: it fails by itself; E_ARG: no such
 * method; E_CANCEL. @since 0.1 */
DCK_API dck_status dck_overhead(const dck_overhead_config *config, char *const *argv,
				dck_record **ret, dck_err *err) DCK_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
