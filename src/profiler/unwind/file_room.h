/* file_room.h - room in a file that is mapped by a library inside a program: a page that the file
 * system has no room for kills a process that touches it by SIGBUS, also by reading. So room is
 * made first. In a signal handler and inside malloc too: no allocation, no lock, errno stays.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef STACK_FILE_ROOM_H
#define STACK_FILE_ROOM_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Makes room for these bytes, in which nothing was written yet. The file does not grow by it where
 * the file system has fallocate(); else zeros are written. */
static inline bool file_room(int fd, uint64_t from, uint64_t bytes)
{
	enum { KEEP_SIZE = 1 /* FALLOC_FL_KEEP_SIZE */, ZEROS = 4096, TRIES = 1000 };
	static const char zeros[ZEROS];
	const int kept = errno;
	bool ok = false, unsupported = false;

	/* A signal interrupts it: the sampler's come often. */
	for (int i = 0; i < TRIES && !ok && !unsupported; i++) {
		ok = syscall(SYS_fallocate, fd, KEEP_SIZE, from, bytes) == 0;
		if (!ok && errno != EINTR) {
			unsupported = errno == EOPNOTSUPP || errno == ENOSYS || errno == ENODEV;
			break;
		}
	}
	if (unsupported) {
		ok = true;
		for (uint64_t at = 0; ok && at < bytes;) {
			const uint64_t n = bytes - at < ZEROS ? bytes - at : ZEROS;
			const ssize_t done = pwrite(fd, zeros, n, (off_t)(from + at));

			ok = done > 0 || (done < 0 && errno == EINTR);
			at += done > 0 ? (uint64_t)done : 0;
		}
	}
	errno = kept;
	return ok;
}

#endif
