/* heap_walk.c - incremental stack unwinding: only frames that are new since the thread's last
 * allocation are unwound.
 *
 * The last stack is cached as rows, the outermost first. A row has the node of its path and the
 * stack words (return addresses, saved frame pointers) from which the rows outside it were derived;
 * it is valid while pc, sp, fp where the unwinding used it, and all these words are unchanged.
 * Froyd, Mellor-Crummey and Fowler (ICS 2005) mark the known part of a stack by a trampoline in a
 * return address; here words are compared instead, so the program's stack is never written.
 *
 * The fast path compares the whole last stack. Otherwise walk_follow() unwinds from the innermost
 * frame, by rules of 16 bytes that are cached by address, until it meets a valid row; the frames
 * inside it become new rows. If a rule needs other registers, heap_walk_fully() unwinds all frames.
 *
 * Invariants: all data is the thread's; a lock (heap_paths.c) is taken only for a new address or
 * node. A word is read only within [low, high), pages that the kernel confirmed as readable; a
 * stack elsewhere starts a new range. Stacks deeper than HEAP_DEPTH_MAX are cut at the outer end,
 * below HEAP_FRAME_CUT. When code was unloaded (header->code), code_changed() drops the thread's
 * caches.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/preload/heap/heap_walk.h"

#include "profiler/preload/heap/heap_python.h"
#include "profiler/unwind/readable.h"
#include "profiler/unwind/unwind_self.h"

#include <string.h>

/* The function reads variables of other frames, which sanitizers would report. */
#define READS_STACKS __attribute__((no_sanitize("address", "thread")))

enum { PAGE = 4096 };

/* --- reading the stack */

static bool range_grow(heap_thread *t, uint64_t address)
{
	const uint64_t page = address & ~(uint64_t)(PAGE - 1);

	if (!memory_readable(page))
		return false;
	if (page == t->high) {
		t->high += PAGE;
	} else if (page + PAGE == t->low) {
		t->low = page;
	} else {
		t->low = page;
		t->high = page + PAGE;
	}
	return true;
}

READS_STACKS static inline bool word_read(heap_thread *t, uint64_t address, uint64_t *ret)
{
	if (__builtin_expect(address & 7, 0))
		return false;
	if (__builtin_expect(address - t->low >= t->high - t->low, 0) && !range_grow(t, address))
		return false;
	*ret = *(const uint64_t *)(uintptr_t)address;
	return true;
}

static bool memory_read(void *self, uint64_t address, void *to, size_t n)
{
	heap_thread *t = self;
	char *at = to;

	for (uint64_t done = 0; done < n;) {
		const uint64_t from = address + done, page_end = (from | (PAGE - 1)) + 1;
		const uint64_t some = page_end - from < n - done ? page_end - from : n - done;

		if (from - t->low >= t->high - t->low && !range_grow(t, from))
			return false;
		memcpy(at + done, (const void *)(uintptr_t)from, some);
		done += some;
	}
	return true;
}

/* --- one frame */

static const heap_place *walk_place_of(heap_state *s, heap_thread *t, uint64_t place)
{
	heap_place *p = &t->places[(place ^ place >> 10) % PLACES_KEPT];

	if (__builtin_expect(p->place != place, 0))
		*p = heap_place_get(s, place);
	return p;
}

