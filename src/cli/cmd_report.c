/* cmd_report.c - deepclock report FILE...
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As cli_format_options, with the forms of a trace behind those of a record. */
static const char *const formats[] = {[CLI_TEXT] = "text",
				      [CLI_JSON] = "json",
				      [CLI_CSV] = "csv",
				      [CLI_MARKDOWN] = "markdown",
				      "perfetto",
				      "chrome",
				      "speedscope",
				      "folded",
				      "pprof",
				      "callgrind",
				      "pstats",
				      "rows",
				      NULL};
static const dck_opt format_options[] = {
    DCK_OPTION(CHOICE, cli_format, format, "format", "FORMAT", "text",
	       "how the result is written to stdout; from perfetto on: a trace itself",
	       .letter = 'f', .choices = formats),
    DCK_OPTION(TEXT, cli_format, out, "out", "FILE", NULL,
	       "write the result to FILE instead of stdout; its ending tells the format",
	       .letter = 'o'),
    DCK_FLAG(cli_format, details, "details",
	     "all of the result as text, not only the answer in a few lines"),
    {0},
};

static dck_status load(const char *path, const dck_trace_reading *how, dck_record **ret,
		       dck_err *err)
{
	return dck_trace_is(path) ? dck_trace_read_with(path, how, ret, err)
				  : dck_record_load(path, ret, err);
}

/* The form of a trace that is asked for; NULL: that of a record. Of a trace as of a record the
 * plain endings .json and .csv stand for the record. */
static const char *form_of(const cli *c, bool *ret_gzip)
{
	const char *form = c->format.out ? dck_trace_form_of(c->format.out, ret_gzip) : NULL;
	const int format = c->format.format;

	if (format > CLI_MARKDOWN)
		return strcmp(formats[format], "rows") == 0 ? "csv" : formats[format];
	if (!form || cli_given(c, "format"))
		return NULL;
	if (!*ret_gzip && (strcmp(form, "chrome") == 0 || strcmp(form, "csv") == 0))
		return NULL;
	return form;
}

/* Traces of several processes as one. */
static int merge(const cli *c, const char *form, bool gzip)
{
	dck_record *record;
	dck_sink out;
	dck_err err;

	dck_sink_fd(&out, STDOUT_FILENO);
	if (dck_trace_merge((const char *const *)c->args, c->nargs, form, gzip, &out, &record,
			    &err) != DCK_OK)
		return cli_failed(&err);
	for (size_t i = 0; i < record->nnotes && !c->common.quiet; i++)
		if (record->notes[i].severity >= DCK_WARN)
			cli_message("warning: %s", record->notes[i].text);
	dck_record_free(record);
	if (dck_sink_finish(&out, &err) != DCK_OK)
		return cli_stdout_failed((int)err.native_code);
	return CLI_OK;
}

/* The first file that is no trace; NULL: all are. */
static const char *no_trace(const cli *c)
{
	for (size_t i = 0; i < c->nargs; i++)
		if (!dck_trace_is(c->args[i]))
			return c->args[i];
	return NULL;
}

static int convert(const cli *c, const char *form, bool gzip, const char *other)
{
	dck_trace_gaps gaps;
	dck_sink out;
	dck_err err;

	if (other)
		return cli_usage(c,
				 "'%s' is a form of traces, and '%s' is none: their files end "
				 "in .pftrace or .perfetto-trace, with or without .gz, or "
				 "are Chrome's trace events in JSON",
				 form, other);
	if (c->nargs > 1)
		return merge(c, form, gzip);
	dck_sink_fd(&out, STDOUT_FILENO);
	if (dck_trace_convert(c->args[0], form, gzip, &out, &gaps, &err) != DCK_OK)
		return cli_failed(&err);
	if (dck_sink_finish(&out, &err) != DCK_OK)
		return cli_stdout_failed((int)err.native_code);
	if (gaps.cut[0] && !c->common.quiet)
		cli_message("warning: %s: what stands before is written", gaps.cut);
	if (gaps.undated_events > 0 && !c->common.quiet)
		cli_message("warning: %llu events have no time, and are not written",
			    (unsigned long long)gaps.undated_events);
	return CLI_OK;
}

static int report_run(cli *c, void *config)
{
	dck_record **records = calloc(c->nargs, sizeof *records);
	size_t n = 0;
	int code = CLI_OK;
	bool gzip = false;
	const char *form = form_of(c, &gzip);
	const dck_trace_reading *how = config;
	const char *other = form || how->percentiles ? no_trace(c) : NULL;
	dck_err err;

	if (how->percentiles && form) {
		free(records);
		return cli_usage(c, "--percentiles are columns of the table, and '%s' has none",
				 form);
	}
	if (other && access(other, F_OK) != 0) {
		free(records);
		cli_message("cannot open '%s': %s", other, strerror(errno));
		return CLI_FAILED;
	}
	if (how->percentiles && other) {
		free(records);
		return cli_usage(c, "--percentiles are of traces, and '%s' is a record", other);
	}
	if (form) {
		free(records);
		return convert(c, form, gzip, other);
	}
	if (!records)
		return cli_no_memory();
	for (; n < c->nargs && code == CLI_OK; n += code == CLI_OK)
		if (load(c->args[n], how, &records[n], &err) != DCK_OK) {
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
    CLI_SHARED("Output", format_options, format),
    CLI_RUNS,
    CLI_OPERATORS("Operators"),
    {"Zones of a trace", dck_trace_reading_options, 0, false},
    {0},
};
static const cli_item examples[] = {
    {"deepclock report run.json", "show a saved record as its command showed it"},
    {"deepclock report out.pftrace", "the zones of a trace, of deepclock or of another producer"},
    {"deepclock report trace.json", "the same of torch.profiler's, VizTracer's, Chrome's file"},
    {"deepclock report out.pftrace -o out.speedscope.json.gz", "a trace in another form"},
    {"deepclock report a.pftrace b.pftrace -o all.pftrace", "processes on one timeline"},
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
    .about =
	"Reads records that '--save FILE' of another command wrote and writes them to stdout. "
	"A FILE of '-' is standard input; "
	"one that ends in .pftrace or .perfetto-trace, or has Chrome's trace events in JSON, as "
	"torch.profiler writes them, compressed by gzip or not, is a trace, "
	"whose zones are added up, or which is written in the form of another program. "
	"Nothing is measured or computed again: a report is made from the record alone.",
    .examples = examples,
    .groups = groups,
    .config_size = sizeof(dck_trace_reading),
    .min_args = 1,
    .max_args = INT_MAX,
    .arg = "a FILE that '--save FILE' of another command wrote",
    .words = &(const cli_words){.files = true},
    .run = report_run,
};
