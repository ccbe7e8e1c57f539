/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/zone_collect.h"

#include "base/err.h"
#include "base/mem.h"
#include "trace/kept.h"
#include "trace/nesting.h"
#include "trace/open_ranges.h"
#include "trace/perfetto.h"
#include "trace/zone_paths.h"
#include "trace/zone_table.h"

#include <string.h>

enum { DEPTH_MAX = 65536 };

typedef struct frame {
	uint32_t name, path;
	bool unended, continued, in_pieces; /* in_pieces: `before` counts */
	zone_pieces before;
	uint64_t begin_ns, inside_ns;
} frame;

typedef struct track {
	frame *frames; /* @owned */
	size_t depth, room;
	uint64_t too_deep; /* ranges inside the last frame that are not followed */
	frame *pieces;	   /* @owned; of ranges that go on, the next to begin last */
	size_t npieces;
	kept_map open; /* by name: calls of it that are open here */
	uint64_t last_ns;
	bool thread;
} track;

typedef struct name {
	zone_stats *z;	/* @owned; NULL: no call yet */
	bool unended;	/* what marks a range that the trace's end has closed */
	bool continued; /* and one that goes on */
} name;

struct zone_collect {
	kept_names texts;
	kept_table names, tracks; /* of name, track */
	zone_paths paths;
	open_ranges ranges;
	uint64_t events, threads, unmatched, last_ns;
	int64_t unix_ns;
	bool failed;
};

static name *name_of(zone_collect *c, uint32_t id)
{
	name *n = kept_row(&c->names, id);

	if (n && !n->z)
		n->z = mem_zalloc(1, sizeof *n->z);
	if (!n || !n->z) {
		c->failed = true;
		return NULL;
	}
	return n;
}

/* What the innermost range adds, which ends. */
static void add(zone_collect *c, frame *f, uint64_t took, uint64_t self, bool outermost,
		bool finished)
{
	name *n = name_of(c, f->name);

	zone_paths_add(&c->paths, f->path, 1, self);
	if (n && f->in_pieces)
		zone_stats_add_pieces(n->z, &f->before, took, self, outermost, finished);
	else if (n)
		(finished ? zone_stats_add : zone_stats_add_unfinished)(n->z, took, self,
									outermost);
}

/* --- pieces: nesting.h */

/* A range ended that goes on; its end is kept until it does. false: it cannot be. */
static bool piece_end(zone_collect *c, track *t, const frame *f, uint64_t ns, uint64_t took,
		      uint64_t self, bool outermost)
{
	if (!t->pieces)
		t->pieces = mem_alloc(NESTING_PIECES_MAX * sizeof *t->pieces);
	if (!t->pieces || t->npieces == NESTING_PIECES_MAX)
		return false;
	frame *p = &t->pieces[t->npieces++];
	*p = *f;
	p->begin_ns = ns; /* of the next piece */
	p->in_pieces = true;
	p->before.took_ns += took;
	p->before.self_ns += self;
	p->before.total_ns += outermost ? took : 0;
	zone_paths_add(&c->paths, f->path, 0, self);
	return true;
}

static void pieces_drop(zone_collect *c, track *t)
{
	while (t->npieces > 0)
		add(c, &t->pieces[--t->npieces], 0, 0, false, true);
}

/* The range f begins: as the next piece of the one that ended last, or as a range of its own. */
static void piece_begin(zone_collect *c, track *t, frame *f)
{
	if (t->npieces == 0)
		return;
	const frame *p = &t->pieces[t->npieces - 1];
	if (p->name == f->name && p->begin_ns == f->begin_ns) {
		f->in_pieces = true;
		f->before = p->before;
		t->npieces--;
	} else {
		pieces_drop(c, t);
	}
}

/* --- */

