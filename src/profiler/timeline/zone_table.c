/* zone_table.c - tables of ranges: a row for each name, the longest total first, with the interval
 * of its mean (zone_stats_mean.c) and the percentiles of its histogram. A percentile needs as many
 * calls as its own interval would (stat_quantile_runs()); with fewer it is absent, with that
 * reason. The answer compares self times, in which waits count only if there is nothing else.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/timeline/zone_table.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "deepclock/opt.h"
#include "stat/stat.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double zone_confidence = 0.95;

typedef struct zone_row {
	const char *name;
	const zone_stats *z;
} zone_row;

/* Sorts by total time, the longest first, waits after what works; ties by name, so that the order
 * is deterministic. */
static int by_total(const void *a, const void *b)
{
	const zone_row *x = a, *y = b;

	if (x->z->wait != y->z->wait)
		return x->z->wait ? 1 : -1;
	if (x->z->total_ns != y->z->total_ns)
		return x->z->total_ns > y->z->total_ns ? -1 : 1;
	return strcmp(x->name, y->name);
}

double zone_percentile_calls(double p)
{
	/* Half of them lie on either side of the median with as few as one. */
	return p == 0.5 ? 1 : stat_quantile_runs(p, zone_confidence);
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
		record_cell_absent(b, "there was no memory for the times of all names");
	else
		record_cell_real(b, fmin(fmax(ns, (double)z->min_ns), (double)z->max_ns));
}

/* What a table has besides: the time of devices in zones; of the devices' ranges the share of all
 * their time, and the bytes they moved, where any did. */
typedef struct zone_columns {
	bool device, share, bytes;
	uint64_t all_ns;
} zone_columns;

static void moved_put(record_builder *b, const zone_stats *z)
{
	static const char none[] = "it moved no bytes that are known";

	if (z->bytes <= 0 || z->total_ns == 0) {
		record_cell_absent(b, none);
		record_cell_absent(b, none);
		return;
	}
	record_cell_int(b, (int64_t)z->bytes);
	record_cell_real(b, z->bytes * 1e9 / (double)z->total_ns);
}

static const char too_long[] = "the sum is more than 292 years";

static dck_value zone_sum_value(uint64_t ns)
{
	return ns < ZONE_SUM_MAX ? RECORD_INT((int64_t)ns) : RECORD_ABSENT(too_long);
}

static void zone_row_put(record_builder *b, const zone_row *r, const zone_percentiles *p,
			 const zone_columns *with)
{
	static const char none[] = "no call of it has ended";
	const zone_stats *z = r->z;
	double mean, lo, hi;

	record_cell_text(b, r->name);
	record_cell_int(b, (int64_t)(z->calls + z->unfinished));
	record_cell(b, zone_sum_value(z->total_ns));
	record_cell(b,
		    z->self_unknown
			? RECORD_ABSENT("a range that any thread may end: its children are unknown")
			: zone_sum_value(z->self_ns));
	if (with->device)
		record_cell_int(b, (int64_t)zone_stats_device_ns(z));
	if (with->share)
		record_cell_real(b, with->all_ns ? (double)z->total_ns / (double)with->all_ns : 0);
	if (with->bytes)
		moved_put(b, z);
	if (!z->calls) {
		for (size_t i = 0; i < 3 + p->n; i++)
			record_cell_absent(b, none);
		return;
	}
	if (z->sum_ns >= ZONE_SUM_MAX)
		record_cell_absent(b, too_long);
	else if (zone_stats_mean(z, zone_confidence, &mean, &lo, &hi))
		record_cell_interval(b, mean, lo, hi, zone_confidence);
	else
		record_cell_real(b, mean);
	record_cell_int(b, (int64_t)z->min_ns);
	record_cell_int(b, (int64_t)z->max_ns);
	for (size_t i = 0; i < p->n; i++)
		percentile_put(b, z, p->p[i]);
}

