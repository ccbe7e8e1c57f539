/* SPDX-License-Identifier: Apache-2.0 */
#include "os/process/lazy_zlib.h"

struct zlib_functions os_zlib;

static const char *const names[] = {ZLIB_FUNCTIONS(OS_LAZY_NAME)};
static os_lazy_library library = OS_LAZY("libz.so.1", "compressed data", names, os_zlib);

dck_status zlib_load(dck_err *err)
{
	return os_lazy_load(&library, err);
}
