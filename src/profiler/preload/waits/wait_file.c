/* wait_file.c - files, pipes, sockets, by their descriptors.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "wait.h"

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

PRELOAD ssize_t read(int fd, void *to, size_t n)
{
	WAIT_FILE("wait: read", fd);
	return w.bytes = REAL(read)(fd, to, n);
}

PRELOAD ssize_t __read_chk(int fd, void *to, size_t n, size_t cap)
{
	WAIT_FILE("wait: read", fd);
	return w.bytes = REAL(__read_chk)(fd, to, n, cap);
}

PRELOAD ssize_t readv(int fd, const struct iovec *v, int n)
{
	WAIT_FILE("wait: read", fd);
	return w.bytes = REAL(readv)(fd, v, n);
}

PRELOAD ssize_t pread(int fd, void *to, size_t n, off_t at)
{
	WAIT_FILE("wait: read", fd);
	return w.bytes = REAL(pread)(fd, to, n, at);
}

PRELOAD ssize_t pread64(int fd, void *to, size_t n, off64_t at)
{
	WAIT_FILE("wait: read", fd);
	return w.bytes = REAL(pread64)(fd, to, n, at);
}

PRELOAD ssize_t __pread_chk(int fd, void *to, size_t n, off_t at, size_t cap)
{
	WAIT_FILE("wait: read", fd);
	return w.bytes = REAL(__pread_chk)(fd, to, n, at, cap);
}

PRELOAD ssize_t __pread64_chk(int fd, void *to, size_t n, off64_t at, size_t cap)
{
	WAIT_FILE("wait: read", fd);
	return w.bytes = REAL(__pread64_chk)(fd, to, n, at, cap);
}

PRELOAD ssize_t recv(int fd, void *to, size_t n, int flags)
{
	WAIT_FILE("wait: receive", fd);
	return w.bytes = REAL(recv)(fd, to, n, flags);
}

PRELOAD ssize_t recvfrom(int fd, void *restrict to, size_t n, int flags, __SOCKADDR_ARG from,
			 socklen_t *restrict length)
{
	WAIT_FILE("wait: receive", fd);
	return w.bytes = REAL(recvfrom)(fd, to, n, flags, from, length);
}

PRELOAD ssize_t __recv_chk(int fd, void *to, size_t n, size_t cap, int flags)
{
	WAIT_FILE("wait: receive", fd);
	return w.bytes = REAL(__recv_chk)(fd, to, n, cap, flags);
}

PRELOAD ssize_t __recvfrom_chk(int fd, void *restrict to, size_t n, size_t cap, int flags,
			       __SOCKADDR_ARG from, socklen_t *restrict length)
{
	WAIT_FILE("wait: receive", fd);
	return w.bytes = REAL(__recvfrom_chk)(fd, to, n, cap, flags, from, length);
}

PRELOAD ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
	WAIT_FILE("wait: receive", fd);
	return w.bytes = REAL(recvmsg)(fd, m, flags);
}

PRELOAD ssize_t write(int fd, const void *from, size_t n)
{
	WAIT_FILE("wait: write", fd);
	return w.bytes = REAL(write)(fd, from, n);
}

PRELOAD ssize_t writev(int fd, const struct iovec *v, int n)
{
	WAIT_FILE("wait: write", fd);
	return w.bytes = REAL(writev)(fd, v, n);
}

PRELOAD ssize_t pwrite(int fd, const void *from, size_t n, off_t at)
{
	WAIT_FILE("wait: write", fd);
	return w.bytes = REAL(pwrite)(fd, from, n, at);
}

PRELOAD ssize_t pwrite64(int fd, const void *from, size_t n, off64_t at)
{
	WAIT_FILE("wait: write", fd);
	return w.bytes = REAL(pwrite64)(fd, from, n, at);
}

PRELOAD int fsync(int fd)
{
	WAIT_FILE("wait: sync", fd);
	return REAL(fsync)(fd);
}

PRELOAD int fdatasync(int fd)
{
	WAIT_FILE("wait: sync", fd);
	return REAL(fdatasync)(fd);
}

PRELOAD ssize_t send(int fd, const void *from, size_t n, int flags)
{
	WAIT_FILE("wait: send", fd);
	return w.bytes = REAL(send)(fd, from, n, flags);
}

PRELOAD ssize_t sendto(int fd, const void *from, size_t n, int flags, __CONST_SOCKADDR_ARG to,
		       socklen_t length)
{
	WAIT_FILE("wait: send", fd);
	return w.bytes = REAL(sendto)(fd, from, n, flags, to, length);
}

PRELOAD ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
	WAIT_FILE("wait: send", fd);
	return w.bytes = REAL(sendmsg)(fd, m, flags);
}
