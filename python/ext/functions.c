/* functions.c - Python callables as what is measured.
 *
 * A run is one vectorcall and nothing else: no argument is packed, no frame is made, the result is
 * dropped at once.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "ext.h"

/* What the function raised ends the measurement, and is raised again behind it. */
static int raised(ext_function *f)
{
	const bool interrupt = PyErr_ExceptionMatches(PyExc_KeyboardInterrupt);

	ext_watch_raised(f->watch);
	return interrupt ? DCK_E_CANCEL : 1;
}

int ext_function_call(void *function)
{
	ext_function *f = function;
	PyObject *result = PyObject_Vectorcall(f->callable, f->args,
					       f->nargs | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);

	if (!result)
		return raised(f);
	Py_DECREF(result);
	return 0;
}

int ext_function_call_anywhere(void *function)
{
	const PyGILState_STATE gil = PyGILState_Ensure();
	const int status = ext_function_call(function);

	PyGILState_Release(gil);
	return status;
}

PyObject *ext_function_name(PyObject *callable)
{
	PyObject *module = PyObject_GetAttrString(callable, "__module__");
	PyObject *name, *text, *bytes;

	PyErr_Clear();
	name = PyObject_GetAttrString(callable, "__qualname__");
	PyErr_Clear();
	if (!name) /* an object that can be called */
		name = PyUnicode_FromString(Py_TYPE(callable)->tp_name);
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