/* The columns of the percentiles follow the others. */
static void timeline_table_put(record_builder *b, const char *table, const char *title,
			       const zone_percentiles *p, const zone_columns *with)
{
	enum { MOST = 11 };
	static const struct {
		dck_column column;
		const char *of; /* source: a member of zone_columns, or in every table */
		bool brief;
	} all[MOST] = {
	    {{"name", "name", DCK_UNIT_NONE}, "", false},
	    {{"calls", "calls", DCK_UNIT_ONE}, "", true},
	    {{"total", "total", DCK_UNIT_NS}, "", true},
	    {{"self", "self", DCK_UNIT_NS}, "", true},
	    {{"device", "device", DCK_UNIT_NS}, "device", true},
	    {{"share", "share", DCK_UNIT_ONE}, "share", true},
	    {{"bytes", "bytes", DCK_UNIT_BYTE}, "bytes", false},
	    {{"rate", "rate", DCK_UNIT_BYTE_PER_S}, "bytes", true},
	    {{"mean", "mean", DCK_UNIT_NS}, "", true},
	    {{"min", "min", DCK_UNIT_NS}, "", false},
	    {{"max", "max", DCK_UNIT_NS}, "", false},
	};
	dck_column columns[MOST + ZONE_PERCENTILES_MAX];
	char names[ZONE_PERCENTILES_MAX][16], brief[256] = "";
	size_t n = 0;

	for (size_t i = 0; i < MOST; i++) {
		if ((strcmp(all[i].of, "device") == 0 && !with->device) ||
		    (strcmp(all[i].of, "share") == 0 && !with->share) ||
		    (strcmp(all[i].of, "bytes") == 0 && !with->bytes))
			continue;
		columns[n++] = all[i].column;
		if (all[i].brief)
			strcat(strcat(brief, *brief ? " " : ""), all[i].column.key);
	}
	for (size_t i = 0; i < p->n; i++) {
		const char *name = zone_percentile_name(p->p[i], names[i]);

		columns[n++] = (dck_column){name, name, DCK_UNIT_NS};
		strcat(strcat(brief, " "), name);
	}
	record_table(b, table, title, columns, n);
	record_summary_columns(b, brief);
	if (p->n)
		record_fact_text(b, "method", "percentiles",
				 "of all calls that ended, within 0.4 %");
}

enum { ANSWER_NAME_BYTES = 60 }; /* of a zone in the answer */

/* Writes the answer: the zone with the largest self time, the time of its calls outside other
 * zones, and, if there is one, the range that takes longest on devices. */
static void zone_answer_put(record_builder *b, const zone_row *rows, size_t n, const zone_row *on)
{
	const zone_row *most = NULL, *other = NULL;
	char own[32], calls[32], also[300] = "";
	double all = 0;
	bool zones = false;

	/* Waits are not counted as work, unless there is nothing else. */
	if (on) {
		dck_text_time((double)on->z->total_ns, own, sizeof own);
		dck_text_count((int64_t)(on->z->calls + on->z->unfinished), calls, sizeof calls);
		/* Arguments of a template would fill it. */
		const size_t plain = strcspn(on->name, "<");
		snprintf(also, sizeof also, "; on devices %.*s takes longest: %s in %s call%s",
			 plain && plain < ANSWER_NAME_BYTES
			     ? (int)plain
			     : utf8_shown(on->name, ANSWER_NAME_BYTES),
			 on->name, own, calls, strcmp(calls, "1") ? "s" : "");
	}
	for (size_t i = 0; i < n; i++)
		zones |= !trace_is_wait(rows[i].name);
	for (size_t i = 0; i < n; i++) {
		if (zones && trace_is_wait(rows[i].name))
			continue;
		all += (double)rows[i].z->self_ns;
		if (strcmp(rows[i].name, TRACE_OTHER_NAMES) == 0)
			other = &rows[i];
		else if (!most || rows[i].z->self_ns > most->z->self_ns)
			most = &rows[i];
	}
	if (other && most)
		snprintf(also + strlen(also), sizeof also - strlen(also),
			 "; %.0f %% are of zones whose names are too many to be kept apart",
			 100 * (double)other->z->self_ns / fmax(all, 1));
	else if (other)
		most = other;
	if (!most) {
		record_answer(b, "no zone was entered%s", also);
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
			      "its waits the longest in sum: %.*s, %s in %s call%s%s",
			      utf8_shown(most->name, ANSWER_NAME_BYTES), most->name, own, calls, s,
			      also);
	else if (most->z->self_ns == 0)
		record_answer(b, "%.*s takes %s in %s call%s%s",
			      utf8_shown(most->name, ANSWER_NAME_BYTES), most->name, own, calls, s,
			      also);
	else
		record_answer(b,
			      "%.*s has the most self time: %s in %s call%s, %.0f %% of all "
			      "zones'%s",
			      utf8_shown(most->name, ANSWER_NAME_BYTES), most->name, own, calls, s,
			      100 * (double)ns / all, also);
}

/* Rows of a table, and what it has besides. */
typedef struct zone_rows {
	zone_row *row; /* @owned */
	size_t n;
	zone_columns with;
} zone_rows;

