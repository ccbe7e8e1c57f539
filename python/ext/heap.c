/* heap.c - what Python's objects need of memory: every block of the domains raw, mem and obj, with
 * the Python frames that asked for it. What deepclock.memory, in heap.py, is made of.
 *
 *     number = _heap_start()
 *     totals, functions, paths = _heap_stop(number)
 *
 * Allocators of ours stand in front of those that were there (PyMem_SetAllocator), and stay there
 * as long as another tool has put its own in front of them: they pass on what comes while nothing
 * records. Blocks that were there before are not known, and nothing happens to them.
 *
 * Several recordings run at a time: they share blocks and paths, and each has its own sums. A
 * recording counts what was asked for since it began, and what of that is given back.
 *
 * The peak by path costs nothing at each new peak: a path keeps what it held when it changes for
 * the first time after one.
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

/* Of one path, or of all. */
typedef struct sums {
	uint64_t allocations, allocated, temporary;
	uint64_t held, blocks; /* now */
	uint64_t at_peak; /* held at the peak of the number in `peaks`: where that is the last */
	uint64_t peaks;
} sums;

typedef struct recording {
	struct recording *next;
	uint32_t number; /* of those that began; blocks born later or in it belong to it */
	sums total;	 /* at_peak is the peak, peaks how many there were */
	sums *of;	 /* by path */
	size_t n;
	uint64_t by_domain[DOMAINS]; /* bytes asked for */
	uint64_t high;		     /* the most held since heap_look() */
	uint64_t lost;		     /* blocks for which there was no memory */
	bool over;		     /* its report is being made */
} recording;

/* The process has one heap, and one set of allocators. */
static struct {
	PyMemAllocatorEx below[DOMAINS]; /* that ours pass on to */
	bool recording;			 /* read without the lock */
	char locked;
	uint32_t begun;
	recording *recordings;
	heap_blocks blocks;
	heap_paths paths;
	const void *latest; /* the block that was asked for last, of all threads */
	bool prepared;
	pthread_key_t key;
} heap;

/* Of this thread: it is inside the allocators already; it makes a report, which is not counted; a
 * call came by ours; the stack when it asked last. */
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

/* At the end of a thread. */
static void stack_free(void *stack)
{
	heap_stack_done(stack);
	free(stack);
	mine = NULL;
}

/* NULL: no memory. */
static heap_stack *stack_get(void)
{
	if (!mine) {
		mine = calloc(1, sizeof *mine);
		pthread_setspecific(heap.key, mine);
	}
	return mine;
}

/* --- sums */

/* What the path held at the last peak, before it holds something else. */
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

/* Takes the block out of the table, before another can get its address. */
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

/* The allocator below, by the context that ours were given. Who asks for raw memory without the GIL
 * while ours are being put in place may see our function and another's context. */
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
	} else if (!made && known) { /* it is still there, and as it was */
		heap_lock();
		if (heap.recordings)
			block_add((int)(below - heap.below), at, b.size, b.path);
		heap_unlock();
	}
	inside--;
	return made;
}

/* Whether calls come by ours: they may lie below another tool's, or have been thrown out by one. */
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

		if (in_the_way(d)) /* below another's: putting ours on top would make a circle */
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
		if (now.ctx == &heap.below[d]) /* else another stands in front of ours */
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

/* Once nothing records; with the lock. */
static void heap_clear(void)
{
	heap.recording = false;
	heap_blocks_done(&heap.blocks);
	heap_paths_done(&heap.paths);
	heap.latest = NULL;
}

/* What it does is not the parent's. */
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
		return "memory is measured from the main interpreter: a sub-interpreter has no "
		       "allocators of its own";
	return NULL;
#endif
}

/* _heap_start(): its number; _heap_start(began) calls began(number) before it counts. */
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

/* Of a path that did not change after the last peak, it is what it holds now. */
static uint64_t at_peak(const recording *r, const sums *s)
{
	return s->peaks == r->total.peaks ? s->at_peak : s->held;
}

static PyObject *functions_list(const heap_function *all, size_t n)
{
	PyObject *list = PyList_New(0);

	for (size_t i = 0; list && i < n; i++) {
		PyObject *one = Py_BuildValue("(NNI)", ext_text(all[i].name), ext_text(all[i].file),
					      all[i].line);

		if (!one || PyList_Append(list, one) < 0)
			Py_CLEAR(list);
		Py_XDECREF(one);
	}
	return list;
}

static PyObject *paths_list(const recording *r, const heap_path *all, size_t n)
{
	static const sums nothing;
	PyObject *list = PyList_New(0);

	for (size_t i = 0; list && i < n; i++) {
		const sums *s = i < r->n ? &r->of[i] : &nothing;
		PyObject *one = Py_BuildValue(
		    "(iIIKKKKKK)", (int)all[i].parent, all[i].function, all[i].line,
		    (unsigned long long)at_peak(r, s), (unsigned long long)s->allocated,
		    (unsigned long long)s->allocations, (unsigned long long)s->temporary,
		    (unsigned long long)s->held, (unsigned long long)s->blocks);

		if (!one || PyList_Append(list, one) < 0)
			Py_CLEAR(list);
		Py_XDECREF(one);
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

/* All of it as Python's objects. What others record meanwhile may move the lists, so these are
 * copies; names stay where they are until the last recording is gone. */
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
		r->over = true; /* nothing is added from here on */
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

/* (bytes that are held, the most that were): of a recording that goes on. */
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

/* What an allocation of a small object and its end take. */
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
