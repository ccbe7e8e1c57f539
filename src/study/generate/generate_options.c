/* generate_options.c - the options of a measurement of generation.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/generate/generate_job.h"
#include "base/opt_text.h"

const dck_opt dck_generate_options[] = {
    DCK_OPTION(TEXT, dck_generate_config, prompt_length, "prompt-length", "N,N...", "128",
	       "tokens of the prompt; each length with each batch"),
    DCK_OPTION(COUNT, dck_generate_config, new_tokens, "new-tokens", "N", "64",
	       "tokens that each request generates, whatever they are", .min = 1,
	       .max = GENERATE_TOKENS_MAX),
    DCK_OPTION(TEXT, dck_generate_config, batch, "batch", "N,N...", "1",
	       "sequences of a request, which are generated together", .letter = 'b'),
    DCK_OPTION(COUNT, dck_generate_config, requests, "requests", "N", NULL,
	       "requests of each length and batch; default: as many as fit into --time, at least 6",
	       .min = 1, .max = 1e6),
    DCK_OPTION(TIME, dck_generate_config, time_ns, "time", "TIME", "5s",
	       "time of the requests of each length and batch", .min = 1, .max = 1e15,
	       .excludes = "requests"),
    DCK_OPTION(COUNT, dck_generate_config, warmup, "warmup", "N", "1",
	       "requests of each length and batch that are made first and not counted",
	       .letter = 'w', .max = 1e6),
    DCK_OPTION(SHARE, dck_generate_config, level, "level", "SHARE", "95%",
	       "confidence level of every interval", .min = 0.5, .max = 0.9999),
    DCK_OPTION(COUNT, dck_generate_config, seed, "seed", "N", "1",
	       "of the prompts, which are random token ids", .max = 9e15),
    DCK_OPTION(TEXT, dck_generate_config, prompt_file, "prompt-file", "FILE", NULL,
	       "prompts as token ids, one a line, instead of random ones; each of their lengths is "
	       "measured",
	       .excludes = "prompt-length"),
    {0},
};

void dck_generate_config_init_sized(dck_generate_config *c, uint32_t struct_size)
{
	OPT_CONFIG_INIT(c, struct_size, dck_generate_options);
}
