/* option_rows.c - the options of bench as rows, for who reads them in Python from one line of text:
 * the magics of IPython.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "ext.h"

/* (name, letter or "", whether a value follows) */
static int row_add(PyObject *list, const dck_opt *row)
{
	PyObject *t =
	    Py_BuildValue("(ss#O)", row->name, &row->letter, (Py_ssize_t)(row->letter != 0),
			  row->kind == DCK_OPT_FLAG ? Py_False : Py_True);
	const int failed = t ? PyList_Append(list, t) : -1;

	Py_XDECREF(t);
	return failed;
}

static PyObject *option_rows(PyObject *m, PyObject *none)
{
	const dck_opt *const tables[] = {dck_plan_options, dck_bench_options, ext_common_options};
	PyObject *list = PyList_New(0);

	(void)m;
	(void)none;
	for (size_t i = 0; list && i < sizeof tables / sizeof tables[0]; i++)
		for (const dck_opt *row = tables[i]; list && row->name; row++)
			if (row_add(list, row) < 0)
				Py_CLEAR(list);
	return list;
}

static PyMethodDef methods[] = {
    {"_option_rows", option_rows, METH_NOARGS,
     "_option_rows($module, /)\n--\n\nName, letter, whether a value follows."},
    {NULL, NULL, 0, NULL},
};

const ext_part ext_option_rows = {.methods = methods};
