/* unstable.h - interfaces for the deepclock program and its Python extension; other programs should
 * not use them.
 *
 * They are not stable: any version, even a patch release, may change or remove declarations and
 * layouts of this header, without a new soname (docs/reference/abi.md). deepclock.h does not
 * include it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_UNSTABLE_H
#define DCK_UNSTABLE_H

#include "bench.h"
#include "calls.h"
#include "compare.h"
#include "cost.h"
#include "count.h"
#include "history.h"
#include "lap.h"
#include "load.h"
#include "ranks.h"
#include "report.h"
#include "trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- a process that is interrupted */

/* Removes the temporary files and directories of the running operations, and kills the processes
 * that they started. Async-signal-safe; the library is unusable afterwards, so the caller must call
 * _exit(). */
DCK_API void dck_abandon(void);

/* Kills the programs that the running operations started, and their descendants: the callers that
 * wait for them continue with the data recorded before. Async-signal-safe. */
DCK_API void dck_programs_kill(void);

/* --- a process that measures for a comparison */

/* Opens the subject, warms it up and measures trials of it, as dck_compare() in another process
 * requests over the descriptor, until it closes its end. What fails is answered. Errors: E_ARG (the
 * plan). */
DCK_API dck_status dck_trials_serve(const dck_subject *s, const dck_plan *plan,
				    const dck_observer *watch, int fd, dck_err *err) DCK_MUST_USE;

/* Initialises *ret with a load of n streams that has the measuring time, the warm-up and the level
 * of a plan. Searches measure n requests in flight by it. @since 0.1 */
DCK_API void dck_load_in_flight(const dck_plan *plan, uint64_t n, dck_load_config *ret);

/* --- functions that compute on a device */

/* dck_subject.device: how to wait for a function whose call returns before its work has ended. The
 * members are those of dck_engine with the same names, and `arg` is the subject's;
 * dck_subject.function is then a whole run, which waits by the chosen barrier. A result other than
 * 0 is a failure, as for the function. The last barrier is certain only if it copies results: if
 * barrier 1 is the last, nothing can test it. */
typedef struct dck_function_device {
	const char *name;    /* of the hardware; NULL: unknown */
	const dck_kv *facts; /* for the section `engine` */
	size_t nfacts;
	const char *(*barrier)(void *arg, unsigned index);
	void (*barrier_choose)(void *arg, unsigned index);
	int (*enqueue)(void *arg);
	int (*wait)(void *arg, unsigned barrier);
	/* Copies to the host what the last run returned: *ret_bytes on the device. */
	int (*copy)(void *arg, uint64_t *ret_bytes);
	/* Enqueues `runs` runs between two events of the device, waits for the second one, and
	 * returns the time between them on the device's clock. NULL: `no_events` is the reason. */
	int (*between_events)(void *arg, uint64_t runs, double *ret_ns);
	const char *no_events;
} dck_function_device;

/* --- command lines */

/* Parses `text` as dck_opt_set() does, for a known row; `cfg` is the config of the row's table. */
DCK_API dck_status dck_opt_read(const dck_opt *row, void *cfg, const char *text, dck_err *err);

/* Returns the row of that name, or NULL. Static. */
DCK_API const dck_opt *dck_opt_find(const dck_opt *table, const char *name);

/* A given option; value: its last text, NULL for a flag. */
typedef struct dck_opt_given {
	const dck_opt *row;
	const char *value;
} dck_opt_given;

/* Checks the n given options, each listed once, against `needs` and `excludes` of their rows.
 * tables: all tables of the command, NULL-ended. E_ARG: a conflict or a missing option. */
DCK_API dck_status dck_opt_check(const dck_opt *const *tables, const dck_opt_given *given, size_t n,
				 dck_err *err) DCK_MUST_USE;

/* Returns whether one of the n given options has that name. */
DCK_API bool dck_opt_is_given(const dck_opt_given *given, size_t n, const char *name);

/* Sets the default limits of a program's measurement, 2 s once it had min_runs, and 0.7 s of
 * warm-up, where the n given options set none. */
