/* unstable.h - what the program deepclock and its Python extension need of the library, and no
 * other program should.
 *
 * No promise is made for it: any version, also one that changes only its last number, may change or
 * remove what is declared here, layouts included, and the soname does not tell
 * (docs/reference/abi.md). deepclock.h does not include it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_UNSTABLE_H
#define DCK_UNSTABLE_H

#include "calls.h"
#include "cost.h"
#include "count.h"
#include "history.h"
#include "lap.h"
#include "report.h"
#include "trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- a process that ends in the middle */

/* For a program that ends in the middle, by a signal: removes the temporary files and directories
 * of what is under way, and kills the processes that were started for it. It may be called in a
 * signal handler; nothing of the library works afterwards, so _exit() comes next. */
DCK_API void dck_abandon(void);

/* Kills the programs that were started for what is under way, and those that they started in turn:
 * the callers that wait for them continue with what was recorded. It may be called in a signal
 * handler. */
DCK_API void dck_programs_kill(void);

/* --- command lines */

/* dck_opt_set() for a row that is known; `cfg` is the config that the row's table belongs to. */
DCK_API dck_status dck_opt_read(const dck_opt *row, void *cfg, const char *text, dck_err *err);

/* The row of that name, or NULL. Borrowed, static. */
DCK_API const dck_opt *dck_opt_find(const dck_opt *table, const char *name);

/* An option that was given; value: its text, the last one, NULL of a flag. */
typedef struct dck_opt_given {
	const dck_opt *row;
	const char *value;
} dck_opt_given;

/* Whether the n options that were given, each once, go together: `needs` and `excludes` of their
 * rows. tables: all that the command has, NULL-ended. E_ARG. */
DCK_API dck_status dck_opt_check(const dck_opt *const *tables, const dck_opt_given *given, size_t n,
				 dck_err *err) DCK_MUST_USE;

/* The known name nearest to a mistyped one (edit distance at most 3 and less than half its
 * length), or NULL. names: n of them. */
DCK_API const char *dck_nearest(const char *name, const char *const *names, size_t n);

/* Bytes of the character at text; 0: it has ended. *ret_shown false: a control character, or a byte
 * that is no UTF-8, in whose place a terminal is to be given a mark. */
DCK_API size_t dck_text_char(const char *text, bool *ret_shown);

/* In place: "17.8 \u00b5s" as "17.8 us", for a terminal that cannot show the sign. All texts of the
 * library spell the unit with it. Returns text. */
DCK_API char *dck_text_ascii_units(char *text);

/* Whether all sizes of the model's inputs are given, before anything is opened or measured: E_ARG
 * names those that are open, and repeats `command` with options that give them (NULL: the options
 * alone). What the model's file does not show is no failure. */
DCK_API dck_status dck_subject_check(const dck_subject *s, const char *command,
				     dck_err *err) DCK_MUST_USE;

/* What the plug-in "plugin:FILE" says of itself, asked in a child process. *ret is owned, one
 * block: dck_free(). Errors: E_ENGINE with the sentence why it is refused, E_NOMEM. */
DCK_API dck_status dck_plugin_probe(const char *name, dck_engine_info **ret,
				    dck_err *err) DCK_MUST_USE;

/* --- files */

/* For callers that replace a file atomically (write a temporary file, then rename). Resolves
 * symbolic links, which stay, to the name to replace: PATH_MAX bytes at *ret. E_IO: a link that
 * another user made in a directory where everybody may (/tmp), since it could lead anywhere, or
 * another user's file or pipe, since its owner reads and changes what is written. */
DCK_API dck_status dck_file_target(const char *path, char *ret, dck_err *err);
/* Gives the new file, made with mode 0600, owner, group and mode of the one that is there, as far
 * as the system lets us, and gives no other user more access than before; where none is there, the
 * mode that umask says. */
DCK_API void dck_file_inherit(int fd, const char *target);

/* Whether a file is a trace that dck_trace_read() takes: one of Perfetto by its name's ending
 * (.pftrace, .perfetto-trace, and .gz behind these), one in JSON by what is in it. false too where
 * it cannot be read. */
DCK_API bool dck_trace_is(const char *path);

/* Whether a file is a profile that dck_profile_read() takes. false too where it cannot be read. */
DCK_API bool dck_profile_is(const char *path);

