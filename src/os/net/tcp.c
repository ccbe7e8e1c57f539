/* tcp.c - TCP connections between the processes of a job, on possibly several machines.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"

#include "base/err.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static dck_status host_resolve(const char *host, uint16_t port, bool listens, struct addrinfo **ret,
			       dck_err *err)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
				       .ai_flags = listens ? AI_PASSIVE : 0};
	char service[8];

	snprintf(service, sizeof service, "%u", port);
	const int code = getaddrinfo(host, service, &hints, ret);
	if (code)
		DCK_FAIL(err, E_ABSENT, "the host '%.200s' is not known: %s", host,
			 gai_strerror(code));
	return DCK_OK;
}

/* A message is sent at once: the clocks' exchanges are small and wait for their answers. */
static void delay_disable(int fd)
{
	const int on = 1;

	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

static uint16_t port_of(int fd)
{
	struct sockaddr_storage at;
	socklen_t n = sizeof at;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;

	if (getsockname(fd, (struct sockaddr *)&at, &n))
		return 0;
	memcpy(&in, &at, sizeof in);
	memcpy(&in6, &at, sizeof in6);
	return ntohs(at.ss_family == AF_INET6 ? in6.sin6_port : in.sin_port);
}

dck_status os_tcp_listen(const char *host, uint16_t port, int *ret_fd, uint16_t *ret_port,
			 dck_err *err)
{
	const int on = 1;
	struct addrinfo *found;
	int fd = -1, code = 0;

	DCK_TRY(host_resolve(host, port, true, &found, err));
	for (const struct addrinfo *a = found; a && fd < 0; a = a->ai_next) {
		fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		if (fd >= 0)
			(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
		if (fd < 0 || bind(fd, a->ai_addr, a->ai_addrlen) || listen(fd, 1024)) {
			code = errno;
			if (fd >= 0)
				close(fd);
			fd = -1;
		}
	}
	freeaddrinfo(found);
	if (fd < 0)
		DCK_FAIL_ERRNO(err, E_IO, code, "cannot listen on '%.200s', port %u", host, port);
	*ret_fd = fd;
	*ret_port = port_of(fd);
	return DCK_OK;
}

int os_tcp_accept(int fd)
{
	const int got = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (got >= 0)
		delay_disable(got);
	return got;
}

dck_status os_tcp_connect(const char *host, uint16_t port, int *ret_fd, dck_err *err)
{
	struct addrinfo *found;
	int fd = -1, code = 0;

	DCK_TRY(host_resolve(host, port, false, &found, err));
	for (const struct addrinfo *a = found; a && fd < 0; a = a->ai_next) {
		fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, 0);
		if (fd < 0 || connect(fd, a->ai_addr, a->ai_addrlen)) {
			code = errno;
			if (fd >= 0)
				close(fd);
			fd = -1;
		}
	}
	freeaddrinfo(found);
	if (fd < 0)
		DCK_FAIL_ERRNO(err, E_IO, code, "cannot connect to '%.200s', port %u", host, port);
	delay_disable(fd);
	*ret_fd = fd;
	return DCK_OK;
}

/* false: the time is over. */
static bool tcp_ready(int fd, short events, uint64_t deadline_ns)
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

bool os_tcp_send(int fd, const void *bytes, size_t n, uint64_t deadline_ns)
{
	const char *at = bytes;

	while (n > 0) {
		const ssize_t sent = send(fd, at, n, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (sent > 0) {
			at += sent;
			n -= (size_t)sent;
		} else if (sent < 0 && errno != EINTR && errno != EAGAIN) {
			return false;
		} else if (!tcp_ready(fd, POLLOUT, deadline_ns)) {
			return false;
		}
	}
	return true;
}

long os_tcp_receive_some(int fd, void *bytes, size_t n)
{
	const ssize_t got = recv(fd, bytes, n, MSG_DONTWAIT);

	if (got > 0)
		return (long)got;
	return got < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
}

bool os_tcp_receive(int fd, void *bytes, size_t n, uint64_t deadline_ns)
{
	char *at = bytes;

	while (n > 0) {
		const long got = os_tcp_receive_some(fd, at, n);

		if (got < 0 || (got == 0 && !tcp_ready(fd, POLLIN, deadline_ns)))
			return false;
		at += got;
		n -= (size_t)got;
	}
	return true;
}

void os_tcp_wait(const int *fds, size_t n, int ms, bool *ret)
{
	struct pollfd few[64];
	struct pollfd *p = n <= 64 ? few : mem_alloc(n * sizeof *p);

	for (size_t i = 0; i < n; i++) {
		ret[i] = !p; /* without memory each is tried */
		if (p)
			p[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
	}
	if (!p)
		return;
	if (poll(p, n, ms) > 0)
		for (size_t i = 0; i < n; i++)
			ret[i] = p[i].revents != 0;
	if (p != few)
		mem_free(p);
}
