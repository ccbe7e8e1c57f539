/* lines.c - profiler of single lines of Python functions, for lines.py and line_memory.py: runs,
 * time, and memory increase of each line, with its callees.
 *
 *     lines = _Lines(wanted, memory)   # `wanted`(code) returns (first line, last line), or None
 *     lines.line(code, 12)             # and so on: by sys.monitoring, or by lines.trace()
 *     lines.rows()
 *
 * Each thread has a stack of its watched frames, each with its current line. An event ends a line:
 * time and memory since its start are added to it, and the reading itself is in neither line. The
 * peak of a line is propagated to the calling line.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "ext.h"
#include "heap.h"
#include "resident.h"
#include <frameobject.h>
#include <string.h>

enum { RESIDENT, PYTHON, KINDS };

typedef struct line_row {
	uint64_t runs, ns;
	uint64_t most;	       /* largest resident size at its ends */
	int64_t added[KINDS];  /* sum over all runs */
	uint64_t peaks[KINDS]; /* largest increase within one run */
	bool seen;
} line_row;

/* A function whose lines are watched. */
typedef struct watched {
	int first, last;
	line_row rows[];
} watched;

/* A code object that ran; its lines are NULL if it is not watched. */
typedef struct met {
	PyObject *code; /* referenced, so that its address is not reused */
	watched *lines;
} met;

typedef struct open_frame {
	watched *of;
	line_row *row; /* NULL: before its first line */
	uint64_t since_ns, had[KINDS], peak[KINDS];
} open_frame;

typedef struct open_stack {
	uint64_t thread; /* PyThreadState id */
	open_frame *frames;
	size_t n, cap;
} open_stack;

typedef struct lines {
	PyObject_HEAD PyObject *wanted, *disable;
	met *met;
	size_t nmet, mask;
	open_stack *stacks;
	size_t nstacks, latest;
	resident resident;
	uint64_t resident_ns, resident_bytes; /* time and result of the last reading */
	bool memory;
	bool stopped;	    /* before Python 3.12: other threads end their trace function */
	unsigned long heap; /* recording that counts Python's bytes; 0: none */
} lines;

#if PY_VERSION_HEX >= 0x030d0000
#define LOCK(o)	 Py_BEGIN_CRITICAL_SECTION(o)
#define UNLOCK() Py_END_CRITICAL_SECTION()
#else
#define LOCK(o)
#define UNLOCK()
#endif

/* --- code objects */

static met *met_slot(const lines *l, PyObject *code)
{
	size_t i = (size_t)(((uint64_t)(uintptr_t)code >> 4) * 0x9E3779B97F4A7C15u >> 32) & l->mask;

	while (l->met[i].code && l->met[i].code != code)
		i = (i + 1) & l->mask;
	return &l->met[i];
}

static int met_grow(lines *l)
{
	met *old = l->met;
	const size_t n = old ? l->mask + 1 : 0, more = n ? 2 * n : 64;
	met *made = PyMem_Calloc(more, sizeof *made);

	if (!made)
		return ext_failed(PyErr_NoMemory());
	l->met = made;
	l->mask = more - 1;
	for (size_t i = 0; i < n; i++)
		if (old[i].code)
			*met_slot(l, old[i].code) = old[i];
	PyMem_Free(old);
	return 0;
}

/* Calls `wanted` and registers the code. -1: an exception is set. */
static int met_add(lines *l, PyObject *code, watched **ret)
{
	PyObject *answer = PyObject_CallOneArg(l->wanted, code);
	watched *of = NULL;
	int first, last;

	if (!answer)
		return -1;
	if (answer != Py_None) {
		if (!PyArg_ParseTuple(answer, "ii", &first, &last) || last < first)
			goto failed;
		const size_t n = (size_t)(last - first) + 1;
		of = PyMem_Calloc(1, sizeof *of + n * sizeof of->rows[0]);
		if (!of)
			goto failed;
		of->first = first;
		of->last = last;
	}
	const met *other = met_slot(l, code);
	if (other->code) { /* another thread has added it while `wanted` ran */
		PyMem_Free(of);
		Py_DECREF(answer);
		*ret = other->lines;
		return 0;
	}
	if (l->nmet + 1 > l->mask / 2 && met_grow(l) < 0)
		goto failed;
	Py_INCREF(code);
	*met_slot(l, code) = (met){code, of};
	l->nmet++;
	Py_DECREF(answer);
	*ret = of;
	return 0;
failed:
	PyMem_Free(of);
	Py_DECREF(answer);
	if (!PyErr_Occurred())
		PyErr_NoMemory();
	return -1;
}

