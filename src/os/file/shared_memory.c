/* SPDX-License-Identifier: Apache-2.0 */
#include "os/file/shared_memory.h"

#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

dck_status os_shared_open(size_t n, void **ret, int *ret_fd, dck_err *err)
{
	const int fd = memfd_create("deepclock", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		DCK_FAIL_ERRNO(err, E_UNSUP, errno, "cannot make memory to share");
	void *at = MAP_FAILED;
	if (ftruncate(fd, (off_t)n) == 0 &&
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
		at = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED) {
		const int e = errno;

		close(fd);
		DCK_FAIL_ERRNO(err, E_UNSUP, e, "cannot make memory to share");
	}
	*ret = at;
	*ret_fd = fd;
	return DCK_OK;
}

void os_shared_close(void *at, size_t n, int fd)
{
	if (at)
		munmap(at, n);
	if (fd >= 0)
		close(fd);
}