DCK_API void dck_plan_program(dck_plan *plan, const dck_opt_given *given, size_t n);

/* Makes the config of dck_rank() of several subjects from a plan, whose n options were given.
 * E_ARG: an option that applies to one subject. */
DCK_API dck_status dck_plan_ranking(const dck_plan *plan, const dck_opt_given *given, size_t n,
				    size_t subjects, dck_compare_config *ret,
				    dck_err *err) DCK_MUST_USE;

/* Refuses a given option that has no effect on a comparison of saved records, or else of subjects
 * that are measured. E_ARG. */
DCK_API dck_status dck_compare_given_check(const dck_opt_given *given, size_t n, bool records,
					   dck_err *err) DCK_MUST_USE;

/* Returns the nearest of n names to a mistyped one (edit distance at most 3 and less than half its
 * length), or NULL. */
DCK_API const char *dck_nearest(const char *name, const char *const *names, size_t n);

/* Returns the bytes of the character at text; 0: end of the text. *ret_shown false: a control
 * character or an invalid UTF-8 byte, which a terminal must show as a replacement mark. */
DCK_API size_t dck_text_char(const char *text, bool *ret_shown);

/* Replaces "\u00b5s" by "us" in place, for a terminal that cannot show the micro sign, which all
 * texts of the library use. Returns text. */
DCK_API char *dck_text_ascii_units(char *text);

/* Checks that all sizes of the model's inputs are given, before the model is opened or measured.
 * E_ARG names the symbolic dimensions, and repeats `command` with options that set them (NULL: the
 * options alone). Shapes that are missing in the model's file are not an error. */
DCK_API dck_status dck_subject_check(const dck_subject *s, const char *command,
				     dck_err *err) DCK_MUST_USE;

/* Probes the plug-in "plugin:FILE" in a child process. *ret is owned, one block: dck_free().
 * Errors: E_ENGINE with the reason why it is refused, E_NOMEM. */
DCK_API dck_status dck_plugin_probe(const char *name, dck_engine_info **ret,
				    dck_err *err) DCK_MUST_USE;

/* --- files */

/* A file that is replaced as a whole: a temporary file in the directory of `path`, which commit
 * syncs and renames to its target, and abort removes, as dck_abandon() does. A path that is not a
 * regular file (a pipe, /dev/stdout) is written directly. */
typedef struct dck_replace dck_replace;
/* Opens it, for writing to *ret_fd, which it owns. Symbolic links are followed, not replaced; the
 * new file has owner, group and mode of the old one, or the mode of the umask. *ret is owned:
 * commit or abort. E_IO: it cannot be written, or in a world-writable directory (/tmp) it is a
 * link or a file of another user; E_ARG: an empty name. */
DCK_API dck_status dck_replace_open(const char *path, dck_replace **ret, int *ret_fd, dck_err *err);
/* Makes it the file of that name, and frees r, also on failure: then the old file stays. */
DCK_API dck_status dck_replace_commit(dck_replace *r, dck_err *err);
DCK_API void dck_replace_abort(dck_replace *r); /* Keeps the old file; NULL is allowed. */

/* Returns whether dck_trace_read() accepts a file: Perfetto's format by the file's extension
 * (.pftrace, .perfetto-trace, each optionally with .gz) or, not compressed, by its contents, JSON
 * by its contents. Returns false for an unreadable file. */
DCK_API bool dck_trace_is(const char *path);

/* Reads a file of any kind: a profile that dck_profile_read() accepts, a trace (how: NULL: plain),
 * or a record. The content decides. */
DCK_API dck_status dck_read_any(const char *path, const dck_trace_reading *how, dck_record **ret,
				dck_err *err) DCK_MUST_USE;

/* Converts a trace as dck_trace_convert() does. *ret is owned, dck_record_free(): its notes have
 * what is not in the output, or not as in the file. */
DCK_API dck_status dck_trace_convert_noted(const char *path, const char *form, bool gzip,
					   dck_sink *out, dck_record **ret,
					   dck_err *err) DCK_MUST_USE;

/* --- timelines of the page */

