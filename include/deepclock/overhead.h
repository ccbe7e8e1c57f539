/* overhead.h - profiler overhead: runs one command interleaved without a profiler and under count,
 * sample, trace, trace with samples, and memory.
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
	uint64_t rounds;      /* a round runs the command once under each method */
	uint64_t seed;	      /* seed of the order */
	dck_list methods;     /* "count", "sample", "trace", "trace-sample", "memory"; none: all */
	/* The deepclock program, started for each run. */
	const char *deepclock;
	/* Called every 50 ms; true ends the runs. NULL: never. */
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

/* Runs argv (NULL-ended; its output is discarded) and makes the table "overhead". *ret is owned,
 * dck_record_free(). E_ABSENT: no such program; E_ENGINE: it fails without a profiler; E_ARG: no
 * such method; E_CANCEL. @since 0.1 */
DCK_API dck_status dck_overhead(const dck_overhead_config *config, char *const *argv,
				dck_record **ret, dck_err *err) DCK_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
