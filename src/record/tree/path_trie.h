/* path_trie.h - trie of call paths of numbered names: number of calls of each path, and their total
 * time. It holds PATH_TRIE_MAX paths, none deeper than PATH_TRIE_DEPTH_MAX; a call on a further
 * path is counted, and its time stays with the enclosing path.
 *
 *	uint32_t outer = path_trie_child(&p, 0, 7), inner = path_trie_child(&p, outer, 9);
 *	path_trie_add(&p, inner, 1, 1200);
 *	path_trie_put(&p, "zones", "Zones by their call paths", name_of, self, b, err);
 *	path_trie_done(&p);
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TREE_PATH_TRIE_H
#define TREE_PATH_TRIE_H

#include "base/id_table.h"
#include "record/build.h"

enum { PATH_TRIE_MAX = 1 << 20, PATH_TRIE_DEPTH_MAX = 1025 };
#define PATH_NONE UINT32_MAX

typedef struct path_node {
	uint32_t parent, name; /* parent 0: outermost */
	/* Cache of the last child, and prediction of the next child of the parent: the path that
	 * last followed this one, which usually follows again. 0: none. */
	uint32_t child, after;
	uint16_t depth; /* 1: outermost */
	bool recursive; /* inside a path of the same name */
	uint64_t calls, total_ns;
} path_node;

typedef struct path_trie {
	hash_map children; /* by parent and name */
	path_node *rows;   /* @owned; row 0 is the root */
	uint32_t n, cap;   /* rows; cap: capacity */
	uint32_t most;	   /* maximum of paths; 0: PATH_TRIE_MAX */
	uint64_t lost;	   /* calls */
	bool failed;	   /* no memory */
} path_trie;		   /* {0} at first */

void path_trie_done(path_trie *p);
/* Frees the memory with which paths are found. None may be added afterwards. */
void path_trie_freeze(path_trie *p);
/* Returns whether a range of that name is open while `path` is the innermost. */
bool path_trie_inside(const path_trie *p, uint32_t path, uint32_t name);
/* Finds or makes the path if the prediction of path_trie_child() was wrong. */
uint32_t path_trie_find(path_trie *p, uint32_t parent, uint32_t name);
/* Returns the path through `parent` (0: none) to that name, which is not UINT32_MAX; PATH_NONE:
 * it did not fit. */
static inline uint32_t path_trie_child(path_trie *p, uint32_t parent, uint32_t name)
{
	if (parent < p->n) {
		uint32_t last = p->rows[parent].child;

		if (p->rows[last].name == name)
			return last;
	}
	return path_trie_find(p, parent, name);
}
/* Adds `calls` calls of that path, which took `ns` together. */
static inline void path_trie_add(path_trie *p, uint32_t path, unsigned calls, uint64_t ns)
{
	if (path < p->n) {
		p->rows[path].calls += calls;
		p->rows[path].total_ns += ns;
	} else {
		p->lost += calls;
	}
}
/* Returns a tree of two weights, calls and self time; its arrays are owned, its texts borrowed.
 * threads: the outermost paths are threads, whose self time is the time added to them, and whose
 * frames have the file "thread". name_of may return NULL. */
dck_status path_trie_tree(const path_trie *p, bool threads,
			  const char *(*name_of)(void *self, uint32_t name), void *self,
			  dck_tree *ret, dck_err *err);
void path_trie_tree_done(dck_tree *t);
/* Adds a tree of that name; nothing without a path. name_of may return NULL. */
dck_status path_trie_put(const path_trie *p, const char *name, const char *title,
			 const char *(*name_of)(void *self, uint32_t name), void *self,
			 record_builder *b, dck_err *err);

#endif
