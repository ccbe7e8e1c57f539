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
 * nothing to do. Clocks are not inherited by fork(): the child's atfork handler starts one.
 *
 * Modules are reported at the start, at the first lookup of an address in them, before the sample
 * that needs it, and at exit if the loader added some. After dlclose(), since another library may
 * get the address, all are reported again.
 *
 * A sample weighs the thread's CPU time since its last sample, less the handler's, so a lost
 * sample's time is in the next one; under SAMPLE_CLOCK_USER it weighs one period. Signals of other
 * senders go to the program's handler (sampler_signal_theirs()).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sampler.h"
#include "sampler_clock.h"
#include "sampler_python.h"

#include "profiler/unwind/readable.h"
#include "profiler/unwind/self_modules.h"
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
#include <ucontext.h>
#include <unistd.h>

enum { FILE_MAX = 200, REPORTED = 1024 };

/* A thread that is sampled. */
typedef struct sampled {
	unwind_stack stack;
	sampler_clock clock;
	sample_slots_clock kind; /* kind of the clock */
	uint64_t cpu_ns;	 /* at its last sample */
	uint64_t samples;
	char name[16]; /* as last reported */
	int tid;
	bool armed;
} sampled;

static sample_slots *slots; /* NULL: nothing is sampled */
static uint64_t period_ns;
static int process;   /* ours, also after fork() */
static uint64_t adds; /* dlpi_adds when the modules were last reported */
static uint64_t subs; /* dlpi_subs at the last dlclose() */
/* The modules that were reported since the last unload, by a hash of their address: begin |
 * generation. A replaced one is only reported again. */
static _Atomic uint64_t reported[REPORTED], generation;
static __thread sampled mine __attribute__((tls_model("initial-exec"))) = {.clock.timer = -1};

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

static void slot_write(slot_kind kind, uint64_t a, const char *text)
{
	sample_slot *s = slot_take((int)syscall(SYS_gettid));

	if (!s)
		return;
	s->kind = kind;
	s->a = a;
	s->npcs = 0;
	strcpy(s->of.text, text);
	sample_slot_publish(s);
}

static void name_write(slot_kind kind)
{
	prctl(PR_GET_NAME, mine.name);
	slot_write(kind, 0, mine.name);
}

/* A program may name a thread at any time. */
static void name_look(void)
{
	char name[sizeof mine.name] = "";

	prctl(PR_GET_NAME, name);
	if (strncmp(name, mine.name, sizeof name) != 0)
		name_write(SLOT_NAME);
}

/* --- a sample */

/* Whether the handler has room: not on the rest of a small alternate stack, where it interrupted
 * the program's own handler. */
static bool sampler_has_room(const ucontext_t *interrupted)
{
	const uintptr_t low = (uintptr_t)interrupted->uc_stack.ss_sp,
			left = (uintptr_t)__builtin_frame_address(0) - low;

	return left >= interrupted->uc_stack.ss_size || left >= SAMPLER_STACK;
}

static void sample_lose(void)
{
	atomic_fetch_add_explicit(&slots->lost, 1, memory_order_relaxed);
}

/* Has a frame apart, which is reserved after sampler_has_room(). */
static __attribute__((noinline)) void sample_take(sampled *t, const void *context)
{
	const int e = errno;
	unwind_regs regs;
	unwind_result ended;

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
		/* After the modules that the walk reported. */
		s->at_ns = sampler_clock_ns(CLOCK_MONOTONIC_RAW);
		if ((t->samples & (t->samples + 1)) == 0) /* the 1st, 2nd, 4th, ... */
			name_look();
		t->samples++;
		t->cpu_ns = sampler_clock_ns(
		    CLOCK_THREAD_CPUTIME_ID); /* the handler's time is not the program's */
		s->b = t->cpu_ns - cpu;
		sample_slot_publish(s);
	} else { /* its time is in the next sample, except by the user clock */
		sample_lose();
	}
	errno = e;
}

static void sampler_on_signal(int sig, siginfo_t *info, void *context)
{
	sampled *t = &mine;

	if (!sampler_clock_sent(&t->clock, info))
		sampler_signal_theirs(sig, info, context);
	else if (!t->armed || atomic_load_explicit(&slots->over, memory_order_relaxed))
		return;
	else if (!sampler_has_room(context))
		sample_lose();
	else
		sample_take(t, context);
}

/* --- threads */

void sampler_thread_begins(void)
{
	const int e = errno;

	if (!slots || mine.armed)
		return;
	sampler_python_find(); /* an interpreter may have been loaded since */
	mine.tid = (int)syscall(SYS_gettid);
	mine.stack = (unwind_stack){0};
	mine.cpu_ns = sampler_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	name_write(SLOT_NAME);
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
	name_look();
	slot_write(SLOT_END, 0, "");
	errno = e;
}

/* --- modules */

/* Writes the file of a module, by the loader's name for it, into the slot; false: it is not known.
 * The slot has its path, since the stack of a signal handler may be small. */
