/* report_calls.h - writes the call trees of records, for 'deepclock report'.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_REPORT_CALLS_H
#define CLI_REPORT_CALLS_H

#include "cli.h"

/* Returns whether the format has aggregated call paths, so that it can be made from a record too.
 */
bool report_calls_has_form(const char *form);
/* Writes the call paths of the files on the command line in a format; NULL: as a report. Returns
 * the exit code. */
int report_calls(const cli *c, const dck_calls_view *view, const char *form, bool gzip,
		 const dck_trace_reading *how);

#endif
