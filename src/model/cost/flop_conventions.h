/* flop_conventions.h - what other counters would say of the same operators, so that a number in a
 * paper can be explained; and what a training step costs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COST_PEERS_H
#define COST_PEERS_H

#include "model/cost/cost_model.h"

/* One term of a counter's convention: `factor` times the quantity `of`, for operators of these
 * types (where `when` holds; NULL: always). Several rows of a type add up. */
typedef enum peer_quantity {
	PEER_MACS,
	PEER_OUT,    /* elements of the first output */
	PEER_IN,     /* elements of the first input */
	PEER_ROWS,   /* elements of the first input over its last dimension */
	PEER_WEIGHT, /* output elements x elements of one row of weights */
	PEER_OVER,   /* output elements x input channels of a group x window: for a transposed
			convolution this is too much, by the square of its stride */
	PEER_KERNEL  /* output elements x window */
} peer_quantity;

typedef struct peer_term {
	const char *types; /* with a space between */
	peer_quantity of;
	int64_t factor;
	bool (*when)(const cost_result *r, const cost_op *op);
} peer_term;

typedef struct flop_convention {
	const char *name, *help;
	const char *unit; /* "MAC", "FLOP" */
	const peer_term *terms;
	size_t nterms;
	const char *hidden; /* what it depends on that a graph does not show */
	bool partial; /* what it counts for operator types without a row is not known: absent */
} flop_convention;

enum { PEER_COUNTERS = 6 };

/* The counter dck_cost_peers[as]; NULL: there is none. */
const flop_convention *peer_find(int as);

/* What the counter says of all executions of the operator. */
sym_int peer_count(const flop_convention *p, const cost_result *r, const cost_op *op);

/* The cost of the backward pass. An operator with MACs takes as many again for each operand whose
 * gradient is needed: that of a parameter, or of a value that depends on one, but not that of a
 * model's input. Any other operator on the way takes its FLOPs once more. With two operands that is
 * twice the forward pass (Kaplan et al., Scaling Laws for Neural Language Models, 2020,
 * section 2.1). */
typedef struct peer_backward {
	sym_int macs, flops;
} peer_backward;
/* It uses the member `counted` of r's values. */
void peer_backward_count(cost_result *r, peer_backward *ret);

/* How many convolutions have a bias whose name shows that the exporter merged a BatchNormalization
 * into them; 0 where the model still has a BatchNormalization. */
size_t peer_merged_norms(const cost_result *r);

#endif
