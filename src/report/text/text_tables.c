/* text_tables.c - text layout of the tables of a record, in grids as wide as the page. Nothing is
 * omitted silently: columns that do not fit next to the row names continue in a further grid below,
 * beside the names again (with the columns after these that distinguish rows of equal names),
 * long texts follow their row, and rows beyond the number of lines are counted.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/decimal.h"
#include "base/units.h"
#include "base/name_index.h"
#include "record/record_internal.h"
#include "report/text/grid.h"
#include "report/text/text_parts.h"
#include "report/scale.h"
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define TABLE_ROWS_MAX 200
#define COLUMNS_MAX    48
#define REASONS_MAX    26
#define TEXT_COLS      30 /* longer texts are not shown as a column */
#define INDENT_BELOW   6
#define ID_MIN	       24 /* hexadecimal digits; shorter ones are numbers or words */
#define KEYS_MAX       3  /* columns that distinguish rows */
#define CUT_COLS       8  /* that a text is cut to, rather than that its column goes */

typedef enum column_kind {
	COLUMN_NUMBER,
	COLUMN_TEXT,
	COLUMN_LONG,   /* texts that are written below their rows */
	COLUMN_ABSENT, /* no row has anything, all for one reason */
	COLUMN_EMPTY   /* no message */
} column_kind;

typedef struct look {
	column_kind kind;
	column_scale scale;
	bool intervals;
	unsigned value_cols, interval_cols;
} look;

/* A part of the grid: a column's values, or their intervals. */
typedef struct grid_part {
	size_t column;
	bool interval;
	unsigned most; /* columns that it has at most; 0: no bound */
} grid_part;

typedef struct table_view {
	const page *p;
	const dck_table *t;
	size_t nrows, ncolumns; /* that are shown */
	const uint32_t *rows;	/* which ones; NULL: the first ones */
	const uint32_t *from;	/* columns after the first; NULL: the following ones */
	bool brief;		/* times and ids are shortened */
	bool paired;		/* subjects are compared trial by trial */
	look columns[COLUMNS_MAX];
	const char *reasons[REASONS_MAX];
	size_t nreasons;
	bool more_reasons; /* than letters */
	grid_part parts[GRID_COLS_MAX];
	size_t nparts;
	char *name;	 /* FORMAT_SIZE bytes */
	bool half, ends; /* kinds of intervals that were shown */
} table_view;

static size_t column_index(const table_view *v, size_t column)
{
	return v->from && column > 0 ? v->from[column - 1] : column;
}

static const dck_column *column_at(const table_view *v, size_t column)
{
	return &v->t->columns[column_index(v, column)];
}

static const dck_cell *tables_cell_at(const table_view *v, size_t row, size_t column)
{
	const size_t at = v->rows ? v->rows[row] : row;

	return &v->t->cells[at * v->t->ncolumns + column_index(v, column)];
}

static bool tables_is_number(const dck_cell *c)
{
	double v;
	return format_number_of(&c->value, &v);
}

static const char *tables_reason_of(const dck_cell *c)
{
	return c->value.as.text ? c->value.as.text : "not known";
}

/* --- text of cells */

/* "-", and a letter where there are several reasons. */
static void absent_text(const table_view *v, const char *why, char *buf)
{
	size_t i = 0;

	while (i < v->nreasons && strcmp(v->reasons[i], why) != 0)
		i++;
	if (v->nreasons > 1)
		snprintf(buf, FORMAT_SIZE, "-%c", i < v->nreasons ? (char)('a' + i) : '?');
	else
		snprintf(buf, FORMAT_SIZE, "-");
}

/* In short: the minute of a time, and as much of an id as Git shows. false: it is neither. */
static bool text_short(const char *text, char *buf)
{
	int64_t ns;

	if (record_time_parse(text, &ns)) {
		snprintf(buf, FORMAT_SIZE, "%.10s %.5s", text, text + 11);
		return true;
	}
	if (strlen(text) < ID_MIN || text[strspn(text, "0123456789abcdef")] != '\0')
		return false;
	snprintf(buf, FORMAT_SIZE, "%.8s", text);
	return true;
}

