/* unwind_self.h - fast unwinder of the calling thread's stack, for hooks of malloc and for signal
 * handlers.
 *
 *	static _Thread_local unwind_stack mine;        zeroed
 *	uint64_t pcs[256];
 *
 *	size_t n = unwind_self_here(&mine, pcs, 256, NULL);  this function first, then its callers
 *	size_t n = unwind_self_walk(&mine, &regs, pcs, 256, NULL);  from a signal's context
 *
 * A cached address costs about 5 to 10 ns per frame: one lock-free table per process caches the
 * rules. Nothing is allocated. Modules are found by _dl_find_object(), if glibc has it (2.35): it
 * takes no lock and includes libraries of dlopen() at once. Otherwise they come from a list that
 * unwind_self_refresh() reads.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef STACK_UNWIND_SELF_H
#define STACK_UNWIND_SELF_H

#include "profiler/unwind/unwind.h"

/* The known readable part of a thread's stack: one for each thread, zeroed at first. A handler that
 * may interrupt its thread's hook needs a separate one. */
typedef struct unwind_stack {
	uint64_t low, high;
	bool scanned; /* last walk: the innermost frame's caller was searched for */
} unwind_stack;

/* Reads the registers of the calling function that a caller's frame needs. */
#if defined(__x86_64__)
#define UNWIND_SELF_REGS(regs)                                                     \
	do {                                                                       \
		unwind_regs *regs_ = (regs);                                       \
		__asm__ volatile("leaq 0(%%rip), %%rax\n\t"                        \
				 "movq %%rax, 128(%0)\n\t"                         \
				 "movq %%rbx, 24(%0)\n\t"                          \
				 "movq %%rbp, 48(%0)\n\t"                          \
				 "movq %%rsp, 56(%0)\n\t"                          \
				 "movq %%r12, 96(%0)\n\t"                          \
				 "movq %%r13, 104(%0)\n\t"                         \
				 "movq %%r14, 112(%0)\n\t"                         \
				 "movq %%r15, 120(%0)"                             \
				 :                                                 \
				 : "r"(regs_->r)                                   \
				 : "rax", "memory");                               \
		regs_->known = 1u << 3 | 1u << 6 | 1u << 7 | 15u << 12 | 1u << 16; \
		regs_->exact = true;                                               \
	} while (0)
#elif defined(__aarch64__)
#define UNWIND_SELF_REGS(regs)                                                \
	do {                                                                  \
		unwind_regs *regs_ = (regs);                                  \
		__asm__ volatile("stp x19, x20, [%0, #152]\n\t"               \
				 "stp x21, x22, [%0, #168]\n\t"               \
				 "stp x23, x24, [%0, #184]\n\t"               \
				 "stp x25, x26, [%0, #200]\n\t"               \
				 "stp x27, x28, [%0, #216]\n\t"               \
				 "stp x29, x30, [%0, #232]\n\t"               \
				 "mov x9, sp\n\t"                             \
				 "adr x10, .\n\t"                             \
				 "stp x9, x10, [%0, #248]"                    \
				 :                                            \
				 : "r"(regs_->r)                              \
				 : "x9", "x10", "memory");                    \
		regs_->known = UNWIND_ALL_KNOWN & ~((UINT64_C(1) << 19) - 1); \
		regs_->exact = true;                                          \
	} while (0)
#else
#define UNWIND_SELF_REGS(regs) ((regs)->known = 0)
#endif

/* Reads the interrupted thread's registers from a signal handler's third argument, a ucontext_t. */
void unwind_self_context(const void *ucontext, unwind_regs *ret);

/* Walks the stack from *from outwards: pcs[0] is from's pc, the others are lookup addresses (return
 * address minus one). *ret_end, unless NULL: why it ended; UNWIND_OK: `max` was reached. Returns
 * the number of pcs. */
size_t unwind_self_walk(unwind_stack *stack, const unwind_regs *from, uint64_t *pcs, size_t max,
			unwind_result *ret_end);

/* Walks the stack from the calling function, which comes first. */
static inline __attribute__((always_inline)) size_t unwind_self_here(unwind_stack *stack,
								     uint64_t *pcs, size_t max,
								     unwind_result *ret_end)
{
	unwind_regs here;

	UNWIND_SELF_REGS(&here);
	return unwind_self_walk(stack, &here, pcs, max, ret_end);
}

/* Invalidates the cached unwind rules after a library was loaded or unloaded. Interposers of
 * dlclose() call it after each call. Cheap; may be called in any context. */
void unwind_self_changed(void);

/* Reads the list of modules from the loader, if needed (glibc before 2.35, other C libraries). Call
 * it at the start, and after dlopen() and dlclose(). It takes the loader's lock: do not call it in
 * a signal handler. */
void unwind_self_refresh(void);

#endif
