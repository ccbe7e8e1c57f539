/* trace_program.h - the environment by which a program records itself (trace_start.c).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_TRACE_PROGRAM_H
#define TRACE_TRACE_PROGRAM_H

#include "base/mem.h"
#include "deepclock/trace.h"

/* Appends to set[] (capacity max) environment variables with which a program records its ranges to
 * c->path, an absolute path. Its record is written to `record`, DIRECTORY/NAME.json, which is empty
 * until the program ends; records and traces of its child processes have their process ids before
 * the extension. */
dck_status trace_program_environment(mem_arena *a, const dck_trace_config *c, const char *record,
				     const char **set, size_t max, size_t *n,
				     dck_err *err) DCK_MUST_USE;

#endif
