/* unwind.c - one step of stack unwinding, from a frame to its caller's, on x86-64 and AArch64.
 *
 * Rules in order of preference: the row of .eh_frame (cfi.h), Go's table (go_table.h), else
 * conventions: the code of rt_sigreturn marks a signal frame, whose layout is the kernel's;
 * instructions of a prologue or epilogue at the innermost pc mean that no frame is set up
 * (between_frames()); otherwise a chain of frame pointers. unwind_step() applies a row to all
 * registers. unwind_find_rule() compresses the row into 16 bytes, where CFA, frame pointer and
 * return address have constant offsets, which unwind_apply() follows in a few nanoseconds; other
 * rows are UNWIND_FULL and need unwind_step().
 *
 * Invariants: *r changes on UNWIND_OK alone (accept()); a step that changes neither pc nor sp is
 * UNWIND_LOST; a register whose value is unknown is not in `known`. Async-signal-safe: no
 * allocation, no lock, all memory through `memory`. Sections and stack may be hostile; the work of
 * a step is bounded by cfi.c and dwarf_expression.c. Source: DWARF 5, 6.4; System V ABI for AMD64;
 * AAPCS64 and its pointer authentication; struct rt_sigframe of Linux.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/unwind/unwind.h"

#include "profiler/unwind/cfi.h"
#include "profiler/unwind/dwarf_bytes.h"
#include "profiler/unwind/dwarf_expression.h"
#include "profiler/unwind/go_table.h"

/* Addresses below are never code: the page at 0 is not mapped. */
enum { LOWEST_CODE = 4096 };

static bool unwind_is_known(const unwind_regs *r, unsigned reg)
{
	return reg < UNWIND_REGS && (r->known >> reg & 1);
}

static bool unwind_load(const unwind_memory *memory, uint64_t address, uint64_t *ret)
{
	return memory->read(memory->self, address, ret, sizeof *ret);
}

/* Removes the pointer authentication code from the upper bits. Addresses have 48 bits unless a
 * program requests more. */
static uint64_t unsigned_address(uint64_t address)
{
	return UNWIND_REGS == 17 ? address : address & 0xffffffffffff;
}

/* Stores the caller's registers in *r if they are plausible. */
static unwind_result accept(unwind_regs *r, unwind_regs *caller, bool signal)
{
	caller->exact = signal;
	if (!caller->r[UNWIND_PC])
		return UNWIND_END;
	if (caller->r[UNWIND_PC] < LOWEST_CODE ||
	    (caller->r[UNWIND_PC] == r->r[UNWIND_PC] && caller->r[UNWIND_SP] == r->r[UNWIND_SP]))
		return UNWIND_LOST;
	*r = *caller;
	return UNWIND_OK;
}

/* --- Frames that the kernel made for a signal's handler: rt_sigframe. */

#if defined(__x86_64__)
static const unsigned char sigreturn[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
#else
static const unsigned char sigreturn[] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4};
#endif

static bool is_sigreturn(uint64_t pc, const unwind_memory *memory)
{
	unsigned char code[sizeof sigreturn];

	return memory->read(memory->self, pc, code, sizeof code) &&
	       memcmp(code, sigreturn, sizeof code) == 0;
}

static unwind_result signal_frame(unwind_regs *r, const unwind_memory *memory)
{
#if defined(__x86_64__)
	/* ucontext_t: flags, link, stack, then r8...r15 rdi rsi rbp rbx rdx rax rcx rsp rip. */
	static const unsigned char order[] = {8, 9, 10, 11, 12, 13, 14, 15, 5,
					      4, 6, 3,	1,  0,	2,  7,	16};
	uint64_t saved[sizeof order];
#endif
	unwind_regs caller = {.known = UNWIND_ALL_KNOWN};
	uint64_t sp = r->r[UNWIND_SP];

	if (!unwind_is_known(r, UNWIND_SP))
		return UNWIND_NEEDS;
#if defined(__x86_64__)
	if (!memory->read(memory->self, sp + 40, saved, sizeof saved))
		return UNWIND_UNREADABLE;
	for (unsigned i = 0; i < sizeof order; i++)
		caller.r[order[i]] = saved[i];
#else
	/* siginfo_t; ucontext_t: flags, link, stack, mask, then the fault's address and x0...x30 sp
	 * pc. */
	if (!memory->read(memory->self, sp + 128 + 176 + 8, caller.r, 33 * sizeof caller.r[0]))
		return UNWIND_UNREADABLE;
#endif
	return accept(r, &caller, true);
}

/* --- Code without any rule. */

