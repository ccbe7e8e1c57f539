/* network.c - TCP sockets by non-blocking calls, events by epoll, the timer by timerfd.
 *
 * Every socket is non-blocking and closed on exec. Nagle's algorithm is off: a small request is
 * sent at once. The timer is level-triggered like the sockets, and is read when it expires, so that
 * one expiry is one event.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/net/network.h"
#include "base/err.h"
#include "os/os.h"
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define BACKLOG	 1024
#define LATE_MAX (3600 * INT64_C(1000000000)) /* beyond, the system's clock was set */

/* It may wait for a name server. */
static dck_status host_resolve(const char *host, const char *port,
			       os_net_address ret[OS_NET_ADDRESSES], size_t *ret_n, dck_err *err)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
	struct addrinfo *all = NULL;
	const int failed = getaddrinfo(host, port, &hints, &all);
	size_t n = 0;

	if (failed)
		DCK_FAIL(err, E_ABSENT, "cannot find the host '%s': %s", host,
			 gai_strerror(failed));
	for (const struct addrinfo *a = all; a && n < OS_NET_ADDRESSES; a = a->ai_next) {
		if (a->ai_addrlen > sizeof ret[n].bytes)
			continue;
		memcpy(ret[n].bytes, a->ai_addr, a->ai_addrlen);
		ret[n++].n = (unsigned)a->ai_addrlen;
	}
	freeaddrinfo(all);
	*ret_n = n;
	return DCK_OK;
}

static int socket_new(int family)
{
	const int one = 1;
	const int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd >= 0)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	return fd;
}

int os_net_connect(const os_net_address *to, bool *ret_pending)
{
	const struct sockaddr *address = (const void *)to->bytes;
	const int fd = socket_new(address->sa_family);
	const int one = 1;
	int why;

	*ret_pending = false;
	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof one);
	if (fd < 0 || connect(fd, address, to->n) == 0)
		return fd;
	if (errno == EINPROGRESS) {
		*ret_pending = true;
		return fd;
	}
	why = errno;
	close(fd);
	errno = why;
	return -1;
}

int os_net_lack(unsigned n)
{
	int fd[OS_NET_LACK_MAX], why = 0;
	unsigned got = 0;

	for (; got < n && got < OS_NET_LACK_MAX && why == 0; got++) {
		fd[got] = epoll_create1(EPOLL_CLOEXEC);
		if (fd[got] < 0)
			why = errno;
	}
	while (got > 0)
		if (fd[--got] >= 0)
			close(fd[got]);
	return why;
}

int os_net_error(int fd)
{
	int why = 0;
	socklen_t n = sizeof why;

	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &why, &n) ? errno : why;
}

/* false: the time is over. */
static bool socket_wait(int fd, short events, uint64_t deadline_ns)
{
	struct pollfd p = {.fd = fd, .events = events};

	for (;;) {
		const uint64_t now = os_now_ns();

		if (now >= deadline_ns)
			return false;
		const uint64_t ms = (deadline_ns - now) / 1000000 + 1;
		if (poll(&p, 1, ms > 1000 ? 1000 : (int)ms) > 0)
			return true;
	}
}

/* Returns 0 if the address accepts a connection, else the error. */
static int address_try(const os_net_address *to, int timeout_ms, int *ret_fd)
{
	bool pending;
	const int fd = os_net_connect(to, &pending);
	const uint64_t deadline_ns = os_now_ns() + (uint64_t)timeout_ms * 1000000;
	int why = fd < 0 ? errno : 0;

	if (fd >= 0 && pending)
		why = socket_wait(fd, POLLOUT, deadline_ns) ? os_net_error(fd) : ETIMEDOUT;
	if (why == 0)
		*ret_fd = fd;
	else if (fd >= 0)
		close(fd);
	return why;
}

