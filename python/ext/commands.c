/* commands.c - the functions that measure: one row for each, with the option tables of the
 * program's command and the call of the library. Their docstrings are made from the tables.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "ext.h"
#include <stddef.h>
#include <string.h>

static dck_status run_bench(ext_call *c, dck_record **ret, dck_err *err)
{
	c->plan.title = c->title;
	c->plan.program = c->program;
	return dck_bench(&c->subjects[0].of, &c->plan, &c->watch.observer, ret, err);
}

static dck_status run_cost(ext_call *c, dck_record **ret, dck_err *err)
{
	c->cost.title = c->title;
	return dck_cost(&c->subjects[0].of, &c->cost, &c->watch.observer, ret, err);
}

static dck_status run_compare(ext_call *c, dck_record **ret, dck_err *err)
{
	c->compare.title = c->title;
	c->compare.program = c->program;
	return dck_compare(c->all, c->n, &c->compare, &c->watch.observer, ret, err);
}

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

/* name, verb, signature, description, subjects, run, threads, first_only, groups */
#define COMMANDS(X)                                                                             \
	X(bench, "bench", "fn, /, *args, **options",                                            \
	  "Measures fn(*args) until its median is known to the precision that is asked for.",   \
	  ext_takes_function, run_bench, false, NULL, {dck_plan_options, AT(plan)},             \
	  {dck_bench_options, AT(plan)}, MODELS)                                                \
	X(bench_model, "bench", "model, /, **options",                                          \
	  "Measures a model: the path of a file, or \"zoo:NAME\".", ext_takes_model, run_bench, \
	  false, NULL, {dck_plan_options, AT(plan)}, {dck_bench_options, AT(plan)}, MODELS)     \
	X(bench_command, "bench", "words, /, **options",                                        \
	  "Measures a program: a list of its words, or one str without a shell.",               \
	  ext_takes_command, run_bench, false, NULL, {dck_plan_options, AT(plan)},              \
	  {dck_bench_options, AT(plan)}, PROGRAMS, HOOKS, MODELS)                               \
	X(cost, "cost", "model, /, **options",                                                  \
	  "Counts what a model computes: MACs, FLOPs, parameters, bytes of each operator.",     \
	  ext_takes_model, run_cost, false, NULL, {dck_cost_options, AT(cost)}, MODELS)         \
	X(compare, "compare", "subjects, /, **options",                                         \
	  "Which is faster? A dict of functions, models or programs by name; the first is the " \
	  "baseline. record.verdict is of the second against it.",                              \
	  ext_takes_several, run_compare, false, NULL, {dck_compare_options, AT(compare)},      \
	  {dck_compare_live_options, AT(compare)}, MODELS, PROGRAMS, HOOKS)

#define ROW(function, word, sign, text, take, call, thread, first, ...)                  \
	static const ext_command row_##function = {                                      \
	    .name = #function,                                                           \
	    .verb = word,                                                                \
	    .signature = sign,                                                           \
	    .doc = text,                                                                 \
	    .groups = {__VA_ARGS__},                                                     \
	    .first_only = first,                                                         \
	    .subjects = take,                                                            \
	    .run = call,                                                                 \
	    .threads = thread,                                                           \
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
static PyMethodDef methods[] = {COMMANDS(METHOD){NULL, NULL, 0, NULL}};

/* --- docstrings */

/* Adds a formatted text; takes over `text`. */
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
	size_t i;

	for (i = 0; row->name[i] && i + 1 < sizeof name; i++)
		name[i] = row->name[i] == '-' ? '_' : row->name[i];
	name[i] = '\0';
	doc = added(doc, PyUnicode_FromFormat("  %s: %s", name, row->help));
	for (i = 0; row->choices && row->choices[i]; i++)
		doc = added(doc, PyUnicode_FromFormat(i ? ", %s" : " (%s", row->choices[i]));
	if (row->choices)
		doc = added(doc, PyUnicode_FromString(")"));
	if (row->def)
		doc = added(doc, PyUnicode_FromFormat("; default: %s", row->def));
	return added(doc, PyUnicode_FromString("\n"));
}

static bool told_before(const ext_command *c, size_t group, const char *name)
{
	for (size_t g = 0; g < group; g++)
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

/* A method keeps a pointer to its docstring as long as the process lives. */
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