static void begin(zone_collect *c, track *t, const trace_event *e)
{
	if (t->depth == DEPTH_MAX) {
		t->too_deep++;
		return;
	}
	if (t->depth == t->room) {
		const size_t room = t->room ? 2 * t->room : 16;
		frame *frames = mem_resize(t->frames, room * sizeof *frames);

		if (!frames) {
			c->failed = true;
			return;
		}
		t->frames = frames;
		t->room = room;
	}
	const uint32_t above = t->depth > 0 ? t->frames[t->depth - 1].path : 0;
	frame *f = &t->frames[t->depth++];
	*f = (frame){.name = e->name,
		     .path = zone_paths_child(&c->paths, above, e->name),
		     .begin_ns = e->ns};
	piece_begin(c, t, f);
	c->failed |= !kept_map_put(&t->open, e->name + UINT64_C(1),
				   kept_map_find(&t->open, e->name + UINT64_C(1)) + 1);
}

/* One call of the name less is open on this track; true: it was the only one. */
static bool open_less(zone_collect *c, track *t, uint32_t id)
{
	const uint64_t key = id + UINT64_C(1);
	const uint32_t open = kept_map_find(&t->open, key);

	if (open > 1)
		c->failed |= !kept_map_put(&t->open, key, open - 1);
	else
		kept_map_remove(&t->open, key);
	return open <= 1;
}

static void end(zone_collect *c, track *t, uint64_t ns, bool closed_by_end)
{
	if (t->too_deep > 0) {
		t->too_deep--;
		return;
	}
	if (t->depth == 0) {
		c->unmatched++;
		return;
	}
	frame *f = &t->frames[--t->depth];
	const uint64_t took = ns > f->begin_ns ? ns - f->begin_ns : 0;
	const uint64_t self = took > f->inside_ns ? took - f->inside_ns : 0;
	const bool outermost = open_less(c, t, f->name);
	if (t->depth > 0)
		t->frames[t->depth - 1].inside_ns += took;
	if (!f->continued || closed_by_end || !piece_end(c, t, f, ns, took, self, outermost))
		add(c, f, took, self, outermost, !f->unended && !closed_by_end);
}

/* The two ends of a range that any track may end, in whichever order they are told. One without a
 * name cannot be told from an end, and is left out. */
static void async(zone_collect *c, uint32_t id, const trace_event *e, bool is_end)
{
	const open_range one = {
	    .id = e->as.id + 1, .name = is_end ? 0 : e->name, .track = id, .ns = e->ns};
	open_range other;
	bool lost = false;

	if (!open_ranges_match(&c->ranges, &one, &other, &lost)) {
		c->unmatched += lost;
		return;
	}
	name *n = name_of(c, is_end ? other.name : e->name);
	const uint64_t from = is_end ? other.ns : e->ns, to = is_end ? e->ns : other.ns;
	const uint64_t took = to > from ? to - from : 0;
	if (n)
		zone_stats_add(n->z, took, ZONE_SELF_UNKNOWN, true);
}

static void number(zone_collect *c, track *t, const trace_event *e)
{
	const name *n = kept_find(&c->names, e->name);

	if (!n || t->depth == 0)
		return;
	t->frames[t->depth - 1].unended |= n->unended;
	t->frames[t->depth - 1].continued |= n->continued;
}

/* --- as a format */

static zone_collect *of(trace_out *o)
{
	return (zone_collect *)o;
}

static dck_status collect_open(trace_out **ret, dck_sink *sink, const trace_about *about,
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
	track *t = kept_row(&of(o)->tracks, about->id);

	if (t && about->kind == TRACE_THREAD && !t->thread) {
		t->thread = true;
		of(o)->threads++;
	}
}

static bool is(const trace_name *told, const char *mark)
{
	return told->n == strlen(mark) && memcmp(told->text, mark, told->n) == 0;
}

static void collect_intern(trace_out *o, uint32_t id, const trace_name *told)
{
	name *row = kept_row(&of(o)->names, id);

	kept_name_put(&of(o)->texts, id, told->text, told->n);
	if (!row)
		return;
	row->unended = is(told, PF_UNENDED);
	row->continued = is(told, PF_CONTINUED);
}

