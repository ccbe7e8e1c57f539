/* SPDX-License-Identifier: Apache-2.0 */
#include "record/late_jansson.h"

struct jansson_functions record_jansson;

static const char *const names[] = {JANSSON_FUNCTIONS(OS_LATE_NAME)};
static os_late library = OS_LATE("libjansson.so.4", "reading records", names, record_jansson);

dck_status jansson_load(dck_err *err)
{
	return os_late_load(&library, err);
}
