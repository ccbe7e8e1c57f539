/* module_tree.h - tree of a record's operators by module: cost, and time if it was measured. The
 * operator is the last frame of its path, with the line of the model's source that it comes from.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CALLS_MODULE_TREE_H
#define CALLS_MODULE_TREE_H

#include "record/build.h"

/* Text reports identify the tree by it: their tables of operators show the same. */
#define MODULE_TREE_TITLE "Operators by module"
/* Adds the tree "modules" of the operators added before; nothing if no operator has a module. */
dck_status module_tree_put(record_builder *b, dck_err *err);

#endif
