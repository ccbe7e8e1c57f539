/* private_file.c - small files that processes of one user pass to each other by a known name.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"

#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void os_private_path(const char *name, char *ret, size_t size)
{
	const char *directory = secure_getenv("TMPDIR");

	snprintf(ret, size, "%s/%s-%lu", directory && *directory ? directory : "/tmp", name,
		 (unsigned long)geteuid());
}

unsigned long os_parent_id(void)
{
	return (unsigned long)getppid();
}

dck_status os_private_write(const char *path, const char *text, dck_err *err)
{
	const size_t n = strlen(text);

	unlink(path); /* of an earlier job that was killed; another user's stays in a sticky
			 directory */
	const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		DCK_FAIL_ERRNO(err, E_IO, errno, "cannot create '%.200s'", path);
	/* One system call: a reader sees nothing or all. */
	const bool written = write(fd, text, n) == (ssize_t)n;
	const int code = errno;
	close(fd);
	if (written)
		return DCK_OK;
	unlink(path);
	DCK_FAIL_ERRNO(err, E_IO, code, "cannot write '%.200s'", path);
}

bool os_private_read(const char *path, char *ret, size_t size)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	ssize_t n = -1;

	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	    (st.st_mode & 077) == 0)
		n = read(fd, ret, size - 1);
	close(fd);
	if (n > 0)
		ret[n] = '\0';
	return n > 0;
}
