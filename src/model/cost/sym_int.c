/* sym_int.c - arithmetic of integers that may be open: polynomials with integer coefficients
 * over atoms. An atom is a symbol of the model, a number that depends on the data of a run, or a
 * floor division, maximum or minimum that cannot be resolved.
 *
 * Example: floor((2*H + 3) / 2) * C has the two terms H*C and C, since (2*H + 3) / 2 is H + 3/2.
 * But floor((H - 1) / 2) is a new atom.
 *
 * Invariants: terms are in lexicographic order of their exponents, the largest first, and no
 * coefficient is 0. So the representation of a polynomial is canonical, and exact division works
 * (Cox, Little, O'Shea: Ideals, Varieties, and Algorithms, section 2.3). Each polynomial and each
 * atom is one object in its table: equal numbers are equal pointers. An integer that fits into 64
 * bits is never an object.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/cost/sym_internal.h"
#include "base/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longer expressions are absent: they are unreadable, and a hostile model must not make them grow.
 */
#define TERMS_MAX   192
#define FACTORS_MAX 12
#define ATOMS_MAX   100000u
/* The formula of an atom is written in full in each polynomial that has it: a longer one is "...".
 * That of a polynomial is cut after TEXT_MAX bytes. */
#define ATOM_TEXT_MAX 4000u
#define TEXT_MAX      65536u

typedef struct term {
	int64_t coef;
	uint32_t n;
	factor f[FACTORS_MAX];
} term;

sym_table *sym_table_new(mem_arena *a)
{
	sym_table *t = mem_arena_alloc(a, sizeof *t);

	if (!t)
		return NULL;
	t->arena = a;
	t->failed.why = "out of memory";
	t->nslots = SLOTS;
	t->slots = mem_arena_array(a, t->nslots, sizeof *t->slots);
	if (!t->slots)
		return NULL;
	for (size_t i = 0; i < SLOTS; i++)
		t->atom_slots[i] = -1;
	return t;
}

static sym_int polynomial_failed(sym_table *t)
{
	return (sym_int){0, &t->failed};
}

sym_int sym_unknown(sym_table *t, const char *why, ...)
{
	sym_poly *p = mem_arena_alloc(t->arena, sizeof *p);
	va_list ap;

	if (!p)
		return polynomial_failed(t);
	va_start(ap, why);
	p->why = mem_arena_vfmt(t->arena, why, ap);
	va_end(ap);
	return p->why ? (sym_int){0, p} : polynomial_failed(t);
}

const char *sym_unknown_reason(sym_int n)
{
	return n.p ? n.p->why : NULL;
}

uint64_t sym_hash(sym_int n)
{
	return (uint64_t)n.v + (n.p ? n.p->hash : 0);
}

static uint64_t atom_hash(atom_kind kind, const char *text, sym_int a, sym_int b)
{
	uint64_t h = hash_number(11, kind), name = 7;

	if (kind == ATOM_SYMBOL) {
		for (; *text; text++)
			name = hash_number(name, (unsigned char)*text);
		return hash_number(h, name);
	}
	return hash_number(hash_number(h, sym_hash(a)), sym_hash(b));
}

/* The index of that atom, which is made where it is new; UINT32_MAX: no memory, or too many atoms.
 */