static dck_status zone_rows_find(const zone_aggregate *s, zone_name_of *name_of, void *self,
				 zone_rows *ret, dck_err *err)
{
	zone_rows r = {.row = s->failed ? NULL : mem_zalloc(s->nstats + (size_t)1, sizeof *r.row)};

	DCK_NEED(r.row, err, "for the table of zones");
	for (uint32_t i = 0; i < s->nstats; i++) {
		const zone_stats *z = s->stats[i];
		const char *name = z ? name_of(self, i) : NULL;

		if (!z)
			continue;
		r.row[r.n++] = (zone_row){name ? name : "(no name)", z};
		r.with.device = r.with.device || zone_stats_device_ns(z) > 0;
		r.with.bytes = r.with.bytes || z->bytes > 0;
		r.with.all_ns = zone_sum(r.with.all_ns, z->self_ns);
	}
	qsort(r.row, r.n, sizeof *r.row, by_total);
	*ret = r;
	return DCK_OK;
}

static void zone_rows_put(const zone_rows *r, const zone_percentiles *p, bool of_devices,
			  record_builder *b)
{
	timeline_table_put(b, of_devices ? "device_zones" : "zones",
			   of_devices ? "Ranges on devices" : "Zones", p, &r->with);
	record_table_reserve(b, r->n);
	for (size_t i = 0; i < r->n; i++)
		zone_row_put(b, &r->row[i], p, &r->with);
}

/* ret_on: the range that takes longest there, if there is one. */
static dck_status device_table_put(const zone_aggregate *s, zone_name_of *name_of, void *self,
				   record_builder *b, zone_row *ret_on, dck_err *err)
{
	bool any = s->failed;
	zone_rows r;

	for (uint32_t i = 0; i < s->nstats && !any; i++)
		any = s->stats[i];
	if (!any)
		return DCK_OK;
	DCK_TRY(zone_rows_find(s, name_of, self, &r, err));
	r.with.share = true;
	zone_rows_put(&r, &s->percentiles, true, b);
	*ret_on = r.row[0];
	mem_free(r.row);
	return DCK_OK;
}

/* Notes how much of the devices' time no zone has, if there are zones: their column would seem to
 * have all of it. */
static void device_outside_note(const zone_aggregate *s, const zone_rows *r, record_builder *b)
{
	char outside[32], all[32];
	bool zones = false;

	for (size_t i = 0; i < r->n; i++)
		zones |= !trace_is_wait(r->row[i].name) && !trace_is_cuda_call(r->row[i].name);
	if (zones && (double)s->device_outside_ns > 0.05 * (double)s->device_ns)
		record_note(b, "device-outside-zones",
			    "of the %s on devices, the calls of %s were in no zone: the column "
			    "'device' of zones is without it",
			    dck_text_time((double)s->device_ns, all, sizeof all),
			    dck_text_time((double)s->device_outside_ns, outside, sizeof outside));
}

static void other_names_note(const zone_rows *r, record_builder *b)
{
	char calls[32];

	for (size_t i = 0; i < r->n; i++) {
		if (strcmp(r->row[i].name, TRACE_OTHER_NAMES) != 0)
			continue;
		const uint64_t n = r->row[i].z->calls + r->row[i].z->unfinished;
		record_note(b, "trace-names",
			    "%s call%s of zones %s in the row '" TRACE_OTHER_NAMES
			    "': before them the process had used as many names as are kept apart",
			    dck_text_count((int64_t)n, calls, sizeof calls), n == 1 ? "" : "s",
			    n == 1 ? "is" : "are");
	}
}

/* The tree comes first, because making it needs memory, as the rows of the table do afterwards. */
static dck_status zone_tables_put(const zone_aggregate *s, const zone_aggregate *device,
				  const zone_rows *r, zone_name_of *name_of, void *self,
				  record_builder *b, dck_err *err)
{
	zone_row on = {0};

	if (s->device_ns)
		device_outside_note(s, r, b);
	DCK_TRY(
	    path_trie_put(&s->paths, "zones", "Zones by their call paths", name_of, self, b, err));
	zone_rows_put(r, &s->percentiles, false, b);
	if (device)
		DCK_TRY(device_table_put(device, name_of, self, b, &on, err));
	zone_answer_put(b, r->row, r->n, on.z ? &on : NULL);
	other_names_note(r, b);
	if (s->device_ns)
		record_fact_int(b, "trace", "device_outside_zones", DCK_UNIT_NS,
				(int64_t)s->device_outside_ns);
	return DCK_OK;
}

dck_status zone_table_put(const zone_aggregate *s, const zone_aggregate *device,
			  zone_name_of *name_of, void *self, record_builder *b, dck_err *err)
{
	zone_rows r;

	DCK_TRY(zone_rows_find(s, name_of, self, &r, err));
	const dck_status status = zone_tables_put(s, device, &r, name_of, self, b, err);
	mem_free(r.row);
	return status;
}
