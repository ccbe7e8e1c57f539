/* cmd_load.c - deepclock load SUBJECT | -- PROGRAM ARG...
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"

typedef struct load_command {
	cli_common common;
	cli_format format;
	cli_output output;
	cli_worker worker;
	dck_subject subject;
	dck_load_config load;
} load_command;

static dck_status make(void *config, const dck_observer *o, dck_record **ret, dck_err *err)
{
	const load_command *cfg = config;

	return dck_load(&cfg->subject, &cfg->load, o, ret, err);
}

static int load_run(cli *c, void *config)
{
	load_command *cfg = config;
	dck_subject plain;
	int code = cli_subject_read(c);

	dck_subject_init(&plain);
	/* Who started a worker has looked. */
	if (code == CLI_OK && cfg->worker.fd == 0)
		code = cli_subject_check(c, c->subject);
	/* --seed is the arrivals' too, and a command has nothing else to draw. */
	if (c->subject->kind == DCK_SUBJECT_COMMAND)
		c->subject->model.seed = plain.model.seed;
	cfg->load.title = c->title;
	if (code != CLI_OK)
		return code;
	return cfg->worker.fd > 0 ? cli_worker_run(&cfg->worker, make, cfg)
				  : cli_make(c, make, cfg, NULL, dck_load_gate);
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
    {"Worker", cli_worker_options, offsetof(load_command, worker), true},
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
	"broken, or not shown, where the requests are too few to tell. One request over it breaks "
	"a limit on max, and none shows that it holds.\n\n"
	"Exit status: 0 when every limit holds or none was given, 3 when one is broken, 4 when it "
	"is not shown.",
    .sections = sections,
    .examples = examples,
    .groups = groups,
    .config_size = sizeof(load_command),
    .subject_at = offsetof(load_command, subject),
    .max_args = 1,
    .arg = "SUBJECT",
    .takes_command = true,
    .word_prefix = "zoo:",
    .word = cli_zoo_word,
    .files = true,
    .run = load_run,
};
