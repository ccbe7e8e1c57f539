/* parse.c - command-line parser, driven by the command's option tables.
 *
 * One pass over argv from left to right, in the GNU style: options and arguments in any order,
 * --name VALUE or --name=VALUE, -n VALUE, -nVALUE or -n=VALUE, flags of one letter joined (-qh);
 * "--" ends the options. A word that begins with a dash is not a value, unless it is "-" or a
 * number, so a forgotten value is noticed.
 *
 * Defaults are written first. An option is read into every table that has a row of its name (one
 * --seed reaches all of them), or into the first only where first_only lists it. c->given has each
 * option once; of a repeated option the last value counts, and a LIST collects all. Relations
 * between options (needs, excludes) are checked at the end, when all are known.
 *
 * The first error ends parsing; its message has been printed. Values are borrowed from argv.
 * c->args has argc entries, so it cannot overflow.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "hints.h"
#include <string.h>

static bool is_first_only(const cli_command *command, const char *name)
{
	for (size_t i = 0; command->first_only && command->first_only[i]; i++)
		if (strcmp(command->first_only[i], name) == 0)
			return true;
	return false;
}

/* Returns the option as it was given, or NULL. */
static const dck_opt_given *parse_given_find(const cli *c, const char *name)
{
	for (size_t i = 0; i < c->ngiven; i++)
		if (strcmp(c->given[i].row->name, name) == 0)
			return &c->given[i];
	return NULL;
}

bool cli_given(const cli *c, const char *name)
{
	return parse_given_find(c, name) != NULL;
}

/* Reads the value into every table that has the option: --seed is one option for all of them. */
static int option_set(cli *c, const dck_opt *row, const char *value)
{
	const dck_opt_given *before = parse_given_find(c, row->name);
	const size_t at = before ? (size_t)(before - c->given) : c->ngiven;
	dck_err err;

	/* An unset variable of the shell expands to an empty value. */
	if (value && !value[0] && (row->kind == DCK_OPT_TEXT || row->kind == DCK_OPT_LIST))
		return cli_usage(c, "the value of --%s is empty: give %s", row->name,
				 row->arg ? row->arg : "one");
	if (at < CLI_GIVEN_MAX) {
		c->given[at] = (dck_opt_given){row, value};
		c->ngiven += !before;
	}
	for (cli_option o = {0}; cli_row_next(c->command, &o);) {
		if (strcmp(o.row->name, row->name) != 0)
			continue;
		if (dck_opt_read(o.row, cli_group_config(c, &o.group), value, &err) != DCK_OK)
			return row->kind == DCK_OPT_FLAG
				   ? cli_usage(c, "--%s takes no value, but there is '%s'",
					       row->name, value)
				   : cli_usage(c, "%s", err.msg);
		if (is_first_only(c->command, row->name))
			break;
	}
	return CLI_OK;
}

/* A word that begins with a dash is the next option, unless it is "-" or a number. */
static bool is_value(const char *word)
{
	return word && (word[0] != '-' || !word[1] || strchr(".0123456789", word[1]));
}

static int value_missing(const cli *c, const char *dashes, const char *name, const dck_opt *row)
{
	return cli_usage(c, "%s%s needs a value: %s%s %s", dashes, name, dashes, name,
			 row->arg ? row->arg : "VALUE");
}

/* text: "name" or "name=value" without the dashes; next: the following word or NULL. */
static int option_read(cli *c, const char *text, const char *next, bool *ret_took_next)
{
	char name[64];
	const char *equals = strchr(text, '=');
	size_t n = equals ? (size_t)(equals - text) : strlen(text);
	const dck_opt *row;

	*ret_took_next = false;
	if (n >= sizeof name)
		return cli_usage(c, "unknown option '--%.60s...'", text);
	memcpy(name, text, n);
	name[n] = 0;
	row = cli_option_find(c->command, name, 0);
	if (!row)
		return cli_hint_option(c, "--", name, equals ? equals + 1 : next);
	if (row->kind == DCK_OPT_FLAG || equals)
		return option_set(c, row, equals ? equals + 1 : NULL);
	if (!is_value(next))
		return value_missing(c, "--", name, row);
	*ret_took_next = true;
	return option_set(c, row, next);
}

