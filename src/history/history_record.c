/* history_record.c - lists and trends as the tables of a record, for the writers of records.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "history/store.h"
#include "base/err.h"
#include "record/build.h"
#include "record/box.h"
#include <math.h>

#define NONE "there is none"

static record_builder *listing_new(const char *title)
{
	record_builder *b = record_new();

	if (b) {
		record_set_command(b, title);
		record_fact_bool(b, "result", "listing", true);
	}
	return b;
}

static void text_cell(record_builder *b, const char *text)
{
	if (text)
		record_cell_text(b, text);
	else
		record_cell_absent(b, NONE);
}

static void time_cell(record_builder *b, int64_t unix_ns)
{
	char text[RECORD_TIME_SIZE];

	record_time_text(unix_ns, text);
	record_cell_text(b, text);
}

/* Three cells, so that a table of rows has a column for each. */
static void interval_cells(record_builder *b, double lo, double hi, double level)
{
	const double all[] = {lo, hi, level};

	for (size_t i = 0; i < 3; i++) {
		if (level > 0)
			record_cell_real(b, all[i]);
		else
			record_cell_absent(b, "no interval");
	}
}

static const dck_column list_columns[] = {{"id", "id", DCK_UNIT_NONE},
					  {"time", "time", DCK_UNIT_NONE},
					  {"command", "command", DCK_UNIT_NONE},
					  {"subject", "subject", DCK_UNIT_NONE},
					  {"engine", "engine", DCK_UNIT_NONE},
					  {"machine", "machine", DCK_UNIT_NONE},
					  {"method", "method", DCK_UNIT_NONE},
					  {"commit", "commit", DCK_UNIT_NONE},
					  {"incomplete", "incomplete", DCK_UNIT_NONE},
					  {"metric", "metric", DCK_UNIT_NONE},
					  {"value", "value", DCK_UNIT_NONE},
					  {"lo", "lo", DCK_UNIT_NONE},
					  {"hi", "hi", DCK_UNIT_NONE},
					  {"level", "level", DCK_UNIT_NONE},
					  {"unit", "unit", DCK_UNIT_NONE},
					  {"cpu", "processor", DCK_UNIT_NONE},
					  {"line", "command line", DCK_UNIT_NONE},
					  {"bytes", "size", DCK_UNIT_BYTE}};

typedef struct listing {
	record_builder *b;
	const char *metric;
} listing;

static bool entry_add(void *self, const dck_history_entry *e)
{
	const listing *l = self;
	const char *const who[] = {e->verb,    e->subject, e->engine,
				   e->machine, e->method,  e->commit};

	record_cell_text(l->b, e->id);
	time_cell(l->b, e->at_unix_ns);
	for (size_t i = 0; i < sizeof who / sizeof who[0]; i++)
		text_cell(l->b, who[i]);
	record_cell_bool(l->b, e->incomplete);
	record_cell_text(l->b, l->metric);
	if (e->value.kind == DCK_VALUE_INT)
		record_cell_int(l->b, e->value.as.i);
	else if (e->value.kind == DCK_VALUE_REAL)
		record_cell_real(l->b, e->value.as.r);
	else
		record_cell_absent(l->b, e->value.as.text);
	interval_cells(l->b, e->lo, e->hi, e->level);
	text_cell(l->b, e->value.kind == DCK_VALUE_ABSENT ? NULL : dck_unit_text(e->unit));
	text_cell(l->b, e->cpu);
	text_cell(l->b, e->command);
	record_cell_int(l->b, (int64_t)e->bytes);
	return true;
}

dck_status dck_history_list_record(dck_history *h, const dck_history_filter *f, const char *metric,
				   const char *title, dck_record **ret, dck_err *err)
{
	listing l = {.b = listing_new(title), .metric = metric ? metric : HISTORY_METRIC};
	dck_status status;

	DCK_NEED(l.b, err, "for the history's records");
	record_table(l.b, "history/records", "Records", list_columns,
		     sizeof list_columns / sizeof list_columns[0]);
	status = dck_history_list(h, f, metric, entry_add, &l, err);
	if (status == DCK_OK)
		return record_finish(l.b, ret, err);
	record_drop(l.b);
	return status;
}

static const dck_history_change *change_at(const dck_history_trend *t, size_t point)
{
	for (size_t i = 0; i < t->nchanges; i++)
		if (t->changes[i].at == point)
			return &t->changes[i];
	return NULL;
}

static void points_put(record_builder *b, const dck_history_trend *t)
{
	const dck_unit unit = t->metric.unit;
	const dck_column columns[] = {{"time", "time", DCK_UNIT_NONE},
				      {"id", "id", DCK_UNIT_NONE},
				      {"commit", "commit", DCK_UNIT_NONE},
				      {"records", "records", DCK_UNIT_ONE},
				      {"value", t->metric.name, unit},
				      {"lo", "lo", unit},
				      {"hi", "hi", unit},
				      {"level", "level", DCK_UNIT_ONE},
				      {"unit", "unit", DCK_UNIT_NONE},
				      {"change_p", "p of a change", DCK_UNIT_ONE},
				      {"before", "level before it", unit},
				      {"after", "level after it", unit}};

	record_table(b, "history/points", "Points", columns, sizeof columns / sizeof columns[0]);
	for (size_t i = 0; i < t->n; i++) {
		const dck_history_point *p = &t->points[i];
		const dck_history_change *c = change_at(t, i);

		time_cell(b, p->at_unix_ns);
		record_cell_text(b, p->id);
		text_cell(b, p->commit);
		record_cell_int(b, (int64_t)p->records);
		record_cell_real(b, p->value);
		interval_cells(b, p->lo, p->hi, p->level);
		record_cell_text(b, dck_unit_text(unit));
		for (size_t k = 0; k < 3; k++) {
			if (c)
				record_cell_real(b, k == 0 ? c->p : k == 1 ? c->before : c->after);
			else
				record_cell_absent(b, "no change");
		}
	}
}

dck_status dck_history_trend_record(const dck_history_trend *t, const char *title, dck_record **ret,
				    dck_err *err)
{
	record_builder *b = listing_new(title);

	DCK_NEED(b, err, "for the history's records");
	record_fact_text(b, "subject", "name", t->subject);
	record_fact_text(b, "engine", "name", t->engine);
	record_fact_text(b, "host", "cpu", t->cpu);
	record_fact_text(b, "trend", "metric", t->metric.tag);
	record_fact_text(b, "trend", "command", t->verb);
	if (t->changes_absent)
		record_fact_absent(b, "trend", "changes", t->changes_absent);
	else
		record_fact_int(b, "trend", "changes", DCK_UNIT_ONE, (int64_t)t->nchanges);
	if (isnan(t->correlation))
		record_fact_absent(b, "trend", "correlation", "too few points");
	else
		record_fact_real(b, "trend", "correlation", DCK_UNIT_ONE, t->correlation);
	record_fact_bool(b, "trend", "leaning", t->leaning);
	record_fact_int(b, "trend", "left_out_incomplete", DCK_UNIT_ONE, (int64_t)t->incomplete);
	record_fact_int(b, "trend", "left_out_other", DCK_UNIT_ONE, (int64_t)t->other);
	points_put(b, t);
	return record_finish(b, ret, err);
}
