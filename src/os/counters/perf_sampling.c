/* perf_sampling.c - the kernel's sampling profiler: events of perf_event_open(2), and ring buffers.
 *
 * A thread is sampled by its CPU time (software event cpu-clock), with the user's registers and the
 * top of its stack; a second event samples context switches where that is permitted. Children
 * inherit both. The kernel maps a ring of an inherited event only if the event is bound to a CPU,
 * so each thread that is followed has its events on every CPU. The first event on a CPU owns the
 * ring, and the others write into it (PERF_EVENT_IOC_SET_OUTPUT). So a thread costs a descriptor
 * for each CPU and event: the soft limit of descriptors is raised to the hard one for this process,
 * and stays so; programs that it starts get the former one (os_descriptors_raise()).
 *
 * os_perf_open() tests which modes the kernel permits, both or user mode alone, and halves
 * the rings until they fit the limit of locked memory. The rings are single-producer,
 * single-consumer buffers; os_perf_wait() returns when one is a quarter full.
 *
 * One thread uses an os_perf. All descriptors are in p->fds; os_perf_close() unmaps the rings and
 * closes them. Times are CLOCK_MONOTONIC_RAW, as os_perf_now_ns().
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/counters/perf_sampling.h"

#include "base/err.h"
#include "base/mem.h"
#include "os/file/text.h"
#include "os/os.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { RING_LEAST = 64 << 10 };

typedef struct perf_cpu {
	int cpu;
	int poll_fd; /* the event that has the ring */
	os_perf_ring ring;
} perf_cpu;

typedef struct perf_root {
	uint64_t id;
	int tid;
} perf_root;

struct os_perf {
	os_perf_config config;
	perf_cpu *cpus;
	struct pollfd *polled;
	size_t ncpus;
	int *fds; /* all events */
	size_t nfds, cap;
	perf_root *roots; /* of events of threads that are followed; by rising id */
	size_t nroots, roots_cap;
	bool kernel, switches;
};