#if defined(__x86_64__)
/* Instructions before a frame is set up or after it was removed: push %rbp; ret; a jump through a
 * slot, as in the .plt of static programs. The first and the last also after endbr64. */
static const struct {
	uint8_t n, code[7];
} no_frame[] = {
    {1, {0x55}},
    {5, {0xf3, 0x0f, 0x1e, 0xfa, 0x55}},
    {1, {0xc3}},
    {2, {0xf3, 0xc3}},
    {2, {0xff, 0x25}},
    {3, {0xf2, 0xff, 0x25}},
    {6, {0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25}},
    {7, {0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25}},
};

static bool unwind_begins_with(const unsigned char *code, const void *bytes, size_t n)
{
	return memcmp(code, bytes, n) == 0;
}

static unwind_result between_frames(unwind_regs *r, const unwind_memory *memory)
{
	unsigned char code[sizeof no_frame[0].code];
	unwind_regs caller = *r;
	uint64_t sp = r->r[UNWIND_SP];
	bool none = false;

	if (!r->exact || !unwind_is_known(r, UNWIND_SP) ||
	    !memory->read(memory->self, r->r[UNWIND_PC], code, sizeof code))
		return UNWIND_LOST;
	for (size_t i = 0; i < sizeof no_frame / sizeof no_frame[0]; i++)
		none |= unwind_begins_with(code, no_frame[i].code, no_frame[i].n);
	/* mov %rsp, %rbp, in both encodings: %rbp is on the stack already. */
	if (unwind_begins_with(code, "\x48\x89\xe5", 3) ||
	    unwind_begins_with(code, "\x48\x8b\xec", 3)) {
		if (!unwind_load(memory, sp, &caller.r[UNWIND_FP]))
			return UNWIND_UNREADABLE;
		sp += 8;
	} else if (!none) {
		return UNWIND_LOST;
	}
	if (!unwind_load(memory, sp, &caller.r[UNWIND_PC]))
		return UNWIND_UNREADABLE;
	caller.r[UNWIND_SP] = sp + 8;
	return accept(r, &caller, false);
}
#else
static unwind_result between_frames(unwind_regs *r, const unwind_memory *memory)
{
	(void)r, (void)memory;
	return UNWIND_LOST;
}
#endif

static unwind_result frame_pointer(unwind_regs *r, const unwind_memory *memory)
{
	uint64_t fp = r->r[UNWIND_FP], saved[2];
	unwind_regs caller = *r;

	if (is_sigreturn(r->r[UNWIND_PC], memory))
		return signal_frame(r, memory);
	if (r->exact) {
		unwind_result got = between_frames(r, memory);

		if (got == UNWIND_OK)
			return got;
	}
	if (!unwind_is_known(r, UNWIND_FP))
		return UNWIND_NEEDS;
	if (!fp)
		return UNWIND_END;
	if (fp % 8 || fp < r->r[UNWIND_SP])
		return UNWIND_LOST;
	if (!memory->read(memory->self, fp, saved, sizeof saved))
		return UNWIND_UNREADABLE;
	caller.r[UNWIND_FP] = saved[0];
	caller.r[UNWIND_PC] = unsigned_address(saved[1]);
	caller.r[UNWIND_SP] = fp + 16;
	/* Whether such code changed other registers is unknown. */
	caller.known = UNWIND_FOLLOWED;
	return accept(r, &caller, false);
}

/* Whether the function goes on on another stack, to call C: what is above its frame there is of no
 * caller. "runtime.asmcgocall", also with ".abi0". */
static bool changes_stack(const go_table *t, const go_function *f)
{
	static const char name[] = "runtime.asmcgocall";
	const char *text = go_table_name(t, f);

	for (size_t i = 0; i < sizeof name - 1; i++)
		if (text[i] != name[i])
			return false;
	return true;
}

/* Returns the rule of Go code: its table has the size of the frame. The return address is above it
 * and, if it is not empty, the caller's frame pointer at its upper end. Other code gets the rule of
 * frame pointers. */
static unwind_rule rule_of_go(const unwind_module *m, uint64_t place)
{
	unwind_rule rule = {.kind = UNWIND_FRAME_POINTER};
	go_function f;
	go_table t;
	int32_t depth;

	if (!m || !m->go.size || !go_table_open(m->go.bytes, m->go.size, m->text, &t) ||
	    !go_table_find(&t, place, &f))
		return rule;
	if (go_table_is_top(&t, &f)) {
		rule.kind = UNWIND_OUTERMOST;
		return rule;
	}
	if (changes_stack(&t, &f)) {
		rule.kind = UNWIND_NO_RULE;
		return rule;
	}
	/* On AArch64 the return address is at the frame's other end, where the frame pointer
	 * points. */
	if (UNWIND_REGS != 17 || !go_table_depth(&t, &f, place, &depth))
		return rule;
	return (unwind_rule){.kind = UNWIND_CFA,
			     .cfa_register = UNWIND_SP,
			     .cfa_offset = depth < INT32_MAX - 8 ? depth + 8 : INT32_MAX,
			     .ra_at = -8,
			     .fp_at = depth >= 8 ? -16 : UNWIND_SAME,
			     .flags = UNWIND_OTHERS};
}

