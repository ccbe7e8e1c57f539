/* cmd_man.c - deepclock man DIR: generates the manual pages, in roff, from the command descriptors.
 *
 * page_program() writes deepclock.1, page_command() one page for each command, from the tables that
 * also drive parsing and help. Only macros of man(7) are used, so that groff and mandoc both format
 * the pages.
 *
 * roff() escapes text: '-' becomes \-, a backslash \e, and a '.' or apostrophe at the start of a
 * line gets \& before it, because roff would execute it as a request; an empty line becomes .PP.
 *
 * Each page is a temporary file that is renamed when it is complete (cli_file_commit()); the first
 * failure ends the command. stdio writes through a duplicate of the descriptor, so that fclose()
 * reports write errors and the file can still be synced and renamed.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

static void roff(FILE *out, const char *text)
{
	bool line_begins = true;

	for (; *text; text++) {
		if (line_begins && (*text == '.' || *text == '\''))
			fputs("\\&", out);
		line_begins = *text == '\n';
		if (*text == '-')
			fputs("\\-", out);
		else if (*text == '\\')
			fputs("\\e", out);
		else if (strncmp(text, "\n\n", 2) == 0)
			fputs("\n.PP\n", out), text++;
		else
			fputc(*text, out);
	}
}

static void roff_line(FILE *out, const char *before, const char *text, const char *after)
{
	fputs(before, out);
	roff(out, text);
	fputs(after, out);
}

static void upper(const char *text, char *buf, size_t size)
{
	size_t n = 0;

	for (; text[n] && n + 1 < size; n++)
		buf[n] = (char)toupper((unsigned char)text[n]);
	buf[n] = 0;
}

static void head(FILE *out, const char *name, const char *summary)
{
	char title[64];

	upper(name, title, sizeof title);
	fputs(".\\\" SPDX-License-Identifier: Apache-2.0\n", out);
	fputs(".TH ", out);
	roff(out, title);
	fprintf(out, " 1 \"\" \"deepclock %s\" \"deepclock manual\"\n.SH NAME\n", DCK_VERSION);
	roff(out, name);
	roff_line(out, " \\- ", summary, "\n");
}

static void items(FILE *out, const char *title, const cli_item *list)
{
	char name[64];

	upper(title, name, sizeof name);
	fprintf(out, ".SH %s\n", name);
	for (const cli_item *i = list; i->term; i++) {
		fputs(".TP\n.B ", out);
		roff_line(out, "", i->term, "\n");
		roff_line(out, "", i->text, "\n");
	}
}

static void man_options(FILE *out, const cli_command *command)
{
	const char *title = NULL;
	char text[512];

	fputs(".SH OPTIONS\n", out);
	for (cli_option o = {0}; cli_option_next(command, &o); title = o.group.title) {
		if (title != o.group.title)
			fprintf(out, ".SS %s\n", o.group.title);
		fputs(".TP\n", out);
		if (o.row->letter)
			fprintf(out, "\\fB\\-%c\\fR, ", o.row->letter);
		roff_line(out, "\\fB\\-\\-", o.row->name, "\\fR");
		if (o.row->arg)
			roff_line(out, " \\fI", o.row->arg, "\\fR");
		cli_option_text(o.row, text, sizeof text);
		roff_line(out, "\n", text, "\n");
	}
}

static void page_command(FILE *out, const cli_command *command)
{
	char name[64];

	snprintf(name, sizeof name, "deepclock-%s", command->name);
	head(out, name, command->summary);
	fputs(".SH SYNOPSIS\n.nf\n", out);
	for (size_t i = 0; command->usage[i]; i++) {
		roff_line(out, "\\fBdeepclock ", command->name, "\\fR ");
		roff_line(out, "", command->usage[i], "\n");
	}
	fputs(".fi\n", out);
	roff_line(out, ".SH DESCRIPTION\n", command->about, "\n");
	for (const cli_section *s = command->sections; s->title; s++)
		items(out, s->title, s->items);
	man_options(out, command);
	items(out, "exit status", cli_exit_codes);
	items(out, "examples", command->examples);
	fputs(".SH SEE ALSO\n.BR deepclock (1)\n", out);
}

static void page_program(FILE *out, const cli_command *const *all)
{
	head(out, "deepclock",
	     "measure how fast a deep-learning model runs, and show how sure that is");
	fputs(".SH SYNOPSIS\n.B deepclock\n.I COMMAND\n[\\fIOPTION\\fR]... [\\fISUBJECT\\fR]...\n",
	      out);
	roff_line(out, ".SH DESCRIPTION\n",
		  "deepclock runs a model or a program repeatedly and reports the time of one "
		  "run: warm-up until the run is steady, an interval for every number, and a note "
		  "on everything that makes it doubtful.\n\nThe result goes to standard output "
		  "and nothing else does; progress, warnings and errors go to standard error.",
		  "\n");
	fputs(".SH COMMANDS\n", out);
	for (size_t i = 0; all[i]; i++) {
		roff_line(out, ".TP\n.B ", all[i]->name, "\n");
		roff_line(out, "", all[i]->summary, "\n");
	}
	items(out, "exit status", cli_exit_codes);
	fputs(".SH ENVIRONMENT\n"
	      ".TP\n.B DEEPCLOCK_ORT\n"
	      "The library of ONNX Runtime; the option \\-\\-engine\\-lib comes first.\n"
	      ".TP\n.B NO_COLOR\nWhen set and not empty: no colours, unless \\-\\-colour always.\n"
	      ".TP\n.B COLUMNS\nThe width of texts when standard output is not a terminal.\n"
	      ".SH SEE ALSO\n",
	      out);
	for (size_t i = 0; all[i]; i++) {
		roff_line(out, ".BR deepclock\\-", all[i]->name, " (1)");
		fputs(all[i + 1] ? " ,\n" : "\n", out);
	}
}

/* Writes the page of a command, or with NULL the page of the program. */
static int page_save(const cli *c, const cli_command *command)
{
	char path[PATH_MAX];
	FILE *out;
	cli_file f;
	dck_err err;
	bool failed;
	int fd;

	if ((size_t)snprintf(path, sizeof path, "%s/deepclock%s%s.1", c->args[0],
			     command ? "-" : "", command ? command->name : "") >= sizeof path) {
		cli_message("the name '%.60s...' is too long", c->args[0]);
		return CLI_FAILED;
	}
	if (cli_file_open(&f, path, &err) != DCK_OK)
		return cli_failed(&err);
	fd = dup(f.fd);
	out = fd < 0 ? NULL : fdopen(fd, "w");
	if (!out) {
		cli_message("cannot write '%s': %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		cli_file_abort(&f);
		return CLI_FAILED;
	}
	if (command)
		page_command(out, command);
	else
		page_program(out, c->commands);
	failed = ferror(out);
	if (fclose(out) != 0 || failed) {
		cli_message("cannot write '%s': %s", path, strerror(errno));
		cli_file_abort(&f);
		return CLI_FAILED;
	}
	return cli_file_commit(&f, &err) == DCK_OK ? CLI_OK : cli_failed(&err);
}

static int man_run(cli *c, void *config)
{
	dck_err err;
	int code;

	(void)config;
	if (cli_directory_make(c->args[0], 0777, &err) != DCK_OK)
		return cli_failed(&err);
	code = page_save(c, NULL);
	for (size_t i = 0; c->commands[i] && code == CLI_OK; i++)
		code = page_save(c, c->commands[i]);
	return code;
}

const cli_command cmd_man = {
    .name = "man",
    .summary = "write the manual pages into a directory",
    .usage = {"DIR"},
    .about = "Writes deepclock.1 and one page for each command into DIR, which is made where "
	     "it is missing. Installing deepclock does this.",
    .examples = {{"deepclock man pages && man pages/deepclock-bench.1",
		  "write the pages, and read one"}},
    .min_args = 1,
    .max_args = 1,
    .arg = "DIR",
    .words = &(const cli_words){.files = true},
    .no_result = "it writes files into DIR, and prints nothing",
    .run = man_run,
};
