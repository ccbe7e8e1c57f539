/* unwind.c - cost per frame of unwinding the calling thread's stack, with cached and with uncached
 * rules, compared with glibc's backtrace() and libunwind if installed. In turn, in one process.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"
#include "profiler/unwind/unwind_self.h"
#include "rows.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Maximum ratio to backtrace()'s time. */
#define LIMIT 0.25

enum { ROUNDS = 21, FRAMES_MAX = 256, DEPTH = 20, WAYS = 4, GLIBC = 2 };

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
    {NULL, kept, 20000},
    {"deepclock, without cached rules", anew, 2000},
    {"glibc", glibc, 2000},
    {"libunwind", other, 5000},
};
static double ratio[WAYS][ROUNDS]; /* to backtrace() of glibc */

static void measure(void)
{
	for (size_t i = 0; i < bench_rounds(ROUNDS); i++) {
		for (int w = 0; w < WAYS - !libunwind; w++) {
			uint64_t begin = os_now_ns();
			size_t frames = 0;

			for (int k = 0; k < ways[w].times; k++)
				frames += ways[w].walk();
			ratio[w][i] = (double)(os_now_ns() - begin) / (double)frames;
		}
		const double glibcs = ratio[GLIBC][i];
		for (int w = 0; w < WAYS - !libunwind; w++)
			ratio[w][i] /= glibcs;
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
	for (int w = 0; w < WAYS; w++) {
		const bench_row row = {
		    .work = "unwinding a frame",
		    .unit = "times backtrace()",
		    .peer = ways[w].name,
		    .most = w ? 0 : LIMIT,
		    .absent = w == WAYS - 1 && !libunwind ? "apt-get install libunwind8" : NULL};
		if (w != GLIBC)
			bench_row_put(&row, ratio[w], bench_rounds(ROUNDS));
	}
	return bench_status();
}
