/* commands.c - the functions that measure: one row each, with the option tables of the matching
 * CLI command and the library call. Docstrings are generated from the tables.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "ext.h"
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Calls the caller's `_start`, which returns the record of a fresh process as bytes, or a text that
 * says why there is none. */
static dck_status bench_start(void *self, size_t number, dck_record **ret, dck_err *err)
{
	ext_call *c = self;
	PyObject *o = PyObject_CallFunction(c->start, "n", (Py_ssize_t)number);
	dck_status status = DCK_E_CANCEL;
	const char *why;

	if (o && PyBytes_Check(o)) {
		status =
		    dck_record_parse(PyBytes_AS_STRING(o), (size_t)PyBytes_GET_SIZE(o), ret, err);
	} else if (o && (why = PyUnicode_AsUTF8(o))) {
		status = DCK_E_ENGINE;
		*err = (dck_err){.code = status};
		snprintf(err->msg, sizeof err->msg, "%s", why);
	} else {
		ext_watch_raised(&c->watch);
		*err = (dck_err){.code = status};
	}
	Py_XDECREF(o);
	return status;
}

static dck_status run_bench(ext_call *c, dck_record **ret, dck_err *err)
{
	dck_status status;

	c->plan.program = c->program;
	if (c->subjects[0].of.kind == DCK_SUBJECT_COMMAND)
		dck_plan_program(&c->plan, c->said.all, c->said.n);
	if (c->start) {
		c->plan.start = bench_start;
		c->plan.start_self = c;
	}
	status = dck_bench(&c->subjects[0].of, &c->plan, &c->watch.observer, ret, err);
	if (status == DCK_OK && !c->common.no_history)
		dck_history_with_starts(c->common.db, ret);
	return status;
}

static dck_status run_rank(ext_call *c, dck_record **ret, dck_err *err)
{
	if (c->nrecords > 0 || c->n == 0) {
		*err = (dck_err){.code = DCK_E_ARG};
		snprintf(err->msg, sizeof err->msg, "%s",
			 c->n == 0 ? "a ranking needs at least one subject"
				   : "saved records cannot be measured: compare() takes them");
		return err->code;
	}
	if (c->n == 1) {
		c->subjects[0].of = *c->all[0].subject;
		return run_bench(c, ret, err);
	}
	c->plan.program = c->program;
	if (dck_plan_ranking(&c->plan, c->said.all, c->said.n, c->n, &c->compare, err) != DCK_OK)
		return err->code;
	return dck_rank(c->all, c->n, &c->compare, &c->watch.observer, ret, err);
}

static dck_status compare_records(ext_call *c, dck_record **ret, dck_err *err)
{
	const dck_record *all[DCK_ALTERNATIVES_MAX];
	const char *names[DCK_ALTERNATIVES_MAX];
	dck_record *before = NULL;
	dck_status status = DCK_OK;
	size_t n = c->nrecords;

	for (size_t i = 0; i < n; i++) {
		all[i] = ext_record_get(c->state, c->records[i]);
		names[i] = c->all[i].name;
	}
	c->compare.record_names = names;
	/* Not a measurement: it is added to a history only where that is asked for. */
	c->common.no_history |= !c->common.commit && (c->which.history || !c->common.db);
	if (c->which.history && n == 1) {
		status = dck_history_before(c->common.db, all[0], &before, err);
		all[1] = all[0];
		all[0] = before;
		n = 2;
		c->compare.record_names = NULL; /* the inserted record has no name */
	}
	if (status == DCK_OK)
		status = dck_compare_records(all, n, &c->compare, ret, err);
	dck_record_free(before);
	return status;
}

/* Calls the caller's `over_next`, which prepares functions for the next value. */
static dck_status over_next(void *self, const char *value, dck_err *err)
{
	ext_call *c = self;
	PyObject *text = ext_text(value);
	PyObject *done = text ? PyObject_CallOneArg(c->over_next, text) : NULL;

	Py_XDECREF(text);
	Py_XDECREF(done);
	if (done)
		return DCK_OK;
	ext_watch_raised(&c->watch);
	*err = (dck_err){.code = DCK_E_CANCEL};
	return DCK_E_CANCEL;
}

static dck_status compare_servers(ext_call *c, dck_record **ret, dck_err *err)
{
	dck_load_config of[2];

	dck_compare_servers_requests(&c->load, &c->which.url, &c->which.served_model,
				     c->subject.model.seed, of);
	return dck_compare_servers(&of[0], &of[1], &c->compare, &c->watch.observer, ret, err);
}

