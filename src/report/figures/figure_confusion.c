/* figure_confusion.c - which labels were predicted as which: a row for each label, a column for
 * each prediction, as dark as the cell's share of its row. Of more labels than fit the first ones.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/figures/figures.h"
#include "report/figures/svg.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const dck_table *confusion_of(const dck_record *r)
{
	const dck_table *t = dck_record_table(r, "accuracy/confusion");

	return t && t->ncolumns >= 2 && t->nrows >= 1 ? t : NULL;
}

static bool confusion_has(const dck_record *r)
{
	return confusion_of(r) != NULL;
}

static double count_at(const dck_table *t, size_t row, size_t column)
{
	const double v = dck_value_number(&t->cells[row * t->ncolumns + column].value);

	return v > 0 && isfinite(v) ? v : 0;
}

static const char *label_of(const dck_table *t, size_t row)
{
	const dck_value *v = &t->cells[row * t->ncolumns].value;

	return v->kind == DCK_VALUE_TEXT ? v->as.text : "";
}

static void confusion_draw(const dck_record *r, dck_sink *out)
{
	const dck_table *t = confusion_of(r);
	const size_t all = t->ncolumns - 1;
	const unsigned rows = t->nrows < SVG_NAMED_ROWS ? (unsigned)t->nrows : SVG_NAMED_ROWS,
		       columns = all < SVG_NAMED_ROWS ? (unsigned)all : SVG_NAMED_ROWS;
	char note[200], number[32], says[400];
	double names = 0;
	svg s;

	for (unsigned i = 0; i < rows; i++)
		names = fmax(names, svg_text_px(label_of(t, i)));
	svg_open(&s, out, "What is predicted as what");
	int n = snprintf(note, sizeof note,
			 "rows: labels, columns: predictions, as dark as the share of the row");
	if (rows < t->nrows || columns < all)
		snprintf(note + n, sizeof note - (size_t)n, "; %u of %zu labels", rows, t->nrows);
	svg_note(&s, note);
	svg_rows(&s, rows, names, 0);
	svg_columns(&s, columns, "predicted as");
	for (unsigned c = 0; c < columns; c++)
		svg_column_name(&s, c, t->columns[c + 1].title);
	for (unsigned i = 0; i < rows; i++) {
		double sum = 0;

		for (size_t c = 0; c < all; c++)
			sum += count_at(t, i, c + 1);
		svg_row_names(&s, i, label_of(t, i), NULL, NULL);
		for (unsigned c = 0; c < columns; c++) {
			const double v = count_at(t, i, c + 1);

			snprintf(number, sizeof number, "%.0f", v);
			snprintf(says, sizeof says, "%.150s predicted as %.150s: %s of %.0f",
				 label_of(t, i), t->columns[c + 1].title, number, sum);
			s.ink = strcmp(label_of(t, i), t->columns[c + 1].title) == 0 ? SVG_BLUE
										     : SVG_ORANGE;
			svg_cell(&s, i, c, sum > 0 ? v / sum : 0, number, says);
		}
	}
	svg_close(&s);
}

const dck_figure figure_confusion = {"confusion", "which labels are predicted as which",
				     confusion_has, confusion_draw};
