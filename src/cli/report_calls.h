/* report_calls.h - the call paths of records, for 'deepclock report'.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_REPORT_CALLS_H
#define CLI_REPORT_CALLS_H

#include "cli.h"

/* A record, of its own file or of a trace. */
typedef dck_status report_loader(const char *path, const void *how, dck_record **ret, dck_err *err);

/* Whether a form that adds up was asked for: it is made of a record too. */
bool report_calls_has_form(const char *form);
/* Writes the paths of the files named on the command line in a form; NULL: as a report. Returns the
 * exit code. */
int report_calls(const cli *c, const dck_calls_view *view, const char *form, bool gzip,
		 report_loader *load, const void *how);

#endif
