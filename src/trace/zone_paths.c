/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/zone_paths.h"

#include "base/err.h"
#include "base/mem.h"

void zone_paths_init(zone_paths *p)
{
	*p = (zone_paths){.rows.row_bytes = sizeof(zone_path)};
}

void zone_paths_done(zone_paths *p)
{
	kept_map_done(&p->children);
	kept_table_done(&p->rows);
}

static uint64_t key_of(uint32_t parent, uint32_t name)
{
	return (uint64_t)parent << 32 | name;
}

static uint32_t path_new(zone_paths *p, uint32_t parent, uint32_t name)
{
	if (p->n == ZONE_PATHS_MAX)
		return ZONE_PATH_NONE;
	zone_path *row = kept_row(&p->rows, p->n + 1);
	if (!row || !kept_map_put(&p->children, key_of(parent, name), p->n + 1))
		return ZONE_PATH_NONE;
	*row = (zone_path){.parent = parent, .name = name};
	return ++p->n;
}

uint32_t zone_paths_child(zone_paths *p, uint32_t parent, uint32_t name)
{
	zone_path *above = parent == ZONE_PATH_NONE ? NULL : kept_find(&p->rows, parent);
	const zone_path *last = above && above->child ? kept_find(&p->rows, above->child) : NULL;

	if (parent == ZONE_PATH_NONE)
		return ZONE_PATH_NONE;
	if (last && last->name == name)
		return above->child;
	uint32_t path = kept_map_find(&p->children, key_of(parent, name));
	if (!path)
		path = path_new(p, parent, name);
	above = kept_find(&p->rows, parent); /* a new row may have moved it */
	if (above && path != ZONE_PATH_NONE)
		above->child = path;
	return path;
}

void zone_paths_add(zone_paths *p, uint32_t path, unsigned calls, uint64_t self_ns)
{
	zone_path *row = path == ZONE_PATH_NONE ? NULL : kept_find(&p->rows, path);

	if (!row) {
		p->lost += calls;
		return;
	}
	row->calls += calls;
	row->self_ns += self_ns;
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
	t->texts = mem_zalloc(p->n, sizeof *t->texts);
	t->nodes = mem_zalloc(p->n, sizeof *t->nodes);
	t->weights = mem_zalloc(p->n, 2 * sizeof *t->weights);
	DCK_NEED(t->texts && t->nodes && t->weights, err, "for the call paths of zones");
	for (uint32_t i = 0; i < p->n; i++) {
		const zone_path *from = kept_find(&p->rows, i + 1);
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
		t->weights[2 * (size_t)i + 1] = (double)from->self_ns;
	}
	return DCK_OK;
}

dck_status zone_paths_put(const zone_paths *p, const char *(*name_of)(void *self, uint32_t name),
			  void *self, record_builder *b, dck_err *err)
{
	static const dck_column columns[] = {{"calls", "calls", DCK_UNIT_ONE},
					     {"self", "self", DCK_UNIT_NS}};
	tree t = {0};
	dck_status status = DCK_OK;

	if (p->n > 0)
		status = fill(p, name_of, self, &t, err);
	if (p->n > 0 && status == DCK_OK)
		record_tree(b, &(dck_tree){.name = "zones",
					   .title = "Zones by their call paths",
					   .columns = columns,
					   .ncolumns = 2,
					   .frames = t.texts,
					   .nframes = t.nframes,
					   .nodes = t.nodes,
					   .nnodes = p->n,
					   .weights = t.weights});
	if (p->lost > 0)
		record_note(b, "trace-paths",
			    "%llu calls are in the table of zones, but not in their tree",
			    (unsigned long long)p->lost);
	kept_map_done(&t.frames);
	mem_free(t.texts);
	mem_free(t.nodes);
	mem_free(t.weights);
	return status;
}
