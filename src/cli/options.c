/* options.c - the option tables that commands share.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"
#include <string.h>

static const char *const colours[] = {"auto", "always", "never", NULL};

const dck_opt cli_common_options[] = {
    {.name = "colour",
     .kind = DCK_OPT_CHOICE,
     .at = offsetof(cli_common, colour),
     .arg = "WHEN",
     .def = "auto",
     .choices = colours,
     .help = "colours; by itself on a terminal, unless NO_COLOR is set"},
    {.name = "quiet",
     .kind = DCK_OPT_FLAG,
     .at = offsetof(cli_common, quiet),
     .help = "no progress and no warnings on stderr, errors only"},
    {.name = "verbose",
     .kind = DCK_OPT_FLAG,
     .at = offsetof(cli_common, verbose),
     .help = "say more; also what the engine's library logs"},
    {.name = "help",
     .kind = DCK_OPT_FLAG,
     .at = offsetof(cli_common, help),
     .help = "show this text"},
    {.name = "version",
     .kind = DCK_OPT_FLAG,
     .at = offsetof(cli_common, version),
     .help = "show the program's version"},
    {0},
};

const char *const cli_formats[] = {
    [CLI_TEXT] = "text", [CLI_JSON] = "json", [CLI_CSV] = "csv", [CLI_MARKDOWN] = "markdown", NULL};

const dck_opt cli_format_options[] = {
    {.name = "format",
     .kind = DCK_OPT_CHOICE,
     .at = offsetof(cli_format, format),
     .arg = "FORMAT",
     .def = "text",
     .choices = cli_formats,
     .help = "how the result is written to stdout"},
    {.name = "out",
     .kind = DCK_OPT_TEXT,
     .at = offsetof(cli_format, out),
     .arg = "FILE",
     .help = "write the result to FILE instead of stdout; .json, .csv or .md tells the format"},
    {.name = "details",
     .kind = DCK_OPT_FLAG,
     .at = offsetof(cli_format, details),
     .help = "all of the result as text, not only the answer in a few lines"},
    {0},
};

const cli_letter cli_letters[] = {
    {'h', "help"}, {'V', "version"}, {'q', "quiet"},   {'v', "verbose"},
    {'o', "out"},  {'f', "format"},  {'j', "threads"}, {'b', "batch"},
    {'r', "runs"}, {'w', "warmup"},  {'s', "save"},    {0},
};

char cli_letter_of(const char *name)
{
	for (const cli_letter *l = cli_letters; l->letter; l++)
		if (strcmp(l->name, name) == 0)
			return l->letter;
	return 0;
}

/* An exact stop rule leaves nothing to the others. */
const cli_pair cli_plan_pairs[] = {
    {"precision", CLI_BESIDE, "runs", NULL},	  {"precision", CLI_BESIDE, "time", NULL},
    {"min-runs", CLI_BESIDE, "runs", NULL},	  {"min-runs", CLI_BESIDE, "time", NULL},
    {"min-time", CLI_BESIDE, "runs", NULL},	  {"min-time", CLI_BESIDE, "time", NULL},
    {"max-time", CLI_BESIDE, "runs", NULL},	  {"max-time", CLI_BESIDE, "time", NULL},
    {"max-warmup", CLI_BESIDE, "warmup", "auto"}, {0},
};
const cli_pair cli_common_pairs[] = {{"verbose", CLI_BESIDE, "quiet", NULL}, {0}};
