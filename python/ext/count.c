/* count.c - counts and times calls of Python and C functions, for deepclock.count
 * (counting.py).
 *
 * From 3.12 on the interpreter reports the calls of all threads by sys.monitoring. Before 3.12
 * each thread has a profile function in C: threads that run when counting starts, and threads that
 * `threading` starts later. Each thread has its own dck_call_counter. A function is identified by
 * its code object, a C function by its PyMethodDef, as in the standard library's profiler, so
 * counts agree. A process has one active counter at a time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "count_names.h"
#include "event_callback.h"
#include "ext.h"
#include <deepclock/count.h>
#include <frameobject.h> /* before Python 3.11 */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum { DIRECTORY_BYTES = 256, CHILDREN_MAX = 4096 };

/* The calls of one thread. Slots are reused, never freed, because a thread may exit at any time. */
typedef struct slot {
	struct slot *next;
	dck_call_counter *calls; /* of the counter `id`; NULL: none */
	uint64_t id;
	bool taken; /* by a live thread */
} slot;

static struct {
	pthread_mutex_t lock;
	pthread_once_t once;
	pthread_key_t key;
	slot *slots;
	uint64_t id;		 /* number of counters created */
	size_t threads;		 /* that the last counter counted, ... */
	size_t uncounted;	 /* ... or had no memory for */
	bool active;		 /* the last counter is counting */
	bool builtins;		 /* count C functions too */
	bool replaced;		 /* another profiler took the place of the last counter */
	int tool;		 /* tool id in sys.monitoring, from 3.12 on */
	PyObject *functions;	 /* dict: number to (code or text, object kept alive) */
	dck_call_counter *first; /* whose clock the others share */
	/* Forked processes count into files of this directory, which survive any exit of the
	 * process: PID.N for each thread, and PID.N.names for the first thread. */
	char directory[DIRECTORY_BYTES]; /* "": none yet */
	long owner, process;		 /* owner: the process that made the directory */
	unsigned files;
	char names[DIRECTORY_BYTES + 64]; /* file of this process's function log; "": none */
	PyObject *known; /* dict: the owner has the first nknown too; NULL: the owner */
	Py_ssize_t nknown;
	dck_call_counter *copy; /* from fork_before() to the end of the fork */
	dck_call_counter *children[CHILDREN_MAX];
	size_t nchildren, nprocesses;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT};

typedef struct thread_state {
	uint64_t id;
	dck_call_counter *calls;
	slot *slot;
	bool busy; /* inside a function of this file that runs Python */
} thread_state;

static _Thread_local __attribute__((tls_model("initial-exec"))) thread_state mine;

static void thread_ends(void *p)
{
	pthread_mutex_lock(&all.lock);
	((slot *)p)->taken = false;
	pthread_mutex_unlock(&all.lock);
}

static void key_make(void)
{
	pthread_key_create(&all.key, thread_ends);
}

/* A forked process shares the mapped file of its calls and the log of its functions with its own
 * child. So until count_after_fork() the child counts into a private copy, without a log. */
static void fork_before(void)
{
	pthread_mutex_lock(&all.lock);
	if (all.active && all.known && mine.id == all.id && mine.calls)
		all.copy = dck_call_counter_new_in(NULL, all.first, mine.calls);
}

static void fork_after(void)
{
	dck_call_counter_free(all.copy);
	all.copy = NULL;
	pthread_mutex_unlock(&all.lock);
}

/* Only the forking thread exists in the child. */
static void child_begins(void)
{
	if (all.active && all.known && mine.id == all.id && mine.calls) {
		dck_call_counter_free(mine.calls);
		mine.calls = mine.slot->calls = all.copy;
	}
	all.copy = NULL;
	all.names[0] = '\0';
	pthread_mutex_unlock(&all.lock);
	for (slot *s = all.slots; s; s = s->next)
		s->taken = s == mine.slot;
}

/* Returns a counter for a thread of this process; in a forked process it is backed by a file. */
static dck_call_counter *calls_make(const dck_call_counter *after)
{
	char path[DIRECTORY_BYTES + 64];
	dck_call_counter *c = NULL;

	if (!all.known || !all.directory[0])
		return dck_call_counter_new_in(NULL, all.first, after);
	for (int tries = 0; !c && tries < 1000; tries++) { /* process ids are reused */
		snprintf(path, sizeof path, "%s/%ld.%u", all.directory, all.process, all.files++);
		c = dck_call_counter_new_in(path, all.first, after);
		if (!c && access(path, F_OK) != 0)
			break; /* the owner has stopped and removed the directory */
	}
	return c ? c : dck_call_counter_new_in(NULL, all.first, after);
}