/* A range within a step, or adjacent short ranges of one row: `ranges` of them. */
typedef struct dck_step_range {
	uint64_t begin_ns, took_ns; /* since the start of the step; within it */
	uint64_t ranges;
	uint32_t row;
	const char *name; /* of the range, or of the longest; borrowed */
} dck_step_range;

/* One step of a trace: that of median duration among the ranges of a name that repeats. */
typedef struct dck_step {
	const char *name;     /* "step"; NULL: nothing repeats, and it is all of the trace */
	uint64_t took_ns, of; /* of: steps to choose from */
	const dck_step_range *ranges; /* by row, then by time */
	size_t n;
	const char *const *tracks; /* by row: names of threads, NULL: a deeper row of the same */
	uint32_t nrows;
} dck_step;

/* Data of a timeline: a description as JSON, and the columns of numbers that it refers to.
 * dck_trace_read_timeline() makes it. */
typedef struct dck_timeline {
	dck_buffer json, columns; /* @owned, dck_timeline_done */
	dck_step step;
	void *memory; /* @owned, dck_timeline_done: of the step */
} dck_timeline;
DCK_API void dck_timeline_done(dck_timeline *t); /* NULL and {0} are allowed. */

/* Reads a trace as dck_trace_read_with() does, and returns the data of its timeline for a page:
 * *ret_timeline is owned, dck_timeline_done(). It has at most 8 MB: in a large trace adjacent short
 * ranges are merged, with their number and names. */
DCK_API dck_status dck_trace_read_timeline(const char *path, const dck_trace_reading *how,
					   dck_record **ret, dck_timeline *ret_timeline,
					   dck_err *err) DCK_MUST_USE;

/* Records, @owned: dck_records_done(). */
typedef struct dck_records {
	dck_record **of;
	size_t n;
} dck_records;

/* Appends the records of a file as dck_read_any() reads it, or all of a list of records, as
 * dck_report("json") writes several. timeline: receives that of a trace; NULL: none. On failure
 * some records of the file may be appended. */
DCK_API dck_status dck_records_read(dck_records *to, const char *path, const dck_trace_reading *how,
				    dck_timeline *timeline, dck_err *err) DCK_MUST_USE;
DCK_API void dck_records_done(dck_records *r);

/* Draws the step of a trace as dck_figure draws: a row for each depth of each thread. */
DCK_API void dck_timeline_draw(const dck_timeline *t, dck_sink *out);

/* Finds the figure of that name which a record has; *ret NULL: "timeline", of t, which may be NULL.
 * E_ARG: no figure has that name; E_ABSENT: the record has nothing for it. */
DCK_API dck_status dck_figure_find(const char *name, const dck_record *r, const dck_timeline *t,
				   const dck_figure **ret, dck_err *err) DCK_MUST_USE;

/* Makes a record whose table "records" has a row for each record with a median latency; its figures
 * are "records" and "records-rate". *ret is owned. */
DCK_API dck_status dck_records_overview(const dck_record *const *records, size_t n,
					dck_record **ret, dck_err *err) DCK_MUST_USE;

/* --- lists of the program */

/* The options of a dck_op_view (by, sort, top), with the choices of operators and of call paths. */
DCK_API extern const dck_opt dck_view_options[];

/* Returns whether `which`, read by dck_view_options, and *view, read by dck_calls_options, request
 * call paths, and then sets by, sort and top of *view. false: tables of operators, by `which`. */
DCK_API bool dck_calls_wanted(const dck_op_view *which, dck_calls_view *view);

/* An operator in deepclock's tables. */
typedef struct dck_cost_operator {
	const char *domain, *name; /* domain "": ONNX's own */
	const char *formula;	   /* formula of its cost, in words; static */
} dck_cost_operator;

/* Reads the i-th operator; false: past the end. */
DCK_API bool dck_cost_operator_get(size_t i, dck_cost_operator *ret);

/* Makes a record with the result of dck_history_list() as table "history/records", for the writers;
 * fact history/records: the number of records without the limit. title: the record's command; NULL:
 * none. *ret is owned: dck_record_free(). */
