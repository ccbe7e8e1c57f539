/* peers.h - what other counters would say of the same operators, so that a number in a paper can be
 * explained; and what a training step costs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COST_PEERS_H
#define COST_PEERS_H

#include "cost/cost_model.h"

/* One term of a counter's convention: `factor` times the quantity `of`, for operators of that type
 * (where `when` holds; NULL: always). Several rows of a type add up. */
typedef enum peer_quantity {
	PEER_MACS,
	PEER_OUT,    /* elements of the first output */
	PEER_IN,     /* elements of the first input */
	PEER_ROWS,   /* elements of the first input over its last dimension */
	PEER_WEIGHT, /* output elements x elements of one row of weights */
	PEER_OVER,   /* output elements x input channels of a group x window: of a transposed
			convolution too much by the square of its stride */
	PEER_KERNEL  /* output elements x window */
} peer_quantity;

typedef struct peer_term {
	const char *type;
	peer_quantity of;
	int64_t factor;
	bool (*when)(const cost_result *r, const cost_op *op);
} peer_term;

typedef struct peer_counter {
	const char *name, *help;
	const char *unit; /* "MAC", "FLOP" */
	const peer_term *terms;
	size_t nterms;
	const char *hidden; /* what a graph cannot show of it */
	bool partial;	    /* what it counts of types without a row is not known here: absent */
} peer_counter;

/* "torchvision", "fvcore", ...; ended by a row with name NULL. */
extern const peer_counter peer_counters[];

/* What the counter says of the operator, all its executions. */
num peer_count(const peer_counter *p, const cost_result *r, const cost_op *op);

/* The backward pass. Of an operator with MACs: as many again for each operand whose gradient is
 * needed (that of a parameter, or of a value that depends on one), none for the model's inputs. Of
 * any other operator on the way: its FLOPs once more. Kaplan et al., Scaling Laws for Neural
 * Language Models (2020), section 2.1, is the case of two operands: twice the forward pass. */
typedef struct peer_backward {
	num macs, flops;
} peer_backward;
/* Marks values of r (val.counted). */
void peer_backward_count(cost_result *r, peer_backward *ret);

/* A sign that the exporter merged BatchNormalization into convolutions: convolutions with a bias of
 * folded name, and no BatchNormalization. Counted: such convolutions. */
size_t peer_merged_norms(const cost_result *r);

#endif