static const char *cell_text(const table_view *v, size_t row, size_t column, char *buf)
{
	const dck_cell *c = tables_cell_at(v, row, column);

	buf[0] = '\0';
	if (c->value.kind == DCK_VALUE_ABSENT)
		absent_text(v, tables_reason_of(c), buf);
	else if (tables_is_number(c))
		column_scale_value(&v->columns[column].scale, &c->value, buf);
	else if (!v->brief || c->value.kind != DCK_VALUE_TEXT || !text_short(c->value.as.text, buf))
		return format_value(&c->value, column_at(v, column)->unit, buf);
	return buf;
}

/* --- kinds of columns */

static bool is_long(const dck_cell *c, unsigned most)
{
	return c->value.kind == DCK_VALUE_TEXT && page_columns(c->value.as.text) > most;
}

/* In short a column of "no" is left out. */
static bool is_nothing(const table_view *v, const dck_value *value)
{
	return value->kind == DCK_VALUE_TEXT
		   ? value->as.text[0] == '\0'
		   : v->brief && value->kind == DCK_VALUE_BOOL && !value->as.b;
}

static column_kind tables_kind_of(const table_view *v, size_t column, unsigned text_cols)
{
	bool text = false, number = false, empty = true, one_reason = true;
	const char *why = NULL;

	for (size_t r = 0; r < v->nrows; r++) {
		const dck_cell *c = tables_cell_at(v, r, column);
		if (c->value.kind == DCK_VALUE_ABSENT) {
			empty = false;
			one_reason = one_reason && (!why || strcmp(why, tables_reason_of(c)) == 0);
			why = tables_reason_of(c);
			continue;
		}
		if (column > 0 && is_long(c, text_cols))
			return COLUMN_LONG;
		number = number || tables_is_number(c);
		text = text || !tables_is_number(c);
		empty = empty && is_nothing(v, &c->value);
	}
	if (text && empty)
		return COLUMN_EMPTY;
	if (!text && !number && one_reason && why && column > 0)
		return COLUMN_ABSENT;
	return text ? COLUMN_TEXT : COLUMN_NUMBER;
}

static void column_fill(table_view *v, size_t column, unsigned text_cols)
{
	look *own = &v->columns[column];
	const dck_column *c = column_at(v, column);
	/* The paired ratio decides a comparison. In a summary the intervals of the times next to
	 * it would seem to. */
	const bool bare = v->brief && v->paired && strcmp(c->key, "time") == 0;
	column_range range = {.whole = true};
	char buf[FORMAT_SIZE];

	own->kind = tables_kind_of(v, column, text_cols);
	own->value_cols = grid_title_columns(v->p, c->title);
	for (size_t r = 0; r < v->nrows; r++)
		column_range_add(&range, tables_cell_at(v, r, column));
	own->scale = column_scale_of(&range, c->unit, column_is_share(c));
	if (own->kind != COLUMN_NUMBER && own->kind != COLUMN_TEXT)
		return;
	page_widen(&own->value_cols, own->scale.unit);
	for (size_t r = 0; r < v->nrows; r++) {
		page_widen(&own->value_cols, cell_text(v, r, column, buf));
		if (bare)
			continue;
		const interval_kind kind = column_scale_interval(
		    &own->scale, tables_cell_at(v, r, column), v->p->utf8, buf);
		page_widen(&own->interval_cols, buf);
		own->intervals = own->intervals || kind != INTERVAL_NONE;
		v->half = v->half || kind == INTERVAL_HALF;
		v->ends = v->ends || kind == INTERVAL_ENDS;
	}
}

static void reasons_find(table_view *v)
{
	for (size_t r = 0; r < v->nrows; r++) {
		for (size_t c = 0; c < v->ncolumns; c++) {
			const dck_cell *cell = tables_cell_at(v, r, c);
			size_t i = 0;
			if (cell->value.kind != DCK_VALUE_ABSENT ||
			    v->columns[c].kind == COLUMN_ABSENT)
				continue;
			while (i < v->nreasons &&
			       strcmp(v->reasons[i], tables_reason_of(cell)) != 0)
				i++;
			if (i == REASONS_MAX)
				v->more_reasons = true;
			else if (i == v->nreasons)
				v->reasons[v->nreasons++] = tables_reason_of(cell);
		}
	}
}

/* --- the grid */

static void grid_name_of(const void *self, size_t row, grid_name *ret)
{
	const table_view *v = self;
	const char *text = cell_text(v, row, 0, v->name);

	*ret = (grid_name){.text = text, .bytes = strlen(text)};
}

