/* cmd_memory.c - deepclock memory
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"

static int memory_run(cli *c, void *config)
{
	const dck_memory_config *memory = config;
	dck_program program = {.argv = c->program,
			       .cancelled = memory->pid ? cli_cancelled : cli_program_cancelled};
	dck_record *record;
	dck_err err;
	int code;

	if (!c->program && !memory->pid)
		return cli_usage(
		    c,
		    "missing program; usage: deepclock memory -- PROGRAM [ARG]..., or --pid PID");
	if (c->program && memory->pid)
		return cli_usage(c, "--pid names a program that runs already, and '%s' is another",
				 c->program[0]);
	if (memory->time_ns && !memory->pid)
		return cli_usage(c, "--time is for a program that runs already: --pid PID");
	if (memory->sample_bytes && (memory->pid || memory->rss_only))
		return cli_usage(c,
				 "--sample is for the allocations of a program that is started, "
				 "which %s does not record",
				 memory->pid ? "--pid" : "--rss-only");
	code = cli_profile_check(c);
	if (code != CLI_OK)
		return code;
	cli_signals_program(!memory->pid);
	if (dck_memory_program_run(memory, &program, &record, &err) != DCK_OK)
		return cli_program_failed(&err);
	code = cli_profile_show(c, record);
	const dck_note *unseen = dck_record_note(record, "allocations-not-traced");
	if (unseen) { /* the requested result is missing, but the rest is shown and saved */
		cli_message("%s", unseen->text);
		code = code == CLI_OK ? CLI_FAILED : code;
	}
	dck_record_free(record);
	if (memory->pid)
		return cli_signal_seen() ? CLI_INTERRUPTED : code;
	return cli_program_ended(&program, CLI_UNTIL_THEN, code);
}

const cli_command cmd_memory = {
    .name = "memory",
    .summary = "allocations, leaks and resident memory of a program",
    .usage = {"[OPTION]... -- PROGRAM [ARG]...", "[OPTION]... --pid PID"},
    .about =
	"Starts a program, unchanged, and counts each malloc, calloc, realloc, free, aligned variant, operator new and anonymous mmap of it and its children, with its call stack: heap at its peak, leaks, and temporary allocations, by function and by line (build with -g for lines). Memory that the C library and the loader retain does not count as leaked.\n\nIt also samples the resident memory of all processes, file-backed and anonymous. That works for any program, also for a running one (--pid); allocations are recorded for dynamically linked programs, from their start.",
    .examples = {{"deepclock memory -- ./train", "allocations, leaks and resident memory"},
		 {"deepclock memory --details -- ./server --once", "all functions and lines"},
		 {"deepclock memory --sample 512KiB -- ./server",
		  "estimates at a cost of a few percent"},
		 {"deepclock memory -o peak.pb.gz -- ./train", "its call paths, for pprof"},
		 {"deepclock memory --rss-only --rate 1000 -- ./static",
		  "any program: resident memory"},
		 {"deepclock memory --pid 4711 --time 10s", "10 s of a program that runs already"}},
    .groups = {{"Looking", dck_memory_options, 0, false}, CLI_PROFILE},
    CLI_CONFIG(dck_memory_config),
    .takes_command = true,
    .run = memory_run,
};
