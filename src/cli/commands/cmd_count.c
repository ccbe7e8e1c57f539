/* cmd_count.c - deepclock count
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"

#include <string.h>

static int events_list(cli *c)
{
	static const dck_column columns[] = {{"name", "event", DCK_UNIT_NONE},
					     {"alias", "also", DCK_UNIT_NONE},
					     {"here", "here", DCK_UNIT_NONE},
					     {"help", "meaning", DCK_UNIT_NONE}};
	cli_listing l = {0};
	dck_count_event e;

	CLI_LISTING_TABLE(&l, "events", "Events", columns);
	for (size_t i = 0; dck_count_event_get(i, &e); i++) {
		cli_listing_text(&l, e.name);
		cli_listing_text(&l, e.alias ? e.alias : "");
		cli_listing_text(&l, e.absent ? "no" : "yes");
		cli_listing_text(&l, e.absent ? e.absent : e.help);
	}
	return cli_listing_show(c, &l);
}

static int count_run(cli *c, void *config)
{
	const dck_count_config *count = config;
	dck_program program = {.argv = c->program, .cancelled = cli_program_cancelled};
	dck_record *record;
	dck_err err;
	int code;

	if (count->events.n == 1 &&
	    (!strcmp(count->events.item[0], "list") || !strcmp(count->events.item[0], "help"))) {
		if (c->format.profile)
			return cli_usage(c, "-o is for the counts of a program: redirect the list");
		return events_list(c);
	}
	if (!c->program)
		return cli_usage(c, "missing program; usage: deepclock count -- PROGRAM [ARG]...");
	code = cli_profile_check(c);
	if (code != CLI_OK)
		return code;
	cli_signals_program(true);
	if (dck_count_program_run(count, &program, &record, &err) != DCK_OK)
		return cli_program_failed(&err);
	code = cli_profile_show(c, record);
	dck_record_free(record);
	return cli_program_ended(&program, "", code);
}

const cli_command cmd_count = {
    .name = "count",
    .summary = "count events, and calls and times of each function",
    .usage = {"[OPTION]... -- PROGRAM [ARG]...", "--events list"},
    .about =
	"Runs a program and counts, over all processes and threads that it starts: the kernel's "
	"events, such as page faults and context switches, the processor's where the machine grants "
	"them, and the calls of each function with total and own time, by call path, where the "
	"program was built with -finstrument-functions (gcc, clang), and of its zones: deepclock's, "
	"NVTX's and ITT's.\n\n"
	"A program that was not built so needs no change for 'deepclock sample'. Python functions are "
	"counted by 'python -m deepclock count SCRIPT'.",
    .examples = {{"deepclock count -- ./train",
		  "faults, switches, cycles; calls and times of functions"},
		 {"deepclock count -e cycles,instructions,L1-dcache-load-misses -- ./train",
		  "by perf's names"},
		 {"deepclock count -o calls.callgrind -- ./train", "for KCachegrind"}},
    .groups = {{"Counting", dck_count_options, 0, false}, CLI_PROFILE},
    CLI_CONFIG(dck_count_config),
    .takes_command = true,
    .run = count_run,
};