/* --- All of a row. */

static unwind_result unwind_unwind_expression(const unwind_module *m, int32_t at,
					      const uint64_t *cfa, const unwind_regs *r,
					      const unwind_memory *memory, uint64_t *ret)
{
	const unsigned char *code;
	size_t n;

	if (!cfi_expression(m, at, &code, &n))
		return UNWIND_LOST;
	return dwarf_expression_run(code, n, cfa, r, memory, ret);
}

static unwind_result find_cfa(const unwind_module *m, const cfi_row *row, const unwind_regs *r,
			      const unwind_memory *memory, uint64_t *ret)
{
	if (row->cfa_is_expr)
		return unwind_unwind_expression(m, row->cfa, NULL, r, memory, ret);
	if (!unwind_is_known(r, row->cfa_register))
		return UNWIND_NEEDS;
	*ret = r->r[row->cfa_register] + (uint64_t)(int64_t)row->cfa;
	return UNWIND_OK;
}

/* For a function that realigns its stack, GCC's rows for the epilogue still have the registers
 * saved relative to the frame pointer, which may be the caller's again by then, as the registers
 * are. */
static bool is_popped(uint64_t at, const unwind_regs *r, uint64_t cfa)
{
	return at < r->r[UNWIND_SP] || at >= cfa;
}

/* Finds one register of the caller. */
static unwind_result find_register(const unwind_module *m, const cfi_row *row, unsigned reg,
				   uint64_t cfa, const unwind_regs *r, const unwind_memory *memory,
				   unwind_regs *caller)
{
	int32_t value = row->value[reg];
	uint64_t at = cfa + (uint64_t)(int64_t)value;
	unwind_result got = UNWIND_OK;

	switch ((cfi_how)row->how[reg]) {
	case CFI_SAME:
		return UNWIND_OK;
	case CFI_UNDEFINED:
		caller->known &= ~(UINT64_C(1) << reg);
		return UNWIND_OK;
	case CFI_OFFSET:
		break;
	case CFI_VAL_OFFSET:
		caller->r[reg] = at;
		caller->known |= UINT64_C(1) << reg;
		return UNWIND_OK;
	case CFI_REGISTER:
		if (!unwind_is_known(r, (unsigned)value)) {
			caller->known &= ~(UINT64_C(1) << reg);
			return UNWIND_OK;
		}
		caller->r[reg] = r->r[value];
		caller->known |= UINT64_C(1) << reg;
		return UNWIND_OK;
	case CFI_EXPRESSION:
		got = unwind_unwind_expression(m, value, &cfa, r, memory, &at);
		if (got == UNWIND_OK && !row->signal && is_popped(at, r, cfa))
			return UNWIND_OK;
		break;
	case CFI_VAL_EXPRESSION:
		got = unwind_unwind_expression(m, value, &cfa, r, memory, &caller->r[reg]);
		caller->known |= UINT64_C(1) << reg;
		return got;
	}
	if (got == UNWIND_OK && !unwind_load(memory, at, &caller->r[reg]))
		got = UNWIND_UNREADABLE;
	if (got == UNWIND_OK)
		caller->known |= UINT64_C(1) << reg;
	return got;
}

static unwind_result apply_row(const unwind_module *m, const cfi_row *row, unwind_regs *r,
			       const unwind_memory *memory)
{
	unwind_regs caller = *r;
	uint64_t cfa;
	unsigned back = row->return_register;

	if (row->how[back] == CFI_UNDEFINED)
		return UNWIND_END;
	unwind_result got = find_cfa(m, row, r, memory, &cfa);

	if (got != UNWIND_OK)
		return got == UNWIND_NEEDS ? UNWIND_LOST : got;
	/* The CFA is the caller's stack pointer unless a rule states another, as in signal
	 * frames. */
	caller.r[UNWIND_SP] = cfa;
	caller.known |= UINT64_C(1) << UNWIND_SP;
	for (unsigned reg = 0; reg < UNWIND_REGS; reg++) {
		got = find_register(m, row, reg, cfa, r, memory, &caller);
		if (got == UNWIND_OK)
			continue;
		/* A register that is not needed does not end the stack. */
		if (reg == back || reg == UNWIND_SP)
			return got == UNWIND_NEEDS ? UNWIND_LOST : got;
		caller.known &= ~(UINT64_C(1) << reg);
	}
	if (!unwind_is_known(&caller, back))
		return UNWIND_LOST;
	caller.r[UNWIND_PC] = row->is_signed || (UNWIND_REGS != 17 && row->how[back] == CFI_OFFSET)
				  ? unsigned_address(caller.r[back])
				  : caller.r[back];
	caller.known |= UINT64_C(1) << UNWIND_PC;
	return accept(r, &caller, row->signal);
}

