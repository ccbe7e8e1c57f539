/* measure.c - one call of a function that makes a record: its subjects, its options, the
 * measurement, and the files and history that it saves.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "ext.h"
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const dck_opt ext_common_options[] = {
    DCK_OPTION(TEXT, ext_common, save, "save", "FILE", NULL, "keep the record in FILE, as JSON"),
    DCK_OPTION(TEXT, ext_common, html, "html", "FILE", NULL,
	       "write the result to FILE too, as a page with charts for a browser"),
    DCK_FLAG(
	ext_common, sources, "sources",
	"that page has the text of the source lines that call paths name, too, from files below "
	"the working directory"),
    DCK_OPTION(TEXT, ext_common, source_root, "source-root", "DIR", NULL,
	       "sources, also from files below this directory"),
    DCK_OPTION(TEXT, ext_common, figures, "figures", "DIR", NULL,
	       "draw its figures into that directory too, as SVG and PNG"),
    DCK_OPTION(TEXT, ext_common, db, "db", "FILE", NULL,
	       "the history to which the record is added; also without save"),
    DCK_OPTION(TEXT, ext_common, commit, "commit", "ID", NULL,
	       "its commit in the history; default: that of the Git working tree"),
    DCK_FLAG(ext_common, no_history, "no-history", "do not add it to the history"),
    DCK_FLAG(ext_common, quiet, "quiet", "no progress"),
    DCK_FLAG(ext_common, no_progress, "no-progress", "no progress"),
    DCK_OPTION(TEXT, ext_common, title, "title", "TEXT", NULL, "the record's command"),
    {0},
};

const dck_opt ext_vary_options[] = {
    DCK_OPTION(LIST, ext_which, vary, "vary", "OPTION=V,V", NULL,
	       "one model in several settings, e.g. {\"opt\": \"none,all\"}"),
    {0},
};
const dck_opt ext_which_options[] = {
    DCK_OPTION(LIST, ext_which, vary, "vary", "OPTION=V,V", NULL,
	       "one subject in several settings, e.g. {\"threads\": \"1,2\"}: all combinations"),
    DCK_FLAG(ext_which, modes, "modes",
	     "one model eager, fused, with all optimisations and with parallel branches",
	     .excludes = "vary"),
    DCK_FLAG(
	ext_which, history, "history",
	"one record and the newest earlier one in the history, of the same subject, machine and method",
	.excludes = "vary modes scan"),
    {0},
};
const dck_opt ext_scan_options[] = {
    DCK_OPTION(LIST, ext_which, scan, "scan", "NAME=FROM..TO", NULL,
	       "values for {NAME} in the words of a program: NAME=1..4 or NAME=a,b"),
    {0},
};

const dck_opt ext_url_options[] = {
    DCK_OPTION(LIST, ext_which, url, "url", "URL", NULL,
	       "two servers in place of subjects, as of bench_load(): the same prompts go to both",
	       .excludes = "vary modes history scan"),
    DCK_OPTION(LIST, ext_which, served_model, "model", "NAME", NULL,
	       "the model's name at the servers; two: at each", .needs = "url"),
    {0},
};

/* --- subjects */

static int function_read(ext_call *c, ext_subject *s, PyObject *callable, PyObject *args,
			 Py_ssize_t first)
{
	const char *name = ext_texts_keep(&c->said.texts, ext_function_name(callable));

	if (!name || ext_function_check(callable) < 0)
		return -1;
	s->function = (ext_function){.callable = callable, .watch = &c->watch, .args = &s->args[1]};
	if (args) {
		s->function.args = &PyTuple_GET_ITEM(args, first);
		s->function.nargs = (size_t)(PyTuple_GET_SIZE(args) - first);
	}
	s->of.kind = DCK_SUBJECT_FUNCTION;
	s->of.text = name;
	s->of.function =
	    (c->command->flags & EXT_THREADS) ? ext_function_call_anywhere : ext_function_call;
	s->of.arg = &s->function;
	s->of.items = c->subject.model.items;
	s->of.model.items = 0;	    /* a function has no model that gives its items */
	s->of.model.device = "cpu"; /* deepclock._accelerator waits for the device */
	c->functions = true;
	return c->subject.model.device ? ext_device_open(c, s, c->subject.model.device) : 0;
}

