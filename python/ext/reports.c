/* reports.c - Record.report(): a record as text, by the options of `deepclock report`.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "ext.h"
#include <deepclock/calls.h>

/* The keywords of report() that are not read by option tables. */
static char *report_names[] = {"format",  "details", "width",	    "utf8", "colour",
			       "sources", "rest",    "source_root", NULL};

PyObject *ext_record_written(ext_state *s, const char *writer, const dck_record *r,
			     const dck_style *style)
{
	dck_buffer buffer = {0};
	dck_sink sink;
	dck_err err;
	PyObject *text = NULL;

	dck_sink_buffer(&sink, &buffer);
	if (dck_report(writer, &r, 1, style, &sink, &err) != DCK_OK ||
	    dck_sink_finish(&sink, &err) != DCK_OK)
		ext_raise(s, &err);
	else
		text = PyUnicode_DecodeUTF8(buffer.data ? buffer.data : "", (Py_ssize_t)buffer.n,
					    "surrogateescape");
	dck_buffer_done(&buffer);
	return text;
}

/* Moves all keywords except report_names from kwargs into a new dict, and drops those that are
 * None, the default. NULL: an exception is set. */
static PyObject *options_take(PyObject *kwargs)
{
	PyObject *options = kwargs ? PyDict_Copy(kwargs) : PyDict_New();

	for (char **name = report_names; options && *name; name++) {
		const PyObject *value = PyDict_GetItemString(options, *name);

		if (value && (PyDict_DelItemString(options, *name) < 0 ||
			      (value == Py_None && PyDict_DelItemString(kwargs, *name) < 0)))
			Py_CLEAR(options);
	}
	if (options && kwargs) {
		PyObject *key, *value;
		Py_ssize_t at = 0;

		while (PyDict_Next(options, &at, &key, &value))
			if (PyDict_DelItem(kwargs, key) < 0) {
				Py_CLEAR(options);
				break;
			}
	}
	return options;
}

/* Writes the call-path tables of `view`, by the same library function as the program. */
static PyObject *calls_written(ext_state *s, const char *writer, const dck_record *r,
			       const dck_calls_view *view, const dck_style *style)
{
	dck_record *shown;
	dck_style whole = *style;
	dck_err err;
	PyObject *text;

	if (view->diff)
		return ext_raise_argument(s, "diff compares two records, and report() takes one");
	if (dck_calls_query(r, view, &shown, &err) != DCK_OK)
		return ext_raise(s, &err);
	whole.details = true;
	text = ext_record_written(s, writer, shown, &whole);
	dck_record_free(shown);
	return text;
}

static PyObject *report(ext_state *s, PyObject *self, PyObject *args, PyObject *kwargs,
			PyObject *options)
{
	const dck_record *r = ext_record_get(s, self);
	const char *writer = "text", *rest = NULL, *directory = NULL;
	int details = 0, utf8 = 1, colour = 0, sources = 0;
	PyObject *root = Py_None, *text = NULL;
	dck_calls_view view = {0};
	dck_op_view which = {0};
	const ext_group groups[] = {{dck_view_options, &which}, {dck_calls_options, &view}};
	int width = 0;
	ext_said said = {0};

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|z$pipppzO:report", report_names, &writer,
					 &details, &width, &utf8, &colour, &sources, &rest, &root))
		return NULL;
	writer = writer ? writer : "text";
	if (width < 0)
		return ext_raise_argument(s, "width=%d: a number of columns is needed", width);
	if (ext_options_read(s, "report", options, groups, 2, NULL, &said) == 0 &&
	    (root == Py_None || (directory = ext_texts_add(&said.texts, root)) != NULL)) {
		const bool calls = dck_calls_wanted(&which, &view);
		const dck_op_view none = {0};
		const dck_style style = {.details = details,
					 .width = (unsigned)width,
					 .utf8 = utf8,
					 .colour = colour,
					 .sources = sources || directory,
					 .source_root = directory,
					 .rest = rest,
					 .timeline = ext_record_timeline(self),
					 .ops = calls ? none : which};
		text = calls ? calls_written(s, writer, r, &view, &style)
			     : ext_record_written(s, writer, r, &style);
	}
	ext_texts_done(&said.texts);
	return text;
}

PyObject *ext_record_report(PyObject *self, PyObject *args, PyObject *kwargs)
{
	PyObject *own = kwargs ? PyDict_Copy(kwargs) : NULL, *text = NULL;
	PyObject *options = !kwargs || own ? options_take(own) : NULL;
	ext_state *s = ext_state_by(self);

	if (options)
		text = report(s, self, args, own, options);
	Py_XDECREF(options);
	Py_XDECREF(own);
	return text;
}