DCK_API dck_status dck_history_list_record(dck_history *h, const dck_history_filter *f,
					   const char *metric, const char *title, dck_record **ret,
					   dck_err *err) DCK_MUST_USE;

/* Opens as dck_history_open(). While another program's lock on a file is awaited, then and in each
 * later call, watch->cancelled() is called, which ends the wait: E_CANCEL. watch: borrowed until
 * dck_history_close(). @since 0.1 */
DCK_API dck_status dck_history_open_watched(const dck_history_config *c, const dck_observer *watch,
					    dck_history **ret, dck_err *err) DCK_MUST_USE;
/* Returns whether the name of a history is an address of PostgreSQL. @since 0.1 */
DCK_API bool dck_history_is_server(const char *path);
/* Writes the name of a history as it may be shown: without the password of an address. @since 0.1
 */
DCK_API void dck_history_shown(const char *path, char *ret, size_t size);
/* Checks that records can be added to the history at an address of PostgreSQL, without creating
 * anything. Errors: those of dck_history_open(); E_IO: it may only be read. @since 0.1 */
DCK_API dck_status dck_history_server_check(const char *address, dck_err *err) DCK_MUST_USE;
/* Checks that the text may name a commit in a history. Errors: E_ARG. @since 0.1 */
DCK_API dck_status dck_history_commit_check(const char *commit, dck_err *err) DCK_MUST_USE;
/* Replaces *r, which is freed, by its dck_history_starts() in the history at `path` (NULL: the
 * default). On any failure *r is unchanged. */
DCK_API void dck_history_with_starts(const char *path, dck_record **r);

/* Makes a record of a trend: facts and the table "history/points", with cells change_p, before,
 * after and change where the level changed. title: the record's command; NULL: none. *ret is owned:
 * dck_record_free(). */
DCK_API dck_status dck_history_trend_record(const dck_history_trend *t, const char *title,
					    dck_record **ret, dck_err *err) DCK_MUST_USE;
/* Makes a record of alarms: facts and the table "history/alarms". title, *ret: the same. */
DCK_API dck_status dck_history_alarms_record(const dck_history_alarms *a, const char *title,
					     dck_record **ret, dck_err *err) DCK_MUST_USE;
/* Makes a record of two commits: facts, the table "history/commits", and the verdict: violated if a
 * pair is worse, inconclusive if none was tested. title, *ret: the same. */
DCK_API dck_status dck_history_commits_record(const dck_history_commits *c, const char *title,
					      dck_record **ret, dck_err *err) DCK_MUST_USE;

/* --- ranks */

/* dck_ranks_end(), whose wait for the other ranks at rank 0 has 2 s left once watch->cancelled()
 * returns true; the record is then incomplete. watch NULL: none. */
DCK_API dck_status dck_ranks_end_watched(dck_ranks *r, const dck_observer *watch, dck_record **ret,
					 dck_err *err);

/* --- laps */

/* The results of a lap; zeroed for NULL. */
typedef struct dck_lap_result {
	uint64_t wall_ns, cpu_ns;
	uint64_t index; /* index among laps of its name in the enclosing lap, from 1 */
	char line[DCK_LAP_LINE_SIZE]; /* as of dck_lap_end_line() */
} dck_lap_result;

/* Ends the lap as dck_lap_end_line() does, and returns its results. */
DCK_API void dck_lap_end_result(dck_lap *l, dck_lap_result *ret);

/* Writes the live line, the open laps and their times: laps inside fewer than `depth` others, and
 * outermost laps; "" until one has been open for a second. Returns ret. */
DCK_API char *dck_laps_open_line(unsigned depth, char *ret, size_t size);

/* --- counters and calls */

/* An event that can be counted. */
typedef struct dck_count_event {
	const char *name, *alias, *help; /* alias NULL: none */
	const char *absent;		 /* why it cannot be counted here; NULL: it can */
} dck_count_event;
/* Reads the i-th event, in perf's order; false: past the end. Strings are static except the name,
 * which is valid until this thread's next call. Queries the kernel. */