static int argv_read(ext_call *c, ext_subject *s, PyObject *words)
{
	const Py_ssize_t n = PySequence_Size(words);

	if (n == 0)
		return ext_failed(
		    ext_raise_argument(c->state, "a command needs at least the name of a program"));
	s->argv = PyMem_Calloc((size_t)n + 1, sizeof *s->argv);
	if (!s->argv)
		return ext_failed(PyErr_NoMemory());
	for (Py_ssize_t i = 0; i < n; i++) {
		PyObject *item = PySequence_GetItem(words, i);
		const char *word = item ? ext_texts_add(&c->said.texts, item) : NULL;

		Py_XDECREF(item);
		if (!word)
			return -1;
		s->argv[i] = (char *)(uintptr_t)word; /* the library does not write to it */
	}
	s->of.kind = DCK_SUBJECT_COMMAND;
	s->of.argv = s->argv;
	return 0;
}

int ext_libraries_offer(void)
{
	PyObject *none = ext_module_call("deepclock._program", "libraries_offer", "()");

	Py_XDECREF(none);
	return none ? 0 : -1;
}

static int libraries_find(const dck_subject *s)
{
	const dck_list *given = &s->model.engine_lib;
	/* "ENGINE:FILE" leaves others to be searched. */
	const bool searched = s->kind == DCK_SUBJECT_MODEL &&
			      (given->n == 0 || strchr(given->item[given->n - 1], ':'));

	return searched ? ext_libraries_offer() : 0;
}

/* Parses a subject as on the command line, "zoo:resnet18", "cmd:gzip -k x"; a path is a model. */
static int text_read(ext_call *c, ext_subject *s, PyObject *o)
{
	const char *text;
	dck_err err;

	if (!ext_is_text(o))
		return ext_failed(PyErr_Format(
		    PyExc_TypeError,
		    "%s(): a subject is a function, a path, a str or a list of words, not %.100s",
		    c->command->name, Py_TYPE(o)->tp_name));
	text = ext_texts_add(&c->said.texts, o);

	if (!text)
		return -1;
	if (!PyUnicode_Check(o)) {
		s->of.kind = DCK_SUBJECT_MODEL;
		s->of.text = text;
		return libraries_find(&s->of);
	}
	if (dck_subject_parse(text, &s->of, &s->owned, &err) == DCK_OK)
		return libraries_find(&s->of);
	return ext_failed(ext_raise(c->state, &err));
}

static int any_read(ext_call *c, ext_subject *s, PyObject *o)
{
	s->of = c->subject;
	if (PyList_Check(o) || PyTuple_Check(o))
		return argv_read(c, s, o);
	if (PyCallable_Check(o))
		return function_read(c, s, o, NULL, 0);
	return text_read(c, s, o);
}

/* Returns the only argument, borrowed; TypeError for another number of arguments. */
static PyObject *only(ext_call *c, PyObject *args, const char *what)
{
	if (PyTuple_GET_SIZE(args) == 1)
		return PyTuple_GET_ITEM(args, 0);
	return PyErr_Format(PyExc_TypeError, "%s() takes %s, %zd arguments are given",
			    c->command->name, what, PyTuple_GET_SIZE(args));
}

int ext_takes_nothing(ext_call *c, PyObject *args)
{
	if (PyTuple_GET_SIZE(args) == 0)
		return 0;
	return ext_failed(
	    PyErr_Format(PyExc_TypeError, "%s() takes options only", c->command->name));
}

int ext_takes_function(ext_call *c, PyObject *args)
{
	PyObject *callable = PyTuple_GET_SIZE(args) > 0 ? PyTuple_GET_ITEM(args, 0) : NULL;

	if (!callable || !PyCallable_Check(callable))
		return ext_failed(
		    PyErr_Format(PyExc_TypeError,
				 "%s() takes a function and its arguments; bench_model() takes a "
				 "model, bench_command() a program",
				 c->command->name));
	c->n = 1;
	c->subjects[0].of = c->subject;
	return function_read(c, &c->subjects[0], callable, args, 1);
}

