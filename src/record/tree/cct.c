/* cct.c - builds a calling-context tree (CCT): a trie of frames, with weights at its nodes.
 *
 * Frames are interned: texts in a string table, and tuples of text numbers and lines in `frames`,
 * found by a hash map from their 64-bit hash; a collision probes the next key. A path is a node of
 * the trie (path_trie.c): a parent path and a frame. weights is a matrix [path][column] that grows
 * with the trie. Path 0 is the root; it has the weights of samples without a stack.
 *
 * Adding a known stack takes expected O(depth). At most CALL_PATHS_MAX paths are stored,
 * PATH_TRIE_DEPTH_MAX deep; beyond that a weight stays with the deepest path that fits, so sums
 * stay right, and `cut` counts it. Lack of memory is sticky and reported by cct_view().
 *
 * A view borrows the weights until something is added; its parents precede their children. Not
 * thread-safe, not async-signal-safe. Source: Ammons, Ball and Larus, Exploiting Hardware
 * Performance Counters with Flow and Context Sensitive Profiling, PLDI 1997.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/tree/cct.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"

#include <string.h>

const dck_column cct_sample_weights[CCT_SAMPLE_WEIGHTS] = {{"samples", "samples", DCK_UNIT_ONE},
							   {"time", "time", DCK_UNIT_NS}};

/* A frame, as the ids of its texts; 0: none. */
typedef struct held_frame {
	uint32_t name, file, module, line, start_line;
} held_frame;

dck_status cct_init(cct *p, const dck_column *columns, size_t ncolumns, dck_err *err)
{
	*p = (cct){.columns = columns,
		   .ncolumns = ncolumns,
		   .paths = {.most = CALL_PATHS_MAX},
		   .frames = {.row_bytes = sizeof(held_frame)}};
	DCK_TRY(string_table_init(&p->texts, err));
	p->weights = mem_zalloc(1, ncolumns * sizeof *p->weights);
	p->cap = p->weights ? 1 : 0;
	p->failed = !p->weights;
	return DCK_OK;
}

void cct_done(cct *p)
{
	path_trie_done(&p->paths);
	mem_free(p->weights);
	string_table_done(&p->texts);
	id_table_done(&p->frames);
	hash_map_done(&p->by_frame);
	*p = (cct){0};
}

static uint32_t text_number(cct *p, const char *text)
{
	return text ? string_table_intern(&p->texts, text, strlen(text)) : 0;
}

uint32_t cct_frame(cct *p, const dck_frame *f)
{
	const held_frame own = {text_number(p, f->name), text_number(p, f->file),
				text_number(p, f->module), f->line, f->start_line};

	for (uint64_t key = hash_bytes(HASH_START, &own, sizeof own);; key++) {
		const uint32_t number = hash_map_find(&p->by_frame, key);

		if (number && memcmp(id_table_find(&p->frames, number), &own, sizeof own) == 0)
			return number;
		if (number) /* another frame has this hash: probe the next key */
			continue;
		held_frame *row = id_table_row(&p->frames, p->nframes + 1);
		if (!row || !hash_map_put(&p->by_frame, key, p->nframes + 1)) {
			p->failed = true;
			return 0;
		}
		*row = own;
		return ++p->nframes;
	}
}

/* --- paths */

static bool weights_grow(cct *p)
{
	const size_t cap = p->paths.cap;
	double *weights = cap > SIZE_MAX / p->ncolumns / sizeof *weights
			      ? NULL
			      : mem_resize(p->weights, cap * p->ncolumns * sizeof *weights);

	p->failed |= !weights;
	if (!weights)
		return false;
	memset(weights + p->cap * p->ncolumns, 0, (cap - p->cap) * p->ncolumns * sizeof *weights);
	p->weights = weights;
	p->cap = (uint32_t)cap;
	return true;
}

/* Returns the child, or PATH_NONE if it does not fit. */
static uint32_t child_find(cct *p, uint32_t parent, uint32_t frame)
{
	const uint32_t path = frame ? path_trie_child(&p->paths, parent, frame) : PATH_NONE;

	return path == PATH_NONE || (path >= p->cap && !weights_grow(p)) ? PATH_NONE : path;
}

/* Follows n frames from `path`. Returns the last path that fits. */
static uint32_t paths_follow(cct *p, uint32_t path, const uint32_t *frames, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const uint32_t child = child_find(p, path, frames[i]);

		if (child == PATH_NONE) {
			p->cut++;
			break;
		}
		path = child;
	}
	return path;
}

