/* cmd_report.c - deepclock report FILE...: shows saved records again, and converts traces.
 *
 * report_run() chooses one of four paths by the inputs and the output format:
 *
 *  - a query or an export of call paths (report_calls.c);
 *  - a conversion of one trace, or a merge of several, into a trace format: convert();
 *  - figures into a directory;
 *  - a report by a record writer; a trace is first summed up into a record (report_records.c).
 *
 * Contradictions (a trace format for a record, --save with a format that has no record, options of
 * the tables of a trace) are refused before anything is written. formats[] begins with the record
 * formats, in the order of cli_formats: an index from CLI_NFORMATS on is a trace format. Nothing is
 * measured again: a report contains what its record contains.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"
#include "cli/report_calls.h"
#include "cli/report_records.h"
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

/* As cli_format_options, with the trace formats after the record formats. */
static const char *const formats[] = {
#define X(id, NAME, ending, text) #id,
    DCK_WRITER_MAP(X)
#undef X
#define X(id, ending, gzip, text) #id,
	DCK_TRACE_FORMAT_MAP(X)
#undef X
	    NULL};
static const dck_opt report_format_options[] = {
    DCK_OPTION(CHOICE, cli_format, format, "format", "FORMAT", "text",
	       "how the result is written to stdout; from perfetto on: a trace itself, from "
	       "speedscope to pstats also the call paths of a record",
	       .letter = 'f', .choices = formats),
    DCK_OPTION(TEXT, cli_format, out, "out", "FILE", NULL,
	       "write the result to FILE instead of stdout; its extension sets the format",
	       .letter = 'o'),
    DCK_FLAG(cli_format, details, "details",
	     "all of the result as text, not only the answer in a few lines"),
    CLI_SOURCES(cli_format),
    {0},
};

static const dck_opt figures_options[] = {
    DCK_OPTION(
	TEXT, cli_output, figures, "figures", "DIR", NULL,
	"draw the figures of records and traces into that directory, as SVG and PNG, instead of "
	"a report"),
    {0},
};

typedef struct report_config {
	dck_trace_reading trace;
	dck_calls_view calls;
} report_config;

/* Returns the requested trace format, or NULL for a record format. The plain file extensions .json
 * and .csv mean the record format, for traces too. */
static const char *report_form_of(const cli *c, bool *ret_gzip)
{
	const char *form = c->format.out ? dck_trace_format_of(c->format.out, ret_gzip) : NULL;
	const int format = c->format.format;

	if (format >= CLI_NFORMATS)
		return formats[format];
	if (!form || cli_given(c, "format"))
		return NULL;
	if (!*ret_gzip && !report_calls_has_form(form) &&
	    cli_format_by_ending(c->format.out, -1) >= 0)
		return NULL;
	return form;
}

/* Prints what is missing in the output, and ends it. Frees the record. */
static int report_output_end(const cli *c, dck_record *record, dck_sink *out)
{
	dck_err err;

	for (size_t i = 0; i < record->nnotes && !c->common.quiet; i++)
		if (record->notes[i].severity >= DCK_WARN)
			cli_message("warning: %s", record->notes[i].text);
	dck_record_free(record);
	if (dck_sink_finish(out, &err) != DCK_OK)
		return cli_stdout_failed((int)err.native_code);
	return CLI_OK;
}

/* Writes the traces of several processes as one. */
static int report_merge(const cli *c, const char *form, bool gzip)
{
	dck_record *record;
	dck_sink out;
	dck_err err;

	dck_sink_fd(&out, STDOUT_FILENO);
	if (dck_trace_merge((const char *const *)c->args, c->nargs, form, gzip, &out, &record,
			    &err) != DCK_OK)
		return cli_result_failed(&err);
	return report_output_end(c, record, &out);
}

/* Returns the first file that is not a trace, or NULL. */
static const char *no_trace(const cli *c)
{
	for (size_t i = 0; i < c->nargs; i++)
		if (!dck_trace_is(c->args[i]))
			return c->args[i];
	return NULL;
}

