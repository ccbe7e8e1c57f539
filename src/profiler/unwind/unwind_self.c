/* unwind_self.c - unwinds the calling thread's stack, by a lock-free cache of unwind rules.
 *
 * walk_by_rules() follows pc, sp and fp by rules of 16 bytes, from a direct-mapped table that all
 * threads share. A row is three atomic words: the two of the rule, and `check`, a checksum over
 * rule, address and generation. A row that two writers tore does not match its checksum and is a
 * miss, so readers neither lock nor retry; unwind_self_changed() increments the generation, which
 * makes every row a miss. A rule that needs other registers makes unwind_walk_fully() begin again
 * with all of them; walk_beyond() scans for the caller where the innermost function has no tables
 * (unwind_scan.h).
 *
 * Async-signal-safe: no allocation, no lock; modules are found by self_modules.h. A word of the
 * stack is read only in pages that the kernel confirmed (readable.h); [low, high) of an
 * unwind_stack, which belongs to one thread, remembers those around the stack pointer. A walk makes
 * at most `max` steps, a new rule costs a lookup in .eh_frame.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/unwind/unwind_self.h"

#include "profiler/unwind/readable.h"
#include "profiler/unwind/self_modules.h"
#include "profiler/unwind/unwind_scan.h"

#include <stdatomic.h>
#include <string.h>
#include <ucontext.h>

/* The function reads variables of other frames, which sanitizers would report. */
#define READS_STACKS __attribute__((no_sanitize("address", "thread")))

enum { PAGE = 4096 };

/* --- Whether memory may be read. */

/* Checks that [address, address + n) is readable and extends the cached readable range by adjacent
 * pages; other pages are checked on every call. */
static bool may_read(unwind_stack *s, uint64_t address, uint64_t n)
{
	uint64_t first = address & ~(uint64_t)(PAGE - 1),
		 end = (address + n + PAGE - 1) & ~(uint64_t)(PAGE - 1);

	if (address + n < address || first < PAGE || !end)
		return false;
	for (uint64_t page = first; page != end; page += PAGE) {
		if (page >= s->low && page < s->high)
			continue;
		if (!memory_readable(page))
			return false;
		if (page == s->high)
			s->high += PAGE;
		else if (page + PAGE == s->low)
			s->low = page;
	}
	return true;
}

/* Retains the readable range if sp is on the same stack, else starts a new one. */
static void begin_at(unwind_stack *s, uint64_t sp)
{
	uint64_t page = sp & ~(uint64_t)(PAGE - 1);

	if (sp >= s->low && sp < s->high)
		return;
	if (sp < s->low && s->low - page <= 16 * PAGE && may_read(s, s->low - PAGE, PAGE)) {
		/* The stack has grown: check all of it down to here. */
		while (s->low > page && may_read(s, s->low - PAGE, PAGE))
			;
		if (s->low <= page)
			return;
	}
	s->low = s->high = page;
	may_read(s, page, PAGE);
}

static inline bool unwind_holds(const unwind_stack *s, uint64_t address, uint64_t n)
{
	return address >= s->low && address < s->high && n <= s->high - address;
}

READS_STACKS static inline bool load(unwind_stack *s, uint64_t address, uint64_t *ret)
{
	if (!unwind_holds(s, address, 8) && !may_read(s, address, 8))
		return false;
	*ret = *(const volatile uint64_t *)(uintptr_t)address;
	return true;
}

READS_STACKS static bool read_own(void *self, uint64_t address, void *to, size_t n)
{
	unwind_stack *s = self;
	unsigned char *out = to;

	if (!unwind_holds(s, address, n) && !may_read(s, address, n))
		return false;
	for (size_t i = 0; i < n; i++)
		out[i] = ((const volatile unsigned char *)(uintptr_t)address)[i];
	return true;
}

/* --- Rules that were found before. */

enum { KEPT_BITS = 14 };

/* A row is valid if `check` matches a, b, the address and the generation: rows are written without
 * a lock, and one that two threads wrote at once does not match. */
typedef struct kept {
	_Alignas(32) _Atomic uint64_t check, a, b;
} kept;

static kept kept_rows[1 << KEPT_BITS];
static _Atomic uint64_t generation;

static uint64_t unwind_mixed(uint64_t v)
{
	v *= UINT64_C(0x9e3779b97f4a7c15);
	return v ^ v >> 29;
}

static uint64_t check_of(uint64_t place, uint64_t when, uint64_t a, uint64_t b)
{
	return place + unwind_mixed(a + when) + unwind_mixed(b) * 3 + 1;
}

