/* calls.h - queries on a record's call trees: export, function table, tree, callers and callees,
 * and the difference of two records.
 *
 *	dck_calls_view view = {.tree = "samples"};
 *	dck_record *shown;
 *
 *	if (dck_calls_query(record, &view, &shown, &err) == DCK_OK)
 *		... dck_report("text", ...) ...
 *
 * A view is a separate record, with tables that any writer shows.
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

/* A query. Zeroed: the functions of the first tree, by self weight. */
typedef struct dck_calls_view {
	const char *tree;   /* name of the tree; NULL: the first; formats that hold several: all */
	const char *weight; /* key of the column; NULL: time, else the first that is not a count */
	dck_calls_by by;
	const char *callers, *callees; /* of the functions with this name */
	/* "self", "total", "primitive", "name", "file", "line", "module", or the key of a weight;
	 * in pstats' names "ncalls", "pcalls", "tottime", "time", "cumtime", "cumulative". NULL:
	 * self; for callers and callees total. "memory", "self_memory", "device_memory",
	 * "self_device_memory" and torch.profiler's names for these ("cpu_memory_usage", ...): the
	 * operators of its trace. */
	const char *sort;
	uint64_t depth; /* levels of the tree; 0: 40 */
	uint64_t top;	/* rows; 0: 60 */
	bool normalise; /* the first of two is scaled to the sum of the second */
	bool diff;	/* two records are compared */
} dck_calls_view;
DCK_API extern const dck_opt dck_calls_options[];
/* Makes a record with one table: "functions", "paths", "callers", "callees" or "operators". *ret is
 * owned: dck_record_free(). E_ABSENT: no such tree, weight or function; E_ARG: no such sort key
 * or `by`. @since 0.1 */
DCK_API dck_status dck_calls_query(const dck_record *r, const dck_calls_view *view,
				   dck_record **ret, dck_err *err) DCK_MUST_USE;

/* Compares the tree of that name in b with the one in a: tables "diff/functions" and "diff/paths",
 * and tree "diff" with a weight from each. Functions are equal if their names, files and modules
 * are equal. *ret is owned: dck_record_free(). @since 0.1 */
DCK_API dck_status dck_calls_diff(const dck_record *a, const dck_record *b,
				  const dck_calls_view *view, dck_record **ret,
				  dck_err *err) DCK_MUST_USE;

/* Writes a record's trees in a format of DCK_CALLS_FORMAT_MAP (trace.h). gzip:
 * compresses formats whose readers accept it. For a record of dck_calls_diff(), "folded" has both
 * weights. E_ARG: no such format; E_ABSENT as above. Errors of the sink come from
 * dck_sink_finish(). @since 0.1 */
DCK_API dck_status dck_calls_write(const dck_record *r, const dck_calls_view *view,
				   const char *form, bool gzip, dck_sink *out,
				   dck_err *err) DCK_MUST_USE;

/* Reads another profiler's file. From Python's cProfile or profile (dump_stats()): table
 * "functions" (name, calls, primitive calls, total and self in ns, file, line), exactly as in the
 * file, which views of functions show, and tree "calls", whose paths are estimated from callers; a
 * note states this. From
 * speedscope's format (plain or gzip), folded stacks and gprof2dot's JSON: table "functions" and
 * tree "samples", with the file's weights; times are in ns. *ret is owned, dck_record_free().
 * E_ABSENT, E_IO: no such file; E_FORMAT: not such a profile; E_LIMIT: too large; E_NOMEM.
 * @since 0.1 */
DCK_API dck_status dck_profile_read(const char *path, dck_record **ret, dck_err *err) DCK_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
