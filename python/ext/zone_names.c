/* zone_names.c - lock-free hash table of zone names, which are Python str objects.
 *
 * The key is the hash that the str caches. A literal is the same object at each use, so its address
 * mostly identifies it (zone_names_get()); another object with the same text is the same name. A
 * lookup does not allocate.
 *
 * Invariants: names are never removed, an outgrown table stays until the end, and a pointer is
 * published last. So readers need no lock, also without the GIL.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "zone_names.h"
#include <pthread.h>

/* Names beyond NAMES_MAX share one entry: the recorder has the same limit. */
enum { NAMES_MAX = 65536, FIRST_SLOTS = 256, LONGEST = 256 };

typedef zone_name entry;

typedef struct shelf {
	struct shelf *older;
	size_t mask;
	entry *slots[];
} shelf;

typedef struct names {
	zone_names_near near; /* first member: zone_names_get() reads it */
	shelf *shelf;
	entry *other; /* shared by all names beyond NAMES_MAX */
	size_t n;
	pthread_mutex_t adding;
} names;

static shelf *shelf_new(size_t nslots, shelf *older)
{
	shelf *s = PyMem_RawCalloc(1, sizeof *s + nslots * sizeof s->slots[0]);

	if (s) {
		s->mask = nslots - 1;
		s->older = older;
	}
	return s;
}

static void entry_free(entry *e)
{
	if (!e)
		return;
	Py_XDECREF(e->text);
	Py_XDECREF(e->utf8);
	Py_XDECREF(e->file);
	PyMem_RawFree(e);
}

/* Sets the source location: of the code, else of the current frame, if any. */
static void place_set(entry *e, PyCodeObject *code)
{
	PyFrameObject *frame = code ? NULL : PyEval_GetFrame();
	PyCodeObject *own = frame ? PyFrame_GetCode(frame) : NULL;
	const PyCodeObject *of = code ? code : own;

	if (of) {
		e->file = PyUnicode_EncodeFSDefault(of->co_filename);
		e->site.line =
		    (uint32_t)(frame ? PyFrame_GetLineNumber(frame) : of->co_firstlineno);
	}
	if (!e->file)
		PyErr_Clear();
	e->site.file = e->file ? PyBytes_AS_STRING(e->file) : "";
	Py_XDECREF(own);
}

static entry *entry_new(PyObject *text, Py_hash_t hash, PyCodeObject *code)
{
	entry *e = PyMem_RawCalloc(1, sizeof *e);
	PyObject *cut;

	if (!e) {
		PyErr_NoMemory();
		return NULL;
	}
	cut = PyUnicode_Substring(text, 0, LONGEST);
	e->utf8 = cut ? PyUnicode_AsEncodedString(cut, "utf-8", "backslashreplace") : NULL;
	Py_XDECREF(cut);
	if (!e->utf8) {
		entry_free(e);
		return NULL;
	}
	Py_INCREF(text);
	e->text = text;
	e->hash = hash;
	e->site.name = PyBytes_AS_STRING(e->utf8);
	place_set(e, code);
	return e;
}

static void put(shelf *s, entry *e)
{
	size_t at = (size_t)e->hash & s->mask;

	while (s->slots[at])
		at = (at + 1) & s->mask;
	__atomic_store_n(&s->slots[at], e, __ATOMIC_RELEASE);
}

/* Reserves a slot for one more name; false: no memory. */
static bool grow(names *t)
{
	shelf *s;

	if (2 * (t->n + 1) <= t->shelf->mask + 1)
		return true;
	s = shelf_new(2 * (t->shelf->mask + 1), t->shelf);
	if (!s)
		return false;
	for (size_t i = 0; i <= t->shelf->mask; i++)
		if (t->shelf->slots[i])
			put(s, t->shelf->slots[i]);
	__atomic_store_n(&t->shelf, s, __ATOMIC_RELEASE);
	return true;
}

static entry *find(names *t, PyObject *text, Py_hash_t hash)
{
	const shelf *s = __atomic_load_n(&t->shelf, __ATOMIC_ACQUIRE);

	for (size_t at = (size_t)hash & s->mask;; at = (at + 1) & s->mask) {
		entry *e = __atomic_load_n(&s->slots[at], __ATOMIC_ACQUIRE);

		if (!e || e->text == text)
			return e;
		if (e->hash == hash && PyUnicode_Compare(e->text, text) == 0)
			return e;
	}
}

