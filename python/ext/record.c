/* record.c - deepclock.Record with its facts, notes and operators; metrics and series are in
 * metric.c.
 *
 * A Record owns an immutable dck_record. Views point into that and keep the Record alive, so
 * nothing is copied, without a reference cycle.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "ext.h"
#include <deepclock/trace.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

/* As of other files, for the same reason: src/record/record_file.c. */
#define PIPE_MAX_BYTES ((Py_ssize_t)256 << 20)

/* --- values */

PyObject *ext_text(const char *text)
{
	if (!text)
		Py_RETURN_NONE;
	return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "surrogateescape");
}

PyObject *ext_value(const dck_value *v)
{
	switch (v->kind) {
	case DCK_VALUE_BOOL:
		return PyBool_FromLong(v->as.b);
	case DCK_VALUE_INT:
		return PyLong_FromLongLong(v->as.i);
	case DCK_VALUE_REAL:
		return PyFloat_FromDouble(v->as.r);
	case DCK_VALUE_TEXT:
		return ext_text(v->as.text);
	case DCK_VALUE_ABSENT:
		break;
	}
	Py_RETURN_NONE;
}

PyObject *ext_reason(const dck_value *v)
{
	if (v->kind == DCK_VALUE_ABSENT)
		return ext_text(v->as.text ? v->as.text : "");
	Py_RETURN_NONE;
}

/* --- views */

PyObject *ext_view_new(PyTypeObject *type, PyObject *owner, const void *at)
{
	ext_view *v = PyObject_New(ext_view, type);

	if (!v)
		return NULL;
	Py_INCREF(owner);
	v->owner = owner;
	v->at = at;
	return (PyObject *)v;
}

void ext_view_dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	Py_DECREF(((ext_view *)self)->owner);
	PyObject_Free(self);
	Py_DECREF(type);
}

static const void *member(PyObject *self, void *offset)
{
	return (const char *)((ext_view *)self)->at + (size_t)offset;
}

PyObject *ext_view_text(PyObject *self, void *offset)
{
	return ext_text(*(const char *const *)member(self, offset));
}

PyObject *ext_view_unit(PyObject *self, void *offset)
{
	return PyUnicode_FromString(dck_unit_text(*(const dck_unit *)member(self, offset)));
}

PyObject *ext_view_value(PyObject *self, void *offset)
{
	return ext_value(member(self, offset));
}

PyObject *ext_view_why(PyObject *self, void *offset)
{
	return ext_reason(member(self, offset));
}

PyObject *ext_view_size(PyObject *self, void *offset)
{
	return PyLong_FromSize_t(*(const size_t *)member(self, offset));
}

/* --- facts and notes: named tuples */

static PyStructSequence_Field fact_fields[] = {
    {"section", "\"host\""},
    {"key", "\"cpu\""},
    {"value", "None: absent"},
    {"unit", "\"\" of texts"},
    {"absent", "why the value is absent; None: it is not"},
    {NULL, NULL},
};

static PyStructSequence_Field note_fields[] = {
    {"severity", "\"info\", \"warning\", \"error\""},
    {"code", "for scripts: \"not-steady\""},
    {"text", "cause and what to do"},
    {"remedy", "what to do: the end of text; \"\": nothing is known"},
    {"cause", "code of the note that is the cause of this one, or None"},
    {NULL, NULL},
};

static PyObject *fact_new(ext_state *s, const dck_fact *f)
{
	return EXT_TUPLE(s->fact, ext_text(f->section), ext_text(f->key), ext_value(&f->value),
			 PyUnicode_FromString(dck_unit_text(f->unit)), ext_reason(&f->value));
}

static PyObject *note_new(ext_state *s, const dck_note *n)
{
	return EXT_TUPLE(s->note, PyUnicode_FromString(dck_severity_text(n->severity)),
			 ext_text(n->code), ext_text(n->text), ext_text(n->remedy),
			 ext_text(n->cause));
}

/* --- the record */

