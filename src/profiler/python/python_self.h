/* python_self.h - the interpreter in the calling process, by what it exports.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef STACK_PYTHON_PYTHON_SELF_H
#define STACK_PYTHON_PYTHON_SELF_H

#include "profiler/python/python_stack.h"

typedef struct python_self {
	void *(*state)(
	    void); /* of the calling thread, by PyGILState_GetThisThreadState(); NULL: none */
	int (*ending)(void); /* Py_IsFinalizing(); NULL: the interpreter does not export it */
} python_self;

/* It asks the loader: not from a signal handler. false: there is none, or its version is not known.
 */
bool python_self_find(python_self *ret_self, const unwind_memory *memory, python_process *ret);

#endif
