/* test_versus_threads.c - messages that engines log from several threads during a comparison become
 * a few notes. Meant for ThreadSanitizer.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "deepclock/compare.h"

static void warnings_of_all_become_a_few_notes(void **state)
{
	dck_subject s[2];
	const dck_alternative all[2] = {{"a", &s[0]}, {"b", &s[1]}};
	dck_compare_config c;
	dck_record *r = NULL;
	dck_err err = {0};
	size_t warnings = 0;

	(void)state;
	for (int i = 0; i < 2; i++) {
		dck_subject_init(&s[i]);
		s[i].kind = DCK_SUBJECT_PLUGIN;
		s[i].text = getenv("LOGGING_PLUGIN"); /* the plug-in's path; the build sets it */
		assert_non_null(s[i].text);
	}
	dck_compare_config_init(&c);
	c.rounds = 6;
	c.trials = 1;
	c.trial_ns = 0;
	c.warmup = "3";
	if (dck_compare(all, 2, &c, NULL, &r, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	for (size_t i = 0; i < r->nnotes; i++)
		if (strcmp(r->notes[i].code, "engine-warning") == 0) {
			warnings++;
			assert_non_null(strstr(r->notes[i].text, "a worker warns of "));
			for (size_t k = 0; k < i; k++)
				assert_string_not_equal(r->notes[i].text, r->notes[k].text);
		}
	assert_int_equal(warnings, 4);
	dck_record_free(r);
}

int test_versus_threads(void);
int test_versus_threads(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(warnings_of_all_become_a_few_notes),
	};

	return cmocka_run_group_tests_name("versus_threads", tests, NULL, NULL);
}
