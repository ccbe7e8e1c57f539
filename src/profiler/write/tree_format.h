/* tree_format.h - common parts of call-tree formats of other programs. An aggregated format is one
 * function on a form_doc, whose data come from a timeline (paths.h) or a record (tree_write.c):
 *
 *	static dck_status write(const form_doc *d, dck_err *err)
 *	{
 *		const form_tree *f = &d->trees[0];
 *
 *		for (uint32_t n = call_tree_next(&f->c, CALL_NONE); n != CALL_NONE;
 *		     n = call_tree_next(&f->c, n))
 *			... tree_format_weight(f, n) ...
 *		return DCK_OK;
 *	}
 *
 * The output is bounded: a path deeper than FORM_DEPTH_MAX, or one that would exceed FORM_BYTES_MAX
 * for all paths, is left out, and its weights are added to its parent, so that sums are correct.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WRITE_TREE_FORMAT_H
#define WRITE_TREE_FORMAT_H

#include "record/tree/exact_functions.h"
#include "record/tree/path_trie.h"
#include "deepclock/report.h"
#include "deepclock/trace.h"

enum { FORM_DEPTH_MAX = PATH_TRIE_DEPTH_MAX, FORM_BYTES_MAX = 1 << 28 };

typedef struct form_tree {
	dck_tree t;	 /* bounded; nodes and weights are owned */
	dck_tree keyed;	 /* the same tree with the keys of its frames, which are owned */
	call_tree c;	 /* call tree of `keyed` */
	uint32_t *depth; /* @owned; depth of each node, from 0 */
	size_t weight;	 /* the column for formats with one weight */
	bool lost;	 /* all of its weights are below 1, and were rounded to 0 */
	/* Set by the caller: */
	bool threads;	   /* the outermost paths are threads, with weight 0 */
	bool thread_roots; /* the outermost frames of a record's samples are threads */
} form_tree;

typedef struct form_doc {
	dck_sink *sink;
	const char *command; /* NULL: unknown */
	int64_t unix_ns;     /* start time; 0: unknown */
	uint64_t duration_ns;
	const form_tree *trees; /* formats with one tree write the first */
	size_t ntrees;
	/* The functions' own numbers where the paths of the first tree are estimated. */
	const exact_function *exact;
	size_t nexact;
} form_doc;

typedef struct tree_format {
	dck_status (*write)(const form_doc *d, dck_err *err);
	/* Returns the part of a frame that distinguishes functions in the format; NULL: the whole
	 * frame. */
	dck_frame (*key)(const dck_frame *frame);
	bool several; /* supports several trees */
	bool whole;   /* its weights are whole numbers: form_tree_open() rounds them */
} tree_format;
#define X(id, ending, gzip, text) extern const tree_format form_##id;
DCK_CALLS_FORMAT_MAP(X)
#undef X

/* Opens a tree; borrows the frames and strings of t. weight: the key of a column; NULL:
 * call_tree_weight() chooses one. */
dck_status form_tree_open(form_tree *f, const dck_tree *t, const char *weight,
			  const tree_format *to, dck_err *err) DCK_MUST_USE;
void form_tree_done(form_tree *f); /* {0} is allowed */

/* Returns a node's self weight as an integer. */
int64_t tree_format_weight(const form_tree *f, uint32_t node);
int64_t form_integer(double weight);
static inline const dck_frame *form_frame(const form_tree *f, uint32_t node)
{
	return &f->t.frames[f->t.nodes[node].frame];
}
/* Writes a text on one line: control characters become blanks, and `no` (0: none) a low line. */
void form_put_line(dck_sink *out, const char *text, char no);

#endif
