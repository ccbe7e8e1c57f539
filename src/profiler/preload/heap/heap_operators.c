/* heap_operators.c - interposes on C++'s operators new and delete.
 *
 * Those of libstdc++ and libc++ call malloc() and free(), whose hooks record the block: the hooks
 * here jump to them. Allocators such as jemalloc have operators that call their internal functions:
 * operators from the same library as the next malloc() are recorded here, unless a hook has.
 *
 * Only what is loaded with the program is used, since it stays. In a program without operators,
 * as Python, those of libraries that dlopen() loads are malloc() and free(), for all such
 * libraries: a block may be freed by another one. Only a failure needs the C++ library.
 *
 * Exceptions pass through these functions by their unwind tables: there is nothing to clean up.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/preload/heap/heap_hooks.h"
#include "profiler/preload/heap/heap_sample.h"

#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <string.h>

_Thread_local heap_request heap_asked __attribute__((tls_model("initial-exec")));

/* Mangled name, whether it returns NULL on failure, the alignment (0: malloc()'s), to which the
 * size may be rounded up, what allocates if there is none, and parameters. */
#define PLAIN malloc(n ? n : 1), (size_t n), (n)
#define QUIET malloc(n ? n : 1), (size_t n, const void *nothrow), (n, nothrow)
#define ALIGN memalign(align, n ? n : 1), (size_t n, size_t align), (n, align)
#define ALIGN_QUIET                                                                \
	memalign(align, n ? n : 1), (size_t n, size_t align, const void *nothrow), \
	    (n, align, nothrow)
#define OPERATORS_NEW(X)                                                \
	X(_Znwm, false, 0, PLAIN)                                       \
	X(_Znam, false, 0, PLAIN)                                       \
	X(_ZnwmRKSt9nothrow_t, true, 0, QUIET)                          \
	X(_ZnamRKSt9nothrow_t, true, 0, QUIET)                          \
	X(_ZnwmSt11align_val_t, false, align, ALIGN)                    \
	X(_ZnamSt11align_val_t, false, align, ALIGN)                    \
	X(_ZnwmSt11align_val_tRKSt9nothrow_t, true, align, ALIGN_QUIET) \
	X(_ZnamSt11align_val_tRKSt9nothrow_t, true, align, ALIGN_QUIET)
/* The further parameters are sizes, alignments and pointers. */
#define ONE   (void *p), (p)
#define TWO   (void *p, uintptr_t second), (p, second)
#define THREE (void *p, uintptr_t second, uintptr_t third), (p, second, third)
#define OPERATORS_DELETE(X)                           \
	X(_ZdlPv, ONE)                                \
	X(_ZdaPv, ONE)                                \
	X(_ZdlPvm, TWO)                               \
	X(_ZdaPvm, TWO)                               \
	X(_ZdlPvRKSt9nothrow_t, TWO)                  \
	X(_ZdaPvRKSt9nothrow_t, TWO)                  \
	X(_ZdlPvSt11align_val_t, TWO)                 \
	X(_ZdaPvSt11align_val_t, TWO)                 \
	X(_ZdlPvmSt11align_val_t, THREE)              \
	X(_ZdaPvmSt11align_val_t, THREE)              \
	X(_ZdlPvSt11align_val_tRKSt9nothrow_t, THREE) \
	X(_ZdaPvSt11align_val_tRKSt9nothrow_t, THREE)

#define NUMBER(name, ...) OF##name,
#define NAME(name, ...)	  #name,
enum { OPERATORS_NEW(NUMBER) OPERATORS_DELETE(NUMBER) OPERATORS };
static const char *const names[OPERATORS] = {OPERATORS_NEW(NAME) OPERATORS_DELETE(NAME)};

/* The next definitions. */
static struct {
	_Atomic uintptr_t at; /* 0: there is none */
	_Atomic bool records; /* of the allocator */
} operators[OPERATORS];
static _Atomic bool looked_up;

static void *operators_module(const void *address)
{
	Dl_info info;
	void *map;

	return address && dladdr1(address, &info, &map, RTLD_DL_LINKMAP) ? map : NULL;
}

static int is_cxx(struct dl_phdr_info *info, size_t size, void *self)
{
	(void)size;
	(void)self;
	return strstr(info->dlpi_name, "libstdc++.so") || strstr(info->dlpi_name, "libc++.so");
}

