/* cmd_help.c - deepclock help [COMMAND | TOPIC]
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"
#include <string.h>
#include <unistd.h>

static const cli_item topic_items[] = {
    {"metrics", "every metric of a record: its tag, meaning and unit"},
    {"notes", "every note: its condition, and what to do"},
    {0},
};
static void (*const topic_print[])(FILE *, const dck_style *) = {cli_help_metrics, cli_help_notes};

static const char *topic_word(size_t i)
{
	return topic_items[i].term;
}

static int help_run(cli *c, void *config)
{
	dck_style style = cli_style(&c->common, STDOUT_FILENO);
	const cli_command *command;
	const char *names[64], *nearest;
	size_t n = 0;

	(void)config;
	if (c->nargs == 0) {
		cli_help_all(stdout, c->commands, &style);
		return CLI_OK;
	}
	command = cli_command_find(c->commands, c->args[0]);
	if (command) {
		cli_help_command(stdout, command, &style);
		return CLI_OK;
	}
	for (size_t i = 0; topic_items[i].term; i++)
		if (strcmp(topic_items[i].term, c->args[0]) == 0) {
			topic_print[i](stdout, &style);
			return CLI_OK;
		}
	for (size_t i = 0; n < 64 && c->commands[i]; i++)
		names[n++] = c->commands[i]->name;
	for (size_t i = 0; n < 64 && topic_word(i); i++)
		names[n++] = topic_word(i);
	nearest = dck_nearest(c->args[0], names, n);
	return cli_usage(NULL, "unknown command '%s'%s%s%s", c->args[0],
			 nearest ? "; did you mean '" : "", nearest ? nearest : "",
			 nearest ? "'?" : "");
}

const cli_command cmd_help = {
    .name = "help",
    .summary = "show what the commands do",
    .usage = {"[COMMAND | TOPIC]"},
    .about =
	"Lists the commands, shows the options of one, or a table of the metrics or the notes.",
    .sections = {{"Topics", topic_items}},
    .examples = {{"deepclock help bench", "the options of 'bench', as 'deepclock bench --help'"},
		 {"deepclock help metrics", "what each number of a record is"}},
    .max_args = 1,
    .arg = "COMMAND",
    .words = &(const cli_words){.prefix = "", .get = topic_word, .commands = true},
    .no_result = "it prints text; zoo and engines have lists for scripts",
    .run = help_run,
};
