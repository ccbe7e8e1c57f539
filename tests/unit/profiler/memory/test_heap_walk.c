/* A stack compared with the cached one gives the same path as a new unwind: random calls through
 * functions of several shapes, some of which find their frame by the frame pointer, while others
 * keep other values in it. In a separate process, because the state is global.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <alloca.h>
#include <stdlib.h>

#include "profiler/preload/heap/heap_block.h"
#include "scratch.h"
#include "profiler/unwind/readable.h"
#include "profiler/unwind/unwind_self.h"

#define APART __attribute__((noinline))

enum { DEEPEST = 8, LEAVES = 200000, LEVEL = 4096 };

static uint64_t seed = 1;
static unsigned leaves, wrong, whole;
static volatile uint64_t sink;
static uintptr_t top;

static unsigned chance(unsigned n)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(seed >> 33) % n;
}

/* Compares both walks of the stack above the caller of this function. */
static APART void leaf(void)
{
	static unwind_stack stack;
	uint64_t places[HEAP_DEPTH_MAX];
	unwind_result end;
	heap_state *s;
	const heap_caller caller = HEAP_CALLER;
	heap_thread *t = hook_enter(&s);
	uint32_t node = heap_walk(s, t, &caller);
	const size_t n = unwind_self_here(&stack, places, HEAP_DEPTH_MAX, &end);
	bool same = end == UNWIND_END;
	size_t first = 0, i;

	while (first < n && places[first] != caller.pc - 1)
		first++;
	/* Innermost first, like the nodes. */
	for (i = first; i < n && node > HEAP_ROOT_SHARDS; i++, node = s->nodes[node].parent)
		same &= s->frames[s->nodes[node].frame].place == places[i];
	leaves++;
	wrong += !same;
	whole += i == n && node == t->lane;
	heap_leave();
}

static void call(int depth);

static APART void plain(int depth)
{
	call(depth);
	sink++;
}

/* Does not touch the frame pointer. */
static APART void light(void)
{
	leaf();
	sink++;
}

/* The frame has no fixed size, so it is found by the frame pointer. It often ends at the same
 * address for a depth: the inner frames are then the same in different callers, and remains of
 * earlier callers are still readable. */
static APART void sized(int depth)
{
	const uintptr_t here = (uintptr_t)__builtin_frame_address(0),
			level = (top - (uintptr_t)depth * LEVEL) & ~(uintptr_t)15;
	const bool leveled = chance(3) && here > level + 256;
	char *room = alloca(leveled ? here - level - 128 : 1 + chance(300));

	*(volatile char *)room = 1;
	if (chance(2))
		light();
	call(depth);
	sink += (uint64_t)*room;
}

/* All callee-saved registers hold values, the frame pointer too where it is free. */
static APART void crowded(int depth)
{
	const uint64_t a = chance(9), b = chance(99), c = chance(7), d = chance(3), e = chance(5),
		       f = chance(2), g = chance(1000);

	call(depth);
	if (a & 1)
		call(depth + 2);
	sink += a * b + c * d + e * f + g;
}

static APART int compared(const void *a, const void *b)
{
	const int *depth = a;

	if (a != b)
		call(*depth);
	return 0;
}

/* Recurses through libc, whose frames were compiled with other options. */
static APART void through_libc(int depth)
{
	int depths[2] = {depth, depth};

	qsort(depths, 2, sizeof depths[0], compared);
}

static void call(int depth)
{
	static void (*const shapes[])(int) = {plain, sized, crowded, through_libc};

	for (unsigned times = 1 + chance(2); times; times--) {
		if (chance(3) == 0)
			leaf();
		if (depth < DEEPEST && leaves < LEAVES)
			shapes[chance(4)](depth + 1);
	}
	if (chance(4) == 0)
		leaf();
}

static void paths_are_the_stacks(void **state)
{
	(void)state;
	top = (uintptr_t)__builtin_frame_address(0);
	while (leaves < LEAVES)
		call(0);
	assert_int_equal(wrong, 0);
	assert_int_equal(whole, leaves);
}

static void what_cannot_be_read_is_known(void **state)
{
	(void)state;
	assert_true(memory_readable((uintptr_t)&state));
	assert_false(memory_readable(0));
	assert_false(memory_readable(8));
	assert_false(memory_readable(UINT64_MAX - 4095));
}

static int begin(void **state)
{
	return scratch_begin(state) || setenv(HEAP_VARIABLE, scratch_path, 1) || !heap_get();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(paths_are_the_stacks),
	    cmocka_unit_test(what_cannot_be_read_is_known),
	};

	return cmocka_run_group_tests(tests, begin, scratch_end);
}