static int convert(const cli *c, const char *form, bool gzip, const char *other)
{
	dck_record *record;
	dck_sink out;
	dck_err err;

	if (other)
		return cli_usage(c,
				 "'%s' is a format of traces, and '%s' is not a trace: their "
				 "files end in .pftrace or .perfetto-trace, with or without .gz, "
				 "or are Chrome's trace events in JSON",
				 form, other);
	if (c->nargs > 1)
		return report_merge(c, form, gzip);
	dck_sink_fd(&out, STDOUT_FILENO);
	if (dck_trace_convert_noted(c->args[0], form, gzip, &out, &record, &err) != DCK_OK)
		return cli_result_failed(&err);
	return report_output_end(c, record, &out);
}

static int figures(const cli *c, const dck_record *const *records, size_t n)
{
	dck_err err;

	if (cli_figures_save(c, c->output.figures, records, n, &err) == DCK_OK)
		return CLI_OK;
	cli_message("%s", err.msg);
	return CLI_FAILED;
}

static bool has_operators(const dck_record *const *records, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (records[i]->nops > 0)
			return true;
	return false;
}

/* dck_calls_wanted() leaves the words of --by, --sort and --top that operators have too. Without
 * operators they apply to the functions, so that no option is ignored. */
static int records_show(cli *c, const dck_calls_view *calls, const dck_trace_reading *how,
			const dck_record *const *records, size_t n)
{
	const char *option = c->ops.by ? "by" : c->ops.sort ? "sort" : c->ops.top ? "top" : NULL;
	size_t metrics = 0;
	int code;

	if (c->output.save && n > 1)
		return cli_usage(c, "--save writes one record, and %zu are given", n);
	for (size_t i = 0; i < n; i++)
		metrics += records[i]->nmetrics;
	code = metrics || c->output.figures ? CLI_OK : cli_metrics_check(c, c->format.out);
	if (code != CLI_OK)
		return code;
	if (option && !has_operators(records, n)) {
		if (!c->ops.by && !c->output.figures && n == 1 && records[0]->ntrees > 0)
			return report_calls(c, calls, NULL, false, how);
		return cli_usage(c,
				 "--%s needs operators with costs, as 'cost' and 'profile' save "
				 "them, and '%s' has none; --by function and --by path show call "
				 "paths",
				 option, c->args[0]);
	}
	if (c->output.figures)
		code = figures(c, records, n);
	else
		code = cli_report_kept(c, records, n, c->nargs == 1 ? c->args[0] : NULL);
	return cli_records_keep(c, records, n, code);
}

/* Returns the first of the options that was given, or NULL. names: ends with NULL. */
static const char *given_of(const cli *c, const char *const *names)
{
	while (*names && !cli_given(c, *names))
		names++;
	return *names;
}

/* Refuses options that would be without effect on a file for other programs. */
static int form_check(const cli *c, const char *form)
{
	static const char *const of_tables[] = {"by",	   "sort",    "top", "depth",
						"callers", "callees", NULL},
				 *const of_paths[] = {"tree", "weight", "diff", NULL};
	const char *option = given_of(c, of_tables);

	if (option)
		return cli_usage(c, "--%s applies to tables, and '%s' has none", option, form);
	option = report_calls_has_form(form) ? NULL : given_of(c, of_paths);
	if (option)
		return cli_usage(c, "--%s applies to call paths, and '%s' is the trace itself",
				 option, form);
	return CLI_OK;
}

