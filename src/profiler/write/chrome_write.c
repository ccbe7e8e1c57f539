/* chrome_write.c - writes a timeline as Chrome's trace events in JSON, which many viewers open.
 *
 * Ranges are pairs of B and E events, not X events with a duration, because pairs preserve nesting
 * at equal times, and show a range that was still open. Times are microseconds from the base with
 * three decimals, formatted from integers: no time loses a digit in a reader's doubles. A plain
 * event is assembled from prepared texts (its track, its name) directly in the sink's buffer.
 * Source: "Trace Event Format", https://perfetto.dev/docs/getting-started/other-formats
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/json/json_write.h"
#include "base/sink.h"
#include "profiler/write/formats.h"
#include "profiler/timeline/pending_ranges.h"
#include "record/tree/cct.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- times */

/* Two digits of a number below 100. */
static void chrome_put_pair(char *to, uint64_t v)
{
	static const char pairs[] = "0001020304050607080910111213141516171819"
				    "2021222324252627282930313233343536373839"
				    "4041424344454647484950515253545556575859"
				    "6061626364656667686970717273747576777879"
				    "8081828384858687888990919293949596979899";
	memcpy(to, pairs + 2 * v, 2);
}

/* Formats microseconds with three decimals, at most 21 characters; `to` has 32 bytes. Successive
 * times differ only in their last digits, so the digits before the last four of the microseconds
 * are cached. */
typedef struct time_text {
	uint64_t high; /* the time / 10 ms; 0: none */
	char text[16];
	uint32_t n;
} time_text;

static char *put_time(char *to, uint64_t ns, time_text *t)
{
	const uint64_t high = ns / 10000000;
	const uint32_t low = (uint32_t)(ns % 10000000), us = low / 1000, part = low % 1000;

	if (high == 0)
		return to + sprintf(to, "%u.%03u", (unsigned)us, (unsigned)part);
	if (high != t->high) {
		char text[24];
		t->n = (uint32_t)snprintf(text, sizeof text, "%" PRIu64, high);
		memcpy(t->text, text, sizeof t->text); /* at most 13 digits */
		t->high = high;
	}
	memcpy(to, t->text, sizeof t->text);
	to += t->n;
	chrome_put_pair(to, us / 100);
	chrome_put_pair(to + 2, us % 100);
	to[4] = '.';
	to[5] = (char)('0' + part / 100);
	chrome_put_pair(to + 6, part % 100);
	return to + 8;
}

/* --- the writer */

typedef struct json_track {
	char text[48]; /* ,"pid":7,"tid":9 */
	uint32_t n;    /* its length; 0: not written yet */
	bool counter;
	const char *name; /* counter's name */
	int32_t of;	  /* its thread; 0: it is the process's */
	uint64_t depth;
	pending_annotations numbers;
} json_track;

typedef struct chrome_writer {
	dck_sink *sink;
	string_table names;  /* for the keys of numbers */
	string_table quoted; /* the same as ,"cat":"...","name":"..." */
	id_table tracks;
	async_ranges async;
	process_ends ends;
	time_text time;
	const cct *paths; /* of the samples; NULL: no samples */
	bool any;
} chrome_writer;

static chrome_writer *chrome_writer_of(trace_out *out)
{
	return (chrome_writer *)out;
}

/* --- pieces */

static void chrome_put_text(chrome_writer *o, const char *text)
{
	json_writer w;

	json_init(&w, o->sink, false);
	json_text(&w, text ? text : "");
}

static void chrome_put_real(chrome_writer *o, double v)
{
	json_writer w;

	json_init(&w, o->sink, false);
	json_double(&w, v);
}

/* --- events that are not plain */

static void chrome_event_begin(chrome_writer *o, const char *what, uint64_t ns, const json_track *t)
{
	char time[48];

	sink_text(o->sink, ",\n{\"ph\":");
	sink_text(o->sink, what);
	sink_text(o->sink, ",\"ts\":");
	sink_put(o->sink, time, (size_t)(put_time(time, ns, &o->time) - time));
	sink_put(o->sink, t->text, t->n);
}

static void chrome_put_name(chrome_writer *o, uint32_t name)
{
	const string_name quoted = string_name_of(&o->quoted, name);

	if (quoted.text)
		sink_put(o->sink, quoted.text, quoted.n);
	else
		sink_text(o->sink, ",\"name\":\"\"");
}

