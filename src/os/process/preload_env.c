/* preload_env.c - LD_PRELOAD for a program that is started.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"

#include <stdlib.h>
#include <string.h>

const char *os_preload_env(mem_arena *a, const char *file, const char *program,
			   const char *const remedies[OS_PRELOAD_OBSTACLES], const char **ret_why)
{
	os_preload_obstacle obstacle = OS_PRELOAD_NONE;
	const char *theirs = secure_getenv("LD_PRELOAD"), *found;
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
	found = os_library_beside(a, file);
	if (!found)
		*ret_why = mem_arena_fmt(a, "%s is not installed with deepclock", file);
	else if (strpbrk(found, " :"))
		*ret_why =
		    mem_arena_fmt(a, "the directory of %s has a blank or colon in its name", file);
	if (*ret_why)
		return NULL;
	return theirs && *theirs ? mem_arena_fmt(a, "LD_PRELOAD=%s:%s", found, theirs)
				 : mem_arena_fmt(a, "LD_PRELOAD=%s", found);
}