/* Unwinds from f, whose PC, sp and fp are set, to its caller *outer, and sets f's other members. */
static unwind_result step(heap_thread *t, walked_frame *f, const unwind_rule *r,
			  walked_frame *outer)
{
	const bool by_sp = r->cfa_register == UNWIND_SP;
	uint64_t pc;

	f->fp_at = 0;
	if (__builtin_expect(r->kind == UNWIND_CFA && r->ra_at != UNWIND_SAME &&
				 !(r->flags & ~UNWIND_OTHERS) &&
				 (by_sp || r->cfa_register == UNWIND_FP),
			     1)) {
		const uint64_t cfa = (by_sp ? f->sp : f->fp) + (uint64_t)(int64_t)r->cfa_offset;

		f->again = true;
		f->by_fp = !by_sp;
		f->ra_at = cfa + (uint64_t)(int64_t)r->ra_at;
		outer->fp = f->fp;
		if (cfa <= f->sp || !word_read(t, f->ra_at, &pc))
			return UNWIND_UNREADABLE;
		f->ra_word = pc;
		if (r->fp_at != UNWIND_SAME) {
			f->fp_at = cfa + (uint64_t)(int64_t)r->fp_at;
			if (!word_read(t, f->fp_at, &f->fp_word))
				return UNWIND_UNREADABLE;
			outer->fp = f->fp_word;
		}
		outer->sp = cfa;
		outer->place = pc - 1;
		return pc ? UNWIND_OK : UNWIND_END;
	}
	const unwind_memory memory = {memory_read, t};
	unwind_regs regs = {.known = UINT64_C(1) << UNWIND_PC | UINT64_C(1) << UNWIND_SP |
				     UINT64_C(1) << UNWIND_FP};
	f->again = false;
	f->by_fp = r->kind != UNWIND_OUTERMOST;
	regs.r[UNWIND_PC] = f->place + 1;
	regs.r[UNWIND_SP] = f->sp;
	regs.r[UNWIND_FP] = f->fp;
	const unwind_result got = unwind_apply(r, &regs, &memory);
	if (got != UNWIND_OK)
		return got;
	*outer = (walked_frame){
	    .place = unwind_lookup_pc(&regs), .sp = regs.r[UNWIND_SP], .fp = regs.r[UNWIND_FP]};
	return outer->sp > f->sp || regs.exact ? UNWIND_OK : UNWIND_LOST;
}

/* --- the whole stack */

/* True if cached row k is still valid: same pc, sp, (fp), and all stack words it depended on are
 * unchanged. If all words are known to be readable, all are read: that is faster than stopping at
 * the first that differs. Most frames do not depend on the frame pointer, so code that uses it for
 * other values is not slower. */
READS_STACKS static inline bool frame_cache_valid(const heap_thread *t, const cached_frame *k,
						  uint64_t place, uint64_t sp, uint64_t fp)
{
	uint64_t differs = (k->place ^ place) | (k->sp ^ sp);

	if (differs || (k->by_fp && k->fp != fp) || !k->again || k->lowest < t->low ||
	    k->highest >= t->high)
		return false;
	for (const cached_word *w = t->words, *end = w + k->words; w < end; w++)
		differs |= *(const uint64_t *)(uintptr_t)w->at ^ w->word;
	return differs == 0;
}

static inline void word_keep(heap_thread *t, cached_frame *k, uint64_t at, uint64_t word)
{
	t->words[k->words++] = (cached_word){at, word};
	if (at < k->lowest)
		k->lowest = at;
	if (at > k->highest)
		k->highest = at;
}

/* Stores a new frame as row i of the stack. */
static inline void walk_row_put(heap_thread *t, uint32_t i, const walked_frame *f)
{
	cached_frame *k = &t->stack[i];
	bool outer_by_fp = false;

	/* The outermost frame has no caller, so it has no words. */
	*k = (cached_frame){.place = f->place,
			    .sp = f->sp,
			    .fp = f->fp,
			    .lowest = UINT64_MAX,
			    .again = true,
			    .by_fp = f->by_fp};
	if (i == 0)
		return;
	outer_by_fp = k[-1].by_fp;
	k->lowest = k[-1].lowest;
	k->highest = k[-1].highest;
	k->words = k[-1].words;
	k->again = k[-1].again && f->again;
	k->by_fp |= outer_by_fp && !f->fp_at;
	if (!k->again)
		return;
	word_keep(t, k, f->ra_at, f->ra_word);
	if (outer_by_fp && f->fp_at)
		word_keep(t, k, f->fp_at, f->fp_word);
}

static void code_changed(heap_thread *t, uint32_t code)
{
	t->code = code;
	t->depth = 0;
	memset(t->places, 0, sizeof t->places);
}

/* Unwinds from f until it meets a valid row of the last stack: *known rows stay. Returns the number
 * of new frames. */
static uint32_t walk_follow(heap_state *s, heap_thread *t, walked_frame *f, uint32_t *known,
			    unwind_result *ret_end)
{
	for (uint32_t n = 0;; f++) {
		while (*known && t->stack[*known - 1].sp < f->sp)
			--*known;
		if (*known) {
			if (frame_cache_valid(t, &t->stack[*known - 1], f->place, f->sp, f->fp)) {
				*ret_end = UNWIND_OK;
				return n;
			}
		}
		const heap_place *p = walk_place_of(s, t, f->place);
		f->frame = p->frame;
		if (++n == HEAP_DEPTH_MAX) {
			*ret_end = UNWIND_OK;
			*known = 0;
			return n;
		}
		*ret_end = step(t, f, &p->rule, f + 1);
		if (*ret_end != UNWIND_OK) {
			*known = 0;
			return n;
		}
	}
}

