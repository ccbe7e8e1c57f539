/* wait_file.c - files, pipes, sockets, by their descriptors, and System V's queues.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "wait.h"

#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/msg.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* A function that moves bytes from or to `fd` and returns their number. */
#define MOVES(name, what, parameters, arguments) \
	INTERPOSE_BYTES(ssize_t, name, parameters, WAIT_FILE(what, fd), arguments)

MOVES(read, "wait: read", (int fd, void *to, size_t n), (fd, to, n))
MOVES(__read_chk, "wait: read", (int fd, void *to, size_t n, size_t cap), (fd, to, n, cap))
MOVES(readv, "wait: read", (int fd, const struct iovec *v, int n), (fd, v, n))
MOVES(pread, "wait: read", (int fd, void *to, size_t n, off_t at), (fd, to, n, at))
MOVES(pread64, "wait: read", (int fd, void *to, size_t n, off64_t at), (fd, to, n, at))
MOVES(__pread_chk, "wait: read", (int fd, void *to, size_t n, off_t at, size_t cap),
      (fd, to, n, at, cap))
MOVES(__pread64_chk, "wait: read", (int fd, void *to, size_t n, off64_t at, size_t cap),
      (fd, to, n, at, cap))
MOVES(recv, "wait: receive", (int fd, void *to, size_t n, int flags), (fd, to, n, flags))
MOVES(recvfrom, "wait: receive",
      (int fd, void *restrict to, size_t n, int flags, __SOCKADDR_ARG from,
       socklen_t *restrict length),
      (fd, to, n, flags, from, length))
MOVES(__recv_chk, "wait: receive", (int fd, void *to, size_t n, size_t cap, int flags),
      (fd, to, n, cap, flags))
MOVES(__recvfrom_chk, "wait: receive",
      (int fd, void *restrict to, size_t n, size_t cap, int flags, __SOCKADDR_ARG from,
       socklen_t *restrict length),
      (fd, to, n, cap, flags, from, length))
MOVES(recvmsg, "wait: receive", (int fd, struct msghdr *m, int flags), (fd, m, flags))
MOVES(write, "wait: write", (int fd, const void *from, size_t n), (fd, from, n))
MOVES(writev, "wait: write", (int fd, const struct iovec *v, int n), (fd, v, n))
MOVES(pwrite, "wait: write", (int fd, const void *from, size_t n, off_t at), (fd, from, n, at))
MOVES(pwrite64, "wait: write", (int fd, const void *from, size_t n, off64_t at), (fd, from, n, at))
INTERPOSE(int, flock, (int fd, int operation), WAIT_FILE("wait: file lock", fd), (fd, operation))
INTERPOSE(int, lockf, (int fd, int command, off_t n), WAIT_FILE("wait: file lock", fd),
	  (fd, command, n))
INTERPOSE(int, lockf64, (int fd, int command, off64_t n), WAIT_FILE("wait: file lock", fd),
	  (fd, command, n))
INTERPOSE(int, fsync, (int fd), WAIT_FILE("wait: sync", fd), (fd))
INTERPOSE(int, fdatasync, (int fd), WAIT_FILE("wait: sync", fd), (fd))
MOVES(send, "wait: send", (int fd, const void *from, size_t n, int flags), (fd, from, n, flags))
MOVES(sendto, "wait: send",
      (int fd, const void *from, size_t n, int flags, __CONST_SOCKADDR_ARG to, socklen_t length),
      (fd, from, n, flags, to, length))
MOVES(sendmsg, "wait: send", (int fd, const struct msghdr *m, int flags), (fd, m, flags))
INTERPOSE(int, eventfd_read, (int fd, eventfd_t *ret), WAIT_FILE("wait: read", fd), (fd, ret))
INTERPOSE(int, eventfd_write, (int fd, eventfd_t n), WAIT_FILE("wait: write", fd), (fd, n))
INTERPOSE_BYTES(ssize_t, msgrcv, (int queue, void *to, size_t n, long type, int flags),
		WAIT("wait: receive"), (queue, to, n, type, flags))
WAITS(int, msgsnd, "wait: send", (int queue, const void *from, size_t n, int flags),
      (queue, from, n, flags))
