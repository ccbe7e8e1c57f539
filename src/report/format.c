/* format.c - numbers of reports: values with a unit, shares, levels, and the scale of a column.
 *
 * Times of one column share a unit and a number of decimals (format_scale), which two digits of the
 * half-width of the main interval decide, within DIGITS_MIN and DIGITS_MAX. Other values have three
 * or four significant digits, counts all of them. Text does not depend on the locale.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/format.h"
#include "record/record_internal.h"
#include "base/decimal.h"
#include "base/utf8.h"
#include "deepclock/opt.h"
#include "deepclock/report.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define DIGITS_MIN 4 /* significant digits of a column's main value */
#define DIGITS_MAX 6

/* Digits before the decimal point, at least 1. */
static int format_digits_whole(double v)
{
	return v >= 10 ? (int)floor(log10(v)) + 1 : 1;
}

format_scale format_scale_for(double main_ns, double half_ns)
{
	static const format_scale units[] = {{1e9, "s", 0}, {1e6, "ms", 0}, {1e3, "\u00b5s", 0}};
	format_scale s = {1, "ns", 0};

	if (!(main_ns > 0) || !isfinite(main_ns))
		main_ns = 1;
	for (int i = 0; i < 3; i++) {
		if (main_ns >= units[i].divide) {
			s = units[i];
			break;
		}
	}
	int whole = format_digits_whole(main_ns / s.divide);
	int low = DIGITS_MIN - whole, high = DIGITS_MAX - whole;
	s.decimals = low;
	if (half_ns > 0 && isfinite(half_ns))
		s.decimals = (int)fmin(fmax(1 - floor(log10(half_ns / s.divide)), low), high);
	if (s.decimals < 0)
		s.decimals = 0;
	return s;
}

/* A number that may be longer than the buffer, which is then cut. */
static void number_format(char *buf, const char *(*print)(char *buf, int digits, double v),
			  int digits, double v, const char *after)
{
	char text[NUM_TEXT_MAX];

	snprintf(buf, FORMAT_SIZE - 1, "%.40s%s", print(text, digits, v), after);
}

const char *format_scaled(const format_scale *s, double ns, char *buf)
{
	double v = ns / s->divide, least = pow(10, -s->decimals);

	if (!isfinite(v)) {
		snprintf(buf, FORMAT_SIZE, "?");
	} else if (fabs(v) >= 1e9) {
		number_format(buf, decimal_general, 4, v, "");
	} else if (v > 0 && v < least / 2) {
		buf[0] = '<';
		number_format(buf + 1, decimal_fixed, s->decimals, least, "");
	} else {
		number_format(buf, decimal_fixed, s->decimals, v, "");
	}
	return buf;
}

/* Four significant digits; thousands separated, no exponent before a million million. */
static void plain_number(double v, char *buf, const char *after)
{
	double size = fabs(v);

	if (size >= 1e4 && size < 1e12) {
		dck_text_count(llround(v), buf, FORMAT_SIZE);
		size_t n = strlen(buf);
		snprintf(buf + n, FORMAT_SIZE - n, "%s", after);
	} else if (v == floor(v) && size < 1e12) {
		number_format(buf, decimal_fixed, 0, v, after);
	} else if (size >= 1 && size < 1e12) {
		number_format(buf, decimal_fixed, 4 - format_digits_whole(size), v, after);
	} else {
		number_format(buf, decimal_general, 3, v, after);
	}
}

const char *format_number(double v, dck_unit u, char *buf)
{
	if (!isfinite(v)) {
		snprintf(buf, FORMAT_SIZE, "?");
	} else if (u == DCK_UNIT_NS) {
		dck_text_time(v, buf, FORMAT_SIZE);
	} else if (u == DCK_UNIT_BYTE) {
		dck_text_bytes(v, buf, FORMAT_SIZE);
	} else if (u == DCK_UNIT_NONE || u == DCK_UNIT_ONE) {
		plain_number(v, buf, "");
	} else if (u == DCK_UNIT_ITEM_PER_S) {
		plain_number(v, buf, " items/s");
	} else if (u == DCK_UNIT_RUN_PER_S) {
		plain_number(v, buf, " runs/s");
	} else if (u == DCK_UNIT_TOKEN_PER_S) {
		plain_number(v, buf, " tokens/s");
	} else if (u == DCK_UNIT_CELSIUS) {
		plain_number(v, buf, " degC");
	} else {
		dck_text_si(v, dck_unit_text(u), buf, FORMAT_SIZE);
	}
	return buf;
}

