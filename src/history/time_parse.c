/* time_parse.c - points in time as people write them: a date, a time, or how long ago.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "history/store.h"
#include "base/err.h"
#include "base/units.h"
#include "record/record_internal.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DAY_NS UINT64_C(86400000000000)

/* Parses ages in days and weeks, because the units of times end at hours. */
static bool age_in_days(const char *text, uint64_t *ret_ns)
{
	char *end;
	unsigned long long n;
	uint64_t unit;

	if (!isdigit((unsigned char)text[0]))
		return false;
	n = strtoull(text, &end, 10);
	if (strcmp(end, "d") == 0)
		unit = DAY_NS;
	else if (strcmp(end, "w") == 0)
		unit = 7 * DAY_NS;
	else
		return false;
	*ret_ns = n > INT64_MAX / unit ? INT64_MAX : n * unit;
	return true;
}

dck_status history_when(const char *text, int64_t now_ns, int64_t *ret, dck_err *err)
{
	char whole[RECORD_TIME_SIZE];
	uint64_t age;

	if (record_time_parse(text, ret))
		return DCK_OK;
	if (strlen(text) == 10) {
		snprintf(whole, sizeof whole, "%sT00:00:00Z", text);
		if (record_time_parse(whole, ret))
			return DCK_OK;
	}
	if (!age_in_days(text, &age) && units_parse_time(text, &age, NULL) != DCK_OK)
		DCK_FAIL(err, E_ARG,
			 "'%.60s' is not a time: write a date (2026-11-01), "
			 "a time in UTC (2026-11-01T12:00:00Z), or an age (90d, 12h)",
			 text);
	/* Older than any record is older than all of them. */
	*ret = age >= (uint64_t)INT64_MAX ? INT64_MIN : now_ns - (int64_t)age;
	return DCK_OK;
}
