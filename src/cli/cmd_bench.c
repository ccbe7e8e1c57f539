/* cmd_bench.c - deepclock bench SUBJECT | -- PROGRAM ARG...
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct bench_output {
	const char *save;
	bool no_progress;
} bench_output;

typedef struct bench_worker {
	uint64_t fd; /* 0: this is no worker */
} bench_worker;

typedef struct bench_config {
	cli_common common;
	cli_format format;
	bench_output output;
	bench_worker worker;
	dck_subject subject;
	dck_plan plan;
} bench_config;

static const dck_opt output_options[] = {
    {.name = "save",
     .kind = DCK_OPT_TEXT,
     .at = offsetof(bench_output, save),
     .arg = "FILE",
     .help = "keep the record in FILE, as JSON; 'deepclock report FILE' shows it again"},
    {.name = "no-progress",
     .kind = DCK_OPT_FLAG,
     .at = offsetof(bench_output, no_progress),
     .help = "no progress line, also on a terminal"},
    {0},
};

/* How --processes talks to the processes it starts. */
static const dck_opt worker_options[] = {
    {.name = "worker-fd",
     .kind = DCK_OPT_COUNT,
     .at = offsetof(bench_worker, fd),
     .arg = "N",
     .min = 3,
     .max = INT_MAX,
     .help = "write the record as JSON to this descriptor and nothing to stdout"},
    {0},
};

static void bench_init(void *config)
{
	bench_config *cfg = config;

	dck_subject_init(&cfg->subject);
	dck_plan_init(&cfg->plan);
}

/* What the observer's functions need. */
typedef struct bench_watch {
	const bench_config *cfg;
	cli_progress line;
} bench_watch;

static void on_progress(void *self, const dck_progress *p)
{
	bench_watch *w = self;

	cli_progress_draw(&w->line, p);
}

/* Warnings of the engine become notes of the record; the rest is for the curious. */
static void on_log(void *self, dck_log_level level, const char *text)
{
	static const char *const names[] = {"debug", "info", "warning", "error"};
	bench_watch *w = self;

	if (!w->cfg->common.verbose || w->cfg->common.quiet)
		return;
	flockfile(stderr);
	cli_progress_erase(&w->line);
	cli_message("engine, %s: %s", level <= DCK_LOG_ERROR ? names[level] : "?", text);
	funlockfile(stderr);
}

static bool on_cancelled(void *self)
{
	(void)self;
	return cli_signal_seen();
}

/* Our own command line, to measure in one fresh process: later options win, and "--" ends them. */
static const char **worker_argv_make(const cli *c)
{
	static const char *const more[] = {"--processes", "1", "--worker-fd", "{fd}"};
	const size_t nmore = sizeof more / sizeof more[0];
	const char **argv = calloc((size_t)c->argc + nmore + 1, sizeof *argv);
	size_t n = 0;

	if (!argv)
		return NULL;
	/* Linux: the same file even when it was replaced or PATH has changed since. */
	argv[n++] = access("/proc/self/exe", X_OK) == 0 ? "/proc/self/exe" : c->argv[0];
	for (int i = 1; i < c->options_end; i++)
		argv[n++] = c->argv[i];
	for (size_t i = 0; i < nmore; i++)
		argv[n++] = more[i];
	for (int i = c->options_end; i < c->argc; i++)
		argv[n++] = c->argv[i];
	return argv;
}

static int record_send(const bench_config *cfg, const dck_record *r)
{
	dck_sink out;
	dck_err err;

	dck_sink_fd(&out, (int)cfg->worker.fd);
	if (dck_report("json", &r, 1, NULL, &out, &err) != DCK_OK ||
	    dck_sink_finish(&out, &err) != DCK_OK)
		return cli_failed(&err);
	return CLI_OK;
}

/* The text report shows the notes itself. Why a run ended early is said in any case. */
static void notes_print(const bench_config *cfg, const dck_record *r)
{
	for (size_t i = 0; i < r->nnotes; i++) {
		const dck_note *note = &r->notes[i];
		bool warn = cfg->format.format != CLI_TEXT && !cfg->common.quiet;

		if (note->severity == DCK_ERROR || (warn && note->severity == DCK_WARN))
			cli_message("%s", note->text);
	}
}

static int record_show(const bench_config *cfg, const dck_record *r)
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
	/* Ctrl-C reaches the measured program too, whose death may come first. */
	if (code == CLI_OK && r->incomplete)
		code = cli_signal_seen() || dck_record_note(r, "interrupted") ? CLI_INTERRUPTED
									      : CLI_FAILED;
	return code;
}

