/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MEMORY_MEMORY_RECORD_H
#define MEMORY_MEMORY_RECORD_H

#include "deepclock/memory.h"
#include "profiler/memory/memory_sums.h"
#include "profiler/memory/rss_sampler.h"
#include "os/os.h"
#include "record/program_end.h"
#include "record/program_file.h"

typedef struct memory_result {
	const dck_memory_config *config;
	const dck_program *program;
	const rss_samples *looks;
	const memory_sums *sums; /* NULL: allocations were not recorded; `why` has the reason */
	const char *why;
	const char *directory; /* of the run's files */
	const os_child_usage *usage;
	uint64_t began_ns, took_ns; /* monotonic clock */
	int64_t began_unix_ns;
	bool cancelled;
	program_end end;
} memory_result;

/* Remedies for what cannot be preloaded. */
extern const char *const memory_remedies[OS_PRELOAD_OBSTACLES];

dck_status memory_record(const memory_result *m, dck_record **ret, dck_err *err);

#endif
