/* observer.c - progress, Ctrl-C and exceptions of the measured code during a measurement.
 *
 * Models and programs run without the GIL, Python functions with it. The library calls
 * `cancelled` between slices of runs, up to 10,000 times a second; it polls the interpreter 50
 * times a second.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "ext.h"
#include <string.h>

#define ASK_NS	20000000u
#define SHOW_NS 100000000u

void ext_watch_raised(ext_watch *w)
{
	PyObject *type, *value, *trace;

	PyErr_Fetch(&type, &value, &trace);
	w->stop = true;
	if (!w->type) {
		w->type = type;
		w->value = value;
		w->trace = trace;
		return;
	}
	Py_XDECREF(type); /* the first one is reported */
	Py_XDECREF(value);
	Py_XDECREF(trace);
}

static bool cancelled(void *self)
{
	ext_watch *w = self;
	const uint64_t now = ext_now_ns();
	PyGILState_STATE gil;

	if (w->stop || now - w->asked_ns < ASK_NS)
		return w->stop;
	gil = PyGILState_Ensure();
	if (PyErr_CheckSignals() < 0)
		ext_watch_raised(w);
	if (w->held) { /* lets other threads of the program run */
		Py_BEGIN_ALLOW_THREADS
		Py_END_ALLOW_THREADS
	}
	PyGILState_Release(gil);
	w->asked_ns = ext_now_ns();
	return w->stop;
}

/* --- progress */

static PyStructSequence_Field progress_fields[] = {
    {"phase", "\"library\", \"session\", \"inputs\", \"first run\", \"warm-up\", \"measure\""},
    {"runs", "so far"},
    {"elapsed_ns", "so far"},
    {"estimate_ns", "of the requested statistic; NaN: not known"},
    {"lo_ns", "lower end of its interval"},
    {"hi_ns", "upper end of its interval"},
    {"done_ratio", "0 to 1; NaN: not known"},
    {"eta_ns", "remaining time; NaN: not known"},
    {"runs_total", "requested; 0: not known beforehand"},
    {NULL, NULL},
};

static void progress(void *self, const dck_progress *p)
{
	ext_watch *w = self;
	const uint64_t now = ext_now_ns();
	const bool same = w->phase && p->phase && strcmp(w->phase, p->phase) == 0;
	PyObject *o, *result = NULL;
	PyGILState_STATE gil;

	if (w->stop || (same && now - w->shown_ns < SHOW_NS))
		return;
	w->phase = p->phase;
	w->shown_ns = now;
	gil = PyGILState_Ensure();
	o = EXT_TUPLE(w->state->progress, ext_text(p->phase ? p->phase : ""),
		      PyLong_FromUnsignedLongLong(p->runs),
		      PyLong_FromUnsignedLongLong(p->elapsed_ns),
		      PyFloat_FromDouble(p->estimate_ns), PyFloat_FromDouble(p->lo_ns),
		      PyFloat_FromDouble(p->hi_ns), PyFloat_FromDouble(p->done_ratio),
		      PyFloat_FromDouble(p->eta_ns), PyLong_FromUnsignedLongLong(p->runs_total));
	if (o)
		result = PyObject_CallOneArg(w->progress, o);
	if (!result)
		ext_watch_raised(w);
	Py_XDECREF(result);
	Py_XDECREF(o);
	PyGILState_Release(gil);
}

void ext_watch_init(ext_watch *w, ext_state *s, PyObject *show)
{
	*w = (ext_watch){
	    .observer = {.self = w, .cancelled = cancelled, .progress = show ? progress : NULL},
	    .state = s,
	    .progress = show,
	    .asked_ns = ext_now_ns(),
	};
}

PyObject *ext_watch_result(ext_watch *w, dck_status status, dck_record *r, const dck_err *err)
{
	/* After Ctrl-C the partial record is returned. Any other exception is raised by the
	 * user's code and must not be lost. */
	if (w->type &&
	    (status != DCK_OK || !PyErr_GivenExceptionMatches(w->type, PyExc_KeyboardInterrupt))) {
		if (status == DCK_OK)
			dck_record_free(r);
		PyErr_Restore(w->type, w->value, w->trace);
		w->type = w->value = w->trace = NULL;
		return NULL;
	}
	Py_CLEAR(w->type);
	Py_CLEAR(w->value);
	Py_CLEAR(w->trace);
	return status == DCK_OK ? ext_record_new(w->state, r) : ext_raise(w->state, err);
}

/* Returns a number of a Progress; NaN if it is not a number. */
static double number_of(PyObject *progress, Py_ssize_t i)
{
	return PyFloat_AsDouble(PyStructSequence_GetItem(progress, i));
}

static PyObject *progress_text(PyObject *m, PyObject *args)
{
	PyObject *o;
	int utf8;
	unsigned width;
	char line[512];

	if (!PyArg_ParseTuple(args, "O!pI:progress_text", ext_state_of(m)->progress, &o, &utf8,
			      &width))
		return NULL;
	const char *phase = PyUnicode_AsUTF8(PyStructSequence_GetItem(o, 0));
	const dck_progress p = {
	    .phase = phase,
	    .runs = PyLong_AsUnsignedLongLong(PyStructSequence_GetItem(o, 1)),
	    .elapsed_ns = PyLong_AsUnsignedLongLong(PyStructSequence_GetItem(o, 2)),
	    .estimate_ns = number_of(o, 3),
	    .lo_ns = number_of(o, 4),
	    .hi_ns = number_of(o, 5),
	    .done_ratio = number_of(o, 6),
	    .eta_ns = number_of(o, 7),
	    .runs_total = PyLong_AsUnsignedLongLong(PyStructSequence_GetItem(o, 8)),
	};
	if (PyErr_Occurred())
		return NULL;
	return ext_text(dck_progress_text(&p, utf8, width, line, sizeof line));
}

static PyMethodDef methods[] = {
    {"progress_text", progress_text, METH_VARARGS,
     "progress_text($module, progress, utf8, width, /)\n--\n\nA Progress in one line of at most so "
     "many columns."},
    {NULL, NULL, 0, NULL},
};

static int observer_add(PyObject *m, ext_state *s)
{
	s->progress =
	    ext_tuple_add(m, "deepclock.Progress", "How far a measurement is.", progress_fields, 9);
	return s->progress ? 0 : -1;
}

const ext_part ext_observer = {.methods = methods, .add = observer_add};
