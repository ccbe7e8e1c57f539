/* history.c - deepclock.History: stored records, and the trend of a metric.
 *
 *     with deepclock.History() as h:
 *         print(h.trend("latency/p99", subject="zoo:resnet18"))
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "ext.h"
#include <stddef.h>

typedef struct history {
	PyObject_HEAD dck_history *h; /* NULL: closed */
	ext_watch watch;	      /* of the call that uses it */
	PyThread_type_lock lock;
	unsigned long user; /* thread that holds the lock; 0: none */
} history;

/* Returns NULL with an exception if it is closed. */
static dck_history *open_of(PyObject *self)
{
	dck_history *h = ((history *)self)->h;

	if (!h)
		PyErr_SetString(PyExc_ValueError, "the history is closed");
	return h;
}

/* Waits while another thread uses the history. 0, or -1 with an exception: this thread does, as in
 * a destructor during a call. */
static int history_lock(history *self)
{
	const unsigned long me = PyThread_get_thread_ident();

	if (__atomic_load_n(&self->user, __ATOMIC_RELAXED) == me) {
		PyErr_SetString(PyExc_RuntimeError,
				"this thread is using the history in another call");
		return -1;
	}
	EXT_WITHOUT_GIL(PyThread_acquire_lock(self->lock, WAIT_LOCK));
	__atomic_store_n(&self->user, me, __ATOMIC_RELAXED);
	ext_watch_init(&self->watch, ext_state_by((PyObject *)self), NULL);
	return 0;
}

static void history_unlock(PyObject *o)
{
	history *self = (history *)o;

	__atomic_store_n(&self->user, 0, __ATOMIC_RELAXED);
	PyThread_release_lock(self->lock);
}

/* Raises what ended a call: what a signal's handler raised while it waited, else the error, of the
 * file at `path` where it names that. */
static void history_raise(ext_state *s, ext_watch *w, const char *path, const dck_err *err)
{
	if (!w->type) {
		ext_raise_named(s, err, path);
		return;
	}
	PyErr_Restore(w->type, w->value, w->trace);
	w->type = w->value = w->trace = NULL;
}

/* Ends the use of the history. Returns whether the call has succeeded; else an exception is set.
 * other: another file that the call read. */
static bool history_used_of(PyObject *o, dck_status status, const dck_err *err, const char *other)
{
	history *self = (history *)o;
	const char *path = dck_history_file(self->h);

	if (status != DCK_OK)
		history_raise(ext_state_by(o), &self->watch,
			      other && ext_names(err, other) ? other : path, err);
	history_unlock(o);
	return status == DCK_OK;
}

static bool history_used(PyObject *o, dck_status status, const dck_err *err)
{
	return history_used_of(o, status, err, NULL);
}

/* Returns the open history, locked, or NULL with an exception. */
static dck_history *history_use(PyObject *self)
{
	if (history_lock((history *)self) < 0)
		return NULL;
	dck_history *h = open_of(self);
	if (!h)
		history_unlock(self);
	return h;
}

static PyObject *history_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	static char *names[] = {"path", "existing", "wait", NULL};
	ext_state *s = PyType_GetModuleState(type);
	ext_texts texts = {NULL};
	dck_history_config config;
	PyObject *path = Py_None;
	history *self;
	dck_status status = DCK_OK;
	int existing = 0;
	double wait_s;
	dck_err err;

	dck_history_config_init(&config);
	wait_s = (double)config.wait_ns / 1e9;
	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O$pO&:History", names, &path, &existing,
					 ext_double, &wait_s))
		return NULL;
	if (!(wait_s >= 0 && wait_s <= 1e9)) {
		PyErr_SetString(PyExc_ValueError, "wait is a number of seconds from 0 to 1e9");
		return NULL;
	}
	config.existing = existing;
	config.wait_ns = (uint64_t)(wait_s * 1e9);
	if (path != Py_None && !(config.path = ext_texts_add(&texts, path))) {
		ext_texts_done(&texts);
		return NULL;
	}
	self = PyObject_New(history, type);
	if (!self) {
		ext_texts_done(&texts);
		return NULL;
	}
	self->h = NULL;
	self->user = 0;
	self->lock = PyThread_allocate_lock();
	ext_watch_init(&self->watch, s, NULL);
	if (!self->lock)
		PyErr_NoMemory();
	else
		EXT_WITHOUT_GIL(status = dck_history_open_watched(&config, &self->watch.observer,
								  &self->h, &err));
	if (self->lock && status != DCK_OK)
		history_raise(s, &self->watch, config.path, &err);
	ext_texts_done(&texts);
	if (!self->h)
		Py_CLEAR(self);
	return (PyObject *)self;
}