static int measure(bench_config *cfg)
{
	bench_watch watch = {.cfg = cfg};
	const dck_observer observer = {
	    .self = &watch,
	    .progress = on_progress,
	    .log = on_log,
	    .cancelled = on_cancelled,
	};
	const bool is_worker = cfg->worker.fd > 0;
	dck_record *record;
	dck_status status;
	dck_err err;
	int code;

	cli_progress_init(&watch.line, &cfg->common, !is_worker && !cfg->output.no_progress);
	cli_signals_install();
	status = dck_bench(&cfg->subject, &cfg->plan, &observer, &record, &err);
	cli_progress_erase(&watch.line);
	if (status != DCK_OK) {
		code = cli_failed(&err);
		return cli_signal_seen() ? CLI_INTERRUPTED : code;
	}
	code = is_worker ? record_send(cfg, record) : record_show(cfg, record);
	dck_record_free(record);
	return code;
}

static int subject_read(const cli *c, bench_config *cfg, void **ret_owned)
{
	dck_err err;

	if (c->program) {
		cfg->subject.kind = DCK_SUBJECT_COMMAND;
		cfg->subject.argv = c->program;
		return CLI_OK;
	}
	if (c->nargs == 0)
		return cli_usage(
		    c, "bench needs a SUBJECT: a model file, zoo:NAME, plugin:FILE.so, or "
		       "-- PROGRAM");
	if (dck_subject_parse(c->args[0], &cfg->subject, ret_owned, &err) != DCK_OK)
		return cli_failed(&err);
	return CLI_OK;
}

static int bench_run(cli *c, void *config)
{
	bench_config *cfg = config;
	const char **worker_argv;
	void *owned = NULL;
	char title[8192];
	int code;

	if (cfg->output.save && strcmp(cfg->output.save, "-") == 0)
		return cli_usage(
		    c, "--save needs a file; for the record on stdout give --format json");
	code = subject_read(c, cfg, &owned);
	if (code != CLI_OK)
		return code;
	worker_argv = worker_argv_make(c);
	if (!worker_argv) {
		cli_message("out of memory");
		dck_free(owned);
		return CLI_FAILED;
	}
	cli_title(c, title, sizeof title);
	cfg->plan.title = title;
	cfg->plan.worker_argv = worker_argv;
	code = measure(cfg);
	free(worker_argv);
	dck_free(owned);
	return code;
}

static const char *zoo_word(size_t i)
{
	size_t n;
	const dck_zoo_entry *all = dck_zoo(&n);

	return i < n ? all[i].name : NULL;
}

static const char *const usage[] = {"[OPTION]... SUBJECT", "[OPTION]... -- PROGRAM [ARGUMENT]...",
				    NULL};
static const cli_item subjects[] = {
    {"model.onnx", "a model from a file"},
    {"zoo:NAME", "a built-in network ('deepclock zoo' lists them)"},
    {"cmd:'PROGRAM ARG...'", "any program, in one word; quotes in it are kept, no shell"},
    {"plugin:FILE.so", "an engine plug-in that brings its own workload"},
    {"-- PROGRAM ARG...", "any program with its arguments"},
    {0},
};
static const cli_section sections[] = {{"Subjects", subjects}, {0}};
static const cli_group groups[] = {
    {"Measuring", dck_plan_options, offsetof(bench_config, plan), false},
    {"Models", dck_model_options, offsetof(bench_config, subject.model), false},
    {"Programs", dck_command_options, offsetof(bench_config, subject.command), false},
    {"Output", cli_format_options, offsetof(bench_config, format), false},
    {"Output", output_options, offsetof(bench_config, output), false},
    {"Worker", worker_options, offsetof(bench_config, worker), true},
    {0},
};
static const cli_item examples[] = {
    {"deepclock bench zoo:resnet18", "time a built-in network until its median is known to 1 %"},
    {"deepclock bench model.onnx --batch 8 --threads 4 --save run.json",
     "eight items at once on four threads; keep the record"},
    {"deepclock bench model.onnx --runs 1000 --statistic p99",
     "exactly 1000 runs, and the 99th percentile first"},
    {"deepclock bench zoo:bert_mini --processes 5",
     "five fresh processes: an interval that also covers the next start"},
    {"deepclock bench --runs 100 -- gzip -k -f big.bin", "time a program"},
    {0},
};

const cli_command cmd_bench = {
    .name = "bench",
    .summary = "measure how long one run of a model or a program takes",
    .usage = usage,
    .about =
	"Runs SUBJECT again and again and reports how long one run takes, with an interval for "
	"each number and notes on every reason to doubt it. Warm-up ends when a steady state is "
	"detected; measuring ends when the statistic is known to the precision that was asked "
	"for.\n\n"
	"The first Ctrl-C ends the measurement and reports what was measured until then (exit "
	"status 130), a second one ends the program.",
    .sections = sections,
    .examples = examples,
    .groups = groups,
    .config_size = sizeof(bench_config),
    .init = bench_init,
    .max_args = 1,
    .arg = "SUBJECT",
    .takes_command = true,
    .word_prefix = "zoo:",
    .word = zoo_word,
    .files = true,
    .run = bench_run,
};
