/* sampler.c - the sampling library inside the program: constructor, signal handler, start and end
 * of threads and processes.
 *
 * The handler reads the thread's CPU clock, acquires a slot of shared memory by compare-and-swap
 * (sample_slots.h), unwinds the interrupted thread into it (unwind_self.h) with its Python frames,
 * and publishes it; deepclock drains the slots. It is async-signal-safe: no allocation, no lock, no
 * wait, errno is restored, and all signals are blocked while it runs. If no slot is free the sample
 * is lost and counted.
 *
 * Order: the handler is installed before the first clock starts; `armed` is set before a thread's
 * clock starts and cleared before it is stopped, so a signal finds either a complete thread or
 * nothing to do. Clocks are not inherited by fork(): the child's atfork handler starts one. Modules
 * are reported at the start, and at exit again if the loader added some.
 *
 * A sample weighs the thread's CPU time since its last sample, less the handler's, so a lost
 * sample's time is in the next one; under SAMPLE_CLOCK_USER it weighs one period. Signals of other
 * senders go to the program's handler (sampler_signal_theirs()).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sampler.h"
#include "sampler_clock.h"
#include "sampler_python.h"

#include "profiler/unwind/unwind_self.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { FILE_MAX = 200 };

/* A thread that is sampled. */
typedef struct sampled {
	unwind_stack stack;
	sampler_clock clock;
	sample_slots_clock kind; /* kind of the clock */
	uint64_t cpu_ns;	 /* at its last sample */
	int tid;
	bool armed;
} sampled;

static sample_slots *slots; /* NULL: nothing is sampled */
static uint64_t period_ns;
static int process;   /* ours, also after fork() */
static uint64_t adds; /* dlpi_adds when the modules were last reported */
static __thread sampled mine __attribute__((tls_model("initial-exec")));

static uint64_t sampler_clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* --- slots */

static sample_slot *slot_take(int tid)
{
	sample_slot *s = sample_slot_acquire(slots, tid);

	if (s) {
		s->pid = process;
		s->tid = tid;
		s->at_ns = sampler_clock_ns(CLOCK_MONOTONIC_RAW);
	}
	return s;
}

static void slot_write(slot_kind kind, uint64_t a, uint64_t b, uint64_t c, const char *text)
{
	sample_slot *s = slot_take((int)syscall(SYS_gettid));

	if (!s)
		return;
	s->kind = kind;
	s->a = a;
	s->b = b;
	s->c = c;
	s->npcs = 0;
	snprintf(s->of.text, sizeof s->of.text, "%s", text);
	sample_slot_publish(s);
}

/* --- a sample */

static void sampler_on_signal(int sig, siginfo_t *info, void *context)
{
	const int e = errno;
	sampled *t = &mine;
	unwind_regs regs;
	unwind_result ended;

	if (!sampler_clock_sent(info)) {
		sampler_signal_theirs(sig, info, context);
		return;
	}
	if (!t->armed || atomic_load_explicit(&slots->over, memory_order_relaxed))
		return;
	const uint64_t cpu = sampler_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	sample_slot *s = slot_take(t->tid);
	if (s) {
		unwind_self_context(context, &regs);
		s->kind = SLOT_STACK;
		/* The user clock stops in the kernel: kernel time is charged to no
		 * sample. */
		s->a = t->kind == SAMPLE_CLOCK_USER ? period_ns : cpu - t->cpu_ns;
		const uint32_t cap = sampler_python_take(s, t->tid);
		s->npcs = (uint32_t)unwind_self_walk(&t->stack, &regs, s->of.pcs, cap, &ended);
		s->ended = ended;
		s->c = t->stack.scanned;
		sampler_python_put(s);
		t->cpu_ns = sampler_clock_ns(
		    CLOCK_THREAD_CPUTIME_ID); /* the handler's time is not the program's */
		s->b = t->cpu_ns - cpu;
		sample_slot_publish(s);
	} else { /* its time is in the next sample, except by the user clock */
		atomic_fetch_add_explicit(&slots->lost, 1, memory_order_relaxed);
	}
	errno = e;
}

/* --- threads */

