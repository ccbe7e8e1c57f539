/* count.h - how often and how long: counters of the system for a program and all that it starts,
 * and calls, total and own time of each function of one that is built with -finstrument-functions.
 *
 *	dck_count_program p = {.argv = (char *[]){"./train", "data", NULL}};
 *	dck_record *record;
 *	dck_err err;
 *
 *	if (dck_count_program_run(NULL, &p, &record, &err) != DCK_OK)
 *		...
 *	dck_record_value(record, "counter/page-faults");
 *	dck_record_table(record, "functions");      name, calls, total, self, ...
 *
 * A caller that knows the functions of its own program, such as an interpreter, counts them with
 * dck_calls.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_COUNT_H
#define DCK_COUNT_H

#include "opt.h"
#include "record.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dck_count_config {
	dck_list events;   /* by perf's names, each item several with commas; none: a default */
	bool no_functions; /* no library is preloaded */
	uint64_t top;	   /* functions in the table; 0: all */
	int sort;	   /* index in dck_count_sorts: the order of the table */
} dck_count_config;

/* The orders of the table of functions, by their columns and in pstats' words; NULL ends them. The
 * first is the default. @since 0.1 */
DCK_API extern const char *const dck_count_sorts[];

/* The rows of dck_count_config, for a command line. */
DCK_API extern const dck_opt dck_count_options[];

typedef struct dck_count_program {
	char *const *argv; /* argv[0] is searched in PATH; NULL-ended */
	/* Asked every 50 ms; true: the program gets SIGTERM. NULL: it never is. */
	bool (*cancelled)(void *self);
	void *self;
	int exit_code, signal; /* set: how it ended; exit_code -1: by the signal */
} dck_count_program;

/* Runs the program; its input and output are ours. config NULL: the defaults. *ret is owned,
 * dck_record_free(): metrics "counter/...", table "functions" and tree "calls" where it was built
 * with -finstrument-functions. When it was cancelled the record is incomplete. E_ABSENT: there is
 * no such program; E_ARG: an event has no such name. @since 0.1 */
DCK_API dck_status dck_count_program_run(const dck_count_config *config, dck_count_program *p,
					 dck_record **ret, dck_err *err) DCK_MUST_USE;

/* An event that can be counted. */
typedef struct dck_count_event {
	const char *name, *alias, *help; /* alias NULL: none */
	const char *absent;		 /* why not here; NULL: it can be */
} dck_count_event;
/* The i-th, in perf's order; false: there is none. Texts are static but the name, which is valid
 * until the next call of this thread. It asks the kernel. @since 0.1 */
DCK_API bool dck_count_event_get(size_t i, dck_count_event *ret);

/* --- calls of one thread, added up by their paths: how often, and how long without what they call.
 * One thread at a time uses it; reading may happen in another when that has stopped. */
typedef struct dck_calls dck_calls;

/* @owned, dck_calls_free(); NULL: no memory. It takes address space at once, and memory as paths
 * are met. like: another of this process, whose clock it shares; NULL: it finds the clock's rate,
 * in 25 ms. @since 0.1 */
DCK_API dck_calls *dck_calls_new(const dck_calls *like);
DCK_API void dck_calls_free(dck_calls *c); /* NULL is allowed. @since 0.1 */
/* The same in a new file of that name, so that another process reads what this one counted,
 * whatever ended it. Copies the open call stack of `after` (NULL: none) without counting those
 * calls again, for use after fork(). path NULL: in memory. Returns NULL without memory, or if the
 * file cannot be made. @since 0.1 */
DCK_API dck_calls *dck_calls_new_in(const char *path, const dck_calls *like,
				    const dck_calls *after);
/* What is in such a file, with the clock of `like`; its functions' numbers have the bits of `mark`
 * too, so that those of several processes are not mistaken for each other. NULL: no memory, or it
 * is no such file. @since 0.1 */
DCK_API dck_calls *dck_calls_read(const char *path, const dck_calls *like, uint64_t mark);
/* A call of the function with that number, any but 0, begins now or ends now. An end without a
 * beginning is left out; one of an outer call ends those inside. true: by a path that is new, so
 * the function may be too. @since 0.1 */
DCK_API bool dck_calls_enter(dck_calls *c, uint64_t function);
DCK_API void dck_calls_leave(dck_calls *c, uint64_t function);
/* Undoes dck_calls_enter(): if `function` is the innermost open call, it is not counted. Returns
 * false otherwise. @since 0.1 */
DCK_API bool dck_calls_forget(dck_calls *c, uint64_t function);
/* All that is open ends now. E_NOMEM. @since 0.1 */
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
 * there is no more. @since 0.1 */
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
/* Table "functions", tree "calls" of n threads together. *ret is owned. @since 0.1 */
DCK_API dck_status dck_calls_record(const dck_calls *const *all, size_t n,
				    const dck_calls_about *about, dck_record **ret,
				    dck_err *err) DCK_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
