/* machine_options.c - the options of dck_machine().
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/machine.h"

#include "base/opt_text.h"
#include "machine/loops.h"

const dck_opt dck_machine_options[] = {
    DCK_FLAG(dck_machine_config, refresh, "refresh",
	     "measure again, even if a result of this machine is cached"),
    DCK_FLAG(dck_machine_config, quick, "quick",
	     "without a cached result, measure for a second or two; such a result is not cached"),
    DCK_OPTION(COUNT, dck_machine_config, threads, "threads", "N", NULL,
	       "threads of the columns for all; default: one for each core this process may use",
	       .letter = 'j', .min = 1, .max = MACHINE_CPUS_MAX),
    DCK_FLAG(dck_machine_config, cached_only, "cached-only",
	     "never measure: show the cached result, or fail", .excludes = "refresh quick"),
    DCK_FLAG(dck_machine_config, keep, "keep",
	     "keep the result also when the machine was too busy to be measured well"),
    DCK_OPTION(TEXT, dck_machine_config, device, "device", "DEVICE", NULL,
	       "measure a device instead of the processor: opencl, opencl:N, gpu (the first one)",
	       .excludes = "threads cached-only keep"),
    {0},
};

void dck_machine_init_sized(dck_machine_config *c, uint32_t struct_size)
{
	OPT_CONFIG_INIT(c, struct_size, dck_machine_options);
}
