/* python_walk.c - walks the Python frames of a thread: numbers only, without allocation,
 * async-signal-safe.
 *
 * A running thread changes its frames during the walk. Inner frames come and go, outer frames
 * remain; a returned frame may still appear valid, and a frame is read at another time than its
 * caller. So a thread that was not stopped is walked twice. Frames that both walks find, in the
 * same calls, existed in between. The innermost frame is read again between the two walks, with the
 * thread's state before and after it: it was the innermost frame then, and its caller existed. So
 * the stack is a consistent snapshot. Otherwise the walk starts again.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/python/python_layout.h"
#include <string.h>

enum {
	WINDOW = 1024, /* read at once; it divides a page, so all of it is readable or nothing */
	TRIES = 32,
	INNERMOST_TRIES = 4,
	AGREED = 3,
	INTERPRETERS_MAX = 256,
	THREADS_MAX = 16384, /* over all interpreters */
	STATES_MAX = 4,	     /* per thread: one for each interpreter */
	FRAME_BYTES = 128,
};

/* Cache of the last read: frames are adjacent, and each read is expensive. */
typedef struct window {
	const unwind_memory *memory;
	uint64_t at;
	bool full;
	unsigned char bytes[WINDOW];
} window;

static bool window_get(window *w, uint64_t address, void *to, size_t n)
{
	uint64_t at = address & ~(uint64_t)(WINDOW - 1);

	if (address - at + n > WINDOW)
		return w->memory->read(w->memory->self, address, to, n);
	if (!w->full || w->at != at) {
		w->full = w->memory->read(w->memory->self, at, w->bytes, WINDOW);
		w->at = at;
	}
	if (w->full)
		memcpy(to, w->bytes + (address - at), n);
	return w->full;
}

static bool pointer_get(window *w, uint64_t address, uint64_t *ret)
{
	return window_get(w, address, ret, sizeof *ret);
}

bool python_find_at(uint64_t runtime, uint32_t version, const unwind_memory *memory,
		    python_process *ret)
{
	unsigned char offsets[PYTHON_DEBUG_OFFSETS_BYTES];
	python_process p = {.runtime = runtime, .version = version, .pthread_tid = PYTHON_NONE};

	if (version >> 24 == 3 && PYTHON_MINOR(version) < 13) {
		if (!python_layout_known(version, &p.at))
			return false;
	} else if (!memory->read(memory->self, runtime, offsets, sizeof offsets) ||
		   !python_layout_from_debug_offsets(offsets, &p))
		return false;
	*ret = p;
	return true;
}

/* Returns whether the state belongs to the thread. */
static bool state_is(const python_process *p, window *w, uint64_t state, const python_thread *t)
{
	uint64_t id;
	int tid;

	if (p->at.thread_tid != PYTHON_NONE)
		return pointer_get(w, state + p->at.thread_tid, &id) && id == (uint64_t)t->tid;
	if (!pointer_get(w, state + p->at.thread_pthread, &id))
		return false;
	if (t->pthread)
		return id == t->pthread;
	return p->pthread_tid != PYTHON_NONE &&
	       window_get(w, id + p->pthread_tid, &tid, sizeof tid) && tid == t->tid;
}

/* Finds the thread's states, starting with the newest interpreter, which it entered last. */
static size_t states_find(const python_process *p, window *w, python_thread *t,
			  uint64_t ret[STATES_MAX])
{
	const python_layout *at = &p->at;
	uint64_t interpreter, next, state;
	unsigned threads = 0;
	size_t n = 0;

	if (!pointer_get(w, p->runtime + at->runtime_interpreter, &interpreter) || !interpreter ||
	    !pointer_get(w, interpreter + at->interpreter_next, &next))
		return 0;
	if (t->state && !next && pointer_get(w, t->state + at->thread_interpreter, &state) &&
	    state == interpreter && state_is(p, w, t->state, t)) {
		ret[0] = t->state;
		return 1;
	}
	for (unsigned i = 0; interpreter && i < INTERPRETERS_MAX; i++) {
		if (!pointer_get(w, interpreter + at->interpreter_thread, &state))
			break;
		while (state && threads++ < THREADS_MAX && n < STATES_MAX) {
			if (state_is(p, w, state, t))
				ret[n++] = state;
			if (!pointer_get(w, state + at->thread_next, &state))
				break;
		}
		if (!pointer_get(w, interpreter + at->interpreter_next, &interpreter))
			break;
	}
	t->state = n ? ret[0] : 0;
	return n;
}

static bool innermost_get(const python_process *p, window *w, uint64_t state, uint64_t *ret)
{
	if (!pointer_get(w, state + p->at.thread_frame, ret))
		return false;
	if (p->at.cframe_frame == PYTHON_NONE || !*ret)
		return true;
	return pointer_get(w, *ret + p->at.cframe_frame, ret);
}

