/* scale.c - number format of a column: one unit, and the decimals that the smallest number needs,
 * so that the numbers can be compared by eye. If they differ too much for that, the unit is the
 * same and each number has its own digits.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/scale.h"
#include "base/decimal.h"
#include "deepclock/opt.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SPAN_MAX   1000.0 /* ratio of most to least that one number of decimals fits */
#define TIME_MOST  9999.5 /* of a unit: 13826.8 needs no decimals */
#define HALF_MAX   0.25	  /* relative to the value: a wider interval is printed by its bounds */
#define TINY	   1e-3	  /* without prefixes: an exponent is clearer than zeros */
#define DIGITS_MAX 6	  /* of the largest */

typedef struct unit_prefix {
	double factor;
	const char *text;
} unit_prefix;

/* By unit: the prefixes of its larger kinds, downwards; significant digits of the least number.
 * Rates below a million per second are written as arrivals, not as the frequency of a processor. */
static const unit_prefix times[] = {
    {1e9, "s"}, {1e6, "ms"}, {1e3, "\u00b5s"}, {1, "ns"}, {0, NULL}};
static const unit_prefix sizes[] = {{1099511627776.0, "TiB"},
				    {1073741824.0, "GiB"},
				    {1048576.0, "MiB"},
				    {1024.0, "KiB"},
				    {1, "B"},
				    {0, NULL}};