static kept *unwind_row_of(uint64_t place)
{
	return &kept_rows[place * UINT64_C(0x9e3779b97f4a7c15) >> (64 - KEPT_BITS)];
}

static unwind_rule find_new(uint64_t place, uint64_t when, kept *row)
{
	unwind_module m;
	bool have = self_modules_find(place, &m);
	unwind_rule rule = unwind_find_rule(have ? &m : NULL, place);
	uint64_t halves[2];

	/* An address without a module is not cached: one may be loaded there. */
	if (!have)
		return rule;
	memcpy(halves, &rule, sizeof rule);
	atomic_store_explicit(&row->check, 0, memory_order_relaxed);
	atomic_store_explicit(&row->a, halves[0], memory_order_relaxed);
	atomic_store_explicit(&row->b, halves[1], memory_order_relaxed);
	atomic_store_explicit(&row->check, check_of(place, when, halves[0], halves[1]),
			      memory_order_relaxed);
	return rule;
}

static inline unwind_rule find_rule(uint64_t place, uint64_t when)
{
	kept *row = unwind_row_of(place);
	uint64_t halves[2] = {atomic_load_explicit(&row->a, memory_order_relaxed),
			      atomic_load_explicit(&row->b, memory_order_relaxed)};
	unwind_rule rule;

	_Static_assert(sizeof rule == sizeof halves, "a rule is two words");
	if (atomic_load_explicit(&row->check, memory_order_relaxed) !=
	    check_of(place, when, halves[0], halves[1]))
		return find_new(place, when, row);
	memcpy(&rule, halves, sizeof rule);
	return rule;
}

void unwind_self_changed(void)
{
	atomic_fetch_add(&generation, 1);
}

/* --- The walk. */

