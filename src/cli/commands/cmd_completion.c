/* cmd_completion.c - deepclock completion SHELL: generates a completion script for bash, zsh or
 * fish.
 *
 * One generator for each shell; all walk the same descriptors and option tables
 * (cli_option_next()), so a script offers exactly the options of the parser. A command contributes
 * its options, the choices of their values, file names where an argument is called FILE, and its
 * words (cli_words).
 *
 *  - bash: one function; a case on COMMAND:OPTION sets words and files for compgen.
 *  - zsh: _arguments with one specification for each option, its help escaped by zsh_text().
 *  - fish: one `complete` line for each option.
 *
 * All input is const tables of this program. Choices and words are written inside quotes and
 * separated by blanks, without escaping, so they must contain neither.
 *
 * Sources: bash(1), Programmable Completion; zshcompsys(1), _arguments; complete(1) of fish.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"
#include <string.h>

/* An option whose argument is called FILE is completed with the names of files. */
static bool takes_file(const dck_opt *row)
{
	return row->arg && strstr(row->arg, "FILE");
}

/* Returns word i that completes an argument, or NULL after the last. */
static const char *completion_word_get(const cli_command *command, const cli_command *const *all,
				       size_t i)
{
	size_t n = 0;

	for (; command->words && command->words->commands && all[n]; n++)
		if (n == i)
			return all[n]->name;
	return command->words && command->words->get ? command->words->get(i - n) : NULL;
}

static bool takes_files(const cli_command *command)
{
	return command->words && command->words->files;
}

static void words_print(FILE *out, const cli_command *command, const cli_command *const *all)
{
	const char *word;

	for (size_t i = 0; (word = completion_word_get(command, all, i)) != NULL; i++)
		fprintf(out, "%s%s%s", i ? " " : "", command->words->prefix, word);
}

/* Writes the words that follow the command's action, separated by blanks. */
static void follow_print(FILE *out, const cli_command *command)
{
	const char *word;

	for (size_t i = 0; (word = command->words->follow(i)) != NULL; i++)
		fprintf(out, "%s%s", i ? " " : "", word);
}

static bool has_action(const cli_command *command)
{
	return command->words && command->words->action;
}

static void choices_print(FILE *out, const dck_opt *row)
{
	for (size_t i = 0; row->choices && row->choices[i]; i++)
		fprintf(out, "%s%s", i ? " " : "", row->choices[i]);
}

/* --- bash. Options are `--name value` and `--name=value`; the shell splits words at ':' and '=',
 * so the word is taken from the line, and the prefix that the shell keeps is removed from the
 * replies. */

/* Writes a case for each option with a value: its choices, or files. */
static void bash_values(FILE *out, const cli_command *command)
{
	for (cli_option o = {0}; cli_option_next(command, &o);) {
		if (o.row->kind == DCK_OPT_FLAG)
			continue;
		fprintf(out, "\t%s:--%s", command->name, o.row->name);
		if (o.row->letter)
			fprintf(out, " | %s:-%c", command->name, o.row->letter);
		fputc(')', out);
		if (o.row->choices) {
			fputs(" words='", out);
			choices_print(out, o.row);
			fputs("' ;;\n", out);
		} else {
			fputs(takes_file(o.row) ? " files=1 ;;\n" : " ;;\n", out);
		}
	}
}

/* Writes what completes an argument after the action. Names of actions are not offered again. */
static void bash_follow(FILE *out, const cli_command *command)
{
	fprintf(out, "\t\tif [[ $command == %s ]] && ((COMP_CWORD > 2)); then\n", command->name);
	fprintf(out, "\t\t\twords=${words#*'%s'}\n", "  ");
	fprintf(out, "\t\t\t[[ ${COMP_WORDS[2]} == %s ]] && files='' words+=' ",
		command->words->action);
	follow_print(out, command);
	fputs("'\n\t\tfi\n", out);
}

