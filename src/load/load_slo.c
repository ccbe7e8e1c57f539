/* load_slo.c - limits on latency, as people write them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "load/load_run.h"
#include "base/err.h"
#include "base/percentile.h"
#include "base/slo.h"
#include <stdio.h>
#include <string.h>

const char *const load_verdict_texts[] = {
    [STAT_LIMIT_OPEN] = "not shown",
    [STAT_LIMIT_HELD] = "holds",
    [STAT_LIMIT_BROKEN] = "broken",
};

dck_status load_slo_parse(const char *text, load_slo *ret, dck_err *err)
{
	static const char known[] = "median or a percentile from p50 to p99.99";
	load_slo s = {.p = 0.5};
	slo_text cut;

	DCK_TRY(slo_cut(text, known, &cut, err));
	if (!percentile_parse(cut.statistic, &s.p))
		return slo_refuse(text, "what is limited is no percentile", known, err);
	if (!(s.p >= PERCENTILE_LEAST && s.p <= PERCENTILE_MOST))
		return slo_refuse(text, "that percentile is out of range", known, err);
	s.limit_ns = cut.limit_ns;
	snprintf(s.statistic, sizeof s.statistic, "%.11s", cut.statistic);
	snprintf(s.name, sizeof s.name, "%s<=%.17s", s.statistic, cut.limit);
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
