/* heap_thread.h - what each thread has for itself: the stack as it was at its last allocation, and
 * small tables of the places and paths that it met, so that the common case takes no lock.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef HEAP_HEAP_THREAD_H
#define HEAP_HEAP_THREAD_H

#include "profiler/preload/heap/heap_paths.h"

enum {
	PLACES_KEPT = 1024,
	PATH_CACHE_SIZE = 2048,
	PYTHONS_KEPT = 512,
	PAGES_KEPT = 1024,
	PYTHON_DEPTH_MAX = 512, /* frames of Python, the innermost ones */
};

/* A frame as it was reached. */
typedef struct walked_frame {
	uint64_t place, sp, fp;
	uint64_t ra_at, ra_word; /* what was read to get to the frame around it */
	uint64_t fp_at, fp_word; /* fp_at 0: the frame pointer was not saved */
	uint32_t frame;
	bool again; /* what is around it follows from these words alone */
	bool by_fp; /* and from the frame pointer */
} walked_frame;

/* Cached stack word. If all cached words are unchanged, the cached walk is still valid. */
typedef struct cached_word {
	uint64_t at, word;
} cached_word;

/* A frame of the last stack. */
typedef struct cached_frame {
	uint64_t place, sp, fp;
	uint64_t lowest, highest; /* of the addresses of its words */
	uint32_t node;
	uint32_t words; /* so many of the thread's words lead from here to the outermost frame */
	bool again;	/* they do */
	bool by_fp;	/* together with the frame pointer */
} cached_frame;

/* A Python frame of the last stack, and the words by which it is known again. */
typedef struct kept_python {
	uint64_t frame, code, previous, instruction;
	uint64_t lines; /* of its code: distinguishes it from the next one at its address */
	uint32_t path;	/* from the outermost frame to this one */
	bool call;	/* it is none, but a call of the evaluator */
	bool entry;
} kept_python;

typedef struct cached_path {
	uint64_t key; /* parent and frame */
	uint32_t value;
} cached_path;

typedef struct heap_thread {
	struct heap_thread *next; /* of those whose thread ended */
	uint32_t generation, code, lane;
	uint32_t turn;		  /* calls of hooks */
	uint32_t depth;		  /* rows of `stack`; 0 is the outermost */
	uint64_t low, high;	  /* of the stack that is known to be readable */
	int64_t kept[HEAP_KINDS]; /* back from the totals */
	const void *last;	  /* allocated last, and since then nothing */
	heap_place places[PLACES_KEPT];
	cached_path paths[PATH_CACHE_SIZE];
	uint32_t python_depth;		   /* rows of `python`; 0 is the outermost */
	cached_path pythons[PYTHONS_KEPT]; /* frames of Python by their keys */
	uint64_t pages[PAGES_KEPT];	   /* that can be read */
	kept_python python[PYTHON_DEPTH_MAX], python_fresh[PYTHON_DEPTH_MAX];
	cached_word words[2 * HEAP_DEPTH_MAX];
	cached_frame stack[HEAP_DEPTH_MAX];
	walked_frame fresh[HEAP_DEPTH_MAX];
} heap_thread;

/* Of the calling thread, in the process of that generation: after fork() it points to pages that
 * are not there. */
extern _Thread_local heap_thread *heap_mine __attribute__((tls_model("initial-exec")));
extern _Thread_local uint32_t heap_mine_of __attribute__((tls_model("initial-exec")));

heap_thread *heap_thread_begin(heap_state *s);
/* Of the calling thread; NULL: no memory. */
static inline heap_thread *heap_thread_get(heap_state *s)
{
	heap_thread *t = heap_mine;

	return __builtin_expect(t && heap_mine_of == s->generation, 1) ? t : heap_thread_begin(s);
}

/* The path through `parent` to that frame. */
static inline uint32_t heap_node_of(heap_state *s, heap_thread *t, uint32_t parent, uint32_t frame)
{
	const uint64_t key = (uint64_t)parent << 32 | frame;
	cached_path *p =
	    &t->paths[(parent * UINT32_C(0x9E3779B1) ^ frame * UINT32_C(0x85EBCA77)) >> 8 &
		      (PATH_CACHE_SIZE - 1)];

	if (__builtin_expect(p->key != key, 0)) {
		p->value = heap_node_get(s, parent, frame);
		p->key = key;
	}
	return p->value;
}

/* Whether this thread is inside a hook: what it allocates there is ours, or a signal's handler's.
 */
enum { HEAP_OUTSIDE, HEAP_INSIDE, HEAP_INSIDE_OURS /* it is ours */ };
extern _Thread_local volatile int heap_inside __attribute__((tls_model("initial-exec")));

#endif
