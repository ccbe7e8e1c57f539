/* trace_log.h - a format that logs its events as a text for each track, with names instead of ids,
 * so that two conversions of one timeline can be compared.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_TRACE_LOG_H
#define TESTS_TRACE_LOG_H

#include "base/mem.h"
#include "base/sink.h"
#include "profiler/timeline/timeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOG_TRACKS = 64, LOG_NAMES = 4096 };

typedef struct trace_log {
	trace_header about;
	char *names[LOG_NAMES];
	struct trace_log_track {
		char what[256];
		dck_buffer text;
		uint64_t last_ns;
		bool disorder; /* times decreased */
	} tracks[LOG_TRACKS];
	bool closed;
} trace_log;

/* The format's functions have no user pointer except the sink. */
static inline trace_log *trace_log_of(trace_out *o)
{
	return (trace_log *)(void *)o;
}

static inline dck_status trace_log_open(trace_out **ret, dck_sink *sink, const trace_header *about,
					dck_err *err)
{
	trace_log *l = sink->self;

	(void)err;
	l->about = *about;
	*ret = (trace_out *)(void *)l;
	return DCK_OK;
}

static inline void trace_log_track(trace_out *o, const trace_track *t)
{
	static const char *const kinds[] = {"process", "thread", "counter"};
	trace_log *l = trace_log_of(o);

	if (t->id >= LOG_TRACKS)
		return;
	snprintf(l->tracks[t->id].what, sizeof l->tracks[t->id].what,
		 "%s %d/%d '%s' %s of '%.200s'", kinds[t->kind], (int)t->pid, (int)t->tid,
		 t->name ? t->name : "", dck_unit_text(t->unit),
		 t->parent < LOG_TRACKS && t->parent ? l->tracks[t->parent].what : "");
}

static inline void trace_log_intern(trace_out *o, uint32_t id, const trace_name *name)
{
	trace_log *l = trace_log_of(o);

	if (id >= LOG_NAMES)
		return;
	free(l->names[id]);
	size_t room = name->n + 300;
	l->names[id] = malloc(room);
	int n = snprintf(l->names[id], room, "%.*s", (int)name->n, name->text);
	if (name->category)
		n += snprintf(l->names[id] + n, room - (size_t)n, " of %.100s", name->category);
	if (name->file)
		snprintf(l->names[id] + n, room - (size_t)n, " at %.100s:%u", name->file,
			 (unsigned)name->line);
}

static inline void trace_log_events(trace_out *o, uint32_t track, const trace_event *e, size_t n)
{
	static const char *const kinds[] = {"begin",	 "end",		"instant",   "counter",
					    "number",	 "async begin", "async end", "flow begin",
					    "flow step", "flow end"};
	trace_log *l = trace_log_of(o);
	dck_sink out;

	if (track >= LOG_TRACKS)
		return;
	struct trace_log_track *t = &l->tracks[track];
	dck_sink_buffer(&out, &t->text);
	for (size_t i = 0; i < n; i++) {
		const char *name = e[i].name < LOG_NAMES ? l->names[e[i].name] : NULL;
		sink_text(&out, kinds[e[i].kind]);
		if (e[i].kind != TRACE_ANNOTATION) {
			t->disorder = t->disorder || e[i].ns < t->last_ns;
			t->last_ns = e[i].ns;
			sink_fmt(&out, " %" PRIu64, e[i].ns);
		}
		if (name)
			sink_fmt(&out, " %s", name);
		if (e[i].kind == TRACE_ANNOTATION || e[i].kind == TRACE_COUNTER)
			sink_fmt(&out, " %.17g", e[i].as.real);
		if (e[i].kind >= TRACE_ASYNC_BEGIN)
			sink_fmt(&out, " %" PRIu64, e[i].as.id);
		sink_text(&out, "\n");
	}
	if (dck_sink_finish(&out, NULL) != DCK_OK)
		abort();
}

static inline dck_status trace_log_close(trace_out *o, dck_err *err)
{
	(void)err;
	trace_log_of(o)->closed = true;
	return DCK_OK;
}

static const trace_format trace_log_format = {
    .name = "log",
    .suffix = ".log",
    .help = "what was told",
    .open = trace_log_open,
    .track = trace_log_track,
    .intern = trace_log_intern,
    .events = trace_log_events,
    .close = trace_log_close,
};

/* Makes a sink for the log. */
static inline void trace_log_sink(dck_sink *s, trace_log *l)
{
	memset(l, 0, sizeof *l);
	dck_sink_custom(s, NULL, l);
}

static inline void trace_log_done(trace_log *l)
{
	for (size_t i = 0; i < LOG_NAMES; i++)
		free(l->names[i]);
	for (size_t i = 0; i < LOG_TRACKS; i++)
		dck_buffer_done(&l->tracks[i].text);
}

/* The log of a track; NULL: it has no events. */
static inline const char *trace_log_find(const trace_log *l, const char *what)
{
	for (size_t i = 0; i < LOG_TRACKS; i++)
		if (strcmp(l->tracks[i].what, what) == 0 && l->tracks[i].text.data)
			return l->tracks[i].text.data;
	return NULL;
}

#endif