/* The part of a frame that is read: from its code to its owner. */
typedef struct one_frame {
	uint64_t code, previous, instruction;
	uint8_t owner, is_entry;
	int32_t bytecode;
} one_frame;

static void field_get(const unsigned char *bytes, uint32_t offset, void *ret, size_t n)
{
	if (offset != PYTHON_NONE && offset <= FRAME_BYTES - n)
		memcpy(ret, bytes + offset, n);
}

static size_t frame_bytes(const python_layout *at)
{
	uint32_t end = at->frame_instruction + 8;
	const uint32_t last[] = {at->frame_previous, at->frame_code, at->frame_owner,
				 at->frame_is_entry, at->frame_bytecode};

	for (size_t i = 0; i < sizeof last / sizeof *last; i++)
		if (last[i] != PYTHON_NONE && last[i] + 8 > end)
			end = last[i] + 8;
	return end < FRAME_BYTES ? end : FRAME_BYTES;
}

static bool walk_frame_get(const python_layout *at, window *w, uint64_t address, one_frame *ret)
{
	unsigned char bytes[FRAME_BYTES];

	memset(ret, 0, sizeof *ret);
	if (address % 8 || !window_get(w, address, bytes, frame_bytes(at)))
		return false;
	field_get(bytes, at->frame_code, &ret->code, sizeof ret->code);
	field_get(bytes, at->frame_previous, &ret->previous, sizeof ret->previous);
	field_get(bytes, at->frame_owner, &ret->owner, sizeof ret->owner);
	field_get(bytes, at->frame_is_entry, &ret->is_entry, sizeof ret->is_entry);
	field_get(bytes, at->frame_bytecode, &ret->bytecode, sizeof ret->bytecode);
	if (at->code_start == PYTHON_NONE) {
		int32_t last = 0;

		field_get(bytes, at->frame_instruction, &last, sizeof last);
		ret->instruction = (uint64_t)(int64_t)last;
	} else
		field_get(bytes, at->frame_instruction, &ret->instruction, sizeof ret->instruction);
	ret->code &= ~(uint64_t)7; /* 3.14 uses the lowest bits as tags */
	return true;
}

/* Returns whether a frame represents a call of the evaluator, and has no code. */
static bool frame_is_call(const python_layout *at, const one_frame *f)
{
	enum { OWNED_BY_CALL = 3 }; /* and 4 in 3.14; 0 to 2: a thread, a generator, an object */

	return at->frame_owner != PYTHON_NONE && f->owner >= OWNED_BY_CALL;
}

/* Before 3.11 each frame has a separate call. */
static bool frame_entry_flag(const python_layout *at, const one_frame *f)
{
	return at->code_start == PYTHON_NONE || (at->frame_is_entry != PYTHON_NONE && f->is_entry);
}

static int32_t instruction_of(const python_process *p, window *w, const one_frame *f)
{
	const python_layout *at = &p->at;
	uint64_t start = f->code + at->code_start, copies;
	int64_t offset;

	if (at->code_start == PYTHON_NONE) /* before 3.10 in bytes, in 3.10 in units of two */
		return (int32_t)f->instruction * (PYTHON_MINOR(p->version) == 10 ? 2 : 1);
	if (at->code_copies != PYTHON_NONE && f->bytecode > 0 &&
	    w->memory->read(w->memory->self, f->code + at->code_copies, &copies, sizeof copies))
		/* The array has the number of copies, then their addresses. */
		w->memory->read(w->memory->self, copies + 8 + (uint64_t)f->bytecode * 8, &start,
				sizeof start);
	offset = (int64_t)(f->instruction - start);
	return offset < 0 || offset > INT32_MAX ? -1 : (int32_t)offset;
}

/* Walks from *at outwards; *at is then the first frame that is not returned, or 0. */
static size_t chain_walk(const python_process *p, window *w, uint64_t *at, python_frame *ret,
			 size_t max, python_walked *walked)
{
	uint64_t mark = 0; /* Brent's algorithm finds cycles: frames read at different times */
	size_t n = 0, step = 0;
	one_frame f;

	for (uint64_t frame = *at; frame; *at = frame = f.previous) {
		bool entry = false;

		if (frame == mark || !walk_frame_get(&p->at, w, frame, &f)) {
			walked->unread = true;
			return n;
		}
		if ((step & (step + 1)) == 0)
			mark = frame;
		step++;
		if (frame_is_call(&p->at, &f)) {
			if (n && !ret[n - 1].entry) {
				ret[n - 1].entry = true;
				continue;
			}
			f.code = 0;
			entry = true;
		}
		if (n == max) {
			walked->cut = true;
			return n;
		}
		ret[n++] = (python_frame){
		    .frame = frame,
		    .code = f.code,
		    .instruction = f.code ? instruction_of(p, w, &f) : -1,
		    .entry = entry || frame_entry_flag(&p->at, &f),
		};
	}
	return n;
}

