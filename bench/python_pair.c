/* python_pair.c - baselines of the extension, a module for python_zones.py and python_peers.py: a
 * pair of empty C methods, the same pair with a clock reading stored in each, and bare calls of a
 * function.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>
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

static PyMethodDef functions[] = {
    {"begin", begin, METH_O, "begin(name, /)\n--\n\nNothing."},
    {"end", end, METH_NOARGS, "end()\n--\n\nNothing."},
    {"begin_timed", begin_timed, METH_O, "begin_timed(name, /)\n--\n\nReads the clock."},
    {"end_timed", end_timed, METH_NOARGS, "end_timed()\n--\n\nReads the clock."},
    {"calls", calls, METH_VARARGS,
     "calls(f, times, /)\n--\n\nSeconds of one of so many bare vectorcalls of f()."},
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