typedef struct record {
	PyObject_HEAD dck_record *r;
	dck_timeline timeline; /* of a loaded trace; {0}: none */
} record;

static const dck_record *record_of(PyObject *self)
{
	return ((record *)self)->r;
}

PyObject *ext_record_new(ext_state *s, dck_record *r)
{
	record *o = PyObject_New(record, s->record);

	if (o) {
		o->r = r;
		o->timeline = (dck_timeline){0};
	} else {
		dck_record_free(r);
	}
	return (PyObject *)o;
}

PyObject *ext_result(ext_state *s, dck_status status, dck_record *r, const dck_err *err)
{
	if (status != DCK_OK)
		return ext_raise(s, err);
	return r ? ext_record_new(s, r) : ext_text(NULL);
}

const dck_timeline *ext_record_timeline(PyObject *self)
{
	const dck_timeline *t = &((record *)self)->timeline;

	return t->json.n > 0 ? t : NULL;
}

const dck_record *ext_record_get(ext_state *s, PyObject *o)
{
	if (Py_IS_TYPE(o, s->record))
		return record_of(o);
	PyErr_Format(PyExc_TypeError, "a deepclock.Record is needed, not %s", Py_TYPE(o)->tp_name);
	return NULL;
}

static void record_dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	dck_record_free(((record *)self)->r);
	dck_timeline_done(&((record *)self)->timeline);
	PyObject_Free(self);
	Py_DECREF(type);
}

PyObject *ext_record_metrics(PyObject *self, void *none)
{
	const dck_record *r = record_of(self);
	PyTypeObject *type = ext_state_by(self)->metric;

	(void)none;
	EXT_RETURN_DICT(r->nmetrics, i, ext_text(r->metrics[i].def->tag),
			ext_view_new(type, self, &r->metrics[i]));
}

static PyObject *record_series(PyObject *self, void *none)
{
	const dck_record *r = record_of(self);
	PyTypeObject *type = ext_state_by(self)->series;

	(void)none;
	EXT_RETURN_DICT(r->nseries, i, ext_text(r->series[i].tag),
			ext_view_new(type, self, &r->series[i]));
}

static PyObject *record_tables(PyObject *self, void *none)
{
	const dck_record *r = record_of(self);
	ext_state *s = ext_state_by(self);

	(void)none;
	EXT_RETURN_DICT(r->ntables, i, ext_text(r->tables[i].name),
			ext_table_new(s, self, &r->tables[i]));
}

static PyObject *record_trees(PyObject *self, void *none)
{
	const dck_record *r = record_of(self);
	ext_state *s = ext_state_by(self);

	(void)none;
	EXT_RETURN_DICT(r->ntrees, i, ext_text(r->trees[i].name),
			ext_tree_new(s, self, &r->trees[i]));
}

static PyObject *record_facts(PyObject *self, void *none)
{
	const dck_record *r = record_of(self);
	ext_state *s = ext_state_by(self);

	(void)none;
	EXT_RETURN_DICT(r->nfacts, i,
			PyUnicode_FromFormat("%s/%s", r->facts[i].section, r->facts[i].key),
			fact_new(s, &r->facts[i]));
}

static PyObject *record_notes(PyObject *self, void *none)
{
	const dck_record *r = record_of(self);
	ext_state *s = ext_state_by(self);

	(void)none;
	EXT_RETURN_LIST(r->nnotes, i, note_new(s, &r->notes[i]));
}

static PyObject *record_text(PyObject *self, void *offset)
{
	return ext_text(*(const char *const *)((const char *)record_of(self) + (size_t)offset));
}

static PyObject *record_incomplete(PyObject *self, void *none)
{
	(void)none;
	return PyBool_FromLong(record_of(self)->incomplete);
}

static PyObject *record_began(PyObject *self, void *none)
{
	(void)none;
	return PyLong_FromLongLong(record_of(self)->began_unix_ns);
}

