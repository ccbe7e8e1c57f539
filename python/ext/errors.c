/* errors.c - deepclock.Error and its subclasses, one exception for each status.
 *
 * Each has a builtin exception as its second base, which is what a Python program expects there: a
 * missing tag or file is an AbsentError, and so a KeyError and a FileNotFoundError.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "ext.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct kind {
	dck_status status;
	const char *name, *doc;
	PyObject **bases[2];
} kinds[] = {
    {DCK_E_NOMEM, "NoMemoryError", "There is not enough memory.", {&PyExc_MemoryError}},
    {DCK_E_ARG, "ArgumentError", "An argument that cannot be.", {&PyExc_ValueError}},
    {DCK_E_UNSUP,
     "UnsupportedError",
     "Not possible with this model, engine or machine.",
     {&PyExc_NotImplementedError}},
    {DCK_E_ABSENT,
     "AbsentError",
     "A file, a metric or a library that does not exist.",
     {&PyExc_KeyError, &PyExc_FileNotFoundError}},
    {DCK_E_IO, "IoError", "The system could not read or write.", {&PyExc_OSError}},
    {DCK_E_FORMAT, "FormatError", "A file with invalid content.", {&PyExc_ValueError}},
    {DCK_E_VERSION,
     "VersionError",
     "Made by another version, which this one cannot read.",
     {&PyExc_ValueError}},
    {DCK_E_ENGINE,
     "EngineError",
     "The engine or the program that it ran failed.",
     {&PyExc_RuntimeError}},
    {DCK_E_DEVICE, "DeviceError", "The device failed.", {&PyExc_RuntimeError}},
    {DCK_E_LIMIT, "LimitError", "More than the limit allows.", {&PyExc_RuntimeError}},
    {DCK_E_CANCEL, "CancelError", "Ended before there was anything to report.", {NULL}},
};
_Static_assert(sizeof kinds / sizeof kinds[0] == EXT_STATUSES - 1, "a row for each status");

/* Overrides KeyError and OSError, which would print something other than the message. */
static PyObject *error_str(PyObject *self)
{
	return ((PyTypeObject *)PyExc_Exception)->tp_str(self);
}

/* An OSError has these outside its __dict__, and pickles them only if it was made with them. */
static PyObject *error_reduce(PyObject *self, PyObject *none)
{
	static const char *const outside[] = {"errno", "filename"};
	PyObject *args = PyObject_GetAttrString(self, "args");
	PyObject *own = args ? PyObject_GetAttrString(self, "__dict__") : NULL;
	PyObject *all = own ? PyDict_Copy(own) : NULL;

	(void)none;
	for (size_t i = 0; all && i < sizeof outside / sizeof outside[0]; i++) {
		PyObject *value = PyObject_GetAttrString(self, outside[i]);

		PyErr_Clear(); /* of an error that is not an OSError */
		if (value && value != Py_None && PyDict_SetItemString(all, outside[i], value) < 0)
			Py_CLEAR(all);
		Py_XDECREF(value);
	}
	PyObject *ret = all ? PyTuple_Pack(3, Py_TYPE(self), args, all) : NULL;
	Py_XDECREF(all);
	Py_XDECREF(own);
	Py_XDECREF(args);
	return ret;
}

PyDoc_STRVAR(
    error_doc,
    "Every failure of deepclock; the text states what failed, where and what to do.\n\ncode: the status of the C library, a negative number; status: its name, \"E_ABSENT\"; native_code: the engine's or the system's error number, or 0; record: the Record of which a file could not be written, or None.");

