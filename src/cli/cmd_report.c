/* cmd_report.c - deepclock report FILE...
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* A trace is known by its file's ending. */
static dck_status load(const char *path, dck_record **ret, dck_err *err)
{
	const char *ending = strrchr(path, '.');

	if (ending && (strcmp(ending, ".pftrace") == 0 || strcmp(ending, ".perfetto-trace") == 0))
		return dck_trace_read(path, ret, err);
	return dck_record_load(path, ret, err);
}

static int report_run(cli *c, void *config)
{
	dck_record **records = calloc(c->nargs, sizeof *records);
	size_t n = 0;
	int code = CLI_OK;
	dck_err err;

	(void)config;
	if (!records)
		return cli_no_memory();
	for (; n < c->nargs && code == CLI_OK; n += code == CLI_OK)
		if (load(c->args[n], &records[n], &err) != DCK_OK) {
			cli_message("%s", err.msg);
			code = CLI_FAILED;
		}
	if (code == CLI_OK)
		code = cli_report_kept(c, (const dck_record *const *)records, n,
				       n == 1 ? c->args[0] : NULL);
	while (n > 0)
		dck_record_free(records[--n]);
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
    {"deepclock report out.pftrace", "the zones of a trace, of deepclock or of another producer"},
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
	     "A FILE of '-' is standard input; "
	     "one that ends in .pftrace or .perfetto-trace is a trace, whose zones are added up. "
	     "Nothing is measured or computed again: a report is made from the record alone.",
    .examples = examples,
    .groups = groups,
    .min_args = 1,
    .max_args = INT_MAX,
    .arg = "a FILE that '--save FILE' of another command wrote",
    .words = &(const cli_words){.files = true},
    .run = report_run,
};
