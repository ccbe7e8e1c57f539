/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/memory/heap_stack.h"

enum { NATIVE_MAX = HEAP_STACK_MAX / 2, PYTHON_MAX = HEAP_STACK_MAX / 2 };

static const heap_frame *heap_frame_of(const heap_file *f, uint32_t node)
{
	return node < f->nnodes && f->nodes[node].frame < f->nframes
		   ? &f->frames[f->nodes[node].frame]
		   : NULL;
}

bool heap_stack_has_python(const heap_file *f, uint32_t node)
{
	const heap_frame *frame = heap_frame_of(f, node);

	return frame && frame->module == HEAP_PYTHON_STACK;
}

/* Returns the parent node; 0: none. The file may be damaged, so only a lower number is accepted. */
static uint32_t heap_parent_of(const heap_file *f, uint32_t node)
{
	const uint32_t parent = f->nodes[node].parent;

	return parent > HEAP_ROOT_SHARDS && parent < node ? parent : 0;
}

static size_t heap_chain_read(const heap_file *f, uint32_t node, uint32_t *ret, size_t max)
{
	size_t n = 0;

	for (; node > HEAP_ROOT_SHARDS && n < max && heap_frame_of(f, node);
	     node = heap_parent_of(f, node))
		ret[n++] = f->nodes[node].frame;
	return n;
}

void heap_stack_read(const heap_file *f, const heap_frames *names, uint32_t node, heap_stack *ret)
{
	uint32_t native[NATIVE_MAX], python[PYTHON_MAX];
	merge_native natives[NATIVE_MAX];
	python_frame pythons[PYTHON_MAX];
	merge_frame merged[HEAP_STACK_MAX];
	const heap_frame *stack = heap_frame_of(f, node);
	const uint32_t innermost = stack->place < f->nnodes ? (uint32_t)stack->place : 0;
	merge_stats stats;
	merge_input in = {.native = natives,
			  .natives =
			      heap_chain_read(f, heap_parent_of(f, node), native, NATIVE_MAX),
			  .native_whole = true,
			  .python = pythons,
			  .pythons = heap_chain_read(f, innermost, python, PYTHON_MAX),
			  .python_whole = stack->entry};

	for (size_t i = 0; i < in.natives; i++) {
		natives[i] = names->places[native[i]].native;
		in.native_whole &= native[i] != HEAP_FRAME_CUT;
	}
	for (size_t i = 0; i < in.pythons; i++)
		pythons[i] = (python_frame){.code = f->frames[python[i]].text,
					    .entry = f->frames[python[i]].entry};
	ret->n = python_merge(&in, merged, &stats);
	for (size_t i = 0; i < ret->n; i++)
		ret->frames[i] =
		    merged[i].python ? python[merged[i].index] : native[merged[i].index];
}
