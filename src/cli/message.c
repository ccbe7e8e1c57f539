/* message.c - messages to stderr: one line each, prefixed with the program's name.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"
#include <stdarg.h>
#include <string.h>

/* A message may quote file names and user input, so terminal control characters are shown as
 * '?'. */
static void line_print(const char *fmt, va_list ap)
{
	char line[1024], *to = line;

	vsnprintf(line, sizeof line, fmt, ap);
	for (const char *from = line; *from;) {
		bool shown;
		const size_t n = dck_text_char(from, &shown);

		if (shown)
			to = (char *)memmove(to, from, n) + n;
		else
			*to++ = '?';
		from += n;
	}
	*to = '\0';
	fprintf(stderr, "deepclock: %s\n", cli_units(line));
}

void cli_message(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	line_print(fmt, ap);
	va_end(ap);
}

int cli_failed(const dck_err *err)
{
	cli_message("%s", err->msg);
	return err->code == DCK_E_ARG	   ? CLI_USAGE
	       : err->code == DCK_E_CANCEL ? CLI_INTERRUPTED
					   : CLI_FAILED;
}

int cli_no_memory(void)
{
	cli_message("out of memory");
	return CLI_FAILED;
}

int cli_usage(const cli *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	line_print(fmt, ap);
	va_end(ap);
	if (c && c->command)
		fprintf(stderr, "Try 'deepclock %s --help'.\n", c->command->name);
	else
		fprintf(stderr, "Try 'deepclock help'.\n");
	return CLI_USAGE;
}

int cli_unknown(const cli *c, const char *what, const char *word, const char *const *names,
		size_t n, const char *otherwise)
{
	const char *nearest = dck_nearest(word, names, n);

	return cli_usage(c, "no %s '%s'; %s%s%s", what, word,
			 nearest ? "did you mean '" : otherwise, nearest ? nearest : "",
			 nearest ? "'?" : "");
}
