/* SPDX-License-Identifier: Apache-2.0 */
#include "report_calls.h"
#include <string.h>
#include <unistd.h>

bool report_calls_has_form(const char *form)
{
	static const char *const forms[] = {
#define X(id, ending, gzip, text) #id,
	    DCK_CALLS_FORMAT_MAP(X)
#undef X
	};

	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
		if (strcmp(forms[i], form) == 0)
			return true;
	return false;
}

static int form_write(const dck_record *r, const dck_calls_view *view, const char *form, bool gzip)
{
	dck_sink out;
	dck_err err;

	dck_sink_fd(&out, STDOUT_FILENO);
	if (dck_calls_write(r, view, form, gzip, &out, &err) != DCK_OK)
		return cli_result_failed(&err);
	if (dck_sink_finish(&out, &err) != DCK_OK)
		return cli_stdout_failed((int)err.native_code);
	return CLI_OK;
}

/* The difference of two, or a view of one; the caller frees it. */
static dck_status view_make(const cli *c, const dck_calls_view *view, const dck_record *const *r,
			    dck_record **ret, dck_err *err)
{
	return c->nargs == 2 ? dck_calls_diff(r[0], r[1], view, ret, err)
			     : dck_calls_query(r[0], view, ret, err);
}

static int calls_show(const cli *c, const dck_calls_view *view, const dck_record *const *r,
		      const char *form, bool gzip)
{
	dck_style style = cli_style(&c->common, STDOUT_FILENO);
	dck_calls_view of = *view;
	dck_record *shown = NULL;
	dck_err err;
	int code;

	if (form && !view->diff)
		return form_write(r[0], view, form, gzip);
	if (view_make(c, view, r, &shown, &err) != DCK_OK)
		return cli_failed(&err);
	style.details = true;
	if (form) {
		of.tree = NULL; /* the record has that of both alone */
		of.weight = NULL;
		code = form_write(shown, &of, form, gzip);
	} else {
		code = cli_report(c, (const dck_record *const *)&shown, 1, &style);
		code = cli_records_keep(c, (const dck_record *const *)&shown, 1, code);
	}
	dck_record_free(shown);
	return code;
}

int report_calls(const cli *c, const dck_calls_view *view, const char *form, bool gzip,
		 const dck_trace_reading *how)
{
	dck_record *records[2] = {0};
	const unsigned wanted = view->diff ? 2 : 1;
	dck_err err;
	int code = CLI_OK;

	if (c->nargs != wanted)
		return cli_usage(c, "%s, and %u %s given",
				 view->diff
				     ? "--diff compares two files"
				     : "call paths are shown of one file, or of two with --diff",
				 c->nargs, c->nargs == 1 ? "is" : "are");
	if (!form)
		code = cli_metrics_check(c, c->format.out);
	for (unsigned i = 0; i < wanted && code == CLI_OK; i++)
		if (dck_read_any(c->args[i], how, &records[i], &err) != DCK_OK)
			code = cli_failed(&err);
	if (code == CLI_OK)
		code = calls_show(c, view, (const dck_record *const *)records, form, gzip);
	dck_record_free(records[0]);
	dck_record_free(records[1]);
	return code;
}
