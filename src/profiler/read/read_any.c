/* read_any.c - a file of any kind as a record.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/unstable.h"
#include "profiler/read/profile/profile_read.h"

dck_status dck_read_any(const char *path, const dck_trace_reading *how, dck_record **ret,
			dck_err *err)
{
	/* The most certain first; the reader of records has the message for all other files. */
	if (profile_is(path))
		return dck_profile_read(path, ret, err);
	if (dck_trace_is(path))
		return dck_trace_read_with(path, how ? how : &(dck_trace_reading){0}, ret, err);
	return dck_record_load(path, ret, err);
}
