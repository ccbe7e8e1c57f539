/* ort_watch.h - instrumentation of an ONNX Runtime session: operator profile, memory counter, and
 * every value of the graph as an output. Each has a separate file.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ENGINE_ORT_WATCH_H
#define ENGINE_ORT_WATCH_H

#include "engine/ort/ort_provider.h"

#include <stdatomic.h>

/* --- counts the runs, from any thread */

#define ORT_FAILURES_MAX 64

typedef struct ort_runs {
	atomic_uint_least64_t ended;
	atomic_uint_least64_t failures;
	atomic_uint_least64_t failed[ORT_FAILURES_MAX]; /* by the order of completion */
} ort_runs;

/* --- ort_profile.c */

/* Files that the session writes; graph NULL: not possible. Texts live in the model's arena. */
typedef struct ort_profile_files {
	const char *prefix, *graph;
} ort_profile_files;

/* Names the files in work_dir. E_ARG: it does not exist; E_IO: it is not writable. */
dck_status ort_profile_plan(const char *work_dir, mem_arena *a, ort_profile_files *ret,
			    dck_err *err);
/* Sets the options of a session. with_graph: also save the optimised graph. */
dck_status ort_profile_apply(const ort_lib *l, const ort_profile_files *f, bool with_graph,
			     ort_options *o, dck_err *err);
/* Ends the session's profile and reads it. device: a recording of CUDA's work is under way
 * (cuda_work.h), which ends, and gives operators their times on the device. Texts and events live
 * in `a`. */
dck_status ort_profile_end(const ort_lib *l, ort_session *s, const ort_runs *runs, bool device,
			   mem_arena *a, dck_profile *ret, dck_err *err);

struct ort_trace;
/* Groups the events of a trace by run: see dck_profile. Omits events of failed runs and events
 * outside of runs; then, or if the trace has fewer runs than were made, sets DCK_PROFILE_TRUNCATED.
 */
dck_status ort_profile_group(const struct ort_trace *t, const ort_runs *runs, mem_arena *a,
			     dck_profile *ret, dck_err *err);

/* --- ort_device_time.c */

struct cuda_work;
/* Adds the time of each work on the device to the operator in which its call began, and to those
 * around that one, as the host's times are.
 * start_ns: when the trace began, on the clock of the calls. Returns the share of the works' time
 * that has an operator. E_NOMEM. */
dck_status ort_device_time_add(struct ort_trace *t, uint64_t start_ns, const struct cuda_work *w,
			       size_t n, double *ret_share, dck_err *err);
/* Ends the recording of CUDA's work and adds it. Where most of it has no operator (another thread
 * enqueued it, or a graph), operators keep the times of the host. */
dck_status ort_device_time(struct ort_trace *t, uint64_t start_ns, dck_err *err);

/* --- ort_memory.c */

typedef struct ort_counter ort_counter; /* an allocator that counts */

/* Counts the allocations of a session that is created between ort_counter_new() and
 * ort_counter_settle(). The allocator is registered only that long, because all sessions of the
 * process share the environment. The caller owns *ret, which must outlive the session. */
dck_status ort_counter_new(const ort_lib *l, ort_options *o, ort_counter **ret, dck_err *err);
void ort_counter_settle(ort_counter *c);
void ort_counter_free(ort_counter *c); /* NULL is allowed */
void ort_counter_run_begins(ort_counter *c);

/* where: the device memory of the provider, if its tensors are bound there; NULL: not. counter:
 * NULL: none. */
dck_status ort_memory_get(const ort_lib *l, const ort_session *s, const ort_provider *p,
			  const ort_memory *where, const ort_counter *counter, dck_memory *ret,
			  dck_err *err);

/* --- ort_expose.c: the model with more outputs */

/* Writes the bytes of the model followed by the names as outputs of its graph. */
dck_status ort_expose(const dck_open_params *p, dck_buffer *ret, dck_err *err);
/* First minor version that finds external weights in the model's directory when the model is opened
 * from memory. */
#define ORT_MINOR_DIRECTORY 21u
dck_status ort_expose_directory(const ort_lib *l, const dck_open_params *p, ort_options *o,
				dck_err *err);

#endif
