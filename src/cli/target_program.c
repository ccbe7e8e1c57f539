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

int cli_program_failed(const dck_err *err)
{
	const int code = cli_failed(err);

	return cli_signal_seen() ? CLI_INTERRUPTED : code;
}

int cli_program_ended(const dck_program *p, const char *more, int code)
{
	/* Of its own end by a signal the record has a note. */
	if (p->signal && cli_signal_seen())
		cli_message("'%s' was killed by signal %d%s", p->argv[0], p->signal, more);
	else if (!p->signal && p->exit_code)
		cli_message("'%s' ended with exit status %d", p->argv[0], p->exit_code);
	if (cli_signal_seen())
		return CLI_INTERRUPTED;
	return code == CLI_OK && (p->signal || p->exit_code) ? CLI_FAILED : code;
}
