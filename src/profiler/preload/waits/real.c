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

/* In place of a function that this libc does not have, which hence has no caller.
 */
static long real_missing(void)
{
	errno = ENOSYS;
	return -1;
}

/* Condition variables changed their layout once: without its version the older function may be
 * found. Libraries that know no version have the function under any. */
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
	if (found) /* memcpy: ISO C knows no way from an object to a function */
		memcpy(&ret, &found, sizeof ret);
	__atomic_store_n(&real_functions[number], ret, __ATOMIC_RELAXED);
	return ret;
}

/* All at once and early: looking for a function may ask for memory, which its caller may not. */
__attribute__((constructor)) static void library_begins(void)
{
	for (int i = 0; i < REAL_COUNT; i++)
		real_get(i);
	dck_waits_seen();
}
