/* unwind.h - stack unwinder for x86-64 and AArch64: steps from a frame to its caller by the call
 * frame information in .eh_frame, else by frame pointers.
 *
 *	unwind_regs r = {...};                         the registers of a thread that stopped
 *	unwind_memory memory = {read_stack, self};
 *
 *	do {
 *		uint64_t at = unwind_lookup_pc(&r);        the address to look up: inside the call
 *		mapped_module *m = ...                  the module that covers it, and its `unwind`
 *		got = unwind_step(m, at - m->bias, &r, &memory);
 *	} while (got == UNWIND_OK);
 *
 * Nothing here allocates, locks, or calls libc except memcpy and memset: it works in a signal
 * handler and inside malloc. All memory of the program is read through the given function. Sections
 * may be damaged or hostile: every read is checked, and the work for one frame is bounded.
 *
 * Two ways to do a step: unwind_step() evaluates everything and follows all registers. It takes 0.1
 * to 0.5 us. unwind_find_rule() returns the rule of a code address as 16 bytes, which the caller
 * may cache, and unwind_apply() applies it in a few nanoseconds; it follows only pc, stack pointer
 * and frame pointer, and returns UNWIND_NEEDS if that is not enough (mostly hand-written code):
 * then restart from the first frame with unwind_step(). For the calling process itself
 * unwind_self.h does all of this.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef STACK_UNWIND_H
#define STACK_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Registers by their DWARF numbers. */
#if defined(__x86_64__)
/* rax rdx rcx rbx rsi rdi rbp rsp r8...r15 rip */
enum { UNWIND_REGS = 17, UNWIND_FP = 6, UNWIND_SP = 7, UNWIND_PC = 16 };
#else /* AArch64, and the names alone elsewhere: x0...x30 sp pc */
enum { UNWIND_REGS = 33, UNWIND_FP = 29, UNWIND_LR = 30, UNWIND_SP = 31, UNWIND_PC = 32 };
#endif

/* 1 if this processor's stacks can be unwound. */
#if defined(__x86_64__) || defined(__aarch64__)
#define UNWIND_HERE 1
#else
#define UNWIND_HERE 0
#endif

typedef struct unwind_regs {
	uint64_t r[UNWIND_REGS];
	uint64_t known; /* bit i: r[i] is known */
	/* true: pc is the next instruction, as in a stopped thread. false: pc is a return address,
	 * so the frame is at the call before it. */
	bool exact;
} unwind_regs;

#define UNWIND_ALL_KNOWN ((UINT64_C(1) << UNWIND_REGS) - 1)
/* The registers of 16-byte rules. */
#define UNWIND_FOLLOWED \
	(UINT64_C(1) << UNWIND_FP | UINT64_C(1) << UNWIND_SP | UINT64_C(1) << UNWIND_PC)

/* Returns the address to look up for function, line and rule: pc, or the last byte of the call. */
static inline uint64_t unwind_lookup_pc(const unwind_regs *r)
{
	return r->exact ? r->r[UNWIND_PC] : r->r[UNWIND_PC] - 1;
}

/* Reads n bytes of the program's memory. false: unreadable. */
typedef struct unwind_memory {
	bool (*read)(void *self, uint64_t address, void *to, size_t n);
	void *self;
} unwind_memory;

/* The bytes of a section, possibly up to the end of its segment. `address` is in the address space
 * of the lookup: file addresses (pc minus the module's bias), or memory. */
typedef struct unwind_section {
	const unsigned char *bytes; /* borrowed */
	size_t size;
	uint64_t address;
} unwind_section;

typedef struct unwind_module {
	unwind_section hdr; /* .eh_frame_hdr; size 0: none, then .eh_frame is read from its start */
	unwind_section frame; /* .eh_frame; size 0: none */
	unwind_section go;    /* .gopclntab of Go programs; size 0: none */
	uint64_t text, data;  /* bases of DW_EH_PE_textrel and datarel; 0: unknown */
} unwind_module;

typedef enum unwind_result {
	UNWIND_OK,	   /* *r is the caller's frame */
	UNWIND_END,	   /* that was the outermost frame */
	UNWIND_UNREADABLE, /* memory could not be read, mostly past the copied stack */
	UNWIND_LOST,	   /* no rule, or an invalid one */
	UNWIND_NEEDS, /* only unwind_apply(): an unknown register, or a rule that does not fit into
			 16 bytes */
} unwind_result;

/* The unwind rule of a code address. Plain bytes: may be copied, stored and compared. */
typedef struct unwind_rule {
	int32_t cfa_offset;
	int32_t fp_at, ra_at; /* offsets of the saved values from the CFA; UNWIND_SAME: not saved */
	uint8_t kind;	      /* unwind_kind */
	uint8_t cfa_register;
	uint8_t flags;
	int8_t cfa_added;
} unwind_rule;

#define UNWIND_SAME INT32_MIN
enum {
	UNWIND_OTHERS = 1, /* the frame saved registers besides frame pointer and return address */
	UNWIND_FP_BY_FP = 2, /* the frame pointer was saved where it points to now, plus fp_at */
};

typedef enum unwind_kind {
	UNWIND_NO_RULE,	      /* lost */
	UNWIND_CFA,	      /* CFA = register + offset */
	UNWIND_CFA_DEREF,     /* CFA = *(register + offset) + added: a realigned stack */
	UNWIND_SIGNAL_FRAME,  /* the kernel's signal frame has all registers */
	UNWIND_FRAME_POINTER, /* no rule: assume a frame pointer */
	UNWIND_OUTERMOST,
	UNWIND_FULL, /* unwind_step() only */
} unwind_kind;

/* Returns the rule of a code address from the module's sections; the frame-pointer rule if none
 * covers it. */
unwind_rule unwind_find_rule(const unwind_module *m, uint64_t place);

/* Steps one frame by its rule. Unless UNWIND_OK, *r is not changed. */
unwind_result unwind_apply(const unwind_rule *rule, unwind_regs *r, const unwind_memory *memory);

/* Steps one frame with all registers. `place`: unwind_lookup_pc(r) as m's file address; m NULL: no
 * module covers it (generated code). Unless UNWIND_OK, *r is not changed. */
unwind_result unwind_step(const unwind_module *m, uint64_t place, unwind_regs *r,
			  const unwind_memory *memory);

/* Finds the start of the function that contains the address, by its .eh_frame entry, for files
 * without names. false: no entry. */
bool unwind_function(const unwind_module *m, uint64_t place, uint64_t *ret_begin);

/* Finds .eh_frame through .eh_frame_hdr, in the bytes of their common segment; needs m->hdr, sets
 * m->frame. false: missing or damaged. */
bool unwind_find_frames(unwind_module *m, const unwind_section *segment);

#endif
