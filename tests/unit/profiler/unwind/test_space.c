/* test_space.c - the mappings of a process, and the parts that are stored.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fault_alloc.h"
#include "profiler/unwind/address_space.h"

enum { FILES = 100, READINGS = 100 };

/* Reads the maps repeatedly, as for a program whose code is never looked up. */
static void map_all(address_space *s)
{
	char path[64];

	address_space_exec(s);
	for (unsigned i = 0; i < FILES; i++) {
		const address_space_mapping m = {.begin = 0x1000 * (i + 1),
						 .end = 0x1000 * (i + 2),
						 .path = path,
						 .inode = i + 1,
						 .executable = true};

		snprintf(path, sizeof path, "/nowhere/a/library/of/a/long/name/%u.so%s", i,
			 i % 2 ? " (deleted)" : "");
		assert_int_equal(address_space_mapped(s, &m, NULL), DCK_OK);
	}
}

static void a_path_is_stored_once(void **state)
{
	fault_alloc work;

	(void)state;
	fault_alloc_begin(&work, 0);
	address_space_files *files = address_space_files_new();
	address_space *s = address_space_new(files, 1);
	assert_non_null(s);
	map_all(s);
	const char *first = address_space_at(s, 1)->path;
	const size_t calls = work.calls;
	for (int i = 0; i < READINGS; i++)
		map_all(s);
	assert_int_equal(work.calls, calls);
	assert_string_equal(first, "/nowhere/a/library/of/a/long/name/1.so");
	assert_ptr_equal(address_space_at(s, 1)->path, first);
	address_space_free(s);
	address_space_files_free(files);
	assert_int_equal(work.out, 0);
	dck_set_allocator(NULL);
}

/* The maps of a process that has ended, and is not waited for, are an empty file. */
static void mappings_stay_when_their_process_ends(void **state)
{
	siginfo_t ended;

	(void)state;
	const pid_t child = fork();
	if (child == 0) {
		pause();
		_exit(0);
	}
	assert_true(child > 0);
	address_space_files *files = address_space_files_new();
	address_space *s = address_space_new(files, child);
	assert_non_null(s);
	assert_int_equal(address_space_read(s, NULL), DCK_OK);
	assert_non_null(address_space_at(s, 0));
	const uint64_t begin = address_space_at(s, 0)->begin;
	kill(child, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)child, &ended, WEXITED | WNOWAIT), 0);
	assert_int_equal(address_space_read(s, NULL), DCK_E_ABSENT);
	assert_non_null(address_space_at(s, 0));
	assert_true(address_space_at(s, 0)->begin == begin);
	waitpid(child, NULL, 0);
	address_space_free(s);
	address_space_files_free(files);
}

int test_space(void);
int test_space(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_path_is_stored_once),
	    cmocka_unit_test(mappings_stay_when_their_process_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
