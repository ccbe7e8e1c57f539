/* SPDX-License-Identifier: Apache-2.0 */
#include "record/program_end.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *program_end_begin(program_end *e)
{
	*e = (program_end){0};
	snprintf(e->mark, sizeof e->mark, "DEEPCLOCK_RUN=%ld.%" PRIx64, os_process_id(),
		 os_now_ns());
	return e->mark;
}

void program_end_find(program_end *e, const os_child_usage *usage, bool cancelled)
{
	enum { ROUNDS = 10, ROUND_NS = 50000000 };

	e->cancelled = cancelled;
	e->signal = usage->signal;
	e->exit_code = usage->exit_code;
	for (int i = 0; i <= ROUNDS; i++)
		if (!os_processes_marked(e->mark, &e->left) || i == ROUNDS ||
		    !os_sleep_ns(ROUND_NS, NULL, NULL))
			return;
}

void program_end_put(const program_end *e, record_builder *b)
{
	const os_marked *left = &e->left;

	if (!e->mark[0])
		return;
	if (e->signal)
		record_fact_int(b, "result", "signal", DCK_UNIT_ONE, e->signal);
	else
		record_fact_int(b, "result", "exit_status", DCK_UNIT_ONE, e->exit_code);
	if (e->signal && !e->cancelled) {
		record_set_incomplete(b, true);
		record_note(b, "program-killed", "the program was killed by signal %d (%s)",
			    e->signal, strsignal(e->signal));
	}
	if (left->n) {
		record_note(
		    b, "program-outlived",
		    "%zu process%s of the program went on after its end, and what followed is "
		    "not in this result ('%s', process %ld%s)",
		    left->n, left->n == 1 ? "" : "es", left->name, left->pid,
		    left->n == 1 ? "" : ", ...");
		record_remedy(b, "keep it in the foreground, as most daemons can by an option; or "
				 "observe the process that runs: 'deepclock sample --pid'");
	}
}

dck_status program_given(char *const *argv, dck_err *err)
{
	if (!argv || !argv[0])
		DCK_FAIL(err, E_ARG, "argv names no program to start: give its words");
	return DCK_OK;
}
