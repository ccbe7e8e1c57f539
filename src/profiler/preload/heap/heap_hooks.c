/* heap_hooks.c - interposes on malloc() and its relatives. The real functions are resolved at the
 * first call, which may precede all constructors; allocations during that lookup are served from a
 * small static block that is never freed.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/execs/exec_watch.h"
#include "profiler/preload/heap/heap_hooks.h"
#include "profiler/preload/heap/heap_paths.h"
#include "profiler/preload/heap/heap_sample.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

const char exec_library[] = "libdeepclock_memory.so", exec_variable[] = HEAP_VARIABLE;

void exec_leaves(bool leaves)
{
	(void)leaves;
}

enum { EARLY_BYTES = 1 << 16, EARLY_ALIGN = 64 };

/* The real functions: result, name, parameters. */
#define REAL_FUNCTIONS(X)                                 \
	X(void *, malloc, (size_t))                       \
	X(void *, calloc, (size_t, size_t))               \
	X(void *, realloc, (void *, size_t))              \
	X(void *, memalign, (size_t, size_t))             \
	X(int, posix_memalign, (void **, size_t, size_t)) \
	X(void *, aligned_alloc, (size_t, size_t))        \
	X(void *, valloc, (size_t))                       \
	X(void *, pvalloc, (size_t))                      \
	X(int, dlclose, (void *))                         \
	X(void, free, (void *))
static struct {
#define MEMBER(result, name, parameters) result(*name) parameters;
	REAL_FUNCTIONS(MEMBER)
} real;
static _Atomic int found; /* 1: being resolved; 2: resolved */

static _Alignas(EARLY_ALIGN) char early[EARLY_BYTES];
static _Atomic size_t early_used;

static void *early_get(size_t n, size_t align)
{
	size_t at = atomic_load(&early_used), from;

	if (n > EARLY_BYTES || align > EARLY_ALIGN)
		return NULL;
	do {
		/* The size is stored before the block, for realloc(). */
		from = (at + sizeof(size_t) + EARLY_ALIGN - 1) & ~(size_t)(EARLY_ALIGN - 1);
		if (from + n > EARLY_BYTES)
			return NULL;
	} while (!atomic_compare_exchange_weak(&early_used, &at, from + n));
	memcpy(&early[from - sizeof n], &n, sizeof n);
	return &early[from];
}

static inline bool is_early(const void *p)
{
	return (uintptr_t)p - (uintptr_t)early < EARLY_BYTES;
}

static void hooks_look_up(const char *name, void *to)
{
	void *at = dlsym(RTLD_NEXT, name);

	memcpy(to, &at, sizeof at); /* ISO C has no conversion from object to function pointers */
}

/* false: a thread is resolving them, usually this one. */
static bool real_functions_resolve(void)
{
	int none = 0;

	if (!atomic_compare_exchange_strong(&found, &none, 1))
		return none == 2;
	heap_in_hook++;
#define LOOK_UP(result, name, parameters) hooks_look_up(#name, &real.name);
	REAL_FUNCTIONS(LOOK_UP)
	heap_in_hook--;
	atomic_store(&found, 2);
	return true;
}

static inline bool is_found(void)
{
	return __builtin_expect(atomic_load_explicit(&found, memory_order_acquire) == 2, 1) ||
	       real_functions_resolve();
}

static _Atomic uint64_t allocator_begin, allocator_end; /* 0: not found yet */

static int allocator_module_find(struct dl_phdr_info *info, size_t size, void *self)
{
	uint64_t at = 0, begin = UINT64_MAX, end = 0;

	(void)size;
	(void)self;
	memcpy(&at, &real.malloc, sizeof at);
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const uint64_t from = info->dlpi_addr + p->p_vaddr;

		if (p->p_type != PT_LOAD)
			continue;
		begin = from < begin ? from : begin;
		end = from + p->p_memsz > end ? from + p->p_memsz : end;
	}
	if (at < begin || at >= end)
		return 0;
	atomic_store(&allocator_begin, begin);
	atomic_store(&allocator_end, end);
	return 1;
}

bool heap_is_allocator(uint64_t pc)
{
	if (!atomic_load_explicit(&allocator_end, memory_order_acquire) && is_found())
		dl_iterate_phdr(allocator_module_find, NULL);
	return pc >= atomic_load_explicit(&allocator_begin, memory_order_relaxed) &&
	       pc < atomic_load_explicit(&allocator_end, memory_order_relaxed);
}

/* Creates the file of a program that allocates nothing, too: a missing file means that the library
 * was not preloaded. Paths of modules are found now: after chroot() they would not be. */
__attribute__((constructor)) static void begins(void)
{
	heap_state *s = heap_get();

	heap_in_hook++;
	if (s) {
		heap_thread_prepare();
		heap_modules_check(s);
		(void)heap_is_allocator(0);
	}
	heap_in_hook--;
}