/* Returns the fact that is the command's verdict. */
static PyObject *record_verdict(PyObject *self, void *none)
{
	static const struct {
		const char *section, *key;
	} verdicts[] = {{"compare", "verdict"}, {"load", "verdict"}, {"difference", "verdict"}};

	(void)none;
	for (size_t i = 0; i < sizeof verdicts / sizeof verdicts[0]; i++) {
		const dck_fact *f =
		    dck_record_fact(record_of(self), verdicts[i].section, verdicts[i].key);

		if (f)
			return ext_value(&f->value);
	}
	Py_RETURN_NONE;
}

static PyObject *record_gate(PyObject *self, void *none)
{
	(void)none;
	switch (dck_record_gate(record_of(self))) {
	case DCK_VERDICT_VIOLATED:
		return PyUnicode_FromString("violated");
	case DCK_VERDICT_INCONCLUSIVE:
		return PyUnicode_FromString("inconclusive");
	case DCK_VERDICT_MET:
		break;
	}
	return PyUnicode_FromString("met");
}

/* --- operators, as in the JSON format */

static PyObject *op_output(const dck_op_output *o)
{
	PyObject *dims = o->absent ? ext_text(NULL) : PyTuple_New((Py_ssize_t)o->rank);

	for (size_t i = 0; dims && !o->absent && i < o->rank; i++) {
		PyObject *dim = o->dims[i] < 0 ? ext_text(o->symbols[i] ? o->symbols[i] : "?")
					       : PyLong_FromLongLong(o->dims[i]);

		if (dim)
			PyTuple_SET_ITEM(dims, (Py_ssize_t)i, dim);
		else
			Py_CLEAR(dims);
	}
	return dims ? Py_BuildValue("{sNsNsN}", "name", ext_text(o->name), "dtype",
				    ext_text(o->dtype), "shape", dims)
		    : NULL;
}

static PyObject *op_outputs(const dck_op *op)
{
	EXT_RETURN_LIST(op->noutputs, i, op_output(&op->outputs[i]));
}

static PyObject *op_new(const dck_op *op)
{
	static const struct {
		const char *name;
		size_t at;
	} texts[] = {{"name", offsetof(dck_op, name)},	 {"type", offsetof(dck_op, type)},
		     {"scope", offsetof(dck_op, scope)}, {"class", offsetof(dck_op, class_name)},
		     {"line", offsetof(dck_op, line)},	 {"code", offsetof(dck_op, code)},
		     {"bound", offsetof(dck_op, bound)}},
	  values[] = {{"macs", offsetof(dck_op, macs)},
		      {"flops", offsetof(dck_op, flops)},
		      {"params", offsetof(dck_op, params)},
		      {"weight_bytes", offsetof(dck_op, weight_bytes)},
		      {"read_bytes", offsetof(dck_op, read_bytes)},
		      {"write_bytes", offsetof(dck_op, write_bytes)},
		      {"time", offsetof(dck_op, time_ns)},
		      {"rate", offsetof(dck_op, rate)},
		      {"roof", offsetof(dck_op, roof)},
		      {"memory", offsetof(dck_op, memory_bytes)}};
	PyObject *dict = PyDict_New();

	for (size_t i = 0; dict && i < sizeof texts / sizeof texts[0]; i++)
		ext_dict_add(&dict, ext_text(texts[i].name),
			     ext_text(*(const char *const *)((const char *)op + texts[i].at)));
	for (size_t i = 0; dict && i < sizeof values / sizeof values[0]; i++)
		ext_dict_add(
		    &dict, ext_text(values[i].name),
		    ext_value((const dck_value *)(const void *)((const char *)op + values[i].at)));
	if (dict)
		ext_dict_add(&dict, ext_text("outputs"), op_outputs(op));
	return dict;
}

static PyObject *record_ops(PyObject *self, void *none)
{
	const dck_record *r = record_of(self);

	(void)none;
	EXT_RETURN_LIST(r->nops, i, op_new(&r->ops[i]));
}

/* --- as text */

PyObject *ext_record_to_json(PyObject *self, PyObject *none)
{
	(void)none;
	return ext_record_written(ext_state_by(self), "json", record_of(self), NULL);
}

