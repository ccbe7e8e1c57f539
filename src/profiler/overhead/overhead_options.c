/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/overhead/overhead_run.h"
#include "base/opt_text.h"

const dck_opt dck_overhead_options[] = {
    DCK_OPTION(COUNT, dck_overhead_config, rounds, "rounds", "N", "5",
	       "each runs the program once under each method", .min = 2,
	       .max = OVERHEAD_ROUNDS_MAX),
    DCK_OPTION(LIST, dck_overhead_config, methods, "method", "NAME", NULL,
	       "only this method and none: count, sample, trace, trace-sample (both at once), "
	       "memory; may be repeated"),
    DCK_OPTION(COUNT, dck_overhead_config, seed, "order-seed", "N", "1",
	       "of the order of the methods in a round", .max = 1e15),
    {0},
};

void dck_overhead_config_init_sized(dck_overhead_config *c, uint32_t struct_size)
{
	const dck_opt *const tables[] = {dck_overhead_options, NULL};

	opt_config_init(c, struct_size, sizeof *c, tables);
}
