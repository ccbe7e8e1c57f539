/* trace_options.h - passes the recording's options to a program in its environment: each option of
 * dck_trace_options as $DEEPCLOCK_TRACE_NAME, except the file, which is $DEEPCLOCK_TRACE.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_TRACE_OPTIONS_H
#define TRACE_TRACE_OPTIONS_H

#include "base/mem.h"
#include "deepclock/trace.h"

/* Appends "NAME=value" for each option to set[*n]; max: capacity of `set`. */
dck_status trace_environment_put(mem_arena *a, const dck_trace_config *c, const char **set,
				 size_t max, size_t *n, dck_err *err);
/* E_ARG: a value is none of its option. Texts are copies; path is NULL when none is named. */
dck_status trace_environment_get(mem_arena *a, dck_trace_config *ret, dck_err *err);
/* E_ARG: options conflict, or a value is invalid. */
dck_status trace_config_check(const dck_trace_config *c, dck_err *err);
/* "DEEPCLOCK_TRACE_TICK=..." for the programs to be started, so that each need not find the rate of
 * its time stamp counter again; NULL: it is not used, or no memory. */
const char *trace_tick_put(mem_arena *a);
/* What the environment gave so, in 2^-32 ns; 0: nothing. */
uint64_t trace_tick_told(void);
/* A file that is found again after chdir(), and by a process that is elsewhere; of the arena or
 * `path` itself. NULL stays NULL, and is no memory too. */
const char *trace_path_absolute(mem_arena *a, const char *path);
/* With texts of its own. */
dck_status trace_config_copy(mem_arena *a, const dck_trace_config *c, dck_trace_config *ret,
			     dck_err *err);

#endif
