/* tree_format.h - trees of call paths in the forms of other programs: what these share. A form that
 * adds up, instead of telling each event, is one function on a form_doc, and takes what it writes
 * from a timeline (paths.h) as from a record (tree_write.c):
 *
 *	static dck_status write(const form_doc *d, dck_err *err)
 *	{
 *		const form_tree *f = &d->trees[0];
 *
 *		for (uint32_t n = call_tree_next(&f->c, CALL_NONE); n != CALL_NONE;
 *		     n = call_tree_next(&f->c, n))
 *			... form_weight(f, n) ...
 *		return DCK_OK;
 *	}
 *
 * What is written is bounded: a path deeper than FORM_DEPTH_MAX, or one with which all paths would
 * be longer than FORM_BYTES_MAX, is left out, and its weights stay with the path around it, so that
 * sums stay right.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_TREE_FORM_H
#define EXPORT_TREE_FORM_H

#include "record/tree/call_tree.h"
#include "record/tree/path_trie.h"
#include "deepclock/report.h"

enum { FORM_DEPTH_MAX = PATH_SUMS_DEPTH_MAX, FORM_BYTES_MAX = 1 << 28 };

typedef struct form_tree {
	dck_tree t;	 /* bounded; nodes and weights are owned */
	dck_tree keyed;	 /* the same with the keys of its frames, which are owned */
	call_tree c;	 /* of `keyed` */
	uint32_t *depth; /* @owned; of each node, an outermost one has 0 */
	size_t weight;	 /* the column that forms of one weight show */
} form_tree;

typedef struct form_doc {
	dck_sink *sink;
	const char *command; /* NULL: not known */
	int64_t unix_ns;     /* when it began; 0: not known */
	uint64_t duration_ns;
	bool threads;		/* the outermost paths are threads, which weigh nothing */
	const form_tree *trees; /* forms of one tree show the first */
	size_t ntrees;
} form_doc;

typedef struct tree_format {
	dck_status (*write)(const form_doc *d, dck_err *err);
	/* What distinguishes functions where the format has less than a record; NULL: all of it. */
	dck_frame (*key)(const dck_frame *frame);
	bool several; /* it holds several trees */
} tree_format;
extern const tree_format form_folded, form_speedscope, form_pprof, form_callgrind, form_pstats;

/* Borrows the frames and texts of t. weight: the key of a column; NULL: call_tree_weight() finds
 * one. */
dck_status form_tree_open(form_tree *f, const dck_tree *t, const char *weight,
			  const tree_format *to, dck_err *err) DCK_MUST_USE;
void form_tree_done(form_tree *f); /* {0} is allowed */

/* A node's own weight, as a whole number. */
int64_t form_weight(const form_tree *f, uint32_t node);
int64_t form_integer(double weight);
static inline const dck_frame *form_frame(const form_tree *f, uint32_t node)
{
	return &f->t.frames[f->t.nodes[node].frame];
}
/* Writes a text on one line: control characters, and `no` (0: none), become blanks. */
void form_put_line(dck_sink *out, const char *text, char no);

#endif
