/* module_tree.h - a record's operators as a tree of the modules that they are of: what each costs,
 * and the time where it was measured. The operator stands at the end of its path, with the line of
 * the model's own code that it comes from.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CALLS_MODULE_TREE_H
#define CALLS_MODULE_TREE_H

#include "record/build.h"

/* By which a report for people knows it: tables of operators show the same there. */
#define MODULE_TREE_TITLE "Operators by module"
/* The tree "modules" of the operators so far; nothing where none of them has a module. */
dck_status module_tree_put(record_builder *b, dck_err *err);

#endif
