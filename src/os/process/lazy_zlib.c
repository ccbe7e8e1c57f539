/* SPDX-License-Identifier: Apache-2.0 */
#include "os/process/lazy_zlib.h"

struct zlib_functions os_zlib;

static const char *const zlib_names[] = {ZLIB_FUNCTIONS(OS_LAZY_NAME)};
static os_lazy_library zlib_library = OS_LAZY("libz.so.1", "compressed data", zlib_names, os_zlib);

dck_status zlib_load(dck_err *err)
{
	return os_lazy_load(&zlib_library, err);
}
