/* SPDX-License-Identifier: Apache-2.0 */
#include "record/tree/path_trie.h"

#include "base/err.h"
#include "base/mem.h"
#include "record/tree/tree_prune.h"

void path_trie_done(path_trie *p)
{
	hash_map_done(&p->children);
	mem_free(p->rows);
	*p = (path_trie){0};
}

static bool path_room_for_one(path_trie *p)
{
	const uint32_t room = p->room ? 2 * p->room : 64;
	path_sum *rows = p->rows;

	if (p->n < p->room)
		return true;
	rows = mem_resize(rows, room * sizeof *rows);
	if (!rows)
		return false;
	if (!p->rows) /* the name of no child, for guesses */
		rows[p->n++] = (path_sum){.name = UINT32_MAX};
	p->rows = rows;
	p->room = room;
	return true;
}

bool path_trie_inside(const path_trie *p, uint32_t path, uint32_t name)
{
	while (path && p->rows[path].name != name)
		path = p->rows[path].parent;
	return path != 0;
}

static uint32_t path_new(path_trie *p, uint32_t parent, uint32_t name, uint64_t key)
{
	if (p->n > (p->most ? p->most : PATH_SUMS_MAX) ||
	    p->rows[parent].depth >= PATH_SUMS_DEPTH_MAX)
		return PATH_SUM_NONE;
	if (!path_room_for_one(p) || !hash_map_put(&p->children, key, p->n)) {
		p->failed = true;
		return PATH_SUM_NONE;
	}
	p->rows[p->n] = (path_sum){.parent = parent,
				   .name = name,
				   .depth = (uint16_t)(p->rows[parent].depth + 1),
				   .again = path_trie_inside(p, parent, name)};
	return p->n++;
}

uint32_t path_trie_find(path_trie *p, uint32_t parent, uint32_t name)
{
	const uint64_t key = (uint64_t)parent << 32 | name;

	if (!p->rows && !path_room_for_one(p)) {
		p->failed = true;
		return PATH_SUM_NONE;
	}
	if (parent >= p->n)
		return PATH_SUM_NONE;
	const uint32_t last = p->rows[parent].child;
	uint32_t path = p->rows[last].after;
	if (p->rows[path].name != name || path == 0)
		path = hash_map_find(&p->children, key);
	if (!path)
		path = path_new(p, parent, name, key);
	if (path != PATH_SUM_NONE) {
		if (last)
			p->rows[last].after = path;
		p->rows[parent].child = path;
	}
	return path;
}

/* --- as a tree of a record */

/* Returns the frame of a name, from 1 on; if the outermost paths are threads, their frames differ
 * from inner frames of the same name. 0: no memory. */
static uint32_t frame_find(dck_tree *t, hash_map *numbers, dck_frame *frames, uint64_t key,
			   const char *text, bool thread)
{
	uint32_t frame = hash_map_find(numbers, key);

	if (frame || !hash_map_put(numbers, key, (uint32_t)t->nframes + 1))
		return frame;
	frames[t->nframes] =
	    (dck_frame){.name = text ? text : "(no name)", .file = thread ? "thread" : NULL};
	return (uint32_t)++t->nframes;
}

dck_status path_trie_tree(const path_trie *p, bool threads,
			  const char *(*name_of)(void *self, uint32_t name), void *self,
			  dck_tree *ret, dck_err *err)
{
	static const dck_column columns[] = {{"calls", "calls", DCK_UNIT_ONE},
					     {"self", "self", DCK_UNIT_NS}};
	const uint32_t n = p->n ? p->n - 1 : 0;
	dck_frame *frames = mem_zalloc((size_t)n + 1, sizeof *frames);
	dck_tree_node *nodes = mem_zalloc((size_t)n + 1, sizeof *nodes);
	double *weights = mem_zalloc((size_t)n + 1, 2 * sizeof *weights);
	hash_map numbers = {0};

	*ret = (dck_tree){.columns = columns,
			  .ncolumns = 2,
			  .frames = frames,
			  .nodes = nodes,
			  .nnodes = n,
			  .weights = weights};
	bool ok = frames && nodes && weights;
	for (uint32_t i = 0; i < n && ok; i++) {
		const path_sum *from = &p->rows[i + 1];
		const bool thread = threads && !from->parent;
		const uint32_t frame =
		    frame_find(ret, &numbers, frames, (uint64_t)thread << 32 | from->name,
			       name_of(self, from->name), thread);

		ok = frame != 0;
		nodes[i] = (dck_tree_node){
		    .parent = from->parent ? from->parent - 1 : DCK_TREE_ROOT, .frame = frame - 1};
		weights[2 * (size_t)i] = (double)from->calls;
		weights[2 * (size_t)i + 1] += (double)from->total_ns;
		if (from->parent && !(threads && from->depth == 2))
			weights[2 * (size_t)from->parent - 1] -= (double)from->total_ns;
	}
	hash_map_done(&numbers);
	if (!ok)
		path_trie_tree_done(ret);
	DCK_NEED(ok, err, "for the call paths of zones");
	return DCK_OK;
}

void path_trie_tree_done(dck_tree *t)
{
	mem_free((void *)t->frames);
	mem_free((void *)t->nodes);
	mem_free((void *)t->weights);
	*t = (dck_tree){0};
}

dck_status path_trie_put(const path_trie *p, const char *name, const char *title,
			 const char *(*name_of)(void *self, uint32_t name), void *self,
			 record_builder *b, dck_err *err)
{
	dck_tree t;

	DCK_TRY(path_trie_tree(p, false, name_of, self, &t, err));
	t.name = name;
	t.title = title;
	dck_status status = tree_prune_put(&t, b, err);
	path_trie_tree_done(&t);
	if (p->lost > 0)
		record_note(b, "trace-paths",
			    "%llu calls are in the table of %s, but not in the tree: %s",
			    (unsigned long long)p->lost, name,
			    p->failed ? "there was no memory for their call paths; free some, or "
					"record a shorter part"
				      : "there are too many call paths, or they are too deep; "
					"name zones by their work, not by their data");
	return status;
}
