/* cmd_sample.c - deepclock sample
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"

static int sample_run(cli *c, void *config)
{
	const dck_sample_config *sample = config;
	dck_program program = {.argv = c->program,
			       .cancelled = sample->pid ? cli_cancelled : cli_program_cancelled};
	dck_record *record;
	dck_err err;
	int code;

	if (!c->program && !sample->pid)
		return cli_usage(
		    c,
		    "missing program; usage: deepclock sample -- PROGRAM [ARG]..., or --pid PID");
	if (c->program && sample->pid)
		return cli_usage(c, "--pid names a program that runs already, and '%s' is another",
				 c->program[0]);
	code = cli_metrics_check(c, c->format.profile);
	if (code == CLI_OK)
		code = cli_profile_check(c);
	if (code != CLI_OK)
		return code;
	cli_signals_program(!sample->pid);
	if (dck_sample(sample, &program, &record, &err) != DCK_OK)
		return cli_program_failed(&err);
	code = cli_profile_show(c, record);
	dck_record_free(record);
	/* Its end by the SIGTERM after --time does not count as a failure. */
	const bool by_itself = !program.cut;
	if (by_itself && program.exit_code > 0)
		cli_message("'%s' ended with exit status %d", c->program[0], program.exit_code);
	if (cli_signal_seen())
		return CLI_INTERRUPTED;
	if (code == CLI_OK && by_itself && (program.signal || program.exit_code))
		return CLI_FAILED;
	return code;
}

const cli_command cmd_sample = {
    .name = "sample",
    .summary = "find where a program's time goes, without changing it",
    .usage = {"[OPTION]... -- PROGRAM [ARG]...", "[OPTION]... --pid PID"},
    .about =
	"Starts any program, or attaches to one that runs, and samples the stacks of all its "
	"threads and child processes about a thousand times per second of CPU time. The result "
	"has for each function its self time, and its total time with callees. The program needs "
	"no recompiling; with debugging information its functions have files and lines, and "
	"inlined functions are shown.\n\nThe kernel takes the samples (perf_event) where it "
	"permits that; for Python programs their own threads take them, at the kernel's signals. "
	"Else a preloaded library starts a timer for each thread. The record names the source "
	"that was used.",
    .examples = {{"deepclock sample -- xz -9 -k file",
		  "which functions a program spends its time in"},
		 {"deepclock sample --pid 4711 --time 10s", "10 s of a program that runs already"},
		 {"deepclock sample --wall -- ./server", "also where its threads wait"},
		 {"deepclock sample -o profile.pb.gz -- ./train", "for pprof"},
		 {"deepclock sample --threads --save run.json -- ./train",
		  "thread by thread; saved"}},
    .groups = {{"Sampling", dck_sample_options, 0, false}, CLI_PROFILE},
    CLI_CONFIG(dck_sample_config),
    .takes_command = true,
    .hints = cli_hints_sample,
    .run = sample_run,
};
