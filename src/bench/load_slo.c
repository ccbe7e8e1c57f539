/* load_slo.c - limits on latency, as people write them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "bench/load.h"
#include "base/err.h"
#include "base/units.h"
#include "deepclock/opt.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const load_verdict_texts[] = {
    [STAT_LIMIT_OPEN] = "not shown",
    [STAT_LIMIT_HELD] = "holds",
    [STAT_LIMIT_BROKEN] = "broken",
};

static dck_status refuse(const char *text, const char *why, dck_err *err)
{
	DCK_FAIL(err, E_ARG,
		 "--slo is '%.40s': %s; write it as p99<=50ms, with a percentile from p50 to "
		 "p99.99 and a time",
		 text, why);
}

/* Without blanks; false: it does not fit. */
static bool squeeze(const char *text, char *to, size_t size)
{
	size_t n = 0;

	for (; *text; text++) {
		if (isspace((unsigned char)*text))
			continue;
		if (n + 1 >= size)
			return false;
		to[n++] = *text;
	}
	to[n] = '\0';
	return true;
}

dck_status load_slo_parse(const char *text, load_slo *ret, dck_err *err)
{
	char word[48], *sign;
	const char *limit;
	load_slo s = {.p = 50};
	uint64_t ns;

	if (!squeeze(text, word, sizeof word))
		return refuse(text, "it is too long", err);
	sign = strchr(word, '<');
	if (!sign)
		return refuse(text, "it has no '<='", err);
	*sign = '\0';
	limit = sign + (sign[1] == '=' ? 2 : 1);
	if (strcmp(word, "median") != 0 &&
	    (word[0] != 'p' || units_parse_real(word + 1, &s.p, NULL) != DCK_OK))
		return refuse(text, "what is limited is no percentile", err);
	if (!(s.p >= 50 && s.p <= 99.99))
		return refuse(text, "that percentile is out of range", err);
	if (units_parse_time(limit, &ns, NULL) != DCK_OK || ns == 0)
		return refuse(text, "the limit is no time above 0, as in 50ms", err);
	s.p /= 100;
	s.limit_ns = (double)ns;
	snprintf(s.statistic, sizeof s.statistic, "%.11s", word);
	snprintf(s.name, sizeof s.name, "%s<=%.17s", s.statistic, limit);
	*ret = s;
	return DCK_OK;
}

stat_limit_verdict load_worse(stat_limit_verdict a, stat_limit_verdict b)
{
	if (a == STAT_LIMIT_BROKEN || b == STAT_LIMIT_BROKEN)
		return STAT_LIMIT_BROKEN;
	return a == STAT_LIMIT_OPEN || b == STAT_LIMIT_OPEN ? STAT_LIMIT_OPEN : STAT_LIMIT_HELD;
}

void load_see(const load_pool *p, const load_result *r, size_t slo_index, const load_slo *slo,
	      load_seen *to)
{
	double runs;

	if (r->served == 0)
		return;
	runs = stat_limit_runs(p->latency.value, p->latency.n, slo->p, slo->limit_ns, p->scratch);
	to->n += r->served;
	to->over += r->over[slo_index];
	to->n_eff += runs;
	/* All requests are counted, also those whose sample was not kept. */
	to->over_eff += runs * (double)r->over[slo_index] / (double)r->served;
}

stat_limit_verdict load_judge(const load_seen *seen, const load_slo *slo, double confidence,
			      stat_limit *ret)
{
	stat_limit_test(slo->p, confidence, seen->n_eff, seen->over_eff, ret);
	return ret->verdict;
}