static uint32_t atom_get(sym_table *t, atom_kind kind, const char *text, sym_int a, sym_int b,
			 int64_t least)
{
	uint64_t h = atom_hash(kind, text, a, b) % SLOTS;

	if (kind != ATOM_FRESH)
		for (int i = t->atom_slots[h]; i >= 0; i = t->atoms[i].next) {
			const atom *x = &t->atoms[i];
			if (x->kind != kind)
				continue;
			if (kind == ATOM_SYMBOL ? strcmp(x->text, text) == 0
						: sym_same(x->a, a) && sym_same(x->b, b))
				return (uint32_t)i;
		}
	if (t->natoms == ATOMS_MAX)
		return UINT32_MAX;
	if (t->natoms == t->cap) {
		size_t cap = t->cap ? 2 * t->cap : 32;
		atom *more = mem_arena_array(t->arena, cap, sizeof *more);
		if (!more)
			return UINT32_MAX;
		if (t->natoms)
			memcpy(more, t->atoms, t->natoms * sizeof *more);
		t->atoms = more;
		t->cap = cap;
	}
	const char *kept = text ? mem_arena_dup(t->arena, text) : NULL;
	if (text && !kept)
		return UINT32_MAX;
	const char *fresh = kind == ATOM_FRESH ? kept : sym_why_fresh(t, a);
	t->atoms[t->natoms] = (atom){.kind = kind,
				     .text = kept,
				     .fresh = fresh ? fresh : sym_why_fresh(t, b),
				     .a = a,
				     .b = b,
				     .least = least,
				     .next = t->atom_slots[h]};
	t->atom_slots[h] = (int)t->natoms;
	return (uint32_t)t->natoms++;
}

/* Doubles the slots where the lists have become long. */
static void slots_grow(sym_table *t)
{
	const size_t n = 2 * t->nslots;
	sym_poly **slots = t->npolys < n ? NULL : mem_arena_array(t->arena, n, sizeof *slots);

	if (!slots)
		return;
	for (size_t i = 0; i < t->nslots; i++)
		for (sym_poly *p = t->slots[i], *next; p; p = next) {
			next = p->next;
			p->next = slots[p->hash & (n - 1)];
			slots[p->hash & (n - 1)] = p;
		}
	t->slots = slots;
	t->nslots = n;
}

/* Returns the unique object of these terms, which are in order and have no coefficient 0. */
static sym_int polynomial_intern(sym_table *t, const term *terms, size_t n)
{
	uint64_t h = 3;
	size_t factors = 0;

	if (!n)
		return sym_const(0);
	if (n == 1 && !terms[0].n)
		return sym_const(terms[0].coef);
	for (size_t i = 0; i < n; i++) {
		h = hash_number(h, (uint64_t)terms[i].coef);
		for (uint32_t k = 0; k < terms[i].n; k++)
			h = hash_number(h,
					((uint64_t)terms[i].f[k].atom << 32) | terms[i].f[k].power);
		factors += terms[i].n;
	}
	for (const sym_poly *p = t->slots[h & (t->nslots - 1)]; p; p = p->next) {
		bool same = p->hash == h && p->n == n;
		for (size_t i = 0; same && i < n; i++)
			same = p->terms[i].coef == terms[i].coef && p->terms[i].n == terms[i].n &&
			       (!terms[i].n ||
				!memcmp(p->terms[i].f, terms[i].f, terms[i].n * sizeof(factor)));
		if (same)
			return (sym_int){0, p};
	}
	sym_poly *p = mem_arena_alloc(t->arena, sizeof *p);
	packed *list = mem_arena_array(t->arena, n, sizeof *list);
	factor *all = mem_arena_array(t->arena, factors, sizeof *all);
	if (!p || !list || !all)
		return polynomial_failed(t);
	for (size_t i = 0; i < n; i++) {
		list[i] = (packed){terms[i].coef, terms[i].n, all};
		if (terms[i].n)
			memcpy(all, terms[i].f, terms[i].n * sizeof *all);
		all += terms[i].n;
	}
	slots_grow(t);
	*p = (sym_poly){.hash = h, .n = n, .terms = list, .next = t->slots[h & (t->nslots - 1)]};
	t->slots[h & (t->nslots - 1)] = p;
	t->npolys++;
	return (sym_int){0, p};
}

sym_int sym_of_atom(sym_table *t, uint32_t index)
{
	term x = {.coef = 1, .n = 1, .f = {{index, 1}}};

	if (index == UINT32_MAX)
		return sym_unknown(t, "the model has too many open sizes");
	return polynomial_intern(t, &x, 1);
}

sym_int sym_symbol(sym_table *t, const char *name)
{
	uint32_t i = atom_get(t, ATOM_SYMBOL, name, sym_const(0), sym_const(0), 1);

	if (i != UINT32_MAX)
		t->atoms[i].asked = true;
	if (i != UINT32_MAX && t->atoms[i].fixed)
		return t->atoms[i].value;
	return sym_of_atom(t, i);
}

