/* cmd_cost.c - deepclock cost MODEL
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct cost_listing {
	bool operators;
} cost_listing;

typedef struct cost_command {
	cli_common common;
	cli_format format;
	cli_output output;
	cost_listing listing;
	dck_op_view view;
	dck_subject subject;
	dck_cost_config cost;
} cost_command;

static const dck_opt listing_options[] = {
    DCK_FLAG(cost_listing, operators, "operators",
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
		putchar('\n');
	}
}

static int operators_show(const cli *c, const cost_command *cfg)
{
	static const dck_column columns[] = {{"domain", "domain", DCK_UNIT_NONE},
					     {"name", "name", DCK_UNIT_NONE},
					     {"formula", "formula", DCK_UNIT_NONE}};
	const dck_style style = cli_style(&cfg->common, STDOUT_FILENO);
	dck_cost_operator o;
	cli_listing l = {0};

	if (cfg->format.format == CLI_TEXT) {
		operators_text(&style);
		return CLI_OK;
	}
	cli_listing_table(&l, "operators", "Operators that can be counted", columns,
			  sizeof columns / sizeof columns[0]);
	for (size_t i = 0; dck_cost_operator_get(i, &o); i++) {
		cli_listing_text(&l, o.domain);
		cli_listing_text(&l, o.name);
		cli_listing_text(&l, o.formula);
	}
	return cli_listing_show(c, &l);
}

static int record_show(const cli *c, const cost_command *cfg, const dck_record *r)
{
	dck_style style = cli_style(c->common, STDOUT_FILENO);
	char rest[8192];
	int code;

	style.ops = cfg->view;
	if (c->output->save)
		cli_rest(rest, sizeof rest, c->output->save);
	style.rest = c->output->save ? rest : NULL;
	code = cli_record_save(c, r, cli_report(c, &r, 1, &style));
	if (code == CLI_OK && cfg->cost.strict && dck_record_note(r, "cost-unknown")) {
		cli_message("--strict: %s", dck_record_note(r, "cost-unknown")->text);
		code = CLI_FAILED;
	}
	return code;
}

static int cost_run(cli *c, void *config)
{
	cost_command *cfg = config;
	const dck_observer observer = {.cancelled = cli_cancelled};
	dck_record *record;
	dck_err err;
	int code;

	if (cfg->listing.operators)
		return operators_show(c, cfg);
	if (c->nargs == 0)
		return cli_usage(c, "cost needs a MODEL: a file or zoo:NAME");
	code = cli_subject_read(c);
	if (code == CLI_OK && cfg->cost.run)
		code = cli_subject_check(c, c->subject);
	if (code != CLI_OK)
		return code;
	cfg->cost.title = c->title;
	cli_signals_install();
	if (dck_cost(&cfg->subject, &cfg->cost, &observer, &record, &err) != DCK_OK)
		return cli_failed(&err);
	code = record_show(c, cfg, record);
	dck_record_free(record);
	return code;
}

static const char *const usage[] = {"[OPTION]... MODEL", "--operators", NULL};
static const cli_item subjects[] = {
    {"model.onnx", "a model from a file; its weights are not read"},
    {"zoo:NAME", "a built-in network ('deepclock zoo' lists them)"},
    {0},
};
static const cli_section sections[] = {{"Models", subjects}, {0}};
static const cli_group groups[] = {
    {"Counting", dck_cost_options, offsetof(cost_command, cost), false},
    {"Sizes, and the engine for --run", dck_model_options, offsetof(cost_command, subject.model),
     false},
    {"Operators", dck_op_options, offsetof(cost_command, view), false},
    {"Output", cli_format_options, offsetof(cost_command, format), false},
    {"Output", cli_save_options, offsetof(cost_command, output), false},
    {"Output", listing_options, offsetof(cost_command, listing), false},
    {0},
};
static const cli_item examples[] = {
    {"deepclock cost zoo:resnet50", "MACs, FLOPs, parameters and bytes, by operator and module"},
    {"deepclock cost bert.onnx --dim batch=1 --dim seq=128", "with open dimensions made numbers"},
    {"deepclock cost model.onnx --as fvcore", "why another counter says something else"},
    {"deepclock cost model.onnx --format csv --by node > ops.csv", "one row for each operator"},
    {0},
};

const cli_command cmd_cost = {
    .name = "cost",
    .summary = "count what a model computes: MACs, FLOPs, parameters, bytes",
    .usage = usage,
    .about = "Reads the graph of MODEL, infers every shape and counts what each operator computes "
	     "and moves, exactly and without running it. An operator whose cost is not known is "
	     "listed with the reason and never counted as zero.",
    .sections = sections,
    .examples = examples,
    .groups = groups,
    .config_size = sizeof(cost_command),
    .subject_at = offsetof(cost_command, subject),
    .max_args = 1,
    .arg = "MODEL",
    .word_prefix = "zoo:",
    .word = cli_zoo_word,
    .files = true,
    .run = cost_run,
};
