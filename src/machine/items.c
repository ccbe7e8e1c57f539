/* items.c - the list of what is measured, which every part of the room adds to.
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
