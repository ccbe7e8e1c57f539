/* preload_env.c - LD_PRELOAD for a program that is started.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

const char *os_library_own(mem_arena *a)
{
	static const char *const places[] = {"", "../lib/", "../lib/*/", "../lib64/"};
	static const char name[] = "libdeepclock.so";
	const char *own = os_library_of(name), *found = NULL;
	const bool shared = own && strstr(own, name);
	char real[PATH_MAX], *slash;

	if (!realpath(shared ? own : "/proc/self/exe", real) || !(slash = strrchr(real, '/')))
		return NULL;
	if (shared)
		return mem_arena_dup(a, real);
	*slash = '\0';
	for (size_t i = 0; i < sizeof places / sizeof places[0] && !found; i++)
		found = os_path_first(a, real, mem_arena_fmt(a, "%s%s", places[i], name));
	return found;
}

const char *os_preload_env(mem_arena *a, const char *file, const char *program,
			   const char *const remedies[OS_PRELOAD_OBSTACLES], const char **ret_why)
{
	os_preload_obstacle obstacle = OS_PRELOAD_NONE;
	const char *library = os_library_own(a), *theirs = secure_getenv("LD_PRELOAD");
	const char *slash = library ? strrchr(library, '/') : NULL, *found = NULL;
	char *path = NULL;

	*ret_why = NULL;
	if (os_sanitizer_name())
		*ret_why = "libdeepclock has a sanitizer in it";
	else if (os_find_program(program, &path, NULL) == DCK_OK)
		obstacle = os_preload_obstacle_of(path);
	mem_free(path);
	if (obstacle)
		*ret_why = remedies[obstacle]
			       ? mem_arena_fmt(a, "%s (%s)", os_preload_obstacle_text(obstacle),
					       remedies[obstacle])
			       : os_preload_obstacle_text(obstacle);
	if (*ret_why)
		return NULL;
	if (slash)
		found =
		    os_path_first(a, mem_arena_dup_n(a, library, (size_t)(slash - library)), file);
	if (!found)
		*ret_why = mem_arena_fmt(a, "%s is not in the directory of libdeepclock.so", file);
	else if (strpbrk(found, " :"))
		*ret_why =
		    mem_arena_fmt(a, "the directory of %s has a blank or colon in its name", file);
	if (*ret_why)
		return NULL;
	return theirs && *theirs ? mem_arena_fmt(a, "LD_PRELOAD=%s:%s", found, theirs)
				 : mem_arena_fmt(a, "LD_PRELOAD=%s", found);
}
