/* cct_put.c - the tree and the functions of a calling-context tree, written to a record.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "record/tree/cct.h"
#include "record/tree/tree_prune.h"

static const call_column sample_columns[] = {{"samples", "samples", DCK_UNIT_ONE, 0, CALL_SELF},
					     {"total", "total", DCK_UNIT_NS, 1, CALL_TOTAL},
					     {"self", "self", DCK_UNIT_NS, 1, CALL_SELF}};
const call_table cct_sample_functions = {.name = "functions",
					 .title = "Functions by their own time",
					 .columns = sample_columns,
					 .ncolumns =
					     sizeof sample_columns / sizeof sample_columns[0],
					 .sort = CCT_SAMPLE_SELF,
					 .brief = 10};

dck_status cct_tree(const cct *p, const char *name, const char *title, record_builder *b,
		    dck_err *err)
{
	dck_tree t;

	DCK_TRY(cct_view(p, &t, err));
	t.name = name;
	t.title = title;
	dck_status status = tree_prune_put(&t, b, err);
	if (p->cut > 0)
		record_note(
		    b, "calls-cut",
		    "%llu call paths of %s did not fit: their weights are added to the enclosing "
		    "path",
		    (unsigned long long)p->cut, name);
	cct_view_done(&t);
	return status;
}

dck_status cct_functions(const cct *p, const call_table *how, record_builder *b, dck_err *err)
{
	dck_tree t;

	DCK_TRY(cct_view(p, &t, err));
	dck_status status = call_table_put(&t, how, b, err);
	cct_view_done(&t);
	return status;
}

dck_status cct_samples_put(const cct *p, record_builder *b, dck_err *err)
{
	DCK_TRY(cct_functions(p, &cct_sample_functions, b, err));
	return cct_tree(p, "samples", "Samples by call path", b, err);
}
