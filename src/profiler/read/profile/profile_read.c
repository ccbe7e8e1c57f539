/* profile_read.c - a profile of another program as a record.
 *
 * The kinds are tried by their first bytes, keys or lines, the most certain ones first, and never
 * by the file's name. Kinds without a reader are recognised too: their message has the command that
 * converts them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/calls.h"

#include "base/err.h"
#include "base/wire.h"
#include "profiler/read/profile/folded_read.h"
#include "profiler/read/profile/gprof2dot_read.h"
#include "profiler/read/json_feed.h"
#include "profiler/read/profile/profile_read.h"
#include "profiler/read/profile/pstats_read.h"
#include "profiler/read/profile/speedscope_read.h"
#include "profiler/read/read_source.h"
#include "record/record_begin.h"

#include <string.h>

/* A profile of 100,000 functions has a tenth of it. */
#define PSTATS_MAX_BYTES ((size_t)256 << 20)

static const wire_kind wire_profile = {"profile", "a profile", "a profile"};

/* --- kinds, the most certain ones first */

typedef struct profile_kind {
	bool (*is)(wire_source *s);
	dck_status (*read)(wire_source *s, record_builder *b, dck_err *err);
	const char
	    *instead; /* for unsupported kinds: the tool that reads it, and its output format */
} profile_kind;

static bool profile_begins(wire_source *s, const char *with, size_t n)
{
	const uint8_t *bytes;
	size_t got = 0;

	return wire_source_peek(s, 0, n, &bytes, &got, NULL) == DCK_OK && got >= n &&
	       memcmp(bytes, with, n) == 0;
}

static bool begins_pstats(wire_source *s)
{
	const uint8_t *bytes;
	size_t n = 0;

	return wire_source_peek(s, 0, 2, &bytes, &n, NULL) == DCK_OK &&
	       pstats_is((const char *)bytes, n);
}

/* memray's capture, which LZ4 packs or not. */
static bool is_memray(wire_source *s)
{
	static const char name[] = "memray";
	const uint8_t *bytes;
	size_t n = 0;

	if (profile_begins(s, name, sizeof name))
		return true;
	if (!profile_begins(s, "\x04\x22\x4d\x18", 4) ||
	    wire_source_peek(s, 0, 64, &bytes, &n, NULL) != DCK_OK)
		return false;
	for (size_t i = 4; i + sizeof name <= n && i < 32; i++)
		if (memcmp(bytes + i, name, sizeof name) == 0)
			return true;
	return false;
}

static bool is_memray_table(wire_source *s)
{
	return profile_begins(s, "allocator,num_allocations,", 26) ||
	       profile_begins(s, "{\n  \"total_num_allocations\"", 27);
}

static bool is_perf(wire_source *s)
{
	return profile_begins(s, "PERFILE2", 8);
}

static bool is_callgrind(wire_source *s)
{
	return profile_begins(s, "# callgrind format", 18) ||
	       profile_begins(s, "version: 1\ncreator: ", 20);
}

/* Compressed or not. Its first message is a ValueType, which begins with a number; one of Perfetto
 * has no number of that key. */
static bool is_pprof(wire_source *s)
{
	const uint8_t *bytes;
	json_reader r;
	json_feed f;
	size_t n = 0;

	if (json_feed_open(&f, s, &r, NULL) != DCK_OK)
		return false;
	const bool is = json_feed_more(&f, &bytes, &n, NULL) == DCK_OK && n > 4 &&
			bytes[0] == 0x0a && bytes[1] >= 2 && bytes[1] < 16 && bytes[2] == 0x08;
	json_feed_close(&f);
	return is;
}

/* Returns the first top-level key that identifies a profile, a record or a Chrome trace. */
static const char *profile_first_key(wire_source *s)
{
	static const char *const keys[] = {"shared",	"profiles", "costs",	   "functions",
					   "deepclock", "schema",   "traceEvents", NULL};
	const char *found = json_feed_first_key(s, keys);

	return found ? found : "";
}

static bool is_speedscope(wire_source *s)
{
	const char *key = profile_first_key(s);

	return strcmp(key, "shared") == 0 || strcmp(key, "profiles") == 0;
}

static bool is_gprof2dot(wire_source *s)
{
	const char *key = profile_first_key(s);

	return strcmp(key, "costs") == 0 || strcmp(key, "functions") == 0;
}

static dck_status read_pstats(wire_source *s, record_builder *b, dck_err *err)
{
	uint8_t *bytes;

	if (s->size > PSTATS_MAX_BYTES)
		DCK_FAIL(err, E_LIMIT, "it has more than %zu MiB", PSTATS_MAX_BYTES >> 20);
	bytes = mem_alloc((size_t)s->size);
	DCK_NEED(bytes, err, "for the profile");
	dck_status status = wire_source_copy(s, 0, (size_t)s->size, bytes, err);
	DCK_NEXT(status, pstats_read((const char *)bytes, (size_t)s->size, b, err));
	mem_free(bytes);
	return status;
}

static const profile_kind kinds[] = {
    {begins_pstats, read_pstats, NULL},
    {is_memray, NULL,
     "a capture of memray: 'memray transform gprof2dot -o x.json FILE' writes a readable file"},
    {is_memray_table, NULL,
     "memray's CSV or statistics: 'memray transform gprof2dot -o x.json FILE' of the capture "
     "writes a readable file"},
    {is_perf, NULL,
     "a recording of perf: 'perf script -i FILE | stackcollapse-perf.pl > x.folded' writes a "
     "readable file"},
    {perf_script_is, NULL,
     "the text of 'perf script': 'stackcollapse-perf.pl FILE > x.folded' writes a readable file"},
    {is_callgrind, NULL,
     "a profile of callgrind: speedscope.app reads it, and exports a readable file"},
    {is_pprof, NULL,
     "a profile of pprof: 'go tool pprof -raw FILE | stackcollapse-go.pl > x.folded' writes a "
     "readable file"},
    {is_speedscope, speedscope_read, NULL},
    {is_gprof2dot, gprof2dot_read, NULL},
    {folded_is, folded_read, NULL},
};

static const profile_kind *profile_kind_of(wire_source *s)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (kinds[i].is(s))
			return &kinds[i];
	return NULL;
}

bool profile_is(const char *path)
{
	wire_source source;

	if (!read_source_is_file(path) ||
	    read_source_open(path, &wire_profile, &source, NULL) != DCK_OK)
		return false;
	const bool is = profile_kind_of(&source) != NULL;
	wire_source_close(&source);
	return is;
}

/* --- reading */

static dck_status profile_read_into(const char *path, record_builder *b, dck_err *err)
{
	wire_source source;

	DCK_TRY(read_source_open(path, &wire_profile, &source, err));
	const profile_kind *kind = profile_kind_of(&source);
	dck_status status = DCK_OK;
	if (!kind)
		status = ERR_SET(err, E_FORMAT, "it is not a profile that is known here");
	else if (!kind->read)
		status = ERR_SET(err, E_FORMAT, "it is %s", kind->instead);
	else
		status = kind->read(&source, b, err);
	wire_source_close(&source);
	return status;
}

dck_status dck_profile_read(const char *path, dck_record **ret, dck_err *err)
{
	record_builder *b = record_begin(NULL);

	DCK_NEED(b, err, "for the record");
	record_fact_text(b, "subject", "kind", "profile");
	record_fact_text(b, "subject", "name", path);
	const dck_status status = profile_read_into(path, b, err);
	if (status == DCK_OK)
		return record_finish(b, ret, err);
	record_drop(b);
	return err_while(err, status, "reading the profile '%s'", path);
}