static PyMethodDef error_methods[] = {
    {"__reduce__", error_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot error_slots[] = {
    {Py_tp_str, error_str},
    {Py_tp_methods, error_methods},
    {Py_tp_doc, (void *)error_doc},
    {0, NULL},
};
static PyType_Spec error_spec = {
    .name = "deepclock.Error",
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = error_slots,
};

/* Sets the class attributes; a raised exception has its own values. */
static int error_attributes(PyObject *o, dck_status status, int64_t native)
{
	const struct attribute {
		const char *name;
		PyObject *value;
	} all[] = {
	    {"code", PyLong_FromLong(status)},
	    {"status", PyUnicode_FromString(dck_status_name(status))},
	    {"native_code", PyLong_FromLongLong(native)},
	};
	int failed = 0;

	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
		failed |= !all[i].value || PyObject_SetAttrString(o, all[i].name, all[i].value) < 0;
		Py_XDECREF(all[i].value);
	}
	return failed ? -1 : 0;
}

static PyObject *kind_new(PyObject *error, const struct kind *k)
{
	PyObject *bases = PyTuple_Pack(!k->bases[0]   ? 1
				       : !k->bases[1] ? 2
						      : 3,
				       error, k->bases[0] ? *k->bases[0] : NULL,
				       k->bases[1] ? *k->bases[1] : NULL);
	char name[64];
	PyObject *type;

	if (!bases)
		return NULL;
	snprintf(name, sizeof name, "deepclock.%s", k->name);
	type = PyErr_NewExceptionWithDoc(name, k->doc, bases, NULL);
	Py_DECREF(bases);
	if (type && error_attributes(type, k->status, 0) < 0)
		Py_CLEAR(type);
	return type;
}

static int errors_add(PyObject *m, ext_state *s)
{
	PyObject *bases = PyTuple_Pack(1, PyExc_Exception);

	if (!bases)
		return -1;
	s->errors[0] = PyType_FromSpecWithBases(&error_spec, bases);
	Py_DECREF(bases);
	if (!s->errors[0] || error_attributes(s->errors[0], DCK_OK, 0) < 0 ||
	    PyObject_SetAttrString(s->errors[0], "record", Py_None) < 0 ||
	    PyModule_AddType(m, (PyTypeObject *)s->errors[0]) < 0)
		return -1;
	for (size_t i = 0; i < EXT_STATUSES - 1; i++) {
		PyObject *type = kind_new(s->errors[0], &kinds[i]);

		s->errors[-kinds[i].status] = type;
		if (!type || PyModule_AddType(m, (PyTypeObject *)type) < 0)
			return -1;
	}
	return 0;
}

/* Sets the attribute errno of an OSError. */
static int errno_set(PyObject *e, const dck_err *err)
{
	const int64_t n = err->native_code > 0	      ? err->native_code
			  : err->code == DCK_E_ABSENT ? ENOENT
						      : 0;
	PyObject *number;
	int status;

	if (n == 0 || (err->code != DCK_E_ABSENT && err->code != DCK_E_IO))
		return 0;
	number = PyLong_FromLongLong(n);
	status = number ? PyObject_SetAttrString(e, "errno", number) : -1;
	Py_XDECREF(number);
	return status;
}

static int filename_set(PyObject *e, const dck_err *err, const char *path)
{
	PyObject *name;
	int status;

	if (!path || (err->code != DCK_E_ABSENT && err->code != DCK_E_IO))
		return 0;
	name = ext_text(path);
	status = name ? PyObject_SetAttrString(e, "filename", name) : -1;
	Py_XDECREF(name);
	return status;
}

PyObject *ext_raise(ext_state *s, const dck_err *err)
{
	return ext_raise_of(s, err, NULL);
}

PyObject *ext_raise_of(ext_state *s, const dck_err *err, const char *path)
{
	const int i = -(int)err->code;
	PyObject *type = s->errors[i > 0 && i < EXT_STATUSES ? i : 0];
	PyObject *text = ext_text(err->msg);
	PyObject *e = text ? PyObject_CallOneArg(type, text) : NULL;

	Py_XDECREF(text);
	if (e && error_attributes(e, err->code, err->native_code) == 0 && errno_set(e, err) == 0 &&
	    filename_set(e, err, path) == 0)
		PyErr_SetObject(type, e);
	Py_XDECREF(e);
	return NULL;
}

bool ext_names(const dck_err *err, const char *path)
{
	const size_t n = path ? strlen(path) : 0;

	for (const char *at = err->msg; n > 0 && (at = strstr(at, path)); at++)
		if (at > err->msg && at[-1] == '\'' && at[n] == '\'')
			return true;
	return false;
}

PyObject *ext_raise_named(ext_state *s, const dck_err *err, const char *path)
{
	return ext_raise_of(s, err, ext_names(err, path) ? path : NULL);
}

PyObject *ext_raised_with(PyObject *record)
{
	PyObject *type, *value, *trace;

	PyErr_Fetch(&type, &value, &trace);
	PyErr_NormalizeException(&type, &value, &trace);
	if (value && PyObject_SetAttrString(value, "record", record) < 0)
		PyErr_Clear();
	PyErr_Restore(type, value, trace);
	Py_DECREF(record);
	return NULL;
}

int ext_double(PyObject *o, void *ret)
{
	const double value = PyFloat_AsDouble(o);

	if (value == -1 && PyErr_Occurred()) {
		if (PyErr_ExceptionMatches(PyExc_OverflowError))
			PyErr_SetString(PyExc_ValueError, "a number from -1.8e308 to 1.8e308 is "
							  "needed, the range of a float");
		return 0;
	}
	*(double *)ret = value;
	return 1;
}

PyObject *ext_raise_argument(ext_state *s, const char *fmt, ...)
{
	dck_err err = {.code = DCK_E_ARG};
	va_list args;

	va_start(args, fmt);
	vsnprintf(err.msg, sizeof err.msg, fmt, args);
	va_end(args);
	return ext_raise(s, &err);
}

const ext_part ext_errors = {.add = errors_add};
