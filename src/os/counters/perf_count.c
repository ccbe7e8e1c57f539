/* perf_count.c - event counters by perf_event_open(2): names of events, and one counter for a
 * child.
 *
 * A name resolves to a type and a config, by linear search: defs[] (software and generic hardware
 * events), the product of caches, operations and results (config: cache | operation << 8 | result
 * << 16), or "r" and a hexadecimal raw event. ":u" after any name restricts it to user mode.
 *
 * A counter is opened for the calling thread, disabled, with inherit and enable_on_exec. The
 * thread's own count never starts; its children inherit the counter, and their count starts at
 * exec(). So neither the fork nor deepclock's own work is counted. The caller starts the child from
 * the same thread, and reads after waiting for it. Times enabled and running show whether the
 * kernel multiplexed the counter.
 *
 * If the kernel's part may not be counted, a hardware event falls back to user mode. The descriptor
 * is close-on-exec and owned by the perf_counter.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/counters/perf_count.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SOFTWARE(name, alias, config, ns, help)                                   \
	{                                                                         \
		name, alias, help, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##config, ns \
	}
#define HARDWARE(name, alias, config, help)                                          \
	{                                                                            \
		name, alias, help, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##config, false \
	}

static const perf_event_def defs[] = {
    SOFTWARE("task-clock", NULL, TASK_CLOCK, true, "processor time of all threads"),
    SOFTWARE("cpu-clock", NULL, CPU_CLOCK, true, "the same by the clock of each processor"),
    SOFTWARE("page-faults", "faults", PAGE_FAULTS, false, "first uses of pages of memory"),
    SOFTWARE("minor-faults", NULL, PAGE_FAULTS_MIN, false, "page faults without reading"),
    SOFTWARE("major-faults", NULL, PAGE_FAULTS_MAJ, false, "page faults for which a file was read"),
    SOFTWARE("context-switches", "cs", CONTEXT_SWITCHES, false, "threads that left a processor"),
    SOFTWARE("cpu-migrations", "migrations", CPU_MIGRATIONS, false,
	     "migrations of threads to another processor"),
    SOFTWARE("alignment-faults", NULL, ALIGNMENT_FAULTS, false,
	     "accesses that the kernel had to do in parts"),
    SOFTWARE("emulation-faults", NULL, EMULATION_FAULTS, false,
	     "instructions that the kernel had to do"),
    HARDWARE("cpu-cycles", "cycles", CPU_CYCLES, "cycles of the processor"),
    HARDWARE("instructions", NULL, INSTRUCTIONS, "executed instructions"),
    HARDWARE("branch-instructions", "branches", BRANCH_INSTRUCTIONS, "branches"),
    HARDWARE("branch-misses", NULL, BRANCH_MISSES, "mispredicted branches"),
    HARDWARE("cache-references", NULL, CACHE_REFERENCES, "accesses to the last cache"),
    HARDWARE("cache-misses", NULL, CACHE_MISSES, "accesses to the last cache that missed"),
    HARDWARE("bus-cycles", NULL, BUS_CYCLES, "cycles of the bus"),
    HARDWARE("ref-cycles", NULL, REF_CPU_CYCLES, "cycles at the processor's base frequency"),
    HARDWARE("stalled-cycles-frontend", "idle-cycles-frontend", STALLED_CYCLES_FRONTEND,
	     "cycles without an instruction to execute"),
    HARDWARE("stalled-cycles-backend", "idle-cycles-backend", STALLED_CYCLES_BACKEND,
	     "cycles in which instructions waited"),
};
#define NDEFS (sizeof defs / sizeof defs[0])

const perf_event_def *perf_event_defs(size_t *ret_n)
{
	*ret_n = NDEFS;
	return defs;
}

/* --- caches: L1-dcache-loads, LLC-store-misses, ... (perf, evsel.c: evsel__hw_cache) */

static const struct {
	const char *name;
	unsigned id, operations; /* bits of the operations that it supports */
} caches[] = {
    {"L1-dcache", PERF_COUNT_HW_CACHE_L1D, 7}, {"L1-icache", PERF_COUNT_HW_CACHE_L1I, 5},
    {"LLC", PERF_COUNT_HW_CACHE_LL, 7},	       {"dTLB", PERF_COUNT_HW_CACHE_DTLB, 7},
    {"iTLB", PERF_COUNT_HW_CACHE_ITLB, 1},     {"branch", PERF_COUNT_HW_CACHE_BPU, 1},
    {"node", PERF_COUNT_HW_CACHE_NODE, 7},
};
static const struct {
	const char *all, *misses;
	unsigned id;
} operations[] = {
    {"loads", "load-misses", PERF_COUNT_HW_CACHE_OP_READ},
    {"stores", "store-misses", PERF_COUNT_HW_CACHE_OP_WRITE},
    {"prefetches", "prefetch-misses", PERF_COUNT_HW_CACHE_OP_PREFETCH},
};
enum { NCACHES = sizeof caches / sizeof caches[0], NOPERATIONS = 3 };