static bool code_file(sample_slot *s, const char *name)
{
	static const char own[] = "/proc/self/exe";
	char *const to = s->of.text;
	struct stat about;
	size_t n = 0;

	if (!*name) { /* the program itself has no name */
		const ssize_t length = readlink(own, to, sizeof s->of.text - 1);

		n = length > 0 ? (size_t)length : 0;
		to[n] = '\0';
	} else if (strcmp(name, "linux-vdso.so.1") == 0) {
		strcpy(to, "[vdso]"); /* as in /proc/PID/maps; it has no file */
		return true;
	} else {
		/* A relative name is one of the directory at the time of dlopen(). */
		if (*name != '/' && syscall(SYS_getcwd, to, sizeof s->of.text) > 0) {
			n = strlen(to);
			to[n++] = '/';
		}
		if (n + strlen(name) >= sizeof s->of.text)
			return false;
		strcpy(to + n, name);
	}
	/* Not stat(), which older libcs do not export. */
	if (syscall(SYS_newfstatat, AT_FDCWD, *name ? to : own, &about, 0) == 0)
		s->inode = about.st_ino;
	return *to == '/' && (s->inode || *name == '/' || !*name);
}

/* name: the loader's. at: where the headers describe. */
static bool code_write(const char *name, uint64_t at, const ElfW(Phdr) * headers, unsigned n)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	const int tid = (int)syscall(SYS_gettid);

	for (unsigned i = 0; i < n; i++) {
		const ElfW(Phdr) *h = &headers[i];
		const uint64_t low = h->p_vaddr & (page - 1);

		if (h->p_type != PT_LOAD || !(h->p_flags & PF_X))
			continue;
		sample_slot *s = slot_take(tid);
		if (!s)
			return false;
		s->kind = SLOT_CODE;
		s->a = at + h->p_vaddr - low;
		s->b = h->p_memsz + low;
		s->c = h->p_offset - low;
		s->inode = 0;
		s->npcs = 0;
		if (!code_file(s, name)) {
			atomic_store(&s->state, SAMPLE_SLOT_FREE);
			return false;
		}
		sample_slot_publish(s);
	}
	return true;
}

static int code_report(struct dl_phdr_info *info, size_t size, void *self)
{
	(void)size;
	(void)self;
	adds = info->dlpi_adds;
	code_write(info->dlpi_name ? info->dlpi_name : "", info->dlpi_addr, info->dlpi_phdr,
		   info->dlpi_phnum);
	return 0;
}

/* Called in signal handlers. */
static void module_found(uint64_t begin, uint64_t end, const struct link_map *map)
{
	const uint64_t key = begin | (atomic_load(&generation) & 0xfff);
	_Atomic uint64_t *const last = &reported[(begin >> 12) % REPORTED];
	const ElfW(Ehdr) *head = (const ElfW(Ehdr) *)(uintptr_t)begin;

	if (atomic_load_explicit(last, memory_order_acquire) == key || (begin & 0xfff) ||
	    end - begin < sizeof *head || !memory_readable(begin) ||
	    memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_phoff > 0x1000 ||
	    head->e_phoff + head->e_phnum * sizeof(ElfW(Phdr)) > 0x1000)
		return;
	if (code_write(map->l_name, map->l_addr, (const ElfW(Phdr) *)(begin + head->e_phoff),
		       head->e_phnum))
		atomic_store_explicit(last, key, memory_order_release);
}

typedef struct loaded {
	uint64_t adds, subs;
} loaded;

static int loaded_get(struct dl_phdr_info *info, size_t size, void *ret)
{
	(void)size;
	*(loaded *)ret = (loaded){info->dlpi_adds, info->dlpi_subs};
	return 1;
}

SAMPLER_API int dlclose(void *library)
{
	const int failed = SAMPLER_NEXT(dlclose)(library), e = errno;
	loaded now = {.subs = subs};

	if (failed || !slots)
		return failed;
	dl_iterate_phdr(loaded_get, &now);
	if (now.subs != subs) {
		subs = now.subs;
		unwind_self_refresh();
		slot_write(SLOT_UNLOAD, 0, "");
		atomic_fetch_add(&generation, 1);
	}
	errno = e;
	return 0;
}

/* --- processes */

static void sampler_child_begins(void)
{
	const int parent = process;

	if (!slots)
		return;
	process = (int)getpid();
	mine.armed = false; /* clocks are not inherited */
	slot_write(SLOT_FORK, (uint64_t)parent, "");
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
				   .sa_flags = SA_SIGINFO | SA_RESTART | sampler_stack_flag()};
	const int e = errno;

	sampler_find_all();
	process = (int)getpid();
	sample_slots *found = slots_open();
	const int number = found ? sampler_clock_signal((sample_slots_clock)found->clock) : 0;
	if (number) {
		sigfillset(&action.sa_mask);
		unwind_self_refresh();
		if (sigaction(number, &action, NULL) == 0) {
			slots = found;
			sampler_signal_take(number);
			/* A mask that blocked all signals before exec() is inherited. */
			sampler_signal_unblock();
			name_write(SLOT_EXEC);
			dl_iterate_phdr(code_report, NULL);
			self_modules_notify(module_found);
			pthread_atfork(NULL, NULL, sampler_child_begins);
			sampler_thread_begins();
		}
	}
	errno = e;
}

__attribute__((destructor)) static void program_ends(void)
{
	loaded now = {.adds = adds};

	if (!slots)
		return;
	sampler_thread_ends();
	dl_iterate_phdr(loaded_get, &now);
	if (now.adds != adds)
		dl_iterate_phdr(code_report, NULL);
}