/* Adds e, which it takes over, unless another thread has just added the same name. */
static entry *add(names *t, entry *e)
{
	entry *there, *ret = e;

	pthread_mutex_lock(&t->adding);
	there = find(t, e->text, e->hash);
	if (there || t->n >= NAMES_MAX)
		ret = there ? there : t->other;
	else if (grow(t)) {
		t->n++;
		put(t->shelf, e);
	} else
		ret = NULL;
	pthread_mutex_unlock(&t->adding);
	if (ret != e)
		entry_free(e);
	if (!ret)
		PyErr_NoMemory();
	return ret;
}

bool zone_name_fits(PyObject *name)
{
	if (!PyUnicode_Check(name)) {
		PyErr_Format(PyExc_TypeError, "a name is a str, not %.100s",
			     Py_TYPE(name)->tp_name);
		return false;
	}
	if (PyUnicode_FindChar(name, 0, 0, PyUnicode_GET_LENGTH(name), 1) == -1)
		return true;
	PyErr_SetString(PyExc_ValueError, "embedded null character in a name");
	return false;
}

/* Looks up the text of a subclass of str. */
static dck_zone_site *site_of_other(PyObject *self, PyObject *name, PyCodeObject *code)
{
	dck_zone_site *site;
	PyObject *text;

	if (!zone_name_fits(name))
		return NULL;
	text = PyUnicode_FromObject(name);
	site = text ? zone_names_site(self, text, code) : NULL;
	Py_XDECREF(text);
	return site;
}

dck_zone_site *zone_names_site(PyObject *self, PyObject *name, PyCodeObject *code)
{
	names *t = (names *)self;
	Py_hash_t hash;
	entry *e;

	if (!PyUnicode_CheckExact(name))
		return site_of_other(self, name, code);
	hash = __atomic_load_n(&((PyASCIIObject *)name)->hash, __ATOMIC_RELAXED);
	if (hash == -1)
		hash = PyObject_Hash(name);
	e = find(t, name, hash);
	if (__builtin_expect(!e, 0)) {
		if (__atomic_load_n(&t->n, __ATOMIC_RELAXED) >= NAMES_MAX)
			return &t->other->site;
		e = zone_name_fits(name) ? entry_new(name, hash, code) : NULL;
		e = e ? add(t, e) : NULL;
	}
	if (e && e->text == name)
		__atomic_store_n(zone_names_place(self, name), e, __ATOMIC_RELEASE);
	return e ? &e->site : NULL;
}

static void names_dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);
	names *t = (names *)self;

	for (size_t i = 0; t->shelf && i <= t->shelf->mask; i++)
		entry_free(t->shelf->slots[i]);
	while (t->shelf) {
		shelf *older = t->shelf->older;

		PyMem_RawFree(t->shelf);
		t->shelf = older;
	}
	entry_free(t->other);
	pthread_mutex_destroy(&t->adding);
	PyObject_Free(self);
	Py_DECREF(type);
}

static PyType_Slot names_slots[] = {
    {Py_tp_dealloc, names_dealloc},
    {0, NULL},
};
static PyType_Spec names_spec = {
    .name = "deepclock._ZoneNames",
    .basicsize = sizeof(names),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = names_slots,
};

PyObject *zone_names_new(PyObject *module)
{
	PyTypeObject *type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &names_spec, NULL);
	names *t = type ? PyObject_New(names, type) : NULL;
	PyObject *other;

	Py_XDECREF(type);
	if (!t)
		return NULL;
	t->n = 0;
	t->other = NULL;
	t->shelf = shelf_new(FIRST_SLOTS, NULL);
	pthread_mutex_init(&t->adding, NULL);
	other = PyUnicode_FromString("(other names)");
	if (other)
		t->other = entry_new(other, 0, NULL);
	Py_XDECREF(other);
	for (size_t i = 0; i < ZONE_NAMES_NEAR; i++)
		t->near.by_address[i] = t->other;
	if (!t->shelf || !t->other) {
		Py_DECREF(t);
		return PyErr_Occurred() ? NULL : PyErr_NoMemory();
	}
	return (PyObject *)t;
}
