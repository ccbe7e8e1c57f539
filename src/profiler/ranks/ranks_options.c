/* SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/ranks.h"

#include "base/opt_text.h"

const dck_opt dck_ranks_options[] = {
    DCK_OPTION(TEXT, dck_ranks_config, step, "step", "NAME", "step",
	       "ranges of this name are the steps; of a collective: each call ends one"),
    DCK_OPTION(
	LIST, dck_ranks_config, collectives, "collective", "NAME", NULL,
	"ranges of this name are collectives too, besides 'collective:...'; may be repeated"),
    DCK_OPTION(COUNT, dck_ranks_config, warmup, "warmup", "N", "2",
	       "steps at the beginning that are left out, at most a quarter", .letter = 'w',
	       .max = 1e9),
    DCK_OPTION(TEXT, dck_ranks_config, rendezvous, "rendezvous", "FILE|HOST:PORT", NULL,
	       "where the ranks find rank 0: a file that all nodes share, or its address"),
    DCK_OPTION(TIME, dck_ranks_config, wait_ns, "wait", "TIME", "60s",
	       "rank 0 waits at most this long for the others after its program has ended",
	       .max = 1e14),
    DCK_OPTION(TEXT, dck_ranks_config, traces, "traces", "DIRECTORY", NULL,
	       "keep the trace of each rank there, as rank-N.pftrace"),
    DCK_OPTION(
	TEXT, dck_ranks_config, trace, "trace", "FILE", NULL,
	"rank 0 writes one trace of all ranks, on its clock; the name's ending is the format"),
    {0},
};

void dck_ranks_config_init_sized(dck_ranks_config *c, uint32_t struct_size)
{
	const dck_opt *const tables[] = {dck_ranks_options, NULL};

	opt_config_init(c, struct_size, sizeof *c, tables);
}
