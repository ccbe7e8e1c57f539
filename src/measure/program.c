/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/program.h"
#include "base/err.h"
#include "os/os.h"
#include <stdlib.h>
#include <string.h>

#define VERSION_BYTES_MAX 4096

/* Relative to the directory of the library, or of the program that it was linked into: in a build,
 * in a Python package, in an installation, and from the extension of a build. */
static const char *const places[] = {"deepclock", "bin/deepclock", "../bin/deepclock",
				     "../../bin/deepclock", "../../deepclock"};

/* Returns the directory of the file that this code is in; NULL: not known. */
static const char *program_library_directory(mem_arena *a)
{
	const char *own = os_library_of(places);
	const bool shared = own && strstr(own, ".so") && strchr(own, '/');
	char *real = realpath(shared ? own : "/proc/self/exe", NULL), *slash;
	const char *directory = NULL;

	if (real && (slash = strrchr(real, '/')))
		directory = mem_arena_dup_n(a, real, (size_t)(slash - real));
	free(real);
	return directory;
}

static dck_status version_read(const char *program, int fd, dck_buffer *text, dck_err *err)
{
	char *const argv[] = {(char *)(uintptr_t)program, (char *)(uintptr_t) "--version", NULL};
	const os_spawn_config config = {
	    .argv = argv, .in_fd = -1, .out_fd = fd, .err_fd = -1, .keep_fd = -1, .group = true};
	os_child_usage usage;
	pid_t pid;

	DCK_TRY(os_spawn(&config, &pid, err));
	DCK_TRY(os_wait(pid, 0, NULL, NULL, &usage, err));
	return os_file_read_all(fd, VERSION_BYTES_MAX, text, err);
}

static bool is_this_version(mem_arena *a, const char *program)
{
	const char *wanted = mem_arena_fmt(a, "deepclock %s\n", dck_version());
	dck_buffer text = {0};
	bool same;
	int fd;

	if (!wanted || os_memfd(&fd, NULL) != DCK_OK)
		return false;
	same = version_read(program, fd, &text, NULL) == DCK_OK && text.n == strlen(wanted) &&
	       memcmp(text.data, wanted, text.n) == 0;
	dck_buffer_done(&text);
	os_close(fd);
	return same;
}

const char *program_find(mem_arena *a, const char **ret_why)
{
	const char *directory = program_library_directory(a), *other = NULL, *program = NULL;
	const size_t n = sizeof places / sizeof places[0];

	for (size_t i = directory ? 0 : n; i <= n && !program; i++) {
		const char *name =
		    i < n ? mem_arena_fmt(a, "%s/%s", directory, places[i]) : "deepclock";
		char *found = NULL;

		if (name && os_find_program(name, &found, NULL) == DCK_OK) {
			if (is_this_version(a, found))
				program = mem_arena_dup(a, found);
			else
				other = mem_arena_dup(a, found);
		}
		mem_free(found);
	}
	*ret_why = NULL;
	if (!program && other)
		*ret_why = mem_arena_fmt(a,
					 "no fresh process can be started: '%s' is not the program "
					 "of this version, deepclock %s",
					 other, dck_version());
	else if (!program)
		*ret_why = mem_arena_dup(
		    a, "no fresh process can be started: the program deepclock is neither beside "
		       "the library nor in PATH (dck_plan.program names one)");
	return program;
}
