/* heap.c - Python allocation profiler: every block of the domains raw, mem and obj, with the
 * Python frames that allocated it. It implements deepclock.memory (heap.py).
 *
 *     number = _heap_start()
 *     totals, functions, paths = _heap_stop(number)
 *
 * Hooks wrap the installed allocators (PyMem_SetAllocator). They stay installed while another
 * tool's hooks wrap them, and forward every call while nothing records. Older blocks are unknown,
 * and ignored.
 *
 * Concurrent recordings share blocks and paths; each has its own sums. A recording counts the
 * blocks allocated since its start, and the frees of those blocks.
 *
 * The peak by path costs nothing at a new peak: a path saves the bytes that it held at the peak
 * when it first changes after that peak (copy on write).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "heap.h"
#include "heap_blocks.h"
#include "heap_paths.h"
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DOMAINS = 3 };

/* Counters of one path, or of all. */
typedef struct sums {
	uint64_t allocations, allocated, temporary;
	uint64_t held, blocks; /* now */
	uint64_t at_peak;      /* held at peak number `peaks`; valid if that is the last peak */
	uint64_t peaks;
} sums;

typedef struct recording {
	struct recording *next;
	uint32_t number; /* ordinal; it counts blocks with born >= number */
	sums total;	 /* at_peak: the peak; peaks: number of peaks */
	sums *of;	 /* by path */
	size_t n;
	uint64_t by_domain[DOMAINS]; /* bytes requested */
	uint64_t high;		     /* peak since the last heap_look() */
	uint64_t lost;		     /* blocks not recorded: out of memory */
	bool over;		     /* ended; its report is being made */
} recording;

/* The process has one heap, and one set of allocators. */
static struct {
	PyMemAllocatorEx below[DOMAINS]; /* wrapped allocators */
	bool recording;			 /* read without the lock */
	char locked;
	uint32_t begun;
	recording *recordings;
	heap_blocks blocks;
	heap_paths paths;
	const void *latest; /* the last allocated block, of all threads */
	bool prepared;
	pthread_key_t key;
} heap;

/* Thread state: inside a hook already; making a report, which is not counted; a call reached our
 * hook; the stack at the last allocation. */
#define OF_THREAD static __thread __attribute__((tls_model("initial-exec")))
OF_THREAD int inside, quiet;
OF_THREAD bool came_by;
OF_THREAD heap_stack *mine;

static void heap_lock(void)
{
	for (int i = 0; __atomic_exchange_n(&heap.locked, 1, __ATOMIC_ACQUIRE); i++)
		if (i > 100)
			sched_yield();
}

static void heap_unlock(void)
{
	__atomic_store_n(&heap.locked, 0, __ATOMIC_RELEASE);
}

static bool heap_records(void)
{
	return __atomic_load_n(&heap.recording, __ATOMIC_RELAXED);
}

/* Frees the stack of an exiting thread. */
static void stack_free(void *stack)
{
	heap_stack_done(stack);
	free(stack);
	mine = NULL;
}

/* Returns the stack of this thread; NULL: no memory. */
static heap_stack *stack_get(void)
{
	if (!mine) {
		mine = calloc(1, sizeof *mine);
		pthread_setspecific(heap.key, mine);
	}
	return mine;
}

/* --- sums */

/* Saves the bytes that the path held at the last peak, before they change. */
static void before_change(recording *r, sums *s)
{
	if (s->peaks != r->total.peaks) {
		s->at_peak = s->held;
		s->peaks = r->total.peaks;
	}
}

static sums *sums_of(recording *r, uint32_t path)
{
	if (path >= r->n) {
		const size_t cap = heap.paths.cap;
		sums *made = realloc(r->of, cap * sizeof *made);

		if (!made)
			return NULL;
		memset(made + r->n, 0, (cap - r->n) * sizeof *made);
		r->of = made;
		r->n = cap;
	}
	return &r->of[path];
}

