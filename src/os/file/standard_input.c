/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "os/os.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#define STANDARD_INPUT_MAX (UINT64_C(1) << 30)

static dck_status input_copy(int to, dck_err *err)
{
	static char bytes[65536];
	uint64_t all = 0;

	for (;;) {
		const ssize_t n = read(STDIN_FILENO, bytes, sizeof bytes);

		if (n == 0)
			return DCK_OK;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			/* The writer made the pipe non-blocking, as Node.js does. */
			poll(&(struct pollfd){.fd = STDIN_FILENO, .events = POLLIN}, 1, -1);
			continue;
		}
		if (n < 0)
			DCK_FAIL_ERRNO(err, E_IO, errno, "cannot read standard input");
		all += (uint64_t)n;
		if (all > STANDARD_INPUT_MAX)
			DCK_FAIL(err, E_LIMIT,
				 "standard input has more than 1 GiB: write it into a file");
		for (ssize_t at = 0; at < n;) {
			const ssize_t put = write(to, bytes + at, (size_t)(n - at));

			if (put < 0 && errno != EINTR)
				DCK_FAIL_ERRNO(err, E_IO, errno, "cannot keep standard input");
			at += put > 0 ? put : 0;
		}
	}
}

dck_status os_standard_input(const char **ret, dck_err *err)
{
	int fd;

	*ret = "/dev/stdin";
	if (os_fd_kind(STDIN_FILENO, NULL) == OS_FILE)
		return DCK_OK;
	DCK_TRY(os_memfd(&fd, err));
	dck_status status = input_copy(fd, err);
	if (status == DCK_OK && dup2(fd, STDIN_FILENO) < 0)
		status = err_set_errno(err, DCK_E_IO, __FILE__, __LINE__, errno,
				       "cannot keep standard input");
	os_close(fd);
	return status;
}
