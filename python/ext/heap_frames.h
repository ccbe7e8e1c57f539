/* heap_frames.h - the Python frames that run on a thread, without making an object of any.
 *
 *     for (const frame_now *f = frame_first(tstate); f; f = frame_caller(f))
 *             use(frame_code(f), frame_at(f));
 *
 * What the interpreter says of its frames allocates; so, since an allocator asks, they are read as
 * they lie in memory, as tracemalloc reads them. From 3.11 to 3.14 they are not in public headers:
 * below are their first members, as pycore_frame.h of these versions has them. A code unit has 16
 * bits.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_PYTHON_HEAP_FRAMES_H
#define DCK_PYTHON_HEAP_FRAMES_H

#include "ext.h"
#include <frameobject.h>

/* Not of this build of Python: objects are allocated otherwise, or the frames are not known. */
#if defined(Py_GIL_DISABLED)
#define FRAMES_WHY_NOT "a Python without the GIL allocates objects by itself: use one with it"
#elif PY_VERSION_HEX >= 0x030f0000
#define FRAMES_WHY_NOT "this version of Python is newer than deepclock: its frames are not known"
#endif

#if PY_VERSION_HEX < 0x030b0000
typedef PyFrameObject frame_now;

static inline const frame_now *frame_first(const PyThreadState *t)
{
	return t->frame;
}

static inline const frame_now *frame_caller(const frame_now *f)
{
	return f->f_back;
}

static inline PyCodeObject *frame_code(const frame_now *f)
{
	return f->f_code;
}

/* The instruction that it is at, as frame_line() wants it. */
static inline int frame_at(const frame_now *f)
{
	return f->f_lasti;
}

static inline int frame_line(PyCodeObject *code, int at)
{
	/* Until 3.9 in bytes, in 3.10 in instructions. */
	return PyCode_Addr2Line(code, PY_VERSION_HEX < 0x030a0000 ? at : at * 2);
}

#else
#if PY_VERSION_HEX < 0x030c0000
typedef struct frame_now {
	void *function, *globals, *builtins, *locals;
	PyCodeObject *code;
	void *object;
	struct frame_now *previous;
	const uint16_t *at; /* one before the instruction that comes next */
	int stacktop;
	bool entry;
	char owner;
} frame_now;
#else
typedef struct frame_now {
	uintptr_t code; /* 3.14: the lowest bits mark who counts the reference */
	struct frame_now *previous;
	void *function, *globals, *builtins, *locals, *object;
	const uint16_t *at;
#if PY_VERSION_HEX < 0x030e0000
	int stacktop;
#else
	void *stacktop;
#endif
	uint16_t return_offset;
	char owner;
} frame_now;
#endif
enum { OWNER_GENERATOR = 1, OWNER_C = 3 }; /* from OWNER_C on: none of Python's own */

static inline PyCodeObject *frame_code(const frame_now *f)
{
#if PY_VERSION_HEX < 0x030c0000
	return f->code;
#else
	return (PyCodeObject *)(f->code & ~(uintptr_t)3);
#endif
}

/* Those that call into C are none of Python's own. */
static inline const frame_now *frame_own(const frame_now *f)
{
	while (f && f->owner >= OWNER_C)
		f = f->previous;
	return f;
}

/* One whose arguments are still being put in place has not begun: it may be the innermost alone. */
static inline const frame_now *frame_begun(const frame_now *f)
{
	for (f = frame_own(f); f && f->owner != OWNER_GENERATOR; f = frame_own(f->previous)) {
		const PyCodeObject *code = frame_code(f);

		if (f->at >= (const uint16_t *)code->co_code_adaptive + code->_co_firsttraceable)
			break;
	}
	return f;
}

static inline const frame_now *frame_first(const PyThreadState *t)
{
#if PY_VERSION_HEX < 0x030d0000
	return t->cframe ? frame_begun((const frame_now *)t->cframe->current_frame) : NULL;
#else
	return frame_begun((const frame_now *)t->current_frame);
#endif
}

static inline const frame_now *frame_caller(const frame_now *f)
{
	return frame_own(f->previous);
}

static inline int frame_at(const frame_now *f)
{
	return (int)(f->at - (const uint16_t *)frame_code(f)->co_code_adaptive);
}

static inline int frame_line(PyCodeObject *code, int at)
{
	return PyCode_Addr2Line(code, at * (int)sizeof(uint16_t));
}
#endif

#endif
