/* options.c - the option tables, and the words to complete with, that commands share.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"
#include <string.h>

static const char *const colours[] = {"auto", "always", "never", NULL};

const dck_opt cli_common_options[] = {
    DCK_OPTION(CHOICE, cli_common, colour, "colour", "WHEN", "auto",
	       "colours; default: on a terminal, unless NO_COLOR is set", .choices = colours),
    DCK_FLAG(cli_common, quiet, "quiet", "no progress and no warnings on stderr, errors only",
	     .letter = 'q'),
    DCK_FLAG(cli_common, verbose, "verbose", "more messages, and the log of the engine's library",
	     .letter = 'v', .excludes = "quiet"),
    DCK_FLAG(cli_common, help, "help", "show this text", .letter = 'h'),
    DCK_FLAG(cli_common, version, "version", "show the program's version", .letter = 'V'),
    {0},
};

const char *const cli_formats[] = {
#define X(id, NAME, ending, text) #id,
    DCK_WRITER_MAP(X)
#undef X
	NULL};

const dck_opt cli_format_options[] = {
    DCK_OPTION(CHOICE, cli_format, format, "format", "FORMAT", "text",
	       "how the result is written to stdout", .letter = 'f', .choices = cli_formats),
    DCK_OPTION(
	TEXT, cli_format, out, "out", "FILE", NULL,
	"write the result to FILE instead of stdout; its extension sets the format:" DCK_WRITER_MAP(
	    CLI_WRITER_ENDING),
	.letter = 'o'),
    DCK_FLAG(cli_format, details, "details",
	     "all of the result as text, not only the answer in a few lines"),
    {0},
};

const dck_opt cli_profile_options[] = {
    DCK_OPTION(CHOICE, cli_format, format, "format", "FORMAT", "text",
	       "how the result is written to stdout", .letter = 'f', .choices = cli_formats),
    DCK_OPTION(
	TEXT, cli_format, profile, "out", "FILE", NULL,
	"write the result to FILE instead of stdout; its extension sets the format:" DCK_WRITER_MAP(
	    CLI_WRITER_ENDING) ", or for its call paths alone, for other programs:" DCK_CALLS_FORMAT_MAP(CLI_CALLS_ENDING),
	.letter = 'o'),
    DCK_FLAG(cli_format, details, "details",
	     "all of the result as text, not only the answer in a few lines"),
    {0},
};

bool cli_ends_in(const char *text, const char *end)
{
	const size_t n = strlen(text), k = strlen(end);

	return n > k && strcmp(text + n - k, end) == 0;
}

int cli_format_by_ending(const char *path, int other)
{
	const char *dot = strrchr(path, '.');
	size_t n;
	const dck_writer *const *all = dck_writers(&n);

	for (size_t i = 0; dot && i < n; i++)
		if (strcmp(dot, all[i]->ext) == 0 || strcmp(dot + 1, all[i]->name) == 0)
			return (int)i;
	return other;
}

const char *cli_zoo_word(size_t i)
{
	size_t n;
	const dck_zoo_entry *all = dck_zoo(&n);

	return i < n ? all[i].name : NULL;
}

const cli_words cli_model_words = {.prefix = "zoo:", .get = cli_zoo_word, .files = true};