static void bash_write(FILE *out, const cli_command *const *all)
{
	fputs("# bash completion for deepclock\n"
	      "# SPDX-License-Identifier: Apache-2.0\n"
	      "_deepclock() {\n"
	      "\tlocal cur prev command='' option='' words='' files='' i\n"
	      "\tcur=${COMP_LINE:0:COMP_POINT}\n"
	      "\tcur=${cur##*[[:space:]]}\n"
	      "\tprev=${COMP_LINE:0:COMP_POINT-${#cur}}\n"
	      "\tprev=${prev%%\"${prev##*[![:space:]]}\"}\n"
	      "\tprev=${prev##*[[:space:]]}\n"
	      "\t((COMP_CWORD > 1)) && command=${COMP_WORDS[1]}\n"
	      "\tfor ((i = 2; i < COMP_CWORD; i++)); do\n"
	      "\t\tif [[ ${COMP_WORDS[i]} == -- ]]; then\n"
	      "\t\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
	      "\t\t\treturn\n"
	      "\t\tfi\n"
	      "\tdone\n"
	      "\tif [[ $cur == --*=* ]]; then\n"
	      "\t\toption=${cur%%=*}\n"
	      "\t\tcur=${cur#*=}\n"
	      "\telif [[ $prev == -* && $prev != *=* ]]; then\n"
	      "\t\toption=$prev\n"
	      "\tfi\n"
	      "\tcase $command:$option in\n",
	      out);
	for (size_t i = 0; all[i]; i++)
		bash_values(out, all[i]);
	fputs("\t*) option='' ;;\n"
	      "\tesac\n"
	      "\tif [[ -z $option ]]; then\n"
	      "\t\tcase $command in\n"
	      "\t\t'') words='",
	      out);
	for (size_t i = 0; all[i]; i++)
		fprintf(out, "%s ", all[i]->name);
	fputs("--help --version' ;;\n", out);
	for (size_t i = 0; all[i]; i++) {
		fprintf(out, "\t\t%s)%s words='", all[i]->name,
			takes_files(all[i]) ? " files=1" : "");
		words_print(out, all[i], all);
		fputs(has_action(all[i]) ? " " : "", out);
		for (cli_option o = {0}; cli_option_next(all[i], &o);)
			fprintf(out, " --%s", o.row->name);
		fputs("' ;;\n", out);
	}
	fputs("\t\tesac\n", out);
	for (size_t i = 0; all[i]; i++)
		if (has_action(all[i]))
			bash_follow(out, all[i]);
	fputs("\tfi\n"
	      "\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
	      "\t[[ $files && $cur != -* ]] &&\n"
	      "\t\tmapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- \"$cur\")\n"
	      "\tif [[ $cur == *:* && $COMP_WORDBREAKS == *:* ]]; then\n"
	      "\t\tlocal before=${cur%\"${cur##*:}\"}\n"
	      "\t\tCOMPREPLY=(\"${COMPREPLY[@]#\"$before\"}\")\n"
	      "\tfi\n"
	      "}\n"
	      "complete -o filenames -o bashdefault -F _deepclock deepclock\n",
	      out);
}

/* --- zsh */

/* Escapes text inside '...[HELP]...' of _arguments, where quotes, brackets and colons are syntax.
 * */
static void zsh_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", out);
		else if (strchr("[]:\\", *text))
			fprintf(out, "\\%c", *text);
		else
			fputc(*text, out);
	}
}

static void zsh_option(FILE *out, const dck_opt *row)
{
	const char letter = row->letter;
	const bool flag = row->kind == DCK_OPT_FLAG;

	fputs(" \\\n\t\t\t", out);
	if (letter && row->kind == DCK_OPT_LIST)
		fprintf(out, "'*'{-%c+,--%s=}'[", letter, row->name);
	else if (letter) /* either form may be given, and only once */
		fprintf(out, "'(-%c --%s)'{-%c%s,--%s%s}'[", letter, row->name, letter,
			flag ? "" : "+", row->name, flag ? "" : "=");
	else
		fprintf(out, "'%s--%s%s[", row->kind == DCK_OPT_LIST ? "*" : "", row->name,
			flag ? "" : "=");
	zsh_text(out, row->help);
	fputc(']', out);
	if (!flag) {
		fputc(':', out);
		zsh_text(out, row->arg ? row->arg : "value");
		fputc(':', out);
		if (row->choices) {
			fputc('(', out);
			choices_print(out, row);
			fputc(')', out);
		} else if (takes_file(row)) {
			fputs("_files", out);
		}
	}
	fputc('\'', out);
}

static void zsh_words(FILE *out, const cli_command *command, const cli_command *const *all)
{
	if (!command->words)
		return;
	fprintf(out, " \\\n\t\t\t'*:argument:{ ");
	if (has_action(command)) {
		fprintf(out, "if ((CURRENT > 2)) && [[ $words[2] == %s ]]; then compadd -- ",
			command->words->action);
		follow_print(out, command);
		fputs("; elif ((CURRENT > 2)); then _files; else ", out);
	}
	fputs("_alternative", out);
	if (command->words && command->words->get) {
		const char *word;

		fputs(" \"words:word:(", out);
		for (size_t i = 0; (word = completion_word_get(command, all, i)) != NULL; i++) {
			fputs(i ? " " : "", out);
			/* The colon of zoo:NAME would end the description. */
			for (const char *p = command->words->prefix; *p; p++)
				fprintf(out, *p == ':' ? "\\\\:" : "%c", *p);
			fputs(word, out);
		}
		fputs(")\"", out);
	}
	fputs(takes_files(command) ? " \"files:file:_files\"" : "", out);
	fputs(has_action(command) ? "; fi }'" : " }'", out);
}

