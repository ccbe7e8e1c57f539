/* cmd_help.c - deepclock help [COMMAND]
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"
#include <unistd.h>

static const char *command_word(size_t i)
{
	return cli_commands[i] ? cli_commands[i]->name : NULL;
}

static int help_run(cli *c, void *config)
{
	dck_style style = cli_style(config, STDOUT_FILENO);
	const cli_command *command;
	const char *names[64], *nearest;
	size_t n = 0;

	if (c->nargs == 0) {
		cli_help_all(stdout, &style);
		return CLI_OK;
	}
	command = cli_command_find(c->args[0]);
	if (command) {
		cli_help_command(stdout, command, &style);
		return CLI_OK;
	}
	for (; cli_commands[n] && n < 64; n++)
		names[n] = cli_commands[n]->name;
	nearest = dck_nearest(c->args[0], names, n);
	return cli_usage(NULL, "unknown command '%s'%s%s%s", c->args[0],
			 nearest ? "; did you mean '" : "", nearest ? nearest : "",
			 nearest ? "'?" : "");
}

static const char *const usage[] = {"[COMMAND]", NULL};
static const cli_item examples[] = {
    {"deepclock help bench", "the options of 'bench', as 'deepclock bench --help'"},
    {0},
};

const cli_command cmd_help = {
    .name = "help",
    .summary = "show what the commands do",
    .usage = usage,
    .about = "Lists the commands, or shows the options of one.",
    .examples = examples,
    .config_size = sizeof(cli_common),
    .max_args = 1,
    .arg = "COMMAND",
    .word_prefix = "",
    .word = command_word,
    .run = help_run,
};
