/* trace_samples.h - `trace --sample`: stacks of a program that is recorded, on the timeline's
 * clock.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_TRACE_SAMPLES_H
#define TRACE_TRACE_SAMPLES_H

#include "base/mem.h"
#include "deepclock/trace.h"
#include "os/os.h"
#include "record/build.h"

typedef struct trace_samples trace_samples;

/* Before the program starts. directory: for temporary files. E_UNSUP: nothing can be loaded into
 * it. */
dck_status trace_samples_begin(const dck_trace_config *c, char *const *argv, const char *directory,
			       trace_samples **ret, dck_err *err) DCK_MUST_USE;
/* Its environment; what is preloaded already (set[0], where it is LD_PRELOAD) stays in front. */
void trace_samples_environment(trace_samples *s, mem_arena *a, const char **set, size_t max,
			       size_t *n);
/* It has ended. */
dck_status trace_samples_end(trace_samples *s, const os_child_usage *used,
			     dck_err *err) DCK_MUST_USE;
/* Into the trace at `path`, whose record is `of`, and its tree, table, facts and notes into b.
 * absent: why the file takes none; NULL: that is up to its form. */
dck_status trace_samples_put(trace_samples *s, const dck_record *of, const char *path,
			     const char *absent, record_builder *b, dck_err *err) DCK_MUST_USE;
void trace_samples_free(trace_samples *s); /* NULL is allowed */

#endif
