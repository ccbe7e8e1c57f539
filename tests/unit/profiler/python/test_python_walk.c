/* Walks a thread's frames in simulated memory: each version's structures, a thread that keeps
 * running, and invalid pointers. Real interpreters: tests/real/python_frames.py.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/python/python_layout.h"

#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { BASE = 0x10000, SIZE = 0x8000, MAX = 64, TID = 4711 };

/* Memory from BASE on; all other addresses are unmapped. */
typedef struct space {
	unsigned char bytes[SIZE];
	unsigned reads;
	void (*before)(struct space *s); /* called before each read */
	python_process p;
} space;

static bool read_space(void *self, uint64_t address, void *to, size_t n)
{
	space *s = self;

	s->reads++;
	if (s->before)
		s->before(s);
	if (address < BASE || address > BASE + SIZE - n)
		return false;
	memcpy(to, s->bytes + (address - BASE), n);
	return true;
}

static void put(space *s, uint64_t at, uint64_t value)
{
	memcpy(s->bytes + (at - BASE), &value, sizeof value);
}

enum { RUNTIME = BASE, INTERPRETER = BASE + 0x400, STATE = BASE + 0x800, FRAMES = BASE + 0x1000 };
enum { CFRAME = BASE + 0xc00, CODES = BASE + 0x4000, PTHREAD = BASE + 0xe00 };

static uint64_t frame_at(unsigned i)
{
	return FRAMES + 0x80 * i;
}

static uint64_t code_at(unsigned i)
{
	return CODES + 0x100 * i;
}

/* Writes frame i, called by frame i + 1 unless it is the outermost. */
static void put_frame(space *s, unsigned i, bool outermost)
{
	const python_layout *at = &s->p.at;

	put(s, frame_at(i) + at->frame_previous, outermost ? 0 : frame_at(i + 1));
	put(s, frame_at(i) + at->frame_code, code_at(i));
	put(s, frame_at(i) + at->frame_instruction,
	    at->code_start == PYTHON_NONE ? 6 : code_at(i) + at->code_start + 6);
}

/* Makes n frames; in 3.12 with the frame for the evaluator call after the last one. */
static void make(space *s, uint32_t version, unsigned n)
{
	const unwind_memory memory = {read_space, s};
	const python_layout *at = &s->p.at;

	memset(s, 0, sizeof *s);
	assert_true(python_find_at(RUNTIME, version, &memory, &s->p));
	put(s, RUNTIME + at->runtime_interpreter, INTERPRETER);
	put(s, INTERPRETER + at->interpreter_thread, STATE);
	put(s, STATE + at->thread_interpreter, INTERPRETER);
	if (at->thread_tid != PYTHON_NONE)
		put(s, STATE + at->thread_tid, TID);
	else {
		s->p.pthread_tid = 16;
		put(s, STATE + at->thread_pthread, PTHREAD);
		put(s, PTHREAD + 16, TID);
	}
	if (at->cframe_frame == PYTHON_NONE)
		put(s, STATE + at->thread_frame, frame_at(0));
	else {
		put(s, STATE + at->thread_frame, CFRAME);
		put(s, CFRAME + at->cframe_frame, frame_at(0));
	}
	for (unsigned i = 0; i < n; i++)
		put_frame(s, i, i + 1 == n && at->frame_owner == PYTHON_NONE);
	if (at->frame_is_entry != PYTHON_NONE)
		s->bytes[frame_at(n - 1) + at->frame_is_entry - BASE] = 1;
	if (at->frame_owner != PYTHON_NONE)
		s->bytes[frame_at(n) + at->frame_owner - BASE] = 3;
}

static size_t walk(space *s, bool still, size_t max, python_frame *ret, python_walked *w)
{
	const unwind_memory memory = {read_space, s};
	python_thread t = {.tid = TID, .still = still};

	return python_walk(&s->p, &memory, &t, ret, max, w);
}

static const uint32_t versions[] = {0x03080000, 0x03090000, 0x030a0000, 0x030b02f0, 0x030c01f0};
enum { VERSIONS = sizeof versions / sizeof *versions };

