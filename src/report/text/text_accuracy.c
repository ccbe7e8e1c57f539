/* text_accuracy.c - the report on a classifier, as scikit-learn's classification_report lays it out
 * and rounds it, so that the two can be compared byte by byte.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/decimal.h"
#include "base/units.h"
#include "report/text/text_parts.h"
#include <stdio.h>
#include <string.h>

#define NUMBER_COLS    9
#define DIGITS_MAX     17
#define DIGITS_PLAIN   2
#define CLASS_ROWS_MAX 1000 /* a report of more classes is for a program to read */
#define SHORT_ROWS     10

static const char *const number_keys[] = {"precision", "recall", "f1"};
#define NUMBERS (sizeof number_keys / sizeof number_keys[0])

bool text_accuracy_has(const dck_table *t)
{
	return strcmp(t->name, "accuracy/classes") == 0 ||
	       strcmp(t->name, "accuracy/averages") == 0;
}

typedef struct accuracy_layout {
	unsigned name_cols;
	int digits;
	const char *support_ends; /* text after a support */
} accuracy_layout;

static const char *accuracy_name_of(const dck_table *t, size_t row)
{
	const dck_cell *c = &t->cells[row * t->ncolumns];

	return c->value.kind == DCK_VALUE_TEXT ? c->value.as.text : "?";
}

/* scikit-learn counts characters, also those that take two columns. */
static unsigned name_chars(const char *text)
{
	unsigned n = 0;
	bool shown;

	for (; *text; n++)
		text += dck_text_char(text, &shown);
	return n;
}

static void names_widen(unsigned *cols, const dck_table *t)
{
	for (size_t i = 0; i < t->nrows; i++) {
		const unsigned n = name_chars(accuracy_name_of(t, i));

		*cols = n > *cols ? n : *cols;
	}
}

static accuracy_layout layout_of(const dck_record *r, const dck_table *classes,
				 const dck_table *averages)
{
	const dck_fact *f = dck_record_fact(r, "accuracy", "digits");
	/* As there: where not one prediction is right, a support of 3 is written 3.0. */
	const bool none = dck_record_value(r, "accuracy/overall") == 0;
	accuracy_layout l = {.name_cols = (unsigned)strlen("weighted avg"),
			     .digits = DIGITS_PLAIN,
			     .support_ends = none ? ".0" : ""};

	if (f && f->value.kind == DCK_VALUE_INT && f->value.as.i >= 0 &&
	    f->value.as.i <= DIGITS_MAX)
		l.digits = (int)f->value.as.i;
	names_widen(&l.name_cols, classes);
	names_widen(&l.name_cols, averages);
	if ((unsigned)l.digits > l.name_cols)
		l.name_cols = (unsigned)l.digits;
	return l;
}

/* Writes a row of a table; absent cells stay empty. */
static void accuracy_row_put(page *p, const dck_table *t, size_t row, const accuracy_layout *l)
{
	char text[NUM_TEXT_MAX];
	const unsigned name = name_chars(accuracy_name_of(t, row));

	if (name < l->name_cols)
		page_to(p, p->col + l->name_cols - name);
	page_text(p, accuracy_name_of(t, row));
	page_text(p, " ");
	for (size_t i = 0; i < NUMBERS; i++) {
		const dck_cell *c = dck_table_cell(t, row, number_keys[i]);
		double v;

		text[0] = '\0';
		if (c && format_number_of(&c->value, &v))
			decimal_fixed(text, l->digits, v);
		page_text(p, " ");
		page_text_right(p, text, NUMBER_COLS);
	}
	const dck_cell *support = dck_table_cell(t, row, "support");
	text[0] = '\0';
	if (support && support->value.kind == DCK_VALUE_INT)
		snprintf(text, sizeof text, "%lld%s", (long long)support->value.as.i,
			 l->support_ends);
	page_text(p, " ");
	page_text_right(p, text, NUMBER_COLS);
	page_line(p);
}

static void accuracy_title_put(page *p, const dck_record *r)
{
	const dck_table *several = dck_record_table(r, "accuracy/alternatives");
	char title[200] = "Classification report";

	if (several && several->nrows > 0)
		snprintf(title, sizeof title, "Classification report of %.150s",
			 accuracy_name_of(several, 0));
	text_title(p, title);
}

bool text_accuracy_is_short(const dck_record *r)
{
	const dck_table *classes = dck_record_table(r, "accuracy/classes");

	return classes && classes->nrows <= SHORT_ROWS &&
	       !dck_record_table(r, "accuracy/alternatives");
}

void text_accuracy(page *p, const dck_record *r, bool titled)
{
	static const char *const heads[] = {"precision", "recall", "f1-score", "support"};
	const dck_table *classes = dck_record_table(r, "accuracy/classes"),
			*averages = dck_record_table(r, "accuracy/averages");

	if (!classes || !averages || classes->ncolumns == 0 || averages->ncolumns == 0)
		return;
	const accuracy_layout l = layout_of(r, classes, averages);
	if (titled)
		accuracy_title_put(p, r);
	page_to(p, l.name_cols + 1);
	for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
		page_text(p, " ");
		page_text_right(p, heads[i], NUMBER_COLS);
	}
	page_line(p);
	page_line(p);
	for (size_t i = 0; i < classes->nrows && i < CLASS_ROWS_MAX; i++)
		accuracy_row_put(p, classes, i, &l);
	if (classes->nrows > CLASS_ROWS_MAX) {
		page_fmt(p, "(%zu more %s: --format json or csv has them)",
			 classes->nrows - CLASS_ROWS_MAX,
			 COUNTED(classes->nrows - CLASS_ROWS_MAX, "class", "classes"));
		page_line(p);
	}
	page_line(p);
	for (size_t i = 0; i < averages->nrows; i++)
		accuracy_row_put(p, averages, i, &l);
}
