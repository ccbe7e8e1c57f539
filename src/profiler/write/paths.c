/* paths.c - adds up the time of call paths.
 *
 * Begins and ends of ranges move along the paths of one trie (profiler/timeline/zone_aggregate.h),
 * whose first level has the threads; samples are added up as a second tree. Both are written when
 * the trace ends. Names are interned by their text, so that equal names of several files are one.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/write/paths.h"
#include "base/err.h"
#include "base/sink.h"
#include "profiler/timeline/perfetto.h"
#include "profiler/timeline/sample_sums.h"
#include "profiler/timeline/zone_aggregate.h"

#include <stdio.h>
#include <string.h>

typedef struct path_track {
	uint32_t label; /* a name */
	bool described;
	zone_stack open; /* its root: the thread's node, 0: no range yet */
	uint64_t last_ns;
} path_track;

/* State of an aggregating format, made by paths_open(). */
typedef struct paths_writer {
	dck_sink *sink;
	int64_t unix_ns;
	uint64_t last_ns;
	const char *command; /* NULL: unknown */
	string_table names;
	id_table same; /* uint32_t for each name: the number of its text */
	id_table tracks;
	process_ends ends;
	uint32_t continued; /* the name of the mark of a piece; 0: not met */
	zone_aggregate sums;
	sample_sums samples;
} paths_writer;

static paths_writer *paths_writer_of(trace_out *out)
{
	return (paths_writer *)out;
}

/* --- names */

void paths_intern(trace_out *out, uint32_t id, const trace_name *name)
{
	paths_writer *o = paths_writer_of(out);
	uint32_t *row = id_table_row(&o->same, id);

	if (row)
		*row = string_table_intern(&o->names, name->text, name->n);
	if (name->n == sizeof PF_CONTINUED - 1 && memcmp(name->text, PF_CONTINUED, name->n) == 0)
		o->continued = id;
}

/* --- the tree */

dck_status paths_open(trace_out **ret, dck_sink *sink, const trace_header *about, dck_err *err)
{
	paths_writer *o = mem_zalloc(1, sizeof *o);

	DCK_NEED(o, err, "for a trace");
	o->sink = sink;
	o->unix_ns = about->unix_ns;
	o->same.row_bytes = sizeof(uint32_t);
	o->tracks.row_bytes = sizeof(path_track);
	process_ends_init(&o->ends);
	o->sums.paths_only = true;
	dck_status status = string_table_init(&o->names, err);
	DCK_NEXT(status, sample_sums_init(&o->samples, err));
	if (status != DCK_OK) {
		string_table_done(&o->names);
		mem_free(o);
		return status;
	}
	o->command = string_table_copy(&o->names, about->command);
	*ret = (trace_out *)o;
	return DCK_OK;
}

void paths_track(trace_out *out, const trace_track *about)
{
	paths_writer *o = paths_writer_of(out);
	path_track *t = id_table_row(&o->tracks, about->id);
	char label[STRING_NAME_MAX];

	process_ends_track(&o->ends, about);
	if (!t || about->kind == TRACE_COUNTER_TRACK)
		return;
	const bool thread = about->kind == TRACE_THREAD;
	if (about->kind == TRACE_DEVICE)
		snprintf(label, sizeof label, "%.3900s", about->name ? about->name : "device");
	else
		snprintf(label, sizeof label, "%.3900s %d",
			 about->name ? about->name
			 : thread    ? "thread"
				     : "process",
			 (int)(thread ? about->tid : about->pid));
	t->label = string_table_intern(&o->names, label, strlen(label));
	t->described = true;
}

static uint32_t paths_name_of(const paths_writer *o, uint32_t id)
{
	const uint32_t *same = id_table_find(&o->same, id);

	return same ? *same : 0;
}

static void paths_range_begins(paths_writer *o, path_track *t, uint32_t name)
{
	if (!t->open.root)
		t->open.root = path_trie_child(&o->sums.paths, 0, t->label);
	zone_aggregate_begin(&o->sums, &t->open, t->last_ns, name);
}

/* The start of a range without a name is indistinguishable from an end, and so is omitted. */
static void async(paths_writer *o, uint32_t track, const trace_event *e, uint32_t name)
{
	static const char label[] = PATHS_ASYNC;

	if (!o->sums.async_root)
		o->sums.async_root = path_trie_child(
		    &o->sums.paths, 0, string_table_intern(&o->names, label, sizeof label - 1));
	zone_aggregate_range(&o->sums, track, e->as.id + 1, e->kind == TRACE_ASYNC_END, name,
			     e->ns);
}

