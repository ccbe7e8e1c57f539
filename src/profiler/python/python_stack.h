/* python_stack.h - Python frames of any process, read from its memory by the interpreter's own
 * structures: from outside, or in a signal handler of the process itself.
 *
 *	unwind_memory memory = {os_process_read, &pid};
 *	python_process p;
 *	python_thread t = {.tid = tid};
 *	python_frame f[128];
 *	python_walked w;
 *	python_name name;
 *
 *	DCK_TRY(python_find(pid, &memory, &p, err));
 *	python_names *names = python_names_new(&p, &memory);
 *	size_t n = python_walk(&p, &memory, &t, f, 128, &w);
 *	for (size_t i = 0; i < n; i++)
 *		if (python_names_find(names, f[i].code, f[i].instruction, &name)) ...
 *
 * Walking and naming are apart. Walking allocates nothing, takes no lock and calls nothing but
 * what reads, and so may run in a handler; it makes pairs of numbers. Naming reads strings, once
 * for each code object, and belongs outside of handlers.
 *
 * A thread has the frames of what runs on it now: of asyncio the task that runs, of greenlets the
 * one that was switched to. What waits elsewhere is on no stack.
 *
 * What is read is never trusted: each pointer goes through `memory`, each list has a bound, and a
 * frame is named only if its code object is one. Python 3.8 to 3.12 are known by tables of offsets;
 * 3.13 and 3.14 say theirs themselves.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef STACK_PYTHON_PYTHON_STACK_H
#define STACK_PYTHON_PYTHON_STACK_H

#include "deepclock/base.h"
#include "profiler/unwind/unwind.h"

/* Where things lie inside the interpreter's structures, in bytes. PYTHON_NONE: there is no such
 * member in this version. */
#define PYTHON_NONE UINT32_MAX
typedef struct python_layout {
	uint32_t runtime_interpreter; /* _PyRuntime: the first interpreter */
	uint32_t interpreter_next, interpreter_thread;
	uint32_t thread_next, thread_interpreter, thread_frame, thread_pthread, thread_tid;
	uint32_t cframe_frame; /* 3.11, 3.12: thread_frame leads to a struct that has the frame */
	uint32_t frame_code, frame_previous, frame_instruction;
	uint32_t frame_owner;	 /* 3.12 and later: whose frame it is */
	uint32_t frame_is_entry; /* 3.11 */
	uint32_t frame_bytecode; /* free-threaded 3.14: which copy of the bytecode runs */
	uint32_t code_file, code_name, code_qualified, code_first_line, code_lines;
	uint32_t code_start, code_copies;
	uint32_t object_type, type_name;
	uint32_t bytes_size, bytes_value;
	uint32_t text_length, text_state;
	uint32_t text_ascii, text_compact; /* where its characters begin */
} python_layout;

/* An interpreter in a process. Numbers alone: it may be copied, also to another process. */
typedef struct python_process {
	uint64_t runtime; /* address of _PyRuntime */
	uint32_t version; /* as PY_VERSION_HEX, 0x030b02f0; before 3.11 only 0x03090000 */
	bool free_threaded;
	/* Before 3.11 Python knows a thread by its pthread_t alone: where that has the kernel's
	 * number. PYTHON_NONE: not known. */
	uint32_t pthread_tid;
	python_layout at;
} python_process;

/* Finds the interpreter of a process by its mappings: in libpython, in a program that holds it, or
 * in any other file; by symbol, by section, else by looking for it. E_ABSENT: there is none (yet);
 * E_UNSUP: its version is not known; E_IO: the process may not be read. */
dck_status python_find(int pid, const unwind_memory *memory, python_process *ret, dck_err *err);

/* The same where the addresses are known, as inside the process by dlsym(): of _PyRuntime, and what
 * Py_Version holds; 0: a version before 3.11 is given by `minor`. false: this version is not known.
 * It may run in a handler. */
bool python_find_at(uint64_t runtime, uint32_t version, const unwind_memory *memory,
		    python_process *ret);

/* A thread, by the kernel's number, as the process itself sees it. */
typedef struct python_thread {
	int tid;
	uint64_t pthread; /* pthread_self(); 0: not known. Only needed before 3.11, see above. */
	bool still;	  /* it does not run meanwhile: it is the caller, or was stopped */
	/* Walking notes here what it found, for the next time; 0 at first. */
	uint64_t state, outermost;
} python_thread;

typedef struct python_frame {
	uint64_t frame;	     /* where it lies: as long as it is called, no other frame lies there */
	uint64_t code;	     /* 0: the evaluator begins or ends, and has no frame now */
	int32_t instruction; /* offset in its bytecode, in bytes; < 0: it has not begun */
	bool entry; /* a call of the evaluator began with it; the next inner one it called itself */
} python_frame;

typedef struct python_walked {
	bool found;	/* the thread has a state in Python */
	bool torn;	/* it changed while it was read: what is there may be no moment's stack */
	bool cut;	/* there are more frames, further out */
	bool unread;	/* memory on the way could not be read: what is there is its inner part */
	unsigned again; /* times that it was read again, because it had changed */
} python_walked;

/* Frames of one thread, innermost first: at most `max`. Returns how many. */
size_t python_walk(const python_process *p, const unwind_memory *memory, python_thread *t,
		   python_frame *ret, size_t max, python_walked *ret_walked);

/* One frame by its address, for who follows them itself: a thread its own. */
typedef struct python_link {
	uint64_t code, previous; /* previous: the frame further out; 0: none */
	int32_t instruction;
	bool call; /* it stands for a call of the evaluator, which began with the frame within it */
	bool entry; /* a call of the evaluator began with it, as far as the frame itself shows */
} python_link;
/* false: it cannot be read. */
bool python_link_read(const python_process *p, const unwind_memory *memory, uint64_t frame,
		      python_link *ret);

/* --- Names. Memory is bounded: past some 10,000 code objects it is emptied. */
typedef struct python_names python_names;
/* @owned: python_names_free(). NULL: no memory. `p` is copied. */
python_names *python_names_new(const python_process *p, const unwind_memory *memory);
void python_names_free(python_names *n); /* NULL is allowed */

typedef struct python_name {
	const char *function; /* "Linear.forward"; before 3.11 "forward" */
	const char *file;     /* as the interpreter knows it; UTF-8 */
	int first_line;	      /* of the function */
	int line;	      /* of the instruction; 0: it has none */
} python_name;
/* Names are valid until the next call. false: there is no code object (any more). One that was
 * named before is checked again, and read again if another object lies there now. */
bool python_names_find(python_names *n, uint64_t code, int32_t instruction, python_name *ret);

#endif
