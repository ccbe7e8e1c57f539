/* cmd_version.c - deepclock version
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"

static int version_run(cli *c, void *config)
{
	(void)config;
	printf("deepclock %s\n", DCK_VERSION);
	/* --version in the place of a command shows one line only. */
	if (c->argv[1][0] == '-')
		return CLI_OK;
	printf("library %s\nrecord schema %u\nplug-in ABI %u.%u\n", dck_version(),
	       DCK_RECORD_SCHEMA, DCK_ABI_MAJOR, DCK_ABI_MINOR);
	return CLI_OK;
}

static const char *const usage[] = {"", NULL};
static const cli_item examples[] = {
    {"deepclock version", "all of them"},
    {"deepclock --version", "the version of the program in one line"},
    {0},
};

const cli_command cmd_version = {
    .name = "version",
    .summary = "show the version of the program and of its formats",
    .usage = usage,
    .about = "Shows the versions of the program, of the library, of the record's JSON format and "
	     "of the plug-in interface.",
    .examples = examples,
    .no_result = "it prints text for people; a record has the version that made it",
    .run = version_run,
};