static void history_dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	dck_history_close(((history *)self)->h);
	if (((history *)self)->lock)
		PyThread_free_lock(((history *)self)->lock);
	PyObject_Free(self);
	Py_DECREF(type);
}

static PyObject *history_close(PyObject *self, PyObject *none)
{
	history *of = (history *)self;

	(void)none;
	if (history_lock(of) < 0)
		return NULL;
	dck_history *h = of->h;
	of->h = NULL;
	EXT_WITHOUT_GIL(dck_history_close(h));
	history_unlock(self);
	Py_RETURN_NONE;
}

static PyObject *history_enter(PyObject *self, PyObject *none)
{
	(void)none;
	Py_INCREF(self);
	return self;
}

static PyObject *history_exit(PyObject *self, PyObject *args)
{
	return history_close(self, args);
}

static PyObject *history_path(PyObject *self, void *none)
{
	const dck_history *h = open_of(self);

	(void)none;
	return h ? ext_text(dck_history_file(h)) : NULL;
}

static PyObject *history_add(PyObject *self, PyObject *args, PyObject *kwargs)
{
	static char *names[] = {"record", "commit", NULL};
	const char *commit = NULL;
	const dck_record *r;
	dck_status status;
	PyObject *record;
	dck_history *h;
	bool fresh;
	dck_err err;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|z:add", names, &record, &commit))
		return NULL;
	r = ext_record_get(ext_state_by(self), record);
	h = r ? history_use(self) : NULL;
	if (!h)
		return NULL;
	EXT_WITHOUT_GIL(status = dck_history_add(h, r, commit, &fresh, &err));
	return history_used(self, status, &err) ? PyBool_FromLong(fresh) : NULL;
}

static PyObject *history_get(PyObject *self, PyObject *args)
{
	char id[DCK_HISTORY_ID_SIZE];
	dck_record *r = NULL;
	dck_status status;
	dck_history *h;
	const char *name;
	dck_err err;

	if (!PyArg_ParseTuple(args, "s:get", &name) || !(h = history_use(self)))
		return NULL;
	EXT_WITHOUT_GIL({
		status = dck_history_find(h, name, id, &err);
		if (status == DCK_OK)
			status = dck_history_get(h, id, &r, &err);
	});
	return history_used(self, status, &err) ? ext_record_new(ext_state_by(self), r) : NULL;
}

static PyObject *history_baseline(PyObject *self, PyObject *record)
{
	const dck_record *r = ext_record_get(ext_state_by(self), record);
	dck_history *h = r ? history_use(self) : NULL;
	dck_record *before = NULL;
	dck_status status;
	dck_err err;

	if (!h)
		return NULL;
	EXT_WITHOUT_GIL(status = dck_history_baseline(h, r, &before, &err));
	return history_used(self, status, &err) ? ext_record_new(ext_state_by(self), before) : NULL;
}

/* --- methods that take the filter's options */

typedef struct asked {
	dck_history_filter filter;
	dck_history_trend_config trend;
	dck_history_prune_config prune;
	const char *metric, *commits[2];
	ext_said said;
	dck_status status; /* of the call; err: its error */
	dck_err err;
} asked;

/* The arguments without names. */
typedef enum takes { TAKES_NOTHING, TAKES_METRIC, TAKES_COMMITS } takes;

/* Returns NULL with an exception, or, if a->status is a failure, without one. */
typedef PyObject *answer(PyObject *self, dck_history *h, asked *a);

/* Reads the options of the tables (NULL: none), and calls `give`. */
static PyObject *ask(PyObject *self, PyObject *args, PyObject *kwargs, const char *who,
		     const dck_opt *more, size_t more_at, takes which, answer *give)
{
	asked *a = PyMem_Calloc(1, sizeof *a);
	PyObject *o = NULL;

	if (!a)
		return PyErr_NoMemory();
	const ext_group groups[] = {{dck_history_filter_options, &a->filter},
				    {more, (char *)a + more_at}};
	dck_history_trend_config_init(&a->trend);
	const int read =
	    which == TAKES_COMMITS
		? PyArg_ParseTuple(args, "ss|z", &a->commits[0], &a->commits[1], &a->metric)
		: PyArg_ParseTuple(args, which == TAKES_METRIC ? "|z" : "", &a->metric);
	if (read && ext_options_read(ext_state_by(self), who, kwargs, groups, more ? 2 : 1, NULL,
				     &a->said) == 0) {
		dck_history *h = history_use(self);

		if (h) {
			o = give(self, h, a);
			history_used(self, a->status, &a->err);
		}
	}
	ext_texts_done(&a->said.texts);
	PyMem_Free(a);
	return o;
}

