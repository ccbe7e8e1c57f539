/* units.c - parses and prints quantities with units, by three tables of scales: time, bytes, SI.
 *
 * Times, bytes and counts are parsed in exact integer arithmetic: decimal_parse() reads a decimal
 * mantissa and exponent, decimal_scaled() multiplies it by the unit's factor. No result depends on
 * the locale; more than 64 bits are refused. A fraction of the smallest unit is rounded for a time
 * and refused for bytes and counts. A time needs its unit, because a bare number is ambiguous. kB,
 * MB and GB are powers of 1000; KiB, MiB and GiB are powers of 1024 (IEC 80000-13).
 *
 * Printing selects the largest scale in which the value still rounds to at least 1, with three
 * significant digits; only rows with `shown` are printed, the others are spellings that are read.
 * Printers write at most `size` bytes into the caller's buffer, and nothing is allocated.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/units.h"
#include "deepclock/unstable.h"

#include "base/commas.h"
#include "base/err.h"
#include "base/decimal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct unit_scale {
	const char *suffix;
	uint64_t factor;
	bool shown; /* printed too; the others are only read */
} unit_scale;

static const unit_scale time_scales[] = {
    {"ns", 1, true},
    {"\xc2\xb5s", 1000, true}, /* U+00B5 and U+03BC are both shown as a mu */
    {"\xce\xbcs", 1000, false},
    {"us", 1000, false},
    {"ms", 1000000, true},
    {"s", 1000000000, true},
    {"min", UINT64_C(60000000000), true},
    {"m", UINT64_C(60000000000), false},
    {"h", UINT64_C(3600000000000), true},
    {0},
};

static const unit_scale byte_scales[] = {
    {"B", 1, true},
    {"KiB", UINT64_C(1) << 10, true},
    {"MiB", UINT64_C(1) << 20, true},
    {"GiB", UINT64_C(1) << 30, true},
    {"TiB", UINT64_C(1) << 40, true},
    {"kB", 1000, false},
    {"KB", 1000, false},
    {"MB", 1000000, false},
    {"GB", 1000000000, false},
    {"TB", UINT64_C(1000000000000), false},
    {0},
};

/* Prefixes that dck_text_si() prints before a unit, and suffixes of a count. */
static const unit_scale si_scales[] = {
    {"", 1, true},
    {"k", 1000, true},
    {"K", 1000, false},
    {"M", 1000000, true},
    {"G", 1000000000, true},
    {"T", UINT64_C(1000000000000), true},
    {"P", UINT64_C(1000000000000000), true},
    {"E", UINT64_C(1000000000000000000), true},
    {0},
};

/* --- reading */

/* How messages name one kind of quantity. */
typedef struct quantity {
	const char *noun, *hint;
	const unit_scale *scales;
	bool bare;    /* may be written without a unit */
	bool rounded; /* a fraction of the smallest unit is rounded, not refused */
} quantity;

static const quantity quantity_time = {
    "a time", "write a number and ns, us, ms, s, m or h, as in 250ms or 1.5s", time_scales, false,
    true};
static const quantity quantity_bytes = {
    "a size", "write whole bytes or a number and kB, MB, GB, KiB, MiB or GiB, as in 64MiB",
    byte_scales, true, false};
static const quantity quantity_count = {"a count", "write a whole number, as in 300, 1_000 or 2k",
					si_scales, true, false};

static const unit_scale *scale_find(const unit_scale *table, const char *suffix)
{
	for (; table->suffix; table++)
		if (!strcmp(table->suffix, suffix))
			return table;
	return NULL;
}

static dck_status parse_scaled(const quantity *q, const char *text, uint64_t *ret, dck_err *err)
{
	decimal_number d;
	const char *end;
	uint64_t v;
	bool exact;
	if (!decimal_parse(text, &d, &end)) {
		bool digits = text[0] >= '0' && text[0] <= '9';
		DCK_FAIL(err, E_ARG,
			 digits ? "'%.80s' is too large for %s: %s" : "'%.80s' is not %s: %s", text,
			 q->noun, q->hint);
	}
	const char *suffix = end + strspn(end, " ");
	if (d.negative)
		DCK_FAIL(err, E_ARG, "'%.80s' is negative, and %s cannot be: %s", text, q->noun,
			 q->hint);
	if (!*suffix && !q->bare)
		DCK_FAIL(err, E_ARG,
			 "'%.40s' has no unit: write %.40ss if it is seconds, "
			 "%.40sms if it is milliseconds",
			 text, text, text);
	const unit_scale *s = *suffix ? scale_find(q->scales, suffix) : &q->scales[0];
	if (!s)
		DCK_FAIL(err, E_ARG, "'%.80s' is not %s, '%.40s' is not a unit of it: %s", text,
			 q->noun, suffix, q->hint);
	if (!decimal_scaled(&d, s->factor, &v, &exact))
		DCK_FAIL(err, E_ARG, "'%.80s' is too large for %s", text, q->noun);
	if (!exact && (!q->rounded || v == 0))
		DCK_FAIL(err, E_ARG, "'%.80s' is not %s, which has no smaller parts than 1%s: %s",
			 text, q->noun, q->bare ? "" : q->scales[0].suffix, q->hint);
	*ret = v;
	return DCK_OK;
}

