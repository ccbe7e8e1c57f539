/* lap_record.c - builds the record of laps: for each name a row of table `laps`, metrics with
 * confidence intervals, and a time series per value.
 *
 * Mean, median and CPU time are estimates of stat.h at the level 0.95, over the retained laps of a
 * name in the order in which they ended. If some laps were dropped from the series, number, sum and
 * extremes still cover all laps, and the mean is scaled with its interval to the mean of all.
 *
 * The rate is a ratio of sums, items over wall time. Its interval has the relative width of the
 * interval of the mean time per item; lower and upper bound are exchanged, because a rate is the
 * inverse of a time.
 *
 * The whole record is built under the lock of the laps, so that it is a consistent snapshot; a lap
 * that ends at that time waits. Three arrays of the longest series' length serve all names.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "os/os.h"
#include "record/record_begin.h"
#include "record/host.h"
#include "stat/stat.h"
#include "profiler/lap/lap_line.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define LEVEL 0.95

typedef struct work {
	record_builder *b;
	double *values, *scratch; /* of the longest series' length */
	uint64_t *at_ns;
} work;

/* The estimates of one name's row. */
typedef struct lap_summary {
	stat_estimate mean, median, cpu, rate;
	const char *unit; /* unit of the rate's items; NULL: no items were counted */
} lap_summary;

/* Copies the laps that have this value, in their order. Returns their number. */
static size_t lap_gather(work *w, const lap_name *n, const lap_column *c)
{
	size_t have = 0;

	for (size_t i = 0; i < n->kept; i++) {
		if (isnan(c->kept[i]))
			continue;
		w->values[have] = c->kept[i];
		w->at_ns[have++] = n->at_ns[i];
	}
	return have;
}

static dck_unit lap_unit_of(const lap_column *c)
{
	for (int u = DCK_UNIT_NS; c->unit && u < DCK_UNIT_COUNT; u++)
		if (strcmp(c->unit, dck_unit_text((dck_unit)u)) == 0)
			return (dck_unit)u;
	return DCK_UNIT_ONE;
}

static void lap_series(work *w, const lap_name *n)
{
	for (size_t i = 0; i < n->ncolumns; i++) {
		const lap_column *c = &n->column[i];
		const size_t have = lap_gather(w, n, c);
		char tag[512];

		snprintf(tag, sizeof tag, "laps/%s/%s", n->text, c->name);
		if (have > 0)
			record_series(w->b, tag, lap_unit_of(c), w->at_ns, w->values, have, 0);
	}
}

/* Computes items over wall time of all laps that counted items. The interval has the relative width
 * of that of the mean time per item. */
static void rate(work *w, const lap_name *n, lap_summary *ret)
{
	const lap_column *items = NULL;
	size_t have = 0;
	stat_estimate e;

	for (size_t i = LAP_OWN_COLUMNS; i < n->ncolumns; i++)
		if (strcmp(n->column[i].name, "items") == 0)
			items = &n->column[i];
	if (!items || !(n->items_sum > 0) || !(n->items_wall_ns > 0))
		return;
	for (size_t i = 0; i < n->kept; i++)
		if (items->kept[i] > 0)
			w->values[have++] = n->column[LAP_WALL].kept[i] / items->kept[i];
	stat_estimate_one(STAT_MEAN, w->values, have, LEVEL, w->scratch, &e);
	const double value = n->items_sum * 1e9 / n->items_wall_ns;
	ret->unit = items->unit ? items->unit : "items";
	ret->rate = (stat_estimate){.present = true, .value = value};
	if (e.present && e.has_interval && e.lo > 0) {
		ret->rate.has_interval = true;
		ret->rate.lo = value * e.value / e.hi;
		ret->rate.hi = value * e.value / e.lo;
		ret->rate.level = e.level;
	}
	snprintf(ret->rate.how, sizeof ret->rate.how,
		 "%s over wall time of the laps that counted them", ret->unit);
}

