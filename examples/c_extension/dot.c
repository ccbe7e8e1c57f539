/* dot.c - a C extension for Python with one function, the dot product of two buffers of doubles.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

static PyObject *dot(PyObject *module, PyObject *args)
{
	Py_buffer a, b;
	double sum = 0;
	int fits;

	(void)module;
	if (!PyArg_ParseTuple(args, "y*y*:dot", &a, &b))
		return NULL;
	fits = a.len == b.len && a.len % (Py_ssize_t)sizeof(double) == 0;
	for (Py_ssize_t i = 0; fits && i < a.len / (Py_ssize_t)sizeof(double); i++)
		sum += ((const double *)a.buf)[i] * ((const double *)b.buf)[i];
	PyBuffer_Release(&a);
	PyBuffer_Release(&b);
	if (!fits) {
		PyErr_SetString(PyExc_ValueError,
				"dot() takes two buffers of doubles of one length");
		return NULL;
	}
	return PyFloat_FromDouble(sum);
}

static PyMethodDef methods[] = {{"dot", dot, METH_VARARGS, "dot(a, b): their dot product."},
				{NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "dot_extension", .m_size = 0,
				    .m_methods = methods};

PyMODINIT_FUNC PyInit_dot_extension(void)
{
	return PyModule_Create(&module);
}
