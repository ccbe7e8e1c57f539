/* heap_state.c - state of the allocation tracer in a process: initialisation, fork detection,
 * private pages and the mapped file.
 *
 * Initialisation is a compare-and-swap from HEAP_NEW to HEAP_BEGINS: one thread does it, others
 * yield until it is HEAP_ON or HEAP_OFF. fork() is detected without a handler: the page of the
 * state is MADV_WIPEONFORK (Linux 4.14; before, pthread_atfork() clears it) and all other pages are
 * MADV_DONTFORK, so a child starts at HEAP_NEW, with a file and a generation that are new, whatever
 * locks other threads of the parent held.
 *
 * Memory is mapped by direct system calls, because mmap() is interposed, and is listed in `owned`,
 * so that exit() can report how much of it is resident (mincore(2)). The file is sparse; a part is
 * extended by heap_room() before it is written, so a full disk is a result of false and not a
 * SIGBUS. No descriptor stays open.
 *
 * Locks are test-and-test-and-set spin locks with sched_yield(), held for few instructions; the one
 * of `owned` is a leaf: no other lock is taken inside it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/preload/heap/heap_state.h"

#include "profiler/preload/heap/heap_live.h"
#include "profiler/preload/heap/heap_paths.h"
#include "profiler/preload/heap/heap_python.h"
#include "profiler/preload/heap/heap_ranges.h"
#include "profiler/unwind/file_room.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

/* The first piece of a part of the file, and the largest: in between they double. */
enum { PAGE = 4096, PIECE_LEAST = 1 << 14, PIECE_MOST = 1 << 18 };

heap_state *heap_now;
/* A forked child inherits these. */
static uint32_t generations;
static char file[4096];
static char directory[4096 - 64]; /* of all files: the program may clear its environment */
static uint64_t interval;
static heap_header *first;	       /* of the first process, shared with all of its children */
static _Atomic size_t cap[HEAP_PARTS]; /* bytes that the file system has reserved */

void heap_lock_wait(heap_lock *l)
{
	do {
		for (int i = 0; i < 100 && atomic_load_explicit(l, memory_order_relaxed); i++)
#if defined(__x86_64__)
			__builtin_ia32_pause();
#else
			__asm__ volatile("" ::: "memory");
#endif
		if (atomic_load_explicit(l, memory_order_relaxed))
			sched_yield();
	} while (atomic_exchange_explicit(l, 1, memory_order_acquire));
}

/* Calls the kernel itself, because mmap() is interposed. */
static void *state_map(size_t bytes, int flags, int fd)
{
	const long p = syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0L);

	return p == -1 ? NULL : (void *)p;
}

static void state_unmap(void *p, size_t bytes)
{
	syscall(SYS_munmap, p, bytes);
}

/* --- memory that the tool uses in the process */

enum { OWNED_MAX = 4096, LOOKED = 1024 };

/* Mappings beyond OWNED_MAX, as of many threads, count as fully resident. */
static struct {
	heap_lock lock;
	size_t n, uncounted;
	struct {
		char *at;
		size_t bytes;
	} rows[OWNED_MAX];
} owned;

static void owned_add(char *at, size_t bytes)
{
	heap_lock_take(&owned.lock);
	if (owned.n < OWNED_MAX) {
		owned.rows[owned.n].at = at;
		owned.rows[owned.n++].bytes = bytes;
	} else {
		owned.uncounted += bytes;
	}
	heap_lock_give(&owned.lock);
}

static void owned_remove(const char *at, size_t bytes)
{
	size_t i = 0;

	heap_lock_take(&owned.lock);
	while (i < owned.n && owned.rows[i].at != at)
		i++;
	if (i < owned.n)
		owned.rows[i] = owned.rows[--owned.n];
	else
		owned.uncounted -= bytes;
	heap_lock_give(&owned.lock);
}

static size_t resident_in(char *at, size_t bytes)
{
	unsigned char there[LOOKED];
	size_t pages = 0;

	for (size_t done = 0; done < bytes; done += LOOKED * PAGE) {
		const size_t rest = bytes - done,
			     piece = rest < LOOKED * PAGE ? rest : LOOKED * PAGE;

		if (mincore(at + done, piece, there) != 0)
			continue;
		for (size_t i = 0; i < (piece + PAGE - 1) / PAGE; i++)
			pages += there[i] & 1;
	}
	return pages * PAGE;
}

/* Returns the limit of the address space; 0: none. */
static uint64_t limit_get(void)
{
	struct rlimit l;

	return getrlimit(RLIMIT_AS, &l) == 0 && l.rlim_cur != RLIM_INFINITY ? l.rlim_cur : 0;
}

/* Runs at exit(), after the handlers that the program registered. */
__attribute__((destructor)) static void ends(void)
{
	heap_state *s = heap_now;
	size_t resident;

	if (!s || atomic_load(&s->phase) != HEAP_ON)
		return;
	/* The lock is not taken, because a signal handler that calls exit() could wait for it
	 * forever. Pages that other threads map or unmap now may be missed. */
	resident = owned.uncounted;
	for (size_t i = 0; i < owned.n; i++)
		resident += resident_in(owned.rows[i].at, owned.rows[i].bytes);
	atomic_store(&s->header->own_resident, resident);
	atomic_store(&s->header->limit, limit_get());
}

