/* polynomial.h - integers that may be open: polynomials over the symbols of a model's dimensions,
 * so that "batch", "12*batch" and "floor((H-1)/2)+1" are computed with and compared like numbers.
 *
 * Equal expressions are one object, so that num_same() is a comparison of two words. A third state
 * is "none": no number, because of a reason; it swallows whatever it meets.
 * Symbols stand for sizes of at least 1; what depends on values for at least 0.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COST_POLYNOMIAL_H
#define COST_POLYNOMIAL_H

#include "base/mem.h"
#include <stdbool.h>
#include <stdint.h>

typedef struct num_poly num_poly;
typedef struct num {
	int64_t v;
	const num_poly *p; /* NULL: the integer v */
} num;

typedef struct num_table num_table;

/* Lives in the arena; NULL: no memory. */
num_table *num_table_new(mem_arena *a);

static inline num num_int(int64_t v)
{
	return (num){v, NULL};
}
static inline bool num_known(num n)
{
	return !n.p;
}
static inline bool num_is(num n, int64_t v)
{
	return !n.p && n.v == v;
}
static inline bool num_same(num a, num b)
{
	return a.p == b.p && a.v == b.v;
}

/* A symbol of the model; its value where num_fix() gave one. */
num num_symbol(num_table *t, const char *name);
/* From now on the symbol is that number. Before its first use. */
void num_fix(num_table *t, const char *name, int64_t value);
/* Whether num_symbol() was asked for it. */
bool num_symbol_used(const num_table *t, const char *name);
/* A number that depends on the data of a run; a new one on each call. `what`: "elements of 'x' that
 * are not zero"; copied. */
num num_fresh(num_table *t, const char *what);
/* False: n does not depend on that symbol. True: it does, or may: it is no number but a reason. */
bool num_depends(const num_table *t, num n, num symbol);
/* No number, because ...; copied. */
num num_none(num_table *t, const char *why, ...) DCK_PRINTF(2, 3);
/* The reason, or NULL. */
const char *num_why_none(num n);
/* What it depends on that is no symbol of the model (the first of them), or NULL. */
const char *num_why_fresh(const num_table *t, num n);

/* What leaves 64 bits is none. */
num num_add(num_table *t, num a, num b);
num num_sub(num_table *t, num a, num b);
num num_mul(num_table *t, num a, num b);
num num_floor_div(num_table *t, num a, num b); /* division by 0: none */
num num_ceil_div(num_table *t, num a, num b);
num num_max(num_table *t, num a, num b);
num num_min(num_table *t, num a, num b);
/* a / b where b divides a whatever the symbols are. */
bool num_div_exact(num_table *t, num a, num b, num *ret);

/* The least value it can take; INT64_MIN: not known. */
int64_t num_least(const num_table *t, num n);

/* What n grows like: real multiples of products of open sizes, those of most factors first, then
 * the largest. floor(a/b) counts as a/b without a's constant, which is exact where b divides the
 * sizes; of a maximum the side that is larger where all sizes are large. */
typedef struct num_term {
	double coef;
	num of; /* "batch*seq^2"; the integer 1 of a constant */
	uint32_t degree;
} num_term;
#define NUM_TERMS_MAX 48
/* How many; 0: none, the integer 0, or too many. *ret_exact: nothing of that had to be done. */
size_t num_terms(num_table *t, num n, num_term ret[NUM_TERMS_MAX], bool *ret_exact);
/* The i-th factor of a product of open sizes, by name; *ret_what: what it depends on, NULL of a
 * symbol of the model. False: there are fewer. */
bool num_factor(num_table *t, num product, size_t i, const char **ret_name, const char **ret_what);

/* Equal for equal numbers, in every table that made its sizes in the same order. */
uint64_t num_hash(num n);

/* "12*batch+1"; in the arena. None: "?". */
const char *num_text(num_table *t, num n);

#endif
