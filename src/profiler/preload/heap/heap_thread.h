/* heap_thread.h - thread-local cache: the stack of the last allocation, and small tables of
 * addresses and paths, so that the common case takes no lock.
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

/* A frame of a stack walk. */
typedef struct walked_frame {
	uint64_t place, sp, fp;
	uint64_t ra_at, ra_word; /* the word read to reach its caller */
	uint64_t fp_at, fp_word; /* fp_at 0: the frame pointer was not saved */
	uint32_t frame;
	bool again; /* these words alone determine its caller */
	bool by_fp; /* together with the frame pointer */
} walked_frame;

/* Cached stack word. If all cached words are unchanged, the cached walk is still valid. */
typedef struct cached_word {
	uint64_t at, word;
} cached_word;

/* A frame of the last stack. */
typedef struct cached_frame {
	uint64_t place, sp, fp;
	uint64_t lowest, highest; /* address range of its words */
	uint32_t node;
	uint32_t words; /* number of words from here to the outermost frame */
	bool again;	/* they do */
	bool by_fp;	/* together with the frame pointer */
} cached_frame;

/* A Python frame of the last stack, and the words that identify it. */
typedef struct kept_python {
	uint64_t frame, code, previous, instruction;
	/* Of its code, with the table's first bytes: they distinguish it from later code at its
	 * address. Without a readable table: 0. */
	uint64_t line_table, first_line, table_size, table_begin;
	uint32_t path; /* from the outermost frame to this one */
	bool call;     /* a call of the evaluator, not a frame */
	bool entry;
} kept_python;

typedef struct cached_path {
	uint64_t key; /* parent and frame */
	uint32_t value;
} cached_path;

typedef struct heap_thread {
	struct heap_thread *next; /* free list, after a thread's exit */
	uint32_t generation, code, lane;
	uint32_t turn;		  /* calls of hooks */
	uint32_t depth;		  /* rows of `stack`; 0 is the outermost */
	uint64_t low, high;	  /* bounds of the stack known to be readable */
	int64_t kept[HEAP_KINDS]; /* not yet added to the totals */
	const void *last;	  /* last allocated block, without later calls */
	uint64_t last_gap;	  /* heap_gap after it */
	uint64_t random;	  /* state of the generator; 0: not seeded */
	bool sampling;		  /* heap_gap is drawn */
	heap_place places[PLACES_KEPT];
	cached_path paths[PATH_CACHE_SIZE];
	uint32_t python_depth;		   /* rows of `python`; 0 is the outermost */
	cached_path pythons[PYTHONS_KEPT]; /* frames of Python by their keys */
	uint64_t pages[PAGES_KEPT];	   /* readable pages */
	kept_python python[PYTHON_DEPTH_MAX], python_fresh[PYTHON_DEPTH_MAX];
	cached_word words[2 * HEAP_DEPTH_MAX];
	cached_frame stack[HEAP_DEPTH_MAX];
	walked_frame fresh[HEAP_DEPTH_MAX];
} heap_thread;

/* The calling thread's cache, in the process of that generation: after fork() it points to unmapped
 * pages. */
extern _Thread_local heap_thread *heap_mine __attribute__((tls_model("initial-exec")));
extern _Thread_local uint32_t heap_mine_of __attribute__((tls_model("initial-exec")));

/* Makes what all threads need. The constructor calls it: pthread_once() ends a program whose filter
 * of system calls refuses futex(2). */
void heap_thread_prepare(void);
/* Gives back the cache that a thread borrowed after its end. */
void heap_thread_return(void);
/* In a new process: drops what it inherited of its parent's other threads. */
void heap_threads_forget(void);
heap_thread *heap_thread_begin(heap_state *s);
/* Returns the calling thread's cache; NULL: no memory. */
static inline heap_thread *heap_thread_get(heap_state *s)
{
	heap_thread *t = heap_mine;

	return __builtin_expect(t && heap_mine_of == s->generation, 1) ? t : heap_thread_begin(s);
}

/* Returns the node of that frame below `parent`. */
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

/* Whether this thread is inside a hook, where allocations are this library's or a signal
 * handler's. */
enum {
	HEAP_OUTSIDE,
	HEAP_INSIDE,
	HEAP_INSIDE_BORROWED, /* with a cache that heap_leave() gives back */
	HEAP_INSIDE_OURS      /* this library's */
};
extern _Thread_local volatile int heap_in_hook __attribute__((tls_model("initial-exec")));

#endif
