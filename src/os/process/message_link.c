/* message_link.c - whole messages between two processes of this machine, over a socket pair.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"

#include "base/err.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#define MESSAGE_ASK_MS 50

dck_status os_message_pair(int ret[2], dck_err *err)
{
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ret))
		DCK_FAIL_ERRNO(err, E_IO, errno, "cannot make a connection to another process");
	return DCK_OK;
}

bool os_message_send(int fd, const void *message, size_t n)
{
	ssize_t sent;

	do
		sent = send(fd, message, n, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent == (ssize_t)n;
}

os_message os_message_receive(int fd, void *message, size_t n, bool (*cancelled)(void *self),
			      void *self)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	ssize_t got;

	do {
		if (cancelled && cancelled(self))
			return OS_MESSAGE_CANCELLED;
	} while (poll(&p, 1, MESSAGE_ASK_MS) <= 0);
	do
		got = recv(fd, message, n, MSG_TRUNC);
	while (got < 0 && errno == EINTR);
	if (got <= 0)
		return OS_MESSAGE_ENDED;
	return got == (ssize_t)n ? OS_MESSAGE_DONE : OS_MESSAGE_FOREIGN;
}
