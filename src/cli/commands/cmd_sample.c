/* cmd_sample.c - deepclock sample
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"
#include "cli/report_calls.h"

typedef struct sample_config {
	dck_sample_config sample;
	const char *out; /* where the call paths go in another program's form; NULL: nowhere */
} sample_config;

static const dck_opt out_options[] = {
    DCK_OPTION(TEXT, sample_config, out, "out", "FILE", NULL,
	       "the call paths for another program, by its ending: .pb.gz (pprof), .folded, "
	       ".speedscope.json, .callgrind, .pstats",
	       .letter = 'o'),
    {0},
};

/* As cli_format_options, but --out and -o name the call paths. */
static const dck_opt format_options[] = {
    DCK_OPTION(CHOICE, cli_format, format, "format", "FORMAT", "text",
	       "how the table of functions is written to stdout", .letter = 'f',
	       .choices = cli_formats),
    DCK_FLAG(cli_format, details, "details",
	     "all of the result as text, not only the answer in a few lines"),
    {0},
};

/* Before anything is sampled in vain. An exit code. */
static int out_check(const cli *c, const char *path)
{
	bool gzip = false;
	const char *form = path ? dck_trace_form_of(path, &gzip) : NULL;
	dck_err err;

	if (!path)
		return CLI_OK;
	if (!form || !report_calls_has_form(form))
		return cli_usage(c,
				 "'%s' ends in no form of call paths: .pb.gz, .folded, "
				 ".speedscope.json, .callgrind, .pstats (--save keeps the record)",
				 path);
	return cli_file_check(path, &err) == DCK_OK ? CLI_OK : cli_failed(&err);
}

static dck_status out_write(const dck_record *r, const char *path, dck_err *err)
{
	bool gzip = false;
	const char *form = dck_trace_form_of(path, &gzip);
	const dck_calls_view view = {.tree = "samples", .weight = "time"};
	cli_file file;
	dck_sink out;

	dck_status st = cli_file_open(&file, path, err);
	if (st != DCK_OK)
		return st;
	dck_sink_fd(&out, file.fd);
	st = dck_calls_write(r, &view, form, gzip, &out, err);
	return cli_file_end(&file, &out, st, err);
}

static int sample_run(cli *c, void *config)
{
	const sample_config *own = config;
	const dck_sample_config *sample = &own->sample;
	dck_sample_program program = {
	    .argv = c->program, .cancelled = sample->pid ? cli_cancelled : cli_program_cancelled};
	dck_record *record;
	dck_err err;
	int code = cli_save_check(c);

	if (code != CLI_OK)
		return code;
	if (!c->program && !sample->pid)
		return cli_usage(
		    c, "there is no program: deepclock sample -- PROGRAM [ARG]..., or --pid PID");
	if (c->program && sample->pid)
		return cli_usage(c, "--pid names a program that runs already, and '%s' is another",
				 c->program[0]);
	code = out_check(c, own->out);
	if (code != CLI_OK)
		return code;
	cli_signals_install();
	if (dck_sample(sample, &program, &record, &err) != DCK_OK) {
		code = cli_failed(&err);
		return cli_signal_seen() ? CLI_INTERRUPTED : code;
	}
	code = cli_record_show(c, record);
	if (own->out && record->ntrees > 0 && out_write(record, own->out, &err) != DCK_OK)
		code = cli_failed(&err);
	dck_record_free(record);
	if (program.exit_code > 0)
		cli_message("'%s' ended with exit status %d", c->program[0], program.exit_code);
	if (cli_signal_seen())
		return CLI_INTERRUPTED;
	if (code == CLI_OK && !sample->time_ns && (program.signal || program.exit_code))
		return CLI_FAILED;
	return code;
}

static const char *const usage[] = {"[OPTION]... -- PROGRAM [ARG]...", "[OPTION]... --pid PID",
				    NULL};
static const cli_group groups[] = {
    {"Sampling", dck_sample_options, offsetof(sample_config, sample), false},
    {"Output", out_options, 0, false},
    CLI_SHARED("Output", format_options, format),
    CLI_SHARED("Output", cli_save_options, output),
    {0},
};
static const cli_item examples[] = {
    {"deepclock sample -- xz -9 -k file", "which functions a program spends its time in"},
    {"deepclock sample --pid 4711 --time 10s", "10 s of a program that runs already"},
    {"deepclock sample --wall -- ./server", "also where its threads wait"},
    {"deepclock sample -o profile.pb.gz -- ./train", "for pprof"},
    {"deepclock sample --threads --save run.json -- ./train", "thread by thread; kept"},
    {0},
};

const cli_command cmd_sample = {
    .name = "sample",
    .summary = "find where a program's time goes, without changing it",
    .usage = usage,
    .about =
	"Starts any program, or attaches to one that runs, and looks at the stacks of all its "
	"threads and of the processes that it makes about a thousand times in each second of CPU "
	"time. The result says for each function how much time it took itself, and with all that it "
	"called. The program needs no recompiling; with debugging information its functions have "
	"files and lines, and those that were inlined are seen.\n\n"
	"The kernel takes the samples (perf_event) where it permits that; those of Python programs are "
	"taken by their own threads, at the kernel's signals. Else it is timers in the program, which "
	"a library put in front of it starts for each thread. What it took is said in the record.",
    .examples = examples,
    .groups = groups,
    .config_size = sizeof(sample_config),
    .takes_command = true,
    .run = sample_run,
};
