/* rows_write.c - a timeline as CSV: a row for each range when it ends, for each instant, value of a
 * counter, number, and sample. Times are nanoseconds since the base. A sample has its call path,
 * the outermost function first, its depth, and as value the CPU time in ns that it represents.
 *
 * A device's queue has its name as thread, and no tid.
 *
 *	pid,tid,thread,kind,name,begin_ns,duration_ns,depth,value
 *	7,9,"main",range,forward,500,1200,1,
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/csv_write.h"
#include "base/err.h"
#include "base/sink.h"
#include "profiler/write/formats.h"
#include "profiler/timeline/pending_ranges.h"
#include "record/tree/cct.h"

#include <inttypes.h>

/* Ranges nested deeper have no row. */
enum { DEPTH_MAX = 65536 };

typedef struct open_row {
	uint64_t begin_ns;
	uint32_t name;
} open_row;

typedef struct row_track {
	bool described;
	trace_track_kind kind;
	int32_t pid, tid;
	const char *name;
	open_row *frames; /* @owned */
	uint32_t depth;
	size_t cap;
	uint64_t beyond; /* open ranges below the last frame */
} row_track;

typedef struct rows_writer {
	dck_sink *sink;
	string_table names;
	id_table tracks;
	process_ends ends;
	bool failed;
} rows_writer;

static rows_writer *rows_writer_of(trace_out *out)
{
	return (rows_writer *)out;
}

static void write_put_head(rows_writer *o, const row_track *t, const char *kind, const char *name)
{
	sink_fmt(o->sink, "%" PRId32 ",", t->pid);
	if (t->kind == TRACE_THREAD || t->tid > 0)
		sink_fmt(o->sink, "%" PRId32, t->tid);
	sink_text(o->sink, ",");
	csv_text_field(o->sink,
		       t->kind == TRACE_THREAD || t->kind == TRACE_DEVICE ? t->name : NULL);
	sink_text(o->sink, kind);
	sink_text(o->sink, ",");
	csv_text_field(o->sink, name);
}

static void write_range_begins(rows_writer *o, row_track *t, const trace_event *e)
{
	if (t->depth < DEPTH_MAX &&
	    !mem_reserve(&t->frames, &t->cap, t->depth + 1, sizeof *t->frames))
		o->failed = true;
	if (t->depth == DEPTH_MAX || t->depth == t->cap || t->beyond > 0)
		t->beyond++;
	else
		t->frames[t->depth++] = (open_row){e->ns, e->name};
}

static void range_ends(rows_writer *o, row_track *t, uint64_t ns)
{
	if (t->beyond > 0) {
		t->beyond--;
		return;
	}
	if (t->depth == 0) /* started before the trace */
		return;
	const open_row *f = &t->frames[t->depth - 1];
	write_put_head(o, t, "range", string_name_of(&o->names, f->name).text);
	sink_fmt(o->sink, "%" PRIu64 ",%" PRIu64 ",%" PRIu32 ",\n", f->begin_ns,
		 ns > f->begin_ns ? ns - f->begin_ns : 0, t->depth);
	t->depth--;
}

static void write_put_value(rows_writer *o, const row_track *t, const trace_event *e)
{
	const bool counter = e->kind == TRACE_COUNTER;

	write_put_head(o, t, counter ? "counter" : "number",
		       counter ? t->name : string_name_of(&o->names, e->name).text);
	if (counter)
		sink_fmt(o->sink, "%" PRIu64, e->ns);
	sink_text(o->sink, ",,");
	if (!counter)
		sink_fmt(o->sink, "%" PRIu32, t->depth);
	sink_text(o->sink, ",");
	csv_real(o->sink, e->as.real);
	sink_text(o->sink, "\n");
}

static void put_instant(rows_writer *o, const row_track *t, const char *kind, const trace_event *e)
{
	write_put_head(o, t, kind, string_name_of(&o->names, e->name).text);
	sink_fmt(o->sink, "%" PRIu64 ",,,", e->ns);
	if (e->kind != TRACE_INSTANT)
		sink_fmt(o->sink, "%" PRIu64, e->as.id);
	sink_text(o->sink, "\n");
}

