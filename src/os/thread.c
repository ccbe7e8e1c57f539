/* thread.c - the calling thread. These may run in signal handlers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int os_thread_id(void)
{
	return (int)syscall(SYS_gettid);
}

void os_thread_name(char ret[16])
{
	ret[0] = '\0';
	prctl(PR_GET_NAME, ret);
	ret[15] = '\0';
}