bool format_number_of(const dck_value *v, double *ret)
{
	if (v->kind != DCK_VALUE_REAL && v->kind != DCK_VALUE_INT)
		return false;
	*ret = dck_value_number(v);
	return true;
}

const char *format_value(const dck_value *v, dck_unit u, char *buf)
{
	if (v->kind == DCK_VALUE_TEXT || v->kind == DCK_VALUE_ABSENT)
		return v->as.text ? v->as.text : "not known";
	if (v->kind == DCK_VALUE_BOOL)
		return v->as.b ? "yes" : "no";
	if (v->kind == DCK_VALUE_INT && (u == DCK_UNIT_NONE || u == DCK_UNIT_ONE))
		return dck_text_count(v->as.i, buf, FORMAT_SIZE);
	double number = 0;
	format_number_of(v, &number);
	return format_number(number, u, buf);
}

const char *dck_text_value(const dck_value *v, dck_unit unit, char *buf, size_t size)
{
	if (snprintf(buf, size, "%s", FORMAT_VALUE(v, unit)) >= (int)size && size > 0)
		utf8_cut_end(buf);
	return buf;
}

const char *format_percent(double ratio, char *buf)
{
	snprintf(buf, FORMAT_SIZE, "%.*s", FORMAT_SIZE - 1, PERCENT_TEXT(3, ratio));
	return buf;
}

void format_levels_add(format_levels *l, double level)
{
	if (!(level > 0))
		return;
	l->least = l->most > 0 ? fmin(l->least, level) : level;
	l->most = fmax(l->most, level);
}

static void level_number(double level, char number[NUM_TEXT_MAX])
{
	int digits = 3;

	do
		decimal_general(number, digits, 100 * level);
	while (strcmp(number, "100") == 0 && ++digits < 17);
}

const char *format_levels_text(const format_levels *l, char *buf)
{
	char least[NUM_TEXT_MAX], most[NUM_TEXT_MAX];

	level_number(l->least, least);
	level_number(l->most, most);
	if (strcmp(least, most) == 0)
		snprintf(buf, FORMAT_SIZE, "%.20s %%", most);
	else
		snprintf(buf, FORMAT_SIZE, "%.20s to %.20s %%", least, most);
	return buf;
}

const char *format_level(double level, char *buf)
{
	return format_levels_text(&(format_levels){level, level}, buf);
}

bool format_is_verdict(const dck_fact *f)
{
	const size_t n = sizeof FORMAT_VERDICT - 1;

	return f->value.kind != DCK_VALUE_ABSENT && strncmp(f->key, FORMAT_VERDICT, n) == 0 &&
	       (f->key[n] == '\0' || f->key[n] == '/');
}

bool format_is_listing(const dck_record *r)
{
	const dck_fact *f = dck_record_fact(r, "result", "listing");

	return f && f->value.kind == DCK_VALUE_BOOL && f->value.as.b && r->ntables > 0;
}

bool format_narrow(const dck_record *r, size_t i, char *text, size_t size)
{
	const char *why = r->metrics[i].narrow;
	int n;

	for (size_t k = 0; why && k < i; k++)
		if (r->metrics[k].narrow && strcmp(r->metrics[k].narrow, why) == 0)
			return false;
	if (!why)
		return false;
	n = snprintf(text, size, "the interval is too narrow, because %s", why);
	for (size_t k = i; k < r->nmetrics && n > 0 && (size_t)n < size; k++)
		if (r->metrics[k].narrow && strcmp(r->metrics[k].narrow, why) == 0)
			n += snprintf(text + n, size - (size_t)n, "%s %s", k == i ? ":" : ",",
				      r->metrics[k].def->name);
	return true;
}
