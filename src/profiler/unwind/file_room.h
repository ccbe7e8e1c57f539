/* file_room.h - allocates space in a file that a library maps inside a program: access to a page
 * without space on the file system kills the process by SIGBUS, also a read. So space is allocated
 * before. Works in signal handlers and inside malloc: no allocation, no lock, errno is preserved.
 * Functions of libc that are cancellation points are not called: a thread that is cancelled inside
 * a hook would keep the hook's locks, and leave a critical section of the program that has none.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef STACK_FILE_ROOM_H
#define STACK_FILE_ROOM_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline int file_room_open(const char *path, int flags)
{
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0600);
}

static inline void file_room_close(int fd)
{
	(void)syscall(SYS_close, fd);
}

/* Returns whether a file may have that size; errno is EFBIG otherwise. Beyond RLIMIT_FSIZE the
 * kernel sends SIGXFSZ, which ends the program. */
static inline bool file_size_allowed(uint64_t bytes)
{
	enum { FSIZE = 1 /* RLIMIT_FSIZE */ };
	struct {
		uint64_t soft, hard; /* UINT64_MAX: none */
	} limit;

	if (syscall(SYS_prlimit64, 0, FSIZE, NULL, &limit) != 0 || bytes <= limit.soft)
		return true;
	errno = EFBIG;
	return false;
}

static inline bool file_size_set(int fd, uint64_t bytes)
{
	return file_size_allowed(bytes) && ftruncate(fd, (off_t)bytes) == 0;
}

/* Allocates space for these bytes, which must not have been written yet. With fallocate() the
 * file's size does not change; else zeros are written. */
static inline bool file_room(int fd, uint64_t from, uint64_t bytes)
{
	enum { KEEP_SIZE = 1 /* FALLOC_FL_KEEP_SIZE */, ZEROS = 4096, TRIES = 1000 };
	static const char zeros[ZEROS];
	const int kept = errno;
	const bool allowed = file_size_allowed(from + bytes);
	bool ok = false, unsupported = false;

	/* A signal interrupts it: the sampler's come often. */
	for (int i = 0; allowed && i < TRIES && !ok && !unsupported; i++) {
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
			const long done = syscall(SYS_pwrite64, fd, zeros, n, from + at);

			ok = done > 0 || (done < 0 && errno == EINTR);
			at += done > 0 ? (uint64_t)done : 0;
		}
	}
	errno = kept;
	return ok;
}

#endif
