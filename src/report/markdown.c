/* markdown.c - records as tables for pages, issues and reviews: latencies in one table with a row
 * for each record, then each record's own tables. Like every writer it only rounds and orders,
 * except that it divides the medians by the smallest of them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/markdown.h"
#include "base/units.h"
#include "base/common_prefix.h"
#include "base/decimal.h"
#include "base/mem.h"
#include "base/sink.h"
#include "record/record_internal.h"
#include "deepclock/opt.h"
#include "report/text/text_parts.h"
#include "report/scale.h"
#include "report/writers.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *subject_of(const dck_record *r)
{
	const char *name = dck_record_name(r);

	return name ? name : "a measurement";
}

/* --- timed records */

typedef struct timed {
	const dck_record **records; /* [rows] the timed records */
	size_t rows;
	char tag[FORMAT_SIZE];	/* of the statistic that is shown first */
	const dck_metric *main; /* of the first of them */
	column_scale scale;
	double least;
	format_levels levels;
	bool spread; /* next to the mean */
} timed;

static const dck_metric *metric_of(const dck_record *r, const char *tag)
{
	const dck_metric *m = dck_record_metric(r, tag);
	double v;

	return m && m->def->unit == DCK_UNIT_NS && format_number_of(&m->value, &v) ? m : NULL;
}

static const char *statistic_tag(const dck_record *r, char buf[FORMAT_SIZE])
{
	const char *statistic = record_get_text(r, "plan", "statistic");

	snprintf(buf, FORMAT_SIZE, "latency/%.40s", statistic ? statistic : "median");
	return buf;
}

static bool markdown_is_timed(const dck_record *r)
{
	return metric_of(r, "latency/median") != NULL;
}

static dck_cell markdown_cell_of(const dck_metric *m)
{
	if (!m)
		return (dck_cell){.value = {.kind = DCK_VALUE_ABSENT}};
	return (dck_cell){.value = m->value, .lo = m->lo, .hi = m->hi, .level = m->level};
}

static void timed_find(timed *t)
{
	column_range range = {.whole = true};
	char buf[FORMAT_SIZE];
	double v;

	for (size_t i = 0; i < t->rows; i++) {
		const dck_record *r = t->records[i];

		statistic_tag(r, buf);
		if (i == 0)
			snprintf(t->tag, sizeof t->tag, "%s", buf);
		/* A metric that a record lacks is not a column. */
		if (strcmp(t->tag, buf) != 0 || !metric_of(r, buf))
			snprintf(t->tag, sizeof t->tag, "latency/median");
	}
	t->least = INFINITY;
	for (size_t i = 0; i < t->rows; i++) {
		const dck_record *r = t->records[i];
		const dck_metric *m = metric_of(r, t->tag);
		const dck_cell c = markdown_cell_of(m);

		t->main = i == 0 ? m : t->main;
		column_range_add(&range, &c);
		format_levels_add(&t->levels, m->level);
		if (format_number_of(&m->value, &v))
			t->least = fmin(t->least, v);
		t->spread = t->spread || metric_of(r, "latency/stddev");
	}
	t->scale = column_scale_of(&range, DCK_UNIT_NS, false);
}

enum {
	TIMED_SUBJECT,
	TIMED_MAIN,
	TIMED_INTERVAL,
	TIMED_MEAN,
	TIMED_MIN,
	TIMED_MAX,
	TIMED_RELATIVE
};

static const char *timed_head(const void *self, size_t col, char *buf)
{
	const timed *t = self;
	const char *name = NULL;

	switch (col) {
	case TIMED_SUBJECT:
		return "Subject";
	case TIMED_MAIN:
		name = strcmp(t->tag, "latency/median") == 0 ? "Median" : t->main->def->name;
		break;
	case TIMED_INTERVAL:
		if (!(t->levels.most > 0) || t->levels.least < t->levels.most)
			return "Interval"; /* each has its level */
		snprintf(buf, MARKDOWN_CELL, "%s interval", FORMAT_LEVELS(&t->levels));
		return buf;
	case TIMED_MEAN:
		name = t->spread ? "Mean ± σ" : "Mean";
		break;
	case TIMED_MIN:
		name = "Min";
		break;
	case TIMED_MAX:
		name = "Max";
		break;
	default:
		return "Relative";
	}
	snprintf(buf, MARKDOWN_CELL, t->scale.unit[0] ? "%.100s [%s]" : "%.100s", name,
		 t->scale.unit);
	return buf;
}

