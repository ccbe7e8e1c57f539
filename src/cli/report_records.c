/* SPDX-License-Identifier: Apache-2.0 */
#include "report_records.h"
#include <string.h>

int report_records_load(cli *c, const dck_trace_reading *how, bool drawn, dck_records *ret)
{
	dck_timeline *timeline = drawn && c->nargs == 1 ? &c->timeline : NULL;
	dck_err err;

	*ret = (dck_records){0};
	for (size_t i = 0; i < c->nargs; i++) {
		if (dck_records_read(ret, c->args[i], how, timeline, &err) == DCK_OK)
			continue;
		dck_records_done(ret);
		cli_message("%s", err.msg);
		return CLI_FAILED;
	}
	return CLI_OK;
}

int report_page(cli *c, const char *path)
{
	dck_records records;
	dck_err err;
	int code = report_records_load(c, NULL, true, &records);

	if (code != CLI_OK)
		return code;
	if (cli_html_save(c, path, (const dck_record *const *)records.of, records.n, &err) !=
	    DCK_OK)
		code = strcmp(path, "-") == 0 && err.code == DCK_E_IO
			   ? cli_stdout_failed((int)err.native_code)
			   : cli_failed(&err);
	dck_records_done(&records);
	return code;
}
