/* flop_conventions.h - FLOP-counting conventions of other tools, to explain published numbers; and
 * the cost of a training step.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COST_FLOP_CONVENTIONS_H
#define COST_FLOP_CONVENTIONS_H

#include "model/cost/cost_model.h"

/* One term of a counter's convention: `factor` times the quantity `of`, for operators of these
 * types (if `when` is true; NULL: always). Several rows of a type add up. */
typedef enum convention_quantity {
	TERM_MACS,
	TERM_OUT,    /* elements of the first output */
	TERM_IN,     /* elements of the first input */
	TERM_ROWS,   /* elements of the first input over its last dimension */
	TERM_WEIGHT, /* output elements x elements of one row of weights */
	TERM_OVER,   /* output elements x input channels of a group x window: for a transposed
			convolution this is too much, by the square of its stride */
	TERM_KERNEL  /* output elements x window */
} convention_quantity;

typedef struct convention_term {
	const char *types; /* separated by spaces */
	convention_quantity of;
	int64_t factor;
	bool (*when)(const cost_result *r, const cost_op *op);
} convention_term;

typedef struct flop_convention {
	const char *name, *help;
	const char *unit; /* "MAC", "FLOP" */
	const convention_term *terms;
	size_t nterms;
	const char *hidden; /* dependences that a graph does not show */
	bool partial;	    /* its count of operator types without a row is not known: absent */
} flop_convention;

enum { CONVENTIONS = 6 };

/* Returns the counter dck_cost_peers[as]; NULL: `as` is out of range. */
const flop_convention *convention_find(int as);

/* Returns the counter's number for all executions of the operator. */
sym_int convention_count(const flop_convention *p, const cost_result *r, const cost_op *op);

/* The cost of the backward pass. An operator with MACs takes them again for each operand whose
 * gradient is needed: a parameter, or a value that depends on one, but not a model's input. Any
 * other operator on the path takes its FLOPs once more. With two operands that is
 * twice the forward pass (Kaplan et al., Scaling Laws for Neural Language Models, 2020,
 * section 2.1). */
typedef struct convention_backward {
	sym_int macs, flops;
} convention_backward;
/* Computes it. Overwrites the member `learned` of r's values. */
void convention_backward_count(cost_result *r, convention_backward *ret);

/* Returns the number of convolutions with a bias whose name shows that the exporter merged a
 * BatchNormalization into them; 0 if the model still has a BatchNormalization. */
size_t convention_merged_norms(const cost_result *r);

#endif
