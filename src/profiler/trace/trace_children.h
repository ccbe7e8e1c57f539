/* trace_children.h - child processes of a recorded program: each registers its trace in the run's
 * directory, and the traces are merged into the program's.
 *
 * The first process to record has DIR/record.json and writes OUT.pftrace; a child with process id
 * 4711 has DIR/record.4711.json and writes OUT.4711.pftrace. The record is empty until it ends. A
 * trace is locked while it is written, so that a running process is detected.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_TRACE_CHILDREN_H
#define TRACE_TRACE_CHILDREN_H

#include "base/mem.h"
#include "deepclock/trace.h"

/* Makes the names of a child's record and trace from its parent's. */
dck_status trace_child_names(mem_arena *a, const char *record, const char *path,
			     const char **ret_record, const char **ret_path, dck_err *err);

/* Writes, instead of a record, that its process called exec(). */
void trace_child_became(const char *record);

/* Merges the children's traces into the first process's trace, removes them, and replaces *record,
 * the first process's, which is NULL if it did not finish. On failure all files remain, and a note
 * gives the reason. record.json: record_path. E_NOMEM. */
dck_status trace_children_join(const dck_trace_config *c, const char *title,
			       const char *record_path, dck_record **record, dck_err *err);

#endif
