/* items.c - the list of measured items, to which each file of this directory adds.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "machine/loops.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

machine_item *machine_add(machine_result *r, const char *tag, unsigned threads)
{
	machine_item *i;

	if (r->n == MACHINE_ITEMS_MAX)
		return NULL;
	i = &r->item[r->n++];
	*i = (machine_item){.threads = threads};
	snprintf(i->tag, sizeof i->tag, "%s", tag);
	return i;
}

const machine_item *machine_find(const machine_result *r, const char *tag)
{
	for (size_t i = 0; i < r->n; i++)
		if (strcmp(r->item[i].tag, tag) == 0)
			return &r->item[i];
	return NULL;
}

double machine_best(const machine_item *i)
{
	double best = NAN;

	for (unsigned k = 0; i && k < i->n; k++)
		if (isnan(best) || (i->is_time ? i->value[k] < best : i->value[k] > best))
			best = i->value[k];
	return best;
}

/* Steps that one core started per cycle. */
static double steps_a_cycle(const machine_item *i)
{
	const machine_peak *p = i->peak;
	const double repetitions = machine_best(i) / p->operations;

	return i->clock_hz > 0 ? repetitions * p->steps / i->clock_hz : NAN;
}

/* Clocks are read a little later than the loop ran. */
#define CLOCK_CHANGED 1.02

double machine_share(const machine_result *r, const machine_item *peak)
{
	const double *known = peak->peak->a_cycle;
	size_t most = 0;

	if (known[0] <= 0)
		return NAN;
	for (size_t k = 0; k < r->n; k++) {
		const machine_item *i = &r->item[k];
		if (!i->peak || i->n == 0 || strcmp(i->peak->isa, peak->peak->isa) != 0)
			continue;
		while (most < 2 && i->peak->a_cycle[most + 1] > 0 &&
		       steps_a_cycle(i) > CLOCK_CHANGED * i->peak->a_cycle[most])
			most++;
	}
	return steps_a_cycle(peak) / known[most];
}