static slot *slot_take(void)
{
	slot *s = all.slots;

	while (s && s->taken)
		s = s->next;
	if (!s) {
		s = calloc(1, sizeof *s);
		if (!s)
			return NULL;
		s->next = all.slots;
		all.slots = s;
	}
	s->taken = true;
	return s;
}

/* Returns NULL if memory is exhausted; the calls of this thread are then not counted. */
static dck_call_counter *calls_begin(thread_state *t)
{
	pthread_mutex_lock(&all.lock);
	if (all.active && !t->slot) {
		t->slot = slot_take();
		pthread_setspecific(all.key, t->slot);
	}
	t->calls = NULL;
	t->id = all.id;
	if (all.active && t->slot) {
		if (t->slot->id != all.id) {
			dck_call_counter_free(t->slot->calls);
			t->slot->calls = calls_make(NULL);
			t->slot->id = all.id;
		}
		t->calls = t->slot->calls;
		all.threads += t->calls != NULL;
		all.uncounted += !t->calls;
	} else {
		all.uncounted += all.active;
	}
	pthread_mutex_unlock(&all.lock);
	return t->calls;
}

static inline dck_call_counter *calls_get(thread_state *t)
{
	return __builtin_expect(t->id == all.id, 1) ? t->calls : calls_begin(t);
}

/* --- functions */

/* Registers the function of a new path. def NULL: a Python function, and `keep` is its code. of:
 * the object whose method it is; NULL: no method. */
static void function_keep(thread_state *t, uint64_t number, PyObject *keep, PyMethodDef *def,
			  PyObject *of, PyObject *module)
{
	PyObject *type, *value, *trace;
	PyErr_Fetch(&type, &value, &trace);
	PyObject *key = PyLong_FromUnsignedLongLong(number);

	t->busy = true;
	if (key && all.functions && PyDict_Contains(all.functions, key) == 0 &&
	    (!all.known || PyDict_Contains(all.known, key) == 0)) {
		PyObject *what = def ? count_name_of_c(def, of, module) : (Py_INCREF(keep), keep);
		PyObject *row = what ? PyTuple_Pack(2, what, keep) : NULL;

		if (row && PyDict_SetItem(all.functions, key, row) == 0 && all.names[0])
			count_name_log(all.names, number, what);
		Py_XDECREF(what);
		Py_XDECREF(row);
	}
	t->busy = false;
	Py_XDECREF(key);
	PyErr_Clear();
	PyErr_Restore(type, value, trace);
}

static inline void python_enter(thread_state *t, PyObject *code)
{
	dck_call_counter *c = calls_get(t);

	if (c && !t->busy && dck_call_counter_enter(c, (uintptr_t)code))
		function_keep(t, (uintptr_t)code, code, NULL, NULL, NULL);
}

static inline void any_leave(thread_state *t, const void *function)
{
	dck_call_counter *c = calls_get(t);

	if (c && !t->busy)
		dck_call_counter_leave(c, (uintptr_t)function);
}

static inline void c_enter(thread_state *t, PyObject *f)
{
	dck_call_counter *c = calls_get(t);
	PyMethodDef *def = ((PyCFunctionObject *)f)->m_ml;

	if (c && !t->busy && dck_call_counter_enter(c, (uintptr_t)def))
		function_keep(t, (uintptr_t)def, f, def, ((PyCFunctionObject *)f)->m_self,
			      ((PyCFunctionObject *)f)->m_module);
}

#if MONITORING
/* --- from 3.12 on */

/* Event handler: event(code, offset, ...). */
static PyObject *on_begin(PyObject *self, PyObject *const *args, size_t n, PyObject *names)
{
	(void)self;
	(void)n;
	(void)names;
	python_enter(&mine, args[0]);
	Py_RETURN_NONE;
}

static PyObject *on_end(PyObject *self, PyObject *const *args, size_t n, PyObject *names)
{
	(void)self;
	(void)n;
	(void)names;
	any_leave(&mine, args[0]);
	Py_RETURN_NONE;
}

