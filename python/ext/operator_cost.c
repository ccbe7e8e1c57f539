/* operator_cost.c - the cost of one operator, for counters of another library's calls.
 *
 *     macs, flops, read_bytes, write_bytes, shape, why, peers = operator_cost(
 *         "Conv", [("float32", (1, 3, 8, 8)), ("float32", (4, 3, 3, 3))], {"pads": (1, 1, 1, 1)})
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "ext.h"
#include <stdlib.h>
#include <string.h>

/* Owns the data of the node until its cost is computed. */
typedef struct work {
	dck_cost_node node;
	dck_cost_tensor *inputs;
	dck_cost_attribute *attributes;
	int64_t **lists; /* sizes, contents, lists of integers */
	size_t nlists, nkept;
	PyObject **kept; /* objects that own the texts */
} work;

static int64_t *ints_read(work *w, PyObject *sequence, size_t *ret_n)
{
	PyObject *items = PySequence_Tuple(sequence);
	const Py_ssize_t n = items ? PyTuple_Size(items) : 0;
	int64_t *list = items ? PyMem_Malloc(((size_t)n + 1) * sizeof *list) : NULL;

	if (items && !list)
		PyErr_NoMemory();
	for (Py_ssize_t i = 0; list && i < n; i++) {
		list[i] = PyLong_AsLongLong(PyTuple_GetItem(items, i));
		if (list[i] == -1 && PyErr_Occurred()) {
			PyMem_Free(list);
			list = NULL;
		}
	}
	Py_XDECREF(items);
	if (list) {
		w->lists[w->nlists++] = list;
		*ret_n = (size_t)n;
	}
	return list;
}

/* Reads (dtype, shape) or (dtype, shape, contents); None: the input is omitted. */
static int input_read(work *w, PyObject *item, dck_cost_tensor *ret)
{
	PyObject *shape, *contents = Py_None;
	size_t n;

	if (item == Py_None)
		return 0;
	if (!PyTuple_Check(item)) {
		PyErr_SetString(PyExc_TypeError, "an input is (dtype, shape[, contents]) or None");
		return -1;
	}
	if (!PyArg_ParseTuple(item, "sO|O", &ret->dtype, &shape, &contents))
		return -1;
	ret->dim = ints_read(w, shape, &ret->rank);
	if (!ret->dim)
		return -1;
	if (contents == Py_None)
		return 0;
	int64_t elements = 1;
	for (size_t i = 0; i < ret->rank; i++)
		if (ret->dim[i] < 0 || __builtin_mul_overflow(elements, ret->dim[i], &elements))
			elements = -1;
	ret->ints = ints_read(w, contents, &n);
	if (ret->ints && elements != (int64_t)n)
		PyErr_SetString(PyExc_ValueError, "the contents of an input do not fit its shape");
	return ret->ints && elements == (int64_t)n ? 0 : -1;
}

static int attribute_read(work *w, PyObject *name, PyObject *value, dck_cost_attribute *ret)
{
	ret->name = PyUnicode_AsUTF8AndSize(name, NULL);
	if (!ret->name)
		return -1;
	if (PyLong_Check(value)) {
		ret->kind = DCK_ATTRIBUTE_INT;
		ret->i = PyLong_AsLongLong(value);
	} else if (PyFloat_Check(value)) {
		ret->kind = DCK_ATTRIBUTE_REAL;
		ret->real = PyFloat_AsDouble(value);
	} else if (PyUnicode_Check(value)) {
		ret->kind = DCK_ATTRIBUTE_TEXT;
		ret->text = PyUnicode_AsUTF8AndSize(value, NULL);
	} else {
		ret->kind = DCK_ATTRIBUTE_INTS;
		ret->ints = ints_read(w, value, &ret->nints);
	}
	return PyErr_Occurred() ? -1 : 0;
}

static int keep(work *w, PyObject *o)
{
	if (!o)
		return -1;
	w->kept[w->nkept++] = o;
	return 0;
}

static int node_read(work *w, PyObject *inputs, PyObject *attributes)
{
	PyObject *list = PySequence_Tuple(inputs), *items;

	if (!list)
		return -1;
	const size_t nin = (size_t)PyTuple_Size(list), nattr = (size_t)PyDict_Size(attributes);
	w->inputs = PyMem_Calloc(nin + 1, sizeof *w->inputs);
	w->attributes = PyMem_Calloc(nattr + 1, sizeof *w->attributes);
	w->lists = PyMem_Calloc(2 * nin + nattr + 1, sizeof *w->lists);
	w->kept = PyMem_Calloc(2, sizeof *w->kept);
	if (!w->inputs || !w->attributes || !w->lists || !w->kept) {
		Py_DECREF(list);
		return ext_failed(PyErr_NoMemory());
	}
	keep(w, list);
	items = PyDict_Items(attributes);
	if (keep(w, items) < 0)
		return -1;
	for (size_t i = 0; i < nin; i++)
		if (input_read(w, PyTuple_GetItem(list, (Py_ssize_t)i), &w->inputs[i]) < 0)
			return -1;
	for (size_t i = 0; i < nattr; i++) {
		PyObject *pair = PyList_GetItem(items, (Py_ssize_t)i);
		if (attribute_read(w, PyTuple_GetItem(pair, 0), PyTuple_GetItem(pair, 1),
				   &w->attributes[i]) < 0)
			return -1;
	}
	w->node.inputs = w->inputs;
	w->node.ninputs = nin;
	w->node.attributes = w->attributes;
	w->node.nattributes = nattr;
	return 0;
}

