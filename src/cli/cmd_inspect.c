/* cmd_inspect.c - deepclock inspect MODEL
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"
#include <unistd.h>

typedef struct inspect_command {
	cli_common common;
	cli_format format;
	cli_output output;
	dck_subject subject;
} inspect_command;

static void inspect_init(void *config)
{
	inspect_command *cfg = config;

	dck_subject_init(&cfg->subject);
}

static int inspect_run(cli *c, void *config)
{
	inspect_command *cfg = config;
	void *owned = NULL;
	dck_record *record;
	char title[8192];
	dck_err err;
	int code = cli_save_check(c, &cfg->output);

	if (code != CLI_OK)
		return code;
	code = cli_subject_parse(c, c->args[0], &cfg->subject, &owned);
	if (code != CLI_OK)
		return code;
	cli_title(c, title, sizeof title);
	if (dck_inspect(&cfg->subject, title, &record, &err) != DCK_OK) {
		code = cli_failed(&err);
	} else {
		code = cli_record_show(&cfg->common, &cfg->format, NULL, &cfg->output, record);
		dck_record_free(record);
	}
	dck_free(owned);
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
    .init = inspect_init,
    .min_args = 1,
    .max_args = 1,
    .arg = "MODEL",
    .word_prefix = "zoo:",
    .word = cli_zoo_word,
    .files = true,
    .run = inspect_run,
};
