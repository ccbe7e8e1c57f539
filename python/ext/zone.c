/* zone.c - zones in Python: push() and pop(), `with zone(name)`, marks, numbers, counters, ranges
 * that any thread may end.
 *
 * While nothing records, each costs one load and one branch more than a call of an empty C
 * function. The functions are bound to the table of names, which saves a lookup.
 *
 * `with zone(...)` is a range that nests on its thread, except in a coroutine, which may be
 * suspended inside it while other coroutines run on the thread. There it is a separate range from
 * its start to its end, also in a generator and in a context manager that a coroutine may keep
 * open.
 *
 * Threads and coroutines may share an object, so each open entry has the thread or the frame that
 * entered it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "zone_names.h"
#include <frameobject.h> /* before Python 3.11 */
#include <pthread.h>
#include <structmember.h>

/* --- the name of a thread */

static _Thread_local __attribute__((tls_model("initial-exec"))) bool thread_named;

/* Returns whether the thread has the name that it was born with: that of the main thread. */
static bool has_inherited_name(void)
{
	char main_name[17] = "", own[16] = "";
	FILE *f = fopen("/proc/self/comm", "re");

	if (f && !fgets(main_name, sizeof main_name, f))
		main_name[0] = '\0';
	if (f)
		fclose(f);
	main_name[strcspn(main_name, "\n")] = '\0';
	return pthread_getname_np(pthread_self(), own, sizeof own) == 0 &&
	       strcmp(main_name, own) == 0;
}

/* Returns threading._active[ident].name, a new reference; NULL with an exception set, or without
 * one: the thread is not one of `threading`. */
static PyObject *thread_python_name(void)
{
	PyObject *modules = PySys_GetObject("modules"); /* NULL, late in the interpreter's exit */
	PyObject *threading =
	    modules && PyDict_Check(modules) ? PyDict_GetItemString(modules, "threading") : NULL;
	PyObject *active = threading ? PyObject_GetAttrString(threading, "_active") : NULL;
	PyObject *ident = active ? PyLong_FromUnsignedLong(PyThread_get_thread_ident()) : NULL;
	PyObject *thread = ident ? PyObject_GetItem(active, ident) : NULL;
	PyObject *name = thread ? PyObject_GetAttrString(thread, "name") : NULL;

	Py_XDECREF(thread);
	Py_XDECREF(ident);
	Py_XDECREF(active);
	return name;
}

/* Gives the system the name that Python has for the thread, as Python does from 3.14 on. The
 * recorder reads it there. */
static void thread_name_set(void)
{
	PyObject *name, *utf8 = NULL;
	char text[16];

	thread_named = true;
	name = thread_python_name();
	if (name && PyUnicode_Check(name) &&
	    PyUnicode_CompareWithASCIIString(name, "MainThread") != 0)
		utf8 = PyUnicode_AsEncodedString(name, "utf-8", "replace");
	if (utf8 && has_inherited_name()) {
		const char *from = PyBytes_AS_STRING(utf8);
		size_t n = strnlen(from, sizeof text);

		if (n == sizeof text)
			do
				n--;
			while (n > 0 && ((unsigned char)from[n] & 0xc0) == 0x80);
		memcpy(text, from, n);
		text[n] = '\0';
		(void)pthread_setname_np(pthread_self(), text);
	}
	Py_XDECREF(utf8);
	Py_XDECREF(name);
	PyErr_Clear();
}

/* Call at the beginning of a zone that is recorded. */
static inline void thread_name_once(void)
{
	if (__builtin_expect(!thread_named, 0))
		thread_name_set();
}

/* --- functions */

/* Checks the type only, because reading the value may block on a device. */
static bool is_number(PyObject *o)
{
	const PyNumberMethods *as = Py_TYPE(o)->tp_as_number;

	if (as && (as->nb_float || as->nb_index))
		return true;
	PyErr_Format(PyExc_TypeError, "a value is a number, not %.100s", Py_TYPE(o)->tp_name);
	return false;
}

/* --- the mirror: another profiler that receives the nested zones too */

/* Number of interpreters with a mirror; 0 costs one branch. */
static int mirrors;

static bool is_mirrored(void)
{
	return __atomic_load_n(&mirrors, __ATOMIC_RELAXED) > 0;
}

/* Calls the mirror with the name of a zone that starts, or with None if one ends. */
static bool mirror_call(PyObject *mirror, PyObject *name)
{
	PyObject *ret;

	if (!mirror)
		return true;
	Py_INCREF(mirror);
	ret = PyObject_CallFunctionObjArgs(mirror, name, NULL);
	Py_DECREF(mirror);
	Py_XDECREF(ret);
	return ret != NULL;
}

