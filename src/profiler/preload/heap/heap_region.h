/* heap_region.h - layout of the heap profile's file: allocations by call path. The preloaded
 * library maps one file per process, so that nothing is lost if the process is killed.
 *
 *	header | modules | names | frames | nodes | held
 *
 * A frame is an address in the code of a module. A node is a frame that was called through the node
 * `parent`; node 0 is unused, and the next HEAP_ROOT_SHARDS nodes are the roots, which are assigned
 * to threads in turn, so that two threads seldom write to one node. HEAP_NODE_MAPPING follows, for
 * mappings whose path does not fit. A node counts the allocations of exactly its path. All counters
 * only grow, except `live`, `live_blocks` and `at_peak`.
 *
 * If a thread runs Python, its Python frames are a separate path of nodes without counts. Its
 * allocations count at a node on the native path, whose frame (HEAP_PYTHON_STACK) refers to the
 * innermost node of the Python path.
 *
 * If allocations are sampled (heap_sample.h), a block counts at a node below its path, whose frame
 * (HEAP_SIZE) is its size: its counts are numbers of samples, its bytes those times the same
 * weight.
 *
 * Snapshot of the peak: each new peak has a number (header.epoch), and a node copies `live` into
 * at_peak at its first change after a peak. At the end at_peak holds if the epochs of node and
 * header are equal; else `live` does, because it has not changed since.
 *
 * When a Python interpreter finalises, `held` receives the live bytes of each node (heap_held.h).
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
	HEAP_NODE_MAPPING = HEAP_ROOT_SHARDS + 1,
	HEAP_NODES_FIRST,
	HEAP_MODULES_MAX = 2048,
	HEAP_NAMES_BYTES = 1 << 22,
	HEAP_FRAMES_MAX = 1 << 20,
	HEAP_NODES_MAX = 1 << 23,
	HEAP_DEPTH_MAX = 512, /* frames of a stack, the innermost ones */
	HEAP_VERSION = 7,
	/* Of each thread's recorded calls one in this number, plus one, is timed. */
	HEAP_TIMED_MASK = 1023,
	HEAP_SAMPLED_TIMED_MASK = 15,
	HEAP_BATCH_BITS = 12, /* with several threads each may buffer this part of the peak */
	/* Frames without code: the outer part of a truncated stack, or a frame that did not fit;
	 * and the frame that separates the nodes of mappings. */
	HEAP_FRAME_CUT = 0,
	HEAP_FRAME_MAPPING = 1,
	HEAP_FRAMES_FIRST,
};
#define HEAP_MAGIC     UINT64_C(0x31706165686b6364) /* "dckheap1" */
#define HEAP_NO_MODULE UINT32_MAX
#define HEAP_NO_TEXT   UINT32_MAX /* the names of a Python frame did not fit */
/* Frames of Python have one of these as module. */
#define HEAP_PYTHON	     (UINT32_MAX - 1)
#define HEAP_PYTHON_STACK    (UINT32_MAX - 2)
#define HEAP_SIZE	     (UINT32_MAX - 3)	       /* the sampled blocks of a size */
#define HEAP_VARIABLE	     "DEEPCLOCK_MEMORY"	       /* the directory of the files */
#define HEAP_SAMPLE_VARIABLE "DEEPCLOCK_MEMORY_SAMPLE" /* heap_header.interval */
#define HEAP_FILE_END	     ".heap"

/* The kind of memory that a node counts. */
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
	uint64_t place;	 /* inside the call: the return address minus one */
	uint32_t module; /* HEAP_NO_MODULE: unknown */
	/* HEAP_PYTHON: place is the line, text the offset of the names of function and file, each
	 * NUL-terminated, or HEAP_NO_TEXT, first_line the function's; text 0: a frame of the
	 * interpreter. entry: a call of the evaluator started with it. HEAP_PYTHON_STACK: place is
	 * a node, entry: no outer frame is missing. HEAP_SIZE: place is the size. */
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
	    live; /* bytes; each of several threads may be off by 2^-HEAP_BATCH_BITS of the peak */
	_Atomic int64_t peak;
	_Atomic uint64_t peak_ns;
	_Atomic uint64_t epoch;
	_Atomic uint32_t lock;
	int64_t dated; /* the peak at the last reading of the clock */
} heap_total;

typedef struct heap_header {
	uint64_t magic;
	uint32_t version, nodes_max;
	uint64_t bytes; /* size of the file */
	int64_t pid, parent;
	uint64_t began_ns;	 /* CLOCK_MONOTONIC */
	_Atomic uint64_t now_ns; /* the same clock; written by deepclock while it observes, and by
				    the process when its heap grows */
	uint64_t
	    interval; /* mean number of bytes between samples; 0: each allocation is recorded */
	_Atomic uint32_t ready; /* all members above are set */
	_Atomic uint32_t nnodes, nframes, nmodules, nname_bytes;
	_Atomic uint32_t nheld;	       /* nodes that `held` covers; 0: none */
	_Atomic uint32_t threads;      /* number of allocating threads */
	_Atomic uint32_t code;	       /* incremented when code is unloaded */
	_Atomic uint64_t lost;	       /* allocations whose path did not fit */
	_Atomic uint32_t unnamed;      /* 1: modules, names or frames beyond their largest number */
	_Atomic uint64_t unseen;       /* allocations inside a hook, e.g. by a signal handler */
	_Atomic uint64_t cut;	       /* stacks that were deeper than HEAP_DEPTH_MAX */
	_Atomic uint64_t broken;       /* stacks that could not be unwound completely */
	_Atomic uint64_t file_bytes;   /* reserved on the disk */
	_Atomic uint64_t own_bytes;    /* private memory of this library, reserved */
	_Atomic uint64_t own_resident; /* resident part at exit(); 0: no exit() */
	_Atomic uint64_t timed, timed_ns; /* number of timed hook calls, and their time */
	_Atomic uint32_t children_failed; /* processes of fork() that could make no file */
	_Atomic uint64_t limit;		  /* RLIMIT_AS, at exit() or before; 0: none */
	_Atomic int32_t error; /* errno of the last file that could not be made or grow; 0: none */
	heap_total total[HEAP_KINDS];
} heap_header;

/* Offsets of the parts. */
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
