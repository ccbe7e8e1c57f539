/* cmd_load.c - deepclock load SUBJECT | -- PROGRAM ARG... | --url URL
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"

CLI_MAKER(cmd_load_make, dck_load)

static int load_run(cli *c, void *config)
{
	dck_load_config *cfg = config;
	int code = CLI_OK;
	dck_subject plain;

	if (cfg->url && (c->nargs > 0 || c->program))
		return cli_usage(c, "--url is measured instead of a subject: give one of them");
	if (!cfg->url)
		code = cli_subject_open(c);

	/* --seed is also the seed of the arrivals. A program has no random inputs, so its record
	 * must not state a seed. */
	dck_subject_init(&plain);
	if (c->subject.kind == DCK_SUBJECT_COMMAND)
		c->subject.model.seed = plain.model.seed;
	cfg->title = c->title;
	return code == CLI_OK ? cli_make(c, cmd_load_make, cfg, cli_record_gate) : code;
}

static const cli_item scenarios[] = {
    {"single", "one request after the other: the latency without a queue"},
    {"multi", "--streams N, each one request after the other"},
    {"offline", "all requests arrive at the start: items per second"},
    {"server",
     "requests arrive independently (--rate, --trace), wait in one queue, and are served by --streams N"},
    {0},
};

const cli_command cmd_load = {
    .name = "load",
    .summary = "measure latency under load, and find the highest rate that meets a limit",
    .usage = {"[OPTION]... SUBJECT", "[OPTION]... -- PROGRAM [ARGUMENT]...",
	      "[OPTION]... --url URL"},
    .about =
	"Sends requests to SUBJECT and reports how long they take, "
	"counted from the time at which each was scheduled to arrive, "
	"so that waiting is part of it; queue wait and service are shown apart. A limit (--slo) "
	"gets a verdict with its confidence: met, violated, or inconclusive, "
	"where the requests are too few to decide. One request over it violates a limit on max, "
	"and none shows that it is met.\n\n"
	"With --url the requests go to a server over HTTP: OpenAI's completions as streams, with "
	"the time to first token and the time per token, or KServe's v2 protocol. Prompts differ in "
	"each request and run. The client is calibrated with a null server of its own first; where "
	"it was late or busy, no latency is reported (client-bound).\n\n"
	"Exit status: 0 when every limit is met or none was given, 3 when one is violated, "
	"4 when it is inconclusive.",
    .sections = {{"Subjects", cli_subject_items}, {"Scenarios", scenarios}},
    .examples =
	{{"deepclock load zoo:resnet18 --rate 20",
	  "requests at random times, 20 a second: what users would wait"},
	 {"deepclock load zoo:resnet18 --rate 20 --slo 'p99<=100ms'",
	  "is that met? Exit status 0 yes, 3 no, 4 inconclusive"},
	 {"deepclock load model.onnx --find-peak --slo 'p90<=50ms' --streams 2 --threads 1",
	  "the highest rate that meets the limit, served by two streams of one thread"},
	 {"deepclock load model.onnx --trace arrivals.csv", "arrivals as they once were"},
	 {"deepclock load model.onnx --scenario offline --requests 1000 --streams 4",
	  "a thousand at once: items per second"},
	 {"deepclock load --rate 5 -- ./answer.sh", "a program, started for each request"},
	 {"deepclock load --url http://127.0.0.1:8000/v1/completions --model NAME --rate 2 --slo 'ttft-p90<=500ms' --slo 'tpot-p90<=30ms'",
	  "a server that generates: time to first token, time per token, both limited"},
	 {"deepclock load --url http://127.0.0.1:8000/v2/models/NAME/infer --rate 50",
	  "an ordinary model behind KServe's protocol"}},
    .groups = {{"Load", dck_load_options, 0, false},
	       {"Servers", dck_server_options, 0, false},
	       CLI_MODELS("Models"),
	       CLI_PROGRAMS,
	       CLI_MEASURED,
	       CLI_RUNS,
	       CLI_WORKER},
    CLI_CONFIG(dck_load_config),
    .max_args = 1,
    .arg = "SUBJECT",
    .takes_command = true,
    .words = &cli_model_words,
    .run = load_run,
};
