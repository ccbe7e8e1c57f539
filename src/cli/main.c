/* main.c - finds the command, reads its options, runs it. The only place that exits.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands/commands.h"
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Options that people try where a command belongs. */
static const struct alias {
	const char *word, *command;
} command_aliases[] = {
    {"--help", "help"}, {"-h", "help"}, {"--version", "version"}, {"-V", "version"}};

static const char *alias_resolve(const char *word)
{
	for (size_t i = 0; i < sizeof command_aliases / sizeof command_aliases[0]; i++)
		if (strcmp(command_aliases[i].word, word) == 0)
			return command_aliases[i].command;
	return word;
}

static int unknown_command(const char *word)
{
	const char *names[64];
	const char *nearest;
	size_t n = 0;

	if (word[0] == '-')
		return cli_usage(
		    NULL,
		    "unknown option '%s'; a command comes first, as in: deepclock bench model.onnx",
		    word);
	/* A word like a file or zoo:NAME is a subject without a command. */
	if (strpbrk(word, "./:") && !cli_is_program(word))
		return cli_usage(NULL, "unknown command '%s'; did you mean 'deepclock bench %s'?",
				 word, word);
	for (; cli_commands[n] && n < 64; n++)
		names[n] = cli_commands[n]->name;
	nearest = dck_nearest(word, names, n);
	if (nearest)
		return cli_usage(NULL, "unknown command '%s'; did you mean '%s'?", word, nearest);
	if (cli_is_program(word))
		return cli_usage(NULL,
				 "unknown command '%s'; did you mean 'deepclock bench -- %s'?",
				 word, word);
	return cli_usage(NULL, "unknown command '%s'", word);
}

/* The title is part of the record: words that are addresses of a history lose their passwords. */
static void main_title_quote(const cli *c, char *buf, size_t size)
{
	static const char db[] = "--db=";
	char **words = calloc((size_t)c->argc + 1, sizeof *words);

	for (int i = 1; words && i < c->argc; i++) {
		const size_t n = strncmp(c->argv[i], db, sizeof db - 1) == 0 ? sizeof db - 1 : 0;

		words[i] = strdup(c->argv[i]);
		if (words[i] && dck_history_is_server(words[i] + n))
			dck_history_shown(c->argv[i] + n, words[i] + n, strlen(words[i] + n) + 1);
	}
	if (words)
		cli_quote_words(words + 1, buf, size);
	for (int i = 1; words && i < c->argc; i++)
		free(words[i]);
	free(words);
}

static int main_command_run(cli *c)
{
	static const char *const of_operators[] = {"by", "sort", "top"};
	cli_format *format = &c->format;
	const int n = snprintf(c->title, sizeof c->title, "deepclock ");
	dck_style style;
	dck_err err;
	int code;

	main_title_quote(c, c->title + n, sizeof c->title - (size_t)n);
	dck_subject_init(&c->subject);
	code = cli_parse(c, 2);
	if (code != CLI_OK)
		return code;
	if (c->common.help) {
		style = cli_style(&c->common, STDOUT_FILENO);
		cli_help_command(stdout, c->command, &style);
		return CLI_OK;
	}
	if (c->common.version) {
		printf("deepclock %s\n", DCK_VERSION);
		return CLI_OK;
	}
	const char *out = format->out ? format->out : format->profile;
	if (out && !cli_given(c, "format"))
		format->format = cli_format_by_ending(out, format->format);
	if (c->output.per && format->format != CLI_CSV)
		return cli_usage(c, "--per run is a table for other programs: add --format csv");
	for (size_t i = 0; c->output.per && i < sizeof of_operators / sizeof *of_operators; i++)
		if (cli_given(c, of_operators[i]))
			return cli_usage(c,
					 "--per run has the runs, and --%s selects operators: "
					 "give one of them",
					 of_operators[i]);
	if (format->out && cli_stdout_open(format->out, &err) != DCK_OK)
		return cli_failed(&err);
	code = cli_save_check(c);
	return code == CLI_OK ? c->command->run(c, c->config) : code;
}

/* The intended exit status. Other code may call exit() with a different status. */
static struct {
	pid_t pid;
	volatile bool decided;
	int code;
} exit_intended;

/* A library or a plug-in may call exit(0), which would pass every gate. atexit() functions run in
 * reverse order, so the first registered function runs last.
 */
static void main_on_end(int code, void *unused)
{
	(void)unused;
	if (getpid() != exit_intended.pid) /* a child's status is read by its parent */
		return;
	if (exit_intended.decided && code == exit_intended.code)
		return;
	if (!exit_intended.decided) {
		cli_stdout_drop();
		cli_message("the engine, or a library that it loaded, "
			    "ended the program before the command was done: nothing of it counts");
	}
	_exit(exit_intended.decided ? exit_intended.code : CLI_FAILED);
}

static void on_quick_end(void)
{
	main_on_end(CLI_OK, NULL);
}

static int program(int argc, char **argv)
{
	cli c = {.argc = argc, .argv = argv, .commands = cli_commands};
	cli_common common = {0};
	dck_style style;
	int code;

	cli_signals_begin();
	setlocale(LC_CTYPE, "");
	if (argc < 2) {
		style = cli_style(&common, STDERR_FILENO);
		cli_help_short(stderr, &style);
		return CLI_USAGE;
	}
	c.command = cli_command_find(cli_commands, alias_resolve(argv[1]));
	if (!c.command)
		return unknown_command(argv[1]);
	c.config = calloc(1, c.command->config_size + 1); /* of a size 0 calloc() may give NULL */
	c.args = calloc((size_t)argc, sizeof *c.args);
	for (size_t i = 0; c.config && i < sizeof c.command->sized / sizeof *c.command->sized; i++)
		if (c.command->sized[i].size > 0)
			memcpy((char *)c.config + c.command->sized[i].at, &c.command->sized[i].size,
			       sizeof c.command->sized[i].size);
	if (c.config && c.command->config_init)
		c.command->config_init(c.config);
	code = c.config && c.args ? main_command_run(&c) : cli_no_memory();
	dck_free(c.owned);
	dck_timeline_done(&c.timeline);
	free(c.args);
	free(c.config);
	return cli_stdout_close(code);
}

int main(int argc, char **argv)
{
	exit_intended.pid = getpid();
	if (on_exit(main_on_end, NULL) != 0 || at_quick_exit(on_quick_end) != 0)
		return cli_no_memory();
	exit_intended.code = program(argc, argv);
	exit_intended.decided = true;
	/* A forked copy must not run this process's cleanup, because a library may hang in it
	 * too. */
	if (getpid() != exit_intended.pid)
		_exit(exit_intended.code);
	return exit_intended.code;
}
