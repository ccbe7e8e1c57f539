/* cmd_tune.c - deepclock tune MODEL
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"

CLI_MAKER(tune_make, dck_tune)

static int tune_run(cli *c, void *config)
{
	dck_tune_config *cfg = config;
	const int code = cli_subject_open(c);

	cfg->title = c->title;
	cfg->program = cli_program(c);
	return code == CLI_OK ? cli_make(c, tune_make, cfg, cli_record_gate) : code;
}

const cli_command cmd_tune = {
    .name = "tune",
    .summary = "find the fastest configuration of a model, with the same outputs",
    .usage = {"[OPTION]... MODEL"},
    .about =
	"Varies the engine and its options (threads, graph optimisation, parallel execution, spinning, "
	"memory) and finds the configuration that runs MODEL fastest on this machine. Each is measured "
	"in fresh processes, in rounds of random order: first one option at a time, then combinations "
	"of the faster values, of which the slower half leaves again and again. The outputs of the "
	"best are compared with the default's, and fresh pairs of both give the answer: how many "
	"times as fast it is, with an interval that its selection does not bias. A configuration "
	"that fails, hangs or needs too much memory is a row with its reason.\n\n"
	"The default is MODEL with the options given; these are not varied. Exit status 0 also when "
	"no configuration is shown to be faster; with --slo 3 when the answer violates the limit, and "
	"4 when it is inconclusive; the first Ctrl-C ends the search and reports what was "
	"measured (130).",
    .sections = {{"Models", cli_model_items}},
    .examples = {{"deepclock tune model.onnx",
		  "the fastest configuration for one request at a time"},
		 {"deepclock tune zoo:resnet18 --only threads,opt --max-time 30s",
		  "of two options, in half a minute"},
		 {"deepclock tune model.onnx --goal throughput --max-memory 2GiB",
		  "the most items per second, batch sizes too, within two gigabytes"},
		 {"deepclock tune model.onnx --goal throughput --slo 'p99<=20ms'",
		  "the most items per second, among configurations that do not violate the limit"},
		 {"deepclock tune model.onnx --threads 2",
		  "two threads are given, all else is varied"},
		 {"deepclock tune model.onnx --space space.txt --resume search.jsonl",
		  "options of your own, in a search that continues after a kill"}},
    .groups = {{"Searching", dck_tune_options, 0, false}, CLI_MODELS("Models"), CLI_MEASURED},
    CLI_CONFIG(dck_tune_config),
    CLI_ONE_MODEL,
    .run = tune_run,
};
