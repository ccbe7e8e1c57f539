/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/symbols/late_dw.h"

#include "base/err.h"

#ifdef HAVE_LIBDW

struct late_dw late_dw;

dck_status late_dw_load(dck_err *err)
{
	static const char *const names[] = {LATE_DW(OS_LATE_NAME)};
	static os_late library =
	    OS_LATE("libdw.so.1", "lines and inlined functions of programs", names, late_dw);

	return os_late_load(&library, err);
}

#else

dck_status late_dw_load(dck_err *err)
{
	DCK_FAIL(err, E_ABSENT, "this deepclock was built without elfutils' libdw");
}

#endif
