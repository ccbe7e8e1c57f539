/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler_clock.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static bool clock_is_unused(int number)
{
	struct sigaction old;

	return sigaction(number, NULL, &old) == 0 &&
	       (old.sa_handler == SIG_DFL || old.sa_handler == SIG_IGN);
}

/* Timers use a real-time signal, searched from SIGRTMAX downwards: programs start at SIGRTMIN. */
int sampler_clock_signal(sample_slots_clock kind)
{
	if (kind != SAMPLE_CLOCK_TIMER && clock_is_unused(SIGURG))
		return SIGURG;
	for (int n = SIGRTMAX - 3; n > SIGRTMIN; n--)
		if (clock_is_unused(n))
			return n;
	return 0;
}

/* --- an event */

static bool event_aim(int fd, int tid, int number)
{
	const struct f_owner_ex owner = {.type = F_OWNER_TID, .pid = tid};

	return fcntl(fd, F_SETOWN_EX, &owner) == 0 && fcntl(fd, F_SETSIG, number) == 0 &&
	       fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK) == 0;
}

/* Returns the event's mapped page, which keeps the event open after the descriptor is closed; NULL:
 * refused by the kernel. Children inherit neither event nor page. */
static void *event_make(int tid, int number, uint64_t period_ns, bool user_only)
{
	struct perf_event_attr a = {
	    .type = PERF_TYPE_SOFTWARE,
	    .size = sizeof a,
	    .config = PERF_COUNT_SW_CPU_CLOCK,
	    .sample_period = period_ns,
	    .disabled = 1,
	    .exclude_kernel = user_only,
	    .exclude_hv = 1,
	    .wakeup_events = 1,
	};
	const int fd = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	void *page;

	if (fd < 0)
		return NULL;
	page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page != MAP_FAILED &&
	    !(event_aim(fd, tid, number) && ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) == 0)) {
		munmap(page, (size_t)sysconf(_SC_PAGESIZE));
		page = MAP_FAILED;
	}
	close(fd);
	return page == MAP_FAILED ? NULL : page;
}

/* --- a timer */

/* Direct system call, because glibc's timer_create() may create a helper thread. */
static bool timer_make(int tid, int number, uint64_t period_ns, int *ret)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = number};
	struct itimerspec every = {
	    .it_interval = {(time_t)(period_ns / 1000000000u), (long)(period_ns % 1000000000u)}};

	event._sigev_un._tid = tid;
	if (syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, ret) != 0)
		return false;
	every.it_value = every.it_interval;
	if (syscall(SYS_timer_settime, *ret, 0, &every, NULL) == 0)
		return true;
	syscall(SYS_timer_delete, *ret);
	return false;
}

bool sampler_clock_begin(sampler_clock *c, sample_slots_clock kind, int tid, int number,
			 uint64_t period_ns, sample_slots_clock *ret_kind)
{
	*c = SAMPLER_CLOCK_NONE;
	if (kind != SAMPLE_CLOCK_TIMER && number == SIGURG)
		c->event = event_make(tid, number, period_ns, kind == SAMPLE_CLOCK_USER);
	*ret_kind = c->event ? kind : SAMPLE_CLOCK_TIMER;
	return c->event || timer_make(tid, number, period_ns, &c->timer);
}

void sampler_clock_end(sampler_clock *c)
{
	if (c->event)
		munmap(c->event, (size_t)sysconf(_SC_PAGESIZE));
	else
		syscall(SYS_timer_delete, c->timer);
	c->event = NULL;
}

bool sampler_clock_sent(const sampler_clock *c, const siginfo_t *info)
{
	return (info->si_code == SI_TIMER && info->si_timerid == c->timer) ||
	       (info->si_signo == SIGURG && info->si_code == POLL_IN);
}
