/* decimal.c - numbers as text, whatever the locale.
 *
 * Printing goes through snprintf() and replaces the locale's point by '.'. Reading moves the point
 * into the exponent: strtod() of "15e-1" rounds correctly and is the same in every locale. Exact
 * integers (decimal_scaled()) are computed in 128 bits.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/decimal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

/* printf writes the locale's decimal point, which may have several bytes. localeconv() is not
 * thread-safe, so the point is recognised as the bytes that are not digits, sign or exponent. */
static void decimal_point(char *s)
{
	char *p = s + strspn(s, "+-0123456789");
	if (!*p || *p == 'e' || *p == 'i' || *p == 'n')
		return;
	size_t n = strcspn(p, "0123456789e");
	*p = '.';
	memmove(p + 1, p + n, strlen(p + n) + 1);
}

const char *decimal_fixed(char *buf, int decimals, double v)
{
	snprintf(buf, NUM_TEXT_MAX, "%.*f", decimals, v);
	decimal_point(buf);
	return buf;
}

const char *decimal_significant(char *buf, int digits, double v)
{
	snprintf(buf, NUM_TEXT_MAX, "%#.*g", digits, v);
	decimal_point(buf);
	return buf;
}

const char *decimal_general(char *buf, int digits, double v)
{
	snprintf(buf, NUM_TEXT_MAX, "%.*g", digits, v);
	decimal_point(buf);
	return buf;
}

const char *decimal_percent(char *buf, int digits, double share)
{
	const double v = 100 * share;

	if (!isfinite(v)) {
		snprintf(buf, NUM_TEXT_MAX, "?");
		return buf;
	}
	if (fabs(v) >= 0.995 * pow(10, digits) && fabs(v) < 1e6)
		decimal_fixed(buf, 0, v);
	else
		decimal_general(buf, digits, v);
	strcat(buf, " %");
	return buf;
}

const char *decimal_grouped(char *buf, int decimals, double v)
{
	decimal_fixed(buf, decimals, v);
	char *first = buf + strspn(buf, "+-");
	const size_t whole = strspn(first, "0123456789");

	for (size_t from_end = 3; from_end < whole && strlen(buf) + 2 < NUM_TEXT_MAX;
	     from_end += 3) {
		char *at = first + whole - from_end;
		memmove(at + 1, at, strlen(at) + 1);
		*at = ',';
	}
	return buf;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* One run of digits; in a fraction, digits that no longer fit are dropped. */
static bool scan_digits(const char **at, decimal_number *d, bool fraction)
{
	const char *p = *at;
	if (!is_digit(*p))
		return false;
	for (; is_digit(*p) || (*p == '_' && is_digit(p[1])); p++) {
		if (*p == '_')
			continue;
		unsigned digit = (unsigned)(*p - '0');
		if (d->mantissa > (UINT64_MAX - digit) / 10) {
			if (!fraction)
				return false;
			continue;
		}
		d->mantissa = d->mantissa * 10 + digit;
		d->exponent -= fraction;
	}
	*at = p;
	return true;
}

bool decimal_parse(const char *text, decimal_number *ret, const char **ret_end)
{
	decimal_number d = {0};
	const char *p = text;
	if (*p == '-' || *p == '+')
		d.negative = *p++ == '-';
	bool whole = is_digit(*p);
	if (whole && !scan_digits(&p, &d, false))
		return false;
	if (*p == '.' && is_digit(p[1])) {
		p++;
		if (!scan_digits(&p, &d, true))
			return false;
	} else if (!whole) {
		return false;
	}
	if (*p == 'e' || *p == 'E') {
		const char *q = p + 1;
		bool down = *q == '-';
		if (*q == '-' || *q == '+')
			q++;
		if (is_digit(*q)) {
			int e = 0;
			for (; is_digit(*q); q++)
				if (e < 10000)
					e = e * 10 + (*q - '0');
			d.exponent += down ? -e : e;
			p = q;
		}
	}
	*ret = d;
	*ret_end = p;
	return true;
}

/* Through strtod, which rounds correctly; without a point its text is the same everywhere. */
double decimal_double(const decimal_number *d)
{
	char text[64];
	snprintf(text, sizeof text, "%s%llue%d", d->negative ? "-" : "",
		 (unsigned long long)d->mantissa, d->exponent);
	return strtod(text, NULL);
}

/* The point is moved into the exponent, since which character strtod() takes for one depends on the
 * locale. Digits beyond DIGITS_MAX of either part round nothing that a double has. */
double decimal_strtod(const char *text, const char **ret_end)
{
	enum { DIGITS_MAX = NUM_TEXT_MAX / 2 - 16 };
	static const char digits[] = "0123456789";
	const char *at = text + (*text == '-' || *text == '+');
	const size_t whole = strspn(at, digits), point = at[whole] == '.';
	const size_t part = point ? strspn(at + whole + 1, digits) : 0;
	const size_t first = whole < DIGITS_MAX ? whole : DIGITS_MAX, second = whole > first ? 0
									       : part < DIGITS_MAX
										   ? part
										   : DIGITS_MAX;
	const char *end = whole + part > 0 ? at + whole + point + part : text;
	char plain[NUM_TEXT_MAX], *after;
	long exponent = 0;

	if (end > text && (*end == 'e' || *end == 'E') &&
	    is_digit(end[1 + (end[1] == '-' || end[1] == '+')])) {
		exponent = strtol(end + 1, &after, 10);
		end = after;
	}
	if (ret_end)
		*ret_end = end;
	if (end == text)
		return 0;
	exponent = exponent > 99999 ? 99999 : exponent < -99999 ? -99999 : exponent;
	snprintf(plain, sizeof plain, "%s%.*s%.*se%ld", *text == '-' ? "-" : "", (int)first, at,
		 (int)second, at + whole + point, exponent + (long)(whole - first) - (long)second);
	return strtod(plain, NULL);
}

bool decimal_scaled(const decimal_number *d, uint64_t scale, uint64_t *ret, bool *ret_exact)
{
	wide v = (wide)d->mantissa * scale;
	int e = d->exponent;
	bool exact = true;
	for (; e > 0 && v; e--) {
		if (v > UINT64_MAX)
			return false;
		v *= 10;
	}
	/* Below 10^-39 nothing of 128 bits is left. */
	if (e < -39) {
		exact = v == 0;
		v = 0;
		e = 0;
	}
	if (e < 0) {
		wide unit = 1, rest;
		for (; e < -38; e++) {
			exact = exact && v % 10 == 0;
			v /= 10;
		}
		for (; e < 0; e++)
			unit *= 10;
		rest = v % unit;
		v /= unit;
		exact = exact && rest == 0;
		v += rest >= unit - rest;
	}
	if (v > UINT64_MAX)
		return false;
	*ret = (uint64_t)v;
	*ret_exact = exact;
	return true;
}
