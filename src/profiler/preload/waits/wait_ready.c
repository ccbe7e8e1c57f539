/* wait_ready.c - interposes on poll(), select(), epoll and accept(): the waits of an idle server.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "wait.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>

PRELOAD int poll(struct pollfd *files, nfds_t n, int ms)
{
	WAIT("wait: poll");
	return REAL(poll)(files, n, ms);
}

PRELOAD int ppoll(struct pollfd *files, nfds_t n, const struct timespec *time, const sigset_t *mask)
{
	WAIT("wait: poll");
	return REAL(ppoll)(files, n, time, mask);
}

PRELOAD int __poll_chk(struct pollfd *files, nfds_t n, int ms, size_t cap)
{
	WAIT("wait: poll");
	return REAL(__poll_chk)(files, n, ms, cap);
}

PRELOAD int __ppoll_chk(struct pollfd *files, nfds_t n, const struct timespec *time,
			const sigset_t *mask, size_t cap)
{
	WAIT("wait: poll");
	return REAL(__ppoll_chk)(files, n, time, mask, cap);
}

PRELOAD int select(int n, fd_set *restrict in, fd_set *restrict out, fd_set *restrict other,
		   struct timeval *restrict time)
{
	WAIT("wait: poll");
	return REAL(select)(n, in, out, other, time);
}

PRELOAD int pselect(int n, fd_set *restrict in, fd_set *restrict out, fd_set *restrict other,
		    const struct timespec *restrict time, const sigset_t *restrict mask)
{
	WAIT("wait: poll");
	return REAL(pselect)(n, in, out, other, time, mask);
}

PRELOAD int epoll_wait(int fd, struct epoll_event *events, int n, int ms)
{
	WAIT("wait: poll");
	return REAL(epoll_wait)(fd, events, n, ms);
}

PRELOAD int epoll_pwait(int fd, struct epoll_event *events, int n, int ms, const sigset_t *mask)
{
	WAIT("wait: poll");
	return REAL(epoll_pwait)(fd, events, n, ms, mask);
}

PRELOAD int accept(int fd, __SOCKADDR_ARG from, socklen_t *restrict length)
{
	WAIT_FILE("wait: accept", fd);
	return REAL(accept)(fd, from, length);
}

PRELOAD int accept4(int fd, __SOCKADDR_ARG from, socklen_t *restrict length, int flags)
{
	WAIT_FILE("wait: accept", fd);
	return REAL(accept4)(fd, from, length, flags);
}

PRELOAD int connect(int fd, __CONST_SOCKADDR_ARG to, socklen_t length)
{
	WAIT_FILE("wait: connect", fd);
	return REAL(connect)(fd, to, length);
}
