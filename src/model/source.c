/* source.c - a file read through a window.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/wire.h"
#include "base/err.h"
#include "base/mem.h"
#include "os/os.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Small at first and after every jump: most jumps land on one tensor's header. */
#define STEP_FIRST 4096

const wire_kind wire_onnx = {"model", "an ONNX file", "an ONNX model"};

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
		DCK_FAIL_ERRNO(err, E_IO, e, "cannot look at %s '%s'", kind->thing, path);
	}
	if (found != OS_FILE) {
		os_close(fd);
		DCK_FAIL(err, E_IO, "'%s' is %s, not %s", path,
			 found == OS_FOLDER ? "a directory" : "no regular file", kind->file);
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
	*ret = (wire_source){.size = size, .fd = fd, .window = own, .own = own, .step = STEP_FIRST};
	/* The end of a long path says more than its beginning. */
	size_t len = strlen(path), room = sizeof ret->label - 6;
	snprintf(ret->label, sizeof ret->label, "'%s%s'", len > room ? "..." : "",
		 len > room ? path + (len - room) : path);
	return DCK_OK;
}

dck_status wire_source_bytes(const void *bytes, size_t n, const wire_kind *kind, wire_source *ret,
			     dck_err *err)
{
	if (n == 0)
		DCK_FAIL(err, E_FORMAT, "the %s in memory is empty, not %s", kind->thing,
			 kind->whole);
	*ret = (wire_source){.size = n, .fd = -1, .window = bytes, .n = n};
	snprintf(ret->label, sizeof ret->label, "the %s in memory", kind->thing);
	return DCK_OK;
}

void wire_source_close(wire_source *s)
{
	if (s->own) {
		os_close(s->fd);
		mem_free(s->own);
	}
	*s = (wire_source){.fd = -1};
}

/* Reads n bytes at `at`, all of them. */
static dck_status read_all(wire_source *s, uint64_t at, size_t n, uint8_t *to, dck_err *err)
{
	ptrdiff_t got = os_read_at(s->fd, to, n, at);

	if (got < 0)
		DCK_FAIL_ERRNO(err, E_IO, errno, "cannot read %s at byte %llu", s->label,
			       (unsigned long long)at);
	if ((size_t)got < n)
		DCK_FAIL(err, E_IO, "%s became shorter while it was read", s->label);
	return DCK_OK;
}

static dck_status refill(wire_source *s, uint64_t at, dck_err *err)
{
	bool sequential = at >= s->at && at <= s->at + s->n;
	uint64_t left = s->size - at;
	size_t step = sequential ? s->step : STEP_FIRST, n;

	n = left < step ? (size_t)left : step;
	s->n = 0; /* nothing valid if the read fails */
	DCK_TRY(read_all(s, at, n, s->own, err));
	s->at = at;
	s->n = n;
	s->step = step * 2 < WIRE_WINDOW_MAX ? step * 2 : WIRE_WINDOW_MAX;
	return DCK_OK;
}

dck_status wire_source_peek(wire_source *s, uint64_t at, size_t want, const uint8_t **ret,
			    size_t *ret_n, dck_err *err)
{
	uint64_t left = at < s->size ? s->size - at : 0;
	size_t n = left < want ? (size_t)left : want;

	if (at < s->at || at + n > s->at + s->n)
		DCK_TRY(refill(s, at, err));
	*ret = s->window + (at - s->at);
	*ret_n = n;
	return DCK_OK;
}

dck_status wire_source_copy(wire_source *s, uint64_t at, size_t n, void *to, dck_err *err)
{
	if (n == 0)
		return DCK_OK;
	if (n > STEP_FIRST && s->own)
		return read_all(s, at, n, to, err);
	if (at < s->at || at + n > s->at + s->n)
		DCK_TRY(refill(s, at, err));
	memcpy(to, s->window + (at - s->at), n);
	return DCK_OK;
}