static dck_status run_compare(ext_call *c, dck_record **ret, dck_err *err)
{
	if (c->over_next && c->watch.held) {
		c->compare.over_next = over_next;
		c->compare.over_self = c;
	}
	if (c->which.url.n > 0)
		return compare_servers(c, ret, err);
	if (dck_compare_given_check(c->said.all, c->said.n, c->nrecords > 0, err) != DCK_OK)
		return err->code;
	return c->nrecords > 0
		   ? compare_records(c, ret, err)
		   : dck_compare(c->all, c->n, &c->compare, &c->watch.observer, ret, err);
}

#define RUN(name, function, ...)                                                  \
	static dck_status run_##name(ext_call *c, dck_record **ret, dck_err *err) \
	{                                                                         \
		return function(__VA_ARGS__, &c->watch.observer, ret, err);       \
	}
RUN(cost, dck_cost, &c->subjects[0].of, &c->cost)
RUN(throughput, dck_throughput, &c->subjects[0].of, &c->throughput)
RUN(tune, dck_tune, &c->subjects[0].of, &c->tune)
/* Of a server the options of subjects, which it refuses. */
RUN(load, dck_load, c->n > 0 ? &c->subjects[0].of : &c->subject, &c->load)
RUN(profile, dck_profile_model, &c->subjects[0].of, &c->plan, &c->profile)
RUN(accuracy, dck_accuracy, c->all, c->n, &c->accuracy)
RUN(pitfalls, dck_pitfalls, &c->subjects[0].of, &c->pitfalls)
RUN(generate, dck_generate, &c->subjects[0].of, &c->generate)
RUN(machine, dck_machine, &c->machine)

static dck_status run_inspect(ext_call *c, dck_record **ret, dck_err *err)
{
	return dck_inspect(&c->subjects[0].of, c->title, ret, err);
}

/* The model's options of these names take one number, those of a search take lists. */
static const char *const lists[] = {"batch", "threads", NULL};
static const char *const batches[] = {"batch", NULL};

static const dck_opt seed_options[] = {
    DCK_OPTION(COUNT, dck_model_config, seed, "seed", "N", "1", "of the order of the trials",
	       .min = 0, .max = 1e15),
    {0},
};

#define AT(member) offsetof(ext_call, member)
#define MODELS                                       \
	{                                            \
		dck_model_options, AT(subject.model) \
	}
#define PROGRAMS                                         \
	{                                                \
		dck_command_options, AT(subject.command) \
	}
#define HOOKS                                         \
	{                                             \
		dck_hook_options, AT(subject.command) \
	}
#define PLAN                                \
	{dck_plan_options, AT(plan)},       \
	{                                   \
		dck_bench_options, AT(plan) \
	}
#define SCAN                                \
	{                                   \
		ext_scan_options, AT(which) \
	}

