/* python_self.h - finds the interpreter of the calling process by its exported symbols.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef STACK_PYTHON_PYTHON_SELF_H
#define STACK_PYTHON_PYTHON_SELF_H

#include "profiler/python/python_stack.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef struct python_self {
	void *(*state)(
	    void);	     /* PyGILState_GetThisThreadState() of the calling thread; NULL: none */
	int (*ending)(void); /* Py_IsFinalizing(); NULL: the interpreter does not export it */
} python_self;

/* Calls the loader: not for signal handlers. false: no interpreter, or an unknown version.
 */
bool python_self_find(python_self *ret_self, const unwind_memory *memory, python_process *ret);

/* Parses Py_GetVersion(), "3.9.18 (main, ...)", which all versions have. */
static inline uint32_t python_self_version(void)
{
	const char *(*get)(void);
	void *symbol = dlsym(RTLD_DEFAULT, "Py_GetVersion");
	char *end;

	/* memcpy: ISO C has no conversion from object to function pointers */
	memcpy(&get, &symbol, sizeof symbol);
	const char *text = get ? get() : NULL;
	if (!text || strtoul(text, &end, 10) != 3 || *end != '.')
		return 0;
	return 3u << 24 | (uint32_t)(strtoul(end + 1, NULL, 10) & 0xff) << 16;
}

#endif
