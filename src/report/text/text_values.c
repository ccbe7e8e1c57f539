/* text_values.c - what all parts of the text report read from a record: a fact or a metric, and how
 * the answer, an interval and a part's title are written. The ends of a rate's interval have the
 * decimals of its value where all three are written plainly; scaled numbers have a unit each.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/decimal.h"
#include "base/name_index.h"
#include "record/record_internal.h"
#include "report/text/text_parts.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

void text_title(page *p, const char *title)
{
	page_line(p);
	text_style_set(p, PAGE_BOLD);
	page_text(p, title);
	page_line(p);
}

void text_dim_from(page *p, unsigned col)
{
	page_to(p, col);
	text_style_set(p, PAGE_DIM);
}

void text_dim_line(page *p, const char *text)
{
	text_dim_from(p, 2);
	page_wrap(p, 2, text);
	page_line(p);
}

/* Shares, shown as percent. */
bool text_fact_is_share(const dck_fact *f)
{
	return name_index_listed("precision_reached precision_within_process "
				 "spread_between_processes starting_share",
				 f->key);
}

const char *text_fact_value(const dck_fact *f, char *buf)
{
	double v;
	if (text_fact_is_share(f) && format_number_of(&f->value, &v))
		return format_percent(v, buf);
	return format_value(&f->value, f->unit, buf);
}

const char *text_fact(const dck_record *r, const char *section, const char *key, char *buf)
{
	const dck_fact *f = dck_record_fact(r, section, key);
	return !f || f->value.kind == DCK_VALUE_ABSENT ? NULL : text_fact_value(f, buf);
}

bool text_fact_number(const dck_record *r, const char *section, const char *key, double *ret)
{
	const dck_fact *f = dck_record_fact(r, section, key);
	return f && format_number_of(&f->value, ret);
}

/* A metric that has a number, or NULL. */
const dck_metric *text_metric(const dck_record *r, const char *tag, double *ret)
{
	const dck_metric *m = dck_record_metric(r, tag);
	return m && format_number_of(&m->value, ret) ? m : NULL;
}

/* Returns the metric with the requested precision; NULL: not in the record. */
const dck_metric *text_metric_asked(const dck_record *r)
{
	char buf[FORMAT_SIZE], tag[FORMAT_SIZE];
	const char *statistic = text_fact(r, "plan", "statistic", buf);

	snprintf(tag, sizeof tag, "latency/%.40s", statistic ? statistic : "median");
	return dck_record_metric(r, tag);
}

/* Returns the metric to show first: the requested one, else an available one. */
const dck_metric *text_metric_main(const dck_record *r, double *ret)
{
	const dck_metric *m = text_metric_asked(r);
	if (!m || !format_number_of(&m->value, ret))
		m = text_metric(r, "latency/median", ret);
	if (!m)
		m = text_metric(r, "latency/mean", ret);
	return m ? m : text_metric(r, "latency/max", ret);
}

format_scale text_latency_scale(const dck_record *r)
{
	double v = NAN;
	const dck_metric *m = text_metric_main(r, &v);
	return format_scale_for(v, m && m->level > 0 ? (m->hi - m->lo) / 2 : NAN);
}

bool text_is_latency(const dck_metric *m)
{
	return strncmp(m->def->tag, "latency/", 8) == 0 &&
	       (m->def->unit == DCK_UNIT_NS || strcmp(m->def->tag, "latency/cv") == 0);
}

bool text_is_counter(const dck_metric *m)
{
	return strncmp(m->def->tag, TEXT_COUNTER, sizeof TEXT_COUNTER - 1) == 0;
}

bool text_has_interval(const dck_record *r)
{
	for (size_t i = 0; i < r->nmetrics; i++)
		if (text_is_latency(&r->metrics[i]) && r->metrics[i].level > 0)
			return true;
	return false;
}

