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
/* Returns whether the environment names a file to record into, without an allocation. */
bool trace_environment_names(void);
/* E_ARG: a value is invalid for its option. Texts are copies; path is NULL if none is set. */
dck_status trace_environment_get(mem_arena *a, dck_trace_config *ret, dck_err *err);
/* E_ARG: options conflict, or a value is invalid. */
dck_status trace_config_check(const dck_trace_config *c, dck_err *err);
/* Returns "DEEPCLOCK_TRACE_TICK=..." for started programs, so that they need not calibrate the time
 * stamp counter again; NULL: it is not used, or no memory. */
const char *trace_tick_put(mem_arena *a);
/* Returns the tick of DEEPCLOCK_TRACE_TICK, in 2^-32 ns; 0: not set. */
uint64_t trace_tick_from_env(void);
/* Returns the absolute path, valid after chdir() and in other processes; in the arena, or `path`
 * itself. NULL for NULL, or no memory. */
const char *trace_path_absolute(mem_arena *a, const char *path);
/* Copies a configuration with its texts. */
dck_status trace_config_copy(mem_arena *a, const dck_trace_config *c, dck_trace_config *ret,
			     dck_err *err);

#endif
