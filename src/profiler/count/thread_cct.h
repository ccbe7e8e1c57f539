/* thread_cct.h - calling-context tree of one thread: calls and self time of each call path. A call
 * costs two readings of a clock, or none if only calls are counted, without allocation or lock. The
 * memory has a fixed size and may be a mapped file, which then survives any end of the process.
 *
 *	thread_cct *l = thread_cct_make(path);
 *
 *	thread_cct_enter(l, function, now);
 *	thread_cct_leave(l, function, now);
 *	for (uint32_t i = 1; i < l->n; i++)
 *		... thread_cct_nodes(l)[i] ...
 *
 * A function is any number but 0. The time between two events is charged to the innermost function,
 * so a path has its self time; the total of a function is the sum over all paths that contain it.
 *
 * thread_cct_begin() and thread_cct_end() count without a time.
 *
 * Under a limit of the address space (RLIMIT_AS) a tree has fewer nodes and open calls.
 *
 * Calls deeper than CALL_LANE_DEPTH are charged to an existing path: to the nearest ancestor of the
 * same function, as in recursions; without one, or if all CALL_LANE_NODES paths are in use, to the
 * function's path below THREAD_CCT_OVERFLOW. So calls and self times are exact, and the paths
 * bounded. It depends only on libc, because it runs inside other programs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COUNT_THREAD_CCT_H
#define COUNT_THREAD_CCT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CALL_LANE_DEPTH = 1000,	    /* maximum depth of a path */
	CALL_LANE_NODES = 1 << 20,  /* paths */
	CALL_LANE_FRAMES = 1 << 20, /* concurrently open calls */
	CALL_LANE_BUCKETS = 1 << 19,
	CALL_LANES_MAX = 4096,	/* lanes of a process */
	THREAD_CCT_OVERFLOW = 1 /* overflow node */
};
#define CALL_LANE_MAGIC UINT64_C(0x314e4c43434b4344) /* "DCKCCLN1" */

typedef struct call_node {
	uint64_t function; /* 0: none */
	uint32_t parent;   /* 0: outermost */
	uint32_t child;	   /* the last child looked up; 0: none */
	uint64_t calls;
	uint64_t recursive; /* recursive calls: inside a call of the same function that this path
			       omits */
	uint64_t self;	    /* ticks of the clock */
	uint32_t depth : 12;
	uint32_t after : 20; /* the child of the same parent looked up after this one; 0: none */
	uint32_t next;	     /* in the same bucket */
} call_node;

typedef struct call_frame {
	uint32_t node;
	uint32_t folded; /* the path belongs to an outer call */
	/* Set by the caller: */
	uint64_t place, origin;
} call_frame;

typedef struct thread_cct {
	uint64_t magic;
	uint32_t size_node; /* checked by the reader of the file */
	uint32_t n;	    /* nodes; 0 is the root */
	uint32_t depth;	    /* open calls */
	uint32_t in_use;    /* by a thread */
	uint32_t current;   /* path of the innermost call */
	uint64_t last;	    /* time of the last event */
	uint64_t too_deep;  /* calls beyond CALL_LANE_FRAMES that are open now */
	uint64_t lost;	    /* total number of such calls: not in the sums */
	uint64_t rest;	    /* calls below THREAD_CCT_OVERFLOW */
	uint64_t unmatched; /* ends without a beginning */
	uint64_t left;	    /* calls that ended with an outer one, e.g. by longjmp() */
	uint32_t inherited; /* nodes up to here are calls that were open at fork(); 0: none */
	/* Private to the counting process; a reader of the file does not need them. */
	call_frame *frames;
	uint32_t *buckets;
	char *path;    /* path of the file */
	uint64_t cap;  /* allocated bytes of the file */
	uint32_t full; /* errno: the file cannot have more nodes; 0: it can */
	/* CALL_LANE_NODES and CALL_LANE_FRAMES, or fewer under a limit of the address space. */
	uint32_t nodes_max, frames_max;
} thread_cct;

enum {
	CALL_LANE_HEAD = 4096,
	CALL_LANE_BYTES = CALL_LANE_HEAD + CALL_LANE_NODES * (int)sizeof(call_node)
};