void text_level(page *p, double level)
{
	page_fmt(p, " %s", FORMAT_LEVEL(level));
}

/* Returns the decimals of a printed rate, which the ends of its interval then have too; -1: it is
 * no rate, or whole and small, or scaled, and each has its own. */
static int value_decimals(const dck_metric *m, const char *value)
{
	const size_t whole = strspn(value, "-0123456789,");
	const char *end = value + whole;

	const dck_unit u = m->def->unit;
	const bool rate =
	    u == DCK_UNIT_ITEM_PER_S || u == DCK_UNIT_RUN_PER_S || u == DCK_UNIT_TOKEN_PER_S;

	if (!rate || m->lo < m->hi / 10 || strchr(value, '%'))
		return -1;
	if (*end == '.' && end[1 + strspn(end + 1, "0123456789")] != 'e')
		return (int)strspn(end + 1, "0123456789");
	return whole == 4 && *end != 'e' ? 0 : -1;
}

/* Writes "[55.4, 56.8]": the unit already follows the value, unless an end has another unit. */
void text_interval(page *p, const dck_metric *m, const char *value)
{
	char lo[FORMAT_SIZE], hi[FORMAT_SIZE];
	const char *unit = strrchr(value, ' ');
	const int decimals = value_decimals(m, value);

	if (decimals >= 0) {
		page_fmt(p, "[%s, %s]", FIXED_TEXT(decimals, m->lo), FIXED_TEXT(decimals, m->hi));
		text_narrow(p, m);
		return;
	}
	format_number(m->lo, m->def->unit, lo);
	format_number(m->hi, m->def->unit, hi);
	char *lo_unit = strrchr(lo, ' '), *hi_unit = strrchr(hi, ' ');
	if (unit && lo_unit && hi_unit && strcmp(unit, lo_unit) == 0 && strcmp(unit, hi_unit) == 0)
		*lo_unit = *hi_unit = '\0';
	page_fmt(p, "[%s, %s]", lo, hi);
	text_narrow(p, m);
}

void text_scaled_interval(page *p, const dck_metric *m, const format_scale *scale)
{
	char lo[FORMAT_SIZE], hi[FORMAT_SIZE];

	if (!(m->level > 0)) {
		page_text(p, "  (no interval)");
		return;
	}
	page_fmt(p, "  [%s, %s]", format_scaled(scale, m->lo, lo), format_scaled(scale, m->hi, hi));
	text_narrow(p, m);
	text_level(p, m->level);
}

void text_absent_line(page *p, const dck_metric *m)
{
	page_to(p, 2);
	text_style_set(p, PAGE_WARN);
	page_fmt(p, "%s absent: ", m->def->name);
	page_wrap(p, 4, FORMAT_VALUE(&m->value, DCK_UNIT_NONE));
	page_line(p);
}

void text_narrow(page *p, const dck_metric *m)
{
	if (m->narrow)
		page_text(p, "*");
}

void text_narrow_legend(page *p, const dck_record *r)
{
	char text[TEXT_NOTE_BYTES];

	for (size_t i = 0; i < r->nmetrics; i++)
		if (format_narrow(r, i, text, sizeof text)) {
			text_dim_from(p, 2);
			page_text(p, "*:");
			page_space(p);
			page_wrap(p, 2, text);
			page_line(p);
		}
}

void text_answer(page *p, const dck_record *r)
{
	const dck_fact *f = dck_record_fact(r, "result", "answer");

	if (!f || f->value.kind == DCK_VALUE_ABSENT)
		return;
	page_to(p, 2);
	text_style_set(p, PAGE_BOLD);
	page_wrap(p, 2, FORMAT_VALUE(&f->value, f->unit));
	page_line(p);
}

void text_next(page *p, const dck_record *r)
{
	const char *next = record_get_text(r, "result", "next");

	if (!next)
		return;
	page_text(p, "next: ");
	page_text(p, next);
	page_line(p);
}
