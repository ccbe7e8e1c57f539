/* SPDX-License-Identifier: Apache-2.0 */
#include "base/slo.h"
#include "base/err.h"
#include "base/units.h"
#include <ctype.h>
#include <string.h>

dck_status slo_refuse(const char *text, const char *why, const char *stats, dck_err *err)
{
	DCK_FAIL(err, E_ARG,
		 "--slo is '%.40s': %s; write it as STAT<=TIME, such as p99<=20ms; STAT is %s",
		 text, why, stats);
}

/* n bytes without their blanks, or with those `inside`; false: they do not fit. */
static bool take(const char *text, size_t n, bool inside, char *to, size_t size)
{
	size_t used = 0;

	while (n > 0 && isspace((unsigned char)text[n - 1]))
		n--;
	for (size_t i = 0; i < n; i++) {
		if (isspace((unsigned char)text[i]) && (used == 0 || !inside))
			continue;
		if (used + 1 >= size)
			return false;
		to[used++] = text[i];
	}
	to[used] = '\0';
	return true;
}

dck_status slo_cut(const char *text, const char *stats, slo_text *ret, dck_err *err)
{
	const char *less = strchr(text, '<'), *limit;
	slo_text slo;
	uint64_t ns;

	if (!less)
		return slo_refuse(text, "it has no '<='", stats, err);
	limit = less + (less[1] == '=' ? 2 : 1);
	if (!take(text, (size_t)(less - text), true, slo.statistic, sizeof slo.statistic) ||
	    !take(limit, strlen(limit), false, slo.limit, sizeof slo.limit))
		return slo_refuse(text, "it is too long", stats, err);
	if (units_parse_time(slo.limit, &ns, NULL) != DCK_OK || ns == 0)
		return slo_refuse(text, "the limit is no time above 0, as in 50ms", stats, err);
	slo.limit_ns = (double)ns;
	*ret = slo;
	return DCK_OK;
}