/* _zone_mirror(function or None) */
static PyObject *zone_mirror(PyObject *names, PyObject *mirror)
{
	PyObject **held = &ext_state_by(names)->zone_mirror;
	PyObject *old = *held;

	Py_INCREF(mirror);
	*held = mirror;
	if (mirror == Py_None) {
		Py_DECREF(mirror);
		*held = NULL;
	}
	__atomic_fetch_add(&mirrors, (*held != NULL) - (old != NULL), __ATOMIC_RELAXED);
	Py_XDECREF(old);
	Py_RETURN_NONE;
}

static PyObject *zone_push(PyObject *names, PyObject *name)
{
	if (DCK_ON_()) {
		dck_zone_site *site = zone_names_get(names, name);

		if (!site)
			return NULL;
		thread_name_once();
		dck_zone_push(site);
	} else if (!zone_name_fits(name)) {
		return NULL;
	}
	if (is_mirrored() && !mirror_call(ext_state_by(names)->zone_mirror, name))
		return NULL;
	Py_RETURN_NONE;
}

static PyObject *zone_pop(PyObject *names, PyObject *none)
{
	(void)none;
	DCK_POP();
	if (is_mirrored() && !mirror_call(ext_state_by(names)->zone_mirror, Py_None))
		return NULL;
	Py_RETURN_NONE;
}

static PyObject *zone_mark(PyObject *names, PyObject *name)
{
	dck_zone_site *site = DCK_ON_() ? zone_names_get(names, name) : NULL;

	if (site)
		dck_zone_mark(site);
	else if (PyErr_Occurred() || !zone_name_fits(name))
		return NULL;
	Py_RETURN_NONE;
}

/* _place(name, code): sets the source location of a new name to that code. */
static PyObject *zone_place(PyObject *names, PyObject *args)
{
	PyObject *name, *code;

	if (!PyArg_ParseTuple(args, "UO!:_place", &name, &PyCode_Type, &code) ||
	    !zone_names_site(names, name, (PyCodeObject *)code))
		return NULL;
	Py_RETURN_NONE;
}

/* number(name, value) and counter(name, value). */
static PyObject *value_put(PyObject *names, PyObject *const *args, Py_ssize_t nargs,
			   void (*to)(dck_zone_site *site, double value))
{
	dck_zone_site *site;
	double value;

	if (nargs != 2)
		return PyErr_Format(PyExc_TypeError,
				    "two arguments are needed, a name and a number: %zd were given",
				    nargs);
	if (!DCK_ON_()) {
		if (!zone_name_fits(args[0]) || !is_number(args[1]))
			return NULL;
		Py_RETURN_NONE;
	}
	site = ext_double(args[1], &value) ? zone_names_get(names, args[0]) : NULL;
	if (!site)
		return NULL;
	to(site, value);
	Py_RETURN_NONE;
}

static PyObject *zone_number(PyObject *names, PyObject *const *args, Py_ssize_t nargs)
{
	return value_put(names, args, nargs, dck_zone_number);
}

static PyObject *zone_counter(PyObject *names, PyObject *const *args, Py_ssize_t nargs)
{
	return value_put(names, args, nargs, dck_zone_counter);
}

/* --- ranges that any thread may end */

typedef struct range {
	PyObject_HEAD uint64_t id; /* 0: not recorded, or ended */
} range;

static PyObject *range_end(PyObject *self, PyObject *none)
{
	const dck_range r = {__atomic_exchange_n(&((range *)self)->id, 0, __ATOMIC_RELAXED)};

	(void)none;
	if (r.id)
		dck_zone_end(r);
	Py_RETURN_NONE;
}

static void plain_dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	PyObject_Free(self);
	Py_DECREF(type);
}

PyDoc_STRVAR(range_doc, "A range that start() began, and that any thread may end. One that is "
			"never ended is drawn to the end of the trace.");
