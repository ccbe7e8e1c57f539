/* batches.c - a Python object that runs batches of any size, as dck_batches.
 *
 * Its methods are prepare(batch, threads, memory_bytes), which returns a tuple of the callable that
 * is measured and its arguments; finish(error), with the exception that ended the trial or None,
 * which returns (peak in bytes, "memory" or "error" or None, why); flops(batch), a float.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "ext.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static ext_subject *subject_of(ext_call *c)
{
	return &c->subjects[0];
}

static dck_status batches_fail(dck_status code, const char *why, dck_err *err)
{
	*err = (dck_err){.code = code};
	snprintf(err->msg, sizeof err->msg, "%s", why ? why : "no reason is known");
	return code;
}

static dck_status batches_prepare(void *self, uint64_t batch, uint64_t threads,
				  uint64_t memory_bytes, dck_err *err)
{
	ext_call *c = self;
	ext_function *f = &subject_of(c)->function;
	PyObject *call =
	    PyObject_CallMethod(c->batched, "prepare", "KKK", (unsigned long long)batch,
				(unsigned long long)threads, (unsigned long long)memory_bytes);

	if (call && (!PyTuple_Check(call) || PyTuple_GET_SIZE(call) == 0)) {
		PyErr_SetString(PyExc_TypeError, "prepare() returns a callable and its arguments");
		Py_CLEAR(call);
	}
	if (!call) {
		f->raised = true;
		ext_watch_raised(&c->watch);
		return batches_fail(DCK_E_ENGINE, NULL, err);
	}
	Py_XSETREF(c->prepared, call);
	f->callable = PyTuple_GET_ITEM(call, 0);
	f->args = &PyTuple_GET_ITEM(call, 1);
	f->nargs = (size_t)PyTuple_GET_SIZE(call) - 1;
	return DCK_OK;
}

/* Takes the trial's exception from the watch; NULL: none. An exception that is not an Exception
 * (Ctrl-C), or that the trial did not raise, stays in the watch and ends the search. */
static PyObject *error_take(ext_call *c)
{
	ext_watch *w = &c->watch;
	ext_function *f = &subject_of(c)->function;
	PyObject *type = w->type, *value = w->value, *trace = w->trace;

	if (!f->raised || !PyErr_GivenExceptionMatches(type, PyExc_Exception))
		return NULL;
	w->type = w->value = w->trace = NULL;
	w->stop = f->raised = false;
	PyErr_NormalizeException(&type, &value, &trace);
	if (trace)
		PyException_SetTraceback(value, trace);
	Py_XDECREF(type);
	Py_XDECREF(trace);
	return value;
}

static dck_status batches_finish(void *self, uint64_t *ret_peak_bytes, dck_err *err)
{
	ext_call *c = self;
	PyObject *error = error_take(c), *result;
	const char *kind = NULL, *why = NULL;
	unsigned long long peak = 0;
	dck_status status = DCK_OK;

	Py_CLEAR(c->prepared);
	result = PyObject_CallMethod(c->batched, "finish", "O", error ? error : Py_None);
	if (!result || !PyArg_ParseTuple(result, "Kzz:finish", &peak, &kind, &why))
		ext_watch_raised(&c->watch);
	*ret_peak_bytes = peak;
	if (c->watch.type)
		status = batches_fail(DCK_E_CANCEL, "interrupted", err);
	else if (kind)
		status = batches_fail(strcmp(kind, "memory") == 0 ? DCK_E_NOMEM : DCK_E_ENGINE, why,
				      err);
	Py_XSETREF(c->failure, error);
	Py_XDECREF(result);
	return status;
}

static double batches_flops(void *self, uint64_t batch)
{
	ext_call *c = self;
	PyObject *o = PyObject_CallMethod(c->batched, "flops", "K", (unsigned long long)batch);
	double flops = NAN;
	const bool read = o && ext_double(o, &flops);

	Py_XDECREF(o);
	if (read)
		return flops;
	ext_watch_raised(&c->watch);
	return NAN;
}

int ext_takes_batches(ext_call *c, PyObject *args)
{
	ext_subject *s = subject_of(c);

	if (!PyArg_ParseTuple(args, "O:_throughput", &c->batched))
		return -1;
	c->n = 1;
	c->functions = true;
	s->function = (ext_function){.watch = &c->watch};
	s->of = c->subject;
	s->of.kind = DCK_SUBJECT_FUNCTION;
	s->of.function = ext_function_call;
	s->of.arg = &s->function;
	c->batches = (dck_batches){.self = c,
				   .prepare = batches_prepare,
				   .finish = batches_finish,
				   .flops = batches_flops};
	c->throughput.batches = &c->batches;
	PyObject *memory = PyObject_GetAttrString(c->batched, "memory_bytes");

	c->batches.memory_bytes = memory ? PyLong_AsUnsignedLongLong(memory) : 0;
	Py_XDECREF(memory);
	return PyErr_Occurred() ? -1 : 0;
}
