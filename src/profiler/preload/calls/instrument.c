/* instrument.c - preloaded hooks for programs built with -finstrument-functions: the compiler
 * inserts calls of the two functions below at the begin and the end of each function.
 *
 * Each thread counts in a separate mapped file (thread_cct.h), so nothing is written at the end,
 * and the counts survive a kill, exec() or _exit(). A thread that ends passes its file to the next
 * thread. With COUNT_TIMES=sampled the hooks read no clock: the times in the files mean nothing,
 * and the observer looks at the innermost call of each file.
 *
 * Nothing here calls the program or malloc, because both may be instrumented. A signal handler that
 * interrupts a hook is not counted. longjmp() ends the calls that it leaves.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/count/thread_cct.h"
#include "profiler/execs/exec_watch.h"
#include "profiler/count/count_file.h"
#include "profiler/unwind/file_room.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <linux/futex.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#ifdef __x86_64__
#include <x86intrin.h>
#endif

/* No header declares them. */
void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);
/* The recorder of zones calls it where it begins (trace_start.c). */
void dck_count_leaves_by(bool (*leave)(void));
pid_t _Fork(void); /* since glibc 2.34 */

#define COUNT_API	   __attribute__((visibility("default")))
#define COUNT_THREAD_LOCAL _Thread_local __attribute__((tls_model("initial-exec")))

enum { MODULES_MAX = 4096, PATH_BYTES = 512 };

typedef struct module {
	uint64_t begin, end;
	uint32_t name; /* hash */
	bool kept;     /* module_drop() */
} module;

/* State of this process. */
static struct {
	atomic_int state;	     /* 0: not yet initialised; 1: counting; 2: off */
	atomic_int lock;	     /* LOCK_FREE, LOCK_TAKEN, LOCK_AWAITED */
	_Atomic uint64_t generation; /* shifted to its bits in a function's id */
	count_process *file;
	char directory[PATH_BYTES - 64], prefix[PATH_BYTES]; /* prefix: DIRECTORY/PID.N */
	thread_cct *lanes[CALL_LANES_MAX];
	uint32_t nlanes;
	uint32_t fork_depth; /* open calls of the forking thread; the child inherits its lane */
	pthread_key_t key;
	bool ticks;
	bool sampled; /* the hooks read no clock */
	/* Code whose lines are in the file of modules. */
	module modules[MODULES_MAX];
	uint32_t nmodules;
	unsigned long long subs; /* number of unloads of code */
} all;

typedef struct thread_state {
	thread_cct *lane;
	bool busy;
	bool failed;			/* it has no file */
	bool counted;			/* in the number of threads */
	uint64_t stack_low, stack_high; /* stack of this thread; 0: unknown */
} thread_state;

static COUNT_THREAD_LOCAL thread_state mine;

const char exec_library[] = "libdeepclock_count.so", exec_variable[] = COUNT_DIRECTORY;

static inline uint64_t instrument_ticks(void)
{
#ifdef __x86_64__
	return __rdtsc();
#else
	return 0;
#endif
}