static PyStructSequence_Field entry_fields[] = {
    {"id", "of the record"},
    {"at_unix_ns", "when it began, ns since 1970"},
    {"command", "the command, or None"},
    {"subject", "the subject, or None"},
    {"engine", "or None"},
    {"cpu", "or None"},
    {"commit", "or None"},
    {"incomplete", "it was interrupted, or failed"},
    {"value", "of the requested metric; None: the record lacks it"},
    {"lo", "lower end of its interval, or None"},
    {"hi", "upper end of its interval, or None"},
    {NULL, NULL},
};

static PyObject *bound(const dck_history_entry *e, double value)
{
	if (e->level > 0)
		return PyFloat_FromDouble(value);
	Py_RETURN_NONE;
}

typedef struct listing {
	ext_state *state;
	PyObject *list;	       /* NULL: an exception is set */
	PyThreadState *thread; /* without the GIL between the entries */
} listing;

static bool entry_add(void *self, const dck_history_entry *e)
{
	listing *l = self;

	PyEval_RestoreThread(l->thread);
	ext_list_add(&l->list,
		     EXT_TUPLE(l->state->entry, ext_text(e->id), PyLong_FromLongLong(e->at_unix_ns),
			       ext_text(e->command), ext_text(e->subject), ext_text(e->engine),
			       ext_text(e->cpu), ext_text(e->commit),
			       PyBool_FromLong(e->incomplete), ext_value(&e->value),
			       bound(e, e->lo), bound(e, e->hi)));
	l->thread = PyEval_SaveThread();
	return l->list != NULL;
}

static PyObject *give_list(PyObject *self, dck_history *h, asked *a)
{
	listing l = {ext_state_by(self), PyList_New(0), NULL};

	if (!l.list)
		return NULL;
	l.thread = PyEval_SaveThread();
	const dck_status status =
	    dck_history_list(h, &a->filter, a->metric, entry_add, &l, &a->err);
	PyEval_RestoreThread(l.thread);
	if (status != DCK_OK)
		Py_CLEAR(l.list);
	if (!PyErr_Occurred()) /* of an entry */
		a->status = status;
	return l.list;
}

static PyObject *history_list(PyObject *self, PyObject *args, PyObject *kwargs)
{
	return ask(self, args, kwargs, "list", NULL, 0, TAKES_METRIC, give_list);
}

static PyObject *give_trend(PyObject *self, dck_history *h, asked *a)
{
	dck_history_trend *t = NULL;
	dck_record *r = NULL;

	a->trend.metric = a->metric;
	EXT_WITHOUT_GIL(a->status = dck_history_trend_get(h, &a->filter, &a->trend, &t, &a->err));
	if (a->status == DCK_OK)
		a->status = dck_history_trend_record(t, "deepclock history trend", &r, &a->err);
	dck_history_trend_free(t);
	return a->status == DCK_OK ? ext_record_new(ext_state_by(self), r) : NULL;
}

static PyObject *history_trend(PyObject *self, PyObject *args, PyObject *kwargs)
{
	return ask(self, args, kwargs, "trend", dck_history_trend_options, offsetof(asked, trend),
		   TAKES_METRIC, give_trend);
}

static PyObject *give_alarms(PyObject *self, dck_history *h, asked *a)
{
	dck_history_alarms *alarms = NULL;
	dck_record *r = NULL;

	a->trend.metric = a->metric;
	EXT_WITHOUT_GIL(a->status =
			    dck_history_alarms_get(h, &a->filter, &a->trend, &alarms, &a->err));
	if (a->status == DCK_OK)
		a->status =
		    dck_history_alarms_record(alarms, "deepclock history alarms", &r, &a->err);
	dck_history_alarms_free(alarms);
	return a->status == DCK_OK ? ext_record_new(ext_state_by(self), r) : NULL;
}

