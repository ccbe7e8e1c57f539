/* mem.c - the replaceable allocator, and the arena (bump-pointer allocation in a list of blocks).
 *
 * mem_*() call the three functions in `current`, a process global without a lock: a program
 * replaces it before any other call, from one thread (dck_set_allocator()).
 *
 * An arena is a singly linked list of blocks. Only the first is filled, by advancing `used`, so an
 * allocation takes constant time besides the zeroing. Blocks double from the initial size (16 KiB
 * by default) up to 1 MiB. An allocation above 1 MiB gets a block for itself in second position, so
 * that the space left in the first one stays usable.
 *
 * Failure is sticky: after the first allocation that fails the arena returns NULL until it is
 * freed, and builders check once. The limit counts blocks with their headers; the last block is
 * shortened to fit it. An arena may be used by one thread at a time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"

#include <assert.h>
#include <locale.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *libc_alloc(void *self, size_t bytes)
{
	(void)self;
	return malloc(bytes);
}

static void *libc_resize(void *self, void *old, size_t bytes)
{
	(void)self;
	return realloc(old, bytes);
}

static void libc_release(void *self, void *old)
{
	(void)self;
	free(old);
}

static const dck_allocator libc = {libc_alloc, libc_resize, libc_release, NULL};
static dck_allocator current = {libc_alloc, libc_resize, libc_release, NULL};

void dck_set_allocator(const dck_allocator *a)
{
	assert(!a || (a->alloc && a->resize && a->release));
	current = a ? *a : libc;
}

/* Never requests 0 bytes, so that NULL means only "no memory". */
void *mem_alloc(size_t bytes)
{
	return current.alloc(current.self, bytes ? bytes : 1);
}

void *mem_zalloc(size_t n, size_t size)
{
	if (size && n > SIZE_MAX / size)
		return NULL;
	void *p = mem_alloc(n * size);
	if (p)
		memset(p, 0, n * size);
	return p;
}

void *mem_resize(void *old, size_t bytes)
{
	return current.resize(current.self, old, bytes ? bytes : 1);
}

bool mem_reserve_more(void *array, size_t *cap, size_t n, size_t size)
{
	const size_t least = size < 64 ? 64 / size : 1, enough = n > least ? n : least;
	const size_t more = enough / 2 < *cap ? 2 * *cap : enough;
	void *p;

	memcpy(&p, array, sizeof p); /* a pointer to any type */
	p = more > SIZE_MAX / 2 / size ? NULL : mem_resize(p, more * size);
	if (!p)
		return false;
	memcpy(array, &p, sizeof p);
	*cap = more;
	return true;
}

bool mem_reserve_zeroed(void *array, size_t *cap, size_t n, size_t size)
{
	const size_t before = *cap;
	char *p;

	if (!mem_reserve(array, cap, n, size))
		return false;
	memcpy(&p, array, sizeof p);
	if (*cap > before)
		memset(p + before * size, 0, (*cap - before) * size);
	return true;
}

void mem_free(void *p)
{
	if (p)
		current.release(current.self, p);
}

void dck_free(void *p)
{
	mem_free(p);
}

char *mem_dup(const char *text)
{
	size_t n = strlen(text) + 1;
	char *p = mem_alloc(n);
	if (p)
		memcpy(p, text, n);
	return p;
}

/* --- the arena: a list of blocks, the newest first; only the newest is filled. */

typedef struct block {
	struct block *next;
	size_t size, used; /* of data */
	alignas(max_align_t) unsigned char data[];
} block;

struct mem_arena {
	block *blocks;
	size_t block_bytes, bytes, limit;
	bool failed;
};

enum { BLOCK_DEFAULT = 16 * 1024, BLOCK_GROWTH_MAX = 1024 * 1024 };

mem_arena *mem_arena_new(size_t block_bytes)
{
	mem_arena *a = mem_zalloc(1, sizeof *a);
	if (!a)
		return NULL;
	a->block_bytes = block_bytes ? block_bytes : BLOCK_DEFAULT;
	a->bytes = sizeof *a;
	return a;
}