static void test_versions(void **state)
{
	static space s;
	python_frame f[MAX];
	python_walked w;

	(void)state;
	for (int v = 0; v < VERSIONS; v++) {
		make(&s, versions[v], 10);
		for (int still = 0; still < 2; still++) {
			assert_int_equal(walk(&s, still, MAX, f, &w), 10);
			assert_true(w.found && !w.torn && !w.cut && !w.unread);
			for (unsigned i = 0; i < 10; i++) {
				assert_int_equal(f[i].frame, frame_at(i));
				assert_int_equal(f[i].code, code_at(i));
				/* 3.10 counts in units of two bytes. */
				assert_int_equal(f[i].instruction, v == 2 ? 12 : 6);
				assert_int_equal(f[i].entry, v < 3 || i == 9);
			}
			assert_int_equal(walk(&s, still, 4, f, &w), 4);
			assert_true(w.cut && !w.torn);
			assert_int_equal(f[3].code, code_at(3));
		}
		/* A thread id unknown to Python. */
		const unwind_memory memory = {read_space, &s};
		python_thread other = {.tid = TID + 1};
		assert_int_equal(python_walk(&s.p, &memory, &other, f, MAX, &w), 0);
		assert_false(w.found);
	}
	python_process p;
	const unwind_memory memory = {read_space, &s};
	assert_false(python_find_at(RUNTIME, 0x03070000, &memory, &p));
	assert_false(
	    python_find_at(RUNTIME, 0x030d0000, &memory, &p)); /* it has no offsets table */
	assert_false(python_find_at(RUNTIME, 0x02070000, &memory, &p));
}

/* An evaluator that was called and has no frame yet is an entry without frames. */
static void test_call_without_frame(void **state)
{
	static space s;
	python_frame f[MAX];
	python_walked w;

	(void)state;
	make(&s, 0x030c01f0, 3);
	s.bytes[frame_at(0) + s.p.at.frame_owner - BASE] = 3;
	assert_int_equal(walk(&s, true, MAX, f, &w), 3);
	assert_int_equal(f[0].code, 0);
	assert_true(f[0].entry && !f[1].entry && f[2].entry);
}

/* A thread that calls and returns constantly: frame 0 changes at every fifth read. */
static void flicker(space *s)
{
	put(s, frame_at(0) + s->p.at.frame_code, code_at(20 + s->reads / 5 % 2));
}

/* The caller changes at every read: no consistent snapshot is possible. */
static void shuffle(space *s)
{
	put(s, frame_at(3) + s->p.at.frame_code, code_at(20 + s->reads));
}

/* The outer frames disappear at every fourth read, like frames that have returned. */
static void vanish(space *s)
{
	put(s, frame_at(2) + s->p.at.frame_previous, s->reads % 4 ? frame_at(3) : 0);
}

static void test_changes(void **state)
{
	static space s;
	python_frame f[MAX];
	python_walked w;

	(void)state;
	for (int v = 0; v < VERSIONS; v++) {
		make(&s, versions[v], 10);
		s.before = flicker;
		assert_int_equal(walk(&s, false, MAX, f, &w), 10);
		assert_false(w.torn);
		make(&s, versions[v], 10);
		s.before = shuffle;
		walk(&s, false, MAX, f, &w);
		assert_true(w.torn && w.again > 0);
		make(&s, versions[v], 10);
		s.before = vanish;
		size_t n = walk(&s, false, MAX, f, &w);
		assert_true(w.torn || n == 10);
	}
}

/* --- a thread that returns and calls while it is read: word by word, in the interpreter's order */

/* One write, and the codes of the innermost frames after it; 0: the change is incomplete, and the
 * previous stack is still valid. Frame 2 always follows these frames. */
typedef struct program_step {
	uint64_t at, value;
	unsigned is[3];
} program_step;

enum { STEPS = 18, INNER = BASE + 0x3000, OBJECT = BASE + 0x3800 };
static program_step steps[STEPS];
static unsigned n_steps, done, first_read, gap;

/* Does the next writes before the reads first_read, first_read + gap, ... */
static void go_on(space *s)
{
	while (done < n_steps && s->reads >= first_read + done * gap) {
		put(s, steps[done].at, steps[done].value);
		done++;
	}
}

static void put_code(space *s, uint64_t frame, unsigned code)
{
	const python_layout *at = &s->p.at;

	put(s, frame + at->frame_code, code_at(code));
	put(s, frame + at->frame_instruction,
	    at->code_start == PYTHON_NONE ? 6 : code_at(code) + at->code_start + 6);
}

/* 1 calls 20; both return, and 22 calls 23 in their memory. Then 21 calls 24, with a frame
 * elsewhere, like a generator's; at the end 25 calls 26. A new frame first contains the links of
 * the previous frame at its address. */
