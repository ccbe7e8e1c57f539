/* profile_read.c - a profile of another program as a record.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/calls.h"

#include "base/err.h"
#include "import/pstats_read.h"
#include "base/wire.h"
#include "os/os.h"
#include "record/asked.h"

/* A profile of 100,000 functions has a tenth of it. */
#define PROFILE_MAX_BYTES ((size_t)256 << 20)

bool dck_profile_is(const char *path)
{
	static const wire_kind kind = {"profile", "a profile", "a profile of Python"};
	const uint8_t *begin;
	wire_source source;
	size_t n = 0;

	/* Opening a pipe to look at it would break it for its writer. */
	if (os_path_kind(path, NULL) != OS_FILE ||
	    wire_source_open(path, &kind, &source, NULL) != DCK_OK)
		return false;
	const bool is = wire_source_peek(&source, 0, 2, &begin, &n, NULL) == DCK_OK &&
			pstats_is((const char *)begin, n);
	wire_source_close(&source);
	return is;
}

dck_status dck_profile_read(const char *path, dck_record **ret, dck_err *err)
{
	dck_buffer bytes = {0};

	DCK_TRY(os_read_file(path, PROFILE_MAX_BYTES, &bytes, err));
	record_builder *b = record_begin(NULL);
	dck_status status = b ? DCK_OK : ERR_NO_MEMORY(err, "for the record");
	if (status == DCK_OK) {
		record_fact_text(b, "subject", "kind", "profile");
		record_fact_text(b, "subject", "name", path);
		status = pstats_read(bytes.data, bytes.n, b, err);
	}
	dck_buffer_done(&bytes);
	if (status == DCK_OK)
		return record_finish(b, ret, err);
	record_drop(b);
	return err_while(err, status, "reading the profile '%s'", path);
}