/* A method of a type becomes a C function once it is bound. */
static inline PyMethodDef *method_of(PyObject *f, PyObject *of)
{
	if (Py_IS_TYPE(f, &PyMethodDescr_Type) &&
	    PyObject_TypeCheck(of, ((PyDescrObject *)f)->d_type))
		return ((PyMethodDescrObject *)f)->d_method;
	return NULL;
}

/* (code, offset, callable, first argument) */
static PyObject *on_call(PyObject *self, PyObject *const *args, size_t n, PyObject *names)
{
	thread_state *t = &mine;

	(void)self;
	(void)names;
	if (PyVectorcall_NARGS(n) < 4)
		Py_RETURN_NONE;
	if (PyCFunction_Check(args[2])) {
		c_enter(t, args[2]);
	} else {
		PyMethodDef *def = method_of(args[2], args[3]);
		dck_call_counter *c = def ? calls_get(t) : NULL;

		if (c && !t->busy && dck_call_counter_enter(c, (uintptr_t)def))
			function_keep(t, (uintptr_t)def, args[2], def, args[3], NULL);
	}
	Py_RETURN_NONE;
}

static PyObject *on_return(PyObject *self, PyObject *const *args, size_t n, PyObject *names)
{
	(void)self;
	(void)names;
	if (PyVectorcall_NARGS(n) < 4)
		Py_RETURN_NONE;
	PyMethodDef *def = PyCFunction_Check(args[2]) ? ((PyCFunctionObject *)args[2])->m_ml
						      : method_of(args[2], args[3]);
	if (def)
		any_leave(&mine, def);
	Py_RETURN_NONE;
}

static const struct {
	const char *event;
	vectorcallfunc handler;
	bool builtins;
} events[] = {
    {"PY_START", on_begin, false}, {"PY_RESUME", on_begin, false}, {"PY_THROW", on_begin, false},
    {"PY_RETURN", on_end, false},  {"PY_YIELD", on_end, false},	   {"PY_UNWIND", on_end, false},
    {"CALL", on_call, true},	   {"C_RETURN", on_return, true},  {"C_RAISE", on_return, true},
};
enum { NEVENTS = sizeof events / sizeof events[0] };

static PyObject *monitoring(void)
{
	PyObject *sys = PyImport_ImportModule("sys");
	PyObject *ret = sys ? PyObject_GetAttrString(sys, "monitoring") : NULL;

	Py_XDECREF(sys);
	return ret;
}

static int told_result(PyObject *o)
{
	Py_XDECREF(o);
	return o ? 0 : -1;
}

/* Returns the profiler's tool id if it is free, else an id that is not reserved. *ret is -1 if all
 * are taken; *ret_who is then the tool that holds the profiler's id, a new reference. */
static int tool_find(PyObject *m, int *ret, PyObject **ret_who)
{
	static const int numbers[] = {2, 3, 4};

	*ret = -1;
	*ret_who = NULL;
	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
		PyObject *who = PyObject_CallMethod(m, "get_tool", "i", numbers[i]);

		if (!who)
			return -1;
		if (who == Py_None) {
			*ret = numbers[i];
			Py_DECREF(who);
			return 0;
		}
		if (!*ret_who)
			*ret_who = who;
		else
			Py_DECREF(who);
	}
	return 0;
}

static int tool_take(ext_state *s, PyObject *m)
{
	PyObject *who = NULL;
	int failed = tool_find(m, &all.tool, &who);

	if (!failed && all.tool < 0) {
		const char *name = PyUnicode_AsUTF8(who);

		if (name)
			ext_raise_argument(s,
					   "calls cannot be counted while '%s' and others use "
					   "sys.monitoring: they have all numbers of profilers",
					   name);
		failed = -1;
	}
	Py_XDECREF(who);
	return failed ? -1
		      : told_result(
			    PyObject_CallMethod(m, "use_tool_id", "is", all.tool, "deepclock"));
}