/* dlsym() allocates a message where there is none: a program without C++ is left alone. */
HEAP_APART static void operators_find(void)
{
	const int kept = heap_in_hook;

	heap_in_hook = HEAP_INSIDE_OURS;
	if (dl_iterate_phdr(is_cxx, NULL)) {
		const void *allocator = operators_module(dlsym(RTLD_NEXT, "malloc"));

		for (int i = 0; i < OPERATORS; i++) {
			const void *at = dlsym(RTLD_NEXT, names[i]);

			atomic_store(&operators[i].records,
				     at && allocator && operators_module(at) == allocator);
			atomic_store(&operators[i].at, (uintptr_t)at);
		}
	}
	heap_in_hook = kept;
	atomic_store_explicit(&looked_up, true, memory_order_release);
}

/* Not at the first calls, when another thread may hold the loader's lock. */
__attribute__((constructor)) static void operators_begin(void)
{
	operators_find();
}

static inline uintptr_t operator_next(int which)
{
	if (__builtin_expect(!atomic_load_explicit(&looked_up, memory_order_acquire), 0))
		operators_find();
	return atomic_load_explicit(&operators[which].at, memory_order_relaxed);
}

/* Returns the operator of a C++ library that dlopen() loaded, which calls the new-handler and
 * throws std::bad_alloc; 0: there is none. */
HEAP_APART static uintptr_t operator_loaded(int which)
{
	static const char *const libraries[] = {"libstdc++.so.6", "libc++.so.1"};

	for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
		void *library = dlopen(libraries[i], RTLD_NOW | RTLD_NOLOAD);
		void *at = library ? dlsym(library, names[which]) : NULL;

		if (at && operators_module(at) != operators_module(&looked_up))
			return (uintptr_t)at;
	}
	return 0;
}

/* Only of the operators of an allocator. */
static inline bool operator_records(int which)
{
	return __builtin_expect(
	    atomic_load_explicit(&operators[which].records, memory_order_relaxed), 0);
}

/* The hooks' calls of this thread. */
typedef struct hooks_called {
	uint64_t gap;
	uint32_t turn;
} hooks_called;

/* In a child of fork() the page of heap_now is wiped, and the thread's is not there. */
static const heap_thread *operators_thread(void)
{
	const heap_state *s = heap_now;

	return s && heap_mine && heap_mine_of == s->generation ? heap_mine : NULL;
}

static hooks_called hooks_called_get(void)
{
	const heap_thread *t = operators_thread();

	return (hooks_called){heap_gap, t ? t->turn : 0};
}

/* Whether an operator that has returned p called malloc(), too. */
static bool operators_counted(hooks_called before, const void *p)
{
	const hooks_called now = hooks_called_get();

	return now.gap != before.gap || (now.turn != before.turn && operators_thread()->last == p);
}

#define OPERATOR_NEW(name, is_quiet, aligned, instead, parameters, arguments)           \
	HOOK void *name parameters;                                                     \
	HOOK void *name parameters                                                      \
	{                                                                               \
		uintptr_t at = operator_next(OF##name);                                 \
                                                                                        \
		if (!at) {                                                              \
			void *made = instead;                                           \
                                                                                        \
			if (made || !(at = operator_loaded(OF##name))) {                \
				if (!made && !is_quiet)                                 \
					__builtin_trap(); /* it must not return NULL */ \
				return made;                                            \
			}                                                               \
		}                                                                       \
		void *(*const next)parameters = (void *(*)parameters)at;                \
		if (!operator_records(OF##name)) {                                      \
			if (aligned)                                                    \
				heap_asked = (heap_request){n, aligned};                \
			return next arguments;                                          \
		}                                                                       \
		const hooks_called before = hooks_called_get();                         \
		void *p = next arguments;                                               \
		if (!operators_counted(before, p) && !heap_sample_skips(n))             \
			BORN(p, n);                                                     \
		return p;                                                               \
	}
#define EACH_NEW(name, is_quiet, aligned, ...) OPERATOR_NEW(name, is_quiet, aligned, __VA_ARGS__)
OPERATORS_NEW(EACH_NEW)

#define OPERATOR_DELETE(name, parameters, arguments)                           \
	HOOK void name parameters;                                             \
	HOOK void name parameters                                              \
	{                                                                      \
		const uintptr_t at = operator_next(OF##name);                  \
                                                                               \
		if (!at) {                                                     \
			free(p);                                               \
			return;                                                \
		}                                                              \
		if (operator_records(OF##name) && p && !heap_sample_spares(p)) \
			heap_on_free(p);                                       \
		((void(*) parameters)at) arguments;                            \
	}
#define EACH_DELETE(name, ...) OPERATOR_DELETE(name, __VA_ARGS__)
OPERATORS_DELETE(EACH_DELETE)