void paths_events(trace_out *out, uint32_t id, const trace_event *e, size_t n)
{
	paths_writer *o = paths_writer_of(out);
	path_track *t = id_table_find(&o->tracks, id);

	process_ends_events(&o->ends, id, e, n);
	for (size_t i = 0; t && t->described && i < n; i++, e++) {
		if (e->kind == TRACE_ANNOTATION) {
			if (o->continued && e->name == o->continued && t->open.depth)
				zone_stack_top(&t->open)->continued = true;
			continue;
		}
		if (e->ns > t->last_ns) /* time never goes back on a track */
			t->last_ns = e->ns;
		if (e->kind == TRACE_BEGIN)
			paths_range_begins(o, t, paths_name_of(o, e->name));
		else if (e->kind == TRACE_END)
			zone_aggregate_end(&o->sums, &t->open, t->last_ns, true);
		else if (e->kind == TRACE_ASYNC_BEGIN)
			async(o, id, e, paths_name_of(o, e->name));
		else if (e->kind == TRACE_ASYNC_END)
			async(o, id, e, 0);
	}
	if (t && t->last_ns > o->last_ns)
		o->last_ns = t->last_ns;
}

void paths_samples(trace_out *out, const cct *paths, const trace_sample *s, size_t n)
{
	paths_writer *o = paths_writer_of(out);
	sample_sums_add(&o->samples, paths, s, n);
}

/* --- the trees at its end */

static const char *paths_text_of(void *self, uint32_t name)
{
	return string_name_of(&((const paths_writer *)self)->names, name).text;
}

/* f: of the zones, then of the samples. */
static dck_status trees_open(paths_writer *o, const tree_format *to, dck_tree *zones,
			     dck_tree *samples, form_tree f[2], dck_err *err)
{
	DCK_TRY(path_trie_tree(&o->sums.paths, true, paths_text_of, o, zones, err));
	DCK_TRY(form_tree_open(&f[0], zones, NULL, to, err));
	f[0].threads = true;
	if (o->samples.n == 0)
		return DCK_OK;
	DCK_TRY(cct_view(&o->samples.paths, samples, err));
	samples->name = "samples";
	samples->title = "Samples by call path";
	return form_tree_open(&f[1], samples, NULL, to, err);
}

static dck_status paths_write_out(paths_writer *o, const tree_format *to, dck_err *err)
{
	dck_tree zones = {0}, samples = {0};
	form_tree f[2] = {0};
	dck_status status = trees_open(o, to, &zones, &samples, f, err);

	if (status == DCK_OK)
		status = to->write(&(form_doc){.sink = o->sink,
					       .command = o->command,
					       .unix_ns = o->unix_ns,
					       .duration_ns = o->last_ns,
					       .trees = f,
					       .ntrees = o->samples.n > 0 ? 2 : 1},
				   err);
	form_tree_done(&f[0]);
	form_tree_done(&f[1]);
	path_trie_tree_done(&zones);
	cct_view_done(&samples);
	return status;
}

dck_status paths_close(trace_out *out, const tree_format *to, dck_err *err)
{
	paths_writer *o = paths_writer_of(out);
	dck_status status = DCK_OK;
	uint64_t unmatched;

	for (uint32_t i = 0; i < o->tracks.n; i++) {
		path_track *t = id_table_find(&o->tracks, i);
		const uint64_t end = process_ends_of(&o->ends, i);

		zone_aggregate_close(&o->sums, &t->open, end > t->last_ns ? end : t->last_ns);
	}
	zone_aggregate_close_ranges(&o->sums, o->last_ns, &o->ends, &unmatched);
	if (o->sums.failed || o->sums.paths.failed || o->tracks.failed || o->ends.tracks.failed ||
	    o->same.failed || string_table_failed(&o->names) || cct_failed(&o->samples.paths))
		status = ERR_NO_MEMORY(err, "for the call paths of a trace");
	else
		status = paths_write_out(o, to, err);
	for (uint32_t i = 0; i < o->tracks.n; i++)
		zone_stack_done(&((path_track *)id_table_find(&o->tracks, i))->open);
	id_table_done(&o->tracks);
	process_ends_done(&o->ends);
	id_table_done(&o->same);
	zone_aggregate_done(&o->sums);
	sample_sums_done(&o->samples);
	string_table_done(&o->names);
	mem_free(o);
	return status;
}
