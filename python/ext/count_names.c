/* SPDX-License-Identifier: Apache-2.0 */
#include "count_names.h"
#include <fcntl.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

PyObject *count_name_of_c(PyMethodDef *def, PyObject *of, PyObject *module)
{
	PyObject *name = of ? PyUnicode_FromString(def->ml_name) : NULL, *text = NULL;

	if (of && name) {
		PyObject *found = _PyType_Lookup(Py_TYPE(of), name);

		Py_XINCREF(found);
		text = found ? PyObject_Repr(found) : NULL;
		Py_XDECREF(found);
	}
	Py_XDECREF(name);
	PyErr_Clear();
	if (text)
		return text;
	if (of)
		return module && PyUnicode_Check(module)
			   ? PyUnicode_FromFormat("<built-in method %S.%s>", module, def->ml_name)
			   : PyUnicode_FromFormat("<built-in method %s>", def->ml_name);
	PyObject *own = !module			  ? NULL
			: PyModule_Check(module)  ? PyModule_GetNameObject(module)
			: PyUnicode_Check(module) ? (Py_INCREF(module), module)
						  : NULL;
	PyErr_Clear();
	text = own && PyUnicode_CompareWithASCIIString(own, "builtins") != 0
		   ? PyUnicode_FromFormat("<%U.%s>", own, def->ml_name)
		   : PyUnicode_FromFormat("<%s>", def->ml_name);
	Py_XDECREF(own);
	return text;
}

/* No descriptor stays open: a program may close all, and open others by these numbers. */
static bool names_write(const char *path, int flags, const struct iovec *parts, int n)
{
	const int to = open(path, flags | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
	const bool done = to >= 0 && writev(to, parts, n) >= 0;

	if (to >= 0)
		close(to);
	return done;
}

bool count_name_file(const char *path)
{
	return names_write(path, O_CREAT | O_EXCL, NULL, 0);
}

void count_name_log(const char *path, uint64_t number, PyObject *what)
{
	char head[64];
	const char *fields[4] = {NULL, "", "", ""};
	struct iovec parts[4];

	if (PyUnicode_Check(what)) {
		snprintf(head, sizeof head, "%llu%c0", (unsigned long long)number, 0);
		fields[1] = PyUnicode_AsUTF8(what);
	} else {
		const PyCodeObject *code = (PyCodeObject *)what;

		snprintf(head, sizeof head, "%llu%c%d", (unsigned long long)number, 0,
			 code->co_firstlineno);
		fields[1] = PyUnicode_AsUTF8(code->co_name);
#if PY_VERSION_HEX >= 0x030b0000
		fields[2] = PyUnicode_AsUTF8(code->co_qualname);
#else
		fields[2] = fields[1];
#endif
		fields[3] = PyUnicode_AsUTF8(code->co_filename);
	}
	const size_t first = strlen(head) + 1;
	parts[0] = (struct iovec){head, first + strlen(head + first) + 1};
	for (int i = 1; i < 4; i++) {
		const char *text = fields[i] ? fields[i] : "?"; /* not UTF-8 */

		parts[i] = (struct iovec){(char *)(uintptr_t)text, strlen(text) + 1};
	}
	names_write(path, 0, parts, 4); /* a function whose write fails has no name */
}
