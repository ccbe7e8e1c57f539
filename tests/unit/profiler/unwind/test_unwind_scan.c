/* test_unwind_scan.c - the caller of code without unwind tables, searched on a simulated stack:
 * functions with known frames, calls before some addresses, and words that only look similar.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/unwind/unwind_scan.h"

#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#if defined(__x86_64__)

#define STACK UINT64_C(0x7f0000000000)
enum { WORDS = 256, KERNEL = 0x500000 };
/* Return addresses into functions with frames of this many words, the return address last. */
enum {
	INTO_MAIN = 0x401010,
	INTO_MIDDLE = 0x402010,
	INTO_CALLER = 0x403010,
	INTO_OTHER = 0x404010
};

typedef struct world {
	uint64_t word[WORDS];
	uint64_t sp_by_pointer; /* end of INTO_CALLER's frame, by the frame pointer */
	unsigned steps;
	bool any; /* each address follows a call, and many steps succeed */
	uint64_t random;
} world;

static bool read_stack(void *self, uint64_t address, void *to, size_t n)
{
	const world *w = self;

	if (address < STACK || address - STACK > sizeof w->word - n)
		return false;
	memcpy(to, (const char *)w->word + (address - STACK), n);
	return true;
}

static unwind_result step(void *self, unwind_regs *r)
{
	static const struct {
		uint64_t pc;
		unsigned words;
	} functions[] = {{INTO_MIDDLE, 4}, {INTO_CALLER, 3}, {INTO_OTHER, 7}};
	world *w = self;

	w->steps++;
	if (w->any) {
		r->r[UNWIND_PC] = rng_next(&w->random);
		r->r[UNWIND_SP] += 8;
		return w->steps % 40 ? UNWIND_OK : UNWIND_LOST;
	}
	if (r->r[UNWIND_PC] == INTO_MAIN)
		return UNWIND_END;
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		uint64_t end = r->r[UNWIND_SP] + 8 * functions[i].words;

		if (r->r[UNWIND_PC] != functions[i].pc)
			continue;
		if (w->sp_by_pointer && functions[i].pc == INTO_CALLER) {
			if (!(r->known >> UNWIND_FP & 1))
				return UNWIND_NEEDS;
			end = r->r[UNWIND_FP] + 16;
		}
		if (!read_stack(w, end - 8, &r->r[UNWIND_PC], 8))
			return UNWIND_UNREADABLE;
		r->r[UNWIND_SP] = end;
		return UNWIND_OK;
	}
	return UNWIND_LOST;
}

static size_t walk(void *self, const unwind_regs *from, uint64_t *pcs, size_t max,
		   unwind_result *ret_end)
{
	unwind_regs r = *from;
	size_t n = 0;

	for (*ret_end = UNWIND_OK; n < max && *ret_end == UNWIND_OK;) {
		pcs[n++] = unwind_lookup_pc(&r);
		*ret_end = step(self, &r);
	}
	return n;
}

static bool code_before(void *self, uint64_t address, unsigned char *to, size_t n)
{
	static const unsigned char through_memory[] = {0x90, 0x90, 0x90, 0x90, 0xff, 0x50, 0x10};
	const world *w = self;
	const int32_t far = 0x100;

	memset(to, 0x90, n);
	switch (w->any ? INTO_MAIN : address) {
	case INTO_MAIN: /* call *%rax */
		memcpy(to + n - 2, "\xff\xd0", 2);
		return true;
	case INTO_MIDDLE:
	case INTO_CALLER: /* call *0x10(%rax) */
		memcpy(to, through_memory, n);
		return true;
	case INTO_OTHER: /* call of a function that is not a kernel */
		to[n - 5] = 0xe8;
		memcpy(to + n - 4, &far, 4);
		return true;
	default:
		return address < 0x600000;
	}
}

static bool scan(world *w, unwind_regs *r)
{
	const unwind_memory memory = {read_stack, w};

	*r = (unwind_regs){.known = UNWIND_FOLLOWED, .exact = true};
	r->r[UNWIND_PC] = KERNEL + 0x123;
	r->r[UNWIND_SP] = STACK;
	return unwind_scan_caller(&(unwind_scan){&memory, walk, code_before, NULL, w}, r);
}

/* Writes from this word on: a return address of the kernel, frames of 3 and 4 words, and main. */
static void put_frames(world *w, size_t at)
{
	w->word[at] = INTO_CALLER;
	w->word[at + 3] = INTO_MIDDLE;
	w->word[at + 7] = INTO_MAIN;
}

static void expect_caller(world *w, size_t at)
{
	unwind_regs r;

	assert_true(scan(w, &r));
	assert_true(r.r[UNWIND_PC] == INTO_CALLER);
	assert_true(r.r[UNWIND_SP] == STACK + 8 * (at + 1));
	assert_false(r.exact);
}