void *heap_pages(heap_state *s, size_t bytes)
{
	const int kept = errno; /* a hook of malloc() that has succeeded leaves it */
	void *p = state_map(bytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);

	if (p)
		madvise(p, bytes, MADV_DONTFORK);
	errno = kept;
	if (!p)
		return NULL;
	owned_add(p, bytes);
	if (s->header)
		atomic_fetch_add_explicit(&s->header->own_bytes, bytes, memory_order_relaxed);
	return p;
}

void heap_pages_free(heap_state *s, void *p, size_t bytes)
{
	owned_remove(p, bytes);
	state_unmap(p, bytes);
	atomic_fetch_sub_explicit(&s->header->own_bytes, bytes, memory_order_relaxed);
}

/* Returns how much of a part to reserve for these bytes. */
static size_t room_grown(size_t there, size_t bytes)
{
	const size_t piece = there < PIECE_LEAST  ? PIECE_LEAST
			     : there < PIECE_MOST ? there
						  : PIECE_MOST;

	bytes = (bytes + PIECE_LEAST - 1) / PIECE_LEAST * PIECE_LEAST;
	return bytes > there + piece ? bytes : there + piece;
}

bool heap_room(heap_part part, size_t bytes)
{
	heap_header *h = heap_now ? heap_now->header : NULL;
	const size_t begins[] = {0, HEAP_AT_NAMES, HEAP_AT_FRAMES, HEAP_AT_NODES,
				 HEAP_AT_HELD(h ? h->nodes_max : 0)};
	const size_t there = atomic_load_explicit(&cap[part], memory_order_relaxed);

	if (bytes <= there)
		return true;
	const int kept = errno;
	/* No descriptor stays open: the program may count its descriptors, or close all. */
	const int fd = file_room_open(file, O_RDWR | O_NOFOLLOW);
	const size_t grown = room_grown(there, bytes);
	const bool ok = fd >= 0 && file_room(fd, begins[part] + there, grown - there);
	if (fd >= 0)
		file_room_close(fd);
	if (ok)
		atomic_store_explicit(&cap[part], grown, memory_order_relaxed);
	if (ok && h)
		atomic_fetch_add(&h->file_bytes, grown - there);
	else if (h)
		atomic_store(&h->error, fd < 0 ? errno : ENOSPC);
	errno = kept;
	return ok;
}

/* Tries names until one is new: after exec() a process has the same pid again. */
static int file_make(void)
{
	for (int again = 0; again < 1000; again++) {
		const int n = snprintf(file, sizeof file, "%s/%ld.%d" HEAP_FILE_END, directory,
				       (long)getpid(), again);
		if (n < 0 || (size_t)n >= sizeof file)
			return -1;
		const int fd = file_room_open(file, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW);
		if (fd >= 0 || errno != EEXIST)
			return fd;
	}
	return -1;
}

#define NODES_LEAST 1024

/* Returns how many nodes fit into a file below RLIMIT_FSIZE and into a part of RLIMIT_AS. */
static uint32_t nodes_allowed(int *ret_error)
{
	enum { PART = 16 };
	struct rlimit files;
	const size_t each = sizeof(heap_node) + sizeof(int64_t);
	const uint64_t space = limit_get();
	uint64_t most = HEAP_NODES_MAX;

	if (space && space / PART / each < most)
		most = space / PART / each;
	*ret_error = ENOMEM;
	if (getrlimit(RLIMIT_FSIZE, &files) == 0 && files.rlim_cur != RLIM_INFINITY) {
		const uint64_t rest =
		    files.rlim_cur > HEAP_AT_NODES ? files.rlim_cur - HEAP_AT_NODES : 0;

		if (rest / each < most) {
			most = rest / each;
			*ret_error = EFBIG;
		}
	}
	return (uint32_t)most;
}

