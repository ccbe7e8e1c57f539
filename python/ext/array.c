/* array.c - zero-copy Python view of the numbers of a record: deepclock.Array.
 *
 *     numpy.asarray(record.series["latency"].values)
 *     torch.from_dlpack(record.series["latency"].values)
 *
 * The buffer protocol exports the record's memory read-only. Some DLPack consumers
 * write to the tensor regardless, so DLPack exports a copy.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "dlpack.h"
#include "ext.h"
#include <string.h>

typedef struct array {
	PyObject_HEAD PyObject *owner;
	const char *data;
	Py_ssize_t shape[2], strides[2];
	int ndim;
	char format[2]; /* "d" or "Q": both have 8 bytes */
} array;
enum { ITEM = 8 };

PyObject *ext_array_new(ext_state *s, PyObject *owner, const void *data, char kind, size_t rows,
			size_t columns)
{
	array *a = PyObject_New(array, s->array);

	if (!a)
		return NULL;
	Py_INCREF(owner);
	a->owner = owner;
	a->data = data;
	a->ndim = columns ? 2 : 1;
	a->shape[0] = (Py_ssize_t)rows;
	a->shape[1] = (Py_ssize_t)columns;
	a->strides[0] = ITEM * (Py_ssize_t)(columns ? columns : 1);
	a->strides[1] = ITEM;
	a->format[0] = kind;
	a->format[1] = '\0';
	return (PyObject *)a;
}

static void array_dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	Py_DECREF(((array *)self)->owner);
	PyObject_Free(self);
	Py_DECREF(type);
}

static Py_ssize_t bytes_of(const array *a)
{
	return a->shape[0] * a->strides[0];
}

static int array_getbuffer(PyObject *self, Py_buffer *view, int flags)
{
	array *a = (array *)self;
	static char nothing[1];

	if (flags & PyBUF_WRITABLE) {
		view->obj = NULL;
		PyErr_SetString(PyExc_BufferError, "a record cannot be changed: copy it");
		return -1;
	}
	if ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS && a->ndim > 1) {
		view->obj = NULL;
		PyErr_SetString(PyExc_BufferError,
				"the numbers of a row are contiguous: copy them");
		return -1;
	}
	Py_INCREF(self);
	*view = (Py_buffer){
	    .buf = a->data ? (void *)(uintptr_t)a->data : nothing,
	    .obj = self,
	    .len = bytes_of(a),
	    .itemsize = ITEM,
	    .readonly = 1,
	    .ndim = a->ndim,
	    .format = flags & PyBUF_FORMAT ? a->format : NULL,
	    .shape = flags & PyBUF_ND ? a->shape : NULL,
	    .strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? a->strides : NULL,
	};
	return 0;
}

static PyObject *number_at(const array *a, Py_ssize_t i)
{
	uint64_t bits;
	double d;

	memcpy(&bits, a->data + i * ITEM, ITEM);
	memcpy(&d, a->data + i * ITEM, ITEM);
	return a->format[0] == 'd' ? PyFloat_FromDouble(d) : PyLong_FromUnsignedLongLong(bits);
}

static PyObject *row_at(PyObject *self, Py_ssize_t i)
{
	const array *a = (const array *)self;

	if (i < 0 || i >= a->shape[0]) {
		PyErr_SetString(PyExc_IndexError, "there are fewer values");
		return NULL;
	}
	return a->ndim == 1
		   ? number_at(a, i)
		   : ext_array_new(ext_state_by(self), a->owner, a->data + i * a->strides[0],
				   a->format[0], (size_t)a->shape[1], 0);
}

static Py_ssize_t array_length(PyObject *self)
{
	return ((const array *)self)->shape[0];
}

/* A slice is a memoryview, so it is not copied either. */
static PyObject *array_subscript(PyObject *self, PyObject *key)
{
	PyObject *view, *part;
	Py_ssize_t i;

	if (PyIndex_Check(key)) {
		i = PyNumber_AsSsize_t(key, PyExc_IndexError);
		if (i == -1 && PyErr_Occurred())
			return NULL;
		return row_at(self, i < 0 ? i + array_length(self) : i);
	}
	view = PyMemoryView_FromObject(self);
	part = view ? PyObject_GetItem(view, key) : NULL;
	Py_XDECREF(view);
	return part;
}

static PyObject *array_tolist(PyObject *self, PyObject *none)
{
	PyObject *view = PyMemoryView_FromObject(self);
	PyObject *list = view ? PyObject_CallMethod(view, "tolist", NULL) : NULL;

	(void)none;
	Py_XDECREF(view);
	return list;
}

