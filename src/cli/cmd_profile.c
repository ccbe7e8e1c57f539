/* cmd_profile.c - deepclock profile MODEL
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct profile_output {
	const char *save;
	bool no_progress;
} profile_output;

typedef struct profile_command {
	cli_common common;
	cli_format format;
	profile_output output;
	dck_op_view view;
	dck_subject subject;
	dck_plan plan;
	dck_profile_config profile;
} profile_command;

static const dck_opt output_options[] = {
    {.name = "save",
     .kind = DCK_OPT_TEXT,
     .at = offsetof(profile_output, save),
     .arg = "FILE",
     .help = "keep the record in FILE, as JSON; 'deepclock report FILE' shows it again"},
    {.name = "no-progress",
     .kind = DCK_OPT_FLAG,
     .at = offsetof(profile_output, no_progress),
     .help = "no progress line, also on a terminal"},
    {0},
};

static void profile_init(void *config)
{
	profile_command *cfg = config;

	dck_subject_init(&cfg->subject);
	dck_plan_init(&cfg->plan);
	dck_profile_config_init(&cfg->profile);
}

typedef struct profile_watch {
	const profile_command *cfg;
	cli_progress line;
} profile_watch;

static void on_progress(void *self, const dck_progress *p)
{
	profile_watch *w = self;

	cli_progress_draw(&w->line, p);
}

static void on_log(void *self, dck_log_level level, const char *text)
{
	profile_watch *w = self;

	(void)level;
	if (!w->cfg->common.verbose || w->cfg->common.quiet)
		return;
	flockfile(stderr);
	cli_progress_erase(&w->line);
	cli_message("engine: %s", text);
	funlockfile(stderr);
}

static bool on_cancelled(void *self)
{
	(void)self;
	return cli_signal_seen();
}

static int record_show(const profile_command *cfg, const dck_record *r)
{
	dck_style style = cli_style(&cfg->common, STDOUT_FILENO);
	int code;
	dck_err err;

	style.ops = cfg->view;
	code = cli_report(cfg->format.format, &r, 1, &style);
	for (size_t i = 0; i < r->nnotes; i++) {
		bool warn = cfg->format.format != CLI_TEXT && !cfg->common.quiet;
		if (r->notes[i].severity == DCK_ERROR || (warn && r->notes[i].severity == DCK_WARN))
			cli_message("%s", r->notes[i].text);
	}
	if (cfg->output.save && dck_record_save(r, cfg->output.save, &err) != DCK_OK) {
		cli_message("%s", err.msg);
		code = CLI_FAILED;
	}
	if (code == CLI_OK && r->incomplete)
		code = cli_signal_seen() || dck_record_note(r, "interrupted") ? CLI_INTERRUPTED
									      : CLI_FAILED;
	return code;
}

static int profile_run(cli *c, void *config)
{
	profile_command *cfg = config;
	profile_watch watch = {.cfg = cfg};
	const dck_observer observer = {
	    .self = &watch, .progress = on_progress, .log = on_log, .cancelled = on_cancelled};
	void *owned = NULL;
	dck_record *record;
	char title[8192];
	dck_status status;
	dck_err err;
	int code;

	if (cfg->output.save && strcmp(cfg->output.save, "-") == 0)
		return cli_usage(
		    c, "--save needs a file; for the record on stdout give --format json");
	if (cfg->plan.processes > 1)
		return cli_usage(c, "profile measures in one process: --processes is for bench");
	if (dck_subject_parse(c->args[0], &cfg->subject, &owned, &err) != DCK_OK)
		return cli_failed(&err);
	cli_title(c, title, sizeof title);
	cfg->plan.title = title;
	cli_progress_init(&watch.line, &cfg->common, !cfg->output.no_progress);
	cli_signals_install();
	status =
	    dck_profile_model(&cfg->subject, &cfg->plan, &cfg->profile, &observer, &record, &err);
	cli_progress_erase(&watch.line);
	if (status != DCK_OK) {
		code = cli_failed(&err);
		code = cli_signal_seen() ? CLI_INTERRUPTED : code;
	} else {
		code = record_show(cfg, record);
		dck_record_free(record);
	}
	dck_free(owned);
	return code;
}

static const char *zoo_word(size_t i)
{
	size_t n;
	const dck_zoo_entry *all = dck_zoo(&n);

	return i < n ? all[i].name : NULL;
}

static const char *const usage[] = {"[OPTION]... MODEL", NULL};
static const cli_item subjects[] = {
    {"model.onnx", "a model from a file"},
    {"zoo:NAME", "a built-in network ('deepclock zoo' lists them)"},
    {0},
};
static const cli_section sections[] = {{"Models", subjects}, {0}};
static const cli_group groups[] = {
    {"Profiling", dck_profile_options, offsetof(profile_command, profile), false},
    {"Measuring the latency", dck_plan_options, offsetof(profile_command, plan), false},
    {"Models", dck_model_options, offsetof(profile_command, subject.model), false},
    {"Output", dck_op_options, offsetof(profile_command, view), false},
    {"Output", cli_format_options, offsetof(profile_command, format), false},
    {"Output", output_options, offsetof(profile_command, output), false},
    {0},
};
static const cli_item examples[] = {
    {"deepclock profile zoo:resnet50", "which operators take the time, and what they could reach"},
    {"deepclock profile model.onnx --threads 1 --by module", "the same by module, on one thread"},
    {"deepclock profile model.onnx --opt none", "the model's own nodes, nothing fused"},
    {"deepclock profile model.onnx --format csv --by node > ops.csv", "one row for each operator"},
    {0},
};

const cli_command cmd_profile = {
    .name = "profile",
    .summary = "show where the time of a model goes, operator by operator",
    .usage = usage,
    .about =
	"Measures the latency of MODEL as 'bench' does. Then, in sessions of their own, it takes "
	"the operators' times from the engine's profiler, takes off what the profiler itself "
	"costs, scales them to the latency, and sets them beside what each operator computes "
	"and what this machine can do. Nothing that was measured under the profiler is shown "
	"as latency.",
    .sections = sections,
    .examples = examples,
    .groups = groups,
    .config_size = sizeof(profile_command),
    .init = profile_init,
    .min_args = 1,
    .max_args = 1,
    .arg = "MODEL",
    .word_prefix = "zoo:",
    .word = zoo_word,
    .files = true,
    .run = profile_run,
};
