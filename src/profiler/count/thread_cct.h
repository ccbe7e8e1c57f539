/* thread_cct.h - the calls of one thread being added up by their call paths: how many, and the time
 * each path had for itself. Two readings of a clock for a call, no allocation, no lock, and memory
 * of a fixed size, which may lie in a file: then what was counted is there whatever ends the
 * process.
 *
 *	thread_cct *l = thread_cct_make(path);
 *
 *	thread_cct_enter(l, function, now);
 *	thread_cct_leave(l, function, now);
 *	for (uint32_t i = 1; i < l->n; i++)
 *		... thread_cct_nodes(l)[i] ...
 *
 * A function is any number but 0. The time between two events belongs to the function that is
 * innermost then, so that a path's time is its own, without what it calls; the total of a function
 * is the sum over the paths it is on.
 *
 * Calls deeper than CALL_LANE_DEPTH go on in a path that exists: in that of the same function
 * nearest above, as recursions do; where there is none, or all CALL_LANE_NODES paths are taken, in
 * one that the function has outermost, below THREAD_CCT_OVERFLOW. So calls and own times stay
 * exact, and paths are bounded. It needs libc only: it runs inside programs of others.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COUNT_CALL_LANE_H
#define COUNT_CALL_LANE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CALL_LANE_DEPTH = 1000,	    /* of a path */
	CALL_LANE_NODES = 1 << 20,  /* paths */
	CALL_LANE_FRAMES = 1 << 20, /* calls that are open at one time */
	CALL_LANE_BUCKETS = 1 << 19,
	THREAD_CCT_OVERFLOW = 1 /* the path of what found no room */
};
#define CALL_LANE_MAGIC UINT64_C(0x314e4c43434b4344) /* "DCKCCLN1" */

typedef struct call_node {
	uint64_t function; /* 0: of none */
	uint32_t parent;   /* 0: outermost */
	uint32_t child;	   /* the one that was asked for last; 0: none */
	uint64_t calls;
	uint64_t
	    again; /* of them, inside a call of the same function that this path does not show */
	uint64_t self;	      /* ticks of the clock */
	uint32_t depth, next; /* next: of the same bucket */
} call_node;

typedef struct call_frame {
	uint32_t node;
	uint32_t folded;      /* the path is of a function further out */
	uint64_t place, site; /* the caller's own */
} call_frame;

typedef struct thread_cct {
	uint64_t magic;
	uint32_t size_node; /* for the reader of the file */
	uint32_t n;	    /* nodes; 0 is what the outermost are in */
	uint32_t depth;	    /* open calls */
	uint32_t in_use;    /* by a thread */
	uint32_t current;   /* the innermost one's path */
	uint64_t last;	    /* time of the last event */
	uint64_t too_deep;  /* calls beyond CALL_LANE_FRAMES that are open now */
	uint64_t lost;	    /* of them, all that ever were: not in the sums */
	uint64_t rest;	    /* calls below THREAD_CCT_OVERFLOW */
	uint64_t unmatched; /* ends without a beginning */
	uint64_t left;	    /* calls that ended with an outer one, as by longjmp() */
	/* Of the process that counts, in memory of its own: who reads the file does not need them.
	 */
	call_frame *frames;
	uint32_t *buckets;
	char *path;    /* of the file */
	uint64_t room; /* bytes of the file that are there for sure */
	uint32_t full; /* there is no room for more */
} thread_cct;

enum {
	CALL_LANE_HEAD = 4096,
	CALL_LANE_BYTES = CALL_LANE_HEAD + CALL_LANE_NODES * (int)sizeof(call_node)
};

/* In a new file, which is CALL_LANE_BYTES long with holes in it, or in memory (NULL). Returns NULL
 * if there is no room. */
thread_cct *thread_cct_make(const char *path);
void thread_cct_free(thread_cct *l); /* NULL is allowed; the file stays */

static inline call_node *thread_cct_nodes(const thread_cct *l)
{
	return (call_node *)((char *)(uintptr_t)l + CALL_LANE_HEAD);
}

/* Where the child that was asked for last is another one. *ret_folded: as in a call_frame. */
uint32_t thread_cct_find(thread_cct *l, uint64_t function, uint32_t *ret_folded);
/* The innermost open call of that function, as its number in the frames plus 1; 0: none. Bits of
 * `mask` count. */
uint32_t thread_cct_open(const thread_cct *l, uint64_t function, uint64_t mask);
/* Closes all but the outermost `depth` calls at that time. */
void thread_cct_unwind_to(thread_cct *l, uint32_t depth, uint64_t now);
/* The outermost `depth` calls that are open, without any counts: for a process that goes on from
 * another one, which may count on in `from` meanwhile. */
void thread_cct_fork(thread_cct *l, const thread_cct *from, uint32_t depth, uint64_t now);

static inline void thread_cct_charge(thread_cct *l, uint64_t now)
{
	thread_cct_nodes(l)[l->current].self += now - l->last;
	l->last = now;
}

/* NULL: it is too deep. What `place` and `site` of the frame hold is the caller's business. */
static inline call_frame *thread_cct_enter(thread_cct *l, uint64_t function, uint64_t now)
{
	call_node *nodes = thread_cct_nodes(l);
	uint32_t folded = 0, node = nodes[l->current].child;

	thread_cct_charge(l, now);
	if (__builtin_expect(l->depth >= CALL_LANE_FRAMES, 0)) {
		l->too_deep++;
		l->lost++;
		return NULL;
	}
	if (__builtin_expect(nodes[node].function != function || node == 0, 0))
		node = thread_cct_find(l, function, &folded);
	nodes[node].calls++;
	call_frame *f = &l->frames[l->depth];
	f->node = node;
	f->folded = folded;
	l->current = node;
	l->depth++;
	return f;
}

/* The innermost call ends. */
static inline void thread_cct_pop(thread_cct *l)
{
	l->depth--;
	l->current = l->depth ? l->frames[l->depth - 1].node : 0;
}

/* Undoes thread_cct_enter() if `function` is the innermost open call; false: it is not. Of calls
 * beyond CALL_LANE_FRAMES it is not known which is the innermost. */
bool thread_cct_forget(thread_cct *l, uint64_t function);
void thread_cct_leave_other(thread_cct *l, uint64_t function, uint64_t mask);

static inline void thread_cct_leave(thread_cct *l, uint64_t function, uint64_t mask, uint64_t now)
{
	thread_cct_charge(l, now);
	if (__builtin_expect(l->too_deep > 0, 0))
		l->too_deep--;
	else if (__builtin_expect(
		     l->depth > 0 &&
			 !((thread_cct_nodes(l)[l->current].function ^ function) & mask),
		     1))
		thread_cct_pop(l);
	else
		thread_cct_leave_other(l, function, mask);
}

#endif