static bool region_open(heap_state *s)
{
	int limit;
	const uint32_t nodes = nodes_allowed(&limit);
	const size_t bytes = HEAP_AT_HELD(nodes) + nodes * sizeof(int64_t);
	const bool allowed = nodes >= NODES_LEAST;

	for (int i = 0; i < HEAP_PARTS; i++)
		cap[i] = 0; /* a parent's values do not count here */
	const int fd = file_make();
	if (fd < 0)
		return false;
	/* Readers may access the reserved parts once the file has a length. Length 0 means that the
	 * disk was full. */
	const bool ok = allowed && heap_room(HEAP_HEAD, HEAP_AT_MODULES) &&
			heap_room(HEAP_FRAMES, 1) &&
			heap_room(HEAP_NODES, HEAP_NODES_FIRST * sizeof(heap_node));
	char *at = ok && file_size_set(fd, bytes) ? state_map(bytes, MAP_SHARED, fd) : NULL;
	if (at && !first)
		first = state_map(PAGE, MAP_SHARED, fd);
	const int error = !allowed ? limit : ok && !at ? errno : 0;
	if (!at && ftruncate(fd, 0) != 0)
		unlink(file);
	if (error && file_size_allowed(sizeof error) &&
	    syscall(SYS_pwrite64, fd, &error, sizeof error, 0L) < 0)
		unlink(file);
	file_room_close(fd);
	if (!at)
		return false;
	madvise(at, bytes, MADV_DONTFORK);
	/* Without it the kernel clears 2 MiB of a hole for the first word in it, instead of one
	 * page. */
	madvise(at, bytes, MADV_RANDOM);
	s->header = (heap_header *)at;
	s->modules = (heap_module *)(at + HEAP_AT_MODULES);
	s->names = at + HEAP_AT_NAMES;
	s->frames = (heap_frame *)(at + HEAP_AT_FRAMES);
	s->nodes = (heap_node *)(at + HEAP_AT_NODES);
	const uint64_t now = heap_clock_ns(CLOCK_MONOTONIC);
	*s->header =
	    (heap_header){.magic = HEAP_MAGIC,
			  .version = HEAP_VERSION,
			  .nodes_max = nodes,
			  .bytes = bytes,
			  .file_bytes = cap[HEAP_HEAD] + cap[HEAP_FRAMES] + cap[HEAP_NODES],
			  .limit = limit_get(),
			  .pid = getpid(),
			  .parent = getppid(),
			  .began_ns = now,
			  .now_ns = now,
			  .nnodes = HEAP_NODES_FIRST,
			  .nframes = HEAP_FRAMES_FIRST};
	s->nodes[HEAP_NODE_MAPPING].frame = HEAP_FRAME_MAPPING;
	return true;
}

/* Inherited by a child of a clone() without handlers of fork(), which may read it. */
static _Atomic uint16_t *filter_make(heap_state *s)
{
	const size_t bytes = sizeof *s->sampled << HEAP_FILTER_BITS;
	void *p = heap_pages(s, bytes);

	if (p)
		madvise(p, bytes, MADV_DOFORK);
	return p;
}

static bool sampling_begin(heap_state *s)
{
	if (!interval)
		return true;
	s->sampled = filter_make(s);
	s->timed_mask = HEAP_SAMPLED_TIMED_MASK;
	s->interval = s->header->interval = interval;
	return s->sampled;
}

/* false: this process is not observed. */
static bool heap_environment_read(void)
{
	const char *to = secure_getenv(HEAP_VARIABLE), *every = secure_getenv(HEAP_SAMPLE_VARIABLE);

	if (!to || !*to || strlen(to) >= sizeof directory)
		return false;
	strcpy(directory, to);
	interval = every ? strtoul(every, NULL, 10) : 0;
	return true;
}

static bool state_init(heap_state *s)
{
	if (!directory[0] && !heap_environment_read())
		return false;
	errno = 0;
	if (!region_open(s)) {
		if (first) {
			atomic_store(&first->error, errno);
			atomic_fetch_add(&first->children_failed, 1);
		}
		return false;
	}
	s->generation = ++generations;
	owned.lock = 0; /* a parent's list: its pages are not mapped here */
	owned.n = owned.uncounted = 0;
	heap_threads_forget();
	heap_python_forget();
	s->live = heap_live_new(s);
	s->paths = heap_paths_new(s);
	s->ranges = heap_ranges_new(s);
	if (!s->live || !s->paths || !s->ranges) {
		atomic_store(&s->header->error, ENOMEM);
		return false;
	}
	s->timed_mask = HEAP_TIMED_MASK;
	if (!sampling_begin(s))
		return false;
	atomic_store_explicit(&s->header->ready, 1, memory_order_release);
	return true;
}

/* Clears the state in a child where MADV_WIPEONFORK is missing (before Linux 4.14). */
static void state_forked(void)
{
	memset(heap_now, 0, sizeof *heap_now);
}

static heap_state *state_page_get(void)
{
	static heap_lock making;
	extern char **environ;

	if (heap_now || !environ) /* before libc is initialised: only the loader runs */
		return heap_now;
	heap_lock_take(&making);
	if (!heap_now) {
		void *p = state_map(PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

		if (p && madvise(p, PAGE, MADV_WIPEONFORK) != 0)
			pthread_atfork(NULL, NULL, state_forked);
		heap_now = p;
	}
	heap_lock_give(&making);
	return heap_now;
}

heap_state *heap_begin(void)
{
	const int kept = errno;
	heap_state *s = state_page_get();
	uint32_t phase = HEAP_NEW;

	if (!s)
		return NULL;
	if (atomic_load_explicit(&s->phase, memory_order_acquire) == HEAP_OFF)
		return NULL;
	if (atomic_compare_exchange_strong(&s->phase, &phase, HEAP_BEGINS)) {
		const bool on = state_init(s);

		atomic_store_explicit(&s->phase, on ? HEAP_ON : HEAP_OFF, memory_order_release);
		errno = kept;
		return on ? s : NULL;
	}
	while ((phase = atomic_load_explicit(&s->phase, memory_order_acquire)) == HEAP_BEGINS)
		sched_yield();
	errno = kept;
	return phase == HEAP_ON ? s : NULL;
}
