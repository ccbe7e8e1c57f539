/* test_space.c - the mappings of a process, and the parts that are stored.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

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

int test_space(void);
int test_space(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_path_is_stored_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
