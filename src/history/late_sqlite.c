/* SPDX-License-Identifier: Apache-2.0 */
#include "history/late_sqlite.h"

struct sqlite_functions history_sqlite;

static const char *const names[] = {SQLITE_FUNCTIONS(OS_LATE_NAME)};
static os_late library = OS_LATE("libsqlite3.so.0", "the history", names, history_sqlite);

dck_status sqlite_load(dck_err *err)
{
	return os_late_load(&library, err);
}
