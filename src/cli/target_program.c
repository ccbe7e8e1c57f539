/* target_program.c - termination of the program that trace, sample, count or memory profiles, and
 * the report of its exit status.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands/commands.h"

bool cli_program_cancelled(void *self)
{
	(void)self;
	/* The program then ends itself or is killed, and the recording is shown. */
	return cli_signal_ours() || cli_signal_killed();
}

int cli_program_ended(const char *name, int signal, int exit_code, const char *more, int code)
{
	if (signal)
		cli_message("'%s' was killed by signal %d%s", name, signal, more);
	else if (exit_code)
		cli_message("'%s' ended with exit status %d", name, exit_code);
	if (cli_signal_seen())
		return CLI_INTERRUPTED;
	return code == CLI_OK && (signal || exit_code) ? CLI_FAILED : code;
}
