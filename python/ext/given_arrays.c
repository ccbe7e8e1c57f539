/* given_arrays.c - arrays that a caller gives as values: input={"x": array}.
 *
 * Arrays are read without a copy: by the buffer protocol (NumPy, memoryview, array.array), else by
 * DLPack (PyTorch, JAX, CuPy's host memory). Only arrays that are not row-major are copied. The
 * array is held until the call returns; the library copies it into the model's inputs before it
 * measures.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "dlpack.h"
#include "ext.h"
#include <string.h>

/* Memory layout of an array of any protocol; strides in bytes. */
typedef struct layout {
	const char *data;
	dck_dtype dtype;
	int rank;
	int64_t shape[DCK_RANK_MAX], strides[DCK_RANK_MAX];
} layout;

bool ext_arrays_is(PyObject *o)
{
	PyObject *rank;
	long n = -1;

	if (PyUnicode_Check(o) || PyBytes_Check(o) || PyLong_Check(o) || PyFloat_Check(o) ||
	    PyList_Check(o) || PyTuple_Check(o) || PyDict_Check(o))
		return false;
	if (!PyObject_CheckBuffer(o) && !PyObject_HasAttrString(o, "__dlpack__"))
		return false;
	/* NumPy scalars and 0-dimensional arrays count as numbers. */
	rank = PyObject_GetAttrString(o, "ndim");
	n = rank ? PyLong_AsLong(rank) : -1;
	Py_XDECREF(rank);
	PyErr_Clear();
	return n != 0;
}

/* --- row-major */

static size_t elements_of(const layout *l)
{
	size_t n = 1;

	for (int i = 0; i < l->rank; i++)
		n *= (size_t)l->shape[i]; /* no overflow: the array is in memory */
	return n;
}

static bool is_row_major(const layout *l)
{
	int64_t step = (int64_t)dck_dtype_bytes(l->dtype);

	for (int i = l->rank; i-- > 0;) {
		if (l->shape[i] != 1 && l->strides[i] != step)
			return false;
		step *= l->shape[i];
	}
	return true;
}

static void row_major_copy(const layout *l, char *to)
{
	const size_t item = dck_dtype_bytes(l->dtype);
	int64_t at[DCK_RANK_MAX] = {0};
	const char *from = l->data;

	for (size_t n = elements_of(l); n > 0; n--, to += item) {
		memcpy(to, from, item);
		for (int i = l->rank; i-- > 0;) {
			from += l->strides[i];
			if (++at[i] < l->shape[i])
				break;
			from -= l->strides[i] * l->shape[i];
			at[i] = 0;
		}
	}
}

static int taken(ext_arrays *all, ext_array_given *g, const layout *l)
{
	const size_t bytes = elements_of(l) * dck_dtype_bytes(l->dtype);
	dck_tensor *t = &all->item[all->n].tensor;

	*t = (dck_tensor){
	    .data = (void *)(uintptr_t)l->data, .dtype = l->dtype, .rank = l->rank, .bytes = bytes};
	memcpy(t->dim, l->shape, sizeof t->dim);
	if (bytes == 0 || is_row_major(l))
		return 0;
	g->copy = PyMem_RawMalloc(bytes);
	if (!g->copy)
		return ext_failed(PyErr_NoMemory());
	row_major_copy(l, g->copy);
	t->data = g->copy;
	return 0;
}

/* --- the buffer protocol */

/* Parses a format of Python's struct module: one element in native byte order. */
static bool dtype_of_format(const char *format, Py_ssize_t bytes, dck_dtype *ret)
{
	static const char *const letters[] = {[DCK_DTYPE_INT] = "bhilqn",
					      [DCK_DTYPE_UINT] = "BHILQN",
					      [DCK_DTYPE_FLOAT] = "efd",
					      [DCK_DTYPE_BOOL] = "?"};
	const uint16_t one = 1;
	const bool little = *(const char *)&one == 1;
	int code = -1;

	format = format ? format : "B";
	if (*format == '@' || *format == '=' || *format == (little ? '<' : '>') ||
	    (bytes == 1 && *format && strchr("<>!|", *format)))
		format++;
	for (int i = 0; i < (int)(sizeof letters / sizeof *letters); i++)
		if (letters[i] && format[0] && !format[1] && strchr(letters[i], format[0]))
			code = i;
	if (strcmp(format, "Zf") == 0 || strcmp(format, "Zd") == 0)
		code = DCK_DTYPE_COMPLEX;
	*ret = (dck_dtype){(uint8_t)code, (uint8_t)(8 * bytes), 1};
	return code >= 0 && (size_t)bytes == dck_dtype_bytes(*ret);
}

