/* heap_frames.h - walks the Python frames of a thread without creating frame objects.
 *
 *     for (const frame_now *f = frame_first(tstate); f; f = frame_caller(f))
 *             use(frame_code(f), frame_at(f));
 *
 * The interpreter's frame API allocates, and the caller is an allocator hook, so frames are read
 * from memory, as in tracemalloc. From 3.11 to 3.14 the struct is not in public headers: below are
 * its first members, from pycore_frame.h of these versions. A code unit has 16 bits.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_PYTHON_HEAP_FRAMES_H
#define DCK_PYTHON_HEAP_FRAMES_H

#include "ext.h"
#include <frameobject.h>

/* Reason why this build of Python is not supported: another object allocator or frame layout. */
#if defined(Py_GIL_DISABLED)
#define FRAMES_WHY_NOT \
	"a Python without the GIL has a different allocator of objects: use one with the GIL"
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

/* Returns the current instruction, for frame_line(). */
static inline int frame_at(const frame_now *f)
{
	return f->f_lasti;
}

static inline int frame_line(PyCodeObject *code, int at)
{
	/* f_lasti is in bytes until 3.9, in instructions in 3.10. */
	return PyCode_Addr2Line(code, PY_VERSION_HEX < 0x030a0000 ? at : at * 2);
}

#else
#if PY_VERSION_HEX < 0x030c0000
typedef struct frame_now {
	void *function, *globals, *builtins, *locals;
	PyCodeObject *code;
	void *object;
	struct frame_now *previous;
	const uint16_t *at; /* the instruction before the next one */
	int stacktop;
	bool entry;
	char owner;
} frame_now;
#else
typedef struct frame_now {
	uintptr_t code; /* 3.14: the lowest bits are reference-count tags */
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
enum { OWNER_GENERATOR = 1, OWNER_C = 3 }; /* from OWNER_C on: not Python frames */

static inline PyCodeObject *frame_code(const frame_now *f)
{
#if PY_VERSION_HEX < 0x030c0000
	return f->code;
#else
	return (PyCodeObject *)(f->code & ~(uintptr_t)3);
#endif
}

/* Skips frames that enter from C, which are not Python frames. */
static inline const frame_now *frame_own(const frame_now *f)
{
	while (f && f->owner >= OWNER_C)
		f = f->previous;
	return f;
}

/* Skips frames that have not started, because their arguments are still being bound: only the
 * innermost frame can be such. */
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
