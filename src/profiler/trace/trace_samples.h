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

/* Call before the program starts. directory: for temporary files. E_UNSUP: no library can be
 * preloaded into it. */
dck_status trace_samples_begin(const dck_trace_config *c, char *const *argv, const char *directory,
			       trace_samples **ret, dck_err *err) DCK_MUST_USE;
/* Appends its environment; libraries that are already preloaded (set[0], if it is LD_PRELOAD) come
 * first. */
void trace_samples_environment(trace_samples *s, mem_arena *a, const char **set, size_t max,
			       size_t *n);
/* Call after the program has exited. */
dck_status trace_samples_end(trace_samples *s, const os_child_usage *used,
			     dck_err *err) DCK_MUST_USE;
/* Appends the samples to the trace at `path`, whose record is `of`, and writes tree, table, facts
 * and notes to b. absent: reason why the file takes no samples; NULL: depends on its format. */
dck_status trace_samples_put(trace_samples *s, const dck_record *of, const char *path,
			     const char *absent, record_builder *b, dck_err *err) DCK_MUST_USE;
void trace_samples_free(trace_samples *s); /* NULL is allowed */

#endif