/* Refuses a PyTorch module, which has no inputs here: -1 with TypeError names deepclock.torch. */
static int module_refuse(const ext_call *c, PyObject *o)
{
	if (!PyCallable_Check(o) || !PyObject_HasAttrString(o, "named_parameters") ||
	    !PyObject_HasAttrString(o, "forward"))
		return 0;
	return ext_failed(
	    PyErr_Format(PyExc_TypeError,
			 "%s() takes no PyTorch module, because it does not have its inputs: "
			 "deepclock.torch.%s(module, *inputs) does",
			 c->command->name,
			 strcmp(c->command->verb, "inspect") == 0 ? "cost" : c->command->verb));
}

int ext_takes_any(ext_call *c, PyObject *args)
{
	PyObject *o = only(c, args, "one subject");

	c->n = 1;
	if (o && module_refuse(c, o) < 0)
		return -1;
	return o ? any_read(c, &c->subjects[0], o) : -1;
}

int ext_takes_served(ext_call *c, PyObject *args)
{
	return c->load.url && PyTuple_GET_SIZE(args) == 0 ? 0 : ext_takes_any(c, args);
}

int ext_takes_model(ext_call *c, PyObject *args)
{
	PyObject *o = only(c, args, "one model");

	if (!o || module_refuse(c, o) < 0)
		return -1;
	c->n = 1;
	c->subjects[0].of = c->subject;
	if (!ext_is_text(o))
		return ext_failed(PyErr_Format(
		    PyExc_TypeError, "%s() takes the path of a model or zoo:NAME, not %.100s",
		    c->command->name, Py_TYPE(o)->tp_name));
	return text_read(c, &c->subjects[0], o);
}

int ext_takes_command(ext_call *c, PyObject *args)
{
	PyObject *o = only(c, args, "one command");
	PyObject *text;
	int status;

	if (!o)
		return -1;
	c->n = 1;
	c->subjects[0].of = c->subject;
	if (PyList_Check(o) || PyTuple_Check(o))
		return argv_read(c, &c->subjects[0], o);
	if (!PyUnicode_Check(o))
		return ext_failed(PyErr_Format(
		    PyExc_TypeError, "%s() takes a list of words, or a str", c->command->name));
	text = PyUnicode_FromFormat("cmd:%U", o);
	status = text ? text_read(c, &c->subjects[0], text) : -1;
	Py_XDECREF(text);
	return status;
}

/* Resets the model options of functions that are compared with models. */
static void functions_apart(ext_call *c)
{
	bool models = false;
	dck_subject none;

	dck_subject_init(&none);
	for (size_t i = 0; i < c->n; i++)
		models |= c->subjects[i].of.kind == DCK_SUBJECT_MODEL;
	for (size_t i = 0; models && i < c->n; i++)
		if (c->subjects[i].of.kind == DCK_SUBJECT_FUNCTION)
			c->subjects[i].of.model = none.model;
}

/* Returns the record in a file NAME.json, as the command line does; else the value itself. A new
 * reference. */
static PyObject *record_or_value(ext_call *c, PyObject *value)
{
	PyObject *path = PyOS_FSPath(value), *loaded = NULL;

	PyErr_Clear();
	if (path && PyUnicode_Check(path) && PyUnicode_GET_LENGTH(path) > 5) {
		PyObject *ending = PyUnicode_Substring(path, PyUnicode_GET_LENGTH(path) - 5,
						       PyUnicode_GET_LENGTH(path));

		if (ending && PyUnicode_CompareWithASCIIString(ending, ".json") == 0)
			loaded = ext_module_call("deepclock", "load", "(O)", path);
		Py_XDECREF(ending);
	}
	/* A file that is not a record is refused as a subject; one that does not exist, here. */
	if (PyErr_Occurred() && PyErr_ExceptionMatches(c->state->errors[0]) &&
	    (PyUnicode_FindChar(path, ':', 0, PyUnicode_GET_LENGTH(path), 1) >= 0 ||
	     !PyErr_ExceptionMatches(c->state->errors[-DCK_E_ABSENT])))
		PyErr_Clear();
	Py_XDECREF(path);
	if (!loaded && !PyErr_Occurred()) {
		Py_INCREF(value);
		return value;
	}
	return loaded;
}

static int value_keep(ext_call *c, PyObject *list, PyObject *value)
{
	ext_subject *s = &c->subjects[c->n];

	/* The measured function may change the dict. */
	if (PyList_Append(list, value) < 0)
		return -1;
	if (!Py_IS_TYPE(value, c->state->record))
		return any_read(c, s, value);
	c->records[c->nrecords++] = value;
	return 0;
}

