/* sym_internal.h - representation of a symbolic integer: a sum of terms, each a coefficient times
 * powers of atoms. For sym_int.c and sym_terms.c only.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COST_SYM_INTERNAL_H
#define COST_SYM_INTERNAL_H

#include "model/cost/sym_int.h"

typedef struct factor {
	uint32_t atom, power;
} factor;

typedef struct packed {
	int64_t coef;
	uint32_t n;
	const factor *f;
} packed;

struct sym_poly {
	const char *why; /* the reason why it is absent; NULL: it is a polynomial */
	uint64_t hash;
	size_t n;
	const packed *terms;
	sym_poly *next;
};

typedef enum atom_kind { ATOM_SYMBOL, ATOM_FRESH, ATOM_DIV, ATOM_MAX, ATOM_MIN } atom_kind;

typedef struct atom {
	atom_kind kind;
	const char *text;    /* a symbol's name, or the description of a fresh number */
	const char *fresh;   /* the description of the first fresh number in it; NULL: none */
	const char *written; /* its formula; NULL: not written yet */
	sym_int a, b;
	int64_t least;
	bool fixed, asked, choice;
	sym_int value;
	int next; /* the next atom with the same hash; -1: none */
} atom;

#define SLOTS 1024u
struct sym_table {
	mem_arena *arena;
	atom *atoms;
	size_t natoms, cap, nfresh;
	int atom_slots[SLOTS];
	/* Polynomials by their hash: lists. The number of slots, a power of two, grows with that of
	 * the polynomials. */
	sym_poly **slots;
	size_t nslots, npolys;
	sym_poly failed; /* the absent number when out of memory */
};

sym_int sym_of_atom(sym_table *t, uint32_t index);
const char *sym_atom_text(sym_table *t, uint32_t index);

#endif