static PyObject *history_alarms(PyObject *self, PyObject *args, PyObject *kwargs)
{
	return ask(self, args, kwargs, "alarms", dck_history_trend_options, offsetof(asked, trend),
		   TAKES_METRIC, give_alarms);
}

static PyObject *give_commits(PyObject *self, dck_history *h, asked *a)
{
	dck_history_commits *c = NULL;
	dck_record *r = NULL;

	EXT_WITHOUT_GIL(a->status = dck_history_commits_get(h, &a->filter, a->metric, a->commits[0],
							    a->commits[1], &c, &a->err));
	if (a->status == DCK_OK)
		a->status = dck_history_commits_record(c, "deepclock history commits", &r, &a->err);
	dck_history_commits_free(c);
	return a->status == DCK_OK ? ext_record_new(ext_state_by(self), r) : NULL;
}

static PyObject *history_commits(PyObject *self, PyObject *args, PyObject *kwargs)
{
	return ask(self, args, kwargs, "commits", NULL, 0, TAKES_COMMITS, give_commits);
}

static PyObject *give_prune(PyObject *self, dck_history *h, asked *a)
{
	dck_history_pruned p;

	(void)self;
	EXT_WITHOUT_GIL(a->status = dck_history_prune(h, &a->filter, &a->prune, &p, &a->err));
	if (a->status != DCK_OK)
		return NULL;
	return Py_BuildValue("(KKK)", (unsigned long long)p.removed,
			     (unsigned long long)p.removed_bytes, (unsigned long long)p.kept);
}

static PyObject *history_prune(PyObject *self, PyObject *args, PyObject *kwargs)
{
	return ask(self, args, kwargs, "prune", dck_history_prune_options, offsetof(asked, prune),
		   TAKES_NOTHING, give_prune);
}

static PyObject *history_import(PyObject *self, PyObject *args, PyObject *kwargs)
{
	static char *names[] = {"path", "commit", NULL};
	const char *commit = NULL, *name;
	ext_texts texts = {NULL};
	dck_history_count count;
	dck_status status;
	PyObject *path;
	dck_history *h;
	dck_err err;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|z:load", names, &path, &commit))
		return NULL;
	name = ext_texts_add(&texts, path);
	h = name ? history_use(self) : NULL;
	if (!h) {
		ext_texts_done(&texts);
		return NULL;
	}
	EXT_WITHOUT_GIL(status = dck_history_import(h, name, commit, &count, &err));
	history_used_of(self, status, &err, name);
	ext_texts_done(&texts);
	if (status != DCK_OK)
		return NULL;
	return Py_BuildValue("(KK)", (unsigned long long)count.added,
			     (unsigned long long)count.known);
}

static PyObject *history_remove(PyObject *self, PyObject *args)
{
	char id[DCK_HISTORY_ID_SIZE];
	const char *name, *const ids[] = {id};
	dck_history_pruned p;
	dck_status status;
	dck_history *h;
	dck_err err;

	if (!PyArg_ParseTuple(args, "s:remove", &name) || !(h = history_use(self)))
		return NULL;
	EXT_WITHOUT_GIL({
		status = dck_history_find(h, name, id, &err);
		if (status == DCK_OK)
			status = dck_history_remove(h, ids, 1, &p, &err);
	});
	return history_used(self, status, &err) ? ext_text(id) : NULL;
}

static PyObject *history_check(PyObject *self, PyObject *none)
{
	dck_history *h = history_use(self);
	dck_history_health health;
	dck_status status;
	dck_err err;

	(void)none;
	if (!h)
		return NULL;
	EXT_WITHOUT_GIL(status = dck_history_check(h, &health, &err));
	if (!history_used(self, status, &err))
		return NULL;
	return Py_BuildValue("(KK)", (unsigned long long)health.records,
			     (unsigned long long)health.bytes);
}

PyDoc_STRVAR(
    history_doc,
    "History(path=None, *, existing=False, wait=30.0)\n--\n\nThe stored records, in one SQLite file (default: the program's). existing: a missing file is an AbsentError and is not created. wait: maximum time in seconds for other programs that write to it.\n\nOptions of list, trend and prune choose records: subject (* and ? stand for any text), command, since, until (a date or an age, \"90d\"), at_commit, branch, host, cpu, and but for prune limit. Other threads wait while one uses it.");