/* --- timelines and charts of the page */

/* What a timeline is drawn from: a description as JSON, and the columns of numbers that it speaks
 * of. dck_trace_read_timeline() makes it. */
typedef struct dck_timeline {
	dck_buffer json, columns; /* @owned, dck_timeline_done */
} dck_timeline;
DCK_API void dck_timeline_done(dck_timeline *t); /* NULL and {0} are allowed. */

/* dck_trace_read_with(), and what its timeline is drawn from in a page: *ret_timeline is owned,
 * dck_timeline_done(). Each range is in it while there are few enough; of more, short ones are put
 * together, and it says how many and which, so that it is never larger than 8 MB. */
DCK_API dck_status dck_trace_read_timeline(const char *path, const dck_trace_reading *how,
					   dck_record **ret, dck_timeline *ret_timeline,
					   dck_err *err) DCK_MUST_USE;

/* A chart of the page (writer "html") as a browser drew it: as SVG, 752 px wide and of any height,
 * and as PNG, twice as large. */
typedef struct dck_chart {
	const char *name;    /* "ecdf": letters of the alphabet, digits, '-' */
	size_t record;	     /* which of them, from 0; DCK_CHART_OF_ALL: of all together */
	dck_buffer svg, png; /* the library's, until the call that gets them returns */
} dck_chart;
#define DCK_CHART_OF_ALL ((size_t)-1)

/* Gives each(self, chart) every chart that the page of the records has, but for those that
 * dck_figures() has of that record. Headless Chromium draws them, which is started for it and has
 * no network; as root without its sandbox, since it would not start. timeline: as in dck_style.
 * E_ABSENT: there is no chromium, chromium-browser or google-chrome in PATH, or no page in this
 * build; E_ENGINE: the browser failed, or took more than two minutes; what each() returns if that
 * is not DCK_OK, with its *err. */
DCK_API dck_status dck_figures_browse(const dck_record *const *records, size_t n,
				      const dck_timeline *timeline,
				      dck_status (*each)(void *self, const dck_chart *c,
							 dck_err *err),
				      void *self, dck_err *err) DCK_MUST_USE;

/* --- lists of the program */

/* Rows of a dck_op_view (by, sort, top) with the choices of operators and of call paths. */
DCK_API extern const dck_opt dck_view_options[];

/* Whether `which`, read by dck_view_options, and *view, read by dck_calls_options, request call
 * paths; completes *view with by, sort and top. false: tables of operators, by `which`. */
DCK_API bool dck_calls_wanted(const dck_op_view *which, dck_calls_view *view);

/* An operator that deepclock knows. */
typedef struct dck_cost_operator {
	const char *domain, *name; /* domain "": ONNX's own */
	const char *formula;	   /* what it costs, in words; static */
} dck_cost_operator;

/* The i-th of all operators; false: there are no more. */
DCK_API bool dck_cost_operator_get(size_t i, dck_cost_operator *ret);

/* dck_history_list() as one table of a record that measured nothing, "history/records", for writers
 * of records; fact history/records: how many there are without the limit. title: the record's
 * command; NULL: none. *ret is owned: dck_record_free(). */
DCK_API dck_status dck_history_list_record(dck_history *h, const dck_history_filter *f,
					   const char *metric, const char *title, dck_record **ret,
					   dck_err *err) DCK_MUST_USE;

/* dck_history_starts() of *r, in the history at `path` (NULL: the usual one), takes the place of
 * *r, which is freed. Where there is none, for whatever reason, *r stays as it is. */
DCK_API void dck_history_with_starts(const char *path, dck_record **r);

/* A trend as a record: facts and the table "history/points", whose cells change_p, before, after
 * and change are there where the level changed. title: the record's command; NULL: none. *ret is
 * owned: dck_record_free(). */
DCK_API dck_status dck_history_trend_record(const dck_history_trend *t, const char *title,
					    dck_record **ret, dck_err *err) DCK_MUST_USE;

/* --- laps */

/* What a lap was; zeroed for NULL. */
typedef struct dck_lap_told {
	uint64_t wall_ns, cpu_ns;
	uint64_t index;		      /* which of its name it was where it lay, from 1 on */
	char line[DCK_LAP_LINE_SIZE]; /* as of dck_lap_end_line() */
} dck_lap_told;

