/* lap.c - laps in Python, for deepclock.lap (laps.py).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "ext.h"
#include <deepclock/lap.h>

typedef struct lap {
	PyObject_HEAD dck_lap *at; /* NULL: ended, or out of memory */
} lap;

/* _Lap(name): starts a lap. */
static PyObject *lap_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	const char *name;
	lap *l;

	(void)kwargs;
	if (!PyArg_ParseTuple(args, "s:lap", &name))
		return NULL;
	l = (lap *)type->tp_alloc(type, 0);
	if (l)
		l->at = dck_lap_begin(name);
	return (PyObject *)l;
}

/* Moves the lap out of the object, which no longer owns it. */
static dck_lap *take(PyObject *self)
{
	return __atomic_exchange_n(&((lap *)self)->at, NULL, __ATOMIC_ACQ_REL);
}

static void lap_dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	dck_lap_end(take(self));
	type->tp_free(self);
	Py_DECREF(type);
}

static PyObject *lap_total(PyObject *self, PyObject *total)
{
	const unsigned long long n = PyLong_AsUnsignedLongLong(total);

	if (PyErr_Occurred())
		return NULL;
	dck_lap_total(((lap *)self)->at, n);
	Py_RETURN_NONE;
}

static PyObject *lap_value(PyObject *self, PyObject *args)
{
	const char *name, *unit = NULL;
	double value;

	if (!PyArg_ParseTuple(args, "sd|z:value", &name, &value, &unit))
		return NULL;
	dck_lap_value(((lap *)self)->at, name, value, unit);
	Py_RETURN_NONE;
}

static PyObject *lap_elapsed(PyObject *self, PyObject *none)
{
	(void)none;
	return PyLong_FromUnsignedLongLong(dck_lap_elapsed_ns(((lap *)self)->at));
}

/* Releases the GIL, because it may write TensorBoard's file. */
static PyObject *lap_end(PyObject *self, PyObject *none)
{
	dck_lap *l = take(self);
	dck_lap_result result;

	(void)none;
	EXT_WITHOUT_GIL(dck_lap_end_result(l, &result));
	return Py_BuildValue("(KKKs)", (unsigned long long)result.wall_ns,
			     (unsigned long long)result.cpu_ns, (unsigned long long)result.index,
			     result.line);
}

static PyMethodDef lap_methods[] = {
    {"total", lap_total, METH_O, "total($self, n, /)\n--\n\nSo many are expected."},
    {"value", lap_value, METH_VARARGS, "value($self, name, value, unit=None, /)\n--\n\nA number."},
    {"elapsed", lap_elapsed, METH_NOARGS, "elapsed($self, /)\n--\n\nNanoseconds."},
    {"end", lap_end, METH_NOARGS,
     "end($self, /)\n--\n\nEnds it: wall and CPU time in nanoseconds, which of them it was, its "
     "line."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot lap_slots[] = {
    {Py_tp_new, lap_new},
    {Py_tp_dealloc, lap_dealloc},
    {Py_tp_methods, lap_methods},
    {0, NULL},
};

static PyObject *laps_start(PyObject *m, PyObject *args)
{
	dck_laps_config config = {0};
	ext_texts texts = {0};
	PyObject *tensorboard;
	dck_err err = {0};
	dck_status status = DCK_OK;
	int live;

	if (!PyArg_ParseTuple(args, "ipO:_laps_start", &config.fd, &live, &tensorboard))
		return NULL;
	config.live = live;
	if (tensorboard != Py_None)
		config.tensorboard = ext_texts_add(&texts, tensorboard);
	if (!PyErr_Occurred())
		EXT_WITHOUT_GIL(status = dck_laps_start(&config, &err));
	ext_texts_done(&texts);
	return PyErr_Occurred() ? NULL : ext_result(ext_state_of(m), status, NULL, &err);
}

static PyObject *laps_stop(PyObject *m, PyObject *none)
{
	dck_err err = {0};
	dck_status status;

	(void)none;
	EXT_WITHOUT_GIL(status = dck_laps_stop(&err));
	return ext_result(ext_state_of(m), status, NULL, &err);
}

static PyObject *laps_open_line(PyObject *m, PyObject *depth)
{
	const unsigned long n = PyLong_AsUnsignedLong(depth);
	char line[DCK_LAP_LINE_SIZE];

	(void)m;
	if (PyErr_Occurred())
		return NULL;
	return ext_text(dck_laps_open_line((unsigned)n, line, sizeof line));
}

static PyObject *laps_record(PyObject *m, PyObject *none)
{
	dck_record *r = NULL;
	dck_err err = {0};
	dck_status status;

	(void)none;
	EXT_WITHOUT_GIL(status = dck_laps_record(&r, &err));
	return ext_result(ext_state_of(m), status, r, &err);
}

static PyObject *laps_reset(PyObject *m, PyObject *none)
{
	(void)m;
	(void)none;
	dck_laps_reset();
	Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"laps_record", laps_record, METH_NOARGS,
     "laps_record($module, /)\n--\n\n"
     "The Record of all laps that have ended: for each name the series laps/NAME/wall, .../cpu and\n"
     "one for each value, a row of table \"laps\", metrics lap/.../NAME with intervals. Times in "
     "ns."},
    {"laps_reset", laps_reset, METH_NOARGS,
     "laps_reset($module, /)\n--\n\nForgets the laps that have ended."},
    {"_laps_start", laps_start, METH_VARARGS,
     "_laps_start($module, fd, live, tensorboard, /)\n--\n\nStarts the automatic output of laps."},
    {"_laps_stop", laps_stop, METH_NOARGS,
     "_laps_stop($module, /)\n--\n\nEnds the automatic output of laps."},
    {"_laps_open_line", laps_open_line, METH_O,
     "_laps_open_line($module, depth, /)\n--\n\nWhat is open, as the live line shows it."},
    {NULL, NULL, 0, NULL},
};

static int lap_add(PyObject *m, ext_state *s)
{
	PyTypeObject *type = ext_type_add(m, "deepclock._Lap", sizeof(lap), lap_slots);

	(void)s;
	Py_XDECREF(type);
	return type ? 0 : -1;
}

const ext_part ext_lap = {.methods = methods, .add = lap_add};