static void make_program(space *s, uint32_t version)
{
	make(s, version, 10);
	const python_layout *at = &s->p.at;
	const uint64_t innermost = at->cframe_frame == PYTHON_NONE ? STATE + at->thread_frame
								   : CFRAME + at->cframe_frame,
		       one = frame_at(1), two = frame_at(2);
	const program_step all[STEPS] = {
	    {innermost, one, {1}},
	    {innermost, two, {2}},
	    {one + at->frame_code, code_at(22), {0}},
	    {innermost, one, {22}},
	    {INNER + at->frame_code, code_at(23), {0}},
	    {innermost, INNER, {23, 22}},
	    {innermost, one, {22}},
	    {innermost, two, {2}},
	    {innermost, OBJECT, {21}},
	    {INNER + at->frame_code, code_at(24), {0}},
	    {INNER + at->frame_previous, OBJECT, {0}},
	    {innermost, INNER, {24, 21}},
	    {innermost, two, {2}},
	    {one + at->frame_code, code_at(25), {0}},
	    {innermost, one, {25}},
	    {INNER + at->frame_code, code_at(26), {0}},
	    {INNER + at->frame_previous, one, {0}},
	    {innermost, INNER, {26, 25}},
	};

	memcpy(steps, all, sizeof steps);
	put_code(s, INNER, 20);
	put_code(s, OBJECT, 21);
	put(s, INNER + at->frame_previous, one);
	put(s, OBJECT + at->frame_previous, two);
	put(s, innermost, INNER);
	n_steps = STEPS;
	done = 0;
	s->reads = 0;
	s->before = go_on;
}

/* Whether the innermost frames are these, followed by frames 2 to 9. */
static bool is_stack(const python_frame *f, size_t n, const unsigned is[3])
{
	size_t i = 0;

	for (; i < 3 && is[i] && is[i] != 2; i++)
		if (i == n || f[i].code != code_at(is[i]))
			return false;
	if (n != i + 8)
		return false;
	for (unsigned k = 2; k < 10; k++)
		if (f[i + k - 2].code != code_at(k))
			return false;
	return true;
}

/* At any speed of the writes: a stack that is not marked as torn existed. */
static void test_goes_on(void **state)
{
	static const unsigned first[3] = {20, 1};
	static space s;
	python_frame f[MAX];
	python_walked w;
	unsigned torn = 0, all = 0;

	(void)state;
	for (int v = 0; v < VERSIONS; v++) {
		for (gap = 0; gap < 20; gap++) {
			for (first_read = 1; first_read < 100; first_read++) {
				make_program(&s, versions[v]);
				const size_t n = walk(&s, false, MAX, f, &w);
				bool was = is_stack(f, n, first);

				for (unsigned i = 0; i < n_steps; i++)
					was |= steps[i].is[0] && is_stack(f, n, steps[i].is);
				if (!w.torn && !was)
					fail_msg("version %x, read %u, each %u: no stack that was",
						 versions[v], first_read, gap);
				torn += w.torn;
				all++;
			}
		}
	}
	assert_true(torn < all / 20);
}

/* Frames that form a cycle, or lead to an unmapped address. */
static void test_circle(void **state)
{
	static space s;
	python_frame f[MAX];
	python_walked w;

	(void)state;
	make(&s, 0x030b02f0, 5);
	put(&s, frame_at(4) + s.p.at.frame_previous, frame_at(2));
	assert_true(walk(&s, true, MAX, f, &w) < 16);
	assert_true(w.unread && !w.cut);
	put(&s, frame_at(4) + s.p.at.frame_previous, frame_at(4));
	assert_true(walk(&s, true, MAX, f, &w) < 16);
	assert_true(w.unread);
	put(&s, frame_at(4) + s.p.at.frame_previous, 0x7fff12345678);
	assert_int_equal(walk(&s, true, MAX, f, &w), 5);
	assert_true(w.unread);
	assert_int_equal(walk(&s, false, MAX, f, &w), 5);
	assert_true(w.torn && w.unread);
	/* A thread whose next thread is itself. */
	make(&s, 0x030b02f0, 5);
	put(&s, STATE + s.p.at.thread_tid, 1);
	put(&s, STATE + s.p.at.thread_next, STATE);
	assert_int_equal(walk(&s, true, MAX, f, &w), 0);
	assert_true(!w.found && s.reads < 100000);
}

