/* calls.h - queries on a record's call trees: export, function table, tree, callers and callees,
 * and the difference of two records.
 *
 *	dck_calls_view view = {.tree = "samples"};
 *	dck_record *shown;
 *
 *	if (dck_calls_look(record, &view, &shown, &err) == DCK_OK)
 *		... dck_report("text", ...) ...
 *
 * A view is a record of its own, with tables that any writer shows.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_CALLS_H
#define DCK_CALLS_H

#include "opt.h"
#include "record.h"
#include "report.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum dck_calls_by { DCK_CALLS_BY_FUNCTION, DCK_CALLS_BY_PATH } dck_calls_by;

/* The query. Zeroed: the functions of the first tree, by their own weight. */
typedef struct dck_calls_view {
	const char *tree;   /* its name; NULL: the first; of forms that hold several: all */
	const char *weight; /* key of its column; NULL: time, else the first that is no count */
	dck_calls_by by;
	const char *callers, *callees; /* of the functions of that name */
	/* "self", "total", "name", "file", "line", "module", or the key of a weight; of pstats
	 * "ncalls", "tottime", "time", "cumtime", "cumulative". NULL: self; of callers and
	 * callees total. "memory", "self_memory", "device_memory", "self_device_memory" and
	 * torch.profiler's words for these ("cpu_memory_usage", ...): the operators of its trace.
	 */
	const char *sort;
	uint64_t depth; /* levels of the tree; 0: 40 */
	uint64_t top;	/* rows; 0: 60 */
	bool normalise; /* the first of two is scaled to the sum of the second */
	bool diff;	/* two records are compared */
} dck_calls_view;
DCK_API extern const dck_opt dck_calls_options[];
/* A record with a table: "functions", "paths", "callers", "callees" or "operators". E_ABSENT: there
 * is no such tree, weight or function; E_ARG: nothing to sort by of that name. @since 0.1 */
DCK_API dck_status dck_calls_look(const dck_record *r, const dck_calls_view *view, dck_record **ret,
				  dck_err *err) DCK_MUST_USE;

/* How b differs from a in the tree of that name: the tables "diff/functions" and "diff/paths", and
 * the tree "diff" with a weight of each. Functions are the same where their names, files and
 * modules are. @since 0.1 */
DCK_API dck_status dck_calls_diff(const dck_record *a, const dck_record *b,
				  const dck_calls_view *view, dck_record **ret,
				  dck_err *err) DCK_MUST_USE;

/* Writes a record's trees as "pprof", "folded", "speedscope", "callgrind" or "pstats". gzip:
 * compressed, where what reads the form takes that. Of a record that dck_calls_diff() made, folded
 * has both weights. E_ARG: no such form; E_ABSENT as above. Errors of the sink come from
 * dck_sink_finish(). @since 0.1 */
DCK_API dck_status dck_calls_write(const dck_record *r, const dck_calls_view *view,
				   const char *form, bool gzip, dck_sink *out,
				   dck_err *err) DCK_MUST_USE;

/* A profile of another program. Of Python's cProfile or profile, as their dump_stats() writes it:
 * table "functions" (name, calls, primitive calls, total and self in ns, file, line), exactly as in
 * the file, and tree "calls", whose paths are estimated from callers; a note states this. Of
 * speedscope's format (plain or compressed by gzip), of folded stacks and of gprof2dot's JSON:
 * table "functions" and tree "samples", whose weights are those of the file; times are in ns. *ret
 * is owned, dck_record_free(). E_ABSENT, E_IO: no such file; E_FORMAT: no such profile; E_LIMIT:
 * too much of it; E_NOMEM. @since 0.1 */
DCK_API dck_status dck_profile_read(const char *path, dck_record **ret, dck_err *err) DCK_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
