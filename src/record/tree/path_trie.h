/* path_trie.h - call paths of numbered names, added up as they come: calls of each, and
 * their time with all that is inside them. It holds PATH_SUMS_MAX paths, none deeper than
 * PATH_SUMS_DEPTH_MAX; a call on a further one is counted, and its time stays with the path around
 * it.
 *
 *	uint32_t outer = path_trie_child(&p, 0, 7), inner = path_trie_child(&p, outer, 9);
 *	path_trie_add(&p, inner, 1, 1200);
 *	path_trie_put(&p, "zones", "Zones by their call paths", name_of, self, b, err);
 *	path_trie_done(&p);
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CALLS_PATH_SUMS_H
#define CALLS_PATH_SUMS_H

#include "base/id_table.h"
#include "record/build.h"

enum { PATH_SUMS_MAX = 1 << 20, PATH_SUMS_DEPTH_MAX = 1025 };
#define PATH_SUM_NONE UINT32_MAX

typedef struct path_sum {
	uint32_t parent, name; /* parent 0: outermost */
	/* The child that was asked for last; the one that was asked for after this path when it was
	 * last left: mostly that is so again. 0: none. */
	uint32_t child, after;
	uint16_t depth; /* an outermost one has 1 */
	bool again;	/* inside one of the same name */
	uint64_t calls, total_ns;
} path_sum;

typedef struct path_trie {
	hash_map children; /* by parent and name */
	path_sum *rows;	   /* @owned; 0 is what the outermost ones are in */
	uint32_t n, room;  /* rows */
	uint32_t most;	   /* paths, if not PATH_SUMS_MAX; 0: that */
	uint64_t lost;	   /* calls */
	bool failed;	   /* for want of memory */
} path_trie;		   /* {0} at first */

void path_trie_done(path_trie *p);
/* Whether a range of that name is open where one of `path` is the innermost. */
bool path_trie_inside(const path_trie *p, uint32_t path, uint32_t name);
/* Where the guess below was wrong. */
uint32_t path_trie_find(path_trie *p, uint32_t parent, uint32_t name);
/* The path through `parent` (0: none) to that name, which is not UINT32_MAX; PATH_SUM_NONE: it is
 * not kept. */
static inline uint32_t path_trie_child(path_trie *p, uint32_t parent, uint32_t name)
{
	if (parent < p->n) {
		uint32_t last = p->rows[parent].child;

		if (p->rows[last].name == name)
			return last;
	}
	return path_trie_find(p, parent, name);
}
/* So many calls more of that path, which took so long together. */
static inline void path_trie_add(path_trie *p, uint32_t path, unsigned calls, uint64_t ns)
{
	if (path < p->n) {
		p->rows[path].calls += calls;
		p->rows[path].total_ns += ns;
	} else {
		p->lost += calls;
	}
}
/* As a tree of two weights, calls and own time; its arrays are owned, its texts borrowed. threads:
 * the outermost paths are threads, whose own time is what they were told, and whose frames have the
 * file "thread". name_of may return NULL. */
dck_status path_trie_tree(const path_trie *p, bool threads,
			  const char *(*name_of)(void *self, uint32_t name), void *self,
			  dck_tree *ret, dck_err *err);
void path_trie_tree_done(dck_tree *t);
/* A tree of that name; nothing when there is no path. name_of may return NULL. */
dck_status path_trie_put(const path_trie *p, const char *name, const char *title,
			 const char *(*name_of)(void *self, uint32_t name), void *self,
			 record_builder *b, dck_err *err);

#endif