static void collect_events(trace_out *o, uint32_t id, const trace_event *e, size_t n)
{
	zone_collect *c = of(o);
	track *t = kept_row(&c->tracks, id);

	for (size_t i = 0; t && i < n; i++, e++) {
		c->events++;
		t->last_ns = e->ns > t->last_ns ? e->ns : t->last_ns;
		switch ((trace_kind)e->kind) {
		case TRACE_BEGIN:
			begin(c, t, e);
			break;
		case TRACE_END:
			end(c, t, e->ns, false);
			break;
		case TRACE_NUMBER:
			number(c, t, e);
			break;
		case TRACE_ASYNC_BEGIN:
		case TRACE_ASYNC_END:
			async(c, id, e, e->kind == TRACE_ASYNC_END);
			break;
		case TRACE_INSTANT:
		case TRACE_COUNTER:
		case TRACE_FLOW_BEGIN:
		case TRACE_FLOW_STEP:
		case TRACE_FLOW_END:
		case TRACE_KINDS:
			break;
		}
	}
	if (t && t->last_ns > c->last_ns)
		c->last_ns = t->last_ns;
}

static dck_status collect_close(trace_out *o, dck_err *err)
{
	zone_collect *c = of(o);

	(void)err;
	for (uint32_t i = 0; i < c->tracks.n; i++) {
		track *t = kept_find(&c->tracks, i);

		t->too_deep = 0;
		while (t->depth > 0)
			end(c, t, t->last_ns, true);
		pieces_drop(c, t);
	}
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
    .close = collect_close,
};

/* --- */

dck_status zone_collect_new(zone_collect **ret, dck_err *err)
{
	zone_collect *c = mem_zalloc(1, sizeof *c);

	DCK_NEED(c, err, "to add up a trace");
	c->names.row_bytes = sizeof(name);
	c->tracks.row_bytes = sizeof(track);
	zone_paths_init(&c->paths);
	const dck_status status = kept_names_init(&c->texts, err);
	if (status == DCK_OK)
		*ret = c;
	else
		zone_collect_free(c);
	return status;
}

void zone_collect_free(zone_collect *c)
{
	if (!c)
		return;
	for (uint32_t i = 0; i < c->names.n; i++)
		mem_free(((name *)kept_find(&c->names, i))->z);
	for (uint32_t i = 0; i < c->tracks.n; i++) {
		track *t = kept_find(&c->tracks, i);

		mem_free(t->frames);
		mem_free(t->pieces);
		kept_map_done(&t->open);
	}
	kept_table_done(&c->names);
	kept_table_done(&c->tracks);
	kept_names_done(&c->texts);
	zone_paths_done(&c->paths);
	open_ranges_done(&c->ranges);
	mem_free(c);
}

static dck_status nowhere(void *self, const void *bytes, size_t n, dck_err *err)
{
	(void)self, (void)bytes, (void)n, (void)err;
	return DCK_OK;
}

void zone_collect_sink(zone_collect *c, dck_sink *ret)
{
	dck_sink_custom(ret, nowhere, c);
}

static const char *text_of(void *self, uint32_t id)
{
	return kept_name_of(&((zone_collect *)self)->texts, id).text;
}

dck_status zone_collect_put(zone_collect *c, record_builder *b, dck_err *err)
{
	const bool failed =
	    c->failed || kept_names_failed(&c->texts) || c->names.failed || c->tracks.failed;
	zone_row *rows = failed ? NULL : mem_zalloc((size_t)c->names.n + 1, sizeof *rows);
	size_t n = 0;

	DCK_NEED(rows, err, "to add up a trace");
	for (uint32_t i = 0; i < c->names.n; i++) {
		const name *row = kept_find(&c->names, i);
		const char *text = kept_name_of(&c->texts, i).text;

		if (row->z && row->z->calls + row->z->unfinished > 0)
			rows[n++] = (zone_row){text ? text : "(no name)", row->z};
	}
	if (c->unix_ns != 0)
		record_set_began(b, c->unix_ns);
	record_fact_int(b, "trace", "took", DCK_UNIT_NS, (int64_t)c->last_ns);
	record_fact_int(b, "trace", "threads", DCK_UNIT_ONE, (int64_t)c->threads);
	record_fact_int(b, "trace", "events", DCK_UNIT_ONE, (int64_t)c->events);
	record_fact_int(b, "trace", "unmatched_ends", DCK_UNIT_ONE, (int64_t)c->unmatched);
	zone_table_put(b, rows, n);
	mem_free(rows);
	return zone_paths_put(&c->paths, text_of, c, b, err);
}
