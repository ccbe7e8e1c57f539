/* heap_region.h - what the library in front of a program leaves in a file, while the program runs:
 * who allocated, by call path. One file for each process, mapped by it, so that nothing is lost
 * when it is killed.
 *
 *	header | modules | names | frames | nodes | held
 *
 * A frame is a place in the code of a module. A node is a frame that was called through the node
 * `parent`; node 0 is none, and the first HEAP_ROOT_SHARDS nodes after it are the outermost ones:
 * threads share them by turns, so that two seldom write to one node. Counters of a node are of
 * allocations made at that very path. All numbers only grow but `live`, `live_blocks` and
 * `at_peak`.
 *
 * Where a thread runs Python, its Python frames are a path of their own: nodes that count nothing.
 * What it allocates there counts at a node through the native path, whose frame (HEAP_PYTHON_STACK)
 * names the innermost node of the Python path.
 *
 * What was live at the peak: each new peak has a number (header.epoch), and a node that changes
 * for the first time after a peak keeps what it had then. At the end that counts (at_peak) where
 * the numbers of node and header are equal; else `live` does, which has not changed since.
 *
 * Where an interpreter of Python finalises, `held` has what each node had then (heap_held.h).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef HEAP_HEAP_REGION_H
#define HEAP_HEAP_REGION_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	HEAP_ROOT_SHARDS = 16,
	HEAP_MODULES_MAX = 2048,
	HEAP_NAMES_BYTES = 1 << 22,
	HEAP_FRAMES_MAX = 1 << 20,
	HEAP_NODES_MAX = 1 << 23,
	HEAP_DEPTH_MAX = 512, /* frames of a stack, the innermost ones */
	HEAP_VERSION = 3,
	HEAP_BATCH_BITS = 12, /* a thread beside others may keep back this part of the peak */
	/* Frames that stand for no code: what is around a stack that is too deep, or a frame that
	 * found no room; and what makes a node of its own for mappings. */
	HEAP_FRAME_CUT = 0,
	HEAP_FRAME_MAPPING = 1,
	HEAP_FRAMES_FIRST,
};
#define HEAP_MAGIC     UINT64_C(0x31706165686b6364) /* "dckheap1" */
#define HEAP_NO_MODULE UINT32_MAX
/* Frames of Python have one of these for a module. */
#define HEAP_PYTHON	  (UINT32_MAX - 1)
#define HEAP_PYTHON_STACK (UINT32_MAX - 2)
#define HEAP_VARIABLE	  "DEEPCLOCK_MEMORY" /* the directory of the files */
#define HEAP_FILE_END	  ".heap"

/* What a node counts. */
typedef enum heap_kind { HEAP_BLOCKS, HEAP_MAPPINGS, HEAP_KINDS } heap_kind;

typedef struct heap_node {
	uint32_t parent, frame;
	_Atomic uint32_t lock;
	uint32_t live_blocks;
	uint64_t epoch;
	uint64_t allocations, bytes, temporary;
	int64_t live, at_peak;
} heap_node;
_Static_assert(sizeof(heap_node) == 64, "one line of a cache each");

typedef struct heap_frame {
	uint64_t place;	 /* inside the call: one less than where it returns to */
	uint32_t module; /* HEAP_NO_MODULE: none is known */
	/* HEAP_PYTHON: place is the line, text where the names of function and file are, each ended
	 * by 0, first_line of the function; text 0: the interpreter's own. entry: a call of the
	 * evaluator began with it. HEAP_PYTHON_STACK: place is a node, entry: no frame further out
	 * is left out. */
	uint32_t text, first_line, entry;
} heap_frame;
_Static_assert(sizeof(heap_frame) == 24, "no gaps");

static inline bool heap_frame_is_python(const heap_frame *f)
{
	return f->module == HEAP_PYTHON || f->module == HEAP_PYTHON_STACK;
}

typedef struct heap_module {
	uint64_t start, end, bias;
	uint32_t name, name_bytes; /* in the names */
	uint32_t gone, unused;	   /* 1: it was unloaded */
} heap_module;

/* One of heap_kind. */
typedef struct heap_total {
	alignas(64) _Atomic int64_t
	    live; /* bytes; of several threads to within 2^-HEAP_BATCH_BITS of the peak each */
	_Atomic int64_t peak;
	_Atomic uint64_t peak_ns;
	_Atomic uint64_t epoch;
	_Atomic uint32_t lock;
	int64_t dated; /* the peak for which the clock was last read */
} heap_total;

typedef struct heap_header {
	uint64_t magic;
	uint32_t version, nodes_max;
	uint64_t bytes; /* of the file */
	int64_t pid, parent;
	uint64_t began_ns;	 /* of the system's monotonic clock */
	_Atomic uint64_t now_ns; /* the same; deepclock writes it while it looks on,
				  * the process where its heap has grown */
	_Atomic uint32_t ready;	 /* all above is set */
	_Atomic uint32_t nnodes, nframes, nmodules, nname_bytes;
	_Atomic uint32_t nheld;	       /* nodes that `held` covers; 0: none */
	_Atomic uint32_t threads;      /* that allocated */
	_Atomic uint32_t code;	       /* grows when code was unloaded */
	_Atomic uint64_t lost;	       /* allocations whose path found no room */
	_Atomic uint64_t unseen;       /* made inside of a hook, as by a signal's handler there */
	_Atomic uint64_t cut;	       /* stacks that were deeper than HEAP_DEPTH_MAX */
	_Atomic uint64_t broken;       /* stacks that could not be followed to their end */
	_Atomic uint64_t own_bytes;    /* private memory that this took of the process, reserved */
	_Atomic uint64_t own_resident; /* of it resident at exit(); 0: it did not end so */
	_Atomic uint64_t timed, timed_ns; /* calls of the hooks whose time was taken, and that */
	heap_total total[HEAP_KINDS];
} heap_header;

/* Where the parts begin. */
enum {
	HEAP_AT_MODULES = 4096,
	HEAP_AT_NAMES = HEAP_AT_MODULES + HEAP_MODULES_MAX * (int)sizeof(heap_module),
	HEAP_AT_FRAMES = HEAP_AT_NAMES + HEAP_NAMES_BYTES,
	HEAP_AT_NODES = HEAP_AT_FRAMES + HEAP_FRAMES_MAX * (int)sizeof(heap_frame),
};
#define HEAP_AT_HELD(nodes)                                                   \
	(HEAP_AT_NODES + (size_t)(nodes) * sizeof(heap_node)) /* int64_t each \
							       */
_Static_assert(sizeof(heap_header) <= HEAP_AT_MODULES, "the header has a page");
_Static_assert(HEAP_AT_NODES % 4096 == 0, "parts begin with a page");

#endif
