/* python_hooks.c - what counting calls costs in Python whatever is counted: a hook that only reads
 * the clock and charges the difference, the least that exact times need. A module for
 * count_peers.py, which compiles it for each interpreter.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>
#include <structmember.h>
#include <time.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

static unsigned long long last, sum;

static void charge(void)
{
#if defined(__x86_64__)
	const unsigned long long now = __rdtsc();
#else
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	const unsigned long long now =
	    (unsigned long long)t.tv_sec * 1000000000u + (unsigned long long)t.tv_nsec;
#endif

	sum += now - last;
	last = now;
}

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
	charge();
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

static PyMethodDef functions[] = {
    {"hook", hook, METH_NOARGS, "hook()\n--\n\nReturns a callback for sys.monitoring."},
    {NULL, NULL, 0, NULL},
};
#else
static int on_event(PyObject *self, PyFrameObject *frame, int what, PyObject *arg)
{
	(void)self;
	(void)frame;
	(void)what;
	(void)arg;
	charge();
	return 0;
}

static PyObject *profile(PyObject *self, PyObject *on)
{
	(void)self;
	PyEval_SetProfile(PyObject_IsTrue(on) ? on_event : NULL, NULL);
	Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"profile", profile, METH_O, "profile(on, /)\n--\n\nSets or removes a profile function in C."},
    {NULL, NULL, 0, NULL},
};
#endif

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "python_hooks",
    .m_size = -1,
    .m_methods = functions,
};

PyMODINIT_FUNC PyInit_python_hooks(void);
PyMODINIT_FUNC PyInit_python_hooks(void)
{
	return PyModule_Create(&module);
}
