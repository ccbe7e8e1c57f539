/* ort_watch.h - what an observed session reports besides its results: when each operator ran,
 * what was allocated, every value of the graph. Each of the three is a file of its own.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ENGINE_ORT_WATCH_H
#define ENGINE_ORT_WATCH_H

#include "engine/ort/ort_lib.h"

#include <stdatomic.h>

/* --- which runs there were, from any thread */

#define ORT_FAILURES_MAX 64

typedef struct ort_runs {
	atomic_uint_least64_t ended;
	atomic_uint_least64_t failures;
	atomic_uint_least64_t failed[ORT_FAILURES_MAX]; /* by the order of their ends */
} ort_runs;

/* --- ort_profile.c */

/* Where the session writes; graph NULL: it could not. Texts live in the model's arena. */
typedef struct ort_profile_files {
	const char *prefix, *graph;
} ort_profile_files;

/* Names the files in work_dir. E_ARG: there is none; E_IO: nothing can be written there. */
dck_status ort_profile_plan(const char *work_dir, mem_arena *a, ort_profile_files *ret,
			    dck_err *err);
/* Into a session's options. with_graph: the optimised graph is to be saved as well. */
dck_status ort_profile_apply(const ort_lib *l, const ort_profile_files *f, bool with_graph,
			     ort_options *o, dck_err *err);
/* Ends the session's profile and reads it. Texts and events live in `a`. */
dck_status ort_profile_end(const ort_lib *l, ort_session *s, const ort_runs *runs, mem_arena *a,
			   dck_profile *ret, dck_err *err);

struct ort_trace;
/* The events of a trace by runs: see dck_profile. Those of a run that failed are left out, and
 * those of none too; then, or when fewer runs are there than were made, DCK_PROFILE_TRUNCATED. */
dck_status ort_profile_group(const struct ort_trace *t, const ort_runs *runs, mem_arena *a,
			     dck_profile *ret, dck_err *err);

/* --- ort_memory.c */

typedef struct ort_counter ort_counter; /* an allocator that counts */

/* Counts what a session takes that is made between counter_new and counter_settle: it is
 * registered with the environment, which all sessions of the process share, no longer than that.
 * *ret is owned and must outlive the session. */
dck_status ort_counter_new(const ort_lib *l, ort_options *o, ort_counter **ret, dck_err *err);
void ort_counter_settle(ort_counter *c);
void ort_counter_free(ort_counter *c); /* NULL is allowed */
void ort_counter_run_begins(ort_counter *c);

/* counter: NULL: none. */
dck_status ort_memory_get(const ort_lib *l, const ort_session *s, const char *provider,
			  unsigned device, const ort_counter *counter, dck_memory *ret,
			  dck_err *err);

/* --- ort_expose.c: the model with more outputs */

/* bytes of the model and, behind them, the names as outputs of its graph. */
dck_status ort_expose(const dck_open_params *p, dck_buffer *ret, dck_err *err);
/* Where the weights that lie beside the model are looked for, as it is opened from memory. Older
 * versions do not look there. */
#define ORT_MINOR_FOLDER 21u
dck_status ort_expose_folder(const ort_lib *l, const dck_open_params *p, ort_options *o,
			     dck_err *err);

#endif