void sym_bind(sym_table *t, const char *name, int64_t value)
{
	uint32_t i = atom_get(t, ATOM_SYMBOL, name, sym_const(0), sym_const(0), 1);

	if (i == UINT32_MAX)
		return;
	t->atoms[i].fixed = true;
	t->atoms[i].value = sym_const(value);
}

bool sym_symbol_used(const sym_table *t, const char *name)
{
	for (size_t i = 0; i < t->natoms; i++)
		if (t->atoms[i].kind == ATOM_SYMBOL && t->atoms[i].asked &&
		    strcmp(t->atoms[i].text, name) == 0)
			return true;
	return false;
}

sym_int sym_unbacked(sym_table *t, const char *what)
{
	return sym_of_atom(
	    t, atom_get(t, ATOM_FRESH, what, sym_const((int64_t)++t->nfresh), sym_const(0), 0));
}

sym_int sym_choice(sym_table *t, const char *what)
{
	const uint32_t at =
	    atom_get(t, ATOM_FRESH, what, sym_const((int64_t)++t->nfresh), sym_const(0), 0);

	if (at != UINT32_MAX)
		t->atoms[at].choice = true;
	return sym_of_atom(t, at);
}

bool sym_has_choice(const sym_table *t, sym_int n)
{
	for (size_t i = 0; n.p && i < n.p->n; i++)
		for (uint32_t k = 0; k < n.p->terms[i].n; k++)
			if (t->atoms[n.p->terms[i].f[k].atom].choice)
				return true;
	return false;
}

const char *sym_why_fresh(const sym_table *t, sym_int n)
{
	for (size_t i = 0; n.p && i < n.p->n; i++)
		for (uint32_t k = 0; k < n.p->terms[i].n; k++) {
			const atom *x = &t->atoms[n.p->terms[i].f[k].atom];

			if (x->fresh)
				return x->fresh;
		}
	return NULL;
}

/* The most steps of a search: atoms contain formulas, and a formula may occur in many of them. */
#define DEPENDS_STEPS 4096

static bool depends(const sym_table *t, sym_int n, uint32_t wanted, int *left)
{
	for (size_t i = 0; n.p && i < n.p->n; i++)
		for (uint32_t k = 0; k < n.p->terms[i].n; k++) {
			uint32_t at = n.p->terms[i].f[k].atom;
			const atom *x = &t->atoms[at];
			if (at == wanted || --*left < 0)
				return true;
			if (x->kind != ATOM_SYMBOL && x->kind != ATOM_FRESH &&
			    (depends(t, x->a, wanted, left) || depends(t, x->b, wanted, left)))
				return true;
		}
	return n.p && n.p->why;
}

bool sym_depends(const sym_table *t, sym_int n, sym_int symbol)
{
	int left = DEPENDS_STEPS;

	return n.p && symbol.p && symbol.p->n == 1 && symbol.p->terms[0].n == 1 &&
	       depends(t, n, symbol.p->terms[0].f[0].atom, &left);
}

/* Compares the exponents of a and b, that of the smallest atom first. Below 0: a comes after b. */
static int monomial_order(const factor *a, uint32_t na, const factor *b, uint32_t nb)
{
	for (uint32_t i = 0; i < na || i < nb; i++) {
		if (i == na)
			return -1;
		if (i == nb)
			return 1;
		if (a[i].atom != b[i].atom)
			return a[i].atom < b[i].atom ? 1 : -1;
		if (a[i].power != b[i].power)
			return a[i].power > b[i].power ? 1 : -1;
	}
	return 0;
}

/* Returns a number as terms: the integer 0 has no terms, any other integer one without factors. */
typedef struct term_list {
	const packed *term;
	size_t n;
	packed constant;
} term_list;

static void terms_of(sym_int a, term_list *ret)
{
	ret->constant = (packed){.coef = a.v};
	ret->term = a.p ? a.p->terms : &ret->constant;
	ret->n = a.p ? a.p->n : a.v != 0;
}

