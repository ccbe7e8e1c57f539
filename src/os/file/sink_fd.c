/* sink_fd.c - a sink that writes to a file descriptor.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/report.h"

#include "base/err.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

static dck_status fd_write(void *self, const void *bytes, size_t n, dck_err *err)
{
	int fd = ((dck_sink *)self)->fd;
	const char *p = bytes;
	while (n) {
		ssize_t done = write(fd, p, n);
		if (done >= 0) {
			p += done;
			n -= (size_t)done;
			continue;
		}
		if (errno == EINTR)
			continue;
		if (errno == EAGAIN || errno == EWOULDBLOCK) {
			/* Another program may have made our terminal or pipe non-blocking. */
			struct pollfd wait = {.fd = fd, .events = POLLOUT};
			if (poll(&wait, 1, -1) >= 0 || errno == EINTR)
				continue;
		}
		DCK_FAIL_ERRNO(err, E_IO, errno, "cannot write the output");
	}
	return DCK_OK;
}

void dck_sink_fd(dck_sink *s, int fd)
{
	dck_sink_custom(s, fd_write, s);
	s->fd = fd;
}