DCK_API bool dck_count_event_get(size_t i, dck_count_event *ret);

/* Call counter of one thread: a calling-context tree with calls and self time. One thread at a time
 * may use it; another may read it after that thread has stopped. */
typedef struct dck_call_counter dck_call_counter;

/* Makes a call counter. @owned, dck_call_counter_free(); NULL: no memory. Reserves address space at
 * once, and uses memory as paths occur. like: another counter of this process, whose clock it
 * shares; NULL: calibrates the clock, in 25 ms. */
DCK_API dck_call_counter *dck_call_counter_new(const dck_call_counter *like);
DCK_API void dck_call_counter_free(dck_call_counter *c); /* NULL is allowed. */
/* Makes a call counter in a new file of that name, so that another process can read it, however
 * this process ends. Copies the open call stack of `after` (NULL: none) without counting those
 * calls again, for use after fork(). path NULL: in memory. Returns NULL without memory, or if the
 * file cannot be made. */
DCK_API dck_call_counter *dck_call_counter_new_in(const char *path, const dck_call_counter *like,
						  const dck_call_counter *after);
/* Reads such a file, with the clock of `like`; `mark` is ORed into its functions' ids, so that ids
 * of several processes do not collide. NULL: no memory, or not such a file. */
DCK_API dck_call_counter *dck_call_counter_read(const char *path, const dck_call_counter *like,
						uint64_t mark);
/* Begin and end a call of the function with this id (not 0). An end without a beginning is ignored;
 * the end of an outer call ends the calls inside. dck_call_counter_enter() returns true if the
 * path, and thus perhaps the function, is new. */
DCK_API bool dck_call_counter_enter(dck_call_counter *c, uint64_t function);
DCK_API void dck_call_counter_leave(dck_call_counter *c, uint64_t function);
/* Undoes dck_call_counter_enter(): if `function` is the innermost open call, it is not counted.
 * Returns false otherwise. */
DCK_API bool dck_call_counter_undo(dck_call_counter *c, uint64_t function);
/* Ends all open calls. E_NOMEM. */
DCK_API dck_status dck_call_counter_end(dck_call_counter *c, dck_err *err);

/* A call path, with the calls and times of its innermost function. */
typedef struct dck_call_path {
	uint64_t function;  /* 0: overflow node of several functions */
	size_t parent;	    /* index of the caller's path, an earlier one; 0: none */
	uint64_t calls;	    /* number of calls */
	uint64_t recursive; /* recursive calls among them */
	double self_ns, total_ns;
} dck_call_path;
/* Reads the i-th path, from 1, callers before callees, as of dck_call_counter_end(); false: past
 * the end. */
DCK_API bool dck_call_counter_path(const dck_call_counter *c, size_t i, dck_call_path *ret);

/* Metadata of a record of calls. */
typedef struct dck_call_counter_meta {
	const char *title;   /* the command; NULL: none */
	const char *method;  /* how the calls were recorded: a fact */
	uint64_t elapsed_ns; /* 0: unknown */
	/* Overhead of an empty call in the function's time and in its caller's. */
	double cost_inside_ns, cost_outside_ns;
	bool incomplete;
	size_t processes; /* number of recorded processes; 0: unknown */
	size_t threads;	  /* number of threads that made the calls; 0: unknown */
	size_t top;	  /* functions in the table; 0: all */
	/* Returns the function's frame; strings are copied. false: unknown. */
	bool (*frame)(void *self, uint64_t function, dck_frame *ret);
	void *self;
	const char *sort; /* one of dck_count_sorts; NULL: the first */
	bool replaced;	  /* another profiler took the place of this one: incomplete, with a note */
	size_t uncounted; /* threads without space for their counts: incomplete, with a note */
} dck_call_counter_meta;
/* Makes a record of n threads together: table "functions" and tree "calls". *ret is owned. */
DCK_API dck_status dck_call_counter_record(const dck_call_counter *const *all, size_t n,
					   const dck_call_counter_meta *about, dck_record **ret,
					   dck_err *err) DCK_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