static PyMethodDef range_methods[] = {
    {"end", range_end, METH_NOARGS, "end($self, /)\n--\n\nEnds it; a second time nothing happens."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot range_slots[] = {
    {Py_tp_doc, (void *)range_doc},
    {Py_tp_new, ext_type_not_made},
    {Py_tp_dealloc, plain_dealloc},
    {Py_tp_methods, range_methods},
    {0, NULL},
};

static PyObject *zone_start(PyObject *names, PyObject *name)
{
	dck_zone_site *site = DCK_ON_() ? zone_names_get(names, name) : NULL;
	range *r;

	if (!site && (PyErr_Occurred() || !zone_name_fits(name)))
		return NULL;
	r = PyObject_New(range, ext_state_by(names)->zone_range);
	if (r)
		r->id = site ? dck_zone_start(site).id : 0;
	return (PyObject *)r;
}

/* --- the functions' table; self is the table of names */

static PyMethodDef functions[] = {
    {"push", zone_push, METH_O,
     "push($self, name, /)\n--\n\nStarts a zone on this thread, inside the open ones."},
    {"pop", zone_pop, METH_NOARGS, "pop($self, /)\n--\n\nEnds the innermost zone of this thread."},
    {"start", zone_start, METH_O,
     "start($self, name, /)\n--\n\nStarts a separate range, which its end() ends on any thread."},
    {"mark", zone_mark, METH_O, "mark($self, name, /)\n--\n\nAn instant on this thread's row."},
    {"number", (PyCFunction)(void (*)(void))zone_number, METH_FASTCALL,
     "number($self, name, value, /)\n--\n\nA number on the innermost nested zone of this thread, which that of a "
     "coroutine is not. The value, whatever float() takes, is read only while something records."},
    {"counter", (PyCFunction)(void (*)(void))zone_counter, METH_FASTCALL,
     "counter($self, name, value, /)\n--\n\nA counter's new value. It is read only while "
     "something records."},
    {"_zone_mirror", zone_mirror, METH_O,
     "_zone_mirror($self, function, /)\n--\n\nCalled with the name of each zone that begins on its "
     "thread, and with None where one ends; None: nothing is called."},
    {"_place", zone_place, METH_VARARGS,
     "_place($self, name, code, /)\n--\n\nThe zone of that name is in that code."},
    {NULL, NULL, 0, NULL},
};

/* --- the context manager */

/* A range that the code of a frame opened by this object, or the zones that a thread pushed. */
typedef struct opened {
	struct opened *next;
	const void *by; /* the frame, or the thread */
	dck_range range;
	int pushed; /* 0: a range */
} opened;

typedef struct zone {
	PyObject_HEAD PyObject *name;
	dck_zone_site *site; /* NULL: nothing was recorded yet */
	const void *thread;  /* mostly the only one; the others are in the list */
	int pushed;	     /* number of zones that it pushed, and that are still open */
	opened *opened;	     /* the newest first */
} zone;

/* Without the GIL several threads may run one of these functions. */
#if PY_VERSION_HEX >= 0x030d0000
#define LOCK(o)	 Py_BEGIN_CRITICAL_SECTION(o)
#define UNLOCK() Py_END_CRITICAL_SECTION()
#else
#define LOCK(o)
#define UNLOCK()
#endif

/* Returns the caller's frame, which runs. */
static PyFrameObject *frame_back(PyFrameObject *frame)
{
	PyFrameObject *back = PyFrame_GetBack(frame);

	Py_XDECREF(back);
	return back;
}

/* Returns the flags of a frame's code; *ret: whether it is in contextlib, which calls for others.
 */
static int frame_flags(PyFrameObject *frame, bool *ret)
{
	static const char contextlib[] = "/contextlib.py";
	PyCodeObject *code = PyFrame_GetCode(frame);
	Py_ssize_t n = 0;
	const char *file = PyUnicode_AsUTF8AndSize(code->co_filename, &n);
	const Py_ssize_t at = n - (Py_ssize_t)(sizeof contextlib - 1);
	const int flags = code->co_flags;

	if (!file)
		PyErr_Clear();
	*ret = file && at >= 0 && strcmp(file + at, contextlib) == 0;
	Py_DECREF(code);
	return flags;
}

/* Returns the frame of the calling code, which enters and exits, if it may be suspended while a
 * zone is open; else NULL. Event loops set the asynchronous generator hooks of their thread (PEP
 * 525), and reading those is ten times faster than reading the code's flags. */
static PyFrameObject *frame_suspendable(void)
{
	if (!PyThreadState_Get()->async_gen_firstiter)
		return NULL;

	PyFrameObject *first = NULL;
	for (PyFrameObject *frame = PyEval_GetFrame(); frame; frame = frame_back(frame)) {
		bool of_contextlib;
		const int flags = frame_flags(frame, &of_contextlib);

		first = first || of_contextlib ? first : frame;
		if (flags & (CO_COROUTINE | CO_ASYNC_GENERATOR | CO_ITERABLE_COROUTINE) &&
		    !of_contextlib)
			return first;
		if (of_contextlib)
			continue;
		if (!(flags & CO_GENERATOR))
			return NULL;
		/* A context manager is open as its caller's block is; any other generator may stay
		 * suspended. */
		frame = frame_back(frame);
		if (!frame)
			return first;
		frame_flags(frame, &of_contextlib);
		if (!of_contextlib)
			return first;
	}
	return NULL;
}

static int opened_add(zone *z, const opened *what)
{
	opened *o = PyMem_RawMalloc(sizeof *o);

	if (!o)
		return ext_failed(PyErr_NoMemory());
	*o = *what;
	LOCK(z);
	o->next = z->opened;
	z->opened = o;
	UNLOCK();
	return 0;
}

/* Takes out the newest entry of a frame or a thread. by NULL: the newest range. Free it. */
static opened *opened_take(zone *z, const void *by)
{
	opened *o;

	LOCK(z);
	for (opened **at = &z->opened; (o = *at); at = &o->next)
		if (by ? o->by == by : !o->pushed) {
			*at = o->next;
			break;
		}
	UNLOCK();
	return o;
}

static int zone_pushed(zone *z)
{
	bool here;

	LOCK(z);
	here = z->pushed == 0 || z->thread == &thread_named;
	if (here) {
		z->thread = &thread_named;
		z->pushed++;
	}
	UNLOCK();
	if (!here && opened_add(z, &(opened){.by = &thread_named, .pushed = 1}) < 0)
		return -1;
	dck_zone_push(z->site);
	return 0;
}

/* Ends the newest zone that this thread pushed, if there is one. */
static void zone_popped(zone *z)
{
	opened *o = NULL;
	bool here;

	LOCK(z);
	here = z->pushed > 0 && z->thread == &thread_named;
	z->pushed -= here;
	UNLOCK();
	if (!here && z->opened)
		o = opened_take(z, &thread_named);
	if (here || o)
		DCK_POP();
	PyMem_RawFree(o);
}

static void range_close(opened *o)
{
	if (o->range.id)
		dck_zone_end(o->range);
	PyMem_RawFree(o);
}

static PyObject *zone_enter(PyObject *self, PyObject *none)
{
	zone *z = (zone *)self;
	/* NULL: called by a destructor while the interpreter exits. */
	PyObject *names = DCK_ON_() ? ext_state_by(self)->zone_names : NULL;

	(void)none;
	if (is_mirrored() && !frame_suspendable() &&
	    !mirror_call(ext_state_by(self)->zone_mirror, z->name))
		return NULL;
	if (names) {
		if (!z->site)
			z->site = zone_names_get(names, z->name);
		if (!z->site)
			return NULL;
		thread_name_once();
		PyFrameObject *frame = frame_suspendable();
		if (frame ? opened_add(z,
				       &(opened){.by = frame, .range = dck_zone_start(z->site)}) < 0
			  : zone_pushed(z) < 0)
			return NULL;
	}
	Py_INCREF(self);
	return self;
}

static PyObject *zone_exit(PyObject *self, PyObject *const *args, Py_ssize_t nargs)
{
	zone *z = (zone *)self;

	(void)args;
	(void)nargs;
	PyFrameObject *frame = z->opened ? frame_suspendable() : NULL;
	opened *o = frame ? opened_take(z, frame) : NULL;

	if (frame && !o) /* entered in another frame, as __aenter__() is of __aexit__() */
		o = opened_take(z, NULL);
	if (o)
		range_close(o);
	else
		zone_popped(z);
	if (is_mirrored() && !frame_suspendable() &&
	    !mirror_call(ext_state_by(self)->zone_mirror, Py_None))
		return NULL;
	Py_RETURN_NONE;
}

static PyObject *zone_make(PyTypeObject *type, PyObject *name)
{
	zone *z = PyObject_New(zone, type);

	if (!z)
		return NULL;
	Py_INCREF(name);
	z->name = name;
	z->site = NULL;
	z->opened = NULL;
	z->thread = NULL;
	z->pushed = 0;
	return (PyObject *)z;
}

static void zone_dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);
	zone *z = (zone *)self;

	while (z->opened) {
		opened *next = z->opened->next;

		PyMem_RawFree(z->opened);
		z->opened = next;
	}
	Py_DECREF(z->name);
	PyObject_Free(self);
	Py_DECREF(type);
}

