/* cmd_throughput.c - deepclock throughput MODEL
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"

CLI_MAKER(throughput_make, dck_throughput)

static int throughput_run(cli *c, void *config)
{
	dck_throughput_config *cfg = config;
	int code = cli_subject_read(c);

	c->subject.model.batch = 1; /* the check needs one; the search sets it later */
	if (code == CLI_OK && !cfg->batch_dim)
		code = cli_subject_check(c, &c->subject);
	c->subject.model.batch = 0;
	cfg->title = c->title;
	cfg->program = cli_program(c);
	return code == CLI_OK ? cli_make(c, throughput_make, cfg, cli_record_gate) : code;
}

static const cli_item throughput_subjects[] = {
    {"model.onnx", "a model from a file whose batch is a symbolic dimension"},
    {"zoo:NAME", "a built-in network ('deepclock zoo' lists them)"},
    {0},
};
/* The models' options of these names take one number, those of a search take lists. */
static const char *const throughput_lists[] = {"batch", "threads", NULL};

const cli_command cmd_throughput = {
    .name = "throughput",
    .summary = "find the batch size that gives the most items per second (FPS)",
    .usage = {"[OPTION]... MODEL"},
    .about =
	"Measures MODEL at batch sizes that double until the throughput no longer grows, or memory or the latency limit ends it; then between the best size and the adjacent ones; then all relevant sizes again in rounds of random order, so that a drift of the machine is not mistaken for an effect. Each measurement runs in a fresh process: one that runs out of memory ends itself and not the search.\n\nIt reports each size with its interval, latency and memory, the best size, the knee (the smallest size within 5 % of the best), and what limits growth. The first Ctrl-C ends the search and reports what was measured (exit status 130).\n\nExit status: 0 without a limit or when the best size meets it, 3 when every size violates it, 4 when it is inconclusive, as max is, which one run can violate and no number of runs can prove to be met; 1 when no size fits into memory.",
    .sections = {{"Models", throughput_subjects}},
    .examples = {{"deepclock throughput zoo:resnet18",
		  "the batch size that gives the most images per second"},
		 {"deepclock throughput model.onnx --slo 'p99<=20ms'",
		  "the same among the sizes whose 99th percentile is within 20 ms"},
		 {"deepclock throughput model.onnx --memory 2GiB --max-batch 4096",
		  "as far as two gigabytes go"},
		 {"deepclock throughput zoo:bert_mini --threads 1,2 --in-flight 1,2",
		  "with each number of threads, and of requests that run at the same time"},
		 {"deepclock throughput model.onnx --resume search.jsonl --max-time 1h",
		  "a long search that is resumed after a kill"}},
    .groups = {{"Searching", dck_throughput_options, 0, false}, CLI_MODELS("Models"), CLI_MEASURED},
    .first_only = throughput_lists,
    CLI_CONFIG(dck_throughput_config),
    CLI_ONE_MODEL,
    .run = throughput_run,
};