static void summarise(work *w, const lap_name *n, lap_summary *ret)
{
	*ret = (lap_summary){0};
	size_t have = lap_gather(w, n, &n->column[LAP_WALL]);
	stat_estimate_one(STAT_MEAN, w->values, have, LEVEL, w->scratch, &ret->mean);
	stat_estimate_one(STAT_MEDIAN, w->values, have, LEVEL, w->scratch, &ret->median);
	have = lap_gather(w, n, &n->column[LAP_CPU]);
	stat_estimate_one(STAT_MEAN, w->values, have, LEVEL, w->scratch, &ret->cpu);
	/* The mean of all laps is known, even if some are not retained. */
	if (ret->mean.present && n->ended > n->kept) {
		const double scale = n->wall_sum_ns / (double)n->ended / ret->mean.value;

		ret->mean.value *= scale;
		ret->mean.lo *= scale;
		ret->mean.hi *= scale;
	}
	rate(w, n, ret);
}

static void metric(work *w, const lap_name *n, const char *family, const stat_estimate *e)
{
	char tag[512];

	snprintf(tag, sizeof tag, "%s/%s", family, n->text);
	if (!e->present)
		record_metric_absent(w->b, tag, e->why[0] ? e->why : "its laps counted no items");
	else if (e->has_interval)
		record_metric_interval(w->b, tag, e->value, fmax(0, e->lo), e->hi, e->level,
				       e->how);
	else
		record_metric_real(w->b, tag, e->value, e->how);
}

static void lap_metrics(work *w, const lap_name *n, const lap_summary *s)
{
	char tag[512];

	metric(w, n, "lap/wall", &s->mean);
	metric(w, n, "lap/cpu", &s->cpu);
	metric(w, n, "lap/rate", &s->rate);
	snprintf(tag, sizeof tag, "lap/count/%s", n->text);
	record_metric_int(w->b, tag, (int64_t)n->ended, "laps that have ended");
}

static void cell(work *w, const stat_estimate *e, const char *why)
{
	if (!e->present)
		record_cell_absent(w->b, e->why[0] ? e->why : why);
	else if (e->has_interval)
		record_cell_interval(w->b, e->value, fmax(0, e->lo), e->hi, e->level);
	else
		record_cell_real(w->b, e->value);
}

static const dck_column columns[] = {
    {"name", "name", DCK_UNIT_NONE},	   {"laps", "laps", DCK_UNIT_ONE},
    {"total", "total", DCK_UNIT_NS},	   {"mean", "mean", DCK_UNIT_NS},
    {"median", "median", DCK_UNIT_NS},	   {"min", "min", DCK_UNIT_NS},
    {"max", "max", DCK_UNIT_NS},	   {"cpu", "CPU time", DCK_UNIT_NS},
    {"rate", "rate", DCK_UNIT_ITEM_PER_S},
};

static void lap_row(work *w, const lap_name *n, const lap_summary *s)
{
	record_cell_text(w->b, n->text);
	record_cell_int(w->b, (int64_t)n->ended);
	record_cell_real(w->b, n->wall_sum_ns);
	cell(w, &s->mean, "");
	cell(w, &s->median, "");
	record_cell_real(w->b, n->wall_min_ns);
	record_cell_real(w->b, n->wall_max_ns);
	cell(w, &s->cpu, "");
	cell(w, &s->rate, "its laps counted no items");
}

/* Returns the name with the most time, preferring names with several laps. Of equal names the one
 * that started first, the outermost, is returned. */
static const lap_name *chief(const lap_state *s)
{
	const lap_name *best = NULL;

	for (const lap_name *n = s->names; n; n = n->next) {
		if (n->ended == 0)
			continue;
		if (!best || (n->ended > 1) > (best->ended > 1) ||
		    ((n->ended > 1) == (best->ended > 1) && n->wall_sum_ns > best->wall_sum_ns))
			best = n;
	}
	return best;
}

static void lap_answer(work *w, const lap_state *s, const lap_name *n, const lap_summary *sum)
{
	char mean[32], lo[32], hi[32], count[32], text[64], rated[80] = "", interval[80] = "";

	if (!n) {
		record_answer(w->b, s->open		   ? "no lap has ended"
				    : s->lost + s->unnamed ? "no lap could be recorded"
							   : "there was no lap");
		return;
	}
	dck_text_time(n->wall_sum_ns / (double)n->ended, mean, sizeof mean);
	dck_text_count((int64_t)n->ended, count, sizeof count);
	if (sum->mean.present && sum->mean.has_interval)
		snprintf(interval, sizeof interval, " [%s, %s]",
			 dck_text_time(fmax(0, sum->mean.lo), lo, sizeof lo),
			 dck_text_time(sum->mean.hi, hi, sizeof hi));
	if (sum->rate.present)
		snprintf(rated, sizeof rated, ", %s",
			 lap_rate_text(sum->rate.value, sum->unit, text, sizeof text));
	record_answer(w->b, "%.*s: %s lap%s of %s%s in the mean%s", utf8_shown(n->text, 60),
		      n->text, count, n->ended == 1 ? "" : "s", mean, interval, rated);
}

