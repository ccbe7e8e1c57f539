/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/python/python_runs.h"

#include "base/mem.h"
#include "os/os.h"

#include <string.h>

bool python_is(const char *path)
{
	const char *base = os_path_base(path);

	base += strncmp(base, "lib", 3) == 0 ? 3 : 0;
	return strncmp(base, "python", 6) == 0 && (!base[6] || base[6] == '.' || base[6] == '3');
}

bool python_runs(const char *argv0)
{
	char line[256], *path;

	if (python_is(argv0))
		return true;
	if (os_find_program(argv0, &path, NULL) != DCK_OK)
		return false;
	const int fd = os_open_read(path);
	const ptrdiff_t n = fd >= 0 ? os_read_at(fd, line, sizeof line - 1, 0) : 0;
	os_close(fd);
	mem_free(path);
	line[n > 0 ? n : 0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	return line[0] == '#' && line[1] == '!' && strstr(line, "python");
}
