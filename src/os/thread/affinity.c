/* affinity.c - which CPUs this process and its threads may use, and which of them share a core.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"

#include "base/commas.h"
#include "base/err.h"
#include "base/mem.h"
#include "os/file/text.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The kernel refuses a mask that is shorter than its own, and glibc's default is shorter than that
 * of the largest machines. */
typedef struct cpu_mask {
	cpu_set_t part[OS_CPUS_MAX / CPU_SETSIZE];
} cpu_mask;

/* What the calling thread could use before a pin. Allocated, as a preloaded library has little
 * thread-local memory. */
typedef struct pin {
	struct pin *outer;
	cpu_mask before;
} pin;

static _Thread_local pin *last_pin; /* that is not undone */

static bool mask_get(cpu_mask *m)
{
	memset(m, 0, sizeof *m);
	return sched_getaffinity(0, sizeof *m, m->part) == 0;
}

size_t os_cpu_list_read(const char *list, bool *ret_in, size_t n)
{
	size_t most = 0;

	memset(ret_in, 0, n * sizeof *ret_in);
	for (commas_item item; commas_next(&list, &item);) {
		char *end;
		if (*item.text < '0' || *item.text > '9')
			return 0;
		unsigned long first = strtoul(item.text, &end, 10), last = first;
		if (*end == '-' && end[1] >= '0' && end[1] <= '9')
			last = strtoul(end + 1, &end, 10);
		if (last < first || last == ULONG_MAX || end != item.text + item.n)
			return 0;
		for (unsigned long cpu = first; cpu <= last && cpu < n; cpu++)
			ret_in[cpu] = true;
		most = last + 1 > most ? last + 1 : most;
	}
	return most;
}

void os_cpu_list_show(const unsigned *cpu, unsigned n, char *buf, size_t size)
{
	size_t at = 0;

	buf[0] = '\0';
	for (unsigned i = 0; i < n && at + 24 < size; i++) {
		unsigned from = i;
		while (i + 1 < n && cpu[i + 1] == cpu[i] + 1)
			i++;
		at += (size_t)snprintf(buf + at, size - at, i > from ? "%s%u-%u" : "%s%u",
				       at ? "," : "", cpu[from], cpu[i]);
	}
}

unsigned os_cpus_get(unsigned *ret, unsigned max)
{
	cpu_mask m;
	unsigned n = 0;

	if (!mask_get(&m))
		return 0;
	for (unsigned cpu = 0; cpu < max; cpu++)
		if (CPU_ISSET_S(cpu, sizeof m, m.part))
			ret[n++] = cpu;
	return n;
}

unsigned os_cpus_allowed(void)
{
	cpu_mask m;

	if (mask_get(&m))
		return (unsigned)CPU_COUNT_S(sizeof m, m.part);
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	return online > 0 ? (unsigned)online : 1;
}

unsigned os_cores_first(const char *root, const unsigned *cpu, unsigned n, unsigned *ret)
{
	bool seen[OS_CPUS_MAX] = {false}, later[OS_CPUS_MAX] = {false}, siblings[OS_CPUS_MAX];
	char path[512], list[4096];
	unsigned done = 0;

	for (unsigned i = 0; i < n; i++) {
		later[i] = seen[cpu[i]];
		if (later[i])
			continue;
		if (ret)
			ret[done] = cpu[i];
		done++;
		snprintf(path, sizeof path, "%.200s" OS_CPU_DIR "%u/topology/thread_siblings_list",
			 root, cpu[i]);
		if (!text_read(path, list, sizeof list) ||
		    os_cpu_list_read(list, siblings, OS_CPUS_MAX) == 0)
			continue;
		for (unsigned k = 0; k < OS_CPUS_MAX; k++)
			seen[k] = seen[k] || siblings[k];
	}
	const unsigned cores = done;
	for (unsigned i = 0; i < n && ret; i++)
		if (later[i])
			ret[done++] = cpu[i];
	return cores;
}

unsigned os_cores_allowed(void)
{
	unsigned cpu[OS_CPUS_MAX];
	const unsigned n = os_cpus_get(cpu, OS_CPUS_MAX);

	return n > 0 ? os_cores_first("", cpu, n, NULL) : os_cpus_allowed();
}

dck_status os_pin_cpus(const char *list, dck_err *err)
{
	cpu_mask asked = {0}, before, after;
	bool in[OS_CPUS_MAX];
	unsigned cpu[OS_CPUS_MAX];
	char have[128];
	const size_t most = os_cpu_list_read(list, in, OS_CPUS_MAX);

	if (most == 0)
		DCK_FAIL(err, E_ARG, "'%.80s' is not a list of CPUs: write it as in 0-3,8", list);
	for (unsigned i = 0; i < OS_CPUS_MAX; i++)
		if (in[i])
			CPU_SET_S(i, sizeof asked, asked.part);
	const unsigned n = os_cpus_get(cpu, OS_CPUS_MAX);
	if (!mask_get(&before))
		DCK_FAIL_ERRNO(err, E_IO, errno, "cannot query which CPUs this process may use");
	int failed = EINVAL;
	if (most <= OS_CPUS_MAX)
		failed = sched_setaffinity(0, sizeof asked, asked.part) ? errno : 0;
	if (failed && failed != EINVAL)
		DCK_FAIL_ERRNO(err, E_IO, failed, "cannot pin this process to CPUs %.80s", list);
	/* The kernel silently ignores the CPUs of a list that it cannot use. */
	if (!failed && mask_get(&after) && CPU_EQUAL_S(sizeof asked, asked.part, after.part)) {
		pin *made = mem_alloc(sizeof *made);

		if (!made)
			(void)sched_setaffinity(0, sizeof before, before.part);
		DCK_NEED(made, err, "for the CPUs of this thread");
		*made = (pin){.outer = last_pin, .before = before};
		last_pin = made;
		return DCK_OK;
	}
	if (!failed)
		(void)sched_setaffinity(0, sizeof before, before.part);
	os_cpu_list_show(cpu, n, have, sizeof have);
	DCK_FAIL(err, E_ARG, "cannot pin this process to CPUs %.80s: it may use %s", list, have);
}

void os_unpin_cpus(void)
{
	pin *undone = last_pin;

	if (!undone)
		return;
	last_pin = undone->outer;
	(void)sched_setaffinity(0, sizeof undone->before, undone->before.part);
	mem_free(undone);
}

bool os_thread_pin(unsigned cpu)
{
	cpu_mask m = {0};

	CPU_SET_S(cpu, sizeof m, m.part);
	return sched_setaffinity(0, sizeof m, m.part) == 0;
}

void os_thread_yield(void)
{
	sched_yield();
}
