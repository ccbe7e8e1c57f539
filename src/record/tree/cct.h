/* cct.h - calling-context tree (CCT) builder: each observed call stack, with any number of weights,
 * as a profiler adds them.
 *
 *	static const dck_column weights[] = {{"samples", "samples", DCK_UNIT_ONE},
 *					     {"time", "time", DCK_UNIT_NS}};
 *	cct p;
 *
 *	DCK_TRY(cct_init(&p, weights, 2, err));
 *	uint32_t main = cct_frame(&p, &(dck_frame){.name = "main", .line = 7});
 *	uint32_t work = cct_frame(&p, &(dck_frame){.name = "work", .module = "liba.so"});
 *	uint32_t path = cct_insert_stack(&p, (uint32_t[]){main, work}, 2);
 *	cct_add(&p, path, 0, 1);
 *	cct_add(&p, path, 1, 1e6);
 *	status = cct_tree(&p, "samples", "Samples by call path", b, err);
 *	... cct_functions(&p, &table, b, err) ...
 *	cct_done(&p);
 *
 * A weight belongs to its path alone. Frames that are equal in all members have one number; a path
 * is its parent's path and a frame. It holds CALL_PATHS_MAX paths, none deeper than
 * PATH_TRIE_DEPTH_MAX: weights of further paths are added to the enclosing path, so that sums stay
 * correct, and are counted. Neither async-signal-safe nor thread-safe. A lack of memory is sticky,
 * and returned at the end.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TREE_CCT_H
#define TREE_CCT_H

#include "base/id_table.h"
#include "record/tree/call_table.h"
#include "record/tree/path_trie.h"

/* Twice the paths of a Python program that imports PyTorch and allocates on all of them; about 150
 * bytes each. */
enum { CALL_PATHS_MAX = 3 << 20 };

typedef struct cct {
	path_trie paths; /* names: numbers of frames */
	double *weights; /* @owned; [path][column]; path 0: without a path */
	const dck_column *columns;
	string_table texts;
	id_table frames; /* by number */
	hash_map by_frame;
	size_t ncolumns;
	uint32_t nframes, cap; /* cap: capacity of `weights`, in paths */
	uint64_t cut;	       /* stacks, or calls, that did not fit */
	bool failed;
} cct;

/* Initializes a tree; columns is borrowed. */
dck_status cct_init(cct *p, const dck_column *columns, size_t ncolumns, dck_err *err) DCK_MUST_USE;
void cct_done(cct *p); /* {0} is allowed */

/* Returns the number of a frame, from 1 on; 0: no memory. Its texts are copied, cut after
 * STRING_NAME_MAX bytes. */
uint32_t cct_frame(cct *p, const dck_frame *f);
/* Returns the frame with that number. Texts are borrowed. */
dck_frame cct_frame_get(const cct *p, uint32_t number);
/* The frames of a path, the innermost first; returns how many. */
size_t cct_stack(const cct *p, uint32_t path, uint32_t ret[PATH_TRIE_DEPTH_MAX]);
/* Returns the path from `parent` (0: none) to that frame; `parent` if it does not fit. */
uint32_t cct_child(cct *p, uint32_t parent, uint32_t frame);
/* Returns the path of n frames, the outermost first; of the outer frames that fit. */
uint32_t cct_insert_stack(cct *p, const uint32_t *frames, size_t n);
/* Adds v, which may be negative, to the weight in that column. */
static inline void cct_add(cct *p, uint32_t path, size_t column, double v)
{
	if (path < p->cap)
		p->weights[path * p->ncolumns + column] += v;
}

/* Maps the paths of one tree to the paths of another; {.rows.row_bytes = sizeof(uint32_t)} at
 * first. */
typedef struct cct_map {
	id_table rows; /* @owned */
	uint32_t n;    /* paths of the first tree that are in it */
} cct_map;
static inline uint32_t cct_mapped(const cct_map *map, uint32_t path)
{
	const uint32_t *row = id_table_find(&map->rows, path);

	return row ? *row : 0;
}
/* Adds the paths of `from`, without their weights, that came since the last call with this map. */
void cct_extend(cct *p, const cct *from, cct_map *map);

/* Removes the weights from that column on. */
void cct_narrow(cct *p, size_t ncolumns);
/* Frees the memory with which frames and paths are found. None may be added afterwards. */
void cct_freeze(cct *p);

bool cct_failed(const cct *p); /* no memory: frames or paths are missing */

/* Writes the tree to a record, pruned if it is large (tree_prune.h); weights without a path are
 * below "(no call path)". Writes nothing without a path. A note reports what did not fit. */
dck_status cct_tree(const cct *p, const char *name, const char *title, record_builder *b,
		    dck_err *err) DCK_MUST_USE;
/* Returns the current tree, valid until something is added; the caller sets its name and title. */
dck_status cct_view(const cct *p, dck_tree *ret, dck_err *err) DCK_MUST_USE;
void cct_view_done(dck_tree *t);
/* Writes the table of functions. */
dck_status cct_functions(const cct *p, const call_table *how, record_builder *b,
			 dck_err *err) DCK_MUST_USE;

/* --- of a program that was sampled */

enum { CCT_SAMPLE_COUNT, CCT_SAMPLE_TIME, CCT_SAMPLE_WEIGHTS };
extern const dck_column cct_sample_weights[CCT_SAMPLE_WEIGHTS];
enum { CCT_SAMPLE_SELF = 2 }; /* index of the functions' column that they are sorted by */
extern const call_table cct_sample_functions;
/* Writes the table "functions" and the tree "samples". */
dck_status cct_samples_put(const cct *p, record_builder *b, dck_err *err) DCK_MUST_USE;

#endif
