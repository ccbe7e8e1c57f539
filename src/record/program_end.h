/* program_end.h - how a program ended that was started and observed: by a signal or with a status,
 * and whether processes that it started went on, of which the result knows nothing more.
 *
 *	program_end end;
 *
 *	set[n++] = program_end_begin(&end);
 *	... the program is started with these variables, and waited for ...
 *	program_end_find(&end, &usage, cancelled);
 *	program_end_put(&end, b);
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORD_PROGRAM_END_H
#define RECORD_PROGRAM_END_H

#include "os/os.h"
#include "os/process/other_process.h"
#include "record/build.h"

typedef struct program_end {
	char mark[64];	/* variable of the run, which all its processes have; "": not started */
	bool cancelled; /* we ended it */
	int signal, exit_code;
	os_marked left; /* processes that still ran */
} program_end;

/* Starts. Returns the variable to put into the program's environment, which belongs to e. */
const char *program_end_begin(program_end *e);
/* Ends, when the program was waited for. If processes of it go on, waits for at most half a second,
 * as helpers end that notice its end. */
void program_end_find(program_end *e, const os_child_usage *usage, bool cancelled);
/* Adds fact `signal` or `exit_status` of section `result`, and the notes program-killed and
 * program-outlived. A killed program makes the record incomplete. {0}: adds nothing. */
void program_end_put(const program_end *e, record_builder *b);
/* E_ARG: argv names no program. */
dck_status program_given(char *const *argv, dck_err *err);

#endif
