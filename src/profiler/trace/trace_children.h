/* trace_children.h - child processes of a recorded program: each registers its trace in the run's
 * directory, and the traces are merged into the program's.
 *
 * result/child_result.h names their files. A trace is locked while it is written, so that a running
 * process is detected.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_TRACE_CHILDREN_H
#define TRACE_TRACE_CHILDREN_H

#include "deepclock/trace.h"

/* Merges the children's traces into the first process's trace, removes them, and replaces *record,
 * the first process's, which is NULL if it did not finish. On failure all files remain, and a note
 * gives the reason. result_path: DIR/run.result. E_NOMEM. */
dck_status trace_children_join(const dck_trace_config *c, const char *title,
			       const char *result_path, dck_record **record, dck_err *err);

#endif