static void work_done(work *w)
{
	for (size_t i = 0; i < w->nlists; i++)
		PyMem_Free(w->lists[i]);
	for (size_t i = 0; i < w->nkept; i++)
		Py_DECREF(w->kept[i]);
	PyMem_Free(w->lists);
	PyMem_Free(w->kept);
	PyMem_Free(w->inputs);
	PyMem_Free(w->attributes);
}

static PyObject *same(PyObject *o)
{
	Py_INCREF(o);
	return o;
}

/* Returns a number, None if unknown. */
static PyObject *number(int64_t n)
{
	return n < 0 ? same(Py_None) : PyLong_FromLongLong(n);
}

static PyObject *shape_made(const dck_cost_price *p)
{
	PyObject *shape = p->rank < 0 ? same(Py_None) : PyTuple_New(p->rank);

	for (int i = 0; shape && i < p->rank; i++) {
		PyObject *size = number(p->dim[i]);
		if (!size) {
			Py_DECREF(shape);
			return NULL;
		}
		PyTuple_SetItem(shape, i, size);
	}
	return shape;
}

/* Makes the tuple that cost_peers() indexes. */
static PyObject *peers_made(const dck_cost_price *p)
{
	PyObject *list = PyList_New(0), *ret;
	dck_cost_peer peer;

	for (int as = 1; list && dck_cost_peer_get(as, &peer); as++)
		ext_list_add(&list, number(p->peers[as]));
	ret = list ? PyList_AsTuple(list) : NULL;
	Py_XDECREF(list);
	return ret;
}

static PyObject *price_made(const dck_cost_price *p)
{
	return Py_BuildValue("(NNNNNNN)", number(p->macs), number(p->flops), number(p->read_bytes),
			     number(p->write_bytes), shape_made(p), ext_text(p->why),
			     peers_made(p));
}

PyDoc_STRVAR(
    operator_cost_doc,
    "operator_cost(type, inputs, attributes={}, outputs=1)\n--\n\nThe cost of one run of an operator, by deepclock's table ('deepclock cost --operators').\n\ntype: \"Conv\", \"com.microsoft.Gelu\". inputs: for each None (left out), (dtype, shape) or (dtype, shape, contents), with dtype as \"float32\". attributes: integers, floats, texts and lists of integers by their names in ONNX.\n\nReturns (macs, flops, read_bytes, write_bytes, shape of the first output, why, the count of each of _cost_peers()); None: unknown, with the reason in `why`. Raises AbsentError for an operator that is not in the table, ArgumentError for invalid sizes and types.");

static PyObject *operator_cost(PyObject *module, PyObject *args, PyObject *kwargs)
{
	static char *names[] = {"type", "inputs", "attributes", "outputs", NULL};
	PyObject *inputs, *attributes = NULL, *ret = NULL;
	Py_ssize_t outputs = 1;
	const char *type;
	char domain[128];
	dck_cost_price price;
	work w = {0};
	dck_err err;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "sO|O!n:operator_cost", names, &type,
					 &inputs, &PyDict_Type, &attributes, &outputs))
		return NULL;
	const char *dot = strrchr(type, '.');
	if (outputs < 0 || (dot && (size_t)(dot - type) >= sizeof domain))
		return ext_raise_argument(ext_state_of(module),
					  "no operator has this name and number of outputs");
	attributes = attributes ? same(attributes) : PyDict_New();
	if (!attributes || node_read(&w, inputs, attributes) < 0)
		goto done;
	w.node.noutputs = (size_t)outputs;
	w.node.name = type;
	if (dot) {
		memcpy(domain, type, (size_t)(dot - type));
		domain[dot - type] = '\0';
		w.node.domain = domain;
		w.node.name = dot + 1;
	}
	if (dck_cost_price_get(&w.node, &price, &err) == DCK_OK)
		ret = price_made(&price);
	else
		ext_raise(ext_state_of(module), &err);
done:
	work_done(&w);
	Py_XDECREF(attributes);
	return ret;
}

PyDoc_STRVAR(
    cost_peers_doc,
    "_cost_peers()\n--\n\n"
    "The counters whose convention can be shown: (name, unit, help, what its numbers depend on "
    "that a graph does not show or None, whether it is partial).");

static PyObject *cost_peers(PyObject *module, PyObject *unused)
{
	PyObject *ret = PyList_New(0);
	dck_cost_peer p;

	(void)module;
	(void)unused;
	for (int as = 1; ret && dck_cost_peer_get(as, &p); as++)
		ext_list_add(&ret, Py_BuildValue("(ssszO)", p.name, p.unit, p.help, p.hidden,
						 p.is_partial ? Py_True : Py_False));
	return ret;
}

static PyMethodDef methods[] = {
    {"operator_cost", (PyCFunction)(void (*)(void))operator_cost, METH_VARARGS | METH_KEYWORDS,
     operator_cost_doc},
    {"_cost_peers", cost_peers, METH_NOARGS, cost_peers_doc},
    {0},
};

const ext_part ext_operator_cost = {.methods = methods};