void sampler_thread_begins(void)
{
	const int e = errno;
	char name[16] = "";

	if (!slots || mine.armed)
		return;
	sampler_python_find(); /* an interpreter may have been loaded since */
	mine.tid = (int)syscall(SYS_gettid);
	mine.stack = (unwind_stack){0};
	mine.cpu_ns = sampler_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	prctl(PR_GET_NAME, name);
	slot_write(SLOT_NAME, 0, 0, 0, name);
	/* The state that the handler reads is complete before the first signal. */
	mine.kind = (sample_slots_clock)slots->clock;
	mine.armed = true;
	atomic_signal_fence(memory_order_seq_cst);
	mine.armed = sampler_clock_begin(&mine.clock, mine.kind, mine.tid, sampler_signal(),
					 period_ns, &mine.kind);
	if (mine.armed)
		atomic_fetch_add_explicit(mine.kind == SAMPLE_CLOCK_TIMER ? &slots->by_timer
									  : &slots->by_event,
					  1, memory_order_relaxed);
	errno = e;
}

void sampler_thread_ends(void)
{
	const int e = errno;

	if (!mine.armed)
		return;
	mine.armed = false;
	sampler_clock_end(&mine.clock);
	slot_write(SLOT_END, 0, 0, 0, "");
	errno = e;
}

/* --- modules: reported at the start, and at exit again if some were added */

static int code_report(struct dl_phdr_info *info, size_t size, void *self)
{
	char program[SAMPLE_SLOT_TEXT];
	const char *file = info->dlpi_name;

	(void)size;
	(void)self;
	adds = info->dlpi_adds;
	if (!file || !*file) { /* the program itself has no name */
		const ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);

		if (n <= 0)
			return 0;
		program[n] = '\0';
		file = program;
	}
	if (strcmp(file, "linux-vdso.so.1") == 0)
		file = "[vdso]"; /* as in /proc/PID/maps; it has no file */
	else if (file[0] != '/')
		return 0;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];

		if (h->p_type != PT_LOAD || !(h->p_flags & PF_X))
			continue;
		const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE),
			       low = h->p_vaddr & (page - 1);
		slot_write(SLOT_CODE, info->dlpi_addr + h->p_vaddr - low, h->p_memsz + low,
			   h->p_offset - low, file);
	}
	return 0;
}

static int adds_get(struct dl_phdr_info *info, size_t size, void *ret)
{
	(void)size;
	*(uint64_t *)ret = info->dlpi_adds;
	return 1;
}

/* --- processes */

static void sampler_child_begins(void)
{
	const int parent = process;

	if (!slots)
		return;
	process = (int)getpid();
	mine.armed = false; /* clocks are not inherited */
	slot_write(SLOT_FORK, (uint64_t)parent, 0, 0, "");
	sampler_thread_begins();
}

static sample_slots *slots_open(void)
{
	char file[FILE_MAX];
	unsigned long long period;
	const char *setting = secure_getenv(SAMPLE_VARIABLE);
	struct stat st;

	if (!setting || sscanf(setting, "%llu %199s", &period, file) != 2 || period == 0)
		return NULL;
	const int fd = open(file, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	void *at = fstat(fd, &st) == 0 && st.st_size >= (off_t)sizeof(sample_slots)
		       ? mmap(NULL, sizeof(sample_slots), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
		       : MAP_FAILED;
	close(fd);
	if (at == MAP_FAILED)
		return NULL;
	if (((sample_slots *)at)->magic != SAMPLE_SLOTS_MAGIC) {
		munmap(at, sizeof(sample_slots));
		return NULL;
	}
	period_ns = period;
	return at;
}

__attribute__((constructor)) static void program_begins(void)
{
	struct sigaction action = {.sa_sigaction = sampler_on_signal,
				   .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
	char name[16] = "";
	sigset_t ours;
	const int e = errno;

	sampler_find_all();
	process = (int)getpid();
	sample_slots *found = slots_open();
	const int number = found ? sampler_clock_signal((sample_slots_clock)found->clock) : 0;
	if (number) {
		sigfillset(&action.sa_mask);
		unwind_self_refresh();
		if (sigaction(number, &action, NULL) == 0) {
			/* A mask that blocked all signals before exec() is inherited and blocks
			 * this one too. */
			sigemptyset(&ours);
			sigaddset(&ours, number);
			pthread_sigmask(SIG_UNBLOCK, &ours, NULL);
			slots = found;
			sampler_signal_take(number);
			prctl(PR_GET_NAME, name);
			slot_write(SLOT_EXEC, 0, 0, 0, name);
			dl_iterate_phdr(code_report, NULL);
			pthread_atfork(NULL, NULL, sampler_child_begins);
			sampler_thread_begins();
		}
	}
	errno = e;
}

__attribute__((destructor)) static void program_ends(void)
{
	uint64_t now = adds;

	if (!slots)
		return;
	sampler_thread_ends();
	dl_iterate_phdr(adds_get, &now);
	if (now != adds)
		dl_iterate_phdr(code_report, NULL);
}