#define WITH_NAMES(f) (PyCFunction)(void (*)(void)) f, METH_VARARGS | METH_KEYWORDS
static PyMethodDef history_methods[] = {
    {"add", WITH_NAMES(history_add),
     "add($self, record, commit=None)\n--\n\nStores a Record; False: it was already stored."},
    {"get", history_get, METH_VARARGS,
     "get($self, id, /)\n--\n\nThe Record of an id or its beginning, of \"last\", \"last~2\"."},
    {"baseline", history_baseline, METH_O,
     "baseline($self, record, /)\n--\n\nThe newest complete Record before that one, of the same "
     "command, subject, machine and method. AbsentError."},
    {"list", WITH_NAMES(history_list),
     "list($self, metric='latency/median', /, **options)\n--\n\nA list of HistoryEntry, newest "
     "first."},
    {"trend", WITH_NAMES(history_trend),
     "trend($self, metric='latency/median', /, **options)\n--\n\nHow a metric moved: a Record with "
     "the table history/points. Besides: by, mixed, min_change, undisturbed."},
    {"alarms", WITH_NAMES(history_alarms),
     "alarms($self, metric=None, /, **options)\n--\n\nWhich series changed, of all metrics, subjects and machines: a Record with the table history/alarms; at most 5 % of them are expected to be false. Besides: by, min_change, undisturbed."},
    {"commits", WITH_NAMES(history_commits),
     "commits($self, before, after, metric='latency/median', /, **options)\n--\n\nTwo commits, on all machines that measured both: a Record with the table history/commits; record.gate is its verdict."},
    {"prune", WITH_NAMES(history_prune),
     "prune($self, /, **options)\n--\n\nRemoves records: keep, older_than, keep_per_commit, dry_run. Returns how "
     "many are removed, their bytes, and how many stay."},
    {"remove", history_remove, METH_VARARGS,
     "remove($self, id, /)\n--\n\nRemoves one record; returns its whole id."},
    {"load", WITH_NAMES(history_import),
     "load($self, path, commit=None)\n--\n\nAdds the records of a file; returns how many are new, and how many were already stored."},
    {"check", history_check, METH_NOARGS,
     "check($self, /)\n--\n\nReads all of it: the number of records, the file's bytes. "
     "FormatError."},
    {"close", history_close, METH_NOARGS, "close($self, /)\n--\n\nCloses the file."},
    {"__enter__", history_enter, METH_NOARGS, NULL},
    {"__exit__", history_exit, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef history_getset[] = {
    {"path", history_path, NULL, "the file", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot history_slots[] = {
    {Py_tp_doc, (void *)history_doc}, {Py_tp_new, history_new},
    {Py_tp_dealloc, history_dealloc}, {Py_tp_methods, history_methods},
    {Py_tp_getset, history_getset},   {0, NULL},
};

/* _with_starts(record, path): dck_history_starts() in a history that exists, else the record. */
static PyObject *with_starts(PyObject *m, PyObject *args)
{
	ext_state *s = ext_state_of(m);
	PyObject *record, *path;
	ext_texts texts = {NULL};
	dck_history_config config;
	dck_history *h = NULL;
	dck_record *more = NULL;
	dck_status status;

	dck_history_config_init(&config);
	config.existing = true;
	if (!PyArg_ParseTuple(args, "OO:_with_starts", &record, &path))
		return NULL;
	const dck_record *r = ext_record_get(s, record);
	if (!r || (path != Py_None && !(config.path = ext_texts_add(&texts, path)))) {
		ext_texts_done(&texts);
		return NULL;
	}
	EXT_WITHOUT_GIL({
		status = dck_history_open(&config, &h, NULL);
		if (status == DCK_OK)
			status = dck_history_starts(h, r, &more, NULL);
		dck_history_close(h);
	});
	ext_texts_done(&texts);
	if (status == DCK_OK)
		return ext_record_new(s, more);
	Py_INCREF(record);
	return record;
}

static PyMethodDef methods[] = {
    {"_with_starts", with_starts, METH_VARARGS,
     "_with_starts($module, record, path, /)\n--\n\nThe record with where earlier ones in that history "
     "lie, None: the default; unchanged if there is none."},
    {NULL, NULL, 0, NULL},
};

static int add(PyObject *m, ext_state *s)
{
	s->history = ext_type_add(m, "deepclock.History", sizeof(history), history_slots);
	s->entry = ext_tuple_add(m, "deepclock.HistoryEntry", "A record as the history lists it.",
				 entry_fields, 11);
	return s->history && s->entry ? 0 : -1;
}

const ext_part ext_history = {.methods = methods, .add = add};
