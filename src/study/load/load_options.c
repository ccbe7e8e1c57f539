/* load_options.c - the options of a load test.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/load/load_run.h"
#include "base/opt_text.h"
#include "deepclock/unstable.h"
#include "measure/plan.h"

const char *const dck_load_scenarios[] = {"auto", "single", "multi", "offline", "server", NULL};
const char *const dck_load_arrivals[] = {"poisson", "constant", NULL};

const dck_opt dck_load_options[] = {
    DCK_OPTION(CHOICE, dck_load_config, scenario, "scenario", "WHICH", "auto",
	       "how requests come; auto: server with --rate, --trace or --find-peak, "
	       "multi with --streams, else single",
	       .choices = dck_load_scenarios),
    DCK_OPTION(REAL, dck_load_config, rate_hz, "rate", "RATE", NULL,
	       "requests that arrive per second; of a trace: its times are scaled to it",
	       .min = 1e-9, .max = 1e8), /* above 0 */
    DCK_OPTION(CHOICE, dck_load_config, arrivals, "arrivals", "HOW", "poisson",
	       "random (Poisson), as of many independent users, or evenly spaced",
	       .choices = dck_load_arrivals, .excludes = "trace"),
    DCK_OPTION(
	TEXT, dck_load_config, trace, "trace", "FILE", NULL,
	"arrival times from a file: seconds, or times with a unit, one a line or first in CSV"),
    DCK_OPTION(COUNT, dck_load_config, streams, "streams", "N", "1",
	       "requests served at the same time, each in a separate thread", .min = 1,
	       .max = LOAD_STREAMS),
    DCK_FLAG(dck_load_config, serial, "serial",
	     "runs of different streams never overlap, for an engine that cannot bear it"),
    DCK_OPTION(TIME, dck_load_config, time_ns, "time", "TIME", NULL,
	       "duration of the arrivals; of a search, at each rate; default 10s, all of a trace, "
	       "or what the limits need",
	       .min = 1, .max = 1e15),
    DCK_OPTION(COUNT, dck_load_config, requests, "requests", "N", NULL,
	       "maximum number of requests; of a search, at each rate", .min = 1, .max = 1e12),
    DCK_OPTION(COUNT, dck_load_config, max_queue, "max-queue", "N", NULL,
	       "stop as unstable when more requests wait; default a quarter of all, at least 100",
	       .min = 1, .max = 1e9),
    DCK_OPTION(LIST, dck_load_config, slo, "slo", "LIMIT", NULL,
	       "a limit on the mean, max, median or any percentile of the latency, "
	       "such as p99<=50ms (quote it), or mlperf:NAME of servers; may be repeated"),
    DCK_OPTION(SHARE, dck_load_config, confidence, "confidence", "SHARE", "99%",
	       "how sure a verdict on a limit must be", .min = 0.5, .max = 0.99999, .needs = "slo"),
    DCK_FLAG(dck_load_config, find_peak, "find-peak",
	     "search the highest rate that meets every --slo; --rate: where to begin",
	     .needs = "slo"),
    DCK_OPTION(SHARE, dck_load_config, precision, "precision", "SHARE", "5%",
	       "stop when the bracket around the peak rate is this narrow, relative to the rate",
	       .min = 1e-3, .max = 1, .needs = "find-peak"),
    DCK_OPTION(TIME, dck_load_config, max_time_ns, "max-time", "TIME", "5m",
	       "of the whole search: it ends then with the rates that it measured", .min = 1,
	       .max = 1e15, .needs = "find-peak"),
    DCK_OPTION(TEXT, dck_load_config, warmup, "warmup", "N|TIME|auto", "auto",
	       "runs or time before measuring; auto: until a steady state is detected",
	       .letter = 'w'),
    DCK_OPTION(TIME, dck_load_config, max_warmup_ns, "max-warmup", "TIME", "5s",
	       "limit of auto; then it measures all the same, with a note", .min = 1, .max = 1e15,
	       .needs = "warmup=auto"),
    DCK_OPTION(SHARE, dck_load_config, level, "level", "SHARE", "95%",
	       "confidence level of every interval", .min = 0.5, .max = 0.9999),
    /* The most with which a record can be read: record_parse.c. */
    DCK_OPTION(COUNT, dck_load_config, keep, "keep", "N", "131072",
	       "maximum number of stored samples; beyond, every second one is dropped", .min = 64,
	       .max = 2097152),
    DCK_OPTION(COUNT, dck_load_config, seed, "seed", "N", "1",
	       "of random arrivals, and of random inputs: the same seed gives the same ones",
	       .max = 9e15),
    DCK_OPTION(TEXT, dck_load_config, url, "url", "URL", NULL,
	       "a server instead of a subject: http[s]://HOST:PORT and /v1/completions, "
	       "/v1/chat/completions or /v2/models/NAME/infer",
	       .excludes = "serial"),
    DCK_OPTION(TEXT, dck_load_config, served_model, "model", "NAME", NULL,
	       "the model's name at the server", .needs = "url"),
    {0},
};

const dck_opt dck_server_options[] = {
    DCK_OPTION(COUNT, dck_load_config, prompt_length, "prompt-length", "N", "128",
	       "words of each prompt, each about one token", .min = 1, .max = 1e6, .needs = "url"),
    DCK_OPTION(COUNT, dck_load_config, new_tokens, "new-tokens", "N", "64",
	       "tokens to generate for each request", .min = 1, .max = 1e6, .needs = "url"),
    DCK_OPTION(SHARE, dck_load_config, shared_prefix, "shared-prefix", "SHARE", NULL,
	       "part of the prompt that all requests share, so that a cache of prefixes has it; "
	       "default none",
	       .max = 1, .needs = "url"),
    DCK_OPTION(TEXT, dck_load_config, prompt_file, "prompt-file", "FILE", NULL,
	       "prompts in turn instead of random words: one a line, text or JSON with \"prompt\"",
	       .needs = "url", .excludes = "prompt-length shared-prefix"),
    DCK_OPTION(TEXT, dck_load_config, header_file, "header-file", "FILE", NULL,
	       "headers of each request, one a line; credentials belong there or in "
	       "DEEPCLOCK_API_KEY, and are in no record",
	       .needs = "url"),
    DCK_OPTION(
	TEXT, dck_load_config, cacert, "cacert", "FILE", NULL,
	"of https: certificates (PEM) of the authorities that are trusted, instead of the system's",
	.needs = "url"),
    DCK_OPTION(TIME, dck_load_config, timeout_ns, "timeout", "TIME", "60s",
	       "a request that is not answered completely within this has failed", .min = 1e6,
	       .max = 1e15, .needs = "url"),
    {0},
};

void dck_load_config_init_sized(dck_load_config *c, uint32_t struct_size)
{
	OPT_CONFIG_INIT(c, struct_size, dck_load_options, dck_server_options);
}

void dck_load_in_flight(const dck_plan *plan, uint64_t n, dck_load_config *ret)
{
	dck_load_config_init(ret);
	ret->streams = n;
	ret->time_ns = plan->max_time_ns;
	ret->level = plan->level;
	ret->keep = plan->keep;
	ret->warmup = plan->warmup;
	ret->max_warmup_ns = measure_plan_max_warmup(plan);
}
