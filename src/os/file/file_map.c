/* file_map.c - files as memory that is shared with the processes that have them too.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

void *os_file_map(const char *path, bool write, size_t most, size_t *ret_bytes)
{
	const int fd = open(path, (write ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW);
	void *p = MAP_FAILED;
	struct stat st;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
		*ret_bytes = (uint64_t)st.st_size < most ? (size_t)st.st_size : most;
		p = mmap(NULL, *ret_bytes, write ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED,
			 fd, 0);
	}
	close(fd);
	return p == MAP_FAILED ? NULL : p;
}

void os_file_unmap(void *p, size_t bytes)
{
	if (p)
		munmap(p, bytes);
}
