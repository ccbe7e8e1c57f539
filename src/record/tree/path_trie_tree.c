/* SPDX-License-Identifier: Apache-2.0 */
#include "record/tree/path_trie.h"

#include "base/err.h"
#include "base/mem.h"

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
		const path_node *from = &p->rows[i + 1];
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
