/* wait_ready.c - interposes on poll(), select(), epoll and accept(): the waits of an idle server.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "wait.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>

WAITS(int, poll, "wait: poll", (struct pollfd * files, nfds_t n, int ms), (files, n, ms))
WAITS(int, ppoll, "wait: poll",
      (struct pollfd * files, nfds_t n, const struct timespec *time, const sigset_t *mask),
      (files, n, time, mask))
WAITS(int, __poll_chk, "wait: poll", (struct pollfd * files, nfds_t n, int ms, size_t cap),
      (files, n, ms, cap))
WAITS(int, __ppoll_chk, "wait: poll",
      (struct pollfd * files, nfds_t n, const struct timespec *time, const sigset_t *mask,
       size_t cap),
      (files, n, time, mask, cap))
WAITS(int, select, "wait: poll",
      (int n, fd_set *restrict in, fd_set *restrict out, fd_set *restrict other,
       struct timeval *restrict time),
      (n, in, out, other, time))
WAITS(int, pselect, "wait: poll",
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
