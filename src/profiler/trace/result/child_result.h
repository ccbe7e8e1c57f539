/* child_result.h - the files of the processes of one run: the first to record has DIR/run.result
 * and writes OUT.pftrace; a child with process id 4711 has DIR/run.4711.result and writes
 * OUT.4711.pftrace. The result (zone_result.h) is empty until the process ends.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RESULT_CHILD_RESULT_H
#define RESULT_CHILD_RESULT_H

#include "base/mem.h"

#define TRACE_RESULT_ENDING ".result"
/* The content of a result whose process called exec(); every other one is longer. */
#define TRACE_RESULT_BECAME "exec\n"

/* Makes the names of a child's result and trace from its parent's. */
dck_status trace_child_names(mem_arena *a, const char *result, const char *path,
			     const char **ret_result, const char **ret_path, dck_err *err);
/* Writes, instead of a result, that its process called exec(). */
void trace_child_became(const char *result);

#endif
