/* option_rows.c - the options of bench, ranks, sample or trace as rows, for option parsers in
 * Python: the magics of IPython, python -m deepclock.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "ext.h"
#include <deepclock/ranks.h>
#include <deepclock/sample.h>
#include <deepclock/trace.h>
#include <string.h>

/* A row: (name, letter or "", whether a value follows). */
static PyObject *option_rows(PyObject *m, PyObject *args)
{
	static const struct {
		const char *command;
		const dck_opt *tables[4];
	} all[] = {
	    {"bench", {dck_plan_options, dck_bench_options, ext_common_options}},
	    {"ranks", {dck_ranks_options, ext_common_options}},
	    {"sample", {dck_sample_options, ext_common_options}},
	    {"trace", {dck_trace_options, ext_common_options}},
	};
	const char *command = "bench";
	PyObject *list = NULL;

	(void)m;
	if (PyArg_ParseTuple(args, "|s:_option_rows", &command))
		list = PyList_New(0);
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		for (size_t j = 0; all[i].tables[j] && !strcmp(command, all[i].command); j++)
			for (const dck_opt *row = all[i].tables[j]; list && row->name; row++)
				ext_list_add(
				    &list,
				    Py_BuildValue("(ss#O)", row->name, &row->letter,
						  (Py_ssize_t)(row->letter != 0),
						  row->kind == DCK_OPT_FLAG ? Py_False : Py_True));
	return list;
}

static PyMethodDef methods[] = {
    {"_option_rows", option_rows, METH_VARARGS,
     "_option_rows($module, command='bench', /)\n--\n\nName, letter, whether a value follows."},
    {NULL, NULL, 0, NULL},
};

const ext_part ext_option_rows = {.methods = methods};
