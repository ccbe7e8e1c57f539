/* math_einsum.c - Einstein summation: the shape and the cost of Einsum, from its equation.
 * https://onnx.ai/onnx/operators/onnx__Einsum.html
 *
 * A label is a letter or one dimension of "...". equation_read() goes over the operands twice:
 * first to find the longest "...", then to give each dimension its label, dimensions of "..."
 * aligned at their ends as in broadcasting, and to merge the sizes of a label, which are equal
 * or 1. The output is the term after "->"; without it, "..." and then the letters that occur once,
 * in the order of ASCII.
 *
 * Cost: the operands are contracted from left to right, two at a time. A contraction takes one MAC
 * for each combination of the labels present; a label is dropped when neither the output nor a
 * later operand has it. This is not the cheapest order, which engines may search for.
 *
 * Bounds: an equation has at most 4096 bytes, a node 256 operands, a term COST_RANK_MAX dimensions.
 * One pass over the operands finds the last use of each label: at most operands x (labels +
 * dimensions) steps.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/cost/rules/math_rules.h"

#include <string.h>

/* A label is a letter (0 to 51) or one dimension of "..." (from 52 on). */
#define LETTERS	 52
#define LABELS	 (LETTERS + COST_RANK_MAX)
#define OPERANDS 256

typedef struct equation {
	sym_int size[LABELS]; /* the size of each label */
	bool sized[LABELS];
	int seen[LABELS]; /* how often each label occurs in the operands */
	int ellipsis;	  /* number of dimensions of the longest "..." */
	int out[COST_RANK_MAX], nout;
	bool explicit;
} equation;

static int letter(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	return c >= 'a' && c <= 'z' ? 26 + c - 'a' : -1;
}

/* Merges another dimension into its label: all sizes of a label are equal, or 1. */
static bool size_merge(op *o, equation *e, int label, sym_int size)
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
	if (sym_known(*is) && sym_known(size)) {
		op_unknown(o, "an index of its equation has the sizes %lld and %lld",
			   (long long)is->v, (long long)size.v);
		return false;
	}
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
				labels[n++] = LETTERS + i;
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
	if (letters < 0 || (dots ? letters > x->rank : letters != x->rank)) {
		op_unknown(o, "its equation does not fit '%s' of %d dimensions", x->name, x->rank);
		return false;
	}
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
		if (labels[i] >= LETTERS)
			labels[i] += longest - own;
}

static int dots_of(const int *labels, int n)
{
	int dots = 0;

	for (int i = 0; i < n; i++)
		dots += labels[i] >= LETTERS;
	return dots;
}

static bool implicit_out(op *o, equation *e)
{
	for (int i = 0; i < e->ellipsis; i++)
		e->out[e->nout++] = LETTERS + i;
	for (int i = 0; i < LETTERS; i++) {
		if (e->seen[i] != 1)
			continue;
		if (e->nout == COST_RANK_MAX) {
			op_unknown(o, "its equation makes more dimensions than any operator takes");
			return false;
		}
		e->out[e->nout++] = i;
	}
	return true;
}

static bool explicit_out(op *o, equation *e, const char *at)
{
	int n = term_read(&at, e->ellipsis, e->out);

	if (n < 0 || *at) {
		op_unknown(o, "its equation cannot be read");
		return false;
	}
	for (int i = 0; i < n; i++)
		if (!e->sized[e->out[i]]) {
			op_unknown(o, "its equation makes an index that no input has");
			return false;
		}
	e->nout = n;
	return true;
}

/* Reads the whole equation. `labels` and `ranks` have a row for each operand; they may be NULL. */
static bool equation_read(op *o, equation *e, int (*labels)[COST_RANK_MAX], int *ranks)
{
	const char *begin = equation_of(o), *at;
	int own[COST_RANK_MAX], n;

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
			if (i + 1 == o->made->nin ? *at == ',' : *at != ',') {
				op_unknown(o, "its equation does not have %zu operands",
					   o->made->nin);
				return false;
			}
			at += *at == ',';
		}
	}
	e->explicit = at[0] == '-' && at[1] == '>';
	if (*at && !e->explicit) {
		op_unknown(o, "its equation cannot be read");
		return false;
	}
	return e->explicit ? explicit_out(o, e, at + 2) : implicit_out(o, e);
}

static void shape_einsum(op *o)
{
	equation e;
	const val *x = op_in(o, 0);

	if (!equation_read(o, &e, NULL, NULL))
		return;
	sym_int *dims = op_dims(o, (size_t)e.nout);
	for (int i = 0; i < e.nout; i++)
		dims[i] = e.size[e.out[i]];
	op_set(o, 0, x->dtype, e.nout, dims);
}

static sym_int product_of(op *o, const equation *e, const bool *has)
{
	sym_int p = sym_const(1);

	for (int i = 0; i < LABELS; i++)
		if (has[i])
			p = sym_mul(o->nums, p, e->size[i]);
	return p;
}

/* Sets the cost. One operand is only summed. Two operands take one MAC for each combination of all
 * their indices. Of more operands the first is multiplied with the second, the result with the
 * third and so on; an index stays while the output or a later operand has it. */
static void cost_einsum(op *o)
{
	size_t n = o->made->nin;
	equation e;
	int(*labels)[COST_RANK_MAX] = mem_arena_array(o->arena, n, sizeof *labels);
	int *ranks = mem_arena_array(o->arena, n, sizeof *ranks);
	bool have[LABELS] = {false}, kept[LABELS];
	size_t last[LABELS] = {0}; /* the last operand that has the label */
	sym_int macs = sym_const(0);

	if (!labels || !ranks || !equation_read(o, &e, labels, ranks)) {
		op_cost_unknown(o, "its equation or the shapes of its inputs are not known");
		return;
	}
	memset(kept, 0, sizeof kept);
	for (int i = 0; i < e.nout; i++)
		kept[e.out[i]] = true;
	for (int k = 0; k < ranks[0]; k++)
		have[labels[0][k]] = true;
	if (n == 1) {
		bool sums = false;
		for (int i = 0; i < LABELS; i++)
			sums |= have[i] && !kept[i];
		op_cost_flops(o, sums ? product_of(o, &e, have) : sym_const(0));
		return;
	}
	for (size_t i = 1; i < n; i++)
		for (int k = 0; k < ranks[i]; k++)
			last[labels[i][k]] = i;
	for (size_t i = 1; i < n; i++) {
		for (int k = 0; k < ranks[i]; k++)
			have[labels[i][k]] = true;
		macs = sym_add(o->nums, macs, product_of(o, &e, have));
		for (int k = 0; k < LABELS; k++)
			have[k] &= kept[k] || last[k] > i;
	}
	op_cost_macs(o, macs, sym_const(0));
}

static const op_row rows[] = {
    {"Einsum", shape_einsum, cost_einsum, .roles = "p",
     .how = "MACs: product of the sizes of all indices of two operands; "
	    "more operands from left to right; one operand: 1 FLOP per element where it sums"},
};

const op_family op_family_math_einsum = {"", rows, sizeof rows / sizeof *rows};