static int lines_of(lines *l, PyObject *code, watched **ret)
{
	const met *m = met_slot(l, code);

	if (!m->code)
		return met_add(l, code, ret);
	*ret = m->lines;
	return 0;
}

/* --- threads */

/* Returns the stack of this thread, or an empty stack of another. NULL: no memory. */
static open_stack *stack_of(lines *l, bool make)
{
	const uint64_t id = PyThreadState_GetID(PyThreadState_Get());
	open_stack *made;

	if (l->latest < l->nstacks && l->stacks[l->latest].thread == id)
		return &l->stacks[l->latest];
	for (size_t i = 0; i < l->nstacks; i++)
		if (l->stacks[i].thread == id)
			return &l->stacks[l->latest = i];
	if (!make)
		return NULL;
	for (size_t i = 0; i < l->nstacks; i++)
		if (l->stacks[i].n == 0) {
			l->stacks[i].thread = id;
			return &l->stacks[l->latest = i];
		}
	made = PyMem_Realloc(l->stacks, (l->nstacks + 1) * sizeof *made);
	if (!made)
		return NULL;
	l->stacks = made;
	made[l->nstacks] = (open_stack){.thread = id};
	return &made[l->latest = l->nstacks++];
}

static open_frame *top_of(lines *l, const watched *of)
{
	open_stack *s = stack_of(l, false);
	open_frame *f = s && s->n ? &s->frames[s->n - 1] : NULL;

	return f && f->of == of ? f : NULL;
}

/* --- measuring */

typedef struct looked {
	uint64_t at_ns, has[KINDS];
} looked;

static void peak_raise(open_frame *f, const uint64_t *peak)
{
	for (int k = 0; k < KINDS; k++)
		if (f->peak[k] < peak[k])
			f->peak[k] = peak[k];
}

/* Minimum age of a resident size before it is read again: a reading takes system calls of 2 us, and
 * a comprehension over two lines has two events per iteration. Growth in between is charged to a
 * later line. */
#define RESIDENT_AGE_NS 20000

static void resident_read(lines *l, uint64_t now, uint64_t *ret_bytes, uint64_t *ret_peak)
{
	if (!l->resident_ns || now - l->resident_ns >= RESIDENT_AGE_NS) {
		resident_look(&l->resident, &l->resident_bytes, ret_peak);
		l->resident_ns = ext_now_ns();
	}
	*ret_bytes = l->resident_bytes;
}

/* Reads clock and memory, and raises the peak of the innermost open line of each thread, which
 * propagates it to its caller when it ends. */
static looked look(lines *l)
{
	looked now = {.at_ns = ext_now_ns()};
	uint64_t peak[KINDS] = {0};

	if (!l->memory)
		return now;
	resident_read(l, now.at_ns, &now.has[RESIDENT], &peak[RESIDENT]);
	if (l->heap)
		heap_look((uint32_t)l->heap, &now.has[PYTHON], &peak[PYTHON]);
	for (size_t i = 0; i < l->nstacks; i++)
		if (l->stacks[i].n)
			peak_raise(&l->stacks[i].frames[l->stacks[i].n - 1], peak);
	return now;
}

static void charge(open_frame *f, const looked *now)
{
	line_row *row = f->row;

	if (!row)
		return;
	row->ns += now->at_ns - f->since_ns;
	if (row->most < now->has[RESIDENT])
		row->most = now->has[RESIDENT];
	for (int k = 0; k < KINDS; k++) {
		const uint64_t peak = f->peak[k] > f->had[k] ? f->peak[k] - f->had[k] : 0;

		row->added[k] += (int64_t)(now->has[k] - f->had[k]);
		if (row->peaks[k] < peak)
			row->peaks[k] = peak;
	}
}

