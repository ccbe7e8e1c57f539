/* sym_terms.c - how an open integer grows with its sizes: its terms, where floors are taken
 * as plain divisions and a maximum as its larger side.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/cost/sym_internal.h"

#include <stdlib.h>

#define RELAX_DEPTH_MAX 24
#define RELAX_POWER_MAX 8u

typedef struct term_sum {
	sym_term term[NUM_TERMS_MAX];
	size_t n;
	bool exact, failed;
} term_sum;

/* Maximum number of atoms that are examined: their formulas may contain atoms again. */
#define RELAX_STEPS_MAX 4096
typedef struct relaxing {
	sym_table *t;
	int steps, depth;
} relaxing;

static uint32_t degree_of(sym_int product)
{
	uint32_t degree = 0;

	for (uint32_t k = 0; product.p && k < product.p->terms[0].n; k++)
		degree += product.p->terms[0].f[k].power;
	return degree;
}

static void sum_add(term_sum *s, double coef, sym_int of)
{
	for (size_t i = 0; i < s->n; i++)
		if (sym_same(s->term[i].of, of)) {
			s->term[i].coef += coef;
			return;
		}
	s->failed |= s->n == NUM_TERMS_MAX || sym_unknown_reason(of);
	if (!s->failed)
		s->term[s->n++] = (sym_term){coef, of, degree_of(of)};
}

static void sum_times(sym_table *t, term_sum *s, const term_sum *by)
{
	term_sum old = *s;

	s->n = 0;
	s->exact &= by->exact;
	s->failed |= by->failed;
	for (size_t i = 0; i < old.n && !s->failed; i++)
		for (size_t k = 0; k < by->n; k++)
			sum_add(s, old.term[i].coef * by->term[k].coef,
				sym_mul(t, old.term[i].of, by->term[k].of));
}

/* The value for large sizes: every open size is taken as 1000. */
static double sum_large(const term_sum *s)
{
	double v = 0;

	for (size_t i = 0; i < s->n; i++) {
		double each = s->term[i].coef;
		for (uint32_t k = 0; k < s->term[i].degree; k++)
			each *= 1000;
		v += each;
	}
	return v;
}

static void terms_relax(relaxing *r, sym_int n, term_sum *ret);

static void relax_atom(relaxing *r, uint32_t index, term_sum *ret)
{
	const atom x = r->t->atoms[index];
	sym_int own = sym_of_atom(r->t, index);
	term_sum other;

	*ret = (term_sum){.term[0] = {1, own, 1}, .n = 1, .exact = true};
	if (x.kind == ATOM_SYMBOL || x.kind == ATOM_FRESH || r->depth == RELAX_DEPTH_MAX)
		return;
	if (r->steps++ >= RELAX_STEPS_MAX) {
		ret->failed = true;
		return;
	}
	if (x.kind == ATOM_DIV && !sym_known(x.b))
		return;
	r->depth++;
	terms_relax(r, x.a, ret);
	if (x.kind != ATOM_DIV)
		terms_relax(r, x.b, &other);
	r->depth--;
	ret->exact = false;
	if (x.kind == ATOM_DIV) {
		size_t n = 0;
		for (size_t i = 0; i < ret->n; i++)
			if (ret->term[i].degree) {
				ret->term[n] = ret->term[i];
				ret->term[n++].coef /= (double)x.b.v;
			}
		ret->n = n;
		return;
	}
	if ((sum_large(&other) > sum_large(ret)) == (x.kind == ATOM_MAX)) {
		bool failed = ret->failed;
		*ret = other;
		ret->failed |= failed;
		ret->exact = false;
	}
}

static void terms_relax(relaxing *r, sym_int n, term_sum *ret)
{
	*ret = (term_sum){.exact = true};
	if (!n.p) {
		if (n.v)
			sum_add(ret, (double)n.v, sym_const(1));
		return;
	}
	ret->failed = n.p->why != NULL;
	for (size_t i = 0; i < n.p->n && !ret->failed; i++) {
		const packed *x = &n.p->terms[i];
		term_sum product = {
		    .term[0] = {(double)x->coef, sym_const(1), 0}, .n = 1, .exact = true};
		for (uint32_t k = 0; k < x->n; k++) {
			term_sum each;
			relax_atom(r, x->f[k].atom, &each);
			product.failed |= x->f[k].power > RELAX_POWER_MAX;
			for (uint32_t j = 0; j < x->f[k].power && !product.failed; j++)
				sum_times(r->t, &product, &each);
		}
		ret->exact &= product.exact;
		ret->failed |= product.failed;
		for (size_t k = 0; k < product.n; k++)
			sum_add(ret, product.term[k].coef, product.term[k].of);
	}
}

static int term_order(const void *va, const void *vb)
{
	const sym_term *a = va, *b = vb;

	if (a->degree != b->degree)
		return a->degree > b->degree ? -1 : 1;
	return (a->coef < b->coef) - (a->coef > b->coef);
}

size_t sym_terms(sym_table *t, sym_int n, sym_term ret[NUM_TERMS_MAX], bool *ret_exact)
{
	size_t kept = 0;
	term_sum s;

	terms_relax(&(relaxing){.t = t}, n, &s);
	if (s.failed)
		return 0;
	for (size_t i = 0; i < s.n; i++)
		if (s.term[i].coef > 1e-9 || s.term[i].coef < -1e-9)
			ret[kept++] = s.term[i];
	qsort(ret, kept, sizeof *ret, term_order);
	*ret_exact = s.exact;
	return kept;
}

bool sym_factor(sym_table *t, sym_int product, size_t i, const char **ret_name,
		const char **ret_what)
{
	if (!product.p || product.p->why || i >= product.p->terms[0].n)
		return false;
	uint32_t index = product.p->terms[0].f[i].atom;
	const atom *x = &t->atoms[index];
	*ret_what = x->kind == ATOM_FRESH ? x->text : NULL;
	*ret_name = sym_atom_text(t, index);
	return *ret_name != NULL;
}
