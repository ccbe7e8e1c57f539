/* SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"

#include <poll.h>

bool os_fd_wait(int fd, bool to_write, uint64_t ns)
{
	struct pollfd p = {.fd = fd, .events = to_write ? POLLOUT : POLLIN};
	const uint64_t ms = ns / 1000000 + 1;

	return poll(&p, 1, ms < 1000 ? (int)ms : 1000) > 0;
}
