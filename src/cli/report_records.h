/* report_records.h - files read as records: those that '--save' wrote, and traces, added up.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_REPORT_RECORDS_H
#define CLI_REPORT_RECORDS_H

#include "cli.h"

/* One of them. how: a dck_trace_reading for traces; NULL: plainly. */
dck_status report_record_load(const char *path, const void *how, dck_record **ret, dck_err *err);

/* c's arguments as records: c->nargs of them, @owned, report_records_free(). how: as above. drawn:
 * for a page, where one that is a trace has a timeline. Says what fails; returns an exit status. */
int report_records_load(cli *c, const void *how, bool drawn, dck_record ***ret);
void report_records_free(const cli *c, dck_record **records);

/* c's arguments as a page for a browser. Returns an exit status. */
int report_page(cli *c, const char *path);

#endif
