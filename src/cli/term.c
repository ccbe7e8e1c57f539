/* term.c - terminal capabilities: width, colours, UTF-8.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { COLOUR_AUTO, COLOUR_ALWAYS };

unsigned cli_term_width(int fd)
{
	struct winsize size;
	const char *columns = secure_getenv("COLUMNS");
	long n;

	if (isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		return size.ws_col;
	n = columns ? strtol(columns, NULL, 10) : 0;
	return n >= 20 && n <= 1000 ? (unsigned)n : 80;
}

bool cli_term_can_redraw(int fd)
{
	const char *term = secure_getenv("TERM");

	return isatty(fd) && term && *term && strcmp(term, "dumb") != 0;
}

/* By no-color.org any value of NO_COLOR that is not empty turns colours off. */
static bool colour_fits(const cli_common *common, int fd)
{
	const char *no_color = secure_getenv("NO_COLOR");

	if (common->colour != COLOUR_AUTO)
		return common->colour == COLOUR_ALWAYS;
	return cli_term_can_redraw(fd) && !(no_color && *no_color);
}

/* Only LC_CTYPE is ever taken from the environment (main), so numbers keep their point. */
static bool locale_is_utf8(void)
{
	const char *codeset = nl_langinfo(CODESET);

	return codeset && (strcmp(codeset, "UTF-8") == 0 || strcmp(codeset, "utf8") == 0);
}

char *cli_units(char *text)
{
	return locale_is_utf8() ? text : dck_text_ascii_units(text);
}

dck_style cli_style(const cli_common *common, int fd)
{
	return (dck_style){
	    .colour = colour_fits(common, fd),
	    .utf8 = locale_is_utf8(),
	    .width = cli_term_width(fd),
	    .terminal = isatty(fd) == 1,
	};
}
