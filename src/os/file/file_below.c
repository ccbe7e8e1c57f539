/* file_below.c - the text of a file that others named: of a regular file below a directory that the
 * user chose, and nothing else.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"

#include "base/mem.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Both are resolved. Nothing is below "/": that is every file. Hidden directories hold keys and
 * settings. */
static bool is_below(const char *path, const char *directory)
{
	const size_t n = strlen(directory);

	return n > 1 && strncmp(path, directory, n) == 0 && path[n] == '/' &&
	       !strstr(path + n, "/.");
}

/* The kernel's own files may wait for ever, or act when they are read. */
static bool is_of_kernel(int fd)
{
	static const unsigned long kinds[] = {
	    PROC_SUPER_MAGIC, SYSFS_MAGIC,	  DEBUGFS_MAGIC,       TRACEFS_MAGIC,
	    SECURITYFS_MAGIC, CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, DEVPTS_SUPER_MAGIC};
	struct statfs fs;

	if (fstatfs(fd, &fs) != 0)
		return true;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if ((unsigned long)fs.f_type == kinds[i])
			return true;
	return false;
}

/* The links of the path are resolved already: one that is laid afterwards is not followed. */
static char *below_text_of(const char *path, size_t limit)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	char *text = NULL;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 &&
	    (uint64_t)st.st_size <= limit && !is_of_kernel(fd))
		text = mem_alloc((size_t)st.st_size + 1);
	const ptrdiff_t n = text ? os_read_at(fd, text, (size_t)st.st_size, 0) : 0;
	close(fd);
	if (text)
		text[n > 0 ? n : 0] = '\0';
	return text;
}

char *os_file_below(const char *path, const char *const *directories, size_t n, size_t limit)
{
	char resolved[PATH_MAX], directory[PATH_MAX];

	if (!realpath(path, resolved))
		return NULL;
	for (size_t i = 0; i < n; i++)
		if (directories[i] && realpath(directories[i], directory) &&
		    is_below(resolved, directory))
			return below_text_of(resolved, limit);
	return NULL;
}