static const char *time_text(const timed *t, const dck_metric *m, char *buf)
{
	return m ? column_scale_value(&t->scale, &m->value, buf) : "-";
}

/* A star: the interval under-covers (markdown_narrow_put()). */
static const char *interval_text(const column_scale *s, const dck_metric *m, char *buf)
{
	char a[FORMAT_SIZE], b[FORMAT_SIZE];

	if (!(m->level > 0))
		return "-";
	snprintf(buf, (size_t)3 * FORMAT_SIZE, "%s to %s%s", column_scale_number(s, m->lo, a),
		 column_scale_number(s, m->hi, b), m->narrow ? "*" : "");
	return buf;
}

static const char *timed_cell(const void *self, size_t row, size_t col, char *buf)
{
	const timed *t = self;
	const dck_record *r = t->records[row];
	const dck_metric *m = metric_of(r, t->tag), *spread = metric_of(r, "latency/stddev");
	char a[FORMAT_SIZE], b[FORMAT_SIZE], ends[3 * FORMAT_SIZE];
	const char *interval;
	double v = 0;

	switch (col) {
	case TIMED_SUBJECT:
		return subject_of(r);
	case TIMED_MAIN:
		return time_text(t, m, buf);
	case TIMED_INTERVAL:
		interval = interval_text(&t->scale, m, ends);
		snprintf(buf, MARKDOWN_CELL,
			 m->level > 0 && t->levels.least < t->levels.most ? "%s (%s)" : "%s",
			 interval, FORMAT_LEVEL(m->level));
		return buf;
	case TIMED_MEAN:
		m = metric_of(r, "latency/mean");
		snprintf(buf, MARKDOWN_CELL, spread && m ? "%s ± %s" : "%s", time_text(t, m, a),
			 time_text(t, spread, b));
		return buf;
	case TIMED_MIN:
		return time_text(t, metric_of(r, "latency/min"), buf);
	case TIMED_MAX:
		return time_text(t, metric_of(r, "latency/max"), buf);
	default:
		format_number_of(&m->value, &v);
		if (!(t->least > 0))
			return "-";
		snprintf(buf, MARKDOWN_CELL, "%s", FIXED_TEXT(2, v / t->least));
		return buf;
	}
}

static bool timed_right(const void *self, size_t col)
{
	(void)self;
	return col != TIMED_SUBJECT;
}

static void timed_put(dck_sink *out, const dck_record *const *records, size_t n)
{
	timed t = {.records = mem_zalloc(n + 1, sizeof *records)};
	markdown_table table = {
	    .self = &t, .head = timed_head, .cell = timed_cell, .right = timed_right};
	char text[MARKDOWN_CELL];

	if (!t.records)
		markdown_no_memory(out);
	for (size_t i = 0; i < n && t.records; i++)
		if (markdown_is_timed(records[i]))
			t.records[t.rows++] = records[i];
	if (t.rows > 0) {
		timed_find(&t);
		table.nrows = t.rows;
		table.ncols = t.rows > 1 ? TIMED_RELATIVE + 1 : TIMED_RELATIVE;
		markdown_table_put(out, &table);
	}
	for (size_t i = 0; n > 1 && i < t.rows; i++) {
		const dck_metric *m = metric_of(t.records[i], t.tag);

		if (m && m->level > 0 && m->narrow) {
			snprintf(text, sizeof text,
				 "row %zu: the interval is too narrow, because %s", i + 1,
				 m->narrow);
			markdown_line(out, "\\* ", text, "");
		}
	}
	mem_free(t.records);
}

/* --- other numbers */

typedef struct metrics {
	const dck_metric **row; /* the ones that are shown */
	const dck_record *r;
	bool timed;
} metrics;

/* Metrics that are not in the tables. Phases and resources of measurements are only in the other
 * formats. */
static bool is_shown(const metrics *own, const dck_metric *m)
{
	static const char *const timing[] = {"latency/", "time/",   "runs/",
					     "cpu/",	 "memory/", "throughput/items"};
	const size_t n = sizeof timing / sizeof timing[0];
	const char *last = strrchr(m->def->tag, '/');

	if (strcmp(m->def->tag, "latency/starts") == 0)
		return true;
	if (own->r->ntables > 0 && last && strchr(m->def->tag, '/') != last)
		return false; /* a member of a family: in a row of a table */
	for (size_t i = 0; own->timed && i < n; i++)
		if (has_prefix(m->def->tag, timing[i]))
			return false;
	return true;
}

