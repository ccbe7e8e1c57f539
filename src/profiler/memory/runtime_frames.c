/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/memory/runtime_frames.h"

#include "os/os.h"

#include <string.h>

static bool begins_with_any(const char *name, const char *const *known)
{
	for (; *known; known++)
		if (!strncmp(name, *known, strlen(*known)))
			return true;
	return false;
}

bool runtime_is_python(const char *module)
{
	static const char *const known[] = {"python", "libpython", NULL};

	return module && begins_with_any(os_path_base(module), known);
}

bool runtime_is_c(const char *module)
{
	static const char *const known[] = {
	    "libc.so",	     "libc-2.",	    "ld-linux",	 "ld-2.",   "ld64.so",
	    "libpthread.so", "libpthread-", "libdl.so",	 "libdl-",  "librt.so",
	    "libm.so",	     "linux-vdso",  "libresolv", "libnss_", NULL};

	return module && begins_with_any(os_path_base(module), known);
}

/* Rust's standard library, whose generic functions are compiled into programs. Its files have the
 * names that rustc gives them, those of its dependencies "/rust/deps/"; functions that were
 * compiled beforehand have no file. */
static bool frames_is_rust_runtime(const dck_frame *f)
{
	static const char *const files[] = {"/rustc/",	     "/rust/deps/",  "library/alloc/",
					    "library/core/", "library/std/", NULL};
	static const char *const names[] = {
	    "alloc::", "<alloc::", "core::", "<core::", "__rust_", NULL};

	if (!f->file)
		return f->name && begins_with_any(f->name, names);
	return begins_with_any(f->file, files) || strstr(f->file, "/rustlib/src/rust/library/");
}

/* The operators new that a program defines in place of those of C++'s library. Those of a class
 * have its name first. */
static bool frames_is_new(const char *function)
{
	static const char *const names[] = {"operator new(", "operator new[](", "_Znwm", "_Znam",
					    NULL};

	return function && begins_with_any(function, names);
}

bool runtime_is(const dck_frame *f)
{
	static const char *const known[] = {"libstdc++.so", "libgcc_s.so",  "libc++.so",
					    "libc++abi.so", "libunwind.so", NULL};

	if (runtime_is_c(f->module))
		return true;
	if (f->module && begins_with_any(os_path_base(f->module), known))
		return true;
	if (frames_is_rust_runtime(f) || frames_is_new(f->name))
		return true;
	/* The pool for exceptions, of libstdc++ in a program that is linked with its archive, and
	 * the C library's part of each program. */
	if (f->name &&
	    (strcmp(f->name, "_GLOBAL__sub_I_eh_alloc.cc") == 0 || strcmp(f->name, "_start") == 0))
		return true;
	return f->file && (strstr(f->file, "/include/c++/") || strstr(f->file, "/c++/v1/"));
}

/* Strips the prefixes of libc's internal aliases: "__GI___strdup", "_IO_new_fopen". */
static const char *without_prefixes(const char *name)
{
	static const char *const prefixes[] = {"_", "GI_", "IO_", "new_", "libc_"};

	for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i]))) {
			name += strlen(prefixes[i]);
			i = SIZE_MAX; /* from the first again */
		}
	return name;
}

bool runtime_hands_over(const char *function)
{
	static const char *const suffixes[] = {"_internal", "_tail", "_chk", "64"};
	/* Without these. */
	static const char *const known[] = {"strdup",
					    "strndup",
					    "wcsdup",
					    "asprintf",
					    "vasprintf",
					    "getline",
					    "getdelim",
					    "getcwd",
					    "get_current_dir_name",
					    "realpath",
					    "canonicalize_file_name",
					    "fopen",
					    "fdopen",
					    "freopen",
					    "popen",
					    "fmemopen",
					    "open_memstream",
					    "open_wmemstream",
					    "fopencookie",
					    "tmpfile",
					    "tempnam",
					    "opendir",
					    "fdopendir",
					    "scandir",
					    "scandirat",
					    "glob",
					    "regcomp",
					    "getaddrinfo",
					    "getifaddrs",
					    "if_nameindex",
					    "newlocale",
					    "duplocale",
					    "iconv_open",
					    "catopen",
					    "wordexp",
					    "hcreate_r",
					    "tsearch",
					    "argz_create",
					    "argz_append",
					    "argz_add",
					    "envz_add",
					    "fts_open",
					    "backtrace_symbols",
					    "fclose",
					    "fflush",
					    "obstack_begin",
					    "obstack_newchunk",
					    "posix_spawn_file_actions_addopen",
					    "posix_spawn_file_actions_adddup2",
					    "sem_open",
					    "memalign",
					    "valloc",
					    "malloc",
					    "calloc",
					    "realloc",
					    "reallocarray",
					    "aligned_alloc",
					    "posix_memalign",
					    NULL};
	char name[64];

	if (!function)
		return true; /* not known: it is not taken from the user's account */
	function = without_prefixes(function);
	size_t n = strcspn(function, "@");
	if (n >= sizeof name)
		return false;
	memcpy(name, function, n);
	name[n] = '\0';
	for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
		const size_t length = strlen(suffixes[i]);

		if (n > length && !strcmp(name + n - length, suffixes[i]))
			name[n -= length] = '\0';
	}
	for (const char *const *k = known; *k; k++)
		if (!strcmp(*k, name))
			return true;
	return false;
}
