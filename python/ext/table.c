/* table.c - deepclock.Table and deepclock.Tree: results in rows, and call paths with weights.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "ext.h"
#include <stddef.h>
#include <string.h>

static PyStructSequence_Field column_fields[] = {
    {"key", "for scripts: \"latency\""},
    {"title", "for people"},
    {"unit", "of its numbers; \"\": texts"},
    {NULL, NULL},
};

static PyStructSequence_Field frame_fields[] = {
    {"name", "of the function, range or module"},
    {"file", "of its source; None: not known"},
    {"line", "of its source; None: not known"},
    {"module", "the program or library that contains it; None: not known"},
    {"start_line", "where it begins; None: not known"},
    {NULL, NULL},
};

static PyStructSequence_Field cell_fields[] = {
    {"value", "None: absent"},
    {"lo", "lower end of the interval; None: no interval"},
    {"hi", "upper end of the interval; None: no interval"},
    {"level", "confidence of the interval; None: no interval"},
    {"absent", "why the value is absent; None: it is not"},
    {NULL, NULL},
};

PyObject *ext_columns(ext_state *s, const dck_column *columns, size_t n)
{
	EXT_RETURN_LIST(n, i,
			EXT_TUPLE(s->column, ext_text(columns[i].key), ext_text(columns[i].title),
				  PyUnicode_FromString(dck_unit_text(columns[i].unit))));
}

/* --- tables */

static const dck_table *table_of(PyObject *self)
{
	return ((ext_view *)self)->at;
}

PyObject *ext_table_new(ext_state *s, PyObject *record, const dck_table *t)
{
	return ext_view_new(s->table, record, t);
}

static PyObject *table_columns(PyObject *self, void *none)
{
	const dck_table *t = table_of(self);

	(void)none;
	return ext_columns(ext_state_by(self), t->columns, t->ncolumns);
}

static Py_ssize_t table_length(PyObject *self)
{
	return (Py_ssize_t)table_of(self)->nrows;
}

/* Returns a row as a dict, key to value. */
static PyObject *table_row(PyObject *self, Py_ssize_t i)
{
	const dck_table *t = table_of(self);
	PyObject *row;

	if (i < 0 || (size_t)i >= t->nrows)
		return PyErr_Format(PyExc_IndexError, "the table has %zu rows", t->nrows);
	row = PyDict_New();
	for (size_t c = 0; row && c < t->ncolumns; c++)
		ext_dict_add(&row, ext_text(t->columns[c].key),
			     ext_value(&t->cells[(size_t)i * t->ncolumns + c].value));
	return row;
}

/* Returns the column of a key; -1: an exception is set. */
static Py_ssize_t column_find(PyObject *self, PyObject *key)
{
	const dck_table *t = table_of(self);
	const char *name = PyUnicode_Check(key) ? PyUnicode_AsUTF8(key) : NULL;
	dck_err err = {.code = DCK_E_ABSENT};

	for (size_t c = 0; name && c < t->ncolumns; c++)
		if (strcmp(t->columns[c].key, name) == 0)
			return (Py_ssize_t)c;
	if (PyErr_Occurred())
		return -1;
	if (!name) {
		PyErr_SetString(PyExc_TypeError, "a row is named by an int, a column by a str");
		return -1;
	}
	PyOS_snprintf(err.msg, sizeof err.msg, "the table '%s' has no column '%s'", t->name, name);
	return ext_failed(ext_raise(ext_state_by(self), &err));
}

static PyObject *table_rows(PyObject *self, PyObject *slice)
{
	Py_ssize_t begin, end, step;

	if (PySlice_Unpack(slice, &begin, &end, &step) < 0)
		return NULL;
	const Py_ssize_t n = PySlice_AdjustIndices(table_length(self), &begin, &end, step);
	PyObject *list = PyList_New(0);
	for (Py_ssize_t i = 0; list && i < n; i++)
		ext_list_add(&list, table_row(self, begin + i * step));
	return list;
}

