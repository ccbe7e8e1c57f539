/* cmd_inspect.c - deepclock inspect MODEL
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"

typedef struct inspect_command {
	cli_common common;
	cli_format format;
	cli_output output;
	dck_subject subject;
} inspect_command;

static int inspect_run(cli *c, void *config)
{
	dck_record *record;
	dck_err err;
	int code = cli_subject_read(c);

	(void)config;
	if (code != CLI_OK)
		return code;
	if (dck_inspect(c->subject, c->title, &record, &err) != DCK_OK)
		return cli_failed(&err);
	code = cli_record_show(c, NULL, record);
	dck_record_free(record);
	return code;
}

static const char *const usage[] = {"[OPTION]... MODEL", NULL};
static const cli_section sections[] = {{"Models", cli_model_items}, {0}};
static const cli_group groups[] = {
    {"Sizes", dck_model_options, offsetof(inspect_command, subject.model), false},
    {"Output", cli_format_options, offsetof(inspect_command, format), false},
    {"Output", cli_save_options, offsetof(inspect_command, output), false},
    {0},
};
static const cli_item examples[] = {
    {"deepclock inspect model.onnx",
     "inputs, outputs, open sizes, operators, and what to type next"},
    {"deepclock inspect model.onnx --format json", "the same for a script"},
    {0},
};

const cli_command cmd_inspect = {
    .name = "inspect",
    .summary = "show what a model is, and what it leaves open",
    .usage = usage,
    .about =
	"Reads the structure of MODEL and says what it is and what to type next. Nothing runs, "
	"no weights are read, and no engine is needed.",
    .sections = sections,
    .examples = examples,
    .groups = groups,
    .config_size = sizeof(inspect_command),
    .subject_at = offsetof(inspect_command, subject),
    .min_args = 1,
    .max_args = 1,
    .arg = "MODEL",
    .word_prefix = "zoo:",
    .word = cli_zoo_word,
    .files = true,
    .run = inspect_run,
};
