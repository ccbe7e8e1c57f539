/* help.c - help texts, generated from the command descriptors and the option tables.
 *
 * The layout has two columns: item() prints a term at MARGIN and its explanation at `column`,
 * wrapped by cli_wrap(); a term that reaches the column gets a line for itself. Options, metrics
 * and notes use the column COLUMN; a section uses the narrowest column that fits its terms, at most
 * COLUMN. Lines are as wide as the terminal, within 40 and WIDEST columns. Widths are counted in
 * code points (cli_columns()).
 *
 * The same rows make the manual pages (cmd_man.c) and the completion (cmd_completion.c);
 * cli_option_text() adds choices and default to the help of an option, for this file and for the
 * manual pages. All text comes from const tables; text that exceeds a fixed buffer is cut.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"
#include <string.h>

#define MARGIN 2u
#define COLUMN 26u  /* where explanations begin */
#define WIDEST 100u /* longer lines are hard to read, however wide the terminal */

const cli_item cli_exit_codes[] = {
#define X(name, value, text) {#value, text},
    DCK_EXIT_MAP(X)
#undef X
	{0},
};

static void choices_text(const dck_opt *row, char *buf, size_t size)
{
	size_t used = 0;

	*buf = 0;
	for (size_t i = 0; row->choices && row->choices[i] && used < size; i++) {
		const char *before = i == 0 ? ": " : row->choices[i + 1] ? ", " : " or ";
		int n = snprintf(buf + used, size - used, "%s%s", before, row->choices[i]);

		used += n > 0 ? (size_t)n : 0;
	}
}

void cli_option_text(const dck_opt *row, char *buf, size_t size)
{
	char choices[400];

	choices_text(row, choices, sizeof choices);
	if (row->def && row->kind != DCK_OPT_FLAG && *row->def)
		snprintf(buf, size, "%s%s (default: %s)", row->help, choices, row->def);
	else
		snprintf(buf, size, "%s%s", row->help, choices);
}

static unsigned help_width(const dck_style *style)
{
	unsigned width = style->width ? style->width : 80;

	return width > WIDEST ? WIDEST : width < 40 ? 40 : width;
}

static void title(FILE *out, const dck_style *style, const char *text)
{
	fprintf(out, style->colour ? "\n\033[1m%s:\033[0m\n" : "\n%s:\n", text);
}

static void item(FILE *out, const dck_style *style, const char *term, const char *text,
		 unsigned column)
{
	unsigned at = MARGIN + cli_columns(term);

	cli_pad(out, 0, MARGIN);
	fprintf(out, style->colour ? "\033[36m%s\033[0m" : "%s", term);
	if (at + 2 > column) {
		fputc('\n', out);
		at = 0;
	}
	cli_pad(out, at, column);
	cli_wrap(out, text, column, column, help_width(style));
}

static unsigned items_column(const cli_item *items)
{
	unsigned column = 0;

	for (const cli_item *i = items; i->term; i++) {
		unsigned n = MARGIN + cli_columns(i->term) + 2;

		column = n > column ? n : column;
	}
	return column > COLUMN ? COLUMN : column;
}

static void section(FILE *out, const dck_style *style, const char *name, const cli_item *items)
{
	title(out, style, name);
	for (const cli_item *i = items; i->term; i++)
		item(out, style, i->term, i->text, items_column(items));
}

static void help_options(FILE *out, const dck_style *style, const cli_command *command)
{
	const char *group = NULL;
	char term[96], text[700];

	for (cli_option o = {0}; cli_option_next(command, &o); group = o.group.title) {
		const dck_opt *row = o.row;

		if (group != o.group.title)
			title(out, style, o.group.title);
		snprintf(term, sizeof term, "%s%.1s%s--%s%s%s", row->letter ? "-" : "",
			 &row->letter, row->letter ? ", " : "", row->name, row->arg ? " " : "",
			 row->arg ? row->arg : "");
		cli_option_text(row, text, sizeof text);
		item(out, style, term, text, COLUMN);
	}
}

static void cli_examples(FILE *out, const dck_style *style, const cli_item *items)
{
	title(out, style, "Examples");
	for (const cli_item *i = items; i->term; i++) {
		fprintf(out, "  %s\n", i->term);
		cli_pad(out, 0, 6);
		cli_wrap(out, i->text, 6, 6, help_width(style));
	}
}