static void polynomial_unpack(const packed *p, term *ret)
{
	ret->coef = p->coef;
	ret->n = p->n;
	if (p->n)
		memcpy(ret->f, p->f, p->n * sizeof *p->f);
}

static sym_int overflow(sym_table *t)
{
	return sym_unknown(t, "it does not fit into 64 bits");
}

static sym_int too_long(sym_table *t)
{
	return sym_unknown(t, "its formula is too long");
}

/* a + b * c, where c is 1 or -1 */
static sym_int add_scaled(sym_table *t, sym_int a, sym_int b, int64_t c)
{
	term sum[TERMS_MAX];
	term_list x, y;
	size_t i = 0, k = 0, n = 0;
	int64_t v;

	if (sym_unknown_reason(a) || sym_unknown_reason(b))
		return sym_unknown_reason(a) ? a : b;
	if (!a.p && !b.p)
		return (c > 0 ? __builtin_add_overflow(a.v, b.v, &v)
			      : __builtin_sub_overflow(a.v, b.v, &v))
			   ? overflow(t)
			   : sym_const(v);
	terms_of(a, &x);
	terms_of(b, &y);
	while (i < x.n || k < y.n) {
		int64_t coef = 0;
		int order =
		    i == x.n   ? -1
		    : k == y.n ? 1
			       : monomial_order(x.term[i].f, x.term[i].n, y.term[k].f, y.term[k].n);
		const packed *from = order >= 0 ? &x.term[i] : &y.term[k];
		if (order <= 0 && __builtin_mul_overflow(y.term[k].coef, c, &coef))
			return overflow(t);
		if (order >= 0 && __builtin_add_overflow(coef, x.term[i].coef, &coef))
			return overflow(t);
		i += order >= 0;
		k += order <= 0;
		if (!coef)
			continue;
		if (n == TERMS_MAX)
			return too_long(t);
		polynomial_unpack(from, &sum[n]);
		sum[n++].coef = coef;
	}
	return polynomial_intern(t, sum, n);
}

sym_int sym_add(sym_table *t, sym_int a, sym_int b)
{
	return add_scaled(t, a, b, 1);
}

sym_int sym_sub(sym_table *t, sym_int a, sym_int b)
{
	return add_scaled(t, a, b, -1);
}

/* 1: done; 0: the coefficient overflows; -1: too many factors */
static int term_times(const packed *a, const packed *b, term *ret)
{
	uint32_t i = 0, k = 0, n = 0;

	if (__builtin_mul_overflow(a->coef, b->coef, &ret->coef))
		return 0;
	while (i < a->n || k < b->n) {
		if (n == FACTORS_MAX)
			return -1;
		if (k == b->n || (i < a->n && a->f[i].atom < b->f[k].atom))
			ret->f[n++] = a->f[i++];
		else if (i == a->n || b->f[k].atom < a->f[i].atom)
			ret->f[n++] = b->f[k++];
		else {
			ret->f[n] = a->f[i++];
			if (__builtin_add_overflow(ret->f[n].power, b->f[k++].power,
						   &ret->f[n].power))
				return -1;
			n++;
		}
	}
	ret->n = n;
	return 1;
}

sym_int sym_mul(sym_table *t, sym_int a, sym_int b)
{
	term product;
	term_list x, y;
	sym_int sum = sym_const(0);
	int64_t v;

	if (sym_is(a, 0) || sym_is(b, 0))
		return sym_const(0); /* 0 times an absent number is 0 */
	if (sym_unknown_reason(a) || sym_unknown_reason(b))
		return sym_unknown_reason(a) ? a : b;
	if (!a.p && !b.p)
		return __builtin_mul_overflow(a.v, b.v, &v) ? overflow(t) : sym_const(v);
	if (sym_is(a, 1))
		return b;
	if (sym_is(b, 1))
		return a;
	terms_of(a, &x);
	terms_of(b, &y);
	if (x.n * y.n > TERMS_MAX)
		return too_long(t);
	for (size_t i = 0; i < x.n; i++)
		for (size_t k = 0; k < y.n; k++) {
			int ok = term_times(&x.term[i], &y.term[k], &product);
			if (ok <= 0)
				return ok ? too_long(t) : overflow(t);
			sum = sym_add(t, sum, polynomial_intern(t, &product, 1));
			if (sym_unknown_reason(sum))
				return sum;
		}
	return sum;
}

