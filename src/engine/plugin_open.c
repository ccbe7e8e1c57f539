/* plugin_open.c - loads a user's shared object and checks its table before anything is called.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "engine/plugin_open.h"

#include "base/err.h"
#include "base/mem.h"
#include "os/os.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SYMBOL "dck_engine_get"

/* The loader searches its path for a name without a slash; a user means the file. */
static char *path_of_file(const char *path)
{
	size_t n = strlen(path) + 3;
	char *file = mem_alloc(n);

	if (file)
		snprintf(file, n, "%s%s", strchr(path, '/') ? "" : "./", path);
	return file;
}

static dck_status plugin_library_open(const char *path, os_library **ret, dck_err *err)
{
	dck_status status;

	if (!*path)
		DCK_FAIL(err, E_ARG, "the plug-in's name is empty: write plugin:FILE.so");
	char *file = path_of_file(path);
	DCK_NEED(file, err, "to load the plug-in '%s'", path);
	/* The loader's message for a missing file mentions shared objects. */
	if (!os_file_readable(file))
		status = err_set_errno(err, errno == ENOENT ? DCK_E_ABSENT : DCK_E_IO, __FILE__,
				       __LINE__, errno, "cannot open the plug-in '%s'", path);
	else
		status = os_library_open(file, ret, err);
	mem_free(file);
	return status;
}

static dck_status plugin_table_get(os_library *l, const char *path, const dck_engine **ret,
				   dck_err *err)
{
	dck_engine_get_fn get;

	if (!os_library_function(l, SYMBOL, &get))
		DCK_FAIL(err, E_FORMAT,
			 "'%s' is not a deepclock plug-in: it does not export " SYMBOL "()", path);
	const dck_engine *e = get(DCK_ABI_MAJOR);
	if (!e)
		DCK_FAIL(err, E_VERSION, "the plug-in '%s' does not serve ABI %u of this deepclock",
			 path, DCK_ABI_MAJOR);
	DCK_TRY(engine_check(e, path, err));
	*ret = e;
	return DCK_OK;
}

dck_status plugin_open(const char *path, engine_handle *ret, dck_err *err)
{
	os_library *l;
	const dck_engine *e = NULL;

	DCK_TRY(plugin_library_open(path, &l, err));
	dck_status status = plugin_table_get(l, path, &e, err);
	if (status == DCK_OK)
		*ret = (engine_handle){e, l};
	else
		os_library_close(l);
	return status;
}
