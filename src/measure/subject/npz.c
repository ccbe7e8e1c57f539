/* npz.c - reads what numpy.savez writes: members that are stored or deflated, below 4 GiB. Source:
 * PKWARE's APPNOTE.TXT 6.3.10, sections 4.3.7, 4.3.12 and 4.3.16.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/subject/npz.h"
#include "base/err.h"
#include "base/mem.h"
#include "os/process/lazy_zlib.h"
#include <string.h>

#define END_BYTES     22u
#define CENTRAL_BYTES 46u
#define LOCAL_BYTES   30u
#define COMMENT_MAX   65535u

typedef struct entry {
	const char *name;
	size_t nname;
	unsigned method, flags;
	uint32_t packed, plain, at;
} entry;

static uint32_t u16(const unsigned char *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

static uint32_t u32(const unsigned char *p)
{
	return u16(p) | u16(p + 2) << 16;
}

bool npz_is(const dck_buffer *bytes)
{
	return bytes->n >= 4 && memcmp(bytes->data, "PK\3\4", 4) == 0;
}

static dck_status damaged(const char *name, const char *what, dck_err *err)
{
	DCK_FAIL(err, E_FORMAT, "'%s' is no .npz file that can be read: %s", name, what);
}

/* The directory's place, from the archive's end, which a comment may follow. */
static dck_status directory_find(const char *name, const dck_buffer *b, size_t *ret_at,
				 size_t *ret_n, dck_err *err)
{
	const unsigned char *p = (const unsigned char *)b->data;

	for (size_t back = END_BYTES; back <= b->n && back <= END_BYTES + COMMENT_MAX; back++) {
		const unsigned char *end = p + b->n - back;

		if (memcmp(end, "PK\5\6", 4) != 0)
			continue;
		*ret_n = u16(end + 10);
		*ret_at = u32(end + 16);
		if (*ret_at > b->n)
			return damaged(name,
				       "its directory is outside of it, or it is larger than 4 GiB",
				       err);
		return DCK_OK;
	}
	return damaged(name, "its end is missing", err);
}

static bool npz_entry_read(const dck_buffer *b, size_t *at, entry *ret)
{
	const unsigned char *p = (const unsigned char *)b->data + *at;
	size_t bytes;

	if (b->n - *at < CENTRAL_BYTES || memcmp(p, "PK\1\2", 4) != 0)
		return false;
	*ret = (entry){.name = (const char *)p + CENTRAL_BYTES,
		       .nname = u16(p + 28),
		       .flags = u16(p + 8),
		       .method = u16(p + 10),
		       .packed = u32(p + 20),
		       .plain = u32(p + 24),
		       .at = u32(p + 42)};
	bytes = CENTRAL_BYTES + ret->nname + u16(p + 30) + u16(p + 32);
	if (bytes > b->n - *at)
		return false;
	*at += bytes;
	return true;
}

/* Archives of NumPy call the array x "x.npy". */
static bool entry_is(const entry *e, const char *member)
{
	const size_t n = strlen(member);

	return strncmp(e->name, member, n < e->nname ? n : e->nname) == 0 &&
	       (e->nname == n || (e->nname == n + 4 && memcmp(e->name + n, ".npy", 4) == 0));
}

static dck_status inflate_all(const char *name, const unsigned char *from, const entry *e, char *to,
			      dck_err *err)
{
	z_stream z = {0};
	int end;

	/* Raw: the archive has its own header. */
	DCK_TRY(zlib_load(err));
	if (zlib->inflateInit2_(&z, -MAX_WBITS, ZLIB_VERSION, sizeof z) != Z_OK)
		return ERR_NO_MEMORY(err, "to unpack '%s'", name);
	z.next_in = (unsigned char *)from;
	z.avail_in = e->packed;
	z.next_out = (unsigned char *)to;
	z.avail_out = e->plain;
	end = zlib->inflate(&z, Z_FINISH);
	zlib->inflateEnd(&z);
	if (end != Z_STREAM_END || z.avail_out != 0)
		return damaged(name, "a member does not unpack to the size it states", err);
	return DCK_OK;
}

static dck_status npz_unpack(const char *name, const dck_buffer *b, const entry *e, size_t limit,
			     dck_buffer *ret, dck_err *err)
{
	const unsigned char *p = (const unsigned char *)b->data;
	const size_t at = e->at;
	size_t data;
	dck_buffer plain = {.n = e->plain};
	dck_status status = DCK_OK;

	if ((e->flags & 1) || (e->method != 0 && e->method != 8))
		return damaged(name, "a member is neither stored nor deflated", err);
	if (at > b->n || b->n - at < LOCAL_BYTES || memcmp(p + at, "PK\3\4", 4) != 0)
		return damaged(name, "a member is outside of it", err);
	data = at + LOCAL_BYTES + u16(p + at + 26) + u16(p + at + 28);
	if (data > b->n || e->packed > b->n - data || (e->method == 0 && e->packed != e->plain))
		return damaged(name, "a member is cut off", err);
	if (e->plain > limit)
		DCK_FAIL(err, E_LIMIT, "'%s' holds a member of %u bytes: at most %zu are read",
			 name, e->plain, limit);
	plain.data = mem_alloc(e->plain ? e->plain : 1);
	DCK_NEED(plain.data, err, "to unpack '%s'", name);
	if (e->method == 0)
		memcpy(plain.data, p + data, e->plain);
	else
		status = inflate_all(name, p + data, e, plain.data, err);
	if (status != DCK_OK)
		dck_buffer_done(&plain);
	else
		*ret = plain;
	return status;
}

dck_status npz_get(const char *name, const dck_buffer *bytes, const char *member, bool only,
		   size_t limit, npy_array *ret, dck_err *err)
{
	entry found = {0}, first = {0}, e;
	size_t at = 0, n = 0, read = 0;
	dck_buffer plain = {0};
	dck_status status;

	DCK_TRY(directory_find(name, bytes, &at, &n, err));
	for (; read < n; read++) {
		if (!npz_entry_read(bytes, &at, &e))
			return damaged(name, "its directory is cut off", err);
		if (read == 0)
			first = e;
		if (!found.name && entry_is(&e, member))
			found = e;
	}
	if (!found.name && only && n == 1)
		found = first;
	if (!found.name)
		DCK_FAIL(err, E_ABSENT, "'%s' holds no array '%s'", name, member);
	DCK_TRY(npz_unpack(name, bytes, &found, limit, &plain, err));
	status = npy_parse(name, &plain, ret, err);
	if (status != DCK_OK)
		dck_buffer_done(&plain);
	return status;
}
