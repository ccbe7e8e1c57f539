/* cmd_load.c - deepclock load SUBJECT | -- PROGRAM ARG...
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"

typedef struct load_command {
	cli_common common;
	cli_format format;
	cli_output output;
	dck_subject subject;
	dck_load_config load;
} load_command;

static void load_init(void *config)
{
	load_command *cfg = config;

	dck_subject_init(&cfg->subject);
	dck_load_config_init(&cfg->load);
}

static int subject_read(const cli *c, load_command *cfg, void **ret_owned)
{
	dck_subject plain;
	int code = CLI_OK;

	if (c->program) {
		cfg->subject.kind = DCK_SUBJECT_COMMAND;
		cfg->subject.argv = c->program;
	} else if (c->nargs == 0) {
		return cli_usage(c, "load needs a SUBJECT: a model file, zoo:NAME, plugin:FILE.so, "
				    "cmd:PROGRAM, or -- PROGRAM");
	} else {
		code = cli_subject_read(c, c->args[0], &cfg->subject, ret_owned);
	}
	/* --seed is the arrivals' too, and a command has nothing else to draw. */
	dck_subject_init(&plain);
	if (cfg->subject.kind == DCK_SUBJECT_COMMAND)
		cfg->subject.model.seed = plain.model.seed;
	return code;
}

static int load_show(load_command *cfg, const dck_record *r)
{
	int code = cli_record_show(&cfg->common, &cfg->format, NULL, &cfg->output, r);

	return code == CLI_OK ? dck_load_gate(r) : code;
}

static int load_cli_run(cli *c, void *config)
{
	load_command *cfg = config;
	cli_watch watch;
	dck_observer observer;
	void *owned = NULL;
	dck_record *record;
	char title[8192];
	dck_status status;
	dck_err err;
	int code = cli_save_check(c, &cfg->output);

	if (code == CLI_OK)
		code = subject_read(c, cfg, &owned);
	if (code != CLI_OK)
		return code;
	cli_title(c, title, sizeof title);
	cfg->load.title = title;
	observer = cli_watch_begin(&watch, &cfg->common, !cfg->output.no_progress);
	status = dck_load(&cfg->subject, &cfg->load, &observer, &record, &err);
	code = cli_watch_end(&watch, status, &err);
	if (status == DCK_OK) {
		code = load_show(cfg, record);
		dck_record_free(record);
	}
	dck_free(owned);
	return code;
}

static const char *const usage[] = {"[OPTION]... SUBJECT", "[OPTION]... -- PROGRAM [ARGUMENT]...",
				    NULL};
static const cli_item scenarios[] = {
    {"single", "one request after the other: the latency without a queue"},
    {"multi", "--streams N, each one request after the other"},
    {"offline", "all requests are there from the start: items per second"},
    {"server", "requests arrive by themselves (--rate, --trace), wait in one queue, and are served "
	       "by --streams N"},
    {0},
};
static const cli_section sections[] = {
    {"Subjects", cli_subject_items}, {"Scenarios", scenarios}, {0}};
static const cli_group groups[] = {
    {"Load", dck_load_options, offsetof(load_command, load), false},
    {"Models", dck_model_options, offsetof(load_command, subject.model), false},
    {"Programs", dck_command_options, offsetof(load_command, subject.command), false},
    {"Output", cli_format_options, offsetof(load_command, format), false},
    {"Output", cli_per_options, offsetof(load_command, output), false},
    {"Output", cli_save_options, offsetof(load_command, output), false},
    {"Output", cli_progress_options, offsetof(load_command, output), false},
    {0},
};
static const cli_item examples[] = {
    {"deepclock load zoo:resnet18 --rate 20",
     "requests at random times, 20 a second: what users would wait"},
    {"deepclock load zoo:resnet18 --rate 20 --slo 'p99<=100ms'",
     "does that hold? Exit status 0 yes, 3 no, 4 not shown"},
    {"deepclock load model.onnx --find-peak --slo 'p90<=50ms' --streams 2 --threads 1",
     "the highest rate that holds the limit, served by two streams of one thread"},
    {"deepclock load model.onnx --trace arrivals.csv", "arrivals as they once were"},
    {"deepclock load model.onnx --scenario offline --requests 1000 --streams 4",
     "a thousand at once: items per second"},
    {"deepclock load --rate 5 -- ./answer.sh", "a program, started for each request"},
    {0},
};

const cli_command cmd_load = {
    .name = "load",
    .summary = "measure latency under load, and find the highest rate that holds a limit",
    .usage = usage,
    .about =
	"Sends requests to SUBJECT and reports how long they take, counted from the time at "
	"which each was scheduled to arrive, so that waiting is part of it; queue wait and "
	"service are shown apart. A limit (--slo) gets a verdict with its confidence: holds, "
	"broken, or not shown, where the requests are too few to tell.\n\n"
	"Exit status: 0 when every limit holds or none was given, 3 when one is broken, 4 when it "
	"is not shown.",
    .sections = sections,
    .examples = examples,
    .groups = groups,
    .config_size = sizeof(load_command),
    .init = load_init,
    .max_args = 1,
    .arg = "SUBJECT",
    .takes_command = true,
    .word_prefix = "zoo:",
    .word = cli_zoo_word,
    .files = true,
    .run = load_cli_run,
};