HOOK void *malloc(size_t n)
{
	if (heap_sample_skips(n))
		return real.malloc(n);
	if (!is_found())
		return early_get(n, EARLY_ALIGN);
	void *p = real.malloc(n);
	BORN(p, n);
	return p;
}

HOOK void free(void *p)
{
	/* The usual case of sampling: no taken branch. */
	if (__builtin_expect(heap_sample_spares(p) && !is_early(p), 1)) {
		real.free(p);
		return;
	}
	if (!p || is_early(p) || !is_found())
		return;
	heap_on_free(p);
	real.free(p);
}

HOOK void cfree(void *p);
HOOK void cfree(void *p)
{
	free(p);
}

/* Of C23, in newer C libraries and in allocators, where they do what free() does, and faster. */
HOOK void free_sized(void *p, size_t n);
HOOK void free_sized(void *p, size_t n)
{
	(void)n;
	free(p);
}

HOOK void free_aligned_sized(void *p, size_t align, size_t n);
HOOK void free_aligned_sized(void *p, size_t align, size_t n)
{
	(void)align;
	(void)n;
	free(p);
}

HOOK void *calloc(size_t count, size_t size)
{
	size_t n;

	if (!__builtin_mul_overflow(count, size, &n) && heap_sample_skips(n))
		return real.calloc(count, size);
	if (!is_found())
		return __builtin_mul_overflow(count, size, &n) ? NULL : early_get(n, EARLY_ALIGN);
	void *p = real.calloc(count, size);
	BORN(p, count * size);
	return p;
}

/* Out of the block of the beginning. */
static void *early_resize(void *p, size_t n)
{
	void *to = malloc(n);
	size_t had;

	if (to) {
		memcpy(&had, (char *)p - sizeof had, sizeof had);
		memcpy(to, p, had < n ? had : n);
	}
	return to;
}

static inline void *resize(void *p, size_t n, const heap_caller *caller)
{
	const heap_block was = p ? heap_on_realloc_begin(p) : (heap_block){0};
	void *to = real.realloc(p, n);

	heap_on_realloc_end(p, was, to, n, caller);
	return to;
}

HOOK void *realloc(void *p, size_t n)
{
	const heap_caller caller = HEAP_CALLER;

	if (is_early(p))
		return early_resize(p, n);
	return is_found() ? resize(p, n, &caller) : early_get(n, EARLY_ALIGN);
}

HOOK void *reallocarray(void *p, size_t count, size_t size)
{
	const heap_caller caller = HEAP_CALLER;
	size_t n;

	if (__builtin_mul_overflow(count, size, &n)) {
		errno = ENOMEM;
		return NULL;
	}
	if (is_early(p))
		return early_resize(p, n);
	return is_found() ? resize(p, n, &caller) : early_get(n, EARLY_ALIGN);
}

/* One that the next library does not have. */
static void *hooks_missing(void)
{
	errno = ENOMEM;
	return NULL;
}

/* Returns the size to record for an aligned allocation of n bytes. */
static inline size_t aligned_size(size_t align, size_t n)
{
	const heap_request asked = heap_asked;

	if (!asked.size)
		return n;
	heap_asked.size = 0; /* of an operator that failed, if the alignment is another one */
	return asked.size <= n && n - asked.size < align &&
		       (asked.align == align || asked.align < sizeof(void *))
		   ? asked.size
		   : n;
}

HOOK int posix_memalign(void **to, size_t align, size_t n)
{
	const size_t size = aligned_size(align, n);

	if (!is_found())
		return (*to = early_get(n, align)) ? 0 : ENOMEM;
	const int failed = real.posix_memalign ? real.posix_memalign(to, align, n) : ENOMEM;
	if (!failed)
		BORN(*to, size);
	return failed;
}

/* memalign() and aligned_alloc() */
#define ALIGNED(name)                                                        \
	HOOK void *name(size_t align, size_t n)                              \
	{                                                                    \
		const size_t size = aligned_size(align, n);                  \
		if (!is_found())                                             \
			return early_get(n, align);                          \
		void *p = real.name ? real.name(align, n) : hooks_missing(); \
		BORN(p, size);                                               \
		return p;                                                    \
	}
ALIGNED(memalign)
ALIGNED(aligned_alloc)

/* valloc() and pvalloc() */
#define PAGES(name)                                                                 \
	HOOK void *name(size_t n)                                                   \
	{                                                                           \
		void *p = is_found() && real.name ? real.name(n) : hooks_missing(); \
		BORN(p, n);                                                         \
		return p;                                                           \
	}
PAGES(valloc)
PAGES(pvalloc)

HOOK int dlclose(void *handle)
{
	if (!is_found() || !real.dlclose)
		return -1;
	const int failed = real.dlclose(handle);
	heap_on_unload();
	return failed;
}
