/* cmd_overhead.c - deepclock overhead
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"

static int overhead_run(cli *c, void *config)
{
	dck_overhead_config *overhead = config;
	dck_record *record;
	dck_err err;
	int code = cli_save_check(c);

	if (code != CLI_OK)
		return code;
	if (!c->program)
		return cli_usage(c, "missing program; usage: deepclock overhead -- PROGRAM "
				    "[ARG]...");
	overhead->deepclock = cli_program(c);
	overhead->cancelled = cli_cancelled;
	cli_signals_install();
	if (dck_overhead(overhead, c->program, &record, &err) != DCK_OK) {
		code = cli_failed(&err);
		return cli_signal_seen() ? CLI_INTERRUPTED : code;
	}
	code = cli_record_show(c, record);
	dck_record_free(record);
	return cli_signal_seen() ? CLI_INTERRUPTED : code;
}

const cli_command cmd_overhead = {
    .name = "overhead",
    .summary = "show what count, sample, trace and memory cost a program",
    .usage = {"[OPTION]... -- PROGRAM [ARG]..."},
    .about =
	"Runs the same program under count, sample, trace, both of them and memory, and under none, once in "
	"each round, in random order, and compares the times of each round: ratio with its "
	"interval, memory, size of the output. The program's own output is discarded. A method "
	"that is not possible for the program is listed with the reason.",
    .examples = {{"deepclock overhead -- ./train",
		  "what counting, sampling, tracing and memory cost it"},
		 {"deepclock overhead --method sample --rounds 20 -- ./train",
		  "one of them, more precisely"}},
    .groups = {{"Measuring", dck_overhead_options, 0, false}, CLI_RECORD},
    CLI_CONFIG(dck_overhead_config),
    .takes_command = true,
    .run = overhead_run,
};
