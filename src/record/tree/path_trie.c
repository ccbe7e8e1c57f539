/* SPDX-License-Identifier: Apache-2.0 */
#include "record/tree/path_trie.h"

#include "base/mem.h"

void path_trie_freeze(path_trie *p)
{
	hash_map_done(&p->children);
}

void path_trie_done(path_trie *p)
{
	hash_map_done(&p->children);
	mem_free(p->rows);
	*p = (path_trie){0};
}

static bool path_room_for_one(path_trie *p)
{
	const uint32_t cap = p->cap ? 2 * p->cap : 64;
	path_node *rows = p->rows;

	if (p->n < p->cap)
		return true;
	rows = mem_resize(rows, cap * sizeof *rows);
	if (!rows)
		return false;
	if (!p->rows) /* the name of no child, for guesses */
		rows[p->n++] = (path_node){.name = UINT32_MAX};
	p->rows = rows;
	p->cap = cap;
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
	if (p->n > (p->most ? p->most : PATH_TRIE_MAX) ||
	    p->rows[parent].depth >= PATH_TRIE_DEPTH_MAX)
		return PATH_NONE;
	if (!path_room_for_one(p) || !hash_map_put(&p->children, key, p->n)) {
		p->failed = true;
		return PATH_NONE;
	}
	p->rows[p->n] = (path_node){.parent = parent,
				    .name = name,
				    .depth = (uint16_t)(p->rows[parent].depth + 1),
				    .recursive = path_trie_inside(p, parent, name)};
	return p->n++;
}

uint32_t path_trie_find(path_trie *p, uint32_t parent, uint32_t name)
{
	const uint64_t key = (uint64_t)parent << 32 | name;

	if (!p->rows && !path_room_for_one(p)) {
		p->failed = true;
		return PATH_NONE;
	}
	if (parent >= p->n)
		return PATH_NONE;
	const uint32_t last = p->rows[parent].child;
	uint32_t path = p->rows[last].after;
	if (p->rows[path].name != name || path == 0)
		path = hash_map_find(&p->children, key);
	if (!path)
		path = path_new(p, parent, name, key);
	if (path != PATH_NONE) {
		if (last)
			p->rows[last].after = path;
		p->rows[parent].child = path;
	}
	return path;
}
