/* unwind_compare.c - LD_PRELOAD library: at every n-th allocation it unwinds the stack with our
 * unwinder and with glibc's backtrace(), and writes the differences to $UNWIND_COMPARE at exit.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/unwind/unwind_self.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES_MAX = 512 };

static _Thread_local unwind_stack mine;
static _Thread_local bool busy;
static _Atomic unsigned long calls, compared, frames, different;
static void *(*real_malloc)(size_t);
static int (*real_dlclose)(void *);

static bool same(const uint64_t *ours, size_t n, void *const *theirs, size_t m)
{
	/* The first frame differs, because the two were called at different addresses. A frame
	 * interrupted by a signal has no call before it. */
	for (size_t i = 1; i < n && i < m; i++) {
		if (ours[i] + 1 != (uintptr_t)theirs[i] && ours[i] != (uintptr_t)theirs[i])
			return false;
	}
	return n == m;
}

static void compare(void)
{
	uint64_t ours[FRAMES_MAX];
	void *theirs[FRAMES_MAX];
	unwind_result end;
	size_t n = unwind_self_here(&mine, ours, FRAMES_MAX, &end);
	size_t m = (size_t)backtrace(theirs, FRAMES_MAX);

	compared++;
	frames += n;
	different += !same(ours, n, theirs, m) || (end != UNWIND_END && n < FRAMES_MAX);
}

static void find(void *to, const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);

	memcpy(to, &found, sizeof found);
}

__attribute__((visibility("default"))) void *malloc(size_t n)
{
	enum { EVERY = 100 };

	if (!real_malloc)
		find(&real_malloc, "malloc");
	if (!busy && calls++ % EVERY == 0) {
		busy = true;
		compare();
		busy = false;
	}
	return real_malloc(n);
}

__attribute__((visibility("default"))) int dlclose(void *handle)
{
	if (!real_dlclose)
		find(&real_dlclose, "dlclose");
	int got = real_dlclose(handle);

	unwind_self_changed();
	return got;
}

__attribute__((destructor)) static void report(void)
{
	const char *path = getenv("UNWIND_COMPARE");
	FILE *f;

	busy = true;
	f = path ? fopen(path, "a") : NULL;
	if (!f)
		return;
	fprintf(f, "%lu %lu %lu\n", compared, frames, different);
	fclose(f);
}
