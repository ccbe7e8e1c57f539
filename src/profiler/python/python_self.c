/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/python/python_self.h"

#include <dlfcn.h>
#include <string.h>

static void python_function_find(const char *name, void *to)
{
	void *found = dlsym(RTLD_DEFAULT, name);

	memcpy(to, &found,
	       sizeof found); /* ISO C has no conversion from object to function pointers */
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
