/* zone_table.c - tables of ranges: a row for each name, the longest total first, with the interval
 * of its mean (zone_stats_mean.c) and the percentiles of its histogram. A percentile needs as many
 * calls as its own interval would (stat_quantile_runs()); with fewer it is absent, with that
 * reason. The answer compares self times, in which waits count only if there is nothing else.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/timeline/zone_table.h"

#include "base/err.h"
#include "base/mem.h"
#include "deepclock/opt.h"
#include "stat/stat.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double level = 0.95;

typedef struct zone_row {
	const char *name;
	const zone_stats *z;
} zone_row;

/* Sorts by total time, the longest first; ties by name, so that the order is deterministic. */
static int by_total(const void *a, const void *b)
{
	const zone_row *x = a, *y = b;

	if (x->z->total_ns != y->z->total_ns)
		return x->z->total_ns > y->z->total_ns ? -1 : 1;
	return strcmp(x->name, y->name);
}

double zone_percentile_calls(double p)
{
	/* Half of them lie on either side of the median with as few as one. */
	return p == 0.5 ? 1 : stat_quantile_runs(p, level);
}

static void percentile_put(record_builder *b, const zone_stats *z, double p)
{
	const double needed = zone_percentile_calls(p);
	char few[80];
	double ns;

	snprintf(few, sizeof few, "it needs %.0f calls, and %llu ended", needed,
		 (unsigned long long)z->calls);
	if ((double)z->calls < needed)
		record_cell_absent(b, few);
	else if (!z->histogram || !zone_histogram_quantile(z->histogram, p, &ns))
		record_cell_absent(b, "there was no memory for the times of so many names");
	else
		record_cell_real(b, fmin(fmax(ns, (double)z->min_ns), (double)z->max_ns));
}

static void zone_row_put(record_builder *b, const zone_row *r, const zone_percentiles *p)
{
	static const char none[] = "no call of it has ended";
	const zone_stats *z = r->z;
	double mean, lo, hi;

	record_cell_text(b, r->name);
	record_cell_int(b, (int64_t)(z->calls + z->unfinished));
	record_cell_int(b, (int64_t)z->total_ns);
	if (z->self_unknown)
		record_cell_absent(b, "a range that any thread may end: its children are unknown");
	else
		record_cell_int(b, (int64_t)z->self_ns);
	if (!z->calls) {
		for (size_t i = 0; i < 3 + p->n; i++)
			record_cell_absent(b, none);
		return;
	}
	if (zone_stats_mean(z, level, &mean, &lo, &hi))
		record_cell_interval(b, mean, lo, hi, level);
	else
		record_cell_real(b, mean);
	record_cell_int(b, (int64_t)z->min_ns);
	record_cell_int(b, (int64_t)z->max_ns);
	for (size_t i = 0; i < p->n; i++)
		percentile_put(b, z, p->p[i]);
}

enum { FIXED = 7 };

/* The columns of the percentiles follow the others. */
static void timeline_table_put(record_builder *b, const char *table, const char *title,
			       const zone_percentiles *p)
{
	dck_column columns[FIXED + ZONE_PERCENTILES_MAX] = {
	    {"name", "name", DCK_UNIT_NONE}, {"calls", "calls", DCK_UNIT_ONE},
	    {"total", "total", DCK_UNIT_NS}, {"self", "self", DCK_UNIT_NS},
	    {"mean", "mean", DCK_UNIT_NS},   {"min", "min", DCK_UNIT_NS},
	    {"max", "max", DCK_UNIT_NS},
	};
	char names[ZONE_PERCENTILES_MAX][16], brief[256] = "calls total self mean";

	for (size_t i = 0; i < p->n; i++) {
		const char *name = zone_percentile_name(p->p[i], names[i]);

		columns[FIXED + i] = (dck_column){name, name, DCK_UNIT_NS};
		strcat(strcat(brief, " "), name);
	}
	record_table(b, table, title, columns, FIXED + p->n);
	record_summary_columns(b, brief);
	if (p->n)
		record_fact_text(b, "method", "percentiles",
				 "of all calls that ended, within 0.4 %");
}

