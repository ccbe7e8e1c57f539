/* SPDX-License-Identifier: Apache-2.0 */
/* The table of names from other tools, against the options of all commands. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/commands.h"
#include "cli/hints.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

typedef struct search {
	const char *name;
	size_t n;
	bool found;
} search;

static void look(void *self, const cli_group *g, const dck_opt *row)
{
	search *s = self;

	(void)g;
	s->found |= strlen(row->name) == s->n && strncmp(row->name, s->name, s->n) == 0;
}

static bool command_has(const cli_command *command, const char *name, size_t n)
{
	search s = {.name = name, .n = n};

	cli_options_each(command, look, &s);
	return s.found;
}

static bool any_has(const char *name, size_t n)
{
	for (size_t i = 0; cli_commands[i]; i++)
		if (command_has(cli_commands[i], name, n))
			return true;
	return false;
}

static size_t name_length(const char *name)
{
	return strspn(name, "abcdefghijklmnopqrstuvwxyz-");
}

/* What the program says on stderr. */
static int said(const cli_command *command, const char *word, const char *value, char *buf,
		size_t size)
{
	const cli c = {.command = command};
	FILE *file = tmpfile();
	const int kept = dup(STDERR_FILENO);
	int code;

	assert_non_null(file);
	fflush(stderr);
	dup2(fileno(file), STDERR_FILENO);
	code = cli_hint_option(&c, "--", word, value);
	fflush(stderr);
	dup2(kept, STDERR_FILENO);
	close(kept);
	rewind(file);
	buf[fread(buf, 1, size - 1, file)] = '\0';
	fclose(file);
	return code;
}

static void every_name_is_an_option(void **state)
{
	(void)state;
	for (const cli_hint *h = cli_hints; h->word; h++) {
		assert_true(h->ours[0] || h->say);
		for (size_t i = 0; i < HINT_OURS_MAX && h->ours[i]; i++)
			if (!any_has(h->ours[i], strlen(h->ours[i])))
				fail_msg("'%s': no command has --%s", h->word, h->ours[i]);
		for (const char *at = h->say; at && (at = strstr(at, "--")); at += 2)
			if (!any_has(at + 2, name_length(at + 2)))
				fail_msg("'%s': no command has %s", h->word, at);
	}
}

static void no_row_hides_another(void **state)
{
	(void)state;
	for (const cli_hint *h = cli_hints; h->word; h++)
		for (const cli_hint *k = cli_hints; k != h; k++) {
			char a[64] = "", b[64] = "";
			size_t na = 0, nb = 0;

			for (const char *p = h->word; *p; p++)
				if (*p != '-')
					a[na++] = *p;
			for (const char *p = k->word; *p; p++)
				if (*p != '-')
					b[nb++] = *p;
			if (strcmp(a, b) == 0)
				fail_msg("'%s' and '%s' are one word", h->word, k->word);
		}
}

/* In every command every row: what is named is there, in this command or in the one it says. */
static void only_what_a_command_has_is_named(void **state)
{
	static const char here[] = "here it is --", as[] = "has it as --";
	size_t named = 0;

	(void)state;
	for (size_t i = 0; cli_commands[i]; i++)
		for (const cli_hint *h = cli_hints; h->word; h++) {
			char text[1024], other[64];
			const char *at, *has;

			assert_int_equal(
			    said(cli_commands[i], h->word, "x.onnx", text, sizeof text), CLI_USAGE);
			at = strstr(text, here);
			if (at && !command_has(cli_commands[i], at + strlen(here),
					       name_length(at + strlen(here))))
				fail_msg("%s: %s", cli_commands[i]->name, text);
			named += at != NULL;
			has = strstr(text, as);
			if (!has)
				continue;
			at = strstr(text, "'deepclock ") + strlen("'deepclock ");
			snprintf(other, sizeof other, "%.*s", (int)name_length(at), at);
			assert_non_null(cli_command_find(other));
			if (!command_has(cli_command_find(other), has + strlen(as),
					 name_length(has + strlen(as))))
				fail_msg("%s: %s", cli_commands[i]->name, text);
		}
	assert_true(named > 500);
}

/* The letters are options, and each stands for one. */
static void letters_are_options(void **state)
{
	(void)state;
	for (const cli_letter *l = cli_letters; l->letter; l++) {
		assert_true(any_has(l->name, strlen(l->name)));
		assert_int_equal(cli_letter_of(l->name), l->letter);
		for (const cli_letter *k = cli_letters; k != l; k++)
			assert_true(k->letter != l->letter && strcmp(k->name, l->name) != 0);
	}
}

static void typing_does_not_matter(void **state)
{
	static const char *const ways[] = {"num-runs", "num_runs", "numRuns", "NUM_RUNS",
					   "numruns"};
	char text[1024];

	(void)state;
	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
		said(cli_command_find("bench"), ways[i], NULL, text, sizeof text);
		assert_non_null(strstr(text, "here it is --runs\n"));
	}
	said(cli_command_find("bench"), "MAX_Time", NULL, text, sizeof text);
	assert_non_null(strstr(text, "here it is --max-time\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_name_is_an_option),
	    cmocka_unit_test(no_row_hides_another),
	    cmocka_unit_test(only_what_a_command_has_is_named),
	    cmocka_unit_test(letters_are_options),
	    cmocka_unit_test(typing_does_not_matter),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