dck_status units_parse_time(const char *text, uint64_t *ret_ns, dck_err *err)
{
	return parse_scaled(&quantity_time, text, ret_ns, err);
}

dck_status units_parse_bytes(const char *text, uint64_t *ret_bytes, dck_err *err)
{
	return parse_scaled(&quantity_bytes, text, ret_bytes, err);
}

dck_status units_parse_count(const char *text, uint64_t *ret_n, dck_err *err)
{
	return parse_scaled(&quantity_count, text, ret_n, err);
}

dck_status units_parse_real(const char *text, double *ret_v, dck_err *err)
{
	decimal_number d;
	const char *end;
	if (!decimal_parse(text, &d, &end) || *end)
		DCK_FAIL(err, E_ARG, "'%.80s' is not a number: write digits, as in 0.25 or 1e-3",
			 text);
	double v = decimal_double(&d);
	if (!isfinite(v))
		DCK_FAIL(err, E_ARG, "'%.80s' is too large for a number", text);
	*ret_v = v;
	return DCK_OK;
}

/* Refuses a share of 1 or more without a unit: 1 may mean one percent or all of it; for larger
 * numbers nearly all users mean percent. */
static dck_status share_ask(const char *text, double v, dck_err *err)
{
	char part[NUM_TEXT_MAX];
	decimal_general(part, 6, v / 100);
	DCK_FAIL(err, E_ARG, "'%.40s' has no unit: write %.40s%% or %s%s", text, text, part,
		 v > 1 ? "" : ", or 100% for all of it");
}

dck_status units_parse_share(const char *text, double *ret_v, dck_err *err)
{
	decimal_number d;
	const char *end;
	bool ok = decimal_parse(text, &d, &end);
	if (ok && !strcmp(end + strspn(end, " "), "%"))
		d.exponent -= 2;
	else if (!ok || *end)
		DCK_FAIL(err, E_ARG, "'%.80s' is not a share: write it as in 1%% or 0.01", text);
	double v = decimal_double(&d);
	if (d.negative || !isfinite(v))
		DCK_FAIL(err, E_ARG, "'%.80s' is %s for a share: write it as in 1%% or 0.01", text,
			 d.negative ? "negative, which cannot be" : "too large");
	if (!*end && v >= 1)
		return share_ask(text, v, err);
	*ret_v = v;
	return DCK_OK;
}

dck_status units_parse_dims(const char *text, int64_t *ret_dims, size_t cap, size_t *ret_rank,
			    dck_err *err)
{
	/* Two passes, so that a failure does not change the caller's array. */
	for (int pass = 0; pass < 2; pass++) {
		size_t rank = 0, n;

		for (const char *p = text;; p += n + 1) {
			char size[32];
			uint64_t v;

			n = strcspn(p, "x");
			snprintf(size, sizeof size, "%.*s", (int)n, p);
			if (*p < '0' || *p > '9' || n >= sizeof size || strchr(size, ' ') ||
			    units_parse_count(size, &v, NULL) != DCK_OK || v > INT64_MAX)
				DCK_FAIL(err, E_ARG,
					 "'%.80s' is not a shape: write sizes with x between, "
					 "as in 1x3x224x224",
					 text);
			if (rank == cap)
				DCK_FAIL(err, E_ARG, "'%.80s' has more than %zu dimensions", text,
					 cap);
			if (pass)
				ret_dims[rank] = (int64_t)v;
			rank++;
			if (!p[n])
				break;
		}
		if (pass)
			*ret_rank = rank;
	}
	return DCK_OK;
}

/* --- printing */

size_t units_mu(const char *s)
{
	return strncmp(s, "\xc2\xb5", 2) == 0 || strncmp(s, "\xce\xbc", 2) == 0 ? 2 : 0;
}

char *dck_text_ascii_units(char *text)
{
	char *to = text;

	for (const char *from = text; *from;) {
		const size_t mu = units_mu(from);

		*to++ = mu > 0 ? 'u' : *from;
		from += mu > 0 ? mu : 1;
	}
	*to = '\0';
	return text;
}

/* Writes three significant digits of v < 999.5; %.*f rounds, so the limits are half a digit
 * lower. */
static void three_digits(char *buf, double v)
{
	if (v != 0 && v < 0.9995)
		decimal_significant(buf, 3, v);
	else
		decimal_fixed(buf, v < 9.995 ? 2 : v < 99.95 ? 1 : 0, v);
}

/* Returns the largest shown scale in which v still rounds to at least 1. `most`: from this multiple
 * of a scale on the next larger one is used. */