dck_status os_net_dial(const char *host, const char *port, int timeout_ms, os_net_address *ret,
		       int *ret_fd, dck_err *err)
{
	os_net_address of[OS_NET_ADDRESSES];
	int why = EADDRNOTAVAIL;
	size_t n;

	DCK_TRY(host_resolve(host, port, of, &n, err));
	for (size_t i = 0; i < n; i++) {
		why = address_try(&of[i], timeout_ms / (int)n, ret_fd);
		if (why == 0) {
			if (ret)
				*ret = of[i];
			return DCK_OK;
		}
	}
	DCK_FAIL_ERRNO(err, E_IO, why, "cannot connect to %.200s, port %s", host, port);
}

/* Returns 0 and a socket that listens, else the error. */
static int address_listen(const os_net_address *at, os_net_address *ret, int *ret_fd)
{
	const struct sockaddr *address = (const void *)at->bytes;
	const int on = 1, fd = socket_new(address->sa_family);
	socklen_t n = sizeof ret->bytes;
	int why = 0;

	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (fd < 0 || bind(fd, address, at->n) || listen(fd, BACKLOG) ||
	    getsockname(fd, (struct sockaddr *)(void *)ret->bytes, &n)) {
		why = errno;
		if (fd >= 0)
			close(fd);
		return why;
	}
	ret->n = n;
	*ret_fd = fd;
	return 0;
}

dck_status os_net_listen(const char *host, const char *port, os_net_address *ret, int *ret_fd,
			 dck_err *err)
{
	os_net_address of[OS_NET_ADDRESSES];
	int why = EADDRNOTAVAIL;
	size_t n;

	DCK_TRY(host_resolve(host, port, of, &n, err));
	for (size_t i = 0; i < n; i++) {
		why = address_listen(&of[i], ret, ret_fd);
		if (why == 0)
			return DCK_OK;
	}
	DCK_FAIL_ERRNO(err, E_IO, why, "cannot listen on %.200s, port %s", host, port);
}

uint16_t os_net_port(const os_net_address *of)
{
	const struct sockaddr *address = (const void *)of->bytes;

	return ntohs(address->sa_family == AF_INET6
			 ? ((const struct sockaddr_in6 *)(const void *)of->bytes)->sin6_port
			 : ((const struct sockaddr_in *)(const void *)of->bytes)->sin_port);
}

