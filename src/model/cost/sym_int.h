/* sym_int.h - symbolic integers. A dimension that a model calls "batch" has no value before a run;
 * arithmetic and comparison also work for "batch", "12*batch" and "floor((H-1)/2)+1".
 *
 * A number is in one of three states:
 * - known: an integer of 64 bits;
 * - open: a polynomial over symbols. A symbol is a name of the model, a size of at least 1; or it
 * is fresh, made by sym_unbacked() for a data-dependent size, which is at least 0;
 * - absent: not known, with a reason. A result of an absent operand is absent with the same reason,
 *   except that 0 times it is 0. (The functions call this state "unknown".)
 *
 * Equal numbers are the same object, so that sym_same() compares two words.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COST_SYM_INT_H
#define COST_SYM_INT_H

#include "base/mem.h"
#include <stdbool.h>
#include <stdint.h>

typedef struct sym_poly sym_poly;
typedef struct sym_int {
	int64_t v;
	const sym_poly *p; /* NULL: the integer v */
} sym_int;

typedef struct sym_table sym_table;

/* Returns a new table in the arena; NULL: no memory. */
sym_table *sym_table_new(mem_arena *a);

static inline sym_int sym_const(int64_t v)
{
	return (sym_int){v, NULL};
}
static inline bool sym_known(sym_int n)
{
	return !n.p;
}
static inline bool sym_is(sym_int n, int64_t v)
{
	return !n.p && n.v == v;
}
static inline bool sym_same(sym_int a, sym_int b)
{
	return a.p == b.p && a.v == b.v;
}

/* Returns the symbol of that name, or its value if sym_bind() has set it. */
sym_int sym_symbol(sym_table *t, const char *name);
/* Binds a symbol to a number; call it before the first use of the symbol. */
void sym_bind(sym_table *t, const char *name, int64_t value);
/* Returns whether sym_symbol() was called with that name. */
bool sym_symbol_used(const sym_table *t, const char *name);
/* Returns a new data-dependent symbol, different from all others. `what` describes it, "elements of
 * 'x' that are not zero"; it is copied. */
sym_int sym_unbacked(sym_table *t, const char *what);
/* Returns a new symbol that is 0 or 1, such as whether a branch of an If runs: it is not a size. */
sym_int sym_choice(sym_table *t, const char *what);
/* Returns whether a factor of a term of n is a symbol of sym_choice(). */
bool sym_has_choice(const sym_table *t, sym_int n);
/* Returns whether n depends on that symbol; true also if n is absent. */
bool sym_depends(const sym_table *t, sym_int n, sym_int symbol);
/* Returns an absent number; the reason is copied. */
sym_int sym_unknown(sym_table *t, const char *why, ...) DCK_PRINTF(2, 3);
/* Returns the reason of an absent number; NULL: it is not absent. */
const char *sym_unknown_reason(sym_int n);
/* Returns the description of the first sym_unbacked() that n depends on; NULL: none. */
const char *sym_why_fresh(const sym_table *t, sym_int n);

/* Arithmetic. The result is absent if an operand is absent or if it exceeds 64 bits. */
sym_int sym_add(sym_table *t, sym_int a, sym_int b);
sym_int sym_sub(sym_table *t, sym_int a, sym_int b);
sym_int sym_mul(sym_table *t, sym_int a, sym_int b);
sym_int sym_floor_div(sym_table *t, sym_int a, sym_int b); /* division by 0: absent */
sym_int sym_ceil_div(sym_table *t, sym_int a, sym_int b);
sym_int sym_max(sym_table *t, sym_int a, sym_int b);
sym_int sym_min(sym_table *t, sym_int a, sym_int b);
/* Computes a / b; false: it is not certain that b divides a for all values of the symbols. */
bool sym_div_exact(sym_table *t, sym_int a, sym_int b, sym_int *ret);

/* Returns a lower bound of n; INT64_MIN: not known. */
int64_t sym_lower_bound(const sym_table *t, sym_int n);

/* A term of the growth of n: a real multiple of a product of open sizes. Terms with the most
 * factors are first, then the largest. floor(a/b) counts as a/b without the constant term of a,
 * which is exact if b divides the sizes; a maximum counts as the side that is larger for large
 * sizes. */
typedef struct sym_term {
	double coef;
	sym_int of; /* "batch*seq^2"; the integer 1 for a constant term */
	uint32_t degree;
} sym_term;
#define NUM_TERMS_MAX 48
/* Returns the number of terms; 0: n is absent or 0, or has too many terms. *ret_exact: n had no
 * floor and no maximum. */
size_t sym_terms(sym_table *t, sym_int n, sym_term ret[NUM_TERMS_MAX], bool *ret_exact);
/* Returns the name of the i-th factor of a product of open sizes; *ret_what describes a
 * data-dependent factor, and is NULL for a symbol of the model. False: the product has fewer
 * factors. */
bool sym_factor(sym_table *t, sym_int product, size_t i, const char **ret_name,
		const char **ret_what);

/* Returns a hash: equal for equal numbers, also in two tables that got their symbols in the same
 * order. */
uint64_t sym_hash(sym_int n);

/* Returns "12*batch+1"; in the arena. "?" for an absent number. */
const char *sym_text(sym_table *t, sym_int n);
/* Returns the same of a product that a number is put before: "2*" and it is right. */
const char *sym_product_text(sym_table *t, sym_int n);

#endif