static int named_read(ext_call *c, PyObject *key, PyObject *value)
{
	ext_subject *s = &c->subjects[c->n];

	if (!ext_is_text(key))
		return ext_failed(PyErr_Format(PyExc_TypeError,
					       "%s(): the name of a subject is a str, not %.100s",
					       c->command->name, Py_TYPE(key)->tp_name));
	c->own[c->n] = (dck_alternative){ext_texts_add(&c->said.texts, key), &s->of};
	if (!c->own[c->n].name)
		return -1;
	PyObject *given = record_or_value(c, value);
	const int status = given ? value_keep(c, c->said.texts.list, given) : -1;

	Py_XDECREF(given);
	c->n += status == 0;
	return status;
}

static int dict_read(ext_call *c, PyObject *dict)
{
	PyObject *own = PyDict_Copy(dict); /* which __fspath__() of a value cannot change */
	PyObject *key, *value;
	Py_ssize_t at = 0;
	int status = own ? 0 : -1;

	if (own && PyDict_Size(own) > DCK_ALTERNATIVES_MAX)
		status = ext_failed(ext_raise_argument(c->state,
						       "at most %d can be compared, %zd are given",
						       DCK_ALTERNATIVES_MAX, PyDict_Size(own)));
	while (status == 0 && PyDict_Next(own, &at, &key, &value))
		status = named_read(c, key, value);
	Py_XDECREF(own);
	if (status < 0)
		return -1;
	functions_apart(c);
	if (c->nrecords == 0 || c->nrecords == c->n)
		return 0;
	return ext_failed(ext_raise_argument(
	    c->state,
	    "saved records cannot be compared with new measurements: give records or subjects"));
}

/* Reads one subject, from which options may derive several. */
static int one_read(ext_call *c, PyObject *o)
{
	PyObject *name = PyUnicode_Check(o) ? PyObject_Str(o) : PyUnicode_FromString("it");
	const int status = name ? named_read(c, name, o) : -1;

	Py_XDECREF(name);
	return status;
}

int ext_takes_several(ext_call *c, PyObject *args)
{
	PyObject *o = only(c, args, "a dict of subjects by name");

	if (!o)
		return -1;
	if (PyDict_Check(o))
		return dict_read(c, o);
	if (c->which.vary.n > 0 || c->which.scan.n > 0 || c->which.modes || c->which.history)
		return one_read(c, o);
	return ext_failed(PyErr_Format(
	    PyExc_TypeError, "%s() takes a dict of subjects by name: {\"a\": f, \"b\": g}",
	    c->command->name));
}

/* Returns whether a keyword argument is given and not None, by the name of its option. */
static bool is_given(const ext_call *c, const char *option)
{
	PyObject *text = c->kwargs ? PyUnicode_FromString(option) : NULL;
	PyObject *key = text ? PyObject_CallMethod(text, "replace", "ss", "-", "_") : NULL;
	PyObject *value = key ? PyDict_GetItem(c->kwargs, key) : NULL;

	Py_XDECREF(key);
	Py_XDECREF(text);
	return value && value != Py_None;
}

/* Checks the options of two servers. */
static int servers_check(ext_call *c, PyObject *args)
{
	if (PyTuple_GET_SIZE(args) > 0 || c->which.url.n != 2)
		return ext_failed(ext_raise_argument(
		    c->state, "url compares two servers: give two addresses, and no subjects"));
	if (c->which.served_model.n > 2)
		return ext_failed(ext_raise_argument(
		    c->state, "model has %zu names: give one, or one of each server",
		    c->which.served_model.n));
	for (size_t i = 0; i < EXT_GROUPS_MAX && c->command->groups[i].table; i++)
		for (const dck_opt *o = c->command->groups[i].table; o->name; o++) {
			if (o == ext_url_options || o == dck_server_options)
				break;
			if (dck_compare_servers_takes(o->name) || !is_given(c, o->name))
				continue;
			return ext_failed(ext_raise_argument(
			    c->state, "--%s has no meaning for servers: leave it out", o->name));
		}
	return PyErr_Occurred() ? -1 : 0;
}

int ext_takes_compared(ext_call *c, PyObject *args)
{
	const int status = c->which.url.n > 0 ? servers_check(c, args) : ext_takes_several(c, args);

	if (status == 0 && c->which.history && (c->n != 1 || c->nrecords != 1))
		return ext_failed(ext_raise_argument(c->state, "--history takes one saved record"));
	return status;
}

