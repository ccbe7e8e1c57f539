/* test_rank_inside.c - a program that measures itself as one rank of a job: the processes of the
 * job are this one and a child, which meet by the launcher's variables.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/lap.h"
#include "deepclock/ranks.h"
#include "deepclock/trace.h"
#include "deepclock/zone.h"
#include "scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

int test_rank_inside(void);

enum { STEPS = 12, OPEN_RANGES = 66000 };

static void rank_set(const char *rank, const char *size)
{
	setenv("RANK", rank, 1);
	setenv("WORLD_SIZE", size, 1);
	setenv("LOCAL_WORLD_SIZE", size, 1);
}

static void rank_unset(void)
{
	unsetenv("RANK");
	unsetenv("WORLD_SIZE");
	unsetenv("LOCAL_WORLD_SIZE");
}

/* A step waits for one byte of the other process and sends one. */
static void steps_make(int from, int to, long ms)
{
	const struct timespec t = {0, ms * 1000000};
	char byte = 'x';

	for (int i = 0; i < STEPS; i++) {
		dck_lap *lap = dck_lap_begin("step");

		DCK_PUSH("forward");
		nanosleep(&t, NULL);
		DCK_POP();
		DCK_PUSH("collective:exchange");
		if (write(to, &byte, 1) != 1 || read(from, &byte, 1) != 1)
			abort();
		DCK_POP();
		dck_lap_end(lap);
	}
}

/* Returns the status of the process. */
static int rank_one(int from, int to)
{
	dck_ranks_config c;
	dck_ranks *r;
	dck_record *record = NULL;
	char file[] = "meeting";

	rank_set("1", "2");
	dck_ranks_config_init(&c);
	c.rendezvous = file;
	if (dck_ranks_begin(&c, &r, NULL) != DCK_OK)
		return 1;
	memset(file, 'x', sizeof file - 1); /* it was copied */
	steps_make(from, to, 150);
	if (dck_ranks_end(r, &record, NULL) != DCK_OK || record)
		return 2;
	return 0;
}

static void a_job_that_measures_itself(void **state)
{
	dck_ranks_config c;
	dck_record *record;
	dck_ranks *r, *second;
	dck_err err;
	int there[2], back[2], status;

	(void)state;
	assert_int_equal(pipe(there) | pipe(back), 0);
	const pid_t pid = fork();
	if (pid == 0)
		_exit(rank_one(there[0], back[1]));
	rank_set("0", "2");
	dck_ranks_config_init(&c);
	c.rendezvous = "meeting";
	assert_int_equal(dck_ranks_begin(&c, &r, &err), DCK_OK);
	assert_int_equal(dck_ranks_begin(&c, &second, &err), DCK_E_ARG); /* it records already */
	steps_make(back[0], there[1], 1);
	assert_int_equal(dck_ranks_end(r, &record, &err), DCK_OK);
	rank_unset();
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_false(record->incomplete);
	assert_int_equal(dck_record_fact(record, "job", "ranks")->value.as.i, 2);
	assert_int_equal(dck_record_fact(record, "job", "straggler")->value.as.i, 1);
	const dck_table *t = dck_record_table(record, "ranks");
	assert_int_equal(t->nrows, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(dck_table_cell(t, i, "steps")->value.as.i, STEPS);
		assert_true(dck_table_cell(t, i, "memory")->value.as.i > 0);
	}
	dck_record_free(record);
	for (int i = 0; i < 2; i++) {
		close(there[i]);
		close(back[i]);
	}
}

static void alone_and_again(void **state)
{
	dck_record *record;
	dck_ranks *r;
	dck_err err;

	(void)state;
	rank_unset();
	for (int i = 0; i < 2; i++) {
		assert_int_equal(dck_ranks_begin(NULL, &r, &err), DCK_OK);
		dck_lap_end(dck_lap_begin("step"));
		assert_int_equal(dck_ranks_end(r, &record, &err), DCK_OK);
		assert_int_equal(
		    dck_table_cell(dck_record_table(record, "ranks"), 0, "steps")->value.as.i, 1);
		assert_null(dck_record_note(record, "ranks-lost"));
		dck_record_free(record);
	}
	/* Events that the recorder does not follow are reported. */
	assert_int_equal(dck_ranks_begin(NULL, &r, &err), DCK_OK);
	for (int i = 0; i < OPEN_RANGES; i++)
		DCK_PUSH("deep");
	for (int i = 0; i < OPEN_RANGES; i++)
		DCK_POP();
	assert_int_equal(dck_ranks_end(r, &record, &err), DCK_OK);
	assert_non_null(dck_record_note(record, "ranks-lost"));
	dck_record_free(record);
	rank_set("5", "2");
	assert_int_equal(dck_ranks_begin(NULL, &r, &err), DCK_E_ARG);
	rank_unset();
	assert_int_equal(dck_trace_stop(NULL, NULL), DCK_OK); /* nothing records */
}

int test_rank_inside(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(alone_and_again),
	    cmocka_unit_test(a_job_that_measures_itself),
	};

	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
