/* lists.c - lists of built-in networks, engines, classic mistakes and option tables.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "ext.h"

static PyStructSequence_Field network_fields[] = {
    {"name", "\"resnet18\""},
    {"help", "what it is"},
    {"params", "trained parameters"},
    {"input", "\"input 1x3x224x224 float32\""},
    {"source", "where the architecture is defined"},
    {NULL, NULL},
};

static PyStructSequence_Field engine_fields[] = {
    {"name", "\"ort\""},
    {"help", "what it is"},
    {"usable", "it can be used here"},
    {"why_not", "why it cannot; None: it can"},
    {"facts", "dict: library, version, providers"},
    {NULL, NULL},
};

static PyObject *zoo(PyObject *m, PyObject *none)
{
	ext_state *s = ext_state_of(m);
	size_t n;
	const dck_zoo_entry *all = dck_zoo(&n);

	(void)none;
	EXT_RETURN_LIST(n, i,
			EXT_TUPLE(s->network, ext_text(all[i].name), ext_text(all[i].help),
				  PyLong_FromLongLong(all[i].params), ext_text(all[i].input),
				  ext_text(all[i].source)));
}

/* Returns the bytes of a built-in network's ONNX file. */
static PyObject *zoo_bytes(PyObject *m, PyObject *args, PyObject *kwargs)
{
	ext_state *s = ext_state_of(m);
	dck_zoo_config c = {0};
	ext_said *said = PyMem_Calloc(1, sizeof *said);
	const ext_group groups[] = {{dck_zoo_options, &c}};
	dck_buffer buffer = {0};
	PyObject *bytes = NULL;
	const char *name;
	dck_sink sink;
	dck_err err;

	if (!said)
		return PyErr_NoMemory();
	if (PyArg_ParseTuple(args, "s:zoo_bytes", &name) &&
	    ext_options_read(s, "zoo_bytes", kwargs, groups, 1, NULL, said) == 0) {
		dck_sink_buffer(&sink, &buffer);
		if (dck_zoo_write(name, &c, &sink, &err) != DCK_OK ||
		    dck_sink_finish(&sink, &err) != DCK_OK)
			ext_raise(s, &err);
		else
			bytes = PyBytes_FromStringAndSize(buffer.data, (Py_ssize_t)buffer.n);
	}
	dck_buffer_done(&buffer);
	ext_texts_done(&said->texts);
	PyMem_Free(said);
	return bytes;
}

static PyObject *facts_of(const dck_engine_info *e)
{
	PyObject *dict = PyDict_New();

	for (size_t i = 0; dict && i < e->nfacts; i++)
		ext_dict_add(&dict, ext_text(e->facts[i].key),
			     ext_text(e->facts[i].value ? e->facts[i].value : ""));
	return dict;
}

static PyObject *engines(PyObject *m, PyObject *none)
{
	ext_state *s = ext_state_of(m);
	dck_engine_info *all = NULL;
	dck_status status;
	size_t n = 0;
	PyObject *list;
	dck_err err;

	(void)none;
	if (ext_libraries_offer() != 0)
		return NULL;
	EXT_WITHOUT_GIL(status = dck_engines_probe(NULL, &all, &n, &err));
	if (status != DCK_OK)
		return ext_raise(s, &err);
	list = PyList_New(0);
	for (size_t i = 0; list && i < n; i++)
		ext_list_add(&list, EXT_TUPLE(s->engine, ext_text(all[i].name),
					      ext_text(all[i].help), PyBool_FromLong(all[i].usable),
					      ext_text(all[i].why_not), facts_of(&all[i])));
	dck_free(all);
	return list;
}

static PyMethodDef methods[] = {
    {"zoo", zoo, METH_NOARGS, "zoo($module, /)\n--\n\nThe built-in networks: a list of Network."},
    {"zoo_bytes", (PyCFunction)(void (*)(void))zoo_bytes, METH_VARARGS | METH_KEYWORDS,
     "zoo_bytes($module, name, /, **options)\n--\n\nA built-in network as an ONNX file's bytes. "
     "Options: batch, image_size, seq, symbolic, seed. AbsentError, ArgumentError."},
    {"engines", engines, METH_NOARGS,
     "engines($module, /)\n--\n\nWhat can run models here: a list of Engine."},
    {NULL, NULL, 0, NULL},
};

static int lists_add(PyObject *m, ext_state *s)
{
	s->network =
	    ext_tuple_add(m, "deepclock.Network", "A built-in network.", network_fields, 5);
	s->engine = ext_tuple_add(m, "deepclock.Engine", "What runs models.", engine_fields, 5);
	return s->network && s->engine ? 0 : -1;
}

const ext_part ext_lists = {.methods = methods, .add = lists_add};