/* A return address where a function begins is of no call: makecontext() puts one at the outer end
 * of a stack. */
static bool unwind_is_bottom(const unwind_module *m, uint64_t place)
{
	uint64_t begin;

	return m && unwind_function(m, place + 1, &begin) && begin == place + 1;
}

static unwind_rule rule_without_row(const unwind_module *m, uint64_t place)
{
	if (unwind_is_bottom(m, place))
		return (unwind_rule){.kind = UNWIND_OUTERMOST};
	return rule_of_go(m, place);
}

unwind_result unwind_step(const unwind_module *m, uint64_t place, unwind_regs *r,
			  const unwind_memory *memory)
{
	cfi_row row;

	if (!UNWIND_HERE || !unwind_is_known(r, UNWIND_PC))
		return UNWIND_LOST;
	if (!m || cfi_find_row(m, place, &row) != CFI_FOUND) {
		unwind_rule rule = rule_without_row(m, place);
		unwind_result got = unwind_apply(&rule, r, memory);

		return got == UNWIND_NEEDS ? UNWIND_LOST : got;
	}
	return apply_row(m, &row, r, memory);
}

/* --- The same in 16 bytes. */

static bool unwind_fits(int64_t v)
{
	return v > INT32_MIN && v <= INT32_MAX;
}

static bool compact_cfa(const unwind_module *m, const cfi_row *row, uint64_t place,
			unwind_rule *ret)
{
	const unsigned char *code;
	dwarf_address a;
	size_t n;

	ret->kind = UNWIND_CFA;
	ret->cfa_register = row->cfa_register;
	ret->cfa_offset = row->cfa;
	if (!row->cfa_is_expr)
		return true;
	if (!cfi_expression(m, row->cfa, &code, &n) ||
	    !dwarf_expression_simple(code, n, place, &a) || !unwind_fits(a.offset) ||
	    a.added < INT8_MIN || a.added > INT8_MAX)
		return false;
	ret->kind = a.deref ? UNWIND_CFA_DEREF : UNWIND_CFA;
	ret->cfa_register = a.of;
	ret->cfa_offset = (int32_t)a.offset;
	ret->cfa_added = (int8_t)a.added;
	return true;
}

static bool compact_fp(const unwind_module *m, const cfi_row *row, uint64_t place, unwind_rule *ret)
{
	const unsigned char *code;
	dwarf_address a;
	size_t n;

	ret->fp_at = row->value[UNWIND_FP];
	switch ((cfi_how)row->how[UNWIND_FP]) {
	case CFI_SAME:
		ret->fp_at = UNWIND_SAME;
		return true;
	case CFI_OFFSET:
		return true;
	case CFI_EXPRESSION: /* a realigned stack: at the frame pointer itself */
		if (!cfi_expression(m, row->value[UNWIND_FP], &code, &n) ||
		    !dwarf_expression_simple(code, n, place, &a) || a.of != UNWIND_FP || a.deref ||
		    !unwind_fits(a.offset))
			return false;
		ret->flags |= UNWIND_FP_BY_FP;
		ret->fp_at = (int32_t)a.offset;
		return true;
	default:
		return false;
	}
}

/* Returns whether the frame saved other registers, which the caller's CFA may need. */
static bool saved_others(const cfi_row *row)
{
	for (unsigned reg = 0; reg < UNWIND_REGS; reg++) {
		if (row->how[reg] != CFI_SAME && reg != UNWIND_FP && reg != UNWIND_PC &&
		    reg != row->return_register)
			return true;
	}
	return false;
}

