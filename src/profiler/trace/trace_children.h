/* trace_children.h - the child processes of a program that is recorded: each says in the run's
 * directory that it has a trace, and these are put into the program's own.
 *
 * The first process to record has DIR/record.json and writes OUT.pftrace; a child of process
 * number 4711 has DIR/record.4711.json and writes OUT.4711.pftrace. The record is empty until it
 * ends. A trace that is being written is held, so that one whose process still runs is known.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_TRACE_CHILDREN_H
#define TRACE_TRACE_CHILDREN_H

#include "base/mem.h"
#include "deepclock/trace.h"

/* The names of a child's record and trace, beside its parent's. */
dck_status trace_child_names(mem_arena *a, const char *record, const char *path,
			     const char **ret_record, const char **ret_path, dck_err *err);

/* Says in place of a record that its process became another program, by exec(). */
void trace_child_became(const char *record);

/* Puts the children's traces into that of the first process, removes them, and replaces *record,
 * which is that process's and may be NULL: it came to no end of its own. Where that cannot be, all
 * files stay, and a note says why. record.json: record_path. E_NOMEM. */
dck_status trace_children_join(const dck_trace_config *c, const char *title,
			       const char *record_path, dck_record **record, dck_err *err);

#endif