/* One more of an event's arguments; returns how many there are. */
static unsigned chrome_put_number(chrome_writer *o, unsigned n, uint32_t name, double real)
{
	if (!isfinite(real)) /* not known: absent */
		return n;
	sink_text(o->sink, n ? "," : ",\"args\":{");
	chrome_put_text(o, string_name_of(&o->names, name).text);
	sink_text(o->sink, ":");
	chrome_put_real(o, real);
	return n + 1;
}

static void chrome_event_end(chrome_writer *o, unsigned nargs)
{
	sink_text(o->sink, nargs ? "}}" : "}");
}

/* Starts a range; numbers that follow at once belong to it: returns their number. */
static size_t chrome_put_begin(chrome_writer *o, json_track *t, const trace_event *e,
			       const trace_event *end)
{
	unsigned args = 0;
	size_t n = 0;

	chrome_event_begin(o, "\"B\"", e->ns, t);
	chrome_put_name(o, e->name);
	for (; e + 1 + n < end && e[1 + n].kind == TRACE_ANNOTATION; n++)
		args = chrome_put_number(o, args, e[1 + n].name, e[1 + n].as.real);
	chrome_event_end(o, args);
	t->depth++;
	return n;
}

static void chrome_put_end(chrome_writer *o, json_track *t, uint64_t ns, bool unended)
{
	unsigned args = 0;
	uint32_t n;

	if (t->depth == 0) /* started before the trace */
		return;
	const kept_number *numbers = pending_annotations_of(&t->numbers, t->depth, &n);
	chrome_event_begin(o, "\"E\"", ns, t);
	for (uint32_t i = 0; i < n; i++)
		args = chrome_put_number(o, args, numbers[i].name, numbers[i].real);
	if (unended)
		sink_text(o->sink, args++ ? ",\"unended\":true" : ",\"args\":{\"unended\":true");
	chrome_event_end(o, args);
	pending_annotations_drop(&t->numbers, n);
	t->depth--;
}

static void chrome_put_counter(chrome_writer *o, const json_track *t, const trace_event *e)
{
	if (!t->counter || !isfinite(e->as.real))
		return;
	chrome_event_begin(o, "\"C\"", e->ns, t);
	sink_text(o->sink, ",\"name\":");
	chrome_put_text(o, t->name);
	/* A counter is known by its process, name and id: its thread does not count. */
	if (t->of > 0)
		sink_fmt(o->sink, ",\"id\":\"%" PRId32 "\"", t->of);
	sink_text(o->sink, ",\"args\":{\"value\":");
	chrome_put_real(o, e->as.real);
	chrome_event_end(o, 1);
}

/* Writes a range that any track may end. Viewers match its ends by id, category and name. The
 * category is constant; an end that comes first waits for its begin, which has the name. */
static void chrome_put_async(chrome_writer *o, const json_track *t, const char *what, uint64_t ns,
			     uint64_t id, uint32_t name, bool unended)
{
	chrome_event_begin(o, what, ns, t);
	sink_fmt(o->sink, ",\"cat\":\"range\",\"id\":\"0x%" PRIx64 "\",\"name\":", id);
	chrome_put_text(o, string_name_of(&o->names, name).text);
	if (unended)
		sink_text(o->sink, ",\"args\":{\"unended\":true");
	chrome_event_end(o, unended);
}

static void chrome_put_async_begin(chrome_writer *o, const json_track *t, uint32_t id,
				   const trace_event *e)
{
	kept_id early;

	chrome_put_async(o, t, "\"b\"", e->ns, e->as.id, e->name, false);
	if (kept_id_take_early(&o->async, e->as.id, &early)) {
		t = id_table_find(&o->tracks, early.track);
		chrome_put_async(o, t, "\"e\"", early.end_ns, early.id, e->name, false);
	}
	kept_id_begin(&o->async, e->as.id, e->name, id);
}

static void chrome_put_async_end(chrome_writer *o, const json_track *t, uint32_t id,
				 const trace_event *e)
{
	if (!kept_id_end_early(&o->async, e->as.id, id, e->ns))
		chrome_put_async(o, t, "\"e\"", e->ns, e->as.id, kept_id_end(&o->async, e->as.id),
				 false);
}

/* Writes the ends whose begins never came. */
static void put_early_ends(chrome_writer *o)
{
	for (uint32_t i = 0; i < o->async.ids.n; i++) {
		const kept_id *a = id_table_find(&o->async.ids, i);

		if (a->early)
			chrome_put_async(o, id_table_find(&o->tracks, a->track), "\"e\"", a->end_ns,
					 a->id, 0, false);
	}
}

