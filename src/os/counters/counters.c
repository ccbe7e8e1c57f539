/* counters.c - cumulative resource usage of the process and of the machine.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"

#include "os/counters/cgroup.h"
#include "os/file/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

static uint64_t counters_timeval_ns(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_usec * 1000u;
}

/* First line of /proc/stat, in ticks of USER_HZ: user nice system idle iowait irq softirq steal.
 * Guests are already in user. */
static void read_machine(os_usage *ret)
{
	char buf[512];
	uint64_t user, nice_, system, irq, soft, steal = 0;
	long hz = sysconf(_SC_CLK_TCK);
	if (hz <= 0 || !text_read("/proc/stat", buf, sizeof buf) ||
	    sscanf(buf,
		   "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %*s %*s %" SCNu64 " %" SCNu64
		   " %" SCNu64,
		   &user, &nice_, &system, &irq, &soft, &steal) < 5)
		return;
	uint64_t tick_ns = 1000000000u / (uint64_t)hz;
	ret->has_machine = true;
	ret->machine_busy_ns = (user + nice_ + system + irq + soft) * tick_ns;
	ret->machine_steal_ns = steal * tick_ns;
}

/* Returns the peak of this program only. getrusage() returns the maximum of this process and the
 * process that started it, whose address space vfork() shares until exec (Linux, exec_mmap). */
static uint64_t peak_rss(const struct rusage *r)
{
	char buf[4096];
	uint64_t kib;
	if (text_read("/proc/self/status", buf, sizeof buf) && text_find_uint(buf, "VmHWM:", &kib))
		return kib * 1024;
	return (uint64_t)r->ru_maxrss * 1024;
}

void os_usage_get(os_usage *ret)
{
	struct rusage r;
	cgroup_limits limits;

	*ret = (os_usage){0};
	if (getrusage(RUSAGE_SELF, &r) == 0) {
		ret->user_ns = counters_timeval_ns(r.ru_utime);
		ret->system_ns = counters_timeval_ns(r.ru_stime);
		ret->voluntary_switches = (uint64_t)r.ru_nvcsw;
		ret->involuntary_switches = (uint64_t)r.ru_nivcsw;
		ret->minor_faults = (uint64_t)r.ru_minflt;
		ret->major_faults = (uint64_t)r.ru_majflt;
		ret->peak_rss_bytes = peak_rss(&r);
	}
	ret->rss_bytes = os_resident_bytes();
	/* The kernel batches its updates of the peak. */
	if (ret->peak_rss_bytes && ret->peak_rss_bytes < ret->rss_bytes)
		ret->peak_rss_bytes = ret->rss_bytes;
	read_machine(ret);
	cgroup_read("", &limits);
	ret->has_throttled = limits.throttled_known;
	ret->throttled_ns = limits.throttled_ns;
	ret->throttled_periods = limits.throttled_periods;
}

void os_usage_children(uint64_t *ret_cpu_ns, uint64_t *ret_peak_rss_bytes)
{
	struct rusage r = {0};

	(void)getrusage(RUSAGE_CHILDREN, &r);
	*ret_cpu_ns = counters_timeval_ns(r.ru_utime) + counters_timeval_ns(r.ru_stime);
	*ret_peak_rss_bytes = (uint64_t)r.ru_maxrss * 1024;
}
