/* cmd_profile.c - deepclock profile MODEL
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"

typedef struct profile_command {
	dck_plan plan;
	dck_profile_config profile;
} profile_command;

static dck_status profile_make(const cli *c, void *config, const dck_observer *o, dck_record **ret,
			       dck_err *err)
{
	const profile_command *cfg = config;

	return dck_profile_model(&c->subject, &cfg->plan, &cfg->profile, o, ret, err);
}

static int profile_run(cli *c, void *config)
{
	profile_command *cfg = config;
	int code;

	if (cfg->plan.processes > 1)
		return cli_usage(c, "profile measures in one process: --processes is for bench");
	cfg->plan.title = c->title;
	code = cli_subject_open(c);
	return code == CLI_OK ? cli_make(c, profile_make, cfg, NULL) : code;
}

const cli_command cmd_profile = {
    .name = "profile",
    .summary = "show where the time of a model goes, operator by operator",
    .usage = {"[OPTION]... MODEL"},
    .about = "Measures the latency of MODEL as 'bench' does. Then, in separate sessions, it takes "
	     "the operators' times from the engine's profiler, subtracts the profiler's overhead, "
	     "scales them to the latency, and compares them with each operator's FLOPs and bytes "
	     "and with this machine's limits. No time under the profiler is shown as latency.",
    .sections = {{"Models", cli_model_items}},
    .examples = {{"deepclock profile zoo:resnet50",
		  "the time of each operator, and its limit on this machine"},
		 {"deepclock profile model.onnx --threads 1 --by module",
		  "the same by module, on one thread"},
		 {"deepclock profile model.onnx --opt none",
		  "the model's own nodes, nothing fused"},
		 {"deepclock profile model.onnx --format csv --by node > ops.csv",
		  "one row for each operator"}},
    .groups = {{"Profiling", dck_profile_options, offsetof(profile_command, profile), false},
	       {"Measuring the latency", dck_plan_options, offsetof(profile_command, plan), false},
	       CLI_MODELS("Models"),
	       CLI_OPERATORS("Output"),
	       CLI_MEASURED,
	       CLI_RUNS},
    .config_size = sizeof(profile_command),
    .sized = {CLI_SIZED(profile_command, plan), CLI_SIZED(profile_command, profile)},
    CLI_ONE_MODEL,
    .run = profile_run,
};
