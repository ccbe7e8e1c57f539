/* run_delay.c - the time for which threads of this process were runnable and waited for a
 * processor, read around each run.
 *
 * The kernel counts it for each thread in /proc/self/task/TID/schedstat: time on a processor, run
 * delay and timeslices (Documentation/scheduler/sched-stats.rst). Their descriptors stay open,
 * since opening a file takes five times as long as reading it. The link count of /proc/self/task is
 * the number of threads plus 2: when it changes, or one has ended, the threads are listed again. A
 * new thread counts from its start, an ended one until its last reading.
 *
 * A kernel without CONFIG_SCHED_INFO has no such file, or one of zeros.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"

#include "base/err.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char directory_name[] = "/proc/self/task";

typedef struct thread_delay {
	int tid, fd;
	bool listed;			       /* by the last listing */
	uint64_t ran_ns, delay_ns, timeslices; /* at the last reading */
	uint64_t ran_before_ns;		       /* at the opening */
} thread_delay;

struct os_run_delay {
	int directory;
	uint64_t links; /* of the directory when the threads were listed */
	os_run_delays sum;
	int reader; /* the thread that opened it */
	thread_delay thread[OS_RUN_DELAY_THREADS];
	unsigned n;
	bool failed; /* too many threads, or one cannot be read */
	int reason;  /* errno; 0: too many */
};

static bool schedstat_read(int fd, uint64_t *ret_ran, uint64_t *ret_delay, uint64_t *ret_timeslices)
{
	char text[128], *end;
	const ssize_t n = pread(fd, text, sizeof text - 1, 0);

	if (n <= 0)
		return false;
	text[n] = '\0';
	*ret_ran = strtoull(text, &end, 10);
	if (end == text || *end != ' ')
		return false;
	*ret_delay = strtoull(end, &end, 10);
	*ret_timeslices = strtoull(end, NULL, 10);
	return true;
}

/* Keeps why a file could not be opened; false: it is not there, as the thread has just ended. */
static bool delay_open_failed(const char *path, int *ret_reason)
{
	const int reason = errno;

	if (access(path, F_OK) != 0)
		return false;
	*ret_reason = reason;
	return true;
}

static void delay_thread_add(void *self, int tid)
{
	os_run_delay *d = self;
	thread_delay *t = d->thread;
	char path[64];

	for (unsigned i = 0; i < d->n; i++, t++)
		if (t->tid == tid) {
			t->listed = true;
			return;
		}
	if (d->n == OS_RUN_DELAY_THREADS) {
		d->failed = true;
		return;
	}
	snprintf(path, sizeof path, "%s/%d/schedstat", directory_name, tid);
	*t = (thread_delay){.tid = tid, .fd = open(path, O_RDONLY | O_CLOEXEC), .listed = true};
	if (t->fd >= 0)
		d->n++;
	else if (delay_open_failed(path, &d->reason))
		d->failed = true;
}

static uint64_t links_of(const os_run_delay *d)
{
	struct stat st;

	return fstat(d->directory, &st) == 0 ? (uint64_t)st.st_nlink : 0;
}

/* A thread that starts during the listing changes the link count again. */
static void threads_list(os_run_delay *d)
{
	unsigned left = 0;

	d->links = links_of(d);
	for (unsigned i = 0; i < d->n; i++)
		d->thread[i].listed = false;
	d->failed |= !os_threads_each(delay_thread_add, d);
	for (unsigned i = 0; i < d->n; i++) {
		if (d->thread[i].listed)
			d->thread[left++] = d->thread[i];
		else
			close(d->thread[i].fd);
	}
	d->n = left;
}

static void delays_add(os_run_delay *d)
{
	d->sum.other_ns = 0;
	for (unsigned i = 0; i < d->n; i++) {
		thread_delay *t = &d->thread[i];
		uint64_t ran, delay, timeslices;

		if (!schedstat_read(t->fd, &ran, &delay, &timeslices)) {
			d->links = 0; /* it has ended, perhaps when another one started */
			continue;
		}
		const uint64_t waited_ns = delay - t->delay_ns;

		d->sum.ns += waited_ns;
		if (t->tid != d->reader && waited_ns > d->sum.other_ns)
			d->sum.other_ns = waited_ns;
		t->ran_ns = ran;
		t->delay_ns = delay;
		d->sum.timeslices += timeslices - t->timeslices;
		t->timeslices = timeslices;
	}
	if (d->sum.other_ns > d->sum.longest_ns)
		d->sum.longest_ns = d->sum.other_ns;
}

dck_status os_run_delay_open(os_run_delay **ret, dck_err *err)
{
	os_run_delay *d = mem_zalloc(1, sizeof *d);
	uint64_t ran = 0;

	DCK_NEED(d, err, "for the run delays of threads");
	d->reader = os_thread_id();
	d->directory = open(directory_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	threads_list(d);
	/* The kernel updates a thread's time when it passes the scheduler, and at ticks: a process
	 * that has just started may have 0. */
	for (int i = 0; i < 2 && ran == 0; i++) {
		if (i > 0)
			sched_yield();
		delays_add(d);
		for (unsigned k = 0; k < d->n; k++)
			ran += d->thread[k].ran_ns;
	}
	for (unsigned i = 0; i < d->n; i++)
		d->thread[i].ran_before_ns = d->thread[i].ran_ns;
	if (d->directory < 0 || d->failed || ran == 0) {
		const bool many = d->n == OS_RUN_DELAY_THREADS;
		const int reason = d->reason;

		os_run_delay_close(d);
		if (many)
			DCK_FAIL(err, E_LIMIT, "the process has more than %d threads",
				 OS_RUN_DELAY_THREADS);
		if (reason)
			DCK_FAIL_ERRNO(err, E_UNSUP, reason,
				       "how long threads wait for a processor cannot be read");
		DCK_FAIL(err, E_UNSUP,
			 "the kernel does not count how long threads wait for a processor");
	}
	d->sum.ns = 0;
	d->sum.longest_ns = 0;
	*ret = d;
	return DCK_OK;
}

bool os_run_delay_read(os_run_delay *d, os_run_delays *ret)
{
	if (links_of(d) != d->links)
		threads_list(d);
	delays_add(d);
	*ret = d->sum;
	return !d->failed;
}

unsigned os_run_delay_busy(const os_run_delay *d, uint64_t least_ns)
{
	unsigned n = 0;

	for (unsigned i = 0; i < d->n; i++)
		n += d->thread[i].ran_ns - d->thread[i].ran_before_ns >= least_ns;
	return n;
}

void os_run_delay_close(os_run_delay *d)
{
	if (!d)
		return;
	for (unsigned i = 0; i < d->n; i++)
		close(d->thread[i].fd);
	if (d->directory >= 0)
		close(d->directory);
	mem_free(d);
}
