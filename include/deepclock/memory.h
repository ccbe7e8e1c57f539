/* memory.h - the memory of a program: how much of it is resident over time, and who allocates.
 *
 * The program is not changed: a preloaded library interposes on its allocator and records each
 * malloc, realloc, free and mmap with its call path. What stays when the program ends is a leak,
 * exact to the byte; what the C library keeps for itself is separate.
 *
 *	dck_memory_config config;
 *	dck_memory_program program = {.argv = argv};
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
#include "record.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dck_memory_config {
	uint32_t struct_size; /* set by dck_memory_config_init() */
	double rate_hz;	      /* sampling rate of the resident memory */
	/* No library is preloaded: the resident memory alone, which works for any program. */
	bool rss_only;
	/* Of a program that runs already, and of its children: the resident memory alone, until it
	 * ends, for time_ns (0: without end), or until it is cancelled. 0: one is started. */
	uint64_t pid, time_ns;
} dck_memory_config;

DCK_API extern const dck_opt dck_memory_options[];

/* Writes the defaults into the first argument, of struct_size bytes. @since 0.1 */
DCK_API void dck_memory_config_init_sized(dck_memory_config *c, uint32_t struct_size);
static inline void dck_memory_config_init(dck_memory_config *c)
{
	dck_memory_config_init_sized(c, (uint32_t)sizeof *c);
}

typedef struct dck_memory_program {
	char *const *argv; /* argv[0] is searched in PATH; NULL-ended; NULL with config.pid */
	/* Asked every 50 ms; true: the program gets SIGTERM, and the record is incomplete. NULL:
	 * never. */
	bool (*cancelled)(void *self);
	void *self;
	/* Set: how it ended; exit_code -1: by the signal. */
	int exit_code, signal;
} dck_memory_program;

/* Starts the program, whose input and output are ours, and watches it and its children until it
 * ends; or watches one that runs (config.pid). *ret is owned, dck_record_free(): series
 * "memory/rss", "memory/anonymous", "memory/file" and "memory/heap"; metrics "memory/peak_rss",
 * "memory/heap_peak", "memory/heap_leaked", "memory/allocations", "memory/temporary"; tables
 * "memory/functions", "memory/lines"; tree "allocations". Where the program cannot be preloaded
 * (statically linked, setuid) these are absent, with the reason. E_ABSENT: there is no such
 * program or process; E_ARG; E_IO; E_CANCEL: cancelled before it ran. p's last members are set
 * whenever it ran.
 * @since 0.1 */
DCK_API dck_status dck_memory_program_run(const dck_memory_config *config, dck_memory_program *p,
					  dck_record **ret, dck_err *err) DCK_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
