/* polynomial.h - integers that may be open. A dimension that a model calls "batch" has no value
 * before a run; "batch", "12*batch" and "floor((H-1)/2)+1" are computed with and compared like
 * numbers.
 *
 * A number is in one of three states:
 * - known: an integer of 64 bits;
 * - open: a polynomial over symbols. A symbol is a name of the model, a size of at least 1; or it
 * is fresh, made by num_fresh() for what depends on the data of a run, which is at least 0;
 * - absent: not known, for a reason. Whatever is computed from an absent number is absent for the
 *   same reason, but 0 times it is 0. (The functions call this state "none".)
 *
 * Equal numbers are the same object, so that num_same() compares two words.
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

/* The symbol of that name; its value where num_fix() has given it one. */
num num_symbol(num_table *t, const char *name);
/* From now on the symbol is that number. To be called before its first use. */
void num_fix(num_table *t, const char *name, int64_t value);
/* Whether num_symbol() was called with that name. */
bool num_symbol_used(const num_table *t, const char *name);
/* A number that depends on the data of a run, and differs from all others. `what` describes it,
 * "elements of 'x' that are not zero"; it is copied. */
num num_fresh(num_table *t, const char *what);
/* False: n does not depend on that symbol. True: it does, or it is absent, hence unknown. */
bool num_depends(const num_table *t, num n, num symbol);
/* An absent number; the reason is copied. */
num num_none(num_table *t, const char *why, ...) DCK_PRINTF(2, 3);
/* The reason of an absent number; NULL: it is not absent. */
const char *num_why_none(num n);
/* The description of the first num_fresh() that n depends on; NULL: it depends on none. */
const char *num_why_fresh(const num_table *t, num n);

/* An operand that is absent makes the result absent, as does a result beyond 64 bits. */
num num_add(num_table *t, num a, num b);
num num_sub(num_table *t, num a, num b);
num num_mul(num_table *t, num a, num b);
num num_floor_div(num_table *t, num a, num b); /* division by 0: absent */
num num_ceil_div(num_table *t, num a, num b);
num num_max(num_table *t, num a, num b);
num num_min(num_table *t, num a, num b);
/* a / b; false where it is not sure that b divides a for all values of the symbols. */
bool num_div_exact(num_table *t, num a, num b, num *ret);

/* The least value it can take; INT64_MIN: not known. */
int64_t num_least(const num_table *t, num n);

/* How n grows: real multiples of products of open sizes, those with the most factors first, then
 * the largest. floor(a/b) is taken as a/b without the constant term of a, which is exact where b
 * divides the sizes; a maximum is taken as the side that is larger for large sizes. */
typedef struct num_term {
	double coef;
	num of; /* "batch*seq^2"; the integer 1 for a constant term */
	uint32_t degree;
} num_term;
#define NUM_TERMS_MAX 48
/* How many terms; 0: n is absent or 0, or has too many terms. *ret_exact: n had no floor and no
 * maximum. */
size_t num_terms(num_table *t, num n, num_term ret[NUM_TERMS_MAX], bool *ret_exact);
/* The name of the i-th factor of a product of open sizes; *ret_what describes what it depends on,
 * and is NULL for a symbol of the model. False: the product has fewer factors. */
bool num_factor(num_table *t, num product, size_t i, const char **ret_name, const char **ret_what);

/* Equal numbers have equal hashes, also in two tables that met their symbols in the same order. */
uint64_t num_hash(num n);

/* "12*batch+1"; in the arena. "?" for an absent number. */
const char *num_text(num_table *t, num n);

#endif
