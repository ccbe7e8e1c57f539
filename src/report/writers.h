/* writers.h - the output writers: each converts records to one format.
 *
 *	const dck_writer report_csv = {DCK_WRITER_CSV(WRITER), .write = csv_report};
 *
 * To add a format, write such a file, and its row in DCK_WRITER_MAP (deepclock/report.h): options,
 * help and messages of all commands come from it. A writer is a pure function of the records and
 * the style: it measures nothing, queries no machine and changes no record, so the same record in
 * the same style always gives the same bytes. It writes only to the given sink.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_WRITERS_H
#define REPORT_WRITERS_H

#include "deepclock/report.h"

#define WRITER(id, NAME, ending, text) .name = #id, .ext = ending, .help = text

#define X(id, NAME, ending, text) extern const dck_writer report_##id;
DCK_WRITER_MAP(X)
#undef X

#endif