/* Returns the row of a letter, or NULL after a usage message. */
static const dck_opt *letter_find(const cli *c, char letter, const char *next)
{
	const char text[] = {letter, 0};
	const dck_opt *row = cli_option_find(c->command, NULL, letter);

	if (row)
		return row;
	for (size_t i = 0; c->commands[i] && !row; i++)
		row = cli_option_find(c->commands[i], NULL, letter);
	if (row) {
		const char *near = cli_hint_name(c, row->name);

		cli_usage(c, "'-%c' is --%s, which '%s' does not have%s%s", letter, row->name,
			  c->command->name, near ? "; here it is --" : "", near ? near : "");
		return NULL;
	}
	cli_hint_option(c, "-", text, next);
	return NULL;
}

/* Reads "-b8", "-b 8", "-b=8"; letters of flags may be joined: "-qh". text: without the dash. */
static int letters_read(cli *c, const char *text, const char *next, bool *ret_took_next)
{
	char word[64];
	int code = CLI_OK;

	snprintf(word, sizeof word, "%.*s", (int)strcspn(text, "="), text);
	if (cli_hint_is_word(c, word))
		return cli_hint_option(c, "-", word,
				       strchr(text, '=') ? strchr(text, '=') + 1 : next);
	for (; *text && code == CLI_OK; text++) {
		const char name[] = {*text, 0};
		const dck_opt *row = letter_find(c, *text, text[1] ? NULL : next);

		if (!row)
			return CLI_USAGE;
		if (row->kind == DCK_OPT_FLAG) {
			code = option_set(c, row, NULL);
			continue;
		}
		if (text[1])
			return option_set(c, row, text + 1 + (text[1] == '='));
		if (!is_value(next))
			return value_missing(c, "-", name, row);
		*ret_took_next = true;
		return option_set(c, row, next);
	}
	return code;
}

/* Refuses an option that has no effect with, or without, another option. */
static int rules_check(const cli *c)
{
	const dck_opt *tables[32] = {0};
	dck_err err;

	for (size_t i = 0; i + 1 < sizeof tables / sizeof tables[0]; i++) {
		tables[i] = cli_group_get(c->command, i).table;
		if (!tables[i])
			break;
	}
	return dck_opt_check(tables, c->given, c->ngiven, &err) == DCK_OK
		   ? CLI_OK
		   : cli_usage(c, "%s", err.msg);
}

static int args_check(const cli *c)
{
	const cli_command *command = c->command;

	if (c->program)
		return c->nargs > 0
			   ? cli_usage(c, "give '%s' or a program after '--', not both", c->args[0])
			   : CLI_OK;
	if (c->nargs < command->min_args)
		return cli_usage(c, "%s needs %s", command->name, command->arg);
	if (c->nargs > command->max_args) {
		const char *more = c->args[command->max_args];

		if (command->max_args == 0)
			return cli_usage(c, "%s takes no argument, but there is '%s'",
					 command->name, more);
		if (command->max_args > 1)
			return cli_usage(c, "%s takes at most %u %ss, but there is '%s' too",
					 command->name, command->max_args, command->arg, more);
		return cli_usage(c, "%s takes one %s, but there is '%s' too", command->name,
				 command->arg, more);
	}
	return CLI_OK;
}

int cli_parse(cli *c, int first)
{
	const cli_command *command = c->command;
	cli_group g;
	dck_err err;
	int code;

	for (size_t i = 0; (g = cli_group_get(command, i)).table; i++)
		if (dck_opt_defaults(g.table, cli_group_config(c, &g), &err) != DCK_OK)
			return cli_failed(&err);
	for (int i = first; i < c->argc; i++) {
		char *word = c->argv[i];
		char *next = i + 1 < c->argc ? c->argv[i + 1] : NULL;
		bool took_next = false;

		code = CLI_OK;
		if (strcmp(word, "--") == 0) {
			if (command->takes_command)
				c->program = c->argv + i + 1;
			else
				while (++i < c->argc)
					c->args[c->nargs++] = c->argv[i];
			break;
		}
		if (word[0] == '-' && word[1] == '-')
			code = option_read(c, word + 2, next, &took_next);
		else if (word[0] == '-' && word[1])
			code = letters_read(c, word + 1, next, &took_next);
		else
			c->args[c->nargs++] = word;
		if (code != CLI_OK)
			return code;
		i += took_next;
	}
	if (c->common.help || c->common.version)
		return CLI_OK;
	if (c->program && !c->program[0])
		return cli_usage(c, "no program after '--'");
	code = args_check(c);
	/* A worker is exempt: this program gives it every option of a plan. */
	return code == CLI_OK && !cli_given(c, "worker-fd") ? rules_check(c) : code;
}