static void sums_add(recording *r, int domain, uint32_t path, size_t size)
{
	sums *s = sums_of(r, path), *all = &r->total;

	if (!s) {
		r->lost++;
		return;
	}
	before_change(r, s);
	s->allocations++;
	s->allocated += size;
	s->held += size;
	s->blocks++;
	all->allocations++;
	all->allocated += size;
	all->held += size;
	all->blocks++;
	r->by_domain[domain] += size;
	if (all->held > r->high)
		r->high = all->held;
	if (all->held > all->at_peak) {
		all->at_peak = all->held;
		all->peaks++;
	}
}

static void sums_remove(recording *r, const heap_block *b, bool at_once)
{
	sums *s = b->path < r->n ? &r->of[b->path] : NULL;

	if (!s || !s->blocks)
		return;
	before_change(r, s);
	s->held -= b->size;
	s->blocks--;
	s->temporary += at_once;
	r->total.held -= b->size;
	r->total.blocks--;
	r->total.temporary += at_once;
}

/* --- blocks, with the lock */

static void code_seen(const void *code)
{
	heap_block *b = heap_blocks_find(&heap.blocks, code);
	const heap_block known = {.at = (uintptr_t)code, .path = HEAP_NO_PATH, .code = 1};

	if (b)
		b->code = 1;
	else
		heap_blocks_add(&heap.blocks, &known);
}

static void block_add(int domain, const void *at, size_t size, uint32_t path)
{
	const heap_block b = {
	    .at = (uintptr_t)at, .size = size, .path = path, .born = heap.begun & 0x7FFFFFFF};
	const bool added = heap_blocks_add(&heap.blocks, &b);

	heap.latest = at;
	for (recording *r = heap.recordings; r; r = r->next)
		if (!r->over && added)
			sums_add(r, domain, path, size);
		else
			r->lost += !r->over;
}

/* Removes the block from the table, before another block can get its address. */
static bool chunk_alloc(const void *at, bool freed, heap_block *ret)
{
	heap_block *b = heap_blocks_find(&heap.blocks, at);
	const bool at_once = freed && heap.latest == at;

	if (heap.latest == at)
		heap.latest = NULL;
	if (!b)
		return false;
	*ret = *b;
	heap_blocks_remove(&heap.blocks, b);
	if (ret->code)
		heap_paths_code_freed(&heap.paths, at);
	if (ret->path == HEAP_NO_PATH)
		return false;
	for (recording *r = heap.recordings; r; r = r->next)
		if (!r->over && ret->born >= r->number)
			sums_remove(r, ret, at_once);
	return true;
}

/* --- allocators */

/* Returns the wrapped allocator of the hook's context. A thread that allocates raw memory without
 * the GIL during installation may call our function with another allocator's context. */
static const PyMemAllocatorEx *below_of(void *ctx)
{
	for (int d = 0; d < DOMAINS; d++)
		if (ctx == &heap.below[d])
			return &heap.below[d];
	return &heap.below[PYMEM_DOMAIN_RAW];
}

static PyThreadState *thread_state(int domain)
{
	/* Callers of the raw allocator need not hold the GIL. */
	if (domain == PYMEM_DOMAIN_RAW)
		return PyGILState_GetThisThreadState();
#if PY_VERSION_HEX >= 0x030d0000
	return PyThreadState_GetUnchecked();
#else
	return _PyThreadState_UncheckedGet();
#endif
}

static void got(const PyMemAllocatorEx *below, const void *at, size_t size)
{
	const int domain = (int)(below - heap.below);
	heap_stack *stack = stack_get();
	size_t n = 0;
	const bool known = stack && heap_stack_read(stack, thread_state(domain), &n);

	heap_lock();
	if (heap.recordings)
		block_add(domain, at, size, known ? heap_paths_get(&heap.paths, stack, n) : 0);
	heap_unlock();
}

static void *ours_malloc(void *ctx, size_t size)
{
	const PyMemAllocatorEx *below = below_of(ctx);
	void *at;

	came_by = true;
	if (!heap_records() || inside || quiet)
		return below->malloc(below->ctx, size);
	inside++;
	at = below->malloc(below->ctx, size);
	if (at)
		got(below, at, size);
	inside--;
	return at;
}