/* False: the term b does not divide the term a. */
static bool term_over(const packed *a, const packed *b, term *ret)
{
	uint32_t i = 0, k = 0, n = 0;

	if (b->coef == 0 || (b->coef == -1 && a->coef == INT64_MIN) || a->coef % b->coef)
		return false;
	ret->coef = a->coef / b->coef;
	while (i < a->n) {
		factor f = a->f[i++];
		if (k < b->n && b->f[k].atom == f.atom) {
			if (b->f[k].power > f.power)
				return false;
			f.power -= b->f[k++].power;
		}
		if (f.power)
			ret->f[n++] = f;
	}
	ret->n = n;
	return k == b->n;
}

bool sym_div_exact(sym_table *t, sym_int a, sym_int b, sym_int *ret)
{
	term ratio;
	term_list top, below;
	sym_int quotient = sym_const(0), left = a;

	if (sym_unknown_reason(a) || sym_unknown_reason(b) || sym_is(b, 0))
		return false;
	terms_of(b, &below);
	for (size_t steps = 0; !sym_is(left, 0); steps++) {
		terms_of(left, &top);
		if (steps == TERMS_MAX || !term_over(&top.term[0], &below.term[0], &ratio))
			return false;
		sym_int q = polynomial_intern(t, &ratio, 1);
		quotient = sym_add(t, quotient, q);
		left = sym_sub(t, left, sym_mul(t, q, b));
		if (sym_unknown_reason(left) || sym_unknown_reason(quotient))
			return false;
	}
	*ret = quotient;
	return true;
}

static int64_t floor_div(int64_t a, int64_t b)
{
	int64_t q = a / b;

	return q - (a % b != 0 && (a < 0) != (b < 0));
}

/* Whether a is floor(x/m) + k with an integer m > 0: floor(a/b) is then floor((x + k*m)/(m*b))
 * (Graham, Knuth, Patashnik 1994, Concrete Mathematics, (3.11)). */
static bool is_nested_div(sym_table *t, sym_int a, int64_t b, sym_int *ret_a, sym_int *ret_b)
{
	const atom *inner = NULL;
	int64_t k = 0, m;

	for (size_t i = 0; i < a.p->n; i++) {
		const packed *x = &a.p->terms[i];

		if (x->n == 0)
			k = x->coef;
		else if (!inner && x->n == 1 && x->coef == 1 && x->f[0].power == 1)
			inner = &t->atoms[x->f[0].atom];
		else
			return false;
	}
	if (!inner || inner->kind != ATOM_DIV || inner->b.p || inner->b.v <= 0 ||
	    __builtin_mul_overflow(inner->b.v, b, &m) || __builtin_mul_overflow(inner->b.v, k, &k))
		return false;
	*ret_a = sym_add(t, inner->a, sym_const(k));
	*ret_b = sym_const(m);
	return true;
}

