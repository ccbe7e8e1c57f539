/* program.h - a program that dck_trace_program_run(), dck_sample(), dck_memory_program_run() or
 * dck_count_program_run() starts, with the result of its run.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_PROGRAM_H
#define DCK_PROGRAM_H

#include "base.h"

typedef struct dck_program {
	/* argv[0] is searched in PATH; NULL-ended. NULL if the config has the pid of a running
	 * program. */
	char *const *argv;
	/* Called every 50 ms; true ends the recording, and sends a started program SIGTERM. NULL:
	 * never. */
	bool (*cancelled)(void *self);
	void *self;
	/* Results, set whenever the program ran; exit_code -1: ended by the signal. */
	int exit_code, signal;
	/* Of dck_trace_program_run(): the trace was not closed, and the record comes from the file
	 * alone. cut_why: the possible cause, static; NULL: the signal, or not cut. Of
	 * dck_sample(): the program was ended after config.time_ns. */
	bool cut;
	const char *cut_why;
} dck_program;

#endif