static void *ours_calloc(void *ctx, size_t n, size_t size)
{
	const PyMemAllocatorEx *below = below_of(ctx);
	void *at;

	if (!heap_records() || inside || quiet)
		return below->calloc(below->ctx, n, size);
	inside++;
	at = below->calloc(below->ctx, n, size);
	if (at)
		got(below, at, n * size);
	inside--;
	return at;
}

static void ours_free(void *ctx, void *at)
{
	const PyMemAllocatorEx *below = below_of(ctx);
	heap_block b;

	if (!heap_records() || inside || !at) {
		below->free(below->ctx, at);
		return;
	}
	inside++;
	heap_lock();
	chunk_alloc(at, true, &b);
	heap_unlock();
	below->free(below->ctx, at);
	inside--;
}

static void *ours_realloc(void *ctx, void *at, size_t size)
{
	const PyMemAllocatorEx *below = below_of(ctx);
	heap_block b = {0};
	bool known = false;
	void *made;

	if (!heap_records() || inside)
		return below->realloc(below->ctx, at, size);
	inside++;
	if (at) {
		heap_lock();
		known = chunk_alloc(at, false, &b);
		heap_unlock();
	}
	made = below->realloc(below->ctx, at, size);
	if (made && !quiet) {
		got(below, made, size);
	} else if (!made && known) { /* the old block is unchanged */
		heap_lock();
		if (heap.recordings)
			block_add((int)(below - heap.below), at, b.size, b.path);
		heap_unlock();
	}
	inside--;
	return made;
}

/* Returns whether calls reach our hooks: another tool may have wrapped or replaced them. */
static bool in_the_way(int domain)
{
	came_by = false;
	quiet++;
	if (domain == PYMEM_DOMAIN_RAW)
		PyMem_RawFree(PyMem_RawMalloc(1));
	else if (domain == PYMEM_DOMAIN_MEM)
		PyMem_Free(PyMem_Malloc(1));
	else
		PyObject_Free(PyObject_Malloc(1));
	quiet--;
	return came_by;
}

static void allocators_install(void)
{
	for (int d = 0; d < DOMAINS; d++) {
		PyMemAllocatorEx ours = {&heap.below[d], ours_malloc, ours_calloc, ours_realloc,
					 ours_free};

		if (in_the_way(d)) /* below another tool's: a second hook would recurse */
			continue;
		PyMem_GetAllocator((PyMemAllocatorDomain)d, &heap.below[d]);
		PyMem_SetAllocator((PyMemAllocatorDomain)d, &ours);
	}
}

static void allocators_remove(void)
{
	for (int d = 0; d < DOMAINS; d++) {
		PyMemAllocatorEx now;

		PyMem_GetAllocator((PyMemAllocatorDomain)d, &now);
		if (now.ctx == &heap.below[d]) /* else another tool wraps ours */
			PyMem_SetAllocator((PyMemAllocatorDomain)d, &heap.below[d]);
	}
}

/* --- recordings */

static void fork_begins(void)
{
	heap_lock();
}

static void fork_in_parent(void)
{
	heap_unlock();
}

static void recording_free(recording *r)
{
	free(r->of);
	free(r);
}

/* Clears all tables when no recording is left; the lock is held. */
static void heap_clear(void)
{
	heap.recording = false;
	heap_blocks_done(&heap.blocks);
	heap_paths_done(&heap.paths);
	heap.latest = NULL;
}

/* Drops the parent's recordings in the child. */
static void fork_in_child(void)
{
	while (heap.recordings) {
		recording *r = heap.recordings;

		heap.recordings = r->next;
		recording_free(r);
	}
	heap_clear();
	heap_unlock();
}

static bool prepare(void)
{
	if (!heap.prepared)
		heap.prepared = pthread_key_create(&heap.key, stack_free) == 0 &&
				pthread_atfork(fork_begins, fork_in_parent, fork_in_child) == 0;
	return heap.prepared;
}

static recording **recording_find(unsigned long number)
{
	recording **at = &heap.recordings;

	while (*at && (*at)->number != number)
		at = &(*at)->next;
	return at;
}

