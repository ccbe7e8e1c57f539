/* text.c - formats quantities as the library's text reports do.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "ext.h"

typedef const char *writer(double value, char *buf, size_t size);

static PyObject *written(PyObject *number, writer *write)
{
	char buf[64];
	double value;

	if (!ext_double(number, &value))
		return NULL;
	return ext_text(write(value, buf, sizeof buf));
}

static const char *si_write(double value, char *buf, size_t size)
{
	return dck_text_si(value, "", buf, size);
}

static PyObject *time_text(PyObject *m, PyObject *ns)
{
	(void)m;
	return written(ns, dck_text_time);
}

static PyObject *bytes_text(PyObject *m, PyObject *bytes)
{
	(void)m;
	return written(bytes, dck_text_bytes);
}

static PyObject *si_text(PyObject *m, PyObject *value)
{
	(void)m;
	return written(value, si_write);
}

static PyMethodDef methods[] = {
    {"time_text", time_text, METH_O,
     "time_text($module, ns, /)\n--\n\nNanoseconds for people: '17.8 ms'."},
    {"bytes_text", bytes_text, METH_O,
     "bytes_text($module, bytes, /)\n--\n\nBytes for people: '4.23 MiB'."},
    {"si_text", si_text, METH_O,
     "si_text($module, value, /)\n--\n\nThree digits and a prefix: '1.81 G'."},
    {NULL, NULL, 0, NULL},
};

const ext_part ext_text_part = {.methods = methods};
