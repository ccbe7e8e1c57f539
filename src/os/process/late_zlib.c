/* SPDX-License-Identifier: Apache-2.0 */
#include "os/process/late_zlib.h"

struct zlib_functions os_zlib;

static const char *const names[] = {ZLIB_FUNCTIONS(OS_LATE_NAME)};
static os_late library = OS_LATE("libz.so.1", "what is compressed", names, os_zlib);

dck_status zlib_load(dck_err *err)
{
	return os_late_load(&library, err);
}