void mem_arena_free(mem_arena *a)
{
	if (!a)
		return;
	for (block *b = a->blocks, *next; b; b = next) {
		next = b->next;
		mem_free(b);
	}
	mem_free(a);
}

/* Adds a block for `need` bytes: of the usual size, or of the bytes left below the limit. */
static block *base_block_add(mem_arena *a, size_t need)
{
	if (need > SIZE_MAX - sizeof(block))
		return NULL;
	size_t total = sizeof(block) + need;
	if (total < a->block_bytes)
		total = a->block_bytes;
	if (a->limit) {
		size_t left = a->limit > a->bytes ? a->limit - a->bytes : 0;
		if (sizeof(block) + need > left)
			return NULL;
		if (total > left)
			total = left;
	}
	block *b = mem_alloc(total);
	if (!b)
		return NULL;
	b->size = total - sizeof(block);
	b->used = 0;
	a->bytes += total;
	/* Doubling keeps the number of blocks logarithmic for large records. */
	if (a->block_bytes < BLOCK_GROWTH_MAX)
		a->block_bytes *= 2;
	if (need > BLOCK_GROWTH_MAX && a->blocks) {
		/* One large array must not waste the space left in the block being filled. */
		b->next = a->blocks->next;
		a->blocks->next = b;
	} else {
		b->next = a->blocks;
		a->blocks = b;
	}
	return b;
}

void *mem_arena_alloc(mem_arena *a, size_t bytes)
{
	const size_t align = alignof(max_align_t);
	if (a->failed)
		return NULL;
	if (bytes > SIZE_MAX - align) {
		a->failed = true;
		return NULL;
	}
	size_t need = bytes ? (bytes + align - 1) / align * align : align;
	block *b = a->blocks;
	if (!b || b->size - b->used < need)
		b = base_block_add(a, need);
	if (!b) {
		a->failed = true;
		return NULL;
	}
	void *p = b->data + b->used;
	b->used += need;
	memset(p, 0, need);
	return p;
}

void *mem_arena_array(mem_arena *a, size_t n, size_t size)
{
	if (size && n > SIZE_MAX / size) {
		a->failed = true;
		return NULL;
	}
	return mem_arena_alloc(a, n * size);
}

char *mem_arena_dup_n(mem_arena *a, const char *text, size_t n)
{
	char *p = n == SIZE_MAX ? mem_arena_alloc(a, n) : mem_arena_alloc(a, n + 1);
	if (p && n)
		memcpy(p, text, n);
	return p;
}

char *mem_arena_dup(mem_arena *a, const char *text)
{
	return text ? mem_arena_dup_n(a, text, strlen(text)) : NULL;
}

int mem_vprint(char *buf, size_t size, const char *fmt, va_list ap)
{
	/* glibc and musl return a constant, and allocate nothing. */
	const locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	const locale_t before = plain ? uselocale(plain) : (locale_t)0;
	const int n = vsnprintf(buf, size, fmt, ap);

	if (plain) {
		uselocale(before);
		freelocale(plain);
	}
	return n;
}

int mem_print(char *buf, size_t size, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	const int n = mem_vprint(buf, size, fmt, ap);
	va_end(ap);
	return n;
}

char *mem_arena_vfmt(mem_arena *a, const char *fmt, va_list ap)
{
	va_list again;
	va_copy(again, ap);
	int n = mem_vprint(NULL, 0, fmt, again);
	va_end(again);
	if (n < 0) {
		a->failed = true;
		return NULL;
	}
	char *p = mem_arena_alloc(a, (size_t)n + 1);
	if (p)
		mem_vprint(p, (size_t)n + 1, fmt, ap);
	return p;
}

char *mem_arena_fmt(mem_arena *a, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	char *p = mem_arena_vfmt(a, fmt, ap);
	va_end(ap);
	return p;
}

bool mem_arena_failed(const mem_arena *a)
{
	return a->failed;
}

size_t mem_arena_bytes(const mem_arena *a)
{
	return a->bytes;
}

void mem_arena_limit(mem_arena *a, size_t bytes)
{
	a->limit = bytes;
}
