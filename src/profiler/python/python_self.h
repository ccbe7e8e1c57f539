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

#define PYTHON_313 (3u << 24 | 13u << 16)

typedef enum python_self_found {
	PYTHON_SELF_NONE,  /* no interpreter, or an unknown version */
	PYTHON_SELF_LATER, /* its library is there; python_self_again() finds out when it begins */
	PYTHON_SELF_FOUND,
} python_self_found;

/* Also finds a library that was loaded without RTLD_GLOBAL. Calls the loader: not for signal
 * handlers. */
python_self_found python_self_find(python_self *ret_self, const unwind_memory *memory,
				   python_process *ret);
python_self_found python_self_again(const python_process *p);

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
