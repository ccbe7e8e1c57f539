/* SPDX-License-Identifier: Apache-2.0 */
#include "history/lazy_sqlite.h"

struct sqlite_functions history_sqlite;

static const char *const sqlite_names[] = {SQLITE_FUNCTIONS(OS_LAZY_NAME)};
static os_lazy_library sqlite_library =
    OS_LAZY("libsqlite3.so.0", "the history", sqlite_names, history_sqlite);

dck_status sqlite_load(dck_err *err)
{
	return os_lazy_load(&sqlite_library, err);
}