static dck_status rows_open(trace_out **ret, dck_sink *sink, const trace_header *about,
			    dck_err *err)
{
	rows_writer *o = mem_zalloc(1, sizeof *o);

	(void)about;
	DCK_NEED(o, err, "for a trace");
	o->sink = sink;
	o->tracks.row_bytes = sizeof(row_track);
	process_ends_init(&o->ends);
	dck_status status = string_table_init(&o->names, err);
	if (status != DCK_OK) {
		mem_free(o);
		return status;
	}
	sink_text(sink, "pid,tid,thread,kind,name,begin_ns,duration_ns,depth,value\n");
	*ret = (trace_out *)o;
	return DCK_OK;
}

static void rows_track(trace_out *out, const trace_track *about)
{
	rows_writer *o = rows_writer_of(out);
	row_track *t = id_table_row(&o->tracks, about->id);

	if (!t)
		return;
	process_ends_track(&o->ends, about);
	t->described = true;
	t->kind = about->kind;
	t->pid = about->pid;
	t->tid = about->tid;
	t->name = string_table_copy(&o->names, about->name);
}

static void rows_intern(trace_out *out, uint32_t id, const trace_name *name)
{
	rows_writer *o = rows_writer_of(out);

	string_name_put(&o->names, id, name->text, name->n);
}

static void rows_events(trace_out *out, uint32_t id, const trace_event *e, size_t n)
{
	rows_writer *o = rows_writer_of(out);
	row_track *t = id_table_find(&o->tracks, id);

	process_ends_events(&o->ends, id, e, n);
	for (size_t i = 0; t && t->described && i < n; i++, e++) {
		switch ((trace_kind)e->kind) {
		case TRACE_BEGIN:
			write_range_begins(o, t, e);
			break;
		case TRACE_END:
			range_ends(o, t, e->ns);
			break;
		case TRACE_INSTANT:
			put_instant(o, t, "instant", e);
			break;
		case TRACE_COUNTER:
		case TRACE_ANNOTATION:
			write_put_value(o, t, e);
			break;
		case TRACE_ASYNC_BEGIN:
			put_instant(o, t, "async begin", e);
			break;
		case TRACE_ASYNC_END:
			put_instant(o, t, "async end", e);
			break;
		case TRACE_FLOW_BEGIN:
		case TRACE_FLOW_STEP:
		case TRACE_FLOW_END:
		case TRACE_KINDS:
			break;
		}
	}
}

/* Returns the number of functions on it. */
static size_t put_path(rows_writer *o, const cct *paths, uint32_t path)
{
	uint32_t stack[PATH_TRIE_DEPTH_MAX];
	const size_t depth = cct_stack(paths, path, stack);
	dck_buffer text = {0};
	dck_sink line;

	dck_sink_buffer(&line, &text);
	for (size_t n = depth; n-- > 0;) {
		sink_text(&line, cct_frame_get(paths, stack[n]).name);
		sink_text(&line, n ? ";" : "");
	}
	if (dck_sink_finish(&line, NULL) != DCK_OK)
		o->failed = true;
	csv_text_field(o->sink, text.data);
	dck_buffer_done(&text);
	return depth;
}

static void rows_samples(trace_out *out, const cct *paths, const trace_sample *s, size_t n)
{
	rows_writer *o = rows_writer_of(out);

	for (; n > 0; n--, s++) {
		sink_fmt(o->sink, "%" PRId32 ",%" PRId32 ",,sample,", s->pid, s->tid);
		const size_t depth = put_path(o, paths, s->path);
		sink_fmt(o->sink, "%" PRId64 ",,%u,%" PRIu64 "\n", s->ns, (unsigned)depth,
			 s->weight_ns);
	}
}

static dck_status rows_close(trace_out *out, dck_err *err)
{
	rows_writer *o = rows_writer_of(out);

	for (uint32_t i = 0; i < o->tracks.n; i++) {
		row_track *t = id_table_find(&o->tracks, i);
		t->beyond = 0;
		while (t->depth > 0)
			range_ends(o, t, process_ends_of(&o->ends, i));
		mem_free(t->frames);
	}
	const bool failed = o->failed || o->tracks.failed || o->ends.tracks.failed ||
			    string_table_failed(&o->names);
	id_table_done(&o->tracks);
	process_ends_done(&o->ends);
	string_table_done(&o->names);
	mem_free(o);
	DCK_NEED(!failed, err, "for the names and tracks of a trace");
	return DCK_OK;
}

const trace_format trace_rows = {
    DCK_TRACE_FORMAT_ROWS(TRACE_FORMAT),
    .open = rows_open,
    .track = rows_track,
    .intern = rows_intern,
    .events = rows_events,
    .samples = rows_samples,
    .close = rows_close,
};