int ext_takes_models(ext_call *c, PyObject *args)
{
	PyObject *o;

	if (PyTuple_GET_SIZE(args) == 0 ||
	    (PyTuple_GET_SIZE(args) == 1 && PyTuple_GET_ITEM(args, 0) == Py_None))
		return 0;
	o = only(c, args, "a model or a dict of them, by name");
	if (!o || (PyDict_Check(o) ? dict_read(c, o) : one_read(c, o)) < 0)
		return -1;
	for (size_t i = 0; i < c->n; i++)
		if (c->subjects[i].of.kind == DCK_SUBJECT_COMMAND || c->functions || c->nrecords)
			return ext_failed(
			    PyErr_Format(PyExc_TypeError, "%s() takes models", c->command->name));
	return 0;
}

/* Derives alternatives from the subjects by the options vary, modes and scan. */
static int alternatives_make(ext_call *c)
{
	dck_subject subjects[DCK_ALTERNATIVES_MAX];
	const bool one = c->which.vary.n > 0 || c->which.modes;
	dck_status status = DCK_OK;
	dck_err err;

	c->all = c->own;
	for (size_t i = 0; i < c->n; i++) /* of functions that take no dict */
		if (!c->own[i].subject)
			c->own[i] = (dck_alternative){"it", &c->subjects[i].of};
	if (c->which.scan.n > 0) {
		for (size_t i = 0; i < c->n; i++)
			subjects[i] = c->subjects[i].of;
		status =
		    dck_alternatives_scan(subjects, c->n, &c->which.scan, &c->made[0], &c->n, &err);
		c->all = c->made[0];
	}
	if (status == DCK_OK && one && (c->n != 1 || c->nrecords > 0))
		return ext_failed(ext_raise_argument(
		    c->state, "--vary and --modes take one subject, %zu are given", c->n));
	if (status == DCK_OK && one) {
		status = c->which.modes
			     ? dck_alternatives_modes(c->all[0].subject, &c->made[1], &c->n, &err)
			     : dck_alternatives_vary(c->all[0].subject, &c->which.vary, &c->made[1],
						     &c->n, &err);
		c->all = c->made[1];
	}
	if (status == DCK_OK)
		return 0;
	return ext_failed(ext_raise(c->state, &err));
}

/* Refuses symbolic sizes before any file is opened. */
static int sizes_check(ext_call *c)
{
	dck_err err;

	for (size_t i = 0; (c->command->flags & EXT_SIZES) && c->nrecords == 0 && i < c->n; i++) {
		const dck_subject *s = c->all[i].subject;

		if (s->kind == DCK_SUBJECT_MODEL && dck_subject_check(s, NULL, &err) != DCK_OK)
			return ext_failed(ext_raise(c->state, &err));
	}
	return 0;
}

/* --- the title: the equivalent command line */

/* Appends " WORD", quoted for a shell; takes over `word`. */
static PyObject *title_add(PyObject *title, PyObject *quote, PyObject *word)
{
	PyObject *quoted = title && word ? PyObject_CallOneArg(quote, word) : NULL;
	PyObject *longer = quoted ? PyUnicode_FromFormat("%U %U", title, quoted) : NULL;

	Py_XDECREF(quoted);
	Py_XDECREF(word);
	Py_XDECREF(title);
	return longer;
}

static PyObject *title_subject(const ext_call *c, size_t i)
{
	const dck_subject *s = &c->subjects[i].of;
	const char *name = s->text ? s->text : c->own[i].name;

	return ext_text(name ? name : "FUNCTION"); /* a Python object makes its batches */
}

static bool is_common(const dck_opt *row)
{
	return dck_opt_find(ext_common_options, row->name) == row;
}

static PyObject *title_options(const ext_call *c, PyObject *title, PyObject *quote)
{
	for (size_t i = 0; title && i < c->said.n; i++) {
		const dck_opt_given *o = &c->said.all[i];

		if (is_common(o->row))
			continue;
		title = title_add(title, quote, PyUnicode_FromFormat("--%s", o->row->name));
		if (title && o->value)
			title = title_add(title, quote, ext_text(o->value));
	}
	return title;
}

