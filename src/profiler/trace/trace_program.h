/* trace_program.h - the environment by which a program records itself (trace_start.c).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_TRACE_PROGRAM_H
#define TRACE_TRACE_PROGRAM_H

#include "base/mem.h"
#include "deepclock/trace.h"

/* Adds to set[], which has room for max, variables of an environment under which a program records
 * its ranges into c->path, an absolute one. Its result (result/zone_record.h) comes to `result`,
 * DIRECTORY/NAME.result, which is empty until the program ends; those of its child processes, and
 * their traces, have their process numbers in front of the ending. */
dck_status trace_program_environment(mem_arena *a, const dck_trace_config *c, const char *result,
				     const char **set, size_t max, size_t *n,
				     dck_err *err) DCK_MUST_USE;

#endif