static const char *grid_cell_of(const void *self, size_t row, size_t col, char *buf)
{
	const table_view *v = self;
	const grid_part *at = &v->parts[col];

	if (!at->interval)
		return cell_text(v, row, at->column, buf);
	column_scale_interval(&v->columns[at->column].scale, tables_cell_at(v, row, at->column),
			      v->p->utf8, buf);
	return buf;
}

static void long_put(const void *self, size_t row, page *p)
{
	const table_view *v = self;
	/* Lines of programs are to be copied: each stays one line, with all of its blanks. */
	const bool code = strcmp(v->t->name, "tune/apply") == 0;
	char buf[FORMAT_SIZE];

	for (size_t c = 1; c < v->ncolumns; c++) {
		const char *text = cell_text(v, row, c, buf);
		if (v->columns[c].kind != COLUMN_LONG || text[0] == '\0')
			continue;
		text_dim_from(p, INDENT_BELOW - 2);
		page_text_cut(p, column_at(v, c)->title, p->width / 2);
		page_text(p, ":");
		text_style_set(p, PAGE_PLAIN);
		page_space(p);
		if (code)
			page_text(p, text);
		else
			page_wrap(p, INDENT_BELOW, text);
		page_line(p);
	}
}

/* The current parts, next to the row names. */
static void tables_parts_put(page *p, table_view *v, bool last)
{
	grid_col cols[GRID_COLS_MAX];
	const char *units[GRID_COLS_MAX];
	bool close[GRID_COLS_MAX];
	unsigned most[GRID_COLS_MAX];
	bool any_long = false;

	for (size_t i = 0; i < v->nparts; i++) {
		const grid_part *at = &v->parts[i];
		const look *c = &v->columns[at->column];
		/* An interval that is not next to its value needs the title. */
		const bool beside = at->interval && i > 0 && v->parts[i - 1].column == at->column;
		cols[i] = (grid_col){.title = beside ? "" : column_at(v, at->column)->title,
				     .left = at->interval || c->kind == COLUMN_TEXT};
		close[i] = beside;
		units[i] = beside ? "" : c->scale.unit;
		most[i] = at->most;
	}
	for (size_t c = 1; c < v->ncolumns; c++)
		any_long = any_long || v->columns[c].kind == COLUMN_LONG;
	const grid g = {.title = v->t->columns[0].title,
			.unit = v->columns[0].scale.unit,
			.units = units,
			.close = close,
			.most = most,
			.right = v->columns[0].kind == COLUMN_NUMBER,
			.cols = cols,
			.ncols = v->nparts,
			.nrows = v->nrows,
			.self = v,
			.name = grid_name_of,
			.cell = grid_cell_of,
			.below = last && any_long ? long_put : NULL};
	grid_put(p, &g);
	v->nparts = 0;
}

static bool rows_equal(const table_view *v, size_t a, size_t b, size_t ncolumns)
{
	for (size_t c = 0; c < ncolumns; c++)
		if (!record_value_equal(&tables_cell_at(v, a, c)->value,
					&tables_cell_at(v, b, c)->value))
			return false;
	return true;
}

/* Returns how many of the first columns distinguish the rows, and in *ret_cols what all but the
 * first need; 1 if they are not a few simple ones. */
static size_t keys_count(const table_view *v, unsigned *ret_cols)
{
	size_t keys = 1;
	unsigned cols = 0;

	*ret_cols = 0;
	for (size_t a = 0; a < v->nrows; a++)
		for (size_t b = 0; b < a; b++)
			while (rows_equal(v, a, b, keys))
				if (++keys > v->ncolumns || keys > KEYS_MAX)
					return 1;
	for (size_t c = 1; c < keys; c++) {
		const look *own = &v->columns[c];

		if (own->intervals || (own->kind != COLUMN_NUMBER && own->kind != COLUMN_TEXT))
			return 1;
		cols += 2 + own->value_cols;
	}
	*ret_cols = cols;
	return keys;
}

static void tables_part_add(page *p, table_view *v, grid_part more, unsigned cols, unsigned names,
			    unsigned *used)
{
	if (v->nparts > 0 && (*used + cols > p->width || v->nparts == GRID_COLS_MAX)) {
		unsigned key_cols;
		const size_t keys = keys_count(v, &key_cols);

		tables_parts_put(p, v, false);
		page_line(p);
		*used = 2 + names;
		if (*used + key_cols + cols <= p->width) {
			*used += key_cols;
			for (size_t c = 1; c < keys; c++)
				v->parts[v->nparts++] = (grid_part){.column = c};
		}
	}
	*used += cols;
	v->parts[v->nparts++] = more;
}

