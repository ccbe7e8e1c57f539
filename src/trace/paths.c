/* paths.c - adds up the time of call paths.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/paths.h"
#include "base/err.h"
#include "base/sink.h"

#include <stdio.h>
#include <string.h>

typedef struct frame {
	uint32_t node;
	uint64_t begin_ns, inside_ns;
} frame;

typedef struct track {
	uint32_t label;	 /* a name */
	uint32_t thread; /* its node; 0: no range yet */
	bool told;
	uint32_t depth, room;
	uint64_t merged; /* open ranges inside the innermost frame that have none */
	uint64_t last_ns;
	frame *frames; /* @owned */
} track;

static path_node *node_at(const trace_out *o, uint32_t node)
{
	return kept_find(&o->nodes, node);
}

const path_node *paths_node(const trace_out *o, uint32_t node)
{
	return node_at(o, node);
}

kept_name paths_text(const trace_out *o, uint32_t name)
{
	static const char none[] = "(no name)";
	const kept_name found = kept_name_of(&o->names, name);

	return found.text ? found : (kept_name){none, sizeof none - 1};
}

uint32_t paths_next(const trace_out *o, uint32_t node)
{
	const path_node *n = node_at(o, node); /* row 0 has the threads as its children */

	if (n && n->first)
		return n->first;
	for (; node; node = n->parent, n = node_at(o, node))
		if (n->next)
			return n->next;
	return 0;
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
	o->nodes.row_bytes = sizeof(path_node);
	dck_status status = kept_names_init(&o->names, err);
	if (status != DCK_OK) {
		mem_free(o);
		return status;
	}
	o->command = kept_text(&o->names, about->command);
	kept_row(&o->nodes, 0);
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

/* The child of that name, made when there is none; 0: there are too many. */
static uint32_t child_of(trace_out *o, uint32_t parent, uint32_t name)
{
	const uint64_t key = (uint64_t)parent << 32 | name;
	uint32_t node = kept_map_find(&o->children, key);

	if (node || o->nnodes == PATHS_MAX)
		return node;
	const uint32_t bytes = paths_text(o, name).n + 1 + (parent ? node_at(o, parent)->bytes : 0);
	if (o->bytes + bytes > PATHS_BYTES_MAX)
		return 0;
	path_node *made = kept_row(&o->nodes, o->nnodes + 1);
	if (!made || !kept_map_put(&o->children, key, o->nnodes + 1)) {
		o->failed = true;
		return 0;
	}
	node = ++o->nnodes;
	path_node *above = node_at(o, parent);
	*made = (path_node){
	    .name = name, .parent = parent, .depth = parent ? above->depth + 1 : 0, .bytes = bytes};
	o->bytes += bytes;
	if (above->last)
		node_at(o, above->last)->next = node;
	else
		above->first = node;
	above->last = node;
	return node;
}

static bool frame_room(track *t)
{
	if (t->depth < t->room)
		return true;
	const uint32_t room = t->room ? 2 * t->room : 16;
	frame *frames = mem_resize(t->frames, room * sizeof *frames);
	if (!frames)
		return false;
	t->frames = frames;
	t->room = room;
	return true;
}

static void range_begins(trace_out *o, track *t, uint64_t ns, uint32_t name)
{
	const uint32_t *same = kept_find(&o->same, name);
	uint32_t node = 0;

	if (!t->thread)
		t->thread = child_of(o, 0, t->label);
	if (t->thread && !t->merged && t->depth < PATHS_DEPTH_MAX)
		node = child_of(o, t->depth ? t->frames[t->depth - 1].node : t->thread,
				same ? *same : 0);
	if (node && !frame_room(t)) {
		o->failed = true;
		node = 0;
	}
	if (node) {
		t->frames[t->depth++] = (frame){.node = node, .begin_ns = ns};
	} else {
		t->merged++;
		o->merged++;
	}
}

static void range_ends(trace_out *o, track *t, uint64_t ns)
{
	if (t->merged > 0) {
		t->merged--;
		return;
	}
	if (t->depth == 0) /* begun before the trace */
		return;
	const frame *f = &t->frames[--t->depth];
	const uint64_t took = ns - f->begin_ns;
	path_node *n = node_at(o, f->node);
	n->calls++;
	n->total_ns += took;
	n->self_ns += took - f->inside_ns;
	if (t->depth > 0)
		t->frames[t->depth - 1].inside_ns += took;
}

void paths_events(trace_out *o, uint32_t id, const trace_event *e, size_t n)
{
	track *t = kept_find(&o->tracks, id);

	for (size_t i = 0; t && t->told && i < n; i++) {
		if (e[i].kind == TRACE_NUMBER)
			continue;
		if (e[i].ns > t->last_ns) /* time never goes back on a track */
			t->last_ns = e[i].ns;
		if (e[i].kind == TRACE_BEGIN)
			range_begins(o, t, t->last_ns, e[i].name);
		else if (e[i].kind == TRACE_END)
			range_ends(o, t, t->last_ns);
	}
	if (t && t->last_ns > o->last_ns)
		o->last_ns = t->last_ns;
}

void paths_end(trace_out *o)
{
	for (uint32_t i = 0; i < o->tracks.n; i++) {
		track *t = kept_find(&o->tracks, i);
		t->merged = 0;
		while (t->depth > 0)
			range_ends(o, t, o->last_ns);
	}
	for (uint32_t i = 1; i <= o->nnodes; i++) {
		const path_node *n = node_at(o, i);
		if (n->depth == 1)
			node_at(o, n->parent)->total_ns += n->total_ns;
	}
}

dck_status paths_close(trace_out *o, dck_err *err)
{
	const bool failed = o->failed || o->tracks.failed || o->nodes.failed || o->same.failed ||
			    kept_names_failed(&o->names);

	for (uint32_t i = 0; i < o->tracks.n; i++)
		mem_free(((track *)kept_find(&o->tracks, i))->frames);
	kept_table_done(&o->tracks);
	kept_table_done(&o->nodes);
	kept_table_done(&o->same);
	kept_map_done(&o->children);
	kept_names_done(&o->names);
	mem_free(o);
	DCK_NEED(!failed, err, "for the call paths of a trace");
	return DCK_OK;
}
