/* SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/memory.h"
#include "base/opt_text.h"

const dck_opt dck_memory_options[] = {
    DCK_OPTION(REAL, dck_memory_config, rate_hz, "rate", "HZ", "100",
	       "sampling rate of the resident memory, in Hz", .min = 0.01, .max = 10000),
    DCK_FLAG(dck_memory_config, rss_only, "rss-only",
	     "the resident memory alone: no library is preloaded into the program"),
    DCK_OPTION(COUNT, dck_memory_config, pid, "pid", "PID", NULL,
	       "the resident memory of a program that runs already, and of its children", .min = 1,
	       .max = 4194304),
    DCK_OPTION(TIME, dck_memory_config, time_ns, "time", "TIME", NULL, "duration, with --pid",
	       .min = 1e6, .max = 1e18),
    DCK_OPTION(BYTES, dck_memory_config, sample_bytes, "sample", "BYTES", NULL,
	       "sample one in BYTES allocated bytes, such as 512KiB: estimates at a low cost",
	       .min = 1, .max = 1e15),
    {0},
};

void dck_memory_config_init_sized(dck_memory_config *c, uint32_t struct_size)
{
	const dck_opt *const tables[] = {dck_memory_options, NULL};

	opt_config_init(c, struct_size, sizeof *c, tables);
}
