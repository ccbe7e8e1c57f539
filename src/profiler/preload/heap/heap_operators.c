/* heap_operators.c - interposes on C++'s operators new and delete.
 *
 * Those of libstdc++ and libc++ call malloc() and free(), whose hooks record the block: the hooks
 * here jump to them. Allocators such as jemalloc have operators that call their internal functions:
 * operators from the same library as the next malloc() are recorded here, unless a hook has.
 *
 * If C++ libraries are loaded only by dlopen(), as into Python, the global scope has no definition.
 * Then that in the scope of the calling library is used, the same for all callers, since a block
 * may be freed by another library.
 *
 * Exceptions pass through these functions by their unwind tables: there is nothing to clean up.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/preload/heap/heap_hooks.h"
#include "profiler/preload/heap/heap_sample.h"

#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <stdlib.h>

_Thread_local size_t heap_asked __attribute__((tls_model("initial-exec")));

static void *aligned_new(size_t n, size_t align)
{
	return memalign(align, n);
}

/* Mangled name, function if there is none, whether the size may be rounded up, and
 * parameters. */
#define PLAIN	    (size_t n), (n)
#define QUIET	    (size_t n, const void *nothrow), (n, nothrow)
#define ALIGN	    (size_t n, size_t align), (n, align)
#define ALIGN_QUIET (size_t n, size_t align, const void *nothrow), (n, align, nothrow)
#define OPERATORS_NEW(X)                                                      \
	X(_Znwm, malloc, false, PLAIN)                                        \
	X(_Znam, malloc, false, PLAIN)                                        \
	X(_ZnwmRKSt9nothrow_t, malloc, false, QUIET)                          \
	X(_ZnamRKSt9nothrow_t, malloc, false, QUIET)                          \
	X(_ZnwmSt11align_val_t, aligned_new, true, ALIGN)                     \
	X(_ZnamSt11align_val_t, aligned_new, true, ALIGN)                     \
	X(_ZnwmSt11align_val_tRKSt9nothrow_t, aligned_new, true, ALIGN_QUIET) \
	X(_ZnamSt11align_val_tRKSt9nothrow_t, aligned_new, true, ALIGN_QUIET)
/* The further parameters are sizes, alignments and pointers. */
#define ONE   (void *p), (p)
#define TWO   (void *p, uintptr_t second), (p, second)
#define THREE (void *p, uintptr_t second, uintptr_t third), (p, second, third)
#define OPERATORS_DELETE(X)                                   \
	X(_ZdlPv, free, , ONE)                                \
	X(_ZdaPv, free, , ONE)                                \
	X(_ZdlPvm, free, , TWO)                               \
	X(_ZdaPvm, free, , TWO)                               \
	X(_ZdlPvRKSt9nothrow_t, free, , TWO)                  \
	X(_ZdaPvRKSt9nothrow_t, free, , TWO)                  \
	X(_ZdlPvSt11align_val_t, free, , TWO)                 \
	X(_ZdaPvSt11align_val_t, free, , TWO)                 \
	X(_ZdlPvmSt11align_val_t, free, , THREE)              \
	X(_ZdaPvmSt11align_val_t, free, , THREE)              \
	X(_ZdlPvSt11align_val_tRKSt9nothrow_t, free, , THREE) \
	X(_ZdaPvSt11align_val_tRKSt9nothrow_t, free, , THREE)

#define NUMBER(name, ...) OF##name,
#define NAME(name, ...)	  #name,
enum { OPERATORS_NEW(NUMBER) OPERATORS_DELETE(NUMBER) OPERATORS };
static const char *const names[OPERATORS] = {OPERATORS_NEW(NAME) OPERATORS_DELETE(NAME)};

/* The next definitions. */
static struct {
	_Atomic uintptr_t at; /* 0: not looked up */
	_Atomic bool records; /* of the allocator */
	_Atomic bool local;   /* not of the global scope */
} operators[OPERATORS];
static void *_Atomic scope; /* link map: the library where local ones are looked up */

