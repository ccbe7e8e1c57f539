/* zone_function.c - a function with a zone around it, made by deepclock.zones.decorate(): called as
 * quickly as C can, a method where it stands in a class, and in all else the function itself:
 * attributes that it does not have are the function's, such as __code__.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "zone_names.h"
#include <structmember.h>

typedef struct function {
	PyObject_HEAD PyObject *inner, *names, *dict, *weak;
	dck_zone_site *site;
	vectorcallfunc call;
} function;

static PyObject *function_call(PyObject *self, PyObject *const *args, size_t nargsf,
			       PyObject *kwnames)
{
	const function *f = (const function *)self;
	const bool on = DCK_ON_();
	PyObject *ret;

	if (!on)
		return PyObject_Vectorcall(f->inner, args, nargsf, kwnames);
	dck_zone_push(f->site);
	ret = PyObject_Vectorcall(f->inner, args, nargsf, kwnames);
	DCK_POP();
	return ret;
}

static PyObject *function_get(PyObject *self, PyObject *object, PyObject *type)
{
	(void)type;
	if (object && object != Py_None)
		return PyMethod_New(self, object);
	Py_INCREF(self);
	return self;
}

static PyObject *function_getattro(PyObject *self, PyObject *name)
{
	PyObject *ret = PyObject_GenericGetAttr(self, name);

	if (ret || !PyErr_ExceptionMatches(PyExc_AttributeError))
		return ret;
	PyErr_Clear();
	return PyObject_GetAttr(((function *)self)->inner, name);
}

static PyObject *function_repr(PyObject *self)
{
	return PyUnicode_FromFormat("<%R in a zone>", ((function *)self)->inner);
}

/* Pickled by its name, as functions are. */
static PyObject *function_reduce(PyObject *self, PyObject *none)
{
	(void)none;
	return PyObject_GetAttrString(((function *)self)->inner, "__qualname__");
}

static int function_traverse(PyObject *self, visitproc visit, void *arg)
{
	function *f = (function *)self;

	Py_VISIT(f->inner);
	Py_VISIT(f->dict);
	Py_VISIT(Py_TYPE(self));
	return 0;
}

static int function_clear(PyObject *self)
{
	function *f = (function *)self;

	Py_CLEAR(f->inner);
	Py_CLEAR(f->dict);
	return 0;
}

static void function_dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);
	function *f = (function *)self;

	PyObject_GC_UnTrack(self);
	if (f->weak)
		PyObject_ClearWeakRefs(self);
	function_clear(self);
	Py_CLEAR(f->names);
	type->tp_free(self);
	Py_DECREF(type);
}

/* _ZoneFunction(function, name) */
static PyObject *function_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	PyObject *inner, *name, *code;
	function *f;

	(void)kwargs;
	if (!PyArg_ParseTuple(args, "OU:_ZoneFunction", &inner, &name))
		return NULL;
	f = (function *)type->tp_alloc(type, 0);
	if (!f)
		return NULL;
	f->names = ((ext_state *)PyType_GetModuleState(type))->zone_names;
	Py_INCREF(f->names);
	Py_INCREF(inner);
	f->inner = inner;
	f->call = function_call;
	code = PyObject_GetAttrString(inner, "__code__");
	if (!code)
		PyErr_Clear();
	f->site = zone_names_site(f->names, name,
				  code && PyCode_Check(code) ? (PyCodeObject *)code : NULL);
	Py_XDECREF(code);
	if (!f->site)
		Py_CLEAR(f);
	return (PyObject *)f;
}

static PyMethodDef function_methods[] = {
    {"__reduce__", function_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyMemberDef function_members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(function, dict), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(function, weak), READONLY, NULL},
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(function, call), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};
static PyGetSetDef function_getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot function_slots[] = {
    {Py_tp_new, function_new},		 {Py_tp_dealloc, function_dealloc},
    {Py_tp_traverse, function_traverse}, {Py_tp_clear, function_clear},
    {Py_tp_call, PyVectorcall_Call},	 {Py_tp_descr_get, function_get},
    {Py_tp_getattro, function_getattro}, {Py_tp_repr, function_repr},
    {Py_tp_methods, function_methods},	 {Py_tp_members, function_members},
    {Py_tp_getset, function_getset},	 {0, NULL},
};
static PyType_Spec function_spec = {
    .name = "deepclock._ZoneFunction",
    .basicsize = sizeof(function),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
	     Py_TPFLAGS_METHOD_DESCRIPTOR,
    .slots = function_slots,
};

static int function_add(PyObject *m, ext_state *s)
{
	PyTypeObject *type = ext_type_add(m, &function_spec);

	(void)s;
	Py_XDECREF(type);
	return type ? 0 : -1;
}

const ext_part ext_zone_function = {.add = function_add};
