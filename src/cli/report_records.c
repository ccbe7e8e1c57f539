/* report_records.c
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "report_records.h"
#include <stdlib.h>

void report_records_free(const cli *c, dck_record **records)
{
	for (size_t i = 0; records && i < c->nargs; i++)
		dck_record_free(records[i]);
	free(records);
}

int report_records_load(cli *c, const dck_trace_reading *how, bool drawn, dck_record ***ret)
{
	dck_record **records = calloc(c->nargs, sizeof *records);
	dck_status status = DCK_OK;
	dck_err err;

	if (!records)
		return cli_no_memory();
	drawn = drawn && c->nargs == 1 && dck_trace_is(c->args[0]);
	if (drawn)
		status = dck_trace_read_timeline(c->args[0], how ? how : &(dck_trace_reading){0},
						 &records[0], &c->timeline, &err);
	for (size_t i = 0; i < c->nargs && status == DCK_OK && !drawn; i++)
		status = dck_read_any(c->args[i], how, &records[i], &err);
	if (status == DCK_OK) {
		*ret = records;
		return CLI_OK;
	}
	report_records_free(c, records);
	cli_message("%s", err.msg);
	return CLI_FAILED;
}

int report_page(cli *c, const char *path)
{
	dck_record **records;
	dck_err err;
	int code = report_records_load(c, NULL, true, &records);

	if (code != CLI_OK)
		return code;
	if (cli_html_save(c, path, (const dck_record *const *)records, c->nargs, &err) != DCK_OK)
		code = cli_failed(&err);
	report_records_free(c, records);
	return code;
}