/* table[i] is a row, table[i:j] a list of them, table["latency"] the values of a column. */
static PyObject *table_subscript(PyObject *self, PyObject *key)
{
	const dck_table *t = table_of(self);
	Py_ssize_t i;
	PyObject *list;

	if (PyIndex_Check(key)) {
		i = PyNumber_AsSsize_t(key, PyExc_IndexError);
		if (i == -1 && PyErr_Occurred())
			return NULL;
		return table_row(self, i < 0 ? i + table_length(self) : i);
	}
	if (PySlice_Check(key))
		return table_rows(self, key);
	i = column_find(self, key);
	list = i < 0 ? NULL : PyList_New(0);
	for (size_t row = 0; list && row < t->nrows; row++)
		ext_list_add(&list, ext_value(&t->cells[row * t->ncolumns + (size_t)i].value));
	return list;
}

static PyObject *bound(const dck_cell *c, double value)
{
	if (c->level > 0)
		return PyFloat_FromDouble(value);
	Py_RETURN_NONE;
}

static PyObject *table_cell(PyObject *self, PyObject *args)
{
	const dck_table *t = table_of(self);
	Py_ssize_t row, column;
	PyObject *key;

	if (!PyArg_ParseTuple(args, "nU:cell", &row, &key))
		return NULL;
	column = column_find(self, key);
	if (column < 0)
		return NULL;
	row = row < 0 ? row + table_length(self) : row;
	if (row < 0 || row >= table_length(self))
		return PyErr_Format(PyExc_IndexError, "the table has %zu rows", t->nrows);
	const dck_cell *c = &t->cells[(size_t)row * t->ncolumns + (size_t)column];
	return EXT_TUPLE(ext_state_by(self)->cell, ext_value(&c->value), bound(c, c->lo),
			 bound(c, c->hi), bound(c, c->level), ext_reason(&c->value));
}

static PyObject *table_repr(PyObject *self)
{
	const dck_table *t = table_of(self);

	return PyUnicode_FromFormat("<table %s: %zu rows, %zu columns>", t->name, t->nrows,
				    t->ncolumns);
}

PyDoc_STRVAR(
    table_doc,
    "Results that come in rows; the first column names the row.\n\n"
    "table[i] is row i as a dict, table[i:j] a list of rows, table[key] the list of a column's values, iteration gives "
    "the rows; None stands for an absent value.");

