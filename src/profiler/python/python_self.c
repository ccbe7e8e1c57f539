/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/python/python_self.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static void python_function_find(const char *name, void *to)
{
	void *found = dlsym(RTLD_DEFAULT, name);

	memcpy(to, &found,
	       sizeof found); /* ISO C has no conversion from object to function pointers */
}

/* Parses Py_GetVersion(), "3.9.18 (main, ...)", which all versions have. */
static uint32_t python_self_version(void)
{
	const char *(*get)(void);
	char *end;

	python_function_find("Py_GetVersion", &get);
	const char *text = get ? get() : NULL;
	if (!text || strtoul(text, &end, 10) != 3 || *end != '.')
		return 0;
	return 3u << 24 | (uint32_t)(strtoul(end + 1, NULL, 10) & 0xff) << 16;
}

bool python_self_find(python_self *ret_self, const unwind_memory *memory, python_process *ret)
{
	const void *runtime = dlsym(RTLD_DEFAULT, "_PyRuntime");

	if (!runtime)
		return false;
	python_function_find("PyGILState_GetThisThreadState", &ret_self->state);
	/* Selected by the version, because a failed dlsym() allocates memory, and the caller may be
	 * an interposer of malloc(). */
	const uint32_t version = python_self_version();
	python_function_find(version >= (3u << 24 | 13u << 16) ? "Py_IsFinalizing"
							       : "_Py_IsFinalizing",
			     &ret_self->ending);
	return ret_self->state &&
	       python_find_at((uint64_t)(uintptr_t)runtime, version, memory, ret);
}
