/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>

#include "real.h"
#include "profiler/trace/waiting.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

/* Of the linker: the first row, and the end of the last. */
extern real_row __start_deepclock_real[] __attribute__((visibility("hidden")));
extern real_row __stop_deepclock_real[] __attribute__((visibility("hidden")));

/* Placeholder for a function that this libc lacks, which therefore has no caller.
 */
static long real_missing(void)
{
	errno = ENOSYS;
	return -1;
}

/* The layout of condition variables changed once: without the version dlsym() may return the older
 * function. Libraries without symbol versions match any version. */
static const char changed[] = "GLIBC_2.3.2";

real_function *real_find(real_row *row)
{
	real_function *ret = (real_function *)real_missing;
	void *found = NULL;

	if (!strncmp(row->name, "pthread_cond_", 13))
		found = dlvsym(RTLD_NEXT, row->name, changed);
	if (!found)
		found = dlsym(RTLD_NEXT, row->name);
	if (found) /* memcpy: ISO C has no conversion from object to function pointers */
		memcpy(&ret, &found, sizeof ret);
	__atomic_store_n(&row->at, ret, __ATOMIC_RELAXED);
	return ret;
}

/* Resolves all functions early: dlsym() may allocate memory, and the caller of an interposed
 * function may not. */
__attribute__((constructor)) static void library_begins(void)
{
	const size_t n = ((uintptr_t)__stop_deepclock_real - (uintptr_t)__start_deepclock_real) /
			 sizeof(real_row);

	for (size_t i = 0; i < n; i++)
		real_get(&__start_deepclock_real[i]);
	dck_waits_seen();
}
