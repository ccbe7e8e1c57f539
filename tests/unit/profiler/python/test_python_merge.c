/* Native and Python frames merged into one stack: which belong together, which are left out, and
 * the result when the two do not match.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/python/python_merge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

enum { MAX = 32 };
#define EVAL "_PyEval_EvalFrameDefault"

/* Frames are listed outermost first. Native: "-" has no name, "*name" is internal to the
 * interpreter; Python: "!name" is a frame that started an evaluator call. */
typedef struct stack_case {
	const char *native[MAX], *python[MAX];
	bool cut_native, cut_python, keep;
	const char *want[MAX];
	size_t evaluators, entries;
} stack_case;

static size_t count(const char *const *names)
{
	size_t n = 0;

	while (names[n])
		n++;
	return n;
}

static void check(const stack_case *c)
{
	size_t natives = count(c->native), pythons = count(c->python), n;
	merge_native native[MAX];
	python_frame python[MAX];
	merge_frame got[2 * MAX];
	merge_stats told;
	char text[1024] = "", want[1024] = "";

	for (size_t i = 0; i < natives; i++) {
		const char *name = c->native[natives - 1 - i];
		bool own = name[0] == '*';

		name += name[0] == '*';
		native[i] = (merge_native){python_merge_kind(name[0] == '-' ? NULL : name), own};
	}
	for (size_t i = 0; i < pythons; i++) {
		const char *name = c->python[pythons - 1 - i];

		python[i] =
		    (python_frame){.code = strcmp(name, "!") == 0 ? 0 : 8, .entry = name[0] == '!'};
	}
	n = python_merge(&(merge_input){native, natives, !c->cut_native, python, pythons,
					!c->cut_python, c->keep},
			 got, &told);
	for (size_t i = n; i--;) {
		const char *name = got[i].python ? c->python[pythons - 1 - got[i].index]
						 : c->native[natives - 1 - got[i].index];

		snprintf(text + strlen(text), sizeof text - strlen(text), "%s;",
			 name + (name[0] == '!' || name[0] == '*'));
	}
	for (const char *const *w = c->want; *w; w++)
		snprintf(want + strlen(want), sizeof want - strlen(want), "%s;", *w);
	assert_string_equal(text, want);
	assert_int_equal(told.evaluators, c->evaluators);
	assert_int_equal(told.entries, c->entries);
	assert_int_equal(told.exact, c->evaluators == c->entries);
}

static void test_together(void **state)
{
	(void)state;
	/* Python calls C++ calls sgemm. */
	check(&(stack_case){.native = {"_start", "__libc_start_main_impl", "*main",
				       "*pymain_run_python", EVAL, "*PyObject_Vectorcall", "*-",
				       "THPVariable_linear", "at::native::linear", "sgemm_kernel"},
			    .python = {"!<module>", "main", "Linear.forward"},
			    .want = {"<module>", "main", "Linear.forward", "THPVariable_linear",
				     "at::native::linear", "sgemm_kernel"},
			    .evaluators = 1,
			    .entries = 1});
	/* C of an extension calls Python again: its frame stays, interpreter internals in between
	 * do not. */
	check(
	    &(stack_case){.native = {"start_thread", "*thread_run", "*_PyEval_Vector", EVAL,
				     "*cfunction_vectorcall_O", "torch::autograd::Engine::execute",
				     "*PyObject_CallObject", EVAL ".cold", "*list_sort_impl", EVAL,
				     "*list_sort_impl", "memcpy"},
			  .python = {"!run", "backward", "!apply", "inner", "!key"},
			  .want = {"run", "backward", "torch::autograd::Engine::execute", "apply",
				   "inner", "key", "memcpy"},
			  .evaluators = 3,
			  .entries = 3});
	/* All frames, on request. */
	check(&(stack_case){.native = {"_start", EVAL, "*PyObject_Vectorcall", "f"},
			    .python = {"!<module>"},
			    .keep = true,
			    .want = {"_start", "<module>", "PyObject_Vectorcall", "f"},
			    .evaluators = 1,
			    .entries = 1});
}

static void test_one_side(void **state)
{
	(void)state;
	/* A thread unknown to Python: nothing is left out, not even main(). */
	check(&(stack_case){.native = {"_start", "main", "work"},
			    .python = {NULL},
			    .want = {"_start", "main", "work"}});
	/* The native stack is completely unknown. */
	check(&(stack_case){.native = {NULL},
			    .python = {"!<module>", "f"},
			    .want = {"<module>", "f"},
			    .entries = 1});
	/* A program that embeds an interpreter keeps its outer frames. */
	check(&(stack_case){.native = {"_start", "main", "serve", "*PyObject_CallObject", EVAL},
			    .python = {"!handle"},
			    .want = {"serve", "handle"},
			    .evaluators = 1,
			    .entries = 1});
}

static void test_misfits(void **state)
{
	(void)state;
	/* The evaluator was just called and has no frame yet: both ends are complete. */
	check(&(stack_case){.native = {"_start", EVAL, "ext", EVAL},
			    .python = {"!<module>", "f"},
			    .want = {"<module>", "f", "ext"},
			    .evaluators = 2,
			    .entries = 1});
	/* The same, with an explicit entry without a frame from Python. */
	check(&(stack_case){.native = {"_start", EVAL, "ext", EVAL},
			    .python = {"!<module>", "f", "!"},
			    .want = {"<module>", "f", "ext"},
			    .evaluators = 2,
			    .entries = 2});
	/* A frame that is in Python's list and no longer on the native stack. */
	check(&(stack_case){.native = {"_start", EVAL, "ext"},
			    .python = {"!<module>", "!f"},
			    .want = {"<module>", "f", "ext"},
			    .evaluators = 1,
			    .entries = 2});
	/* The native stack is truncated: its inner part matches the innermost frames. */
	check(&(stack_case){.native = {"ext", EVAL, "sgemm"},
			    .python = {"!<module>", "f", "!g", "h"},
			    .cut_native = true,
			    .want = {"<module>", "f", "ext", "g", "h", "sgemm"},
			    .evaluators = 1,
			    .entries = 2});
	/* Python's list is truncated: the outer evaluators have no frames. */
	check(&(stack_case){.native = {"_start", EVAL, "ext", EVAL, "sgemm"},
			    .python = {"g", "h"},
			    .cut_python = true,
			    .want = {"ext", "g", "h", "sgemm"},
			    .evaluators = 2,
			    .entries = 1});
}

static void test_names(void **state)
{
	(void)state;
	static const struct {
		const char *function;
		merge_kind kind;
	} of[] = {
	    {"_PyEval_EvalFrameDefault", MERGE_EVALUATOR},
	    {"_PyEval_EvalFrameDefault.localalias", MERGE_EVALUATOR},
	    {"_PyEval_EvalFrameDefaultX", MERGE_CALLING},
	    {"cfunction_vectorcall_FASTCALL", MERGE_CALLING},
	    {"type_call.part.0", MERGE_CALLING},
	    {"type_caller", MERGE_OTHER},
	    {"main", MERGE_BEGINNING},
	    {"mainly", MERGE_OTHER},
	    {"", MERGE_OTHER},
	    {NULL, MERGE_OTHER},
	};
	for (size_t i = 0; i < sizeof of / sizeof *of; i++)
		assert_int_equal(python_merge_kind(of[i].function), of[i].kind);
}

int test_python_merge(void);
int test_python_merge(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_together),
	    cmocka_unit_test(test_one_side),
	    cmocka_unit_test(test_misfits),
	    cmocka_unit_test(test_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
