/* memory.h - memory profiler of a program: resident set size over time, and a heap profile by call
 * path.
 *
 * The program is not changed: a preloaded library interposes on its allocator and records each
 * malloc, realloc, free and mmap with its call path. A block that is still allocated at exit is a
 * leak, exact to the byte; memory retained by the C library is separate.
 *
 *	dck_memory_config config;
 *	dck_program program = {.argv = argv};
 *	dck_record *record;
 *
 *	dck_memory_config_init(&config);
 *	if (dck_memory_program_run(&config, &program, &record, &err) == DCK_OK)
 *		printf("%g\n", dck_record_value(record, "memory/heap_peak"));
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_MEMORY_H
#define DCK_MEMORY_H

#include "opt.h"
#include "program.h"
#include "record.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dck_memory_config {
	uint32_t struct_size; /* set by dck_memory_config_init() */
	double rate_hz;	      /* sampling rate of the resident memory */
	/* Do not preload the library: only resident memory, which works for any program. */
	bool rss_only;
	/* A running program, observed with its children: only resident memory, until it exits, for
	 * time_ns (0: no limit), or until it is cancelled. 0: start argv. */
	uint64_t pid, time_ns;
	/* Record a sample of the allocations: one in so many bytes on average. Sizes and counts are
	 * then unbiased estimates with intervals. 0: record each allocation. */
	uint64_t sample_bytes;
} dck_memory_config;

DCK_API extern const dck_opt dck_memory_options[];

/* Writes the defaults into the first argument, of struct_size bytes. @since 0.1 */
DCK_API void dck_memory_config_init_sized(dck_memory_config *c, uint32_t struct_size);
static inline void dck_memory_config_init(dck_memory_config *c)
{
	dck_memory_config_init_sized(c, (uint32_t)sizeof *c);
}

/* Starts the program, which inherits standard input and output, and observes it and its children
 * until it exits; or observes a running one (config.pid). *ret is owned, dck_record_free(): series
 * "memory/rss", "memory/anonymous", "memory/file" and "memory/heap" ("memory/heap_estimated" if
 * sampled); metrics "memory/peak_rss", "memory/heap_peak", "memory/heap_leaked",
 * "memory/allocations", "memory/temporary"; tables "memory/functions", "memory/lines"; tree
 * "allocations". If no library can be preloaded (a static or setuid program), these are absent,
 * with the reason. E_ABSENT: no such program or process; E_ARG; E_IO; E_CANCEL: cancelled before it
 * ran. @since 0.1 */
DCK_API dck_status dck_memory_program_run(const dck_memory_config *config, dck_program *p,
					  dck_record **ret, dck_err *err) DCK_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
