/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/timeline/zone_percentiles.h"

#include "base/commas.h"
#include "base/decimal.h"
#include "base/err.h"
#include "base/percentile.h"

#include <stdio.h>
#include <string.h>

enum { WORD = 16 };

static bool percentiles_is_there(const zone_percentiles *all, double p)
{
	for (size_t i = 0; i < all->n; i++)
		if (percentile_is(all->p[i], p))
			return true;
	return false;
}

dck_status zone_percentiles_read(const char *text, zone_percentiles *ret, dck_err *err)
{
	zone_percentiles all = {0};

	for (commas_item item; commas_next(&text, &item);) {
		char word[WORD];
		double p = 0;

		commas_word(&item, word, sizeof word);
		if (item.n >= WORD || !percentile_parse(word, &p) ||
		    !(p >= PERCENTILE_LEAST && p <= PERCENTILE_MOST))
			DCK_FAIL(err, E_ARG,
				 "'%s' is not a percentile from p50 to p99.99, as in p50,p90,p99",
				 word);
		if (all.n == ZONE_PERCENTILES_MAX)
			DCK_FAIL(err, E_ARG, "more than %d percentiles are requested",
				 (int)ZONE_PERCENTILES_MAX);
		if (!percentiles_is_there(&all, p))
			all.p[all.n++] = p;
	}
	*ret = all;
	return DCK_OK;
}

const char *zone_percentile_name(double p, char to[WORD])
{
	snprintf(to, WORD, "p%.14s", DECIMAL_TEXT(8, 100 * p));
	return to;
}
