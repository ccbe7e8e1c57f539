/* tune_options.c - the options of a search for the fastest configuration.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/tune.h"
#include "base/opt_text.h"

const char *const dck_tune_goals[] = {"latency", "throughput", NULL};

const dck_opt dck_tune_options[] = {
    DCK_OPTION(
	CHOICE, dck_tune_config, goal, "goal", "WHICH", "latency",
	"what is to be best: latency, or throughput, which varies the batch and the requests "
	"in flight too",
	.choices = dck_tune_goals),
    DCK_OPTION(TEXT, dck_tune_config, only, "only", "NAME,NAME", NULL,
	       "vary these options alone: engine, threads, opt, ..."),
    DCK_OPTION(TEXT, dck_tune_config, skip, "skip", "NAME,NAME", NULL,
	       "leave these options at their defaults", .excludes = "only"),
    DCK_OPTION(TEXT, dck_tune_config, space, "space", "FILE", NULL,
	       "vary the options of FILE, a line OPTION=VALUE,VALUE for each, instead of the usual "
	       "ones"),
    DCK_OPTION(TIME, dck_tune_config, max_time_ns, "max-time", "TIME", "2m",
	       "time of the search; it is kept to within 10 %", .min = 1e6, .max = 1e15),
    DCK_OPTION(
	TIME, dck_tune_config, trial_ns, "trial", "TIME", NULL,
	"measuring time of a trial, after up to half as much warm-up; default: 50ms, and 200ms "
	"with --slo or requests in flight",
	.min = 1e6, .max = 1e12),
    DCK_OPTION(TEXT, dck_tune_config, slo, "slo", "STAT<=TIME", NULL,
	       "configurations whose latency violates this limit are out, such as p99<=20ms; mean, "
	       "max, median or any percentile",
	       .max = 1),
    DCK_OPTION(BYTES, dck_tune_config, max_memory_bytes, "max-memory", "BYTES", NULL,
	       "configurations whose process needs more are out", .min = 1, .max = 1e15),
    DCK_OPTION(REAL, dck_tune_config, max_error, "max-error", "E", NULL,
	       "largest difference of outputs, as a share of their root mean square; default: by "
	       "their types",
	       .min = 1e-12, .max = 1e9, .excludes = "labels"),
    DCK_OPTION(TEXT, dck_tune_config, labels, "labels", "FILE", NULL,
	       "the true labels of --inputs, .npy or text: the accuracy is compared instead of "
	       "outputs",
	       .needs = "inputs"),
    DCK_OPTION(LIST, dck_tune_config, inputs, "inputs", "[NAME=]FILE.npy", NULL,
	       "labelled items for a model's input, along axis 0", .needs = "labels"),
    DCK_OPTION(SHARE, dck_tune_config, min_accuracy, "min-accuracy", "SHARE", NULL,
	       "configurations that predict less of the items correctly are out", .max = 1,
	       .needs = "labels"),
    DCK_OPTION(SHARE, dck_tune_config, margin, "min-change", "SHARE", "1%",
	       "differences up to it do not matter", .min = 1e-6, .max = 1),
    DCK_OPTION(SHARE, dck_tune_config, level, "level", "SHARE", "95%",
	       "confidence level of every interval", .min = 0.5, .max = 0.9999),
    DCK_OPTION(
	TEXT, dck_tune_config, quantize, "quantize", "DIR", NULL,
	"write int8 and fp16 variants of the model to DIR, by ONNX Runtime's Python tools, and "
	"try them too; --max-error says what they may differ by"),
    DCK_OPTION(TEXT, dck_tune_config, resume, "resume", "FILE", NULL,
	       "write a journal to FILE, and resume from it if it exists"),
    {0},
};

void dck_tune_config_init_sized(dck_tune_config *c, uint32_t struct_size)
{
	OPT_CONFIG_INIT(c, struct_size, dck_tune_options);
}
