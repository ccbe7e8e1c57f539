/* pictures.c - the figures of a record, for the package's module _show, which writes the files.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "ext.h"
#include <limits.h>

static PyObject *bytes_of(const dck_buffer *b)
{
	return PyBytes_FromStringAndSize(b->data, (Py_ssize_t)b->n);
}

/* (svg, png, why there is no png or None) */
static PyObject *picture(const dck_figure *f, const dck_record *r)
{
	dck_buffer svg = {0}, png = {0};
	dck_sink out;
	dck_err err;
	PyObject *ret = NULL;

	dck_sink_buffer(&out, &svg);
	f->draw(r, &out);
	if (dck_sink_finish(&out, &err) != DCK_OK) {
		PyErr_SetString(PyExc_MemoryError, err.msg);
		goto done;
	}
	dck_sink_buffer(&out, &png);
	if (dck_figure_png(svg.data, svg.n, 2, &out, &err) == DCK_OK &&
	    dck_sink_finish(&out, &err) == DCK_OK)
		ret = Py_BuildValue("(NNO)", bytes_of(&svg), bytes_of(&png), Py_None);
	else
		ret = Py_BuildValue("(NOs)", bytes_of(&svg), Py_None, err.msg);
done:
	dck_buffer_done(&svg);
	dck_buffer_done(&png);
	return ret;
}

PyObject *ext_figures(PyObject *self, PyObject *record)
{
	const dck_record *r = ext_record_get(ext_state_of(self), record);
	PyObject *all = r ? PyDict_New() : NULL;
	size_t n;
	const dck_figure *const *figures = dck_figures(&n);

	for (size_t i = 0; all && i < n; i++) {
		if (!figures[i]->has(r))
			continue;
		PyObject *one = picture(figures[i], r);
		if (!one || PyDict_SetItemString(all, figures[i]->name, one) < 0)
			Py_CLEAR(all);
		Py_XDECREF(one);
	}
	return all;
}

PyObject *ext_file_target(PyObject *self, PyObject *path)
{
	ext_texts texts = {NULL};
	const char *text = ext_texts_add(&texts, path);
	char target[PATH_MAX];
	PyObject *result = NULL;
	dck_err err;

	if (text && dck_file_target(text, target, &err) == DCK_OK)
		result = PyUnicode_DecodeFSDefault(target);
	else if (text)
		ext_raise(ext_state_of(self), &err);
	ext_texts_done(&texts);
	return result;
}
