/* report_records.h - loads files as records: records of '--save', and aggregated traces.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_REPORT_RECORDS_H
#define CLI_REPORT_RECORDS_H

#include "cli.h"

/* Loads the records of c's arguments, @owned, dck_records_done(). how: of traces. drawn: for a
 * page, on which a trace has a timeline. Prints errors; returns an exit status. */
int report_records_load(cli *c, const dck_trace_reading *how, bool drawn, dck_records *ret);

/* Writes c's arguments as an HTML page. Returns an exit status. */
int report_page(cli *c, const char *path);

#endif
