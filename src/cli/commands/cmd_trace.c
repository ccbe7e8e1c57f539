/* cmd_trace.c - deepclock trace
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* As cli_format_options, but --out and -o name the trace. */
static const dck_opt trace_format_options[] = {
    DCK_OPTION(CHOICE, cli_format, format, "format", "FORMAT", "text",
	       "how the table of zones is written to stdout", .letter = 'f',
	       .choices = cli_formats),
    DCK_FLAG(cli_format, details, "details",
	     "all of the result as text, not only the answer in a few lines"),
    {0},
};

/* A page shows the trace itself if deepclock can read its format. */
static void timeline_read(cli *c, const char *path)
{
	dck_record *record;
	dck_err err;

	if (!c->output.html && c->format.format != CLI_HTML)
		return;
	if (!dck_trace_is(path))
		cli_message("the page has no timeline: the format of '%s' cannot be read; write a "
			    "file that ends in .pftrace",
			    path);
	else if (dck_trace_read_timeline(path, &(dck_trace_reading){0}, &record, &c->timeline,
					 &err) == DCK_OK)
		dck_record_free(record);
	else
		cli_message("the page has no timeline: %s", err.msg);
}

/* Name for the trace that an earlier run wrote to the default name; a trace with a given name is
 * replaced. */
static const char previous[] = "trace.previous.pftrace";
static const char older[] = "trace.previous.pftrace.old"; /* while the program runs */

static bool previous_keep(const cli *c, const char *path)
{
	struct stat st;

	if (cli_given(c, "out") || lstat(path, &st) != 0 || !S_ISREG(st.st_mode))
		return false;
	(void)rename(previous, older);
	if (rename(path, previous) == 0)
		return true;
	(void)rename(older, previous);
	return false;
}

/* The run made a trace; else the earlier ones go back. */
static void previous_report(const char *path)
{
	struct stat st;

	if (lstat(path, &st) == 0) {
		cli_message("the last '%s' is now '%s'", path, previous);
		(void)remove(older);
	} else if (rename(previous, path) != 0) {
		cli_message("the trace of an earlier run is now in '%s'", previous);
	} else {
		(void)rename(older, previous);
	}
}

/* nsys's -s selects the kind of samples. */
static bool is_sampling_of_nsys(const char *word)
{
	static const char *const words[] = {"cpu", "process-tree", "system-wide", "none"};

	for (size_t i = 0; word && i < sizeof words / sizeof words[0]; i++)
		if (strcmp(word, words[i]) == 0)
			return true;
	return false;
}

static int trace_run(cli *c, void *config)
{
	const dck_trace_config *trace = config;
	dck_program program = {.argv = c->program, .cancelled = cli_program_cancelled};
	dck_record *record;
	dck_err err;
	int code;

	if (!c->program)
		return cli_usage(c, "missing program; usage: deepclock trace -- PROGRAM [ARG]...");
	if (is_sampling_of_nsys(c->output.save))
		return cli_usage(
		    c,
		    "-s is --save FILE; nsys's -s %s is --sample; for a file of that name: "
		    "--save ./%s",
		    c->output.save, c->output.save);
	code = cli_metrics_check(c, NULL);
	if (code != CLI_OK)
		return code;
	if (strcmp(trace->path, "-") == 0)
		return cli_usage(c, "--out needs a file; the program has standard output");
	if (cli_file_check(trace->path, &err) != DCK_OK)
		return cli_failed(&err);
	cli_signals_program(true);
	const bool kept = previous_keep(c, trace->path);
	const dck_status st = dck_trace_program_run(trace, &program, &record, &err);
	if (kept)
		previous_report(trace->path);
	if (st != DCK_OK)
		return cli_program_failed(&err);
	timeline_read(c, trace->path);
	code = cli_record_show(c, record);
	const bool nothing = dck_record_note(record, "trace-not-captured");
	dck_record_free(record);
	if (program.cut && !program.signal) {
		cli_message("'%s': %s" CLI_UNTIL_THEN, c->program[0],
			    program.cut_why ? program.cut_why : "its recording has no end");
		program.exit_code = 0;
	}
	if (code == CLI_OK && (program.cut || nothing))
		code = CLI_FAILED;
	return cli_program_ended(&program, program.cut ? CLI_UNTIL_THEN : "", code);
}

const cli_command cmd_trace = {
    .name = "trace",
    .summary = "record where a program's time goes, from inside",
    .usage = {"[OPTION]... -- PROGRAM [ARG]..."},
    .about =
	"Starts a program that is linked with libdeepclock, and records the zones that it is "
	"annotated with (deepclock/zone.h), or one that is annotated with NVTX, such as a Python "
	"program that uses the package nvtx: into a trace that ui.perfetto.dev opens, and into a "
	"table of calls, total and own time. The program needs no code besides the zones. For "
	"every dynamically linked program it records the blocking calls of threads: reads, "
	"writes, sleeps, locks, conditions, joins, children.\n\nThe trace is written while the "
	"program runs, by a thread in it: after a kill the trace has everything until a moment "
	"before. A child process writes a separate file, which is merged into the trace when the "
	"program has ended. Events that come faster than they can be written are dropped, a zone "
	"as a whole, and counted.",
    .examples =
	{{"deepclock trace -- ./train", "into trace.pftrace, for ui.perfetto.dev"},
	 {"deepclock trace -- python3 train.py", "a program with ranges of NVTX, unchanged"},
	 {"deepclock trace --waits 1ms -- ./server", "any program: what its threads wait for"},
	 {"deepclock trace --sample -- ./train", "also which functions its time goes to"},
	 {"deepclock trace -o run.pftrace --last 64MiB -- ./serve", "only the newest events"}},
    .groups = {{"Recording", dck_trace_options, 0, false},
	       CLI_SHARED("Output", trace_format_options, format),
	       CLI_SHARED("Output", cli_save_options, output)},
    .config_size = sizeof(dck_trace_config),
    .takes_command = true,
    .hints = cli_hints_trace,
    .run = trace_run,
};
