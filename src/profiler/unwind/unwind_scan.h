/* unwind_scan.h - the caller of code without unwind tables: hand-written kernels, and what
 * compilers make at run time. Its frame contains the return address, so the words of the stack are
 * scanned for one that follows a call, and from which the whole rest of the stack can be unwound,
 * to the thread's beginning or the end of its copy, with a call before each return address.
 *
 * This is a heuristic: a stale return address can look the same. A direct call counts only if its
 * target is the code's function, and reports of such stacks also give their number.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef STACK_UNWIND_SCAN_H
#define STACK_UNWIND_SCAN_H

#include "profiler/unwind/unwind.h"

typedef struct unwind_scan {
	const unwind_memory *memory; /* the stack's */
	/* The stack from *from outwards, as unwind_self_walk(). */
	size_t (*walk)(void *self, const unwind_regs *from, uint64_t *pcs, size_t max,
		       unwind_result *ret_end);
	/* Copies the n bytes of code before the address. false: no code there. */
	bool (*code_before)(void *self, uint64_t address, unsigned char *to, size_t n);
	/* Copies n bytes of the process; NULL unless for unwind_scan_pointer(). */
	bool (*bytes_at)(void *self, uint64_t address, void *to, size_t n);
	void *self;
} unwind_scan;

/* r: the thread's innermost frame. true: *r is its caller's. Bounded work, no memory. */
bool unwind_scan_caller(const unwind_scan *s, unwind_regs *r);

/* r: a frame whose function begins at the address and has set up an unknown frame pointer. true: it
 * is known now, since above the first word that it may point to is a return address behind a call
 * of that function, direct or through .plt. */
bool unwind_scan_pointer(const unwind_scan *s, uint64_t begin, unwind_regs *r);

/* Returns the slot through which the code of an entry of .plt jumps; 0: it does not. */
uint64_t unwind_plt_slot(const unsigned char *code, size_t n, uint64_t address);

#endif