/* Enables or disables the interpreter's call events. */
static int listen(ext_state *s, bool on)
{
	PyObject *m = monitoring();
	PyObject *names = m ? PyObject_GetAttrString(m, "events") : NULL;
	int failed = !names;
	long set = 0;

	if (!failed && on)
		failed = tool_take(s, m);
	for (int i = 0; !failed && i < NEVENTS; i++) {
		PyObject *event = PyObject_GetAttrString(names, events[i].event);
		PyObject *function = on && (all.builtins || !events[i].builtins)
					 ? event_callback_new(events[i].handler)
					 : (Py_INCREF(Py_None), Py_None);

		failed = !event || !function;
		/* CALL also enables C_RETURN and C_RAISE. */
		if (!failed && function != Py_None && strncmp(events[i].event, "C_", 2) != 0)
			set |= PyLong_AsLong(event);
		if (!failed)
			failed = told_result(PyObject_CallMethod(m, "register_callback", "iOO",
								 all.tool, event, function));
		Py_XDECREF(event);
		Py_XDECREF(function);
	}
	if (!failed)
		failed = told_result(
		    PyObject_CallMethod(m, "set_events", "il", all.tool, on ? set : 0L));
	if (!failed && !on)
		failed = told_result(PyObject_CallMethod(m, "free_tool_id", "i", all.tool));
	Py_XDECREF(m);
	Py_XDECREF(names);
	return failed ? -1 : 0;
}

static PyObject *count_thread(PyObject *m, PyObject *args)
{
	(void)m;
	(void)args;
	Py_RETURN_NONE; /* events cover all threads */
}
#else
/* --- before 3.12 */

/* Returns the code of a frame, which holds the reference. */
static inline PyCodeObject *code_of(PyFrameObject *frame)
{
#if PY_VERSION_HEX < 0x030b0000
	return frame->f_code;
#else
	PyCodeObject *code = PyFrame_GetCode(frame);

	Py_DECREF(code);
	return code;
#endif
}

static int on_event(PyObject *self, PyFrameObject *frame, int what, PyObject *arg)
{
	thread_state *t = &mine;

	(void)self;
	switch (what) {
	case PyTrace_CALL:
	case PyTrace_RETURN: {
		PyCodeObject *code = code_of(frame);

		if (what == PyTrace_CALL)
			python_enter(t, (PyObject *)code);
		else
			any_leave(t, code);
		break;
	}
	case PyTrace_C_CALL:
		if (all.builtins && PyCFunction_Check(arg))
			c_enter(t, arg);
		break;
	case PyTrace_C_RETURN:
	case PyTrace_C_EXCEPTION:
		if (all.builtins && PyCFunction_Check(arg))
			any_leave(t, ((PyCFunctionObject *)arg)->m_ml);
		break;
	}
	return 0;
}

/* Sets the profile function of each running thread under that thread's state, as threading does
 * from 3.12 on. */
static int listen(ext_state *s, bool on)
{
	PyThreadState *own = PyThreadState_Get();
	PyInterpreterState *interpreter = PyThreadState_GetInterpreter(own);
	int failed = 0;

	for (PyThreadState *t = PyInterpreterState_ThreadHead(interpreter); t && on;
	     t = PyThreadState_Next(t))
		if (t->c_profilefunc && t->c_profilefunc != on_event) {
			ext_raise_argument(s, "calls cannot be counted while another profiler runs "
					      "(cProfile, sys.setprofile()): end it first");
			return -1;
		}
	for (PyThreadState *t = PyInterpreterState_ThreadHead(interpreter); t;
	     t = PyThreadState_Next(t)) {
		const bool ours = t->c_profilefunc == on_event;

		/* Of another thread without a function it is not known whether it had ours. */
		all.replaced |= !on && !ours &&
				(t->c_profilefunc || (t == own && mine.id == all.id && mine.calls));
		if (on || ours)
			failed |= _PyEval_SetProfile(t, on ? on_event : NULL, NULL);
	}
	return failed ? -1 : 0;
}

/* Receives the first call of a new thread from threading.setprofile() and switches to C. */
static PyObject *count_thread(PyObject *m, PyObject *args)
{
	(void)m;
	PyEval_SetProfile(all.active ? on_event : NULL, NULL);
	/* This call is reported before the first function of its thread. */
	if (all.active && PyTuple_GET_SIZE(args) > 0 && PyFrame_Check(PyTuple_GET_ITEM(args, 0)) &&
	    PyTuple_GET_SIZE(args) > 1 && PyUnicode_Check(PyTuple_GET_ITEM(args, 1)) &&
	    PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(args, 1), "call") == 0)
		python_enter(&mine,
			     (PyObject *)code_of((PyFrameObject *)PyTuple_GET_ITEM(args, 0)));
	Py_RETURN_NONE;
}
#endif

/* --- from Python */

static void children_drop(void)
{
	for (size_t i = 0; i < all.nchildren; i++)
		dck_call_counter_free(all.children[i]);
	all.nchildren = all.nprocesses = 0;
}

