/* cmd_generate.c - deepclock generate MODEL
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"

CLI_MAKER(generate_make, dck_generate)

static int generate_run(cli *c, void *config)
{
	dck_generate_config *cfg = config;
	const int code = cli_subject_read(c);

	cfg->title = c->title;
	return code == CLI_OK ? cli_make(c, generate_make, cfg, NULL) : code;
}

static const cli_item generate_subjects[] = {
    {"model.onnx", "a decoder with past_key_values as inputs and present as outputs"},
    {"zoo:llama_mini", "a built-in decoder ('deepclock zoo' lists them)"},
    {0},
};
/* The models' option of this name takes one number. */
static const char *const generate_lists[] = {"batch", NULL};

const cli_command cmd_generate = {
    .name = "generate",
    .summary = "measure a decoder token by token: time to first token, time per token",
    .usage = {"[OPTION]... MODEL"},
    .about =
	"Generates from random prompts with MODEL, a decoder whose past keys and values are inputs "
	"and outputs, and reports the time to the first token (TTFT), the time per further token "
	"(TPOT), percentiles of the gaps between tokens (ITL), tokens per second, by how much the "
	"gap grows with the position, and the memory of the cache, with intervals over the "
	"requests. Tokens are chosen greedily, and an end of sequence is ignored, so that each "
	"request has the requested length. Lengths and batches take turns in random order.",
    .sections = {{"Models", generate_subjects}},
    .examples =
	{{"deepclock generate zoo:llama_mini", "64 tokens after a prompt of 128"},
	 {"deepclock generate decoder.onnx --prompt-length 128,1024 --new-tokens 64 --batch 1,4",
	  "each length of the prompt with each batch"},
	 {"deepclock generate decoder.onnx --requests 100 --threads 4",
	  "a hundred requests, so that p90 has an interval"}},
    .groups = {{"Generating", dck_generate_options, 0, false}, CLI_MODELS("Models"), CLI_MEASURED},
    .first_only = generate_lists,
    CLI_CONFIG(dck_generate_config),
    CLI_ONE_MODEL,
    .run = generate_run,
};
