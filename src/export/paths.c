/* paths.c - adds up the time of call paths.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "export/paths.h"
#include "base/err.h"
#include "base/sink.h"

#include <stdio.h>
#include <string.h>

typedef struct track {
	uint32_t label; /* a name */
	bool told;
	zone_stack open; /* its root: the thread's node, 0: no range yet */
	uint64_t last_ns;
} track;

const path_node *paths_node(const trace_out *o, uint32_t node)
{
	return &o->nodes[node];
}

kept_name paths_text(const trace_out *o, uint32_t name)
{
	static const char none[] = "(no name)";
	const kept_name found = kept_name_of(&o->names, name);

	return found.text ? found : (kept_name){none, sizeof none - 1};
}

uint32_t paths_next(const trace_out *o, uint32_t node)
{
	if (!o->nnodes)
		return 0;
	if (o->nodes[node].first) /* node 0 has the threads as its children */
		return o->nodes[node].first;
	while (node && !o->nodes[node].next)
		node = o->nodes[node].parent;
	return o->nodes[node].next;
}

void paths_put_line(dck_sink *out, const char *text, char no)
{
	const char *plain = text;

	for (; *text; text++) {
		if (((unsigned char)*text >= 0x20 && *text != 0x7f) && (!no || *text != no))
			continue;
		sink_put(out, plain, (size_t)(text - plain));
		sink_text(out, " ");
		plain = text + 1;
	}
	sink_put(out, plain, (size_t)(text - plain));
}

/* --- names */

void paths_intern(trace_out *o, uint32_t id, const trace_name *name)
{
	uint32_t *row = kept_row(&o->same, id);

	if (row)
		*row = kept_name_numbered(&o->names, name->text, name->n);
}

/* --- the tree */

dck_status paths_open(trace_out **ret, dck_sink *sink, const trace_about *about, dck_err *err)
{
	trace_out *o = mem_zalloc(1, sizeof *o);

	DCK_NEED(o, err, "for a trace");
	o->sink = sink;
	o->unix_ns = about->unix_ns;
	o->same.row_bytes = sizeof(uint32_t);
	o->tracks.row_bytes = sizeof(track);
	o->sums.paths_only = true;
	dck_status status = kept_names_init(&o->names, err);
	if (status != DCK_OK) {
		mem_free(o);
		return status;
	}
	o->command = kept_text(&o->names, about->command);
	*ret = o;
	return DCK_OK;
}

void paths_track(trace_out *o, const trace_track *about)
{
	track *t = kept_row(&o->tracks, about->id);
	char label[KEPT_NAME_MAX];

	if (!t || about->kind == TRACE_COUNTER_TRACK)
		return;
	const bool thread = about->kind == TRACE_THREAD;
	snprintf(label, sizeof label, "%.3900s %d",
		 about->name ? about->name
		 : thread    ? "thread"
			     : "process",
		 (int)(thread ? about->tid : about->pid));
	t->label = kept_name_numbered(&o->names, label, strlen(label));
	t->told = true;
}

static uint32_t name_of(const trace_out *o, uint32_t id)
{
	const uint32_t *same = kept_find(&o->same, id);

	return same ? *same : 0;
}

static void range_begins(trace_out *o, track *t, uint32_t name)
{
	if (!t->open.root)
		t->open.root = zone_paths_child(&o->sums.paths, 0, t->label);
	zone_sums_begin(&o->sums, &t->open, t->last_ns, name);
}

/* The name that a range without one begins with is that of an end, so it is left out. */
static void async(trace_out *o, const trace_event *e, uint32_t name)
{
	static const char label[] = PATHS_ASYNC;

	if (!o->sums.async_root)
		o->sums.async_root = zone_paths_child(
		    &o->sums.paths, 0, kept_name_numbered(&o->names, label, sizeof label - 1));
	zone_sums_range(&o->sums, e->as.id + 1, name, e->ns);
}

void paths_events(trace_out *o, uint32_t id, const trace_event *e, size_t n)
{
	track *t = kept_find(&o->tracks, id);

	for (size_t i = 0; t && t->told && i < n; i++, e++) {
		if (e->kind == TRACE_NUMBER)
			continue;
		if (e->ns > t->last_ns) /* time never goes back on a track */
			t->last_ns = e->ns;
		if (e->kind == TRACE_BEGIN)
			range_begins(o, t, name_of(o, e->name));
		else if (e->kind == TRACE_END)
			zone_sums_end(&o->sums, &t->open, t->last_ns, true);
		else if (e->kind == TRACE_ASYNC_BEGIN)
			async(o, e, name_of(o, e->name));
		else if (e->kind == TRACE_ASYNC_END)
			async(o, e, 0);
	}
	if (t && t->last_ns > o->last_ns)
		o->last_ns = t->last_ns;
}

/* --- the tree at its end */

/* Behind its parent's other children. */
static void link_up(trace_out *o, uint32_t node, path_node *parent)
{
	if (parent->last)
		o->nodes[parent->last].next = node;
	else
		parent->first = node;
	parent->last = node;
}

/* A path becomes a node when its parent is one and there is room; a thread has the time of its
 * ranges. to: the node of each path. */
static void nodes_make(trace_out *o, uint32_t *to)
{
	const zone_paths *p = &o->sums.paths;
	uint64_t sum = 0;

	for (uint32_t i = 1; i < p->n; i++) {
		const zone_path *row = &p->rows[i];
		path_node *parent = &o->nodes[to[row->parent]];
		const uint32_t bytes = parent->bytes + paths_text(o, row->name).n + 1;

		if ((row->parent && !to[row->parent]) || sum + bytes > PATHS_BYTES_MAX)
			continue;
		sum += bytes;
		to[i] = ++o->nnodes;
		o->nodes[to[i]] = (path_node){.name = row->name,
					      .parent = to[row->parent],
					      .depth = row->depth - 1u,
					      .bytes = bytes,
					      .calls = row->calls,
					      .total_ns = row->total_ns,
					      .self_ns = row->total_ns};
		link_up(o, to[i], parent);
		if (row->depth == 2)
			parent->total_ns += row->total_ns;
		else if (row->depth > 2)
			parent->self_ns -= row->total_ns;
	}
}

void paths_end(trace_out *o)
{
	uint64_t unmatched;
	uint32_t *to;

	for (uint32_t i = 0; i < o->tracks.n; i++)
		zone_sums_close(&o->sums, &((track *)kept_find(&o->tracks, i))->open, o->last_ns);
	zone_sums_close_ranges(&o->sums, o->last_ns, &unmatched);
	o->nodes = mem_zalloc(o->sums.paths.n + (size_t)1, sizeof *o->nodes);
	to = mem_zalloc(o->sums.paths.n + (size_t)1, sizeof *to);
	if (o->nodes && to)
		nodes_make(o, to);
	else
		o->failed = true;
	mem_free(to);
}

dck_status paths_close(trace_out *o, dck_err *err)
{
	const bool failed = o->failed || o->sums.failed || o->sums.paths.failed ||
			    o->tracks.failed || o->same.failed || kept_names_failed(&o->names);

	for (uint32_t i = 0; i < o->tracks.n; i++)
		zone_stack_done(&((track *)kept_find(&o->tracks, i))->open);
	kept_table_done(&o->tracks);
	kept_table_done(&o->same);
	zone_sums_done(&o->sums);
	mem_free(o->nodes);
	kept_names_done(&o->names);
	mem_free(o);
	DCK_NEED(!failed, err, "for the call paths of a trace");
	return DCK_OK;
}