/* dck_lap_end_line(), and says all of it. */
DCK_API void dck_lap_end_told(dck_lap *l, dck_lap_told *ret);

/* What is open, and for how long, as the live line shows it: laps that lie inside fewer than
 * `depth` others, and outermost ones; "" while none of them has been open for a second. Returns
 * ret. */
DCK_API char *dck_laps_open_line(unsigned depth, char *ret, size_t size);

/* --- counters and calls */

/* An event that can be counted. */
typedef struct dck_count_event {
	const char *name, *alias, *help; /* alias NULL: none */
	const char *absent;		 /* why not here; NULL: it can be */
} dck_count_event;
/* The i-th, in perf's order; false: there is none. Texts are static but the name, which is valid
 * until the next call of this thread. It asks the kernel. */
DCK_API bool dck_count_event_get(size_t i, dck_count_event *ret);

/* Calls of one thread, added up by their paths: how often, and how long without what they call.
 * One thread at a time uses it; reading may happen in another when that has stopped. */
typedef struct dck_calls dck_calls;

/* @owned, dck_calls_free(); NULL: no memory. It takes address space at once, and memory as paths
 * are met. like: another of this process, whose clock it shares; NULL: it finds the clock's rate,
 * in 25 ms. */
DCK_API dck_calls *dck_calls_new(const dck_calls *like);
DCK_API void dck_calls_free(dck_calls *c); /* NULL is allowed. */
/* The same in a new file of that name, so that another process reads what this one counted,
 * whatever ended it. Copies the open call stack of `after` (NULL: none) without counting those
 * calls again, for use after fork(). path NULL: in memory. Returns NULL without memory, or if the
 * file cannot be made. */
DCK_API dck_calls *dck_calls_new_in(const char *path, const dck_calls *like,
				    const dck_calls *after);
/* What is in such a file, with the clock of `like`; its functions' numbers have the bits of `mark`
 * too, so that those of several processes are not mistaken for each other. NULL: no memory, or it
 * is no such file. */
DCK_API dck_calls *dck_calls_read(const char *path, const dck_calls *like, uint64_t mark);
/* A call of the function with that number, any but 0, begins now or ends now. An end without a
 * beginning is left out; one of an outer call ends those inside. true: by a path that is new, so
 * the function may be too. */
DCK_API bool dck_calls_enter(dck_calls *c, uint64_t function);
DCK_API void dck_calls_leave(dck_calls *c, uint64_t function);
/* Undoes dck_calls_enter(): if `function` is the innermost open call, it is not counted. Returns
 * false otherwise. */
DCK_API bool dck_calls_forget(dck_calls *c, uint64_t function);
/* All that is open ends now. E_NOMEM. */
DCK_API dck_status dck_calls_end(dck_calls *c, dck_err *err);

/* A path: what the innermost function did where it was called so. */
typedef struct dck_call_path {
	uint64_t function; /* 0: of several, whose paths found no room */
	size_t parent;	   /* the path of its caller, an earlier one; 0: it has none */
	uint64_t calls;	   /* all of them */
	uint64_t again;	   /* of them, those of a function that was open already */
	double self_ns, total_ns;
} dck_call_path;
/* The paths, from 1 on, a caller's before what it called, as dck_calls_end() found them; false:
 * there is no more. */
DCK_API bool dck_calls_path(const dck_calls *c, size_t i, dck_call_path *ret);

/* What makes a record of them. */
typedef struct dck_calls_about {
	const char *title;   /* the command; NULL: none */
	const char *method;  /* how the calls were seen: a fact */
	uint64_t elapsed_ns; /* 0: not known */
	/* What an empty call adds to the time of the function, and to that of its caller. */
	double cost_inside_ns, cost_outside_ns;
	bool incomplete;
	size_t processes; /* of which the calls are; 0: unknown */
	size_t top;	  /* functions in the table; 0: all */
	/* What the number stands for; texts are copied. false: nothing is known. */
	bool (*frame)(void *self, uint64_t function, dck_frame *ret);
	void *self;
	const char *sort; /* one of dck_count_sorts; NULL: the first */
} dck_calls_about;
/* Table "functions", tree "calls" of n threads together. *ret is owned. */
DCK_API dck_status dck_calls_record(const dck_calls *const *all, size_t n,
				    const dck_calls_about *about, dck_record **ret,
				    dck_err *err) DCK_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
