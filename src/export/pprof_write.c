/* pprof_write.c - a timeline as a profile for go tool pprof: a sample for each call path with its
 * calls and its own nanoseconds, and the thread as a label. Compressed by gzip, as all of them are.
 * Source: https://github.com/google/pprof/blob/main/proto/profile.proto
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/sink.h"
#include "model/wire.h"
#include "export/formats.h"
#include "timeline/gzip.h"
#include "export/paths.h"

enum { /* Profile */
       PP_SAMPLE_TYPE = 1,
       PP_SAMPLE = 2,
       PP_LOCATION = 4,
       PP_FUNCTION = 5,
       PP_STRING = 6,
       PP_TIME_NS = 9,
       PP_DURATION_NS = 10,
       PP_DEFAULT_TYPE = 14
};
enum { PP_TYPE_NAME = 1, PP_TYPE_UNIT = 2 };
enum { PP_SAMPLE_LOCATION = 1, PP_SAMPLE_VALUE = 2, PP_SAMPLE_LABEL = 3 };
enum { PP_LABEL_KEY = 1, PP_LABEL_TEXT = 2 };
enum { PP_LOCATION_ID = 1, PP_LOCATION_LINE = 4, PP_LINE_FUNCTION = 1 };
enum { PP_FUNCTION_ID = 1, PP_FUNCTION_NAME = 2 };

/* The table of strings begins with these; names follow. */
static const char *const strings[] = {"", "calls", "count", "time", "nanoseconds", "thread"};
enum { S_CALLS = 1, S_COUNT, S_TIME, S_NANOSECONDS, S_THREAD, S_NAMES };

typedef struct writing {
	trace_out *o;
	wire_out message; /* fields of the profile that are not compressed yet */
	dck_sink *to;
} writing;

static void hand_on(writing *w)
{
	sink_put(w->to, w->message.data, w->message.n);
	w->message.n = 0;
}

/* Between two fields: what has grown large is compressed. */
static void between(writing *w)
{
	if (w->message.n > 65536)
		hand_on(w);
}

/* --- the profile */

static void put_type(writing *w, int64_t name, int64_t unit)
{
	size_t type = wire_begin(&w->message, PP_SAMPLE_TYPE);

	wire_put_int(&w->message, PP_TYPE_NAME, name);
	wire_put_int(&w->message, PP_TYPE_UNIT, unit);
	wire_end(&w->message, type);
}

/* Each name is a function, and a place in it. Numbers are not 0. It has no system_name: where that
 * is equal pprof takes the name for one of C++, and shortens what looks like a template. */
static void put_function(writing *w, uint32_t name)
{
	size_t at = wire_begin(&w->message, PP_LOCATION);

	wire_put_int(&w->message, PP_LOCATION_ID, (int64_t)name + 1);
	size_t line = wire_begin(&w->message, PP_LOCATION_LINE);
	wire_put_int(&w->message, PP_LINE_FUNCTION, (int64_t)name + 1);
	wire_end(&w->message, line);
	wire_end(&w->message, at);
	at = wire_begin(&w->message, PP_FUNCTION);
	wire_put_int(&w->message, PP_FUNCTION_ID, (int64_t)name + 1);
	wire_put_int(&w->message, PP_FUNCTION_NAME, (int64_t)name + S_NAMES);
	wire_end(&w->message, at);
	between(w);
}

static void put_sample(writing *w, const path_node *node)
{
	size_t sample = wire_begin(&w->message, PP_SAMPLE), label;

	for (const path_node *n = node;; n = paths_node(w->o, n->parent)) { /* the leaf first */
		if (n->depth > 0) {
			wire_put_int(&w->message, PP_SAMPLE_LOCATION, (int64_t)n->name + 1);
			continue;
		}
		wire_put_int(&w->message, PP_SAMPLE_VALUE, (int64_t)node->calls);
		wire_put_int(&w->message, PP_SAMPLE_VALUE, (int64_t)node->self_ns);
		label = wire_begin(&w->message, PP_SAMPLE_LABEL);
		wire_put_int(&w->message, PP_LABEL_KEY, S_THREAD);
		wire_put_int(&w->message, PP_LABEL_TEXT, (int64_t)n->name + S_NAMES);
		wire_end(&w->message, label);
		break;
	}
	wire_end(&w->message, sample);
	between(w);
}

static void put_profile(writing *w)
{
	const trace_out *o = w->o;

	put_type(w, S_CALLS, S_COUNT);
	put_type(w, S_TIME, S_NANOSECONDS);
	for (uint32_t n = 1; n <= o->nnodes; n++)
		if (paths_node(o, n)->depth > 0)
			put_sample(w, paths_node(o, n));
	for (uint32_t i = 0; i <= o->names.n; i++)
		put_function(w, i);
	for (size_t i = 0; i < S_NAMES; i++)
		wire_put_text(&w->message, PP_STRING, strings[i]);
	for (uint32_t i = 0; i <= o->names.n; i++) {
		wire_put_bytes(&w->message, PP_STRING, paths_text(o, i).text, paths_text(o, i).n);
		between(w);
	}
	wire_put_int(&w->message, PP_TIME_NS, o->unix_ns);
	wire_put_int(&w->message, PP_DURATION_NS, (int64_t)o->last_ns);
	wire_put_int(&w->message, PP_DEFAULT_TYPE, S_TIME);
}

static dck_status pprof_close(trace_out *o, dck_err *err)
{
	writing w = {.o = o};
	gzip_sink *gzip = NULL;

	paths_end(o);
	o->failed = o->failed || gzip_sink_open(&gzip, o->sink, NULL) != DCK_OK;
	if (gzip) {
		w.to = gzip_sink_in(gzip);
		put_profile(&w);
		hand_on(&w);
		(void)gzip_sink_close(gzip, NULL); /* what failed is known to o->sink */
	}
	o->failed = o->failed || w.message.failed;
	wire_out_done(&w.message);
	return paths_close(o, err);
}

const trace_format trace_pprof = {
    .name = "pprof",
    .suffix = ".pb.gz",
    .help = "for go tool pprof; sums by call path",
    .open = paths_open,
    .track = paths_track,
    .intern = paths_intern,
    .events = paths_events,
    .close = pprof_close,
};