#define OF_TABLE(field) ((void *)offsetof(dck_table, field))
static PyGetSetDef table_getset[] = {
    {"name", ext_view_text, NULL, "for scripts: \"throughput/points\"", OF_TABLE(name)},
    {"title", ext_view_text, NULL, "for people", OF_TABLE(title)},
    {"columns", table_columns, NULL, "list of Column", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyMethodDef table_methods[] = {
    {"cell", table_cell, METH_VARARGS,
     "cell($self, row, key, /)\n--\n\nThe Cell of a row in the column of that key, with its "
     "interval. IndexError, AbsentError."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot table_slots[] = {
    {Py_tp_doc, (void *)table_doc},
    {Py_tp_new, ext_type_not_made},
    {Py_tp_dealloc, ext_view_dealloc},
    {Py_tp_repr, table_repr},
    {Py_tp_getset, table_getset},
    {Py_tp_methods, table_methods},
    {Py_mp_length, table_length},
    {Py_mp_subscript, table_subscript},
    {Py_sq_length, table_length},
    {Py_sq_item, table_row},
    {0, NULL},
};

/* --- trees */

static const dck_tree *tree_of(PyObject *self)
{
	return ((ext_view *)self)->at;
}

PyObject *ext_tree_new(ext_state *s, PyObject *record, const dck_tree *t)
{
	return ext_view_new(s->tree, record, t);
}

static PyObject *tree_columns(PyObject *self, void *none)
{
	const dck_tree *t = tree_of(self);

	(void)none;
	return ext_columns(ext_state_by(self), t->columns, t->ncolumns);
}

static PyObject *line_or_none(uint32_t line)
{
	return line ? PyLong_FromUnsignedLong(line) : ext_text(NULL);
}

static PyObject *tree_frames(PyObject *self, void *none)
{
	const dck_tree *t = tree_of(self);
	ext_state *s = ext_state_by(self);
	const dck_frame *f = t->frames;

	(void)none;
	EXT_RETURN_LIST(t->nframes, i,
			EXT_TUPLE(s->frame, ext_text(f[i].name), ext_text(f[i].file),
				  line_or_none(f[i].line), ext_text(f[i].module),
				  line_or_none(f[i].start_line)));
}

static PyObject *tree_nodes(PyObject *self, void *none)
{
	const dck_tree_node *n = tree_of(self)->nodes;

	(void)none;
	EXT_RETURN_LIST(tree_of(self)->nnodes, i,
			Py_BuildValue("(LI)",
				      n[i].parent == DCK_TREE_ROOT ? -1LL : (long long)n[i].parent,
				      (unsigned)n[i].frame));
}

static PyObject *tree_weights(PyObject *self, void *none)
{
	const dck_tree *t = tree_of(self);

	(void)none;
	return ext_array_new(ext_state_by(self), ((ext_view *)self)->owner, t->weights, 'd',
			     t->nnodes, t->ncolumns);
}

static Py_ssize_t tree_length(PyObject *self)
{
	return (Py_ssize_t)tree_of(self)->nnodes;
}

static PyObject *tree_repr(PyObject *self)
{
	const dck_tree *t = tree_of(self);

	return PyUnicode_FromFormat("<tree %s: %zu paths of %zu frames>", t->name, t->nnodes,
				    t->nframes);
}

PyDoc_STRVAR(
    tree_doc,
    "Call paths with weights. A node is a frame reached through its parent's path; its weights are its own, without the nodes below it.\n\nframes: list of Frame; nodes: list of (parent, frame), parent an earlier index or -1; weights: Array (nodes, columns), float64.");

#define OF_TREE(field) ((void *)offsetof(dck_tree, field))
static PyGetSetDef tree_getset[] = {
    {"name", ext_view_text, NULL, "for scripts: \"zones\"", OF_TREE(name)},
    {"title", ext_view_text, NULL, "for people", OF_TREE(title)},
    {"columns", tree_columns, NULL, "list of Column: the weights", NULL},
    {"frames", tree_frames, NULL, "list of Frame", NULL},
    {"nodes", tree_nodes, NULL, "list of (parent, frame)", NULL},
    {"weights", tree_weights, NULL, "Array (nodes, columns), float64", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot tree_slots[] = {
    {Py_tp_doc, (void *)tree_doc},
    {Py_tp_new, ext_type_not_made},
    {Py_tp_dealloc, ext_view_dealloc},
    {Py_tp_repr, tree_repr},
    {Py_tp_getset, tree_getset},
    {Py_sq_length, tree_length},
    {0, NULL},
};

static int table_add(PyObject *m, ext_state *s)
{
	s->table = ext_type_add(m, "deepclock.Table", sizeof(ext_view), table_slots);
	s->tree = ext_type_add(m, "deepclock.Tree", sizeof(ext_view), tree_slots);
	s->column =
	    ext_tuple_add(m, "deepclock.Column", "A column of a table or tree.", column_fields, 3);
	s->cell = ext_tuple_add(m, "deepclock.Cell", "A value of a table with its interval.",
				cell_fields, 5);
	s->frame = ext_tuple_add(m, "deepclock.Frame", "A frame of a call path.", frame_fields, 5);
	return s->table && s->tree && s->column && s->cell && s->frame ? 0 : -1;
}

const ext_part ext_table = {.add = table_add};
