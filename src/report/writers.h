/* writers.h - the output writers: each converts records to one format. writers.c lists them.
 *
 *	const dck_writer report_csv = {.name = "csv", .ext = ".csv", .help = "...", .write = csv};
 *
 * To add a format, write such a file, and name it here and in writers.c. A writer is a pure
 * function of the records and the style: it measures nothing, queries no machine and changes no
 * record, so the same record in the same style always gives the same bytes. It writes only to the
 * given sink.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_WRITERS_H
#define REPORT_WRITERS_H

#include "deepclock/report.h"

extern const dck_writer report_text, report_json, report_csv, report_markdown, report_html;

#endif