uint32_t cct_child(cct *p, uint32_t parent, uint32_t frame)
{
	return paths_follow(p, parent, &frame, 1);
}

uint32_t cct_insert_stack(cct *p, const uint32_t *frames, size_t n)
{
	return paths_follow(p, 0, frames, n);
}

size_t cct_stack(const cct *p, uint32_t path, uint32_t ret[PATH_TRIE_DEPTH_MAX])
{
	size_t n = 0;

	for (; path && path < p->paths.n && n < PATH_TRIE_DEPTH_MAX;
	     path = p->paths.rows[path].parent)
		ret[n++] = p->paths.rows[path].name;
	return n;
}

void cct_extend(cct *p, const cct *from, cct_map *map)
{
	for (uint32_t i = map->n ? map->n : 1; i < from->paths.n; map->n = ++i) {
		const path_node *path = &from->paths.rows[i];
		const dck_frame frame = cct_frame_get(from, path->name);
		const uint32_t parent = cct_mapped(map, path->parent),
			       own = cct_child(p, parent, cct_frame(p, &frame));
		uint32_t *row = id_table_row(&map->rows, i);

		p->failed |= !row;
		if (row)
			*row = own;
	}
}

/* --- the tree */

dck_frame cct_frame_get(const cct *p, uint32_t number)
{
	static const held_frame none;
	const held_frame *f = id_table_find(&p->frames, number);

	f = f ? f : &none;
	const char *name = string_name_of(&p->texts, f->name).text;
	return (dck_frame){.name = name ? name : "(no name)",
			   .file = string_name_of(&p->texts, f->file).text,
			   .module = string_name_of(&p->texts, f->module).text,
			   .line = f->line,
			   .start_line = f->start_line};
}

static bool any_weight(const cct *p, uint32_t path)
{
	for (size_t k = 0; k < p->ncolumns && path < p->cap; k++)
		if (p->weights[path * p->ncolumns + k] != 0)
			return true;
	return false;
}

bool cct_failed(const cct *p)
{
	return p->failed || p->paths.failed || p->frames.failed || string_table_failed(&p->texts);
}

/* Frame and node 0 have the weights of no path, if there are any. */
dck_status cct_view(const cct *p, dck_tree *ret, dck_err *err)
{
	const uint32_t zero = any_weight(p, 0), n = p->paths.n ? p->paths.n - 1 : 0;
	dck_frame *frames = mem_zalloc((size_t)p->nframes + 1, sizeof *frames);
	dck_tree_node *nodes = mem_zalloc((size_t)n + 1, sizeof *nodes);

	if (cct_failed(p) || !frames || !nodes) {
		mem_free(frames);
		mem_free(nodes);
		return ERR_NO_MEMORY(err, "for the call paths of a profile");
	}
	frames[0].name = "(no call path)";
	for (uint32_t i = 0; i < p->nframes; i++)
		frames[i + zero] = cct_frame_get(p, i + 1);
	for (uint32_t i = 0; i < n; i++) {
		const path_node *from = &p->paths.rows[i + 1];

		nodes[i + zero] = (dck_tree_node){.parent = from->parent ? from->parent - 1 + zero
									 : DCK_TREE_ROOT,
						  .frame = from->name - 1 + zero};
	}
	if (zero)
		nodes[0].parent = DCK_TREE_ROOT;
	*ret = (dck_tree){.columns = p->columns,
			  .ncolumns = p->ncolumns,
			  .frames = frames,
			  .nframes = p->nframes + (size_t)zero,
			  .nodes = nodes,
			  .nnodes = n + (size_t)zero,
			  .weights = zero ? p->weights : p->weights + p->ncolumns};
	return DCK_OK;
}

void cct_view_done(dck_tree *t)
{
	mem_free((void *)t->frames);
	mem_free((void *)t->nodes);
}

void cct_narrow(cct *p, size_t ncolumns)
{
	double *fewer;

	for (uint32_t i = 0; i < p->cap; i++)
		memmove(p->weights + i * ncolumns, p->weights + i * p->ncolumns,
			ncolumns * sizeof *p->weights);
	p->ncolumns = ncolumns;
	fewer = mem_resize(p->weights, p->cap * ncolumns * sizeof *fewer);
	p->failed |= !fewer;
	p->weights = fewer ? fewer : p->weights;
}

void cct_freeze(cct *p)
{
	path_trie_freeze(&p->paths);
	hash_map_done(&p->by_frame);
	hash_map_done(&p->texts.by_text);
}
