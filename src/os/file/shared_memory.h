/* shared_memory.h - memory that other processes map too.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OS_SHARED_MEMORY_H
#define OS_SHARED_MEMORY_H

#include "deepclock/base.h"

#include <stddef.h>

/* Maps n zeroed bytes of a file without a name, which other processes open as /proc/PID/fd/FD. No
 * process can change its size. */
dck_status os_shared_open(size_t n, void **ret, int *ret_fd, dck_err *err);
void os_shared_close(void *at, size_t n, int fd); /* NULL and -1 are allowed */

#endif
