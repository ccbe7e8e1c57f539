/* threads.c - the kernel's statistics of this process's threads: CPU time, run delay,
 * page faults, context switches.
 *
 * Sources: getrusage(2) for the caller and the process, the CPU clock of a thread by its number (no
 * file is opened, ten times as fast), and /proc/self/task/TID/{stat,schedstat,status}
 * (proc_pid_stat(5)). A thread may exit at any time, so each read may fail;
 * os_thread_counters.known has a bit for each counter that was read.
 *
 * This code also runs inside programs that are traced. No memory is allocated, all buffers are on
 * the stack, and no descriptor stays open, since the program may close any. Directories are read by
 * getdents64(2), because opendir() allocates. The functions have no state, so any thread may call;
 * os_threads_each() calls back while its descriptor is open.
 *
 * os_threads_after_main(): a main thread that has ended is a zombie in /proc/self/stat. Without
 * /proc its address space is probed (process_vm_readv(2)), and thread numbers are tried by
 * tgkill(2), all 4 million at most.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"

#include "os/file/text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char directory[] = "/proc/self/task";

static void threads_uses_put(os_thread_counters *u, os_thread_counter what, uint64_t n)
{
	u->n[what] = n;
	u->known |= 1u << what;
}

static bool threads_clock_of(clockid_t clock, uint64_t *ret)
{
	struct timespec t;

	if (clock_gettime(clock, &t))
		return false;
	*ret = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
	return true;
}

static void uses_get(int who, clockid_t clock, os_thread_counters *ret)
{
	struct rusage r;
	uint64_t ns;

	*ret = (os_thread_counters){0};
	if (threads_clock_of(clock, &ns))
		threads_uses_put(ret, OS_USE_CPU, ns);
	if (getrusage(who, &r))
		return;
	threads_uses_put(ret, OS_USE_MINOR, (uint64_t)r.ru_minflt);
	threads_uses_put(ret, OS_USE_MAJOR, (uint64_t)r.ru_majflt);
	threads_uses_put(ret, OS_USE_VOLUNTARY, (uint64_t)r.ru_nvcsw);
	threads_uses_put(ret, OS_USE_INVOLUNTARY, (uint64_t)r.ru_nivcsw);
}

void os_thread_counters_own(os_thread_counters *ret)
{
	uses_get(RUSAGE_THREAD, CLOCK_THREAD_CPUTIME_ID, ret);
}

void os_thread_counters_process(os_thread_counters *ret)
{
	uses_get(RUSAGE_SELF, CLOCK_PROCESS_CPUTIME_ID, ret);
}

bool os_thread_cpu(int tid, uint64_t *ret_ns)
{
	/* As pthread_getcpuclockid() makes it: CPUCLOCK_PERTHREAD_MASK | CPUCLOCK_SCHED. */
	return threads_clock_of((clockid_t)(~(unsigned)tid << 3 | 6), ret_ns);
}

/* Parses /proc/self/task/TID/stat: number, name in parentheses, which may have any character, then
 * fields separated by blanks; proc_pid_stat(5) counts them from 1. */
static bool stat_read(int tid, os_thread_stat *ret)
{
	enum { STATE = 3, MINOR = 10, MAJOR = 12, BORN = 22 };
	const long hz = sysconf(_SC_CLK_TCK);
	char path[64], text[1024];

	snprintf(path, sizeof path, "%s/%d/stat", directory, tid);
	if (!text_read(path, text, sizeof text))
		return false;
	const char *name = strchr(text, '('), *p = strrchr(text, ')');
	if (!name || !p || p < name)
		return false;
	const size_t n = (size_t)(p - name - 1);
	snprintf(ret->name, sizeof ret->name, "%.*s", (int)(n < 15 ? n : 15), name + 1);
	for (int field = STATE; field <= BORN && (p = strchr(p, ' ')); field++) {
		const uint64_t v = strtoull(++p, NULL, 10);

		if (field == MINOR)
			threads_uses_put(&ret->uses, OS_USE_MINOR, v);
		else if (field == MAJOR)
			threads_uses_put(&ret->uses, OS_USE_MAJOR, v);
		else if (field == BORN && hz > 0)
			ret->born_ns = v * (1000000000u / (uint64_t)hz);
	}
	return p;
}

/* Reads CPU time, run delay and timeslices; all are 0 where the kernel does not count them. */
static void queue_read(int tid, os_thread_counters *ret)
{
	uint64_t ran, waited, turns;
	char path[64], text[128];

	snprintf(path, sizeof path, "%s/%d/schedstat", directory, tid);
	if (text_read(path, text, sizeof text) &&
	    sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64, &ran, &waited, &turns) == 3 &&
	    (ran || waited || turns))
		threads_uses_put(ret, OS_THREAD_RUN_DELAY, waited);
}

