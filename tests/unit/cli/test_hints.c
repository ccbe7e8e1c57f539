/* SPDX-License-Identifier: Apache-2.0 */
/* The table of names from other tools, checked against the options of all commands. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/commands/commands.h"
#include "cli/hints.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

static bool command_has(const cli_command *command, const char *name, size_t n)
{
	for (cli_option o = {0}; cli_option_next(command, &o);)
		if (strlen(o.row->name) == n && strncmp(o.row->name, name, n) == 0)
			return true;
	return false;
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

/* Writes the hint that goes to stderr into buf; returns the exit code. */
static int said(const cli_command *command, const char *word, const char *value, char *buf,
		size_t size)
{
	const cli c = {.command = command, .commands = cli_commands};
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
	for (const cli_hint *h = cli_hints; h->words[0]; h++) {
		assert_true(h->ours[0] || h->say);
		for (size_t i = 0; h->ours[i]; i++)
			if (!any_has(h->ours[i], strlen(h->ours[i])))
				fail_msg("'%s': no command has --%s", h->words[0], h->ours[i]);
		for (const char *at = h->say; at && (at = strstr(at, "--")); at += 2)
			if (!any_has(at + 2, name_length(at + 2)))
				fail_msg("'%s': no command has %s", h->words[0], at);
	}
}

/* Strips the dashes. */
static void word_bare(const char *word, char *buf, size_t size)
{
	size_t n = 0;

	for (; *word && n + 1 < size; word++)
		if (*word != '-')
			buf[n++] = *word;
	buf[n] = '\0';
}

static void no_word_hides_another(void **state)
{
	static char words[512][64];
	size_t n = 0;

	(void)state;
	for (const cli_hint *h = cli_hints; h->words[0]; h++)
		for (size_t i = 0; h->words[i]; i++, n++) {
			assert_true(n < 512);
			word_bare(h->words[i], words[n], sizeof words[n]);
			for (size_t k = 0; k < n; k++)
				if (strcmp(words[k], words[n]) == 0)
					fail_msg("'%s' is there twice", h->words[i]);
		}
	assert_true(n > 200);
}

/* Checks that each option named exists, in this command or in the one that the message names.
 * Returns the number of names in this command. */
static size_t word_check(const cli_command *command, const char *word)
{
	static const char here[] = "here it is --", as[] = "has it as --";
	char text[1024], other[64];
	const char *at, *has;
	size_t named;

	assert_int_equal(said(command, word, "x.onnx", text, sizeof text), CLI_USAGE);
	at = strstr(text, here);
	if (at && !command_has(command, at + strlen(here), name_length(at + strlen(here))))
		fail_msg("%s: %s", command->name, text);
	named = at != NULL;
	has = strstr(text, as);
	if (!has)
		return named;
	at = strstr(text, "'deepclock ") + strlen("'deepclock ");
	snprintf(other, sizeof other, "%.*s", (int)name_length(at), at);
	assert_non_null(cli_command_find(cli_commands, other));
	if (!command_has(cli_command_find(cli_commands, other), has + strlen(as),
			 name_length(has + strlen(as))))
		fail_msg("%s: %s", command->name, text);
	return named;
}

static void only_what_a_command_has_is_named(void **state)
{
	size_t named = 0;

	(void)state;
	for (size_t i = 0; cli_commands[i]; i++)
		for (const cli_hint *h = cli_hints; h->words[0]; h++)
			for (size_t k = 0; h->words[k]; k++)
				named += word_check(cli_commands[i], h->words[k]);
	assert_true(named > 500);
}

/* One letter per name and one name per letter, in all commands. */
static void letters_are_alike_everywhere(void **state)
{
	const char *name_of[128] = {NULL};
	size_t letters = 0;

	(void)state;
	for (size_t i = 0; cli_commands[i]; i++)
		for (cli_option o = {0}; cli_option_next(cli_commands[i], &o);)
			if (o.row->letter) {
				const char **name = &name_of[o.row->letter & 127];

				letters += !*name;
				*name = *name ? *name : o.row->name;
				assert_string_equal(*name, o.row->name);
			}
	assert_int_equal(letters, 12);
	for (size_t i = 0; cli_commands[i]; i++)
		for (cli_option o = {0}; cli_option_next(cli_commands[i], &o);)
			for (int k = 0; k < 128; k++)
				/* sample's --threads has another meaning: it takes no number. */
				if (name_of[k] && strcmp(name_of[k], o.row->name) == 0 &&
				    o.row->kind != DCK_OPT_FLAG)
					assert_int_equal(o.row->letter, k);
}

/* Each option that a row needs or excludes is an option of the same command. */
static void rules_name_options(void **state)
{
	size_t rules = 0;

	(void)state;
	for (size_t i = 0; cli_commands[i]; i++)
		for (cli_option o = {0}; cli_option_next(cli_commands[i], &o);) {
			const char *both[] = {o.row->needs, o.row->excludes};

			for (size_t k = 0; k < 2; k++)
				for (const char *at = both[k]; at && *at; rules++) {
					const size_t n = strcspn(at, " =");

					if (!any_has(at, n) ||
					    (k == 0 && !command_has(cli_commands[i], at, n)))
						fail_msg("%s --%s: '%s' is no option",
							 cli_commands[i]->name, o.row->name, at);
					at += strcspn(at, " ");
					at += *at == ' ';
				}
		}
	assert_true(rules > 20);
}

static void typing_does_not_matter(void **state)
{
	static const char *const ways[] = {"num-runs", "num_runs", "numRuns", "NUM_RUNS",
					   "numruns"};
	char text[1024];

	(void)state;
	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
		said(cli_command_find(cli_commands, "bench"), ways[i], NULL, text, sizeof text);
		assert_non_null(strstr(text, "here it is --runs\n"));
	}
	said(cli_command_find(cli_commands, "bench"), "MAX_Time", NULL, text, sizeof text);
	assert_non_null(strstr(text, "here it is --max-time\n"));
}

/* Returns whether all bytes of a list's last row are 0, which ends it. */
static bool is_ended(const void *last, size_t size)
{
	const unsigned char *byte = last;

	for (size_t i = 0; i < size; i++)
		if (byte[i])
			return false;
	return true;
}

#define LIST_ENDS(list) is_ended(&(list)[sizeof(list) / sizeof *(list)-1], sizeof *(list))

static void lists_of_commands_end(void **state)
{
	(void)state;
	for (size_t i = 0; cli_commands[i]; i++) {
		const cli_command *c = cli_commands[i];

		assert_true(LIST_ENDS(c->usage));
		assert_true(LIST_ENDS(c->sections));
		assert_true(LIST_ENDS(c->examples));
		assert_true(LIST_ENDS(c->groups));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_name_is_an_option),
	    cmocka_unit_test(no_word_hides_another),
	    cmocka_unit_test(only_what_a_command_has_is_named),
	    cmocka_unit_test(letters_are_alike_everywhere),
	    cmocka_unit_test(rules_name_options),
	    cmocka_unit_test(typing_does_not_matter),
	    cmocka_unit_test(lists_of_commands_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