static const char *metric_head(const void *self, size_t col, char *buf)
{
	static const char *const heads[] = {"Metric", "Value", "Interval", "How"};

	(void)self;
	(void)buf;
	return heads[col];
}

static const char *metric_cell(const void *self, size_t row, size_t col, char *buf)
{
	const dck_metric *m = ((const metrics *)self)->row[row];
	const dck_cell c = markdown_cell_of(m);
	column_range range = {.whole = true};
	column_scale scale;
	char ends[3 * FORMAT_SIZE];

	column_range_add(&range, &c);
	scale = column_scale_of(&range, m->def->unit, false);
	switch (col) {
	case 0:
		return m->def->name;
	case 1:
		if (m->value.kind == DCK_VALUE_ABSENT)
			return "-";
		if (!(m->level > 0))
			return format_value(&m->value, m->def->unit, buf);
		/* Rounded as the ends of its interval are. */
		snprintf(buf, MARKDOWN_CELL, scale.unit[0] ? "%s %s" : "%s%s",
			 column_scale_value(&scale, &m->value, ends), scale.unit);
		return buf;
	case 2:
		if (!(m->level > 0))
			return "";
		snprintf(buf, MARKDOWN_CELL, scale.unit[0] ? "%s %s (%s)" : "%s%s (%s)",
			 interval_text(&scale, m, ends), scale.unit, FORMAT_LEVEL(m->level));
		return buf;
	default:
		if (m->value.kind == DCK_VALUE_ABSENT)
			return m->value.as.text ? m->value.as.text : "not known";
		return m->how ? m->how : "";
	}
}

static bool metric_right(const void *self, size_t col)
{
	(void)self;
	return col == 1;
}

static void markdown_metrics_put(dck_sink *out, const dck_record *r)
{
	metrics own = {.row = mem_zalloc(r->nmetrics + 1, sizeof *own.row),
		       .r = r,
		       .timed = markdown_is_timed(r)};
	markdown_table table = {.ncols = 4,
				.self = &own,
				.head = metric_head,
				.cell = metric_cell,
				.right = metric_right};

	if (!own.row)
		markdown_no_memory(out);
	for (size_t i = 0; i < r->nmetrics && own.row; i++)
		if (is_shown(&own, &r->metrics[i]))
			own.row[table.nrows++] = &r->metrics[i];
	if (table.nrows > 0)
		markdown_table_put(out, &table);
	mem_free(own.row);
}

/* --- tables */

typedef struct table_rows {
	const dck_table *t;
	column_scale scale[MARKDOWN_COLS];
	bool number[MARKDOWN_COLS];
	format_levels levels;
} table_rows;

static const dck_cell *markdown_cell_at(const table_rows *own, size_t row, size_t col)
{
	return &own->t->cells[row * own->t->ncolumns + col];
}

static const char *rows_head(const void *self, size_t col, char *buf)
{
	const table_rows *own = self;
	const char *title = own->t->columns[col].title;

	if (own->scale[col].unit[0] == '\0')
		return title;
	snprintf(buf, MARKDOWN_CELL, "%.200s [%s]", title, own->scale[col].unit);
	return buf;
}

static const char *rows_cell(const void *self, size_t row, size_t col, char *buf)
{
	const table_rows *own = self;
	const dck_cell *c = markdown_cell_at(own, row, col);
	char value[FORMAT_SIZE], ends[3 * FORMAT_SIZE];
	double v;

	if (c->value.kind == DCK_VALUE_ABSENT)
		return "-";
	if (!format_number_of(&c->value, &v))
		return format_value(&c->value, DCK_UNIT_NONE, buf);
	column_scale_value(&own->scale[col], &c->value, value);
	if (c->level > 0)
		snprintf(buf, MARKDOWN_CELL, "%s (%s)", value,
			 interval_text(&own->scale[col],
				       &(dck_metric){.lo = c->lo, .hi = c->hi, .level = c->level},
				       ends));
	else
		snprintf(buf, MARKDOWN_CELL, "%s", value);
	return buf;
}

static bool rows_right(const void *self, size_t col)
{
	return ((const table_rows *)self)->number[col];
}

/* Lists the reasons of empty cells, each once; a long table is not searched. */
#define REASONS_MAX 8

static void markdown_reasons_put(dck_sink *out, const table_rows *own, size_t ncols)
{
	const char *said[REASONS_MAX];
	size_t n = 0;

	for (size_t r = 0; r < own->t->nrows; r++)
		for (size_t c = 0; c < ncols && n < REASONS_MAX; c++) {
			const dck_cell *cell = markdown_cell_at(own, r, c);
			const char *why = cell->value.as.text;
			size_t i = 0;

			if (cell->value.kind != DCK_VALUE_ABSENT || !why)
				continue;
			while (i < n && strcmp(said[i], why) != 0)
				i++;
			if (i < n)
				continue;
			said[n++] = why;
			markdown_line(out, "\\-: ", why, "");
		}
}

