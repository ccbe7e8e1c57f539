/* read_any.c - a file of any kind as a record.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "deepclock/unstable.h"
#include "profiler/read/profile/profile_read.h"
#include "record/record_internal.h"

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

dck_status dck_records_read(dck_records *to, const char *path, const dck_trace_reading *how,
			    dck_timeline *timeline, dck_err *err)
{
	const dck_trace_reading plain = {0};
	const bool profile = profile_is(path);
	dck_record *r;

	if (!profile && !dck_trace_is(path))
		return record_list_load(path, to, err);
	DCK_TRY(record_list_reserve(to, 1, err));
	if (profile)
		DCK_TRY(dck_profile_read(path, &r, err));
	else if (timeline)
		DCK_TRY(dck_trace_read_timeline(path, how ? how : &plain, &r, timeline, err));
	else
		DCK_TRY(dck_trace_read_with(path, how ? how : &plain, &r, err));
	to->of[to->n++] = r;
	return DCK_OK;
}
