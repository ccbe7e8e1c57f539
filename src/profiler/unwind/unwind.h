/* unwind.h - from a frame of a stack to the one that called it, on x86-64 and AArch64: by the rules
 * that compilers leave in .eh_frame, else by frame pointers.
 *
 *	unwind_regs r = {...};                         the registers of a thread that stopped
 *	unwind_memory memory = {read_stack, self};
 *
 *	do {
 *		uint64_t at = unwind_lookup_pc(&r);        what to look up: inside the call
 *		mapped_module *m = ...                  whose module covers it, and its `unwind`
 *		got = unwind_step(m, at - m->bias, &r, &memory);
 *	} while (got == UNWIND_OK);
 *
 * Nothing here allocates, locks, or calls libc but for memcpy and memset: it works in a signal
 * handler and inside malloc. All memory of the program is read through the function that is passed
 * in. Sections may be damaged or hostile: every read is checked, and the work for one frame is
 * bounded.
 *
 * Two ways to do a step: unwind_step() evaluates everything and follows all registers. It takes
 * 0.1 to 0.5 us. unwind_find_rule() gives the same as 16 bytes for a place in the code, which the
 * caller may keep, and unwind_apply() uses them in a few nanoseconds; it follows pc, stack pointer
 * and frame pointer alone, and says UNWIND_NEEDS where that is not enough (hand-written code,
 * mostly): then begin again from the first frame with unwind_step(). For the calling process itself
 * unwind_self.h does all of this.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef STACK_UNWIND_H
#define STACK_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Registers by their numbers in DWARF. */
#if defined(__x86_64__)
/* rax rdx rcx rbx rsi rdi rbp rsp r8...r15 rip */
enum { UNWIND_REGS = 17, UNWIND_FP = 6, UNWIND_SP = 7, UNWIND_PC = 16 };
#else /* AArch64, and the names alone elsewhere: x0...x30 sp pc */
enum { UNWIND_REGS = 33, UNWIND_FP = 29, UNWIND_LR = 30, UNWIND_SP = 31, UNWIND_PC = 32 };
#endif

/* Whether this processor's stacks can be unwound at all. */
#if defined(__x86_64__) || defined(__aarch64__)
#define UNWIND_HERE 1
#else
#define UNWIND_HERE 0
#endif

typedef struct unwind_regs {
	uint64_t r[UNWIND_REGS];
	uint64_t known; /* bit i: r[i] is known */
	/* pc is the instruction that comes next, as in a thread that was stopped. false: it is
	 * where a call returns to, so the frame is at the call before it. */
	bool exact;
} unwind_regs;

#define UNWIND_ALL_KNOWN ((UINT64_C(1) << UNWIND_REGS) - 1)
/* Those that rules of 16 bytes follow. */
#define UNWIND_FOLLOWED \
	(UINT64_C(1) << UNWIND_FP | UINT64_C(1) << UNWIND_SP | UINT64_C(1) << UNWIND_PC)

/* The address whose function, line and rule are wanted: pc, or the last byte of the call. */
static inline uint64_t unwind_lookup_pc(const unwind_regs *r)
{
	return r->exact ? r->r[UNWIND_PC] : r->r[UNWIND_PC] - 1;
}

/* Reads n bytes of the program. false: they cannot be read. */
typedef struct unwind_memory {
	bool (*read)(void *self, uint64_t address, void *to, size_t n);
	void *self;
} unwind_memory;

/* Bytes of a section, or of all that may be one: those up to the end of its segment do. `address`
 * is where they lie as seen by the pcs that are looked up: in the file's own numbering (subtract
 * the module's bias of a pc), or in memory. */
typedef struct unwind_section {
	const unsigned char *bytes; /* borrowed */
	size_t size;
	uint64_t address;
} unwind_section;

typedef struct unwind_module {
	unwind_section hdr; /* .eh_frame_hdr; size 0: none, then .eh_frame is read from its start */
	unwind_section frame; /* .eh_frame; size 0: none */
	unwind_section go;    /* .gopclntab of Go programs; size 0: none */
	uint64_t text, data;  /* what DW_EH_PE_textrel and datarel are relative to; 0: not known */
} unwind_module;

typedef enum unwind_result {
	UNWIND_OK,	   /* *r is the caller's frame */
	UNWIND_END,	   /* that was the outermost frame */
	UNWIND_UNREADABLE, /* memory could not be read: the copy of the stack ended, mostly */
	UNWIND_LOST,	   /* no rule, or one that leads nowhere */
	UNWIND_NEEDS,	   /* unwind_apply() alone: a register that is not known, or a rule that
			    * does not fit into 16 bytes */
} unwind_result;

/* How a place in the code finds its caller. Plain bytes: may be copied, kept and compared. */
typedef struct unwind_rule {
	int32_t cfa_offset;
	int32_t fp_at, ra_at; /* where they were saved, from the CFA; UNWIND_SAME: not saved */
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
	UNWIND_SIGNAL_FRAME,  /* all registers lie where the kernel put them */
	UNWIND_FRAME_POINTER, /* no rule is known: a frame by convention */
	UNWIND_OUTERMOST,
	UNWIND_FULL, /* unwind_step() only */
} unwind_kind;

/* The rule of a place, by the module's sections. Without any that cover it: by frame pointer. */
unwind_rule unwind_find_rule(const unwind_module *m, uint64_t place);

/* One frame by its rule. On anything but UNWIND_OK *r is what it was. */
unwind_result unwind_apply(const unwind_rule *rule, unwind_regs *r, const unwind_memory *memory);

/* One frame with all registers. `place`: unwind_lookup_pc(r) in the numbering of m; m NULL: no
 * module covers it (generated code). On anything but UNWIND_OK *r is what it was. */
unwind_result unwind_step(const unwind_module *m, uint64_t place, unwind_regs *r,
			  const unwind_memory *memory);

/* Where the function that holds the place begins, by its entry in .eh_frame: what is known of it
 * where a file has no names. false: there is no entry. */
bool unwind_function(const unwind_module *m, uint64_t place, uint64_t *ret_begin);

/* Finds .eh_frame by what .eh_frame_hdr says of it, among the bytes of the segment that both lie
 * in; m->hdr is set, m->frame filled in. false: there is none, or it is damaged. */
bool unwind_find_frames(unwind_module *m, const unwind_section *segment);

#endif