/* Writes the columns that fit next to the names, and the others below in the same way. A value and
 * its interval stay together if they fit. */
static void grids_put(page *p, table_view *v)
{
	/* Longer names are shortened rather than that columns go below. */
	const unsigned least = p->width / 4, all = v->columns[0].value_cols,
		       names = all < least ? all : least;
	unsigned used = 2 + names;

	for (size_t c = 1; c < v->ncolumns; c++) {
		const look *own = &v->columns[c];
		const unsigned value = 2 + own->value_cols, interval = 2 + own->interval_cols;
		if (own->kind != COLUMN_NUMBER && own->kind != COLUMN_TEXT)
			continue;
		const unsigned both = value + 1 + own->interval_cols;
		const bool together = own->intervals && 2 + names + both <= p->width;
		if (v->nparts + 1 == GRID_COLS_MAX && together)
			used = p->width;
		tables_part_add(p, v, (grid_part){.column = c}, together ? both : value, names,
				&used);
		/* With a separate title the column is at least as wide as the title. */
		const unsigned apart = interval > value ? interval : value;
		if (own->intervals)
			tables_part_add(p, v, (grid_part){.column = c, .interval = true},
					together ? 0 : apart, names, &used);
	}
	tables_parts_put(p, v, true);
}

/* --- texts below the grid */

static void below_put(page *p, const char *head, const char *text)
{
	text_dim_from(p, 2);
	page_wrap(p, 4, head);
	page_wrap(p, 4, text);
	page_line(p);
}

static void tables_absent_put(page *p, const table_view *v)
{
	char head[FORMAT_SIZE];

	for (size_t i = 0; i < v->nreasons; i++) {
		snprintf(head, sizeof head, v->nreasons > 1 ? "-%c:" : "-:", (int)('a' + i));
		below_put(p, head, v->reasons[i]);
	}
	if (v->more_reasons)
		below_put(p, "-?:", "other reasons: --format json or csv has them");
	for (size_t c = 1; c < v->ncolumns; c++) {
		if (v->columns[c].kind != COLUMN_ABSENT)
			continue;
		snprintf(head, sizeof head, "%.40s: absent,", column_at(v, c)->title);
		below_put(p, head, tables_reason_of(tables_cell_at(v, 0, c)));
	}
}

static void tables_more_put(page *p, const table_view *v)
{
	char text[120];
	const size_t rows = v->t->nrows - v->nrows, columns = v->t->ncolumns - v->ncolumns;

	if (rows == 0 && columns == 0)
		return;
	snprintf(text, sizeof text, "%zu more %s and %zu more %s are not shown:", rows,
		 COUNTED(rows, "row", "rows"), columns, COUNTED(columns, "column", "columns"));
	below_put(p, text, "--format json or csv has them");
}

static void tables_legend_put(page *p, const table_view *v)
{
	char text[160], level[FORMAT_SIZE];
	format_levels levels = {0};

	for (size_t r = 0; r < v->nrows; r++)
		for (size_t c = 0; c < v->ncolumns; c++)
			format_levels_add(&levels, tables_cell_at(v, r, c)->level);
	format_levels_text(&levels, level);
	snprintf(text, sizeof text, "half the %s interval", level);
	if (v->half)
		below_put(p, v->p->utf8 ? "\u00b1:" : "+-:", text);
	snprintf(text, sizeof text, "%s interval", level);
	if (v->ends)
		below_put(p, "[ ]:", text);
}

/* Columns as wide as their widest cells. */
static void columns_fill(table_view *v, unsigned text_cols)
{
	for (size_t c = 0; c < v->ncolumns; c++)
		v->columns[c].kind = tables_kind_of(v, c, text_cols);
	reasons_find(v);
	for (size_t c = 0; c < v->ncolumns; c++)
		column_fill(v, c, text_cols);
}

static unsigned text_cols_of(const page *p)
{
	return p->width / 3 < TEXT_COLS ? p->width / 3 : TEXT_COLS;
}

