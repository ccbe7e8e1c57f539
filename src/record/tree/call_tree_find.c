/* SPDX-License-Identifier: Apache-2.0 */
#include "record/tree/call_tree.h"

#include "base/err.h"

#include <stdio.h>

dck_status call_tree_find(const dck_record *r, const char *name, const dck_tree **ret, dck_err *err)
{
	char names[400] = "";
	size_t n = 0;

	*ret = name ? dck_record_tree(r, name) : r->ntrees > 0 ? &r->trees[0] : NULL;
	if (*ret)
		return DCK_OK;
	if (r->ntrees == 0 && r->nops > 0)
		DCK_FAIL(err, E_ABSENT,
			 "the record has no call paths: none of its operators has a module; "
			 "exporters write it in the names of nodes, or in metadata");
	const dck_fact *samples = dck_record_fact(r, "sample", "samples");
	if (r->ntrees == 0 && samples && dck_value_number(&samples->value) == 0)
		DCK_FAIL(err, E_ABSENT, "the record has no call paths: no sample was taken");
	if (r->ntrees == 0)
		DCK_FAIL(err, E_ABSENT,
			 "the record has no call paths; those of trace, count, sample, memory, "
			 "cost and profile have");
	for (size_t i = 0; i < r->ntrees && n < sizeof names; i++)
		n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", i ? ", " : "",
				      r->trees[i].name);
	DCK_FAIL(err, E_ABSENT, "the record has no tree '%s'; there is %s", name, names);
}