static void begin(open_frame *f, int line, const looked *now)
{
	f->row = NULL;
	if (line >= f->of->first && line <= f->of->last)
		f->row = &f->of->rows[line - f->of->first];
	if (f->row)
		f->row->seen = true;
	memcpy(f->had, now->has, sizeof f->had);
	memcpy(f->peak, now->has, sizeof f->peak);
	f->since_ns = ext_now_ns();
}

/* line 0: the first line is reported by a separate event. */
static int frame_enters(lines *l, watched *of, int line)
{
	open_stack *s = stack_of(l, true);
	open_frame *made;

	if (s && s->n == s->cap) {
		made = PyMem_Realloc(s->frames, (2 * s->cap + 8) * sizeof *made);
		if (made) {
			s->frames = made;
			s->cap = 2 * s->cap + 8;
		}
	}
	if (!s || s->n == s->cap)
		return ext_failed(PyErr_NoMemory());
	const looked now = look(l);
	s->frames[s->n] = (open_frame){.of = of};
	begin(&s->frames[s->n++], line, &now);
	return 0;
}

static void frame_line(lines *l, watched *of, int line)
{
	const looked now = look(l);
	open_frame *f = top_of(l, of);

	if (!f) /* it started before the recording */
		return;
	charge(f, &now);
	begin(f, line, &now);
	if (f->row)
		f->row->runs++;
}

static void frame_leaves(lines *l, watched *of)
{
	const looked now = look(l);
	open_frame *f = top_of(l, of);
	open_stack *s = stack_of(l, false);

	if (!f)
		return;
	charge(f, &now);
	if (--s->n)
		peak_raise(&s->frames[s->n - 1], f->peak);
}

/* --- events of sys.monitoring: (code, offset or line, ...) */

static PyObject *event(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
		       int (*then)(lines *l, watched *of, PyObject *second), bool may_disable)
{
	lines *l = (lines *)self;
	PyObject *ret = Py_None;
	watched *of = NULL;
	int failed = -1;

	if (nargs < 2) {
		PyErr_SetString(PyExc_TypeError, "an event has a code object, and where in it");
		return NULL;
	}
	LOCK(self);
	if (PyCode_Check(args[0])) {
		failed = lines_of(l, args[0], &of);
		if (!failed && of)
			failed = then(l, of, args[1]);
		else if (may_disable)
			ret = l->disable;
	} else {
		failed = 0;
	}
	UNLOCK();
	if (failed)
		return NULL;
	Py_INCREF(ret);
	return ret;
}

static int then_starts(lines *l, watched *of, PyObject *offset)
{
	(void)offset;
	return frame_enters(l, of, 0);
}

static int then_leaves(lines *l, watched *of, PyObject *offset)
{
	(void)offset;
	frame_leaves(l, of);
	return 0;
}

static int then_line(lines *l, watched *of, PyObject *line)
{
	const long n = PyLong_AsLong(line);

	if (n == -1 && PyErr_Occurred())
		return -1;
	frame_line(l, of, (int)n);
	return 0;
}

static PyObject *lines_starts(PyObject *self, PyObject *const *args, Py_ssize_t nargs)
{
	return event(self, args, nargs, then_starts, true);
}

static PyObject *lines_leaves(PyObject *self, PyObject *const *args, Py_ssize_t nargs)
{
	return event(self, args, nargs, then_leaves, false);
}

static PyObject *lines_line(PyObject *self, PyObject *const *args, Py_ssize_t nargs)
{
	return event(self, args, nargs, then_line, false);
}

static PyObject *lines_resumes(PyObject *self, PyObject *const *args, Py_ssize_t nargs)
{
	watched *of = NULL;
	int offset, failed;

	if (nargs < 2 || !PyCode_Check(args[0])) {
		PyErr_SetString(PyExc_TypeError, "an event has a code object, and where in it");
		return NULL;
	}
	offset = (int)PyLong_AsLong(args[1]);
	if (offset == -1 && PyErr_Occurred())
		return NULL;
	LOCK(self);
	failed = lines_of((lines *)self, args[0], &of);
	if (!failed && of)
		failed = frame_enters((lines *)self, of,
				      PyCode_Addr2Line((PyCodeObject *)args[0], offset));
	UNLOCK();
	if (failed)
		return NULL;
	Py_RETURN_NONE;
}