static PyObject *record_to_pandas(PyObject *self, PyObject *args)
{
	PyObject *table = Py_None;

	return PyArg_ParseTuple(args, "|O:to_pandas", &table)
		   ? ext_module_call("deepclock._frames", "to_pandas", "(OO)", self, table)
		   : NULL;
}

static PyObject *record_html(PyObject *self, PyObject *none)
{
	return ext_module_call("deepclock._frames", "html", "(OO)", self, none ? none : Py_None);
}

static PyObject *record_show(PyObject *self, PyObject *args, PyObject *kwargs)
{
	static char *names[] = {"path", NULL};
	PyObject *path = Py_None;

	return PyArg_ParseTupleAndKeywords(args, kwargs, "|O:show", names, &path)
		   ? ext_module_call("deepclock._show", "show", "(OO)", self, path)
		   : NULL;
}

static PyObject *record_count(PyObject *self, void *tag)
{
	const dck_metric *m = dck_record_metric(record_of(self), tag);

	if (m)
		return ext_value(&m->value);
	Py_RETURN_NONE;
}

static PyObject *record_summary(PyObject *self, PyObject *args, PyObject *kwargs)
{
	static char *names[] = {"digits", NULL};
	PyObject *digits = Py_None;

	return PyArg_ParseTupleAndKeywords(args, kwargs, "|O:summary", names, &digits)
		   ? ext_module_call("deepclock._record", "summary", "(OO)", self, digits)
		   : NULL;
}

static PyObject *record_figures(PyObject *self, PyObject *path)
{
	return ext_module_call("deepclock._show", "figures", "(OO)", self, path);
}

static PyObject *record_str(PyObject *self)
{
	const dck_style style = {.utf8 = true};

	return ext_record_written(ext_state_by(self), "text", record_of(self), &style);
}

static PyObject *record_save(PyObject *self, PyObject *path)
{
	ext_texts texts = {NULL};
	const char *name = ext_texts_add(&texts, path);
	dck_status status = DCK_OK;
	dck_err err;

	if (name)
		EXT_WITHOUT_GIL(status = dck_record_save(record_of(self), name, &err));
	if (name && status != DCK_OK)
		ext_raise_of(ext_state_by(self), &err, name);
	ext_texts_done(&texts);
	if (!name || status != DCK_OK)
		return NULL;
	Py_RETURN_NONE;
}

static PyObject *record_repr(PyObject *self)
{
	const dck_record *r = record_of(self);

	return PyUnicode_FromFormat("<deepclock.Record %s: %s, %zu metrics%s>", r->id,
				    r->command ? r->command : "no title", r->nmetrics,
				    r->incomplete ? ", incomplete" : "");
}

PyDoc_STRVAR(
    record_doc,
    "The immutable result of one measurement.\n\nrecord[tag] is a Metric, print(record) the text report; iteration, keys(), items() and get() are as for the dict record.metrics. Records are equal if their content is, and can be pickled. facts, metrics, series, tables and trees are dicts by name, notes is a list.");