static const char *why_not(void)
{
#ifdef FRAMES_WHY_NOT
	return FRAMES_WHY_NOT;
#else
	if (PyInterpreterState_Get() != PyInterpreterState_Main())
		return "memory is measured from the main interpreter: a sub-interpreter has no separate allocators";
	return NULL;
#endif
}

/* _heap_start() returns its number; _heap_start(began) calls began(number) before it counts. */
static PyObject *heap_start(PyObject *m, PyObject *args)
{
	dck_err err = {.code = DCK_E_UNSUP};
	const char *why = why_not();
	PyObject *number = NULL, *began = NULL;
	recording *r = NULL;
	bool made = true;

	if (!PyArg_ParseTuple(args, "|O:_heap_start", &began))
		return NULL;
	if (why) {
		PyOS_snprintf(err.msg, sizeof err.msg, "%s", why);
		return ext_raise(ext_state_of(m), &err);
	}
	r = calloc(1, sizeof *r);
	if (!r || !prepare()) {
		PyErr_NoMemory();
		goto failed;
	}
	r->number = ++heap.begun;
	number = PyLong_FromUnsignedLong(r->number);
	if (!number)
		goto failed;
	if (began) {
		PyObject *none = PyObject_CallOneArg(began, number);

		Py_XDECREF(none);
		if (!none)
			goto failed;
	}
	if (!heap.recordings)
		allocators_install();
	heap_lock();
	if (!heap.recordings)
		made = heap_paths_init(&heap.paths, code_seen);
	if (made) {
		r->next = heap.recordings;
		heap.recordings = r;
		heap.recording = true;
	}
	heap_unlock();
	if (made)
		return number;
	PyErr_NoMemory();
failed:
	Py_XDECREF(number);
	free(r);
	return NULL;
}

/* A path that did not change since the last peak has the same bytes as then. */
static uint64_t at_peak(const recording *r, const sums *s)
{
	return s->peaks == r->total.peaks ? s->at_peak : s->held;
}

static PyObject *functions_list(const heap_function *all, size_t n)
{
	EXT_RETURN_LIST(
	    n, i,
	    Py_BuildValue("(NNI)", ext_text(all[i].name), ext_text(all[i].file), all[i].line));
}

static PyObject *paths_list(const recording *r, const heap_path *all, size_t n)
{
	static const sums nothing;
	PyObject *list = PyList_New(0);

	for (size_t i = 0; list && i < n; i++) {
		const sums *s = i < r->n ? &r->of[i] : &nothing;
		ext_list_add(
		    &list, Py_BuildValue(
			       "(iIIKKKKKK)", (int)all[i].parent, all[i].function, all[i].line,
			       (unsigned long long)at_peak(r, s), (unsigned long long)s->allocated,
			       (unsigned long long)s->allocations, (unsigned long long)s->temporary,
			       (unsigned long long)s->held, (unsigned long long)s->blocks));
	}
	return list;
}

static PyObject *totals_dict(const recording *r, bool cut, size_t own)
{
	const sums *t = &r->total;

	return Py_BuildValue(
	    "{sKsKsKsKsKsKsKsKsKsOsKsK}", "peak", (unsigned long long)t->at_peak, "allocated",
	    (unsigned long long)t->allocated, "allocations", (unsigned long long)t->allocations,
	    "temporary", (unsigned long long)t->temporary, "held", (unsigned long long)t->held,
	    "blocks", (unsigned long long)t->blocks, "raw", (unsigned long long)r->by_domain[0],
	    "mem", (unsigned long long)r->by_domain[1], "obj", (unsigned long long)r->by_domain[2],
	    "cut", cut ? Py_True : Py_False, "lost", (unsigned long long)r->lost, "own",
	    (unsigned long long)own);
}

/* Converts the report to Python objects. It copies the lists, which concurrent recordings may
 * reallocate; names stay valid until the last recording ends. */
