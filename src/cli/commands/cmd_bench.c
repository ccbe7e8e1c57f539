/* cmd_bench.c - deepclock bench SUBJECT | -- PROGRAM ARG...
 *
 * One subject goes to dck_bench(); its record is then given the interval between starts, if the
 * history has earlier ones. Several subjects are ranked: they are measured interleaved by
 * dck_rank() in rounds of random order, and options that describe how the runs of one
 * subject are counted are refused by a table that names what to give instead.
 *
 * program_plan() changes the defaults for programs: their runs are long, and those of a model
 * would take minutes. The options are the tables of the library; nothing is parsed here.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"
#include <limits.h>
#include <string.h>

/* Adds the interval between starts, if the history has earlier ones; to the whole, not to the
 * record of a worker. */
static dck_status bench_make(const cli *c, void *config, const dck_observer *o, dck_record **ret,
			     dck_err *err)
{
	const dck_status status = dck_bench(&c->subject, config, o, ret, err);

	if (status == DCK_OK && !c->output.no_history && c->worker.fd == 0)
		dck_history_with_starts(c->output.db, ret);
	return status;
}

/* A program is timed within three seconds, as by hyperfine, unless one of these is given; one that
 * takes longer has --max-time for its first runs. */
#define PROGRAM_NS	  2000000000u
#define PROGRAM_WARMUP_NS 700000000u

static void program_plan(const cli *c, dck_plan *plan)
{
	if (c->subject.kind != DCK_SUBJECT_COMMAND)
		return;
	if (!cli_given(c, "max-time") && !cli_given(c, "precision") && !cli_given(c, "statistic") &&
	    !cli_given(c, "min-runs"))
		plan->enough_ns = PROGRAM_NS;
	if (plan->enough_ns > 0 && !cli_given(c, "max-warmup"))
		plan->max_warmup_ns = PROGRAM_WARMUP_NS;
}

/* --- several subjects */

/* Several subjects are measured in rounds of all of them, so an option that sets the number of runs
 * of a single subject is rejected. */
static int several_check(const cli *c, const dck_plan *plan)
{
	static const struct {
		const char *name, *instead;
	} of_one[] = {
	    {"time", "give --runs or --max-time"},
	    {"min-time", "rounds are made until the ratios are known to --precision"},
	    {"min-runs", "rounds are made until the ratios are known to --precision"},
	    {"group", "a trial of a short model is several runs"},
	    {"idle", "measure them one by one"},
	    {"keep", "all rounds are kept"},
	    {"pin-start", "measure them one by one"},
	    {"trace", "measure them one by one"},
	};

	for (size_t i = 0; i < sizeof of_one / sizeof of_one[0]; i++)
		if (cli_given(c, of_one[i].name))
			return cli_usage(
			    c,
			    "--%s applies to one subject, and several are measured interleaved: %s",
			    of_one[i].name, of_one[i].instead);
	if (plan->processes > 1)
		return cli_usage(c,
				 "--processes N applies to one subject, and several are measured "
				 "interleaved, each in a fresh process for every round: give "
				 "--processes 1 or none");
	const dck_opt *rounds = dck_opt_find(dck_compare_live_options, "rounds");
	if ((double)plan->runs > rounds->max)
		return cli_usage(c, "--runs is %llu: of several subjects at most %.0f are measured",
				 (unsigned long long)plan->runs, rounds->max);
	if (plan->runs > 0 && plan->max_time_given)
		return cli_usage(c, "several subjects are measured in rounds: "
				    "give --runs or --max-time");
	if (strcmp(plan->statistic, "median") != 0 && strcmp(plan->statistic, "mean") != 0)
		return cli_usage(c, "several subjects are ranked by their median or mean: "
				    "measure them one by one for another statistic");
	return CLI_OK;
}

static void ranking_config(const cli *c, const dck_plan *p, size_t n, dck_compare_config *r)
{
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
	r->processes = p->processes;
	r->program = p->program;
	r->title = p->title;
}

typedef struct ranking {
	const dck_alternative *all;
	size_t n;
	dck_compare_config config;
} ranking;