static void markdown_rows_put(dck_sink *out, const dck_table *t)
{
	table_rows own = {.t = t};
	const size_t ncols = t->ncolumns < MARKDOWN_COLS ? t->ncolumns : MARKDOWN_COLS;
	const markdown_table table = {.nrows = t->nrows,
				      .ncols = ncols,
				      .self = &own,
				      .head = rows_head,
				      .cell = rows_cell,
				      .right = rows_right};

	for (size_t c = 0; c < ncols; c++) {
		column_range range = {.whole = true};

		for (size_t r = 0; r < t->nrows; r++) {
			const dck_cell *cell = markdown_cell_at(&own, r, c);

			column_range_add(&range, cell);
			format_levels_add(&own.levels, cell->level);
		}
		own.number[c] = range.any;
		own.scale[c] =
		    column_scale_of(&range, t->columns[c].unit, column_is_share(&t->columns[c]));
	}
	markdown_line(out, "**", t->title, "**");
	markdown_table_put(out, &table);
	markdown_reasons_put(out, &own, ncols);
	if (own.levels.most > 0)
		sink_fmt(out, "( ): %s interval\n\n", FORMAT_LEVELS(&own.levels));
	if (ncols < t->ncolumns)
		sink_fmt(out, "%zu %s more: see JSON or CSV\n\n", t->ncolumns - ncols,
			 COUNTED(t->ncolumns - ncols, "column", "columns"));
}

/* --- a record */

/* Writes the answers of the records. */
static void answers_put(dck_sink *out, const dck_record *r)
{
	const char *answer = record_get_text(r, "result", "answer");
	const dck_note *end = text_end_note(r);

	if (r->incomplete)
		markdown_line(out, "**INCOMPLETE**: ",
			      end ? end->text : "the measurement did not reach its end", "");
	if (answer) {
		markdown_line(out, "", answer, "");
		return;
	}
	for (size_t i = 0; i < r->nfacts; i++) {
		const dck_fact *f = &r->facts[i];

		if (!format_is_verdict(f) || f->value.kind != DCK_VALUE_TEXT)
			continue;
		sink_text(out, "- ");
		markdown_text(out, f->key);
		markdown_line(out, ": ", f->value.as.text, "");
	}
}

/* Writes the meaning of the star after an interval. */
static void markdown_narrow_put(dck_sink *out, const dck_record *r)
{
	char text[MARKDOWN_CELL];

	for (size_t i = 0; i < r->nmetrics; i++)
		if (format_narrow(r, i, text, sizeof text))
			markdown_line(out, "\\* ", text, "");
}

/* Returns whether the row in the table of several records is all that is shown of r. */
static bool is_a_row(const dck_record *r)
{
	const metrics own = {.r = r, .timed = markdown_is_timed(r)};
	bool more = r->incomplete || r->ntables > 0 || r->nops > 0;

	for (size_t i = 0; i < r->nmetrics; i++)
		more = more || is_shown(&own, &r->metrics[i]);
	for (size_t i = 0; i < r->nfacts; i++)
		more = more || format_is_verdict(&r->facts[i]);
	return own.timed && !more && !record_get_text(r, "result", "answer");
}

static void record_put(dck_sink *out, const dck_record *r, const dck_op_view *view, bool titled)
{
	if (titled && is_a_row(r))
		return;
	if (titled && !format_is_listing(r))
		markdown_line(out, "**", subject_of(r), "**");
	answers_put(out, r);
	markdown_metrics_put(out, r);
	markdown_narrow_put(out, r);
	for (size_t i = 0; i < r->ntables; i++)
		markdown_rows_put(out, &r->tables[i]);
	if (r->nops > 0)
		markdown_ops(out, r, view);
}

static void markdown_report(const dck_record *const *records, size_t n, const dck_style *style,
			    dck_sink *out)
{
	const dck_op_view view = style ? style->ops : (dck_op_view){0};

	timed_put(out, records, n);
	for (size_t i = 0; i < n; i++)
		record_put(out, records[i], &view, n > 1 || !markdown_is_timed(records[i]));
}

const dck_writer report_markdown = {DCK_WRITER_MARKDOWN(WRITER), .write = markdown_report};
