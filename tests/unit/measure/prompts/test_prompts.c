/* test_prompts.c - files of prompts, as token ids and as the texts of requests.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "fault_alloc.h"
#include "measure/prompts/prompt_ids.h"
#include "measure/prompts/prompt_texts.h"
#include "scratch.h"

static void assert_ids(const prompt_ids *p, size_t i, const int32_t *expected, size_t n)
{
	assert_int_equal(p->prompt[i].n, n);
	assert_memory_equal(p->ids + p->prompt[i].from, expected, n * sizeof *expected);
}

/* The shortest first; of the same length, as in the file. */
static void ids_in_each_form(void **state)
{
	prompt_ids p;
	dck_err err;

	(void)state;
	scratch_text("p",
		     "[3, 2147483647 , 0]\r\n\n7 7\n{\"x\": {\"prompt\": [1]}, \"prompt\": [9,8]}\n"
		     " 4 5\t6  \n\t{\"prompt\": [1, 2, 3, 4]}");
	assert_int_equal(prompt_ids_read("p", &p, &err), DCK_OK);
	assert_int_equal(p.n, 5);
	assert_ids(&p, 0, (const int32_t[]){7, 7}, 2);
	assert_ids(&p, 1, (const int32_t[]){9, 8}, 2);
	assert_ids(&p, 2, (const int32_t[]){3, INT32_MAX, 0}, 3);
	assert_ids(&p, 3, (const int32_t[]){4, 5, 6}, 3);
	assert_ids(&p, 4, (const int32_t[]){1, 2, 3, 4}, 4);
	assert_int_equal(p.prompt[1].line, 4);
	prompt_ids_done(&p);
}

/* A list is as valid JSON as it was; one that a server may refuse is refused here. */
static void ids_for_a_server(void **state)
{
	static const char *const wrong[] = {"{\"prompt\": []}",		"{\"prompt\": [1,]}",
					    "{\"prompt\": [[1]]}",	"{\"prompt\": [-1]}",
					    "{\"prompt\": [1, \"2\"]}", "{\"text\": [1]}",
					    "{\"prompt\": [01, 2]}",	"{\"prompt\": [1, 00]}"};
	prompt_texts p;
	dck_err err;

	(void)state;
	scratch_text("p",
		     "[1, 2]\n{\"prompt\" : [1, 529]}\n{\"prompt\": [[1], 2], \"text\": \"a\"}");
	assert_int_equal(prompt_texts_read("p", &p, &err), DCK_E_FORMAT);
	scratch_text("p",
		     "[1, 2]\n \t{\"prompt\" : [100, 0]}\n{\"x\": [[1], 2], \"text\": \"a\"}\n  b");
	assert_int_equal(prompt_texts_read("p", &p, &err), DCK_OK);
	assert_string_equal(p.quoted[0], "\"[1, 2]\"");
	assert_string_equal(p.quoted[1], "[100, 0]");
	assert_string_equal(p.quoted[2], "\"a\"");
	assert_string_equal(p.quoted[3], "\"  b\"");
	assert_int_equal(p.ids_line, 2);
	prompt_texts_done(&p);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		scratch_text("p", wrong[i]);
		assert_int_equal(prompt_texts_read("p", &p, &err), DCK_E_FORMAT);
	}
}

/* The n-th allocation fails, for each n. */
static void no_memory_for_prompts(void **state)
{
	(void)state;
	scratch_text("p", "{\"prompt\": [1, 529]}\n{\"prompt\": [3]}");
	for (size_t n = 1;; n++) {
		prompt_ids ids = {0};
		prompt_texts texts = {0};
		fault_alloc f;
		dck_err err;

		fault_alloc_begin(&f, n);
		dck_status status = prompt_ids_read("p", &ids, &err);
		if (status == DCK_OK)
			status = prompt_texts_read("p", &texts, &err);
		prompt_ids_done(&ids);
		prompt_texts_done(&texts);
		dck_set_allocator(NULL);
		assert_int_equal(f.out, 0);
		if (f.calls < n)
			return;
		assert_int_equal(status, DCK_E_NOMEM);
	}
}

int test_prompts(void);
int test_prompts(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(ids_in_each_form),
	    cmocka_unit_test(ids_for_a_server),
	    cmocka_unit_test(no_memory_for_prompts),
	};

	return cmocka_run_group_tests_name("prompts", tests, scratch_begin, scratch_end);
}
