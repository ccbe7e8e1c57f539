/* subjects.c - the subjects of a command line.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"
#include <string.h>

const cli_item cli_model_items[] = {
    {"model.onnx", "a model from a file"},
    {"zoo:NAME", "a built-in network ('deepclock zoo' lists them)"},
    {0},
};

const cli_item cli_subject_items[] = {
    {"model.onnx", "a model from a file"},
    {"zoo:NAME", "a built-in network ('deepclock zoo' lists them)"},
    {"cmd:'PROGRAM ARG...'", "any program, in one word; quotes in it are respected, no shell"},
    {"plugin:FILE.so", "an engine plug-in that brings its own workload"},
    {"-- PROGRAM ARG...", "any program with its arguments"},
    {0},
};

int cli_subject_check(const cli *c, const dck_subject *s)
{
	dck_err err;

	return dck_subject_check(s, c->title, &err) == DCK_OK ? CLI_OK : cli_failed(&err);
}

static void program_take(const cli *c, dck_subject *s)
{
	s->kind = DCK_SUBJECT_COMMAND;
	s->argv = c->program;
}

int cli_subject_read(cli *c)
{
	if (c->program) {
		program_take(c, &c->subject);
		return CLI_OK;
	}
	if (c->nargs == 0)
		return cli_usage(c,
				 "%s needs a %s: a model file, zoo:NAME, plugin:FILE.so, "
				 "cmd:PROGRAM, or -- PROGRAM",
				 c->command->name, c->command->arg);
	return cli_subject_parse(c, c->args[0], &c->subject, &c->owned);
}

int cli_subject_open(cli *c)
{
	const int code = cli_subject_read(c);

	/* The process that started a worker has checked the subject. */
	return code == CLI_OK && c->worker.fd == 0 ? cli_subject_check(c, &c->subject) : code;
}

/* Of a longer text the name has the ends, which distinguish paths. */
enum { NAME_HEAD = 40, NAME_TAIL = 90 };

static void subjects_name_cut(const char *text, char *buf, size_t size)
{
	const size_t n = strlen(text);

	if (n <= NAME_HEAD + NAME_TAIL) {
		snprintf(buf, size, "%s", text);
		return;
	}
	const char *tail = text + n - NAME_TAIL;
	size_t head = NAME_HEAD;

	/* No character is cut. */
	while (head > 0 && ((unsigned char)text[head] & 0xc0) == 0x80)
		head--;
	while (((unsigned char)*tail & 0xc0) == 0x80)
		tail++;
	snprintf(buf, size, "%.*s..%s", (int)head, text, tail);
}

/* A name that an earlier subject has gets a number, "NAME (2)". */
static void subjects_name_make(cli_subjects *s, const cli *c, size_t i)
{
	char name[sizeof s->name[i]], other[sizeof name];
	size_t same = 0;

	subjects_name_cut(c->args[i], name, sizeof name);
	for (size_t k = 0; k < i; k++) {
		subjects_name_cut(c->args[k], other, sizeof other);
		same += strcmp(other, name) == 0;
	}
	if (same > 0)
		snprintf(s->name[i], sizeof s->name[i], "%.140s (%zu)", name, same + 1);
	else
		memcpy(s->name[i], name, sizeof name);
}

int cli_subjects_read(const cli *c, cli_subjects *s)
{
	int code;

	if (c->program) {
		s->of[0] = c->subject;
		program_take(c, &s->of[0]);
		cli_quote_words(c->program, s->name[0], sizeof s->name[0]);
		s->all[s->n++] = (dck_alternative){s->name[0], &s->of[0]};
		return CLI_OK;
	}
	if (c->nargs > DCK_ALTERNATIVES_MAX)
		return cli_usage(c, "%s takes at most %d subjects", c->command->name,
				 DCK_ALTERNATIVES_MAX);
	for (; s->n < c->nargs; s->n++) {
		s->of[s->n] = c->subject;
		code = cli_subject_parse(c, c->args[s->n], &s->of[s->n], &s->owned[s->n]);
		if (code != CLI_OK)
			return code;
		subjects_name_make(s, c, s->n);
		s->all[s->n] = (dck_alternative){s->name[s->n], &s->of[s->n]};
	}
	return CLI_OK;
}

const dck_opt cli_scan_options[] = {
    DCK_OPTION(LIST, cli_scan, scan, "scan", "NAME=VALUES", NULL,
	       "each {NAME} in a program's words becomes each value: 1..8, 0..1:0.25 or a,b,c; "
	       "repeated: all combinations",
	       .excludes = "vary modes"),
    {0},
};

int cli_subjects_scan(const cli *c, cli_subjects *s)
{
	dck_err err;

	if (c->scan.scan.n == 0)
		return CLI_OK;
	if (dck_alternatives_scan(s->of, s->n, &c->scan.scan, &s->scanned, &s->n, &err) != DCK_OK)
		return cli_failed(&err);
	memcpy(s->all, s->scanned, s->n * sizeof s->all[0]);
	return CLI_OK;
}

void cli_subjects_free(cli_subjects *s)
{
	dck_free(s->scanned);
	for (size_t i = 0; i < DCK_ALTERNATIVES_MAX; i++)
		dck_free(s->owned[i]);
}
