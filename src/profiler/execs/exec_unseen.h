/* exec_unseen.h - a note on the programs that an observed program started, but which the preloaded
 * library could not observe.
 *
 *	exec_unseen_begin(directory);
 *	... the program runs
 *	exec_unseen_put(b, &(exec_unseen){.directory = directory, .variable = HEAP_VARIABLE,
 *					  .remedies = remedies});
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef EXECS_EXEC_UNSEEN_H
#define EXECS_EXEC_UNSEEN_H

#include "os/os.h"
#include "record/build.h"

typedef struct exec_unseen {
	const char *directory, *variable;   /* of the run: exec_watch.h */
	const char *const *remedies;	    /* [OS_PRELOAD_OBSTACLES]; NULL: none */
	bool (*concerns)(const char *path); /* which programs matter; NULL: all */
} exec_unseen;

/* Makes the file of EXEC_UNWRITTEN; without it such programs are not counted. Call before the start
 * of the observed program. */
void exec_unseen_begin(const char *directory);
/* Adds note programs-not-recorded. Returns whether there are such programs. */
bool exec_unseen_put(record_builder *b, const exec_unseen *u);

#endif