static int event_open(struct perf_event_attr *a, pid_t pid, int cpu)
{
	return (int)syscall(SYS_perf_event_open, a, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static struct perf_event_attr attributes(const os_perf *p, bool of_switches, bool at_exec)
{
	struct perf_event_attr a = {
	    .type = PERF_TYPE_SOFTWARE,
	    .size = sizeof a,
	    .config = of_switches ? PERF_COUNT_SW_CONTEXT_SWITCHES : PERF_COUNT_SW_CPU_CLOCK,
	    .sample_period = of_switches ? OS_PERF_SWITCH : p->config.period_ns,
	    .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
			   PERF_SAMPLE_PERIOD | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
	    .sample_regs_user = p->config.registers,
	    .sample_stack_user = p->config.stack_bytes,
	    .disabled = 1,
	    .inherit = 1,
	    .enable_on_exec = at_exec,
	    .exclude_kernel = !p->kernel,
	    .exclude_hv = 1,
	    .exclude_guest = 1,
	    .sample_id_all = 1,
	    .watermark = 1,
	    .use_clockid = 1,
	    .clockid = CLOCK_MONOTONIC_RAW,
	};

	if (!of_switches) { /* only one of the two reports processes */
		a.mmap = 1;
		a.mmap2 = 1;
		a.comm = 1;
		a.comm_exec = 1;
		a.task = 1;
		a.context_switch = p->switches;
	}
	return a;
}

static bool sampling_keep(os_perf *p, int fd)
{
	if (!mem_reserve(&p->fds, &p->cap, p->nfds + 1, sizeof *p->fds))
		return false;
	p->fds[p->nfds++] = fd;
	return true;
}

static bool ring_map(perf_cpu *c, int fd, size_t bytes)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *at = mmap(NULL, page + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (at == MAP_FAILED)
		return false;
	c->poll_fd = fd;
	c->ring = (os_perf_ring){at, (const unsigned char *)at + page, bytes};
	return true;
}

static size_t ring_size(const os_perf *p, size_t ncpus)
{
	size_t bytes = RING_LEAST;

	while (2 * bytes * ncpus <= p->config.ring_bytes && bytes < (size_t)8 << 20)
		bytes *= 2;
	return bytes;
}

/* Adds one event on one CPU, which writes into the ring of that CPU. Does nothing for a CPU that
 * does not exist. */
static dck_status sampling_event_add(os_perf *p, perf_cpu *c, pid_t tid, bool of_switches,
				     bool at_exec, size_t ring_bytes, dck_err *err)
{
	struct perf_event_attr a = attributes(p, of_switches, at_exec);

	a.wakeup_watermark = (uint32_t)(ring_bytes / 4);
	int fd = event_open(&a, tid, c->cpu);
	if (fd < 0 && errno == ENODEV)
		return DCK_OK;
	if (fd < 0 && errno == ESRCH)
		DCK_FAIL(err, E_ABSENT, "there is no thread %ld", (long)tid);
	if (fd < 0)
		DCK_FAIL_ERRNO(err, E_UNSUP, errno, "the kernel refuses perf_event");
	if (!sampling_keep(p, fd)) {
		close(fd);
		return ERR_NO_MEMORY(err, "for the samples of a program");
	}
	if (c->ring.data)
		return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, c->poll_fd) == 0
			   ? DCK_OK
			   : err_set_errno(err, DCK_E_UNSUP, __FILE__, __LINE__, errno,
					   "the kernel refuses to put events into one buffer");
	if (!ring_map(c, fd, ring_bytes))
		DCK_FAIL_ERRNO(err, E_LIMIT, errno,
			       "the kernel gives no memory for samples "
			       "(perf_event_mlock_kb, ulimit -l)");
	return DCK_OK;
}

/* The kernel numbers events in the order in which they are opened. */
static bool roots_add(os_perf *p, pid_t tid, size_t first)
{
	uint64_t id;

	if (!mem_reserve(&p->roots, &p->roots_cap, p->nroots + p->nfds - first, sizeof *p->roots))
		return false;
	for (size_t i = first; i < p->nfds; i++)
		if (ioctl(p->fds[i], PERF_EVENT_IOC_ID, &id) == 0)
			p->roots[p->nroots++] = (perf_root){id, tid};
	return true;
}

static int sampling_by_number(const void *key, const void *row)
{
	const uint64_t id = *(const uint64_t *)key, of = ((const perf_root *)row)->id;

	return id != of ? (id < of ? -1 : 1) : 0;
}

int os_perf_root(const os_perf *p, uint64_t id)
{
	const perf_root *found =
	    p->nroots ? bsearch(&id, p->roots, p->nroots, sizeof *p->roots, sampling_by_number)
		      : NULL;

	return found ? found->tid : 0;
}

static dck_status thread_add(os_perf *p, pid_t tid, bool at_exec, dck_err *err)
{
	const size_t bytes = ring_size(p, p->ncpus);
	const size_t first = p->nfds;

	for (size_t i = 0; i < p->ncpus; i++) {
		DCK_TRY(sampling_event_add(p, &p->cpus[i], tid, false, at_exec, bytes, err));
		if (p->switches)
			DCK_TRY(sampling_event_add(p, &p->cpus[i], tid, true, at_exec, bytes, err));
	}
	if (at_exec)
		return DCK_OK;
	DCK_NEED(roots_add(p, tid, first), err, "for the samples of a program");
	for (size_t i = first; i < p->nfds; i++)
		ioctl(p->fds[i], PERF_EVENT_IOC_ENABLE, 0);
	return DCK_OK;
}

static const char *why_refused(char *text, size_t size)
{
	uint64_t paranoid;

	if (text_read_uint("/proc/sys/kernel/perf_event_paranoid", &paranoid) && paranoid > 2)
		snprintf(text, size, "kernel.perf_event_paranoid is %llu",
			 (unsigned long long)paranoid);
	else
		snprintf(text, size, "by rules of a container, mostly: seccomp");
	return text;
}

/* Finds out whether the kernel permits samples in the kernel and of switches; the minimum is this
 * user's own code. */
static dck_status permitted(os_perf *p, bool switches, dck_err *err)
{
	char why[96];
	int e = 0;

	for (int kernel = 1; kernel >= 0; kernel--) {
		p->kernel = kernel;
		p->switches = false;
		struct perf_event_attr a = attributes(p, false, true);
		int fd = event_open(&a, 0, -1);
		e = errno;
		if (fd < 0)
			continue;
		close(fd);
		if (switches && kernel) {
			p->switches = true;
			a = attributes(p, true, true);
			fd = event_open(&a, 0, -1);
			p->switches = fd >= 0;
			if (fd >= 0)
				close(fd);
		}
		return DCK_OK;
	}
	DCK_FAIL_ERRNO(err, E_UNSUP, e, "the kernel refuses perf_event (%s)",
		       why_refused(why, sizeof why));
}

dck_status os_perf_permits(bool *ret_kernel, dck_err *err)
{
	os_perf p = {.config = {.period_ns = 1000000, .registers = 1, .stack_bytes = 8}};

	DCK_TRY(permitted(&p, false, err));
	*ret_kernel = p.kernel;
	return DCK_OK;
}

/* Finds the CPUs that a program may run on: those that are present, whose numbers may have gaps,
 * and ours, as a container may show fewer than the kernel counts. Returns their number. */
static size_t sampled_cpus_find(bool ret_in[OS_CPUS_MAX])
{
	char list[4096];
	unsigned own[OS_CPUS_MAX];
	const unsigned nown = os_cpus_get(own, OS_CPUS_MAX);
	size_t n = 0;

	if (!text_read("/sys/devices/system/cpu/present", list, sizeof list) ||
	    os_cpu_list_read(list, ret_in, OS_CPUS_MAX) == 0) {
		const long configured = sysconf(_SC_NPROCESSORS_CONF);

		for (long i = 0; i < OS_CPUS_MAX; i++)
			ret_in[i] = i < configured;
	}
	for (unsigned i = 0; i < nown; i++)
		ret_in[own[i]] = true;
	for (unsigned i = 0; i < OS_CPUS_MAX; i++)
		n += ret_in[i];
	return n;
}

static dck_status open_with(const os_perf_config *c, os_perf **ret, dck_err *err)
{
	os_perf *p = mem_zalloc(1, sizeof *p);
	bool in[OS_CPUS_MAX];
	const size_t n = sampled_cpus_find(in);

	DCK_NEED(p, err, "for the samples of a program");
	p->config = *c;
	dck_status st = permitted(p, c->switches, err);
	if (st == DCK_OK) {
		p->cpus = mem_zalloc(n, sizeof *p->cpus);
		p->polled = mem_zalloc(n, sizeof *p->polled);
		if (!p->cpus || !p->polled)
			st = ERR_NO_MEMORY(err, "for the samples of a program");
		for (int i = 0; i < OS_CPUS_MAX && p->cpus; i++)
			if (in[i])
				p->cpus[p->ncpus++].cpu = i;
		os_descriptors_raise();
	}
	DCK_NEXT(st, thread_add(p, 0, true, err));
	if (st == DCK_OK)
		*ret = p;
	else
		os_perf_close(p);
	return st;
}

/* Halves the rings until they fit: the kernel limits the locked memory of a user, and all
 * CPUs get rings of one size. */
dck_status os_perf_open(const os_perf_config *c, os_perf **ret, dck_err *err)
{
	os_perf_config own = *c;

	for (;;) {
		dck_err why;
		const dck_status st = open_with(&own, ret, &why);

		if (st == DCK_E_LIMIT && own.ring_bytes > RING_LEAST) {
			own.ring_bytes /= 2;
			continue;
		}
		if (st == DCK_OK)
			return st;
		if (st == DCK_E_LIMIT)
			why.code = DCK_E_UNSUP; /* the caller may sample in another way */
		return err_pass(why.code, &why, err);
	}
}

dck_status os_perf_follow(os_perf *p, int tid, dck_err *err)
{
	return thread_add(p, tid, false, err);
}

void os_perf_stop(os_perf *p)
{
	for (size_t i = 0; i < p->nfds; i++)
		ioctl(p->fds[i], PERF_EVENT_IOC_DISABLE, 0);
}

void os_perf_close(os_perf *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->ncpus; i++)
		if (p->cpus[i].ring.data)
			munmap(p->cpus[i].ring.page,
			       (size_t)sysconf(_SC_PAGESIZE) + p->cpus[i].ring.bytes);
	for (size_t i = 0; i < p->nfds; i++)
		close(p->fds[i]);
	mem_free(p->cpus);
	mem_free(p->polled);
	mem_free(p->fds);
	mem_free(p->roots);
	mem_free(p);
}

size_t os_perf_rings(const os_perf *p)
{
	return p->ncpus;
}

const os_perf_ring *os_perf_ring_at(const os_perf *p, size_t i)
{
	return p->cpus[i].ring.data ? &p->cpus[i].ring : NULL;
}

bool os_perf_sees_kernel(const os_perf *p)
{
	return p->kernel;
}

bool os_perf_sees_switches(const os_perf *p)
{
	return p->switches;
}

void os_perf_wait(const os_perf *p, int ms)
{
	nfds_t n = 0;

	for (size_t i = 0; i < p->ncpus; i++)
		if (p->cpus[i].ring.data)
			p->polled[n++] =
			    (struct pollfd){.fd = p->cpus[i].poll_fd, .events = POLLIN};
	poll(p->polled, n, ms);
}

uint64_t os_perf_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