static PyObject *count_start(PyObject *m, PyObject *args)
{
	static bool hooked;
	int builtins = 1;

	if (!PyArg_ParseTuple(args, "|p:_count_start", &builtins))
		return NULL;
	if (all.active)
		return ext_raise_argument(ext_state_of(m),
					  "calls are counted already: one counter at a time");
	pthread_once(&all.once, key_make);
	if (!hooked)
		pthread_atfork(fork_before, fork_after, child_begins);
	hooked = true;
	PyObject *functions = PyDict_New();
	dck_call_counter *first = functions ? dck_call_counter_new(NULL) : NULL;
	if (!first) {
		Py_XDECREF(functions);
		return PyErr_NoMemory();
	}
	dck_call_counter *before = all.first;
	Py_XSETREF(all.functions, functions);
	Py_CLEAR(all.known);
	all.names[0] = '\0';
	all.directory[0] = '\0';
	all.owner = all.process = (long)getpid();
	children_drop();
	pthread_mutex_lock(&all.lock);
	all.first = first;
	all.builtins = builtins;
	all.id++;
	all.threads = all.uncounted = 0;
	all.replaced = false;
	all.active = true;
	pthread_mutex_unlock(&all.lock);
	dck_call_counter_free(before);
	if (listen(ext_state_of(m), true) < 0) {
		all.active = false;
		all.id++;
		return NULL;
	}
	Py_RETURN_NONE;
}

static PyMethodDef methods[];
enum { STOP = 0 }; /* its row */

/* _count_stop(*codes): leaves out the calls of these codes, innermost first, and this call, which
 * are not the program's. */
static PyObject *count_stop(PyObject *m, PyObject *codes)
{
	dck_call_counter *c = calls_get(&mine);

	if (!all.active)
		Py_RETURN_FALSE;
	if (c)
		dck_call_counter_undo(c, (uintptr_t)&methods[STOP]);
	for (Py_ssize_t i = 0; c && i < PyTuple_GET_SIZE(codes); i++)
		dck_call_counter_undo(c, (uintptr_t)PyTuple_GET_ITEM(codes, i));
	all.active = false;
	if (listen(ext_state_of(m), false) < 0)
		return NULL;
	Py_RETURN_TRUE;
}

/* Returns the thread counters of the last counter, which has stopped; PyMem_Free(). NULL: no
 * memory. */
static dck_call_counter **stopped(size_t *ret_n)
{
	dck_call_counter **ret;
	size_t most = 1 + all.nchildren, n = 0;

	pthread_mutex_lock(&all.lock);
	for (slot *s = all.slots; s; s = s->next)
		most++;
	ret = PyMem_New(dck_call_counter *, most);
	for (slot *s = all.slots; ret && s; s = s->next)
		if (s->id == all.id && s->calls)
			ret[n++] = s->calls;
	pthread_mutex_unlock(&all.lock);
	for (size_t i = 0; ret && i < all.nchildren; i++)
		ret[n++] = all.children[i];
	*ret_n = n;
	return ret;
}

/* Returns one list per thread of (number, parent's index, calls, recursive, self, total); the
 * first item is None. */
static PyObject *count_paths(PyObject *m, PyObject *none)
{
	size_t n;
	dck_call_counter **threads = stopped(&n);
	PyObject *list = threads ? PyList_New(0) : PyErr_NoMemory();
	dck_err err = {0};

	(void)none;
	for (size_t i = 0; list && i < n; i++) {
		dck_call_path p;
		PyObject *rows = PyList_New(0);

		if (dck_call_counter_end(threads[i], &err) != DCK_OK) {
			Py_XDECREF(rows);
			Py_DECREF(list);
			PyMem_Free(threads);
			return ext_raise(ext_state_of(m), &err);
		}
		if (rows)
			ext_list_add(&rows, ext_text(NULL));
		for (size_t k = 1; rows && dck_call_counter_path(threads[i], k, &p); k++)
			ext_list_add(
			    &rows,
			    Py_BuildValue("(KnKKdd)", (unsigned long long)p.function,
					  (Py_ssize_t)p.parent, (unsigned long long)p.calls,
					  (unsigned long long)p.recursive, p.self_ns, p.total_ns));
		ext_list_add(&list, rows);
	}
	PyMem_Free(threads);
	return list;
}

