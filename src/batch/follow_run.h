/* follow_run.h - a model followed as a whole.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BATCH_FOLLOW_RUN_H
#define BATCH_FOLLOW_RUN_H

#include "batch/follow.h"

/* ret: everything is in ret->arena, until follow_done(). E_UNSUP: the sentence names the node that
 * does not follow and says why; it is made in `text`. */
dck_status follow_model(const onnx_model *m, int64_t n, int64_t was, mem_arena *text, follow *ret,
			cost_result **ret_cost, dck_err *err);
void follow_done(follow *f);
/* What is done to a node; NULL: nothing. */
const edits *follow_edits(const follow *f, const onnx_node *node);
size_t follow_nedits(const follow *f); /* nodes to which something is done */

#endif