static void lap_facts(record_builder *b, const lap_state *s)
{
	record_set_began(b, s->base_unix_ns);
	record_fact_text(b, "subject", "kind", "laps");
	record_fact_known(b, "subject", "name", os_program_name());
	record_host_here(b);
	record_fact_text(b, "method", "clock", "CLOCK_MONOTONIC");
	record_fact_text(b, "method", "enclosed",
			 "from the end of dck_lap_begin() to the beginning of dck_lap_end()");
	record_fact_int(b, "laps", "open", DCK_UNIT_ONE, (int64_t)s->open);
	record_fact_int(b, "laps", "lost", DCK_UNIT_ONE, (int64_t)(s->lost + s->unnamed));
	record_fact_int(b, "laps", "values_lost", DCK_UNIT_ONE, (int64_t)s->values_lost);
}

static void lost_notes(record_builder *b, const lap_state *s)
{
	if (s->lost > 0) {
		record_note(
		    b, "laps-lost",
		    "laps that are not in the series or not counted, for lack of memory: %llu",
		    (unsigned long long)s->lost);
		record_remedy(b, "free memory");
	}
	if (s->unnamed > 0) {
		record_note(b, "laps-lost",
			    "laps that are not recorded, as there are %d other names: %llu",
			    LAP_NAMES_MAX, (unsigned long long)s->unnamed);
		record_remedy(b, "name laps by their kind, not individually");
	}
	if (s->values_lost > 0) {
		record_note(
		    b, "laps-lost",
		    "values that are not recorded, as laps of that name have %d others: %llu",
		    LAP_VALUES_MAX, (unsigned long long)s->values_lost);
		record_remedy(b,
			      "fewer values in a lap, or another name for laps with other values");
	}
}

static void laps_write(work *w, const lap_state *s)
{
	const lap_name *best = chief(s);
	lap_summary sum, of_best = {0};

	lap_facts(w->b, s);
	RECORD_TABLE(w->b, "laps", "Laps", columns);
	record_summary_columns(w->b, "laps mean cpu rate");
	for (const lap_name *n = s->names; n; n = n->next) {
		if (n->ended == 0)
			continue;
		summarise(w, n, &sum);
		lap_row(w, n, &sum);
		lap_metrics(w, n, &sum);
		if (n == best)
			of_best = sum;
	}
	for (const lap_name *n = s->names; n; n = n->next)
		lap_series(w, n);
	lap_answer(w, s, best, &of_best);
	lost_notes(w->b, s);
}

static size_t longest(const lap_state *s)
{
	size_t most = 1;

	for (const lap_name *n = s->names; n; n = n->next)
		most = n->kept > most ? n->kept : most;
	return most;
}

dck_status dck_laps_record(dck_record **ret, dck_err *err)
{
	const lap_state *s = dck_laps_lock(sizeof *s);

	if (!s)
		DCK_FAIL(err, E_VERSION, "the process has a libdeepclock_zones of another version");
	const size_t most = longest(s);
	work w = {.b = record_begin(NULL),
		  .values = mem_alloc(most * sizeof *w.values),
		  .at_ns = mem_alloc(most * sizeof *w.at_ns),
		  .scratch = mem_alloc(stat_scratch(most) * sizeof *w.scratch)};
	dck_status status = DCK_OK;

	if (w.b && w.values && w.at_ns && w.scratch)
		laps_write(&w, s);
	else
		status = ERR_NO_MEMORY(err, "for the record of the laps");
	dck_laps_unlock();
	status = record_finish_if(status, w.b, ret, err);
	mem_free(w.values);
	mem_free(w.at_ns);
	mem_free(w.scratch);
	return status;
}
