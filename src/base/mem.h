/* mem.h - all heap memory of the library, through one allocator that a program may replace, and
 * the arena. An arena owns everything that dies together with one object (a record, a model's
 * graph).
 *
 *	mem_arena *a = mem_arena_new(0);
 *
 *	DCK_NEED(a, err, "for the names");
 *	char *name = mem_arena_fmt(a, "conv%d", 1);
 *	... one check for all of it: mem_arena_failed(a) ...
 *	mem_arena_free(a);
 *
 * Memory of mem_alloc() is freed with mem_free(); memory of an arena is freed only with the arena.
 * Sizes that overflow count as "no memory": the result is NULL.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include "deepclock/base.h"
#include <stdarg.h>

void *mem_alloc(size_t bytes);		 /* not zeroed; NULL: no memory */
void *mem_zalloc(size_t n, size_t size); /* n x size bytes, zeroed; checks the product */
void *mem_resize(void *old, size_t bytes);
void mem_free(void *p);		 /* NULL is allowed */
char *mem_dup(const char *text); /* @owned, mem_free */

/* Ensures that an array of *cap elements of `size` bytes has n, and doubles it if need be. array:
 * the address of the pointer to it. false: no memory, and nothing has changed. */
bool mem_reserve_more(void *array, size_t *cap, size_t n, size_t size);
static inline bool mem_reserve(void *array, size_t *cap, size_t n, size_t size)
{
	return n <= *cap || mem_reserve_more(array, cap, n, size);
}
/* The same, of an array whose new elements are zeroed. */
bool mem_reserve_zeroed(void *array, size_t *cap, size_t n, size_t size);

typedef struct mem_arena mem_arena;

mem_arena *mem_arena_new(size_t block_bytes); /* @owned; NULL: no memory. 0: a default size */
void mem_arena_free(mem_arena *a);	      /* NULL is allowed */

/* As vsnprintf() and snprintf(), with a decimal point in every locale. */
int mem_vprint(char *buf, size_t size, const char *fmt, va_list ap);
int mem_print(char *buf, size_t size, const char *fmt, ...) DCK_PRINTF(3, 4);

/* Returns zeroed memory, aligned for any type. NULL marks the arena as failed: builders allocate
 * freely and check once at the end. Zero bytes give a valid pointer. */
void *mem_arena_alloc(mem_arena *a, size_t bytes);
void *mem_arena_array(mem_arena *a, size_t n, size_t size); /* checks the product */
char *mem_arena_dup(mem_arena *a, const char *text);	    /* NULL stays NULL */
char *mem_arena_dup_n(mem_arena *a, const char *text, size_t n);
char *mem_arena_fmt(mem_arena *a, const char *fmt, ...) DCK_PRINTF(2, 3);
char *mem_arena_vfmt(mem_arena *a, const char *fmt, va_list ap) DCK_PRINTF(2, 0);
bool mem_arena_failed(const mem_arena *a);
size_t mem_arena_bytes(const mem_arena *a); /* taken from the allocator so far */
/* Limits the arena to `bytes`, above which it fails; 0: no limit. */
void mem_arena_limit(mem_arena *a, size_t bytes);

#endif