int os_net_accept(int fd)
{
	const int one = 1;
	const int got = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (got >= 0)
		setsockopt(got, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	return got;
}

static ptrdiff_t transfer_result(ssize_t n)
{
	if (n >= 0)
		return n;
	return errno == EAGAIN || errno == EINTR ? OS_NET_AGAIN : OS_NET_FAILED;
}

ptrdiff_t os_net_receive(int fd, void *to, size_t n)
{
	return transfer_result(recv(fd, to, n, 0));
}

/* Time stamps of arrival are of the system's clock (socket(7), SO_TIMESTAMPNS). TCP has that of the
 * last segment which was read, and segments that the kernel joined have the last one's. */
ptrdiff_t os_net_receive_late(int fd, void *to, size_t n, int64_t *ret_late_ns)
{
	union {
		char space[CMSG_SPACE(sizeof(struct timespec))];
		struct cmsghdr align;
	} control;
	struct iovec into = {to, n};
	struct msghdr m = {.msg_iov = &into,
			   .msg_iovlen = 1,
			   .msg_control = control.space,
			   .msg_controllen = sizeof control.space};
	const ptrdiff_t ret = transfer_result(recvmsg(fd, &m, 0));
	struct timespec at, now;

	*ret_late_ns = -1;
	for (struct cmsghdr *c = ret > 0 ? CMSG_FIRSTHDR(&m) : NULL; c; c = CMSG_NXTHDR(&m, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPNS)
			continue;
		memcpy(&at, CMSG_DATA(c), sizeof at);
		clock_gettime(CLOCK_REALTIME, &now);
		const int64_t late_ns = ((int64_t)now.tv_sec - (int64_t)at.tv_sec) * 1000000000 +
					((int64_t)now.tv_nsec - (int64_t)at.tv_nsec);

		*ret_late_ns = late_ns >= 0 && late_ns < LATE_MAX ? late_ns : -1;
	}
	return ret;
}

ptrdiff_t os_net_send(int fd, const void *from, size_t n)
{
	return transfer_result(send(fd, from, n, MSG_NOSIGNAL));
}

bool os_net_receive_all(int fd, void *to, size_t n, uint64_t deadline_ns)
{
	for (char *at = to; n > 0;) {
		const ptrdiff_t got = os_net_receive(fd, at, n);

		if (got == 0 || got == OS_NET_FAILED ||
		    (got == OS_NET_AGAIN && !socket_wait(fd, POLLIN, deadline_ns)))
			return false;
		at += got > 0 ? got : 0;
		n -= got > 0 ? (size_t)got : 0;
	}
	return true;
}

bool os_net_send_all(int fd, const void *from, size_t n, uint64_t deadline_ns)
{
	for (const char *at = from; n > 0;) {
		const ptrdiff_t sent = os_net_send(fd, at, n);

		if (sent == OS_NET_FAILED ||
		    (sent == OS_NET_AGAIN && !socket_wait(fd, POLLOUT, deadline_ns)))
			return false;
		at += sent > 0 ? sent : 0;
		n -= sent > 0 ? (size_t)sent : 0;
	}
	return true;
}

/* --- events */

dck_status os_events_open(os_events *ret, dck_err *err)
{
	struct epoll_event e = {.events = EPOLLIN};

	ret->queue = epoll_create1(EPOLL_CLOEXEC);
	ret->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (ret->queue < 0 || ret->timer < 0 ||
	    epoll_ctl(ret->queue, EPOLL_CTL_ADD, ret->timer, &e)) {
		const int why = errno;

		os_events_close(ret);
		DCK_FAIL_ERRNO(err, E_IO, why, "cannot wait for events of sockets");
	}
	return DCK_OK;
}

void os_events_close(os_events *q)
{
	if (q->queue >= 0)
		close(q->queue);
	if (q->timer >= 0)
		close(q->timer);
	*q = (os_events){-1, -1};
}

bool os_events_add(const os_events *q, int fd, void *key, bool writing)
{
	struct epoll_event e = {.events = EPOLLIN | (writing ? EPOLLOUT : 0), .data.ptr = key};

	return epoll_ctl(q->queue, EPOLL_CTL_ADD, fd, &e) == 0;
}

void os_events_change(const os_events *q, int fd, void *key, bool writing)
{
	struct epoll_event e = {.events = EPOLLIN | (writing ? EPOLLOUT : 0), .data.ptr = key};

	epoll_ctl(q->queue, EPOLL_CTL_MOD, fd, &e);
}

void os_events_timer(const os_events *q, uint64_t ns)
{
	const struct itimerspec at = {.it_value = {.tv_sec = (time_t)(ns / 1000000000u),
						   .tv_nsec = (long)(ns % 1000000000u)}};

	timerfd_settime(q->timer, 0, &at, NULL);
}

size_t os_events_wait(const os_events *q, int timeout_ms, os_event ret[OS_EVENTS_MAX])
{
	struct epoll_event e[OS_EVENTS_MAX];
	const int n = epoll_wait(q->queue, e, OS_EVENTS_MAX, timeout_ms);
	uint64_t expired;

	for (int i = 0; i < n; i++) {
		ret[i] = (os_event){.key = e[i].data.ptr,
				    .readable = e[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR),
				    .writable = e[i].events & (EPOLLOUT | EPOLLERR)};
		if (!ret[i].key && read(q->timer, &expired, sizeof expired) < 0)
			continue; /* it was set again in between */
	}
	return n > 0 ? (size_t)n : 0;
}
