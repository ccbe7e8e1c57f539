/* python_stack.h - Python stack walker: reads the interpreter's structures from a process's memory,
 * from outside or in a signal handler of the process.
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
 * Walking and naming are separate. Walking is async-signal-safe: it does not allocate or lock, and
 * calls only the read function; it returns pairs of numbers. Naming reads strings, once for each
 * code object, outside of handlers.
 *
 * A thread has the frames of its running code: of asyncio the running task, of greenlets the
 * current one. Waiting tasks are on no stack.
 *
 * The data are not trusted: each pointer is read through `memory`, each list is bounded, and a
 * frame is named only if its code object has the code type. For Python 3.8 to 3.12 there are tables
 * of offsets; 3.13 and 3.14 publish their offsets.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef STACK_PYTHON_PYTHON_STACK_H
#define STACK_PYTHON_PYTHON_STACK_H

#include "deepclock/base.h"
#include "profiler/unwind/unwind.h"

/* Offsets of members in the interpreter's structures, in bytes. PYTHON_NONE: not in this
 * version. */
#define PYTHON_NONE UINT32_MAX
typedef struct python_layout {
	uint32_t runtime_interpreter; /* _PyRuntime: the first interpreter */
	uint32_t interpreter_next, interpreter_thread;
	uint32_t thread_next, thread_interpreter, thread_frame, thread_pthread, thread_tid;
	uint32_t cframe_frame; /* 3.11, 3.12: thread_frame points to a struct with the frame */
	uint32_t frame_code, frame_previous, frame_instruction;
	uint32_t frame_owner;	 /* 3.12 and later: owner of the frame */
	uint32_t frame_is_entry; /* 3.11 */
	uint32_t frame_bytecode; /* free-threaded 3.14: index of the running copy of the bytecode */
	uint32_t code_file, code_name, code_qualified, code_first_line, code_lines;
	uint32_t code_start, code_copies;
	uint32_t object_type, type_name;
	uint32_t bytes_size, bytes_value;
	uint32_t text_length, text_state;
	uint32_t text_ascii, text_compact; /* offsets of the characters */
} python_layout;

/* An interpreter in a process. Contains only numbers, so it may be copied, also to another
 * process. */
typedef struct python_process {
	uint64_t runtime; /* address of _PyRuntime */
	uint32_t version; /* as PY_VERSION_HEX, 0x030b02f0; before 3.11 only 0x03090000 */
	bool free_threaded;
	/* Before 3.11 Python identifies a thread only by its pthread_t: offset of the kernel's
	 * thread id in it. PYTHON_NONE: unknown. */
	uint32_t pthread_tid;
	python_layout at;
} python_process;

/* Finds the interpreter of a process by its mappings: in libpython, in a program that contains it,
 * or in any other file; by symbol, by section, else by a search. E_ABSENT: none (yet); E_UNSUP:
 * unsupported version; E_IO: no permission to read the process. */
dck_status python_find(int pid, const unwind_memory *memory, python_process *ret, dck_err *err);

/* Finds the interpreter by known addresses, e.g. from dlsym(): the address of _PyRuntime, and the
 * value of Py_Version. false: unsupported version. Async-signal-safe. */
bool python_find_at(uint64_t runtime, uint32_t version, const unwind_memory *memory,
		    python_process *ret);

/* A thread, by the kernel's thread id in the process's own namespace. */
typedef struct python_thread {
	int tid;
	uint64_t pthread; /* pthread_self(); 0: unknown. Only needed before 3.11, see above. */
	bool still;	  /* it does not run during the walk: it is the caller, or stopped */
	/* Cache of the walker for the next walk; 0 at first. */
	uint64_t state, outermost;
} python_thread;

typedef struct python_frame {
	uint64_t frame;	     /* its address: unique while the call is active */
	uint64_t code;	     /* 0: the evaluator starts or ends, without a frame */
	int32_t instruction; /* offset in its bytecode, in bytes; < 0: not started */
	bool entry;	     /* a call of the evaluator started with it */
} python_frame;

typedef struct python_walked {
	bool found;	/* the thread has a state in Python */
	bool torn;	/* it changed during the read: possibly not a consistent snapshot */
	bool cut;	/* outer frames are missing */
	bool unread;	/* memory could not be read: only the inner part */
	unsigned again; /* number of repeated reads, because it had changed */
} python_walked;

/* Writes the frames of a thread, innermost first, at most `max`. Returns their number. */
size_t python_walk(const python_process *p, const unwind_memory *memory, python_thread *t,
		   python_frame *ret, size_t max, python_walked *ret_walked);

/* A frame read by its address, for a caller that walks its own frames. */
typedef struct python_link {
	uint64_t code, previous; /* previous: the frame further out; 0: none */
	int32_t instruction;
	bool call;  /* represents a call of the evaluator, which started with the frame inside it */
	bool entry; /* a call of the evaluator started with it, according to the frame */
} python_link;
/* Reads a frame; false: unreadable. */
bool python_link_read(const python_process *p, const unwind_memory *memory, uint64_t frame,
		      python_link *ret);

/* --- Names. The cache is bounded: it is emptied after about 10,000 code objects. */
typedef struct python_names python_names;
/* @owned: python_names_free(). NULL: no memory. `p` is copied. */
python_names *python_names_new(const python_process *p, const unwind_memory *memory);
void python_names_free(python_names *n); /* NULL is allowed */

typedef struct python_name {
	const char *function; /* "Linear.forward"; before 3.11 "forward" */
	const char *file;     /* as the interpreter stores it; UTF-8 */
	int first_line;	      /* line of the function's definition */
	int line;	      /* line of the instruction; 0: none */
} python_name;
/* Names a frame; names are valid until the next call. false: no code object (any more). A cached
 * code object is checked, and read again if another object has its address now. */
bool python_names_find(python_names *n, uint64_t code, int32_t instruction, python_name *ret);

#endif
