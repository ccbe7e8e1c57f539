/* polynomial_inside.h - what an open integer is made of.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COST_POLYNOMIAL_INSIDE_H
#define COST_POLYNOMIAL_INSIDE_H

#include "cost/polynomial.h"

typedef struct factor {
	uint32_t atom, power;
} factor;

typedef struct packed {
	int64_t coef;
	uint32_t n;
	const factor *f;
} packed;

struct num_poly {
	const char *why; /* none */
	uint64_t hash;
	size_t n;
	const packed *terms;
	const num_poly *next;
};

typedef enum atom_kind { ATOM_SYMBOL, ATOM_FRESH, ATOM_DIV, ATOM_MAX, ATOM_MIN } atom_kind;

typedef struct atom {
	atom_kind kind;
	const char *text; /* name, or what it is */
	num a, b;
	int64_t least;
	bool fixed, asked;
	num value;
	int next; /* of the same slot */
} atom;

#define SLOTS 1024u
struct num_table {
	mem_arena *arena;
	atom *atoms;
	size_t natoms, cap, nfresh;
	int atom_slots[SLOTS];
	const num_poly *slots[SLOTS];
	num_poly failed; /* where there is no memory for a reason */
};

num num_of_atom(num_table *t, uint32_t index);
const char *num_atom_text(num_table *t, uint32_t index);

#endif
