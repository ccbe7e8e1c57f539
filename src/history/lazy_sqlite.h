/* lazy_sqlite.h - lazy loading of SQLite (dlopen) when a history is first opened.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef HISTORY_LAZY_SQLITE_H
#define HISTORY_LAZY_SQLITE_H

#include "os/process/lazy_library.h"

#include <sqlite3.h>

#define SQLITE_FUNCTIONS(X)               \
	X(sqlite3_, bind_blob64)          \
	X(sqlite3_, bind_double)          \
	X(sqlite3_, bind_int)             \
	X(sqlite3_, bind_int64)           \
	X(sqlite3_, bind_parameter_index) \
	X(sqlite3_, bind_text)            \
	X(sqlite3_, busy_handler)         \
	X(sqlite3_, clear_bindings)       \
	X(sqlite3_, close)                \
	X(sqlite3_, column_blob)          \
	X(sqlite3_, column_bytes)         \
	X(sqlite3_, column_double)        \
	X(sqlite3_, column_int)           \
	X(sqlite3_, column_int64)         \
	X(sqlite3_, column_text)          \
	X(sqlite3_, column_type)          \
	X(sqlite3_, db_config)            \
	X(sqlite3_, db_readonly)          \
	X(sqlite3_, errmsg)               \
	X(sqlite3_, errstr)               \
	X(sqlite3_, exec)                 \
	X(sqlite3_, finalize)             \
	X(sqlite3_, get_autocommit)       \
	X(sqlite3_, last_insert_rowid)    \
	X(sqlite3_, limit)                \
	X(sqlite3_, open_v2)              \
	X(sqlite3_, prepare_v2)           \
	X(sqlite3_, reset)                \
	X(sqlite3_, step)                 \
	X(sqlite3_, system_errno)

struct sqlite_functions {
	SQLITE_FUNCTIONS(OS_LAZY_MEMBER)
};

/* Written once, by the first thread that opens a history. */
extern struct sqlite_functions history_sqlite;
static const struct sqlite_functions *const sqlite = &history_sqlite;

/* Loads SQLite once. E_ABSENT: it is not installed. */
dck_status sqlite_load(dck_err *err);

#endif