static PyObject *count_functions(PyObject *m, PyObject *none)
{
	(void)m;
	(void)none;
	PyObject *ret = all.known ? PyDict_Copy(all.known) : PyDict_New();
	if (ret && all.functions && PyDict_Update(ret, all.functions) < 0)
		Py_CLEAR(ret);
	return ret;
}

/* --- forked processes, hooked by os.register_at_fork() */

/* _count_before_fork(make): obtains the directory once; make() returns its path or None. The calls
 * of make() are not counted. */
static PyObject *count_before_fork(PyObject *m, PyObject *make)
{
	thread_state *t = &mine;

	(void)m;
	if (!all.active || all.owner != (long)getpid())
		Py_RETURN_NONE;
	all.nknown = PyDict_Size(all.functions);
	if (all.directory[0])
		Py_RETURN_NONE;
	const bool busy = t->busy;
	t->busy = true;
	PyObject *path = PyObject_CallObject(make, NULL);
	t->busy = busy;
	const char *text = path && PyUnicode_Check(path) ? PyUnicode_AsUTF8(path) : NULL;
	if (text && strlen(text) < sizeof all.directory)
		strcpy(all.directory, text);
	Py_XDECREF(path);
	PyErr_Clear(); /* no directory: children are not counted */
	Py_RETURN_NONE;
}

/* Runs in the child, which from here on counts its own calls into files. */
static PyObject *count_after_fork(PyObject *m, PyObject *none)
{
	thread_state *t = &mine;
	dck_call_counter *before = t->id == all.id ? t->calls : NULL;
	PyObject *functions, *key, *row;
	Py_ssize_t at = 0;

	(void)none;
	if (!all.active)
		Py_RETURN_NONE;
	functions = PyDict_New();
	if (!functions)
		return NULL;
	if (!all.known) {
		all.known = all.functions;
	} else {
		Py_XDECREF(functions); /* of the parent alone, whose child reports them too */
		functions = all.functions;
	}
	all.functions = functions;
	all.process = (long)getpid();
	all.files = 0;
	for (slot *s = all.slots; s; s = s->next)
		if (s != t->slot)
			s->id = 0; /* of threads that the child lacks */
	t->calls = calls_make(before);
	if (t->slot) {
		t->slot->calls = t->calls;
		t->slot->id = all.id;
	}
	dck_call_counter_free(before);
	if (t->calls && all.files) {
		snprintf(all.names, sizeof all.names, "%s/%ld.%u.names", all.directory, all.process,
			 all.files - 1);
		if (!count_name_file(all.names))
			all.names[0] = '\0';
	}
	/* Logs the functions registered since the owner's fork, which this process may call too. */
	for (Py_ssize_t i = 0; all.names[0] && PyDict_Next(all.known, &at, &key, &row); i++)
		if (i >= all.nknown)
			count_name_log(all.names, PyLong_AsUnsignedLongLong(key),
				       PyTuple_GET_ITEM(row, 0));
	at = 0;
	while (all.names[0] && PyDict_Next(all.functions, &at, &key, &row))
		count_name_log(all.names, PyLong_AsUnsignedLongLong(key), PyTuple_GET_ITEM(row, 0));
	PyErr_Clear();
	(void)m;
	Py_RETURN_NONE;
}

/* Returns the path, in the process that created it; else None. */
static PyObject *count_directory(PyObject *m, PyObject *none)
{
	(void)m;
	(void)none;
	if (!all.directory[0] || all.owner != (long)getpid())
		Py_RETURN_NONE;
	return PyUnicode_FromString(all.directory);
}

/* _count_child(path, mark, first): loads the file of a thread of another process; first: the file
 * of that process's first thread. */
static PyObject *count_child(PyObject *m, PyObject *args)
{
	const char *path;
	unsigned long long mark;
	int first;

	(void)m;
	if (!PyArg_ParseTuple(args, "sKp:_count_child", &path, &mark, &first))
		return NULL;
	dck_call_counter *c =
	    all.nchildren < CHILDREN_MAX ? dck_call_counter_read(path, all.first, mark) : NULL;
	if (!c) {
		all.uncounted++;
		Py_RETURN_FALSE;
	}
	all.children[all.nchildren++] = c;
	all.nprocesses += (size_t)first;
	Py_RETURN_TRUE;
}

