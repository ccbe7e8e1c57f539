/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi_delay.h"

#include "deepclock/zone.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static _Thread_local struct {
	uint64_t read_ns; /* time of the last reading at the end of a collective */
	uint64_t end;	  /* the kernel's count there */
	bool has_end;
	uint64_t sum;
} delay;

static uint64_t delay_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Time on a processor, then in the run queue (Documentation/scheduler/sched-stats.rst). The file is
 * opened each time: the program may close all descriptors. A direct call, because read() is
 * interposed. */
static bool schedstat_delay_read(uint64_t *ret)
{
	char text[128], *end;
	const int error = errno, fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	const long n = fd < 0 ? -1 : syscall(SYS_read, fd, text, sizeof text - 1);

	if (fd >= 0)
		close(fd);
	errno = error;
	if (n <= 0)
		return false;
	text[n] = '\0';
	(void)strtoull(text, &end, 10);
	*ret = strtoull(end, NULL, 10);
	return true;
}

void mpi_delay_begin(void)
{
	uint64_t now;

	if (!delay.has_end)
		return;
	delay.has_end = false;
	if (!schedstat_delay_read(&now) || now < delay.end)
		return;
	delay.sum += now - delay.end;
	DCK_COUNTER(MPI_DELAY_COUNTER, delay.sum);
}

void mpi_delay_end(void)
{
	const uint64_t now = delay_clock();

	if (now - delay.read_ns < MPI_DELAY_EVERY_NS)
		return;
	delay.has_end = schedstat_delay_read(&delay.end);
	delay.read_ns = now;
}
