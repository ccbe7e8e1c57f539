/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/unwind/unwind_scan.h"

#include <string.h>

/* Words of the frame, frames further out, values that may be the caller's frame pointer, walks; how
 * many frames there must be at least, also where the copy of a stack ends, and how many of them are
 * checked closely. */
enum { WORDS = 128, FRAMES = 64, POINTERS = 8, WALKS = 32, LEAST = 3, CUT_LEAST = 7, CLOSELY = 4 };
enum { CALL_BYTES = 7, CALL_NEAR = 5, ENTRY_BYTES = 16, POINTER_WORDS = 512 };
/* No function and no frame is larger. */
#define FUNCTION_BYTES (UINT64_C(1) << 16)
#define STACK_BYTES    (UINT64_C(1) << 20)

#if defined(__x86_64__)
/* Returns the length of an indirect 'call', from the bytes after its opcode. */
static size_t indirect_bytes(const unsigned char *at)
{
	const unsigned mod = at[0] >> 6, rm = at[0] & 7;
	size_t n = 2;

	if ((at[0] & 0x38) != 0x10)
		return 0;
	if (mod == 3)
		return n;
	if (rm == 4)
		n += 1u + (mod == 0 && (at[1] & 7) == 5 ? 4 : 0);
	if (mod == 0 && rm == 5)
		n += 4;
	return n + (mod == 1 ? 1 : mod == 2 ? 4 : 0);
}

/* Returns whether the instruction before the address is a call. *ret_to: its target; 0:
 * indirect. */
static bool is_behind_call(const unwind_scan *s, uint64_t address, uint64_t *ret_to)
{
	unsigned char code[CALL_BYTES + 1] = {0};
	int32_t distance;

	if (address < FUNCTION_BYTES || !s->code_before(s->self, address, code, CALL_BYTES))
		return false;
	*ret_to = 0;
	if (code[CALL_BYTES - CALL_NEAR] == 0xe8) {
		memcpy(&distance, code + CALL_BYTES - CALL_NEAR + 1, sizeof distance);
		*ret_to = address + (uint64_t)(int64_t)distance;
		return true;
	}
	for (size_t n = 2; n <= CALL_BYTES; n++)
		if (code[CALL_BYTES - n] == 0xff && indirect_bytes(code + CALL_BYTES - n + 1) == n)
			return true;
	return false;
}
#else
static bool is_behind_call(const unwind_scan *s, uint64_t address, uint64_t *ret_to)
{
	unsigned char code[4];

	if (address < FUNCTION_BYTES || !s->code_before(s->self, address, code, sizeof code))
		return false;
	*ret_to = 0;
	const uint32_t word = (uint32_t)code[0] | (uint32_t)code[1] << 8 | (uint32_t)code[2] << 16 |
			      (uint32_t)code[3] << 24;
	if (word >> 26 == 0x25) /* bl: 26 bits of words, signed */
		*ret_to = address - 4 + (uint64_t)((int64_t)((int32_t)(word << 6) >> 6) * 4);
	return word >> 26 == 0x25 || (word & 0xfffffc1f) == 0xd63f0000; /* blr */
}
#endif

#if defined(__x86_64__)
uint64_t unwind_plt_slot(const unsigned char *code, size_t n, uint64_t address)
{
	int32_t by;

	for (size_t i = 0; i + 6 <= n; i++) {
		if (code[i] != 0xff || code[i + 1] != 0x25) /* jmp *by(%rip) */
			continue;
		memcpy(&by, code + i + 2, sizeof by);
		return address + i + 6 + (uint64_t)(int64_t)by;
	}
	return 0;
}
#else
uint64_t unwind_plt_slot(const unsigned char *code, size_t n, uint64_t address)
{
	uint32_t adrp, ldr;
	uint64_t pages;

	for (size_t i = 0; i + 8 <= n; i += 4) {
		memcpy(&adrp, code + i, 4);
		memcpy(&ldr, code + i + 4, 4);
		/* adrp x16, page; ldr x17, [x16, #offset] */
		if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
			continue;
		pages = (adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);
		pages = (uint64_t)((int64_t)(pages << 43) >> 43);
		return ((address + i) & ~UINT64_C(4095)) + (pages << 12) + (ldr >> 10 & 0xfff) * 8;
	}
	return 0;
}
#endif