sym_int sym_floor_div(sym_table *t, sym_int a, sym_int b)
{
	sym_int exact, inner, product, whole = sym_const(0), rest = sym_const(0);

	if (sym_unknown_reason(a) || sym_unknown_reason(b))
		return sym_unknown_reason(a) ? a : b;
	if (sym_is(b, 0) || (sym_is(b, -1) && sym_is(a, INT64_MIN)))
		return sym_unknown(t, "it is a division by zero");
	if (!a.p && !b.p)
		return sym_const(floor_div(a.v, b.v));
	if (sym_div_exact(t, a, b, &exact))
		return exact;
	if (!b.p && b.v > 0) {
		/* floor((b*q + r) / b) is q + floor(r / b): only r stays under the division. */
		for (size_t i = 0; i < a.p->n; i++) {
			term x;
			polynomial_unpack(&a.p->terms[i], &x);
			int64_t q = floor_div(x.coef, b.v), r = x.coef - q * b.v;
			x.coef = q;
			if (q)
				whole = sym_add(t, whole, polynomial_intern(t, &x, 1));
			x.coef = r;
			if (r)
				rest = sym_add(t, rest, polynomial_intern(t, &x, 1));
		}
		if (!rest.p)
			return sym_add(t, whole, sym_const(floor_div(rest.v, b.v)));
		if (is_nested_div(t, rest, b.v, &inner, &product))
			return sym_add(t, whole, sym_floor_div(t, inner, product));
	} else
		rest = a;
	int64_t least = sym_lower_bound(t, rest), most_b = b.p ? 0 : b.v;
	least = least == INT64_MIN			   ? INT64_MIN
		: most_b > 0				   ? floor_div(least, most_b)
		: least >= 0 && sym_lower_bound(t, b) >= 1 ? 0
							   : INT64_MIN;
	return sym_add(t, whole, sym_of_atom(t, atom_get(t, ATOM_DIV, NULL, rest, b, least)));
}

sym_int sym_ceil_div(sym_table *t, sym_int a, sym_int b)
{
	return sym_floor_div(t, sym_add(t, a, sym_sub(t, b, sym_const(1))), b);
}

int64_t sym_lower_bound(const sym_table *t, sym_int n)
{
	int64_t sum = 0;

	if (!n.p)
		return n.v;
	if (n.p->why)
		return INT64_MIN;
	for (size_t i = 0; i < n.p->n; i++) {
		const packed *x = &n.p->terms[i];
		int64_t least = x->coef;
		if (x->n && x->coef < 0)
			return INT64_MIN; /* a negative term: nothing bounds its symbols from above
					   */
		for (uint32_t k = 0; k < x->n; k++) {
			int64_t each = t->atoms[x->f[k].atom].least;
			if (each < 0)
				return INT64_MIN;
			for (uint32_t j = 0; j < x->f[k].power && j < 64 && each != 1; j++)
				if (__builtin_mul_overflow(least, each, &least))
					return INT64_MIN;
		}
		if (__builtin_add_overflow(sum, least, &sum))
			return INT64_MIN;
	}
	return sum;
}

/* Whether a is a minimum or maximum and b is one of its two sides. */
static bool is_extreme_of(const sym_table *t, sym_int a, sym_int b, atom_kind *ret)
{
	const packed *x = a.p && a.p->n == 1 ? &a.p->terms[0] : NULL;

	if (!x || x->coef != 1 || x->n != 1 || x->f[0].power != 1)
		return false;
	const atom *of = &t->atoms[x->f[0].atom];
	*ret = of->kind;
	return (of->kind == ATOM_MAX || of->kind == ATOM_MIN) &&
	       (sym_same(of->a, b) || sym_same(of->b, b));
}

static sym_int extreme(sym_table *t, atom_kind kind, sym_int a, sym_int b)
{
	atom_kind inner;

	if (sym_unknown_reason(a) || sym_unknown_reason(b))
		return sym_unknown_reason(a) ? a : b;
	/* Where the sign of the difference is known it decides. */
	if (sym_same(a, b) || sym_lower_bound(t, sym_sub(t, a, b)) >= 0)
		return kind == ATOM_MAX ? a : b;
	if (sym_lower_bound(t, sym_sub(t, b, a)) >= 0)
		return kind == ATOM_MAX ? b : a;
	/* min(min(x, y), x) is min(x, y), and max(min(x, y), x) is x. */
	if (is_extreme_of(t, a, b, &inner))
		return inner == kind ? a : b;
	if (is_extreme_of(t, b, a, &inner))
		return inner == kind ? b : a;
	int64_t la = sym_lower_bound(t, a), lb = sym_lower_bound(t, b);
	bool larger = kind == ATOM_MAX ? la > lb : la < lb;
	/* max(a, b) and max(b, a) are one atom: the sides are sorted. */
	bool swap = a.p && b.p ? a.p->hash > b.p->hash : !a.p;
	return sym_of_atom(t,
			   atom_get(t, kind, NULL, swap ? b : a, swap ? a : b, larger ? la : lb));
}