/* An arrow is known by its category, name and id together. */
static void chrome_put_flow(chrome_writer *o, const json_track *t, const trace_event *e)
{
	static const char *const kinds[] = {"\"s\"", "\"t\"", "\"f\",\"bp\":\"e\""};

	if (t->depth == 0)
		return;
	chrome_event_begin(o, kinds[e->kind - TRACE_FLOW_BEGIN], e->ns, t);
	sink_fmt(o->sink, ",\"cat\":\"flow\",\"id\":\"0x%" PRIx64 "\",\"name\":\"flow\"}",
		 e->as.id);
}

/* One event with the numbers that belong to it; returns how many events these were. */
static size_t chrome_put_any(chrome_writer *o, json_track *t, uint32_t id, const trace_event *e,
			     const trace_event *end)
{
	switch ((trace_kind)e->kind) {
	case TRACE_BEGIN:
		return 1 + chrome_put_begin(o, t, e, end);
	case TRACE_END:
		chrome_put_end(o, t, e->ns, false);
		break;
	case TRACE_INSTANT:
		chrome_event_begin(o, "\"i\",\"s\":\"t\"", e->ns, t);
		chrome_put_name(o, e->name);
		chrome_event_end(o, 0);
		break;
	case TRACE_COUNTER:
		chrome_put_counter(o, t, e);
		break;
	case TRACE_ANNOTATION:
		if (t->depth > 0)
			kept_number_put(&t->numbers, t->depth, e->name, e->as.real);
		break;
	case TRACE_ASYNC_BEGIN:
		chrome_put_async_begin(o, t, id, e);
		break;
	case TRACE_ASYNC_END:
		chrome_put_async_end(o, t, id, e);
		break;
	case TRACE_FLOW_BEGIN:
	case TRACE_FLOW_STEP:
	case TRACE_FLOW_END:
		chrome_put_flow(o, t, e);
		break;
	case TRACE_KINDS:
		break;
	}
	return 1;
}

/* --- plain events: nearly all */

/* PLAIN_TEXT_MAX: bytes of an event without its name, and the bytes copied beyond it. */
enum { PLAIN_TEXT_MAX = 192, NAME_MAX_PLAIN = 2000, NAME_ROOM = 64 };

/* Writes plain events up to the first that is not: begins with a name of usual length, ends,
 * without numbers. Returns that one. */
static const trace_event *chrome_put_plain(chrome_writer *o, json_track *t, const trace_event *e,
					   const trace_event *end)
{
	static const char head[] = ",\n{\"ph\":\"B\",\"ts\":";
	dck_sink *sink = o->sink;
	char *from = sink_reserve(sink, PLAIN_TEXT_MAX + NAME_MAX_PLAIN), *p = from;
	const char *full = sink->buf + sizeof sink->buf - PLAIN_TEXT_MAX - NAME_MAX_PLAIN;
	time_text time = o->time;
	uint64_t depth = t->depth;

	for (; e < end; e++) {
		const bool begins = e->kind == TRACE_BEGIN;
		string_name name = {NULL, 0};

		if (begins) {
			name = string_name_of(&o->quoted, e->name);
			if (!name.text || name.n > NAME_MAX_PLAIN ||
			    (e + 1 < end && e[1].kind == TRACE_ANNOTATION))
				break;
		} else if (e->kind != TRACE_END || depth == 0 || t->numbers.n > 0) {
			break;
		}
		if (p > full) {
			sink->used += (size_t)(p - from);
			from = p = sink_reserve(sink, PLAIN_TEXT_MAX + NAME_MAX_PLAIN);
		}
		memcpy(p, head, sizeof head - 1);
		p[9] = begins ? 'B' : 'E';
		p = put_time(p + sizeof head - 1, e->ns, &time);
		memcpy(p, t->text, sizeof t->text);
		p += t->n;
		if (begins) { /* a short text has NAME_ROOM bytes: chrome_intern() */
			if (name.n <= NAME_ROOM)
				memcpy(p, name.text, NAME_ROOM);
			else
				memcpy(p, name.text, name.n);
			p += name.n;
		}
		*p++ = '}';
		depth += begins ? 1 : UINT64_MAX;
	}
	o->time = time;
	t->depth = depth;
	sink->used += (size_t)(p - from);
	return e;
}

/* --- the format */

