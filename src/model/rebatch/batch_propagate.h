/* batch_rule_run.h - a model followed as a whole.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BATCH_FOLLOW_RUN_H
#define BATCH_FOLLOW_RUN_H

#include "model/rebatch/batch_rules.h"

#define CHOICES_MAX 4096
#define PREFER_MAX  64

/* A guess that was made on the way. */
typedef struct choice {
	uint64_t what; /* equal places are decided alike */
	int way, ways, parent;
} choice;

typedef struct prefer {
	uint64_t what;
	int way;
} prefer;

struct batch_rule_state {
	choice choices[CHOICES_MAX];
	int nchoices; /* made in this attempt */
	int nfixed;   /* of them decided beforehand */
	prefer prefer[PREFER_MAX];
	size_t nprefer;
	/* Nodes that saw items, so that a body that saw none is reported. */
	size_t touched, stack[COST_DEPTH_MAX + 1], depth, nodes;
	const onnx_node *failed; /* where it ended */
	bool first_input;
	/* Of each node that was seen inside of a function or is edited. */
	edits **seen;
	size_t nseen, slots; /* a power of two */
};

/* ret: everything is in ret->arena, until batch_rule_done(). E_UNSUP: the sentence names the node
 * that does not follow and says why; it is made in `text`. */
dck_status batch_rule_model(const onnx_model *m, int64_t n, int64_t was, mem_arena *text,
			    batch_propagation *ret, cost_result **ret_cost, dck_err *err);
void batch_rule_done(batch_propagation *f);
/* What is done to a node; NULL: nothing. */
const edits *batch_rule_edits(const batch_propagation *f, const onnx_node *node);
size_t batch_rule_nedits(const batch_propagation *f); /* nodes to which something is done */

#endif
