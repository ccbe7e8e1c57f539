/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "real.h"
#include "profiler/trace/waiting.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

real_function *real_functions[REAL_COUNT];

static const char *const names[] = {
#define NAME(f) #f,
    REAL_FUNCTIONS(NAME)};

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

real_function *real_find(int number)
{
	const char *name = names[number];
	real_function *ret = (real_function *)real_missing;
	void *found = NULL;

	if (!strncmp(name, "pthread_cond_", 13))
		found = dlvsym(RTLD_NEXT, name, changed);
	if (!found)
		found = dlsym(RTLD_NEXT, name);
	if (found) /* memcpy: ISO C has no conversion from object to function pointers */
		memcpy(&ret, &found, sizeof ret);
	__atomic_store_n(&real_functions[number], ret, __ATOMIC_RELAXED);
	return ret;
}

/* Resolves all functions early: dlsym() may allocate memory, and the caller of an interposed
 * function may not. */
__attribute__((constructor)) static void library_begins(void)
{
	for (int i = 0; i < REAL_COUNT; i++)
		real_get(i);
	dck_waits_seen();
}