sym_int sym_max(sym_table *t, sym_int a, sym_int b)
{
	if (!a.p && !b.p)
		return a.v > b.v ? a : b;
	return extreme(t, ATOM_MAX, a, b);
}

sym_int sym_min(sym_table *t, sym_int a, sym_int b)
{
	if (!a.p && !b.p)
		return a.v < b.v ? a : b;
	return extreme(t, ATOM_MIN, a, b);
}

static const char *sym_polynomial_text(sym_table *t, sym_int n, bool multiplied, size_t most);

static const char *atom_write(sym_table *t, const atom *x)
{
	const char *a, *b;

	if (x->kind == ATOM_SYMBOL)
		return x->text;
	if (x->kind == ATOM_FRESH)
		return mem_arena_fmt(t->arena, "u%" PRId64, x->a.v);
	a = sym_polynomial_text(t, x->a, false, ATOM_TEXT_MAX);
	b = sym_polynomial_text(t, x->b, false, ATOM_TEXT_MAX);
	if (strlen(a) + strlen(b) > ATOM_TEXT_MAX)
		return "...";
	if (x->kind == ATOM_DIV)
		return x->b.p ? mem_arena_fmt(t->arena, "floor((%s)/(%s))", a, b)
			      : mem_arena_fmt(t->arena, "floor((%s)/%s)", a, b);
	return x->kind == ATOM_MAX ? mem_arena_fmt(t->arena, "max(%s, %s)", a, b)
				   : mem_arena_fmt(t->arena, "min(%s, %s)", a, b);
}

const char *sym_atom_text(sym_table *t, uint32_t index)
{
	if (!t->atoms[index].written)
		t->atoms[index].written = atom_write(t, &t->atoms[index]);
	return t->atoms[index].written;
}

/* Returns the text of a factor; multiplied: a name that is an expression, "a+b/2", has brackets. */
static const char *sym_factor_text(sym_table *t, uint32_t index, bool multiplied)
{
	const char *text = sym_atom_text(t, index);

	return text && multiplied && t->atoms[index].kind == ATOM_SYMBOL && strpbrk(text, "+-*/^%")
		   ? mem_arena_fmt(t->arena, "(%s)", text)
		   : text;
}

/* most: it is cut after that many bytes. */
static const char *sym_polynomial_text(sym_table *t, sym_int n, bool multiplied, size_t most)
{
	const char *text = "";

	if (!n.p)
		return mem_arena_fmt(t->arena, "%" PRId64, n.v);
	if (n.p->why)
		return "?";
	for (size_t i = 0; i < n.p->n && text; i++) {
		if (strlen(text) > most)
			return mem_arena_fmt(t->arena, "%s+...", text);
		const packed *x = &n.p->terms[i];
		const char *sign = x->coef < 0 ? "-" : i ? "+" : "", *star = "";
		uint64_t size = x->coef < 0 ? 0 - (uint64_t)x->coef : (uint64_t)x->coef;
		text = mem_arena_fmt(t->arena, "%s%s", text, sign);
		if ((size != 1 || !x->n) && text) {
			text = mem_arena_fmt(t->arena, "%s%" PRIu64, text, size);
			star = "*";
		}
		for (uint32_t k = 0; k < x->n && text; k++) {
			const char *f = sym_factor_text(t, x->f[k].atom,
							multiplied || size != 1 || x->n > 1 ||
							    x->f[k].power > 1 || x->coef < 0);
			text = f && x->f[k].power == 1
				   ? mem_arena_fmt(t->arena, "%s%s%s", text, star, f)
			       : f ? mem_arena_fmt(t->arena, "%s%s%s^%" PRIu32, text, star, f,
						   x->f[k].power)
				   : NULL;
			star = "*";
		}
	}
	return text ? text : "?";
}

const char *sym_text(sym_table *t, sym_int n)
{
	return sym_polynomial_text(t, n, false, TEXT_MAX);
}

const char *sym_product_text(sym_table *t, sym_int n)
{
	return sym_polynomial_text(t, n, true, TEXT_MAX);
}
