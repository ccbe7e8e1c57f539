/* python_pair.c - baselines of the extension, a module for python_zones.py, python_peers.py and
 * count_peers.py, which compiles it for each interpreter: a pair of empty C methods, the same pair
 * with a clock reading stored in each, bare calls of a function, and a hook of the interpreter that
 * stores a clock reading.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>
#include <structmember.h>
#include <time.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

enum { KEPT = 4096 }; /* 64 KiB, as a chunk of the recorder */

static struct {
	unsigned long long ticks, what;
} kept[KEPT];
static size_t n;

static unsigned long long now(void)
{
#if defined(__x86_64__)
	return __rdtsc();
#else
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (unsigned long long)t.tv_sec * 1000000000u + (unsigned long long)t.tv_nsec;
#endif
}

static void keep(unsigned long long what)
{
	const size_t at = n++ % KEPT;

	kept[at].ticks = now();
	kept[at].what = what;
}

static PyObject *begin(PyObject *self, PyObject *name)
{
	(void)self;
	(void)name;
	Py_RETURN_NONE;
}

static PyObject *end(PyObject *self, PyObject *none)
{
	(void)self;
	(void)none;
	Py_RETURN_NONE;
}

static PyObject *begin_timed(PyObject *self, PyObject *name)
{
	(void)self;
	keep((unsigned long long)(uintptr_t)name);
	Py_RETURN_NONE;
}

static PyObject *end_timed(PyObject *self, PyObject *none)
{
	(void)self;
	(void)none;
	keep(0);
	Py_RETURN_NONE;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static PyObject *calls(PyObject *self, PyObject *args)
{
	PyObject *f, *result;
	Py_ssize_t times;

	(void)self;
	if (!PyArg_ParseTuple(args, "On", &f, &times))
		return NULL;
	const double from = seconds();
	for (Py_ssize_t i = 0; i < times; i++) {
		result = PyObject_Vectorcall(f, NULL, 0, NULL);
		if (!result)
			return NULL;
		Py_DECREF(result);
	}
	return PyFloat_FromDouble((seconds() - from) / (double)times);
}

/* --- a hook that only reads the clock, the least that exact times of counted calls need */

#if PY_VERSION_HEX >= 0x030c0000
/* Its vectorcall is the hook itself, as cheap as a callback of sys.monitoring can be. */
typedef struct hook_object {
	PyObject head;
	vectorcallfunc call;
} hook_object;

static PyObject *hook_call(PyObject *self, PyObject *const *args, size_t n, PyObject *names)
{
	(void)self;
	(void)args;
	(void)n;
	(void)names;
	keep(0);
	Py_RETURN_NONE;
}

static PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(hook_object, call), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};
static PyType_Slot slots[] = {{Py_tp_members, members}, {Py_tp_call, PyVectorcall_Call}, {0, NULL}};
static PyType_Spec spec = {"python_hooks.Hook", sizeof(hook_object), 0,
			   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL, slots};

static PyObject *hook(PyObject *self, PyObject *none)
{
	PyTypeObject *type = (PyTypeObject *)PyType_FromSpec(&spec);
	hook_object *o = type ? (hook_object *)PyType_GenericAlloc(type, 0) : NULL;

	(void)self;
	(void)none;
	if (o)
		o->call = hook_call;
	Py_XDECREF(type);
	return (PyObject *)o;
}
#else
static int on_event(PyObject *self, PyFrameObject *frame, int what, PyObject *arg)
{
	(void)self;
	(void)frame;
	(void)what;
	(void)arg;
	keep(0);
	return 0;
}

static PyObject *profile(PyObject *self, PyObject *on)
{
	(void)self;
	PyEval_SetProfile(PyObject_IsTrue(on) ? on_event : NULL, NULL);
	Py_RETURN_NONE;
}
#endif

static PyMethodDef functions[] = {
    {"begin", begin, METH_O, "begin(name, /)\n--\n\nNothing."},
    {"end", end, METH_NOARGS, "end()\n--\n\nNothing."},
    {"begin_timed", begin_timed, METH_O, "begin_timed(name, /)\n--\n\nReads the clock."},
    {"end_timed", end_timed, METH_NOARGS, "end_timed()\n--\n\nReads the clock."},
    {"calls", calls, METH_VARARGS,
     "calls(f, times, /)\n--\n\nSeconds of one of so many bare vectorcalls of f()."},
#if PY_VERSION_HEX >= 0x030c0000
    {"hook", hook, METH_NOARGS, "hook()\n--\n\nReturns a callback for sys.monitoring."},
#else
    {"profile", profile, METH_O, "profile(on, /)\n--\n\nSets or removes a profile function in C."},
#endif
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "python_pair",
    .m_size = -1,
    .m_methods = functions,
};

PyMODINIT_FUNC PyInit_python_pair(void);
PyMODINIT_FUNC PyInit_python_pair(void)
{
	return PyModule_Create(&module);
}