static void zsh_write(FILE *out, const cli_command *const *all)
{
	fputs("#compdef deepclock\n"
	      "# SPDX-License-Identifier: Apache-2.0\n"
	      "_deepclock() {\n"
	      "\tlocal -a commands\n"
	      "\tcommands=(\n",
	      out);
	for (size_t i = 0; all[i]; i++) {
		fprintf(out, "\t\t'%s:", all[i]->name);
		zsh_text(out, all[i]->summary);
		fputs("'\n", out);
	}
	fputs("\t)\n"
	      "\tif ((CURRENT == 2)); then\n"
	      "\t\t_describe command commands\n"
	      "\t\treturn\n"
	      "\tfi\n"
	      "\tlocal command=$words[2]\n"
	      "\tshift words\n"
	      "\t((CURRENT--))\n"
	      "\tcase $command in\n",
	      out);
	for (size_t i = 0; all[i]; i++) {
		fprintf(out, "\t%s)\n\t\t_arguments", all[i]->name);
		for (cli_option o = {0}; cli_option_next(all[i], &o);)
			zsh_option(out, o.row);
		zsh_words(out, all[i], all);
		fputs("\n\t\t;;\n", out);
	}
	fputs("\tesac\n"
	      "}\n"
	      "# Loaded from fpath this is the function's first call; sourced it is not.\n"
	      "if [[ $funcstack[1] == _deepclock ]]; then\n"
	      "\t_deepclock \"$@\"\n"
	      "else\n"
	      "\tcompdef _deepclock deepclock\n"
	      "fi\n",
	      out);
}

/* --- fish */

static void fish_text(FILE *out, const char *text)
{
	fputc('\'', out);
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
	fputc('\'', out);
}

static void fish_option(FILE *out, const cli_command *command, const dck_opt *row)
{
	const char letter = row->letter;

	fprintf(out, "complete -c deepclock -n '__fish_seen_subcommand_from %s' -l %s",
		command->name, row->name);
	if (letter)
		fprintf(out, " -s %c", letter);
	if (row->kind != DCK_OPT_FLAG)
		fputs(takes_file(row) ? " -r -F" : " -x", out);
	if (row->choices) {
		fputs(" -a '", out);
		choices_print(out, row);
		fputc('\'', out);
	}
	fputs(" -d ", out);
	fish_text(out, row->help);
	fputc('\n', out);
}

static void fish_write(FILE *out, const cli_command *const *all)
{
	fputs("# fish completion for deepclock\n"
	      "# SPDX-License-Identifier: Apache-2.0\n"
	      "complete -c deepclock -n __fish_use_subcommand -f\n",
	      out);
	for (size_t i = 0; all[i]; i++) {
		const cli_command *command = all[i];

		fprintf(out, "complete -c deepclock -n __fish_use_subcommand -a %s -d ",
			command->name);
		fish_text(out, command->summary);
		fputc('\n', out);
		for (cli_option o = {0}; cli_option_next(command, &o);)
			fish_option(out, command, o.row);
		if (!takes_files(command) && !command->takes_command)
			fprintf(out,
				"complete -c deepclock -n '__fish_seen_subcommand_from %s' -f\n",
				command->name);
		if (command->words && command->words->get) {
			fprintf(out, "complete -c deepclock -n '__fish_seen_subcommand_from %s",
				command->name);
			if (has_action(command)) {
				fputs("; and not __fish_seen_subcommand_from ", out);
				words_print(out, command, all);
			}
			fputs("' -a '", out);
			words_print(out, command, all);
			fputs("'\n", out);
		}
		if (has_action(command)) {
			fprintf(out,
				"complete -c deepclock -n '__fish_seen_subcommand_from %s; and "
				"__fish_seen_subcommand_from %s' -a '",
				command->name, command->words->action);
			follow_print(out, command);
			fputs("'\n", out);
		}
	}
}

static const struct shell {
	const char *name;
	void (*write)(FILE *out, const cli_command *const *all);
} shells[] = {{"bash", bash_write}, {"zsh", zsh_write}, {"fish", fish_write}};

static const char *shell_word(size_t i)
{
	return i < sizeof shells / sizeof shells[0] ? shells[i].name : NULL;
}

static int completion_run(cli *c, void *config)
{
	(void)config;
	for (size_t i = 0; shell_word(i); i++)
		if (strcmp(shells[i].name, c->args[0]) == 0) {
			shells[i].write(stdout, c->commands);
			return CLI_OK;
		}
	return cli_usage(c, "no completion for '%s': there is bash, zsh and fish", c->args[0]);
}

const cli_command cmd_completion = {
    .name = "completion",
    .summary = "write the completion script of a shell",
    .usage = {"SHELL"},
    .about = "Writes a script for bash, zsh or fish that completes commands, options, "
	     "their values and the names of the built-in networks. "
	     "Installing deepclock installs it.",
    .examples = {{"source <(deepclock completion bash)", "in this shell"},
		 {"deepclock completion fish > ~/.config/fish/completions/deepclock.fish",
		  "for good"}},
    .min_args = 1,
    .max_args = 1,
    .arg = "SHELL",
    .words = &(const cli_words){.prefix = "", .get = shell_word},
    .no_result = "it prints a script for a shell: redirect it into a file",
    .run = completion_run,
};
