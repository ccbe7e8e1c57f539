/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/trace/result/device_report.h"

#include "os/os.h"
#include "profiler/trace/thread_buffer.h"

#include <stdatomic.h>

static struct {
	_Atomic(const char *) source, absent;
	_Atomic long process;
	_Atomic uint64_t calls, enqueued, memory_peak, ranges, dropped, unfinished, unjoined;
} newest;

static _Atomic int thread; /* 0: none */

void dck_device_report_thread(void)
{
	thread_buffer_me.unseen = true;
	atomic_store(&thread, os_thread_id());
}

bool device_report_is_thread(int tid)
{
	return tid == atomic_load(&thread);
}

void dck_device_report_source(const char *source)
{
	atomic_store(&newest.process, os_process_id());
	atomic_store(&newest.source, source);
}

void dck_device_report_absent(const char *why)
{
	atomic_store(&newest.process, os_process_id());
	atomic_store(&newest.absent, why);
}

void dck_device_report(const device_report *counts)
{
	atomic_store(&newest.calls, counts->calls);
	atomic_store(&newest.enqueued, counts->enqueued);
	atomic_store(&newest.memory_peak, counts->memory_peak);
	atomic_store(&newest.ranges, counts->ranges);
	atomic_store(&newest.dropped, counts->dropped);
	atomic_store(&newest.unfinished, counts->unfinished);
	atomic_store(&newest.unjoined, counts->unjoined);
}

device_report device_report_get(void)
{
	if (atomic_load(&newest.process) != os_process_id())
		return (device_report){0};
	return (device_report){.source = atomic_load(&newest.source),
			       .absent = atomic_load(&newest.absent),
			       .calls = atomic_load(&newest.calls),
			       .enqueued = atomic_load(&newest.enqueued),
			       .memory_peak = atomic_load(&newest.memory_peak),
			       .ranges = atomic_load(&newest.ranges),
			       .dropped = atomic_load(&newest.dropped),
			       .unfinished = atomic_load(&newest.unfinished),
			       .unjoined = atomic_load(&newest.unjoined)};
}