static void switches_read(int tid, os_thread_counters *ret)
{
	char path[64], text[4096];
	uint64_t n;

	snprintf(path, sizeof path, "%s/%d/status", directory, tid);
	if (!text_read(path, text, sizeof text))
		return;
	if (text_find_uint(text, "voluntary_ctxt_switches:", &n))
		threads_uses_put(ret, OS_USE_VOLUNTARY, n);
	if (text_find_uint(text, "nonvoluntary_ctxt_switches:", &n))
		threads_uses_put(ret, OS_USE_INVOLUNTARY, n);
}

bool os_thread_read(int tid, bool switches, os_thread_stat *ret)
{
	uint64_t ns;

	*ret = (os_thread_stat){0};
	if (!stat_read(tid, ret))
		return false;
	queue_read(tid, &ret->uses);
	if (switches)
		switches_read(tid, &ret->uses);
	if (os_thread_cpu(tid, &ns))
		threads_uses_put(&ret->uses, OS_USE_CPU, ns);
	return true;
}

/* An entry as getdents64(2) writes it. */
typedef struct directory_entry {
	uint64_t inode, offset;
	uint16_t bytes;
	uint8_t kind;
	char name[];
} directory_entry;

bool os_threads_each(void (*f)(void *self, int tid), void *self)
{
	long got;
	_Alignas(directory_entry) char cap[8192];
	const int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return false;
	while ((got = syscall(SYS_getdents64, fd, cap, sizeof cap)) > 0)
		for (long at = 0; at < got;) {
			const directory_entry *e = (const directory_entry *)(cap + at);
			const int tid = atoi(e->name);

			at += e->bytes;
			if (tid > 0)
				f(self, tid);
		}
	close(fd);
	return got == 0;
}

/* Whether a thread has ended, where /proc cannot be read: it then has no address space, so nothing
 * can be copied from it. */
static bool has_ended(int tid)
{
	char from = 0, to;
	const struct iovec local = {&to, 1}, remote = {&from, 1};

	return process_vm_readv(tid, &local, 1, &remote, 1, 0) < 0 && errno == ESRCH;
}

/* Returns a thread of this process other than the main thread and the caller; 0: none.
 * Tries every number, the likely ones first: a second at most. */
static int other_thread(int process)
{
	enum { NUMBERS = 4 * 1024 * 1024 }; /* the kernel's limit, PID_MAX_LIMIT */
	const int me = os_thread_id();

	for (int i = 1; i < NUMBERS; i++) {
		const int tid = (process + i) % NUMBERS;

		if (tid && tid != me && !syscall(SYS_tgkill, process, tid, 0))
			return tid;
	}
	return 0;
}

/* The main thread stays in the count, as a zombie, until the process ends. The fields are counted
 * from 1, as in proc_pid_stat(5). */
unsigned os_threads_after_main(int *ret_status, int *other)
{
	enum { STATE = 3, THREADS = 20, STATUS = 52 };
	const int process = (int)os_process_id();
	unsigned long threads = 1, status = 0;
	char text[1024];

	if (text_read("/proc/self/stat", text, sizeof text)) {
		const char *p = strrchr(text, ')');

		if (!p || strncmp(p, ") Z ", 4) != 0)
			return 0;
		for (int field = STATE; field <= STATUS && (p = strchr(p, ' ')); field++, p++) {
			if (field == THREADS)
				threads = strtoul(p, NULL, 10);
			else if (field == STATUS)
				status = strtoul(p, NULL, 10);
		}
		threads--;
	} else {
		if (!has_ended(process))
			return 0;
		if (!*other || syscall(SYS_tgkill, process, *other, 0))
			*other = other_thread(process);
		threads = *other ? 2 : 1;
	}
	*ret_status = (int)status;
	return (unsigned)threads;
}

void os_thread_exit(int status)
{
	sigset_t all;

	if (WIFSIGNALED(status)) {
		signal(WTERMSIG(status), SIG_DFL);
		sigfillset(&all);
		pthread_sigmask(SIG_UNBLOCK, &all, NULL);
		raise(WTERMSIG(status));
	}
	for (;;)
		syscall(SYS_exit, WEXITSTATUS(status));
}

uint64_t os_resident_bytes(void)
{
	char text[128];
	uint64_t pages;

	return text_read("/proc/self/statm", text, sizeof text) &&
		       sscanf(text, "%*s %" SCNu64, &pages) == 1
		   ? pages * (uint64_t)sysconf(_SC_PAGESIZE)
		   : 0;
}
