/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/read/read_source.h"

#include "base/err.h"
#include "os/os.h"

#include <string.h>

static dck_status source_name(const char *path, const char **ret, dck_err *err)
{
	*ret = path;
	return strcmp(path, "-") == 0 ? os_standard_input(ret, err) : DCK_OK;
}

bool read_source_is_file(const char *path)
{
	const char *name;

	return source_name(path, &name, NULL) == DCK_OK && os_path_kind(name, NULL) == OS_FILE;
}

dck_status read_source_open(const char *path, const wire_kind *kind, wire_source *ret, dck_err *err)
{
	const char *name;

	DCK_TRY(source_name(path, &name, err));
	return wire_source_open(name, kind, ret, err);
}
