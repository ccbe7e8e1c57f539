/* roof.c - deepclock.roof(): roofline bound of an operator on the machine of a record.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "ext.h"
#include <math.h>

static PyObject *number(double x)
{
	if (isnan(x))
		Py_RETURN_NONE;
	return PyFloat_FromDouble(x);
}

static PyObject *roof(PyObject *m, PyObject *args, PyObject *kwargs)
{
	static char *names[] = {"machine", "flops", "bytes", "dtype", "threads", NULL};
	ext_state *s = ext_state_of(m);
	PyObject *machine, *flops, *threads = Py_None;
	const char *dtype = NULL;
	const dck_record *r;
	dck_roofline limits;
	double bytes, n = NAN;
	long nthreads;
	dck_roof f;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOO&|zO:roof", names, &machine, &flops,
					 ext_double, &bytes, &dtype, &threads))
		return NULL;
	r = ext_record_get(s, machine);
	if (!r || (flops != Py_None && !ext_double(flops, &n)))
		return NULL;
	nthreads = threads == Py_None ? 0 : PyLong_AsLong(threads);
	if (PyErr_Occurred())
		return NULL;
	dck_roofline_read(r, nthreads == 1, &limits);
	dck_roof_get(&limits, dtype, n, bytes, &f);
	return EXT_TUPLE(s->roof, number(f.peak), number(f.bandwidth), number(f.least_ns),
			 number(f.attainable), ext_text(f.bound), ext_text(f.level));
}

static PyStructSequence_Field fields[] = {
    {"peak", "FLOP/s of the type; None: not known, as in all of these"},
    {"bandwidth", "B/s of the smallest memory that holds the bytes"},
    {"least_ns", "the time that both allow"},
    {"attainable", "FLOP/s in that time"},
    {"bound", "what takes that time: 'compute' or 'memory'"},
    {"level", "of the bandwidth: 'L1', 'L2', 'L3' or 'DRAM'"},
    {0},
};

static PyMethodDef methods[] = {
    {"roof", (PyCFunction)(void (*)(void))roof, METH_VARARGS | METH_KEYWORDS,
     "roof($module, machine, flops, bytes, dtype='float32', threads=None)\n--\n\nThe roofline of an operator with this number of FLOPs (None: not known) and bytes moved (Williams, Waterman, Patterson, 2009).\n\nmachine: the record of machine(). dtype: of the elements; a type without a peak has that of float32, but none in a record of a device. threads: 1, or None for all of the record's.\n\nReturns a Roof."},
    {NULL, NULL, 0, NULL},
};

static int roof_add(PyObject *m, ext_state *s)
{
	s->roof =
	    ext_tuple_add(m, "deepclock.Roof", "How fast an operator could be: roof().", fields, 6);
	return s->roof ? 0 : -1;
}

const ext_part ext_roof = {.methods = methods, .add = roof_add};