/* Whether the code is an entry of .plt whose slot has that address. */
static bool jumps_to(const unwind_scan *s, uint64_t entry, uint64_t target)
{
	unsigned char code[ENTRY_BYTES];
	uint64_t slot;

	if (!s->bytes_at(s->self, entry, code, sizeof code))
		return false;
	slot = unwind_plt_slot(code, sizeof code, entry);
	return slot && s->bytes_at(s->self, slot, &slot, sizeof slot) && slot == target;
}

static bool leads_out(const unwind_scan *s, const unwind_regs *r, int *walks)
{
	uint64_t pcs[FRAMES], unused;
	unwind_result end = UNWIND_LOST;

	if ((*walks)-- <= 0)
		return false;
	const size_t n = s->walk(s->self, r, pcs, FRAMES, &end);
	for (size_t i = 1; i < n && i < CLOSELY; i++)
		if (!is_behind_call(s, pcs[i] + 1, &unused))
			return false;
	return end == UNWIND_OK		  ? true /* there are more */
	       : end == UNWIND_END	  ? n >= LEAST
	       : end == UNWIND_UNREADABLE ? n >= CUT_LEAST /* the copy of the stack ends */
					  : false;
}

/* Tries the candidates for the caller's frame pointer: none (most callers need none), the register,
 * and the frame's words. */
static bool with_pointers(const unwind_scan *s, const unwind_regs *from, unwind_regs *caller,
			  const uint64_t *words, size_t n, int *walks)
{
	const uint64_t sp = caller->r[UNWIND_SP], pointer = UINT64_C(1) << UNWIND_FP;
	int left = POINTERS;

	if (leads_out(s, caller, walks))
		return true;
	caller->known |= pointer;
	for (size_t i = 0; i <= n && left > 0; i++) {
		const uint64_t value = i == 0 ? from->r[UNWIND_FP] : words[i - 1];

		if ((i == 0 && !(from->known & pointer)) || value % 8 || value < sp ||
		    value - sp > STACK_BYTES)
			continue;
		left--;
		caller->r[UNWIND_FP] = value;
		if (leads_out(s, caller, walks))
			return true;
	}
	return false;
}

bool unwind_scan_caller(const unwind_scan *s, unwind_regs *r)
{
	const uint64_t sp = r->r[UNWIND_SP], pc = r->r[UNWIND_PC];
	uint64_t words[WORDS], to;
	int walks = WALKS;

	for (size_t n = 0; n < WORDS && walks > 0; n++) {
		if (!s->memory->read(s->memory->self, sp + 8 * n, &words[n], 8))
			return false;
		if (!is_behind_call(s, words[n], &to) ||
		    (to && (to > pc || pc - to > FUNCTION_BYTES)))
			continue;
		unwind_regs caller = {.known = UINT64_C(1) << UNWIND_PC | UINT64_C(1) << UNWIND_SP};
		caller.r[UNWIND_PC] = words[n];
		caller.r[UNWIND_SP] = sp + 8 * (n + 1);
		if (with_pointers(s, r, &caller, words, n, &walks)) {
			*r = caller;
			return true;
		}
	}
	return false;
}

bool unwind_scan_pointer(const unwind_scan *s, uint64_t begin, unwind_regs *r)
{
	const uint64_t sp = r->r[UNWIND_SP];
	uint64_t word, to;

	for (size_t n = 0; n < POINTER_WORDS; n++) {
		const uint64_t at = sp + 8 * n;

		if (!s->memory->read(s->memory->self, at + 8, &word, sizeof word))
			return false;
		if (!is_behind_call(s, word, &to) || !to ||
		    (to != begin && !jumps_to(s, to, begin)))
			continue;
		r->r[UNWIND_FP] = at;
		r->known |= UINT64_C(1) << UNWIND_FP;
		return true;
	}
	return false;
}