static dck_status bench_rank(const cli *c, void *config, const dck_observer *o, dck_record **ret,
			     dck_err *err)
{
	const ranking *r = config;

	(void)c;
	return dck_rank(r->all, r->n, &r->config, o, ret, err);
}

static int several_run(cli *c, dck_plan *plan)
{
	cli_subjects s = {0};
	int code = cli_subjects_read(c, &s);

	if (code == CLI_OK)
		code = cli_subjects_scan(c, &s);
	for (size_t i = 0; code == CLI_OK && i < s.n; i++)
		code = cli_subject_check(c, s.all[i].subject);
	if (code == CLI_OK && s.n == 1) {
		c->subject = *s.all[0].subject;
		program_plan(c, plan);
		code = cli_make(c, bench_make, plan, cli_record_verdict);
	} else if (code == CLI_OK) {
		ranking r = {.all = s.all, .n = s.n};

		code = several_check(c, plan);
		ranking_config(c, plan, s.n, &r.config);
		if (code == CLI_OK)
			code = cli_make(c, bench_rank, &r, cli_record_verdict);
	}
	cli_subjects_free(&s);
	return code;
}

static int bench_run(cli *c, void *config)
{
	dck_plan *plan = config;
	dck_err err;
	int code;

	plan->title = c->title;
	plan->program = cli_program(c);
	if (plan->trace && cli_file_check(plan->trace, &err) != DCK_OK)
		return cli_failed(&err);
	if (c->nargs > 1 || (c->scan.scan.n > 0 && (c->nargs > 0 || c->program)))
		return several_run(c, plan);
	code = cli_subject_open(c);
	if (code == CLI_OK && c->worker.trials)
		return cli_worker_trials(c, plan);
	program_plan(c, plan);
	return code == CLI_OK ? cli_make(c, bench_make, plan, cli_record_verdict) : code;
}

const cli_command cmd_bench = {
    .name = "bench",
    .summary = "measure how long one run of a model or a program takes",
    .usage = {"[OPTION]... SUBJECT...", "[OPTION]... -- PROGRAM [ARGUMENT]..."},
    .about = "Runs SUBJECT repeatedly and reports the time of one run, with an interval for each "
	     "number and a note on everything that makes it doubtful. Warm-up ends when a steady "
	     "state is detected; measuring ends when the statistic has the requested "
	     "precision.\n\nThe first Ctrl-C ends the measurement and reports what was measured "
	     "until then (exit status 130), a second one ends the program.",
    .sections = {{"Subjects", cli_subject_items}},
    .examples = {{"deepclock bench zoo:resnet18",
		  "time a built-in network until its median is known to 1 %"},
		 {"deepclock bench model.onnx --batch 8 --threads 4 --save run.json",
		  "eight items at once on four threads; keep the record"},
		 {"deepclock bench model.onnx --runs 1000 --statistic p99",
		  "exactly 1000 runs, and the 99th percentile first"},
		 {"deepclock bench zoo:bert_mini --trace run.pftrace",
		  "runs and operators on a timeline, for ui.perfetto.dev"},
		 {"deepclock bench zoo:bert_mini --processes 6",
		  "six fresh processes: an interval between starts"},
		 {"deepclock bench --runs 100 -- gzip -k -f big.bin", "time a program"},
		 {"deepclock bench a.onnx b.onnx cmd:'./serve --once'",
		  "several, interleaved: which is the fastest, and by how much?"},
		 {"deepclock bench --scan n=1..4 -- xz -k -f -T{n} big.bin",
		  "one program with several values"}},
    .groups = {{"Measuring", dck_plan_options, 0, false},
	       {"Measuring", dck_bench_options, 0, false},
	       CLI_MODELS("Models"),
	       CLI_PROGRAMS,
	       CLI_HOOKS,
	       CLI_SCAN,
	       CLI_MEASURED,
	       CLI_RUNS,
	       CLI_WORKER},
    CLI_CONFIG(dck_plan),
    .max_args = INT_MAX,
    .arg = "SUBJECT",
    .takes_command = true,
    .words = &cli_model_words,
    .run = bench_run,
};
