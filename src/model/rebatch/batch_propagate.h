/* batch_propagate.h - batch-axis propagation through a whole model, with backtracking.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef REBATCH_BATCH_PROPAGATE_H
#define REBATCH_BATCH_PROPAGATE_H

#include "model/rebatch/batch_rules.h"

#define CHOICES_MAX   4096
#define PREFERRED_MAX 64

/* A choice point. */
typedef struct choice_point {
	uint64_t what; /* equal keys are decided alike */
	int way, ways, parent;
} choice_point;

typedef struct preferred_way {
	uint64_t what;
	int way;
} preferred_way;

struct batch_rule_state {
	choice_point choices[CHOICES_MAX];
	int nchoices; /* made in this attempt */
	int nfixed;   /* the first ones, decided before this attempt */
	preferred_way preferred[PREFERRED_MAX];
	size_t npreferred;
	/* Nodes with batched inputs, so that a body without any is reported. */
	size_t touched, stack[COST_DEPTH_MAX + 1], depth, nodes;
	const onnx_node *failed; /* the node that refused */
	bool first_input;
	/* Of each node that was visited inside a function or is edited. */
	edits **seen;
	size_t nseen, slots; /* a power of two */
};

/* Propagates the batch axis through the model. ret: all is in ret->arena, until batch_rule_done().
 * E_UNSUP: the message names the node that cannot be rebatched, with the reason; it is allocated in
 * `text`. */
dck_status batch_rule_model(const onnx_model *m, int64_t n, int64_t was, mem_arena *text,
			    batch_propagation *ret, cost_result **ret_cost, dck_err *err);
void batch_rule_done(batch_propagation *f);
/* Returns the edits of a node; NULL: none. */
const edits *batch_rule_edits(const batch_propagation *f, const onnx_node *node);
size_t batch_rule_nedits(const batch_propagation *f); /* number of edited nodes */

#endif
