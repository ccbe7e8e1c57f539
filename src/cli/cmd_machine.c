/* cmd_machine.c - deepclock machine
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"
#include <string.h>
#include <unistd.h>

typedef struct machine_output {
	const char *save;
	bool no_progress;
} machine_output;

typedef struct machine_command {
	cli_common common;
	cli_format format;
	machine_output output;
	dck_machine_config machine;
} machine_command;

static const dck_opt output_options[] = {
    {.name = "save",
     .kind = DCK_OPT_TEXT,
     .at = offsetof(machine_output, save),
     .arg = "FILE",
     .help = "keep the record in FILE, as JSON; 'deepclock report FILE' shows it again"},
    {.name = "no-progress",
     .kind = DCK_OPT_FLAG,
     .at = offsetof(machine_output, no_progress),
     .help = "no progress line, also on a terminal"},
    {0},
};

static void on_progress(void *self, const dck_progress *p)
{
	cli_progress_draw(self, p);
}

static bool on_cancelled(void *self)
{
	(void)self;
	return cli_signal_seen();
}

/* The text report shows the notes itself. Why it ended early is said in any case. */
static void notes_print(const machine_command *cfg, const dck_record *r)
{
	for (size_t i = 0; i < r->nnotes; i++) {
		const dck_note *note = &r->notes[i];
		bool warn = cfg->format.format != CLI_TEXT && !cfg->common.quiet;

		if (note->severity == DCK_ERROR || (warn && note->severity == DCK_WARN))
			cli_message("%s", note->text);
	}
}

static int record_show(const machine_command *cfg, const dck_record *r)
{
	dck_style style = cli_style(&cfg->common, STDOUT_FILENO);
	int code = cli_report(cfg->format.format, &r, 1, &style);
	dck_err err;

	notes_print(cfg, r);
	/* Saved even when stdout is full, and shown even when it cannot be saved. */
	if (cfg->output.save && dck_record_save(r, cfg->output.save, &err) != DCK_OK) {
		cli_message("%s", err.msg);
		code = CLI_FAILED;
	}
	return code == CLI_OK && r->incomplete ? CLI_INTERRUPTED : code;
}

static int machine_run(cli *c, void *config)
{
	machine_command *cfg = config;
	cli_progress line;
	const dck_observer observer = {
	    .self = &line, .progress = on_progress, .cancelled = on_cancelled};
	dck_record *record;
	char title[8192];
	dck_status status;
	dck_err err;
	int code;

	if (cfg->output.save && strcmp(cfg->output.save, "-") == 0)
		return cli_usage(
		    c, "--save needs a file; for the record on stdout give --format json");
	cli_title(c, title, sizeof title);
	cfg->machine.title = title;
	cli_progress_init(&line, &cfg->common, !cfg->output.no_progress);
	cli_signals_install();
	status = dck_machine(&cfg->machine, &observer, &record, &err);
	cli_progress_erase(&line);
	if (status != DCK_OK) {
		code = cli_failed(&err);
		return cli_signal_seen() ? CLI_INTERRUPTED : code;
	}
	code = record_show(cfg, record);
	dck_record_free(record);
	return code;
}

static const char *const usage[] = {"[OPTION]...", NULL};
static const cli_group groups[] = {
    {"Measuring", dck_machine_options, offsetof(machine_command, machine), false},
    {"Output", cli_format_options, offsetof(machine_command, format), false},
    {"Output", output_options, offsetof(machine_command, output), false},
    {0},
};
static const cli_item examples[] = {
    {"deepclock machine", "the limits of this machine; measured the first time, kept then"},
    {"deepclock machine --refresh", "measure again"},
    {"deepclock machine --format csv | grep peak/fp32/", "one value for a script"},
    {0},
};

const cli_command cmd_machine = {
    .name = "machine",
    .summary = "measure what this machine could do at best",
    .usage = usage,
    .about =
	"Measures the peaks of arithmetic (FP64, FP32, FP16, BF16, INT8) with every instruction "
	"set that the processor has, the bandwidth of each cache and of memory, and what clocks, "
	"system calls, threads and processes cost; with one thread and with all. It takes less "
	"than ten seconds. The result is kept for this machine in the user's cache folder and "
	"shown from there the next time.\n\n"
	"Each peak is compared with a matrix product of a BLAS library where there is one: a peak "
	"below it would be wrong, and a note says so.",
    .examples = examples,
    .groups = groups,
    .config_size = sizeof(machine_command),
    .run = machine_run,
};