static PyObject *array_shape(PyObject *self, void *closure)
{
	const array *a = (const array *)self;

	(void)closure;
	return a->ndim == 1 ? Py_BuildValue("(n)", a->shape[0])
			    : Py_BuildValue("(nn)", a->shape[0], a->shape[1]);
}

static PyObject *array_repr(PyObject *self)
{
	const array *a = (const array *)self;
	PyObject *shape = array_shape(self, NULL);
	PyObject *text = shape ? PyUnicode_FromFormat("<deepclock.Array of shape %R, %s>", shape,
						      a->format[0] == 'd' ? "float64" : "uint64")
			       : NULL;

	Py_XDECREF(shape);
	return text;
}

/* --- DLPack */

typedef struct copied {
	dl_managed dl; /* first */
	int64_t shape[2];
	double data[]; /* elements of 8 bytes, double or uint64_t */
} copied;
enum { DL_UINT = 1, DL_FLOAT = 2 };

static void dl_delete(dl_managed *m)
{
	PyMem_RawFree(m);
}

/* Frees a capsule that no consumer took. */
static void dl_capsule_free(PyObject *capsule)
{
	if (PyCapsule_IsValid(capsule, DL_CAPSULE))
		dl_delete(PyCapsule_GetPointer(capsule, DL_CAPSULE));
}

static PyObject *array_dlpack(PyObject *self, PyObject *args, PyObject *kwargs)
{
	static char *names[] = {"stream", "max_version", "dl_device", "copy", NULL};
	const array *a = (const array *)self;
	PyObject *stream = Py_None, *version = Py_None, *device = Py_None, *copy = Py_None;
	PyObject *capsule;
	copied *m;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$OOOO:__dlpack__", names, &stream,
					 &version, &device, &copy))
		return NULL;
	if (copy == Py_False) {
		PyErr_SetString(
		    PyExc_BufferError,
		    "a record cannot be changed: DLPack exports only a copy of its numbers");
		return NULL;
	}
	m = PyMem_RawMalloc(sizeof *m + (size_t)bytes_of(a));
	if (!m)
		return PyErr_NoMemory();
	m->shape[0] = a->shape[0];
	m->shape[1] = a->shape[1];
	if (bytes_of(a) > 0)
		memcpy(m->data, a->data, (size_t)bytes_of(a));
	m->dl.tensor = (dl_tensor){
	    .data = m->data,
	    .device_type = DL_CPU,
	    .ndim = a->ndim,
	    .code = a->format[0] == 'd' ? DL_FLOAT : DL_UINT,
	    .bits = 64,
	    .lanes = 1,
	    .shape = m->shape,
	};
	m->dl.manager = NULL;
	m->dl.deleter = dl_delete;
	capsule = PyCapsule_New(&m->dl, DL_CAPSULE, dl_capsule_free);
	if (!capsule)
		dl_delete(&m->dl);
	return capsule;
}

static PyObject *array_dlpack_device(PyObject *self, PyObject *none)
{
	(void)self;
	(void)none;
	return Py_BuildValue("(ii)", DL_CPU, 0);
}

PyDoc_STRVAR(array_doc,
	     "Numbers of a record, float64 or uint64, in one or two dimensions; read-only.\n\n"
	     "numpy.asarray() shows them without a copy, torch.from_dlpack() copies them.");

static PyMethodDef array_methods[] = {
    {"tolist", array_tolist, METH_NOARGS, "tolist($self, /)\n--\n\nThe numbers as a list."},
    {"__dlpack__", (PyCFunction)(void (*)(void))array_dlpack, METH_VARARGS | METH_KEYWORDS,
     "__dlpack__($self, /, *, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\n"
     "A copy for DLPack; BufferError where copy is False."},
    {"__dlpack_device__", array_dlpack_device, METH_NOARGS,
     "__dlpack_device__($self, /)\n--\n\n(1, 0): the memory of the host."},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef array_getset[] = {
    {"shape", array_shape, NULL, "number of values in each dimension", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot array_slots[] = {
    {Py_tp_doc, (void *)array_doc},
    {Py_tp_new, ext_type_not_made},
    {Py_tp_dealloc, array_dealloc},
    {Py_tp_repr, array_repr},
    {Py_tp_methods, array_methods},
    {Py_tp_getset, array_getset},
    {Py_bf_getbuffer, array_getbuffer},
    {Py_mp_length, array_length},
    {Py_mp_subscript, array_subscript},
    {Py_sq_length, array_length},
    {Py_sq_item, row_at},
    {0, NULL},
};

static int array_add(PyObject *m, ext_state *s)
{
	s->array = ext_type_add(m, "deepclock.Array", sizeof(array), array_slots);
	return s->array ? 0 : -1;
}

const ext_part ext_array = {.add = array_add};