static const unit_prefix decimal[] = {{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"},
				      {1e3, "k"},  {1, ""},	{0, NULL}};
static const unit_prefix clocks[] = {{1e9, "G"}, {1e6, "M"}, {1, ""}, {0, NULL}};
static const unit_prefix unprefixed[] = {{1, ""}, {0, NULL}};

typedef struct family {
	const unit_prefix *prefixes;
	bool whole; /* the prefix is the whole unit */
	int digits;
} family;

static const family unit_families[DCK_UNIT_COUNT] = {
    [DCK_UNIT_NONE] = {unprefixed, false, 3},
    [DCK_UNIT_NS] = {times, true, 4},
    [DCK_UNIT_BYTE] = {sizes, true, 3},
    [DCK_UNIT_FLOP] = {decimal, false, 3},
    [DCK_UNIT_ONE] = {unprefixed, false, 3},
    [DCK_UNIT_HERTZ] = {clocks, false, 3},
    [DCK_UNIT_WATT] = {decimal, false, 3},
    [DCK_UNIT_JOULE] = {decimal, false, 3},
    [DCK_UNIT_CELSIUS] = {unprefixed, false, 3},
    [DCK_UNIT_BYTE_PER_S] = {decimal, false, 3},
    [DCK_UNIT_FLOP_PER_S] = {decimal, false, 3},
    [DCK_UNIT_ITEM_PER_S] = {unprefixed, false, 4},
    [DCK_UNIT_RUN_PER_S] = {unprefixed, false, 4},
    [DCK_UNIT_TOKEN_PER_S] = {unprefixed, false, 4},
};

void column_range_add(column_range *r, const dck_cell *c)
{
	double v;

	if (!format_number_of(&c->value, &v) || !isfinite(v))
		return;
	r->any = true;
	r->whole = r->whole && c->value.kind == DCK_VALUE_INT;
	v = fabs(v);
	if (v > 0) {
		r->least = r->least > 0 ? fmin(r->least, v) : v;
		r->most = fmax(r->most, v);
	}
	const double half = (c->hi - c->lo) / 2;
	if (c->level > 0 && half > 0 && isfinite(half))
		r->half = r->half > 0 ? fmin(r->half, half) : half;
}

/* Digits before the decimal point; of a number below 0.1 less than 0. */
static int scale_digits_whole(double v)
{
	return v > 0 && isfinite(v) ? (int)floor(log10(v)) + 1 : 1;
}

/* Returns the decimals that show two digits of the narrowest half-width, since further digits are
 * noise; without intervals, `digits` of the smallest number; at most DIGITS_MAX of the largest. */
static int scale_decimals_of(const column_range *r, double divide, int digits)
{
	const int room = DIGITS_MAX - scale_digits_whole(r->most / divide);
	int n = (r->half > 0 ? 2 : digits) - scale_digits_whole(r->least / divide);

	if (r->half > 0) {
		const int two = 2 - scale_digits_whole(r->half / divide);
		n = two > n ? two : n;
	}
	n = n < room ? n : room;
	return n < 0 ? 0 : n > DIGITS_MAX ? DIGITS_MAX : n;
}

static void unit_set(column_scale *s, dck_unit u, const unit_prefix *p)
{
	snprintf(s->unit, sizeof s->unit, "%s%s", p->text,
		 unit_families[u].whole || u == DCK_UNIT_ONE ? "" : dck_unit_text(u));
}

static const unit_prefix *middle_of(const unit_prefix *all, const column_range *r)
{
	const double middle = r->least > 0  ? sqrt(r->least) * sqrt(r->most)
			      : r->half > 0 ? r->half
					    : 1;

	while (all[1].text && middle < all->factor)
		all++;
	return all;
}

/* Returns the largest unit in which the smallest number has a non-zero first decimal, so that
 * columns of similar size tend to have the same unit; else the middle one. */
static const unit_prefix *prefix_of(const unit_prefix *all, const column_range *r)
{
	for (const unit_prefix *p = all; p->text; p++)
		if (r->most >= p->factor && r->least >= p->factor / 10)
			return p;
	return middle_of(all, r);
}

column_scale column_scale_of(const column_range *r, dck_unit u, bool share)
{
	const family *f = &unit_families[u];
	column_scale s = {.base = u, .divide = 1, .share = share};

	if (!r->any)
		return s;
	if (share) {
		s.divide = 0.01;
		s.decimals = scale_decimals_of(r, s.divide, 3);
		snprintf(s.unit, sizeof s.unit, "%%");
		return s;
	}
	const unit_prefix *p = prefix_of(f->prefixes, r);
	/* A count is shown to its last digit. */
	s.whole = r->whole && f->prefixes == unprefixed;
	s.each = !s.whole &&
		 (r->most > SPAN_MAX * r->least || (f->prefixes == unprefixed && r->least < TINY) ||
		  (u == DCK_UNIT_NS && r->most / p->factor >= TIME_MOST));
	if (s.each) /* long numbers are read more easily than exponents */
		for (p = middle_of(f->prefixes, r); p[1].text && r->least < TINY * p->factor;)
			p++;
	s.divide = p->factor;
	/* Bytes are whole numbers. */
	s.decimals = u == DCK_UNIT_BYTE && r->whole && p->factor <= 1
			 ? 0
			 : scale_decimals_of(r, s.divide, f->digits);
	unit_set(&s, u, p);
	return s;
}

/* Returns whether the column's decimals would hide on which side of 1 a ratio is, or its size. */
static bool scale_is_too_coarse(const column_scale *s, double size)
{
	return s->base == DCK_UNIT_ONE && !s->share && !s->whole && size >= TINY && size < 2 &&
	       (s->decimals == 0 || size < 0.5 * pow(10, -s->decimals));
}

const char *column_scale_number(const column_scale *s, double v, char *buf)
{
	const format_scale scale = {s->divide, s->unit, s->decimals};
	const double size = fabs(v / s->divide);
	char number[NUM_TEXT_MAX];

	if (v == 0) {
		snprintf(buf, FORMAT_SIZE, "0");
	} else if (s->each && size >= TINY && size < 1) {
		decimal_fixed(number, 3 - scale_digits_whole(size), v / s->divide);
		snprintf(buf, FORMAT_SIZE, "%.30s", number);
	} else if (s->each) {
		format_number(v / s->divide, DCK_UNIT_ONE, buf);
	} else if (scale_is_too_coarse(s, size)) {
		decimal_fixed(number, 2 - scale_digits_whole(size), v);
		snprintf(buf, FORMAT_SIZE, "%.30s", number);
	} else if (s->decimals == 0 && fabs(v / s->divide) >= 0.5 && fabs(v / s->divide) < 1e15) {
		dck_text_count(llround(v / s->divide), buf, FORMAT_SIZE);
	} else {
		format_scaled(&scale, v, buf);
	}
	return buf;
}

const char *column_scale_value(const column_scale *s, const dck_value *v, char *buf)
{
	double number = 0;

	if (v->kind == DCK_VALUE_INT && s->whole)
		return dck_text_count(v->as.i, buf, FORMAT_SIZE);
	format_number_of(v, &number);
	return column_scale_number(s, number, buf);
}

/* Returns whether both ends are about equally far from the value. */
static bool is_even(double v, const dck_cell *c, double most)
{
	const double up = c->hi - v, down = v - c->lo;

	return up >= 0 && down >= 0 && fmax(up, down) <= most * fmin(up, down);
}

/* Writes "+-0.8 %" of the value; false where that does not represent the interval: it is wide,
 * asymmetric, or of a difference. A ratio's interval must show on which side of 1 it is, so its
 * bounds are replaced only if it is symmetric. */
static bool half_text(const column_scale *s, const dck_cell *c, bool utf8, char *buf)
{
	char number[NUM_TEXT_MAX];
	double v = 0;

	if (s->share || !format_number_of(&c->value, &v) || !(v > 0))
		return false;
	const double share = (c->hi - c->lo) / 2 / v;
	if (!is_even(v, c, s->base == DCK_UNIT_ONE || share > 0.05 ? 1.25 : 2) &&
	    !(share < 0.01 && s->base != DCK_UNIT_ONE && is_even(v, c, INFINITY)))
		return false;
	if (!(share > 0 && share <= HALF_MAX)) /* an interval without a width has no half */
		return false;
	decimal_fixed(number, share >= 0.0995 ? 0 : share >= 0.00995 ? 1 : 2, 100 * share);
	snprintf(buf, FORMAT_SIZE, "%s%.20s %%", utf8 ? "\u00b1" : "+-",
		 share < 0.00005 ? "0.01" : number);
	return true;
}

interval_kind column_scale_interval(const column_scale *s, const dck_cell *c, bool utf8, char *buf)
{
	char lo[FORMAT_SIZE], hi[FORMAT_SIZE];

	buf[0] = '\0';
	if (!(c->level > 0))
		return INTERVAL_NONE;
	if (half_text(s, c, utf8, buf))
		return INTERVAL_HALF;
	column_scale_number(s, c->lo, lo);
	column_scale_number(s, c->hi, hi);
	snprintf(buf, FORMAT_SIZE, "[%.28s, %.28s]", lo, hi);
	return INTERVAL_ENDS;
}

bool column_is_share(const dck_column *c)
{
	static const char end[] = "share";
	const size_t n = strlen(c->key), m = sizeof end - 1;

	return c->unit == DCK_UNIT_ONE && n >= m && strcmp(c->key + n - m, end) == 0 &&
	       (n == m || c->key[n - m - 1] == '_');
}
