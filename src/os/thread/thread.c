/* thread.c - the calling thread, and one by its number. These may run in signal handlers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"

#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int os_thread_id(void)
{
	return (int)syscall(SYS_gettid);
}

void os_thread_name_of(int id, char ret[16])
{
	char path[64];

	snprintf(path, sizeof path, "/proc/self/task/%d/comm", id);
	const int fd = os_open_read(path);
	const ptrdiff_t n = fd >= 0 ? os_read_at(fd, ret, 15, 0) : 0;
	ret[n > 0 ? n : 0] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
	os_close(fd);
}

void os_thread_name(char ret[16])
{
	ret[0] = '\0';
	prctl(PR_GET_NAME, ret);
	ret[15] = '\0';
}