/* zones.py decorates with a Python function, because compilers, as PyTorch's, trace through it. */
static PyObject *decorated(PyObject *name, PyObject *function)
{
	return ext_module_call("deepclock.zones", "decorate", "(OO)", name, function);
}

static PyObject *zone_call(PyObject *self, PyObject *args, PyObject *kwargs)
{
	PyObject *function;

	if (kwargs && PyDict_GET_SIZE(kwargs)) {
		PyErr_SetString(PyExc_TypeError, "a zone decorates one function");
		return NULL;
	}
	if (!PyArg_ParseTuple(args, "O:zone", &function))
		return NULL;
	return decorated(((zone *)self)->name, function);
}

/* zone(name), zone(function). */
static PyObject *zone_vectorcall(PyObject *type, PyObject *const *args, size_t nargsf,
				 PyObject *kwnames)
{
	if (PyVectorcall_NARGS(nargsf) != 1 || (kwnames && PyTuple_GET_SIZE(kwnames))) {
		PyErr_SetString(PyExc_TypeError,
				"a zone needs a name or a function: zone(\"forward\")");
		return NULL;
	}
	if (PyUnicode_Check(args[0]))
		return zone_name_fits(args[0]) ? zone_make((PyTypeObject *)type, args[0]) : NULL;
	return decorated(Py_None, args[0]);
}

