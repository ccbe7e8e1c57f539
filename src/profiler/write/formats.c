/* formats.c - the table of all formats that a timeline can be written in.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/write/formats.h"
#include "base/err.h"
#include "profiler/write/paths.h"

#include <string.h>

#define X(id, ending, gzip, text)                                \
	static dck_status id##_close(trace_out *o, dck_err *err) \
	{                                                        \
		return paths_close(o, &form_##id, err);          \
	}                                                        \
	static const trace_format trace_##id = {                 \
	    TRACE_FORMAT(id, ending, gzip, text),                \
	    .tree = &form_##id,                                  \
	    .open = paths_open,                                  \
	    .track = paths_track,                                \
	    .intern = paths_intern,                              \
	    .events = paths_events,                              \
	    .samples = paths_samples,                            \
	    .close = id##_close,                                 \
	};
DCK_CALLS_FORMAT_MAP(X)
#undef X

static const trace_format *const formats[] = {
#define X(id, ending, gzip, text) &trace_##id,
    DCK_TRACE_FORMAT_MAP(X)
#undef X
};
enum { NFORMATS = sizeof formats / sizeof *formats };

const trace_format *const *trace_formats(size_t *ret_n)
{
	*ret_n = NFORMATS;
	return formats;
}

bool trace_format_has_samples(const trace_format *f)
{
	return f->samples && (!f->tree || f->tree->several);
}

/* The format whose suffix is the longest that the first n bytes of a path end with. */
static const trace_format *ending_with(const char *path, size_t n)
{
	const trace_format *found = NULL;

	for (size_t i = 0; i < NFORMATS; i++) {
		const size_t k = strlen(formats[i]->suffix);
		if (k < n && memcmp(path + n - k, formats[i]->suffix, k) == 0 &&
		    (!found || k > strlen(found->suffix)))
			found = formats[i];
	}
	return found;
}

dck_status trace_format_open_self(trace_out **ret, dck_sink *sink, const trace_header *about,
				  dck_err *err)
{
	(void)about, (void)err;
	*ret = sink->self;
	return DCK_OK;
}

dck_status trace_format_nowhere(void *self, const void *bytes, size_t n, dck_err *err)
{
	(void)self, (void)bytes, (void)n, (void)err;
	return DCK_OK;
}

trace_suffix trace_suffix_of(const char *path)
{
	static const char gz[] = ".gz";
	const size_t n = strlen(path), bytes = sizeof gz - 1;
	trace_suffix e = {.format = ending_with(path, n)};

	if (!e.format && n > bytes && strcmp(path + n - bytes, gz) == 0) {
		e.gzip = true;
		e.format = ending_with(path, n - bytes);
		e.n = bytes;
	}
	e.n += e.format ? strlen(e.format->suffix) : 0;
	return e;
}

dck_status trace_suffix_check(const char *path, dck_err *err)
{
	const trace_suffix e = trace_suffix_of(path);

	if (e.gzip && e.format && !e.format->gunzips)
		DCK_FAIL(err, E_ARG, "what reads %s takes no gzip: leave the .gz of '%s' out",
			 e.format->name, path);
	return DCK_OK;
}

const trace_format *trace_format_find(const char *name)
{
	for (size_t i = 0; i < NFORMATS; i++)
		if (strcmp(formats[i]->name, name) == 0)
			return formats[i];
	return NULL;
}
