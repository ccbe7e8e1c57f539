/* SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"
#include "base/err.h"
#include "base/mem.h"
#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

dck_status os_file_nameless(int *ret_fd, dck_err *err)
{
	int fd = memfd_create("deepclock", 0);

	if (fd < 0)
		DCK_FAIL_ERRNO(err, E_IO, errno, "cannot make a file in memory");
	*ret_fd = fd;
	return DCK_OK;
}

dck_status os_file_read_all(int fd, size_t limit, dck_buffer *ret, dck_err *err)
{
	struct stat st;
	dck_buffer b = {0};

	if (fstat(fd, &st) != 0)
		DCK_FAIL_ERRNO(err, E_IO, errno, "cannot look at a file in memory");
	if ((uint64_t)st.st_size > limit)
		DCK_FAIL(err, E_LIMIT, "%lld bytes are more than the %zu that are read at most",
			 (long long)st.st_size, limit);
	b.cap = (size_t)st.st_size + 1;
	b.data = mem_alloc(b.cap);
	DCK_NEED(b.data, err, "for %zu bytes", b.cap);
	ptrdiff_t got = os_read_at(fd, b.data, b.cap - 1, 0);
	if (got < 0) {
		int errnum = errno;

		dck_buffer_done(&b);
		DCK_FAIL_ERRNO(err, E_IO, errnum, "cannot read a file in memory");
	}
	b.n = (size_t)got;
	b.data[b.n] = '\0';
	*ret = b;
	return DCK_OK;
}
