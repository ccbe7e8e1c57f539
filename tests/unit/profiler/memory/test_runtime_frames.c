/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "profiler/memory/runtime_frames.h"

static void what_libc_hands_over_is_its_callers(void **state)
{
	static const char *const given[] = {"strdup",
					    "__strdup",
					    "__GI___strdup",
					    "_IO_new_fopen",
					    "fopen64",
					    "___asprintf",
					    "__asprintf_chk",
					    "__getline",
					    "_IO_getdelim",
					    "newlocale",
					    "__new_realpath",
					    "strdup@@GLIBC_2.2.5",
					    "vasprintf_internal",
					    "opendir_tail",
					    "__scandir64_tail"};
	static const char *const kept[] = {
	    "printf",
	    "__printf",
	    "pthread_create",
	    "dlopen",
	    "setlocale",
	    "atexit",
	    "_",
	    "",
	    "strdup_something_else",
	    "a_name_that_is_longer_than_any_that_the_c_library_has_for_a_function"};

	(void)state;
	for (size_t i = 0; i < sizeof given / sizeof given[0]; i++)
		assert_true(runtime_hands_over(given[i]));
	for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
		assert_false(runtime_hands_over(kept[i]));
	assert_true(runtime_hands_over(NULL));
}

static void libraries_are_known_by_their_names(void **state)
{
	(void)state;
	assert_true(runtime_is_c("/lib/x86_64-linux-gnu/libc.so.6"));
	assert_true(runtime_is_c("libc-2.31.so"));
	assert_true(runtime_is_c("ld-linux-x86-64.so.2"));
	assert_false(runtime_is_c("libcurl.so.4"));
	assert_false(runtime_is_c("libstdc++.so.6"));
	assert_false(runtime_is_c(NULL));
	assert_true(runtime_is(&(dck_frame){.name = "f", .module = "libstdc++.so.6.0.30"}));
	assert_true(runtime_is(
	    &(dck_frame){.name = "f", .module = "prog", .file = "/usr/include/c++/12/bits/x.h"}));
	assert_false(runtime_is(&(dck_frame){.name = "main", .module = "prog", .file = "main.c"}));
	assert_false(runtime_is(&(dck_frame){.name = "f"}));
	assert_true(
	    runtime_is(&(dck_frame){.name = "operator new(unsigned long)", .module = "prog"}));
	assert_true(runtime_is(&(dck_frame){.name = "_Znam", .module = "prog"}));
	assert_false(
	    runtime_is(&(dck_frame){.name = "A::operator new(unsigned long)", .module = "prog"}));
	/* Rust's standard library: generic code, the copy that rustup installs, code without lines.
	 */
	static const char *const files[] = {
	    "/rustc/59807616e1fa2540724bfbac14d7976d7e4a3860/library/alloc/src/alloc.rs",
	    "library/alloc/src/vec/mod.rs", "/rust/deps/gimli-0.32.3/src/read/dwarf.rs",
	    "/opt/rust/lib/rustlib/src/rust/library/core/src/option.rs"};
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
		assert_true(
		    runtime_is(&(dck_frame){.name = "alloc", .module = "prog", .file = files[i]}));
	assert_true(runtime_is(
	    &(dck_frame){.name = "<alloc::raw_vec::RawVecInner>::finish_grow", .module = "prog"}));
	assert_false(runtime_is(
	    &(dck_frame){.name = "alloc::mine", .module = "prog", .file = "src/alloc.rs"}));
}

int test_runtime_frames(void);
int test_runtime_frames(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_libc_hands_over_is_its_callers),
	    cmocka_unit_test(libraries_are_known_by_their_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
