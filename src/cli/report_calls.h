/* report_calls.h - writes the call trees of records, for 'deepclock report'.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_REPORT_CALLS_H
#define CLI_REPORT_CALLS_H

#include "cli.h"

/* Loads a record, from its own file or from a trace. */
typedef dck_status report_loader(const char *path, const void *how, dck_record **ret, dck_err *err);

/* Returns whether the format has aggregated call paths, so that it can be made from a record too.
 */
bool report_calls_has_form(const char *form);
/* Writes the call paths of the files on the command line in a format; NULL: as a report. Returns
 * the exit code. */
int report_calls(const cli *c, const dck_calls_view *view, const char *form, bool gzip,
		 report_loader *load, const void *how);

#endif