/* Makes the i-th name of a cache event and its config. false: past the end. name "": this cache
 * does not support the operation. */
static bool cache_event(size_t i, char *name, size_t size, uint64_t *ret_config)
{
	const size_t cache = i / (2 * NOPERATIONS), operation = i / 2 % NOPERATIONS, misses = i % 2;

	if (cache >= NCACHES)
		return false;
	snprintf(name, size, "%s-%s", caches[cache].name,
		 misses ? operations[operation].misses : operations[operation].all);
	if (!(caches[cache].operations >> operation & 1))
		*name = '\0';
	*ret_config =
	    caches[cache].id | (uint64_t)operations[operation].id << 8 |
	    (uint64_t)(misses ? PERF_COUNT_HW_CACHE_RESULT_MISS : PERF_COUNT_HW_CACHE_RESULT_ACCESS)
		<< 16;
	return true;
}

bool perf_event_cache_name(size_t i, char *buf, size_t size)
{
	uint64_t config;

	for (size_t at = 0; cache_event(at, buf, size, &config); at++)
		if (*buf && i-- == 0)
			return true;
	return false;
}

bool perf_event_find(const char *name, perf_event *ret)
{
	perf_event e = {.type = PERF_TYPE_RAW, .hardware = true};
	char plain[sizeof e.name], other[sizeof e.name], *end;
	const size_t n = strlen(name);

	if (n == 0 || n >= sizeof plain)
		return false;
	memcpy(plain, name, n + 1);
	if (n > 2 && !strcmp(plain + n - 2, ":u")) {
		e.user_only = true;
		plain[n - 2] = '\0';
	}
	memcpy(e.name, name, n + 1);
	for (size_t i = 0; i < NDEFS; i++) {
		const perf_event_def *d = &defs[i];

		if (strcmp(plain, d->name) != 0 && (!d->alias || strcmp(plain, d->alias) != 0))
			continue;
		snprintf(e.name, sizeof e.name, "%s%s", d->name, e.user_only ? ":u" : "");
		e.type = d->type;
		e.config = d->config;
		e.ns = d->ns;
		e.hardware = d->type == PERF_TYPE_HARDWARE;
		*ret = e;
		return true;
	}
	for (size_t i = 0; cache_event(i, other, sizeof other, &e.config); i++)
		if (*other && !strcmp(plain, other)) {
			e.type = PERF_TYPE_HW_CACHE;
			*ret = e;
			return true;
		}
	if (plain[0] != 'r' || !plain[1] ||
	    strspn(plain + 1, "0123456789abcdefABCDEF") != strlen(plain + 1) || strlen(plain) > 17)
		return false;
	e.config = strtoull(plain + 1, &end, 16);
	*ret = e;
	return true;
}

/* --- counting */

static const char *reason(int error)
{
	switch (error) {
	case ENOENT:
	case EOPNOTSUPP:
	case ENODEV:
	case ENXIO:
		return "this processor has no such counter, or the machine that it is simulated by "
		       "does not pass it on";
	case EACCES:
	case EPERM:
		return "the kernel does not grant it to this user: "
		       "/proc/sys/kernel/perf_event_paranoid, or rights as CAP_PERFMON";
	case ENOSYS:
		return "this kernel, or the sandbox around us, has no perf_event_open()";
	case EINVAL:
		return "the kernel does not support this event";
	case EBUSY:
		return "another process uses this counter";
	case EMFILE:
	case ENFILE:
		return "too many files are open";
	default:
		return "the kernel refuses it";
	}
}

bool perf_counter_open(const perf_event *e, perf_counter *ret, const char **ret_why)
{
	struct perf_event_attr a = {
	    .type = e->type,
	    .size = sizeof a,
	    .config = e->config,
	    .disabled = 1,
	    .inherit = 1,
	    .enable_on_exec = 1,
	    .exclude_kernel = e->user_only,
	    .exclude_hv = e->user_only,
	    .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	int fd = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	/* Few users may count in the kernel. Software events happen there, so they would be
	 * incomplete or 0. */
	if (fd < 0 && (errno == EACCES || errno == EPERM) && e->hardware && !a.exclude_kernel) {
		a.exclude_kernel = a.exclude_hv = 1;
		fd = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	}
	if (fd < 0) {
		*ret_why = reason(errno);
		return false;
	}
	if (ret)
		*ret = (perf_counter){.fd = fd, .user_only = a.exclude_kernel};
	else
		close(fd);
	return true;
}

bool perf_counter_read(const perf_counter *c, perf_counted *ret)
{
	uint64_t v[3];

	if (c->fd < 0 || read(c->fd, v, sizeof v) != (ssize_t)sizeof v)
		return false;
	*ret = (perf_counted){v[0], v[1], v[2]};
	return true;
}

void perf_counter_close(perf_counter *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
}