unwind_rule unwind_find_rule(const unwind_module *m, uint64_t place)
{
	unwind_rule rule = {.kind = UNWIND_FRAME_POINTER}, compact = {.kind = UNWIND_CFA};
	cfi_row row;

	if (!UNWIND_HERE) {
		rule.kind = UNWIND_NO_RULE;
		return rule;
	}
	if (!m || cfi_find_row(m, place, &row) != CFI_FOUND)
		return rule_without_row(m, place);
	unsigned back = row.return_register;

	if (row.how[back] == CFI_UNDEFINED) {
		rule.kind = UNWIND_OUTERMOST;
		return rule;
	}
	/* The layout of these frames is the kernel's and does not change. */
	if (row.signal) {
		rule.kind = UNWIND_SIGNAL_FRAME;
		return rule;
	}
	rule.kind = UNWIND_FULL;
	if (row.how[UNWIND_SP] != CFI_SAME || !compact_cfa(m, &row, place, &compact) ||
	    !compact_fp(m, &row, place, &compact))
		return rule;
	if (back != (UNWIND_REGS == 17 ? UNWIND_PC : UNWIND_PC - 2))
		return rule;
	if (row.how[back] == CFI_OFFSET)
		compact.ra_at = row.value[back];
	else if (row.how[back] == CFI_SAME && back != UNWIND_PC)
		compact.ra_at = UNWIND_SAME;
	else
		return rule;
	if (saved_others(&row))
		compact.flags |= UNWIND_OTHERS;
	return compact;
}

unwind_result unwind_apply(const unwind_rule *rule, unwind_regs *r, const unwind_memory *memory)
{
	unwind_regs caller;
	uint64_t cfa;

	switch ((unwind_kind)rule->kind) {
	case UNWIND_NO_RULE:
		return UNWIND_LOST;
	case UNWIND_FULL:
		return UNWIND_NEEDS;
	case UNWIND_OUTERMOST:
		return UNWIND_END;
	case UNWIND_SIGNAL_FRAME:
		return signal_frame(r, memory);
	case UNWIND_FRAME_POINTER:
		return frame_pointer(r, memory);
	case UNWIND_CFA:
	case UNWIND_CFA_DEREF:
		break;
	}
	if (!unwind_is_known(r, rule->cfa_register))
		return UNWIND_NEEDS;
	cfa = r->r[rule->cfa_register] + (uint64_t)(int64_t)rule->cfa_offset;
	if (rule->kind == UNWIND_CFA_DEREF) {
		if (!unwind_load(memory, cfa, &cfa))
			return UNWIND_UNREADABLE;
		cfa += (uint64_t)(int64_t)rule->cfa_added;
	}
	caller = *r;
	caller.r[UNWIND_SP] = cfa;
	if (rule->fp_at != UNWIND_SAME) {
		bool by_fp = rule->flags & UNWIND_FP_BY_FP;
		uint64_t at = (by_fp ? r->r[UNWIND_FP] : cfa) + (uint64_t)(int64_t)rule->fp_at;

		if (!(by_fp && is_popped(at, r, cfa)) &&
		    !unwind_load(memory, at, &caller.r[UNWIND_FP]))
			return UNWIND_UNREADABLE;
	}
#if defined(__x86_64__)
	if (!unwind_load(memory, cfa + (uint64_t)(int64_t)rule->ra_at, &caller.r[UNWIND_PC]))
		return UNWIND_UNREADABLE;
#else
	if (rule->ra_at != UNWIND_SAME &&
	    !unwind_load(memory, cfa + (uint64_t)(int64_t)rule->ra_at, &caller.r[UNWIND_LR]))
		return UNWIND_UNREADABLE;
	if (rule->ra_at == UNWIND_SAME && !unwind_is_known(r, UNWIND_LR))
		return UNWIND_NEEDS;
	caller.r[UNWIND_PC] = unsigned_address(caller.r[UNWIND_LR]);
	caller.known |= UINT64_C(1) << UNWIND_LR;
#endif
	if (rule->flags & UNWIND_OTHERS)
		caller.known &= UNWIND_FOLLOWED;
	return accept(r, &caller, false);
}

bool unwind_find_frames(unwind_module *m, const unwind_section *segment)
{
	dwarf_bytes b = {m->hdr.bytes, m->hdr.bytes + m->hdr.size, false};
	unsigned version = (unsigned)dwarf_fixed(&b, 1), encoding = (unsigned)dwarf_fixed(&b, 1);

	dwarf_skip(&b, 2);
	uint64_t at = cfi_pointer(&b, m, &m->hdr, encoding) - segment->address;

	if (b.bad || version != 1 || at >= segment->size)
		return false;
	m->frame.bytes = segment->bytes + at;
	m->frame.size = segment->size - (size_t)at;
	m->frame.address = segment->address + at;
	if (m->frame.size > INT32_MAX)
		m->frame.size = INT32_MAX;
	return true;
}