static PyObject *report(const recording *r, bool cut)
{
	const heap_paths *p = &heap.paths;
	heap_path *paths;
	heap_function *functions;
	size_t n, nfunctions, own;
	PyObject *ret = NULL;

	heap_lock();
	n = p->n;
	nfunctions = p->nfunctions;
	own = heap_blocks_bytes(&heap.blocks) + heap_paths_bytes(p) + r->n * sizeof *r->of;
	paths = malloc(n * sizeof *paths);
	functions = malloc(nfunctions * sizeof *functions);
	if (paths && functions) {
		memcpy(paths, p->all, n * sizeof *paths);
		memcpy(functions, p->functions, nfunctions * sizeof *functions);
	}
	heap_unlock();
	if (paths && functions)
		ret = Py_BuildValue("(NNN)", totals_dict(r, cut, own),
				    functions_list(functions, nfunctions), paths_list(r, paths, n));
	else
		PyErr_NoMemory();
	free(paths);
	free(functions);
	return ret;
}

static PyObject *heap_stop(PyObject *m, PyObject *number)
{
	const unsigned long n = PyLong_AsUnsignedLong(number);
	bool cut = false, last;
	recording *r;
	PyObject *ret;

	(void)m;
	if (n == (unsigned long)-1 && PyErr_Occurred())
		return NULL;
	for (int d = 0; d < DOMAINS; d++)
		cut |= !in_the_way(d);
	heap_lock();
	r = *recording_find(n);
	if (r && r->over)
		r = NULL;
	if (r)
		r->over = true; /* no more blocks are added */
	heap_unlock();
	if (!r)
		Py_RETURN_NONE;
	quiet++;
	ret = report(r, cut);
	quiet--;
	heap_lock();
	*recording_find(n) = r->next;
	recording_free(r);
	last = !heap.recordings;
	if (last)
		heap_clear();
	heap_unlock();
	if (last)
		allocators_remove();
	return ret;
}

void heap_look(uint32_t number, uint64_t *ret_now, uint64_t *ret_peak)
{
	recording *r;

	heap_lock();
	r = *recording_find(number);
	*ret_now = r ? r->total.held : 0;
	*ret_peak = r ? r->high : 0;
	if (r)
		r->high = r->total.held;
	heap_unlock();
}

/* Returns (bytes held, peak bytes) of a running recording. */
static PyObject *heap_now(PyObject *m, PyObject *number)
{
	const unsigned long n = PyLong_AsUnsignedLong(number);
	uint64_t held = 0, peak = 0;
	recording *r;

	(void)m;
	if (n == (unsigned long)-1 && PyErr_Occurred())
		return NULL;
	heap_lock();
	r = *recording_find(n);
	if (r) {
		held = r->total.held;
		peak = r->total.at_peak;
	}
	heap_unlock();
	if (!r)
		Py_RETURN_NONE;
	return Py_BuildValue("(KK)", (unsigned long long)held, (unsigned long long)peak);
}

/* Measures the time to allocate and free a small object. */
static PyObject *heap_pair_ns(PyObject *m, PyObject *times)
{
	const long n = PyLong_AsLong(times);
	struct timespec begin, end;

	(void)m;
	if (n < 1) {
		if (!PyErr_Occurred())
			PyErr_SetString(PyExc_ValueError, "1 or more");
		return NULL;
	}
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (long i = 0; i < n; i++) {
		void *volatile at = PyObject_Malloc(64);

		PyObject_Free(at);
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	return PyFloat_FromDouble(
	    ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) /
	    (double)n);
}

static PyMethodDef methods[] = {
    {"_heap_pair_ns", heap_pair_ns, METH_O,
     "_heap_pair_ns($module, times, /)\n--\n\nWhat an allocation and its end take."},
    {"_heap_start", heap_start, METH_VARARGS,
     "_heap_start($module, began=None, /)\n--\n\nRecords Python's allocations from now on: its number."},
    {"_heap_stop", heap_stop, METH_O,
     "_heap_stop($module, number, /)\n--\n\nEnds it: totals, functions, paths; None: it has ended, "
     "or is that of the process which forked this one."},
    {"_heap_now", heap_now, METH_O,
     "_heap_now($module, number, /)\n--\n\n(bytes held, the most that were); None: it has ended."},
    {NULL, NULL, 0, NULL},
};

const ext_part ext_heap = {.methods = methods};