static PyObject *zone_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	if (kwargs && PyDict_GET_SIZE(kwargs))
		return zone_vectorcall((PyObject *)type, NULL, 0, NULL);
	return zone_vectorcall((PyObject *)type, &PyTuple_GET_ITEM(args, 0),
			       (size_t)PyTuple_GET_SIZE(args), NULL);
}

static PyObject *zone_reduce(PyObject *self, PyObject *none)
{
	(void)none;
	return Py_BuildValue("O(O)", Py_TYPE(self), ((zone *)self)->name);
}

static PyObject *zone_repr(PyObject *self)
{
	return PyUnicode_FromFormat("deepclock.zone(%R)", ((zone *)self)->name);
}

PyDoc_STRVAR(
    zone_doc,
    "zone(name)\n--\n\nA named range on the timeline: `with zone(\"forward\"):`, `@zone(\"forward\")`, and `@zone`,\nwhich takes the function's name.\n\nA decorated generator's zone is open only while its body runs. In a coroutine the\nzone is a separate range from its start to its end, including what it awaits, because\nothers run on its thread in between; so is a block in a generator on the thread of an event loop.\nOn other threads a generator that is suspended in a block must leave it before the code around\nends a zone. It costs next to nothing while nothing records.");

static PyMethodDef zone_methods[] = {
    {"__enter__", zone_enter, METH_NOARGS, "__enter__($self, /)\n--\n\nBegins it."},
    {"__exit__", (PyCFunction)(void (*)(void))zone_exit, METH_FASTCALL,
     "__exit__($self, /, *args)\n--\n\nEnds it."},
    {"__reduce__", zone_reduce, METH_NOARGS,
     "__reduce__($self, /)\n--\n\nFor pickle and copy: its name."},
    {NULL, NULL, 0, NULL},
};
static PyMemberDef zone_members[] = {
    {"name", T_OBJECT, offsetof(zone, name), READONLY, "its name"},
    {NULL, 0, 0, 0, NULL},
};
static PyType_Slot zone_slots[] = {
    {Py_tp_doc, (void *)zone_doc}, {Py_tp_new, zone_new},
    {Py_tp_dealloc, zone_dealloc}, {Py_tp_repr, zone_repr},
    {Py_tp_call, zone_call},	   {Py_tp_methods, zone_methods},
    {Py_tp_members, zone_members}, {0, NULL},
};

/* --- the module's part */

static int functions_add(PyObject *m, PyObject *names)
{
	PyObject *module = PyUnicode_FromString("deepclock");
	int failed = module ? 0 : -1;

	for (PyMethodDef *f = functions; f->ml_name && !failed; f++) {
		PyObject *o = PyCFunction_NewEx(f, names, module);

		failed = !o || PyObject_SetAttrString(m, f->ml_name, o) < 0 ? -1 : 0;
		Py_XDECREF(o);
	}
	Py_XDECREF(module);
	return failed;
}

static int zone_add(PyObject *m, ext_state *s)
{
	s->zone_names = zone_names_new(m);
	if (!s->zone_names || functions_add(m, s->zone_names) < 0)
		return -1;
	s->zone_range = ext_type_add(m, "deepclock.Range", sizeof(range), range_slots);
	s->zone =
	    s->zone_range ? ext_type_add(m, "deepclock.zone", sizeof(zone), zone_slots) : NULL;
	if (!s->zone)
		return -1;
	s->zone->tp_vectorcall = zone_vectorcall;
	return 0;
}

const ext_part ext_zone = {.add = zone_add};
