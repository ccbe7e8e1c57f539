/* sqlite.h - functions that the two files of SQLite share.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef HISTORY_SQLITE_H
#define HISTORY_SQLITE_H

#include "history/database.h"
#include "history/lazy_sqlite.h"

#define HISTORY_APPLICATION 0x44434b48 /* "DCKH", in the file's header */

/* Converts SQLite's code to an error with a message; `what`: "add a record to", "read". */
dck_status sqlite_failed(dck_history *h, int rc, const char *what, dck_err *err);
dck_status sqlite_run(dck_history *h, const char *sql, const char *what, dck_err *err);
dck_status sqlite_open(dck_history *h, bool existing, dck_err *err);
void sqlite_close(dck_history *h);

#endif