/* self: the dict of numbers to (name, file, line). */
static bool frame_of(void *self, uint64_t function, dck_frame *ret)
{
	PyObject *key = PyLong_FromUnsignedLongLong(function);
	PyObject *row = key ? PyDict_GetItem(self, key) : NULL; /* borrowed */
	const char *name, *file = NULL;
	long line;

	Py_XDECREF(key);
	if (!row)
		return false;
	name = PyUnicode_AsUTF8(PyTuple_GET_ITEM(row, 0));
	if (PyUnicode_Check(PyTuple_GET_ITEM(row, 1)))
		file = PyUnicode_AsUTF8(PyTuple_GET_ITEM(row, 1));
	line = PyLong_AsLong(PyTuple_GET_ITEM(row, 2));
	PyErr_Clear(); /* names that are not UTF-8 */
	*ret = (dck_frame){.name = name,
			   .file = file,
			   .line = line > 0 ? (uint32_t)line : 0,
			   .start_line = line > 0 ? (uint32_t)line : 0};
	return name != NULL;
}

/* (frames, title, method, elapsed, inside, outside, incomplete, top, sort) */
static PyObject *count_record(PyObject *m, PyObject *args)
{
	dck_record *r = NULL;
	dck_err err = {0};
	dck_call_counter_meta about = {
	    .frame = frame_of, .replaced = all.replaced, .uncounted = all.uncounted};
	unsigned long long elapsed, top;
	int incomplete;
	size_t n;

	if (!PyArg_ParseTuple(args, "O!ysKddpKs:_count_record", &PyDict_Type, &about.self,
			      &about.title, &about.method, &elapsed, &about.cost_inside_ns,
			      &about.cost_outside_ns, &incomplete, &top, &about.sort))
		return NULL;
	about.elapsed_ns = elapsed;
	about.incomplete = incomplete;
	about.top = (size_t)top;
	about.processes = 1 + all.nprocesses;
	about.threads = all.nprocesses ? 0 : all.threads;
	dck_call_counter **threads = stopped(&n);
	if (!threads)
		return PyErr_NoMemory();
	dck_status status = DCK_OK;
	for (size_t i = 0; i < n && status == DCK_OK; i++)
		status = dck_call_counter_end(threads[i], &err);
	if (status == DCK_OK)
		status = dck_call_counter_record((const dck_call_counter *const *)threads, n,
						 &about, &r, &err);
	PyMem_Free(threads);
	return ext_result(ext_state_of(m), status, r, &err);
}

static PyObject *count_sorts(PyObject *m, PyObject *none)
{
	PyObject *list = PyList_New(0);

	(void)m;
	(void)none;
	for (size_t i = 0; list && dck_count_sorts[i]; i++)
		ext_list_add(&list, PyUnicode_FromString(dck_count_sorts[i]));
	return list;
}

static PyMethodDef methods[] = {
    [STOP] = {"_count_stop", count_stop, METH_VARARGS,
	      "_count_stop($module, /, *codes)\n--\n\nEnds it; False: nothing counted."},
    {"_count_start", count_start, METH_VARARGS,
     "_count_start($module, builtins=True, /)\n--\n\nCounts calls from now on."},
    {"_count_thread", count_thread, METH_VARARGS,
     "_count_thread($module, frame, event, arg, /)\n--\n\nFor threading.setprofile()."},
    {"_count_paths", count_paths, METH_NOARGS,
     "_count_paths($module, /)\n--\n\nThe call paths of each thread."},
    {"_count_functions", count_functions, METH_NOARGS,
     "_count_functions($module, /)\n--\n\nFunctions by number."},
    {"_count_before_fork", count_before_fork, METH_O,
     "_count_before_fork($module, make, /)\n--\n\nFor os.register_at_fork()."},
    {"_count_after_fork", count_after_fork, METH_NOARGS,
     "_count_after_fork($module, /)\n--\n\nFor os.register_at_fork(), in the child."},
    {"_count_folder", count_directory, METH_NOARGS,
     "_count_folder($module, /)\n--\n\nWhere forked processes count."},
    {"_count_child", count_child, METH_VARARGS,
     "_count_child($module, path, mark, first, /)\n--\n\nReads the counts of a process."},
    {"_count_record", count_record, METH_VARARGS,
     "_count_record($module, frames, title, method, elapsed, inside, outside, incomplete, top, "
     "sort, /)\n--\n\nThe record of the calls."},
    {"_count_sorts", count_sorts, METH_NOARGS,
     "_count_sorts($module, /)\n--\n\nThe orders of the table of functions."},
    {NULL, NULL, 0, NULL},
};

const ext_part ext_count = {.methods = methods};
