/* parse.c - reads the command line by the command's option tables.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "hints.h"
#include <string.h>

cli_group cli_group_get(const cli_command *command, size_t i)
{
	size_t n = 0;

	for (; command->groups && command->groups[n].title; n++)
		if (n == i)
			return command->groups[i];
	if (i == n)
		return (cli_group){.title = "General", .table = cli_common_options, .at = 0};
	return (cli_group){0};
}

static bool option_is_repeated(const cli_command *command, size_t before, const char *name)
{
	for (size_t i = 0; i < before; i++)
		if (dck_opt_find(cli_group_get(command, i).table, name))
			return true;
	return false;
}

static bool is_first_only(const cli_command *command, const char *name)
{
	for (size_t i = 0; command->first_only && command->first_only[i]; i++)
		if (strcmp(command->first_only[i], name) == 0)
			return true;
	return false;
}

void cli_options_each(const cli_command *command,
		      void (*f)(void *self, const cli_group *g, const dck_opt *row), void *self)
{
	cli_group g;

	for (size_t i = 0; (g = cli_group_get(command, i)).title; i++)
		for (const dck_opt *row = g.table; !g.hidden && row->name; row++)
			if (!option_is_repeated(command, i, row->name))
				f(self, &g, row);
}

/* c->ngiven: it was not. */
static size_t given_at(const cli *c, const char *name)
{
	size_t i = 0;

	while (i < c->ngiven && strcmp(c->given[i]->name, name) != 0)
		i++;
	return i;
}

bool cli_given(const cli *c, const char *name)
{
	return given_at(c, name) < c->ngiven;
}

void *cli_config_find(const cli_command *command, void *config, const dck_opt *table)
{
	cli_group g;

	for (size_t i = 0; (g = cli_group_get(command, i)).title; i++)
		if (g.table == table)
			return (char *)config + g.at;
	return NULL;
}

/* Other spellings, where a command has the option and no other of that name. */
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

static const dck_opt *row_find(const cli_command *command, const char *name)
{
	cli_group g;

	for (size_t i = 0; (g = cli_group_get(command, i)).title; i++) {
		const dck_opt *row = dck_opt_find(g.table, name);

		if (row)
			return row;
	}
	return NULL;
}

static const dck_opt *option_find(const cli_command *command, const char *name)
{
	const dck_opt *row = row_find(command, name);
	const char *alias = row ? NULL : alias_of(name);

	return alias ? row_find(command, alias) : row;
}

/* An option that several tables have (--seed) is one option and reaches all of them. */
static int option_set(cli *c, void *config, const dck_opt *row, const char *value)
{
	const char *name = row->name;
	cli_group g;
	dck_err err;

	/* As of a variable of the shell that is not set. */
	if (value && !value[0] && (row->kind == DCK_OPT_TEXT || row->kind == DCK_OPT_LIST))
		return cli_usage(c, "the value of --%s is empty: give %s", name,
				 row->arg ? row->arg : "one");
	const size_t at = given_at(c, name);

	if (at < CLI_GIVEN_MAX) {
		c->ngiven += at == c->ngiven;
		c->given[at] = row;
		c->value[at] = value;
	}

	for (size_t i = 0; (g = cli_group_get(c->command, i)).title; i++) {
		if (!dck_opt_find(g.table, name))
			continue;
		if (dck_opt_set(g.table, (char *)config + g.at, name, value, &err) != DCK_OK)
			return cli_usage(c, "%s", err.msg);
		if (is_first_only(c->command, name))
			break;
	}
	return CLI_OK;
}

/* What begins with a dash is the next option, unless it is "-" alone or a number. */
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
static int option_read(cli *c, void *config, const char *text, const char *next,
		       bool *ret_took_next)
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
	row = option_find(c->command, name);
	if (!row)
		return cli_hint_option(c, "--", name, equals ? equals + 1 : next);
	if (row->kind == DCK_OPT_FLAG || equals)
		return option_set(c, config, row, equals ? equals + 1 : NULL);
	if (!is_value(next))
		return value_missing(c, "--", name, row);
	*ret_took_next = true;
	return option_set(c, config, row, next);
}

/* The row of a letter; NULL after saying why there is none. */
static const dck_opt *letter_find(const cli *c, char letter, const char *next)
{
	const char text[] = {letter, 0};

	for (const cli_letter *l = cli_letters; l->letter; l++) {
		const dck_opt *row = l->letter == letter ? option_find(c->command, l->name) : NULL;

		if (row)
			return row;
		if (l->letter == letter) {
			const char *near = cli_hint_name(c, l->name);

			cli_usage(c, "'-%c' is --%s, which '%s' does not have%s%s", letter, l->name,
				  c->command->name, near ? "; here it is --" : "",
				  near ? near : "");
			return NULL;
		}
	}
	cli_hint_option(c, "-", text, next);
	return NULL;
}

/* "-b8", "-b 8", "-b=8"; letters of flags may stand together: "-qh". text: without the dash. */
static int letters_read(cli *c, void *config, const char *text, const char *next,
			bool *ret_took_next)
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
			code = option_set(c, config, row, NULL);
			continue;
		}
		if (text[1])
			return option_set(c, config, row, text + 1 + (text[1] == '='));
		if (!is_value(next))
			return value_missing(c, "-", name, row);
		*ret_took_next = true;
		return option_set(c, config, row, next);
	}
	return code;
}

static int pairs_check(const cli *c, const cli_pair *p)
{
	/* A worker is given whole plans, by the program itself. */
	if (cli_given(c, "worker-fd"))
		return CLI_OK;
	for (; p && p->option; p++) {
		const size_t other = given_at(c, p->other);
		const bool given = other < c->ngiven;

		if (!cli_given(c, p->option) || given == (p->when == CLI_WITHOUT) ||
		    (given && p->unless && c->value[other] &&
		     strcmp(c->value[other], p->unless) == 0))
			continue;
		if (p->when == CLI_WITHOUT)
			return cli_usage(c, "--%s changes nothing without --%s", p->option,
					 p->other);
		return cli_usage(c, "--%s changes nothing beside --%s: give one of them", p->option,
				 p->other);
	}
	return CLI_OK;
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
		return cli_usage(c, "%s takes one %s, but there is '%s' too", command->name,
				 command->arg, more);
	}
	return CLI_OK;
}

int cli_parse(cli *c, int first, void *config)
{
	const cli_command *command = c->command;
	cli_group g;
	dck_err err;
	int code;

	for (size_t i = 0; (g = cli_group_get(command, i)).title; i++)
		if (dck_opt_defaults(g.table, (char *)config + g.at, &err) != DCK_OK)
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
			code = option_read(c, config, word + 2, next, &took_next);
		else if (word[0] == '-' && word[1])
			code = letters_read(c, config, word + 1, next, &took_next);
		else
			c->args[c->nargs++] = word;
		if (code != CLI_OK)
			return code;
		i += took_next;
	}
	if (c->common->help || c->common->version)
		return CLI_OK;
	if (c->program && !c->program[0])
		return cli_usage(c, "no program after '--'");
	code = args_check(c);
	if (code == CLI_OK)
		code = pairs_check(c, cli_common_pairs);
	return code == CLI_OK ? pairs_check(c, c->command->pairs) : code;
}
