/* exec_watch.h - which programs the processes of an observed program start, for a note on those
 * that cannot be observed.
 *
 * Each different program has a file in the directory of the run, so that their number is bounded:
 * "HASH" EXEC_FILE_END, with the absolute path after EXEC_PRELOADS, or EXEC_NOT if its environment
 * does not preload the library. Programs whose file cannot be made, as after setuid(), since the
 * directory is another user's, can make none of the library's either: they are only counted, in a
 * file that all processes map before.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef EXECS_EXEC_WATCH_H
#define EXECS_EXEC_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define EXEC_FILE_END  ".exec"
#define EXEC_UNWRITTEN "starts.unwritten"
typedef struct exec_unwritten {
	_Atomic uint32_t n;    /* starts */
	_Atomic int32_t error; /* errno of the last one */
} exec_unwritten;
#define EXEC_PRELOADS '+'
#define EXEC_NOT      '-'

/* Defined by each library: its name, and the environment variable with the directory; and what it
 * does before the process becomes another program, and, with false, where that failed. */
extern const char exec_library[], exec_variable[];
void exec_leaves(bool leaves);

#endif