/* Makes a tree in a new sparse file of CALL_LANE_BYTES, or in memory (path NULL). Returns NULL
 * without space. */
thread_cct *thread_cct_make(const char *path);
void thread_cct_free(thread_cct *l); /* NULL is allowed; does not remove the file */
/* Returns the bytes of address space that it takes. */
uint64_t thread_cct_bytes(const thread_cct *l);

static inline call_node *thread_cct_nodes(const thread_cct *l)
{
	return (call_node *)((char *)(uintptr_t)l + CALL_LANE_HEAD);
}

/* Finds or creates the child node, if it is not the last child. *ret_folded: as in a call_frame. */
uint32_t thread_cct_find(thread_cct *l, uint64_t function, uint32_t *ret_folded);
/* Returns the frame index plus 1 of the innermost open call of that function; 0: none. Compares
 * only the bits of `mask`. */
uint32_t thread_cct_open(const thread_cct *l, uint64_t function, uint64_t mask);
/* Ends all but the outermost `depth` calls at that time. */
void thread_cct_unwind_to(thread_cct *l, uint32_t depth, uint64_t now);
/* Copies the outermost `depth` open calls without their counts, for a forked process; the parent
 * may concurrently count in `from`. */
void thread_cct_fork(thread_cct *l, const thread_cct *from, uint32_t depth, uint64_t now);

static inline void thread_cct_charge(thread_cct *l, uint64_t now)
{
	thread_cct_nodes(l)[l->current].self += now - l->last;
	l->last = now;
}

/* Starts a call whose path is the last child looked up, or with `follow` the one that followed it
 * the time before. NULL: it is another, or too deep. */
static inline call_frame *thread_cct_begin_again(thread_cct *l, uint64_t function, bool follow)
{
	call_node *nodes = thread_cct_nodes(l);
	uint32_t node = nodes[l->current].child;

	if (nodes[node].function != function) {
		if (!follow)
			return NULL;
		node = nodes[node].after;
		if (__builtin_expect(nodes[node].function != function, 0))
			return NULL;
		nodes[l->current].child = node;
	}
	if (__builtin_expect(l->depth >= l->frames_max || node == 0, 0))
		return NULL;
	nodes[node].calls++;
	call_frame *f = &l->frames[l->depth];
	f->node = node;
	f->folded = 0;
	l->current = node;
	l->depth++;
	return f;
}

/* Starts any call, without its time. NULL: too deep. The caller may use `place` of the frame. */
call_frame *thread_cct_begin(thread_cct *l, uint64_t function);

static inline call_frame *thread_cct_enter(thread_cct *l, uint64_t function, uint64_t now)
{
	thread_cct_charge(l, now);
	call_frame *f = thread_cct_begin_again(l, function, false);
	return __builtin_expect(f != NULL, 1) ? f : thread_cct_begin(l, function);
}

/* Ends the innermost call. */
static inline void thread_cct_pop(thread_cct *l)
{
	l->depth--;
	l->current = l->depth ? l->frames[l->depth - 1].node : 0;
}

/* Undoes thread_cct_enter() if `function` is the innermost open call; false: it is not. Beyond
 * CALL_LANE_FRAMES the innermost call is unknown. */
bool thread_cct_forget(thread_cct *l, uint64_t function);
/* Ends the innermost call; false: it is of another function. */
static inline bool thread_cct_end_innermost(thread_cct *l, uint64_t function, uint64_t mask)
{
	if (__builtin_expect(l->too_deep > 0 || l->depth == 0 ||
				 (thread_cct_nodes(l)[l->current].function ^ function) & mask,
			     0))
		return false;
	thread_cct_pop(l);
	return true;
}

/* Ends any call, without its time. */
void thread_cct_end(thread_cct *l, uint64_t function, uint64_t mask);

static inline void thread_cct_leave(thread_cct *l, uint64_t function, uint64_t mask, uint64_t now)
{
	thread_cct_charge(l, now);
	if (__builtin_expect(!thread_cct_end_innermost(l, function, mask), 0))
		thread_cct_end(l, function, mask);
}

#endif
