/* trace_program.h - the environment by which a program records itself (trace_start.c).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_TRACE_PROGRAM_H
#define TRACE_TRACE_PROGRAM_H

#include "base/mem.h"
#include "deepclock/trace.h"

/* Adds to set[], of capacity max, the environment variables under which a program records its
 * ranges into c->path, an absolute path. It writes its result (result/zone_record.h) to `result`,
 * DIRECTORY/NAME.result, which is empty until the program ends; results and traces of its child
 * processes have the process number before the extension. */
dck_status trace_program_environment(mem_arena *a, const dck_trace_config *c, const char *result,
				     const char **set, size_t max, size_t *n,
				     dck_err *err) DCK_MUST_USE;

/* As dck_trace_program_run(). mpi_ranks: the ranks of the job; the program's calls of collective
 * functions of MPI are ranges (preload/mpi/mpi_group.h). 0: they are not recorded. */
dck_status trace_program_run(const dck_trace_config *config, uint32_t mpi_ranks, dck_program *p,
			     dck_record **ret, dck_err *err) DCK_MUST_USE;

#endif
