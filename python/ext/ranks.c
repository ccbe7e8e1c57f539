/* ranks.c - this process as one rank of a job, for deepclock.ranks (tracing.py).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "ext.h"
#include <deepclock/ranks.h>

#define RANKS_CAPSULE	    "deepclock.ranks"
#define RANKS_CAPSULE_ENDED "deepclock.ranks ended"

static PyObject *ranks_begin(PyObject *m, PyObject *args, PyObject *kwargs)
{
	ext_state *s = ext_state_of(m);
	dck_ranks_config config;
	const ext_group groups[] = {{dck_ranks_options, &config}};
	ext_said said = {.n = 0};
	dck_ranks *r = NULL;
	dck_err err = {0};
	dck_status status;

	if (!PyArg_ParseTuple(args, ":ranks"))
		return NULL;
	dck_ranks_config_init(&config);
	int failed = ext_options_read(s, "ranks", kwargs, groups, 1, NULL, &said);
	if (!failed) {
		EXT_WITHOUT_GIL(status = dck_ranks_begin(&config, &r, &err));
		if (status != DCK_OK)
			ext_raise(s, &err);
		failed = status != DCK_OK;
	}
	ext_texts_done(&said.texts);
	/* Without a destructor: to end it may wait for other ranks. */
	return failed ? NULL : PyCapsule_New(r, RANKS_CAPSULE, NULL);
}

/* _ranks_end(begun, list, interrupted): appends the record, also where Ctrl-C is raised, which came
 * while it waited for the other ranks. */
static PyObject *ranks_end(PyObject *m, PyObject *args)
{
	ext_state *s = ext_state_of(m);
	PyObject *capsule, *list;
	dck_record *record = NULL;
	dck_err err = {0};
	dck_status status;
	int interrupted;
	ext_watch w;

	if (!PyArg_ParseTuple(args, "OO!p:_ranks_end", &capsule, &PyList_Type, &list, &interrupted))
		return NULL;
	dck_ranks *r = PyCapsule_GetPointer(capsule, RANKS_CAPSULE);
	if (!r || PyCapsule_SetName(capsule, RANKS_CAPSULE_ENDED))
		return NULL;
	ext_watch_init(&w, s, NULL);
	w.stop = interrupted;
	EXT_WITHOUT_GIL(status = dck_ranks_end_watched(r, &w.observer, &record, &err));
	PyObject *job = record ? ext_record_new(s, record) : NULL;
	const bool failed = record && (!job || PyList_Append(list, job) < 0);
	Py_XDECREF(job);
	if (w.type) {
		PyErr_Restore(w.type, w.value, w.trace);
		return NULL;
	}
	return failed ? NULL : ext_result(s, status, NULL, &err);
}

static PyMethodDef methods[] = {
    {"_ranks_begin", (PyCFunction)(void (*)(void))ranks_begin, METH_VARARGS | METH_KEYWORDS,
     "_ranks_begin($module, /, **options)\n--\n\nThis process is a rank of a job from now on."},
    {"_ranks_end", ranks_end, METH_VARARGS,
     "_ranks_end($module, begun, list, interrupted, /)\n--\n\nEnds it, and appends the job's Record at rank 0."},
    {NULL, NULL, 0, NULL},
};

const ext_part ext_ranks = {.methods = methods};