void cli_help_command(FILE *out, const cli_command *command, const dck_style *style)
{
	for (size_t i = 0; command->usage[i]; i++)
		fprintf(out, "%s deepclock %s%s%s\n", i ? "      " : "Usage:", command->name,
			*command->usage[i] ? " " : "", command->usage[i]);
	fputc('\n', out);
	cli_wrap(out, command->about, 0, 0, help_width(style));
	for (const cli_section *s = command->sections; s->title; s++)
		section(out, style, s->title, s->items);
	help_options(out, style, command);
	cli_examples(out, style, command->examples);
}

void cli_help_metrics(FILE *out, const dck_style *style)
{
	static const char *const better[] = {
	    [DCK_BETTER_NEITHER] = "",
	    [DCK_BETTER_LOWER] = "; less is better",
	    [DCK_BETTER_HIGHER] = "; more is better",
	};
	size_t n;
	const dck_metric_def *defs = dck_metric_defs(&n);

	fputs("The metrics of a record by their tags, with their units. '*' is any text.\n\n", out);
	for (size_t i = 0; i < n; i++) {
		char text[256];

		snprintf(text, sizeof text, "%s (%s%s)", defs[i].help, dck_unit_text(defs[i].unit),
			 better[defs[i].better]);
		item(out, style, defs[i].tag, text, COLUMN);
	}
}

static const char help_usage[] = "Usage: deepclock COMMAND [OPTION]... [SUBJECT]...\n\n";

void cli_help_short(FILE *out, const dck_style *style)
{
	static const cli_item first[] = {
	    {"deepclock bench model.onnx", "how long one run takes; zoo:resnet18 is built in"},
	    {"deepclock compare a.onnx b.onnx", "which of two models is faster"},
	    {"deepclock profile model.onnx", "which operators take the time"},
	    {"deepclock cost model.onnx", "MACs, FLOPs, parameters, bytes"},
	    {"deepclock bench -- ./program", "how long any program takes"},
	    {"deepclock sample -- ./program", "where a program's time goes"},
	    {0},
	};

	fputs(help_usage, out);
	cli_wrap(out, "deepclock measures how fast deep-learning models run and where time goes.",
		 0, 0, help_width(style));
	fputc('\n', out);
	for (const cli_item *i = first; i->term; i++)
		item(out, style, i->term, i->text, 36);
	fputs("\nall commands: deepclock --help; one: deepclock COMMAND --help\n", out);
}

void cli_help_all(FILE *out, const cli_command *const *all, const dck_style *style)
{
	static const cli_item help_examples[] = {
	    {"deepclock bench zoo:resnet18", "time a built-in network"},
	    {"deepclock bench model.onnx --batch 8 --save run.json",
	     "time a model from a file, keep the record"},
	    {"deepclock bench -- ./program --flag", "time any program"},
	    {0},
	};

	fputs(help_usage, out);
	cli_wrap(out,
		 "deepclock measures how fast a deep-learning model runs: warm-up until the run "
		 "is steady, an interval for every number, and a note on everything that makes it "
		 "doubtful.",
		 0, 0, help_width(style));
	title(out, style, "Commands");
	for (size_t i = 0; all[i]; i++)
		item(out, style, all[i]->name, all[i]->summary, 14);
	cli_examples(out, style, help_examples);
	section(out, style, "Exit status", cli_exit_codes);
	fputs("\n'deepclock COMMAND --help' shows the options of one command.\n", out);
}

void cli_help_notes(FILE *out, const dck_style *style)
{
	size_t n;
	const dck_note_def *defs = dck_note_defs(&n);

	fputs("The notes of a record by their codes: when each is written, and what to do.\n\n",
	      out);
	for (size_t i = 0; i < n; i++) {
		char text[512];

		snprintf(text, sizeof text, "%s: %s%s%s", dck_severity_text(defs[i].severity),
			 defs[i].when, defs[i].remedy[0] ? "; " : "", defs[i].remedy);
		item(out, style, defs[i].code, text, COLUMN);
	}
}
