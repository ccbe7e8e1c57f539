/* record_mapping.c - deepclock.Record as a mapping of tags to metrics, and as a value that is
 * compared, hashed and pickled.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "ext.h"

#include <string.h>

static const dck_record *record_of(PyObject *self)
{
	return ext_record_get(ext_state_by(self), self);
}

static const char *nearest_tag(const dck_record *r, const char *tag)
{
	const char **names = PyMem_Calloc(r->nmetrics + 1, sizeof *names);
	const char *nearest = NULL;

	for (size_t i = 0; names && i < r->nmetrics; i++)
		names[i] = r->metrics[i].def->tag;
	if (names)
		nearest = dck_nearest(tag, names, r->nmetrics);
	PyMem_Free(names);
	return nearest;
}

/* Returns the text of a key; NULL: it is not the tag of any metric. */
static const char *tag_of(PyObject *key)
{
	Py_ssize_t n = 0;
	const char *tag = PyUnicode_Check(key) ? PyUnicode_AsUTF8AndSize(key, &n) : NULL;

	PyErr_Clear(); /* a surrogate */
	return tag && strlen(tag) == (size_t)n ? tag : NULL;
}

PyObject *ext_record_subscript(PyObject *self, PyObject *key)
{
	const dck_record *r = record_of(self);
	const char *tag = tag_of(key);
	const dck_metric *m = tag ? dck_record_metric(r, tag) : NULL;
	const char *nearest;
	dck_err err = {.code = DCK_E_ABSENT};

	if (m)
		return ext_view_new(ext_state_by(self)->metric, self, m);
	if (!PyUnicode_Check(key)) {
		PyErr_SetString(PyExc_TypeError, "a metric is named by its tag, a str");
		return NULL;
	}
	nearest = tag ? nearest_tag(r, tag) : NULL;
	PyOS_snprintf(err.msg, sizeof err.msg,
		      nearest ? "the record has no metric '%s'; did you mean '%s'?"
			      : "the record has no metric '%s'; record.metrics has them all",
		      tag ? tag : "(a text with a zero byte or a surrogate)", nearest);
	return ext_raise(ext_state_by(self), &err);
}

int ext_record_contains(PyObject *self, PyObject *key)
{
	const char *tag = tag_of(key);

	return tag && dck_record_metric(record_of(self), tag);
}

/* --- as the dict of its metrics */

PyObject *ext_record_find(PyObject *self, PyObject *args)
{
	PyObject *key, *other = Py_None;

	if (!PyArg_ParseTuple(args, "O|O:get", &key, &other))
		return NULL;
	if (ext_record_contains(self, key))
		return ext_record_subscript(self, key);
	Py_INCREF(other);
	return other;
}

static PyObject *of_metrics(PyObject *self, PyObject *(*part)(PyObject *))
{
	PyObject *metrics = ext_record_metrics(self, NULL);
	PyObject *o = metrics ? part(metrics) : NULL;

	Py_XDECREF(metrics);
	return o;
}

PyObject *ext_record_iter(PyObject *self)
{
	return of_metrics(self, PyObject_GetIter);
}

PyObject *ext_record_keys(PyObject *self, PyObject *none)
{
	(void)none;
	return of_metrics(self, PyDict_Keys);
}

PyObject *ext_record_values(PyObject *self, PyObject *none)
{
	(void)none;
	return of_metrics(self, PyDict_Values);
}

PyObject *ext_record_items(PyObject *self, PyObject *none)
{
	(void)none;
	return of_metrics(self, PyDict_Items);
}

/* --- as a value */

PyObject *ext_record_compare(PyObject *self, PyObject *other, int how)
{
	bool same = self == other;

	if ((how != Py_EQ && how != Py_NE) || Py_TYPE(self) != Py_TYPE(other))
		Py_RETURN_NOTIMPLEMENTED;
	if (!same && strcmp(record_of(self)->id, record_of(other)->id) == 0) {
		PyObject *a = ext_record_to_json(self, NULL);
		PyObject *b = a ? ext_record_to_json(other, NULL) : NULL;
		const int equal = b ? PyObject_RichCompareBool(a, b, Py_EQ) : -1;

		Py_XDECREF(a);
		Py_XDECREF(b);
		if (equal < 0)
			return NULL;
		same = equal;
	}
	return PyBool_FromLong(same == (how == Py_EQ));
}

Py_hash_t ext_record_hash(PyObject *self)
{
	PyObject *id = ext_text(record_of(self)->id);
	const Py_hash_t hash = id ? PyObject_Hash(id) : -1;

	Py_XDECREF(id);
	return hash;
}

PyObject *ext_record_reduce(PyObject *self, PyObject *none)
{
	PyObject *json = ext_record_to_json(self, none);
	/* File names may be invalid UTF-8. */
	PyObject *bytes = json ? PyUnicode_AsEncodedString(json, "utf-8", "surrogateescape") : NULL;
	PyObject *m = bytes ? PyImport_ImportModule("deepclock") : NULL;
	PyObject *parse = m ? PyObject_GetAttrString(m, "parse") : NULL;
	PyObject *how = parse ? Py_BuildValue("O(O)", parse, bytes) : NULL;

	Py_XDECREF(json);
	Py_XDECREF(bytes);
	Py_XDECREF(m);
	Py_XDECREF(parse);
	return how;
}