static dck_status chrome_open(trace_out **ret, dck_sink *sink, const trace_header *about,
			      dck_err *err)
{
	chrome_writer *o = mem_zalloc(1, sizeof *o);
	dck_status status;

	DCK_NEED(o, err, "for a trace");
	o->sink = sink;
	o->tracks.row_bytes = sizeof(json_track);
	async_ranges_init(&o->async);
	process_ends_init(&o->ends);
	status = string_table_init(&o->names, err);
	if (status == DCK_OK) {
		status = string_table_init(&o->quoted, err);
		if (status != DCK_OK)
			string_table_done(&o->names);
	}
	if (status != DCK_OK) {
		mem_free(o);
		return status;
	}
	sink_fmt(sink, "{\"displayTimeUnit\":\"ns\",\"baseTimeNanoseconds\":%" PRId64,
		 about->unix_ns > 0 ? about->unix_ns : 0);
	sink_text(sink, ",\"traceEvents\":[");
	*ret = (trace_out *)o;
	return DCK_OK;
}

/* Writes the name of a process or thread. Each track with events has one such line, so that an
 * event always follows another. */
static void put_metadata(chrome_writer *o, const json_track *t, const char *what, const char *name,
			 bool device)
{
	sink_text(o->sink, o->any ? ",\n{\"ph\":\"M\"" : "\n{\"ph\":\"M\"");
	sink_put(o->sink, t->text, t->n);
	sink_fmt(o->sink, ",\"name\":\"%s\",\"args\":{\"name\":", what);
	chrome_put_text(o, name);
	sink_text(o->sink, device ? ",\"device\":true}}" : "}}");
	o->any = true;
}

static void chrome_track(trace_out *out, const trace_track *about)
{
	chrome_writer *o = chrome_writer_of(out);
	json_track *t = id_table_row(&o->tracks, about->id);
	const char *name = string_table_copy(&o->names, about->name);
	char unnamed[48];

	if (!t)
		return;
	process_ends_track(&o->ends, about);
	/* Viewers show a thread as a separate process if its id is not positive. */
	const bool device = about->kind == TRACE_DEVICE;
	const bool thread = about->kind == TRACE_THREAD || device;
	const uint32_t tid = about->tid > 0 ? (uint32_t)about->tid
			     : !thread	    ? 0
					    : UINT32_C(1000000000) + about->id;
	t->n = (uint32_t)snprintf(t->text, sizeof t->text, ",\"pid\":%d,\"tid\":%" PRIu32,
				  (int)about->pid, tid);
	t->counter = about->kind == TRACE_COUNTER_TRACK;
	t->of = t->counter ? about->tid : 0;
	t->name = name;
	snprintf(unnamed, sizeof unnamed, "%s %d", thread ? "thread" : "process",
		 (int)(thread ? about->tid : about->pid));
	if (!t->counter)
		put_metadata(o, t, thread ? "thread_name" : "process_name", name ? name : unnamed,
			     device);
	else if (!o->any)
		put_metadata(o, t, "process_name", unnamed, false);
}

static void chrome_intern(trace_out *out, uint32_t id, const trace_name *from)
{
	chrome_writer *o = chrome_writer_of(out);
	static const char cap[NAME_ROOM] = {0};
	dck_buffer quoted = {0};
	dck_sink sink;
	json_writer w;

	string_name_put(&o->names, id, from->text, from->n);
	dck_sink_buffer(&sink, &quoted);
	json_init(&w, &sink, false);
	if (from->category) {
		sink_text(&sink, ",\"cat\":");
		json_text(&w, string_table_copy(&o->names, from->category));
	}
	sink_text(&sink, ",\"name\":");
	json_text(&w, string_name_of(&o->names, id).text);
	const size_t bytes = quoted.n + sink.used;
	sink_put(&sink, cap, sizeof cap);
	string_name *row = id_table_row(&o->quoted.table, id);
	if (dck_sink_finish(&sink, NULL) != DCK_OK)
		o->quoted.table.failed = true;
	else if (row)
		*row = (string_name){mem_arena_dup_n(o->quoted.arena, quoted.data, quoted.n),
				     (uint32_t)bytes};
	dck_buffer_done(&quoted);
}

static void chrome_events(trace_out *out, uint32_t id, const trace_event *e, size_t n)
{
	chrome_writer *o = chrome_writer_of(out);
	const trace_event *end = e + n;
	json_track *t = id_table_find(&o->tracks, id);

	if (!t || !t->n)
		return;
	process_ends_events(&o->ends, id, e, n);
	while (e < end) {
		e = chrome_put_plain(o, t, e, end);
		if (e < end)
			e += chrome_put_any(o, t, id, e, end);
	}
}

/* --- samples: an event each, whose frame is in the list at the end of the file */

