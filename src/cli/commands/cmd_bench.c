/* cmd_bench.c - deepclock bench SUBJECT | -- PROGRAM ARG...
 *
 * One subject goes to dck_bench(); its record is then given the interval between starts, if the
 * history has earlier ones. Several subjects are ranked: they are measured interleaved by
 * dck_rank() in rounds of random order, and dck_plan_ranking() refuses options that describe how
 * the runs of one subject are counted.
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

/* The process that started a worker has applied the defaults of programs. */
static void program_plan(const cli *c, dck_plan *plan)
{
	if (c->worker.fd > 0)
		plan->enough_ns = c->worker.enough_ns;
	else if (c->subject.kind == DCK_SUBJECT_COMMAND)
		dck_plan_program(plan, c->given, c->ngiven);
}

/* --- several subjects */

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
		dck_err err;

		code = dck_plan_ranking(plan, c->given, c->ngiven, s.n, &r.config, &err) == DCK_OK
			   ? cli_make(c, bench_rank, &r, cli_record_verdict)
			   : cli_usage(c, "%s", err.msg);
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
	if (plan->trace && strcmp(plan->trace, "-") == 0)
		return cli_usage(c, "--trace needs a file; the report is on standard output");
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
