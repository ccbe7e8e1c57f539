/* cmd_cost.c - deepclock cost MODEL
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct cost_command {
	bool operators;
	dck_cost_config cost;
} cost_command;

static const dck_opt listing_options[] = {
    DCK_FLAG(cost_command, operators, "operators",
	     "list all operators that can be counted, each with its formula"),
    {0},
};

static void operators_text(const dck_style *style)
{
	dck_cost_operator o;

	for (size_t i = 0; dck_cost_operator_get(i, &o); i++) {
		char name[128];
		snprintf(name, sizeof name, "%s%s%s", o.domain, *o.domain ? "." : "", o.name);
		fputs(name, stdout);
		unsigned at = cli_columns(name);
		if (at > 28) {
			putchar('\n');
			at = 0;
		}
		cli_pad(stdout, at, 30);
		cli_wrap(stdout, o.formula, 30, 30, style->width > 60 ? style->width : 60);
	}
}

static int operators_show(const cli *c)
{
	static const dck_column columns[] = {{"domain", "domain", DCK_UNIT_NONE},
					     {"name", "name", DCK_UNIT_NONE},
					     {"formula", "formula", DCK_UNIT_NONE}};
	const dck_style style = cli_style(&c->common, STDOUT_FILENO);
	dck_cost_operator o;
	cli_listing l = {0};

	if (c->format.format == CLI_TEXT)
		operators_text(&style);
	CLI_LISTING_TABLE(&l, "operators", "Operators that can be counted", columns);
	for (size_t i = 0; dck_cost_operator_get(i, &o); i++) {
		cli_listing_text(&l, o.domain);
		cli_listing_text(&l, o.name);
		cli_listing_text(&l, o.formula);
	}
	return cli_listing_keep(c, &l);
}

static dck_status cost_make(const cli *c, void *config, const dck_observer *o, dck_record **ret,
			    dck_err *err)
{
	const cost_command *cfg = config;

	return dck_cost(&c->subject, &cfg->cost, o, ret, err);
}

static int strict_verdict(const dck_record *r)
{
	if (!dck_record_note(r, "cost-unknown"))
		return CLI_OK;
	cli_message("--strict: the cost of an operator is not known, so the totals are absent; "
		    "the note cost-unknown names it");
	return CLI_FAILED;
}

static int cost_run(cli *c, void *config)
{
	cost_command *cfg = config;
	int code;

	if (cfg->operators && c->nargs > 0)
		return cli_usage(c,
				 "--operators lists all operators and takes no MODEL: leave out "
				 "'%s', or --operators",
				 c->args[0]);
	if (cfg->operators)
		return operators_show(c);
	if (c->nargs == 0)
		return cli_usage(c, "cost needs a MODEL: a file or zoo:NAME");
	cfg->cost.title = c->title;
	code = cfg->cost.run ? cli_subject_open(c) : cli_subject_read(c);
	return code == CLI_OK
		   ? cli_make(c, cost_make, cfg, cfg->cost.strict ? strict_verdict : NULL)
		   : code;
}

static const cli_item cost_subjects[] = {
    {"model.onnx", "a model from a file; its weights are not read"},
    {"zoo:NAME", "a built-in network ('deepclock zoo' lists them)"},
    {0},
};

const cli_command cmd_cost = {
    .name = "cost",
    .summary = "count what a model computes: MACs, FLOPs, parameters, bytes",
    .usage = {"[OPTION]... MODEL", "--operators"},
    .about = "Reads the graph of MODEL, "
	     "infers every shape and counts what each operator computes and moves, "
	     "exactly and without running it. "
	     "An operator whose cost is not known is listed with the reason and never counted "
	     "as zero.",
    .sections = {{"Models", cost_subjects}},
    .examples = {{"deepclock cost zoo:resnet50",
		  "MACs, FLOPs, parameters and bytes, by operator and module"},
		 {"deepclock cost bert.onnx --dim batch=1 --dim seq=128",
		  "with open dimensions made numbers"},
		 {"deepclock cost model.onnx --as fvcore",
		  "why another counter gives another number"},
		 {"deepclock cost model.onnx --format csv --by node > ops.csv",
		  "one row for each operator"}},
    .groups = {{"Counting", dck_cost_options, offsetof(cost_command, cost), false},
	       CLI_MODELS("Sizes, and the engine for --run"),
	       CLI_OPERATORS("Operators"),
	       CLI_RECORD,
	       {"Output", listing_options, 0, false}},
    .config_size = sizeof(cost_command),
    .sized = {CLI_SIZED(cost_command, cost)},
    .max_args = 1,
    .arg = "MODEL",
    .words = &cli_model_words,
    .run = cost_run,
};