/* Writes the answer: the zone with the largest self time, the time of its calls outside other
 * zones.
 */
static void zone_answer_put(record_builder *b, const zone_row *rows, size_t n)
{
	const zone_row *most = NULL;
	char own[32], calls[32];
	double all = 0;
	bool zones = false;

	/* Waits are not counted as work, unless there is nothing else. */
	for (size_t i = 0; i < n; i++)
		zones |= !trace_is_wait(rows[i].name);
	for (size_t i = 0; i < n; i++) {
		if (zones && trace_is_wait(rows[i].name))
			continue;
		all += (double)rows[i].z->self_ns;
		if (!most || rows[i].z->self_ns > most->z->self_ns)
			most = &rows[i];
	}
	if (!most) {
		record_answer(b, "no zone was entered");
		return;
	}
	for (size_t i = 0; most->z->self_ns == 0 && i < n; i++)
		if (!zones || !trace_is_wait(rows[i].name)) {
			most = &rows[i];
			break;
		}
	const uint64_t ns = most->z->self_ns ? most->z->self_ns : most->z->total_ns;
	dck_text_count((int64_t)(most->z->calls + most->z->unfinished), calls, sizeof calls);
	dck_text_time((double)ns, own, sizeof own);
	const char *s = strcmp(calls, "1") ? "s" : "";
	if (!zones)
		record_answer(b,
			      "no zone was entered (how to make one: deepclock trace --help); of "
			      "its waits the longest in sum: %.60s, %s in %s call%s",
			      most->name, own, calls, s);
	else if (most->z->self_ns == 0)
		record_answer(b, "%.60s takes %s in %s call%s", most->name, own, calls, s);
	else
		record_answer(b,
			      "%.60s has the most self time: %s in %s call%s, %.0f %% of all "
			      "zones'",
			      most->name, own, calls, s, 100 * (double)ns / all);
}

/* The rows, which the caller frees; NULL: no memory. */
static zone_row *zone_rows_put(const zone_aggregate *s, zone_name_of *name_of, void *self,
			       const char *table, const char *title, record_builder *b,
			       size_t *ret_n)
{
	zone_row *rows = s->failed ? NULL : mem_zalloc(s->nstats + (size_t)1, sizeof *rows);
	size_t n = 0;

	if (!rows)
		return NULL;
	for (uint32_t i = 0; i < s->nstats; i++) {
		const char *name = s->stats[i] ? name_of(self, i) : NULL;

		if (s->stats[i])
			rows[n++] = (zone_row){name ? name : "(no name)", s->stats[i]};
	}
	qsort(rows, n, sizeof *rows, by_total);
	timeline_table_put(b, table, title, &s->percentiles);
	for (size_t i = 0; i < n; i++)
		zone_row_put(b, &rows[i], &s->percentiles);
	*ret_n = n;
	return rows;
}

dck_status zone_table_device_put(const zone_aggregate *s, zone_name_of *name_of, void *self,
				 record_builder *b, dck_err *err)
{
	zone_row *rows;
	bool any = s->failed;
	size_t n;

	for (uint32_t i = 0; i < s->nstats && !any; i++)
		any = s->stats[i];
	if (!any)
		return DCK_OK;
	rows = zone_rows_put(s, name_of, self, "device_zones", "Ranges on devices", b, &n);
	DCK_NEED(rows, err, "for the table of ranges on devices");
	mem_free(rows);
	return DCK_OK;
}

dck_status zone_table_put(const zone_aggregate *s, zone_name_of *name_of, void *self,
			  record_builder *b, dck_err *err)
{
	size_t n;
	zone_row *rows = zone_rows_put(s, name_of, self, "zones", "Zones", b, &n);

	DCK_NEED(rows, err, "for the table of zones");
	zone_answer_put(b, rows, n);
	mem_free(rows);
	return path_trie_put(&s->paths, "zones", "Zones by their call paths", name_of, self, b,
			     err);
}
