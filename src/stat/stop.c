/* stop.c - when is a statistic known well enough? docs/reference/methods.md has the rule,
 * docs/reference/validation.md the coverage of intervals that it stopped.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "stat/stat.h"
#include <math.h>

/* If runs are autocorrelated, n_eff is itself an estimate, and stopping selects the series whose
 * n_eff is too large by chance. */
#define N_EFF_DEPENDENT 100
/* The first precise look is often due to chance, which seldom lasts for a fifth more runs. */
#define LOOKS 3

/* The half-width is widened for hidden dependence (n_eff_lower), because a rule that tests
 * repeatedly would stop when dependence is hidden by chance. */
bool stat_precise(const stat_estimate *e, double precision)
{
	const double half = (e->hi - e->lo) / 2;
	const double enough = e->dependent ? N_EFF_DEPENDENT : STAT_N_EFF_ENOUGH;

	if (!e->present || !e->has_interval || e->narrow || e->n_eff_lower < enough)
		return false;
	return half * sqrt(e->n_eff / e->n_eff_lower) <= precision * fabs(e->value);
}

bool stat_stop_look(stat_stop *s, const stat_estimate *e, double precision)
{
	s->precise = stat_precise(e, precision) ? s->precise + 1 : 0;
	return s->precise >= LOOKS;
}

uint64_t stat_stop_next(uint64_t n)
{
	return n + n / 10 + 1;
}