#define OF_RECORD(field) ((void *)offsetof(dck_record, field))
static PyGetSetDef record_getset[] = {
    {"facts", record_facts, NULL, "dict: \"host/cpu\" to Fact", NULL},
    {"metrics", ext_record_metrics, NULL, "dict: tag to Metric", NULL},
    {"series", record_series, NULL, "dict: tag to Series", NULL},
    {"tables", record_tables, NULL, "dict: name to Table", NULL},
    {"trees", record_trees, NULL, "dict: name to Tree", NULL},
    {"ops", record_ops, NULL, "list of dict: the model's operators; None: unknown", NULL},
    {"notes", record_notes, NULL, "list of Note: warnings about the numbers", NULL},
    {"id", record_text, NULL, "128 random bits in hexadecimal", OF_RECORD(id)},
    {"version", record_text, NULL, "of the deepclock that made it", OF_RECORD(version)},
    {"command", record_text, NULL, "the command, or None", OF_RECORD(command)},
    {"began_unix_ns", record_began, NULL, "when it began, ns since 1970; 0: not known", NULL},
    {"incomplete", record_incomplete, NULL,
     "interrupted or failed in the middle; a note has the reason", NULL},
    {"verdict", record_verdict, NULL,
     "of a comparison \"faster\", \"slower\", \"same\", \"undecided\"; of load \"met\", "
     "\"violated\", \"inconclusive\"; else None",
     NULL},
    {"macs", record_count, NULL, "cost/macs as a number, or None", "cost/macs"},
    {"params", record_count, NULL, "cost/params as a number, or None", "cost/params"},
    {"gate", record_gate, NULL,
     "\"met\", \"violated\" or \"inconclusive\", by which the program's exit status is chosen",
     NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyMethodDef record_methods[] = {
    {"get", ext_record_find, METH_VARARGS,
     "get($self, tag, default=None, /)\n--\n\nrecord[tag], or default without that metric."},
    {"keys", ext_record_keys, METH_NOARGS, "keys($self, /)\n--\n\nThe tags of the metrics."},
    {"values", ext_record_values, METH_NOARGS, "values($self, /)\n--\n\nThe metrics."},
    {"items", ext_record_items, METH_NOARGS,
     "items($self, /)\n--\n\n(tag, metric) of each metric."},
    {"__reduce__", ext_record_reduce, METH_NOARGS,
     "__reduce__($self, /)\n--\n\nFor pickle and copy: its JSON."},
    {"to_pandas", record_to_pandas, METH_VARARGS,
     "to_pandas($self, table=None, /)\n--\n\nA pandas.DataFrame: of the metrics, or of the table, "
     "series or \"ops\" of that name. AbsentError."},
    {"_repr_html_", record_html, METH_NOARGS, "_repr_html_($self, /)\n--\n\nFor notebooks."},
    {"show", (PyCFunction)(void (*)(void))record_show, METH_VARARGS | METH_KEYWORDS,
     "show($self, /, path=None)\n--\n\nThe record as a page with charts: in a notebook below the cell, elsewhere in the browser. The page is written to path (default: a new temporary file); returns its name."},
    {"to_json", ext_record_to_json, METH_NOARGS,
     "to_json($self, /)\n--\n\nThe whole record as JSON: what `deepclock report` reads."},
    {"save", record_save, METH_O,
     "save($self, path, /)\n--\n\nWrites its JSON into a file, completely or not at all; IoError."},
    {"report", (PyCFunction)(void (*)(void))ext_record_report, METH_VARARGS | METH_KEYWORDS,
     "report($self, /, format='text', *, details=False, width=80, utf8=True, colour=False, sources=False, rest=None, source_root=None, **options)\n--\n\nThe record in a format of `deepclock report`: text, json, csv, markdown, html, junit, ... by, sort, top, tree, weight, depth, callers and callees choose tables and call paths, as its options do."},
    {"summary", (PyCFunction)(void (*)(void))record_summary, METH_VARARGS | METH_KEYWORDS,
     "summary($self, /, digits=3)\n--\n\nMACs and parameters as \"1.814G MACs, 11.690M params\", of a PyTorch module also of each module in it, in the layout of print(module)."},
    {"figures", record_figures, METH_O,
     "figures($self, path, /)\n--\n\n"
     "Draws every figure of the record into a directory, as SVG and PNG, or the one that a file is named by, "
     "'pictures/ecdf.svg' or '.png'; returns their names. AbsentError: the record has nothing for that figure."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot record_slots[] = {
    {Py_tp_doc, (void *)record_doc},
    {Py_tp_new, ext_type_not_made},
    {Py_tp_dealloc, record_dealloc},
    {Py_tp_repr, record_repr},
    {Py_tp_str, record_str},
    {Py_tp_getset, record_getset},
    {Py_tp_methods, record_methods},
    {Py_mp_subscript, ext_record_subscript},
    {Py_sq_contains, ext_record_contains},
    {Py_tp_iter, ext_record_iter},
    {Py_tp_richcompare, ext_record_compare},
    {Py_tp_hash, ext_record_hash},
    {0, NULL},
};

/* Returns the bytes of a pipe, for whose writer Python waits, which Ctrl-C ends. NULL with an
 * exception, or without one: it is another kind of file, or cannot be opened. */
static PyObject *piped(const char *name)
{
	struct stat st;

	if (stat(name, &st) < 0 || !S_ISFIFO(st.st_mode))
		return NULL;
	PyObject *bytes =
	    ext_module_call("deepclock._record", "piped", "(Nn)", ext_text(name), PIPE_MAX_BYTES);
	if (bytes == Py_None)
		Py_CLEAR(bytes);
	return bytes;
}

/* Returns the record of a JSON text that was read from `name`. Takes over the reference. */
static PyObject *piped_record(PyObject *m, PyObject *bytes, const char *name)
{
	dck_record *r = NULL;
	dck_err err, why;
	const dck_status status =
	    dck_record_parse(PyBytes_AS_STRING(bytes), (size_t)PyBytes_GET_SIZE(bytes), &r, &why);

	Py_DECREF(bytes);
	if (status == DCK_OK)
		return ext_record_new(ext_state_of(m), r);
	err = why;
	PyOS_snprintf(err.msg, sizeof err.msg, "while reading the record '%s': %s", name, why.msg);
	return ext_raise_of(ext_state_of(m), &err, name);
}

static PyObject *load(PyObject *m, PyObject *path)
{
	ext_texts texts = {NULL};
	const char *name = ext_texts_add(&texts, path);
	dck_status st = DCK_OK;
	dck_timeline timeline = {0};
	dck_record *r = NULL;
	dck_err err = {0};
	PyObject *bytes = name ? piped(name) : NULL;

	if (bytes || PyErr_Occurred()) {
		PyObject *read = bytes ? piped_record(m, bytes, name) : NULL;

		ext_texts_done(&texts);
		return read;
	}
	if (name)
		EXT_WITHOUT_GIL(st = dck_trace_is(name)
					 ? dck_trace_read_timeline(name, &(dck_trace_reading){0},
								   &r, &timeline, &err)
					 : dck_read_any(name, NULL, &r, &err));
	if (name && st != DCK_OK)
		ext_raise_of(ext_state_of(m), &err, name);
	ext_texts_done(&texts);
	if (!name || st != DCK_OK)
		return NULL;
	PyObject *loaded = ext_record_new(ext_state_of(m), r);
	if (loaded)
		((record *)loaded)->timeline = timeline;
	else
		dck_timeline_done(&timeline);
	return loaded;
}

static PyObject *parse(PyObject *m, PyObject *args)
{
	dck_record *r;
	Py_buffer b;
	dck_err err;

	if (!PyArg_ParseTuple(args, "s*:parse", &b))
		return NULL;
	const dck_status status = dck_record_parse(b.buf, (size_t)b.len, &r, &err);
	PyBuffer_Release(&b);
	return ext_result(ext_state_of(m), status, r, &err);
}

static PyMethodDef methods[] = {
    {"load", load, METH_O,
     "load($module, path, /)\n--\n\nThe Record that was saved in a file, or made of a profile or trace in it. AbsentError, IoError, "
     "FormatError, VersionError, LimitError."},
    {"parse", parse, METH_VARARGS,
     "parse($module, json, /)\n--\n\nThe Record of a JSON text, str or bytes. FormatError, "
     "VersionError."},
    {NULL, NULL, 0, NULL},
};

static int record_add(PyObject *m, ext_state *s)
{
	s->record = ext_type_add(m, "deepclock.Record", sizeof(record), record_slots);
	s->fact = ext_tuple_add(m, "deepclock.Fact",
				"A fact about the request, the environment or the method.",
				fact_fields, 5);
	s->note = ext_tuple_add(m, "deepclock.Note",
				"What the reader must know to trust the numbers.", note_fields, 5);
	return s->record && s->fact && s->note ? 0 : -1;
}

const ext_part ext_record = {.methods = methods, .add = record_add};
