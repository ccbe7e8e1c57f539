/* rows.c - a walk through the commands and the rows of their options.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"
#include <string.h>

cli_group cli_group_get(const cli_command *command, size_t i)
{
	size_t n = 0;

	for (; command->groups[n].table; n++)
		if (n == i)
			return command->groups[i];
	return i == n ? (cli_group)CLI_SHARED("General", cli_common_options, common)
		      : (cli_group){0};
}

bool cli_row_next(const cli_command *command, cli_option *o)
{
	if (!o->row)
		o->group = cli_group_get(command, 0);
	o->row = o->row ? o->row + 1 : o->group.table;
	while (!o->row->name) {
		o->group = cli_group_get(command, ++o->index);
		if (!o->group.table)
			return false;
		o->row = o->group.table;
	}
	return true;
}

/* Other spellings of an option. They count where the command has no option of that name. */
static const char *alias_of(const char *name)
{
	static const struct {
		const char *word, *name;
	} aliases[] = {{"color", "colour"}, {"output", "out"}};

	for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++)
		if (strcmp(aliases[i].word, name) == 0)
			return aliases[i].name;
	return NULL;
}

const dck_opt *cli_option_find(const cli_command *command, const char *name, char letter)
{
	const char *alias = name ? alias_of(name) : NULL;

	for (cli_option o = {0}; cli_row_next(command, &o);)
		if (name ? strcmp(o.row->name, name) == 0 : o.row->letter == letter)
			return o.row;
	return alias ? cli_option_find(command, alias, 0) : NULL;
}

bool cli_option_next(const cli_command *command, cli_option *o)
{
	while (cli_row_next(command, o))
		if (o->group.title && cli_option_find(command, o->row->name, 0) == o->row)
			return true;
	return false;
}

void *cli_group_config(cli *c, const cli_group *group)
{
	return (group->shared ? (char *)c : (char *)c->config) + group->at;
}

const cli_command *cli_command_find(const cli_command *const *all, const char *name)
{
	for (size_t i = 0; all[i]; i++)
		if (strcmp(all[i]->name, name) == 0)
			return all[i];
	return NULL;
}