static void the_return_address_is_found(void **state)
{
	world w = {.word = {1, STACK + 80, 0x450000, 7}};

	(void)state;
	put_frames(&w, 5);
	expect_caller(&w, 5);
}

/* Remains of earlier calls: an address from which no step succeeds, and one whose call had another
 * target. */
static void what_looks_alike_is_passed_over(void **state)
{
	world w = {.word = {INTO_MIDDLE, 3, 9, INTO_OTHER}};

	(void)state;
	put_frames(&w, 6);
	w.word[3 + 7] = 0;
	expect_caller(&w, 6);
}

static void a_frame_pointer_is_found_too(void **state)
{
	world w = {.sp_by_pointer = 1};

	(void)state;
	put_frames(&w, 5);
	w.word[1] = STACK + 8 * 4; /* leads to no frame */
	w.word[2] = STACK + 8 * 7; /* the caller's return address is after the word there */
	expect_caller(&w, 5);
}

static void nothing_is_found_where_nothing_leads_out(void **state)
{
	world w = {.word = {0}};
	unwind_regs r;

	(void)state;
	assert_false(scan(&w, &r));
	put_frames(&w, 5);
	w.word[5 + 7] = 0x450000;
	assert_false(scan(&w, &r));
	assert_true(r.r[UNWIND_SP] == STACK && r.exact);
	/* Too far away for a frame. */
	memset(&w, 0, sizeof w);
	put_frames(&w, 200);
	assert_false(scan(&w, &r));
}

/* Any words, each of which could be a return address, and many frames that lead nowhere. */
static void the_work_is_bounded(void **state)
{
	world w = {.any = true, .random = 14};
	unwind_regs r;

	(void)state;
	for (size_t i = 0; i < WORDS; i++)
		w.word[i] = i % 2 ? STACK + 8 * WORDS : rng_next(&w.random);
	assert_false(scan(&w, &r));
	assert_in_range(w.steps, 100, 10000);
}

enum { FRAMED = INTO_OTHER + 0x100, BEHIND_PLT = 0x510000, SLOT = 0x520000 };

/* What the call before INTO_OTHER reaches is an entry of .plt. */
static bool bytes_at(void *self, uint64_t address, void *to, size_t n)
{
	static const unsigned char entry[] = {0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25};
	const uint64_t function = BEHIND_PLT;
	const int32_t distance = SLOT - FRAMED - 10;

	(void)self;
	memset(to, 0x90, n);
	if (address == FRAMED) {
		memcpy(to, entry, sizeof entry);
		memcpy((char *)to + sizeof entry, &distance, sizeof distance);
	} else if (address == SLOT) {
		memcpy(to, &function, sizeof function);
	}
	return true;
}

static bool scan_pointer(world *w, uint64_t begin, unwind_regs *r)
{
	const unwind_memory memory = {read_stack, w};

	*r = (unwind_regs){.known = UINT64_C(1) << UNWIND_PC | UINT64_C(1) << UNWIND_SP};
	r->r[UNWIND_PC] = begin + 0x20;
	r->r[UNWIND_SP] = STACK;
	return unwind_scan_pointer(&(unwind_scan){&memory, walk, code_before, bytes_at, w}, begin,
				   r);
}

static void the_frame_pointer_is_below_what_a_call_of_the_function_pushed(void **state)
{
	/* Calls of other functions come first. */
	world w = {.word = {INTO_MAIN, INTO_CALLER, 7, STACK + 88, INTO_OTHER}};
	unwind_regs r;

	(void)state;
	assert_true(scan_pointer(&w, FRAMED, &r));
	assert_true(r.known >> UNWIND_FP & 1);
	assert_true(r.r[UNWIND_FP] == STACK + 8 * 3);
	assert_true(scan_pointer(&w, BEHIND_PLT, &r));
	assert_true(r.r[UNWIND_FP] == STACK + 8 * 3);
	assert_false(scan_pointer(&w, BEHIND_PLT + 1, &r));
	assert_false(r.known >> UNWIND_FP & 1);
}

int test_unwind_scan(void);
int test_unwind_scan(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_return_address_is_found),
	    cmocka_unit_test(what_looks_alike_is_passed_over),
	    cmocka_unit_test(a_frame_pointer_is_found_too),
	    cmocka_unit_test(nothing_is_found_where_nothing_leads_out),
	    cmocka_unit_test(the_work_is_bounded),
	    cmocka_unit_test(the_frame_pointer_is_below_what_a_call_of_the_function_pushed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else
int test_unwind_scan(void);
int test_unwind_scan(void)
{
	return 77; /* the calls above are x86-64's */
}
#endif
