/* tree_write.c - writes a record's trees in the formats of other programs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/mem.h"
#include "deepclock/calls.h"
#include "profiler/write/formats.h"
#include "profiler/write/tree_format.h"
#include "os/file/gzip.h"

#include <string.h>

static dck_status exact_read(const dck_record *r, const dck_calls_view *view, const dck_tree *t,
			     exact_function **ret, size_t *ret_n, dck_err *err)
{
	exact_functions e;
	size_t weight;

	DCK_TRY(call_tree_weight(t, view->weight, &weight, err));
	if (!exact_functions_find(&e, r, t, weight))
		return DCK_OK;
	*ret = mem_zalloc(e.table->nrows + 1, sizeof **ret);
	DCK_NEED(*ret, err, "for the functions of a profile");
	for (size_t i = 0; i < e.table->nrows; i++)
		(*ret)[i] = exact_functions_get(&e, i);
	*ret_n = e.table->nrows;
	return DCK_OK;
}

/* Returns the time from begin to end in ns, which commands have in their own sections; 0: unknown.
 */
static uint64_t record_elapsed(const dck_record *r)
{
	for (size_t i = 0; i < r->nfacts; i++)
		if (strcmp(r->facts[i].key, "elapsed") == 0 && r->facts[i].unit == DCK_UNIT_NS &&
		    dck_value_number(&r->facts[i].value) > 0)
			return (uint64_t)dck_value_number(&r->facts[i].value);
	return 0;
}

/* sample --threads */
static bool has_thread_roots(const dck_record *r, const dck_tree *t)
{
	const dck_fact *f = dck_record_fact(r, "plan", "threads");

	return f && f->value.kind == DCK_VALUE_BOOL && f->value.as.b &&
	       strcmp(t->name, "samples") == 0;
}

static dck_status trees_write(const dck_record *r, const dck_calls_view *view,
			      const tree_format *to, const dck_tree *from, size_t n, dck_sink *out,
			      dck_err *err)
{
	form_tree *trees = mem_zalloc(n, sizeof *trees);
	exact_function *exact = NULL;
	size_t nexact = 0;
	dck_status status = trees ? exact_read(r, view, from, &exact, &nexact, err)
				  : ERR_NO_MEMORY(err, "for the call paths");

	for (size_t i = 0; i < n && status == DCK_OK; i++) {
		status = form_tree_open(&trees[i], &from[i], n == 1 ? view->weight : NULL, to, err);
		trees[i].thread_roots = has_thread_roots(r, &from[i]);
		if (status == DCK_OK && trees[i].lost) /* weights without a unit may be */
			status = ERR_SET(err, E_ARG,
					 "the weights of '%.80s' are below 1, and this format has "
					 "whole numbers: give folded or speedscope",
					 from[i].name);
	}
	if (status == DCK_OK)
		status = to->write(&(form_doc){.sink = out,
					       .command = r->command,
					       .unix_ns = r->began_unix_ns,
					       .duration_ns = record_elapsed(r),
					       .trees = trees,
					       .ntrees = n,
					       .exact = exact,
					       .nexact = nexact},
				   err);
	for (size_t i = 0; trees && i < n; i++)
		form_tree_done(&trees[i]);
	mem_free(trees);
	mem_free(exact);
	return status;
}

dck_status dck_calls_write(const dck_record *r, const dck_calls_view *view, const char *form,
			   bool gzip, dck_sink *out, dck_err *err)
{
	const trace_format *to = trace_format_find(form);
	const dck_tree *tree;
	gzip_sink *g = NULL;

	if (!to || !to->tree)
		DCK_FAIL(err, E_ARG, "call paths cannot be written as '%s'", form);
	if (gzip && !to->gunzips)
		DCK_FAIL(err, E_ARG, "what reads %s takes no gzip", form);
	DCK_TRY(call_tree_find(r, view->tree, &tree, err));
	const bool all = to->tree->several && !view->tree && !view->weight;
	if (gzip)
		DCK_TRY(gzip_sink_open(&g, out, err));
	dck_status status = trees_write(r, view, to->tree, all ? r->trees : tree,
					all ? r->ntrees : 1, g ? gzip_sink_in(g) : out, err);
	(void)gzip_sink_close(g, NULL); /* the sink has the error */
	return status;
}