static void table_of_places_put(page *p, const dck_table *t)
{
	char name[FORMAT_SIZE];
	table_view v = {.p = p,
			.t = t,
			.nrows = t->nrows < TABLE_ROWS_MAX ? t->nrows : TABLE_ROWS_MAX,
			.ncolumns = t->ncolumns < COLUMNS_MAX ? t->ncolumns : COLUMNS_MAX,
			.name = name};
	const unsigned text_cols = text_cols_of(p);

	page_line(p);
	text_style_set(p, PAGE_BOLD);
	page_wrap(p, 2, t->title);
	page_line(p);
	if (t->nrows == 0) {
		below_put(p, "no rows", "");
		return;
	}
	if (text_is_list(t)) {
		text_list_put(p, t, 0);
		return;
	}
	columns_fill(&v, text_cols);
	grids_put(p, &v);
	tables_absent_put(p, &v);
	tables_more_put(p, &v);
	if (v.half || v.ends)
		tables_legend_put(p, &v);
}

static void tables_table_put(page *p, const dck_table *t)
{
	mem_arena *a = mem_arena_new(0);

	table_of_places_put(p, text_places(a, t, text_cols_of(p)));
	mem_arena_free(a);
}

void text_tables(page *p, const dck_record *r)
{
	for (size_t i = 0; i < r->ntables; i++)
		if (!text_accuracy_has(&r->tables[i]))
			tables_table_put(p, &r->tables[i]);
}

/* --- in short */

#define BRIEF_TABLE_ROWS 7
#define BRIEF_COLS	 8

/* Returns the first table with a summary; that of outputs gives way to another. */
static const dck_table *main_table(const dck_record *r)
{
	const dck_table *found = NULL;

	for (size_t i = 0; i < r->ntables; i++)
		if (r->tables[i].nsummary_columns > 0 &&
		    (!found || strcmp(found->name, "difference/outputs") == 0))
			found = &r->tables[i];
	return found ? found : r->ntables > 0 ? &r->tables[0] : NULL;
}

static unsigned part_columns(const table_view *v, const grid_part *a)
{
	const look *own = &v->columns[a->column];

	if (a->interval)
		return 1 + own->interval_cols;
	return 2 + (a->most > 0 ? a->most : own->value_cols);
}

/* The widest texts give way, down to a word. */
static void texts_cut(table_view *v, unsigned used, unsigned width)
{
	while (used > width) {
		grid_part *widest = NULL;

		for (size_t i = 0; i < v->nparts; i++)
			if (v->columns[v->parts[i].column].kind == COLUMN_TEXT &&
			    part_columns(v, &v->parts[i]) > 2 + CUT_COLS &&
			    (!widest || part_columns(v, &v->parts[i]) > part_columns(v, widest)))
				widest = &v->parts[i];
		if (!widest)
			return;
		widest->most = part_columns(v, widest) - 3;
		used--;
	}
}

/* Selects the columns that fit next to the names, dropping the last ones. A listing drops none: a
 * terminal cuts their texts. */
static void parts_fill(const page *p, table_view *v, bool listing)
{
	const unsigned least = p->width / 4, all = v->columns[0].value_cols,
		       names = all < least ? all : least;
	unsigned used = 2 + names;

	for (size_t c = 1; c < v->ncolumns && v->nparts + 2 < GRID_COLS_MAX; c++) {
		const look *own = &v->columns[c];
		const unsigned cols =
		    2 + own->value_cols + (own->intervals ? 1 + own->interval_cols : 0);

		if (own->kind != COLUMN_NUMBER && own->kind != COLUMN_TEXT)
			continue;
		if (used + cols > p->width && !listing)
			continue;
		used += cols;
		v->parts[v->nparts++] = (grid_part){.column = c};
		if (own->intervals)
			v->parts[v->nparts++] = (grid_part){.column = c, .interval = true};
	}
	if (listing && p->terminal)
		texts_cut(v, used, p->width);
}