static int buffer_take(ext_state *s, ext_arrays *all, ext_array_given *g, const char *name)
{
	Py_buffer *v = &g->view;
	layout l = {0};

	if (PyObject_GetBuffer(g->owner, v, PyBUF_FORMAT | PyBUF_STRIDES) < 0)
		return -1;
	g->has_view = true;
	if (v->ndim > DCK_RANK_MAX)
		return ext_failed(
		    ext_raise_argument(s, "the array '%s' has %d dimensions: at most %d are taken",
				       name, v->ndim, DCK_RANK_MAX));
	if (!dtype_of_format(v->format, v->itemsize, &l.dtype))
		return ext_failed(ext_raise_argument(
		    s,
		    "the array '%s' has elements of the format '%.32s': numbers in "
		    "this machine's byte order are taken",
		    name, v->format));
	l.data = v->buf;
	l.rank = v->ndim;
	for (int i = 0; i < l.rank; i++) {
		l.shape[i] = v->shape[i];
		l.strides[i] = v->strides[i];
	}
	return taken(all, g, &l);
}

/* --- DLPack */

/* Called before __dlpack__(), which on a device would copy or block. */
static int device_check(ext_state *s, PyObject *o, const char *name)
{
	PyObject *device = PyObject_CallMethod(o, "__dlpack_device__", NULL);
	int type = 0, number = 0;

	if (!device || !PyArg_ParseTuple(device, "ii:__dlpack_device__", &type, &number)) {
		Py_XDECREF(device);
		return -1;
	}
	Py_DECREF(device);
	if (type == DL_CPU || type == DL_CUDA_HOST || type == DL_ROCM_HOST)
		return 0;
	return ext_failed(ext_raise_argument(
	    s,
	    "the array '%s' is in the memory of a device (DLPack's type %d, number %d): bring it to the CPU, as by x.cpu()",
	    name, type, number));
}

static int tensor_take(ext_state *s, ext_arrays *all, ext_array_given *g, const char *name)
{
	const dl_tensor *t = &g->dl->tensor;
	layout l = {.dtype = {t->code, t->bits, t->lanes}};
	int64_t step = (int64_t)dck_dtype_bytes(l.dtype);

	if (t->ndim < 0 || t->ndim > DCK_RANK_MAX)
		return ext_failed(
		    ext_raise_argument(s, "the array '%s' has %d dimensions: at most %d are taken",
				       name, (int)t->ndim, DCK_RANK_MAX));
	if (t->lanes != 1 || step == 0 || t->bits % 8 != 0)
		return ext_failed(ext_raise_argument(
		    s, "the array '%s' has elements that are not plain numbers", name));
	l.data = (const char *)t->data + t->byte_offset;
	l.rank = t->ndim;
	for (int i = l.rank; i-- > 0;) {
		l.shape[i] = t->shape[i];
		l.strides[i] =
		    t->strides ? t->strides[i] * (int64_t)dck_dtype_bytes(l.dtype) : step;
		step *= t->shape[i];
	}
	return taken(all, g, &l);
}

static int dlpack_take(ext_state *s, ext_arrays *all, ext_array_given *g, const char *name)
{
	PyObject *capsule;
	int status = -1;

	if (device_check(s, g->owner, name) < 0)
		return -1;
	capsule = PyObject_CallMethod(g->owner, "__dlpack__", NULL);
	if (!capsule)
		return -1;
	if (!PyCapsule_IsValid(capsule, DL_CAPSULE)) {
		ext_raise_argument(
		    s, "what __dlpack__() of the array '%s' returns is not a tensor: %s", name,
		    Py_TYPE(capsule)->tp_name);
	} else if (PyCapsule_SetName(capsule, DL_CAPSULE_TAKEN) == 0) {
		g->dl = PyCapsule_GetPointer(capsule, DL_CAPSULE_TAKEN);
		status = tensor_take(s, all, g, name);
	}
	Py_DECREF(capsule);
	return status;
}

/* --- all of them */

/* Detaches and copies to the CPU a tensor that exports no memory, because it requires gradients or
 * is on a device; returns any other object unchanged. A new reference. */
static PyObject *on_host(PyObject *o)
{
	PyObject *detached, *here;

	if (!PyObject_HasAttrString(o, "detach") || !PyObject_HasAttrString(o, "cpu")) {
		Py_INCREF(o);
		return o;
	}
	detached = PyObject_CallMethod(o, "detach", NULL);
	here = detached ? PyObject_CallMethod(detached, "cpu", NULL) : NULL;
	Py_XDECREF(detached);
	return here;
}

