/* resident.c - see resident.h, and proc(5) on statm, status and clear_refs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "resident.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Error of the kernel's per-CPU memory counters: a smaller difference is not a peak. */
#define BLUR ((uint64_t)1 << 18)

static uint64_t now_read(const resident *r)
{
	char text[128], *rest = text;
	const ssize_t n = r->now_fd < 0 ? -1 : pread(r->now_fd, text, sizeof text - 1, 0);

	if (n <= 0)
		return 0;
	text[n] = '\0';
	strtoull(text, &rest, 10); /* the total size comes first */
	return strtoull(rest, NULL, 10) * r->page;
}

static uint64_t status_peak(void)
{
	char text[4096];
	const int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	const char *at;

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	at = strstr(text, "VmHWM:");
	return at ? strtoull(at + 6, NULL, 10) * 1024 : 0;
}

static uint64_t peak_read(const resident *r)
{
	struct rusage used;

	if (r->slow)
		return status_peak();
	return getrusage(RUSAGE_SELF, &used) == 0 ? (uint64_t)used.ru_maxrss * 1024 : 0;
}

/* Resets the peak. No descriptor for writing stays open: a program may close all, and open a file
 * by this number. */
static bool reset(void)
{
	const int to = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
	const bool done = to >= 0 && write(to, "5", 1) == 1;

	if (to >= 0)
		close(to);
	return done;
}

void resident_open(resident *r)
{
	*r = (resident){
	    .now_fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC),
	    .page = (uint64_t)sysconf(_SC_PAGESIZE),
	};
	r->peaks = now_read(r) && reset();
	/* The peak of getrusage() survives execve(), so it may be the previous program's. */
	r->slow = r->peaks && peak_read(r) > now_read(r) + 4 * BLUR;
	if (r->slow)
		r->peaks = peak_read(r) <= now_read(r) + 4 * BLUR;
}

void resident_close(resident *r)
{
	if (r->now_fd >= 0)
		close(r->now_fd);
	r->now_fd = -1;
}

void resident_look(const resident *r, uint64_t *ret_now, uint64_t *ret_peak)
{
	const uint64_t now = now_read(r);
	const uint64_t peak = r->peaks ? peak_read(r) : now;

	*ret_now = now;
	*ret_peak = peak > now + BLUR ? peak : now;
	if (peak > now + BLUR)
		reset();
}