/* How the numbers of a column move from row to row, in one line. */
static void course_put(page *p, const dck_table *t, size_t column)
{
	const size_t room = p->width > 50 ? p->width - 36 : 14;
	const size_t each = (t->nrows + room - 1) / room; /* rows of one mark */
	double least = INFINITY, most = -INFINITY, v;
	char ends[2][RECORD_RANGE_SIZE];

	for (size_t i = 0; i < t->nrows; i++)
		if (format_number_of(&t->cells[i * t->ncolumns + column].value, &v)) {
			least = fmin(least, v);
			most = fmax(most, v);
		}
	if (!isfinite(most - least) || t->nrows < 2)
		return;
	page_to(p, 2);
	for (size_t i = 0; i < t->nrows; i += each) {
		double sum = 0;
		size_t n = 0;

		for (size_t k = i; k < t->nrows && k < i + each; k++)
			if (format_number_of(&t->cells[k * t->ncolumns + column].value, &v)) {
				sum += (v - least) / (most > least ? most - least : 1);
				n++;
			}
		text_level_mark(p, n > 0 ? 1 + (size_t)lround(7 * sum / (double)n) : 0, 8);
	}
	record_range_text(t->columns[column].unit, least, most, ends);
	page_fmt(p, "  %s to %s", ends[0], ends[1]);
	page_line(p);
}

/* Returns the first numeric column of the summary; 0: none. */
static size_t first_number(const table_view *v)
{
	for (size_t i = 0; i < v->nparts; i++)
		if (v->columns[v->parts[i].column].kind == COLUMN_NUMBER)
			return column_index(v, v->parts[i].column);
	return 0;
}

static void brief_put(page *p, const dck_record *r, const dck_table *t, unsigned lines)
{
	const bool listing = format_is_listing(r);
	char name[FORMAT_SIZE];

	if (t && text_is_list(t)) {
		text_list_put(p, t, lines);
		return;
	}
	/* Titles, units, a row, and the count of omitted rows. */
	if (!t || t->nrows == 0 || lines < 4)
		return;
	const bool all = lines == TEXT_ALL_LINES;
	/* The rows of a listing with a column of this key are in the order of their times. */
	const bool course =
	    listing && t->nsummary_rows > 0 && NAME_ROW(t->columns, t->ncolumns, key, "time");
	table_view v = {.p = p,
			.t = t,
			.nrows = t->nrows,
			.ncolumns = t->ncolumns,
			.brief = true,
			/* Interleaved trials alone have a random order. */
			.paired = dck_record_fact(r, "method", "order_seed") != NULL,
			.name = name};
	if (t->nsummary_columns > 0) {
		const size_t first =
		    t->summary_columns[0] == 0; /* the names, which are there anyway */

		v.from = t->summary_columns + first;
		v.ncolumns = 1 + t->nsummary_columns - first;
	}
	v.ncolumns = v.ncolumns < BRIEF_COLS ? v.ncolumns : BRIEF_COLS;
	if (!all) {
		const size_t room =
		    lines - (course ? 1 : 0) - (listing || t->nrows + 2 <= lines ? 2 : 3);
		const size_t most = listing || room < BRIEF_TABLE_ROWS ? room : BRIEF_TABLE_ROWS;

		v.rows = t->nsummary_rows > 0 ? t->summary_rows : NULL;
		v.nrows = t->nsummary_rows > 0 ? t->nsummary_rows : t->nrows;
		/* Rows that have a course end with the newest. */
		if (course && v.nrows > most)
			v.rows += v.nrows - most;
		v.nrows = v.nrows < most ? v.nrows : most;
	}
	columns_fill(&v, listing ? UINT_MAX : p->terminal ? TEXT_COLS : FORMAT_SIZE - 1);
	for (size_t c = 0; c < v.ncolumns; c++) /* no text is written below a row here */
		if (v.columns[c].kind == COLUMN_LONG)
			v.columns[c].kind = COLUMN_EMPTY;
	v.nreasons = v.nreasons < 1 ? v.nreasons : 1;
	parts_fill(p, &v, listing);
	if (course && first_number(&v) > 0)
		course_put(p, t, first_number(&v));
	const size_t more = listing ? 0 : t->nrows - v.nrows; /* the listing states it itself */
	tables_parts_put(p, &v, false);
	if (more > 0) {
		text_dim_from(p, 2);
		page_fmt(p, "and %zu more", more);
		page_line(p);
	}
}

void text_table_brief(page *p, const dck_record *r, unsigned lines)
{
	mem_arena *a = mem_arena_new(0);
	const dck_table *t = main_table(r);

	brief_put(p, r, t ? text_places(a, t, text_cols_of(p)) : NULL, lines);
	mem_arena_free(a);
}