static PyObject *title_new(const ext_call *c)
{
	PyObject *shlex = PyImport_ImportModule("shlex");
	PyObject *quote = shlex ? PyObject_GetAttrString(shlex, "quote") : NULL;
	PyObject *title = quote ? PyUnicode_FromFormat("deepclock %s", c->command->verb) : NULL;

	title = title_options(c, title, quote);
	for (size_t i = 0; title && i < c->n; i++) {
		char *const *argv = c->subjects[i].of.argv;

		if (!argv) {
			title = title_add(title, quote, title_subject(c, i));
			continue;
		}
		title = title_add(title, quote, PyUnicode_FromString("--"));
		for (; title && *argv; argv++)
			title = title_add(title, quote, ext_text(*argv));
	}
	Py_XDECREF(quote);
	Py_XDECREF(shlex);
	return title;
}

static int title_set(ext_call *c)
{
	PyObject *title = c->common.title ? NULL : title_new(c);

	c->title = title ? ext_texts_add(&c->said.texts, title) : c->common.title;
	Py_XDECREF(title);
	c->plan.title = c->compare.title = c->throughput.title = c->tune.title = c->load.title =
	    c->accuracy.title = c->machine.title = c->pitfalls.title = c->generate.title =
		c->cost.title = c->title;
	return c->title ? 0 : -1;
}

/* --- the call */

/* Finds the deepclock program, for measurements in a fresh process. */
static int program_find(ext_call *c)
{
	PyObject *path = ext_module_call("deepclock._program", "path", "()");

	c->program = path && path != Py_None ? ext_texts_add(&c->said.texts, path) : NULL;
	Py_XDECREF(path);
	c->compare.program = c->throughput.program = c->tune.program = c->pitfalls.program =
	    c->program;
	return PyErr_Occurred() ? -1 : 0;
}

/* Returns the progress callback: the caller's, or a display on a terminal or notebook. New
 * reference or NULL. */
static PyObject *progress_find(const ext_call *c, PyObject *given)
{
	PyObject *show;

	if (c->common.quiet || c->common.no_progress || given == Py_False ||
	    (c->command->flags & EXT_QUICK))
		return NULL;
	if (given && given != Py_None && given != Py_True) {
		Py_INCREF(given);
		return given;
	}
	show = ext_module_call("deepclock._progress", "show", "(O)",
			       given == Py_True ? Py_True : Py_False);
	if (show == Py_None)
		Py_CLEAR(show);
	return show;
}

static void history_add(const ext_call *c, const dck_record *r)
{
	dck_status status;
	dck_err err;

	EXT_WITHOUT_GIL(status = dck_history_keep(c->common.db, r, c->common.commit, &err));
	if (status != DCK_OK)
		PyErr_WarnFormat(PyExc_RuntimeWarning, 1, "the record is not in the history: %s",
				 err.msg);
}

/* Writes the page and the figures. -1: an exception is set. */
static int drawn(const ext_call *c, PyObject *record)
{
	PyObject *done;

	if (!c->common.html && !c->common.figures)
		return 0;
	done =
	    ext_module_call("deepclock._show", "draw", "(ONNON)", record, ext_text(c->common.html),
			    ext_text(c->common.figures), c->common.sources ? Py_True : Py_False,
			    ext_text(c->common.source_root));
	Py_XDECREF(done);
	return done ? 0 : -1;
}

/* Returns the record with the caller's title; takes over the record. */
static PyObject *titled(const ext_call *c, PyObject *record)
{
	if (!record || !c->common.title)
		return record;
	return ext_module_call("deepclock._record", "titled", "(NN)", record,
			       ext_text(c->common.title));
}

