/* pictures.c - renders the figures of a record for deepclock._show, which writes the files.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "ext.h"

static PyObject *bytes_of(const dck_buffer *b)
{
	return PyBytes_FromStringAndSize(b->data, (Py_ssize_t)b->n);
}

/* Returns (svg, png, reason for a missing PNG or None). f NULL: the timeline. */
static PyObject *picture(const dck_figure *f, const dck_record *r, const dck_timeline *t)
{
	dck_buffer svg = {0}, png = {0};
	dck_sink out;
	dck_err err;
	PyObject *ret = NULL;

	dck_sink_buffer(&out, &svg);
	if (f)
		f->draw(r, &out);
	else
		dck_timeline_draw(t, &out);
	if (dck_sink_finish(&out, &err) != DCK_OK) {
		PyErr_SetString(PyExc_MemoryError, err.msg);
		goto done;
	}
	dck_sink_buffer(&out, &png);
	if (dck_figure_png(svg.data, svg.n, 2, &out, &err) == DCK_OK &&
	    dck_sink_finish(&out, &err) == DCK_OK)
		ret = Py_BuildValue("(NNO)", bytes_of(&svg), bytes_of(&png), Py_None);
	else
		ret = Py_BuildValue("(NON)", bytes_of(&svg), Py_None, ext_text(err.msg));
done:
	dck_buffer_done(&svg);
	dck_buffer_done(&png);
	return ret;
}

static void picture_put(PyObject **all, const dck_figure *f, const dck_record *r,
			const dck_timeline *t)
{
	ext_dict_add(all, ext_text(f ? f->name : "timeline"), picture(f, r, t));
}

PyObject *ext_figures(PyObject *self, PyObject *args)
{
	ext_state *s = ext_state_of(self);
	PyObject *record, *all = NULL;
	const char *name = NULL;
	const dck_figure *one;
	dck_err err;
	size_t n;
	const dck_figure *const *figures = dck_figures(&n);

	if (!PyArg_ParseTuple(args, "O|z:_figures", &record, &name))
		return NULL;
	const dck_record *r = ext_record_get(s, record);
	if (!r)
		return NULL;
	const dck_timeline *t = ext_record_timeline(record);
	if (name && dck_figure_find(name, r, t, &one, &err) != DCK_OK)
		return ext_raise(s, &err);
	all = PyDict_New();
	if (name && all)
		picture_put(&all, one, r, t);
	for (size_t i = 0; !name && all && i < n; i++)
		if (figures[i]->has(r))
			picture_put(&all, figures[i], r, t);
	if (!name && all && t && t->step.n > 0)
		picture_put(&all, NULL, r, t);
	return all;
}

PyObject *ext_file_replace(PyObject *self, PyObject *args)
{
	ext_state *s = ext_state_of(self);
	ext_texts texts = {NULL};
	PyObject *path;
	Py_buffer data;
	dck_replace *r;
	dck_sink out;
	dck_err err;
	int fd;

	if (!PyArg_ParseTuple(args, "Oy*:_file_replace", &path, &data))
		return NULL;
	const char *text = ext_texts_add(&texts, path);
	dck_status status = text ? dck_replace_open(text, &r, &fd, &err) : DCK_E_NOMEM;
	if (status == DCK_OK) {
		Py_BEGIN_ALLOW_THREADS;
		dck_sink_fd(&out, fd);
		if (out.write(out.self, data.buf, (size_t)data.len, &err) == DCK_OK) {
			status = dck_replace_commit(r, &err);
		} else {
			status = err.code;
			dck_replace_abort(r);
		}
		Py_END_ALLOW_THREADS;
	}
	PyBuffer_Release(&data);
	if (text && status != DCK_OK)
		ext_raise_of(s, &err, text);
	ext_texts_done(&texts);
	if (status == DCK_OK)
		Py_RETURN_NONE;
	return NULL;
}
