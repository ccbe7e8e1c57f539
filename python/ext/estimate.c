/* estimate.c - deepclock.estimate(): a statistic of given samples with its interval.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "ext.h"

/* Reads any iterable of numbers. Free with PyMem_Free(); NULL: an exception is set. */
static double *values_read(PyObject *o, size_t *ret_n)
{
	PyObject *all = PySequence_Tuple(o); /* which __float__ of an item cannot change */
	double *values = NULL;
	Py_ssize_t n;

	if (!all)
		return NULL;
	n = PyTuple_GET_SIZE(all);
	values = PyMem_Calloc(n ? (size_t)n : 1, sizeof *values);
	if (!values)
		PyErr_NoMemory();
	for (Py_ssize_t i = 0; values && i < n; i++) {
		if (!ext_double(PyTuple_GET_ITEM(all, i), &values[i])) {
			PyMem_Free(values);
			values = NULL;
		}
	}
	Py_DECREF(all);
	*ret_n = (size_t)n;
	return values;
}

static PyObject *estimate(PyObject *m, PyObject *args, PyObject *kwargs)
{
	static char *names[] = {"values", "statistic", "level", NULL};
	ext_state *s = ext_state_of(m);
	const char *statistic = NULL;
	double level = 0.95, *values;
	PyObject *o, *result;
	dck_estimate e;
	dck_err err;
	size_t n;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|zO&:estimate", names, &o, &statistic,
					 ext_double, &level))
		return NULL;
	values = values_read(o, &n);
	if (!values)
		return NULL;
	const dck_status status = dck_estimate_samples(values, n, statistic, level, &e, &err);
	PyMem_Free(values);
	if (status != DCK_OK)
		return ext_raise(s, &err);
	result = PyStructSequence_New(s->estimate);
	if (!result)
		return NULL;
	const double numbers[] = {e.value, e.lo, e.hi, e.level};
	for (Py_ssize_t i = 0; i < 4; i++) {
		PyObject *number = Py_None;

		if (i == 0 || e.has_interval)
			number = PyFloat_FromDouble(numbers[i]);
		else
			Py_INCREF(number);
		PyStructSequence_SetItem(result, i, number);
	}
	PyStructSequence_SetItem(result, 4, PyUnicode_FromString(e.how));
	PyStructSequence_SetItem(result, 5, Py_BuildValue("z", e.narrow));
	if (PyErr_Occurred())
		Py_CLEAR(result);
	return result;
}

static PyStructSequence_Field fields[] = {
    {"value", NULL},
    {"lo", "None: no interval"},
    {"hi", NULL},
    {"level", NULL},
    {"how", "the estimator and the kind of interval; or why it is absent"},
    {"narrow", "why the interval covers less than its level; None: no known undercoverage"},
    {0},
};

static PyMethodDef methods[] = {
    {"estimate", (PyCFunction)(void (*)(void))estimate, METH_VARARGS | METH_KEYWORDS,
     "estimate($module, values, statistic='median', level=0.95)\n--\n\n"
     "A statistic of samples that the caller took, in their order, with the interval that bench "
     "gives: median, mean, min, max or a percentile as 'p99'.\n\nArgumentError; AbsentError: too "
     "few values."},
    {NULL, NULL, 0, NULL},
};

static int estimate_add(PyObject *m, ext_state *s)
{
	s->estimate = ext_tuple_add(m, "deepclock.Estimate",
				    "A statistic of samples, with its interval.", fields, 5);
	return s->estimate ? 0 : -1;
}

const ext_part ext_estimate = {.methods = methods, .add = estimate_add};