/* Function, command, signature, description, subjects, call, flags, first_only, option tables. */
#define COMMANDS(X)                                                                                \
	X(bench, "bench", "fn, /, *args, **options",                                               \
	  "Measures fn(*args) until its median has the requested precision. Exceptions of fn are " \
	  "raised again. Ctrl-C ends it with the results until then. "                             \
	  "With device=\"cuda\" (\"xpu\", \"mps\", a torch.device) a run ends when that "          \
	  "accelerator of PyTorch has ended its work.",                                            \
	  ext_takes_function, run_bench, 0, NULL, PLAN, MODELS)                                    \
	X(bench_model, "bench", "model, /, **options",                                             \
	  "Measures a model: the path of a file, or \"zoo:NAME\".", ext_takes_model, run_bench,    \
	  EXT_SIZES, NULL, PLAN, MODELS)                                                           \
	X(bench_command, "bench", "words, /, **options",                                           \
	  "Measures a program: a list of its words, or one str, cut at blanks without a shell.",   \
	  ext_takes_command, run_bench, 0, NULL, PLAN, PROGRAMS, HOOKS, MODELS)                    \
	X(rank, "bench", "subjects, /, **options",                                                 \
	  "Which is the fastest, and how many times as long do the others take? A dict of "        \
	  "functions, models or programs by name, measured interleaved; a program's words may "    \
	  "hold {NAME} for `scan`.",                                                               \
	  ext_takes_several, run_rank, EXT_SIZES, NULL, PLAN, MODELS, PROGRAMS, HOOKS, SCAN)       \
	X(compare, "compare", "subjects=None, /, **options",                                       \
	  "Is the second faster than the first? A dict of functions, models, programs or "         \
	  "Records by name, or two servers (url); the first is the baseline. record.verdict is "   \
	  "about the second.",                                                                     \
	  ext_takes_compared, run_compare, EXT_SIZES, NULL, {ext_which_options, AT(which)},        \
	  {ext_url_options, AT(which)}, {dck_server_options, AT(load)},                            \
	  {dck_compare_options, AT(compare)}, {dck_compare_live_options, AT(compare)},             \
	  {dck_compare_saved_options, AT(compare)}, MODELS, PROGRAMS, HOOKS, SCAN)                 \
	X(cost, "cost", "model, /, **options",                                                     \
	  "Counts what a model computes: MACs, FLOPs, parameters, bytes of each operator.",        \
	  ext_takes_model, run_cost, EXT_QUICK, NULL, {dck_cost_options, AT(cost)}, MODELS)        \
	X(profile, "profile", "model, /, **options",                                               \
	  "Shows where the time of a model goes, operator by operator: record.ops.",               \
	  ext_takes_model, run_profile, EXT_SIZES, NULL, {dck_profile_options, AT(profile)},       \
	  {dck_plan_options, AT(plan)}, MODELS)                                                    \
	X(throughput, "throughput", "model, /, **options",                                         \
	  "Finds the batch size that gives the most items per second.", ext_takes_model,           \
	  run_throughput, 0, lists, {dck_throughput_options, AT(throughput)}, MODELS)              \
	X(tune, "tune", "model, /, **options",                                                     \
	  "Finds the fastest configuration of a model, with the same outputs; tuned_session() "    \
	  "opens an ONNX Runtime session so configured.",                                          \
	  ext_takes_model, run_tune, 0, NULL, {dck_tune_options, AT(tune)}, MODELS)                \
	X(_throughput, "throughput", "batches, /, **options",                                      \
	  "Finds the batch size at which an object's callable gives the most items per second.",   \
	  ext_takes_batches, run_throughput, 0, lists, {dck_throughput_options, AT(throughput)},   \
	  {seed_options, AT(subject.model)})                                                       \
	X(bench_load, "load", "subject=None, /, **options",                                        \
	  "Measures latency under load of a model, a program or a function, which several "        \
	  "threads then call, or of a server (url); record.verdict is about the limits (slo).",    \
	  ext_takes_served, run_load, EXT_THREADS | EXT_SIZES, NULL, {dck_load_options, AT(load)}, \
	  {dck_server_options, AT(load)}, MODELS, PROGRAMS)                                        \
	X(generate, "generate", "model, /, **options",                                             \
	  "Measures generation token by token of a decoder with past keys and values: time to "    \
	  "the first token, time per token, and its growth.",                                      \
	  ext_takes_model, run_generate, 0, batches, {dck_generate_options, AT(generate)}, MODELS) \
	X(accuracy, "accuracy", "models=None, /, **options",                                       \
	  "Are the answers still the same, and are they right? A model or a dict of them by "      \
	  "name; none where `labels` and `predictions` are files.",                                \
	  ext_takes_models, run_accuracy, 0, NULL, {ext_vary_options, AT(which)},                  \
	  {dck_tolerance_options, AT(accuracy)}, {dck_accuracy_options, AT(accuracy)}, MODELS)     \
	X(pitfalls, "pitfalls", "subject, /, **options",                                           \
	  "Shows how far each classic mistake of benchmarking moves the number, on a model, a "    \
	  "program or a function.",                                                                \
	  ext_takes_any, run_pitfalls, EXT_SIZES, NULL, {dck_pitfalls_options, AT(pitfalls)},      \
	  MODELS, PROGRAMS)                                                                        \
	X(machine, "machine", "**options", "Measures what this machine could do at best.",         \
	  ext_takes_nothing, run_machine, 0, NULL, {dck_machine_options, AT(machine)})             \
	X(inspect, "inspect", "model, /, **options",                                               \
	  "Shows the structure and the symbolic sizes of a model; nothing runs.", ext_takes_model, \
	  run_inspect, EXT_QUICK, NULL, MODELS)

