/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/trace/result/lost_children.h"

#include "os/os.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static lost_children *lost; /* NULL: it is not mapped; children of fork() have it too */

void lost_children_map(const char *result)
{
	const char *slash = strrchr(result, '/');
	char path[PATH_MAX];
	size_t bytes = 0;

	if (lost || !slash ||
	    snprintf(path, sizeof path, "%.*s/%s", (int)(slash - result), result,
		     LOST_CHILDREN_NAME) >= (int)sizeof path)
		return;
	lost_children *found = os_file_map(path, true, sizeof *lost, &bytes);
	if (found && bytes < sizeof *lost)
		os_file_unmap(found, bytes);
	else
		lost = found;
}

void lost_children_unwritten(int error)
{
	if (lost)
		(void)lost_children_add(lost, error);
}

void lost_children_replaced(void)
{
	if (lost)
		atomic_fetch_add(&lost->replaced, 1);
}