void unwind_self_context(const void *ucontext, unwind_regs *ret)
{
#if defined(__x86_64__)
	static const unsigned char place[UNWIND_REGS] = {
	    REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
	    REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
#endif
	const ucontext_t *u = ucontext;

	ret->known = UNWIND_ALL_KNOWN;
	ret->exact = true;
#if defined(__x86_64__)
	for (unsigned i = 0; i < UNWIND_REGS; i++)
		ret->r[i] = (uint64_t)u->uc_mcontext.gregs[place[i]];
#elif defined(__aarch64__)
	for (unsigned i = 0; i < 31; i++)
		ret->r[i] = u->uc_mcontext.regs[i];
	ret->r[UNWIND_SP] = u->uc_mcontext.sp;
	ret->r[UNWIND_PC] = u->uc_mcontext.pc;
#else
	(void)u;
	ret->known = 0;
#endif
}

/* Walks with all registers, without cached rules. */
static size_t unwind_walk_fully(unwind_stack *s, const unwind_regs *from, uint64_t *pcs, size_t max,
				unwind_result *ret_end)
{
	unwind_memory memory = {read_own, s};
	unwind_regs r = *from;
	unwind_module m;
	size_t n = 0;

	*ret_end = UNWIND_OK;
	while (n < max && *ret_end == UNWIND_OK) {
		uint64_t place = unwind_lookup_pc(&r);
		bool have = self_modules_find(place, &m);

		pcs[n++] = place;
		*ret_end = unwind_step(have ? &m : NULL, place, &r, &memory);
	}
	return n;
}

/* Walks by cached rules. UNWIND_NEEDS: a rule needs other registers. */
static size_t walk_by_rules(unwind_stack *s, const unwind_regs *from, uint64_t *pcs, size_t max,
			    unwind_result *ret_end)
{
	uint64_t when = atomic_load_explicit(&generation, memory_order_relaxed);
	uint64_t pc = from->r[UNWIND_PC], sp = from->r[UNWIND_SP], fp = from->r[UNWIND_FP];
	uint64_t cfa, before;
	bool exact = from->exact;
	size_t n = 0;
#if !defined(__x86_64__)
	uint64_t lr = from->r[UNWIND_PC - 2];
#endif

	*ret_end = UNWIND_OK;
	while (n < max) {
		uint64_t place = exact ? pc : pc - 1;
		unwind_rule rule = find_rule(place, when);

		pcs[n++] = place;
		if (rule.kind == UNWIND_CFA && rule.cfa_register == UNWIND_SP) {
			cfa = sp + (uint64_t)(int64_t)rule.cfa_offset;
		} else if (rule.kind <= UNWIND_CFA_DEREF && rule.cfa_register == UNWIND_FP) {
			cfa = fp + (uint64_t)(int64_t)rule.cfa_offset;
			if (rule.kind == UNWIND_CFA_DEREF) {
				*ret_end = load(s, cfa, &cfa) ? UNWIND_OK : UNWIND_UNREADABLE;
				cfa += (uint64_t)(int64_t)rule.cfa_added;
			}
		} else if (rule.kind == UNWIND_OUTERMOST) {
			*ret_end = UNWIND_END;
		} else {
			*ret_end = UNWIND_NEEDS;
		}
		if (*ret_end != UNWIND_OK)
			return n;
		before = pc;
		if (rule.fp_at != UNWIND_SAME) {
			const bool by_fp = rule.flags & UNWIND_FP_BY_FP;
			const uint64_t at = (by_fp ? fp : cfa) + (uint64_t)(int64_t)rule.fp_at;

			/* In the epilogue it may be the caller's again, as in unwind_apply(). */
			if (!(by_fp && (at < sp || at >= cfa)) && !load(s, at, &fp))
				*ret_end = UNWIND_UNREADABLE;
		}
#if defined(__x86_64__)
		if (!load(s, cfa + (uint64_t)(int64_t)rule.ra_at, &pc))
			*ret_end = UNWIND_UNREADABLE;
#else
		if (rule.ra_at != UNWIND_SAME && !load(s, cfa + (uint64_t)(int64_t)rule.ra_at, &lr))
			*ret_end = UNWIND_UNREADABLE;
		pc = lr & 0xffffffffffff;
#endif
		if (*ret_end != UNWIND_OK)
			return n;
		if (pc < PAGE || (pc == before && cfa == sp)) {
			*ret_end = pc ? UNWIND_LOST : UNWIND_END;
			return n;
		}
		sp = cfa;
		exact = false;
	}
	return n;
}

/* --- Code without tables. */

static size_t walk_scanned(void *self, const unwind_regs *from, uint64_t *pcs, size_t max,
			   unwind_result *ret_end)
{
	size_t n = walk_by_rules(self, from, pcs, max, ret_end);

	if (*ret_end == UNWIND_NEEDS)
		n = unwind_walk_fully(self, from, pcs, max, ret_end);
	if (*ret_end == UNWIND_UNREADABLE) /* all of a stack can be read */
		*ret_end = UNWIND_LOST;
	return n;
}

static bool unwind_code_before(void *self, uint64_t address, unsigned char *to, size_t n)
{
	unwind_module m;

	(void)self;
	if (!self_modules_find(address - 1, &m) || !memory_readable(address - 1) ||
	    ((address - n) / PAGE != (address - 1) / PAGE && !memory_readable(address - n)))
		return false;
	for (size_t i = 0; i < n; i++)
		to[i] = ((const volatile unsigned char *)(uintptr_t)(address - n))[i];
	return true;
}

/* Returns whether no unwind table covers the function. */
static bool unwind_is_bare(uint64_t place)
{
	unwind_module m;
	uint64_t begin;

	return !self_modules_find(place, &m) || !unwind_function(&m, place, &begin);
}

/* Walks from the caller of code without tables; pcs[0] stays. Returns the number of pcs; 0: no
 * caller was found. */
static size_t walk_beyond(unwind_stack *s, const unwind_regs *from, uint64_t *pcs, size_t max,
			  unwind_result *ret_end)
{
	const unwind_memory memory = {read_own, s};
	unwind_regs caller = *from;

	if (!from->exact || max < 2 || !unwind_is_bare(from->r[UNWIND_PC]) ||
	    !unwind_scan_caller(&(unwind_scan){&memory, walk_scanned, unwind_code_before, NULL, s},
				&caller))
		return 0;
	pcs[0] = from->r[UNWIND_PC];
	return 1 + walk_scanned(s, &caller, pcs + 1, max - 1, ret_end);
}

size_t unwind_self_walk(unwind_stack *stack, const unwind_regs *from, uint64_t *pcs, size_t max,
			unwind_result *ret_end)
{
	const uint64_t needed = UNWIND_FOLLOWED;
	unwind_result end = UNWIND_LOST;
	size_t n = 0;

	if (UNWIND_HERE && (from->known & needed) == needed) {
		begin_at(stack, from->r[UNWIND_SP]);
		stack->scanned = false;
		n = walk_by_rules(stack, from, pcs, max, &end);
		if (end == UNWIND_NEEDS)
			n = unwind_walk_fully(stack, from, pcs, max, &end);
		if (end == UNWIND_LOST || end == UNWIND_UNREADABLE) {
			const size_t beyond = walk_beyond(stack, from, pcs, max, &end);

			stack->scanned = beyond > 0;
			n = beyond ? beyond : n;
		}
	}
	if (ret_end)
		*ret_end = end;
	return n;
}

void unwind_self_refresh(void)
{
	self_modules_refresh();
	unwind_self_changed();
}
