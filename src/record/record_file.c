/* record_file.c - records in files.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "deepclock/unstable.h"
#include "os/os.h"
#include "record/build.h"
#include <string.h>

/* A million samples with their times are 35 MB. */
#define FILE_MAX_BYTES ((size_t)256 << 20)

static dck_status record_file_read(const char *path, dck_buffer *ret, dck_err *err)
{
	const char *name = path;

	if (strcmp(path, "-") == 0)
		DCK_TRY(os_standard_input(&name, err));
	return os_read_file(name, FILE_MAX_BYTES, ret, err);
}

static dck_status record_file_end(const char *path, dck_buffer *text, dck_status st, dck_err *err)
{
	dck_buffer_done(text);
	return st == DCK_OK ? DCK_OK : err_while(err, st, "reading the record '%s'", path);
}

dck_status dck_record_load(const char *path, dck_record **ret, dck_err *err)
{
	dck_buffer text = {0};

	DCK_TRY(record_file_read(path, &text, err));
	return record_file_end(path, &text, dck_record_parse(text.data, text.n, ret, err), err);
}

dck_status record_list_load(const char *path, dck_records *to, dck_err *err)
{
	dck_buffer text = {0};

	DCK_TRY(record_file_read(path, &text, err));
	return record_file_end(path, &text, record_list_parse(text.data, text.n, to, err), err);
}

dck_status dck_record_save(const dck_record *r, const char *path, dck_err *err)
{
	dck_replace *file;
	dck_sink out;
	int fd;

	DCK_TRY(dck_replace_open(path, &file, &fd, err));
	dck_sink_fd(&out, fd);
	record_json_write(r, &out);
	dck_status st = dck_sink_finish(&out, err);
	if (st != DCK_OK) {
		dck_replace_abort(file);
		return err_while(err, st, "writing the record '%s'", path);
	}
	return dck_replace_commit(file, err);
}
