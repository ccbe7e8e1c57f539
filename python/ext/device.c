/* device.c - Python callables whose work continues on a device after their call.
 *
 * A run is a call and a wait by a barrier: 1 is the device's own synchronize(), 2 synchronizes and
 * copies a number of each tensor on the device that the call returned, which is certain to wait
 * (all of a large tensor would take longer than the work, and vary more). Barrier 2 exists once a
 * call has returned such a tensor. deepclock._accelerator.Device has the calls of the
 * framework. The result of a run stays alive until the next one, because the copy needs it.
 *
 * Threads of bench_load() share a function: only the run itself is called by several of them, and
 * its result stays local.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "ext.h"
#include <string.h>

enum { BARRIER_CALL, BARRIER_SYNCHRONIZE, BARRIER_COPY };

static int failed(ext_function *f)
{
	const int status = ext_function_raised(f);

	Py_CLEAR(f->result);
	return status;
}

static PyObject *call(const ext_function *f)
{
	return PyObject_Vectorcall(f->callable, f->args, f->nargs, NULL);
}

/* Copies the tensors of a result, or the given number of elements of each (0: all): *ret_bytes of
 * the tensors. 0, or -1 with an exception. */
static int result_copy(const ext_function *f, PyObject *result, int numbers, uint64_t *ret_bytes)
{
	PyObject *bytes =
	    result ? PyObject_CallMethod(f->device, "copy", "Oi", result, numbers) : NULL;
	const unsigned long long n = bytes ? PyLong_AsUnsignedLongLong(bytes) : 0;

	Py_XDECREF(bytes);
	*ret_bytes = n;
	return PyErr_Occurred() ? -1 : 0;
}

/* Waits for the run that returned `result`. 0, or -1 with an exception. */
static int barrier_wait(ext_function *f, unsigned barrier, PyObject *result)
{
	PyObject *done;
	uint64_t bytes;

	if (barrier == BARRIER_CALL)
		return 0;
	done = PyObject_CallNoArgs(f->synchronize);
	Py_XDECREF(done);
	if (!done || barrier == BARRIER_SYNCHRONIZE)
		return done ? 0 : -1;
	if (result_copy(f, result, 1, &bytes) < 0)
		return -1;
	f->copies |= bytes > 0;
	return 0;
}

int ext_device_run(void *function)
{
	ext_function *f = function;
	const PyGILState_STATE gil = PyGILState_Ensure();
	PyObject *result = call(f);
	int status = 0;

	if (!result || barrier_wait(f, f->barrier, result) < 0)
		status = failed(f);
	Py_XDECREF(result);
	PyGILState_Release(gil);
	return status;
}

static const char *device_barrier(void *function, unsigned index)
{
	const ext_function *f = function;

	switch (index) {
	case BARRIER_CALL:
		return "the end of the call";
	case BARRIER_SYNCHRONIZE:
		return f->waits;
	case BARRIER_COPY:
		return f->copies ? f->waits_and_copies : NULL;
	default:
		return NULL;
	}
}

static void device_barrier_choose(void *function, unsigned index)
{
	ext_function *f = function;

	f->barrier = index;
}

static int device_enqueue(void *function)
{
	ext_function *f = function;
	const PyGILState_STATE gil = PyGILState_Ensure();
	int status = 0;

	Py_CLEAR(f->result);
	f->result = call(f);
	if (!f->result)
		status = failed(f);
	PyGILState_Release(gil);
	return status;
}

static int device_wait(void *function, unsigned barrier)
{
	ext_function *f = function;
	const PyGILState_STATE gil = PyGILState_Ensure();
	const int status = barrier_wait(f, barrier, f->result) < 0 ? failed(f) : 0;

	PyGILState_Release(gil);
	return status;
}

static int device_copy(void *function, uint64_t *ret_bytes)
{
	ext_function *f = function;
	const PyGILState_STATE gil = PyGILState_Ensure();
	const int status = result_copy(f, f->result, 0, ret_bytes) < 0 ? failed(f) : 0;

	PyGILState_Release(gil);
	return status;
}

static int device_between_events(void *function, uint64_t runs, double *ret_ns)
{
	ext_function *f = function;
	const PyGILState_STATE gil = PyGILState_Ensure();
	PyObject *begin = PyObject_CallMethod(f->device, "begin", NULL);
	PyObject *ns = NULL;
	int status = begin ? 0 : failed(f);

	for (; runs > 0 && status == 0; runs--)
		status = device_enqueue(f);
	if (status == 0)
		ns = PyObject_CallMethod(f->device, "end", "O", begin);
	if (status == 0 && (!ns || !ext_double(ns, ret_ns)))
		status = failed(f);
	Py_XDECREF(ns);
	Py_XDECREF(begin);
	PyGILState_Release(gil);
	return status;
}

/* --- opening */

/* Returns an attribute as a text that lives with the call; NULL: None, or an exception is set. */
static const char *text_of(ext_call *c, PyObject *o, const char *name)
{
	PyObject *value = PyObject_GetAttrString(o, name);
	const char *text = value && value != Py_None ? ext_texts_add(&c->said.texts, value) : NULL;

	Py_XDECREF(value);
	return text;
}

static int facts_read(ext_call *c, ext_subject *s)
{
	PyObject *facts = PyObject_GetAttrString(s->function.device, "facts");
	PyObject *key, *value;
	Py_ssize_t at = 0;
	size_t n = 0;

	while (facts && n < EXT_DEVICE_FACTS && PyDict_Next(facts, &at, &key, &value)) {
		s->facts[n].key = ext_texts_add(&c->said.texts, key);
		s->facts[n].value = ext_texts_add(&c->said.texts, value);
		n += s->facts[n].key && s->facts[n].value;
	}
	Py_XDECREF(facts);
	s->device.facts = s->facts;
	s->device.nfacts = n;
	return PyErr_Occurred() ? -1 : 0;
}

int ext_device_open(ext_call *c, ext_subject *s, const char *name)
{
	ext_function *f = &s->function;
	PyObject *device = ext_module_call("deepclock._accelerator", "opened", "(s)", name);

	if (!device || device == Py_None) {
		Py_XDECREF(device);
		return device ? 0 : -1;
	}
	f->device = device;
	f->barrier = BARRIER_COPY;
	f->synchronize = PyObject_GetAttrString(device, "synchronize");
	f->waits = text_of(c, device, "waits");
	f->waits_and_copies = text_of(c, device, "waits_and_copies");
	s->device = (dck_function_device){.barrier = device_barrier,
					  .barrier_choose = device_barrier_choose,
					  .enqueue = device_enqueue,
					  .wait = device_wait,
					  .copy = device_copy,
					  .name = text_of(c, device, "hardware"),
					  .no_events = text_of(c, device, "no_events")};
	if (!s->device.no_events)
		s->device.between_events = device_between_events;
	if (PyErr_Occurred() || facts_read(c, s) < 0)
		return -1;
	s->of.device = &s->device;
	s->of.function = ext_device_run;
	return 0;
}

void ext_device_close(ext_function *f)
{
	Py_CLEAR(f->result);
	Py_CLEAR(f->synchronize);
	Py_CLEAR(f->device);
}
