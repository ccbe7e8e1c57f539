/* zone_collect.c - a trace_format without output: sums the events that it receives for the tables
 * of zones and threads.
 *
 * Each track has a stack of open ranges: a begin pushes, an end pops and adds calls, total and own
 * time to the range's name and call path (zone_aggregate.h). Ranges that any track may end are
 * matched by id. Numbers named PF_UNENDED or PF_CONTINUED mark the innermost open range. Events of
 * the threads' counters go to thread_sums.h and are not counted here; the timeline for figures
 * (timeline_lod.h), if there is one, receives all.
 *
 * Invariants: the times of a track do not go back (earlier ones count as last_ns); at close() open
 * ranges end at the last time of their process.
 * Memory: O(names + tracks + open ranges), independent of the number of events. The sink has no
 * bytes: open() takes the collection from sink->self. Failure is sticky and reported by
 * zone_collect_put().
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/read/zone_collect.h"
#include "base/units.h"

#include "base/err.h"
#include "base/mem.h"
#include "profiler/timeline/pending_ranges.h"
#include "profiler/timeline/perfetto.h"
#include "profiler/timeline/sample_sums.h"
#include "profiler/read/thread_sums.h"
#include "profiler/timeline/zone_table.h"
#include "profiler/write/formats.h"

#include <string.h>

typedef struct zone_track {
	zone_stack *open; /* @owned; NULL: no event yet, as on tracks of processes */
	uint64_t last_ns;
	bool device; /* its ranges are a device's */
	bool stream;
} zone_track;

/* How a number of that name marks its range. */
typedef struct mark {
	bool unended, continued, bytes;
} mark;

struct zone_collect {
	string_table texts;
	id_table marks, tracks;	     /* by name: mark; of track */
	zone_aggregate sums, device; /* device: of the devices' ranges */
	thread_sums threads;
	process_ends ends;
	sample_sums samples;
	timeline_lod *drawn;			   /* NULL: it is not */
	uint64_t events, unmatched, lost, last_ns; /* lost: ranges that are nested too deep */
	int64_t unix_ns;
};

static zone_aggregate *collect_sums(zone_collect *c, const zone_track *t)
{
	return t->device ? &c->device : &c->sums;
}

static void collect_end(zone_collect *c, zone_track *t, uint64_t ns)
{
	const zone_frame *top = zone_stack_top(t->open);

	c->unmatched += zone_aggregate_end(collect_sums(c, t), t->open, ns,
					   !top || !top->unended) == ZONE_UNMATCHED;
}

static void collect_number(zone_collect *c, zone_track *t, const trace_event *e)
{
	const mark *m = id_table_find(&c->marks, e->name);
	zone_frame *top = zone_stack_top(t->open);

	if (!m || !top)
		return;
	top->unended |= m->unended;
	top->continued |= m->continued;
	top->bytes += m->bytes && t->device ? e->as.real : 0;
}

/* --- as a format */

static zone_collect *collect_of(trace_out *o)
{
	return (zone_collect *)o;
}

static dck_status collect_open(trace_out **ret, dck_sink *sink, const trace_header *about,
			       dck_err *err)
{
	zone_collect *c = sink->self;

	(void)err;
	c->unix_ns = about ? about->unix_ns : 0;
	*ret = (trace_out *)c;
	return DCK_OK;
}

static void collect_track(trace_out *o, const trace_track *about)
{
	zone_track *t = id_table_row(&collect_of(o)->tracks, about->id);

	if (t) {
		t->device = about->kind == TRACE_DEVICE;
		t->stream = t->device && about->name && trace_is_stream(about->name);
		if (t->open)
			t->open->stream = t->stream;
	}
	if (collect_of(o)->drawn)
		timeline_lod_track(collect_of(o)->drawn, about);
	thread_sums_track(&collect_of(o)->threads, about);
	process_ends_track(&collect_of(o)->ends, about);
}

static bool collect_is(const trace_name *from, const char *text)
{
	return from->n == strlen(text) && memcmp(from->text, text, from->n) == 0;
}