static inline uint64_t instrument_now(void)
{
	struct timespec t;

	if (__builtin_expect(all.ticks, 1))
		return instrument_ticks();
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* A waiting thread sleeps: the holder creates files, and a thousand spinning threads would leave it
 * no CPU. */
enum { LOCK_FREE, LOCK_TAKEN, LOCK_AWAITED };

static void lock(void)
{
	int was = LOCK_FREE;

	if (atomic_compare_exchange_strong_explicit(&all.lock, &was, LOCK_TAKEN,
						    memory_order_acquire, memory_order_relaxed))
		return;
	while (atomic_exchange_explicit(&all.lock, LOCK_AWAITED, memory_order_acquire) != LOCK_FREE)
		syscall(SYS_futex, &all.lock, FUTEX_WAIT_PRIVATE, LOCK_AWAITED, NULL, NULL, 0);
}

static void unlock(void)
{
	if (atomic_exchange_explicit(&all.lock, LOCK_FREE, memory_order_release) == LOCK_AWAITED)
		syscall(SYS_futex, &all.lock, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static int instrument_file_open(const char *ending, int flags)
{
	char path[PATH_BYTES + 64];

	snprintf(path, sizeof path, "%s.%s", all.prefix, ending);
	return file_room_open(path, flags);
}

/* --- modules */

/* The program's code may run under the loader's lock, as a callback of dl_iterate_phdr(), and wait
 * for lock(). So lock() is taken inside the loader's lock only: by the first callback, until
 * dl_iterate_phdr() has returned. */
typedef struct modules_pass {
	bool locked;
	int fd; /* of module_put() */
	uint64_t generation;
} modules_pass;

static uint32_t module_name_hash(const char *name)
{
	uint32_t hash = 0x811c9dc5; /* FNV-1a */

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 0x01000193;
	return hash;
}

/* Returns the code of a segment; end 0: it has none. */
static module code_of(const struct dl_phdr_info *info, unsigned segment)
{
	const ElfW(Phdr) *h = &info->dlpi_phdr[segment];
	const uint64_t begin = info->dlpi_addr + h->p_vaddr;

	if (h->p_type != PT_LOAD || !(h->p_flags & PF_X))
		return (module){0};
	return (module){
	    .begin = begin, .end = begin + h->p_memsz, .name = module_name_hash(info->dlpi_name)};
}

static module *module_recorded(const module *m)
{
	for (uint32_t k = 0; k < all.nmodules; k++)
		if (all.modules[k].begin == m->begin && all.modules[k].end == m->end &&
		    all.modules[k].name == m->name)
			return &all.modules[k];
	return NULL;
}

static int module_put(struct dl_phdr_info *info, size_t size, void *to)
{
	/* Guarded by lock(): a thread may have a small stack. */
	static char line[PATH_MAX + 128], own[PATH_MAX];
	modules_pass *out = to;
	const char *path = info->dlpi_name;

	(void)size;
	if (!out->locked) {
		lock();
		out->locked = true;
		out->fd = instrument_file_open("modules", O_WRONLY | O_APPEND | O_CREAT);
	}
	if (out->fd < 0)
		return 1;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const module m = code_of(info, i);

		if (!m.end || module_recorded(&m) || all.nmodules >= MODULES_MAX)
			continue;
		all.modules[all.nmodules++] = m;
		if (*path != '/' && realpath(*path ? path : "/proc/self/exe", own))
			path = own;
		const int length = snprintf(line, sizeof line, "%llx %llx %llx %llx %s\n",
					    (unsigned long long)out->generation,
					    (unsigned long long)m.begin, (unsigned long long)m.end,
					    (unsigned long long)info->dlpi_phdr[i].p_offset, path);
		if (length > 0 && (size_t)length < sizeof line &&
		    syscall(SYS_write, out->fd, line, (size_t)length) < 0)
			return 1;
	}
	return 0;
}

static int subs_get(struct dl_phdr_info *info, size_t size, void *to)
{
	if (size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof info->dlpi_subs)
		*(unsigned long long *)to = info->dlpi_subs;
	return 1;
}

static int module_drop(struct dl_phdr_info *info, size_t size, void *to)
{
	modules_pass *pass = to;

	if (!pass->locked) {
		lock();
		pass->locked = true;
		const unsigned long long before = all.subs;
		subs_get(info, size, &all.subs);
		for (uint32_t i = 0; i < all.nmodules; i++)
			all.modules[i].kept = all.subs == before;
		if (all.subs == before)
			return 1;
	}
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const module m = code_of(info, i);
		module *known = m.end ? module_recorded(&m) : NULL;

		if (known)
			known->kept = true;
	}
	return 0;
}

/* Drops the modules that were unloaded, and begins the next generation if there were some. */
static void modules_drop(void)
{
	modules_pass pass = {0};

	dl_iterate_phdr(module_drop, &pass);
	if (!pass.locked)
		return;
	const uint32_t had = all.nmodules;
	all.nmodules = 0;
	for (uint32_t i = 0; i < had; i++)
		if (all.modules[i].kept)
			all.modules[all.nmodules++] = all.modules[i];
	if (all.nmodules < had && atomic_load(&all.generation) < ~COUNT_ADDRESS)
		atomic_fetch_add(&all.generation, UINT64_C(1) << COUNT_ADDRESS_BITS);
	unlock();
}

static bool module_known(uint64_t address)
{
	for (uint32_t i = 0; i < all.nmodules; i++)
		if (address >= all.modules[i].begin && address < all.modules[i].end)
			return true;
	return false;
}

/* Records the module before the first call of a function by a new path; true: it took time. */
static bool modules_note(uint64_t function)
{
	const int before = errno;
	modules_pass out = {.fd = -1, .generation = function >> COUNT_ADDRESS_BITS};

	lock();
	const bool known = module_known(function & COUNT_ADDRESS);
	unlock();
	if (!known)
		dl_iterate_phdr(module_put, &out);
	if (out.fd >= 0)
		file_room_close(out.fd);
	if (out.locked)
		unlock();
	errno = before;
	return !known;
}

/* --- beginning */

static void instrument_thread_ends(void *lane)
{
	thread_cct *l = lane;

	mine.busy = true;
	thread_cct_unwind_to(l, 0, instrument_now());
	mine.lane = NULL;
	__atomic_store_n(&l->in_use, 0, __ATOMIC_RELEASE);
	mine.busy = false;
}

/* Measures the overhead of an empty call in the function's time and in its caller's. The minimum of
 * some batches is free of interrupts. */
static void instrument_calibrate(void)
{
	enum { BATCHES = 12, CALLS = 128 };
	thread_state before = mine;
	thread_cct *l = thread_cct_make(NULL);
	uint64_t inside = UINT64_MAX, both = UINT64_MAX;

	if (!l)
		return;
	void (*volatile enter)(void *, void *) = __cyg_profile_func_enter;
	void (*volatile leave)(void *, void *) = __cyg_profile_func_exit;
	mine = (thread_state){
	    .lane = l, .stack_low = before.stack_low, .stack_high = before.stack_high};
	l->last = instrument_now();
	enter((void *)(uintptr_t)16, NULL);
	for (int b = 0; b < BATCHES; b++) {
		const uint64_t own = thread_cct_nodes(l)[THREAD_CCT_OVERFLOW + 2].self,
			       from = instrument_now();

		for (int i = 0; i < CALLS; i++) {
			enter((void *)(uintptr_t)32, NULL);
			leave((void *)(uintptr_t)32, NULL);
		}
		const uint64_t took = instrument_now() - from;
		const uint64_t within = thread_cct_nodes(l)[THREAD_CCT_OVERFLOW + 2].self - own;
		if (b > 0 && took < both)
			both = took;
		if (b > 0 && within < inside)
			inside = within;
	}
	mine = before;
	if (all.sampled) /* without times both parts are known only together */
		inside = both;
	all.file->cost_inside = inside * 256 / CALLS;
	all.file->cost_outside = (both - (inside < both ? inside : both)) * 256 / CALLS;
	thread_cct_free(l);
}

/* Read once: a program may clear its environment before fork(). */
static bool count_environment_read(void)
{
	const char *directory = secure_getenv(COUNT_DIRECTORY), *ticks = secure_getenv(COUNT_TICKS),
		   *times = secure_getenv(COUNT_TIMES);

	if (!directory || *directory != '/' || strlen(directory) >= sizeof all.directory)
		return false;
	strcpy(all.directory, directory);
#ifdef __x86_64__
	all.ticks = ticks && !strcmp(ticks, "tsc");
#endif
	all.sampled = times && !strcmp(times, "sampled");
	return true;
}

static bool process_file(void)
{
	int fd = -1;

	if (!all.directory[0] && !count_environment_read())
		return false;
	for (unsigned n = 0; fd < 0 && n < 1000; n++) {
		snprintf(all.prefix, sizeof all.prefix, "%s/%ld.%u", all.directory, (long)getpid(),
			 n);
		fd = instrument_file_open("process", O_RDWR | O_CREAT | O_EXCL);
		if (fd < 0 && errno != EEXIST)
			return false;
	}
	if (fd < 0)
		return false;
	/* An empty file means that the disk was full, or RLIMIT_FSIZE too small. */
	count_process *file = MAP_FAILED;
	if (file_room(fd, 0, sizeof *file) && file_size_set(fd, sizeof *file))
		file = mmap(NULL, sizeof *file, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	file_room_close(fd);
	if (file == MAP_FAILED)
		return false;
	file->pid = (uint32_t)getpid();
	file->parent = (uint32_t)getppid();
	file->ticks = all.ticks;
	file->begin = instrument_now();
	snprintf(file->name, sizeof file->name, "%s", program_invocation_short_name);
	file->magic = COUNT_PROCESS_MAGIC;
	all.file = file;
	return true;
}

/* Starts separate counts in a forked child. Its thread continues inside the open calls. */
static void instrument_child_begins(void);
static void fork_before(void)
{
	mine.busy = true;
	lock();
	all.fork_depth = mine.lane ? mine.lane->depth : 0;
	/* daemon() ends the parent next, where no function sees it. */
	if (mine.lane && !all.sampled)
		thread_cct_charge(mine.lane, instrument_now());
}
static void fork_after(void)
{
	unlock();
	mine.busy = false;
}

/* Initialises the process once. After an error nothing is counted. */
static bool hooks_init(void)
{
	static atomic_bool hooked;
	unsigned long long subs = 0;
	bool ok;

	dl_iterate_phdr(subs_get, &subs); /* outside lock(): modules_pass */
	lock();
	if (atomic_load(&all.state) == 0) {
		ok = process_file();
		if (ok && !atomic_exchange(&hooked, true))
			ok = pthread_key_create(&all.key, instrument_thread_ends) == 0 &&
			     pthread_atfork(fork_before, fork_after, instrument_child_begins) == 0;
		all.subs = subs;
		atomic_store(&all.state, ok ? 1 : 2);
		if (ok) {
			unlock();
			instrument_calibrate();
			return true;
		}
	}
	ok = atomic_load(&all.state) == 1;
	unlock();
	return ok;
}

/* Returns the file of an ended thread, or a new one; requires the lock. */
static thread_cct *instrument_lane_take(void)
{
	char path[PATH_BYTES + 64];
	struct rlimit limit;

	for (uint32_t i = 0; i < all.nlanes; i++)
		if (!__atomic_load_n(&all.lanes[i]->in_use, __ATOMIC_ACQUIRE))
			return all.lanes[i];
	if (all.nlanes >= CALL_LANES_MAX) {
		errno = EUSERS; /* program_file.c has the sentence */
		return NULL;
	}
	snprintf(path, sizeof path, "%s.%u.lane", all.prefix, all.nlanes);
	thread_cct *l = thread_cct_make(path);
	if (l) {
		all.lanes[all.nlanes++] = l;
		all.file->lanes = all.nlanes;
		all.file->held += thread_cct_bytes(l);
		if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
			all.file->limit = limit.rlim_cur;
	}
	return l;
}

extern void *__libc_stack_end;

static void stack_find(void)
{
	pthread_attr_t a;
	struct rlimit limit;
	void *low;
	size_t size;

	if (getpid() == gettid()) { /* for the main thread pthread_getattr_np() would read a file */
		mine.stack_high = ((uint64_t)(uintptr_t)__libc_stack_end | 4095) + 1;
		if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur > UINT64_C(1) << 32)
			limit.rlim_cur = UINT64_C(1) << 32;
		mine.stack_low = mine.stack_high - limit.rlim_cur;
		/* In a child of fork() it may be any thread of the parent. */
		if ((uint64_t)(uintptr_t)&a - mine.stack_low < mine.stack_high - mine.stack_low)
			return;
	}
	if (pthread_getattr_np(pthread_self(), &a) != 0)
		return;
	if (pthread_attr_getstack(&a, &low, &size) == 0) {
		mine.stack_low = (uint64_t)(uintptr_t)low;
		mine.stack_high = mine.stack_low + size;
	}
	pthread_attr_destroy(&a);
}

static thread_cct *lane_begin(void)
{
	const int before = errno;
	thread_cct *l;

	if (mine.failed)
		return NULL;
	mine.busy = true;
	if (!mine.stack_high)
		stack_find();
	if (atomic_load(&all.state) == 2 || !hooks_init()) {
		mine.busy = false;
		errno = before;
		return NULL;
	}
	lock();
	errno = 0;
	l = instrument_lane_take();
	if (l) {
		l->last = instrument_now();
		l->in_use = 1;
		all.file->threads += !mine.counted;
		mine.counted = true;
	} else {
		mine.failed = true;
		all.file->error = errno;
		all.file->lanes_failed++;
	}
	unlock();
	if (l) {
		pthread_setspecific(all.key, l);
		mine.lane = l;
	}
	mine.busy = false;
	errno = before;
	return l;
}

static void instrument_child_begins(void)
{
	const thread_cct *from = mine.lane;
	const count_process *before = all.file;

	all.nlanes = 0;
	all.nmodules = 0;
	unlock();
	mine.lane = NULL;
	mine.busy = mine.failed = mine.counted = false;
	if (atomic_load(&all.state) != 1)
		return;
	errno = 0;
	if (!process_file()) {
		all.file->error = errno; /* the parent's, which is shared */
		__atomic_fetch_add(&all.file->children_failed, 1, __ATOMIC_RELAXED);
		atomic_store(&all.state, 2);
		return;
	}
	all.file->cost_inside = before->cost_inside;
	all.file->cost_outside = before->cost_outside;
	thread_cct *l = from ? lane_begin() : NULL;
	if (!l)
		return;
	mine.busy = true;
	for (uint32_t i = 0; i < all.fork_depth; i++)
		modules_note(thread_cct_nodes(from)[from->frames[i].node].function);
	thread_cct_fork(l, from, all.fork_depth, instrument_now());
	mine.busy = false;
}

/* --- the hooks */

/* Where a hook is called: its frame's address, and the low halves of its return address and, as the
 * upper half, of its caller's. */
typedef struct hook_call {
	uint64_t place, origin;
} hook_call;

/* Returns how many of the outermost `depth` open calls still exist: a frame's address is below
 * those outside it. */
static inline uint32_t depth_outside(const thread_cct *l, uint32_t depth, uint64_t place)
{
	while (depth && l->frames[depth - 1].place && l->frames[depth - 1].place < place)
		depth--;
	return depth;
}

/* Whether a call has ended that has the same frame's address as one that begins. They can share it
 * only if one is inlined into the other, with the same caller; and what begins twice at one
 * instruction has ended. */
static inline bool call_has_ended(const call_frame *f, uint64_t origin)
{
	const uint64_t differs = f->origin ^ origin;

	return differs >> 32 || !(uint32_t)differs;
}

/* The same as depth_outside() for a call that begins. */
static inline uint32_t depth_live(const thread_cct *l, const hook_call *h)
{
	uint32_t depth = depth_outside(l, l->depth, h->place);

	for (uint32_t i = depth; i && l->frames[i - 1].place == h->place; i--)
		if (call_has_ended(&l->frames[i - 1], h->origin))
			depth = i - 1;
	return depth;
}

/* Whether all open calls exist: depth_live() by one comparison in the usual case, and without a
 * call, which would save registers. */
static inline bool all_live(const thread_cct *l, hook_call h)
{
	const call_frame *f = l->frames + l->depth;

	if (l->depth == 0 || f[-1].place > h.place || !f[-1].place)
		return true;
	for (uint32_t i = l->depth; i && l->frames[i - 1].place == h.place; i--)
		if (call_has_ended(&l->frames[i - 1], h.origin))
			return false;
	return f[-1].place == h.place;
}

static void calls_leave(thread_cct *l, uint32_t depth, uint64_t time)
{
	if (__builtin_expect(depth < l->depth, 0))
		thread_cct_unwind_to(l, depth, time);
}

static inline void hook_keep(call_frame *f, hook_call h)
{
	f->place = h.place;
	f->origin = h.origin;
}

/* Counts a call by a path that is searched for, after its time. */
static __attribute__((noinline)) void enter_searched(thread_cct *l, uint64_t number, hook_call h)
{
	const uint32_t n = l->n;
	call_frame *f = thread_cct_begin(l, number);

	if (f)
		hook_keep(f, h);
	if (__builtin_expect(l->n != n, 0) && modules_note(number))
		l->last = instrument_now(); /* no time of the program's */
	mine.busy = false;
}

/* Counts any call: at first, on another stack, after a jump, without a time stamp counter. */
static __attribute__((noinline)) void enter_other(uint64_t address, hook_call h)
{
	thread_state *t = &mine;
	thread_cct *l = t->lane ? t->lane : lane_begin();

	if (!l)
		return;
	t->busy = true;
	const uint64_t time = instrument_now();
	/* On another stack, e.g. a signal's, addresses are not comparable. */
	if (h.place - t->stack_low >= t->stack_high - t->stack_low)
		h.place = 0;
	else
		calls_leave(l, depth_live(l, &h), time);
	thread_cct_charge(l, time);
	enter_searched(l, address | atomic_load_explicit(&all.generation, memory_order_relaxed), h);
}

/* The usual call calls no function, so that no register is saved. */
COUNT_API void __cyg_profile_func_enter(void *function, void *site)
{
	const uint64_t address = (uint64_t)(uintptr_t)function & COUNT_ADDRESS;
	const hook_call h = {(uint64_t)(uintptr_t)__builtin_frame_address(0),
			     (uint64_t)(uintptr_t)site << 32 |
				 (uint32_t)(uintptr_t)__builtin_return_address(0)};
	thread_state *t = &mine;
	thread_cct *l = t->lane;

	if (t->busy)
		return;
	if (__builtin_expect(!l || h.place - t->stack_low >= t->stack_high - t->stack_low ||
				 !(all.sampled || all.ticks) || !all_live(l, h),
			     0)) {
		enter_other(address, h);
		return;
	}
	t->busy = true;
	if (!all.sampled)
		thread_cct_charge(l, instrument_ticks());
	const uint64_t number =
	    address | atomic_load_explicit(&all.generation, memory_order_relaxed);
	call_frame *f = thread_cct_begin_again(l, number, all.sampled);
	if (__builtin_expect(!f, 0)) {
		enter_searched(l, number, h);
		return;
	}
	hook_keep(f, h);
	t->busy = false;
}

/* Ends any call: also those left by a jump, and without a time stamp counter. */
static __attribute__((noinline)) void leave_other(uint64_t function)
{
	thread_state *t = &mine;

	thread_cct_leave(t->lane, function, COUNT_ADDRESS, all.sampled ? 0 : instrument_now());
	t->busy = false;
}

COUNT_API void __cyg_profile_func_exit(void *function, void *site)
{
	const uint64_t address = (uint64_t)(uintptr_t)function;
	thread_state *t = &mine;
	thread_cct *l = t->lane;

	(void)site;
	if (t->busy || !l)
		return;
	t->busy = true;
	if (!all.sampled && all.ticks)
		thread_cct_charge(l, instrument_ticks());
	if (__builtin_expect((all.sampled || all.ticks) &&
				 thread_cct_end_innermost(l, address, COUNT_ADDRESS),
			     1))
		t->busy = false;
	else
		leave_other(address);
}

/* --- ways out that skip ends of functions */

/* The real functions, resolved before a handler may call one, because dlsym() may call malloc. */
enum { REAL_LONGJMP, REAL_DLCLOSE = 4, REAL_EXIT, REAL_FORK, REALS };
static void (*reals[REALS])(void);

static void real_look_up(int which)
{
	static const char *const names[REALS] = {
	    "longjmp", "_longjmp", "siglongjmp", "__longjmp_chk", "dlclose", "_exit", "_Fork"};
	void *at = dlsym(RTLD_NEXT, names[which]);

	memcpy(&reals[which], &at, sizeof at);
}

/* Also called by what runs before the constructors. */
#define REAL_AS(type, which) ((type)(reals[which] ? (void)0 : real_look_up(which), reals[which]))

/* Ends the recording of zones, whose library is not notified of _exit(); NULL: there is none. */
static bool (*_Atomic zones_leave)(void);

COUNT_API void dck_count_leaves_by(bool (*leave)(void))
{
	atomic_store(&zones_leave, leave);
}

static void instrument_ends(void)
{
	exec_leaves(true);
}

__attribute__((constructor)) static void instrument_begins(void)
{
	bool (*leave)(void), (*none)(void) = NULL;
	void *at = dlsym(RTLD_DEFAULT, "dck_trace_leave"); /* of an older recorder */

	memcpy(&leave, &at, sizeof at);
	atomic_compare_exchange_strong(&zones_leave, &none, leave);
	for (int i = 0; i < REALS; i++)
		real_look_up(i);
	(void)at_quick_exit(instrument_ends); /* quick_exit() runs no destructor */
}

/* Returns the stack pointer after longjmp(), from glibc's jmp_buf; 0: unknown. */
static uint64_t stack_after(const struct __jmp_buf_tag *to)
{
#if defined(__x86_64__) && defined(__GLIBC__)
	uint64_t sp = (uint64_t)to->__jmpbuf[6], guard;

	__asm__("movq %%fs:0x30, %0" : "=r"(guard));
	sp = sp >> 17 | sp << 47; /* glibc, sysdeps/unix/sysv/linux/x86_64/pointer_guard.h */
	return sp ^ guard;
#else
	(void)to;
	return 0;
#endif
}

/* Returns the depth without the innermost calls of a signal's handler that runs on an alternate
 * stack, whose addresses are not comparable. */
static uint32_t depth_outside_handler(const thread_cct *l)
{
	uint32_t depth = l->depth;
	stack_t now;

	if (!depth || l->frames[depth - 1].place || sigaltstack(NULL, &now) != 0 ||
	    !(now.ss_flags & SS_ONSTACK))
		return depth;
	while (depth && !l->frames[depth - 1].place)
		depth--;
	return depth;
}

static void instrument_jump(int which, jmp_buf to, int value)
{
	thread_state *t = &mine;
	const uint64_t sp = stack_after(to);

	if (t->lane) {
		t->busy = true;
		if (sp - t->stack_low < t->stack_high - t->stack_low)
			calls_leave(t->lane,
				    depth_outside(t->lane, depth_outside_handler(t->lane),
						  sp - 2 * sizeof(void *)),
				    instrument_now());
		t->busy = false;
	}
	REAL_AS(void (*)(jmp_buf, int), which)(to, value);
	__builtin_unreachable();
}

/* A jmp_buf and a sigjmp_buf are one type. */
#define JUMP(which, name)                                    \
	COUNT_API _Noreturn void name(jmp_buf to, int value) \
	{                                                    \
		instrument_jump(which, to, value);           \
		__builtin_unreachable();                     \
	}
_Noreturn void __longjmp_chk(jmp_buf to, int value);
JUMP(REAL_LONGJMP, longjmp)
JUMP(REAL_LONGJMP + 1, _longjmp)
JUMP(REAL_LONGJMP + 2, siglongjmp)
JUMP(REAL_LONGJMP + 3, __longjmp_chk)

/* Another library may later have the address of the unloaded one. */
COUNT_API int dlclose(void *library)
{
	const int ret = REAL_AS(int (*)(void *), REAL_DLCLOSE)(library);

	if (ret != 0 || atomic_load(&all.state) != 1)
		return ret;
	const bool busy = mine.busy;
	mine.busy = true;
	modules_drop();
	mine.busy = busy;
	return ret;
}

/* fork() without its handlers, for signal handlers too. What interrupts a hook leaves its child
 * uncounted. */
COUNT_API pid_t _Fork(void)
{
	const bool busy = mine.busy, counting = !busy && atomic_load(&all.state) == 1;

	if (counting)
		fork_before();
	const pid_t child = REAL_AS(pid_t(*)(void), REAL_FORK)();
	if (counting && child)
		fork_after();
	else if (counting)
		instrument_child_begins();
	if (busy && !child) {
		mine.lane = NULL;
		atomic_store(&all.state, 2);
	}
	return child;
}

/* A child between vfork() and exec() ends nothing, because the state is its parent's. */
void exec_leaves(bool leaves)
{
	if (atomic_load(&all.state) == 1 && all.file->pid == (uint32_t)getpid())
		all.file->end = leaves ? instrument_now() : 0;
}

__attribute__((destructor)) static void process_ends(void)
{
	instrument_ends();
}

COUNT_API _Noreturn void _exit(int status)
{
	bool (*leave)(void) = atomic_load(&zones_leave);

	instrument_ends();
	if (leave)
		leave();
	REAL_AS(void (*)(int), REAL_EXIT)(status);
	__builtin_unreachable();
}

COUNT_API _Noreturn void _Exit(int status)
{
	_exit(status);
}