static void *operators_module(const void *address)
{
	Dl_info info;
	void *map;

	return address && dladdr1(address, &info, &map, RTLD_DL_LINKMAP) ? map : NULL;
}

/* Returns 0 if there is none. */
HEAP_APART static uintptr_t operator_find(int which, const void *caller)
{
	const int kept = heap_in_hook;

	heap_in_hook = HEAP_INSIDE_OURS;
	void *at = dlsym(RTLD_NEXT, names[which]), *from = NULL;
	if (at) {
		void *module = operators_module(at);

		atomic_store(&operators[which].records,
			     module && module == operators_module(dlsym(RTLD_NEXT, "malloc")));
	} else if (caller && (from = operators_module(caller))) {
		void *first = NULL;

		if (!atomic_compare_exchange_strong(&scope, &first, from))
			from = first;
		at = dlsym(from, names[which]); /* a link map is a handle */
		atomic_store(&operators[which].local, true);
	}
	if (operators_module(at) == operators_module(&scope)) /* the hook itself */
		at = NULL;
	heap_in_hook = kept;
	atomic_store_explicit(&operators[which].at, (uintptr_t)at, memory_order_release);
	return (uintptr_t)at;
}

/* Not at the first calls, when another thread may hold the loader's lock. */
__attribute__((constructor)) static void operators_begin(void)
{
	for (int i = 0; i < OPERATORS && (i == 0 || operators[0].at); i++)
		operator_find(i, NULL);
}

void heap_operators_check(void)
{
	for (int i = 0; i < OPERATORS; i++)
		if (operators[i].at && operators[i].local &&
		    !operators_module((const void *)operators[i].at)) {
			atomic_store(&operators[i].at, 0);
			atomic_store(&scope, NULL);
		}
}

static inline uintptr_t operator_next(int which, const void *caller, uintptr_t instead)
{
	uintptr_t at = atomic_load_explicit(&operators[which].at, memory_order_acquire);

	if (__builtin_expect(!at, 0))
		at = operator_find(which, caller);
	return at ? at : instead;
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

static hooks_called hooks_called_get(void)
{
	return (hooks_called){heap_gap, heap_mine ? heap_mine->turn : 0};
}

/* Whether an operator that has returned p called malloc(), too. */
static bool operators_counted(hooks_called before, const void *p)
{
	const hooks_called now = hooks_called_get();

	return now.gap != before.gap || (now.turn != before.turn && heap_mine->last == p);
}

#define OPERATOR_NEW(name, instead, is_aligned, parameters, arguments)              \
	HOOK void *name parameters;                                                 \
	HOOK void *name parameters                                                  \
	{                                                                           \
		void *(*const next)parameters = (void *(*)parameters)operator_next( \
		    OF##name, __builtin_return_address(0), (uintptr_t)instead);     \
		if (!operator_records(OF##name)) {                                  \
			if (is_aligned)                                             \
				heap_asked = n;                                     \
			return next arguments;                                      \
		}                                                                   \
		const hooks_called before = hooks_called_get();                     \
		void *p = next arguments;                                           \
		if (!operators_counted(before, p) && !heap_sample_skips(n))         \
			BORN(p, n);                                                 \
		return p;                                                           \
	}
#define EACH_NEW(name, instead, is_aligned, ...) \
	OPERATOR_NEW(name, instead, is_aligned, __VA_ARGS__)
OPERATORS_NEW(EACH_NEW)

#define OPERATOR_DELETE(name, instead, parameters, arguments)                     \
	HOOK void name parameters;                                                \
	HOOK void name parameters                                                 \
	{                                                                         \
		void(*const next) parameters = (void(*) parameters)operator_next( \
		    OF##name, __builtin_return_address(0), (uintptr_t)instead);   \
		if (operator_records(OF##name) && p && !heap_sample_spares(p))    \
			heap_on_free(p);                                          \
		next arguments;                                                   \
	}
#define EACH_DELETE(name, instead, none, ...) OPERATOR_DELETE(name, instead, __VA_ARGS__)
OPERATORS_DELETE(EACH_DELETE)
