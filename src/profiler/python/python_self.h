/* python_self.h - finds the interpreter of the calling process by its exported symbols.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef STACK_PYTHON_PYTHON_SELF_H
#define STACK_PYTHON_PYTHON_SELF_H

#include "profiler/python/python_stack.h"

typedef struct python_self {
	void *(*state)(
	    void);	     /* PyGILState_GetThisThreadState() of the calling thread; NULL: none */
	int (*ending)(void); /* Py_IsFinalizing(); NULL: the interpreter does not export it */
} python_self;

/* Calls the loader: not for signal handlers. false: no interpreter, or an unknown version.
 */
bool python_self_find(python_self *ret_self, const unwind_memory *memory, python_process *ret);

#endif