/* Raises the error of a file that cannot be written. Opening a pipe would wait for its reader. */
static int file_check(const ext_call *c, const char *path)
{
	struct stat st;
	dck_replace *r;
	dck_err err;
	int fd;

	if (!path || (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
		return 0;
	if (dck_replace_open(path, &r, &fd, &err) != DCK_OK)
		return ext_failed(ext_raise_of(c->state, &err, path));
	dck_replace_abort(r);
	return 0;
}

/* Raises what would fail with any record: the page, the figures. */
static int drawn_check(const ext_call *c)
{
	PyObject *done;

	if (!c->common.html && !c->common.figures)
		return 0;
	done = ext_module_call("deepclock._show", "check", "(NN)", ext_text(c->common.html),
			       ext_text(c->common.figures));
	Py_XDECREF(done);
	return done ? 0 : -1;
}

/* Called before the measurement, which would be lost. */
static int files_check(const ext_call *c)
{
	dck_err err;

	if (file_check(c, c->common.save) < 0 || file_check(c, c->common.html) < 0 ||
	    drawn_check(c) < 0)
		return -1;
	if (!c->common.commit || dck_history_commit_check(c->common.commit, &err) == DCK_OK)
		return 0;
	return ext_failed(ext_raise(c->state, &err));
}

/* Saves the record as the options request; returns it, or NULL. */
static PyObject *kept(const ext_call *c, PyObject *given)
{
	PyObject *record = titled(c, given);
	const dck_record *r = record ? ext_record_get(c->state, record) : NULL;
	dck_status status = DCK_OK;
	dck_err err;

	if (!r) {
		Py_XDECREF(record);
		return NULL;
	}
	if (c->common.save)
		EXT_WITHOUT_GIL(status = dck_record_save(r, c->common.save, &err));
	if (status != DCK_OK)
		ext_raise_of(c->state, &err, c->common.save);
	else if ((c->common.save || c->common.db) && !c->common.no_history)
		history_add(c, r);
	if (PyErr_Occurred() || drawn(c, record) < 0) /* a warning turned into an error */
		return ext_raised_with(record);
	return record;
}

PyObject *ext_keep(PyObject *self, PyObject *args, PyObject *kwargs)
{
	ext_call *c = PyMem_Calloc(1, sizeof *c);
	PyObject *record, *ret = NULL;

	if (!c)
		return PyErr_NoMemory();
	c->state = ext_state_of(self);
	const ext_group group = {ext_common_options, &c->common};
	if (PyArg_ParseTuple(args, "O:_keep", &record) &&
	    ext_options_read(c->state, "_keep", kwargs, &group, 1, NULL, &c->said) == 0) {
		Py_INCREF(record);
		if (record != Py_None)
			ret = kept(c, record);
		else
			ret = files_check(c) < 0 ? (Py_DECREF(record), NULL) : record;
	}
	ext_texts_done(&c->said.texts);
	PyMem_Free(c);
	return ret;
}

/* Returns a list of the functions that do not wait for a device, each as (callable, args). */
static PyObject *functions_list(const ext_call *c)
{
	PyObject *list = PyList_New(0);

	for (size_t i = 0; list && i < c->n; i++) {
		const ext_function *f = &c->subjects[i].function;

		if (!f->callable || f->device)
			continue;
		PyObject *args = PyTuple_New((Py_ssize_t)f->nargs);
		for (size_t k = 0; args && k < f->nargs; k++) {
			Py_INCREF(f->args[k]);
			PyTuple_SET_ITEM(args, (Py_ssize_t)k, f->args[k]);
		}
		ext_list_add(&list, args ? Py_BuildValue("(ON)", f->callable, args) : NULL);
	}
	return list;
}

/* Returns the record, with a note if a function leaves work on a device for which nothing waits;
 * takes over the record. */
static PyObject *work_left_note(const ext_call *c, PyObject *record)
{
	if (!record || !c->functions || c->batched)
		return record;
	return ext_module_call("deepclock._accelerator", "noted", "(NN)", record,
			       functions_list(c));
}

static PyObject *run(ext_call *c)
{
	dck_record *r = NULL;
	dck_status status;
	dck_err err;

	c->watch.held = c->functions && !(c->command->flags & EXT_THREADS);
	if (c->watch.held)
		status = c->command->run(c, &r, &err);
	else
		EXT_WITHOUT_GIL(status = c->command->run(c, &r, &err));
	if (c->watch.progress && !PyErr_Occurred()) { /* the end: None */
		PyObject *result = PyObject_CallOneArg(c->watch.progress, Py_None);

		if (!result)
			ext_watch_raised(&c->watch);
		Py_XDECREF(result);
	}
	/* A failed batch search raises the function's exception. */
	if (status != DCK_OK && c->failure && !c->watch.type) {
		Py_INCREF(c->failure);
		PyErr_SetObject((PyObject *)Py_TYPE(c->failure), c->failure);
		return NULL;
	}
	for (size_t i = 0; status != DCK_OK && !c->watch.type && i < c->n; i++)
		if (ext_names(&err, c->subjects[i].of.text))
			return ext_raise_of(c->state, &err, c->subjects[i].of.text);
	return kept(c, work_left_note(c, ext_watch_result(&c->watch, status, r, &err)));
}

static int options_read(ext_call *c)
{
	ext_group groups[EXT_GROUPS_MAX + 1];
	size_t n = 0;

	for (; n < EXT_GROUPS_MAX && c->command->groups[n].table; n++)
		groups[n] =
		    (ext_group){c->command->groups[n].table, (char *)c + c->command->groups[n].at};
	groups[n++] = (ext_group){ext_common_options, &c->common};
	if (ext_options_read(c->state, c->command->name, c->kwargs, groups, n,
			     c->command->first_only, &c->said) < 0)
		return -1;
	c->subject.model.arrays = c->accuracy.arrays = (dck_arrays){c->arrays.item, c->arrays.n};
	return 0;
}

static void call_init(ext_call *c)
{
	dck_subject_init(&c->subject);
	dck_plan_init(&c->plan);
	dck_compare_config_init(&c->compare);
	dck_throughput_config_init(&c->throughput);
	dck_tune_config_init(&c->tune);
	dck_load_config_init(&c->load);
	dck_accuracy_config_init(&c->accuracy);
	dck_profile_config_init(&c->profile);
	dck_machine_init(&c->machine);
	dck_pitfalls_config_init(&c->pitfalls);
	dck_generate_config_init(&c->generate);
	dck_cost_config_init(&c->cost);
}

static void call_done(ext_call *c)
{
	for (size_t i = 0; i < DCK_ALTERNATIVES_MAX; i++) {
		ext_device_close(&c->subjects[i].function);
		PyMem_Free(c->subjects[i].argv);
		dck_free(c->subjects[i].owned);
	}
	dck_free(c->made[0]);
	dck_free(c->made[1]);
	Py_XDECREF(c->watch.progress);
	Py_XDECREF(c->over_next);
	Py_XDECREF(c->start);
	Py_XDECREF(c->prepared);
	Py_XDECREF(c->failure);
	Py_XDECREF(c->kwargs);
	ext_arrays_done(&c->arrays);
	ext_texts_done(&c->said.texts);
	PyMem_Free(c);
}

/* Removes an option without a table row from kwargs. New reference; NULL: not given. */
static PyObject *option_take(ext_call *c, const char *name)
{
	PyObject *given = c->kwargs ? PyDict_GetItemString(c->kwargs, name) : NULL;

	if (!given)
		return NULL;
	Py_INCREF(given);
	PyDict_DelItemString(c->kwargs, name);
	return given;
}

/* Replaces an object such as a torch.device by its text. 0, or -1 with an exception. */
static int device_text(ext_call *c)
{
	PyObject *given = c->kwargs ? PyDict_GetItemString(c->kwargs, "device") : NULL;
	PyObject *text;
	int status;

	if (!given || !PyObject_HasAttrString(given, "type") ||
	    !PyObject_HasAttrString(given, "index"))
		return 0;
	text = PyObject_Str(given);
	status = text ? PyDict_SetItemString(c->kwargs, "device", text) : -1;
	Py_XDECREF(text);
	return status;
}

PyObject *ext_measure(const ext_command *command, PyObject *self, PyObject *args, PyObject *kwargs)
{
	ext_call *c = PyMem_Calloc(1, sizeof *c);
	PyObject *given, *show, *record = NULL;

	if (!c)
		return PyErr_NoMemory();
	c->state = ext_state_of(self);
	c->command = command;
	c->kwargs = kwargs ? PyDict_Copy(kwargs) : NULL;
	call_init(c);
	given = option_take(c, "progress");
	c->over_next = option_take(c, "_over_next");
	c->start = option_take(c, "_start");
	c->said.arrays = &c->arrays;
	if (!PyErr_Occurred() && device_text(c) == 0 && options_read(c) == 0 &&
	    command->subjects(c, args) == 0 && title_set(c) == 0 && program_find(c) == 0 &&
	    alternatives_make(c) == 0 && sizes_check(c) == 0 && files_check(c) == 0) {
		show = progress_find(c, given);
		ext_watch_init(&c->watch, c->state, show);
		if (!PyErr_Occurred())
			record = run(c);
	}
	Py_XDECREF(given);
	call_done(c);
	return record;
}
