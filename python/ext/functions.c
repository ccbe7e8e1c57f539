/* functions.c - Python callables as subjects.
 *
 * A run is one vectorcall and nothing else: no argument is packed, no frame is made, the result is
 * dropped at once.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "ext.h"
#include <string.h>

/* The exception ends the measurement and is raised again after it. */
int ext_function_raised(ext_function *f)
{
	const bool interrupt = PyErr_ExceptionMatches(PyExc_KeyboardInterrupt);

	f->raised = !f->watch->type;
	ext_watch_raised(f->watch);
	return interrupt ? DCK_E_CANCEL : 1;
}

static int called(ext_function *f, PyObject *result)
{
	const bool coroutine = result && PyCoro_CheckExact(result);

	if (coroutine)
		PyErr_SetString(PyExc_TypeError,
				"the function returned a coroutine, of which nothing has run: "
				"measure a function that runs it, such as lambda: "
				"asyncio.run(f())");
	Py_XDECREF(result);
	return result && !coroutine ? 0 : ext_function_raised(f);
}

int ext_function_call(void *function)
{
	ext_function *f = function;

	return called(f, PyObject_Vectorcall(f->callable, f->args,
					     f->nargs | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL));
}

int ext_function_call_anywhere(void *function)
{
	ext_function *f = function;
	const PyGILState_STATE gil = PyGILState_Ensure();
	/* All threads share the arguments, so no callee may write before them (vectorcall offset).
	 */
	const int status = called(f, PyObject_Vectorcall(f->callable, f->args, f->nargs, NULL));

	PyGILState_Release(gil);
	return status;
}

/* Returns the flags of the code that a call begins; 0: it is not written in Python. A partial
 * object calls its `func`, another object the __call__ of its type. */
static long code_flags(PyObject *callable, int depth)
{
	static const char *const inner[] = {"func", "__call__"};
	PyObject *code = PyObject_GetAttrString(callable, "__code__");
	long bits = 0;

	PyErr_Clear();
	if (code && PyCode_Check(code)) /* a proxy has any attribute */
		bits = ((PyCodeObject *)code)->co_flags;
	for (size_t i = 0; !code && depth > 0 && i < sizeof inner / sizeof *inner; i++) {
		PyObject *of = i == 0 ? callable : (PyObject *)Py_TYPE(callable);
		PyObject *next = PyObject_GetAttrString(of, inner[i]);

		PyErr_Clear();
		if (next && PyCallable_Check(next))
			bits |= code_flags(next, depth - 1);
		Py_XDECREF(next);
	}
	Py_XDECREF(code);
	return bits;
}

int ext_function_check(PyObject *callable)
{
	const long bits = code_flags(callable, 3);

	if (!(bits & (CO_COROUTINE | CO_ASYNC_GENERATOR | CO_GENERATOR)))
		return 0;
	PyErr_SetString(
	    PyExc_TypeError,
	    bits & (CO_GENERATOR | CO_ASYNC_GENERATOR)
		? "a call of a generator function runs nothing of it: measure a "
		  "function that goes through it"
		: "a call of a coroutine function runs nothing of it: measure a function "
		  "that runs it, such as lambda: asyncio.run(f())");
	return -1;
}

static PyObject *qualified_name(PyObject *callable)
{
	PyObject *module = PyObject_GetAttrString(callable, "__module__");
	PyObject *name, *text, *bytes;

	PyErr_Clear();
	name = PyObject_GetAttrString(callable, "__qualname__");
	PyErr_Clear();
	if (!name) { /* a callable object: the name of its type */
		PyObject *type = (PyObject *)Py_TYPE(callable);

		Py_XSETREF(module, PyObject_GetAttrString(type, "__module__"));
		name = module ? PyObject_GetAttrString(type, "__qualname__") : NULL;
	}
	if (!name) {
		Py_XDECREF(module);
		return NULL;
	}
	text = module && PyUnicode_Check(module) ? PyUnicode_FromFormat("%U.%S", module, name)
						 : PyObject_Str(name);
	Py_XDECREF(module);
	Py_DECREF(name);
	bytes = text ? PyUnicode_AsEncodedString(text, "utf-8", "surrogateescape") : NULL;
	Py_XDECREF(text);
	return bytes;
}

/* Returns "lambda (file.py:12)", because all lambdas have the same name. NULL without an exception:
 * not a lambda. */
static PyObject *lambda_name(PyObject *callable)
{
	PyCodeObject *code;
	PyObject *name, *end, *text, *file;
	const char *path, *slash;
	Py_ssize_t is;

	if (!PyFunction_Check(callable))
		return NULL;
	name = PyObject_GetAttrString(callable, "__qualname__");
	end = PyUnicode_FromString("<lambda>");
	is = name && end ? PyUnicode_Tailmatch(name, end, 0, PY_SSIZE_T_MAX, 1) : -1;
	Py_XDECREF(name);
	Py_XDECREF(end);
	if (is != 1)
		return NULL;
	code = (PyCodeObject *)PyFunction_GET_CODE(callable);
	file = PyUnicode_AsEncodedString(code->co_filename, "utf-8", "surrogateescape");
	if (!file)
		return NULL;
	path = PyBytes_AS_STRING(file);
	slash = strrchr(path, '/');
	text = PyBytes_FromFormat("lambda (%s:%d)", slash ? slash + 1 : path, code->co_firstlineno);
	Py_DECREF(file);
	return text;
}

PyObject *ext_function_name(PyObject *callable)
{
	PyObject *lambda = lambda_name(callable);

	return lambda || PyErr_Occurred() ? lambda : qualified_name(callable);
}