#define ROW(function, word, sign, text, take, call, flag, first, ...)                    \
	static const ext_command row_##function = {                                      \
	    .name = #function,                                                           \
	    .verb = word,                                                                \
	    .signature = sign,                                                           \
	    .doc = text,                                                                 \
	    .groups = {__VA_ARGS__},                                                     \
	    .first_only = first,                                                         \
	    .subjects = take,                                                            \
	    .run = call,                                                                 \
	    .flags = flag,                                                               \
	};                                                                               \
	static PyObject *do_##function(PyObject *self, PyObject *args, PyObject *kwargs) \
	{                                                                                \
		return ext_measure(&row_##function, self, args, kwargs);                 \
	}
COMMANDS(ROW)

#define ADDRESS(function, ...) &row_##function,
static const ext_command *const commands[] = {COMMANDS(ADDRESS)};
#define NCOMMANDS (sizeof commands / sizeof commands[0])

#define METHOD(function, ...) \
	{#function, (PyCFunction)(void (*)(void))do_##function, METH_VARARGS | METH_KEYWORDS, NULL},
static PyObject *options(PyObject *m, PyObject *args);
static PyMethodDef methods[] = {
    COMMANDS(METHOD){
	"options", options, METH_VARARGS,
	"options($module, function, /)\n--\n\nThe options of a function, by its name: a list "
	"of (name, kind, placeholder, default, help), named as on the command line."},
    {"_keep", (PyCFunction)(void (*)(void))ext_keep, METH_VARARGS | METH_KEYWORDS,
     "_keep($module, record, /, **options)\n--\n\nSaves the record by save, html, figures, db, commit and "
     "no_history; returns it. None: only checks that it could."},
    {"_figures", ext_figures, METH_VARARGS,
     "_figures($module, record, name=None, /)\n--\n\nThe figures of the record, or the figure of that name: a "
     "dict of names to (SVG, PNG or None, the reason without a PNG or None)."},
    {"_file_replace", ext_file_replace, METH_VARARGS,
     "_file_replace($module, path, data, /)\n--\n\nWrites a file atomically; a path that is not a file, "
     "such as /dev/stdout, directly. IoError."},
    {NULL, NULL, 0, NULL}};

/* --- docstrings */

/* Appends `more`; takes over both references. */
static PyObject *added(PyObject *text, PyObject *more)
{
	PyObject *both = text && more ? PyUnicode_Concat(text, more) : NULL;

	Py_XDECREF(text);
	Py_XDECREF(more);
	return both;
}

static PyObject *doc_option(PyObject *doc, const dck_opt *row)
{
	char name[64];

	doc = added(doc, PyUnicode_FromFormat(
			     "  %s: %s", ext_option_name(row->name, name, sizeof name), row->help));
	for (size_t i = 0; row->choices && row->choices[i]; i++)
		doc = added(doc, PyUnicode_FromFormat(i ? ", %s" : " (%s", row->choices[i]));
	if (row->choices)
		doc = added(doc, PyUnicode_FromString(")"));
	if (row->def)
		doc = added(doc, PyUnicode_FromFormat("; default: %s", row->def));
	return added(doc, PyUnicode_FromString("\n"));
}

static bool told_before(const ext_command *c, size_t group, const char *name)
{
	for (size_t g = 0; g < group && c->groups[g].table; g++)
		if (dck_opt_find(c->groups[g].table, name))
			return true;
	return false;
}

static PyObject *doc_new(const ext_command *c)
{
	PyObject *doc = PyUnicode_FromFormat("%s($module, %s)\n--\n\n%s\n\nReturns a Record. "
					     "Options:\n",
					     c->name, c->signature, c->doc);

	for (size_t g = 0; doc && g < EXT_GROUPS_MAX && c->groups[g].table; g++)
		for (const dck_opt *row = c->groups[g].table; doc && row->name; row++)
			if (!told_before(c, g, row->name))
				doc = doc_option(doc, row);
	for (const dck_opt *row = ext_common_options; doc && row->name; row++)
		doc = doc_option(doc, row);
	return added(doc,
		     PyUnicode_FromString(
			 "  progress: True, False, or a function that is called with a Progress "
			 "now and then, and with None at the end"));
}

/* A method points to its docstring until the process exits. */
static int doc_set(PyMethodDef *method, const ext_command *c)
{
	PyObject *doc = method->ml_doc ? NULL : doc_new(c);
	const char *text = doc ? PyUnicode_AsUTF8(doc) : NULL;
	char *copy = text ? PyMem_RawMalloc(strlen(text) + 1) : NULL;

	if (copy)
		method->ml_doc = strcpy(copy, text);
	Py_XDECREF(doc);
	return method->ml_doc ? 0 : -1;
}

/* [(name, kind, placeholder, default, help), ...] of the function's options. */
static PyObject *options(PyObject *m, PyObject *args)
{
	static const char *const kinds[] = {"flag",  "count", "time",	"bytes", "real",
					    "share", "text",  "choice", "list"};
	const ext_command *c = NULL;
	const char *name;
	PyObject *list;

	if (!PyArg_ParseTuple(args, "s:options", &name))
		return NULL;
	for (size_t i = 0; i < NCOMMANDS; i++)
		if (strcmp(commands[i]->name, name) == 0)
			c = commands[i];
	if (!c)
		return ext_raise_argument(ext_state_of(m), "no function '%s' takes options", name);
	list = PyList_New(0);
	for (size_t g = 0; list && g <= EXT_GROUPS_MAX; g++) {
		const dck_opt *row = g == EXT_GROUPS_MAX ? ext_common_options : c->groups[g].table;

		for (; list && row && row->name; row++)
			if (!told_before(c, g, row->name))
				ext_list_add(&list,
					     Py_BuildValue("(sszzs)", row->name, kinds[row->kind],
							   row->arg, row->def, row->help));
	}
	return list;
}

static int commands_add(PyObject *m, ext_state *s)
{
	(void)m;
	(void)s;
	for (size_t i = 0; i < NCOMMANDS; i++)
		if (doc_set(&methods[i], commands[i]) < 0)
			return -1;
	return 0;
}

const ext_part ext_commands = {.methods = methods, .add = commands_add};