/* --- before Python 3.12: a trace function in C */

#if PY_VERSION_HEX < 0x030c0000
static int instruction_of(PyFrameObject *frame)
{
#if PY_VERSION_HEX >= 0x030b0000
	return PyFrame_GetLasti(frame);
#else
	return frame->f_lasti;
#endif
}

static int frame_called(lines *l, watched *of, PyFrameObject *frame, const PyCodeObject *code)
{
	const int resumable = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR;
	const int line = PyFrame_GetLineNumber(frame);

	/* A resumed generator or coroutine continues in the line that it left. */
	return frame_enters(l, of,
			    (code->co_flags & resumable) && instruction_of(frame) > 0 &&
				    line != code->co_firstlineno
				? line
				: 0);
}

static int trace(PyObject *self, PyFrameObject *frame, int what, PyObject *arg)
{
	lines *l = (lines *)self;
	PyCodeObject *code;
	watched *of = NULL;
	int failed = 0;

	(void)arg;
	if (l->stopped) {
		PyEval_SetTrace(NULL, NULL);
		return 0;
	}
	if (what != PyTrace_CALL && what != PyTrace_LINE && what != PyTrace_RETURN)
		return 0;
	code = PyFrame_GetCode(frame);
	failed = lines_of(l, (PyObject *)code, &of);
	if (!failed && of) {
		if (what == PyTrace_CALL)
			failed = frame_called(l, of, frame, code);
		else if (what == PyTrace_LINE)
			frame_line(l, of, PyFrame_GetLineNumber(frame));
		else
			frame_leaves(l, of);
	}
	Py_DECREF(code);
	return failed;
}

static PyObject *lines_trace(PyObject *self, PyObject *none)
{
	(void)none;
	((lines *)self)->stopped = false;
	PyEval_SetTrace(trace, self);
	Py_RETURN_NONE;
}

static PyObject *lines_untrace(PyObject *self, PyObject *none)
{
	(void)none;
	((lines *)self)->stopped = true;
	Py_RETURN_NONE;
}

/* Receives the first event of a thread from threading.settrace(). */
static PyObject *lines_joins(PyObject *self, PyObject *args)
{
	PyFrameObject *frame;
	PyObject *what, *arg;

	if (!PyArg_ParseTuple(args, "O!UO:joins", &PyFrame_Type, &frame, &what, &arg))
		return NULL;
	PyEval_SetTrace(trace, self);
	if (trace(self, frame, PyTrace_CALL, arg) < 0)
		return NULL;
	Py_RETURN_NONE;
}
#endif

/* --- the object */

static PyObject *row_tuple(PyObject *code, int line, const line_row *r)
{
	return Py_BuildValue("(OiKKKLKLK)", code, line, (unsigned long long)r->runs,
			     (unsigned long long)r->ns, (unsigned long long)r->most,
			     (long long)r->added[RESIDENT], (unsigned long long)r->peaks[RESIDENT],
			     (long long)r->added[PYTHON], (unsigned long long)r->peaks[PYTHON]);
}

static PyObject *lines_rows(PyObject *self, PyObject *none)
{
	const lines *l = (lines *)self;
	PyObject *list = PyList_New(0);

	(void)none;
	for (size_t i = 0; list && l->met && i <= l->mask; i++) {
		const watched *of = l->met[i].lines;

		for (int k = 0; list && of && k <= of->last - of->first; k++)
			if (of->rows[k].seen)
				ext_list_add(
				    &list, row_tuple(l->met[i].code, of->first + k, &of->rows[k]));
	}
	return list;
}

/* lines.reads(number): reads memory from now on, and Python's bytes from the heap recording
 * `number` (0: none). Returns whether peaks of the resident set are available. */
static PyObject *lines_reads(PyObject *self, PyObject *number)
{
	lines *l = (lines *)self;
	const unsigned long n = PyLong_AsUnsignedLong(number);

	if (n == (unsigned long)-1 && PyErr_Occurred())
		return NULL;
	if (!l->memory)
		resident_open(&l->resident);
	l->memory = true;
	l->heap = n;
	return PyBool_FromLong(l->resident.peaks);
}

