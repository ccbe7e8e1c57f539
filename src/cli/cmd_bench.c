/* cmd_bench.c - deepclock bench SUBJECT | -- PROGRAM ARG...
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"
#include <limits.h>
#include <string.h>

typedef struct bench_config {
	cli_common common;
	cli_format format;
	cli_output output;
	cli_worker worker;
	cli_scan scan;
	dck_subject subject;
	dck_plan plan;
} bench_config;

static dck_status make(void *config, const dck_observer *o, dck_record **ret, dck_err *err)
{
	const bench_config *cfg = config;

	return dck_bench(&cfg->subject, &cfg->plan, o, ret, err);
}

/* --- several subjects */

/* What says how the runs of one subject are counted has no meaning in rounds of all of them. */
static int several_check(const cli *c, const bench_config *cfg)
{
	static const struct {
		const char *name, *instead;
	} of_one[] = {
	    {"time", "give --runs or --max-time"},
	    {"min-time", "rounds are made until the ratios are known to --precision"},
	    {"min-runs", "rounds are made until the ratios are known to --precision"},
	    {"group", "a trial of a short model is several runs"},
	    {"processes", "compare --fresh makes each trial in a fresh process"},
	    {"idle", "measure them one by one"},
	    {"keep", "all rounds are kept"},
	};

	for (size_t i = 0; i < sizeof of_one / sizeof of_one[0]; i++)
		if (cli_given(c, of_one[i].name))
			return cli_usage(c,
					 "--%s is of one subject, and several are measured "
					 "interleaved: %s",
					 of_one[i].name, of_one[i].instead);
	if (strcmp(cfg->plan.statistic, "median") != 0 && strcmp(cfg->plan.statistic, "mean") != 0)
		return cli_usage(c, "several subjects are ranked by their median or mean: measure "
				    "them one by one for another statistic");
	return CLI_OK;
}

static void ranking_config(const cli *c, const bench_config *cfg, size_t n, dck_compare_config *r)
{
	const dck_plan *p = &cfg->plan;

	dck_compare_config_init(r);
	r->margin = p->precision;
	r->level = p->level;
	for (int i = 0; dck_compare_statistics[i]; i++)
		if (strcmp(dck_compare_statistics[i], p->statistic) == 0)
			r->statistic = i;
	r->rounds = p->runs;
	r->max_time_ns = p->max_time_ns * n;
	if (cli_given(c, "warmup"))
		r->warmup = p->warmup;
	if (cli_given(c, "max-warmup"))
		r->max_warmup_ns = p->max_warmup_ns;
	r->check_outputs = p->check_outputs;
	r->clock = p->clock;
	r->program = p->program;
	r->title = p->title;
}

typedef struct ranking {
	const dck_alternative *all;
	size_t n;
	dck_compare_config config;
} ranking;

static dck_status rank(void *config, const dck_observer *o, dck_record **ret, dck_err *err)
{
	const ranking *r = config;

	return dck_rank(r->all, r->n, &r->config, o, ret, err);
}

static int several_run(cli *c, bench_config *cfg)
{
	cli_subjects s = {0};
	int code = cli_subjects_read(c, &cfg->subject, &s);

	if (code == CLI_OK)
		code = cli_subjects_scan(&cfg->scan, &s);
	for (size_t i = 0; code == CLI_OK && i < s.n; i++)
		code = cli_subject_check(c, s.all[i].subject);
	if (code == CLI_OK && s.n == 1) {
		cfg->subject = *s.all[0].subject;
		code = cli_make(c, make, cfg, NULL, cli_record_verdict);
	} else if (code == CLI_OK) {
		ranking r = {.all = s.all, .n = s.n};

		code = several_check(c, cfg);
		ranking_config(c, cfg, s.n, &r.config);
		if (code == CLI_OK)
			code = cli_make(c, rank, &r, NULL, cli_record_verdict);
	}
	cli_subjects_free(&s);
	return code;
}

static int bench_run(cli *c, void *config)
{
	bench_config *cfg = config;
	int code;

	cfg->plan.title = c->title;
	cfg->plan.program = cli_program(c);
	if (c->nargs > 1 || (cfg->scan.scan.n > 0 && (c->nargs > 0 || c->program)))
		return several_run(c, cfg);
	code = cli_subject_read(c);
	/* Who started a worker has looked. */
	if (code == CLI_OK && cfg->worker.fd == 0)
		code = cli_subject_check(c, c->subject);
	if (code != CLI_OK)
		return code;
	return cfg->worker.fd > 0 ? cli_worker_run(&cfg->worker, make, cfg)
				  : cli_make(c, make, cfg, NULL, cli_record_verdict);
}

static const char *const usage[] = {"[OPTION]... SUBJECT...",
				    "[OPTION]... -- PROGRAM [ARGUMENT]...", NULL};
static const cli_section sections[] = {{"Subjects", cli_subject_items}, {0}};
static const cli_group groups[] = {
    {"Measuring", dck_plan_options, offsetof(bench_config, plan), false},
    {"Measuring", dck_check_options, offsetof(bench_config, plan), false},
    {"Models", dck_model_options, offsetof(bench_config, subject.model), false},
    {"Programs", dck_command_options, offsetof(bench_config, subject.command), false},
    {"Programs", dck_hook_options, offsetof(bench_config, subject.command), false},
    {"Programs", cli_scan_options, offsetof(bench_config, scan), false},
    {"Output", cli_format_options, offsetof(bench_config, format), false},
    {"Output", cli_per_options, offsetof(bench_config, output), false},
    {"Output", cli_save_options, offsetof(bench_config, output), false},
    {"Output", cli_progress_options, offsetof(bench_config, output), false},
    {"Worker", cli_worker_options, offsetof(bench_config, worker), true},
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
    {"deepclock bench a.onnx b.onnx cmd:'./serve --once'",
     "several, interleaved: which is the fastest, and by how much?"},
    {"deepclock bench --scan n=1..4 -- xz -k -f -T{n} big.bin", "one program with several values"},
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
    .subject_at = offsetof(bench_config, subject),
    .max_args = INT_MAX,
    .arg = "SUBJECT",
    .takes_command = true,
    .word_prefix = "zoo:",
    .word = cli_zoo_word,
    .files = true,
    .run = bench_run,
};
