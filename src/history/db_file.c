/* db_file.c - the path of the database file, and a check that it may be a history.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "history/store.h"
#include "base/err.h"
#include "deepclock/report.h"
#include "deepclock/unstable.h"
#include "os/os.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The XDG Base Directory Specification: a path that is not absolute counts as not set. */
dck_status dck_history_path(char *ret, size_t size, dck_err *err)
{
	const char *db = secure_getenv("DEEPCLOCK_DB"), *data = secure_getenv("XDG_DATA_HOME"),
		   *home = secure_getenv("HOME");
	const bool named = db && db[0], own = data && data[0] == '/';
	char path[4096];
	int n;

	if (!named && !own && !(home && home[0] == '/'))
		DCK_FAIL(err, E_ABSENT,
			 "there is no directory for the history: none of DEEPCLOCK_DB, "
			 "XDG_DATA_HOME and HOME is set; name a file with --db");
	if (named)
		n = snprintf(path, sizeof path, "%s", db);
	else
		n = snprintf(path, sizeof path, "%s%s/deepclock/history.db", own ? data : home,
			     own ? "" : "/.local/share");
	if (n < 0 || (size_t)n >= sizeof path || (size_t)n >= size)
		DCK_FAIL(err, E_LIMIT, "the name of the history is too long: %.200s...", path);
	memcpy(ret, path, (size_t)n + 1);
	return DCK_OK;
}

dck_status history_place_check(const char *path, bool *ret_exists, dck_err *err)
{
	static const char magic[16] = "SQLite format 3";
	char head[sizeof magic] = {0};
	char target[PATH_MAX];
	ptrdiff_t n;
	int fd;

	if (!path[0])
		DCK_FAIL(err, E_ARG, "the name of the history is empty: name a file with --db");
	const os_kind kind = os_path_kind(path, NULL);
	if (kind == OS_NOTHING) {
		if (errno != ENOENT)
			DCK_FAIL_ERRNO(err, E_IO, errno, "cannot open the history '%s'", path);
		DCK_TRY(os_file_target(path, target, err)); /* it is made */
		*ret_exists = false;
		return DCK_OK;
	}
	if (kind != OS_FILE)
		DCK_FAIL(err, E_IO, "the history cannot be '%s': it is %s", path,
			 kind == OS_DIRECTORY ? "a directory, not a file" : "not a regular file");
	fd = os_open_read(path);
	if (fd < 0)
		DCK_FAIL_ERRNO(err, E_IO, errno, "cannot open the history '%s'", path);
	n = os_read_at(fd, head, sizeof head, 0);
	os_close(fd);
	if (n > 0 && memcmp(head, magic, sizeof magic) != 0)
		DCK_FAIL(err, E_FORMAT,
			 "'%s' is not a history of deepclock: it is not an SQLite file; "
			 "it was not changed: name another file with --db",
			 path);
	*ret_exists = n > 0;
	return DCK_OK;
}

int64_t history_place_bytes(const char *path)
{
	uint64_t bytes = 0;

	return os_path_kind(path, &bytes) != OS_NOTHING ? (int64_t)bytes : -1;
}

bool history_place_log_waits(const char *path)
{
	char log[4096 + 8];
	uint64_t bytes = 0;

	snprintf(log, sizeof log, "%s-wal", path);
	return os_path_kind(log, &bytes) != OS_NOTHING && bytes > 0;
}
