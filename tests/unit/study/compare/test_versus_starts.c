/* test_versus_starts.c - models that are compared where fresh processes cannot be started: all
 * trials are in this process, and the record says why. tests/cli/compare/starts.sh has those that
 * can.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/compare.h"
#include "scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

/* Compares two models with a program that is to be started, and checks why it is not. */
static void here_because(const char *program, uint64_t processes, const char *why)
{
	dck_subject s[2];
	const dck_alternative all[2] = {{"a", &s[0]}, {"b", &s[1]}};
	dck_compare_config c;
	dck_record *r = NULL;
	dck_err err = {0};

	for (int i = 0; i < 2; i++) {
		dck_subject_init(&s[i]);
		s[i].kind = DCK_SUBJECT_MODEL;
		s[i].text = "zoo:simplenet";
		s[i].model.engine = "null";
		s[i].model.engine_option = (dck_list){.item = {"ns=10000"}, .n = 1};
	}
	dck_compare_config_init(&c);
	c.rounds = 6;
	c.trial_ns = 0;
	c.max_time_ns = UINT64_C(1000000000000);
	c.program = program;
	c.processes = processes;
	if (dck_compare(all, 2, &c, NULL, &r, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	assert_string_equal(dck_record_fact(r, "method", "trial")->value.as.text,
			    "in this process");
	assert_non_null(
	    strstr(dck_record_fact(r, "result", "answer")->value.as.text, ", in one process"));
	const dck_fact *share = dck_record_fact(r, "method", "starting_share");
	assert_int_equal(share->value.kind, DCK_VALUE_ABSENT);
	if (!strstr(share->value.as.text, why))
		fail_msg("'%s'", share->value.as.text);
	assert_true(dck_record_fact(r, "method", "rounds")->value.as.i == 6);
	dck_record_free(r);
}

static void no_process_can_be_started(void **state)
{
	(void)state;
	here_because("./none", 0, "./none");
	here_because(scratch_text("./ends", "#!/bin/sh\nexit 3\n"), 0,
		     "a fresh process ended with exit status 3");
	here_because("./ends", 1, "--processes is 1");
}

int test_versus_starts(void);
int test_versus_starts(void)
{
	const struct CMUnitTest tests[] = {
	    SCRATCH_TEST(no_process_can_be_started),
	};

	return cmocka_run_group_tests_name("versus_starts", tests, scratch_begin, scratch_end);
}
