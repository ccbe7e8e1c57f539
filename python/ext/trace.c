/* trace.c - recording from inside Python, for deepclock.trace (tracing.py).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "ext.h"
#include <deepclock/trace.h>

/* Returns the given options by name, in the words of the command line: an item of a list per line,
 * as the environment of a program has them. */
static PyObject *words_of(const ext_said *said)
{
	PyObject *dict = PyDict_New();

	for (size_t i = 0; dict && i < said->n; i++) {
		const char *name = said->all[i].row->name, *text = said->all[i].value;
		PyObject *before = PyDict_GetItemString(dict, name); /* borrowed */
		PyObject *word = ext_text(text ? text : "true");

		if (before && word)
			Py_SETREF(word, PyUnicode_FromFormat("%U\n%U", before, word));
		ext_dict_add(&dict, PyUnicode_FromString(name), word);
	}
	return dict;
}

/* trace_start(path, **options): starts recording, and returns the words of the options. path None:
 * the table only. */
static PyObject *trace_start(PyObject *m, PyObject *args, PyObject *kwargs)
{
	ext_state *s = ext_state_of(m);
	dck_trace_config config;
	const ext_group groups[] = {{dck_trace_options, &config}};
	ext_said said = {.n = 0};
	dck_err err = {0};
	dck_status status = dck_opt_defaults(dck_trace_options, &config, &err);
	PyObject *path, *words = NULL;
	int failed;

	if (!PyArg_ParseTuple(args, "O:trace", &path))
		return NULL;
	if (status != DCK_OK)
		return ext_raise(s, &err);
	failed = ext_options_read(s, "trace", kwargs, groups, 1, NULL, &said);
	if (!failed) {
		config.path = path == Py_None ? NULL : ext_texts_add(&said.texts, path);
		words = words_of(&said);
		failed = !words || (path != Py_None && !config.path);
	}
	if (!failed)
		EXT_WITHOUT_GIL(status = dck_trace_start(&config, &err));
	if (!failed && status != DCK_OK)
		ext_raise_named(s, &err, config.path);
	ext_texts_done(&said.texts);
	if (!failed && status == DCK_OK)
		return words;
	Py_XDECREF(words);
	return NULL;
}

/* trace_start_told(): starts recording, by dck_trace_start(NULL), if the environment names a file.
 */
static PyObject *trace_start_told(PyObject *m, PyObject *none)
{
	dck_err err = {0};
	dck_status status;

	(void)none;
	EXT_WITHOUT_GIL(status = dck_trace_start(NULL, &err));
	return ext_result(ext_state_of(m), status, NULL, &err);
}

/* trace_stop(list): appends the record, also where it raises because the file is incomplete. */
static PyObject *trace_stop(PyObject *m, PyObject *list)
{
	ext_state *s = ext_state_of(m);
	dck_record *r = NULL;
	dck_err err = {0};
	dck_status status;

	EXT_WITHOUT_GIL(status = dck_trace_stop(&r, &err));
	PyObject *record = r ? ext_record_new(s, r) : NULL;
	const bool failed = r && (!record || PyList_Append(list, record) < 0);
	Py_XDECREF(record);
	return failed ? NULL : ext_result(s, status, NULL, &err);
}

static PyObject *trace_read(PyObject *m, PyObject *path)
{
	ext_texts texts = {0};
	const char *text = ext_texts_add(&texts, path);
	dck_record *r = NULL;
	dck_err err = {0};
	PyObject *ret = NULL;

	if (text) {
		dck_status status;

		EXT_WITHOUT_GIL(status = dck_trace_read(text, &r, &err));
		ret = status == DCK_OK ? ext_record_new(ext_state_of(m), r)
				       : ext_raise_named(ext_state_of(m), &err, text);
	}
	ext_texts_done(&texts);
	return ret;
}

static PyObject *trace_dump(PyObject *m, PyObject *none)
{
	dck_err err = {0};
	dck_status status;

	(void)none;
	EXT_WITHOUT_GIL(status = dck_trace_dump(&err));
	return ext_result(ext_state_of(m), status, NULL, &err);
}

/* Calls a function that blocks for up to 2 s, without the GIL. */
static PyObject *asked(bool (*what)(void))
{
	bool done;

	EXT_WITHOUT_GIL(done = what());
	return PyBool_FromLong(done);
}

static PyObject *trace_flush(PyObject *m, PyObject *none)
{
	(void)m;
	(void)none;
	return asked(dck_trace_flush);
}

static PyObject *trace_leave(PyObject *m, PyObject *none)
{
	(void)m;
	(void)none;
	return asked(dck_trace_leave);
}

static PyObject *trace_active(PyObject *m, PyObject *none)
{
	(void)m;
	(void)none;
	return PyBool_FromLong(DCK_ON_());
}

/* Returns the format of the file's extension; a compressed file cannot be read before it ends. */
static PyObject *trace_form(PyObject *m, PyObject *path)
{
	ext_texts texts = {0};
	const char *text = ext_texts_add(&texts, path), *form = NULL;
	bool gzip = false;

	(void)m;
	if (text)
		form = dck_trace_format_of(text, &gzip);
	ext_texts_done(&texts);
	if (PyErr_Occurred())
		return NULL;
	return Py_BuildValue("z", gzip ? NULL : form);
}

static PyMethodDef methods[] = {
    {"_trace_start", (PyCFunction)(void (*)(void))trace_start, METH_VARARGS | METH_KEYWORDS,
     "_trace_start($module, path, /, **options)\n--\n\nRecords from now on: the options' words."},
    {"_trace_start_told", trace_start_told, METH_NOARGS,
     "_trace_start_told($module, /)\n--\n\nRecords from now on, where the environment names a file."},
    {"_trace_stop", trace_stop, METH_O,
     "_trace_stop($module, list, /)\n--\n\nEnds it, and appends the Record if something recorded."},
    {"_trace_read", trace_read, METH_O,
     "_trace_read($module, path, /)\n--\n\nThe record of a trace in a file."},
    {"_trace_dump", trace_dump, METH_NOARGS,
     "_trace_dump($module, /)\n--\n\nWrites the newest events now."},
    {"_trace_flush", trace_flush, METH_NOARGS,
     "_trace_flush($module, /)\n--\n\nWhat was recorded is in the file; False: nothing records."},
    {"_trace_leave", trace_leave, METH_NOARGS,
     "_trace_leave($module, /)\n--\n\nBefore os._exit(): all is closed. False: nothing records."},
    {"_trace_active", trace_active, METH_NOARGS,
     "_trace_active($module, /)\n--\n\nWhether zones are recorded now."},
    {"_trace_form", trace_form, METH_O,
     "_trace_form($module, path, /)\n--\n\nThe format of the file's extension, or None."},
    {NULL, NULL, 0, NULL},
};

const ext_part ext_trace = {.methods = methods};