/* Words that are addresses in this memory, or near its ends, or 0. */
static void test_hostile(void **state)
{
	static space s;
	python_frame f[MAX];
	python_walked w;
	uint64_t rng = 7;

	(void)state;
	for (int i = 0; i < 3000; i++) {
		make(&s, versions[i % VERSIONS], 10);
		for (size_t at = 0; at < SIZE; at += 8)
			if (rng_below(&rng, 8) == 0)
				put(&s, BASE + at, BASE + rng_below(&rng, SIZE + 64) / 8 * 8);
		const unwind_memory memory = {read_space, &s};
		python_names *names = python_names_new(&s.p, &memory);
		python_name name;
		size_t n = walk(&s, i & 1, MAX, f, &w);

		assert_true(n <= MAX && s.reads < 10000000);
		for (size_t k = 0; k < n; k++)
			python_names_find(names, f[k].code, f[k].instruction, &name);
		python_names_free(names);
	}
}

/* A free-threaded interpreter of 3.14, described by its offsets table: one thread runs a separate
 * copy of the bytecode, and code pointers have tags in their lowest bits. */
static void test_told(void **state)
{
	static space s;
	const unwind_memory memory = {read_space, &s};
	python_frame f[MAX];
	python_walked w;
	uint64_t told[PYTHON_DEBUG_OFFSETS_BYTES / 8] = {0};

	(void)state;
	memset(&s, 0, sizeof s);
	memcpy(told, PYTHON_COOKIE, 8);
	told[1] = 0x030e00f0;
	told[2] = 1;
	told[5] = 0x300; /* runtime: interpreter */
	told[8] = 0x10;	 /* interpreter: next */
	told[9] = 0x20;	 /* threads */
	told[24] = 0x8;	 /* thread: next */
	told[25] = 0x10; /* interpreter */
	told[26] = 0x18; /* frame */
	told[27] = 0x20; /* pthread */
	told[28] = 0x28; /* tid */
	told[32] = 0x8;	 /* frame: previous */
	told[33] = 0;	 /* executable */
	told[34] = 0x20; /* instruction */
	told[36] = 0x2e; /* owner */
	told[38] = 0x28; /* index of the copy */
	told[48] = 0x80; /* code: its bytecode */
	told[49] = 0x70; /* its copies of the bytecode */
	memcpy(s.bytes, told, sizeof told);
	assert_true(python_find_at(RUNTIME, 0, &memory, &s.p));
	assert_true(s.p.free_threaded && s.p.version == 0x030e00f0);
	put(&s, RUNTIME + 0x300, INTERPRETER);
	put(&s, INTERPRETER + 0x20, STATE);
	put(&s, STATE + 0x10, INTERPRETER);
	put(&s, STATE + 0x28, TID);
	put(&s, STATE + 0x18, frame_at(0));
	for (unsigned i = 0; i < 2; i++) {
		put(&s, frame_at(i), code_at(i) | 1);
		put(&s, frame_at(i) + 8, frame_at(i + 1));
		put(&s, frame_at(i) + 0x20, code_at(i) + 0x80 + 4);
	}
	/* Frame 1 runs copy 2, at another address. */
	put(&s, frame_at(1) + 0x28, 2);
	put(&s, frame_at(1) + 0x20, code_at(9) + 10);
	put(&s, code_at(1) + 0x70, code_at(5));
	put(&s, code_at(5), 3); /* their number */
	put(&s, code_at(5) + 8 + 2 * 8, code_at(9));
	s.bytes[frame_at(2) + 0x2e - BASE] = 3;
	assert_int_equal(walk(&s, false, MAX, f, &w), 2);
	assert_int_equal(f[0].code, code_at(0));
	assert_int_equal(f[0].instruction, 4);
	assert_int_equal(f[1].instruction, 10);
	assert_true(!f[0].entry && f[1].entry);
	/* Impossible offsets. */
	told[9] = UINT64_C(1) << 40;
	memcpy(s.bytes, told, sizeof told);
	python_process p;
	assert_false(python_find_at(RUNTIME, 0, &memory, &p));
	told[9] = 0x20;
	told[1] = 0x030f00a0; /* 3.15: not supported yet */
	memcpy(s.bytes, told, sizeof told);
	assert_false(python_find_at(RUNTIME, 0, &memory, &p));
}

int test_python_walk(void);
int test_python_walk(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_versions), cmocka_unit_test(test_call_without_frame),
	    cmocka_unit_test(test_changes),  cmocka_unit_test(test_goes_on),
	    cmocka_unit_test(test_circle),   cmocka_unit_test(test_hostile),
	    cmocka_unit_test(test_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
