/* wire_file.c - a file as a source of wire.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/wire.h"
#include "base/err.h"
#include "base/mem.h"
#include "os/os.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Reads n bytes at `at`, all of them. */
static dck_status wire_file_read(wire_source *s, uint64_t at, size_t n, uint8_t *to, dck_err *err)
{
	ptrdiff_t got = os_read_at(s->fd, to, n, at);

	if (got < 0)
		DCK_FAIL_ERRNO(err, E_IO, errno, "cannot read %s at byte %llu", s->label,
			       (unsigned long long)at);
	if ((size_t)got < n)
		DCK_FAIL(err, E_IO, "%s became shorter while it was read", s->label);
	return DCK_OK;
}

static void wire_file_close(wire_source *s)
{
	os_close(s->fd);
	mem_free(s->own);
}

dck_status wire_source_open(const char *path, const wire_kind *kind, wire_source *ret, dck_err *err)
{
	uint64_t size = 0;
	int fd = os_open_read(path);
	if (fd < 0) {
		if (errno == ENOENT || errno == ENOTDIR)
			DCK_FAIL_ERRNO(err, E_ABSENT, errno, "cannot open %s '%s'", kind->thing,
				       path);
		DCK_FAIL_ERRNO(err, E_IO, errno, "cannot open %s '%s'", kind->thing, path);
	}
	os_kind found = os_fd_kind(fd, &size);
	if (found == OS_NOTHING) {
		int e = errno;
		os_close(fd);
		DCK_FAIL_ERRNO(err, E_IO, e, "cannot examine %s '%s'", kind->thing, path);
	}
	if (found != OS_FILE) {
		os_close(fd);
		DCK_FAIL(err, E_IO, "'%s' is %s, not %s", path,
			 found == OS_DIRECTORY ? "a directory" : "no regular file", kind->file);
	}
	if (size == 0) {
		os_close(fd);
		DCK_FAIL(err, E_FORMAT, "'%s' is empty, not %s", path, kind->whole);
	}
	uint8_t *own = mem_alloc(WIRE_WINDOW_MAX);
	if (!own) {
		os_close(fd);
		return ERR_NO_MEMORY(err, "to read %s '%s'", kind->thing, path);
	}
	*ret = (wire_source){.size = size,
			     .fd = fd,
			     .window = own,
			     .own = own,
			     .step = WIRE_STEP_FIRST,
			     .read = wire_file_read,
			     .close = wire_file_close};
	/* The end of a long path identifies the file better than its beginning. */
	size_t len = strlen(path), space = sizeof ret->label - 6;
	snprintf(ret->label, sizeof ret->label, "'%s%s'", len > space ? "..." : "",
		 len > space ? path + (len - space) : path);
	return DCK_OK;
}
