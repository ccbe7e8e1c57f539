/* Native and Python frames merged into one stack, from a heap file, which may contain any bytes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "profiler/memory/heap_stack.h"

enum { FIRST = HEAP_ROOT_SHARDS + 1 };

/* train() calls the library through the interpreter, and the library allocates. */
static void python_is_between_native_frames(void **state)
{
	enum { MAIN = 2, EVALUATOR, CALL, LIBRARY, MODULE, TRAIN, STACK, FRAMES };
	const heap_frame frames[FRAMES] = {
	    [MODULE] = {.module = HEAP_PYTHON, .text = 1, .entry = 1},
	    [TRAIN] = {.module = HEAP_PYTHON, .text = 2},
	    [STACK] = {.module = HEAP_PYTHON_STACK, .place = FIRST + 5, .entry = 1}};
	heap_place places[FRAMES] = {
	    [MAIN].native = {.kind = MERGE_BEGINNING},
	    [EVALUATOR].native = {.kind = MERGE_EVALUATOR, .interpreter = true},
	    [CALL].native = {.kind = MERGE_CALLING, .interpreter = true}};
	const heap_node nodes[FIRST + 7] = {[FIRST] = {.parent = 1, .frame = MAIN},
					    [FIRST + 1] = {.parent = FIRST, .frame = EVALUATOR},
					    [FIRST + 2] = {.parent = FIRST + 1, .frame = CALL},
					    [FIRST + 3] = {.parent = FIRST + 2, .frame = LIBRARY},
					    [FIRST + 4] = {.parent = 1, .frame = MODULE},
					    [FIRST + 5] = {.parent = FIRST + 4, .frame = TRAIN},
					    [FIRST + 6] = {.parent = FIRST + 3, .frame = STACK}};
	const heap_file f = {
	    .frames = frames, .nframes = FRAMES, .nodes = nodes, .nnodes = FIRST + 7};
	heap_stack stack;

	(void)state;
	assert_false(heap_stack_has_python(&f, FIRST + 3));
	assert_true(heap_stack_has_python(&f, FIRST + 6));
	heap_stack_read(&f, &(heap_frames){.places = places}, FIRST + 6, &stack);
	assert_int_equal(stack.n, 3);
	assert_int_equal(stack.frames[0], LIBRARY);
	assert_int_equal(stack.frames[1], TRAIN);
	assert_int_equal(stack.frames[2], MODULE);
}

static uint32_t any(uint32_t n)
{
	static uint64_t seed = 1;

	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(seed >> 33) % n;
}

static void a_damaged_file_leads_nowhere_else(void **state)
{
	enum { NODES = 5000, FRAMES = 300 };
	heap_node *nodes = calloc(NODES, sizeof *nodes);
	heap_frame *frames = calloc(FRAMES, sizeof *frames);
	heap_place *places = calloc(FRAMES, sizeof *places);
	heap_stack *stack = malloc(sizeof *stack);
	const heap_file f = {.frames = frames, .nframes = FRAMES, .nodes = nodes, .nnodes = NODES};

	(void)state;
	assert_true(nodes && frames && places && stack);
	for (int round = 0; round < 20; round++) {
		for (uint32_t i = 0; i < FRAMES; i++) {
			frames[i] = (heap_frame){.place = any(4) ? any(NODES) : UINT64_MAX - any(9),
						 .module = HEAP_PYTHON_STACK + any(4),
						 .text = any(2),
						 .entry = any(2)};
			places[i].native = (merge_native){(merge_kind)any(4), any(2)};
		}
		for (uint32_t i = 0; i < NODES; i++)
			nodes[i] = (heap_node){.parent = any(9) ? (i ? i - 1 : 0) : any(2 * NODES),
					       .frame = any(50) ? any(FRAMES) : any(2 * FRAMES)};
		for (uint32_t i = 0; i < NODES; i++) {
			if (!heap_stack_has_python(&f, i))
				continue;
			heap_stack_read(&f, &(heap_frames){.places = places}, i, stack);
			assert_true(stack->n <= HEAP_STACK_MAX);
			for (size_t k = 0; k < stack->n; k++)
				assert_true(stack->frames[k] < FRAMES);
		}
	}
	free(nodes);
	free(frames);
	free(places);
	free(stack);
}

int test_heap_stack(void);
int test_heap_stack(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(python_is_between_native_frames),
	    cmocka_unit_test(a_damaged_file_leads_nowhere_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