static int report_run(cli *c, void *config)
{
	dck_records records;
	bool gzip = false;
	const char *form = report_form_of(c, &gzip);
	const dck_trace_reading *how = &((report_config *)config)->trace;
	dck_calls_view *calls = &((report_config *)config)->calls;
	/* These options apply to the tables of a trace only. */
	const char *const option = how->percentiles    ? "percentiles"
				   : how->input_shapes ? "input-shapes"
						       : NULL;
	const char *other = form || option ? no_trace(c) : NULL;

	if (form && (c->output.save || c->output.html))
		return cli_usage(c,
				 "'%s' is a format without a record: give --%s in a separate "
				 "command",
				 form, c->output.save ? "save" : "html");
	if (c->output.save && c->nargs > 1 && !calls->diff)
		return cli_usage(c, "--save writes one record, and %u files are given", c->nargs);
	if (option && form)
		return cli_usage(c, "--%s applies to the table of a trace, and '%s' has none",
				 option, form);
	if (form && form_check(c, form) != CLI_OK)
		return CLI_USAGE;
	if (other && strcmp(other, "-") != 0 && access(other, F_OK) != 0) {
		cli_message("cannot open '%s': %s", other, strerror(errno));
		return CLI_FAILED;
	}
	if (option && other)
		return cli_usage(c, "--%s applies to traces, and '%s' is a record", option, other);
	const bool paths = dck_calls_wanted(&c->ops, calls);
	if ((paths && !form) || (form && report_calls_has_form(form) && (other || paths)))
		return report_calls(c, calls, form, gzip, how);
	if (form)
		return convert(c, form, gzip, other);
	int code = report_records_load(
	    c, how, c->format.format == CLI_HTML || c->output.figures || c->output.html, &records);
	if (code != CLI_OK)
		return code;
	code = records_show(c, calls, how, (const dck_record *const *)records.of, records.n);
	dck_records_done(&records);
	return code;
}

const cli_command cmd_report = {
    .name = "report",
    .summary = "show saved records again, in any format",
    .usage = {"[OPTION]... FILE..."},
    .about =
	"Reads records that '--save FILE' of another command wrote and writes them to stdout. A "
	"FILE of '-' is standard input; one that ends in .pftrace or .perfetto-trace, or has "
	"Perfetto's packets or Chrome's trace events in JSON, as torch.profiler writes them, compressed by gzip or not, "
	"is a trace, whose zones are summed up, or which is converted to another format. Profiles "
	"of cProfile, speedscope, py-spy, memray and FlameGraph are read as their call paths. "
	"Nothing is measured or computed again: a report is made from the record alone.",
    .examples =
	{{"deepclock report run.json", "show a saved record as its command showed it"},
	 {"deepclock report out.pftrace",
	  "the zones of a trace, of deepclock or of another producer"},
	 {"deepclock report trace.json",
	  "the same of torch.profiler's, VizTracer's, Chrome's file"},
	 {"deepclock report run.speedscope.json --by function", "a profile of py-spy, by function"},
	 {"deepclock report out.pftrace -o out.speedscope.json.gz", "a trace in another format"},
	 {"deepclock report run.json --by function --sort total",
	  "its functions as pstats has them"},
	 {"deepclock report run.json --callers sgemm",
	  "the callers of a function, with their shares"},
	 {"deepclock report --diff before.json after.json",
	  "what grew and what shrank, by function"},
	 {"deepclock report a.pftrace b.pftrace -o all.pftrace", "processes on one timeline"},
	 {"deepclock report run.json -o run.html", "with its charts, for a browser"},
	 {"deepclock report run.json --figures pictures", "its histogram, ... as SVG and PNG"},
	 {"deepclock report run.json --format csv > run.csv",
	  "its metrics as a table for other programs"},
	 {"deepclock report run.json --per run --format csv > samples.csv",
	  "every run that was timed, one in a row"},
	 {"deepclock report run.json --by node --format csv > ops.csv",
	  "its operators, one in a row"}},
    .groups = {CLI_SHARED("Output", report_format_options, format),
	       CLI_KEPT,
	       CLI_SHARED("Output", figures_options, output),
	       CLI_RUNS,
	       CLI_SHARED("Operators and call paths", dck_view_options, ops),
	       {"Call paths", dck_calls_options, offsetof(report_config, calls), false},
	       {"Zones of a trace", dck_trace_reading_options, offsetof(report_config, trace),
		false}},
    .config_size = sizeof(report_config),
    .min_args = 1,
    .max_args = INT_MAX,
    .arg = "a FILE that '--save FILE' of another command wrote",
    .words = &(const cli_words){.files = true},
    .run = report_run,
};