static void collect_intern(trace_out *o, uint32_t id, const trace_name *from)
{
	mark *row = id_table_row(&collect_of(o)->marks, id);

	if (collect_of(o)->drawn)
		timeline_lod_name(collect_of(o)->drawn, id, from);
	string_name_put(&collect_of(o)->texts, id, from->text, from->n);
	if (row)
		*row = (mark){.unended = collect_is(from, PF_UNENDED),
			      .continued = collect_is(from, PF_CONTINUED),
			      .bytes = collect_is(from, "bytes")};
}

/* Returns the track with its stack; NULL: no memory. */
static zone_track *collect_track_of(zone_collect *c, uint32_t id)
{
	zone_track *t = id_table_row(&c->tracks, id);

	if (!t || t->open)
		return t;
	t->open = mem_zalloc(1, sizeof *t->open);
	if (!t->open) {
		c->tracks.failed = true;
		return NULL;
	}
	t->open->track = id;
	t->open->stream = t->stream;
	return t;
}

static void collect_events(trace_out *o, uint32_t id, const trace_event *e, size_t n)
{
	zone_collect *c = collect_of(o);
	zone_track *t = collect_track_of(c, id);
	const bool used = thread_sums_events(&c->threads, id, e, n);

	c->events += t && !used ? n : 0;
	process_ends_events(&c->ends, id, e, n);
	if (c->drawn)
		timeline_lod_events(c->drawn, id, e, n);
	for (size_t i = 0; t && i < n; i++, e++) {
		t->last_ns = e->ns > t->last_ns ? e->ns : t->last_ns;
		switch ((trace_kind)e->kind) {
		case TRACE_BEGIN:
			c->lost +=
			    !zone_aggregate_begin(collect_sums(c, t), t->open, t->last_ns, e->name);
			break;
		case TRACE_END:
			collect_end(c, t, t->last_ns);
			break;
		case TRACE_ANNOTATION:
			collect_number(c, t, e);
			break;
		case TRACE_ASYNC_BEGIN:
		case TRACE_ASYNC_END:
			c->unmatched += !zone_aggregate_range(
			    &c->sums, id, e->as.id + 1, e->kind == TRACE_ASYNC_END, e->name, e->ns);
			break;
		case TRACE_FLOW_BEGIN:
			if (!t->device)
				zone_aggregate_enqueued(&c->sums, t->open, e->as.id);
			break;
		case TRACE_FLOW_END:
			if (t->device && t->open->depth)
				zone_stack_top(t->open)->flow = e->as.id;
			break;
		case TRACE_INSTANT:
		case TRACE_COUNTER:
		case TRACE_FLOW_STEP:
		case TRACE_KINDS:
			break;
		}
	}
	if (t && t->last_ns > c->last_ns)
		c->last_ns = t->last_ns;
}

static void collect_samples(trace_out *o, const cct *paths, const trace_sample *s, size_t n)
{
	sample_sums_add(&collect_of(o)->samples, paths, s, n);
}

/* Frees the tracks; there may be as many of them as events. */
static void collect_tracks_done(zone_collect *c)
{
	for (uint32_t i = 0; i < c->tracks.n; i++) {
		const zone_track *t = id_table_find(&c->tracks, i);

		if (t->open)
			zone_stack_done(t->open);
		mem_free(t->open);
	}
	id_table_done(&c->tracks);
}

static dck_status collect_close(trace_out *o, dck_err *err)
{
	zone_collect *c = collect_of(o);
	uint64_t unmatched;

	(void)err;
	for (uint32_t i = 0; i < c->tracks.n; i++) {
		const zone_track *t = id_table_find(&c->tracks, i);

		if (!t->open)
			continue;
		const uint64_t end = process_ends_of(&c->ends, i);

		zone_aggregate_close(collect_sums(c, t), t->open,
				     end > t->last_ns ? end : t->last_ns);
		thread_sums_ranges(&c->threads, i, t->open->zones, t->open->waited_ns);
	}
	collect_tracks_done(c);
	zone_aggregate_close_ranges(&c->sums, c->last_ns, &c->ends, &unmatched);
	c->unmatched += unmatched;
	return DCK_OK;
}

