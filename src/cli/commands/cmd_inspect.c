/* cmd_inspect.c - deepclock inspect MODEL
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"

static dck_status inspect_make(const cli *c, void *config, const dck_observer *o, dck_record **ret,
			       dck_err *err)
{
	(void)config;
	(void)o; /* it reads no weights and takes no time */
	return dck_inspect(&c->subject, c->title, ret, err);
}

static int inspect_run(cli *c, void *config)
{
	const int code = cli_subject_read(c);

	return code == CLI_OK ? cli_make(c, inspect_make, config, NULL) : code;
}

const cli_command cmd_inspect = {
    .name = "inspect",
    .summary = "describe a model: inputs, outputs, operators, open sizes",
    .usage = {"[OPTION]... MODEL"},
    .about =
	"Reads the structure of MODEL, describes it, and suggests the next command. Nothing runs, "
	"no weights are read, and no engine is needed.",
    .sections = {{"Models", cli_model_items}},
    .examples = {{"deepclock inspect model.onnx",
		  "inputs, outputs, open sizes, operators, and what to type next"},
		 {"deepclock inspect model.onnx --format json", "the same for a script"}},
    .groups = {CLI_MODELS("Sizes"), CLI_RECORD},
    CLI_ONE_MODEL,
    .run = inspect_run,
};
