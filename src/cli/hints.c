/* hints.c - suggestions for an unknown option.
 *
 * cli_hint_option() tries these look-ups in order and reports the first match:
 *
 *  1. an option of the command in another spelling: case, '-' and '_' do not count;
 *  2. the name that another tool has for it (the command's own hints, then hints_table.c): a model
 *     or program given as an option, an option of this command, or one of another command;
 *  3. the nearest name by edit distance (dck_nearest());
 *  4. the only option that begins with the word, of 3 letters or more.
 *
 * The order is from certain to guessed: a small edit distance must not win over a known synonym.
 * All look-ups are linear over const tables, nothing is allocated, and names past HINT_NAMES_MAX
 * are not suggested. Every answer is a usage error (CLI_USAGE).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "hints.h"
#include <ctype.h>
#include <string.h>

#define HINT_NAMES_MAX 256

/* Options by which other tools take the model or the program. */
static const char *const model_words[] = {
    "model",	 "onnx",	"m",	       "model-path", "model-file", "path-to-model", "graph",
    "load-onnx", "input-model", "saved-model", "net",	     "network",	   "subject",	    NULL};
static const char *const program_words[] = {"command", "cmd", "exec", "program", "script", NULL};

/* "warmUp", "warm-up" and "warm_up" are equal; single letters are compared with their case. */
static bool hints_is_same(const char *a, const char *b)
{
	const bool letter = !a[0] || !a[1] || !b[0] || !b[1];

	if (letter)
		return strcmp(a, b) == 0;
	for (;;) {
		a += strspn(a, "-_");
		b += strspn(b, "-_");
		if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
			return false;
		if (!*a)
			return true;
		a++;
		b++;
	}
}

static bool hints_is_one_of(const char *const *words, const char *word)
{
	for (; *words; words++)
		if (hints_is_same(*words, word))
			return true;
	return false;
}

typedef struct name_list {
	const char *name[HINT_NAMES_MAX];
	size_t n;
} name_list;

static name_list names_of(const cli_command *command)
{
	name_list list = {.n = 0};

	for (cli_option o = {0}; list.n < HINT_NAMES_MAX && cli_option_next(command, &o);)
		list.name[list.n++] = o.row->name;
	return list;
}

static const char *same_in(const name_list *list, const char *word)
{
	for (size_t i = 0; i < list->n; i++)
		if (hints_is_same(list->name[i], word))
			return list->name[i];
	return NULL;
}

/* Returns the only name that begins with the word, or NULL. */
static const char *begun_in(const name_list *list, const char *word)
{
	const char *found = NULL;
	const size_t n = strlen(word);

	for (size_t i = 0; n >= 3 && i < list->n; i++) {
		if (strncmp(list->name[i], word, n) != 0)
			continue;
		if (found)
			return NULL;
		found = list->name[i];
	}
	return found;
}

static const cli_hint *hint_in(const cli_hint *h, const char *word)
{
	for (; h->words[0]; h++)
		if (hints_is_one_of(h->words, word))
			return h;
	return NULL;
}

static const cli_hint *hint_find(const cli *c, const char *word)
{
	const cli_hint *h = c->command->hints ? hint_in(c->command->hints, word) : NULL;

	return h ? h : hint_in(cli_hints, word);
}

static const char *hint_name(const cli_hint *h, const name_list *list)
{
	for (size_t i = 0; h->ours[i]; i++)
		if (same_in(list, h->ours[i]))
			return h->ours[i];
	return NULL;
}

static bool takes_model(const cli_command *command)
{
	return command->words == &cli_model_words;
}

static bool is_model_word(const char *word, const char *value)
{
	const char *dot = value ? strrchr(value, '.') : NULL;

	/* In some tools -m is the minimum number of runs, so the value's extension decides. */
	if (strcmp(word, "m") == 0)
		return dot && strcmp(dot, ".onnx") == 0;
	return hints_is_one_of(model_words, word);
}

/* The options that every command with a result has. */
static bool is_of_result(const char *word)
{
	static const char *const words[] = {"format",  "html", "save", "out", "details",
					    "figures", "f",    "s",    "o",   NULL};

	return hints_is_one_of(words, word);
}

/* Reports which other command has the option. Returns CLI_OK if none has it. */
static int elsewhere(const cli *c, const char *dashes, const char *word, const cli_hint *h)
{
	if (c->command->no_result && is_of_result(word))
		return cli_usage(c, "'%s' has no option '%s%s': %s", c->command->name, dashes, word,
				 c->command->no_result);
	for (size_t i = 0; c->commands[i]; i++) {
		const name_list list = names_of(c->commands[i]);
		const char *name = h ? hint_name(h, &list) : same_in(&list, word);

		if (name && strcmp(name, word) == 0)
			return cli_usage(c, "'%s' has no option '%s%s'; 'deepclock %s' has it",
					 c->command->name, dashes, word, c->commands[i]->name);
		if (name)
			return cli_usage(c, "unknown option '%s%s'; 'deepclock %s' has it as --%s",
					 dashes, word, c->commands[i]->name, name);
	}
	return CLI_OK;
}

static int brought(const cli *c, const char *dashes, const char *word, const char *value,
		   const name_list *mine)
{
	const cli_hint *h = hint_find(c, word);
	const char *name = h ? hint_name(h, mine) : NULL;

	if (takes_model(c->command) && is_model_word(word, value))
		return cli_usage(c,
				 "unknown option '%s%s'; here the model is a plain word: "
				 "deepclock %s %s",
				 dashes, word, c->command->name, value ? value : "MODEL");
	if (c->command->takes_command && hints_is_one_of(program_words, word))
		return cli_usage(c,
				 "unknown option '%s%s'; here the program comes last: "
				 "deepclock %s -- %s",
				 dashes, word, c->command->name, value ? value : "PROGRAM");
	if (name)
		return cli_usage(c, "unknown option '%s%s'; here it is --%s%s%s", dashes, word,
				 name, h->say ? "; " : "", h->say ? h->say : "");
	if (h && !h->ours[0])
		return cli_usage(c, "unknown option '%s%s'; %s", dashes, word, h->say);
	return elsewhere(c, dashes, word, h);
}

int cli_hint_option(const cli *c, const char *dashes, const char *word, const char *value)
{
	const name_list mine = names_of(c->command);
	const char *near = same_in(&mine, word);
	int code;

	if (near)
		return cli_usage(c, "unknown option '%s%s'; here it is --%s", dashes, word, near);
	code = brought(c, dashes, word, value, &mine);
	if (code != CLI_OK)
		return code;
	near = dck_nearest(word, mine.name, mine.n);
	if (!near)
		near = begun_in(&mine, word);
	if (near)
		return cli_usage(c, "unknown option '%s%s'; did you mean '--%s'?", dashes, word,
				 near);
	if (word[0] && !word[1])
		return cli_usage(c, "unknown option '%s%s'; options are words: --name value",
				 dashes, word);
	return cli_usage(c, "unknown option '%s%s'", dashes, word);
}

const char *cli_hint_name(const cli *c, const char *word)
{
	const name_list mine = names_of(c->command);
	const cli_hint *h = hint_find(c, word);

	return h ? hint_name(h, &mine) : NULL;
}

bool cli_hint_is_word(const cli *c, const char *word)
{
	const name_list mine = names_of(c->command);

	return word[0] && word[1] &&
	       (same_in(&mine, word) || hint_find(c, word) ||
		(takes_model(c->command) && hints_is_one_of(model_words, word)));
}