bool python_link_read(const python_process *p, const unwind_memory *memory, uint64_t frame,
		      python_link *ret)
{
	window w;
	one_frame f;

	w.memory = memory;
	w.full = false;
	if (!walk_frame_get(&p->at, &w, frame, &f))
		return false;
	*ret = (python_link){.code = f.code,
			     .previous = f.previous,
			     .call = frame_is_call(&p->at, &f),
			     .entry = frame_entry_flag(&p->at, &f)};
	ret->instruction = ret->call ? -1 : instruction_of(p, &w, &f);
	return true;
}

/* Reads the innermost frame until two reads in the same state of the thread agree, because a single
 * read may be of a frame under construction. *ret_next: its caller. Returns the number of frames, 0
 * or 1; *stands is set if the reads agree. */
static size_t innermost_read(const python_process *p, window *w, uint64_t state, python_frame *ret,
			     uint64_t *ret_next, bool *stands)
{
	python_frame before = {0};
	uint64_t at = 0, at_before, next_before;
	python_walked walked;
	size_t n = 0;

	*ret = before;
	*ret_next = 0;
	*stands = false;
	for (unsigned i = 0; i < INNERMOST_TRIES && !*stands; i++) {
		before = *ret;
		at_before = at;
		next_before = *ret_next;
		memset(&walked, 0, sizeof walked);
		w->full = false;
		if (!innermost_get(p, w, state, &at))
			break;
		*ret_next = at;
		n = chain_walk(p, w, ret_next, ret, 1, &walked);
		*stands = i && !walked.unread && at == at_before && *ret_next == next_before &&
			  ret->code == before.code && ret->entry == before.entry;
	}
	return n;
}

/* Walks again, and prepends the current innermost frame to the known frames that still exist: their
 * calls have not returned. false: another stack. */
static bool chain_confirm(const python_process *p, window *w, uint64_t state, python_frame *known,
			  size_t *n, bool cut)
{
	python_frame inner;
	uint64_t frame;
	bool stands;
	one_frame f;

	const size_t first = innermost_read(p, w, state, &inner, &frame, &stands);
	if (!stands || (first == 0) != (*n == 0))
		return false;
	const size_t left = *n > 1 && inner.frame == known[1].frame; /* the inner frame returned */
	size_t i = first + left, calls = 0;
	for (; frame && !(cut && i == *n); frame = f.previous) {
		if (!walk_frame_get(&p->at, w, frame, &f) || calls > *n)
			return false;
		if (frame_is_call(&p->at, &f) && !(i < *n && known[i].frame == frame)) {
			calls++;
			continue;
		}
		if (i == *n || known[i].frame != frame ||
		    (known[i].code &&
		     (known[i].code != f.code || known[i].instruction != instruction_of(p, w, &f))))
			return false;
		i++;
	}
	if (i != *n)
		return false;
	if (first) {
		memmove(known, known + left, (*n - left) * sizeof *known);
		known[0] = inner;
		*n -= left;
	}
	return true;
}

static size_t state_walk(const python_process *p, window *w, uint64_t state, python_thread *t,
			 python_frame *ret, size_t max, python_walked *walked)
{
	const python_walked before = *walked;
	uint64_t outermost = 0, now;
	unsigned agreed = 0;
	size_t n = 0;

	for (unsigned i = 0; i < TRIES; i++) {
		uint64_t frame;

		*walked = before;
		walked->found = true;
		walked->again += i;
		w->full = w->full && t->still;
		if (!innermost_get(p, w, state, &frame))
			walked->unread = true;
		else
			n = chain_walk(p, w, &frame, ret, max, walked);
		if (t->still)
			return n;
		if (walked->unread != before.unread ||
		    !chain_confirm(p, w, state, ret, &n, walked->cut))
			continue;
		/* A frame that returned during its read no longer has a caller: accepted as the
		 * outermost frame is one that was it before, or is it repeatedly. */
		now = n && !walked->cut ? ret[n - 1].frame : 0;
		agreed = now == outermost ? agreed + 1 : 1;
		outermost = now;
		if (!now || now == t->outermost || agreed == AGREED) {
			t->outermost = now ? now : t->outermost;
			return n;
		}
	}
	walked->torn = true;
	return n;
}

size_t python_walk(const python_process *p, const unwind_memory *memory, python_thread *t,
		   python_frame *ret, size_t max, python_walked *ret_walked)
{
	uint64_t state[STATES_MAX];
	window w;
	size_t n = 0, states;

	w.memory = memory;
	w.full = false;
	memset(ret_walked, 0, sizeof *ret_walked);
	states = states_find(p, &w, t, state);
	for (size_t i = 0; i < states; i++)
		n += state_walk(p, &w, state[i], t, ret + n, max - n, ret_walked);
	return n;
}