/* Reads a list of str as pointers to their bytes. */
static int texts_take(ext_arrays *all, ext_array_given *g, ext_texts *texts)
{
	const Py_ssize_t n = PyList_GET_SIZE(g->owner);
	const char **pointers = PyMem_RawCalloc((size_t)n, sizeof *pointers);

	g->copy = pointers;
	if (!pointers)
		return ext_failed(PyErr_NoMemory());
	for (Py_ssize_t i = 0; i < n; i++)
		if (!(pointers[i] = ext_texts_add(texts, PyList_GET_ITEM(g->owner, i))))
			return -1;
	all->item[all->n].texts = pointers;
	all->item[all->n].ntexts = (size_t)n;
	return 0;
}

/* Raises if items of the array are masked (numpy.ma), which its memory does not show. */
static int masked_check(ext_state *s, PyObject *o, const char *name)
{
	PyObject *mask =
	    PyObject_HasAttrString(o, "fill_value") ? PyObject_GetAttrString(o, "mask") : NULL;
	PyObject *any = mask ? PyObject_CallMethod(mask, "any", NULL) : NULL;
	const int is = any ? PyObject_IsTrue(any) : 0;

	PyErr_Clear(); /* of another type with such attributes */
	Py_XDECREF(any);
	Py_XDECREF(mask);
	if (is <= 0)
		return 0;
	return ext_failed(ext_raise_argument(
	    s, "the array '%s' has masked items: leave them out, or give filled()", name));
}

/* Takes over `owner`, a list of str or an exporter of memory; `type`: the type that the caller
 * passed. */
static const char *memory_add(ext_state *s, ext_arrays *all, ext_texts *texts, PyObject *owner,
			      const char *type)
{
	ext_array_given *g = &all->given[all->n];
	const char *name;
	int status;

	if (!owner)
		return NULL;
	if (all->n == EXT_ARRAYS_MAX) {
		Py_DECREF(owner);
		ext_raise_argument(s, "more than %d arrays are given", EXT_ARRAYS_MAX);
		return NULL;
	}
	/* Deterministic, because the record contains it. */
	name = ext_texts_keep(texts, PyBytes_FromFormat("%.100s#%zu", type, all->n + 1));
	if (!name) {
		Py_DECREF(owner);
		return NULL;
	}
	*g = (ext_array_given){.owner = owner};
	all->item[all->n] = (dck_array){.name = name};
	status = PyList_Check(owner)		    ? texts_take(all, g, texts)
		 : masked_check(s, owner, name) < 0 ? -1
		 : PyObject_CheckBuffer(owner)	    ? buffer_take(s, all, g, name)
						    : dlpack_take(s, all, g, name);
	all->n++;
	return status < 0 ? NULL : name;
}

const char *ext_arrays_add(ext_state *s, ext_arrays *all, ext_texts *texts, PyObject *o)
{
	return memory_add(s, all, texts, on_host(o), Py_TYPE(o)->tp_name);
}

/* Returns whether it is an array of texts, whose memory layout the library cannot read. */
static bool has_texts(PyObject *o)
{
	PyObject *dtype = PyObject_GetAttrString(o, "dtype");
	PyObject *kind = dtype ? PyObject_GetAttrString(dtype, "kind") : NULL;
	const char *text = kind && PyUnicode_Check(kind) ? PyUnicode_AsUTF8(kind) : NULL;
	const bool is = text && strlen(text) == 1 && strchr("UOT", *text);

	Py_XDECREF(kind);
	Py_XDECREF(dtype);
	PyErr_Clear();
	return is;
}

bool ext_arrays_is_column(PyObject *o)
{
	if (PyList_Check(o) || PyTuple_Check(o))
		return true;
	return PyObject_HasAttrString(o, "tolist") && (!ext_arrays_is(o) || has_texts(o));
}

const char *ext_arrays_column(ext_state *s, ext_arrays *all, ext_texts *texts, PyObject *o)
{
	PyObject *memory = ext_module_call("deepclock._labels", "memory_of", "(O)", o);

	return memory_add(s, all, texts, memory, Py_TYPE(o)->tp_name);
}

void ext_arrays_done(ext_arrays *all)
{
	for (size_t i = 0; i < all->n; i++) {
		ext_array_given *g = &all->given[i];

		if (g->has_view)
			PyBuffer_Release(&g->view);
		if (g->dl && g->dl->deleter)
			g->dl->deleter(g->dl);
		PyMem_RawFree(g->copy);
		Py_XDECREF(g->owner);
	}
	all->n = 0;
}
