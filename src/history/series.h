/* series.h - the values of one metric over time: rows of the index, folded into points, and the
 * changes of their level. Used by a trend (trend.c), alarms (alarms.c) and commits (commits.c).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef HISTORY_SERIES_H
#define HISTORY_SERIES_H

#include "history/store.h"
#include "stat/stat.h"

/* Of the intervals of means, and the false discovery rate of tests of many series. */
#define SERIES_LEVEL	      0.95
#define SERIES_DISCOVERY_RATE 0.05

/* A record that has the metric. Texts are borrowed. */
typedef struct series_row {
	const char *id, *commit;
	int64_t at;
	double value, lo, hi, level;
	int64_t group; /* rows of one point are adjacent and have the same */
} series_row;

typedef struct series_rows {
	series_row *row; /* sorted by point, then by time; the oldest first; mem_free() */
	size_t n, capacity;
} series_rows;

dck_status series_row_add(series_rows *all, const series_row *row, dck_err *err);

/* Makes t->points of the rows: a group's one value, or the mean of its values with Student's t
 * interval (stat_processes()), since each record came from a separate process. Then finds
 * t->changes, of at least the share least_change of the level (stat_change_alarms()), and the
 * autocorrelation. What t refers to is in the arena. ret_alarms: for each change its p-value over
 * repeated looks; capacity STAT_CHANGES_MAX; NULL is allowed. */
dck_status series_fold(const series_rows *all, double least_change, mem_arena *arena,
		       dck_history_trend *t, double *ret_alarms, dck_err *err);

/* One metric of one subject, command, machine and method. */
typedef struct series {
	const char *subject, *verb, *machine, *method, *cpu, *engine; /* NULL: unknown */
	dck_metric_def metric; /* with the unit of its rows */
	series_rows rows;      /* the newest first, without intervals and groups */
	mem_arena *arena;      /* of all texts */
} series;

/* Calls each(self, s) for every series of complete records of the filter whose metric has a better
 * direction, with its newest ROWS_MAX rows; one at a time is in memory. tag: of this metric alone;
 * NULL: of all. commits: two names' beginnings, and only records of them; NULL: all records. Stops
 * at the first failure. */
dck_status series_each(dck_history *h, const history_where *w, const char *tag,
		       const char *const *commits,
		       dck_status (*each)(void *self, series *s, dck_err *err), void *self,
		       dck_err *err);
/* As strcmp(); NULL, an unknown text, is the first. */
int series_text_order(const char *a, const char *b);
/* The order of the first of n pairs of texts that differ. */
int series_texts_order(const char *const *a, const char *const *b, size_t n);

#endif