static void chrome_samples(trace_out *out, const cct *paths, const trace_sample *s, size_t n)
{
	chrome_writer *o = chrome_writer_of(out);
	json_track t = {.name = NULL};

	o->paths = paths;
	for (; n > 0; n--, s++) {
		char time[48], *end = time;

		t.n = (uint32_t)snprintf(t.text, sizeof t.text,
					 ",\"pid\":%" PRId32 ",\"tid\":%" PRId32, s->pid, s->tid);
		if (!o->any)
			put_metadata(o, &t, "process_name", "process", false);
		if (s->ns < 0)
			*end++ = '-';
		end = put_time(end, s->ns < 0 ? -(uint64_t)s->ns : (uint64_t)s->ns, &o->time);
		sink_text(o->sink, ",\n{\"ph\":\"P\",\"ts\":");
		sink_put(o->sink, time, (size_t)(end - time));
		sink_put(o->sink, t.text, t.n);
		sink_text(o->sink, ",\"cat\":\"sample\",\"name\":\"sample\"");
		if (s->path)
			sink_fmt(o->sink, ",\"sf\":%" PRIu32, s->path);
		sink_fmt(o->sink, ",\"args\":{\"cpu_ns\":%" PRIu64, s->weight_ns);
		if (s->rate)
			sink_fmt(o->sink, ",\"rate\":%" PRIu32, s->rate);
		sink_text(o->sink, "}}");
	}
}

static void put_frame_text(chrome_writer *o, const char *key, const char *text)
{
	if (!text)
		return;
	sink_fmt(o->sink, ",\"%s\":", key);
	chrome_put_text(o, text);
}

/* Members that the format does not define are ignored by its readers. */
static void put_stack_frames(chrome_writer *o)
{
	for (uint32_t i = 1; i < o->paths->paths.n; i++) {
		const path_node *path = &o->paths->paths.rows[i];
		const dck_frame f = cct_frame_get(o->paths, path->name);

		sink_fmt(o->sink, "%s\n\"%" PRIu32 "\":{\"name\":", i > 1 ? "," : "", i);
		chrome_put_text(o, f.name);
		put_frame_text(o, "category", f.module);
		put_frame_text(o, "file", f.file);
		if (f.line)
			sink_fmt(o->sink, ",\"line\":%" PRIu32, f.line);
		if (f.start_line)
			sink_fmt(o->sink, ",\"start_line\":%" PRIu32, f.start_line);
		if (path->parent)
			sink_fmt(o->sink, ",\"parent\":%" PRIu32, path->parent);
		sink_text(o->sink, "}");
	}
}

static bool chrome_end_range(trace_out *out, void *of, uint64_t ns)
{
	chrome_writer *o = chrome_writer_of(out);
	json_track *t = of;
	const bool open = t->depth > 0;

	chrome_put_end(o, t, ns, true);
	return open;
}

static void chrome_end_async(trace_out *out, void *t, const kept_id *id, uint64_t ns)
{
	chrome_writer *o = chrome_writer_of(out);

	chrome_put_async(o, t, "\"e\"", ns, id->id, id->name, true);
}

static dck_status chrome_close(trace_out *out, dck_err *err)
{
	chrome_writer *o = chrome_writer_of(out);
	bool failed = o->tracks.failed || o->async.failed || o->ends.tracks.failed;

	kept_end_open(out, &o->tracks, &o->async, &o->ends,
		      &(kept_end){chrome_end_range, chrome_end_async});
	put_early_ends(o);
	for (uint32_t i = 0; i < o->tracks.n; i++) {
		json_track *t = id_table_find(&o->tracks, i);
		failed = failed || t->numbers.failed;
		pending_annotations_done(&t->numbers);
	}
	sink_text(o->sink, "\n]");
	if (o->paths) {
		sink_text(o->sink, ",\"stackFrames\":{");
		put_stack_frames(o);
		sink_text(o->sink, "\n}");
	}
	sink_text(o->sink, "}\n");
	failed = failed || string_table_failed(&o->names) || string_table_failed(&o->quoted);
	id_table_done(&o->tracks);
	async_ranges_done(&o->async);
	process_ends_done(&o->ends);
	string_table_done(&o->names);
	string_table_done(&o->quoted);
	mem_free(o);
	DCK_NEED(!failed, err, "for the names and tracks of a trace");
	return DCK_OK;
}

const trace_format trace_chrome = {
    DCK_TRACE_FORMAT_CHROME(TRACE_FORMAT),
    .open = chrome_open,
    .track = chrome_track,
    .intern = chrome_intern,
    .events = chrome_events,
    .samples = chrome_samples,
    .close = chrome_close,
};
