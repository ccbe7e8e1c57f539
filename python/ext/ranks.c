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

static PyObject *ranks_end(PyObject *m, PyObject *capsule)
{
	dck_ranks *r = PyCapsule_GetPointer(capsule, RANKS_CAPSULE);
	dck_record *record = NULL;
	dck_err err = {0};
	dck_status status;

	if (!r || PyCapsule_SetName(capsule, RANKS_CAPSULE_ENDED))
		return NULL;
	EXT_WITHOUT_GIL(status = dck_ranks_end(r, &record, &err));
	return ext_result(ext_state_of(m), status, record, &err);
}

static PyMethodDef methods[] = {
    {"_ranks_begin", (PyCFunction)(void (*)(void))ranks_begin, METH_VARARGS | METH_KEYWORDS,
     "_ranks_begin($module, /, **options)\n--\n\nThis process is a rank of a job from now on."},
    {"_ranks_end", ranks_end, METH_O,
     "_ranks_end($module, begun, /)\n--\n\nEnds it: the job's Record at rank 0, else None."},
    {NULL, NULL, 0, NULL},
};

const ext_part ext_ranks = {.methods = methods};