const trace_format zone_collect_format = {
    .name = "zones",
    .suffix = "",
    .help = "calls and times of each name",
    .open = collect_open,
    .track = collect_track,
    .intern = collect_intern,
    .events = collect_events,
    .samples = collect_samples,
    .close = collect_close,
};

/* --- */

static bool collect_is_wait(const void *names, uint32_t name)
{
	const char *text = string_name_of(names, name).text;

	return text && trace_is_wait(text);
}

static bool collect_is_call(const void *names, uint32_t name)
{
	const char *text = string_name_of(names, name).text;

	return text && trace_is_cuda_call(text);
}

dck_status zone_collect_new(zone_collect **ret, dck_err *err)
{
	zone_collect *c = mem_zalloc(1, sizeof *c);

	DCK_NEED(c, err, "to add up a trace");
	c->marks.row_bytes = sizeof(mark);
	c->tracks.row_bytes = sizeof(zone_track);
	process_ends_init(&c->ends);
	c->sums.is_wait = collect_is_wait;
	c->sums.is_call = collect_is_call;
	c->sums.names = &c->texts;
	c->device.enqueuers = &c->sums;
	dck_status status = string_table_init(&c->texts, err);
	DCK_NEXT(status, thread_sums_init(&c->threads, err));
	DCK_NEXT(status, sample_sums_init(&c->samples, err));
	if (status == DCK_OK)
		*ret = c;
	else
		zone_collect_free(c);
	return status;
}

void zone_collect_want(zone_collect *c, const zone_percentiles *p)
{
	zone_aggregate_want(&c->sums, p);
	zone_aggregate_want(&c->device, p);
}

void zone_collect_draw(zone_collect *c, timeline_lod *p)
{
	c->drawn = p;
	c->sums.ended = c->device.ended = timeline_lod_range;
	c->sums.listener = c->device.listener = p;
}

void zone_collect_free(zone_collect *c)
{
	if (!c)
		return;
	collect_tracks_done(c);
	id_table_done(&c->marks);
	string_table_done(&c->texts);
	thread_sums_done(&c->threads);
	process_ends_done(&c->ends);
	sample_sums_done(&c->samples);
	zone_aggregate_done(&c->sums);
	zone_aggregate_done(&c->device);
	mem_free(c);
}

void zone_collect_sink(zone_collect *c, dck_sink *ret)
{
	dck_sink_custom(ret, trace_format_nowhere, c);
}

static const char *collect_text_of(void *self, uint32_t id)
{
	return string_name_of(&((zone_collect *)self)->texts, id).text;
}

dck_status zone_collect_put(zone_collect *c, record_builder *b, dck_err *err)
{
	DCK_NEED(!string_table_failed(&c->texts) && !c->marks.failed && !c->tracks.failed &&
		     !c->ends.tracks.failed && !cct_failed(&c->samples.paths),
		 err, "to add up a trace");
	if (c->unix_ns != 0)
		record_set_began(b, c->unix_ns);
	record_fact_int(b, "trace", "elapsed", DCK_UNIT_NS, (int64_t)c->last_ns);
	record_fact_int(b, "trace", "threads", DCK_UNIT_ONE, (int64_t)c->threads.threads);
	record_fact_int(b, "trace", "events", DCK_UNIT_ONE, (int64_t)c->events);
	record_fact_int(b, "trace", "unmatched_ends", DCK_UNIT_ONE, (int64_t)c->unmatched);
	if (c->lost)
		record_note(b, "trace-too-many-open",
			    "%llu %s not in the table, because more than %d were open on a "
			    "track",
			    (unsigned long long)c->lost, COUNTED(c->lost, "range is", "ranges are"),
			    ZONE_DEPTH_MAX);
	path_trie_freeze(&c->sums.paths);
	DCK_TRY(zone_table_put(&c->sums, &c->device, collect_text_of, c, b, err));
	if (c->samples.n == 0)
		return DCK_OK;
	record_fact_int(b, "sample", "samples", DCK_UNIT_ONE, (int64_t)c->samples.n);
	return cct_samples_put(&c->samples.paths, b, err);
}

dck_status zone_collect_put_threads(zone_collect *c, record_builder *b, dck_err *err)
{
	return thread_sums_put(&c->threads, b, err);
}
