/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/write/tree_format.h"
#include "base/err.h"
#include "base/id_table.h"
#include "base/mem.h"
#include "base/sink.h"

#include <math.h>
#include <string.h>

/* --- limits of the output */

typedef struct bounding {
	const dck_tree *from;
	form_tree *to;
	dck_tree_node *nodes;
	double *weights;
	uint64_t *bytes; /* length of each node's path: its names and separators */
	uint32_t *node;	 /* per path of `from`: its node, or the enclosing one */
	bool *cut;	 /* per path of `from`: it has no node */
	uint64_t sum;
} bounding;

/* An outermost path is always retained, because its length is bounded by that of its name. */
static void bound_path(bounding *b, size_t i)
{
	const size_t ncolumns = b->from->ncolumns;
	const uint32_t above = b->from->nodes[i].parent, frame = b->from->nodes[i].frame;
	const bool outer = above == DCK_TREE_ROOT;
	const uint32_t parent = outer ? DCK_TREE_ROOT : b->node[above];
	const uint32_t depth = outer ? 0 : b->to->depth[parent] + 1;
	const uint64_t bytes =
	    (outer ? 0 : b->bytes[parent]) + strlen(b->from->frames[frame].name) + 1;
	uint32_t node = parent;

	b->cut[i] =
	    !outer && (b->cut[above] || depth >= FORM_DEPTH_MAX || b->sum + bytes > FORM_BYTES_MAX);
	if (!b->cut[i]) {
		node = (uint32_t)b->to->t.nnodes++;
		b->nodes[node] = (dck_tree_node){parent, frame};
		b->to->depth[node] = depth;
		b->bytes[node] = bytes;
		b->sum += bytes;
	}
	b->node[i] = node;
	for (size_t k = 0; k < ncolumns; k++)
		b->weights[node * ncolumns + k] += b->from->weights[i * ncolumns + k];
}

static bool weights_are_whole(const dck_tree *t)
{
	for (size_t i = 0; i < t->nnodes * t->ncolumns; i++)
		if (t->weights[i] != floor(t->weights[i]))
			return false;
	return true;
}

/* Makes the weights whole numbers. What a path loses or gains by that its function's next one gets,
 * so that the sums of functions are rounded, and not those of their parts. Returns whether the
 * column of one weight had some, and has none afterwards. */
static bool weights_round(const form_tree *f, double *weights, double *carry)
{
	const size_t n = f->t.ncolumns;
	bool had = false, has = false;

	for (uint32_t i = 0; i < f->t.nnodes; i++)
		for (size_t k = 0; k < n; k++) {
			double *own = &weights[i * n + k];
			double *left = &carry[call_tree_function(&f->c, i) * n + k];
			const double v = *own + *left, whole = floor(v + 0.5);

			if (*own == 0)
				continue;
			had |= k == f->weight;
			if (fabs(v) < 1e15) {
				*own = whole;
				*left = v - whole;
			}
			has |= k == f->weight && *own != 0;
		}
	return had && !has;
}

/* For a format of whole numbers. The index is made again, since its totals are sums of weights. */
static dck_status form_tree_round(form_tree *f, double *weights, dck_err *err)
{
	double *carry;

	if (weights_are_whole(&f->t))
		return DCK_OK;
	carry = mem_zalloc(f->c.nfunctions + (size_t)1, (f->t.ncolumns + 1) * sizeof *carry);
	DCK_NEED(carry, err, "for the call paths");
	f->lost = weights_round(f, weights, carry);
	mem_free(carry);
	call_tree_done(&f->c);
	return call_tree_open(&f->c, &f->keyed, err);
}

dck_status form_tree_open(form_tree *f, const dck_tree *t, const char *weight,
			  const tree_format *to, dck_err *err)
{
	const size_t n = t->nnodes + 1;
	bounding b = {.from = t,
		      .to = f,
		      .nodes = mem_zalloc(n, sizeof *b.nodes),
		      .weights = mem_zalloc(n, (t->ncolumns + 1) * sizeof *b.weights),
		      .bytes = mem_zalloc(n, sizeof *b.bytes),
		      .node = mem_zalloc(n, sizeof *b.node),
		      .cut = mem_zalloc(n, sizeof *b.cut)};

	*f = (form_tree){.t = *t, .depth = mem_zalloc(n, sizeof *f->depth)};
	f->t.nodes = b.nodes;
	f->t.weights = b.weights;
	f->t.nnodes = 0;
	dck_frame *keys = mem_zalloc(t->nframes + 1, sizeof *keys);
	const bool ok = f->depth && keys && b.nodes && b.weights && b.bytes && b.node && b.cut;
	for (size_t i = 0; i < t->nframes && ok; i++)
		keys[i] = to->key ? to->key(&t->frames[i]) : t->frames[i];
	for (size_t i = 0; i < t->nnodes && ok; i++)
		bound_path(&b, i);
	mem_free(b.bytes);
	mem_free(b.node);
	mem_free(b.cut);
	f->keyed = f->t;
	f->keyed.frames = keys;
	dck_status status =
	    ok ? call_tree_open(&f->c, &f->keyed, err) : ERR_NO_MEMORY(err, "for the call paths");
	DCK_NEXT(status, call_tree_weight(t, weight, &f->weight, err));
	if (to->whole)
		DCK_NEXT(status, form_tree_round(f, b.weights, err));
	if (status != DCK_OK)
		form_tree_done(f);
	return status;
}

void form_tree_done(form_tree *f)
{
	call_tree_done(&f->c);
	mem_free((void *)f->keyed.frames);
	mem_free((void *)f->t.nodes);
	mem_free((void *)f->t.weights);
	mem_free(f->depth);
	*f = (form_tree){0};
}

/* --- shared by formats */

int64_t form_integer(double weight)
{
	static const double most = 9e18; /* beyond it a double may not fit */

	return weight >= most ? INT64_MAX : weight <= -most ? INT64_MIN : llround(weight);
}

int64_t tree_format_weight(const form_tree *f, uint32_t node)
{
	return form_integer(f->t.weights[node * f->t.ncolumns + f->weight]);
}

void form_put_line(dck_sink *out, const char *text, char no)
{
	char shown[STRING_NAME_MAX];
	const size_t n = utf8_sanitize_copy(shown, text, strlen(text));

	for (size_t i = 0; no && i < n; i++)
		if (shown[i] == no)
			shown[i] = '_';
	sink_put(out, shown, n);
}
