/* time.c - RFC 3339 in UTC, to the nanosecond. The calendar is computed here (proleptic Gregorian,
 * eras of 400 years that begin on 1 March, so that the leap day is a year's last), since the C
 * library's functions keep global state and know no nanoseconds.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/record_internal.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define DAYS_PER_ERA 146097 /* 400 years */
#define DAYS_TO_1970 719468 /* from 0000-03-01 */
#define NS_PER_S     INT64_C(1000000000)

static void date_of_day(int64_t day, int *y, int *m, int *d)
{
	int64_t z = day + DAYS_TO_1970;
	int64_t era = (z >= 0 ? z : z - (DAYS_PER_ERA - 1)) / DAYS_PER_ERA;
	int64_t doe = z - era * DAYS_PER_ERA; /* day of the era */
	int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	int64_t march = (5 * doy + 2) / 153; /* months since March */
	*d = (int)(doy - (153 * march + 2) / 5 + 1);
	*m = (int)(march < 10 ? march + 3 : march - 9);
	*y = (int)(yoe + era * 400 + (*m <= 2));
}

static int64_t day_of_date(int y, int m, int d)
{
	int64_t year = y - (m <= 2);
	int64_t era = (year >= 0 ? year : year - 399) / 400;
	int64_t yoe = year - era * 400;
	int64_t doy = (153 * (m > 2 ? m - 3 : m + 9) + 2) / 5 + d - 1;
	return era * DAYS_PER_ERA + yoe * 365 + yoe / 4 - yoe / 100 + doy - DAYS_TO_1970;
}

void record_time_text(int64_t unix_ns, char *text)
{
	int64_t s = unix_ns / NS_PER_S, ns = unix_ns % NS_PER_S;
	int y, m, d;

	if (ns < 0) {
		ns += NS_PER_S;
		s--;
	}
	int64_t day = s / 86400, sec = s % 86400;
	if (sec < 0) {
		sec += 86400;
		day--;
	}
	date_of_day(day, &y, &m, &d);
	int n = snprintf(text, RECORD_TIME_SIZE, "%04d-%02d-%02dT%02d:%02d:%02d", y, m, d,
			 (int)(sec / 3600), (int)(sec / 60 % 60), (int)(sec % 60));
	if (ns != 0)
		n += snprintf(text + n, RECORD_TIME_SIZE - (size_t)n, ".%09d", (int)ns);
	memcpy(text + n, "Z", 2);
}

static bool digits_read(const char **p, int n, int *ret)
{
	int v = 0;
	for (int i = 0; i < n; i++, (*p)++) {
		if (!isdigit((unsigned char)**p))
			return false;
		v = v * 10 + (**p - '0');
	}
	*ret = v;
	return true;
}

static bool time_is_leap(int y)
{
	return (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
}

bool record_time_parse(const char *text, int64_t *ret_unix_ns)
{
	static const int month_days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	static const char after[] = "--T::";
	static const int width[] = {4, 2, 2, 2, 2, 2};
	int v[6];
	const char *p = text;

	for (int i = 0; i < 6; i++) {
		if (!digits_read(&p, width[i], &v[i]))
			return false;
		if (i < 5 && *p++ != after[i])
			return false;
	}
	if (v[1] < 1 || v[1] > 12 || v[2] < 1 ||
	    v[2] > month_days[v[1] - 1] + (v[1] == 2 && time_is_leap(v[0])) || v[3] > 23 ||
	    v[4] > 59 || v[5] > 60)
		return false;
	int64_t ns = 0;
	if (*p == '.') {
		int64_t scale = NS_PER_S / 10;
		if (!isdigit((unsigned char)*++p))
			return false;
		for (; isdigit((unsigned char)*p); p++, scale /= 10)
			ns += (*p - '0') * scale;
	}
	if (strcmp(p, "Z") != 0)
		return false;
	int64_t s = day_of_date(v[0], v[1], v[2]) * 86400 + v[3] * 3600 + v[4] * 60 + v[5];
	/* Years 1678 to 2261 fit in 64 bits of nanoseconds. */
	if (s <= INT64_MIN / NS_PER_S || s >= INT64_MAX / NS_PER_S)
		return false;
	*ret_unix_ns = s * NS_PER_S + ns;
	return true;
}
