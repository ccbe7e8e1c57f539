/* module.c - the module deepclock._deepclock: its parts, its state.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "ext.h"

/* One row for each file with methods or types. */
static const ext_part *const parts[] = {
    &ext_errors,   &ext_array,	       &ext_record,  &ext_metric, &ext_table,	    &ext_observer,
    &ext_commands, &ext_zone,	       &ext_trace,   &ext_ranks,  &ext_lap,	    &ext_roof,
    &ext_estimate, &ext_operator_cost, &ext_history, &ext_lists,  &ext_option_rows, &ext_text_part,
    &ext_heap,	   &ext_lines,	       &ext_count,
};
#define NPARTS (sizeof parts / sizeof parts[0])

PyTypeObject *ext_type_add(PyObject *module, const char *name, size_t size, PyType_Slot *slots)
{
	bool gc = false;

	for (const PyType_Slot *s = slots; s->slot; s++)
		gc |= s->slot == Py_tp_traverse;
	PyType_Spec spec = {name, (int)size, 0, Py_TPFLAGS_DEFAULT | (gc ? Py_TPFLAGS_HAVE_GC : 0),
			    slots};
	PyObject *type = PyType_FromModuleAndSpec(module, &spec, NULL);

	if (type && PyModule_AddType(module, (PyTypeObject *)type) < 0)
		Py_CLEAR(type);
	return (PyTypeObject *)type;
}

PyTypeObject *ext_tuple_add(PyObject *module, const char *name, const char *doc,
			    PyStructSequence_Field *fields, int n)
{
	PyTypeObject *type =
	    PyStructSequence_NewType(&(PyStructSequence_Desc){name, doc, fields, n});

	if (type && PyModule_AddType(module, type) < 0)
		Py_CLEAR(type);
	return type;
}

PyObject *ext_tuple_fill(PyTypeObject *type, PyObject *const *items, size_t n)
{
	PyObject *t = PyStructSequence_New(type);
	bool failed = !t;

	for (size_t i = 0; i < n; i++) {
		failed |= !items[i];
		if (t)
			PyStructSequence_SetItem(t, (Py_ssize_t)i, items[i]);
		else
			Py_XDECREF(items[i]);
	}
	if (failed)
		Py_CLEAR(t);
	return t;
}

void ext_list_add(PyObject **list, PyObject *item)
{
	if (!item || PyList_Append(*list, item) < 0)
		Py_CLEAR(*list);
	Py_XDECREF(item);
}

void ext_dict_add(PyObject **dict, PyObject *key, PyObject *value)
{
	if (!key || !value || PyDict_SetItem(*dict, key, value) < 0)
		Py_CLEAR(*dict);
	Py_XDECREF(key);
	Py_XDECREF(value);
}

PyObject *ext_module_call(const char *module, const char *function, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	PyObject *args = Py_VaBuildValue(fmt, ap);
	va_end(ap);
	PyObject *m = args ? PyImport_ImportModule(module) : NULL;
	PyObject *f = m ? PyObject_GetAttrString(m, function) : NULL;
	PyObject *ret = f ? PyObject_CallObject(f, args) : NULL;
	Py_XDECREF(f);
	Py_XDECREF(m);
	Py_XDECREF(args);
	return ret;
}

PyObject *ext_type_not_made(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	(void)args;
	(void)kwargs;
	return PyErr_Format(PyExc_TypeError, "%s is made by measuring or loading, and not by hand",
			    type->tp_name);
}

static int constants_add(PyObject *m)
{
#define WRITER_NAME(id, NAME, ending, text)   " " #id
#define WRITER_ENDING(id, NAME, ending, text) " " ending
#define CALLS_ENDING(id, ending, gzip, text)  " " ending
	return PyModule_AddStringConstant(m, "__version__", dck_version()) < 0 ||
		       PyModule_AddStringConstant(m, "_formats", DCK_WRITER_MAP(WRITER_NAME)) < 0 ||
		       PyModule_AddStringConstant(m, "_endings",
						  DCK_WRITER_MAP(WRITER_ENDING)
						      DCK_CALLS_FORMAT_MAP(CALLS_ENDING)) < 0 ||
		       PyModule_AddIntConstant(m, "SCHEMA", DCK_RECORD_SCHEMA) < 0
		   ? -1
		   : 0;
}

static int module_exec(PyObject *m)
{
	ext_state *s = ext_state_of(m);

	if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
		PyErr_SetString(
		    PyExc_ImportError,
		    "deepclock measures from the main interpreter alone: import it there");
		return -1;
	}
	for (size_t i = 0; i < NPARTS; i++) {
		if (parts[i]->add && parts[i]->add(m, s) < 0)
			return -1;
		if (parts[i]->methods && PyModule_AddFunctions(m, parts[i]->methods) < 0)
			return -1;
	}
	return constants_add(m);
}

/* Every member of the state is an object reference. */
static PyObject **state_members(PyObject *m, size_t *ret_n)
{
	ext_state *s = ext_state_of(m);

	*ret_n = s ? sizeof *s / sizeof(PyObject *) : 0;
	return (PyObject **)s;
}

static int module_traverse(PyObject *m, visitproc visit, void *arg)
{
	size_t n;
	PyObject **all = state_members(m, &n);

	for (size_t i = 0; i < n; i++)
		Py_VISIT(all[i]);
	return 0;
}

static int module_clear(PyObject *m)
{
	size_t n;
	PyObject **all = state_members(m, &n);

	for (size_t i = 0; i < n; i++)
		Py_CLEAR(all[i]);
	return 0;
}

static void module_free(void *m)
{
	module_clear(m);
}

/* Threads of the library attach by PyGILState_Ensure(), which supports the main interpreter
 * only. */
static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, module_exec},
#if PY_VERSION_HEX >= 0x030c0000
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
#ifdef Py_GIL_DISABLED
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "deepclock._deepclock",
    .m_doc = "The engine of the package deepclock, in C.",
    .m_size = sizeof(ext_state),
    .m_slots = slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
    .m_free = module_free,
};

PyMODINIT_FUNC PyInit__deepclock(void);
PyMODINIT_FUNC PyInit__deepclock(void)
{
	return PyModuleDef_Init(&definition);
}
