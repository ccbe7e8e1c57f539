/* cmd_report.c - deepclock report FILE...
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

static int records_load(cli *c, dck_record **records, size_t *n)
{
	dck_err err;

	for (; *n < c->nargs; (*n)++)
		if (dck_record_load(c->args[*n], &records[*n], &err) != DCK_OK) {
			cli_message("%s", err.msg);
			return CLI_FAILED;
		}
	return CLI_OK;
}

static int report_run(cli *c, void *config)
{
	dck_style style = cli_style(&c->common, STDOUT_FILENO);
	dck_record **records = calloc(c->nargs, sizeof *records);
	char rest[8192];
	size_t n = 0;
	int code;

	(void)config;
	style.ops = c->ops;
	if (c->nargs == 1)
		cli_rest(rest, sizeof rest, c->args[0]);
	style.rest = c->nargs == 1 ? rest : NULL;
	style.runs = c->output.per;
	if (!records) {
		cli_message("out of memory");
		return CLI_FAILED;
	}
	code = records_load(c, records, &n);
	if (code == CLI_OK)
		code = cli_report(c, (const dck_record *const *)records, n, &style);
	for (size_t i = 0; i < n; i++)
		dck_record_free(records[i]);
	free(records);
	return code;
}

static const char *const usage[] = {"[OPTION]... FILE...", NULL};
static const cli_group groups[] = {
    CLI_RESULT,
    CLI_RUNS,
    CLI_OPERATORS("Operators"),
    {0},
};
static const cli_item examples[] = {
    {"deepclock report run.json", "show a saved record as its command showed it"},
    {"deepclock report run.json --format csv > run.csv",
     "its metrics as a table for other programs"},
    {"deepclock report run.json --per run --format csv > samples.csv",
     "every run that was timed, one in a row"},
    {"deepclock report run.json --by node --format csv > ops.csv", "its operators, one in a row"},
    {0},
};

const cli_command cmd_report = {
    .name = "report",
    .summary = "show saved records again, in any format",
    .usage = usage,
    .about = "Reads records that '--save FILE' of another command wrote and writes them to stdout. "
	     "A FILE of '-' is standard input. Nothing is measured or computed again: "
	     "a report is made from the record alone.",
    .examples = examples,
    .groups = groups,
    .min_args = 1,
    .max_args = INT_MAX,
    .arg = "a FILE that '--save FILE' of another command wrote",
    .words = &(const cli_words){.files = true},
    .run = report_run,
};