static const unit_scale *scale_for(const unit_scale *table, double v, double most)
{
	const unit_scale *best = table;
	for (; table->suffix; table++)
		if (table->shown && v >= most * (double)best->factor)
			best = table;
	return best;
}

static bool not_finite(double v, char *buf, size_t size)
{
	if (isnan(v))
		snprintf(buf, size, "?");
	else if (isinf(v))
		snprintf(buf, size, v < 0 ? "-inf" : "inf");
	return !isfinite(v);
}

/* Writes whole units, as people count from two minutes on: "2 min 3 s", "3 h 20 min". */
static void long_time(const char *sign, double s, char *buf, size_t size)
{
	double minutes, hours;
	s = floor(s + 0.5);
	if (s < 7200) {
		minutes = floor(s / 60);
		snprintf(buf, size, "%s%.0f min %.0f s", sign, minutes, s - 60 * minutes);
		return;
	}
	minutes = floor(s / 60 + 0.5);
	hours = floor(minutes / 60);
	snprintf(buf, size, "%s%.0f h %.0f min", sign, hours, minutes - 60 * hours);
}

const char *dck_text_time(double ns, char *buf, size_t size)
{
	char number[NUM_TEXT_MAX];
	if (not_finite(ns, buf, size))
		return buf;
	const char *sign = ns < 0 ? "-" : "";
	ns = fabs(ns);
	if (ns >= 119.5e9) {
		long_time(sign, ns / 1e9, buf, size);
		return buf;
	}
	const unit_scale *s = scale_for(time_scales, ns, 999.5);
	if (s->factor > 1000000000)
		s = scale_find(time_scales, "s");
	three_digits(number, ns / (double)s->factor);
	snprintf(buf, size, "%s%s %s", sign, ns == 0 ? "0" : number, s->suffix);
	return buf;
}

const char *dck_text_bytes(double bytes, char *buf, size_t size)
{
	char number[NUM_TEXT_MAX];
	if (not_finite(bytes, buf, size))
		return buf;
	const char *sign = bytes < 0 ? "-" : "";
	bytes = fabs(bytes);
	const unit_scale *s = scale_for(byte_scales, bytes, 1023.5);
	/* Bytes are whole; only a mean of them is not. */
	if (s->factor == 1 && bytes == floor(bytes))
		decimal_fixed(number, 0, bytes);
	else
		three_digits(number, bytes / (double)s->factor);
	snprintf(buf, size, "%s%s %s", sign, number, s->suffix);
	return buf;
}

const char *dck_text_si(double value, const char *unit, char *buf, size_t size)
{
	char number[NUM_TEXT_MAX];
	if (not_finite(value, buf, size))
		return buf;
	const char *sign = value < 0 ? "-" : "";
	value = fabs(value);
	const unit_scale *s = scale_for(si_scales, value, 999.5);
	/* A number without a unit that is whole is a count. */
	if (s->factor == 1 && value == floor(value) && !(unit && unit[0]))
		decimal_fixed(number, 0, value);
	else
		three_digits(number, value / (double)s->factor);
	bool gap = s->suffix[0] || (unit && unit[0]);
	snprintf(buf, size, "%s%s%s%s%s", sign, value == 0 ? "0" : number, gap ? " " : "",
		 s->suffix, unit ? unit : "");
	return buf;
}

const char *dck_text_count(int64_t n, char *buf, size_t size)
{
	char digits[32], text[48];
	int k = snprintf(digits, sizeof digits, "%" PRIu64, n < 0 ? -(uint64_t)n : (uint64_t)n);
	size_t at = 0;
	if (n < 0)
		text[at++] = '-';
	for (int i = 0; i < k; i++) {
		if (i && (k - i) % 3 == 0)
			text[at++] = ',';
		text[at++] = digits[i];
	}
	text[at] = '\0';
	snprintf(buf, size, "%s", text);
	return buf;
}

dck_status units_parse_counts(const char *option, const char *text, uint64_t *ret, size_t max,
			      size_t *ret_n, dck_err *err)
{
	size_t n = 0;

	const char *rest = text;
	for (commas_item item; commas_next(&rest, &item);) {
		char word[32];
		uint64_t v;
		size_t k;

		if (item.n >= sizeof word ||
		    units_parse_count(commas_word(&item, word, sizeof word), &v, NULL) != DCK_OK ||
		    v == 0 || v > 1000000000)
			DCK_FAIL(
			    err, E_ARG,
			    "--%s is '%.100s': give whole numbers above 0 with commas between, "
			    "such as 1,2,4",
			    option, text);
		if (n == max)
			DCK_FAIL(err, E_LIMIT, "--%s has more than %zu numbers", option, max);
		for (k = n; k > 0 && ret[k - 1] > v; k--)
			ret[k] = ret[k - 1];
		if (k > 0 && ret[k - 1] == v) {
			memmove(ret + k, ret + k + 1, (n - k) * sizeof *ret);
			continue;
		}
		ret[k] = v;
		n++;
	}
	*ret_n = n;
	return DCK_OK;
}