/* Unwinds with all registers, which hand-written code needs. Nothing is cached. */
static uint32_t heap_walk_fully(heap_state *s, heap_thread *t, const heap_caller *from)
{
	uint64_t *places = (uint64_t *)(void *)t->fresh;
	unwind_stack stack = {0};
	unwind_regs regs;
	uint32_t node = t->lane;
	unwind_result end;
	size_t n, first = 0;

	UNWIND_SELF_REGS(&regs);
	n = unwind_self_walk(&stack, &regs, places, HEAP_DEPTH_MAX, &end);
	while (first < n && places[first] != from->pc - 1)
		first++;
	if (end != UNWIND_END)
		atomic_fetch_add_explicit(&s->header->broken, 1, memory_order_relaxed);
	t->depth = 0;
	for (size_t i = n; i-- > first;)
		node = heap_node_of(s, t, node, walk_place_of(s, t, places[i])->frame);
	return node;
}

/* Handles a stack that differs from the last one. */
HEAP_APART static uint32_t walk_on(heap_state *s, heap_thread *t, const heap_caller *from)
{
	const uint32_t code = atomic_load_explicit(&s->header->code, memory_order_acquire);
	uint32_t known, n, node;
	unwind_result end;

	if (__builtin_expect(t->code != code, 0))
		code_changed(t, code);
	if (from->sp - t->low >= t->high - t->low)
		t->low = t->high = 0; /* another stack */
	do {
		known = t->depth;
		t->fresh[0] = (walked_frame){.place = from->pc - 1, .sp = from->sp, .fp = from->fp};
		n = walk_follow(s, t, t->fresh, &known, &end);
		if (known + n > HEAP_DEPTH_MAX)
			t->depth = 0; /* again, without known rows: the stack is truncated */
	} while (known + n > HEAP_DEPTH_MAX);
	if (__builtin_expect(end == UNWIND_NEEDS, 0))
		return heap_walk_fully(s, t, from);
	node = known ? t->stack[known - 1].node : t->lane;
	if (__builtin_expect(n == HEAP_DEPTH_MAX, 0)) {
		atomic_fetch_add_explicit(&s->header->cut, 1, memory_order_relaxed);
		node = heap_node_of(s, t, node, HEAP_FRAME_CUT);
	}
	for (uint32_t i = n; i-- > 0;) {
		walk_row_put(t, known, &t->fresh[i]);
		t->stack[known++].node = node = heap_node_of(s, t, node, t->fresh[i].frame);
	}
	t->depth = n == HEAP_DEPTH_MAX ? 0 : known;
	if (__builtin_expect(end != UNWIND_OK && end != UNWIND_END, 0))
		atomic_fetch_add_explicit(&s->header->broken, 1, memory_order_relaxed);
	return node;
}

static inline uint32_t walk_walk(heap_state *s, heap_thread *t, const heap_caller *from)
{
	const uint32_t code = atomic_load_explicit(&s->header->code, memory_order_acquire);

	if (t->depth && t->code == code && from->sp - t->low < t->high - t->low &&
	    frame_cache_valid(t, &t->stack[t->depth - 1], from->pc - 1, from->sp, from->fp))
		return t->stack[t->depth - 1].node;
	return walk_on(s, t, from);
}

uint32_t heap_walk(heap_state *s, heap_thread *t, const heap_caller *from)
{
	const uint32_t node = walk_walk(s, t, from);

	if (__builtin_expect(atomic_load_explicit(&s->python, memory_order_relaxed), 0))
		return heap_python_path(s, t, node);
	return node;
}

uint32_t heap_walk_mapping(heap_state *s, heap_thread *t, const heap_caller *from)
{
	const uint32_t path = heap_walk(s, t, from);
	const uint32_t node = heap_node_of(s, t, path, HEAP_FRAME_MAPPING);

	return node != path ? node : HEAP_NODE_MAPPING; /* the path counts blocks */
}
