/* unwind.c - cost per frame of unwinding the calling thread's stack, with cached and with uncached
 * rules, compared with glibc's backtrace() and libunwind if installed. In turn, in one process.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"
#include "profiler/unwind/unwind_self.h"
#include "stat/stat.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Maximum ratio to backtrace()'s time. */
#define LIMIT 0.25

enum { ROUNDS = 15, FRAMES_MAX = 256, DEPTH = 20, WAYS = 4 };

static unwind_stack mine;
static int (*libunwind)(void **frames, int max);

static size_t kept(void)
{
	uint64_t pcs[FRAMES_MAX];

	return unwind_self_here(&mine, pcs, FRAMES_MAX, NULL);
}

static size_t anew(void)
{
	unwind_self_changed();
	return kept();
}

static size_t glibc(void)
{
	void *frames[FRAMES_MAX];

	return (size_t)backtrace(frames, FRAMES_MAX);
}

static size_t other(void)
{
	void *frames[FRAMES_MAX];

	return (size_t)libunwind(frames, FRAMES_MAX);
}

static const struct {
	const char *name;
	size_t (*walk)(void);
	int times;
} ways[WAYS] = {
    {"rules that are kept", kept, 20000},
    {"rules found anew", anew, 2000},
    {"backtrace() of glibc", glibc, 2000},
    {"unw_backtrace() of libunwind", other, 5000},
};
static double ns[WAYS][ROUNDS];

static void measure(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		for (int w = 0; w < WAYS - !libunwind; w++) {
			uint64_t begin = os_now_ns();
			size_t frames = 0;

			for (int k = 0; k < ways[w].times; k++)
				frames += ways[w].walk();
			ns[w][i] = (double)(os_now_ns() - begin) / (double)frames;
		}
	}
}

/* Recurses through the C library's qsort() to the usual stack depth of a program. */
static int deeper(const void *a, const void *b)
{
	static int depth;
	int pair[] = {2, 1};

	(void)a, (void)b;
	if (++depth < DEPTH / 3)
		qsort(pair, 2, sizeof pair[0], deeper);
	else if (depth == DEPTH / 3)
		measure();
	return 0;
}

int main(void)
{
	void *library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
	void *found = library ? dlsym(library, "unw_backtrace") : NULL;

	memcpy(&libunwind, &found, sizeof found);
	unwind_self_refresh();
	deeper(NULL, NULL);
	printf("cost of a frame, %d rounds in turn (ns: median, least to greatest)\n", ROUNDS);
	for (int w = 0; w < WAYS - !libunwind; w++) {
		stat_sort(ns[w], ROUNDS);
		printf("  %-30s %6.1f  %6.1f to %.1f\n", ways[w].name, ns[w][ROUNDS / 2], ns[w][0],
		       ns[w][ROUNDS - 1]);
	}
	double ratio = ns[0][ROUNDS / 2] / ns[2][ROUNDS / 2];

	printf("  ratio to backtrace() %.3f   (limit %.2f)\n", ratio, LIMIT);
	return ratio <= LIMIT ? 0 : 1;
}
