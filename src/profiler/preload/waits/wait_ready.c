/* wait_ready.c - interposes on poll(), select(), epoll and accept(): the waits of an idle server.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "wait.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>

/* Without files they are ways to sleep, as in time.sleep() before Python 3.11. */
#define WAITS_FOR_FILES(name, parameters, arguments)                          \
	PRELOAD int name parameters                                           \
	{                                                                     \
		static dck_zone_site polls = {"wait: poll", "", 0, 0};        \
		static dck_zone_site sleeps = {"wait: sleep", "", 0, 0};      \
		dck_wait w __attribute__((cleanup(dck_wait_end))) = {         \
		    .what = n > 0 ? &polls : &sleeps, .fd = -1, .bytes = -1}; \
		dck_wait_begin(&w);                                           \
		return REAL(name) arguments;                                  \
	}
WAITS_FOR_FILES(poll, (struct pollfd * files, nfds_t n, int ms), (files, n, ms))
WAITS_FOR_FILES(ppoll,
		(struct pollfd * files, nfds_t n, const struct timespec *time,
		 const sigset_t *mask),
		(files, n, time, mask))
WAITS_FOR_FILES(__poll_chk, (struct pollfd * files, nfds_t n, int ms, size_t cap),
		(files, n, ms, cap))
WAITS_FOR_FILES(__ppoll_chk,
		(struct pollfd * files, nfds_t n, const struct timespec *time, const sigset_t *mask,
		 size_t cap),
		(files, n, time, mask, cap))
WAITS_FOR_FILES(select,
		(int n, fd_set *restrict in, fd_set *restrict out, fd_set *restrict other,
		 struct timeval *restrict time),
		(n, in, out, other, time))
WAITS_FOR_FILES(pselect,
		(int n, fd_set *restrict in, fd_set *restrict out, fd_set *restrict other,
		 const struct timespec *restrict time, const sigset_t *restrict mask),
		(n, in, out, other, time, mask))
WAITS(int, epoll_wait, "wait: poll", (int fd, struct epoll_event *events, int n, int ms),
      (fd, events, n, ms))
WAITS(int, epoll_pwait, "wait: poll",
      (int fd, struct epoll_event *events, int n, int ms, const sigset_t *mask),
      (fd, events, n, ms, mask))
INTERPOSE(int, accept, (int fd, __SOCKADDR_ARG from, socklen_t *restrict length),
	  WAIT_FILE("wait: accept", fd), (fd, from, length))
INTERPOSE(int, accept4, (int fd, __SOCKADDR_ARG from, socklen_t *restrict length, int flags),
	  WAIT_FILE("wait: accept", fd), (fd, from, length, flags))
INTERPOSE(int, connect, (int fd, __CONST_SOCKADDR_ARG to, socklen_t length),
	  WAIT_FILE("wait: connect", fd), (fd, to, length))
