/* stop.c - when is a statistic known well enough? docs/reference/methods.md has the rule,
 * docs/reference/validation.md the coverage of intervals that it stopped.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "stat/stat.h"
#include <math.h>

/* Where neighbours depend on each other n_eff is itself an estimate, and stopping picks the series
 * whose n_eff chance has made large. */
#define N_EFF_DEPENDENT 100
/* The first precise look is often chance, which seldom lasts for a fifth more runs. */
#define LOOKS 3

/* The half-width is taken as wide as it would be if chance hid some dependence: a rule that asks
 * again and again would stop on just that chance. */
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
