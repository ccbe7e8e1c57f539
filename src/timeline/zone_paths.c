/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline/zone_paths.h"

#include "base/err.h"
#include "base/mem.h"

void zone_paths_done(zone_paths *p)
{
	kept_map_done(&p->children);
	mem_free(p->rows);
	*p = (zone_paths){0};
}

static bool room_for_one(zone_paths *p)
{
	const uint32_t room = p->room ? 2 * p->room : 64;
	zone_path *rows = p->rows;

	if (p->n < p->room)
		return true;
	rows = mem_resize(rows, room * sizeof *rows);
	if (!rows)
		return false;
	if (!p->rows) /* the name of no child, for guesses */
		rows[p->n++] = (zone_path){.name = UINT32_MAX};
	p->rows = rows;
	p->room = room;
	return true;
}

bool zone_paths_inside(const zone_paths *p, uint32_t path, uint32_t name)
{
	while (path && p->rows[path].name != name)
		path = p->rows[path].parent;
	return path != 0;
}

static uint32_t path_new(zone_paths *p, uint32_t parent, uint32_t name, uint64_t key)
{
	if (p->n > ZONE_PATHS_MAX || p->rows[parent].depth >= ZONE_PATHS_DEPTH_MAX)
		return ZONE_PATH_NONE;
	if (!room_for_one(p) || !kept_map_put(&p->children, key, p->n)) {
		p->failed = true;
		return ZONE_PATH_NONE;
	}
	p->rows[p->n] = (zone_path){.parent = parent,
				    .name = name,
				    .depth = (uint16_t)(p->rows[parent].depth + 1),
				    .again = zone_paths_inside(p, parent, name)};
	return p->n++;
}

uint32_t zone_paths_find(zone_paths *p, uint32_t parent, uint32_t name)
{
	const uint64_t key = (uint64_t)parent << 32 | name;

	if (!p->rows && !room_for_one(p)) {
		p->failed = true;
		return ZONE_PATH_NONE;
	}
	if (parent >= p->n)
		return ZONE_PATH_NONE;
	const uint32_t last = p->rows[parent].child;
	uint32_t path = p->rows[last].after;
	if (p->rows[path].name != name || path == 0)
		path = kept_map_find(&p->children, key);
	if (!path)
		path = path_new(p, parent, name, key);
	if (path != ZONE_PATH_NONE) {
		if (last)
			p->rows[last].after = path;
		p->rows[parent].child = path;
	}
	return path;
}

/* --- as a tree of a record */

typedef struct tree {
	kept_map frames; /* by name: the number of its frame, from 1 on */
	const char **texts;
	dck_tree_node *nodes;
	double *weights;
	uint32_t nframes;
} tree;

static dck_status fill(const zone_paths *p, const char *(*name_of)(void *self, uint32_t name),
		       void *self, tree *t, dck_err *err)
{
	const uint32_t n = p->n - 1;
	t->texts = mem_zalloc(n, sizeof *t->texts);
	t->nodes = mem_zalloc(n, sizeof *t->nodes);
	t->weights = mem_zalloc(n, 2 * sizeof *t->weights);
	DCK_NEED(t->texts && t->nodes && t->weights, err, "for the call paths of zones");
	for (uint32_t i = 0; i < n; i++) {
		const zone_path *from = &p->rows[i + 1];
		uint32_t frame = kept_map_find(&t->frames, from->name + UINT64_C(1));

		if (!frame) {
			const char *text = name_of(self, from->name);

			frame = ++t->nframes;
			DCK_NEED(kept_map_put(&t->frames, from->name + UINT64_C(1), frame), err,
				 "for the call paths of zones");
			t->texts[frame - 1] = text ? text : "(no name)";
		}
		t->nodes[i] = (dck_tree_node){
		    .parent = from->parent ? from->parent - 1 : DCK_TREE_ROOT, .frame = frame - 1};
		t->weights[2 * (size_t)i] = (double)from->calls;
		t->weights[2 * (size_t)i + 1] += (double)from->total_ns;
		if (from->parent)
			t->weights[2 * (size_t)from->parent - 1] -= (double)from->total_ns;
	}
	return DCK_OK;
}

dck_status zone_paths_put(const zone_paths *p, const char *name, const char *title,
			  const char *(*name_of)(void *self, uint32_t name), void *self,
			  record_builder *b, dck_err *err)
{
	static const dck_column columns[] = {{"calls", "calls", DCK_UNIT_ONE},
					     {"self", "self", DCK_UNIT_NS}};
	tree t = {0};
	dck_status status = DCK_OK;

	if (p->n > 1)
		status = fill(p, name_of, self, &t, err);
	if (p->n > 1 && status == DCK_OK)
		record_tree(b, &(dck_tree){.name = name,
					   .title = title,
					   .columns = columns,
					   .ncolumns = 2,
					   .frames = t.texts,
					   .nframes = t.nframes,
					   .nodes = t.nodes,
					   .nnodes = p->n - 1,
					   .weights = t.weights});
	if (p->lost > 0)
		record_note(b, "trace-paths",
			    "%llu calls are in the table of %s, but not in the tree",
			    (unsigned long long)p->lost, name);
	kept_map_done(&t.frames);
	mem_free(t.texts);
	mem_free(t.nodes);
	mem_free(t.weights);
	return status;
}
