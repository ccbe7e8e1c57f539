/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/symbols/lazy_dw.h"

#include "base/err.h"

#ifdef HAVE_LIBDW

struct late_dw late_dw;

dck_status late_dw_load(dck_err *err)
{
	static const char *const names[] = {LATE_DW(OS_LAZY_NAME)};
	static os_lazy_library library =
	    OS_LAZY("libdw.so.1", "lines and inlined functions of programs", names, late_dw);

	return os_lazy_load(&library, err);
}

#else

dck_status late_dw_load(dck_err *err)
{
	DCK_FAIL(err, E_ABSENT, "this deepclock was built without elfutils' libdw");
}

#endif
