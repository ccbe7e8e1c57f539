/* python_merge.c - which Python frames belong to which call of the evaluator, and what of the
 * interpreter's own code a stack does not need.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/python/python_merge.h"
#include <string.h>

/* Compilers put a part of a function elsewhere and call it name.cold, name.constprop.0, ... */
static bool name_is(const char *function, const char *name)
{
	size_t n = strlen(name);

	return strncmp(function, name, n) == 0 && (function[n] == '\0' || function[n] == '.');
}

/* A name that ends in '*' matches every function with this prefix. */
static const char *const calling[] = {
    "PyCFunction_Call",
    "PyEval_*",
    "PyMethod_*",
    "PyObject_Call*",
    "PyObject_Vectorcall*",
    "PyVectorcall_Call",
    "_PyCFunction_*",
    "_PyEval_*",
    "_PyFunction_*",
    "_PyMethodDef_*",
    "_PyMethodDescr_*",
    "_PyObject_Call*",
    "_PyObject_FastCall*",
    "_PyObject_MakeTpCall",
    "_PyObject_Vectorcall*",
    "_PyVectorcall_Call",
    "_TAIL_CALL_*", /* the evaluator since 3.14, where each instruction may be a function */
    "call_function",
    "cfunction_call*",
    "cfunction_vectorcall_*",
    "do_call_core",
    "function_code_fastcall",
    "method_vectorcall*",
    "object_vacall",
    "py_trampoline_evaluator",
    "slot_tp_call",
    "type_call",
    "vectorcall_method",
    "wrap_call",
};

static const char *const beginning[] = {
    "__clone*", "__libc_start_*", "_start",	  "clone",
    "clone3",	"main",		  "start_thread", "thread_start",
};

static bool merge_is_among(const char *function, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t length = strlen(names[i]) - 1;

		if (names[i][length] == '*' ? strncmp(function, names[i], length) == 0
					    : name_is(function, names[i]))
			return true;
	}
	return false;
}
#define IS_AMONG(function, names) \
	merge_is_among((function), (names), sizeof(names) / sizeof *(names))

merge_kind python_merge_kind(const char *function)
{
	if (!function)
		return MERGE_OTHER;
	if (name_is(function, "_PyEval_EvalFrameDefault"))
		return MERGE_EVALUATOR;
	if (IS_AMONG(function, calling))
		return MERGE_CALLING;
	return IS_AMONG(function, beginning) ? MERGE_BEGINNING : MERGE_OTHER;
}

/* Returns the end of the Python frames of one evaluator call: they end with its entry frame. */
static size_t run_end(const merge_input *in, size_t from)
{
	while (from < in->pythons && !in->python[from].entry)
		from++;
	return from < in->pythons ? from + 1 : from;
}

typedef struct merging {
	const merge_input *in;
	merge_frame *ret;
	size_t n, python; /* Python frames before this index are written */
} merging;

static void merge_runs_put(merging *m, size_t runs)
{
	while (runs--)
		for (size_t end = run_end(m->in, m->python); m->python < end; m->python++)
			if (m->in->python[m->python].code)
				m->ret[m->n++] = (merge_frame){true, m->python};
}

static bool is_hidden(const merge_input *in, size_t i, size_t outermost)
{
	const merge_native *f = &in->native[i];

	if (in->keep_interpreter || outermost == in->natives)
		return false;
	return f->interpreter || f->kind == MERGE_CALLING ||
	       (f->kind == MERGE_BEGINNING && i > outermost);
}

size_t python_merge(const merge_input *in, merge_frame *ret, merge_stats *ret_stats)
{
	merging m = {.in = in, .ret = ret};
	size_t evaluators = 0, runs = 0, seen = 0, outermost = in->natives, first = 0, skipped = 0;

	for (size_t i = 0; i < in->natives; i++)
		if (in->native[i].kind == MERGE_EVALUATOR) {
			evaluators++;
			outermost = i;
		}
	for (size_t i = 0; i < in->pythons; i = run_end(in, i))
		runs++;
	/* If both stacks are complete at the outer end, only the inner end is uncertain: a call
	 * that has no frame yet, or no longer one. */
	if (in->native_whole && in->python_whole) {
		skipped = evaluators > runs ? evaluators - runs : 0;
		first = runs > evaluators ? runs - evaluators : 0;
	}
	for (size_t i = 0; i < in->natives; i++) {
		if (in->native[i].kind == MERGE_EVALUATOR) {
			if (seen++ == 0)
				merge_runs_put(&m, first);
			if (seen > skipped)
				merge_runs_put(&m, 1);
		} else if (!is_hidden(in, i, outermost))
			ret[m.n++] = (merge_frame){false, i};
	}
	while (m.python < in->pythons)
		merge_runs_put(&m, 1);
	*ret_stats = (merge_stats){evaluators, runs, evaluators == runs};
	return m.n;
}
