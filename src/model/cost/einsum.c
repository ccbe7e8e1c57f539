/* einsum.c - the equation of Einsum.
 *
 * einsum_read() goes over the operands twice: first to find the longest "...", then to give each
 * dimension its label, dimensions of "..." aligned at their ends as in broadcasting, and to merge
 * the sizes of a label, which are equal or 1. The output is the term after "->"; without it, "..."
 * and then the letters that occur once, in the order of ASCII.
 *
 * Bounds: an equation has at most 4096 bytes, a node 256 operands, a term COST_RANK_MAX dimensions.
 * https://onnx.ai/onnx/operators/onnx__Einsum.html
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/cost/einsum.h"

#include <string.h>

#define OPERANDS 256

static int letter(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	return c >= 'a' && c <= 'z' ? 26 + c - 'a' : -1;
}

/* Merges another dimension into its label: all sizes of a label are equal, or 1. */
static bool size_merge(op *o, einsum *e, int label, sym_int size)
{
	sym_int *is = &e->size[label];

	e->seen[label]++;
	if (!e->sized[label] || sym_is(*is, 1)) {
		e->sized[label] = true;
		*is = size;
		return true;
	}
	if (sym_is(size, 1) || sym_same(*is, size))
		return true;
	if (sym_known(*is) && sym_known(size))
		return op_unknown(o, "an index of its equation stands for %lld and %lld",
				  (long long)is->v, (long long)size.v);
	if (sym_known(size))
		*is = size;
	else if (!sym_known(*is))
		*is = sym_unknown(o->nums, "either %s or %s", sym_text(o->nums, *is),
				  sym_text(o->nums, size));
	return true;
}

/* Reads the labels of one term and returns their number; -1: the term is not valid. *at moves to
 * the character after it. `dots`: number of dimensions of "...". */
static int term_read(const char **at, int dots, int *labels)
{
	int n = 0;
	bool had = false;

	for (;; (*at)++) {
		char c = **at;
		if (c == ' ')
			continue;
		if (c == '.') {
			if (had || strncmp(*at, "...", 3) != 0 || n + dots > COST_RANK_MAX)
				return -1;
			for (int i = 0; i < dots; i++)
				labels[n++] = EINSUM_LETTERS + i;
			had = true;
			*at += 2;
			continue;
		}
		if (c == '\0' || c == ',' || c == '-')
			return n;
		if (letter(c) < 0 || n == COST_RANK_MAX)
			return -1;
		labels[n++] = letter(c);
	}
}

/* Returns how many letters a term has besides "..."; -1: the term is not valid. */
static int term_letters(const char *at, bool *ret_dots)
{
	int labels[COST_RANK_MAX];

	*ret_dots = false;
	for (const char *c = at; *c && *c != ',' && *c != '-'; c++)
		*ret_dots |= *c == '.';
	return term_read(&at, 0, labels);
}

/* Reads the labels of operand i, one for each of its dimensions. */
static bool operand_read(op *o, const char **at, size_t i, int *labels, int *ret_n)
{
	const val *x = op_need(o, i);
	bool dots;
	int letters = x ? term_letters(*at, &dots) : -1, n;

	if (!x)
		return false;
	if (letters < 0 || (dots ? letters > x->rank : letters != x->rank))
		return op_unknown(o, "its equation does not fit '%s' of %d dimensions", x->name,
				  x->rank);
	n = term_read(at, x->rank - letters, labels);
	*ret_n = n;
	return n == x->rank;
}

static const char *equation_of(op *o)
{
	const char *text = op_attr_text(o, "equation");

	if (!text)
		op_unknown(o, "it has no equation");
	else if (strlen(text) > 4096 || o->made->nin > OPERANDS || !o->made->nin) {
		op_unknown(o, "its equation is too long");
		text = NULL;
	}
	return text;
}

/* The dimensions of "..." are broadcast, so that their last ones are the same: a shorter "..."
 * begins with a later label. */
static void align(int *labels, int n, int own, int longest)
{
	for (int i = 0; i < n; i++)
		if (labels[i] >= EINSUM_LETTERS)
			labels[i] += longest - own;
}

static int dots_of(const int *labels, int n)
{
	int dots = 0;

	for (int i = 0; i < n; i++)
		dots += labels[i] >= EINSUM_LETTERS;
	return dots;
}

static bool implicit_out(op *o, einsum *e)
{
	for (int i = 0; i < e->ellipsis; i++)
		e->out[e->nout++] = EINSUM_LETTERS + i;
	for (int i = 0; i < EINSUM_LETTERS; i++) {
		if (e->seen[i] != 1)
			continue;
		if (e->nout == COST_RANK_MAX)
			return op_unknown(
			    o, "its equation makes more dimensions than any operator takes");
		e->out[e->nout++] = i;
	}
	return true;
}

static bool explicit_out(op *o, einsum *e, const char *at)
{
	int n = term_read(&at, e->ellipsis, e->out);

	if (n < 0 || *at)
		return op_unknown(o, "its equation cannot be read");
	for (int i = 0; i < n; i++)
		if (!e->sized[e->out[i]])
			return op_unknown(o, "its equation makes an index that no input has");
	e->nout = n;
	return true;
}

bool einsum_read(op *o, einsum *e, int (*labels)[COST_RANK_MAX], int *ranks)
{
	const char *begin = equation_of(o), *at;
	int own[COST_RANK_MAX], n = 0;

	memset(e, 0, sizeof *e);
	if (!begin)
		return false;
	/* The first pass finds how long "..." is; the second one gives the dimensions their labels.
	 */
	for (int pass = 0; pass < 2; pass++) {
		at = begin;
		for (size_t i = 0; i < o->made->nin; i++) {
			const val *x;
			if (!operand_read(o, &at, i, own, &n))
				return false;
			int dots = dots_of(own, n);
			if (pass == 0 && dots > e->ellipsis)
				e->ellipsis = dots;
			if (pass == 1) {
				align(own, n, dots, e->ellipsis);
				x = op_in(o, i);
				for (int k = 0; k < n; k++)
					if (!size_merge(o, e, own[k], x->dims[k]))
						return false;
				if (labels)
					memcpy(labels[i], own, sizeof own);
				if (ranks)
					ranks[i] = n;
			}
			if (i + 1 == o->made->nin ? *at == ',' : *at != ',')
				return op_unknown(o, "its equation does not have %zu operands",
						  o->made->nin);
			at += *at == ',';
		}
	}
	e->explicit = at[0] == '-' && at[1] == '>';
	if (*at && !e->explicit)
		return op_unknown(o, "its equation cannot be read");
	return e->explicit ? explicit_out(o, e, at + 2) : implicit_out(o, e);
}