static PyObject *lines_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	PyObject *wanted, *disable;
	lines *l;

	if (kwargs && PyDict_GET_SIZE(kwargs)) {
		PyErr_SetString(PyExc_TypeError, "it takes no keyword arguments");
		return NULL;
	}
	if (!PyArg_ParseTuple(args, "OO:_Lines", &wanted, &disable))
		return NULL;
	l = (lines *)type->tp_alloc(type, 0);
	if (!l)
		return NULL;
	l->resident.now_fd = -1;
	Py_INCREF(wanted);
	Py_INCREF(disable);
	l->wanted = wanted;
	l->disable = disable;
	if (met_grow(l) < 0)
		Py_CLEAR(l);
	return (PyObject *)l;
}

static int lines_traverse(PyObject *self, visitproc visit, void *arg)
{
	const lines *l = (lines *)self;

	for (size_t i = 0; l->met && i <= l->mask; i++)
		Py_VISIT(l->met[i].code);
	Py_VISIT(l->wanted);
	Py_VISIT(l->disable);
	Py_VISIT(Py_TYPE(self));
	return 0;
}

static int lines_clear(PyObject *self)
{
	Py_CLEAR(((lines *)self)->wanted);
	return 0;
}

static void lines_dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);
	lines *l = (lines *)self;

	PyObject_GC_UnTrack(self);
	for (size_t i = 0; l->met && i <= l->mask; i++) {
		Py_XDECREF(l->met[i].code);
		PyMem_Free(l->met[i].lines);
	}
	for (size_t i = 0; i < l->nstacks; i++)
		PyMem_Free(l->stacks[i].frames);
	PyMem_Free(l->met);
	PyMem_Free(l->stacks);
	Py_XDECREF(l->wanted);
	Py_XDECREF(l->disable);
	resident_close(&l->resident);
	type->tp_free(self);
	Py_DECREF(type);
}

#define EVENT(name, function, what)                                         \
	{                                                                   \
		name, (PyCFunction)(void (*)(void))function, METH_FASTCALL, \
		    name "($self, code, where, /, *more)\n--\n\n" what      \
	}
static PyMethodDef lines_methods[] = {
    EVENT("starts", lines_starts, "A call of the code begins."),
    EVENT("resumes", lines_resumes, "A call of the code resumes."),
    EVENT("line", lines_line, "A line of it begins."),
    EVENT("leaves", lines_leaves, "It returns, yields, or is left by an exception."),
#if PY_VERSION_HEX < 0x030c0000
    {"trace", lines_trace, METH_NOARGS, "trace($self, /)\n--\n\nWatches this thread."},
    {"untrace", lines_untrace, METH_NOARGS, "untrace($self, /)\n--\n\nWatches no thread."},
    {"joins", lines_joins, METH_VARARGS,
     "joins($self, frame, event, arg, /)\n--\n\nWatches a thread that begins."},
#endif
    {"reads", lines_reads, METH_O,
     "reads($self, heap, /)\n--\n\nMemory is read from now on: whether its peaks are known."},
    {"rows", lines_rows, METH_NOARGS,
     "rows($self, /)\n--\n\n(code, line, runs, ns, resident at most, added, peak, Python's added, its "
     "peak) of each line that ran."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot lines_slots[] = {
    {Py_tp_doc,
     (void *)"_Lines(wanted, disable)\n--\n\nTime and memory of single lines of Python."},
    {Py_tp_new, lines_new},
    {Py_tp_dealloc, lines_dealloc},
    {Py_tp_traverse, lines_traverse},
    {Py_tp_clear, lines_clear},
    {Py_tp_methods, lines_methods},
    {0, NULL},
};

static int lines_add(PyObject *m, ext_state *s)
{
	PyTypeObject *type = ext_type_add(m, "deepclock._Lines", sizeof(lines), lines_slots);

	(void)s;
	Py_XDECREF(type);
	return type ? 0 : -1;
}

const ext_part ext_lines = {.add = lines_add};
