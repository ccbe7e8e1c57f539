/* cct.h - call paths being added up: each stack of functions that was seen, with any number
 * of weights, as a profiler makes them.
 *
 *	static const dck_column weights[] = {{"samples", "samples", DCK_UNIT_ONE},
 *					     {"time", "time", DCK_UNIT_NS}};
 *	cct p;
 *
 *	DCK_TRY(cct_init(&p, weights, 2, err));
 *	uint32_t main = cct_frame(&p, &(dck_frame){.name = "main", .file = "a.c", .line =
 * 7}); uint32_t work = cct_frame(&p, &(dck_frame){.name = "work", .module = "liba.so"});
 *	uint32_t path = cct_insert_stack(&p, (uint32_t[]){main, work}, 2);
 *	cct_add(&p, path, 0, 1);
 *	cct_add(&p, path, 1, 1e6);
 *	status = cct_tree(&p, "samples", "Samples by call path", b, err);
 *	... cct_functions(&p, &table, b, err) ...
 *	cct_done(&p);
 *
 * A weight is of its path alone. Frames that are equal in all members have one number; a path is
 * its parent's path and a frame. It holds CALL_PATHS_MAX paths, none deeper than
 * PATH_SUMS_DEPTH_MAX: what is on a further one stays with the path around it, so that sums stay
 * right, and is counted. Nothing here is safe in a signal handler, or for two threads at once. A
 * want of memory is kept and told at the end.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CALLS_CALL_PATHS_H
#define CALLS_CALL_PATHS_H

#include "base/id_table.h"
#include "record/tree/call_table.h"
#include "record/tree/path_trie.h"

/* Twice what a Python program has that imports PyTorch and allocates everywhere on the way; about
 * 150 bytes each. */
enum { CALL_PATHS_MAX = 3 << 20 };

typedef struct cct {
	path_trie paths; /* names: numbers of frames */
	double *weights; /* @owned; [path][column]; path 0: of no path */
	const dck_column *columns;
	string_table texts;
	id_table frames; /* of each number */
	hash_map by_frame;
	size_t ncolumns;
	uint32_t nframes, room; /* room: of weights, in paths */
	uint64_t cut;		/* stacks, or calls, that did not fit */
	bool failed;
} cct;

/* Borrows columns. */
dck_status cct_init(cct *p, const dck_column *columns, size_t ncolumns, dck_err *err) DCK_MUST_USE;
void cct_done(cct *p); /* {0} is allowed */

/* The number of a frame, from 1 on; 0: no memory. Its texts are copied; those longer than
 * KEPT_NAME_MAX bytes are cut. */
uint32_t cct_frame(cct *p, const dck_frame *f);
/* What that number stands for. Texts are borrowed. */
dck_frame cct_frame_get(const cct *p, uint32_t number);
/* The path from `parent` (0: none) to that frame; `parent` where it does not fit. */
uint32_t cct_child(cct *p, uint32_t parent, uint32_t frame);
/* The path of n frames, the outermost first; of those that fit. */
uint32_t cct_insert_stack(cct *p, const uint32_t *frames, size_t n);
/* Adds to the weight in that column; less than 0 takes away. */
static inline void cct_add(cct *p, uint32_t path, size_t column, double v)
{
	if (path < p->room)
		p->weights[path * p->ncolumns + column] += v;
}

/* Forgets the weights from that column on. */
void cct_narrow(cct *p, size_t ncolumns);

/* The tree of a record, folded where it is large (tree_prune.h); what is on no path stands below
 * "(no call path)". Nothing where there is no path. A note reports what did not fit. */
dck_status cct_tree(const cct *p, const char *name, const char *title, record_builder *b,
		    dck_err *err) DCK_MUST_USE;
/* As it stands, until something is added; its name and title are the caller's. */
dck_status cct_view(const cct *p, dck_tree *ret, dck_err *err) DCK_MUST_USE;
void cct_view_done(dck_tree *t);
/* The table of functions. */
dck_status cct_functions(const cct *p, const call_table *how, record_builder *b,
			 dck_err *err) DCK_MUST_USE;

#endif
